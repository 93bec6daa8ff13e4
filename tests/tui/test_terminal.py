"""Inspector in a real pseudo-terminal: its first screen, other sizes, a flood, and every way in which it ends."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from pathlib import Path

import pytest

from inspector.journal.journal import whole_journal
from tests.processes import PATIENCE, run, spawned
from tests.tui.live_app import PROMPTS, TESTS, TOOLS
from tests.tui.terminal import Grid, Terminal, recordings

pytestmark = pytest.mark.slow

HOSTILE = ("--", sys.executable, str(TESTS / "servers" / "hostile.py"))
FLOOD = 20_000


def last_line(recording: Path) -> dict[str, object]:
    """The last line of a recording."""
    event: dict[str, object] = json.loads(recording.read_bytes().splitlines()[-1])
    return event


def is_gone(process: int, patience: float = PATIENCE) -> bool:
    """Whether a process has ended, or does so soon."""
    end = time.monotonic() + patience
    while Path(f"/proc/{process}").exists():
        if time.monotonic() >= end:
            return False
        time.sleep(0.01)
    return True


def test_the_first_screen_appears_and_q_leaves_the_terminal_as_it_was(home: Path) -> None:
    with Terminal(home, ["demo"]) as terminal:
        terminal.shows("Demo server", "● connected", f"Tools {TOOLS}", f"Prompts {PROMPTS}")
        assert terminal.grid.modes["1049"]
        assert not terminal.grid.modes["25"]
        terminal.quits()
        (recording,) = recordings(home)
        (server,) = spawned(recording)
        assert is_gone(server)
        assert last_line(recording)["kind"] == "end"


_REDIRECTED = """
import os, sys
os.dup2(os.open(sys.argv[2], os.O_CREAT | os.O_WRONLY), int(sys.argv[1]))
os.execv(sys.executable, [sys.executable, "-m", "inspector", "demo", "--no-record"])
"""


def test_with_stderr_in_a_file_it_draws_on_the_terminal_and_with_stdout_in_one_it_says_what_it_needs(
    home: Path, tmp_path: Path
) -> None:
    errors = tmp_path / "err.log"
    with Terminal(home, ["2", str(errors)], script=_REDIRECTED) as terminal:
        terminal.shows("Demo server", "● connected")
        terminal.quits()
    assert errors.read_bytes() == b""
    with Terminal(home, ["1", str(tmp_path / "out.log")], script=_REDIRECTED) as terminal:
        assert terminal.ends() == 2
        assert "The interface needs a terminal, but stdout is not a terminal." in terminal.grid.text


SHELL = """
import os, runpy, signal, sys
pid = os.fork()
if not pid:
    os.setpgid(0, 0)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    os.tcsetpgrp(0, os.getpgrp())
    sys.argv = ["inspector", "demo", "--no-record"]
    runpy.run_module("inspector", run_name="__main__")
status = os.waitpid(pid, os.WUNTRACED)[1]
print("stopped by", os.WSTOPSIG(status), flush=True)
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
os.tcsetpgrp(0, os.getpgrp())
sys.stdin.readline()
os.tcsetpgrp(0, pid)
os.kill(pid, signal.SIGCONT)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
"""A shell that does what `^z` and `fg` need."""


def test_suspending_gives_the_terminal_back_and_continuing_draws_again(home: Path) -> None:
    with Terminal(home, [], script=SHELL) as terminal:
        terminal.shows("Demo server", "● connected", f"Tools {TOOLS}")
        terminal.press("\x1a")
        terminal.shows("stopped by")
        assert not terminal.grid.modes["1049"]
        terminal.press("\n")
        terminal.until(lambda: terminal.grid.modes["1049"], "in the interface again")
        terminal.shows("Demo server", f"Tools {TOOLS}")
        terminal.press("q")
        assert terminal.ends() == 0


SLOW_START = "import runpy, time; time.sleep(0.8); runpy.run_module('inspector.demo', run_name='__main__')"


def test_keys_typed_while_the_program_starts_are_not_lost(home: Path) -> None:
    never = "import time; time.sleep(60)"
    with Terminal(home, ["--no-record", "--", sys.executable, "-c", never]) as terminal:
        terminal.press("?")
        terminal.shows("esc close", "filter by name or key")
        terminal.press("\x1b")
        terminal.until(lambda: "esc close" not in terminal.grid.text, "closed")
        terminal.shows("Connecting")
        terminal.quits()  # q quits while the server starts.


def test_keys_typed_while_the_server_starts_wait_for_its_list(home: Path) -> None:
    with Terminal(home, ["--no-record", "--", sys.executable, "-c", SLOW_START]) as terminal:
        terminal.press("/add\r19")
        terminal.shows("╭─ add ", "▌ 19")
        terminal.press("\x03")
        terminal.shows("Press ^q to quit.")
        terminal.quits("\x11")


class Inked(Grid):
    """A grid that knows which of its cells have a hue: a colour other than the terminal's own, and grey."""

    coloured = False

    def size(self, columns: int, rows: int) -> None:
        super().size(columns, rows)
        self.inks = [[False] * columns for _ in range(rows)]

    def _write(self, text: str) -> None:
        for char in text:
            y, x = self.y, self.x
            super()._write(char)
            self.inks[y][x : max(self.x, x)] = [self.coloured] * max(self.x - x, 0)

    def _control(self, private: str, numbers: str, final: str) -> None:
        super()._control(private, numbers, final)
        if final == "m" and not private:
            for number in numbers.split(";"):
                if number in ("", "0"):
                    self.coloured = False
                elif re.fullmatch("3[0-8]|4[0-8]|9[1-6]|10[1-6]", number):
                    self.coloured = True

    def where(self) -> list[str]:
        """The texts of the coloured cells, line by line."""
        lines = zip(self.cells, self.inks, strict=True)
        return ["".join(char for char, ink in zip(*line, strict=False) if ink) for line in lines]


def test_the_ansi_theme_leaves_every_colour_to_the_terminal_and_mono_has_none(home: Path) -> None:
    with Terminal(home, ["demo", "--no-record"], INSPECTOR_THEME="ansi") as terminal:
        terminal.grid = Inked(120, 35)
        terminal.shows(f"Tools {TOOLS}", "● connected")
        terminal.press("/order")
        terminal.shows("of 62")
        terminal.press("\r")
        terminal.shows("( ) thin")
        assert b"\x1b[32m" in terminal.raw
        assert b"8;2;" not in terminal.raw
        grounds = re.findall(rb"\x1b\[(?:[0-9;]*;)?(4[0-7]|10[0-7]|48;5;[0-9]+)[;m]", terminal.raw)
        assert grounds == [], "no block beside a field"
        terminal.press("\x10")
        terminal.shows("verbs, tools, resources, prompts, saved calls, themes")
        assert any("●" in text for text in terminal.grid.where())
        terminal.press("mono")
        terminal.shows("theme mono")
        terminal.press("\r")
        terminal.until(
            lambda: "verbs, tools, resources, prompts, saved calls, themes" not in terminal.grid.text, "closed"
        )
        terminal.until(lambda: not any(text.strip() for text in terminal.grid.where()), "no colour stays")
        terminal.shows("● connected")
        terminal.quits("\x11")


def test_another_size_is_drawn_at_once_one_that_is_too_small_says_what_it_needs_and_escape_does_not_leave(
    home: Path,
) -> None:
    with Terminal(home, ["demo", "--no-record"], (160, 45), INSPECTOR_MOUSE="false") as terminal:
        terminal.shows(f"Tools {TOOLS}", "─ Messages", "─ Result")
        assert not terminal.grid.modes.get("1000"), "the setting says so"
        terminal.press("\x1b")
        terminal.rest(0.5)  # escape alone, not the beginning of another key: it does not leave
        terminal.press("6")
        terminal.shows("Capabilities")
        terminal.press("1")
        terminal.resize(80, 24)
        terminal.shows(f"─ {TOOLS} ─", "m messages", "enter open")
        terminal.resize(40, 10)
        terminal.shows("Inspector needs 50 columns and 12", "rows; the terminal has 40 and 10.")
        terminal.resize(20, 5)
        terminal.shows("Inspector needs 50", "and 5.")
        terminal.resize(120, 35)
        terminal.shows(f"Tools {TOOLS}", "─ Messages", "roll-dice")
        terminal.quits()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, None])
def test_told_to_end_it_restores_the_terminal_and_ends_the_server(home: Path, number: signal.Signals | None) -> None:
    with Terminal(home, ["demo"]) as terminal:
        terminal.shows(f"Tools {TOOLS}")
        if number is None:  # Its window is closed.
            terminal.hang_up()
            terminal.ends()
        else:
            os.kill(terminal.pid, number)
            assert terminal.ends() == 128 + number
            assert terminal.is_restored
        (recording,) = recordings(home)
        assert last_line(recording)["kind"] == "end"
        assert all(is_gone(server) for server in spawned(recording))


def test_killed_it_leaves_no_server_and_a_recording_that_opens(home: Path) -> None:
    with Terminal(home, ["demo"]) as terminal:
        terminal.shows(f"Tools {TOOLS}", f"Prompts {PROMPTS}")
        (recording,) = recordings(home)
        (server,) = spawned(recording)
        assert not is_gone(server, patience=0)
        os.kill(terminal.pid, signal.SIGKILL)
        assert terminal.ends() == -signal.SIGKILL
    assert is_gone(server)
    with whole_journal(recording) as journal:
        assert journal.end_is_missing
        assert "tools/list" in {journal.index.method(n) for n in range(1, len(journal) + 1)}
    with Terminal(home, ["replay", str(recording)]) as terminal:
        terminal.shows("end is missing", f"Tools {TOOLS}")
        terminal.quits()


def test_a_flood_is_kept_whole_and_keys_are_heard(home: Path) -> None:
    recording = home / "flood.mcp.jsonl"
    words = ["--record", str(recording), *HOSTILE, "--case", "flood-stdout", "--count", str(FLOOD)]
    with Terminal(home, words) as terminal:
        terminal.shows("● connected", "echo ")
        terminal.press("\x12")
        terminal.press("6")
        terminal.shows("Capabilities")
        terminal.press("1")
        terminal.shows("echo ")
        terminal.shows("hello")
        terminal.press("6")
        terminal.shows("20,0")
        terminal.quits()
    with whole_journal(recording) as journal:
        methods = [journal.index.method(n) for n in range(1, len(journal) + 1)]
        assert methods.count("notifications/message") == FLOOD
        assert not journal.end_is_missing


def test_a_dumb_terminal_and_no_terminal_are_refused_in_words(home: Path) -> None:
    with Terminal(home, ["demo"], TERM="dumb") as terminal:
        assert terminal.ends() == 2
        assert "\x1b" not in terminal.raw.decode()
        assert "does not work on a terminal of type" in terminal.grid.text
    refused = run(home, ["demo"])
    assert refused.code == 2
    assert "needs a terminal" in refused.err
    assert refused.out == ""


def test_a_crash_of_the_interface_restores_the_terminal_and_names_the_log(home: Path) -> None:
    script = "import inspector.tui.main.screen as m; m.MainScreen._tick_state = lambda self: 1 / 0; from inspector.cli.main import main; main()"
    with Terminal(home, ["demo"], script=script) as terminal:
        assert terminal.ends() == 4
        assert terminal.is_restored
        assert "ZeroDivisionError" in terminal.grid.text
        assert "inspector.log" in terminal.grid.text.replace("\n", "")
        assert "Traceback" not in terminal.grid.text
    (recording,) = recordings(home)
    with whole_journal(recording) as journal:
        assert journal.ended is not None


def test_the_grid_reads_what_a_terminal_would_show() -> None:
    grid = Grid(10, 3)
    for piece in (
        "\x1b[2;3Hab", "\x1b[1", ";1H日\x1b]0;title\x07x\r\ny", "\x1b[?25", "l\x1b[38;5;1mz\x1b[0m", "\x1b[2;9Hlonger",
    ):  # fmt: skip
        grid.feed(piece)
    assert grid.text == "日x\nyzab    lo\nnger"
    assert grid.modes == {"25": False}


def test_the_start_screen_knows_what_failed_on_the_command_line(home: Path) -> None:
    config = home / ".mcp.json"
    config.write_text(json.dumps({"mcpServers": {"gone": {"command": "no-such-program"}}}))
    failed = run(home, ["tools", "@gone", "--config", str(config)])
    assert "The command “no-such-program” was not found." in failed.err
    with Terminal(home, []) as terminal:
        terminal.shows("@gone", "failed: The command", "never connected")
        terminal.quits("\x11")

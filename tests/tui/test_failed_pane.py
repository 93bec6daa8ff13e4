"""The pane of a failed connection: cause, steps, last lines of stderr, connecting again."""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from inspector.config.targets import HttpTarget, RecordingTarget, StdioTarget
from inspector.doctor.diagnosis import DoctorStep
from inspector.tui.app import InspectorApp
from inspector.tui.server.failed import FailedPane
from inspector.tui.server.steps import doctor_rows
from tests.tui.live_app import (
    MEDIUM,
    NARROW,
    WIDE,
    becomes,
    click,
    hostile,
    main_screen,
    on_demo,
    running,
    shows,
    to_tool,
)
from tests.tui.live_demo import sent
from tests.tui.test_server_pane import COUNTING
from tests.tui.tui_screens import assert_in, press, screen_lines, screen_text, settle

pytestmark = pytest.mark.slow

FAILS_ONCE = f"""
import pathlib, sys
tried = pathlib.Path(sys.argv[1] + ".tried")
if not tried.exists():
    tried.touch()
    print("Using CPython 3.12.4", flush=True)
    sys.stderr.write("Traceback (most recent call last):\\n  File \\"x.py\\", line 3\\nModuleNotFoundError: httpx\\n")
    sys.exit(3)
{COUNTING}
"""
CHATTY = """
import sys
for n in range(40):
    print("line", n, "x" * 40, file=sys.stderr)
sys.exit("fatal: database gone")
"""


def fails_once(home: Path) -> StdioTarget:
    """A server that ends with code 3 the first time it is started."""
    (home / "server.py").write_text(FAILS_ONCE)
    return StdioTarget((sys.executable, str(home / "server.py"), str(home / "runs")), name="fails")


async def test_it_names_the_cause_and_the_steps_at_every_width_and_copies_them(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    widths: list[int] = []
    rows = FailedPane._rows
    monkeypatch.setattr(
        FailedPane, "_rows", lambda self, width, **more: (widths.append(width), rows(self, width, **more))[1]
    )
    async with running(fails_once(home), until="not connected") as (app, pilot):
        await shows(
            app, pilot, "The server exited before it answered", "exit code 3", "✓ start", "✗ handshake",
            "no response to initialize", "“Using CPython 3.12.4” is not JSON-RPC", "✗ exit", "stderr, last lines",
            "ModuleNotFoundError: httpx", "Messages",
        )  # fmt: skip
        assert min(widths) > 60, "it is drawn once its width is known"
        text = screen_text(app)
        assert text.index("ModuleNotFoundError: httpx") < text.index("✓ start"), "the cause comes first"
        assert screen_lines(app)[-1].startswith(" r start again   d doctor   e edit the command   c copy report")
        await press(pilot, "c", shows="Copied the error report.")
        lines = app.clipboard.splitlines()
        assert sys.executable in lines[0]
        assert "It fails with ModuleNotFoundError: httpx in x.py, line 3." in lines[2], (
            "what the doctor finds in what it printed"
        )
        assert "  ModuleNotFoundError: httpx" in lines
        assert not any(ord(char) < 32 for line in lines for char in line)
        # Tabs and messages can be looked at meanwhile.
        await press(pilot, "m", until=lambda: "/ filter" in screen_lines(app)[-1])
        await press(pilot, "6", "2", shows="r start again")
        for size in (MEDIUM, NARROW, (60, 20)):
            await pilot.resize_terminal(*size)
            await shows(app, pilot, "r start again", "ModuleNotFoundError: httpx")
            assert all(len(line) <= size[0] for line in screen_lines(app))


async def test_the_last_line_of_stderr_is_in_view_on_a_small_screen_and_all_are_copied(home: Path) -> None:
    (home / "chatty.py").write_text(CHATTY)
    async with running(StdioTarget((sys.executable, str(home / "chatty.py"))), size=NARROW) as (app, pilot):
        await shows(app, pilot, "fatal: database gone", "before them in the messages")
        await press(pilot, "c", shows="Copied the error report.")
        assert sum(line.strip().startswith("line ") for line in app.clipboard.splitlines()) > 10


@pytest.mark.parametrize("way", ["key", "click", "after the doctor"])
async def test_it_connects_again(home: Path, way: str) -> None:
    async with running(fails_once(home), until="not connected") as (app, pilot):
        await shows(app, pilot, "r start again", "d doctor")
        if way == "click":
            await click(app, pilot, "r start again")
        else:
            if way == "after the doctor":
                await press(pilot, "d", shows="It connects: ")
            await pilot.press("r")
        await shows(app, pilot, "● connected", "Tools 2", without=("start again", "It connects: "))
        assert app.focused.is_on_screen


async def test_a_connection_that_is_lost_says_so_and_is_made_again() -> None:
    async with running(hostile("exits-after-initialize"), until="connection lost") as (app, pilot):
        await shows(app, pilot, "exit code 4")
        await press(pilot, "r", until=lambda: screen_text(app).count("exit") > 1)


async def test_a_command_that_does_not_exist_and_an_address_without_a_listener_are_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        missing, silent = StdioTarget(("no-such-program-anywhere",)), HttpTarget(f"http://127.0.0.1:{port}/mcp")
        for target, name in ((missing, "no-such-program-anywhere"), (silent, str(port))):
            async with running(target, until="not connected") as (app, pilot):
                await shows(app, pilot, "Connection failed", name)


async def test_the_doctor_names_the_cause_first_and_the_fix(home: Path) -> None:
    target = StdioTarget((sys.executable, "-c", "import no_such_package"))
    async with running(target, until="not connected") as (app, pilot):
        await shows(app, pilot, "d doctor")
        await press(pilot, "d", shows="It cannot import the Python module no_such_package")
        text = screen_text(app)
        assert_in(text, "✓ command", "✗ stderr", "✗ exit", "Try   ", "-m pip install no_such_package")
        await press(pilot, "c", shows="Copied the doctor's report.")
        assert app.clipboard.startswith("**It cannot import the Python module no_such_package")


BANNER = """
import sys
print("My server 1.0 is starting", flush=True)
sys.stderr.write("loading the index\\n")
sys.stderr.flush()
sys.stdin.read()
"""


def banner(home: Path) -> StdioTarget:
    """A server that prints to stdout and never answers."""
    (home / "banner.py").write_text(BANNER)
    return StdioTarget((sys.executable, str(home / "banner.py")), name="banner")


async def test_the_steps_of_a_connection_are_shown_while_it_is_made(home: Path) -> None:
    async with running(banner(home), size=NARROW, until="Connecting to @banner") as (app, pilot):
        await shows(
            app,
            pilot,
            "“My server 1.0 is starting” is not JSON-RPC",
            "loading the index",
            "initialize sent; no answer yet: 1",
        )
        text = screen_text(app)
        assert " of 600 s" in " ".join(text.split())
        assert "✓ start" in text
        assert "d doctor   m messages   esc stop" in screen_lines(app)[-1]
        assert "1 line on stdout not JSON-RPC" in text
        await press(pilot, "escape", shows="It prints “My server 1.0 is starting” to stdout")
        await shows(app, pilot, "r start again")
        assert app.session.phase == "failed"
        # The doctor can be asked meanwhile.
        await press(pilot, "r", shows="Connecting to @banner")
        await press(pilot, "d", shows="The doctor checks each step")
        await becomes(app, pilot, lambda: app.session is not None and app.session.phase == "failed", "stopped")
        await press(pilot, "r", shows="Connecting to @banner")


async def lose(app: InspectorApp, pilot: Pilot[Any]) -> None:
    """Call a tool whose server then exits."""
    await to_tool(app, pilot, "crash")
    await press(pilot, *"7", "ctrl+r", shows="The server exited")


async def test_on_the_smallest_screen_the_arguments_of_a_lost_call_do_not_hide_how_to_send_it_again() -> None:
    async with on_demo(size=(50, 12)) as (app, pilot):
        await to_tool(app, pilot, "crash")
        await press(pilot, "ctrl+e", shows="{")
        arguments = json.dumps({"exit_code": 7, "note": "long " * 40})
        await press(pilot, "ctrl+a", *arguments, "ctrl+r", "ctrl+r", shows="The server exited")
        await shows(app, pilot, "lost call", "crash", "…", "^r connects and sends it again.")


@pytest.mark.parametrize("size", [WIDE, MEDIUM, NARROW])
async def test_a_lost_session_names_its_call_and_can_be_read(size: tuple[int, int]) -> None:
    async with on_demo(size=size) as (app, pilot):
        work = main_screen(app).panes.work
        await to_tool(app, pilot, "echo")
        await press(pilot, *"hi", "ctrl+r", until=lambda: work.result.answer is not None, what="a result")
        await lose(app, pilot)
        await shows(app, pilot, 'crash  {"exit_code": 7}', "^r connects and sends it again")
        await pilot.press("1")
        failed = main_screen(app).panes.failed
        assert not failed.display
        assert main_screen(app).panes.catalog.display
        await pilot.press("home", "enter")
        await settle(pilot, lambda: work.work.catalog_item.address == "echo")
        await becomes(app, pilot, lambda: work.result.answer is not None, "its result")
        assert work.request.form.value == {"message": "hi"}
        await shows(app, pilot, "f10 reconnect")
        await press(pilot, "ctrl+r", shows="not connected to the server. f10")
        await press(pilot, "escape", shows="Not connected. f10 reconnects")
        assert "f10 reconnect" in screen_lines(app)[-1]
        await press(pilot, "6", until=lambda: failed.display, what="the failure is shown by Server")


@pytest.mark.parametrize("size", [MEDIUM, NARROW])
async def test_the_report_of_the_doctor_has_its_own_title_and_leads_back_to_the_cause(size: tuple[int, int]) -> None:
    async with on_demo(size=size) as (app, pilot):
        await lose(app, pilot)
        assert "d doctor" in screen_lines(app)[-1]
        await press(pilot, "d", shows=("─ Doctor ─", "It connects: ", "esc back"), hides="─ The server exited")
        await press(
            pilot, "escape", shows=("The server exited", "exit code 7"), hides=("─ Doctor", "It connects", "esc back")
        )


async def test_the_replay_of_a_crash_shows_what_the_live_screen_showed(home: Path) -> None:
    kept = home / "crash.mcp.jsonl"
    expected = ("─ The server exited", "exit code 7", "ended with exit code 7", 'crash  {"exit_code": 7}', "✓ ready")
    async with on_demo(size=MEDIUM, record=kept) as (app, pilot):
        await lose(app, pilot)
        await press(pilot, shows=(*expected, "^r connects and sends it again"))
    async with running(RecordingTarget(kept), size=MEDIUM) as (app, pilot):
        await press(pilot, shows=expected, hides=("^r connects", "r start again", "d doctor"))
        panes = main_screen(app).panes
        await press(pilot, "ctrl+home", until=lambda: panes.catalog.display, hides="─ The server exited")
        await press(pilot, "ctrl+end", shows=expected)
        await press(pilot, "1", until=lambda: panes.catalog.display, what="the lists")


async def test_what_is_said_of_a_silent_end_is_not_called_a_fix(home: Path) -> None:
    command = (sys.executable, "-c", "import os; os._exit(3)")
    async with running(StdioTarget(command), size=MEDIUM) as (_, pilot):
        await press(pilot, shows="Note  It wrote nothing to stderr.", hides="Fix   ")


async def test_the_replay_of_a_command_that_does_not_exist_names_the_fix(home: Path) -> None:
    kept = home / "missing.mcp.jsonl"
    async with running(StdioTarget(("no-such-program-anywhere",)), size=MEDIUM, record=kept) as (app, pilot):
        await press(pilot, shows=("Connection failed", "Fix   Check the spelling."))
    async with running(RecordingTarget(kept), size=MEDIUM) as (app, pilot):
        await press(pilot, shows=("Connection failed", "Fix   Check the spelling."))
        lines = screen_lines(app)
        at = next(at for at, line in enumerate(lines) if "was not found" in line)
        assert "Fix   " in lines[at + 1], "below what happened"


@pytest.mark.parametrize("place", ["1", "7", "m", "form"])
async def test_one_key_connects_again_from_everywhere(place: str) -> None:
    async with on_demo(size=NARROW) as (app, pilot):
        await lose(app, pilot)
        session = main_screen(app).session
        await pilot.press(*(("1", "enter") if place == "form" else place))
        await settle(pilot, lambda: "f10 reconnect" in screen_lines(app)[-1])
        await press(pilot, "f10", until=lambda: session.phase == "ready", what="ready")
        await press(pilot, hides="f10")


async def test_the_key_that_connects_again_is_shown_wherever_the_header_says_that_the_connection_is_gone() -> None:
    async with on_demo() as (app, pilot):
        screen = main_screen(app)
        assert screen.session.commands is not None
        screen.session.commands.exchange_lost = True  # One request lost its connection; the session goes on.
        screen.draw_lines()
        await shows(app, pilot, "connection lost", "f10 reconnect")


@pytest.mark.parametrize("way", ["the call", "the server"])
async def test_the_lost_call_is_sent_again_after_the_restart_and_its_form_is_kept(way: str) -> None:
    async with on_demo() as (app, pilot):
        await lose(app, pilot)
        session, work = main_screen(app).session, main_screen(app).panes.work
        if way == "the call":
            work.sending.lost_work().sent = {"exit_code": 9}
            await press(pilot, "ctrl+r", shows="exit code 9")
        else:
            await press(pilot, "r", until=lambda: session.phase == "ready", what="ready")
            assert work.request.form.value == {"exit_code": 7}
            assert len(sent(session, "tools/call")) == 1
            await press(pilot, "ctrl+r", until=lambda: len(sent(session, "tools/call")) == 2, what="sent again")
        codes = [call["arguments"]["exit_code"] for call in sent(session, "tools/call")]
        assert codes == ([7, 9] if way == "the call" else [7, 7])


@pytest.mark.parametrize("size", [WIDE, NARROW])
@pytest.mark.parametrize(("key", "pane"), [("r", "catalog"), ("ctrl+r", "running")])
async def test_a_restart_moves_the_focus_into_no_field(size: tuple[int, int], key: str, pane: str) -> None:
    async with on_demo(size=size) as (app, pilot):
        await to_tool(app, pilot, "forget")
        work, session = main_screen(app).panes.work, main_screen(app).session
        await press(pilot, "ctrl+r", until=lambda: work.running.has_focus_within)
        session.call_tool("crash", {})
        await shows(app, pilot, "r start again")
        await press(pilot, key, until=lambda: session.phase == "ready")
        await becomes(app, pilot, lambda: app.screen.query_one(f"#{pane}").has_focus_within, pane)


def test_a_step_that_was_not_reached_has_the_sign_of_the_report() -> None:
    assert doctor_rows(DoctorStep("handshake", "skipped", "not reached"), 100)[0].pieces[0] == ("– ", "faint")


def test_a_long_path_leaves_room_for_what_matters() -> None:
    details = ("PATH: " + ":".join(f"/opt/tools/{at}/bin" for at in range(60)),)
    rows = doctor_rows(DoctorStep("command", "failed", "x: not found", details), 100)
    text = "".join(piece if isinstance(piece, str) else piece[0] for piece in rows[-1].pieces)
    assert len(text) < 200
    assert text.endswith("…")

"""The interface on a real pseudo-terminal, as a person has it: `terminal.py FIGURE CONTESTANT` prints one JSON line.

    launch     seconds from the start of the process to the list of tools on the screen (`textual`: a bare first frame)
    first      seconds from the start of the process to the first text on the screen
    keys       the cursor moved in a list of 1,000 rows of bare Textual: from key to frame
    down       the cursor moved in a list of 1,000 tools: from key to the first thing written after it
    recording  a recording of a million messages: seconds to its first screen and from key to frame, memory
    memory     its private memory for each message
    replay     the same recording gone through: from key to frame of seeks, steps and jumps to matches of a filter
    table      a result of 100,000 objects: seconds from the call to its first rows, from key to frame, memory
    timeline   a recording of 10,000 overlapping calls in the timeline: key to frame of zoom, pan and cursor, memory
    long timeline  the same with the recording of a million messages
    sessions   five servers in one window, one of them sends 1,000 notifications a second: key to frame in front, memory
    search     the search over a hundred recordings of 20,000 events: seconds to the first result, key to frame
    rate       CPU seconds for each second with 5,000 notifications a second
    flood      a server that sends 20,000 notifications at once and 20,000 more in four seconds: the same

Nothing is emulated: what the program writes is searched for words. A frame ends where Textual ends a synchronised
update, which it makes where the terminal says that it knows them; this one does.
"""

from __future__ import annotations

import fcntl
import itertools
import json
import os
import pty
import random
import re
import select
import signal
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles

from made_recordings import messages
from rows import BARE, CACHE, HERE, INSPECTOR, NODE, OFFICIAL, OURS

SIZE = (45, 160)
PATIENCE = 60.0
QUIET = 0.12
"""Seconds without a byte after which a screen is taken to be finished."""
OVERLAP = 4096
"""Bytes that are searched twice, for words of which the half was there already."""
KEYS = 100
SERVER = [OURS, "-S", str(HERE / "server.py")]
PROGRAM = str(Path(OURS).parent / "inspector")
MILLION, FEW = 1_000_000, 10_000
FLOOD = 20_000
RATE, RATE_SECONDS = 5_000, 5.0
RECORDINGS, EVENTS, WORD = 100, 20_000, "needlework"
OVERLAPPING, MINUTE = 10_000, 60_000_000
OBJECTS = 100_000
TOOLS = 1000

FRAME_END = b"\x1b[?2026l"
_ASKED = b"\x1b[?2026$p"
_KNOWN = b"\x1b[?2026;2$y"
_CONTROL = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[@-Z\\-_])|[\r\n]"
)

TAB = b"\t"
DOWN, UP, PAGE_DOWN, PAGE_UP, HOME, END = b"\x1b[B", b"\x1b[A", b"\x1b[6~", b"\x1b[5~", b"\x1b[H", b"\x1b[F"
RIGHT, LEFT, SHIFT_RIGHT, SHIFT_LEFT = b"\x1b[C", b"\x1b[D", b"\x1b[1;2C", b"\x1b[1;2D"
CLICK = b"\x1b[<0;60;38M\x1b[<0;60;38m"
"""A press and a release of the left button, on the result."""
CTRL_HOME, CTRL_END = b"\x1b[1;5H", b"\x1b[1;5F"
PLACES = ("#500000", "#999990", "start", "#3", "0:01", "#250001", "+1s", "end", "-2s", "#777777")

BARE_APP = """
from textual.app import App
from textual.widgets import Static

class Bare(App):
    def compose(self):
        yield Static("the first frame")

Bare().run()
"""
BARE_LIST = """
from textual.app import App
from textual.widgets import Footer, OptionList

class BareList(App):
    def compose(self):
        yield OptionList(*(f"tool-{number:05}" for number in range(1000)))
        yield Footer()

BareList().run()
"""


class Late(Exception):
    """The expected output did not come in time."""


class Terminal:
    """A program on a pseudo-terminal. What it is asked about is what it wrote since the last `press`, or altogether."""

    def __init__(self, command: list[str], environment: dict[str, str], folder: str) -> None:
        self.started = time.perf_counter()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", *SIZE, 0, 0))
            os.chdir(folder)
            os.execvpe(command[0], command, environment)
        self._written = b""

    def read(self, seconds: float) -> bool:
        """Take in what comes within `seconds`; whether anything came."""
        if not select.select([self.fd], [], [], max(0.0, seconds))[0]:
            return False
        try:
            block = os.read(self.fd, 1 << 16)
        except OSError:
            raise Late(f"it ended: {self._tail()}") from None
        if _ASKED in block:
            os.write(self.fd, _KNOWN)
        self._written += block
        return True

    def _tail(self) -> str:
        return _CONTROL.sub(b"", self._written)[-300:].decode("utf-8", "replace")

    def shows(self, words: bytes, *, frame: bool = True, patience: float = PATIENCE) -> float:
        """Wait for words and for the end of their frame; returns the time on the clock."""
        end = time.perf_counter() + patience
        searched = 0
        while True:
            now = time.perf_counter()
            whole = self._written.rfind(FRAME_END) + 1 if frame else len(self._written)
            if whole > searched and words in _CONTROL.sub(b"", self._written[max(0, searched - OVERLAP) : whole]):
                return now
            searched = max(searched, whole)
            if now > end:
                raise Late(f"{words!r} did not appear within {patience:g} s: {self._tail()}")
            self.read(end - now)

    def frame(self, patience: float = 2.0) -> float | None:
        """Wait for the end of the next frame; None where none comes."""
        end = time.perf_counter() + patience
        while FRAME_END not in self._written:
            if time.perf_counter() > end:
                return None
            self.read(end - time.perf_counter())
        return time.perf_counter()

    def first_text(self, patience: float = PATIENCE) -> float:
        """Wait for any visible character; returns the time on the clock."""
        end = time.perf_counter() + patience
        while not _CONTROL.sub(b"", self._written).strip():
            if time.perf_counter() > end:
                raise Late(f"nothing was drawn within {patience:g} s")
            self.read(end - time.perf_counter())
        return time.perf_counter()

    def watch(self, seconds: float) -> None:
        """Take in what comes, for so long."""
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            self.read(end - time.perf_counter())

    def rest(self, seconds: float = QUIET) -> None:
        """Wait until nothing is written any more."""
        while self.read(seconds):
            pass

    def press(self, key: bytes) -> float:
        self._written = b""
        os.write(self.fd, key)
        return time.perf_counter()

    def memory(self, field: str = "VmRSS") -> float:
        """Megabytes: what the process has now, or `VmHWM`, the most it has had."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(rf"{field}:\s+(\d+)", status)[1]) / 1024  # type: ignore[index]

    def cpu(self) -> float:
        """CPU seconds that the process has used, of all its threads."""
        times = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")

    def frames(self) -> int:
        """The frames since the last `press`."""
        return self._written.count(FRAME_END)

    def end(self) -> None:
        """End the program, gently at first, and everything on its terminal."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:
                break
            stop = time.perf_counter() + 3
            while time.perf_counter() < stop:
                try:
                    self.read(0.02)
                except Late:
                    time.sleep(0.02)
                if os.waitpid(self.pid, os.WNOHANG)[0]:
                    os.close(self.fd)
                    return


@contextmanager
def running(*command: str, recordings: Path | None = None) -> Iterator[Terminal]:
    """The program with settings, state, cache and working folder of its own, without a saved index.

    The files of the folder `recordings` are its earlier recordings.
    """
    with tempfile.TemporaryDirectory(prefix="bench-", dir=recordings and CACHE) as folder:
        if recordings is not None:
            kept = Path(folder, "state", "inspector", "recordings")
            kept.mkdir(parents=True)
            for path in recordings.iterdir():
                os.link(path, kept / path.name)
        environment = os.environ | {
            "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8", "HOME": folder,
            "XDG_STATE_HOME": f"{folder}/state", "XDG_CONFIG_HOME": f"{folder}/config",
            "XDG_CACHE_HOME": f"{folder}/cache",
        }  # fmt: skip
        environment.pop("NO_COLOR", None)
        terminal = Terminal(list(command), environment, folder)
        try:
            yield terminal
        finally:
            terminal.end()


def p95(figures: list[float]) -> float:
    return quantiles(figures, n=20)[-1]


# The figures


def launch_textual() -> dict[str, float]:
    with running(OURS, "-c", BARE_APP) as terminal:
        return {"s": terminal.shows(b"the first frame") - terminal.started}


def launch_inspector() -> dict[str, float]:
    with running(PROGRAM, "--", *SERVER) as terminal:
        return {"s": terminal.shows(b"tool-00004") - terminal.started}


@contextmanager
def official(*options: str) -> Iterator[Terminal]:
    """The official Inspector in a terminal, with our server; `options` are the server's."""
    program = CACHE / "npm" / "node_modules" / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build"
    with tempfile.NamedTemporaryFile("w", suffix=".json") as config:
        json.dump({"mcpServers": {"bench": {"command": SERVER[0], "args": [*SERVER[1:], *options]}}}, config)
        config.flush()
        with running(NODE, str(program / "index.js"), "--tui", "--config", config.name) as terminal:
            yield terminal


def list_tools_in_official(terminal: Terminal, tools: int) -> float:
    """Make it connect and show the tools, as soon as it can. Returns the time."""
    terminal.shows(b"[Connect]", frame=False)
    terminal.press(b"c")
    terminal.shows(b"Tools (%d)" % tools, frame=False)
    terminal.press(b"t")
    return terminal.shows(b"tool-00004", frame=False)


def launch_official() -> dict[str, float]:
    with official() as terminal:
        return {"s": list_tools_in_official(terminal, 5) - terminal.started}


def first_textual() -> dict[str, float]:
    with running(OURS, "-c", BARE_APP) as terminal:
        return {"s": terminal.first_text() - terminal.started}


def first_inspector() -> dict[str, float]:
    with running(PROGRAM, "--", *SERVER) as terminal:
        return {"s": terminal.first_text() - terminal.started}


def first_official() -> dict[str, float]:
    with official() as terminal:
        return {"s": terminal.first_text() - terminal.started}


def moves(terminal: Terminal) -> dict[str, float]:
    """Move the cursor down and up; each key is measured to the first thing that is written after it."""
    times = []
    for key in (DOWN, DOWN, UP) * (KEYS // 3):
        pressed_at = terminal.press(key)
        if terminal.read(2.0):
            times.append(time.perf_counter() - pressed_at)
        terminal.rest()
    return {"keys": len(times), "key_s": median(times), "key_p95_s": p95(times)}


def down_inspector() -> dict[str, float]:
    with running(PROGRAM, "--", *SERVER, "--tools", str(TOOLS)) as terminal:
        terminal.shows(b"tool-00004")
        terminal.rest(1.0)
        return moves(terminal)


def down_official() -> dict[str, float]:
    with official("--tools", str(TOOLS)) as terminal:
        list_tools_in_official(terminal, TOOLS)
        terminal.rest(1.0)
        terminal.press(TAB)  # the focus is on the tabs until then, and no key moves the cursor
        terminal.rest(1.0)
        return moves(terminal)


def keys(terminal: Terminal, pressed: tuple[bytes, ...], count: int) -> list[float]:
    """Seconds from each key to the end of the frame it made, one key after the other."""
    times = []
    for i in range(count):
        pressed_at = terminal.press(pressed[i % len(pressed)])
        came = terminal.frame()
        if came is not None:
            times.append(came - pressed_at)
        terminal.rest()
    return times


def keys_textual() -> dict[str, float]:
    with running(OURS, "-c", BARE_LIST) as terminal:
        terminal.shows(b"tool-00004")
        terminal.rest(1.0)
        times = keys(terminal, (DOWN, DOWN, UP), KEYS)
        return {"keys": len(times), "key_s": median(times), "key_p95_s": p95(times)}


def recording_inspector() -> dict[str, float]:
    path = messages(MILLION)
    with running(PROGRAM, "replay", str(path)) as terminal:
        first = terminal.shows(b"step 0 of 0") - terminal.started
        terminal.press(b"m")
        terminal.watch(0.5)
        early = []
        steps = [*range(6), *([*range(4, -1, -1), *range(1, 6)] * 4)]
        for before, step in zip([-1, *steps], steps, strict=False):
            pressed_at = terminal.press(DOWN if step > before else UP)
            early.append(terminal.shows(b'"step %d of 0' % step) - pressed_at)
        terminal.shows(b"1,000,000")
        terminal.rest()
        times = keys(terminal, (END, UP, PAGE_UP, PAGE_UP, DOWN, HOME, PAGE_DOWN, DOWN, PAGE_DOWN, UP), KEYS)
        return {
            "s": first, "keys": len(times), "key_s": median(times), "key_p95_s": p95(times),
            "early_keys": len(early), "early_p95_s": p95(early), "rss_mb": terminal.memory("VmHWM"),
        }  # fmt: skip


def memory_inspector() -> dict[str, float]:
    """The growth of private memory from a short recording to a long one, for each message.

    The files of the index are not part of it: the system takes their memory back whenever it needs it.
    """
    memory = {}
    for count in (FEW, MILLION):
        with running(PROGRAM, "replay", str(messages(count))) as terminal:
            terminal.shows(f"event {count:,} of {count:,}".encode())
            terminal.rest(1.0)
            memory[count] = terminal.memory("RssAnon")
    return {"each_bytes": (memory[MILLION] - memory[FEW]) * (1 << 20) / (MILLION - FEW)}


def replay_inspector() -> dict[str, float]:
    """Seeks are measured from the enter that ends them; a filter, from its last character until it has been applied."""
    path = messages(MILLION)
    with running(PROGRAM, "replay", str(path)) as terminal:
        terminal.shows(b"event 1,000,000 of 1,000,000")
        terminal.rest(0.5)
        sought = keys(terminal, (CTRL_HOME, CTRL_END), 10)
        for place in PLACES * 2:
            terminal.press(b"@" + place.encode())
            terminal.rest()
            sought += keys(terminal, (b"\r",), 1)
        stepped = keys(terminal, (RIGHT, RIGHT, LEFT, SHIFT_RIGHT, SHIFT_RIGHT, SHIFT_LEFT), 60)
        terminal.press(b"m/")
        terminal.rest()
        asked = terminal.press(b"method:tools/call")
        applied = terminal.shows(b" of 200,000 rows so far") - asked
        terminal.press(b"\r")
        terminal.rest()
        matched = keys(terminal, (b"n", b"n", b"N"), 60)
        return {
            "seek_p95_s": p95(sought), "step_p95_s": p95(stepped), "match_p95_s": p95(matched), "filter_s": applied,
            "rss_mb": terminal.memory("VmHWM"),
        }  # fmt: skip


def overlapping() -> Path:
    """A recording of a minute with 10,000 calls, thousands of them in flight at once; made once."""
    path = CACHE / "overlapping.mcp.jsonl"
    if path.exists():
        return path
    from inspector.journal.journal import Journal
    from inspector.protocol import jsonrpc

    making = path.with_name("making.mcp.jsonl")
    making.unlink(missing_ok=True)
    journal = Journal.create(making, {"kind": "stdio", "argv": ["server"]})
    chance = random.Random(17)
    moments = []
    for id in range(OVERLAPPING):
        begin = chance.randrange(1_000_000 if id % 2 else MINUTE)
        end = MINUTE - chance.randrange(1_000_000) if id % 2 else begin + 1000 + int(chance.expovariate(1 / 5_000_000))
        moments += [(begin, False, id), (max(end, begin + 1), True, id)]
    for moment, answers, id in sorted(moments):
        journal.moment = moment
        if answers:
            result = jsonrpc.result(id, {"content": [{"type": "text", "text": f"found {id}"}], "isError": id % 97 == 0})
            journal.record_received("stdio", [jsonrpc.encode(result)])
        else:
            params = {"name": f"search-{id % 40}", "arguments": {"query": f"word {id}"}}
            request = jsonrpc.request(id, "tools/call", params)
            journal.record_sent("stdio", jsonrpc.encode(request), request)
    journal.close()
    journal.release()
    making.rename(path)
    return path


def timeline_inspector() -> dict[str, float]:
    """10,000 overlapping calls."""
    return through_timeline(overlapping(), b"gaps over")


def long_timeline_inspector() -> dict[str, float]:
    """A million messages."""
    return through_timeline(messages(MILLION), b"event 1,000,000 of 1,000,000")


def through_timeline(path: Path, ready: bytes) -> dict[str, float]:
    """Zooms into and out of several places, pans, and moves the cursor.

    It goes to the right, because it begins at the left end, which the first row of the log is. There a key to the left
    changes nothing, and the next frame is that of the figures, which wait for a rest.
    """
    with running(PROGRAM, "replay", str(path)) as terminal:
        terminal.shows(ready)
        terminal.rest(0.5)
        terminal.press(b"mz")
        terminal.rest(0.5)
        terminal.press(HOME)
        terminal.rest(0.5)
        opened = terminal.press(b"v")
        first = terminal.shows(b"at most") - opened
        terminal.rest(0.5)
        zoomed, panned = [], []
        for _ in range(5):
            zoomed += keys(terminal, (b"+",), 8)
            panned += keys(terminal, (SHIFT_RIGHT, SHIFT_RIGHT, SHIFT_LEFT, RIGHT, LEFT), 10)
            zoomed += keys(terminal, (b"-",), 6)
            panned += keys(terminal, (SHIFT_RIGHT,), 2)
        return {
            "s": first, "keys": len(zoomed) + len(panned), "zoom_p95_s": p95(zoomed), "pan_p95_s": p95(panned),
            "key_p95_s": p95(zoomed + panned), "rss_mb": terminal.memory("VmHWM"),
        }  # fmt: skip


def flood_inspector() -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        path = Path(folder) / "flood.mcp.jsonl"
        with running(PROGRAM, "--record", str(path), "--", *SERVER, "--flood", str(FLOOD)) as terminal:
            terminal.shows(b"tool-00004")
            terminal.rest(0.5)
            before = most = terminal.memory()
            kept = recorded(path)
            assert kept == 0, "the flood came too early"
            times: list[float] = []
            walk = itertools.cycle([(DOWN, n) for n in range(1, 5)] + [(UP, n) for n in range(3, -1, -1)])
            stop = time.perf_counter() + PATIENCE
            while kept < 2 * FLOOD and time.perf_counter() < stop:
                key, chosen = next(walk)
                pressed_at = terminal.press(key)
                times.append(terminal.shows(b"tool-%05d" % chosen if chosen else b"echo") - pressed_at)
                most = max(most, terminal.memory())
                if len(times) % 20 == 0:
                    kept = recorded(path)
            terminal.rest()
            most = max(most, terminal.memory())
        return {
            "kept": recorded(path), "keys": len(times), "key_s": median(times), "key_p95_s": p95(times),
            "rss_before_mb": before, "growth_mb": most - before,
        }  # fmt: skip


def sessions_inspector() -> dict[str, float]:
    """The memory of each further session, and keys in the first one while another one is flooded."""
    server = {"command": SERVER[0], "args": SERVER[1:]}
    flooded = server | {"args": [*SERVER[1:], "--rate", "1000"]}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as config:
        json.dump({"mcpServers": {"a": server, "b": server, "c": server, "d": server, "e": flooded}}, config)
        config.flush()
        program = (PROGRAM, "--yes", "--config", config.name)
        with running(*program, "@a") as terminal:
            terminal.shows(b"tool-00004")
            terminal.rest(1.0)
            alone = terminal.memory()
        with running(*program, "@a", "@b", "@c", "@d", "@e") as terminal:
            terminal.shows(b"tool-00004")
            terminal.watch(4.0)
            together = terminal.memory()
            times = []
            for key, step in KEYS // 8 * [*((DOWN, n) for n in range(1, 5)), *((UP, n) for n in range(3, -1, -1))]:
                pressed_at = terminal.press(key)
                times.append(terminal.shows(b"tool-%05d" % step if step else b"echo") - pressed_at)
                terminal.watch(QUIET)
        return {
            "keys": len(times), "key_s": median(times), "key_p95_s": p95(times), "alone_mb": alone,
            "each_mb": (together - alone) / 4,
        }  # fmt: skip


def hundred() -> Path:
    """A folder with a hundred recordings of 20,000 events each; made once."""
    folder = CACHE / "hundred"
    if folder.exists():
        return folder
    from inspector.journal.journal import Journal
    from inspector.protocol import jsonrpc

    making = CACHE / "making"
    making.mkdir()
    for number in range(RECORDINGS):
        path = making / f"202601{number // 24 + 1:02}-{number % 24:02}0000-000000-server-1.mcp.jsonl"
        journal = Journal.create(path, {"kind": "stdio", "argv": ["server"]})
        for first in range(0, EVENTS, 1000):
            texts = (f"step {step} {'x' * 60}" for step in range(first, first + 1000))
            notes = (jsonrpc.notification("notifications/message", {"level": "info", "data": text}) for text in texts)
            journal.record_received("stdio", [jsonrpc.encode(note) for note in notes])
        journal.record_received(
            "stdio", [jsonrpc.encode(jsonrpc.notification("notifications/message", {"data": WORD}))]
        )
        journal.close()
        journal.release()
    making.rename(folder)
    return folder


def search_inspector() -> dict[str, float]:
    """A word at the end of each recording, then the word typed again and again while it is searched for."""
    with running(PROGRAM, "--", *SERVER, recordings=hundred()) as terminal:
        terminal.shows(b"tool-00004")
        terminal.rest(0.5)
        terminal.press(b"\x06")
        terminal.rest()
        typed = terminal.press(WORD.encode())
        first = terminal.shows(b"Earlier sessions") - typed
        terminal.shows(b"5 of 100")
        ended = time.perf_counter() - typed
        times = []
        for _ in range(5):
            for key in (*[b"\x7f"] * 6, *(WORD[-6:][at : at + 1].encode() for at in range(6))):
                pressed_at = terminal.press(key)
                if (came := terminal.frame()) is not None:
                    times.append(came - pressed_at)
                terminal.watch(0.15)
        return {
            "s": first, "all_s": ended, "keys": len(times), "key_s": median(times), "key_p95_s": p95(times),
            "rss_mb": terminal.memory("VmHWM"),
        }  # fmt: skip


def rate_inspector() -> dict[str, float]:
    """CPU seconds for each second with 5,000 notifications a second and no keys."""
    with running(PROGRAM, "--", *SERVER, "--rate", str(RATE)) as terminal:
        terminal.shows(b"tool-00004")
        terminal.watch(3.0)
        began, cpu = time.perf_counter(), terminal.cpu()
        terminal.press(b"")
        terminal.watch(RATE_SECONDS)
        seconds = time.perf_counter() - began
        return {"cpu_s": (terminal.cpu() - cpu) / seconds, "frames": terminal.frames() / seconds}


def table_inspector() -> dict[str, float]:
    """The call is sent from the list with the keys of the table; sorting by a column is measured separately."""
    with running(PROGRAM, "--", *SERVER, "--rows", str(OBJECTS)) as terminal:
        terminal.shows(b"tool-00004")
        terminal.rest(0.5)
        before = terminal.memory()
        called = terminal.press(b"\x12")
        first = terminal.shows(b"row 1 of 100,000") - called
        terminal.rest(1.0)
        terminal.press(CLICK)
        terminal.rest(0.5)
        times = keys(terminal, (DOWN, DOWN, PAGE_DOWN, RIGHT, END, UP, PAGE_UP, LEFT, HOME, DOWN), KEYS)
        settled = terminal.memory()
        terminal.press(HOME)
        terminal.rest()
        sorting = terminal.press(RIGHT * 3 + b"oo")
        largest = max(i * 7919 % 200_000 for i in range(OBJECTS)) / 100
        ordered = terminal.shows(b"%.2f" % largest) - sorting
        terminal.rest()
        return {
            "s": first, "keys": len(times), "key_s": median(times), "key_p95_s": p95(times), "sort_s": ordered,
            "rss_before_mb": before, "growth_mb": settled - before, "most_mb": terminal.memory("VmHWM") - before,
        }  # fmt: skip


def recorded(path: Path) -> int:
    """The notifications that are in the file."""
    return path.read_bytes().count(b"notifications/message")


FIGURES = {
    ("launch", BARE): launch_textual,
    ("launch", INSPECTOR): launch_inspector,
    ("launch", OFFICIAL): launch_official,
    ("first", BARE): first_textual,
    ("first", INSPECTOR): first_inspector,
    ("first", OFFICIAL): first_official,
    ("keys", BARE): keys_textual,
    ("down", INSPECTOR): down_inspector,
    ("down", OFFICIAL): down_official,
    ("recording", INSPECTOR): recording_inspector,
    ("recording", BARE): launch_textual,
    ("memory", INSPECTOR): memory_inspector,
    ("replay", INSPECTOR): replay_inspector,
    ("table", INSPECTOR): table_inspector,
    ("timeline", INSPECTOR): timeline_inspector,
    ("long timeline", INSPECTOR): long_timeline_inspector,
    ("flood", INSPECTOR): flood_inspector,
    ("rate", INSPECTOR): rate_inspector,
    ("search", INSPECTOR): search_inspector,
    ("sessions", INSPECTOR): sessions_inspector,
}


if __name__ == "__main__":
    print(json.dumps(FIGURES[sys.argv[1], sys.argv[2]]()))

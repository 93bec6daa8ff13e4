"""The start screen: what was configured, what was recorded, what can be typed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from inspector.client.recordings_folder import RecordingInfo, kept
from inspector.config.server_memory import ServerMemory
from inspector.config.servers import find_servers
from inspector.config.settings import Settings
from inspector.config.targets import HttpTarget
from inspector.errors import AuthorizationNeeded, SpawnError
from inspector.text import when
from inspector.transports.httpx_network import HttpxNetwork
from inspector.tui.app import InspectorApp
from inspector.tui.main.screen import MainScreen
from inspector.tui.start.rows import Configured, Demo, Group, TypedTarget
from inspector.tui.start.screen import ChoiceList
from inspector.tui.start.targets import Targets, groups, row_verbs
from inspector.tui.widgets.editor import Editor
from tests.auth.demo_login import protected_server
from tests.test_addresses import DISGUISED, LOOKALIKE, MIXES, REQUESTED
from tests.tui.live_app import MEDIUM, NARROW, ROOT, SESSION, becomes, click, running, shows
from tests.tui.login_app import app_on, own_state
from tests.tui.tui_screens import assert_in, press, screen_lines, screen_text

SIZE = (100, 30)


def configure(home: Path, **servers: dict[str, Any]) -> None:
    """Write the servers of a home."""
    (home / "inspector.json").write_text(json.dumps({"servers": servers}))


@pytest.fixture
def configured(home: Path) -> Path:
    """A home with three servers in a file and two recordings."""
    demo = {"command": sys.executable, "args": ["-m", "inspector.demo"], "env": {"PYTHONPATH": ROOT}}
    weather = {"command": "uv", "args": ["run", "weather"]}
    configure(home, shop={"url": "https://shop.example/mcp"}, weather=weather, ours=demo)
    recordings = home / "recordings"
    recordings.mkdir(mode=0o700)
    (recordings / "2026-01-02T03-04-05Z-everything-ab12.mcp.jsonl").write_bytes(SESSION.read_bytes())
    (recordings / "2026-01-01T03-04-05Z-torn-ab12.mcp.jsonl").write_bytes(
        b"".join(SESSION.read_bytes().splitlines(keepends=True)[:5])
        .replace(b"everything", b"torn-one")
        .replace(b'"id"', b'"purpose": "check", "id"', 1)
    )
    (recordings / "2025-01-01T03-04-05Z-broken-ab12.mcp.jsonl").write_bytes(b"nothing\n")
    return home


async def test_it_lists_servers_and_recordings_with_how_they_went(configured: Path) -> None:
    for entry in find_servers().entries:
        if entry.name == "ours":
            ServerMemory(entry).remember_open(True)
        if entry.name == "weather":
            ServerMemory(entry).remember_outcome(SpawnError("The program uv was not found."))
        if entry.name == "shop":
            ServerMemory(entry).remember_outcome(AuthorizationNeeded("401", status=401))
    async with running(None, size=MEDIUM, until="@shop") as (app, _):
        text = screen_text(app)
        assert "3 from 1 file" in text
        rows = {
            line.split("@")[1].split()[0]: line for line in screen_lines(app) if "@" in line and "this folder" in line
        }
        assert "https://shop.example/mcp" in rows["shop"]
        assert "not logged in" in rows["shop"]
        assert "✓ @ours" in rows["ours"]
        assert "connected a moment ago" in rows["ours"]
        assert "✗ @weather" in rows["weather"]
        assert "failed: The program uv was" in rows["weather"]
        assert any("everything" in line and "2 error events" in line for line in screen_lines(app))
        assert any("torn-one" in line and "end is missing" in line for line in screen_lines(app))
        assert any("torn-one check " in " ".join(line.split()) for line in screen_lines(app)), "what it was made for"
        assert any("8 B not a recording" in line for line in screen_lines(app))
        assert "3 recordings" in text


@pytest.mark.parametrize("size", [(100, 30), (80, 24)])
async def test_recordings_of_one_minute_say_what_they_are_and_which_server_crashed(
    home: Path, size: tuple[int, int]
) -> None:
    folder = home / "recordings"
    folder.mkdir(mode=0o700)
    lost = {"n": 9, "t": 9, "dir": "local", "kind": "life", "ch": "", "event": "lost", "error": {"code": "exited"}}
    for at, purpose in enumerate(("check", "call", "")):
        header, *events, end = SESSION.read_bytes().splitlines(keepends=True)
        if purpose:
            header = header.replace(b'"id"', f'"purpose": "{purpose}", "id"'.encode(), 1)
        else:
            events.append(json.dumps(lost).encode() + b"\n")
        (folder / f"2026-01-02T03-04-0{at}Z-everything-ab12.mcp.jsonl").write_bytes(b"".join([header, *events, end]))
    async with running(None, size=size, until="server exited") as (app, _):
        rows = [line for line in screen_lines(app) if "everything" in line]
        assert [[word in row for row in rows] for word in ("check", " call ", "server exited")] == [
            [False, False, True], [False, True, False], [True, False, False],
        ]  # fmt: skip


async def test_an_entry_that_its_host_does_not_start_says_so_and_the_list_is_left_without_asking(home: Path) -> None:
    (home / ".mcp.json").write_text(json.dumps({"mcpServers": {"far": {"url": "http://127.0.0.1:9/mcp"}}}))
    async with running(None, size=MEDIUM, until="@far") as (app, pilot):
        assert "not started by its host" in screen_text(app)
        await press(pilot, "f", "a", "r", "enter", shows="Claude Code does not start @far")
    async with running(None, size=SIZE, until="Recordings") as (app, pilot):
        await press(pilot, "tab", "q", until=lambda: not app._running, what="left")


def rewritten(configured: Path, *, head: dict[str, Any] | None = None, end: dict[str, Any] | None = None) -> None:
    """Change the first and the last line of the newest recording."""
    path = next((configured / "recordings").glob("*everything*"))
    first, *lines, last = [json.loads(line) for line in path.read_text().splitlines()]
    changed = [first | (head or {}), *lines, last | (end or {})]
    path.write_text("".join(json.dumps(line) + "\n" for line in changed))


async def test_one_error_is_one_error_and_a_broken_file_is_named_and_hides_nothing(configured: Path) -> None:
    rewritten(configured, end={"errors": 1})
    (configured / ".mcp.json").write_text("{")
    async with running(None, size=SIZE, until="1 error event") as (app, _):
        assert "1 error events" not in screen_text(app)
        assert_in(screen_text(app), "@shop", ".mcp.json", "1 problem")


async def test_the_errors_that_a_check_provoked_are_counted_as_its_events_and_not_as_its_faults(
    configured: Path,
) -> None:
    rewritten(configured, head={"purpose": "check"}, end={"failures": 157})
    for size in (SIZE, MEDIUM):
        async with running(None, size=size, until="157 error events") as (app, pilot):
            row = next(line for line in screen_lines(app) if "157 error events" in line)
            assert "check" in row
            if size == MEDIUM:
                await press(pilot, "tab", "end", "up", "up", shows="157 error events; checks send wrong requests on")


async def test_a_command_that_was_recorded_is_started_not_replayed(configured: Path) -> None:
    for program in ("unknown-program --all", "cat"):  # Not found; and one word, which may be a filter.
        rewritten(configured, head={"target": {"kind": "stdio", "label": "everything", "argv": program.split()}})
        async with running(None, size=MEDIUM, until="@shop") as (app, pilot):
            app.screen.query_one("#target", Editor).value = program
            await shows(app, pilot, f"Open as typed: {program}", "Recordings")
            assert isinstance(app.screen.query_one(ChoiceList).thing, TypedTarget)
            await pilot.press("down")
            assert isinstance(app.screen.query_one(ChoiceList).thing, RecordingInfo)


async def test_a_command_is_started_although_its_recording_is_open(configured: Path) -> None:
    rewritten(configured, head={"target": {"kind": "stdio", "label": "everything", "argv": ["everything"]}})
    async with running(None, size=MEDIUM, until="@shop") as (app, pilot):
        await press(pilot, *"eve", "enter", shows="read-only")
        await press(pilot, "b", shows="Open now", hides="record…")
        app.screen.query_one("#target", Editor).value = "everything"
        await shows(app, pilot, "Open recordings")
        assert isinstance(app.screen.query_one(ChoiceList).thing, TypedTarget)
        # The recording itself leads there by one key.
        await press(pilot, "ctrl+u", "escape", shows=("read-only", "f10 open server"))
        await press(pilot, "f10", shows="Open recordings")
        assert app.screen.query_one("#target", Editor).value == "everything"
        assert isinstance(app.screen.query_one(ChoiceList).thing, TypedTarget)
        await press(pilot, "ctrl+u", "escape", "b", shows="a command, a URL, @name or a recording")


@pytest.mark.slow
async def test_the_first_launch_shows_examples_and_what_the_lists_will_hold() -> None:
    async with running(None, size=NARROW, until="No server is configured") as (app, pilot):
        text = screen_text(app)
        for example, kind in (("npx -y @modelcontextprotocol/server-everything", "a command (stdio)"),
                              ("https://shop.example/mcp", "a URL (HTTP)"), ("@shop", "a configured server"),
                              ("session.mcp.jsonl", "a recording")):  # fmt: skip
            assert any(example in line and kind in line for line in text.splitlines())
        assert "No recording yet. Every session is recorded and listed here." in text
        await press(pilot, "f5", shows="Demo server")
        await becomes(app, pilot, lambda: isinstance(app.screen, MainScreen), "the demo")


def marked(app: InspectorApp) -> str:
    """The text of the row that Enter opens."""
    view = app.screen.query_one(ChoiceList)
    return "".join(segment.text for segment in view.render_line(view.cursor - view.scroll_offset.y))


async def test_typed_text_narrows_and_enter_opens_the_marked_row(configured: Path) -> None:
    async with running(None, size=NARROW, until="@shop") as (app, pilot):
        assert all(len(line) <= NARROW[0] for line in screen_lines(app)), "it fits eighty columns"
        assert "Recordings" in screen_text(app)
        await pilot.resize_terminal(*SIZE)
        await pilot.press(*"no-such-program-ours")
        await becomes(app, pilot, lambda: "Open as typed" in marked(app), "nothing else matches")
        await pilot.press("ctrl+u", *f"{sys.executable}", "space", "minus", "m")
        await becomes(app, pilot, lambda: "Open as typed" in marked(app), "a command line precedes what matches")
        assert marked(app).startswith("   Open as")
        await press(pilot, "ctrl+u", *"eve", until=lambda: "@shop" not in screen_text(app), what="narrowed")
        assert_in(screen_text(app), "1 of 6", "1 of 3", "Open as typed: eve")
        assert "everything" in marked(app), "not the typed text"
        await press(pilot, "enter", shows="read-only")


async def test_the_entry_of_the_typed_name_is_marked_before_one_that_only_has_it(home: Path) -> None:
    configure(home, **{name: {"command": "uv", "args": ["run", name]} for name in ("our-git", "git", "git-lfs")})
    async with running(None, size=SIZE, until="@our-git") as (app, pilot):
        await press(pilot, *"gi", shows="3 of 3")
        assert marked(app).split()[0] == "@our-git", "the first that has it"
        await press(pilot, "t", until=lambda: marked(app).split()[0] == "@git", what="the one of this name")
        await press(pilot, "-", until=lambda: marked(app).split()[0] == "@git-lfs", what="narrowed to one")


async def test_a_long_command_keeps_the_name_of_its_program_and_its_end(home: Path) -> None:
    files = {"command": "/opt/tools/node_modules/.bin/mcp-server-filesystem", "args": ["/data"]}
    everything = {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-everything"]}
    configure(
        home,
        files=files,
        everything=everything,
        url={"url": "https://shop.example/a/very/long/path/to/the/endpoint/mcp"},
    )
    async with running(None, size=NARROW, until="@files") as (app, pilot):
        rows = {line.split("@")[1].split()[0]: line for line in screen_lines(app) if " @" in line}
        assert "…/mcp-server-filesystem /data " in rows["files"]
        assert "server-everything " in rows["everything"]
        assert "npx -y @" in rows["everything"]
        assert "https://shop" in rows["url"]
        assert "endpoint/mcp " in rows["url"]
        await pilot.resize_terminal(160, 45)
        await shows(app, pilot, "/opt/tools/node_modules/.bin/mcp-server-filesystem /data")


async def test_the_arrows_walk_all_groups_and_letters_are_text_in_the_field_and_actions_in_the_list(
    configured: Path,
) -> None:
    async with running(None, size=SIZE, until="@shop") as (app, pilot):
        seen = [marked(app)]
        for _ in range(5):
            await pilot.press("down")
            seen.append(marked(app))
        assert [row.split()[0] for row in seen[:4]] == ["@shop", "@weather", "@ours", "everything"]
        await pilot.press("down", "down")
        assert marked(app) == seen[-1], "it ends at the last row"
        await pilot.press("up", "up", "up")
        assert "@ours" in marked(app)
        assert isinstance(app.focused, Editor)
        await press(pilot, *"torn", until=lambda: "torn-one" in marked(app), what="narrowed and marked")
        # Letters are text in the field, and actions in the list.
        await press(pilot, "ctrl+u", shows="@shop")
        await pilot.press("q", "c", "question_mark")
        assert "qc?" in screen_lines(app)[2]
        await press(pilot, "ctrl+u", "tab", until=lambda: "c check   d doctor" in screen_lines(app)[-1])
        await pilot.press("down", "down", "down")
        await becomes(
            app, pilot, lambda: "x export   K keep   del delete" in screen_lines(app)[-1], "those of a recording"
        )
        assert "doctor" not in screen_lines(app)[-1]
        await press(pilot, "slash", "d", until=lambda: "/ d" in screen_lines(app)[2], what="text again")


async def test_a_recording_is_kept_deleted_only_after_asking_and_opened_from_the_list(configured: Path) -> None:
    folder = configured / "recordings"
    async with running(None, size=SIZE, until="torn-one") as (app, pilot):
        await pilot.press("tab", "down", "down", "down", "down", "K")
        await becomes(app, pilot, lambda: len(kept(folder)) == 1, "kept")
        await shows(app, pilot, "K release")
        await becomes(app, pilot, lambda: any(line.startswith("│ * ") for line in screen_lines(app)), "its sign")
        await press(pilot, "K", shows="K keep")
        assert kept(folder) == frozenset()
        await press(pilot, "delete", shows="Delete this recording?")
        await press(pilot, "escape", until=lambda: "Delete this" not in screen_text(app))
        assert len(list(folder.glob("*.jsonl"))) == 3
        await press(pilot, "delete", shows="Delete this recording?")
        await press(pilot, "y", until=lambda: "torn-one" not in screen_text(app), what="gone")
        assert len(list(folder.glob("*.jsonl"))) == 2
        await press(pilot, "home", "down", "down", "down", "enter", shows="read-only")
        assert isinstance(app.screen, MainScreen)


@pytest.mark.slow
@pytest.mark.parametrize("typed", ["demo", "{python} -m inspector.demo", "@ours", "{session}"])
async def test_what_is_typed_is_opened(configured: Path, typed: str) -> None:
    text = typed.format(python=sys.executable, session=SESSION)
    async with running(None, size=SIZE, until="@ours") as (app, pilot):
        app.screen.query_one("#target", Editor).value = text
        await press(pilot, "enter", until=lambda: isinstance(app.screen, MainScreen), what="opened")


@pytest.mark.parametrize(("typed", "words"), [
    ("@shpo", "Did you mean @shop?"),
    ("'half", "a quotation mark is not closed"),
    ("missing.mcp.jsonl", "missing.mcp.jsonl"),
    ("http://", "http"),
])  # fmt: skip
async def test_what_cannot_be_opened_is_reported_where_it_was_typed(configured: Path, typed: str, words: str) -> None:
    async with running(None, size=(160, 30), until="@shop") as (app, pilot):
        await press(pilot, *typed, "enter", until=lambda: words in screen_lines(app)[1], what=words)
        await press(pilot, "backspace", until=lambda: words not in screen_lines(app)[1], what="taken back")


@pytest.mark.slow
async def test_a_server_is_opened_in_the_background_and_the_list_stays(configured: Path) -> None:
    async with running(None, size=SIZE, until="@ours") as (app, pilot):
        await pilot.press("tab", "down", "down")
        await becomes(app, pilot, lambda: "s open beside" in screen_lines(app)[-1], "the key is shown")
        await press(pilot, "s", until=lambda: bool(app.sessions.opened), what="opened")
        session = app.sessions.opened[0].session
        await becomes(app, pilot, lambda: session.phase == "ready", "connected behind the list")
        await shows(app, pilot, "Open now")
        thing = app.screen.query_one(ChoiceList).thing
        assert isinstance(thing, Configured)
        assert thing.entry.name == "ours"
        assert isinstance(app.focused, ChoiceList)
        await press(pilot, "b", until=lambda: isinstance(app.screen, MainScreen), what="back to it")
        # What waits in an open session is shown below the list.
        session.call_tool("ask-user", {"message": "Who are you?"})
        await pilot.resize_terminal(*MEDIUM)
        await press(pilot, "b", shows="? Who are you?")
        assert re.search(r"elicitation  waits \d", screen_text(app))
        assert "Demo server 1.0.0" in screen_text(app)


@pytest.mark.slow
async def test_a_server_is_opened_by_a_double_click_and_checked_from_the_list(configured: Path) -> None:
    async with running(None, size=SIZE, until="@ours") as (app, pilot):
        await click(app, pilot, "@ours", times=2)
        await shows(app, pilot, "connected")
    async with running(None, size=SIZE, until="@ours") as (app, pilot):
        await press(pilot, "tab", "down", "down", "c", until=lambda: isinstance(app.screen, MainScreen), what="opened")
        await becomes(app, pilot, lambda: app.screen.pane_layout.place == "check", "the checks")  # type: ignore[attr-defined]


def test_dates_are_reported_as_people_do() -> None:
    now = datetime.now().astimezone().replace(hour=12, minute=5)
    assert when(now) == "today 12:05"
    assert when(now - timedelta(days=1)) == "yesterday 12:05"
    assert when(datetime(2024, 3, 4, tzinfo=now.tzinfo)) == "4 Mar 2024"
    assert when(None) == ""


async def test_more_of_the_marked_row_is_shown_below_the_list_if_there_is_room(configured: Path) -> None:
    for entry in find_servers().entries:
        if entry.name == "weather":
            ServerMemory(entry).remember_outcome(SpawnError("The program uv was not found in any folder of PATH."))
    async with running(None, size=MEDIUM, until="@weather") as (app, pilot):
        await press(pilot, "down", shows="failed: The program uv was not found in any folder of PATH")
        assert str(configured / "inspector.json") in screen_text(app)
        await pilot.press("down", "down")

        def names_the_file() -> bool:
            # The path is broken where the line ends, which depends on the folder of the test.
            return "-everything-ab12.mcp.jsonl" in "".join(line.strip("│ ") for line in screen_lines(app))

        await becomes(app, pilot, names_the_file, "the file is named")
        await pilot.resize_terminal(*NARROW)
        await becomes(app, pilot, lambda: not names_the_file(), "without it")
        assert "everything" in screen_text(app)


async def test_the_host_of_a_server_is_shown_as_it_is_requested(home: Path) -> None:
    configure(home, a={"url": LOOKALIKE}, b={"url": DISGUISED})
    async with running(None, size=(200, 40), until="@a") as (app, pilot):
        assert any(f"{REQUESTED} {MIXES}" in line for line in screen_lines(app))
        await press(pilot, "down", shows=f"opens         {REQUESTED} {MIXES}")
        text = " ".join(screen_text(app).split())
        assert "its host “api.github.com\\u2215v3.evil.example”" in text
        assert "api.github.com\u2215" not in screen_text(app)


@pytest.mark.slow
async def test_the_header_shows_the_host_as_it_is_requested() -> None:
    network = HttpxNetwork(httpx.MockTransport(lambda request: httpx.Response(500)), "https://xn--pi-6kc.github.com")
    async with running(HttpTarget(REQUESTED, network=network), size=(200, 40), until="not connected") as (app, _):
        assert_in(screen_lines(app)[0], "xn--pi-6kc.github.com", "its host mixes Cyrillic and Latin letters")


@pytest.mark.slow
async def test_l_opens_a_server_and_logs_in(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_state(monkeypatch, home)
    with protected_server("--items", "30") as url:
        configure(home, shop={"url": url})
        app = app_on(None)
        async with app.run_test(size=MEDIUM, notifications=True) as pilot:
            await shows(app, pilot, "@shop")
            await press(pilot, "tab", shows="l log in")
            await press(pilot, "l", shows="Log in at 127.0.0.1?")
            await press(pilot, "enter", shows="Logged in.")


@contextmanager
def open_server() -> Iterator[str]:
    """The URL of a demo server that wants no login."""
    words = [sys.executable, "-m", "inspector.demo", "--http", "0", "--items", "30"]
    environment = os.environ | {"PYTHONPATH": ROOT}
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        try:
            yield next(line.split()[-1] for line in process.stderr if line.startswith("demo server on "))
        finally:
            process.terminate()


@pytest.mark.slow
async def test_l_says_that_a_server_wants_no_login_and_is_not_offered_for_a_command(configured: Path) -> None:
    with open_server() as url:
        configure(configured, ours={"command": sys.executable}, shop={"url": url})
        app = app_on(None)
        async with app.run_test(size=MEDIUM, notifications=True) as pilot:
            await shows(app, pilot, "@shop")
            await press(pilot, "tab", until=lambda: "d doctor" in screen_lines(app)[-1], what="the keys")
            assert "l log in" not in screen_lines(app)[-1]
            await press(pilot, "down", until=lambda: "l log in" in screen_lines(app)[-1], what="the key")
            await press(pilot, "l", shows="The server needs no login.")


# Which verbs work on a row, and where a typed text stands


RECORDING = RecordingInfo(Path("a.mcp.jsonl"), 1, target="uvx thing --all")


def servers(folder: Path) -> list[Configured]:
    """Return a server that is a command, and one that is a URL."""
    path = folder / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"local": {"command": "cat"}, "shop": {"url": "https://shop.test/mcp"}}}))
    return [Configured(entry) for entry in find_servers(config=path).entries]


def test_each_kind_of_row_has_its_verbs(tmp_path: Path) -> None:
    local, shop = servers(tmp_path)
    assert [row_verbs(thing, None) for thing in (None, Demo())] == [[], []]
    assert row_verbs(RECORDING, None) == ["beside", "check", "export", "keep", "delete"]
    assert row_verbs(local, None) == ["beside", "check", "doctor"]
    assert row_verbs(shop, None) == ["beside", "check", "doctor", "log-in"]


@pytest.mark.parametrize(("text", "names"), [
    ("", "configured recordings"),
    ("https://shop.example/mcp", "typed configured recordings"),
    ("uvx thing --all", "configured typed recordings"),
    ("thing", "configured recordings typed"),
])  # fmt: skip
def test_a_typed_text_stands_where_enter_should_find_it(
    text: str, names: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", "")
    targets = Targets(True, servers(tmp_path), [], [RECORDING])
    listed = groups(targets, None, [], text, settings=Settings(), config=None)
    assert [group.name for group in listed] == names.split()


def test_the_servers_of_a_feature_stand_below_the_others() -> None:
    more = Group("found", "Registry", [], "searching x")
    listed = groups(Targets(True), more, [], "", settings=Settings(), config=None)
    assert listed[-1] is more

"""The server pane: who the server is, how the connection came about, what it writes to stderr, reconnecting."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from inspector.client.session import Session
from inspector.config.settings import Settings
from inspector.config.targets import StdioTarget
from inspector.tui.available_verbs import who_does
from inspector.tui.server.pane import ServerPane
from inspector.tui.verbs import BY_ID
from inspector.tui.widgets.fact_rows import FactsView
from tests.tui.live_app import (
    NARROW,
    SESSION,
    becomes,
    hostile,
    main_screen,
    on_demo,
    on_recording,
    running,
    shows,
    to_tool,
)
from tests.tui.small_server import small_server
from tests.tui.tui_screens import assert_in, press, screen_lines, screen_text

pytestmark = pytest.mark.slow

COUNTING = small_server(
    {"tools/list": '{"tools": tools}'},
    introduction="""{
        "capabilities": {"tools": {"listChanged": True}}, "instructions": "# Hear\\nuse **echo**",
        "serverInfo": {"name": "counting", "version": str(runs)},
    }""",
    before="""
import pathlib
path = pathlib.Path(sys.argv[1])
runs = int(path.read_text()) + 1 if path.exists() else 1
path.write_text(str(runs))
print(f"run {runs}", file=sys.stderr, flush=True)
names = {1: ["echo", "old"], 2: ["echo", "new"]}[min(runs, 2)]
tools = [{"name": name, "description": str(min(runs, 2)), "inputSchema": {"type": "object"}} for name in names]
""",
)


def counting(home: Path) -> StdioTarget:
    """A server that offers something else the second time it is started."""
    (home / "server.py").write_text(COUNTING)
    return StdioTarget((sys.executable, str(home / "server.py"), str(home / "runs")), name="counting")


async def test_it_says_who_the_server_is_what_it_can_and_what_is_subscribed() -> None:
    async with on_demo() as (app, pilot):
        await press(pilot, "6", shows="Capabilities")
        text = screen_text(app)
        assert_in(text, "Demo server  1.0.0", "2025-11-25  (legacy)", "inspector.demo", "not saved")
        assert_in(text, "✓ resources     subscribe  listChanged", "Every feature of the protocol can be tried")
        assert "**" not in text, "instructions are markdown"
        assert_in(text, "✓ handshake", "✓ ready")
        await app.session.subscribe("demo://readme")
        await shows(app, pilot, "Subscriptions", "demo://readme  no update yet")
        n = len(app.session.journal)
        app.session.subscriptions.updated("demo://readme", n)
        clock = app.session.journal.clock(app.session.journal.index.time(n))
        await shows(app, pilot, "demo://readme  1 update", f"{clock:%H:%M:%S}")
        # What the server will not tell of is reported.
        app.session.subscriptions.refused = ["promptsListChanged"]
        app.session.changes.bump("subscriptions")
        await shows(app, pilot, "promptsListChanged", "requested, but the")
        # A log level is chosen.
        await press(pilot, "l", shows="Log level of the server")
        await pilot.press("down", "down", "enter")
        journal = app.session.journal

        def was_sent() -> bool:
            texts = [journal.event(n).text for n in range(1, journal.index.count + 1)]
            return any('"logging/setLevel"' in text and '"notice"' in text for text in texts)

        await becomes(app, pilot, was_sent)


async def test_it_says_until_when_answers_are_fresh() -> None:
    async with on_demo(era="modern") as (app, pilot):
        await press(pilot, "6", shows="Cached answers")
        rows = app.screen.query_one("#identity-rows", FactsView)
        assert "server/discover  at " in "".join(section.copy_text(0) for section in rows.sections)


async def test_stderr_is_kept_and_reconnecting_shows_what_has_changed(home: Path) -> None:
    async with running(counting(home), until="connected") as (app, pilot):
        await shows(app, pilot, "Tools 2")
        await press(pilot, "6", shows="not offered: resources, prompts")
        await shows(app, pilot, "run 1")
        assert "1 lines" in screen_text(app) or "1 line" in screen_text(app)
        assert "log level" not in screen_text(app), "it has no logging"
        await press(pilot, "r", shows="Reconnected. 3 changes in what the server offers.")
        await shows(app, pilot, "Changed since the last connection")
        assert_in(screen_text(app), "+ tools       new", "- tools       old", "~ tools       echo", "run 2")
        await press(pilot, "R", shows="run 3")
        assert isinstance(app.session, Session)
        await becomes(app, pilot, lambda: "Changed since" not in screen_text(app))


async def test_a_recording_cannot_be_reconnected() -> None:
    async with on_recording(until="echo") as (app, pilot):
        await press(pilot, "6", shows="going on")
        pane = main_screen(app).query_one(ServerPane)
        assert pane.hints() == []
        assert all(who_does(pane, BY_ID[f"server.{name}"]) is None for name in ("reconnect", "restart", "log-level"))
        await pilot.press("R", "l")
        assert app.screen is main_screen(app)
        assert "2 lines" in screen_text(app)
        assert str(SESSION)[-30:] in screen_text(app).replace("│", "").replace(
            "\n", ""
        ) or "session.mcp.jsonl" in screen_text(app)


async def test_it_is_one_column_if_there_is_no_room_for_two() -> None:
    async with on_demo(size=NARROW) as (app, pilot):
        await press(pilot, "6", shows="─ Connection")
        tops = [line for line in screen_lines(app) if line.startswith("╭─")]
        assert [line.split()[1] for line in tops] == ["Server", "Connection", "stderr"]


async def test_stderr_that_never_stops_does_not_stop_the_interface() -> None:
    async with running(hostile("flood-stderr", "--count", "30000"), until="connected") as (app, pilot):
        call = app.session.start("tools/call", {"name": "echo", "arguments": {}})
        await press(pilot, "6", until=lambda: call.fate != "pending", what="answered")
        await shows(app, pilot, "30,000 lines")


async def test_hostile_capabilities_and_instructions_are_only_text(home: Path, tmp_path: Path) -> None:
    head, *lines = SESSION.read_bytes().splitlines(keepends=True)
    event = json.loads(lines[2])
    message = json.loads(event["raw"])
    message["result"] |= {
        "capabilities": {"\x1b[2J": {"a": {}}, "tools": [1], "logging": None, "n" * 5000: True} | {f"c{n}": {} for n in range(500)},
        "instructions": "\x1b[31m[bold]" + "x" * 200_000,
        "serverInfo": {"name": {"a": 1}, "version": ["\x1b"], "description": "\x9b\u202e" * 1000, "websiteUrl": 7},
    }  # fmt: skip
    event["raw"] = json.dumps(message)
    path = tmp_path / "evil.mcp.jsonl"
    path.write_bytes(head + b"".join([*lines[:2], json.dumps(event).encode() + b"\n", *lines[3:]]))
    async with on_recording(path, until="echo", settings=Settings()) as (app, pilot):
        await press(pilot, "6", shows="name          not given")
        for keys in (["pagedown"], ["end"], ["pageup"], ["c"], ["slash", "b", "o", "enter"], ["home"]):
            await pilot.press(*keys)
            assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for line in screen_lines(app) for char in line)


async def test_another_revision_is_chosen_and_offered_for_a_tool_error_that_comes_from_the_revision() -> None:
    """C-ELIC-01."""
    async with on_demo() as (app, pilot):
        await press(pilot, "6", shows="e edit the command")
        await press(pilot, "f9", shows="detect what the server supports")
        await press(pilot, "up", "enter", shows="2026-07-28  (modern)")
        await press(pilot, "f9", "down", "down", "down", "enter", shows="2025-03-26  (legacy)")
        await becomes(app, pilot, lambda: app.session is not None and app.session.server.revision == "2025-03-26")
        await to_tool(app, pilot, "ask-user")
        await press(pilot, "ctrl+r", shows="not support that; 2025-11-25 does.")
        await shows(app, pilot, "f9 other revision")
        await pilot.press("f9", "enter")  # the cursor is on the revision that the hint names
        await becomes(app, pilot, lambda: app.session is not None and app.session.server.revision == "2025-11-25")
        await becomes(app, pilot, lambda: "not support that" not in screen_text(app), "said of another revision")
        assert "other revision" not in screen_text(app)
        main_screen(app).show_address("tools", "ask-user")
        await press(pilot, "ctrl+r", shows="asks you")

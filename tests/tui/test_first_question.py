"""A question that the server asks while connecting is shown at once, and answered by one key."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from inspector.client.session import Session
from inspector.config.server_memory import ServerMemory
from inspector.config.targets import StdioTarget
from inspector.tui.ask.question import QuestionPane
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.virtual_list import VirtualList
from tests.tui.live_app import NARROW, WIDE, becomes, main_screen, running, shows
from tests.tui.tui_screens import screen_text

ASKS_FIRST = """
import json, sys

def say(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

when, wait = sys.argv[1], None
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "initialize":
        found = {"capabilities": {"tools": {}}, "serverInfo": {"name": "asker", "version": "1"},
                 "protocolVersion": message["params"]["protocolVersion"]}
        wait = {"id": message["id"], "result": found}
        if when == "connecting":
            say({"id": "which", "method": "roots/list"})
        else:
            say(wait)
    elif method == "notifications/initialized" and when == "ready":
        say({"id": "which", "method": "roots/list"})
    elif method == "tools/list":
        say({"id": message["id"], "result": {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}})
    elif method == "ping":
        say({"id": message["id"], "result": {}})
        say({"id": "which", "method": "roots/list"})
    elif message.get("id") == "which" and when == "connecting":
        say(wait)
"""
"""Asks for roots before it answers `initialize`, as soon as it is initialized, or after a ping."""


def asker(home: Path, when: str) -> StdioTarget:
    (home / "asker.py").write_text(ASKS_FIRST)
    return StdioTarget((sys.executable, str(home / "asker.py"), when), name="asker")


@pytest.mark.parametrize("size", [WIDE, NARROW])
@pytest.mark.parametrize("when", ["connecting", "ready"])
@pytest.mark.parametrize("key", ["ctrl+r", "ctrl+s"])
async def test_roots_are_answered_by_one_key(home: Path, size: tuple[int, int], when: str, key: str) -> None:
    async with running(asker(home, when), size=size, until="asks you") as (app, pilot):
        session = app.session
        assert isinstance(session, Session)
        await shows(app, pilot, "A root is a folder or file that the server may work in.")
        await becomes(app, pilot, lambda: main_screen(app).query_one(QuestionPane).has_focus_within, "focused")
        if when == "ready":
            await becomes(app, pilot, lambda: main_screen(app).panes.work.work is not None, "the first tool chosen")
        assert "always answer this" in screen_text(app) or size == NARROW
        pane = main_screen(app).query_one(QuestionPane)
        await becomes(app, pilot, lambda: not pane.key_line.muted, "its keys are bright")
        await pilot.press(key)
        await becomes(app, pilot, lambda: session.inbox.questions[0].state == "answered", "answered")
        assert session.inbox.questions[0].answer == {"roots": [{"uri": Path.cwd().as_uri(), "name": "home"}]}
        await becomes(app, pilot, lambda: session.phase == "ready" and "echo" in screen_text(app), "the list")
        await becomes(app, pilot, lambda: isinstance(app.focused, VirtualList), "back in the list")
        assert "asks you" not in screen_text(app)
    kept = (Path.cwd().as_uri(),) if key == "ctrl+s" else None
    assert ServerMemory(session.target).roots() == kept


async def test_keys_that_were_pressed_before_go_on_to_the_list(home: Path) -> None:
    async with running(asker(home, "pinged"), until="echo") as (app, pilot):
        session = app.session
        assert isinstance(session, Session)
        await pilot.press("slash", "e")
        assert isinstance(app.focused, Editor)
        await session.request("ping")
        await shows(app, pilot, "asks you")
        await pilot.press("c", "h")
        assert app.focused.value == "ech"

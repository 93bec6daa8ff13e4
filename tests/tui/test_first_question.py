"""A question that no call caused is shown at once, without the focus, and answered by one key."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from inspector.client.session import Session
from inspector.config.server_memory import ServerMemory
from inspector.config.targets import StdioTarget
from inspector.tui.ask.question import QuestionPane
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.virtual_list import VirtualList
from inspector.tui.work import pane as work_pane
from tests.tui.live_app import NARROW, WIDE, becomes, main_screen, running, shows
from tests.tui.tui_screens import press, screen_text

pytestmark = pytest.mark.slow

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
    elif method == "notifications/initialized" and when in ("ready", "withdrawn", "required"):
        say({"id": "which", "method": "roots/list"})
    elif method == "tools/list":
        schema = {"type": "object", "properties": {"message": {"type": "string"}}}
        if when == "required":
            schema["required"] = ["message"]
        say({"id": message["id"], "result": {"tools": [{"name": "echo", "inputSchema": schema}]}})
    elif method == "tools/call":
        text = "said " + message["params"].get("arguments", {}).get("message", "nothing")
        say({"id": message["id"], "result": {"content": [{"type": "text", "text": text}]}})
    elif method == "ping":
        say({"id": message["id"], "result": {}})
        if when == "withdrawn":
            say({"method": "notifications/cancelled", "params": {"requestId": "which"}})
        else:
            say({"id": "which", "method": "roots/list"})
    elif message.get("id") == "which" and when == "connecting":
        say(wait)
"""
"""Asks for roots before it answers `initialize`, as soon as it is initialized (a ping may withdraw it), or on a ping."""


@asynccontextmanager
async def asked(home: Path, when: str, until: str = "answer", **more: Any) -> AsyncIterator[tuple[Any, Any, Session]]:
    """The app on the server that asks at a time."""
    (home / "asker.py").write_text(ASKS_FIRST)
    target = StdioTarget((sys.executable, str(home / "asker.py"), when), name="asker")
    async with running(target, until=until, **more) as (app, pilot):
        session = app.session
        assert isinstance(session, Session)
        yield app, pilot, session


def answered(session: Session) -> bool:
    return session.inbox.questions[0].state == "answered"


@pytest.mark.parametrize("size", [WIDE, NARROW])
@pytest.mark.parametrize("when", ["connecting", "ready"])
@pytest.mark.parametrize("key", ["ctrl+r", "ctrl+s"])
async def test_one_key_of_the_list_answers(home: Path, size: tuple[int, int], when: str, key: str) -> None:
    async with asked(home, when, size=size) as (app, pilot, session):
        if size == WIDE:
            await shows(app, pilot, "A root is a folder or file")
            pane = main_screen(app).query_one(QuestionPane)
            await becomes(app, pilot, lambda: not pane.key_line.muted, "its keys are bright")
        else:
            await shows(app, pilot, f"? which folders may it use?  {Path.cwd().as_uri()[:20]}")
        await shows(app, pilot, "always answer this")
        assert isinstance(app.focused, VirtualList), "the question does not take the focus"
        await press(pilot, key, until=lambda: answered(session))
        assert session.inbox.questions[0].answer == {"roots": [{"uri": Path.cwd().as_uri(), "name": "home"}]}
        await becomes(app, pilot, lambda: session.phase == "ready" and "echo" in screen_text(app), "the list")
        assert isinstance(app.focused, VirtualList)
        assert "asks you" not in screen_text(app)
    kept = (Path.cwd().as_uri(),) if key == "ctrl+s" else None
    assert ServerMemory(session.target).roots() == kept


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_a_form_is_typed_in_before_the_question_is_gone_to(home: Path, size: tuple[int, int]) -> None:
    async with asked(home, "ready", size=size) as (app, pilot, session):
        await shows(app, pilot, "echo")
        await pilot.press("enter", *"hi")
        assert isinstance(app.focused, Editor)
        assert app.focused.value == "hi"
        field = app.focused
        await shows(app, pilot, "asks you", "to question")
        await pilot.press("ctrl+g")
        question = main_screen(app).query_one(QuestionPane)
        await becomes(app, pilot, lambda: question.has_focus_within, "in the question")
        await press(pilot, "escape", until=lambda: app.focused is field, what="later: back in the field")
        await press(pilot, "ctrl+g", until=lambda: question.has_focus_within, what="in the question again")
        await press(pilot, "ctrl+r", until=lambda: answered(session))
        await becomes(app, pilot, lambda: app.focused is field, "back in the field")
        await press(pilot, "!", "ctrl+r", shows="said hi!")
    async with asked(home, "ready", size=size) as (app, pilot, session):
        # From the list: its keys are those of the list again.
        question = main_screen(app).query_one(QuestionPane)
        await press(pilot, "ctrl+g", until=lambda: question.has_focus_within)
        await press(pilot, "ctrl+d", until=lambda: not question.has_focus_within)
        await pilot.pause()
        assert main_screen(app).panes.catalog.has_focus_within


async def test_keys_that_were_pressed_before_go_on_to_the_list(home: Path) -> None:
    async with asked(home, "pinged", until="echo") as (app, pilot, session):
        await pilot.press("slash", "e")
        assert isinstance(app.focused, Editor)
        await session.request("ping")
        await shows(app, pilot, "asks you")
        await pilot.press("c", "h")
        assert app.focused.value == "ech"
        await press(pilot, "enter", "ctrl+r", shows="said")
        assert session.inbox.questions[0].state == "open", "the key called the tool that the user had chosen"


async def test_a_call_without_a_required_argument_shows_its_form(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_pane, "READ_TIME", 60.0)
    async with asked(home, "required") as (app, pilot, _session):
        await shows(app, pilot, "echo")
        await press(pilot, "enter", "ctrl+r", shows="is required")
        await press(pilot, *"hello", "ctrl+r", shows="said hello")


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_the_key_that_sends_does_nothing_just_after_a_question_came_or_went(
    home: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_pane, "READ_TIME", 60.0)
    async with asked(home, "withdrawn", until="echo", size=size) as (app, pilot, session):
        await shows(app, pilot, "1 question", "to question")
        await press(pilot, "ctrl+r", "ctrl+r", shows="^r sent nothing: the question has just appeared.")
        assert len(app._notifications) == 1
        assert session.inbox.questions[0].state == "open"
    async with asked(home, "withdrawn", until="echo", size=size) as (app, pilot, session):
        await shows(app, pilot, "1 question", "to question")
        await session.request("ping")
        await shows(app, pilot, "asker withdrew its question.")
        await press(pilot, "ctrl+r", shows="disappeared.")
        assert all(session.journal.index.method(n + 1) != "tools/call" for n in range(len(session.journal)))


async def test_a_question_that_the_server_withdraws_gives_its_place_back(home: Path) -> None:
    async with asked(home, "withdrawn") as (app, pilot, session):
        await shows(app, pilot, "echo")
        await session.request("ping")
        await shows(app, pilot, "asker withdrew its question.", "^r sends it")
        assert "asks you" not in screen_text(app)
        await press(pilot, "ctrl+r", shows="said")


async def test_one_who_comes_back_to_a_session_that_asked_meanwhile_answers_from_the_list(home: Path) -> None:
    async with asked(home, "pinged", until="echo") as (app, pilot, session):
        await press(pilot, "down", "f3", shows="Open now")
        await session.request("ping")
        await shows(app, pilot, "1 question")
        await press(pilot, "enter", shows="asks you")
        await becomes(app, pilot, lambda: main_screen(app).panes.work.asked_from_list is not None, "it has the keys")
        await press(pilot, "ctrl+r", until=lambda: answered(session))

"""Writing a message by hand."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from textual.app import App
from textual.pilot import Pilot

from inspector.client.session import Session
from inspector.journal.findings import Finding
from inspector.tui.log.compose import METHODS, ComposeScreen, DescribedMessage, MessageEditor, template, with_method
from tests.tui.live_app import on_demo
from tests.tui.live_demo import demo
from tests.tui.tui_screens import Stage, plain, press, screen_text, settle


def words(text: str, **more: Any) -> str:
    return plain(DescribedMessage(text, **{"one_line": True, "as_typed": False, **more}).words)


@pytest.mark.parametrize(("text", "expected"), [
    ('{"jsonrpc":"2.0","id":9,"method":"tools/call"}', "request tools/call, id 9"),
    ('{"jsonrpc":"2.0","id":"9","method":"x"}', 'request x, id "9"'),
    ('{"id":9,"method":"x"}', 'request x, id 9, without "jsonrpc": "2.0"'),
    ('{"jsonrpc":"2.0","method":"x"}', "notification x"),
    ('{"jsonrpc":"2.0","id":{"a":1},"result":{}}', 'result for id {"a": 1}'),
    ('[{"jsonrpc":"2.0"}]', "batch of 1"),
    ("7", "JSON, but not a JSON-RPC message"),
    ("{oops", "not JSON: a member name in double quotes is missing at character 2, sent as it is"),
    ("{oops\n\nx", "not JSON: a member name in double quotes is missing at character 2, sent as it is, "
     "3 lines, so as many messages"),
    ("  ", "empty"),
])  # fmt: skip
def test_says_what_a_text_is(text: str, expected: str) -> None:
    assert words(text) == expected


def test_json_goes_out_on_one_line_over_stdio_unless_it_is_wanted_as_typed() -> None:
    text = '{\n  "jsonrpc": "2.0",\n  "id": 1.50, "method": "x\\n"}\n'
    assert (
        DescribedMessage(text, one_line=True, as_typed=False).data
        == b'{   "jsonrpc": "2.0",   "id": 1.50, "method": "x\\n"}'
    )
    assert DescribedMessage(text, one_line=True, as_typed=True).data == text.encode()
    assert DescribedMessage(text, one_line=False, as_typed=False).data == text.encode()
    assert "4 lines" in words(text, as_typed=True)
    assert DescribedMessage("{\n", one_line=True, as_typed=False).data == b"{\n"


def test_every_method_has_a_template() -> None:
    for method in METHODS:
        message = json.loads(template(method, 7))
        assert message["method"] == method
        assert message.get("id", 7) == 7
        assert ("id" in message) is not method.startswith("notifications/")


def test_choosing_a_method_keeps_parameters_that_were_typed() -> None:
    typed = '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo"}}'
    assert json.loads(with_method(typed, "prompts/get", 9)) == {
        "jsonrpc": "2.0", "id": 3, "method": "prompts/get", "params": {"name": "echo"},
    }  # fmt: skip
    assert with_method(template("tools/call", 3), "ping", 9) == template("ping", 9)
    assert with_method("{oops", "ping", 9) == template("ping", 9)


@asynccontextmanager
async def composing(
    text: str = "", size: tuple[int, int] = (150, 40)
) -> AsyncIterator[tuple[Session, Stage, Pilot[None], ComposeScreen]]:
    """A message that is written by hand, on the demo server."""
    async with demo() as session:
        app = Stage()
        async with app.run_test(size=size) as pilot:
            yield session, app, pilot, open_on(app, session, text)


def open_on(app: App[None], session: Session, text: str = "") -> ComposeScreen:
    screen = ComposeScreen(session, text)
    app.push_screen(screen)
    return screen


PING = json.dumps({"jsonrpc": "2.0", "id": 40, "method": "ping"}, indent=2)


@pytest.mark.slow
async def test_sends_a_request_and_tells_what_became_of_it() -> None:
    async with composing(PING) as (session, app, pilot, screen):
        await settle(pilot, lambda: "request ping, id 40" in screen_text(app))
        await press(pilot, "ctrl+r", shows="40 answered")
        assert "request ping, id 41" in screen_text(app)
        await pilot.press("escape")
        assert app.screen is not screen
        again = open_on(app, session)
        await settle(pilot, lambda: "request ping, id 41" in screen_text(app))
        # A method is chosen, and lines keep their indentation.
        await press(pilot, "ctrl+t", "home", "down", "enter", shows="request tools/list")
        editor = again.query_one(MessageEditor)
        assert editor.has_focus
        await pilot.press("down", "end", "enter")
        assert editor.buffer.rows[2] == "  "
        await pilot.press("ctrl+e")
        assert "exactly as typed" in screen_text(app)


@pytest.mark.slow
async def test_sends_what_is_no_json_unchanged_and_says_what_cannot_be_sent() -> None:
    async with composing("{oops ", (90, 30)) as (session, app, pilot, _screen):
        await settle(pilot, lambda: "not JSON" in screen_text(app))
        before = len(session.journal)
        await pilot.press("ctrl+r")
        assert session.journal.event(before + 1).bytes == b"{oops "
        assert f"sent as message #{before + 1}" in screen_text(app)
        await session.close()
        await press(pilot, "ctrl+r", shows="The server ended with exit code 0.")
        assert "{oops" in screen_text(app)


@pytest.mark.slow
async def test_the_answer_stands_beside_the_message_which_can_be_sent_again() -> None:
    call = {
        "jsonrpc": "2.0",
        "id": 40,
        "method": "tools/call",
        "params": {"name": "echo", "arguments": {"message": "one"}},
    }
    async with composing(json.dumps(call, indent=2)) as (session, app, pilot, screen):
        await settle(pilot, lambda: "id 40" in screen_text(app))
        await press(pilot, "ctrl+r", shows="in answer to → 40")
        await settle(pilot, lambda: '"text": "one"' in screen_text(app))
        assert screen.query_one(MessageEditor).has_focus
        answer = next(n for n in range(len(session.journal), 0, -1) if session.journal.index.id(n) == 40)
        session.journal.findings.add(Finding(answer, "TOOL-1", "must", "odd"))
        await settle(pilot, lambda: "findings 1" in screen_text(app))
        await press(pilot, "ctrl+r", shows="in answer to → 41")
        await pilot.press("tab", "escape")
        assert screen.query_one(MessageEditor).has_focus
        assert app.screen is screen


@pytest.mark.slow
async def test_the_answer_is_beside_the_message_where_the_screen_is_wide() -> None:
    async with composing(PING.replace("\n", ""), (160, 45)) as (_session, app, pilot, screen):
        await settle(pilot, lambda: "id 40" in screen_text(app))
        await press(pilot, "ctrl+r", shows="in answer to → 40")
        message, answer = screen.query_one("#message"), screen.query_one("#answer")
        assert (answer.region.x, answer.region.y) == (message.region.right, message.region.y)
        assert answer.region.right == 160
        for size in ((120, 35), (80, 24)):
            await pilot.resize_terminal(*size)
            assert (answer.region.x, answer.region.y) == (message.region.x, message.region.bottom), size


@pytest.mark.slow
@pytest.mark.parametrize(("zoomed", "whole"), [(True, True), (False, False)])
async def test_over_the_zoomed_log_the_editor_leaves_no_strip_of_cut_rows(zoomed: bool, whole: bool) -> None:
    async with on_demo() as (app, pilot):
        await pilot.press("m", *["z"] * zoomed, "home", *["down"] * 6)
        await press(pilot, "S", until=lambda: isinstance(app.screen, ComposeScreen), what="the editor")
        await pilot.pause()
        assert (app.screen.query_one("#panel").size.width == app.size.width) is whole
        await pilot.press("escape")

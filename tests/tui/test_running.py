"""A call in flight, against a server that takes its time."""

from __future__ import annotations

import json

import pytest

from inspector.client.state.calls import Progress
from inspector.journal.journal import Journal
from inspector.tui.pane_messages import ShowExchange
from inspector.tui.work.call_events import CallEvents, answer_words, steps
from inspector.tui.work.running import RunningPane, fraction
from tests.tui.live_app import NARROW, WIDE, becomes, main_screen, on_demo, shows, to_tool
from tests.tui.live_demo import demo, on_pane
from tests.tui.tui_screens import assert_in, press, screen_text, settle


@pytest.mark.slow
async def test_a_running_call_shows_how_far_it_is_and_what_happened() -> None:
    async with demo() as session, on_pane(RunningPane(session), (70, 20), focus=False) as (app, pilot, pane):
        call = session.call_tool("slow", {"seconds": 30, "steps": 60})
        pane.show(call)
        await settle(pilot, lambda: call.progress is not None and call.progress.count >= 2)
        await settle(pilot, lambda: "+" in screen_text(app))
        text = screen_text(app)
        assert_in(text, "running", "s of 6", "of 60", "%")
        pane.focus_inside()
        before = call.allowed
        await pilot.press("plus")
        assert call.allowed > before + 50
        await pilot.press("m")
        assert [message.n for message in app.messages_of(ShowExchange)] == [call.n]
        await pilot.press("escape")
        assert call.fate == "cancelled"


@pytest.mark.slow
@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_the_call_of_the_row_is_cancelled_from_the_list(size: tuple[int, int]) -> None:
    async with on_demo(size=size) as (app, pilot):
        await to_tool(app, pilot, "slow")
        assert "cancel call" not in screen_text(app)
        await pilot.press("ctrl+r")
        work = main_screen(app).panes.work
        await becomes(app, pilot, lambda: work.running.has_focus_within, "the call in flight has the focus")
        main_screen(app).pane_layout.leave_work()
        await shows(app, pilot, "esc cancel call")
        await pilot.press("down")
        await becomes(app, pilot, lambda: "esc cancel call" not in screen_text(app), "the key of another row")
        await press(pilot, "escape", "up", shows="esc cancel call")
        assert work.running_call is not None
        await press(pilot, "escape", until=lambda: work.running_call is None, what="cancelled")
        await becomes(app, pilot, lambda: "esc cancel call" not in screen_text(app), "no call to cancel")
        assert main_screen(app).panes.catalog.has_focus_within


@pytest.mark.parametrize(("params", "text", "part"), [
    ({"progress": 3, "total": 5}, "3 of 5", 0.6),
    ({"progress": 2.5}, "2.5", None),
    ({"progress": 10**400, "total": 1}, "about 10^400 of 1", None),
    ({"progress": float("nan"), "total": 1}, "nan of 1", None),
    ({"progress": "x", "total": []}, "x", None),
    ({"progress": 7, "total": 5}, "7 of 5", 1.0),
])  # fmt: skip
def test_progress_of_any_kind_is_written_out(params: dict[str, object], text: str, part: float | None) -> None:
    assert steps(params.get("progress"), params.get("total")) == text
    actual = fraction(Progress(1, 0, params, 1))
    assert actual == part or (part is None and actual in (None, 0.0, 1.0))


def test_an_answer_of_ours_is_named_in_a_word() -> None:
    assert answer_words({"result": {"action": "accept"}}) == "accept"
    assert answer_words({"result": {"roots": []}}) == "answered"
    assert answer_words({"error": {"code": -1}}) == "refused -1"
    assert answer_words(None) == "answered"


def test_only_what_belongs_to_the_call_is_listed() -> None:
    journal = Journal.unnamed({})

    def sent(id: int, token: str) -> int:
        params = {"name": "x", "_meta": {"progressToken": token}}
        message = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}
        return journal.record_sent("stdio", json.dumps(message).encode(), message)

    def received(message: dict[str, object]) -> None:
        list(journal.record_received("stdio", [json.dumps({"jsonrpc": "2.0", **message}).encode()]))

    first, _second = sent(1, "a"), sent(2, "b")
    for token, value in (("a", 1), ("b", 1), ("a", 2), ("b", 2)):
        received({"method": "notifications/progress", "params": {"progressToken": token, "progress": value}})
    received({"id": 1, "result": {}})
    happened = CallEvents(journal, first)
    assert happened.advance() == 0
    assert [happened.key_at(row) for row in range(len(happened))] == [3, 5]
    assert happened.advance() is None
    assert not happened.behind

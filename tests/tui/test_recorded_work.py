"""The work pane over a recording: what was sent, what came back, and nothing that sends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from inspector.client.recorded_session import RecordedSession
from inspector.journal.journal import Journal
from inspector.tui.work.pane import WorkPane
from inspector.tui.work.recorded_calls import RecordedCalls, item_called
from tests.tui.live_demo import Desk, Ticking, demo, on_pane
from tests.tui.recorded_conversation import read
from tests.tui.tui_screens import press, screen_text, settle


async def opened(path: Path) -> RecordedSession:
    """A recording of a few calls on the demo server."""
    async with demo("tools", "resources", journal=Journal.create(path, {})) as session:
        for arguments in ({"message": "first"}, {"message": "second"}):
            await session.call_tool("echo", arguments).result()
        await session.read_resource("demo://planets").result()
        session.call_tool("forget")
    return read(path)


def requests(journal: Journal, method: str) -> list[int]:
    index = journal.index
    return [n for n in range(1, index.count + 1) if index.method(n) == method and index.dir(n) == 1]


async def settled(app: Ticking, pilot: Pilot[None], words: str) -> None:
    await settle(pilot, lambda: words in screen_text(app))


@pytest.mark.slow
async def test_an_item_shows_the_newest_request_about_it_and_any_other_by_its_number(tmp_path: Path) -> None:
    session = await opened(tmp_path / "a.mcp.jsonl")
    app = Desk(session, tmp_path)
    async with app.run_test(size=(110, 34)) as pilot:
        await settled(app, pilot, "earlier calls  second")
        assert "✓ valid" not in screen_text(app)
        first = requests(session.journal, "tools/call")[0]
        app.work.show_call(first)
        await settle(pilot, lambda: app.work.request.form.value == {"message": "first"})
        assert app.work.result.answer.outcome.request_n == first
        app.catalog.focus_inside()
        await pilot.press("enter", "ctrl+r", *"typed")
        assert app.work.request.form.value == {"message": "first"}
        assert not any(hint.verb in ("form.call", "catalog.call") for hint in [*app.work.hints(), *app.catalog.hints()])


@pytest.mark.slow
async def test_enter_goes_into_an_item_also_one_that_was_not_called(tmp_path: Path) -> None:
    session = await opened(tmp_path / "a.mcp.jsonl")
    app = Desk(session, tmp_path)
    async with app.run_test(size=(110, 34)) as pilot:
        app.catalog.focus_inside()
        app.catalog.select("tools", "add")
        await settled(app, pilot, "has no request for it so far")
        for keys in (["enter"], ["slash", *"add", "enter"]):
            await press(pilot, *keys, until=lambda: app.work.request.has_focus_within, what="in the form")
            assert [hint.verb for hint in app.work.hints()] == ["form.leave"]
            await press(pilot, "escape", until=lambda: app.catalog.has_focus_within, what="in the list")


@pytest.mark.slow
async def test_nothing_is_said_of_a_request_before_the_recording_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.mcp.jsonl"
    whole = await opened(path)
    session = RecordedSession(Journal.open(path), path)
    app = Desk(session, tmp_path)
    async with app.run_test(size=(110, 34)) as pilot:
        app.work.show_item("tools", whole.catalog.tools.get("add"))
        await settled(app, pilot, "Reading …")
        while session.journal.refresh():
            pass
        await settled(app, pilot, "The recording has no request for it so far")
        app.catalog.show("prompts")
        await settled(app, pilot, "Reading the recording …")
        while session.advance():
            pass
        await settled(app, pilot, "The recording has no list of")


@pytest.mark.slow
async def test_a_resource_and_a_request_without_an_answer_are_shown(tmp_path: Path) -> None:
    session = await opened(tmp_path / "a.mcp.jsonl")
    async with on_pane(WorkPane(session), (90, 30), focus=False) as (app, pilot, pane):
        pane.show_call(requests(session.journal, "resources/read")[0])
        await settled(app, pilot, "Mercury")
        pane.show_call(requests(session.journal, "tools/call")[-1])
        await settled(app, pilot, "✗ no answer")
        assert "no answer to this request so far" in screen_text(app)
        pane.show_call(requests(session.journal, "initialize")[0])
        await pilot.pause()


@pytest.mark.slow
@pytest.mark.parametrize("arguments", ["", ',"arguments":{"a":[1]}'], ids=["none", "some"])
async def test_nothing_is_said_against_an_item_that_the_recording_does_not_list(tmp_path: Path, arguments: str) -> None:
    journal = Journal.unnamed({})
    raw = f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"a"{arguments}}}}}'
    journal.record_sent("stdio", raw.encode(), json.loads(raw))
    async with on_pane(WorkPane(RecordedSession(journal, tmp_path / "a.mcp.jsonl")), (90, 30), focus=False) as (
        app,
        pilot,
        pane,
    ):
        pane.show_call(1)
        await settled(app, pilot, "The recording has no list with it so far")
        await settled(app, pilot, "earlier calls")
        assert not any(words in screen_text(app) for words in ("is missing", "no members are allowed"))


@pytest.mark.slow
async def test_a_result_says_what_an_addon_did(tmp_path: Path) -> None:
    path = tmp_path / "a.mcp.jsonl"
    session = await opened(path)
    first = requests(session.journal, "tools/call")[0]
    events = [json.loads(line) for line in path.read_text().splitlines()]
    events[0]["addons"] = ["guard.py"]
    for n in (first, session.journal.index.pair(first)):
        events[n]["addon"] = [{"by": "guard.py", "did": "refused"}]
    session.journal.release()
    path.write_text("".join(f"{json.dumps(event)}\n" for event in events))
    async with on_pane(WorkPane(read(path)), (90, 30), focus=False) as (app, pilot, pane):
        pane.show_call(first)
        await settled(app, pilot, " refused by guard.py  ")


def test_requests_are_found_in_slices_whatever_they_hold() -> None:
    journal = Journal.unnamed({})
    bodies: list[Any] = ['{"name":"a"}', '{"name":7}', "[]", "null", '{"uri":"x:y"}', '{"name":"a","arguments":[1]}']
    for id, params in enumerate(bodies):
        raw = f'{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}'
        journal.record_sent("stdio", raw.encode(), json.loads(raw))
    calls = RecordedCalls(journal)
    while calls.advance():
        pass
    assert list(calls.of("tools", "a")) == [1, 6]
    assert [item_called(journal, n) for n in range(1, 7)] == [("tools", "a"), None, None, None, None, ("tools", "a")]

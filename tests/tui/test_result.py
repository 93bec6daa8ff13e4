"""The result pane: every way a request can end, shown for what it is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any

import pytest
from textual.pilot import Pilot

from inspector.client.engine.pending_requests import Call
from inspector.client.session import Session
from inspector.errors import InspectorError
from inspector.tui.pane_messages import LeaveWork, OpenResource, Save, ShowExchange
from inspector.tui.widgets import links
from inspector.tui.work.outcome import ShownOutcome, of_call, of_request
from inspector.tui.work.result import ResultPane, ViewChosen
from tests.tui.live_demo import Ticking, demo, on_pane
from tests.tui.tui_screens import assert_in, press, screen_lines, screen_text, settle

pytestmark = pytest.mark.slow

Shown = tuple[Session, ResultPane, Ticking, Pilot[None]]


@asynccontextmanager
async def stage(size: tuple[int, int] = (70, 24), *lists: Any) -> AsyncIterator[Shown]:
    async with demo(*lists) as session, on_pane(ResultPane(session), size, focus=False) as (app, pilot, pane):
        yield session, pane, app, pilot


async def end(call: Call) -> None:
    with suppress(InspectorError):
        await asyncio.wait_for(call.result(), 20)


async def show(stage: Shown, call: Call, schema: Any = None) -> ShownOutcome:
    session, pane, _app, pilot = stage
    await end(call)
    answer = ShownOutcome(of_call(call, session.journal), schema)
    pane.show(answer)
    await pilot.pause()
    return answer


async def test_text_stands_there_with_its_time_and_size() -> None:
    async with stage() as (session, pane, app, pilot):
        await show((session, pane, app, pilot), session.call_tool("echo", {"message": "hello there"}))
        await settle(pilot, lambda: "hello there" in screen_text(app))
        top = screen_lines(app)[0]
        assert " ms" in top
        assert " B " in top
        assert "error" not in top


async def test_a_structured_result_is_held_against_its_schema() -> None:
    async with stage((80, 30), "tools") as (session, pane, app, pilot):
        schema = (session.catalog.tools.get("weather") or {})["outputSchema"]
        await show((session, pane, app, pilot), session.call_tool("weather", {"city": "Lima"}), schema)
        await settle(pilot, lambda: "✓ matches schema" in screen_lines(app)[0])
        assert_in(screen_text(app), "content  structured  raw", '"city": "Lima"')


async def test_what_differs_from_the_schema_is_listed_and_nothing_is_hidden() -> None:
    """C-TOOL-02."""
    async with stage((80, 30), "tools") as (session, pane, app, pilot):
        schema = (session.catalog.tools.get("bad-structured") or {})["outputSchema"]
        answer = await show((session, pane, app, pilot), session.call_tool("bad-structured", {"city": "Lima"}), schema)
        await settle(pilot, lambda: "from schema" in screen_lines(app)[0])
        assert answer.violations
        shown = screen_text(app)
        assert f"▲ {len(answer.violations)} difference" in shown
        assert answer.violations[0].message[:40] in shown
        pane.focus_inside()
        await press(pilot, "right_square_bracket", until=lambda: answer.tab == "structured")
        lines = screen_lines(app)
        at = next(at for at, line in enumerate(lines) if '"humidity": 170' in line)
        assert "▲" in lines[at + 1], "what is wrong stands below the value"
        assert answer.structured
        assert answer.structured.splitlines()[0][:1] == "{"
        pane.focus_inside()
        await press(pilot, "e", shows='"jsonrpc"')


async def test_a_promised_structure_that_is_missing_and_a_schema_that_is_none_are_reported() -> None:
    async with stage() as (session, pane, app, pilot):
        here = (session, pane, app, pilot)
        await show(here, session.call_tool("echo", {"message": "x"}), {"type": "object"})
        await settle(pilot, lambda: "▲ 1 difference from schema" in screen_lines(app)[0])
        await show(here, session.call_tool("weather", {"city": "Lima"}), {"type": 7})
        await settle(pilot, lambda: "the schema cannot be used" in screen_lines(app)[0])
        assert "Lima" in screen_text(app)


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [("fail", {}, "✗ tool error"), ("no-such-tool", {}, "✗ protocol error"), ("crash", {}, "✗ no answer")],
)
async def test_errors_are_reported_apart(tool: str, arguments: dict[str, Any], said: str) -> None:
    """C-TOOL-04."""
    async with stage((90, 24)) as (session, pane, app, pilot):
        await show((session, pane, app, pilot), session.call_tool(tool, arguments))
        await settle(pilot, lambda: said in screen_lines(app)[0])
        assert pane.tone == "error"
        shown = screen_text(app)
        if tool == "no-such-tool":
            assert_in(shown, "-32602  Invalid params", "Unknown tool")


async def test_our_own_time_out_and_our_own_cancelling_are_no_answers() -> None:
    """C-BASE-10, C-CANC-01."""
    async with stage((90, 24)) as (session, pane, app, pilot):
        here = (session, pane, app, pilot)
        await show(here, session.call_tool("forget", timeout=0.05))
        await settle(pilot, lambda: "✗ timed out" in screen_lines(app)[0])
        assert "No response to tools/call forget within 0.05 s" in screen_text(app)
        call = session.call_tool("forget")
        call.cancel()
        await show(here, call)
        await settle(pilot, lambda: "cancelled" in screen_lines(app)[0])
        assert pane.tone == ""
        assert "You cancelled it after" in screen_text(app)


async def test_a_late_answer_is_shown_and_called_late() -> None:
    async with stage((90, 24)) as (session, pane, app, pilot):
        call = session.call_tool("echo", {"message": "better late"})
        call.cancel()
        await settle(pilot, lambda: call.outcome.late)
        await show((session, pane, app, pilot), call)
        await settle(pilot, lambda: "better late" in screen_text(app))
        assert "Answered late, after" in screen_text(app)


async def test_prompts_stand_role_by_role_and_resources_by_their_kind() -> None:
    async with stage((80, 30)) as (session, pane, app, pilot):
        here = (session, pane, app, pilot)
        await show(here, session.get_prompt("explain-code", {"code": "x = 1", "language": "python"}))
        await settle(pilot, lambda: "messages" in screen_text(app))
        assert "user" in screen_text(app)
        await show(here, session.read_resource("demo://planets"))
        await settle(pilot, lambda: " Mercury           0" in screen_text(app))
        pane.focus_inside()
        await press(pilot, "i", shows='"Mercury"')
        assert "application/json" in screen_text(app)
        await show(here, session.read_resource("demo://bytes"))
        await settle(pilot, lambda: "application/octet-stream" in screen_text(app))
        pane.focus_inside()
        await press(pilot, "w", until=lambda: bool(app.heard(Save)))
        assert app.heard(Save)[0].data == bytes(range(256)) * 4  # type: ignore[attr-defined]


async def test_a_linked_resource_can_be_gone_to_and_the_messages_of_the_call_shown() -> None:
    async with stage((80, 30)) as (session, pane, app, pilot):
        call = session.call_tool("link-resources", {})
        await show((session, pane, app, pilot), call)
        await settle(pilot, lambda: "demo://" in screen_text(app))
        pane.focus_inside()
        await press(pilot, "down", "down", "down", "enter", "m", until=lambda: bool(app.heard(ShowExchange)))
        assert app.heard(OpenResource)[0].uri.startswith("demo://")  # type: ignore[attr-defined]
        assert app.heard(ShowExchange)[0].n == call.n  # type: ignore[attr-defined]


async def test_a_link_that_must_be_opened_first_stands_whole_and_opens_by_its_key_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """C-ELIC-05."""
    opened: list[str] = []

    def remember(link: links.Link) -> str:
        opened.append(link.url)
        return ""

    monkeypatch.setattr("inspector.tui.work.links_to_open.open_in_browser", remember)
    async with stage((80, 30)) as (session, pane, app, pilot):
        call = session.call_tool("need-link")
        await settle(pilot, lambda: session.inbox.open())
        session.inbox.open()[0].decline()
        await show((session, pane, app, pilot), call)
        await settle(pilot, lambda: "https://example.com/demo/connect?visit=" in screen_text(app))
        assert "-32042  URL elicitation required" in screen_text(app)
        assert opened == []
        pane.focus_inside()
        await press(pilot, "o", shows="call again")
        assert [url.partition("?")[0] for url in opened] == ["https://example.com/demo/connect"]
        await pilot.press("o")
        assert len(opened) == 1


async def test_an_empty_place_says_how_something_comes_here() -> None:
    async with stage() as (_session, pane, app, pilot):
        pane.show(None, "^r calls it. The result appears here.")
        await settle(pilot, lambda: "The result appears here" in screen_text(app))
        assert pane.hints() == []


TEXT = {"type": "text", "text": "# Revenue\n\nUp **4 %**\n\n- books\n- paper\n"}


def answer_of(session: Session, value: dict[str, Any], schema: Any = None) -> ShownOutcome:
    """An answer with this result, in the journal of the session as if the server had sent it."""
    asked = {"jsonrpc": "2.0", "id": "made", "method": "tools/call", "params": {"name": "made"}}
    n = session.journal.record_sent("stdio", json.dumps(asked).encode(), asked)
    message = json.dumps({"jsonrpc": "2.0", "id": "made", "result": value}).encode()
    session.journal.record_received("stdio", [message])
    outcome = of_request(session.journal, n)
    assert outcome is not None
    return ShownOutcome(outcome, schema)


@pytest.mark.parametrize(
    ("value", "first", "views"),
    [
        ({"content": [TEXT], "structuredContent": {"result": TEXT["text"]}}, "content", "content  structured  raw"),
        ({"content": [{"type": "text", "text": '{"a": 1}'}], "structuredContent": {"a": 1}}, "content", ""),
        ({"content": [{"type": "text", "text": "1 row"}], "structuredContent": {"rows": [{"a": 1}]}}, "table", ""),
        ({"content": [{"type": "text", "text": "found 1"}], "structuredContent": {"a": {"b": 1}}}, "structured", ""),
        ({"content": [], "structuredContent": {"a": 1}}, "structured", ""),
        ({"content": [TEXT], "structuredContent": {"a": {"b": 1}}}, "content", ""),
        ({"content": [{"type": "text", "text": "a\tb\n1\t2\n3\t4"}]}, "table", "content  table  raw"),
        ({"content": [{"type": "text", "text": '[{"a": 1}, {"b": 2}]'}]}, "table", ""),
        ({"content": [{"type": "text", "text": '{"a": 1}'}, {"type": "text", "text": '{"b": 2}'}]}, "table", ""),
        ({"content": [{"type": "text", "text": "[1]"}]}, "content", ""),
        ({"content": [{"type": "text", "text": '[{"a": 1}]'}], "isError": True}, "content", ""),
    ],
)
async def test_a_result_opens_in_the_view_that_a_person_would_read(
    value: dict[str, Any], first: str, views: str
) -> None:
    async with stage((80, 24)) as (session, pane, app, pilot):
        answer = answer_of(session, value)
        pane.show(answer)
        await pilot.pause()
        assert answer.tab == first
        assert views in screen_text(app)


async def test_markdown_is_drawn_where_the_sdk_repeats_it_as_a_structured_result() -> None:
    async with stage((80, 24)) as (session, pane, app, pilot):
        pane.show(answer_of(session, {"content": [TEXT], "structuredContent": {"result": TEXT["text"]}}))
        await settle(pilot, lambda: "Up 4 %" in screen_text(app))
        assert '"# Revenue' not in screen_text(app)


async def test_each_view_has_a_key_and_the_choice_is_reported() -> None:
    async with stage((120, 24)) as (session, pane, app, pilot):
        rows = {"rows": [{"id": 1, "name": "x"}], "total": 41}
        answer = answer_of(session, {"content": [{"type": "text", "text": "1 row"}], "structuredContent": rows})
        pane.show(answer)
        await settle(pilot, lambda: "1 row  2 columns" in screen_lines(app)[0])
        assert "total 41" in screen_text(app), "what stands beside the rows is shown"
        pane.focus_inside()
        for key, tab in (
            ("d", "structured"),
            ("e", "raw"),
            ("i", "content"),
            ("t", "table"),
            ("right_curly_bracket", "structured"),
        ):
            await pilot.press(key)
            assert answer.tab == tab, key
        assert [each.view for each in app.heard(ViewChosen)] == ["structured", "raw", "content", "", "structured"]  # type: ignore[attr-defined]
        assert {hint.title for hint in pane.hints()} >= {"view", "content", "table", "raw", "copy", "save"}


async def test_a_row_opens_as_json_and_escape_closes_it() -> None:
    async with stage((80, 24)) as (session, pane, app, pilot):
        pane.show(
            answer_of(session, {"content": [], "structuredContent": [{"id": 1.50}, {"id": 2, "deep": {"x": [1]}}]})
        )
        await settle(pilot, lambda: "row 1 of 2" in screen_text(app))
        pane.focus_inside()
        await press(pilot, "down", "enter", shows='"deep"')
        await press(pilot, "escape", until=lambda: "1.5" in screen_text(app) and "row 2 of 2" in screen_text(app))
        assert not app.heard(LeaveWork)
        await pilot.press("escape")
        assert app.heard(LeaveWork)


async def test_what_differs_from_the_schema_stands_at_its_cell_and_one_key_goes_there() -> None:
    schema = {
        "type": "object",
        "properties": {"rows": {"items": {"properties": {"id": {"type": "integer"}}, "required": ["id"]}}},
    }
    async with stage((80, 24)) as (session, pane, app, pilot):
        rows = [{"id": at, "name": "x"} for at in range(30)]
        rows[20]["id"] = "twenty"
        del rows[25]["id"]
        answer = answer_of(session, {"content": [], "structuredContent": {"rows": rows}}, schema)
        pane.show(answer)
        await settle(pilot, lambda: "▲ 2 differences from schema" in screen_lines(app)[0])
        pane.focus_inside()
        await pilot.press("right_square_bracket")
        assert pane.body.table.row == 20
        await settle(pilot, lambda: "▲ twenty" in screen_text(app))
        assert "integer" in screen_text(app)
        await pilot.press("right_square_bracket")
        assert pane.body.table.row == 25
        await press(pilot, "enter", until=lambda: "id" in screen_text(app) and "▲" in "\n".join(screen_lines(app)[3:]))
        await pilot.press("d", "right_square_bracket", "right_square_bracket")
        assert pane.body.json.document.pointer(pane.body.json.line) in ("/rows/25", "/rows/20/id")


async def test_csv_is_saved_unchanged_with_a_word_about_formulas() -> None:
    async with stage((80, 24)) as (session, pane, app, pilot):
        pane.show(answer_of(session, {"content": [{"type": "text", "text": "a,b\n=x(),1\nb,2\n"}]}))
        await settle(pilot, lambda: "row 1 of 2" in screen_text(app))
        pane.focus_inside()
        await press(pilot, "w", until=lambda: bool(app.heard(Save)))
        saved = app.heard(Save)[0]
        assert saved.data == b"a,b\r\n=x(),1\r\nb,2\r\n"  # type: ignore[attr-defined]
        assert "1 cell begins with" in saved.note  # type: ignore[attr-defined]
        assert saved.suggested.endswith(".csv")  # type: ignore[attr-defined]


async def test_a_large_result_is_read_in_a_thread() -> None:
    async with stage((80, 24)) as (session, pane, app, pilot):
        rows = [{"id": at, "name": "x" * 100} for at in range(3_000)]
        schema = {"type": "object", "properties": {"result": {"items": {"properties": {"id": {"maximum": 2998}}}}}}
        answer = answer_of(session, {"content": [], "structuredContent": {"result": rows}}, schema)
        pane.show(answer)
        assert answer.contents is None
        assert not answer.begin_check(), "what is not read yet is not checked"
        await settle(pilot, lambda: "3,000 rows" in screen_lines(app)[0])
        assert not answer.begin_check(), "one check is enough"
        await settle(pilot, lambda: "1 difference from schema" in screen_lines(app)[0] and answer.is_light)
        pane.focus_inside()
        await press(pilot, "i", shows="The content is empty.")
        await pilot.press("t", "right_square_bracket")
        assert pane.body.table.row == 2_999
        pane.focus_inside()
        await pilot.press("end")
        assert "row 3,000 of 3,000" in screen_text(app)


async def test_a_cancelled_call_keeps_its_progress() -> None:
    async with stage((90, 24)) as (session, pane, app, pilot):
        call = session.call_tool("slow", {"steps": 50, "seconds": 30})
        await settle(pilot, lambda: call.progress is not None)
        call.cancel()
        await show((session, pane, app, pilot), call)
        await settle(pilot, lambda: "You cancelled it after" in screen_text(app))
        assert "of 50" in screen_text(app)


async def test_an_error_without_an_id_has_no_message_of_its_own() -> None:
    """Some servers answer a session that they do not know with HTTP 400 and such an error."""
    async with stage() as (session, pane, app, pilot):
        call = session.start("tools/call", {"name": "no-such-tool"})
        await end(call)
        outcome = of_call(call, session.journal)
        assert outcome.answer_n
        pane.show(ShownOutcome(replace(outcome, answer_n=0)))
        await settle(pilot, lambda: "-32602" in screen_text(app))
        assert "raw" not in screen_text(app)

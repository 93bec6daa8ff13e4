"""The result pane: every way a request can end, shown for what it is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import pytest
from textual.pilot import Pilot

from inspector.client.engine.pending_requests import Call
from inspector.client.session import Session
from inspector.client.session_state import SessionState
from inspector.errors import InspectorError, ServerExited
from inspector.tui.pane_messages import LeaveWork, OpenResource, Save, ShowExchange
from inspector.tui.work.outcome import ShownOutcome, of_call, of_request
from inspector.tui.work.result import ResultPane, ViewChosen
from tests.tui.live_demo import Ticking, demo, on_pane
from tests.tui.recorded_conversation import Talk
from tests.tui.tui_screens import assert_in, press, screen_lines, screen_text, settle

pytestmark = pytest.mark.slow


@dataclass
class Stage:
    """A result pane on a screen, and the session that it shows."""

    session: Session
    pane: ResultPane
    app: Ticking
    pilot: Pilot[None]

    async def show(self, call: Call, *words: str, schema: Any = None, top: str = "") -> ShownOutcome:
        """Show the end of a call, and wait until the screen, and its first line, have some words."""
        await end(call)
        return await self.show_answer(ShownOutcome(of_call(call, self.session.journal), schema), *words, top=top)

    async def show_answer(self, answer: ShownOutcome, *words: str, top: str = "") -> ShownOutcome:
        """Show an answer, and wait as `show` does."""
        self.pane.show(answer)
        await self.pilot.pause()
        await press(self.pilot, shows=words, until=lambda: top in self.top)
        return answer

    @property
    def text(self) -> str:
        return screen_text(self.app)

    @property
    def top(self) -> str:
        return screen_lines(self.app)[0]


@asynccontextmanager
async def stage(size: tuple[int, int] = (70, 24), *lists: Any) -> AsyncIterator[Stage]:
    async with demo(*lists) as session, on_pane(ResultPane(session), size, focus=False) as (app, pilot, pane):
        yield Stage(session, pane, app, pilot)


async def end(call: Call) -> None:
    with suppress(InspectorError):
        await asyncio.wait_for(call.result(), 20)


async def test_text_stands_there_with_its_time_and_size_or_late_or_what_replaces_it() -> None:
    async with stage((90, 24)) as on:
        await on.show(on.session.call_tool("echo", {"message": "hello there"}), "hello there")
        assert_in(on.top, " ms", " B ")
        assert "error" not in on.top
        call = on.session.call_tool("echo", {"message": "better late"})
        call.cancel()
        await settle(on.pilot, lambda: call.outcome.late)
        await on.show(call, "better late", "Answered late, after")
        on.pane.show(None, "^r calls it. The result appears here.")
        await press(on.pilot, shows="The result appears here")
        assert on.pane.hints() == []


async def test_a_structured_result_is_held_against_its_schema() -> None:
    """C-TOOL-02."""
    async with stage((80, 30), "tools") as on:
        tools = on.session.catalog.tools
        schemas = {name: (tools.get(name) or {})["outputSchema"] for name in ("weather", "bad-structured")}
        call = on.session.call_tool("weather", {"city": "Lima"})
        words = ("content  structured  raw", '"city": "Lima"')
        await on.show(call, *words, schema=schemas["weather"], top="✓ matches schema")
        call = on.session.call_tool("bad-structured", {"city": "Lima"})
        answer = await on.show(call, schema=schemas["bad-structured"], top="from schema")
        assert answer.violations
        assert_in(on.text, f"▲ {len(answer.violations)} difference", answer.violations[0].message[:40])
        on.pane.focus_inside()
        await press(on.pilot, "right_square_bracket", until=lambda: answer.tab == "structured")
        lines = screen_lines(on.app)
        at = next(at for at, line in enumerate(lines) if '"humidity": 170' in line)
        assert "▲" in lines[at + 1], "what is wrong stands below the value"
        assert answer.structured
        assert answer.structured.splitlines()[0][:1] == "{"
        on.pane.focus_inside()
        await press(on.pilot, "e", shows='"jsonrpc"')
        # A promised structure that is missing, and a schema that is none
        echo = on.session.call_tool("echo", {"message": "x"})
        await on.show(echo, schema={"type": "object"}, top="▲ 1 difference from schema")
        call = on.session.call_tool("weather", {"city": "Lima"})
        await on.show(call, "Lima", schema={"type": 7}, top="the schema cannot be used")


async def test_errors_are_reported_apart_and_our_own_time_out_and_cancelling_are_no_answers() -> None:
    """C-TOOL-04, C-BASE-10, C-CANC-01."""
    async with stage((90, 24)) as on:
        call = on.session.call_tool
        await on.show(call("fail", {}), top="✗ tool error")
        assert on.pane.tone == "error"
        await on.show(call("no-such-tool"), "-32602  Invalid params", "Unknown tool", top="✗ protocol error")
        assert on.pane.tone == "error"
        late = "No response to tools/call forget within 0.05 s"
        await on.show(call("forget", timeout=0.05), late, top="✗ timed out")
        cancelled = call("forget")
        cancelled.cancel()
        await on.show(cancelled, "You cancelled it after", top="cancelled")
        assert on.pane.tone == ""
        slow = call("slow", {"steps": 50, "seconds": 30})
        await settle(on.pilot, lambda: slow.progress is not None)
        slow.cancel()
        await on.show(slow, "You cancelled it after", "of 50")  # It keeps its progress.
        await on.show(call("crash", {}), top="✗ no answer")
        assert on.pane.tone == "error"


async def test_the_last_words_of_a_server_have_the_pane_while_it_is_high_enough() -> None:
    async with stage((60, 14)) as on:
        call = on.session.call_tool("crash", {})
        await end(call)
        outcome = of_call(call, on.session.journal)
        said = ("Traceback (most recent call last):", "x" * 100, "y" * 100, "ValueError: no oranges")
        lost = outcome._replace(error=ServerExited("The server ended with exit code 1.", stderr=said))
        await on.show_answer(ShownOutcome(lost), "exit code 1", "ValueError: no oranges")


async def test_prompts_stand_role_by_role_and_resources_by_their_kind() -> None:
    async with stage((80, 30)) as on:
        await on.show(on.session.get_prompt("explain-code", {"code": "x = 1", "language": "python"}), "user")
        on.pane.focus_inside()
        await press(on.pilot, "e", shows=("messages", "raw"))
        await on.show(on.session.read_resource("demo://planets"), " Mercury           0")
        on.pane.focus_inside()
        await press(on.pilot, "left_curly_bracket", shows=('"Mercury"', "application/json"))
        await on.show(on.session.read_resource("demo://bytes"), "application/octet-stream")
        on.pane.focus_inside()
        await press(on.pilot, "w", until=lambda: bool(on.app.messages_of(Save)))
        assert on.app.messages_of(Save)[0].data == bytes(range(256)) * 4  # type: ignore[attr-defined]


async def test_a_linked_resource_can_be_gone_to_and_the_messages_of_the_call_shown() -> None:
    async with stage((80, 30)) as on:
        call = on.session.call_tool("link-resources", {})
        await on.show(call, "demo://")
        on.pane.focus_inside()
        await press(
            on.pilot, "down", "down", "down", "enter", "m", until=lambda: bool(on.app.messages_of(ShowExchange))
        )
        assert on.app.messages_of(OpenResource)[0].uri.startswith("demo://")  # type: ignore[attr-defined]
        assert on.app.messages_of(ShowExchange)[0].n == call.n  # type: ignore[attr-defined]


async def test_a_link_to_open_first_opens_by_its_key_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """C-ELIC-05."""
    opened: list[str] = []
    monkeypatch.setattr("inspector.tui.work.links_to_open.open_in_browser", lambda link: opened.append(link.url) or "")
    async with stage((80, 30)) as on:
        call = on.session.call_tool("need-link")
        await settle(on.pilot, lambda: on.session.inbox.open())
        on.session.inbox.open()[0].decline()
        await on.show(call, "https://example.com/demo/connect?visit=", "-32042  URL elicitation required")
        assert opened == []
        on.pane.focus_inside()
        await press(on.pilot, "o", until=lambda: len(opened) == 1)
        assert [url.partition("?")[0] for url in opened] == ["https://example.com/demo/connect"]
        await on.pilot.press("o")
        assert len(opened) == 1


TEXT = {"type": "text", "text": "# Revenue\n\nUp **4 %**\n\n- books\n- paper\n"}


def answer_of(session: SessionState, value: dict[str, Any], schema: Any = None) -> ShownOutcome:
    """An answer with this result, in the journal of the session as if the server had sent it."""
    asked = {"jsonrpc": "2.0", "id": "made", "method": "tools/call", "params": {"name": "made"}}
    n = session.journal.record_sent("stdio", json.dumps(asked).encode(), asked)
    message = json.dumps({"jsonrpc": "2.0", "id": "made", "result": value}).encode()
    session.journal.record_received("stdio", [message])
    outcome = of_request(session.journal, n)
    assert outcome is not None
    return ShownOutcome(outcome, schema)


VIEWS: list[tuple[dict[str, Any], str, str]] = [
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
]


async def test_a_result_opens_in_the_view_to_read() -> None:
    session = Talk().session
    async with on_pane(ResultPane(session), (80, 24), focus=False) as (_app, pilot, pane):
        for value, first, views in VIEWS:
            answer = answer_of(session, value)
            pane.show(answer)
            await press(pilot, shows=views)
            assert answer.tab == first, value
            if (
                views == "content  structured  raw"
            ):  # Markdown is drawn where the SDK repeats it as a structured result.
                await press(pilot, shows="Up 4 %", hides='"# Revenue')


async def test_each_view_has_a_key_and_the_choice_is_reported() -> None:
    async with stage((120, 24)) as on:
        rows = {"rows": [{"id": 1, "name": "x"}], "total": 41}
        answer = answer_of(on.session, {"content": [{"type": "text", "text": "1 row"}], "structuredContent": rows})
        on.pane.show(answer)
        await settle(on.pilot, lambda: "1 row  2 columns" in on.top)
        assert "total 41" in on.text, "what stands beside the rows is shown"
        on.pane.focus_inside()
        for key, tab in (
            ("right_curly_bracket", "structured"),
            ("e", "raw"),
            ("right_curly_bracket", "content"),
            ("right_curly_bracket", "table"),
            ("right_curly_bracket", "structured"),
        ):
            await on.pilot.press(key)
            assert answer.tab == tab, key
        assert [message.view for message in on.app.messages_of(ViewChosen)] == [
            "structured",
            "raw",
            "content",
            "",
            "structured",
        ]  # type: ignore[attr-defined]


async def test_a_row_opens_as_json_and_escape_closes_it() -> None:
    async with stage((80, 24)) as on:
        on.pane.show(
            answer_of(on.session, {"content": [], "structuredContent": [{"id": 1.50}, {"id": 2, "deep": {"x": [1]}}]})
        )
        await press(on.pilot, shows="row 1 of 2")
        on.pane.focus_inside()
        await press(on.pilot, "down", "enter", shows='"deep"')
        await settle(on.pilot, lambda: not on.pane.body.table.list.size)
        assert on.pane.body.table.note == "row 2 of 2", "no column is out of sight in a row that is shown whole"
        await press(on.pilot, "escape", until=lambda: "1.5" in on.text and "row 2 of 2" in on.text)
        assert not on.app.messages_of(LeaveWork)
        await on.pilot.press("escape")
        assert on.app.messages_of(LeaveWork)


async def test_what_differs_from_the_schema_stands_at_its_cell_and_one_key_goes_there() -> None:
    schema = {
        "type": "object",
        "properties": {"rows": {"items": {"properties": {"id": {"type": "integer"}}, "required": ["id"]}}},
    }
    async with stage((80, 24)) as on:
        rows = [{"id": at, "name": "x"} for at in range(30)]
        rows[20]["id"] = "twenty"
        del rows[25]["id"]
        answer = answer_of(on.session, {"content": [], "structuredContent": {"rows": rows}}, schema)
        on.pane.show(answer)
        await settle(on.pilot, lambda: "▲ 2 differences from schema" in on.top)
        on.pane.focus_inside()
        await on.pilot.press("right_square_bracket")
        assert on.pane.body.table.row == 20
        await press(on.pilot, shows=("▲ twenty", "integer"))
        await on.pilot.press("right_square_bracket")
        assert on.pane.body.table.row == 25
        await press(on.pilot, "enter", until=lambda: "id" in on.text and "▲" in "\n".join(screen_lines(on.app)[3:]))
        await on.pilot.press("d", "right_square_bracket", "right_square_bracket")
        assert on.pane.body.json.document.pointer(on.pane.body.json.line) in ("/rows/25", "/rows/20/id")


async def test_csv_is_saved_unchanged_with_a_word_about_formulas() -> None:
    async with stage((80, 24)) as on:
        on.pane.show(answer_of(on.session, {"content": [{"type": "text", "text": "a,b\n=x(),1\nb,2\n"}]}))
        await press(on.pilot, shows="row 1 of 2")
        on.pane.focus_inside()
        await press(on.pilot, "w", until=lambda: bool(on.app.messages_of(Save)))
        saved = on.app.messages_of(Save)[0]
        assert saved.data == b"a,b\r\n=x(),1\r\nb,2\r\n"  # type: ignore[attr-defined]
        assert "1 cell begins with" in saved.note  # type: ignore[attr-defined]
        assert saved.suggested.endswith(".csv")  # type: ignore[attr-defined]


async def test_a_large_result_is_read_in_a_thread() -> None:
    async with stage((80, 24)) as on:
        rows = [{"id": at, "name": "x" * 100} for at in range(3_000)]
        schema = {"type": "object", "properties": {"result": {"items": {"properties": {"id": {"maximum": 2998}}}}}}
        answer = answer_of(on.session, {"content": [], "structuredContent": {"result": rows}}, schema)
        on.pane.show(answer)
        assert answer.contents is None
        assert not answer.begin_check(), "what is not read yet is not checked"
        await settle(on.pilot, lambda: "3,000 rows" in on.top)
        assert not answer.begin_check(), "one check is enough"
        await settle(on.pilot, lambda: "1 difference from schema" in on.top and answer.is_light)
        on.pane.focus_inside()
        await press(on.pilot, "left_curly_bracket", shows="The content is empty.")
        await on.pilot.press("right_curly_bracket", "right_square_bracket")
        assert on.pane.body.table.row == 2_999
        on.pane.focus_inside()
        await on.pilot.press("end")
        assert "row 3,000 of 3,000" in on.text


async def test_an_error_without_an_id_has_no_message_of_its_own() -> None:
    """Some servers answer a session that they do not know with HTTP 400 and such an error."""
    async with stage() as on:
        call = on.session.start("tools/call", {"name": "no-such-tool"})
        await end(call)
        outcome = of_call(call, on.session.journal)
        assert outcome.answer_n
        on.pane.show(ShownOutcome(outcome._replace(answer_n=0)))
        await press(on.pilot, shows="-32602", hides="raw")

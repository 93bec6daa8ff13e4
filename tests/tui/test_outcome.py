"""How a request ended, from a live call and from the recording of the same call."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from inspector.client.engine.pending_requests import Call
from inspector.client.session import Session
from inspector.errors import InspectorError
from inspector.tui.work.outcome import CallOutcome, of_call, of_request
from tests.tui.live_demo import demo

pytestmark = pytest.mark.slow


async def ended(call: Call, seconds: float = 20) -> None:
    with suppress(InspectorError):
        await asyncio.wait_for(call.result(), seconds)


def both(session: Session, call: Call) -> tuple[CallOutcome, CallOutcome]:
    later = of_request(session.journal, call.n)
    assert later is not None
    return of_call(call, session.journal), later


async def test_errors_are_reported_apart_live_and_later() -> None:
    """C-TOOL-04."""
    async with demo() as session:
        for tool, kind in (
            ("echo", "result"), ("fail", "tool-error"), ("protocol-error", "protocol-error"),
            ("no-such-tool", "protocol-error"), ("crash", "connection"),
        ):  # fmt: skip
            call = session.call_tool(tool, {"message": "hi"} if tool == "echo" else {})
            await ended(call)
            live, later = both(session, call)
            assert (live.kind, later.kind) == (kind, kind)
            assert (live.request_n, live.answer_n) == (later.request_n, later.answer_n)
            assert live.value == later.value
            assert live.has_answer == later.has_answer == (kind in ("result", "tool-error"))
            if tool == "crash":
                assert later.error is not None
                assert later.error.as_json() == live.error.as_json(), "exit code and stderr too"
            session.journal.record_note("later")
            assert of_request(session.journal, call.n).took == later.took, "up to its end"


async def test_a_call_that_is_cancelled_or_times_out_is_neither_an_error_of_the_server_nor_of_the_tool() -> None:
    """C-BASE-10."""
    async with demo() as session:
        call = session.call_tool("forget")
        call.cancel()
        assert [one.kind for one in both(session, call)] == ["cancelled", "cancelled"]
        late = session.call_tool("forget", timeout=0.05)
        await ended(late)
        assert [one.kind for one in both(session, late)] == ["timeout", "timeout"]
        for outcome in both(session, late):
            assert outcome.error is not None
            assert outcome.error.message == "No response to tools/call forget within 0.05 s."
            assert "Allow more time" in outcome.error.hint


async def test_a_late_answer_is_kept_and_called_late() -> None:
    async with demo() as session:
        call = session.call_tool("echo", {"message": "x"})
        call.cancel()
        for _ in range(1000):
            await asyncio.sleep(0 if call.outcome.late else 0.01)
        for outcome in both(session, call):
            assert outcome.kind == "cancelled"
            assert outcome.has_answer
            assert outcome.value["content"][0]["text"]
            assert outcome.lateness.startswith("answered late, after ")


async def test_a_request_without_an_end_has_no_outcome_yet() -> None:
    async with demo() as session:
        call = session.call_tool("forget")
        assert of_request(session.journal, call.n) is None

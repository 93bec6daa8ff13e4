"""Calls in several rounds: an input_required result, and the retry with the input."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

from inspector.check.check_table import CheckTable, Need, Probe
from inspector.check.outcome import Outcome, bad, doubtful, expect, good, skipped
from inspector.check.visit.raw_connection import PREFIX, RawConnection
from inspector.check.visit.request_outcome import RequestOutcome
from inspector.check.visit.tool_calls import FEW, ToolCall, everything, reply, tool_calls
from inspector.check.visit.visit import Visit
from inspector.protocol.jsonrpc import excerpt

_NO_INPUT = "no allowed tool returns input_required"
_NO_STATE = "no allowed tool returns a requestState"

CHECKS = CheckTable("input_required", mode="tool", needs=Need.CALLS)


_SecondRound = Callable[[Visit, RawConnection, ToolCall, RequestOutcome], Awaitable[Outcome | None]]


def _each_asking(nothing: str, *, states: bool = False) -> Callable[[_SecondRound], Probe]:
    """Give the check the first round of each tool that asks, until one is at fault.

    The check returns None for a tool that shows nothing; `nothing` says that all did.
    """

    def decorated(check: _SecondRound) -> Probe:
        @wraps(check)
        async def probe(visit: Visit) -> Outcome:
            seen: list[int] = []
            async with visit.connection() as connection:
                for call in await _asking(visit, states=states):
                    first = await _ask(visit, connection, call)
                    outcome = await check(visit, connection, call, first)
                    if outcome is None:
                        continue
                    evidence = (*first.events, *outcome.evidence)
                    if outcome.seen != "good":
                        return outcome._replace(evidence=evidence)
                    seen += evidence
            return good("", *seen) if seen else skipped(nothing)

        return probe

    return decorated


@CHECKS.active("MRTR-04", apart=True)
async def undeclared(visit: Visit) -> Outcome:
    """The tools that return input_required, called by a client without capabilities."""
    seen: list[int] = []
    async with visit.connection() as connection:
        for call in await _asking(visit):
            response = await connection.request("tools/call", call.params)
            if _methods_by_key(response):
                method = next(iter(_methods_by_key(response).values()))
                return bad(f"{call.name} requests {excerpt(method, 60)}, which was not declared.", *response.events)
            seen += response.events
    return good("", *seen) if seen else skipped(_NO_INPUT)


@CHECKS.active("MRTR-05", apart=True)
@_each_asking("no allowed tool needs an input response")
async def missing_answers(
    visit: Visit, connection: RawConnection, call: ToolCall, first: RequestOutcome
) -> Outcome | None:
    """The second round without a response to the input request."""
    if not _methods_by_key(first):
        return None
    response = await _retry(visit, connection, call, first, {})
    if response.answered and not response.ok:
        return bad(f"{call.name} without an input response got {response.reply}.", *response.events)
    return good("", *response.events) if _wants(response) else None


@CHECKS.active("MRTR-06", apart=True)
@_each_asking("no allowed tool requests and accepts input")
async def unexpected_answers(
    visit: Visit, connection: RawConnection, call: ToolCall, first: RequestOutcome
) -> Outcome | None:
    """The second round with one unknown input response."""
    plain = await _retry(visit, connection, call, first, _answers(first))
    if not _methods_by_key(first) or not plain.ok:
        return None
    more = {**_answers(first), "inspector-check-nothing": {"action": "decline"}}
    response = await _retry(visit, connection, call, first, more)
    return expect(response, response.ok, f"{call.name} with an unknown input response got {response.reply}.")


@CHECKS.active("MRTR-07", apart=True)
@_each_asking(_NO_INPUT)
async def malformed_answers(
    visit: Visit, connection: RawConnection, call: ToolCall, first: RequestOutcome
) -> Outcome | None:
    """The second round with numbers as input responses."""
    if not _methods_by_key(first):
        return None
    response = await _retry(visit, connection, call, first, dict.fromkeys(_methods_by_key(first), 7))
    if _is_done(response):
        return bad(f"{call.name} accepted 7 as an input response and got {response.reply}.", *response.events)
    return good("", *response.events)


@CHECKS.active("MRTR-08", apart=True)
@_each_asking(_NO_STATE, states=True)
async def tampered(visit: Visit, connection: RawConnection, call: ToolCall, first: RequestOutcome) -> Outcome | None:
    """The second round with one character of requestState changed."""
    state = first.body.get("requestState")
    if not isinstance(state, str) or not state:
        return None
    plain = await _retry(visit, connection, call, first, _answers(first))
    if not plain.ok:
        return None  # The rejection may have another cause than the change.
    middle = len(state) // 2
    changed = state[:middle] + ("B" if state[middle] == "A" else "A") + state[middle + 1 :]
    response = await _retry(visit, connection, call, first, _answers(first), state=changed)
    if _is_done(response):
        what = f"{call.name} accepted a modified requestState. This is correct only if the server does not rely on it."
        return doubtful(what, *response.events)
    return good("", *response.events)


@CHECKS.active("MRTR-09", apart=True)
async def foreign_state(visit: Visit) -> Outcome:
    """The requestState of one tool, sent to another tool."""
    asking = await _asking(visit, states=True)
    if len(asking) < 2:
        return skipped("fewer than two allowed tools return a requestState")
    first_tool, second_tool = asking[:2]
    async with visit.connection() as connection:
        theirs = await _ask(visit, connection, first_tool)
        own = await _ask(visit, connection, second_tool)
        state = theirs.body.get("requestState")
        if not isinstance(state, str) or not _wants(own):
            return skipped(_NO_STATE)
        response = await _retry(visit, connection, second_tool, own, _answers(own), state=state)
    if _is_done(response):
        what = f"{second_tool.name} accepted the requestState of {first_tool.name}."
        return bad(what, *theirs.events, *own.events, *response.events)
    return good("", *theirs.events, *own.events, *response.events)


@CHECKS.active("MRTR-10", apart=True)
async def elsewhere(visit: Visit) -> Outcome:
    """The second round on another connection."""
    seen: list[int] = []
    for call in await _asking(visit):
        async with visit.connection() as connection:
            first = await _ask(visit, connection, call)
            plain = await _retry(visit, connection, call, first, _answers(first))
        if not _wants(first) or not plain.ok:
            continue
        async with visit.new_connection() as connection:
            response = await _retry(visit, connection, call, first, _answers(first))
        if not response.ok:
            what = f"{call.name} on another connection got {response.reply}."
            return bad(what, *first.events, *plain.events, *response.events)
        seen += (*first.events, *response.events)
    return good("", *seen) if seen else skipped("no allowed tool requests and accepts input")


async def _asking(visit: Visit, *, states: bool = False) -> list[ToolCall]:
    """The first tools that return input_required; with `states`, those with a requestState."""
    calls = [call for call in tool_calls(visit) if call.rounds and not call.task]
    if states:
        calls = [call for call in calls if isinstance(call.rounds[0].get("requestState"), str)]
    return calls[:FEW]


def _meta(visit: Visit) -> dict[str, Any]:
    return {"_meta": {f"{PREFIX}clientCapabilities": everything(visit.features)}}


async def _ask(visit: Visit, connection: RawConnection, call: ToolCall) -> RequestOutcome:
    """The first round, by a client with all capabilities."""
    return await connection.request("tools/call", {**call.params, **_meta(visit)})


async def _retry(
    visit: Visit,
    connection: RawConnection,
    call: ToolCall,
    first: RequestOutcome,
    answers: dict[str, Any],
    *,
    state: str | None = None,
) -> RequestOutcome:
    """The next round after `first`; with another requestState if given."""
    params = {**call.params, **_meta(visit), "inputResponses": answers}
    if state is not None or "requestState" in first.body:
        params["requestState"] = first.body.get("requestState") if state is None else state
    return await connection.request("tools/call", params)


def _wants(response: RequestOutcome) -> bool:
    return response.body.get("resultType") == "input_required"


def _methods_by_key(response: RequestOutcome) -> dict[str, str]:
    """The inputRequests of a result: methods by their keys."""
    requests = response.body.get("inputRequests")
    if not _wants(response) or type(requests) is not dict:
        return {}
    methods = {key: value.get("method") for key, value in requests.items() if type(value) is dict}
    return {key: method for key, method in methods.items() if isinstance(method, str)}


def _answers(first: RequestOutcome) -> dict[str, Any]:
    return {key: reply(method) for key, method in _methods_by_key(first).items()}


def _is_done(response: RequestOutcome) -> bool:
    """Whether a call ended with success."""
    return response.ok and not _wants(response) and response.body.get("isError") is not True

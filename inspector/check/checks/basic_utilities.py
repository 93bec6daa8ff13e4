"""Messages besides requests: progress, cancellation, ping."""

from __future__ import annotations

import time
from functools import partial
from itertools import count
from typing import Any

from inspector.check.check_table import CheckTable, Need, Stage
from inspector.check.outcome import Outcome, bad, doubtful, expect, good, skipped
from inspector.check.visit.machine_load import takes_longer
from inspector.check.visit.raw_connection import RawConnection, is_refusal
from inspector.check.visit.request_outcome import RequestOutcome
from inspector.check.visit.tool_calls import FEW, PROGRESS, ToolCall, tool_calls
from inspector.check.visit.visit import Visit
from inspector.journal.journal import Frame
from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import Shape, excerpt
from inspector.protocol.members import value_at
from inspector.protocol.revisions import LEGACY

_CANCELLED = "notifications/cancelled"
_ANSWERS = (Shape.RESULT, Shape.ERROR)
_PROMPT = 1.0
"""Seconds after which the response to a ping is late."""
_LONG = 0.4
"""Seconds that a call must take so that it can be cancelled."""

CHECKS = CheckTable("basic_utilities", mode="tool", needs=Need.CALLS)


@CHECKS.active("UTIL-17", apart=True)
async def token_kept(visit: Visit) -> Outcome:
    """The tools that report progress, with a number as the token, and with a string that looks like one."""
    reporting = [call for call in tool_calls(visit) if call.received(PROGRESS)]
    reporting.sort(key=lambda call: not call.response.answered)
    seen: list[int] = []
    given = count(7_000_001)
    async with visit.connection() as connection:
        for call in reporting[:FEW]:
            if len(seen) >= 2:
                break
            for token in (next(given), str(next(given))):
                connection.frames = []
                params = connection.with_metadata({**call.params, "_meta": {"progressToken": token}})
                id = f"progress-{token}"
                response = connection.begin(jsonrpc.request(id, "tools/call", params))
                await connection.until(partial(_reports_or_answers, token, id))
                connection.notify(_CANCELLED, {"requestId": id})
                for n, other in _tokens(connection):
                    if type(other) is not type(token) and str(other) == str(token):
                        return bad(f"{excerpt(token, 20)} was returned as {excerpt(other, 60)}.", response.n, n)
                    if other == token:
                        seen += (response.n, n)
    return good("", *seen[:20]) if seen else skipped("no allowed tool reports progress")


@CHECKS.active("UTIL-18", apart=True)
async def cancelled(visit: Visit) -> Outcome:
    """The slow tools, cancelled while they run.

    Responses to other requests show what the server has read; the clock does not. A response that comes before the
    server has read the cancellation may have been on its way, which the specification allows; but not if the call takes
    much longer by itself.
    """
    slow = [call for call in tool_calls(visit) if call.response.seconds > _LONG or not call.response.answered]
    slow.sort(key=lambda call: (not call.response.answered, call.response.seconds))
    seen: list[int] = []
    until = time.monotonic() + visit.limits.check / 4
    async with visit.connection() as connection:
        for call in slow[:FEW]:
            if seen and time.monotonic() > until:
                break
            lasts = await _lasts(visit, connection, call)
            if lasts < _LONG:
                continue
            id = f"cancelled-{call.token}"
            response = connection.begin(jsonrpc.request(id, "tools/call", connection.with_metadata(call.params)))
            if not await connection.barrier() or visit.journal.index.pair(response.n):
                continue
            sent = connection.notify(_CANCELLED, {"requestId": id, "reason": "a check"})
            if not await connection.barrier():
                continue
            crossed = bool(visit.journal.index.pair(response.n))
            # A withheld response looks like a late one, so wait as long as the call took before.
            await connection.answer(
                response, timeout=(lasts if call.response.answered else 0.0) + connection.patience(visit.limits.quiet)
            )
            after = (visit.journal.index.duration(response.n) or 0) / 1_000_000
            if crossed and after > lasts / 2:
                continue
            if response.answered:
                took = f"{after:.1f} s after the call, which takes {lasts:.1f} s without cancellation"
                return bad(f"{call.name} got {response.reply}, {took}.", response.n, sent, response.response_n)
            seen += [n for n in (response.n, sent) if n]
    return good("", *seen) if seen else skipped("no allowed tool is slow")


async def _lasts(visit: Visit, connection: RawConnection, call: ToolCall) -> float:
    """The shorter duration of two calls in seconds, because a busy machine can delay one of them."""
    if not call.response.answered:
        return visit.limits.request / 2
    again = await connection.request("tools/call", call.params)
    return min(call.response.seconds, again.seconds)


@CHECKS.active("UTIL-19", mode="active", apart=True, needs=Need.NOTHING)
async def cancelled_nothing(visit: Visit) -> Outcome:
    """A finished request, an unknown one, and an invalid id."""
    async with visit.connection() as connection:
        over = await _alive(visit, connection)
        sent = [
            connection.notify(_CANCELLED, params)
            for params in ({"requestId": 1}, {"requestId": "inspector-check-nothing"}, {"requestId": None}, {}, None)
        ]
        response = await _alive(visit, connection)
        wrong = [
            frame
            for frame in connection.frames
            if frame.shape is Shape.ERROR and frame.message.get("id") is None and not is_refusal(visit.journal, frame.n)
        ]
    evidence = (*over.events, *(n for n in sent if n), *response.events)
    if not over.answered:
        return skipped(over.brief)
    if not response.answered:
        return bad(f"Afterwards the server did not respond: {response.brief}.", *evidence)
    if wrong:
        return bad("One of them got an error.", *evidence, wrong[0].n)
    return good("", *evidence)


@CHECKS.active("UTIL-20", mode="active", apart=True, stage=Stage.LEAVING, needs=Need.NOTHING)
async def ping(visit: Visit) -> Outcome:
    """On an open connection, and over stdio on a new one."""
    async with visit.connection() as connection:
        response = await connection.request("ping")
    newest = [name for name in visit.spoken if name in LEGACY][-1]
    if visit.visited.transport == "stdio" and visit.revision == newest:
        async with visit.fresh_connection() as connection:
            early = await connection.request("ping")
        if not early.ok:
            return doubtful(f"Before initialize it got {early.reply}.", *early.events)
    if not response.ok:
        return bad(f"The request got {response.reply}.", *response.events)
    if set(response.body) - {"_meta"} or type(response.result) is not dict:
        return bad(f"The result is not empty: {excerpt(response.result, 80)}.", *response.events)
    return expect(response, not takes_longer(response.seconds, _PROMPT), f"It took {response.seconds:.1f} s.", doubtful)


def _is_progress(frame: Frame) -> bool:
    return frame.shape is Shape.NOTIFICATION and bool(frame.message["method"] == PROGRESS)


def _reports_or_answers(token: Any, id: str, frame: Frame) -> bool:
    """Whether a frame is progress for a token of any type, or the response to a request."""
    if frame.shape in _ANSWERS:
        return bool(frame.message.get("id") == id)
    params = frame.message.get("params") if _is_progress(frame) else None
    return type(params) is dict and str(params.get("progressToken")) == str(token)


def _tokens(connection: RawConnection) -> list[tuple[int, Any]]:
    """The tokens of the received progress notifications."""
    frames = [frame for frame in connection.frames[:1000] if _is_progress(frame)]
    return [(frame.n, value_at(frame.message, "params", "progressToken")) for frame in frames]


async def _alive(visit: Visit, connection: RawConnection) -> RequestOutcome:
    """A request that every server of the era answers."""
    return await (connection.request("server/discover", {}) if visit.modern else connection.request("ping"))

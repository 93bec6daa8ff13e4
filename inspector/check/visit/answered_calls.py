"""Calls of tools that request input from the client, made by a client with every capability.

The calls of `tool_calls` come from a session that declines everything and declares little; these show how a tool
behaves with a client that can do more. The number of answers is limited, because a server may ask forever.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from inspector.check.visit.facts import collected
from inspector.check.visit.raw_connection import PREFIX, RawConnection
from inspector.check.visit.request_outcome import RequestOutcome
from inspector.check.visit.tool_calls import InputRequest, ToolCall, everything, questions_in, reply, tool_calls
from inspector.check.visit.visit import Visit
from inspector.journal.journal import Frame
from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import METHOD_NOT_FOUND, USER_REJECTED, Shape

MAX_ANSWERS = 10
"""Answers in one call before the client stops answering."""
_SHARE = 0.5
"""The share of the time of one check that the calls may take."""
_CANCELLED = "notifications/cancelled"


@dataclass(slots=True)
class AnsweredCall:
    """One call in which requests for input were answered."""

    call: ToolCall
    response: RequestOutcome
    """The call, or its last round."""
    questions: list[InputRequest] = field(default_factory=list)
    lost: bool = False
    """The connection ended during the call."""

    @property
    def endless(self) -> bool:
        """Whether the server asked until the limit."""
        return len(self.questions) >= MAX_ANSWERS

    def asks(self, method: str) -> list[InputRequest]:
        """The requests of one kind."""
        return [question for question in self.questions if question.method == method]


@collected(list[AnsweredCall])
async def answered_calls(visit: Visit, made: list[AnsweredCall]) -> None:
    """The tools that requested input or did not succeed, each called once more; every request is declined."""
    tried = [call for call in tool_calls(visit) if call.questions or (call.response.answered and not call.came)]
    tried = [call for call in tried if not call.task]
    until = time.monotonic() + visit.limits.check * _SHARE
    while tried and time.monotonic() < until:
        async with visit.new_connection(capabilities=everything(visit.features)) as connection:
            while tried and connection.lost is None and time.monotonic() < until:
                made.append(await answered_call(visit, connection, tried.pop(0)))


async def questions(visit: Visit, method: str) -> list[InputRequest]:
    """All requests of one kind in all calls."""
    questions = [question for call in tool_calls(visit) for question in call.asks(method)]
    return questions + [question for answered in await answered_calls(visit) for question in answered.asks(method)]


async def answered_call(
    visit: Visit, connection: RawConnection, call: ToolCall, *, action: str = "decline", refuses: bool = False
) -> AnsweredCall:
    """Call a tool and answer its requests: elicitations with `action`; sampling is rejected if `refuses`."""
    if visit.modern:
        return await _in_rounds(visit, connection, call, action, refuses)
    return await _by_requests(visit, connection, call, action, refuses)


async def _in_rounds(
    visit: Visit, connection: RawConnection, call: ToolCall, action: str, refuses: bool
) -> AnsweredCall:
    """The modern era: input_required results. A rejected request is not repeated: the call ends there."""
    params = {**call.params, "_meta": {f"{PREFIX}clientCapabilities": everything(visit.features)}}
    made = AnsweredCall(call, await connection.request("tools/call", params, timeout=visit.limits.request / 2))
    while made.response.body.get("resultType") == "input_required" and len(made.questions) < MAX_ANSWERS:
        body = made.response.body
        made.questions += questions_in(made.response.response_n, body, call.name)
        requests = body.get("inputRequests")
        answers = {}
        for key, request in list(requests.items())[:100] if type(requests) is dict else ():
            given = request if type(request) is dict else {}
            if refuses and given.get("method") == "sampling/createMessage":
                return made
            answers[key] = reply(str(given.get("method")), action, given.get("params"))
        more = {**params, "inputResponses": answers}
        if "requestState" in body:
            more["requestState"] = body["requestState"]
        made.response = await connection.request("tools/call", more, timeout=visit.limits.request / 2)
    made.lost = connection.lost is not None
    return made


async def _by_requests(
    visit: Visit, connection: RawConnection, call: ToolCall, action: str, refuses: bool
) -> AnsweredCall:
    """The legacy era: requests of the server during the call."""
    connection.frames = []
    id = f"interview-{call.token}-{action}"
    made = AnsweredCall(call, connection.begin(jsonrpc.request(id, "tools/call", call.params)))
    handled: set[int] = set()

    def is_news(frame: Frame) -> bool:
        if frame.shape is Shape.REQUEST:
            return frame.n not in handled and frame.message["method"] != "ping"
        return frame.shape in (Shape.RESULT, Shape.ERROR) and bool(frame.message.get("id") == id)

    until = time.monotonic() + visit.limits.request / 2
    while connection.lost is None and len(made.questions) < MAX_ANSWERS:
        frame = await connection.until(is_news, max(0.0, until - time.monotonic()))
        if frame is None or frame.shape is not Shape.REQUEST:
            break
        handled.add(frame.n)
        method, params = frame.message["method"], frame.message.get("params")
        made.questions.append(InputRequest(frame.n, method, params if type(params) is dict else {}, call.name))
        connection.send(jsonrpc.encode(_answer(frame.message["id"], method, params, action, refuses)))
    await connection.answer(made.response, timeout=visit.limits.quiet)
    if not made.response.answered:
        connection.notify(_CANCELLED, {"requestId": id})
    made.lost = connection.lost is not None
    return made


def _answer(id: Any, method: str, params: Any, action: str, refuses: bool) -> dict[str, Any]:
    if method not in ("elicitation/create", "sampling/createMessage", "roots/list"):
        return jsonrpc.error(id, METHOD_NOT_FOUND, f"Method not found: {method}")
    if refuses and method == "sampling/createMessage":
        return jsonrpc.error(id, USER_REJECTED, "User rejected sampling request")
    return jsonrpc.result(id, reply(method, action, params))

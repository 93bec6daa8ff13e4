"""Calls each allowed tool once in a visit, and keeps the result with the messages that came during the call.

Checks share these calls. They run on the shared session, so that the judge sees them too. Every call has a progress
token (and in the modern era a logLevel); requests of the server during the call are declined.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from inspector.check.judge.state import TASKS_EXTENSION
from inspector.check.visit.facts import collected
from inspector.check.visit.raw_connection import PREFIX
from inspector.check.visit.request_outcome import RequestOutcome
from inspector.check.visit.visit import Visit
from inspector.errors import InspectorError
from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import Shape, excerpt, shape_of
from inspector.protocol.revisions import Features
from inspector.protocol.sample_values import sample

PROGRESS = "notifications/progress"
FEW = 3
"""Tools of one kind that are called a second time."""
MAX_TOOLS = 100
"""Tools that are called."""
MAX_SAID = 5_000
"""Events of one call that are read."""
_SHARE = 2.0
"""The time for the calls, as a multiple of the time of one check.

Fewer calls on a busy machine would change verdicts.
"""


class ServerNotification(NamedTuple):
    """A notification of the server."""

    n: int
    method: str
    params: dict[str, Any]


class InputRequest(NamedTuple):
    """A request for input from the client, as a request of the server or in an input_required result."""

    n: int
    method: str
    params: dict[str, Any]
    tool: str
    """The tool, for use in a sentence."""


@dataclass(slots=True)
class ToolCall:
    """One call of a tool."""

    tool: dict[str, Any]
    arguments: dict[str, Any]
    token: str
    response: RequestOutcome
    notifications: list[ServerNotification] = field(default_factory=list)
    questions: list[InputRequest] = field(default_factory=list)
    rounds: list[dict[str, Any]] = field(default_factory=list)
    """The input_required results (2026-07-28)."""
    task: str = ""
    """The id of the task that it created (2026-07-28)."""

    @property
    def name(self) -> str:
        """The tool, for use in a sentence."""
        return excerpt(self.tool.get("name"), 60)

    @property
    def params(self) -> dict[str, Any]:
        """The params of the call, without metadata."""
        return {"name": self.tool.get("name"), "arguments": self.arguments}

    @property
    def came(self) -> bool:
        """Whether it succeeded."""
        response = self.response
        return (
            response.ok
            and response.body.get("isError") is not True
            and response.body.get("resultType") in (None, "complete")
        )

    def received(self, method: str) -> list[ServerNotification]:
        """The notifications of one kind."""
        return [notification for notification in self.notifications if notification.method == method]

    def asks(self, method: str) -> list[InputRequest]:
        """The requests for input of one kind."""
        return [question for question in self.questions if question.method == method]


@collected(list[ToolCall])
async def call_tools(visit: Visit, made: list[ToolCall]) -> None:
    """Call each allowed tool once, with generated arguments; slow tools come late, destructive ones last."""
    may_reopen = True
    until = time.monotonic() + visit.limits.check * _SHARE
    for tool in sorted(visit.callable(), key=_rank)[:MAX_TOOLS]:
        if time.monotonic() > until:
            break
        if visit.session.phase != "ready":
            if not may_reopen or not await _reopen(visit):
                break
            may_reopen = False
        made.append(await _try(visit, tool, f"inspector-check-{len(made) + 1}"))
        if not made[-1].response.answered and visit.session.phase == "ready" and not await visit.is_served():
            await visit.settle()
            if may_reopen:
                may_reopen = False
                await _reopen(visit)
    for call in [call for call in made if call.came and call.received(PROGRESS)][:FEW]:
        # Once more without a token, so that the judge sees whether the server sends unwanted progress.
        await visit.request("tools/call", call.params)


def tool_calls(visit: Visit) -> list[ToolCall]:
    """The calls of the allowed tools, for a check that needs them."""
    return call_tools.known(visit) or []


def everything(features: Features) -> dict[str, Any]:
    """The capabilities of a client with all features of a revision except tasks."""
    can: dict[str, Any] = {"roots": {}, "sampling": {"tools": {}} if features.sampling_tools else {}}
    if features.elicitation_form:
        can["elicitation"] = {"form": {}, "url": {}} if features.elicitation_modes else {}
    return can


def with_tasks(features: Features) -> dict[str, Any]:
    """The metadata of a request from a client with all features, including tasks (2026-07-28)."""
    extensions: dict[str, Any] = {TASKS_EXTENSION: {}} if features.tasks_extension else {}
    return {f"{PREFIX}clientCapabilities": {**everything(features), "extensions": extensions}}


def reply(method: str, action: str = "decline", params: Any = None) -> dict[str, Any]:
    """The result for a request of the server: an elicitation is declined, there are no roots, a model replies.

    A model with tools uses the first one, once.
    """
    if method == "elicitation/create":
        return {"action": action}
    if method == "roots/list":
        return {"roots": []}
    message: dict[str, Any] = {"role": "assistant", "model": "inspector-check"}
    use = _tool_use(params) if type(params) is dict else None
    if use is not None:
        return {**message, "content": [use], "stopReason": "toolUse"}
    return {**message, "content": {"type": "text", "text": "This is a check."}, "stopReason": "endTurn"}


def _tool_use(params: dict[str, Any]) -> dict[str, Any] | None:
    tools, messages = params.get("tools"), params.get("messages")
    first = tools[0] if type(tools) is list and tools else None
    if type(first) is not dict or type(messages) is not list or len(messages) > 1:
        return None
    return {"type": "tool_use", "id": "inspector-check", "name": first.get("name"), "input": arguments_for(first)}


def arguments_for(tool: dict[str, Any]) -> dict[str, Any]:
    """Generated arguments for a tool."""
    arguments = sample(tool.get("inputSchema"))
    return arguments if type(arguments) is dict else {}


async def _reopen(visit: Visit) -> bool:
    """Open the session again that a tool has ended or blocked; False if that failed."""
    with suppress(InspectorError, TimeoutError):
        async with asyncio.timeout(2 * visit.limits.request):
            await visit.session.reopen()
    return visit.session.phase == "ready"


async def _try(visit: Visit, tool: dict[str, Any], token: str) -> ToolCall:
    meta = {"progressToken": token}
    if visit.modern:
        meta[f"{PREFIX}logLevel"] = "debug"
    call = ToolCall(tool, arguments_for(tool), token, RequestOutcome("tools/call"))
    first = len(visit.journal) + 1
    call.response = await visit.request("tools/call", {**call.params, "_meta": meta}, timeout=visit.limits.request / 2)
    _read(visit.journal, call, first)
    return call


def _rank(tool: dict[str, Any]) -> tuple[bool, bool]:
    hints, execution = tool.get("annotations"), tool.get("execution")
    destroys = type(hints) is dict and hints.get("destructiveHint") is True
    lasts = type(execution) is dict and execution.get("taskSupport") in ("optional", "required")
    return destroys, lasts


def _read(journal: Journal, call: ToolCall, first: int) -> None:
    """Collect the messages of the server since an event."""
    for event in journal.events(first, min(len(journal), first + MAX_SAID)):
        if event.kind != Kind.RPC or event.dir != Dir.RECV:
            continue
        for message in event.message if type(event.message) is list else (event.message,):
            _add_message(call, event.n, message)


def _add_message(call: ToolCall, n: int, message: Any) -> None:
    shape = shape_of(message)
    if shape in (Shape.REQUEST, Shape.NOTIFICATION):
        params = message.get("params")
        params = params if type(params) is dict else {}
        if shape is Shape.REQUEST:
            call.questions.append(InputRequest(n, message["method"], params, call.name))
        else:
            call.notifications.append(ServerNotification(n, message["method"], params))
    elif shape is Shape.RESULT and type(message["result"]) is dict:
        result = message["result"]
        if result.get("resultType") == "task" and isinstance(result.get("taskId"), str):
            call.task = result["taskId"]
        if result.get("resultType") == "input_required":
            call.rounds.append(result)
        call.questions += questions_in(n, result, call.name)


def questions_in(n: int, result: dict[str, Any], tool: str) -> list[InputRequest]:
    """The input that a result requires: of an input_required result, or of a task in that status."""
    requests = result.get("inputRequests")
    if "input_required" not in (result.get("resultType"), result.get("status")) or type(requests) is not dict:
        return []
    questions = []
    for request in list(requests.values())[:100]:
        method = request.get("method") if type(request) is dict else None
        params = request.get("params") if type(request) is dict else None
        if isinstance(method, str):
            questions.append(InputRequest(n, method, params if type(params) is dict else {}, tool))
    return questions

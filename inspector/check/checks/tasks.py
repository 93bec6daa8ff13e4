"""Tasks: those of 2025-11-25, which the client requests, and those of the extension of 2026-07-28."""

from __future__ import annotations

import re
from typing import Any

from inspector.check.check_table import CheckTable, Need
from inspector.check.checks.subscriptions import listening
from inspector.check.judge.state import TASKS_EXTENSION
from inspector.check.outcome import Outcome, bad, doubtful, good, skipped
from inspector.check.visit.raw_connection import PREFIX, RawConnection
from inspector.check.visit.raw_post import raw_post
from inspector.check.visit.request_outcome import RequestOutcome
from inspector.check.visit.tool_calls import FEW, ToolCall, arguments_for, everything, tool_calls, with_tasks
from inspector.check.visit.visit import Visit
from inspector.errors import HttpError
from inspector.protocol.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND, MISSING_CAPABILITY, excerpt
from inspector.protocol.members import object_at, objects_at, value_at

_RELATED = f"{PREFIX}related-task"
_UNKNOWN_NAME = "inspector-check-no-such-task"
_FINAL = ("completed", "failed", "cancelled")
_STATUSES = ("working", "input_required", *_FINAL)
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)", re.IGNORECASE)
_LIFE = 60_000
"""The requested ttl of tasks, in milliseconds."""
_POLL = (0.05, 0.5)
"""The shortest and longest polling interval of a task, in seconds."""
_NO_TASKS = "no allowed tool supports tasks"
_NO_EXTENSION = "the server does not have the extension"


CHECKS = CheckTable("tasks", mode="tool")


@CHECKS.active("TASK-01", apart=True)
async def fields(visit: Visit) -> Outcome:
    """Calls as tasks, polled until they end."""
    seen: list[int] = []
    async with visit.connection() as connection:
        for tool in _tools(visit):
            response, task = await _start(connection, tool)
            if task is None:
                continue
            wrong = _wrong_fields(task, "ttl") or (
                "" if task["status"] == "working" else f"Its status is {task['status']}."
            )
            if wrong:
                return bad(f"{_name(tool)}: {wrong}", *response.events)
            polls = await _followed(visit, connection, task)
            for poll in polls:
                wrong = _wrong_fields(poll.body, "ttl") if poll.ok else f"tasks/get got {poll.reply}."
                if wrong:
                    return bad(f"{_name(tool)}: {wrong}", *response.events, *poll.events)
            ended = [poll.body.get("status") for poll in polls if poll.body.get("status") in _FINAL]
            if len(set(map(str, ended))) > 1:
                return bad(f"{_name(tool)} had the status {ended[0]}, and then {ended[-1]}.", *polls[-1].events)
            seen += (*response.events, *(n for poll in polls[-1:] for n in poll.events))
    return good("", *seen) if seen else skipped(_NO_TASKS)


@CHECKS.active("TASK-02", apart=True)
async def results(visit: Visit) -> Outcome:
    """The result of a task and of an unknown task, and the cancellation of an ended task."""
    seen: list[int] = []
    async with visit.connection() as connection:
        for tool in _tools(visit)[:1]:
            for method in ("tasks/get", "tasks/result"):
                response = await connection.request(method, {"taskId": _UNKNOWN_NAME})
                if response.code != INVALID_PARAMS:
                    return bad(f"{method} of an unknown task got {response.reply}.", *response.events)
                seen += response.events
            began, task = await _start(connection, tool)
            if task is None:
                continue
            result = await connection.request("tasks/result", {"taskId": task["taskId"]}, timeout=visit.limits.request)
            poll = await connection.request("tasks/get", {"taskId": task["taskId"]})
            if result.answered and poll.ok and poll.body.get("status") not in _FINAL:
                what = (
                    f"tasks/result of {_name(tool)} returned while the status was "
                    f"{excerpt(poll.body.get('status'), 40)}."
                )
                return bad(what, *began.events, *result.events, *poll.events)
            if result.ok and value_at(result.body, "_meta", _RELATED, "taskId") != task["taskId"]:
                return bad(f"The result of {_name(tool)} does not name its task in _meta.", *result.events)
            if poll.body.get("status") in _FINAL and _declares(visit, "cancel"):
                again = await connection.request("tasks/cancel", {"taskId": task["taskId"]})
                if again.code != INVALID_PARAMS:
                    what = f"Cancelling an ended task got {again.brief}."
                    return bad(what, *poll.events, *again.events)
                seen += again.events
            seen += (*began.events, *result.events)
    return good("", *seen) if seen else skipped(_NO_TASKS)


@CHECKS.active("TASK-03", apart=True)
async def listed(visit: Visit) -> Outcome:
    """A new task in the pages of tasks/list."""
    if not _declares(visit, "list"):
        return skipped("tasks.list is not declared")
    async with visit.connection() as connection:
        for tool in _tools(visit)[:1]:
            began, task = await _start(connection, tool)
            if task is None:
                continue
            params: dict[str, Any] = {}
            for _ in range(visit.limits.items):
                page = await connection.request("tasks/list", params)
                ids = [entry.get("taskId") for entry in objects_at(page.body.get("tasks"))]
                if not page.ok:
                    return bad(f"tasks/list got {page.reply}.", *page.events)
                if task["taskId"] in ids:
                    return good("", *began.events, *page.events)
                if not isinstance(page.body.get("nextCursor"), str):
                    return bad(f"tasks/list does not contain the task of {_name(tool)}.", *began.events, *page.events)
                params = {"cursor": page.body["nextCursor"]}
            return skipped(f"the first {visit.limits.items} pages do not contain it")
    return skipped(_NO_TASKS)


@CHECKS.active("TASK-04", apart=True, needs=Need.CALLS)
async def undeclared(visit: Visit) -> Outcome:
    """The tools that created tasks, called by a client without the extension."""
    seen: list[int] = []
    meta = {f"{PREFIX}clientCapabilities": everything(visit.features)}
    async with visit.connection() as connection:
        for call in await _tasked(visit):
            response = await connection.request(
                "tools/call", {**call.params, "_meta": meta}, timeout=visit.limits.request / 2
            )
            if response.body.get("resultType") == "task":
                return bad(f"{call.name} created a task.", *response.events)
            if response.code == MISSING_CAPABILITY and not _names_extension(response):
                return bad(f"{call.name}: the error does not name the extension.", *response.events)
            seen += response.events if response.answered else ()
    return good("", *seen) if seen else skipped("no allowed tool creates a task and responds without one")


@CHECKS.active("TASK-05", apart=True, judged=True, needs=Need.CALLS)
async def polled(visit: Visit) -> Outcome:
    """The tools that create tasks, polled until they end."""
    seen: list[int] = []
    async with visit.connection() as connection:
        for call in await _tasked(visit):
            params = {**call.params, "_meta": with_tasks(visit.features)}
            response = await connection.request("tools/call", params)
            if response.body.get("resultType") != "task":
                continue
            wrong = _wrong_fields(response.body, "ttlMs")
            if wrong:
                return bad(f"{call.name}: {wrong}", *response.events)
            polls = await _followed(visit, connection, response.body)
            for poll in polls:
                wrong = _wrong_poll(poll)
                if wrong:
                    return bad(f"{call.name}: {wrong}", *response.events, *poll.events)
            seen += (*response.events, *(n for poll in polls[-1:] for n in poll.events))
            if polls[-1].body.get("status") not in _FINAL:
                stopped = await connection.request("tasks/cancel", _about(visit, response.body["taskId"]))
                if stopped.body.get("resultType") != "complete":
                    return bad(f"{call.name}: tasks/cancel got {stopped.reply}.", *stopped.events)
    return good("", *seen) if seen else skipped("no allowed tool creates a task")


@CHECKS.active("TASK-06", mode="active", apart=True)
async def unknown(visit: Visit) -> Outcome:
    """An unknown task, two removed methods, and over HTTP another name in the header."""
    if not _has_extension(visit):
        return skipped(_NO_EXTENSION)
    seen: list[int] = []
    doubts: list[tuple[str, RequestOutcome]] = []
    async with visit.connection() as connection:
        for method, code in (
            ("tasks/get", INVALID_PARAMS),
            ("tasks/result", METHOD_NOT_FOUND),
            ("tasks/list", METHOD_NOT_FOUND),
        ):
            response = await connection.request(method, _about(visit, _UNKNOWN_NAME))
            seen += response.events
            if response.ok or not response.answered:
                return bad(f"{method} got {response.reply}.", *response.events)
            if response.code != code:
                doubts.append((f"{method} got {response.reply}.", response))
    if visit.visited.transport == "http":
        try:
            async with raw_post(visit, with_tasks(visit.features)[f"{PREFIX}clientCapabilities"]) as post:
                answer = await post.request(
                    "tasks/get", {"taskId": _UNKNOWN_NAME}, more=(("Mcp-Name", f"{_UNKNOWN_NAME}-2"),)
                )
        except HttpError as error:
            return skipped(error.message)
        if answer.status != 400:
            return bad(f"A different Mcp-Name than the taskId got {answer.brief}.", *answer.events)
        seen += answer.events
    return doubtful(doubts[0][0], *doubts[0][1].events) if doubts else good("", *seen)


@CHECKS.active("TASK-08", apart=True, needs=Need.CALLS)
async def subscription(visit: Visit) -> Outcome:
    """A subscription to a new task, with and without the extension."""
    tasked = await _tasked(visit)
    if not tasked:
        return skipped("no allowed tool creates a task")
    async with visit.connection() as connection:
        began = await connection.request("tools/call", {**tasked[0].params, "_meta": with_tasks(visit.features)})
        id = began.body.get("taskId")
        if began.body.get("resultType") != "task" or not isinstance(id, str):
            return skipped(f"{tasked[0].name} did not create a second task")
        async with listening(visit, connection, "task-1", {"taskIds": [id]}) as (plain, first):
            if first is not None:
                return bad("It was acknowledged without the extension.", *began.events, plain.n, first.n)
        if plain.code != MISSING_CAPABILITY:
            return bad(f"Without the extension it got {plain.brief}.", *began.events, *plain.events)
        async with listening(visit, connection, "task-2", {"taskIds": [id]}, with_tasks(visit.features)) as (
            response,
            first,
        ):
            agreed = value_at(first.message, "params", "notifications", "taskIds") if first is not None else None
        if first is None:
            return skipped(f"subscribing to a task failed: {response.brief}")
    if type(agreed) is not list or id not in agreed:
        return bad(f"The acknowledgement names the tasks {excerpt(agreed, 80)}.", response.n, first.n)
    return good("", *plain.events, response.n, first.n)


# 2025-11-25


def _tools(visit: Visit) -> list[dict[str, Any]]:
    """The allowed tools that can be called as tasks."""
    if value_at(visit.session.server.capabilities, "tasks", "requests", "tools", "call") is None:
        return []
    tools = []
    for tool in visit.callable():
        execution = tool.get("execution")
        if type(execution) is dict and execution.get("taskSupport") in ("optional", "required"):
            tools.append(tool)
    return tools[:FEW]


def _declares(visit: Visit, part: str) -> bool:
    tasks = visit.session.server.capabilities.get("tasks")
    return type(tasks) is dict and tasks.get(part) is not None


async def _start(connection: RawConnection, tool: dict[str, Any]) -> tuple[RequestOutcome, dict[str, Any] | None]:
    """A call as a task, and its task; None if none was created."""
    params = {"name": tool.get("name"), "arguments": arguments_for(tool), "task": {"ttl": _LIFE}}
    response = await connection.request("tools/call", params)
    task = response.body.get("task")
    return response, task if type(task) is dict and isinstance(task.get("taskId"), str) else None


# 2026-07-28


async def _tasked(visit: Visit) -> list[ToolCall]:
    return [call for call in tool_calls(visit) if call.task][:FEW]


def _has_extension(visit: Visit) -> bool:
    return TASKS_EXTENSION in object_at(visit.session.server.capabilities.get("extensions"))


def _names_extension(response: RequestOutcome) -> bool:
    return TASKS_EXTENSION in object_at(response.error, "data", "requiredCapabilities", "extensions")


def _about(visit: Visit, id: str) -> dict[str, Any]:
    return {"taskId": id, "_meta": with_tasks(visit.features)} if visit.modern else {"taskId": id}


def _wrong_poll(poll: RequestOutcome) -> str:
    """The problem of a response to tasks/get."""
    body = poll.body
    if not poll.ok:
        return f"tasks/get got {poll.reply}."
    if body.get("resultType") != "complete":
        return f"the resultType of tasks/get is {excerpt(body.get('resultType'), 40)}."
    needed = {"completed": "result", "failed": "error", "input_required": "inputRequests"}.get(str(body.get("status")))
    if needed is not None and type(body.get(needed)) is not dict:
        return f"the status of the task is {body['status']}, but {needed} is {excerpt(body.get(needed), 60)}."
    return _wrong_fields(body, "ttlMs")


# Both


def _wrong_fields(task: dict[str, Any], life: str) -> str:
    """The problem of the members of a task."""
    kept = task.get(life)
    if not isinstance(task.get("taskId"), str):
        return f"taskId is {excerpt(task.get('taskId'), 60)}."
    if task.get("status") not in _STATUSES:
        return f"status is {excerpt(task.get('status'), 60)}."
    for name in ("createdAt", "lastUpdatedAt"):
        moment = task.get(name)
        if not isinstance(moment, str) or not _MOMENT.fullmatch(moment):
            return f"{name} is {excerpt(moment, 60)}."
    if life not in task or not (kept is None or (type(kept) in (int, float) and kept >= 0)):
        return f"{life} is {excerpt(kept, 60)}."
    return ""


async def _followed(visit: Visit, connection: RawConnection, task: dict[str, Any]) -> list[RequestOutcome]:
    """Poll a task until it has ended (and once more then), requires input, or takes too long."""
    pause = task.get("pollIntervalMs" if visit.modern else "pollInterval")
    given = pause / 1000 if isinstance(pause, (int, float)) else _POLL[1]
    seconds = min(max(given, _POLL[0]), _POLL[1])
    polls = [await connection.request("tasks/get", _about(visit, task["taskId"]))]
    for _ in range(int(visit.limits.request / seconds)):
        if not polls[-1].ok or polls[-1].body.get("status") not in ("working",):
            break
        await connection.quiet(seconds)
        polls.append(await connection.request("tasks/get", _about(visit, task["taskId"])))
    if polls[-1].body.get("status") in _FINAL:
        polls.append(await connection.request("tasks/get", _about(visit, task["taskId"])))
    return polls


def _name(tool: dict[str, Any]) -> str:
    return excerpt(tool.get("name"), 60)

"""The extension io.modelcontextprotocol/tasks (2026-07-28): the server creates tasks, the client polls and answers."""

from __future__ import annotations

from inspector.demo.call import TaskCall
from inspector.demo.core import HANDLERS
from inspector.demo.rounds import checked_answer, missing_capability
from inspector.demo.rpc import INVALID_PARAMS, RpcError
from inspector.demo.tasks import MAX_LIFE, POLL_INTERVAL, moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from inspector.demo.call import ClientRequest
    from inspector.demo.core import Handler
    from inspector.demo.tasks import Task

EXTENSION = "io.modelcontextprotocol/tasks"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
REQUIRED: dict[str, Any] = {"extensions": {EXTENSION: {}}}


def declares_tasks(call: ClientRequest) -> bool:
    """Whether the client of a request supports the extension."""
    extensions = call.meta[CAPABILITIES].get("extensions")
    return isinstance(extensions, dict) and isinstance(extensions.get(EXTENSION), dict)


def need_tasks(call: ClientRequest) -> None:
    """Raises RpcError (-32021) for a client that does not support the extension."""
    if not declares_tasks(call):
        raise missing_capability(EXTENSION, REQUIRED)


def call_tool(call: ClientRequest) -> dict[str, Any]:
    """Serves tools/call: a tool that can be a task becomes one for every client that supports tasks."""
    handler = HANDLERS["tools/call"]
    tool = call.world.tool(call.params.get("name"), call.features)
    support = tool.definition.get("execution", {}).get("taskSupport", "forbidden")
    if support == "required":
        need_tasks(call)
    if support == "forbidden" or not declares_tasks(call):
        return handler(call)
    task = call.world.tasks.add(MAX_LIFE, lambda changed: call.world.tell("task", changed.id))
    created = {"resultType": "task", **_shown(task)}
    within = TaskCall(task, call)
    task.run(within, lambda: {"resultType": "complete", **handler(within)}, errors_fail=False)
    return created


def in_full(task: Task) -> dict[str, Any]:
    """Returns a task with the details of its status: its result, its error or its questions."""
    shown = _shown(task)
    if task.status == "input_required":
        asked = {key: {"method": each.method, "params": each.params} for key, each in task.open_questions().items()}
        shown["inputRequests"] = asked
    elif task.status == "completed":
        shown["result"] = task.result
    elif task.error is not None:
        data = {} if task.error.data is None else {"data": task.error.data}
        shown["error"] = {"code": task.error.code, "message": task.error.message, **data}
    return shown


def _get(call: ClientRequest) -> dict[str, Any]:
    need_tasks(call)
    return in_full(call.world.tasks.get(call.text_param("taskId")))


def _update(call: ClientRequest) -> dict[str, Any]:
    need_tasks(call)
    task = call.world.tasks.get(call.text_param("taskId"))
    given = call.params.get("inputResponses")
    if not isinstance(given, dict):
        raise RpcError(INVALID_PARAMS, "inputResponses must be an object")
    # Unknown and answered questions are ignored; the others are accepted only if all of them are valid.
    taken = {
        key: checked_answer(key, asked.method, given[key])
        for key, asked in task.open_questions().items()
        if key in given
    }
    for key, answer in taken.items():
        task.answer(key, answer)
    return {}


def _cancel(call: ClientRequest) -> dict[str, Any]:
    need_tasks(call)
    call.world.tasks.get(call.text_param("taskId")).cancel()
    return {}


TASK_HANDLERS: dict[str, Handler] = {"tasks/get": _get, "tasks/update": _update, "tasks/cancel": _cancel}


def _shown(task: Task) -> dict[str, Any]:
    return {
        "taskId": task.id,
        "status": task.status,
        "statusMessage": task.message,
        "createdAt": moment(task.created),
        "lastUpdatedAt": moment(task.updated),
        "ttlMs": task.life,
        "pollIntervalMs": POLL_INTERVAL,
    }

"""Tasks of revision 2025-11-25: the client requests and polls them, and fetches their result."""

from __future__ import annotations

from inspector.demo.call import LEVELS, TaskCall
from inspector.demo.core import HANDLERS
from inspector.demo.paging import page_of, start_of
from inspector.demo.rpc import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, Cancelled, Refused, RpcError, valid_id
from inspector.demo.tasks import MAX_LIFE, POLL_INTERVAL, Tasks, moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from inspector.demo.call import ClientRequest
    from inspector.demo.core import Handler
    from inspector.demo.tasks import Task

    Notify = Callable[[str, dict[str, Any]], None]

RELATED = "io.modelcontextprotocol/related-task"
IMMEDIATE = "io.modelcontextprotocol/model-immediate-response"
PAGE_SIZE = 10
CAPABILITY: dict[str, Any] = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}


class SessionTasks:
    """The tasks of one session. `notify` sends the client a message that belongs to no request."""

    def __init__(self, notify: Notify, level: Callable[[], int]) -> None:
        self._tasks = Tasks()
        self._notify = notify
        self._level = level
        self.handlers: dict[str, Handler] = {
            "tasks/get": lambda call: _shown(self._tasks.get(call.text_param("taskId"))),
            "tasks/result": self._result,
            "tasks/list": self._list,
            "tasks/cancel": self._cancel,
        }

    def close(self) -> None:
        """Ends the session's tasks."""
        self._tasks.drop()

    def call_tool(self, call: ClientRequest) -> dict[str, Any]:
        """Serves tools/call with or without a task; raises RpcError (-32601) if the tool does not support it."""
        handler = HANDLERS["tools/call"]
        wanted = call.params.get("task")
        tool = call.world.tool(call.params.get("name"), call.features)
        support = tool.definition.get("execution", {}).get("taskSupport", "forbidden")
        if wanted is None and support == "required":
            raise RpcError(METHOD_NOT_FOUND, f"{tool.name} can only be called as a task")
        if wanted is None:
            return handler(call)
        if support == "forbidden":
            raise RpcError(METHOD_NOT_FOUND, f"{tool.name} cannot be called as a task")
        task = self._tasks.add(_life(wanted), self._told)
        created = _shown(task)
        within = _LegacyTaskCall(task, call, self._notify, self._level)
        task.run(within, lambda: handler(within), errors_fail=True)
        words = f"{tool.name} runs as task {task.id}."
        return {"task": created, "_meta": {IMMEDIATE: words}}

    def _told(self, task: Task) -> None:
        self._notify("notifications/tasks/status", _shown(task))

    def _list(self, call: ClientRequest) -> dict[str, Any]:
        start = start_of("tasks", call.params.get("cursor"))
        tasks = self._tasks.all()
        shown = [_shown(task) for task in tasks[start : start + PAGE_SIZE]]
        return page_of("tasks", "tasks", shown, start + PAGE_SIZE, len(tasks))

    def _cancel(self, call: ClientRequest) -> dict[str, Any]:
        task = self._tasks.get(call.text_param("taskId"))
        if task.ended:
            raise RpcError(INVALID_PARAMS, f"The task has ended already: it is {task.status}")
        task.cancel()
        return _shown(task)

    def _result(self, call: ClientRequest) -> dict[str, Any]:
        """Waits for the end of the task; its questions are asked on the stream of this request."""
        task = self._tasks.get(call.text_param("taskId"))
        about = {RELATED: {"taskId": task.id}}
        while (found := task.take_question(call)) is not None:
            key, asked = found
            try:
                task.answer(key, call.ask((asked.method, {**asked.params, "_meta": about}))[0])
            except Refused as refusal:
                task.answer(key, refusal)
            except Cancelled:
                task.put_back(key)
                raise
        if task.result is None:
            raise task.error or RpcError(INTERNAL_ERROR, f"The task has no result: it was {task.status}")
        return task.result | {"_meta": {**task.result.get("_meta", {}), **about}}


class _LegacyTaskCall(TaskCall):
    """A task's call, whose progress and log messages reach the client until its end."""

    def __init__(self, task: Task, origin: ClientRequest, notify: Notify, level: Callable[[], int]) -> None:
        super().__init__(task, origin)
        self._notify = notify
        self._level = level
        self._about = {RELATED: {"taskId": task.id}}

    def notify(self, method: str, params: dict[str, Any]) -> None:
        if self.cancelled:
            raise Cancelled
        self._notify(method, {**params, "_meta": self._about})

    def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        super().progress(done, total, message)
        token = self.meta.get("progressToken")
        if valid_id(token):
            self.notify("notifications/progress", {"progressToken": token, "progress": done, "total": total or done})

    def log(self, level: str, data: Any, logger: str = "demo") -> None:
        if LEVELS.index(level) >= self._level():
            self.notify("notifications/message", {"level": level, "logger": logger, "data": data})


def _life(wanted: Any) -> int:
    life = wanted.get("ttl", MAX_LIFE) if isinstance(wanted, dict) else None
    if not isinstance(life, int) or isinstance(life, bool) or life < 0:
        raise RpcError(INVALID_PARAMS, "task must be an object, and its ttl a number of milliseconds")
    return life


def _shown(task: Task) -> dict[str, Any]:
    return {
        "taskId": task.id,
        "status": task.status,
        "statusMessage": task.message,
        "createdAt": moment(task.created),
        "lastUpdatedAt": moment(task.updated),
        "ttl": task.life,
        "pollInterval": POLL_INTERVAL,
    }

"""The tasks of a session, as the server reported them. The same table is filled live and from a recording."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from inspector.client.state.calls import server_error
from inspector.client.state.server import Server
from inspector.errors import InspectorError
from inspector.protocol.extensions import TASKS
from inspector.protocol.members import value_at
from inspector.text import repr_of

OVER = frozenset(("completed", "failed", "cancelled"))
POLL = 1.0
"""Seconds between two polls if the server names no interval."""
MIN_POLL, MAX_POLL = 0.05, 3600.0
KEPT = 1000
"""Maximum tasks in the table; finished ones are dropped first."""


class TaskReport(NamedTuple):
    """The latest report of the server about a task."""

    n: int = 0
    """The message that says it."""
    status: str = "working"
    message: str = ""
    created: str = ""
    updated: str = ""
    ttl: int | None = None
    """Milliseconds that the server keeps the task; None: unspecified, or for ever."""
    poll: float = POLL
    """Seconds between two polls."""

    def next(self, n: int, task_object: dict[str, Any]) -> TaskReport:
        """Return the report after message `n`, which contains a task object, valid or not."""
        ttl = task_object.get("ttlMs", task_object.get("ttl"))
        return TaskReport(
            n,
            _text(task_object.get("status"), self.status),
            _text(task_object.get("statusMessage")),
            _text(task_object.get("createdAt")) or self.created,
            _text(task_object.get("lastUpdatedAt")) or self.updated,
            ttl if type(ttl) is int and ttl >= 0 else None,
            _seconds(task_object.get("pollIntervalMs", task_object.get("pollInterval"))),
        )


class Task:
    """One task as far as it is known. Texts come from the server and are untrusted."""

    def __init__(self, id: str) -> None:
        self.id = id
        self.report = TaskReport()
        self.method = ""
        self.title = ""
        self.call_n = 0
        """The request of this session that created it; 0 for a task that was only listed."""
        self.answer_n = 0
        """The message that contains its result."""
        self.result: Any = None
        self.error: InspectorError | None = None
        self.done = False
        """Whether it has ended, or is not polled any more."""

    def __repr__(self) -> str:
        return repr_of(self, self.id, self.title, self.status)

    @property
    def status(self) -> str:
        """The status that the server reported last."""
        return self.report.status

    @property
    def message(self) -> str:
        """The message with the status; `""` without one."""
        return self.report.message

    @property
    def created(self) -> str:
        """When the server created it, as the server writes it."""
        return self.report.created

    @property
    def updated(self) -> str:
        """When the server changed it last, as the server writes it."""
        return self.report.updated

    @property
    def ttl(self) -> int | None:
        """Milliseconds that the server keeps it; None: unspecified, or for ever."""
        return self.report.ttl

    @property
    def poll(self) -> float:
        """Seconds between two polls."""
        return self.report.poll

    def made_by(self, n: int, method: str, title: str) -> None:
        """Record that request `n` of this session created the task."""
        self.call_n, self.method, self.title = n, method, title

    def update(self, n: int, task_object: dict[str, Any]) -> None:
        """Process a task object, valid or not."""
        self.report = self.report.next(n, task_object)

    def end(self, *, result: Any = None, error: InspectorError | None = None) -> None:
        """Store the task's end, or the end of polling."""
        self.done = True
        self.result, self.error = result, error
        if error is None and self.status not in OVER:
            self.report = self.report._replace(status="completed")


class TaskTable:
    """The tasks in the order of their discovery. They outlive a reconnect.

    `server()` is the current server; `changed()` is called after a task has changed.
    """

    def __init__(self, server: Callable[[], Server], changed: Callable[[], None]) -> None:
        self._server = server
        self.changed = changed
        self.items: dict[str, Task] = {}

    @property
    def offered(self) -> bool:
        """Whether the server offers tasks in the design of the negotiated revision."""
        server = self._server()
        if server.features.tasks_extension:
            extensions = server.capabilities.get("extensions")
            return type(extensions) is dict and TASKS in extensions
        return server.features.tasks and server.can("tasks")

    @property
    def can_list(self) -> bool:
        """Whether `tasks/list` exists; the extension has no list."""
        return self._server().features.tasks and self._declares("list")

    @property
    def can_cancel(self) -> bool:
        """Whether `tasks/cancel` exists; the extension always has it."""
        return self.offered and (self._server().features.tasks_extension or self._declares("cancel"))

    def _declares(self, part: str) -> bool:
        tasks = self._server().capabilities.get("tasks")
        return type(tasks) is dict and tasks.get(part) not in (None, False)

    def support(self, tool: dict[str, Any]) -> str:
        """Return `required`, `optional` or `forbidden`: whether a tool is called as a task on request (C-TOOL-06)."""
        if not tool.get("execution"):
            return "forbidden"
        server = self._server()
        if not server.features.tasks:
            return "forbidden"
        value = value_at(server.capabilities, "tasks", "requests", "tools", "call")
        declared = value_at(tool, "execution", "taskSupport")
        return declared if value not in (None, False) and declared in ("required", "optional") else "forbidden"

    def get(self, id: Any) -> Task | None:
        """Return the task with this id; any type is accepted."""
        return self.items.get(id) if isinstance(id, str) else None

    def of_call(self, n: int) -> Task | None:
        """Return the task that request `n` of this session created."""
        return next((task for task in self.items.values() if n and task.call_n == n), None)

    def keep(self, task: Task) -> None:
        """Add a task to the table, as the latest."""
        self.items.pop(task.id, None)
        self.items[task.id] = task
        if len(self.items) > KEPT:
            over = next((id for id, known in self.items.items() if known.done), next(iter(self.items)))
            del self.items[over]
        self.changed()

    def add_listed(self, n: int, task_object: Any) -> Task | None:
        """Process one item of a `tasks/list` response, if it has an id. Return a task that was known before."""
        id = value_at(task_object, "taskId")
        if not isinstance(id, str):
            return None
        known = self.items.get(id)
        if known is None:
            task = Task(id)
            task.update(n, task_object)
            task.done = task.status in OVER
            self.keep(task)
        return known

    def replay(self, n: int, task_object: dict[str, Any], *, fetched: bool = False) -> None:
        """Process message `n` of a recording about one or more tasks; `fetched`: it is the result itself."""
        several = task_object.get("tasks")
        for item in several if type(several) is list else (task_object,):
            id = value_at(item, "taskId")
            if not isinstance(id, str):
                continue
            task = self.items.get(id)
            if task is None:
                task = Task(id)
                self.keep(task)
            if fetched:
                task.answer_n, task.result = n, item
            else:
                task.update(n, item)
                if "result" in item:
                    task.answer_n, task.result = n, item["result"]
                if task.status == "failed" and "error" in item:
                    task.answer_n, task.error = n, server_error(item["error"], task.method or "the task")
            task.done = task.status in OVER
        self.changed()


def _text(value: Any, otherwise: str = "") -> str:
    return value if isinstance(value, str) else otherwise


def _seconds(interval: Any) -> float:
    """Return a poll interval in milliseconds as seconds, within limits."""
    if type(interval) not in (int, float) or not interval >= 0:
        return POLL
    return float(min(max(min(interval, MAX_POLL * 1000) / 1000, MIN_POLL), MAX_POLL))

"""The tasks of a session: what the server has told of each. The same table is filled live and from a recording."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from inspector.client.inbox import TASKS_EXTENSION
from inspector.client.state.calls import server_error
from inspector.client.state.server import Server
from inspector.errors import InspectorError

OVER = frozenset(("completed", "failed", "cancelled"))
POLL = 1.0
"""Seconds between two looks where the server names no interval."""
SHORTEST_POLL, LONGEST_POLL = 0.05, 3600.0
KEPT = 1000
"""Tasks in the table; finished ones are dropped first."""


class Task:
    """One task as far as it is known. Texts come from the server and are not to be trusted."""

    def __init__(self, id: str) -> None:
        self.id = id
        self.status = "working"
        self.message = ""
        self.created = ""
        self.updated = ""
        self.ttl: int | None = None
        """Milliseconds that the server keeps it; None: it does not say, or for ever."""
        self.poll = POLL
        """Seconds between two looks."""
        self.mine = False
        """A call of this session made it; others come from `tasks/list`."""
        self.method = ""
        self.title = ""
        self.call_n = 0
        """The number of the request that made it."""
        self.last_n = 0
        """The newest message that told of it."""
        self.answer_n = 0
        """The message that holds its result."""
        self.result: Any = None
        self.error: InspectorError | None = None
        self.done = False
        """It is over, or no longer followed."""

    def made_by(self, n: int, method: str, title: str) -> None:
        """Request `n` of this session made the task."""
        self.mine = True
        self.call_n, self.method, self.title = n, method, title

    def take(self, n: int, told: dict[str, Any]) -> None:
        """Take in a task object, whatever its fields are."""
        self.last_n = n
        status, message = told.get("status"), told.get("statusMessage")
        self.status = status if isinstance(status, str) else self.status
        self.message = message if isinstance(message, str) else ""
        self.created = _text(told.get("createdAt")) or self.created
        self.updated = _text(told.get("lastUpdatedAt")) or self.updated
        ttl = told.get("ttlMs", told.get("ttl"))
        self.ttl = ttl if type(ttl) is int and ttl >= 0 else None
        self.poll = _seconds(told.get("pollIntervalMs", told.get("pollInterval")))

    def end(self, *, result: Any = None, error: InspectorError | None = None) -> None:
        """The task is over, or is no longer followed: keep how it ended."""
        self.done = True
        self.result, self.error = result, error


class TaskTable:
    """The tasks in the order in which they became known. They outlive a reconnect.

    `server()` is the server as it is known now; `changed()` is called when a task has changed.
    """

    def __init__(self, server: Callable[[], Server], changed: Callable[[], None]) -> None:
        self._server = server
        self.changed = changed
        self.items: dict[str, Task] = {}

    @property
    def offered(self) -> bool:
        """Whether the server has tasks, by the design of the revision that is spoken."""
        server = self._server()
        if server.features.tasks_extension:
            extensions = server.capabilities.get("extensions")
            return type(extensions) is dict and TASKS_EXTENSION in extensions
        return server.features.tasks and server.can("tasks")

    @property
    def can_list(self) -> bool:
        """Whether `tasks/list` exists; the extension has none."""
        return self._server().features.tasks and self._declares("list")

    @property
    def can_cancel(self) -> bool:
        """Whether `tasks/cancel` exists; the extension always has it."""
        return self.offered and (self._server().features.tasks_extension or self._declares("cancel"))

    def _declares(self, part: str) -> bool:
        tasks = self._server().capabilities.get("tasks")
        return type(tasks) is dict and tasks.get(part) not in (None, False)

    def support(self, tool: dict[str, Any]) -> str:
        """`required`, `optional` or `forbidden`: whether a tool is called as a task by our wish (C-TOOL-06)."""
        server = self._server()
        if not server.features.tasks:
            return "forbidden"
        value: Any = server.capabilities
        for name in ("tasks", "requests", "tools", "call"):
            value = value.get(name) if type(value) is dict else None
        execution = tool.get("execution")
        wanted = execution.get("taskSupport") if type(execution) is dict else None
        return wanted if value not in (None, False) and wanted in ("required", "optional") else "forbidden"

    def get(self, id: Any) -> Task | None:
        """The task with this id, whatever the id is."""
        return self.items.get(id) if isinstance(id, str) else None

    def of_call(self, n: int) -> Task | None:
        """The task that request `n` of this session made."""
        return next((task for task in self.items.values() if n and task.call_n == n), None)

    def keep(self, task: Task) -> None:
        """Take a task into the table, as the newest."""
        self.items.pop(task.id, None)
        self.items[task.id] = task
        if len(self.items) > KEPT:
            over = next((id for id, known in self.items.items() if known.done), next(iter(self.items)))
            del self.items[over]
        self.changed()

    def found(self, n: int, told: Any) -> Task | None:
        """Take in one item of an answer to `tasks/list`, if it has an id. Returns a task that was known before."""
        id = told.get("taskId") if type(told) is dict else None
        if not isinstance(id, str):
            return None
        known = self.items.get(id)
        if known is None:
            task = Task(id)
            task.take(n, told)
            task.done = task.status in OVER
            self.keep(task)
        return known

    def replay(self, n: int, told: dict[str, Any], *, fetched: bool = False) -> None:
        """Take in what message `n` of a recording told of a task, or of several; `fetched`: it is the result itself."""
        several = told.get("tasks")
        for item in several if type(several) is list else (told,):
            id = item.get("taskId") if type(item) is dict else None
            if not isinstance(id, str):
                continue
            task = self.items.get(id)
            if task is None:
                task = Task(id)
                self.keep(task)
            if fetched:
                task.answer_n, task.result = n, item
            else:
                task.take(n, item)
                if "result" in item:
                    task.answer_n, task.result = n, item["result"]
                if task.status == "failed" and "error" in item:
                    task.answer_n, task.error = n, server_error(item["error"], task.method or "the task")
            task.done = task.status in OVER
        self.changed()


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _seconds(interval: Any) -> float:
    """A poll interval in milliseconds, in seconds and within reason."""
    if type(interval) not in (int, float) or not interval >= 0:
        return POLL
    return float(min(max(min(interval, LONGEST_POLL * 1000) / 1000, SHORTEST_POLL), LONGEST_POLL))

"""The status changes of tasks, each with its message, read from the journal."""

from __future__ import annotations

from itertools import islice
from typing import Any, NamedTuple

from inspector.journal.format import Dir, Event, Kind
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape

SLICE = 20_000
"""Events that one turn reads."""
BODIES = 300
"""Messages whose bodies one turn reads."""
MAX_TASKS = 1000
MAX_CHANGES = 30
"""Most changes of one task that are kept, the newest; a server may send changes without end."""

_TELLING = Query(
    kind=Kind.RPC,
    dir=Dir.RECV,
    method=("tasks/get", "tasks/cancel", "notifications/tasks", "notifications/tasks/status"),
)
"""The messages that contain a task with its status: results of some methods, and notifications."""


class TaskChange(NamedTuple):
    """A status of a task from message `n` on. The status is text of the server and not trusted."""

    status: str
    n: int


class TaskChanges:
    """The changes of every task by its id, read from the journal as it grows."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._seen = 0
        self._changes: dict[str, list[TaskChange]] = {}

    def advance(self) -> bool:
        """Read a slice of new events of the journal. Returns True if more are left."""
        index = self._journal.index
        last = min(index.count, self._seen + SLICE)
        telling = list(islice(_TELLING.forwards(index, self._seen, last), BODIES))
        self._seen = telling[-1] if len(telling) == BODIES else last
        for n in telling:
            self._add(n, task_in(self._journal.event(n)))
        return self._seen < index.count

    def of(self, id: str, call_n: int) -> list[TaskChange]:
        """Return the changes of a task, oldest first. Request `call_n` (0: none) was answered with its first status."""
        later = self._changes.get(id, [])
        answer = self._journal.index.pair(call_n) if 0 < call_n <= self._journal.index.count else 0
        status = task_in(self._journal.event(answer)).get("status") if answer else None
        if not isinstance(status, str):
            return later
        first = TaskChange(status, answer)
        return [first, *(later[1:] if later and later[0].status == status else later)]

    def _add(self, n: int, task: dict[str, Any]) -> None:
        id, status = task.get("taskId"), task.get("status")
        if not isinstance(id, str) or not isinstance(status, str):
            return
        changes = self._changes.setdefault(id, [])
        if not changes or changes[-1].status != status:
            changes.append(TaskChange(status, n))
            del changes[:-MAX_CHANGES]
        if len(self._changes) > MAX_TASKS:
            del self._changes[next(iter(self._changes))]


def task_in(event: Event) -> dict[str, Any]:
    """Return the task in a message, empty if it has none: in a result, a part of one, or parameters."""
    message = event.message if isinstance(event.message, dict) else {}
    body = message.get("params" if event.shape == Shape.NOTIFICATION else "result")
    if not isinstance(body, dict):
        return {}
    inner = body.get("task")
    return inner if isinstance(inner, dict) and "taskId" not in body else body

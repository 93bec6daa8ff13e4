"""Which request of a recording made a task: its answer names the task, not long before the first news of it."""

from __future__ import annotations

from inspector.client.engine.tasks import Task
from inspector.journal.exchange import RECEIVED_RESULTS
from inspector.journal.journal import Journal

LOOKED_AT, READ = 2000, 200
"""Events before the first news of a task that are looked at, and answers among them that are read."""
LARGEST = 1 << 16
"""Bytes of an answer beyond which it is no answer that makes a task."""
MOST = 300
"""Tasks of a recording whose makers are looked for; a hostile one may name as many as it has messages."""


def find_maker(journal: Journal, task: Task, n: int) -> None:
    """Tell a task by which request it was made, where that stands before message `n`."""
    index = journal.index
    read = 0
    for m in RECEIVED_RESULTS.backwards(index, max(n - LOOKED_AT, 0), n - 1):
        if not index.pair(m) or index.size(m) > LARGEST:
            continue
        if index.method(m).startswith("tasks/"):
            continue
        read += 1
        if read > READ:
            return
        message = journal.event(m).message
        result = message.get("result") if type(message) is dict else None
        made = result.get("task", result) if type(result) is dict else None
        if type(made) is dict and made.get("taskId") == task.id:
            _made_by(journal, task, index.pair(m))
            return


def _made_by(journal: Journal, task: Task, request: int) -> None:
    message = journal.event(request).message
    params = message.get("params") if type(message) is dict else None
    name = (params.get("name") or params.get("uri")) if type(params) is dict else None
    task.mine = True
    task.call_n = request
    task.method = journal.index.method(request)
    task.title = name if isinstance(name, str) else ""

"""The final states of recorded tasks, for clients that poll more often than the recorded one.

The recorded client may have learned the end by a notification, or requested the result immediately. A client that only
polls would never learn it.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape

GET = "tasks/get"
ENDED = ("completed", "failed", "cancelled")
_TOLD = ("notifications/tasks/status", "notifications/tasks")
_TELLING = Query(kind=Kind.RPC, dir=Dir.RECV, method=(*_TOLD, GET, "tasks/result", "tools/call"))
_READ = 10_000
"""Maximum messages that are read."""


class TaskEnds:
    """The last state of each recorded task, read at its first poll."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._states: dict[str, dict[str, Any]] | None = None

    def of(self, params: Any) -> dict[str, Any] | None:
        """Return the final state of the task in `params`; None if it is unfinished or unknown."""
        if self._states is None:
            self._states = self._read()
        id = params.get("taskId") if type(params) is dict else None
        state = self._states.get(id) if type(id) is str else None
        return state if state is not None and state.get("status") in ENDED else None

    def _read(self) -> dict[str, dict[str, Any]]:
        states: dict[str, dict[str, Any]] = {}
        for n in islice(_TELLING.each(self._journal.index), _READ):
            self._take(states, n)
        return states

    def _take(self, states: dict[str, dict[str, Any]], n: int) -> None:
        event = self._journal.event(n)
        if self._journal.index.method(n) == "tasks/result":
            id = self._asked(n).get("taskId")
            if type(id) is str and id in states and states[id].get("status") not in ENDED:
                states[id] |= {"status": "completed" if event.shape is Shape.RESULT else "failed"}
            return
        value = event.message.get("params" if event.shape is Shape.NOTIFICATION else "result")
        if type(value) is dict and type(value.get("task")) is dict:
            value = value["task"]
        if type(value) is dict and type(value.get("taskId")) is str and type(value.get("status")) is str:
            states[value["taskId"]] = {key: item for key, item in value.items() if key != "_meta"}

    def _asked(self, n: int) -> dict[str, Any]:
        """Return the parameters of the request that event `n` responds to."""
        request = self._journal.index.pair(n)
        params = self._journal.event(request).message.get("params") if request else None
        return params if type(params) is dict else {}

    def ended(self, n: int) -> bool:
        """Whether the response to the recorded `tasks/get` says that the task has ended."""
        answer = self._journal.index.pair(n)
        message = self._journal.event(answer).message if answer else None
        result = message.get("result") if type(message) is dict else None
        return type(result) is not dict or result.get("status") in ENDED

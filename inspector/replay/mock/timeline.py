"""The timeline of a recording: what the server sent on its own, and at which point of the conversation.

The points are the client's messages and their responses. What came between two of them without belonging to a request
is sent again when a client reaches the same point. A `subscriptions/listen` does not end by itself, so messages on its
stream count as sent on the server's own initiative, too.
"""

from __future__ import annotations

import asyncio
from array import array
from bisect import bisect_left
from itertools import islice
from typing import Any

from inspector.journal import channels
from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape, id_key
from inspector.protocol.members import object_at, value_at
from inspector.transports.recorded import SUBSCRIPTION_KEY

LISTEN = "subscriptions/listen"
_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
_ASKING = (Shape.REQUEST, Shape.NOTIFICATION)
_AT_ONCE = 1 << 14
"""Events that are read before other tasks run."""
_MESSAGES = Query(kind=(Kind.RPC, Kind.INVALID), dir=(Dir.SEND, Dir.RECV)) | Query(kind=Kind.STDERR, dir=Dir.RECV)
"""The client's messages, and the server's own."""
_SENT = Query(kind=Kind.RPC, dir=Dir.SEND)
_ACKNOWLEDGEMENTS = Query(method=_ACKNOWLEDGED)


class Timeline:
    """`after` maps a point's number to the messages that follow it; 0 is the start."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.after: dict[int, array[int]] = {}
        self.listens: set[int] = set()
        """The accepted `subscriptions/listen` requests."""
        self.acknowledged: dict[int, int] = {}
        """By `subscriptions/listen`, the event that acknowledged it, which is sent first to each live one."""
        self.notifications: dict[str, list[int]] = {}
        """The client's notifications, by method, in order."""
        self.invalid: list[int] = []
        """The client's messages that are not JSON-RPC."""
        self.refusals: dict[int, int] = {}
        """By request, the error without an id in the response to its POST."""
        self._posted: dict[str, int] = {}
        self._listens_by_id: dict[Any, list[int]] = {}

    async def read(self) -> None:
        """Read every event once."""
        index = self._journal.index
        point = 0
        last = self._last_sent()
        dropped = frozenset(index.dropped)
        for low in range(0, index.count, _AT_ONCE):
            if low:
                await asyncio.sleep(0)
            for n in _MESSAGES.forwards(index, low, low + _AT_ONCE):
                if n in dropped:
                    continue
                if index.dir(n) is Dir.SEND:
                    point = n
                    self._sent(n)
                    continue
                if index.method(n) == _ACKNOWLEDGED and self._acknowledges(n):
                    continue
                if self._ends_exchange(n):
                    point = n
                elif self._refuses(n):
                    self.refusals[self._posted[index.channel(n)]] = point = n
                elif self._stands_alone(n) and not (n > last and index.pair(n) in self.listens):
                    self.after.setdefault(point, array("I")).append(n)

    def _sent(self, n: int) -> None:
        index = self._journal.index
        shape = index.shape(n)
        if shape == Shape.REQUEST:
            if index.method(n) == LISTEN and not self._refused(n):
                self.listens.add(n)
                self._listens_by_id.setdefault(index.id(n), []).append(n)
            if channels.is_post(index.channel(n)):
                self._posted[index.channel(n)] = n
        elif shape == Shape.NOTIFICATION:
            self.notifications.setdefault(self._journal.index.method(n), []).append(n)
        elif shape == Shape.NONE:
            self.invalid.append(n)

    def _acknowledges(self, n: int) -> bool:
        """Whether this acknowledges a subscription, and is sent with it."""
        listen = self.listen_of(n, subscription_of(self._journal.event(n).message))
        return bool(listen) and self.acknowledged.setdefault(listen, n) == n

    def _last_sent(self) -> int:
        """Return the client's last message. The end of the connection ended every later subscription."""
        return _SENT.last(self._journal.index)

    def _refused(self, n: int) -> bool:
        """Whether a subscription was refused: it has an error response and no acknowledgement."""
        index = self._journal.index
        answer = index.pair(n)
        if not answer or index.shape(answer) != Shape.ERROR:
            return False
        return not _ACKNOWLEDGEMENTS.first(index, n, answer - 1)

    def _ends_exchange(self, n: int) -> bool:
        """Whether this is the response to a request of the client."""
        index = self._journal.index
        request = index.pair(n)
        if not request or index.shape(n) in _ASKING or request in self.listens:
            return False
        return index.pair(request) == n

    def _refuses(self, n: int) -> bool:
        """Whether this is a POST's response that matches no request by id."""
        index = self._journal.index
        if index.shape(n) is not Shape.ERROR or index.pair(n):
            return False
        request = self._posted.get(index.channel(n), 0)
        return bool(request) and not index.pair(request) and request not in self.refusals

    def _stands_alone(self, n: int) -> bool:
        """Whether this is not replayed with a request, because it belongs to none or came too late."""
        index = self._journal.index
        root = self._root_of(n)
        if not root or root == n or index.dir(root) is not Dir.SEND or root in self.listens:
            return True
        answer = index.pair(root)
        return bool(answer) and n > answer

    def _root_of(self, n: int) -> int:
        """Return the request whose exchange contains event `n`, or 0."""
        index = self._journal.index
        return index.root_of(n) if index.kind(n) is Kind.RPC else index.parent(n)

    def listen_of(self, n: int, subscription: Any) -> int:
        """Return the `subscriptions/listen` of event `n`: by its stream, otherwise by the id that it names."""
        root = self._root_of(n)
        if root in self.listens or subscription is None:
            return root if root in self.listens else 0
        named = self._listens_by_id.get(id_key(subscription), [])
        before = bisect_left(named, n)
        return named[before - 1] if before else 0


def subscription_of(message: Any) -> Any:
    """Return the subscription id in a notification or response, or None."""
    for part in ("params", "result"):
        id = value_at(message, part, "_meta", SUBSCRIPTION_KEY)
        if id_key(id) is not None:
            return id
    return None


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
        id = value_at(params, "taskId")
        state = self._states.get(id) if isinstance(id, str) else None
        return state if state is not None and state.get("status") in ENDED else None

    def _read(self) -> dict[str, dict[str, Any]]:
        states: dict[str, dict[str, Any]] = {}
        for n in islice(_TELLING.forwards(self._journal.index), _READ):
            self._add_state(states, n)
        return states

    def _add_state(self, states: dict[str, dict[str, Any]], n: int) -> None:
        event = self._journal.event(n)
        if self._journal.index.method(n) == "tasks/result":
            id = self._params(n).get("taskId")
            if type(id) is str and id in states and states[id].get("status") not in ENDED:
                states[id] |= {"status": "completed" if event.shape is Shape.RESULT else "failed"}
            return
        value = event.message.get("params" if event.shape is Shape.NOTIFICATION else "result")
        if type(value) is dict and type(value.get("task")) is dict:
            value = value["task"]
        if type(value) is dict and type(value.get("taskId")) is str and type(value.get("status")) is str:
            states[value["taskId"]] = {key: item for key, item in value.items() if key != "_meta"}

    def _params(self, n: int) -> dict[str, Any]:
        """Return the parameters of the request that event `n` responds to."""
        request = self._journal.index.pair(n)
        return object_at(self._journal.event(request).message, "params") if request else {}

    def ended(self, n: int) -> bool:
        """Whether the response to the recorded `tasks/get` says that the task has ended."""
        answer = self._journal.index.pair(n)
        result = value_at(self._journal.event(answer).message, "result") if answer else None
        return type(result) is not dict or result.get("status") in ENDED

"""The start of each connection: its negotiation, and what is requested once it is ready.

A log may show all of it as one row. It ends with the first request that the user, or the server, causes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from inspector.journal.channels import is_get
from inspector.journal.connections import KINDS
from inspector.journal.format import Dir, Kind
from inspector.journal.index import Index
from inspector.journal.name_tables import LISTS
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape

_REQUESTED = frozenset((*LISTS, "subscriptions/listen", "logging/setLevel"))
_TOLD = frozenset(("notifications/initialized", "notifications/subscriptions/acknowledged"))
_NEGOTIATION = Query(kind=KINDS)
_FOLLOWING = Query(kind=(Kind.RPC, Kind.HTTP))


class SessionStarts:
    """Finds the events of the start of each connection, in the order of the events.

    `is_ready` tells whether the event that ended a negotiation says that the connection is ready.
    """

    def __init__(self, index: Index, is_ready: Callable[[int], bool]) -> None:
        self._index = index
        self._is_ready = is_ready
        self._negotiations = 0
        self._seen = 0
        self._head = 0
        """The first event of a start that goes on, else 0."""
        self._requested: set[str] = set()

    def advance(self, last: int) -> Iterator[tuple[int, int]]:
        """Yield the further events up to `last` that belong to a start, each with the first event of that."""
        connections = self._index.connections
        while self._negotiations < len(connections.last) and connections.last[self._negotiations] <= last:
            begin, end = connections.first[self._negotiations], connections.last[self._negotiations]
            self._negotiations += 1
            yield from self._followed(begin - 1)
            self._head, self._seen, self._requested = 0, end, set()
            if self._is_ready(end):
                self._head = _NEGOTIATION.first(self._index, begin - 1, end)
                yield from ((n, self._head) for n in _NEGOTIATION.numbers(self._index, begin - 1, end))
        yield from self._followed(last)

    def _followed(self, last: int) -> Iterator[tuple[int, int]]:
        for n in _FOLLOWING.numbers(self._index, self._seen, last) if self._head else ():
            if self._ends(n):
                self._head = 0
                break
            if self._belongs(n):
                yield n, self._head
        self._seen = max(self._seen, last)

    def _ends(self, n: int) -> bool:
        index = self._index
        method, shape = index.method(n), index.shape(n)
        if shape is Shape.REQUEST and index.dir(n) is Dir.SEND:
            again = method in self._requested and n not in index.pages
            return method not in _REQUESTED or again
        return shape is Shape.NOTIFICATION and method.endswith("/list_changed")

    def _belongs(self, n: int) -> bool:
        index = self._index
        if index.kind(n) is Kind.HTTP:
            return index.dir(n) is Dir.SEND and is_get(index.channel(n))
        method, shape = index.method(n), index.shape(n)
        if shape is Shape.REQUEST and index.dir(n) is Dir.SEND:
            self._requested.add(method)
            return n not in index.pages
        return shape is Shape.NOTIFICATION and method in _TOLD

"""The start of each connection: its negotiation, and what is requested once it is ready.

A log may show all of it as one row, a layer above its messages. It ends with the first request that the user, or the
server, causes.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence

from inspector.journal.channels import is_get
from inspector.journal.connections import KINDS
from inspector.journal.folding import FoldedEvents, Folding
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


class StartFolding:
    """The rows of `messages`, where those of the start of a session are one, that of its first event.

    Call its `advance`, which advances `messages`.
    """

    def __init__(self, messages: Folding) -> None:
        self.messages = messages
        self.journal = messages.journal
        self._starts = SessionStarts(self.journal.index, self._is_ready)
        self._hidden = FoldedEvents()
        """Events of a start that have rows in `messages`."""
        self._groups: dict[int, array[int]] = {}
        """By row of a start: itself, and these events, in the order in which they joined."""
        self._requests: dict[int, int] = {}
        """Requests of a start without an answer so far, and the row of the start."""
        self._others: dict[int, list[int]] = {}
        """By row of a start: its other events, until anything changes."""

    @property
    def seen(self) -> int:
        """Events up to here were read."""
        return self.messages.seen

    # Rows

    def __len__(self) -> int:
        return len(self.messages) - len(self._hidden)

    def __getitem__(self, position: int) -> int:
        hidden, rows = self._hidden.numbers, self.messages
        before = bisect_right(range(len(hidden)), position, key=lambda at: rows.until(hidden[at]) - 1 - at)
        return rows[position + before]

    def until(self, n: int) -> int:
        """Return how many rows begin with event `n` or before it."""
        return self.messages.until(n) - self._hidden.until(min(n, self.seen))

    def position(self, n: int) -> int | None:
        """Return the position of the row of event `n`; None if it was not read."""
        return self.until(self.row(n)) - 1 if 0 < n <= self.seen else None

    def row(self, n: int) -> int:
        """Return the event with the row of event `n`; `n` itself if it is not folded."""
        n = self.messages.row(n)
        return self._hidden.row(n) or n

    def is_folded(self, n: int) -> bool:
        """Whether event `n` is in the row of another one."""
        return self._hidden.row(n) > 0 or self.messages.is_folded(n)

    def is_start(self, n: int) -> bool:
        """Whether the row of `n` is that of the start of a session."""
        return n in self._groups

    def group(self, n: int) -> Sequence[int]:
        """Return the messages that the row of `n` replaces, itself first: of a start, or of progress; else none."""
        return self._groups.get(n) or self.messages.group(n)

    def folded(self, n: int) -> list[int]:
        """Return the other events in the row of `n`, ascending."""
        group = self._groups.get(n)
        if group is None:
            return self.messages.folded(n)
        if n not in self._others:
            self._others[n] = sorted({*group[1:], *(m for member in group for m in self.messages.folded(member))})
        return self._others[n]

    def list_messages(self, n: int) -> list[int]:
        """Return the messages of several pages, or polls, of which request `n` is the first; else none."""
        return self.messages.list_messages(n)

    # Add events

    def advance(self, last: int, seconds: float = 1.0) -> set[int]:
        """Read the events up to `last`, for at most about so many seconds.

        Returns the events that moved to another row, and the rows that they left or joined.
        """
        changed = self.messages.advance(last, seconds)
        index, recent = self.journal.index, self._hidden.numbers[self._hidden.until(min(changed, default=last) - 1) :]
        for n in changed.intersection(recent):
            # An answer of a start may turn out to be that of the first of several pages.
            if self.messages.is_folded(n):
                head = self._hidden.unfold(n)
                self._groups[head].remove(n)
                changed.add(head)
        for n, first in self._starts.advance(self.seen):
            # An HTTP head that was recorded before its message has no row.
            head = self.messages.row(first)
            if n != head:
                self._join(n, head, changed)
            if index.shape(n) is Shape.REQUEST:
                self._requests[n] = head
        for n, head in list(self._requests.items()):
            answer = index.views.pairs[n - 1]
            if 0 < answer <= self.seen:
                del self._requests[n]
                # A list that failed is shown.
                if index.shape(answer) is Shape.RESULT:
                    self._join(answer, head, changed)
        if changed:
            self._others.clear()
        return changed

    def _is_ready(self, n: int) -> bool:
        index = self.journal.index
        return index.kind(n) is not Kind.LIFE or self.journal.event(n).fields.get("event") == "ready"

    def _join(self, n: int, head: int, changed: set[int]) -> None:
        if self.is_folded(n):
            return
        self._hidden.fold(n, head)
        self._groups.setdefault(head, array("I", [head])).append(n)
        changed.update((n, head))

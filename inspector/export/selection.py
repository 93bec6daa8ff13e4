"""The events and exchanges of an export, so that formats for requests only iterate over them.

One byte per event, and two numbers per event for those inside requests: a million of them take nine megabytes.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator

from inspector.journal.exchange import Exchange, around
from inspector.journal.format import Kind
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape

_REQUESTS = Query(shape=Shape.REQUEST)
_INSIDE = Query(shape=(Shape.REQUEST, Shape.NOTIFICATION))
_BATCHES = Query(shape=Shape.BATCH)
_ANSWERS = (Shape.RESULT, Shape.ERROR)


class Selection:
    """The selected events of a journal. An exchange is selected with its request or its response."""

    def __init__(self, journal: Journal, numbers: Iterable[int] | None) -> None:
        self._journal = journal
        self._index = journal.index
        self.count = journal.index.count
        self.everything = numbers is None
        self._flags = bytearray(b"\1" if numbers is None else b"\0") * (self.count + 1)
        self._flags[0] = 0
        for n in numbers or ():
            self._flags[n] = 1
        self._first: array[int] | None = None
        self._next: array[int] = array("I")

    def __contains__(self, n: int) -> bool:
        return self._flags[n] == 1

    def __len__(self) -> int:
        return self._flags.count(1)

    def __iter__(self) -> Iterator[int]:
        """Yield the selected events, ascending."""
        at = self._flags.find(1)
        while at > 0:
            yield at
            at = self._flags.find(1, at + 1)

    def of(self, *kinds: Kind) -> Iterator[int]:
        """Yield the selected events of some kinds, ascending."""
        kind = self._index.kind
        return (n for n in self if kind(n) in kinds)

    def exchanges(self) -> Iterator[Exchange]:
        """Yield the selected exchanges, by their requests. Requests within a batch are not included."""
        flags = self._flags
        for n in _REQUESTS.each(self._index, 0, self.count):
            if flags[n] or flags[self.answer(n)]:
                yield Exchange(self._journal, n)

    def answer(self, request: int) -> int:
        """Return the event that answers only this request; 0 without one, or within a batch."""
        answer = self._index.pair(request)
        return answer if answer <= self.count and answer and self._index.shape(answer) in _ANSWERS else 0

    def inside(self, request: int) -> Iterator[int]:
        """Yield the selected notifications and questions inside a request, ascending."""
        if self._first is None:
            self._first = self._linked()
        n = self._first[request]
        while n:
            yield n
            n = self._next[n]

    def _linked(self) -> array[int]:
        """The first event inside each request; `_next` links one to the next."""
        index = self._index
        first = array("I", bytes(4 * (self.count + 1)))
        self._next = array("I", bytes(4 * (self.count + 1)))
        for n in _INSIDE.backwards(index, 0, self.count):
            outer = around(index, n) if self._flags[n] else 0
            if 0 < outer < n:
                self._next[n] = first[outer]
                first[outer] = n
        return first

    def batches(self) -> int:
        """The number of selected batches."""
        return sum(self._flags[n] for n in _BATCHES.each(self._index, 0, self.count))


def left_out(amount: int, what: str, several: str = "") -> list[str]:
    """Return the sentence about what an export omits, if anything. `several` is an irregular plural."""
    if not amount:
        return []
    named = f"1 {what}" if amount == 1 else f"{amount:,} {several or what + 's'}"
    return [f"Omitted from this format: {named}."]

"""Which events an export is about, and the exchanges among them: what the formats that know requests only walk through.

A byte an event, and for what belongs to requests two numbers an event: a million of them are nine megabytes.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from inspector.journal.format import Dir, Kind
from inspector.journal.index import State
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import Shape

_REQUEST = Kind.RPC | Shape.REQUEST << 6
_ANSWERS = (Shape.RESULT, Shape.ERROR)


class Exchange(NamedTuple):
    """A request and what became of it."""

    request: int
    answer: int
    """The number of the event that answers it; 0: there is none."""
    dir: Dir
    """Who asked: `SEND` is the client."""
    state: State


class Chosen:
    """The chosen events of a journal. An exchange is chosen with its request or with its answer."""

    def __init__(self, journal: Journal, numbers: Iterable[int] | None) -> None:
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
        """The chosen events, ascending."""
        at = self._flags.find(1)
        while at > 0:
            yield at
            at = self._flags.find(1, at + 1)

    def of(self, *kinds: Kind) -> Iterator[int]:
        """The chosen events of some kinds, ascending."""
        codes = self._index.codes
        for n in self:
            if codes[n - 1] & 15 in kinds:
                yield n

    def exchanges(self) -> Iterator[Exchange]:
        """The chosen exchanges, in the order in which they were asked. Requests within a batch are none of them."""
        index, flags = self._index, self._flags
        mask = 15 | 7 << 6
        for n, code in enumerate(index.codes[: self.count], 1):
            if code & mask != _REQUEST:
                continue
            answer = index.pair(n)
            if answer and (answer > self.count or index.shape(answer) not in _ANSWERS):
                answer = 0
            if flags[n] or (answer and flags[answer]):
                yield Exchange(n, answer, Dir(code >> 4 & 3), State(index.state(n)))

    def inside(self, request: int) -> Iterator[int]:
        """What is chosen of the notifications and questions that belong to a request, ascending."""
        if self._first is None:
            self._first = self._linked()
        n = self._first[request]
        while n:
            yield n
            n = self._next[n]

    def _linked(self) -> array[int]:
        """The first event inside each request; `_next` leads from one to the next."""
        index = self._index
        first = array("I", bytes(4 * (self.count + 1)))
        self._next = array("I", bytes(4 * (self.count + 1)))
        for n in range(self.count, 0, -1):
            shape = index.codes[n - 1] >> 6
            if not self._flags[n] or shape not in (Shape.NOTIFICATION, Shape.REQUEST):
                continue
            outer = index.parent(n) or (index.pair(n) if shape == Shape.NOTIFICATION else 0)
            if 0 < outer < n:
                self._next[n] = first[outer]
                first[outer] = n
        return first

    def batches(self) -> int:
        """How many of the chosen messages are batches."""
        codes = self._index.codes
        return sum(1 for n in self.of(Kind.RPC) if codes[n - 1] >> 6 == Shape.BATCH)


def left_out(amount: int, what: str, several: str = "") -> list[str]:
    """The sentence about what is not in an export, where it is any. `several` is the plural where it is no `s` more."""
    if not amount:
        return []
    named = f"1 {what}" if amount == 1 else f"{amount:,} {several or what + 's'}"
    return [f"This format has no place for {named}, left out."]

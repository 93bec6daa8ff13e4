"""The negotiations in a recording, each from its start until the connection is ready.

The requests in between detect what a server supports (`client/engine/negotiation.py`). A reader interested in the
server's work may want to exclude them. Each connection needs two numbers.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

from inspector.journal.format import Kind

KINDS = (Kind.RPC, Kind.INVALID, Kind.HTTP, Kind.SSE, Kind.LIFE)
"""Events during a negotiation that belong to it. The server's stderr and a login do not."""
_BEGIN = frozenset(("reopen", "session-lost"))
_OPENING = frozenset(("initialize", "server/discover"))
"""Requests that are sent before a connection is ready."""


class Connections:
    """The negotiations of a recording, as ranges of events. It gets each event before the index counts it."""

    def __init__(self) -> None:
        self.first = array("I")
        self.last = array("I")
        self.open = 1
        """The first event of the current one; 0 for none."""

    def life(self, n: int, event: str) -> None:
        """Handle life event `n`: it may start a negotiation, or end it by success or failure."""
        if event in _BEGIN:
            self._end(n - 1)
            self.open = n
        elif event == "ready":
            self._end(n)
            self.open = 0
        elif event == "failed":
            self._end(n)
            self.open = n + 1  # only another attempt can follow, even if it does not report its start

    def asked(self, n: int, method: str) -> None:
        """Handle request `n` of ours during a negotiation: one that does not belong to it ends it."""
        if method not in _OPENING:
            self._end(n - 1)
            self.open = 0

    def _end(self, last: int) -> None:
        if 0 < self.open <= last:
            self.first.append(self.open)
            self.last.append(last)

    def saved(self) -> list[Any]:
        """Return its numbers for `load`."""
        return [list(self.first), list(self.last), self.open]

    def load(self, saved: list[Any]) -> None:
        """Take what `saved` returned."""
        first, last, self.open = saved
        self.first, self.last = array("I", first), array("I", last)

    def between(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """Yield the parts of the events `first` to `last` that belong to a negotiation, in order."""
        going_on = self.open  # Read before the others: it may end while another thread is here.
        for at in range(bisect_left(self.last, first), len(self.last)):
            if self.first[at] > last:
                return
            yield max(first, self.first[at]), min(last, self.last[at])
        if 0 < going_on <= last:
            yield max(first, going_on), last

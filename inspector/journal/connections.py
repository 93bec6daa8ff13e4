"""Where in a recording connections were made: from the beginning of each to the moment at which it stood.

The requests in between find out what a server speaks (`client/engine/negotiation.py`). A reader that looks at what the
server does may want to leave them out. Two numbers are kept for each connection.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator

from inspector.journal.format import Kind

KINDS = (Kind.RPC, Kind.INVALID, Kind.HTTP, Kind.SSE, Kind.LIFE)
"""What belongs to a negotiation of all that happens during one. A server's stderr does not, nor does logging in."""
_BEGIN = frozenset(("reopen", "session-lost"))
_OPENING = frozenset(("initialize", "server/discover"))
"""What is asked before a connection stands."""


class Connections:
    """The negotiations of a recording, as ranges of events. Told of each event before the index counts it."""

    def __init__(self) -> None:
        self.first = array("I")
        self.last = array("I")
        self.open = 1
        """The first event of the one that goes on; 0: none does."""

    def life(self, n: int, event: str) -> None:
        """Event `n` is a life event: it may begin a connection, or say that one stands or has failed."""
        if event in _BEGIN:
            self._end(n - 1)
            self.open = n
        elif event == "ready":
            self._end(n)
            self.open = 0
        elif event == "failed":
            self._end(n)
            self.open = n + 1  # Only another attempt can follow, whether or not it says that it begins.

    def asked(self, n: int, method: str) -> None:
        """Event `n` is a request of ours, while a negotiation goes on: any but those that belong to it ends it."""
        if method not in _OPENING:
            self._end(n - 1)
            self.open = 0

    def _end(self, last: int) -> None:
        if 0 < self.open <= last:
            self.first.append(self.open)
            self.last.append(last)

    def between(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """The parts of the events `first` to `last` that belong to a negotiation, in order."""
        going_on = self.open  # Read before the others: it may end while another thread is here.
        for at in range(bisect_left(self.last, first), len(self.last)):
            if self.first[at] > last:
                return
            yield max(first, self.first[at]), min(last, self.last[at])
        if 0 < going_on <= last:
            yield max(first, going_on), last

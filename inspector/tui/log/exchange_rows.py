"""The rows of the exchange view: exchanges in the order of their start, nested events below each.

An answer has no row: it is shown in the row of its request. HTTP and SSE events and folded events have no rows either;
the detail of a message shows them.
"""

from __future__ import annotations

import time
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable
from itertools import islice
from typing import NamedTuple

from inspector.journal.durations import asks_people, response_times, took
from inspector.journal.exchange import add_roots, is_answer
from inspector.journal.folding import Folding
from inspector.journal.format import Dir, Kind
from inspector.journal.index import State
from inspector.journal.journal import Journal
from inspector.journal.query import Query, both, picked
from inspector.protocol.jsonrpc import Shape

_LOW = 0xFFFFFFFF
_MANY = 20_000
PAUSE = 1.0
"""Seconds between two measurements of the durations in a journal of more than `_MANY` events."""
_OUTERMOST = Query(shape=Shape.REQUEST, inside=0)
_FAILED = Query(state=(State.ERROR, State.TIMED_OUT, State.LOST))


class Stats(NamedTuple):
    """Figures of the exchanges shown; percentiles in microseconds, None if no exchange has ended."""

    exchanges: int = 0
    errors: int = 0
    p50: int | None = None
    p95: int | None = None
    person: int = 0
    """Microseconds that a person took, which the percentiles exclude; of a sample if there are very many."""


class Growth(NamedTuple):
    """The result of a scan, for `ExchangeRows.apply`."""

    seen: int
    gone: list[int]
    """Exchanges that are no longer shown."""
    tail: array[int]
    """The last rows; they replace all rows from the first of them on."""
    stats: Stats


class ExchangeRows:
    """Rows as sorted keys: the number of the outermost request, and that of the event.

    With `folding`, folded events have no rows. With `filtered`, only exchanges with an event that matches a filter have
    rows; `scan` is given these. Scans may run in a thread, one at a time; call `apply` in the thread that draws.
    """

    def __init__(self, journal: Journal, *, filtered: bool, folding: Folding | None = None) -> None:
        self.journal = journal
        self.folding = folding
        self.keys: array[int] = array("Q")
        self.seen = 0
        self.stats = Stats()
        self._roots: array[int] = array("I")
        self._wanted: bytearray | None = bytearray(1) if filtered else None
        self.stale = False
        """The figures do not cover all events yet: another scan will update them."""
        self._measured = 0.0

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, position: int) -> int:
        return self.keys[position] & _LOW

    def root(self, position: int) -> int:
        """The number of the outermost request of a row; the row's own event if it has none."""
        return self.keys[position] >> 32

    def position(self, n: int) -> int | None:
        """The row of an event, None if it has none; an answer is in the row of its request."""
        index = self.journal.index
        if self.folding is not None:
            n = self.folding.row(n)
        if not 0 < n <= len(self._roots):
            return None
        if is_answer(index, n):
            n = index.pair(n)
        key = self._roots[n - 1] << 32 | n
        at = bisect_left(self.keys, key)
        return at if at < len(self.keys) and self.keys[at] == key else None

    # Add events

    def scan(
        self, last: int, added: Iterable[int] = (), left: Iterable[int] = (), fits: Callable[[int], bool] | None = None
    ) -> Growth:
        """Read the events up to `last`.

        With a filter: `added` now match, `left` no longer match, and `fits` tells whether any other event matches.
        """
        low = self.seen + 1
        add_roots(self.journal.index, self._roots, last)
        new = self._new_rows(low, last, added)
        gone = self._gone(left, fits) if fits is not None else []
        if new:
            new += self.keys[bisect_left(self.keys, min(new)) :]
            new.sort()
        return Growth(last, gone, array("Q", new), self._measure(last))

    def apply(self, growth: Growth) -> int | None:
        """Apply the result of a scan. Returns the first row that changed, or None."""
        keys, firsts = self.keys, []
        if growth.tail:
            firsts.append(bisect_left(keys, growth.tail[0]))
            del keys[firsts[0] :]
            keys.extend(growth.tail)
        for root in growth.gone:
            begin, end = bisect_left(keys, root << 32), bisect_left(keys, (root + 1) << 32)
            del keys[begin:end]
            firsts.append(begin)
        self.seen, self.stats = growth.seen, growth.stats
        return min(firsts, default=None)

    def drop(self, numbers: Iterable[int]) -> None:
        """Remove the rows of some events."""
        for n in numbers:
            key = self._roots[n - 1] << 32 | n if n <= len(self._roots) else 0
            at = bisect_left(self.keys, key)
            if at < len(self.keys) and self.keys[at] == key:
                del self.keys[at]

    def _new_rows(self, low: int, last: int, added: Iterable[int]) -> list[int]:
        roots = self._roots
        if self._wanted is None:
            return [roots[n - 1] << 32 | n for n in range(low, last + 1) if self._has_row(n)]
        wanted = self._wanted
        wanted.extend(bytes(last + 1 - len(wanted)))
        joined = {root for n in added if not wanted[root := roots[n - 1]]}
        for root in joined:
            wanted[root] = 1
        begin = min(joined, default=low)
        return [
            root << 32 | n
            for n in range(min(begin, low), last + 1)
            if ((root := roots[n - 1]) in joined or (n >= low and wanted[root])) and self._has_row(n)
        ]

    def _gone(self, left: Iterable[int], fits: Callable[[int], bool]) -> list[int]:
        """The exchanges without a matching event."""
        found = []
        for root in {self._roots[n - 1] for n in left}:
            begin, end = bisect_left(self.keys, root << 32), bisect_left(self.keys, (root + 1) << 32)
            events = [key & _LOW for key in self.keys[begin:end]]
            events += [self.journal.index.pair(n) for n in events]
            if self._wanted is not None and not any(n and fits(n) for n in events):
                self._wanted[root] = 0
                found.append(root)
        return found

    def _has_row(self, n: int) -> bool:
        index = self.journal.index
        if self.folding is not None and self.folding.is_folded(n):
            return False
        if index.kind(n) in (Kind.HTTP, Kind.SSE):
            return self._roots[n - 1] == n
        return not is_answer(index, n)

    # Figures

    def _measure(self, last: int) -> Stats:
        """Measure counts, errors and percentiles of durations, at intervals; of a sample if there are very many."""
        now = time.monotonic()
        self.stale = last > _MANY and now - self._measured < PAUSE
        if self.stale:
            return self.stats
        self._measured = now
        index = self.journal.index
        exchanges = errors = 0
        durations: list[int] = []
        person = 0
        for low in range(1, last + 1, _MANY):
            high = min(low + _MANY - 1, last)
            chosen = _OUTERMOST.mask(index, low, high)
            if self._wanted is not None:
                chosen = both(chosen, bytes(self._wanted[low : high + 1]))
            exchanges += chosen.count(1)
            errors += both(chosen, _FAILED.mask(index, low, high)).count(1)
            sample = islice(picked(low, chosen), 0, None, 1 + last // (_MANY * 10))
            # Without the server's requests: their time is the client's.
            answered = [n for n in sample if index.pair(n) and index.dir(n) is Dir.SEND]
            if asks_people(index):
                for n in answered:
                    found = took(index, n)
                    if found is not None:
                        durations.append(found.server)
                        person += found.person
            else:
                durations += response_times(index, answered)
        durations.sort()
        return Stats(exchanges, errors, _percentile(durations, 50), _percentile(durations, 95), person)


def _percentile(ordered: list[int], part: int) -> int | None:
    """The smallest value that at least `part` percent do not exceed (nearest rank)."""
    return ordered[max(-(-len(ordered) * part // 100) - 1, 0)] if ordered else None

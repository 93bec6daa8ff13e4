"""A recording along its time: the playing time of each event, the density of events, and the errors.

Computed once for each event, as the recording grows. A gap counts for at most `fold`, a clock that runs backwards
counts as stopped, and every event takes at least a microsecond, so that no two have the same position.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from itertools import pairwise
from math import ceil

from inspector.journal.exchange import failures
from inspector.journal.journal import Journal

BLOCK = 256
"""Events between two stored positions."""
BINS = 2048
"""Maximum number of parts of the total length; at least half as many once it is long."""
FIRST_BIN = 64
"""Initial microseconds of one part, which doubles whenever there are too many parts."""


class ActivityProfile:
    """Positions are microseconds of playing time at speed 1 since the first event. `advance` processes new events."""

    def __init__(self, journal: Journal, fold: int) -> None:
        self.journal = journal
        self.fold = fold
        """Maximum microseconds that a gap counts for."""
        self.seen = 0
        self.length = 0
        """The position of the last processed event."""
        self.latest = 0
        """The latest time of all events, in microseconds since the start."""
        self.errors = 0
        self._blocks = array("Q", [0])
        self._latest = array("q", [0])
        self._width = FIRST_BIN
        self._counts = array("L", [0]) * BINS
        self._errors = array("L", [0]) * BINS

    def advance(self, limit: int = 20_000) -> bool:
        """Process up to `limit` further events. True: more are left."""
        index = self.journal.index
        last = min(index.count, self.seen + limit)
        fold, place, latest = self.fold, self.length, self.latest
        times, failed = index.times_between(self.seen, last), failures(index, self.seen, last)
        before = index.time(self.seen) if self.seen else times[0] if times else 0
        width, limit_place, counts = self._width, self._width * BINS, self._counts
        for n, (t, has_failed) in enumerate(zip(times, failed, strict=True), self.seen + 1):
            gap = t - before
            before = t
            place += 1 if gap <= 1 else gap if gap < fold else fold
            if t > latest:
                latest = t
            while place >= limit_place:
                self._halve()
                width, limit_place = self._width, self._width * BINS
            counts[place // width] += 1
            if has_failed:
                self._errors[place // width] += 1
                self.errors += 1
            if n % BLOCK == 0:
                self._blocks.append(place)
                self._latest.append(latest)
        self.seen, self.length, self.latest = last, place, latest
        return last < index.count

    def _halve(self) -> None:
        """Double the length of the parts."""
        for bins in (self._counts, self._errors):
            half = array("L", map(sum, zip(bins[::2], bins[1::2], strict=True)))
            bins[: BINS // 2] = half
            bins[BINS // 2 :] = array("L", [0]) * (BINS // 2)
        self._width *= 2

    # Places

    def place(self, n: int) -> int:
        """Return the position of event `n`; 0 before the first."""
        n = min(n, self.seen)
        place = self._blocks[n // BLOCK]
        begin = n // BLOCK * BLOCK
        times = self.journal.index.times_between(max(begin - 1, 0), n)
        if not begin and n:
            place += 1  # The first event.
        for before, t in pairwise(times):
            gap = t - before
            place += 1 if gap <= 1 else min(gap, self.fold)
        return place

    def number_at(self, place: int) -> int:
        """Return the last event at or before a position; 0 without one."""
        n = (bisect_right(self._blocks, place) - 1) * BLOCK
        at = self._blocks[n // BLOCK]
        index, fold = self.journal.index, self.fold
        while n < self.seen:
            gap = index.time(n + 1) - index.time(n) if n else 0
            at += 1 if gap <= 1 else min(gap, fold)
            if at > place:
                break
            n += 1
        return n

    def number_at_time(self, t: int) -> int:
        """Return the last event before the first one that is later than `t` microseconds; 0 without one.

        If a clock ran backwards, the first event after that time is the limit.
        """
        n = (bisect_right(self._latest, t) - 1) * BLOCK if t >= 0 else 0
        index = self.journal.index
        while n < self.seen and index.time(n + 1) <= t:
            n += 1
        return n

    # Drawing

    def columns(self, cells: int) -> list[tuple[int, int]]:
        """Return the events and errors in each of `cells` equal parts of the total length."""
        found = [(0, 0)] * cells
        if not self.seen or cells <= 0:
            return found
        events, errors = [0] * cells, [0] * cells
        used = self.length // self._width + 1
        for at in range(used):
            if self._counts[at]:
                cell = self.cell(at * self._width + self._width // 2, cells)
                events[cell] += self._counts[at]
                errors[cell] += self._errors[at]
        return list(zip(events, errors, strict=True))

    def cell(self, place: int, cells: int) -> int:
        """Return the part of `cells` that contains a position."""
        return min(place * cells // max(self.length + 1, 1), cells - 1)

    def number_in(self, cell: int, cells: int) -> int:
        """Return the first event in a part of `cells`, or the last one before it; at least 1."""
        begin = ceil(cell * (self.length + 1) / max(cells, 1))
        before = self.number_at(max(begin - 1, 0))
        after = before + 1
        inside = after <= self.seen and self.cell(self.place(after), cells) == cell
        return max(after if inside else before, min(self.seen, 1))

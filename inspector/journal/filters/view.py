"""A filter, and the list of its matches in a journal that may grow."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from copy import copy
from typing import NamedTuple

from inspector.journal.filters.conditions import REQUESTS, AnyOf, Condition, HasFinding, IsMarked, Scan, Text
from inspector.journal.filters.syntax import compiled
from inspector.journal.journal import Journal
from inspector.journal.query import picked

SLICE = 1 << 15
"""Events that are read at once: a few milliseconds, so that a thread yields to others in between."""
_RECHECKED = 50_000


class Filter:
    """A parsed filter: `numbers` evaluates it. `parse` makes it; it has no state of any journal."""

    def __init__(self, source: str) -> None:
        self.source = source.strip()
        self.condition, terms = compiled(source)
        self.texts = [term.needle.text for term in terms if isinstance(term, Text)]
        """The texts that it searches for, negated ones included."""
        self.by_finding = any(isinstance(term, HasFinding) for term in terms)
        """Whether a new finding can change its matches."""
        self.by_mark = any(isinstance(term, IsMarked) for term in terms)
        """Whether a new mark can change its matches."""
        self.reads = self.condition.cost > 1
        """Whether it needs bodies."""

    def __bool__(self) -> bool:
        """Whether it excludes anything."""
        return bool(self.source)

    def widened(self, more: Condition) -> Filter:
        """Return a filter with this source that also matches what another condition matches."""
        wide = copy(self)
        wide.condition = AnyOf([self.condition, more])
        return wide

    def numbers(self, journal: Journal, first: int = 1, last: int | None = None) -> list[int]:
        """Return the numbers of the matching events from `first` to `last` (by default all indexed ones), ascending."""
        return list(self.forwards(Scan(journal), max(first, 1), journal.index.count if last is None else last))

    def forwards(self, scan: Scan, first: int, last: int) -> Iterator[int]:
        """Yield the same, slice by slice, in one evaluation."""
        for low in range(first, min(last, scan.index.count) + 1, SLICE):
            high = min(low + SLICE - 1, last, scan.index.count)
            yield from picked(low, self.condition.mask(scan, low, high, None))

    def matches(self, journal: Journal, n: int) -> bool:
        """Whether one event matches."""
        return bool(self.numbers(journal, n, n))

    def next(self, journal: Journal, n: int, step: int = 1) -> int:
        """Return the nearest match after `n`, or before it with a negative `step`; 0 if there is none."""
        scan, count = Scan(journal), journal.index.count
        if step > 0:
            return next(self.forwards(scan, n + 1, count), 0)
        high, length = min(n - 1, count), 256
        while high > 0:
            low = max(high - length + 1, 1)
            matches = list(self.forwards(scan, low, high))
            if matches:
                return matches[-1]
            high, length = low - 1, min(length * 4, SLICE)
        return 0


def parse(text: str) -> Filter:
    """Parse a filter. An empty one matches everything. Raises `FilterError` with the word and its position."""
    return Filter(text)


class FilterChange(NamedTuple):
    """The result of a scan, for `FilteredView.apply`."""

    seen: int
    """Events that were read."""
    added: array[int]
    """New numbers, all after those that had been read."""
    joined: list[int]
    """Numbers that match now but did not before, because of an answer, a finding or a mark."""
    left: list[int]
    """Numbers that no longer match."""

    def __bool__(self) -> bool:
        return bool(self.added or self.joined or self.left)


class FilteredView:
    """The numbers that match a filter, updated as the journal grows.

    `extend` does everything at once. To avoid blocking, run `scan` in a thread and call `apply` with its result in the
    thread that reads `numbers`; run one scan at a time.
    """

    def __init__(self, journal: Journal, filter: Filter) -> None:
        self.journal = journal
        self.filter = filter
        self.numbers: array[int] = array("I")
        """The matches, ascending."""
        self.seen = 0
        """Events up to here were read."""
        self._scan = Scan(journal)
        self._open: array[int] = array("I")
        self._open_states = bytearray()
        self._open_at = 0
        self._findings: dict[int, int] = {}
        self._findings_version = 0
        self._marked: set[int] = set()
        self._marks_version = 0

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, position: int) -> int:
        return self.numbers[position]

    def position(self, n: int) -> int | None:
        """Return the position of event `n` in `numbers`; None if it is not there."""
        at = bisect_left(self.numbers, n)
        return at if at < len(self.numbers) and self.numbers[at] == n else None

    @property
    def behind(self) -> int:
        """Events that have not been read yet."""
        return self.journal.index.count - self.seen

    def extend(self, limit: int | None = None) -> bool:
        """Read new events, at most `limit`. Returns True if more are left."""
        last = self.journal.index.count
        while self.seen < last and (limit is None or limit > 0):
            before = self.seen
            self.apply(self.scan(last if limit is None else min(last, before + limit)))
            limit = None if limit is None else limit - (self.seen - before)
        self.apply(self.scan(self.seen))
        return self.behind > 0

    def scan(self, last: int, limit: int = SLICE) -> FilterChange:
        """Read new events up to `last`, at most `limit`, and again those that may have changed since."""
        low, high = self.seen + 1, min(last, self.seen + limit, self.journal.index.count)
        changed = self._changed()
        added: array[int] = array("I")
        if high >= low:
            mask = self.filter.condition.mask(self._scan, low, high, None)
            added.extend(picked(low, mask))
            self._note_open(low, high)
        joined: list[int] = []
        left: list[int] = []
        for n in changed:
            fits = bool(self.filter.condition.mask(self._scan, n, n, None)[0])
            if fits != (self.position(n) is not None):
                (joined if fits else left).append(n)
        return FilterChange(max(high, self.seen), added, joined, left)

    def apply(self, change: FilterChange) -> int | None:
        """Apply the result of a scan. Returns the first position that changed, or None."""
        before = len(self.numbers)
        first = before if change.added else None
        if change.joined or change.left:
            first = min(bisect_left(self.numbers, n) for n in (*change.joined, *change.left))
            tail = self.numbers[first:].tolist()
            if change.left:
                gone = set(change.left)
                tail = [n for n in tail if n not in gone]
            tail += change.joined
            tail.sort()
            self.numbers[first:] = array("I", tail)
        self.numbers.extend(change.added)
        self.seen = change.seen
        return first

    def _note_open(self, low: int, high: int) -> None:
        """Keep requests without an answer: their state and duration will change."""
        pairs = self.journal.index.views.pairs
        for n in picked(low, REQUESTS.mask(self._scan, low, high, None)):
            if not pairs[n - 1]:
                self._open.append(n)
                self._open_states.append(self.journal.index.views.states[n - 1])

    def _changed(self) -> Iterable[int]:
        """Return events that were read and may match differently now."""
        changed = set(self._settled())
        findings = self.journal.findings
        if self.filter.by_finding and findings.version != self._findings_version:
            self._findings_version = findings.version
            counts = {n: len(findings.of(n)) for n in findings.events() if n <= self.seen}
            changed.update(n for n, count in counts.items() if self._findings.get(n) != count)
            self._findings = counts
        marks = self.journal.marks
        if self.filter.by_mark and marks.version != self._marks_version:
            self._marks_version = marks.version
            marked = {n for n in marks.events() if n <= self.seen}
            # Those that stay marked may have another note.
            changed |= marked | self._marked
            self._marked = marked
        return sorted(changed)

    def _settled(self) -> Iterator[int]:
        """Yield open requests whose state has changed; one call checks a bounded number of them."""
        states, pairs = self.journal.index.views.states, self.journal.index.views.pairs
        beyond = len(self._open) <= _RECHECKED or self._open_at >= len(self._open)
        at = 0 if beyond else self._open_at
        window = self._open[at : at + _RECHECKED]
        still, how = array("I"), bytearray()
        for n, state in zip(window, self._open_states[at : at + _RECHECKED], strict=True):
            if not pairs[n - 1]:
                still.append(n)
                how.append(states[n - 1])
            if pairs[n - 1] or states[n - 1] != state:
                yield n
        self._open[at : at + _RECHECKED] = still
        self._open_states[at : at + _RECHECKED] = how
        self._open_at = at + len(still)

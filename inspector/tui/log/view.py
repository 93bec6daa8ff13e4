"""What the message log shows of a journal or of what a filter leaves: a row a message, an event or an exchange."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from inspector.journal.filters import Filter, FilterChange, FilteredView
from inspector.journal.folding import FoldedMatches, FoldedRows, Folding
from inspector.journal.journal import Journal
from inspector.tui.log.exchange_rows import ExchangeRows, Growth
from inspector.tui.log.rows import Everything, Numbers

AT_ONCE = 4000
"""Events that are taken in within a tick; more are left to a thread."""
READ_AT_ONCE = 400
"""The same, where bodies have to be read."""
LONG = 50_000
"""Events from which on a recording is long: the exchange view leaves everything to the thread."""
STEP = 1 << 13
"""Events that the thread looks at before the interface has its turn."""


class ScanResult(NamedTuple):
    """What one scan has found."""

    last: int
    change: FilterChange | None
    growth: Growth | None


class MessageView:
    """The numbers that are rows, kept up to date: `scan` looks (in a thread if there is much), `apply` takes in.

    With `folding`, which must be ahead of it, folded events have no rows of their own.
    """

    def __init__(
        self, journal: Journal, filter: Filter | None, *, by_exchange: bool, folding: Folding | None = None
    ) -> None:
        self.journal = journal
        self.filter = filter
        self.folding = folding
        self.filtered = FilteredView(journal, filter) if filter is not None else None
        self.exchanges = ExchangeRows(journal, filtered=filter is not None, folding=folding) if by_exchange else None
        self.folded: FoldedRows | None = FoldedRows(folding) if folding is not None else None
        self.matches = (
            FoldedMatches(folding, self.filtered) if folding is not None and self.filtered is not None else None
        )
        self.everything = Everything()
        self.seen = 0

    @property
    def numbers(self) -> Numbers:
        """The rows."""
        if self.exchanges is not None:
            return self.exchanges
        if self.filtered is not None:
            return self.matches if self.matches is not None else self.filtered
        return self.folded if self.folded is not None else self.everything

    @property
    def last(self) -> int:
        """The last event that can be looked at."""
        return self.journal.index.count if self.folding is None else self.folding.seen

    @property
    def matching(self) -> int:
        """How many events there are, or how many the filter leaves, folded ones included."""
        return len(self.filtered) if self.filtered is not None else self.seen

    @property
    def behind(self) -> int:
        """Events that have not been looked at yet."""
        return self.last - self.seen

    @property
    def quick(self) -> bool:
        """Whether what is new can be taken in without a thread."""
        if self.filtered is None and self.exchanges is None:
            return True
        if self.exchanges is not None and self.journal.index.count > LONG:
            return False
        reads = self.filter is not None and self.filter.reads
        return self.behind <= (READ_AT_ONCE if reads else AT_ONCE)

    def scan(self, last: int) -> ScanResult:
        """Look at a part of what is new up to event `last`."""
        if self.filtered is None:
            if self.exchanges is None:
                return ScanResult(last, None, None)
            last = min(last, self.seen + STEP)
            return ScanResult(last, None, self.exchanges.scan(last))
        change = self.filtered.scan(last, STEP)
        if self.exchanges is None:
            return ScanResult(change.seen, change, None)
        left, new = set(change.left), {*change.added, *change.joined}
        position = self.filtered.position

        def fits(n: int) -> bool:
            return n in new or (n not in left and position(n) is not None)

        return ScanResult(change.seen, change, self.exchanges.scan(change.seen, sorted(new), change.left, fits))

    def apply(self, step: ScanResult) -> int | None:
        """Take in what a scan has found. Returns the first row that is different, None if none is."""
        before = len(self.everything)
        self.seen = self.everything.count = step.last
        first = self._first_new(before) if step.last > before else None
        if step.change is not None and self.filtered is not None:
            first = (self.filtered if self.matches is None else self.matches).apply(step.change)
        if step.growth is not None and self.exchanges is not None:
            first = self.exchanges.apply(step.growth)
        return first

    def _first_new(self, before: int) -> int:
        """The first row beyond event `before`."""
        if self.folded is None:
            return before
        found = self.folded.position(before + 1)
        return 0 if found is None else min(found, len(self.folded))

    def refold(self, changed: Iterable[int]) -> int | None:
        """Take in that some events stand in another row now. Returns the first row that may be different."""
        known = {n for n in changed if n <= self.seen}
        if self.folding is None or not known:
            return None
        rows = known | {self.folding.row(n) for n in known}
        if self.exchanges is not None:
            self.exchanges.drop(n for n in known if self.folding.is_folded(n))
        elif self.matches is not None:
            self.matches.look_again(rows)
        places = [place for n in rows if (place := self.numbers.position(n)) is not None]
        return max(min(places) - 1, 0) if places else None

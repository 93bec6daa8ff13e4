"""The rows of the message log over a journal or a filter: one per message, event or exchange."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from inspector.journal.filters import Filter, FilterChange, FilteredView
from inspector.journal.folding import FoldedMatches, FoldedRows, Folding
from inspector.journal.journal import Journal
from inspector.tui.log.exchange_rows import ExchangeRows, Growth
from inspector.tui.log.rows import AllEvents, Numbers

AT_ONCE = 4000
"""Events that one tick handles; more are left to a thread."""
READ_AT_ONCE = 400
"""The same, if bodies must be read."""
LONG = 50_000
"""Events from which a recording is long: the exchange view then always uses the thread."""
STEP = 1 << 13
"""Events that the thread handles before it yields to the interface."""


class ScanResult(NamedTuple):
    """The result of one scan."""

    last: int
    change: FilterChange | None
    growth: Growth | None


class MessageView:
    """The numbers of events with rows. `scan` reads new events, in a thread if there are many; `apply` adds them.

    With `folding`, which must be ahead of it, folded events have no rows.
    """

    def __init__(
        self, journal: Journal, filter: Filter | None, *, by_exchange: bool, folding: Folding | None = None
    ) -> None:
        self.journal = journal
        self.filter = filter
        self.folding = folding
        self.seen = 0
        self.filtered = FilteredView(journal, filter) if filter is not None else None
        self.exchanges = ExchangeRows(journal, filtered=filter is not None, folding=folding) if by_exchange else None
        self.everything = AllEvents() if folding is None else FoldedRows(folding)
        """The rows without a filter."""
        self.matches: FilteredView | FoldedMatches | None = self.filtered
        if folding is not None and self.filtered is not None:
            self.matches = FoldedMatches(folding, self.filtered)
        self.numbers: Numbers = next(
            rows for rows in (self.exchanges, self.matches, self.everything) if rows is not None
        )
        """The rows."""

    @property
    def last(self) -> int:
        """The last event that can be read."""
        return self.journal.index.count if self.folding is None else self.folding.seen

    @property
    def matching(self) -> int:
        """The number of events, or of those that match the filter, including folded ones."""
        return len(self.filtered) if self.filtered is not None else self.seen

    @property
    def behind(self) -> int:
        """Events that have not been read yet."""
        return self.last - self.seen

    @property
    def quick(self) -> bool:
        """Whether the new events can be read without a thread."""
        if self.filtered is None and self.exchanges is None:
            return True
        if self.exchanges is not None and self.journal.index.count > LONG:
            return False
        reads = self.filter is not None and self.filter.reads
        return self.behind <= (READ_AT_ONCE if reads else AT_ONCE)

    def scan(self, last: int) -> ScanResult:
        """Read some of the new events, up to event `last`."""
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
        """Apply the result of a scan. Returns the first row that changed, or None."""
        before, self.seen = self.seen, step.last
        if isinstance(self.everything, AllEvents):
            self.everything.count = step.last
        first = min(self.everything.position(before + 1) or 0, len(self.everything)) if step.last > before else None
        if step.change is not None and self.matches is not None:
            first = self.matches.apply(step.change)
        if step.growth is not None and self.exchanges is not None:
            first = self.exchanges.apply(step.growth)
        return first

    def refold(self, changed: Iterable[int]) -> int | None:
        """Update the rows of events that are folded elsewhere now. Returns the first row that may have changed."""
        known = {n for n in changed if n <= self.seen}
        if self.folding is None or not known:
            return None
        rows = known | {self.folding.row(n) for n in known}
        if self.exchanges is not None:
            self.exchanges.drop(n for n in known if self.folding.is_folded(n))
        elif isinstance(self.matches, FoldedMatches):
            self.matches.look_again(rows)
        places = [place for n in rows if (place := self.numbers.position(n)) is not None]
        return max(min(places) - 1, 0) if places else None

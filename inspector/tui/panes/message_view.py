"""What the message log shows of a journal: all of it or what a filter leaves, event by event or by exchange."""

from __future__ import annotations

from typing import NamedTuple

from inspector.journal.filters import Change, Filter, FilteredView
from inspector.journal.journal import Journal
from inspector.tui.panes.exchanges import Exchanges, Growth
from inspector.tui.panes.message_rows import Everything, Numbers

AT_ONCE = 4000
"""Events that are taken in within a tick; more are left to a thread."""
READ_AT_ONCE = 400
"""The same, where bodies have to be read."""
LONG = 50_000
"""Events from which on a recording is long: the exchange view leaves everything to the thread."""
STEP = 1 << 13
"""Events that the thread looks at before the interface has its turn."""


class Step(NamedTuple):
    """What one scan has found."""

    last: int
    change: Change | None
    growth: Growth | None


class MessageView:
    """The numbers that are rows, kept up to date: `scan` looks (in a thread if there is much), `apply` takes in."""

    def __init__(self, journal: Journal, filter: Filter | None, *, by_exchange: bool) -> None:
        self.journal = journal
        self.filter = filter
        self.filtered = FilteredView(journal, filter) if filter is not None else None
        self.exchanges = Exchanges(journal, filtered=filter is not None) if by_exchange else None
        self.everything = Everything()
        self.seen = 0

    @property
    def numbers(self) -> Numbers:
        """The rows."""
        if self.exchanges is not None:
            return self.exchanges
        return self.filtered if self.filtered is not None else self.everything

    @property
    def matching(self) -> int:
        """How many events there are, or how many the filter leaves."""
        return len(self.filtered) if self.filtered is not None else self.seen

    @property
    def behind(self) -> int:
        """Events that have not been looked at yet."""
        return self.journal.index.count - self.seen

    @property
    def quick(self) -> bool:
        """Whether what is new can be taken in without a thread."""
        if self.filtered is None and self.exchanges is None:
            return True
        if self.exchanges is not None and self.journal.index.count > LONG:
            return False
        reads = self.filter is not None and self.filter.reads
        return self.behind <= (READ_AT_ONCE if reads else AT_ONCE)

    def scan(self, last: int) -> Step:
        """Look at a part of what is new up to event `last`."""
        if self.filtered is None:
            if self.exchanges is None:
                return Step(last, None, None)
            last = min(last, self.seen + STEP)
            return Step(last, None, self.exchanges.scan(last))
        change = self.filtered.scan(last, STEP)
        if self.exchanges is None:
            return Step(change.seen, change, None)
        left, new = set(change.left), {*change.added, *change.joined}
        position = self.filtered.position

        def fits(n: int) -> bool:
            return n in new or (n not in left and position(n) is not None)

        return Step(change.seen, change, self.exchanges.scan(change.seen, sorted(new), change.left, fits))

    def apply(self, step: Step) -> int | None:
        """Take in what a scan has found. Returns the first row that is different, None if none is."""
        before = len(self.everything)
        self.seen = self.everything.count = step.last
        first = before if step.last > before else None
        if step.change is not None and self.filtered is not None:
            first = self.filtered.apply(step.change)
        if step.growth is not None and self.exchanges is not None:
            first = self.exchanges.apply(step.growth)
        return first

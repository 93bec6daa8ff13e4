"""Reads the journal into the rows of the message log.

A tick takes a few milliseconds; a long recording is read in a thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from time import monotonic
from typing import NamedTuple

from textual.widget import Widget

from inspector.journal.filters import Filter, FilterChange, FilteredView
from inspector.journal.folding import FoldedMatches, Folding
from inspector.journal.journal import Journal
from inspector.journal.session_start import StartFolding
from inspector.tui.log.rows import AllEvents, Numbers
from inspector.tui.log.waterfall import PAUSE, ExchangeRows, Growth
from inspector.tui.model.log import Fold
from inspector.tui.timers import SingleTimer

FOLD_TIME = 0.01
"""Seconds per tick that folding may take."""
FOLD_PAUSE = 0.02
"""Seconds until the next tick if there is more to fold."""
DRAWN = 0.05
"""Seconds between two drawings while a thread reads."""


AT_ONCE = 4000
"""Events that one tick handles; more are left to a thread."""
READ_AT_ONCE = 400
"""The same, if bodies must be read."""
LONG = 50_000
"""Events from which a recording is long: the exchange view then always uses the thread."""
STEP = 1 << 15
"""Events that the thread handles before it yields to the interface."""
READ_STEP = 1 << 13
"""The same, if bodies must be read."""


class ScanResult(NamedTuple):
    """The result of one scan."""

    last: int
    change: FilterChange | None
    growth: Growth | None


class MessageView:
    """The numbers of events with rows. `scan` reads new events, in a thread if there are many; `apply` adds them.

    With `folding`, which must be ahead of it, folded events have no rows; the start of a session is folded only where
    all messages have rows.
    """

    def __init__(
        self,
        journal: Journal,
        filter: Filter | None,
        *,
        by_exchange: bool,
        folding: Folding | StartFolding | None = None,
    ) -> None:
        self.journal = journal
        self.filter = filter
        self.folding = folding
        self.seen = 0
        self.filtered = FilteredView(journal, filter) if filter is not None else None
        messages = folding.messages if isinstance(folding, StartFolding) else folding
        self.exchanges = ExchangeRows(journal, filtered=filter is not None, folding=messages) if by_exchange else None
        self.everything = AllEvents() if folding is None else folding
        """The rows without a filter."""
        self.matches: FilteredView | FoldedMatches | None = self.filtered
        if messages is not None and self.filtered is not None:
            self.matches = FoldedMatches(messages, self.filtered)
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
        return self.behind <= (READ_AT_ONCE if self._reads else AT_ONCE)

    @property
    def _reads(self) -> bool:
        return self.filter is not None and self.filter.reads

    def scan(self, last: int) -> ScanResult:
        """Read some of the new events, up to event `last`."""
        if self.filtered is None:
            if self.exchanges is None:
                return ScanResult(last, None, None)
            last = min(last, self.seen + STEP)
            return ScanResult(last, None, self.exchanges.scan(last))
        change = self.filtered.scan(last, READ_STEP if self._reads else STEP)
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


class LogReader:
    """Keeps `view` up to date. `on_rows` gets the first row that changed, None if only figures have.

    `on_more` is called soon after a tick that has left events unread.
    """

    def __init__(
        self, owner: Widget, journal: Journal, on_rows: Callable[[int | None], None], on_more: Callable[[], object]
    ) -> None:
        self.folding = StartFolding(Folding(journal))
        """Which events are folded into the row of another, whatever is shown: the detail of a message reads it."""
        self.view = MessageView(journal, None, by_exchange=False, folding=self.folding)
        self._owner, self._journal, self._on_rows = owner, journal, on_rows
        self._seen = (-1, -1, -1)
        self._refolded: int | None = None
        """The first row that folding has changed since the last tick."""
        self._in_thread: MessageView | None = None
        self._more = SingleTimer(owner, on_more)
        self._figures = SingleTimer(owner, self._read)

    def show(self, filter: Filter | None, *, by_exchange: bool, fold: Fold) -> None:
        """Make another view, and read its rows: all of them, or the first in a thread."""
        self.folding.advance(self._journal.index.count, FOLD_TIME)
        messages = self.folding.messages if fold is Fold.MESSAGE else None
        folding = self.folding if fold is Fold.START else messages
        view = self.view = MessageView(self._journal, filter, by_exchange=by_exchange, folding=folding)
        self._refolded = None
        self._seen = self._depends_on
        if view.quick:
            view.apply(view.scan(view.last))
            self._plan_figures()
        else:
            self._read_in_thread(view)

    def tick(self) -> None:
        """Fold and read what is new."""
        if self.fold().seen < self._journal.index.count:
            self._more.start(FOLD_PAUSE)
        first, self._refolded = self._refolded, None
        if first is not None:
            self._on_rows(first)
        seen = self._depends_on
        if seen != self._seen:
            self._seen = seen
            self._read()

    def fold(self) -> StartFolding:
        """Fold what is new, also while the log is hidden. Returns the rows without a filter."""
        first = self.view.refold(self.folding.advance(self._journal.index.count, FOLD_TIME))
        if first is not None:
            self._refolded = first if self._refolded is None else min(first, self._refolded)
        return self.folding

    @property
    def is_behind(self) -> bool:
        """Whether a thread reads, so that rows will follow."""
        return self._in_thread is self.view

    @property
    def is_folding(self) -> bool:
        """Whether events are not folded yet, so that rows will follow."""
        folding = self.view.folding
        return folding is not None and folding.seen < self._journal.index.count

    @property
    def _depends_on(self) -> tuple[int, int, int]:
        """A change of these can make rows, or change which of them match the filter."""
        return self.view.last, self._journal.findings.version, self._journal.marks.version

    def _read(self) -> None:
        view = self.view
        if self.is_behind:
            return
        if view.quick:
            self._tell(view.apply(view.scan(view.last)))
        else:
            self._read_in_thread(view)

    def _read_in_thread(self, view: MessageView) -> None:
        self._owner.run_worker(self._catch_up(view), exclusive=True, group="view", exit_on_error=False)

    async def _catch_up(self, view: MessageView) -> None:
        """Read slice by slice; rows appear as they are found."""
        self._in_thread = view
        first: int | None = None
        drawn = 0.0
        try:
            more = True
            while more:
                step = await asyncio.to_thread(view.scan, view.last)
                if view is not self.view:
                    return
                first_changed = view.apply(step)
                first = (
                    first_changed if first is None else first if first_changed is None else min(first, first_changed)
                )
                more = view.behind > 0
                if not more or monotonic() - drawn > DRAWN:
                    self._tell(first)
                    first, drawn = None, monotonic()
        finally:
            if self._in_thread is view:
                self._in_thread = None
        self._tell(None)

    def _tell(self, first: int | None) -> None:
        self._plan_figures()
        self._on_rows(first)

    def _plan_figures(self) -> None:
        """Measure again later if the figures of the exchanges do not cover all events."""
        exchanges = self.view.exchanges
        if exchanges is not None and exchanges.stale:
            self._figures.start(PAUSE)

"""Reads the journal into the rows of the message log.

A tick takes a few milliseconds; a long recording is read in a thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic

from textual.widget import Widget

from inspector.journal.filters import Filter
from inspector.journal.folding import Folding
from inspector.journal.journal import Journal
from inspector.tui.log.exchange_rows import PAUSE
from inspector.tui.log.view import MessageView
from inspector.tui.timers import SingleTimer

FOLD_TIME = 0.01
"""Seconds per tick that folding may take."""
FOLD_PAUSE = 0.02
"""Seconds until the next tick if there is more to fold."""
DRAWN = 0.05
"""Seconds between two drawings while a thread reads."""


class LogReader:
    """Keeps `view` up to date. `on_rows` gets the first row that changed, None if only figures have.

    `on_more` is called soon after a tick that has left events unread.
    """

    def __init__(
        self, owner: Widget, journal: Journal, on_rows: Callable[[int | None], None], on_more: Callable[[], object]
    ) -> None:
        self.folding = Folding(journal)
        """Which events are folded into the row of another."""
        self.view = MessageView(journal, None, by_exchange=False, folding=self.folding)
        self._owner, self._journal, self._on_rows = owner, journal, on_rows
        self._seen = (-1, -1, -1)
        self._in_thread: MessageView | None = None
        self._more = SingleTimer(owner, on_more)
        self._figures = SingleTimer(owner, self._read)

    def show(self, filter: Filter | None, *, by_exchange: bool, folds: bool) -> None:
        """Make another view, and read its rows: all of them, or the first in a thread."""
        folding = self.folding if folds else None
        view = self.view = MessageView(self._journal, filter, by_exchange=by_exchange, folding=folding)
        self._seen = self._depends_on
        if view.quick:
            view.apply(view.scan(view.last))
            self._plan_figures()
        else:
            self._read_in_thread(view)

    def tick(self) -> None:
        """Fold and read what is new."""
        count = self._journal.index.count
        first = self.view.refold(self.folding.advance(count, FOLD_TIME))
        if first is not None:
            self._on_rows(first)
        if self.folding.seen < count:
            self._more.start(FOLD_PAUSE)
        seen = self._depends_on
        if seen != self._seen:
            self._seen = seen
            self._read()

    @property
    def is_behind(self) -> bool:
        """Whether a thread reads, so that rows will follow."""
        return self._in_thread is self.view

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
                found = view.apply(step)
                first = found if first is None else first if found is None else min(first, found)
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

"""The figures of each method in a timeline's window, measured in a thread."""

from __future__ import annotations

import asyncio
from time import monotonic

from textual import work
from textual.timer import Timer

from inspector.stats import SessionStats, measure
from inspector.text import count
from inspector.tui.pane_keys import hints
from inspector.tui.timeline.pane_lines import SORTS, DrawnLines, method_lines
from inspector.tui.timeline.view import TimelineView
from inspector.tui.widgets import paint
from inspector.tui.widgets.pane import Pane

PATIENCE = 0.2
"""Seconds without a key before the figures are measured."""
MAX_LENGTH = 1.0
"""Seconds for which they are put off at most."""
MAX_MEASURED = 30_000
"""Messages of a window whose figures are measured."""


class FiguresPane(Pane):
    """Shows the figures of a view's window, or of the whole session."""

    def __init__(self, view: TimelineView) -> None:
        self._lines = DrawnLines()
        super().__init__(self._lines, title="By method", id="timeline-methods")
        self.view = view
        self._measured: tuple[tuple[int, int], SessionStats | None] | None = None
        """The first and last event of the figures shown, and the figures; None if there are too many messages."""
        self._of_session = False
        self._sort = SORTS[0]
        self._delay: Timer | None = None
        self._put_off_since = 0.0

    @property
    def stats(self) -> SessionStats | None:
        """The figures shown."""
        return self._measured[1] if self._measured is not None else None

    def measure_soon(self) -> None:
        """Measure after the last key; a session that grows all the time does not put it off for ever."""
        now = monotonic()
        if self._delay is None:
            self._put_off_since = now
        elif now - self._put_off_since < MAX_LENGTH:
            self._delay.stop()
        else:
            return
        self._delay = self.set_timer(PATIENCE, self._measure)

    @work(exclusive=True, group="figures", exit_on_error=False)
    async def _measure(self) -> None:
        """Measure the window in a thread, and show the figures."""
        self._delay = None
        view = self.view
        session = view.session
        first, last = view.events(*((0, view.latest) if self._of_session else view.range))
        if not session.at_end:
            last = min(last, session.upto)
        if self._measured is None or (first, last) != self._measured[0]:
            few = last - first < MAX_MEASURED
            stats = await asyncio.to_thread(measure, session.journal, first, last, by_name=False) if few else None
            self._measured = (first, last), stats
        self._show()

    def _show(self) -> None:
        view, stats = self.view, self.stats
        of = "of the session" if self._of_session else "in the range" if view.mark is not None else "in the window"
        self.facts = [of]
        if stats is None:
            words = f"Zoom in for the figures: at most {count(MAX_MEASURED)} messages are measured."
            self._lines.show([paint.segments([(words, "muted")])])
            return
        self._lines.show(method_lines(stats, self._sort, self._lines.room, self._lines.size.height))
        self.note = [("without a person's time", "faint")] if stats.person else ""
        scope = "window" if self._of_session else "whole session"
        self.keys = hints(self, "timeline.sort", ("timeline.scope", scope), "timeline.save")

    def sort(self) -> None:
        """Sort by the next column."""
        self._sort = SORTS[(SORTS.index(self._sort) + 1) % len(SORTS)]
        self._show()

    def toggle_scope(self) -> None:
        """Measure the whole session, or the window again."""
        self._of_session = not self._of_session
        self._measure()

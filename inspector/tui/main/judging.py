"""Judges the events that the panes have drawn, while nothing else is to do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib import import_module
from time import perf_counter
from typing import TYPE_CHECKING

from textual.screen import Screen

from inspector.journal.journal import Journal
from inspector.tui.main.redraw_pace import TICK

if TYPE_CHECKING:
    from inspector.check.judge.judge import Judge


class Judging:
    """The judge of a session's messages. Its rules take a tenth of a second to load: `load` is called once.

    `wake` is called when there is more to judge.
    """

    def __init__(self, screen: Screen[None], journal: Journal, wake: Callable[[], None]) -> None:
        self._screen = screen
        self._journal = journal
        self._wake = wake
        self._judge: Judge | None = None
        self._due = False
        self._drawn = 0
        """The events at the latest drawing."""

    @property
    def loaded(self) -> bool:
        """The judge is there."""
        return self._judge is not None

    @property
    def judged(self) -> int:
        """The number of events that were judged."""
        return self._judge.judged if self._judge is not None else 0

    def made(self) -> Judge:
        """Return the judge, and load it if it is not there."""
        if self._judge is None:
            from inspector.check.judge.judge import Judge

            self._judge = Judge(self._journal)
        return self._judge

    def load_soon(self) -> None:
        """Load the judge in a moment."""
        if not self._due and self._judge is None:
            self._due = True
            self._screen.set_timer(
                TICK, lambda: self._screen.run_worker(self._load(), group="judge", exit_on_error=False)
            )

    async def _load(self) -> None:
        # In a thread: keys are answered while the modules are imported.
        await asyncio.to_thread(import_module, "inspector.check.judge.judge")
        self.made()
        self._wake()

    def run(self, seconds: float, *, reading: bool) -> None:
        """Judge some of the events that the panes have drawn, for so many seconds.

        None while a large result is read: the message is read for the result and for the judge, and the user waits for
        the result only. None while a dialog is open: Textual redraws the whole screen for any change below one.
        """
        journal, until = self._journal, perf_counter() + seconds
        drawn, self._drawn = self._drawn, len(journal)
        front = self._screen.app.screen
        if self._judge is None or not (front is self._screen or getattr(front, "shows_findings", False)):
            return
        more = not reading
        while more and perf_counter() < until:
            more = self._judge.run(1, drawn)
        if self._judge.judged < len(journal):
            self._wake()

"""Opening what the main screen shows: connecting, connecting anew, reading a recording; each in a worker."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from typing import Any

from textual.screen import Screen
from textual.worker import get_current_worker

from inspector.client.session import Session
from inspector.errors import InspectorError
from inspector.journal.journal import Journal
from inspector.tui.events import AnySession
from inspector.tui.screens.dialogs import Choose

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")

PORTION = 4000
"""Events of a recording that are taken in before other threads have a turn."""
LOOK_AGAIN = 0.1
"""Seconds between two looks at a file that another process still writes."""


class Connection:
    """The session of a screen, live or recorded, from its opening on. `wake` asks the screen to draw soon."""

    def __init__(
        self, screen: Screen[None], session: AnySession, wake: Callable[[], None], *, follow_file: bool
    ) -> None:
        self._screen = screen
        self._session = session
        self._wake = wake
        self.follow_file = follow_file
        """A recording that another process still writes is read as it grows."""
        self.indexing = not session.can_send
        """The file of a recording is being read for the first time."""
        self._asked_for_lists = False

    def open(self) -> None:
        """Connect, or read the recording."""
        if isinstance(self._session, Session):
            self._work(self._connect(self._session))
        else:
            self._screen.run_worker(self._index, thread=True, exclusive=True, group="index", exit_on_error=False)

    def reopen(self) -> None:
        """Close the connection and open it again, on the same recording."""
        if isinstance(self._session, Session):
            self._work(self._reconnect(self._session))

    def choose_log_level(self) -> None:
        """Ask from which level the server is to log, and tell it."""
        if isinstance(self._session, Session):
            self._screen.run_worker(self._log_level(self._session), exclusive=True, group="dialog")

    def _work(self, opening: Coroutine[Any, Any, None]) -> None:
        self._screen.run_worker(opening, exclusive=True, group="connection", exit_on_error=False)

    async def _connect(self, session: Session) -> None:
        try:
            await session.open()
        except InspectorError:
            return  # `phase` and `error` say it; the failed pane shows it.
        self._load_lists(session)

    async def _reconnect(self, session: Session) -> None:
        try:
            await session.reopen()
        except InspectorError:
            return
        if not self._asked_for_lists:
            self._load_lists(session)
        changed = sum(len(c.added) + len(c.removed) + len(c.altered) for c in session.surface_changes)
        changes = f" {changed} changes in what it offers." if changed else ""
        self._screen.notify(f"Connected anew.{changes}", timeout=4)

    def _load_lists(self, session: Session) -> None:
        self._asked_for_lists = True
        session.load_all()
        session.run(session.listen())

    def _index(self) -> None:
        """Take in the file in portions, in a thread; the rows appear as they come."""
        worker, journal = get_current_worker(), self._session.journal
        while not worker.is_cancelled:
            self.indexing = journal.refresh(PORTION)
            self._screen.app.call_from_thread(self._wake)
            if not self.indexing:
                if not self.follow_file or journal.ended is not None:
                    return
                time.sleep(LOOK_AGAIN)

    async def _log_level(self, session: Session) -> None:
        level = await self._screen.app.push_screen_wait(Choose("Log messages from", [(name, "") for name in LEVELS]))
        if level is not None:
            try:
                await session.set_log_level(level)
            except InspectorError as error:
                self._screen.notify(error.message, severity="error", markup=False)


def state_of_file(journal: Journal, connection: Connection) -> tuple[str, str]:
    """What is said of a recording's file, and the role in which it is drawn."""
    if journal.raw_only:
        return "recording of a newer version", "finding"
    if connection.indexing and not connection.follow_file:
        return "reading", "progress"
    if not journal.end_is_missing:
        return "recording", "muted"
    return ("following", "received") if connection.follow_file else ("recording, end is missing", "finding")

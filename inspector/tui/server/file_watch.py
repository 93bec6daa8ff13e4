"""Restarts a server when one of its files changes."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from textual.screen import Screen

from inspector.client.session_state import SessionState
from inspector.config.targets import StdioTarget
from inspector.errors import UsageError
from inspector.tui.advice import error_text

MAX_COUNT = 5
WITHIN = 10.0
"""Restarts within so many seconds that mean that the start itself changes the files."""


class FileWatch:
    """`toggle` starts or ends watching; `restart` restarts the server; `error_text` is called when `on` changes."""

    def __init__(
        self, screen: Screen[None], session: SessionState, restart: Callable[[], None], told: Callable[[], None]
    ) -> None:
        self._screen = screen
        self._session = session
        self._restart = restart
        self._told = told
        self._starts: deque[float] = deque(maxlen=MAX_COUNT)
        self.on = False

    def toggle(self) -> None:
        """Start watching, or stop."""
        if self.on:
            self._end("Stopped watching files.")
            return
        target = self._session.target
        if self._session.commands is None or not isinstance(target, StdioTarget):
            return
        from inspector.client import source_files

        try:
            folder = source_files.folder_of(target)
        except UsageError as error:
            self._screen.notify(error_text(error, self._screen), severity="warning", timeout=10)
            return
        self.on = True
        self._screen.run_worker(self._watch(target), exclusive=True, group="file-watch", exit_on_error=False)
        self._screen.notify(f"The server restarts when a file in {folder} changes.", timeout=5)
        self._told()

    async def _watch(self, target: StdioTarget) -> None:
        from inspector.client import source_files

        try:
            async for names in source_files.changes(target):
                now = time.monotonic()
                if len(self._starts) == MAX_COUNT and now - self._starts[0] < WITHIN:
                    self._end(f"{names[0]} changes each time the server starts: stopped watching files.")
                    return
                self._starts.append(now)
                more = f" and {len(names) - 1} more" if len(names) > 1 else ""
                self._session.journal.record_note(f"{names[0]}{more} changed: the server is restarted.")
                self._restart()
        except UsageError as error:
            self._end(error.message)

    def _end(self, reason: str) -> None:
        self.on = False
        self._starts.clear()
        self._screen.workers.cancel_group(self._screen, "file-watch")
        self._screen.notify(reason, timeout=10)
        self._told()

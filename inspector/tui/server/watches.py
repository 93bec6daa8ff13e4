"""Watches of a live server: one restarts it when its files change, the other compares it with its pin."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from inspector.client.pins import Pin, Pins
from inspector.client.session_state import SessionState
from inspector.client.state.catalog import KINDS
from inspector.client.state.surfaces import is_read, surface_of
from inspector.config.targets import StdioTarget
from inspector.errors import ConfigError, UsageError
from inspector.tui.advice import error_text
from inspector.tui.window import window_of

MAX_COUNT = 5
WITHIN = 10.0
"""Restarts within so many seconds that mean that the start itself changes the files."""


class FileWatch:
    """`toggle` starts or ends watching; `restart` restarts the server; `on_change` is called when `on` changes."""

    def __init__(
        self, screen: Screen[None], session: SessionState, restart: Callable[[], None], on_change: Callable[[], None]
    ) -> None:
        self._screen = screen
        self._session = session
        self._restart = restart
        self._on_change = on_change
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
        self._on_change()

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
        self._on_change()


if TYPE_CHECKING:
    from inspector.check.drift import Drift

NOTICE_SECONDS = 30
"""Seconds for which a notification about changes is shown; the server pane shows them permanently."""


class PinWatch:
    """Compares a session with the pin of its target. `compare_if_new` is called on every tick, and mostly does nothing.

    `on_change` is called when `drift` may have changed.
    """

    def __init__(self, screen: Screen[None], session: SessionState, on_change: Callable[[], None]) -> None:
        self._screen = screen
        self._session = session
        self._show = on_change
        self.drift: Drift | None = None
        """The known changes since the server was pinned."""
        self._pin: Pin | None = None
        self._looked = False
        self._seen: tuple[Any, ...] = ()
        self._reported = ""

    def compare_if_new(self) -> None:
        """Compare, if there is a pin and what the server offers is new and complete."""
        session = self._session
        if not self._looked:
            self._looked = True
            self._read()
        if self._pin is None or session.commands is None or session.phase != "ready":
            return
        seen = (session.server, *(session.catalog[name].version for name in KINDS))
        if seen == self._seen or not is_read(session):
            return
        self._seen = seen
        # Many tools take long to compare. The items themselves never change; the lists do.
        now = {key: list(value) if type(value) is list else value for key, value in surface_of(session).items()}
        work = partial(self._compare, now, self._pin)
        self._screen.run_worker(work, thread=True, exclusive=True, group="pin", exit_on_error=False)

    def pin(self) -> None:
        """Pin what the server offers now."""
        session = self._session
        if session.commands is None or session.phase != "ready" or not is_read(session):
            self._screen.notify("The lists of the server are not complete yet.", severity="warning")
            return
        try:
            self._pin = Pins().put(session.target, surface_of(session))
        except ConfigError as error:
            self._screen.notify(error_text(error, self._screen), severity="error")
            return
        self._looked, self._seen, self._reported = True, (), ""
        self.drift = None
        self._show()
        self._screen.notify("Pinned. Later sessions warn when the server offers something else.")

    def _read(self) -> None:
        session = self._session
        if session.commands is None or not window_of(self._screen).settings.check_pins:
            return
        try:
            self._pin = Pins().get(session.target)
        except ConfigError as error:
            text = f"The comparison was skipped. {error_text(error, self._screen)}"
            self._screen.notify(text, severity="warning", timeout=NOTICE_SECONDS)

    def _compare(self, now: dict[str, Any], pin: Pin) -> None:
        from inspector.check.drift import drift_from

        self._screen.app.call_from_thread(self._report_drift, drift_from(now, pin), pin)

    def _report_drift(self, drift: Drift | None, pin: Pin) -> None:
        """Report the changes: briefly on the screen, permanently in the server pane and the recording."""
        if pin is not self._pin or not self._screen.is_mounted:
            return
        self.drift = drift
        self._show()
        sentence = drift.sentence if drift is not None else ""
        if drift is not None and sentence != self._reported:
            from inspector.check.drift import note

            note(self._session.journal, drift)
            self._screen.notify(f"{sentence} See the server pane.", severity="warning", timeout=NOTICE_SECONDS)
        self._reported = sentence

"""Opens the session of the main screen in a worker: connect, reconnect, or read a recording."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal, cast

from textual.screen import Screen
from textual.worker import Worker, WorkerError, get_current_worker

from inspector.client.session_state import Commands, SessionState
from inspector.errors import ConnectingStopped, InspectorError
from inspector.journal.journal import Journal
from inspector.protocol.revisions import REVISIONS, features
from inspector.text import safe
from inspector.tui.dialogs import Choose
from inspector.tui.key_order import KeysInOrder
from inspector.tui.login.actions import LoginWork
from inspector.tui.pane_messages import Reconnected

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")

PORTION = 1000
"""Events of a recording that are read before other threads run: about 5 ms."""
BETWEEN_WAKES = 0.05
"""Seconds between two drawings while reading."""
KEY_TIME = 0.06
"""Seconds after a key in which its effects are drawn."""
REST = 0.03
"""Seconds between two portions in that time: the interpreter runs one thread at a time, so reading slows drawing."""
LOOK_AGAIN = 0.1
"""Seconds between two reads of a file that another process writes."""


class ScreenConnection:
    """The session of a screen, live or recorded. `wake` asks the screen to draw soon."""

    def __init__(
        self,
        screen: Screen[None],
        session: SessionState,
        wake: Callable[[], None],
        *,
        follow_file: bool,
        begun: asyncio.Task[None] | None = None,
    ) -> None:
        """`begun` is `session.open_with_lists()` if it was started before the screen existed."""
        self._screen = screen
        self._session = session
        self._wake = wake
        self.follow_file = follow_file
        """A recording is read while another process writes it."""
        self.indexing = session.commands is None
        """The file of a recording is being read for the first time."""
        self._asked_for_lists = False
        self.began = time.monotonic()
        """When connecting started, on the monotonic clock."""
        self._log_in = False
        self._begun = begun
        self._opening: Worker[None] | None = None

    def open(self, *, log_in: bool = False) -> None:
        """Connect, or read the recording. `log_in`: log in afterwards unless connecting has done so."""
        self._log_in = log_in
        session = self._session.commands
        if session is not None:
            self._work(self._connect(session))
        else:
            self._screen.run_worker(self._index, thread=True, exclusive=True, group="index", exit_on_error=False)

    def reopen(self) -> None:
        """Close the connection and open it again, on the same recording."""
        session = self._session.commands
        if session is not None:
            self._work(self._reconnect(session))

    @property
    def elapsed(self) -> float:
        """Seconds since connecting started."""
        return time.monotonic() - self.began

    def stop(self) -> None:
        """Cancel connecting; the server is stopped."""
        session = self._session.commands
        if session is not None and session.phase == "connecting" and self._opening is not None:
            self._screen.run_worker(self._stop(session, self._opening), group="stop", exit_on_error=False)

    def choose_log_level(self) -> None:
        """Ask for a log level and set it on the server."""
        session = self._session.commands
        if session is not None:
            self._screen.run_worker(self._log_level(session), exclusive=True, group="dialog")

    def choose_revision(self, suggested: str = "") -> None:
        """Ask for revision and era, and reconnect with them. The cursor is on the suggested one."""
        session = self._session.commands
        if session is not None:
            self._screen.run_worker(self._revision(session, suggested), exclusive=True, group="dialog")

    def choose_extensions(self) -> None:
        """Ask for an extension to offer, or not to offer any more, and reconnect."""
        session = self._session.commands
        if session is not None:
            self._screen.run_worker(self._extensions(session), exclusive=True, group="dialog")

    def _work(self, opening: Coroutine[Any, Any, None]) -> None:
        self.began = time.monotonic()
        self._opening = self._screen.run_worker(opening, exclusive=True, group="connection", exit_on_error=False)

    async def _stop(self, session: Commands, opening: Worker[None]) -> None:
        seconds = self.elapsed
        opening.cancel()
        with suppress(WorkerError):
            await opening.wait()
        await session.stopped(ConnectingStopped(f"You stopped connecting after {seconds:.0f} s."))

    async def _connect(self, session: Commands) -> None:
        begun, self._begun = self._begun, None
        try:
            await (begun or session.open_with_lists())
        except InspectorError:
            session.remember_outcome()
            return  # `phase` and `error` have it; the failed pane shows it.
        self._asked_for_lists = True
        session.remember_outcome()
        if self._log_in:
            LoginWork(self._screen, session).log_in_if_needed()

    async def _reconnect(self, session: Commands) -> None:
        try:
            await session.reopen()
        except InspectorError:
            session.remember_outcome()
            return
        session.remember_outcome()
        if not self._asked_for_lists:
            self._asked_for_lists = True
            session.follow_lists()
        self._screen.post_message(Reconnected())
        changed = sum(len(c.added) + len(c.removed) + len(c.altered) for c in session.surface_changes)
        changes = f" {changed} change{'' if changed == 1 else 's'} in what the server offers." if changed else ""
        self._screen.notify(f"Reconnected.{changes}", timeout=4)

    def _index(self) -> None:
        """Read the file in portions, in a thread; the rows appear as they are read."""
        worker, journal, app = get_current_worker(), self._session.journal, cast(KeysInOrder, self._screen.app)
        woken_at = 0.0
        while not worker.is_cancelled:
            self.indexing = journal.refresh(PORTION)
            if not self.indexing or time.monotonic() - woken_at > BETWEEN_WAKES:
                app.call_from_thread(self._wake)
                woken_at = time.monotonic()
            if not self.indexing:
                if not self.follow_file or journal.ended is not None:
                    return
                time.sleep(LOOK_AGAIN)
            elif time.monotonic() - app.key_came < KEY_TIME:
                time.sleep(REST)

    async def _revision(self, session: Commands, suggested: str) -> None:
        choices = [("auto", "detect what the server supports")]
        choices += [(name, f"{features(name).era} era") for name in reversed(REVISIONS)]
        current = session.options.protocol or (session.server.revision if session.server.known else "auto")
        chosen = await self._screen.app.push_screen_wait(Choose("Revision and era", choices, suggested or current))
        if chosen is None:
            return
        protocol = "" if chosen == "auto" else chosen
        era: Literal["auto", "legacy", "modern"] = features(chosen).era if protocol else "auto"
        session.options = replace(session.options, protocol=protocol, era=era)
        self.reopen()

    async def _extensions(self, session: Commands) -> None:
        from inspector.client.extensions import extension_choices

        offered, choices = extension_choices(session.server, session.journal, session.upto)
        rows = [
            (safe(extension.id, 60), f"{'offered' if extension.id in offered else 'not offered'}; {extension.about}")
            for extension in choices
        ]
        chosen = await self._screen.app.push_screen_wait(Choose("Extensions: offer one, or stop offering it", rows))
        if chosen is None:
            return
        extension = next(extension for extension in choices if safe(extension.id, 60) == chosen)
        settings = None if extension.id in offered else extension.settings
        session.options = replace(session.options, extensions={**session.options.extensions, extension.id: settings})
        self.reopen()

    async def _log_level(self, session: Commands) -> None:
        level = await self._screen.app.push_screen_wait(
            Choose("Log level of the server", [(name, "") for name in LEVELS])
        )
        if level is not None:
            try:
                await session.set_log_level(level)
            except InspectorError as error:
                self._screen.notify(error.message, severity="error", markup=False)


def state_of_file(journal: Journal, connection: ScreenConnection) -> tuple[str, str]:
    """Return the state of a recording's file and its role."""
    if journal.raw_only:
        return "recording of a newer version", "finding"
    if connection.indexing and not connection.follow_file:
        return "reading", "progress"
    if not journal.end_is_missing:
        return "recording", "muted"
    return ("following", "received") if connection.follow_file else ("recording, end is missing", "finding")

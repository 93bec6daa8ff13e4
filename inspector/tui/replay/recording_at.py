"""A recording opened at one of its messages, from a comparison or from the checks; one key goes back to them."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual import on
from textual.binding import BindingType
from textual.events import Unmount

from inspector.client.recorded import RecordedSession
from inspector.journal.journal import Journal
from inspector.tui.events import ShowEvent
from inspector.tui.keymap import bindings
from inspector.tui.pane_keys import hints
from inspector.tui.replay.screen import Playing, ReplayScreen
from inspector.tui.widgets.status import Footer


class FrameScreen(ReplayScreen):
    """The recording as it was at that message. A journal that is `lent` stays open."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("frame")]

    def __init__(self, session: RecordedSession, n: int, *, lent: bool = False) -> None:
        super().__init__(session, Playing(at=f"#{n}") if n else None)
        self._frame = n
        self._gone = not n
        self._lent = lent

    def _tick(self) -> None:
        super()._tick()
        if not self._gone and len(self.session.journal) >= self._frame:
            self._gone = True
            self.post_message(ShowEvent(self._frame))

    def _show_footer(self) -> None:
        super()._show_footer()
        footer = self.query_one(Footer)
        footer.hints = [*hints(self, ("frame.leave", "the checks" if self._lent else "the comparison")), *footer.hints]

    @on(Unmount)
    def _close(self) -> None:
        if not self._lent:
            self.session.journal.release()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """It is left to where it was opened from, not to the start list."""
        return False if action == "start_list" else super().check_action(action, parameters)

    def action_leave(self) -> None:
        """Go back to where the recording was opened from."""
        self.dismiss(None)


def frame_screen(path: Path, n: int) -> FrameScreen:
    """The recording in `path` at event `n`; at its end for 0. Raises `RecordingError`."""
    return FrameScreen(RecordedSession(Journal.open(path), path), n)


def lent_frame(journal: Journal, path: Path, n: int) -> FrameScreen:
    """A recording that is open, and stays so, at event `n`; `path` names it."""
    return FrameScreen(RecordedSession(journal, path), n, lent=True)

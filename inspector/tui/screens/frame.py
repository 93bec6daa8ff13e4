"""A recording opened at one of its messages, from a comparison; one key goes back to it."""

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
from inspector.tui.panes.keys import hints
from inspector.tui.screens.replay import Playing, ReplayScreen
from inspector.tui.widgets.status import Footer


class FrameScreen(ReplayScreen):
    """The recording as it was at that message."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("frame")]

    def __init__(self, session: RecordedSession, n: int) -> None:
        super().__init__(session, Playing(at=f"#{n}") if n else None)
        self._frame = n
        self._gone = not n

    def _tick(self) -> None:
        super()._tick()
        if not self._gone and len(self.session.journal) >= self._frame:
            self._gone = True
            self.post_message(ShowEvent(self._frame))

    def _show_footer(self) -> None:
        super()._show_footer()
        footer = self.query_one(Footer)
        footer.hints = [*hints(self, "frame.back-to-comparison"), *footer.hints]

    @on(Unmount)
    def _close(self) -> None:
        self.session.journal.release()

    def action_back_to_comparison(self) -> None:
        """Go back to the comparison."""
        self.dismiss(None)


def frame_screen(path: Path, n: int) -> FrameScreen:
    """The recording in `path` at event `n`; at its end for 0. Raises `RecordingError`."""
    return FrameScreen(RecordedSession(Journal.open(path), path), n)

"""The last message in one line, for screens too narrow for the log."""

from __future__ import annotations

from rich.segment import Segment
from textual import events
from textual.strip import Strip

from inspector.client.session_state import SessionState
from inspector.journal.format import Kind
from inspector.tui.keymap import KeyHint
from inspector.tui.log.labels import id_text, sign_of, subject, times
from inspector.tui.pane_keys import hints
from inspector.tui.themes import palette, signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.line_widget import LineWidget

LOOKED_BACK = 200
"""Events that are searched for a message to show."""


class LastMessageLine(LineWidget):
    """`← 8 echo 9 ms   m messages`: the newest message; a click opens the log."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    LastMessageLine { height: 1; width: 1fr; }
    """

    def __init__(self, session: SessionState, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.session = session
        self._seen = -1
        self._shown = 0
        self.asked: paint.Pieces = ""
        """A question of the server that waits out of sight; it is shown instead of the message."""
        self._shows_key = True

    def tick(self) -> None:
        """Draw a newer message, if there is one."""
        seen = self.session.upto
        if seen != self._seen:
            self._seen = seen
            self._shown = self._last()
            self.refresh()

    def show_asked(self, asked: paint.Pieces) -> None:
        """Show a question that waits, or `""`."""
        if asked != self.asked:
            self.asked = asked
            self.refresh()

    def show_key(self, works: bool) -> None:
        """Show the key of the log, unless it would be typed into a field or leads out of the log."""
        if works is not self._shows_key:
            self._shows_key = works
            self.refresh()

    def _hints(self) -> list[KeyHint]:
        if self.asked:
            return hints(self, "app.question")
        return hints(self, "app.messages") if self._shows_key else []

    def _last(self) -> int:
        """The last event that is a message, or else the last event."""
        index, last = self.session.journal.index, self.session.upto
        numbers = range(last, max(last - LOOKED_BACK, 0), -1)
        return next((n for n in numbers if index.kind(n) in (Kind.RPC, Kind.INVALID)), last)

    def render_line(self, y: int) -> Strip:
        look, cells = palette(), self.size.width
        right = [piece for hint in self._hints() for piece in ((hint.label, "key"), f" {hint.title}")]
        left = paint.segments(self.asked or self._words(), room=cells, look=look)
        line = paint.spread(left, paint.segments(right, room=cells, look=look), cells - 2)
        return paint.strip([Segment(" "), *line], cells, look=look)

    def _words(self) -> list[paint.Piece]:
        n, journal = self._shown, self.session.journal
        if not n:
            return [("no messages yet", "muted")]
        index = journal.index
        words = subject(journal, n)
        if len(words) > 1 and index.method(n) == "tools/call":
            words = [(words[1] if isinstance(words[1], str) else words[1][0]).strip()]
        took = [piece for time in times(index, n) for piece in (" ", time)]
        return [sign_of(index, n, signs_now()), f" {id_text(index, n)}".rstrip(), " ", *words, *took]

    def on_click(self, event: events.Click) -> None:
        event.stop()
        if not self.asked and not self._shows_key:
            self.screen.set_focus(None)
        for hint in hints(self, "app.question" if self.asked else "app.messages"):
            self.app.call_later(self.app.simulate_key, hint.key)

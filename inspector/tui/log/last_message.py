"""The last message in one line, for screens too narrow for the log."""

from __future__ import annotations

from collections.abc import Callable

from rich.segment import Segment
from textual import events
from textual.strip import Strip

from inspector.client.session_state import SessionState
from inspector.journal.format import Kind
from inspector.journal.session_start import StartFolding
from inspector.protocol.jsonrpc import Shape
from inspector.tui.log.labels import id_text, sign_of, subject, times
from inspector.tui.log.reader import FOLD_PAUSE
from inspector.tui.log.rows import MessageRows
from inspector.tui.pane_keys import hints
from inspector.tui.themes import palette, signs_now
from inspector.tui.timers import SingleTimer
from inspector.tui.widgets import paint
from inspector.tui.widgets.line_widget import LineWidget

LOOKED_BACK = 200
"""Rows that are searched for a message to show."""


class LastMessageLine(LineWidget):
    """`← 8 echo 9 ms`: the last row of the log; a click opens the log. `fold` folds what is new."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    LastMessageLine { height: 1; width: 1fr; }
    """

    def __init__(self, session: SessionState, fold: Callable[[], StartFolding], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.session = session
        self._fold = fold
        self._rows = MessageRows(session.journal)
        self._more = SingleTimer(self, self.tick)
        self._seen: tuple[int, int] = (-1, -1)
        self._event_n = 0
        self.asked: paint.Pieces = ""
        """A question of the server that waits out of sight; it is shown instead of the message."""

    def tick(self) -> None:
        """Draw a newer row, if there is one, or what is new in it."""
        rows, session = self._fold(), self.session
        if rows.seen < session.journal.index.count:
            self._more.start(FOLD_PAUSE)
        seen = (session.upto, rows.seen)
        if seen != self._seen:
            self._seen = seen
            self._rows.folding, self._rows.upto = rows, None if session.at_end else session.upto
            self._event_n = self._last(rows)
            self.refresh()

    def show_asked(self, asked: paint.Pieces) -> None:
        """Show a question that waits, or `""`."""
        if asked != self.asked:
            self.asked = asked
            self.refresh()

    def _last(self, rows: StartFolding) -> int:
        """Return the last row that is a message or a start, or else the last row."""
        index = self.session.journal.index
        count = rows.until(self.session.upto)
        numbers = [rows[at] for at in range(count - 1, max(count - LOOKED_BACK, 0) - 1, -1)]
        messages = (n for n in numbers if index.kind(n) in (Kind.RPC, Kind.INVALID) or rows.is_start(n))
        return next(messages, numbers[0] if numbers else 0)

    def render_line(self, y: int) -> Strip:
        theme, cells = palette(), self.size.width
        line = paint.cut(paint.segments(self.asked or self._words(), theme=theme), cells - 2)
        return paint.strip([Segment(" "), *line], cells, theme=theme)

    def _words(self) -> list[paint.Piece]:
        n, journal = self._event_n, self.session.journal
        if not n:
            return [("no messages yet", "muted")] if journal.is_read else []
        index, rows = journal.index, self._rows
        row = rows.read(n)
        if row.listed or row.group or index.shape(n) is Shape.NOTIFICATION:
            text, role = rows.duration_text(row)
            return [*rows.signs(row), *rows.summary(row), *rows.ending(row, " "), " ", (text, role)]
        words = subject(journal, n)
        if len(words) > 1 and index.method(n) == "tools/call":
            words = [(words[1] if isinstance(words[1], str) else words[1][0]).strip()]
        took = [piece for time in times(index, n) for piece in (" ", time)]
        if index.shape(n) is Shape.REQUEST:
            took = rows.ending(row, " ")
        return [sign_of(index, n, signs_now()), f" {id_text(index, n)}".rstrip(), " ", *words, *took]

    def on_click(self, event: events.Click) -> None:
        event.stop()
        if not self.asked:
            self.screen.set_focus(None)  # The key of the log must not be typed into a field.
        for hint in hints(self, "app.question" if self.asked else "app.messages"):
            self.app.call_later(self.app.simulate_key, hint.key)

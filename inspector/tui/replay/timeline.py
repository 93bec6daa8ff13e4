"""The time line of a recording in three lines or one: position, density of events, errors."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip

from inspector.tui.themes import Palette, ascii_only, palette, signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.line_widget import LineWidget

_MARK, _MARK_ASCII = "▼", "v"


class ScrubLine(LineWidget):
    """Draws a time line; with `slim`, only its middle line and `words`.

    `columns` are events and errors in equal parts of the length, `mark` is the part at the position; `begin` and `end`
    are at the ends of the line above, `words` in the line below. A click or a drag posts `Sought`.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    ScrubLine { height: 3; width: 1fr; }
    ScrubLine.-slim { height: 2; }
    """

    class Sought(Message):
        """The user clicked a part of the time line."""

        def __init__(self, cell: int, cells: int) -> None:
            super().__init__()
            self.cell = cell
            self.cells = cells

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, ScrubLine.Sought)

    def __init__(self, *, slim: bool = False, id: str | None = None) -> None:
        super().__init__(id=id)
        self.slim = slim
        self.set_class(slim, "-slim")
        self.columns: Sequence[tuple[int, int]] = ()
        self.mark = 0
        self.begin, self.end = "", ""
        self.words: paint.Pieces = ""
        self._held = False

    @property
    def cells(self) -> int:
        """The number of parts."""
        return max(self.size.width - 2, 1)

    def render_line(self, y: int) -> Strip:
        look = palette()
        line = (self._bars, self._below)[y] if self.slim else (self._above, self._bars, self._below)[y]
        side = Segment(" ")
        return paint.strip([side, *line(look), side], self.size.width, look=look)

    def _above(self, look: Palette) -> list[Segment]:
        begin, end = (paint.segments([(words, "faint")], look=look) for words in (self.begin, self.end))
        line = paint.spread(begin, end if self.mark < self.cells - len(self.end) - 1 else [], self.cells)
        mark = Segment(_MARK_ASCII if ascii_only() else _MARK, look.style("chart"))
        plain = Strip(line).adjust_cell_length(self.cells)
        parts = plain.crop(0, self.mark), Strip([mark]), plain.crop(self.mark + 1, self.cells)
        return [segment for part in parts for segment in part]

    def _bars(self, look: Palette) -> list[Segment]:
        bars = signs_now().bars
        limit = max((events for events, _ in self.columns), default=0)
        line = []
        for at, (events_there, errors) in enumerate(self.columns[: self.cells]):
            role = "chart-error" if errors else "chart" if at <= self.mark else "chart-dim"
            # Logarithmic, so that a few events are visible beside very many.
            level = round(log(1 + events_there) / log(1 + limit) * (len(bars) - 1)) if events_there else 0
            shown = bars[level] if events_there else " "
            if self.slim and at == self.mark:
                line.append(Segment(shown, look.style("chart reverse")))
            else:
                line.append(Segment(shown, look.style(role)))
        return line

    def _below(self, look: Palette) -> list[Segment]:
        return paint.cut(paint.segments(self.words, "muted", room=self.cells, look=look), self.cells)

    # The mouse

    def on_mouse_down(self, event: events.MouseDown) -> None:
        event.stop()
        self._held = True
        self.capture_mouse()
        self._seek(event.x)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._held:
            event.stop()
            self._seek(event.x)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        if self._held:
            event.stop()
            self._held = False
            self.release_mouse()

    def _seek(self, x: int) -> None:
        self.post_message(self.Sought(min(max(x - 1, 0), self.cells - 1), self.cells))

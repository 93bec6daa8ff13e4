"""One line of past calls that can be sent again."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from inspector.tui.themes import palette
from inspector.tui.widgets import paint
from inspector.tui.work.work_items import Past

_HEAD = "last calls"


class PastLine(Widget):
    """`last calls  hello 12 ms  {} -32602`, newest first, as many as fit; a click selects one."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    PastLine { height: 2; width: 1fr; display: none; }
    """

    class Picked(Message):
        """The user clicked a past call; `at` is its place in the list."""

        def __init__(self, at: int) -> None:
            super().__init__()
            self.at = at

    def __init__(self) -> None:
        super().__init__()
        self.past: Sequence[Past] = ()
        self.at = -1
        """The past call in the form, or -1."""
        self._spans: list[tuple[int, int, int]] = []

    def show(self, past: Sequence[Past], at: int = -1) -> None:
        """Show these past calls; the one at `at` is the one in the form."""
        self.past, self.at = tuple(past), at
        self.display = bool(past)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        look = palette()
        cells = self.size.width
        if y:
            return paint.blank(cells, look=look)
        room = max(cells - 2, 1)
        line: list[Segment] = paint.segments([(_HEAD, "faint")], look=look)
        self._spans = []
        # The selected one stays visible, however old it is.
        for at in range(max(self.at - 1, 0), len(self.past)):
            past = self.past[at]
            start = paint.width(line) + 2
            label = (past.label, "bright" if at == self.at else "normal")
            brief = [(f" {past.brief}", past.role)] if past.brief else []
            parts = paint.segments(["  ", label, *brief], room=room, look=look)
            if start + paint.width(parts) > room and self._spans:
                break
            line += parts
            self._spans.append((start, paint.width(line), at))
        side = Segment(" ")
        return paint.strip([side, *paint.cut(line, room), side], cells, look=look)

    def on_click(self, event: events.Click) -> None:
        at = next((at for start, end, at in self._spans if start <= event.x - 1 < end), None)
        if at is not None and event.y == 0:
            event.stop()
            self.post_message(self.Picked(at))

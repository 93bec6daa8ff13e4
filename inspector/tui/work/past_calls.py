"""One line of past calls that can be sent again."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip

from inspector.tui.themes import palette
from inspector.tui.widgets import paint
from inspector.tui.widgets.line_widget import LineWidget
from inspector.tui.work.work_items import EarlierRun, SavedArguments

_HEAD = "earlier calls"
_SAVED = "saved"


class PastCallsLine(LineWidget):
    """`earlier calls  hello 12 ms  {} -32602`, newest first, as many as fit; a click selects one."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    PastCallsLine { height: 2; width: 1fr; display: none; }
    """

    class Picked(Message):
        """The user clicked a past call, or a saved one; `at` is its place in the list."""

        def __init__(self, at: int, *, saved: bool = False) -> None:
            super().__init__()
            self.at = at
            self.saved = saved

    def __init__(self) -> None:
        super().__init__()
        self.past: Sequence[EarlierRun] = ()
        self.at = -1
        """The past call in the form, or -1."""
        self.saved: Sequence[SavedArguments] = ()
        self.saved_at = -1
        """The saved call in the form, or -1."""
        self._spans: list[tuple[int, int, int, bool]] = []

    def show(
        self, past: Sequence[EarlierRun], at: int = -1, saved: Sequence[SavedArguments] = (), saved_at: int = -1
    ) -> None:
        """Show these saved and past calls; those at `at` and `saved_at` are in the form."""
        self.past, self.at = tuple(past), at
        self.saved, self.saved_at = tuple(saved), saved_at
        self.display = bool(past or saved)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        theme = palette()
        cells = self.size.width
        if y:
            return paint.blank(cells, theme=theme)
        room = max(cells - 2, 1)
        line: list[Segment] = []
        self._spans = []
        saved = [(call.label, "", "") for call in self.saved]
        past = [(call.label, call.brief, call.role) for call in self.past]
        for head, calls, chosen in ((_SAVED, saved, self.saved_at), (_HEAD, past, self.at)):
            if not calls:
                continue
            line += paint.segments([("   " if line else "", "faint"), (head, "faint")], theme=theme)
            # Of two lists, the first leaves room for the other.
            end = room * 2 // 3 if head is _SAVED and past else room
            # The selected one stays visible, however old it is.
            for at in range(max(chosen - 1, 0), len(calls)):
                label, brief, role = calls[at]
                start = paint.width(line) + 2
                named = (label, "bright" if at == chosen else "normal")
                parts = paint.segments(["  ", named, *([(f" {brief}", role)] if brief else [])], room=room, theme=theme)
                if start + paint.width(parts) > end and at > max(chosen - 1, 0):
                    break
                line += parts
                self._spans.append((start, paint.width(line), at, head is _SAVED))
        side = Segment(" ")
        return paint.strip([side, *paint.cut(line, room), side], cells, theme=theme)

    def on_click(self, event: events.Click) -> None:
        span = next((span for span in self._spans if span[0] <= event.x - 1 < span[1]), None)
        if span is not None and event.y == 0:
            event.stop()
            self.post_message(self.Picked(span[2], saved=span[3]))

"""One line of keys, each clickable, and a note at the right."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from inspector.tui.keymap import KeyHint
from inspector.tui.themes import ThemeStyles, palette
from inspector.tui.widgets import paint
from inspector.tui.widgets.line_widget import LineWidget

GAP = 3


class KeyLine(LineWidget):
    """Hints (`^r send   ^e json`) at the left, a note at the right. The last hints are dropped if they do not fit.

    `ground` is the role of its background, `title_role` that of the labels. The note is a state, and is never dropped;
    `pinned` replaces it. Keys without effect now are `muted`. A click posts `Pressed`.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    KeyLine { height: 1; width: 1fr; }
    """

    hints: reactive[Sequence[KeyHint]] = reactive((), init=False)
    note: reactive[paint.Pieces] = reactive("", init=False)
    pinned: reactive[KeyHint | None] = reactive(None, init=False)
    muted: reactive[bool] = reactive(False, init=False)

    class Pressed(Message):
        """The user clicked a hint: do what its key does."""

        def __init__(self, key_line: KeyLine, hint: KeyHint) -> None:
            super().__init__()
            self.key_line = key_line
            self.hint = hint

    def __init__(
        self,
        hints: Sequence[KeyHint] = (),
        note: paint.Pieces = "",
        *,
        ground: str = "ground",
        title_role: str = "normal",
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.set_reactive(KeyLine.hints, tuple(hints))
        self.set_reactive(KeyLine.note, note)
        self.ground = ground
        self.title_role = title_role
        self._spans: list[tuple[int, int, KeyHint]] = []

    def render_line(self, y: int) -> Strip:
        theme = palette()
        cells = self.size.width
        room = cells - 2
        pinned = self.pinned
        note = paint.segments(self.note if pinned is None else self._words(pinned), "muted", room=room, theme=theme)
        note = paint.cut(note, room)
        line = self._hints(room - (paint.width(note) + GAP if note else 0), theme)
        if pinned is not None:
            self._spans.append((room - paint.width(note), room, pinned))
        side = Segment(" ")
        return paint.strip([side, *paint.spread(line, note, room), side], cells, self.ground, theme=theme)

    def hints_for(self, room: int) -> Sequence[KeyHint]:
        """Return the hints for so many cells."""
        return self.hints

    def _hints(self, room: int, theme: ThemeStyles) -> list[Segment]:
        """Draw as many hints as fit, and remember their positions."""
        line: list[Segment] = []
        self._spans = []
        used = 0
        drawn_hints = [
            (hint, paint.segments(self._words(hint), room=room, theme=theme)) for hint in self.hints_for(room)
        ]
        needed = sum(paint.width(parts) + GAP for _, parts in drawn_hints) - GAP
        gap = GAP if needed <= room else GAP - 1
        for hint, parts in drawn_hints:
            width = paint.width(parts)
            start = used + (gap if used else 0)
            if start + width > room:
                break
            if used:
                line.append(Segment(" " * gap))
            line += parts
            used = start + width
            self._spans.append((start, used, hint))
        return line

    def _words(self, hint: KeyHint) -> list[paint.Piece]:
        if self.muted:
            return [(f"{hint.label} {hint.title}", "muted")]
        return [(hint.label, "key"), " ", (hint.title, self.title_role)]

    def hint_at(self, x: int) -> KeyHint | None:
        """Return the hint drawn at a column of the widget, or None."""
        return next((hint for start, end, hint in self._spans if start <= x - 1 < end), None)

    def on_click(self, event: events.Click) -> None:
        hint = self.hint_at(event.x)
        if hint is not None:
            event.stop()
            self.post_message(self.Pressed(self, hint))

"""A row of small tabs inside a pane: the views of one thing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from inspector.tui.themes import palette
from inspector.tui.widgets import paint
from inspector.tui.widgets.line_widget import LineWidget


class TabLabel(NamedTuple):
    """One view: its id, its label, and its count (`findings 2`), empty for none."""

    id: str
    label: str
    number: str = ""


class TabRow(LineWidget):
    """Tabs at the left and a note at the right, with an empty line below.

    The active tab has the accent colour.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    TabRow { height: 2; width: 1fr; }
    """

    tabs: reactive[Sequence[TabLabel]] = reactive((), init=False)
    active: reactive[str] = reactive("", init=False)
    note: reactive[paint.Pieces] = reactive("", init=False)

    class Chosen(Message):
        """The user chose a tab."""

        def __init__(self, tab_row: TabRow, tab: str) -> None:
            super().__init__()
            self.tab_row = tab_row
            self.tab = tab

    class NotePressed(Message):
        """The user clicked the note at the right."""

        def __init__(self, tab_row: TabRow) -> None:
            super().__init__()
            self.tab_row = tab_row

    def __init__(self, tabs: Sequence[TabLabel] = (), *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.set_reactive(TabRow.tabs, tuple(tabs))
        self.set_reactive(TabRow.active, tabs[0].id if tabs else "")
        self._spans: list[tuple[int, int, str]] = []
        self._note_at = 0

    def watch_tabs(self) -> None:
        ids = [tab.id for tab in self.tabs]
        if self.active not in ids:
            self.active = ids[0] if ids else ""

    def choose(self, tab: str) -> None:
        """Activate a tab and post it; does nothing if it is active already or does not exist."""
        if tab != self.active and any(tab == known.id for known in self.tabs):
            self.active = tab
            self.post_message(self.Chosen(self, tab))

    def step(self, by: int) -> None:
        """Choose the tab `by` places to the right, and wrap around."""
        ids = [tab.id for tab in self.tabs]
        if ids:
            self.choose(ids[(ids.index(self.active) + by) % len(ids)])

    def render_line(self, y: int) -> Strip:
        theme = palette()
        cells = self.size.width
        if y:
            return paint.blank(cells, theme=theme)
        room = cells - 2
        line: list[Segment] = []
        self._spans = []
        used = 0
        for tab in self.tabs:
            role = "accent bold" if tab.id == self.active else "muted"
            words = f"{tab.label} {tab.number}" if tab.number else tab.label
            parts = paint.segments([(words, role)], room=room, theme=theme)
            width = paint.width(parts)
            if used:
                line.append(Segment("  "))
                used += 2
            line += parts
            self._spans.append((used, used + width, tab.id))
            used += width
        note = paint.segments(self.note, "muted", room=room, theme=theme)
        # The note is a hint and is dropped first on a narrow screen.
        if used + 2 + paint.width(note) > room:
            note = []
        self._note_at = room - paint.width(note)
        side = Segment(" ")
        return paint.strip([side, *paint.spread(line, note, room), side], cells, theme=theme)

    def on_click(self, event: events.Click) -> None:
        if event.y:
            return
        event.stop()
        x = event.x - 1
        for start, end, tab in self._spans:
            if start <= x < end:
                self.choose(tab)
                return
        if self._note_at <= x < self.size.width - 2:
            self.post_message(self.NotePressed(self))

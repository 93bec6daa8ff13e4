"""A filter with completions in lines beside the field."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.strip import Strip

from inspector.journal.filters.completion import Completion, Completions
from inspector.tui.keymap import KeyHint, label
from inspector.tui.themes import ascii_only, palette
from inspector.tui.widgets import paint
from inspector.tui.widgets.editor import Highlight
from inspector.tui.widgets.filter_input import FilterInput

MAX_SHOWN = 6
"""Completions that are visible at once; the list scrolls."""
_NAME_CELLS = 30

Complete = Callable[[str, int], Completions]
"""Returns the completions for a text and a cursor position."""


class CompletingFilter(FilterInput):
    """A `FilterInput` with completions: above the field, or below it if `opens_down`.

    Tab accepts the highlighted completion, or the first one; up and down highlight one, and then enter accepts it too.
    `examples` are shown in the empty field while it has the focus.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "take", show=False),
        Binding("down", "step(1)", show=False),
        Binding("up", "step(-1)", show=False),
        Binding("enter", "take_or_leave", show=False),
    ]

    def __init__(self, complete: Complete, *, highlight: Highlight | None = None, examples: str = "") -> None:
        super().__init__(highlight=highlight)
        self._placeholders = (self.placeholder, examples)
        self.opens_down = False
        self.completions = Completions()
        """The completions at the cursor; empty while the field has no focus."""
        self._complete = complete
        self._at = -1
        self._first = 0

    # Completions

    @property
    def rows_shown(self) -> int:
        return 1 + min(len(self.completions.items), MAX_SHOWN)

    def rows_visible(self) -> int:
        return 1

    def _redraw(self, rows_before: int | None = None) -> None:
        before = self.rows_shown
        self._update_completions()
        super()._redraw(before)

    def _update_completions(self) -> None:
        completions = self._complete(self.value, self.buffer.cursor) if self.has_focus else Completions()
        if completions.items != self.completions.items:
            self._at, self._first = -1, 0
        self.completions = completions

    def on_focus(self, event: events.Focus) -> None:
        self.placeholder = self._placeholders[1]

    def on_blur(self) -> None:
        self.placeholder = self._placeholders[0]
        # `has_focus` is still true here.
        self.completions, self._at = Completions(), -1
        self.refresh(layout=True)

    # Accept a completion

    def action_take(self) -> None:
        if not self.completions.items:
            raise SkipAction
        self._insert_completion(self.completions.items[max(self._at, 0)])

    def _insert_completion(self, item: Completion) -> None:
        self.buffer.go(item.start)
        self.buffer.go(item.end, select=True)
        self._insert(item.text)

    def action_step(self, by: int) -> None:
        items = self.completions.items
        if not items:
            if by > 0:
                self.action_leave()
            return
        self._at = min(max(self._at + by, -1), len(items) - 1)
        self._first = min(max(self._first, self._at - MAX_SHOWN + 1), max(self._at, 0))
        self.refresh()

    def action_take_or_leave(self) -> None:
        if self._at >= 0:
            self.action_take()
        else:
            self.action_leave()

    def action_clear_or_leave(self) -> None:
        if self._at >= 0:
            self._at = -1
            self.refresh()
        else:
            super().action_clear_or_leave()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        item = self._item_on(event.y)
        if item is not None:
            event.stop()
            event.prevent_default()  # Textual calls the handler of the base class as well
            self._insert_completion(item)

    def cell_clicked(self, x: int, y: int) -> tuple[int, int]:
        return x, 0

    # Draw

    @property
    def _field_row(self) -> int:
        return 0 if self.opens_down else self.rows_shown - 1

    def _item_on(self, y: int) -> Completion | None:
        if y == self._field_row:
            return None
        at = y - (1 if self.opens_down else 0) + self._first
        return self.completions.items[at] if 0 <= at < len(self.completions.items) else None

    def render_line(self, y: int) -> Strip:
        item = self._item_on(y)
        if item is None:
            return super().render_line(0)
        theme, cells = palette(), self.size.width
        chosen = self._at >= 0 and self.completions.items[self._at] is item
        name = min(_NAME_CELLS, max(cells // 2, 1))
        line = [
            Segment("   "),
            *paint.cell([(paint.middle(item.text, name), "bright" if chosen else "normal")], name),
            *paint.segments([("  ", "muted"), (item.about, "muted")], room=cells),
        ]
        return paint.strip(paint.cut(line, cells), cells, "selection" if chosen else self.ground, theme=theme)

    def hints(self) -> list[KeyHint]:
        """Return the keys that work while the filter is typed."""
        if not self.completions.items:
            return super().hints()
        ways = "up/down" if ascii_only() else "↑↓"
        return [KeyHint(label("tab"), "take", "tab"), KeyHint(ways, "choose", "down"), *super().hints()]

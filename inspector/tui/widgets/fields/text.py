"""Fields with typed text: text, numbers, and JSON if no other field fits."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import BindingType
from textual.geometry import Size
from textual.strip import Strip

from inspector.protocol.forms.form import UNSET, Field
from inspector.text import cell_len, size
from inspector.tui.keymap import bindings
from inspector.tui.themes import ThemeStyles, signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.fields.base import SHORT, FieldFrame, FieldHost
from inspector.tui.widgets.sections import json_spans

EDIT_LIMIT = 20_000
"""Characters that are edited in the form; a longer text is edited as JSON or in the user's editor."""


class TextField(FieldFrame, Editor, can_focus=True):
    """One line, or for text and JSON several."""

    BINDINGS: ClassVar[list[BindingType]] = [binding for binding in bindings("field") if binding.action == "newline"]
    placeholder_role: ClassVar[str] = "faint"
    takes_text = True

    def __init__(self, field: Field, host: FieldHost, *, labelled: bool = True) -> None:
        self.frame(field, host, labelled=labelled)
        self._has_begun = False
        """Text was typed before the field is told that it has the focus."""
        super().__init__(self._text(), placeholder=self._placeholder(), limit=EDIT_LIMIT)
        self._adapt()

    def _adapt(self) -> None:
        """Edit by the kind of the value, which may change with the typed text if a field has variants."""
        self.multiline = self.field.kind in ("string", "json") or "\n" in self.value
        self.highlight = json_spans if self.field.kind == "json" else None

    def _text(self) -> str:
        # The placeholder shows null; typed text replaces it.
        return "" if self.field.value is None else self.field.text

    def _placeholder(self) -> str:
        if self.field.value is None:
            return self.field.text
        return self.field.default_text[:200] if self.field.value is UNSET else ""

    def field_changed(self) -> None:
        self.placeholder = self._placeholder()
        if self.value != self._text():
            self.show_without_change(self._text())
        self._adapt()

    def edited(self) -> None:
        path, text = self.field.path, self.value
        self.host.change(self, lambda form: form.set(path, text))

    def refused(self, text: str) -> None:
        path = self.field.path
        self.host.change(self, lambda form: form.set(path, text), structure=True)

    # The editor's lines are the body of the field

    @property
    def is_short(self) -> bool:
        return "\n" not in self.value and cell_len(self.value or self.placeholder) <= SHORT

    def body_rows(self) -> int:
        return self.rows_shown

    def rows_visible(self) -> int:
        return self.rows_shown

    @property
    def rows_shown(self) -> int:
        # A longer text has its lines where it is edited.
        return super().rows_shown if self.has_focus or self.host.columns is None else 1

    @property
    def cells(self) -> int:
        return self.body_cells

    def body_line(self, y: int) -> Strip:
        return Editor.render_line(self, y)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        self.break_lines(self.cells_of_body(width))
        return self.outer_rows(width)

    def lead_segments(self, y: int, theme: ThemeStyles) -> list[Segment]:
        return [Segment(signs_now().edge, theme.style(self.bar_role)), Segment(" ")]

    def on_focus(self, event: events.Focus) -> None:
        """Select the text of a short field, so that typing replaces it; a click or a caret move keeps it."""
        if not self._has_begun and "\n" not in self.value:
            self.action_select_all()
        self._has_begun = False

    def begin(self, text: str) -> None:
        """Take the focus and typed text, as if the field had had the focus before."""
        if self.screen.focused is not self:
            self._has_begun = True
            if "\n" not in self.value:
                self.action_select_all()
            self.screen.set_focus(self)
        self._insert(text, typed=True)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        if not 0 <= event.y - self.head_rows < self.body_rows():
            event.prevent_default()

    def cell_clicked(self, x: int, y: int) -> tuple[int, int]:
        return x - self.body_at, y - self.head_rows


class LongField(FieldFrame, can_focus=True):
    """A value too long to edit in the form: its length and how to edit it."""

    def __init__(self, field: Field, host: FieldHost, *, labelled: bool = True) -> None:
        super().__init__()
        self.frame(field, host, labelled=labelled)

    def body_line(self, y: int) -> Strip:
        text = self.field.text
        begin = text[:30].split("\n")[0]
        words: list[paint.Piece] = [(begin, "normal"), (f"{signs_now().cut}  {size(len(text))} of text", "muted")]
        return self.body_strip(paint.segments(words, room=self.size.width))


def is_long(field: Field) -> bool:
    """Whether a typed field's text is too long for an editor of a few rows."""
    return isinstance(field.value, (str, list, dict)) and len(field.text) > EDIT_LIMIT

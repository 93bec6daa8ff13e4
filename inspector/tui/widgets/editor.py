"""An editor of one or a few lines, for fields of forms, filters and searches.

Textual's own Input writes the control characters of its value to the terminal, blinks, and keeps a timer per field.
This one makes every character visible, has no timer, and is cheap by the hundred.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from inspector.text import cell_len, safe
from inspector.tui.keymap import types_here
from inspector.tui.themes import ThemeStyles, ascii_only, palette, signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.edit_buffer import EditBuffer
from inspector.tui.widgets.line_widget import LineWidget

MAX_ROWS = 8
"""Rows up to which an editor grows; longer texts scroll in it."""

CONCEALED = "*"
"""Replaces each character of a secret."""

Highlight = Callable[[str], Sequence[tuple[int, int, str]]]
"""Returns (start, end, role) of the parts of one line that are not `bright`."""

_MOVES = (
    *(("", key, key) for key in ("left", "right", "up", "down", "home", "end")),
    ("ctrl+", "left", "word_left"),
    ("ctrl+", "right", "word_right"),
)
"""Keys that move the cursor, each with `ctrl+` or without; with shift they select."""


class Editor(LineWidget, can_focus=True):
    """Edits `value`.

    `multiline` allows line ends (ctrl+j, or pasted) and lets the editor grow to `most_rows`. Without a `highlight` it
    breaks lines that are longer than it is wide. `ground` is the role of its background, `idle_ground` that without
    focus. `lead` is drawn before the first line. `suggestion` is shown faint after the text, and → at the end accepts
    it. Texts longer than `limit` characters are refused and posted as `TooLong`.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    Editor { height: auto; width: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(f"{ctrl}{key}", f"go('{where}')", show=False) for ctrl, key, where in _MOVES),
        *(Binding(f"{ctrl}shift+{key}", f"go('{where}', True)", show=False) for ctrl, key, where in _MOVES),
        Binding("ctrl+a", "home_or_all", show=False),
        Binding("ctrl+shift+a", "select_all", show=False),
        Binding("backspace", "delete('left')", show=False),
        Binding("delete", "delete('right')", show=False),
        Binding("ctrl+w,ctrl+backspace,alt+backspace", "delete('word_left')", show=False),
        Binding("ctrl+delete", "delete('word_right')", show=False),
        Binding("ctrl+u", "delete('home')", show=False),
        Binding("ctrl+k", "delete('end')", show=False),
        Binding("ctrl+z", "undo", show=False),
        Binding("ctrl+y", "redo", show=False),
        Binding("ctrl+x", "cut", show=False),
        Binding("ctrl+c", "copy", show=False),
        Binding("ctrl+v", "paste", show=False),
        Binding("ctrl+j,shift+enter,alt+enter", "newline", show=False),
        Binding("enter", "submit", show=False),
    ]

    placeholder_role: ClassVar[str] = "faint"
    most_rows: ClassVar[int] = MAX_ROWS

    concealed: reactive[bool] = reactive(False, init=False)
    """Whether each character is replaced by a sign and copying is off: the text is a secret."""
    placeholder: reactive[str] = reactive("", init=False)
    suggestion: reactive[str] = reactive("", init=False)

    class TextMessage(Message):
        """A message with a text of an editor."""

        def __init__(self, editor: Editor, value: str) -> None:
            super().__init__()
            self.editor = editor
            self.value = value

    class Changed(TextMessage):
        """The user, or a program, changed the text."""

    class Submitted(TextMessage):
        """The user pressed enter."""

    class TooLong(TextMessage):
        """The user pasted a text that is too long to edit here; `value` is the whole text."""

    def __init__(
        self,
        value: str = "",
        *,
        multiline: bool = False,
        placeholder: str = "",
        lead: paint.Pieces = "",
        ground: str = "panel",
        idle_ground: str = "panel",
        highlight: Highlight | None = None,
        limit: int = 20_000,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.buffer = EditBuffer(value, limit=limit)
        self.multiline = multiline
        self.lead = lead
        self.ground = ground
        self.idle_ground = idle_ground
        self.highlight = highlight
        self.set_reactive(Editor.placeholder, placeholder)
        self._left = 0
        self._top = 0
        self._dragging = False

    @property
    def value(self) -> str:
        """The text."""
        return self.buffer.text

    @value.setter
    def value(self, value: str) -> None:
        if value != self.buffer.text:
            rows = self.rows_shown
            self.buffer.set(value)
            self._changed(rows)

    @property
    def rows_shown(self) -> int:
        """The number of rows of the editor."""
        return min(len(self.buffer.rows), self.most_rows) if self.multiline else 1

    def rows_visible(self) -> int:
        """Return the number of rows that fit now."""
        return max(self.size.height, 1)

    def show_without_change(self, value: str) -> None:
        """Show another text and post nothing: its value is the same."""
        rows = self.rows_shown
        self.buffer.set(value)
        self._redraw(rows)

    def check_consume_key(self, key: str, character: str | None) -> bool:
        return types_here(self, key, character)

    def on_key(self, event: events.Key) -> None:
        if event.is_printable and event.character is not None:
            event.stop()
            event.prevent_default()
            self._insert(event.character, typed=True)

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self._paste(event.text)

    def action_go(self, where: str, select: bool = False) -> None:
        buffer = self.buffer
        row, column = buffer.place()
        if (where == "up" and row == 0) or (where == "down" and row == len(buffer.rows) - 1):
            raise SkipAction
        if where == "right" and not select and self._take_suggestion():
            return
        start, end = buffer.span
        to = {
            "left": lambda: start if start != end and not select else buffer.cursor - 1,
            "right": lambda: end if start != end and not select else buffer.cursor + 1,
            "up": lambda: buffer.offset(row - 1, column),
            "down": lambda: buffer.offset(row + 1, column),
            "home": lambda: buffer.offset(row, 0),
            "end": lambda: buffer.offset(row, len(buffer.rows[row])),
            "word_left": buffer.word_left,
            "word_right": buffer.word_right,
        }[where]()
        buffer.go(to, select)
        self._redraw()

    def action_home_or_all(self) -> None:
        """Go to the start of a single line, as in a shell. At its start, and in a longer text, select all."""
        if self.multiline or not self.buffer.cursor:
            self.action_select_all()
        else:
            self.action_go("home")

    def action_select_all(self) -> None:
        self.buffer.select_all()
        self._redraw()

    def action_delete(self, what: str) -> None:
        buffer = self.buffer
        at = buffer.cursor
        start, end = {
            "left": lambda: (at - 1, at),
            "right": lambda: (at, at + 1),
            "word_left": lambda: (buffer.word_left(), at),
            "word_right": lambda: (at, buffer.word_right()),
            "home": lambda: (buffer.line_start(), at),
            "end": lambda: (at, buffer.line_end()),
        }[what]()
        rows = self.rows_shown
        if buffer.delete(start, end):
            self._changed(rows)

    def action_undo(self) -> None:
        rows = self.rows_shown
        if self.buffer.undo():
            self._changed(rows)

    def action_redo(self) -> None:
        rows = self.rows_shown
        if self.buffer.redo():
            self._changed(rows)

    def action_copy(self) -> None:
        if not self.buffer.selected or self.concealed:
            raise SkipAction
        self.app.copy_to_clipboard(self.buffer.selected)

    def action_cut(self) -> None:
        if self.buffer.selected and not self.concealed:
            self.app.copy_to_clipboard(self.buffer.selected)
            self.action_delete("left")

    def action_paste(self) -> None:
        self._paste(self.app.clipboard)

    def action_newline(self) -> None:
        if not self.multiline:
            raise SkipAction
        self._insert("\n")

    def action_submit(self) -> None:
        self.post_message(self.Submitted(self, self.value))

    def _paste(self, text: str) -> None:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        if not self.multiline:
            text = text.strip("\n").replace("\n", " ")
        if text:
            self._insert(text)

    def _insert(self, text: str, *, typed: bool = False) -> None:
        rows = self.rows_shown
        if self.buffer.insert(text, typed=typed):
            self._changed(rows)
        else:
            start, end = self.buffer.span
            self.refused(f"{self.value[:start]}{text}{self.value[end:]}")

    def _take_suggestion(self) -> bool:
        buffer = self.buffer
        if buffer.cursor != len(buffer.text) or not self.suggestion.startswith(buffer.text):
            return False
        rest = self.suggestion[len(buffer.text) :]
        if not rest:
            return False
        self._insert(rest)
        return True

    def _changed(self, rows_before: int) -> None:
        self._redraw(rows_before)
        self.edited()

    def edited(self) -> None:
        """Called when the text has changed; posts `Changed`. A subclass may act on it at once instead."""
        self.post_message(self.Changed(self, self.value))

    def refused(self, text: str) -> None:
        """Called with the whole text if it is too long; posts `TooLong`."""
        self.post_message(self.TooLong(self, text))

    def _redraw(self, rows_before: int | None = None) -> None:
        self._keep_in_view()
        self.refresh(layout=rows_before is not None and rows_before != self.rows_shown)

    def on_focus(self, event: events.Focus) -> None:
        self._redraw()

    def go_on_typing(self) -> None:
        """Keep cursor and selection, when the focus returns to a field that selects its text as it gets the focus."""
        cursor, anchor = self.buffer.cursor, self.buffer.anchor
        self.call_later(self._select, anchor, cursor)

    def _select(self, anchor: int, cursor: int) -> None:
        self.buffer.go(anchor)
        self.buffer.go(cursor, select=True)
        self._redraw()

    def on_blur(self) -> None:
        # `has_focus` is still true here.
        self._left = self._top = 0
        self.refresh()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self._dragging = True
        self.capture_mouse()
        self.buffer.go(self._offset_at(event.x, event.y), select=event.shift)
        self._redraw()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._dragging:
            self.buffer.go(self._offset_at(event.x, event.y), select=True)
            self._redraw()

    def on_mouse_up(self) -> None:
        if self._dragging:
            self._dragging = False
            self.release_mouse()

    def _offset_at(self, x: int, y: int) -> int:
        rows = self.buffer.rows
        x, y = self.cell_clicked(x, y)
        row = min(max(y + self._top, 0), len(rows) - 1)
        stops = self._cells_of(rows[row])[1]
        cell = x - self._lead_width() + self._left
        column = next((at for at in range(len(rows[row])) if stops[at + 1] > cell), len(rows[row]))
        return self.buffer.offset(row, column)

    def cell_clicked(self, x: int, y: int) -> tuple[int, int]:
        """Return which cell of which visible row is drawn at a cell and line of the widget."""
        return x, y

    @property
    def cells(self) -> int:
        """The cells of a row."""
        return self.size.width

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        self.break_lines(width)
        return self.rows_shown

    def break_lines(self, width: int) -> None:
        """Break long lines for rows of this width, if it breaks lines; one cell is left for the caret."""
        room = width - self._lead_width() - 1
        breaks = self.multiline and self.highlight is None and not self.concealed and room > 1
        self.buffer.width = room if breaks else None

    def on_resize(self) -> None:
        self.break_lines(self.cells)
        # Textual draws a widget of another size; here only the part of the text that is shown may differ.
        before = (self._left, self._top)
        self._keep_in_view()
        if (self._left, self._top) != before:
            self.refresh()

    def _lead_width(self) -> int:
        return paint.width(self.lead_segments(0, palette()))

    def _keep_in_view(self) -> None:
        if not self.has_focus:
            self._left = self._top = 0
            return
        room = self.cells - self._lead_width() - paint.width(self.tail(palette()))
        if room <= 0:
            return
        row, column = self.buffer.place()
        stops = self._cells_of(self.buffer.rows[row])[1]
        at = stops[column]
        after = max(stops[column + 1] if column + 1 < len(stops) else at + 1, at + 1)
        self._left = min(max(self._left, after - room), at)
        # After a deletion at the end, scroll back what was scrolled out.
        self._left = min(self._left, max(stops[-1] + 1 - room, 0))
        visible = self.rows_visible()
        self._top = min(max(self._top, row - visible + 1), row, max(len(self.buffer.rows) - visible, 0))

    def render_line(self, y: int) -> Strip:
        theme = palette()
        cells = self.cells
        ground = self.ground if self.has_focus else self.idle_ground
        lead = self.lead_segments(y, theme)
        rows = self.buffer.rows
        row = y + self._top
        line = self._row(row, rows[row], theme) if row < len(rows) else []
        tail = self.tail(theme) if not y else []
        room = max(cells - paint.width(lead) - paint.width(tail), 0)
        visible = Strip(line).crop(self._left, self._left + room).adjust_cell_length(room)
        return paint.strip([*lead, *visible, *tail], cells, ground, theme=theme)

    def lead_segments(self, y: int, theme: ThemeStyles) -> list[Segment]:
        """Return the segments before a line: `lead` before the first, spaces before the others."""
        lead = paint.segments(self.lead, theme=theme) if self.lead else []
        return [Segment(" " * paint.width(lead))] if y and lead else lead

    def tail(self, theme: ThemeStyles) -> list[Segment]:
        """Return the segments at the right end of the first line; a subclass may add some."""
        return []

    def _row(self, row: int, text: str, theme: ThemeStyles) -> list[Segment]:
        focused = self.has_focus
        begin = self.buffer.offset(row, 0)
        if not self.value and self.placeholder:
            caret = [self._caret(theme)] if focused else []
            return [*caret, *paint.segments([(self.placeholder, self.placeholder_role)], theme=theme)]
        cells = self._cells_of(text)[0]
        styles = self._styles(begin, text, theme)
        line = runs(cells, styles)
        if focused and self.buffer.place() == (row, len(text)):
            line.append(self._caret(theme))
        if self.suggestion.startswith(self.value) and row == len(self.buffer.rows) - 1:
            line += paint.segments([(self.suggestion[len(self.value) :], "faint")], theme=theme)
        return line

    def _cells_of(self, text: str) -> tuple[list[str], list[int]]:
        if self.concealed:
            return [CONCEALED] * len(text), list(range(len(text) + 1))
        return character_cells(text)

    def _caret(self, theme: ThemeStyles) -> Segment:
        return Segment(signs_now().caret, theme.style("accent"))

    def _styles(self, begin: int, text: str, theme: ThemeStyles) -> list[Style]:
        """Return the style of each character of a row that starts at an offset of the text."""
        length = len(text)
        plain = theme.style("bright" if self.has_focus else "normal")
        styles = [plain] * length
        if self.highlight is not None:
            for start, end, role in self.highlight(text):
                end = min(end, length)
                styles[start:end] = [theme.style(role)] * max(end - start, 0)
        if self.has_focus:
            start, end = self.buffer.span
            marked = theme.style("selection") + theme.style("bright")
            for at in range(max(start - begin, 0), min(end - begin, length)):
                styles[at] = marked
            at = self.buffer.cursor - begin
            if 0 <= at < length:
                styles[at] = styles[at] + Style(reverse=True)
        return styles


@lru_cache(maxsize=512)
def _character_cells(text: str, ascii: bool) -> tuple[list[str], list[int]]:
    if text.isascii() and text.isprintable():
        return list(text), list(range(len(text) + 1))
    cells: list[str] = []
    before = ""
    for char in text:
        # A combining mark is drawn on its base character; other invisible characters are drawn as a symbol or code
        # point.
        drawn, alone = safe(before + char, ascii=ascii), safe(before, ascii=ascii)
        # A blank is drawn by what is beside it.
        cells.append(drawn.removeprefix(alone) if drawn.startswith(alone) else safe(char, ascii=ascii))
        before = char
    return cells, list(accumulate((cell_len(cell) for cell in cells), initial=0))


def character_cells(text: str) -> tuple[list[str], list[int]]:
    """Return the drawn text of each character of a line, and their cells: each start, and the last end."""
    return _character_cells(text, ascii_only())


def runs(cells: list[str], styles: list[Style]) -> list[Segment]:
    """Join characters of the same style into segments."""
    line: list[Segment] = []
    start = 0
    for at in range(1, len(cells) + 1):
        if at == len(cells) or styles[at] is not styles[start]:
            line.append(Segment("".join(cells[start:at]), styles[start]))
            start = at
    return line

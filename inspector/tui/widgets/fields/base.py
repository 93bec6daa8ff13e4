"""The frame of every field: its name and type, a bar before its value, its error and description.

The name has a line above the value, and the description lines below it; or all of it is one line (`Columns`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, Protocol, Self

from rich.segment import Segment
from textual import events
from textual.actions import SkipAction
from textual.binding import BindingType
from textual.geometry import Region, Size
from textual.strip import Strip

from inspector.protocol.forms.form import UNSET, Field, Form
from inspector.text import lines, size
from inspector.tui.available_verbs import binds
from inspector.tui.keymap import bindings
from inspector.tui.themes import ascii_only, palette, signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.line_widget import LineWidget

DESCRIPTION_ROWS = 3
"""Rows of a description that are shown; a longer one ends in `…`."""

DESCRIPTION_LIMIT = 2_000
DEFAULT_SHOWN = 16
INDENT = 2
SHORT = 15
"""Cells of a short value."""
GAP = 2
"""Cells between the columns of a line."""
MAX_DEPTH = 8
"""Levels that are indented."""


class Columns(NamedTuple):
    """The cells of name and type where a field is one line, at its left and right.

    `foot`: the field with the focus has another line, with its error, values to choose from or its description.
    """

    name: int
    hint: int
    foot: bool


class FieldHost(Protocol):
    """The form of a field. It is called at once, not by message: a value typed just before a key counts."""

    @property
    def columns(self) -> Columns | None:
        """The columns if a field is one line, else None."""
        ...

    def rows_changed(self) -> None:
        """A field has another number of rows."""
        ...

    def change(self, field: FieldFrame, do: Callable[[Form], Any], *, structure: bool = False) -> None:
        """Change the form for a field; with `structure`, other fields may be added, removed or redrawn."""
        ...

    def go_next(self, field: FieldFrame) -> None:
        """Focus the field after this one."""
        ...

    @property
    def has_typed_ahead(self) -> bool:
        """Whether typed text waits for a field that is being made."""
        ...

    def type_inside(self, field: FieldFrame, text: str) -> bool:
        """Type text inside an object, or in a new item of a list. Returns False if that takes none."""
        ...

    def keep_in_view(self) -> None:
        """Scroll so that the field with the focus is visible."""
        ...


class Suggested(Protocol):
    """Completions for the typed text."""

    values: list[str]

    @property
    def chosen(self) -> str | None:
        """The value that the key for the next field accepts instead, or None."""
        ...

    def segments(self, room: int) -> list[Segment]:
        """Draw them in one line of at most `room` cells."""
        ...


class FieldFrame(LineWidget):
    """The frame around a field's body. A subclass draws the body: `body_rows` and `body_line`."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    FieldFrame { height: auto; width: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [binding for binding in bindings("field") if binding.action != "newline"]
    describes_in_body: ClassVar[bool] = False
    """Whether the description is drawn by the body instead of below it, unless it `has_foot`."""

    field: Field
    host: FieldHost
    error: str
    labelled: bool
    suggestions: Suggested | None = None
    """What the server offers for what is typed here; drawn directly below it."""
    takes_text: ClassVar[bool] = False
    """Whether every printable key is text."""
    touched: bool = False
    """Whether the user has changed the field, or tried to send the form."""

    def frame(self, field: Field, host: FieldHost, *, labelled: bool = True) -> None:
        """Set the attributes of a field; called by the constructors."""
        self.field = field
        self.host = host
        self.error = ""
        self.labelled = labelled
        self._described: tuple[int, list[str]] = (-1, [])

    def update_field(self, field: Field) -> None:
        """Show the field's current state."""
        if field == self.field:
            return
        before = self.outer_rows(self.size.width)
        self.field = field
        self._described = (-1, [])
        self.field_changed()
        self.refresh(layout=self.outer_rows(self.size.width) != before)

    def field_changed(self) -> None:
        """Called after `field` has been replaced."""

    def set_error(self, error: str) -> None:
        """Show an error, or none."""
        if error != self.error:
            self.error = error
            self.refresh()

    # Body

    @property
    def is_short(self) -> bool:
        """Whether its value needs `SHORT` cells at most."""
        return False

    def body_rows(self) -> int:
        """Return the number of rows of the body."""
        return 1

    def body_line(self, y: int) -> Strip:
        """Draw a row of the body; `body_strip` adds its bar and background."""
        raise NotImplementedError

    def body_strip(self, line: list[Segment]) -> Strip:
        """Return a row of the body with the bar, on the field's background."""
        theme = palette()
        mark = Segment(signs_now().edge, theme.style(self.bar_role))
        parts = [mark, Segment(" "), *paint.cut(line, self.body_room)]
        return paint.strip(parts, self.body_cells, "panel", theme=theme)

    @property
    def bar_role(self) -> str:
        return "error" if self.error else "accent" if self.has_focus else "edge"

    @property
    def indent(self) -> int:
        return INDENT * min(max(self.field.depth, 0), MAX_DEPTH)

    @property
    def body_at(self) -> int:
        """The first cell of the body."""
        return self.indent if self.host.columns is None else self.host.columns.name + GAP

    @property
    def body_cells(self) -> int:
        """The cells of the body with its bar."""
        return self.cells_of_body(self.size.width)

    def cells_of_body(self, width: int) -> int:
        """Return the cells of the body in a field of this width."""
        columns = self.host.columns
        return max(width - self.body_at - (GAP + columns.hint if columns is not None else 0), 3)

    @property
    def body_room(self) -> int:
        """The cells of the body after its bar."""
        return self.body_cells - 2

    # Frame

    @property
    def head_rows(self) -> int:
        return int(self.labelled and self.host.columns is None)

    def outer_rows(self, width: int, *, slim: bool | None = None) -> int:
        """Return the number of rows at a width: on one line (`slim`) or not, by default as it is now."""
        if self.host.columns is not None if slim is None else slim:
            return self.body_rows() + self.has_foot
        return self.labelled + self.body_rows() + len(self._description(width)) + 1

    @property
    def has_foot(self) -> bool:
        """Whether the field is on one line and has another one below it, because it has the focus."""
        return self.has_focus and self.host.columns is not None and self.host.columns.foot

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self.outer_rows(width)

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        if layout and self.is_attached:
            self.host.rows_changed()
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def render_line(self, y: int) -> Strip:
        body = y - self.head_rows
        if body < 0:
            return self._label()
        if body >= self.body_rows():
            return self._foot(body - self.body_rows())
        columns, theme = self.host.columns, palette()
        if columns is None:
            return Strip([Segment(" " * self.indent, theme.style("ground")), *self.body_line(body)])
        if self.name_cells and not columns.name:
            return paint.blank(self.size.width)  # Not measured yet: a value without its name would be shown.
        left = paint.segments(self._named() if not body and self.labelled else "", theme=theme)
        name = paint.cut([Segment(" " * self.indent), *left], columns.name)
        right = self._beside(columns.hint) if not body else []
        return Strip(
            [
                *paint.strip(name, columns.name + GAP, theme=theme),
                *self.body_line(body),
                *paint.strip(
                    [Segment(" " * GAP), *paint.spread([], right, columns.hint)], columns.hint + GAP, theme=theme
                ),
            ]
        )

    def _named(self) -> paint.Pieces:
        field = self.field
        name = f"[{field.name}]" if field.is_item and field.name.isdecimal() else field.name
        return [(name or ("variant" if field.variants else ""), "bright")]

    @property
    def name_cells(self) -> int:
        """The cells of its name, with what it is indented by."""
        return self.indent + paint.width(paint.segments(self._named())) if self.labelled else 0

    def _beside(self, room: int) -> list[Segment]:
        """Return what stands at the right of a single line: what is wrong, else the type or the default."""
        if self.error and not self.has_focus:
            return paint.cut(paint.segments([(self.error, "error")], room=room), room)
        marks = self._marked()
        for hint in (self.hint(), self._default() or self.field.hint, *self._types(), ""):
            parts = paint.segments([(hint, "faint"), *marks], room=room)
            if paint.width(parts) <= room:
                break
        return paint.cut(parts, room)

    def hint_cells(self, room: int) -> int:
        """Return the cells of what stands at the right of a single line, if they are `room` at most."""
        return paint.width(self._beside(room))

    def _marked(self) -> list[paint.Piece]:
        """Return what is said of a field beside its type: whether it is required, and the signs of an item."""
        marks: list[paint.Piece] = [("  required", "muted")] if self.field.required and not self.field.is_item else []
        for sign, _ in self._marks():
            marks += ["  ", (sign, "muted")]
        return marks

    def _label(self) -> Strip:
        theme = palette()
        field, cells = self.field, self.size.width
        pieces = [*self._named()]
        if _letters(field.title) not in ("", _letters(field.name)):
            pieces.append((f"  {field.title}", "muted"))
        room = max(cells - self.indent, 1)
        left = paint.segments(pieces, room=room, theme=theme)
        # On a narrow screen the default is dropped first, then the limits, then the type.
        for hint in (self.hint(), *self._types(), ""):
            right = paint.segments([(hint, "faint"), *self._marked()], room=room, theme=theme)
            if paint.width(left) + paint.width(right) + 2 <= room:
                break
        return paint.strip([Segment(" " * self.indent), *paint.spread(left, right, room)], cells, theme=theme)

    def hint(self) -> str:
        """Return the text at the right of the label: the type and the default."""
        default = self._default()
        return f"{self.field.hint}  {default}" if default else self.field.hint

    def _types(self) -> list[str]:
        """Return the type with its limits, and without them."""
        hint, kind = self.field.hint, self.field.kind
        return [hint, kind] if hint.startswith(kind) else [hint]

    def _default(self) -> str:
        field = self.field
        if field.default is UNSET:
            return ""
        text = " ".join(field.default_text[: DEFAULT_SHOWN + 1].split()) or "empty"
        cut = signs_now().cut if len(field.default_text) > DEFAULT_SHOWN else ""
        return f"default {text[:DEFAULT_SHOWN]}{cut}"

    def _foot(self, y: int) -> Strip:
        cells, at = self.size.width, self.body_at
        room = max(cells - at, 1)
        offered = self.suggestions
        if offered is not None and y == 0 and (offered.values or not self.error):
            # Directly under the typed text; the description moves down into the empty row.
            return paint.strip([Segment(" " * at), *offered.segments(room)], cells)
        if offered is not None and offered.values:
            y -= 1
        described = self._description(cells)
        if self.host.columns is not None:
            described = [self.field.description] if self.field.description and self.labelled else []
        pieces: list[paint.Piece] = []
        if y == 0 and self.error:
            pieces = [(self.error, "error")]
        elif y - bool(self.error) < len(described):
            # Below an error the description takes the empty row.
            pieces = [(described[y - bool(self.error)], "muted")]
        line = paint.cut(paint.segments(pieces, room=room), room)
        return paint.strip([Segment(" " * at), *line], cells)

    def _description(self, width: int) -> list[str]:
        """Return the rows of the description at a width."""
        if self._described[0] != width:
            rows: list[str] = []
            text = self.field.description.strip()
            if text and self.labelled and not self.describes_in_body:
                rows = lines(text, max(width - self.indent, 8), limit=DESCRIPTION_LIMIT, ascii=ascii_only())
                if len(rows) > DESCRIPTION_ROWS:
                    rows = [*rows[: DESCRIPTION_ROWS - 1], rows[DESCRIPTION_ROWS - 1] + signs_now().cut]
            self._described = (width, rows)
        return self._described[1]

    # Items

    def _marks(self) -> list[tuple[str, str]]:
        """Return the clickable signs at the end of the label, with their actions."""
        if not self.field.is_item:
            return []
        signs = signs_now()
        moves = [(signs.up, "move_up"), (signs.down, "move_down")] if self.field.name.isdecimal() else []
        return [*moves, (signs.failed, "remove")]

    def on_click(self, event: events.Click) -> None:
        body = event.y - self.head_rows
        if body < 0:
            marks = self._marks()
            at = (self.size.width - 1 - event.x) // 3
            if 0 <= at < len(marks) and (self.size.width - 1 - event.x) % 3 == 0:
                event.stop()
                self.call_later(self.run_action, marks[len(marks) - 1 - at][1])
        elif body < self.body_rows():
            event.stop()
            self.body_clicked(event.x - self.body_at - 2, body)

    def body_clicked(self, x: int, y: int) -> None:
        """Called when the user clicks a cell of the body."""

    def action_next(self) -> None:
        self.host.go_next(self)

    def action_remove(self) -> None:
        if not self.field.is_item:
            raise SkipAction
        path = self.field.path
        self.host.change(self, lambda form: form.remove(path), structure=True)

    def action_move_up(self) -> None:
        self._move(-1)

    def action_move_down(self) -> None:
        self._move(1)

    def _move(self, by: int) -> None:
        if not (self.field.is_item and self.field.name.isdecimal()):
            raise SkipAction
        path = self.field.path
        self.host.change(self, lambda form: form.move(path, by), structure=True)

    # Keys

    def key_verbs(self) -> list[str | tuple[str, str]]:
        """Return the verbs of this field for the footer, each by its id, or by its id and another title."""
        verbs: list[str | tuple[str, str]] = []
        if self.field.nullable:
            verbs.append(("field.null", "value") if self.field.value is None else "field.null")
        if self.field.file is not None:
            verbs.append("field.file")
        if self.field.is_item:
            verbs.append("field.remove")
            if self.field.name.isdecimal():
                verbs += ["field.move-up", "field.move-down"]
        return verbs

    @property
    def tab_title(self) -> str:
        """Return the title of the key for the next field."""
        return "take value" if self.suggestions is not None and self.suggestions.chosen is not None else "next field"

    @property
    def keeps_keys(self) -> bool:
        """Whether the keys of the pane have another meaning here, or none."""
        return False

    def on_key(self, event: events.Key) -> None:
        """Stop letters from triggering actions of a pane or the app: the user may expect to type text."""
        if event.is_printable and not self.takes_text and not binds(self, event.key):
            event.stop()
            event.prevent_default()

    # Null and unset

    def action_null(self) -> None:
        field = self.field
        if not field.nullable:
            raise SkipAction
        if field.value is None:
            self.host.change(self, lambda form: form.unset(field.path), structure=True)
        else:
            self.host.change(self, lambda form: form.put(field.path, None), structure=True)

    def action_file(self) -> None:
        """Choose a file; its bytes become the value. Nothing is read before."""
        if self.field.file is None:
            raise SkipAction
        self.run_worker(self._pick_file(), group="file", exit_on_error=False)

    async def _pick_file(self) -> None:
        from inspector.tui.widgets.pick_file import PickFile

        path, file_input = self.field.path, self.field.file
        picked = (
            await self.app.push_screen_wait(PickFile(self.field.label, file_input)) if file_input is not None else None
        )
        if picked is None:
            return
        self.host.change(self, lambda form: form.put(path, picked.value), structure=True)
        about = f"{size(picked.size)}, {picked.media_type}, SHA-256 {picked.sha256[:16]}"
        text = ". ".join((about, *(f"Warning: {warning}" for warning in picked.warnings)))
        self.app.notify(text, markup=False, severity="warning" if picked.warnings else "information", timeout=10)

    def action_clear(self) -> None:
        field = self.field
        if field.value is UNSET and field.default is not UNSET:
            self.host.change(self, lambda form: form.put(field.path, field.default), structure=True)
        elif field.value is not UNSET and not field.is_item:
            self.host.change(self, lambda form: form.unset(field.path), structure=True)

    def on_focus(self, event: events.Focus) -> None:
        self.refresh(layout=self.host.columns is not None)

    def on_blur(self) -> None:
        self.refresh(layout=self.host.columns is not None)

    def on_resize(self) -> None:
        """Keep a field in view that is new or has grown; only now its new place is known."""
        if self.has_focus:
            self.host.keep_in_view()


def _letters(text: str) -> str:
    """Return the letters of a title or name: `First name` adds nothing to `firstName`."""
    return "".join(char for char in text[:200] if char.isalnum()).casefold()

"""An editor of JSON text that shows the position of a syntax error."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from inspector.lazy_pattern import lazy_pattern
from inspector.protocol.exact_json.depth import is_too_deep
from inspector.protocol.exact_json.text import Tree
from inspector.reasons import json_reason
from inspector.text import safe
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.sections import json_spans

EDIT_LIMIT = 500_000
"""Characters that are edited on the screen; longer texts are edited in the user's editor."""

# An invisible character is written as an escape, so that it can be seen and edited.
_SHAPELESS = lazy_pattern(
    "[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)


class JsonFault(NamedTuple):
    """Why a text is not JSON, and where (from 1); line 0 if that is not known."""

    reason: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.reason}" if self.line else self.reason


class JsonEditor(Editor):
    """Edits JSON: coloured, indented while typing, as high as the text. `on_edit` is called with each new text.

    What is wrong stands at the end of its line; see `mark`.
    """

    DEFAULT_CSS = """
    JsonEditor { height: auto; min-height: 3; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
    ]
    most_rows = 10_000

    def __init__(self, text: str, on_edit: Callable[[str], None]) -> None:
        super().__init__(
            text,
            multiline=True,
            ground="ground",
            idle_ground="ground",
            highlight=json_spans,
            limit=EDIT_LIMIT,
        )
        self.on_edit = on_edit
        self._wrong: dict[int, str] = {}
        """What is wrong, by row."""
        self.buffer.go(0)

    def mark(self, fault: JsonFault | None, errors: Mapping[str, str]) -> None:
        """Show a syntax error, or the errors of values by their JSON Pointers, at the end of their lines."""
        wrong: dict[int, str] = {}
        if fault is not None:
            wrong[max(fault.line, 1) - 1] = fault.reason
        elif errors:
            tree = Tree(self.value)
            for pointer, reason in errors.items():
                line = tree.line_of(pointer)
                row = self.value.count("\n", 0, tree.offset(line)) if line is not None else 0
                # What is missing is shown at the object that it belongs to.
                name = pointer.removeprefix(tree.pointer(line)) if line is not None else pointer
                message = f"{name.removeprefix('/')}: {reason}" if name else reason
                wrong[row] = f"{wrong[row]}; {message}" if row in wrong else message
        if wrong != self._wrong:
            self._wrong = wrong
            self.refresh()

    def go_to(self, fault: JsonFault) -> None:
        """Move the caret to a syntax error."""
        self.buffer.go(self.buffer.offset(max(fault.line, 1) - 1, max(fault.column, 1) - 1))
        self._redraw()

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        reason = self._wrong.get(y)
        if reason is None or y >= len(self.buffer.rows):
            return strip
        width = self.size.width
        end = paint.width(paint.segments(self.buffer.rows[y], room=width)) + 2
        note = paint.cut(paint.segments([(f"{signs_now().failed} {reason}", "error")]), max(width - end, width // 2))
        start = min(end, width - paint.width(note))
        row, column = self.buffer.place()
        if row == y and column >= start:
            return strip
        return Strip.join([strip.crop(0, start), paint.strip(note, width - start, self.ground)])

    def edited(self) -> None:
        # At once and not by message: text typed just before a key counts.
        self.on_edit(self.value)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        # The caret may be below the last line.
        return self.rows_shown + 1

    def rows_visible(self) -> int:
        # All rows are drawn; the form around it scrolls.
        return len(self.buffer.rows) + 1

    def _redraw(self, rows_before: int | None = None) -> None:
        super()._redraw(rows_before)
        self.call_after_refresh(self._reveal)

    def _reveal(self) -> None:
        """Scroll the parents of the editor until the caret is visible."""
        around = self.parent
        if isinstance(around, Widget):
            place = self.virtual_region
            caret = Region(place.x, place.y + self.buffer.place()[0], 1, 1)
            around.scroll_to_region(caret, animate=False, force=True, immediate=True)

    def action_submit(self) -> None:
        """Start a new line with the same indentation, and more after an opening bracket."""
        row, column = self.buffer.place()
        before = self.buffer.rows[row][:column]
        indent = before[: len(before) - len(before.lstrip(" "))]
        if before.rstrip().endswith(("{", "[")):
            indent += "  "
        self._insert("\n" + indent)

    def action_page(self, by: int) -> None:
        row, column = self.buffer.place()
        page = max(self.parent.size.height, 1) if isinstance(self.parent, Widget) else 1
        self.buffer.go(self.buffer.offset(row + by * page, column))
        self._redraw()


def json_lines(value: Any) -> str | None:
    """Format a value as JSON to edit; None if it is nested too deeply."""
    try:
        # Indented, a value that some versions of Python write at any depth would take gigabytes.
        if is_too_deep(json.dumps(value)):
            return None
        text = json.dumps(value, indent=2, ensure_ascii=False)
    except (RecursionError, ValueError):
        return None
    return _SHAPELESS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


class _NotJson(ValueError):
    """A constant that Python's parser accepts but JSON does not have: NaN, Infinity."""


def read_json(text: str) -> tuple[Any, JsonFault | None]:
    """Return the value of a JSON text, or None and what is wrong."""
    if is_too_deep(text):
        return None, JsonFault("nested too deeply")
    try:
        return json.loads(text, parse_constant=_refuse), None
    except json.JSONDecodeError as error:
        return None, JsonFault(json_reason(error), error.lineno, error.colno)
    except _NotJson as error:
        return None, JsonFault(f"{safe(error, 20)} is not JSON")
    except ValueError:
        return None, JsonFault("a number has too many digits")
    except RecursionError:
        return None, JsonFault("nested too deeply")


def _refuse(word: str) -> Any:
    raise _NotJson(word)

"""An editor of JSON text that shows the position of a syntax error."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.widget import Widget

from inspector.reasons import json_reason
from inspector.text import safe
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.sections import json_spans

EDIT_LIMIT = 500_000
"""Characters that are edited on the screen; longer texts are edited in the user's editor."""

# An invisible character is written as an escape, so that it can be seen and edited.
_SHAPELESS = re.compile(
    "[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)


class JsonEditor(Editor):
    """Edits JSON: coloured, indented while typing, as high as the text. `on_edit` is called with each new text."""

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
        self.buffer.go(0)

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
        text = json.dumps(value, indent=2, ensure_ascii=False)
    except (RecursionError, ValueError):
        return None
    return _SHAPELESS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


class _NotJson(ValueError):
    """A constant that Python's parser accepts but JSON does not have: NaN, Infinity."""


def read_json(text: str) -> tuple[Any, str]:
    """Return the value of a JSON text and `""`, or None and the error with its position."""
    try:
        return json.loads(text, parse_constant=_refuse), ""
    except json.JSONDecodeError as error:
        return None, f"line {error.lineno}, column {error.colno}: {json_reason(error)}"
    except _NotJson as error:
        return None, f"{safe(error, 20)} is not JSON"
    except ValueError:
        return None, "a number has too many digits"
    except RecursionError:
        return None, "nested too deeply"


def _refuse(word: str) -> Any:
    raise _NotJson(word)

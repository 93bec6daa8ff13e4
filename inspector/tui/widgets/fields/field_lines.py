"""The lines of a form's fields: one for each, in columns, or more for its name and description."""

from __future__ import annotations

from inspector.tui.widgets.fields.base import Columns
from inspector.tui.widgets.fields.mounted import MountedFields

_MOST_OF_NAME = 0.35
"""The part of a line that the name of a field may have."""
_VALUE, _SHORT_VALUE = 28, 22
"""Cells that the value has before the type beside it gets more than `_LEAST_OF_HINT`; fewer if all are short."""
_LEAST_OF_HINT, _MOST_OF_HINT = 8, 27


class FieldLines:
    """Whether each field is one line, and the columns that it has then."""

    def __init__(self, fields: MountedFields) -> None:
        self.columns: Columns | None = None
        """The columns if each field is one line, else None."""
        self._fields = fields
        self._slim = self._has_foot = False

    def needed(self, width: int, *, slim: bool) -> int:
        """Return the lines that the fields need in a width, if each is one line or not."""
        rows = sum(widget.outer_rows(width, slim=slim) for widget in self._fields)
        has_focus = any(widget.has_focus for widget in self._fields)
        # The line below the focused field is kept while another pane has the focus.
        foot = slim and any(widget.can_focus for widget in self._fields) and not (has_focus and self._has_foot)
        return rows + foot

    def choose(self, width: int, *, slim: bool, foot: bool) -> None:
        """Give each field one line, with another below the focused one (`foot`), or lines of its own."""
        if (slim, foot) != (self._slim, self._has_foot):
            self._slim, self._has_foot = slim, foot
            self.measure(width)

    def measure(self, width: int) -> None:
        """Set the columns in a width by the names of the fields."""
        before = self.columns
        names = max((widget.name_cells for widget in self._fields), default=0)
        name = min(names, int(width * _MOST_OF_NAME))
        value = _SHORT_VALUE if all(widget.is_short for widget in self._fields) else _VALUE
        room = min(max(width - name - value, _LEAST_OF_HINT), _MOST_OF_HINT)
        hint = max((widget.hint_cells(room) for widget in self._fields), default=0)
        self.columns = Columns(name, max(hint, _LEAST_OF_HINT), self._has_foot) if self._slim else None
        if self.columns != before:
            for widget in self._fields:
                widget.refresh(layout=True)

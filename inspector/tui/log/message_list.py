"""The list of the message log: the keys of lists, without those that the log uses otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from rich.segment import Segment
from textual.binding import BindingType
from textual.strip import Strip

from inspector.tui.keymap import bindings
from inspector.tui.log import now_row
from inspector.tui.log.rows import MessageRows
from inspector.tui.log.waterfall import WaterfallRows
from inspector.tui.widgets.virtual_list import DrawnRow, VirtualList


class MessageList(VirtualList, inherit_bindings=False):
    """The rows of the log. The first visible one shows the full time; bars span the visible rows."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("list", without="messages")]

    span_changed: Callable[[], object] | None = None
    """Called when the bars span another time, after the rows were drawn."""

    def validate_cursor(self, cursor: int) -> int:
        """The cursor cannot be on the row of the moment."""
        cursor = super().validate_cursor(cursor)
        if cursor >= 0 and self.row_key(cursor) == now_row.NOW:
            return cursor + 1 if cursor > self.cursor or not cursor else cursor - 1
        return cursor

    def render_row(self, index: int, width: int, selected: bool, focused: bool) -> DrawnRow:
        """Draw a row; events after the moment shown are faint."""
        n = self.row_key(index)
        if n == now_row.NOW:
            return now_row.line(width)
        row, upto = super().render_row(index, width, selected, focused), getattr(self.source, "upto", None)
        if upto is None or not isinstance(n, int) or n <= upto:
            return row
        return now_row.faint([part for part in row if isinstance(part, Segment)]) if isinstance(row, list) else row

    def _row(self, index: int, cells: int) -> list[Strip]:
        rows, top = self.source, self.scroll_offset.y
        if isinstance(rows, WaterfallRows) and rows.look_at(top, self.size.height):
            self._cache.clear()
            if self.span_changed is not None:
                self.call_later(self.span_changed)
        if isinstance(rows, MessageRows) and rows.top != top:
            for changed in (rows.top, top):
                self._cache.discard_row(changed)
            rows.top = top
        return super()._row(index, cells)

    @property
    def last_visible(self) -> int:
        """The last row on the screen; -1 if there is none."""
        return min(self.scroll_offset.y + self.scrollable_content_region.height, self.count) - 1

"""The list of the message log: its keys are those of lists, less those that the log needs."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.strip import Strip

from inspector.tui.keymap import bindings
from inspector.tui.panes.message_rows import MessageRows
from inspector.tui.panes.waterfall import WaterfallRows
from inspector.tui.widgets.virtual_list import VirtualList

_TAKEN = {key for binding in bindings("messages") for key in binding.key.split(",")}


def _list_bindings() -> list[BindingType]:
    """The keys of lists, without those that mean something else in the log: the pane around the list has them."""
    found: list[BindingType] = []
    for binding in bindings("list"):
        keys = ",".join(key for key in binding.key.split(",") if key not in _TAKEN)
        found.append(Binding(keys, binding.action, binding.description, show=False, id=binding.id))
    return found


class MessageList(VirtualList, inherit_bindings=False):
    """The rows of the log. The first visible one tells the whole time, and bars span what is visible."""

    BINDINGS: ClassVar[list[BindingType]] = _list_bindings()

    def _row(self, index: int, cells: int) -> list[Strip]:
        rows, top = self.source, self.scroll_offset.y
        if isinstance(rows, WaterfallRows) and rows.look_at(top, self.size.height):
            self._cache.clear()
        if isinstance(rows, MessageRows) and rows.top != top:
            for changed in (rows.top, top):
                for selected, focused in ((False, False), (True, False), (True, True)):
                    self._cache.discard((changed, selected, focused))
            rows.top = top
        return super()._row(index, cells)

"""The interface of lists: rows that are drawn only while they are visible."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Generic, Protocol, TypeVar

from rich.console import Console
from rich.segment import Segment
from rich.text import Text
from textual.strip import Strip

from inspector.tui.widgets import paint

Line = Strip | Text | list[Segment]
DrawnRow = Line | list[Strip]
"""A drawn row: one line, or a strip for each of its lines if the list's `row_height` is more than 1."""


def strips(row: DrawnRow, console: Console) -> list[Strip]:
    """Return the lines of a drawn row."""
    if isinstance(row, Strip):
        return [row]
    if isinstance(row, Text):
        return [Strip(row.render(console))]
    lines = [part for part in row if isinstance(part, Strip)]
    return lines or [Strip([part for part in row if isinstance(part, Segment)])]


class RowSource(Protocol):
    """The content of a list. Its methods are called often, and only for visible rows; `__len__` must be O(1).

    `render` draws row `index` in at most `width` cells (wider is cut); the list adds the background of the selected row
    and a cell of padding at each side. `focused` is true for the selected row of a list that has the focus.

    A source may also have `key_at(index) -> Hashable` and `index_of(key) -> int | None`: the cursor then stays on its
    item when rows are inserted, removed or filtered.
    """

    def __len__(self) -> int: ...

    def render(self, index: int, width: int, selected: bool, focused: bool) -> DrawnRow: ...


Item = TypeVar("Item")


class ListRows(Generic[Item]):
    """A source over a list of items, which a subclass draws. The cursor stays on the item with the same key."""

    def __init__(self, key: Callable[[Item], Hashable]) -> None:
        self._key = key
        self.rows = []

    @property
    def rows(self) -> list[Item]:
        """The items; set another list to change them."""
        return self._rows

    @rows.setter
    def rows(self, rows: list[Item]) -> None:
        self._rows = rows
        self._at: dict[Hashable, int] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def key_at(self, index: int) -> Hashable:
        """Return the key of a row."""
        return self._key(self._rows[index])

    def index_of(self, key: Hashable) -> int | None:
        """Return the first row with a key, or None."""
        if not self._at:
            self._at = {self.key_at(at): at for at in range(len(self._rows) - 1, -1, -1)}
        return self._at.get(key)


class TextRows:
    """The simplest source: a list of pieces, each its own key."""

    def __init__(self, rows: Iterable[paint.Pieces] = ()) -> None:
        self.rows = list(rows)

    def __len__(self) -> int:
        return len(self.rows)

    def render(self, index: int, width: int, selected: bool, focused: bool) -> DrawnRow:
        return paint.cut(paint.segments(self.rows[index], room=width), width)

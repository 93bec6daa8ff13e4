"""The columns of a table on the screen: their order, widths and places, and the one with the cursor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from inspector.protocol.tables import Table, WrittenNumber, cell_text
from inspector.text import cell_len, safe
from inspector.tui.themes import ascii_only

MEASURED = 200
"""Rows that determine the width of a column; cells of other rows may be cut."""

GAP = 2
"""Cells between two columns."""
MAX_GAP = 5
"""Cells that are added to it where all columns fit."""
NARROWEST = 16
"""Cells to which a text column shrinks before columns are scrolled off the screen."""

WIDEST = 40
"""Cells of a column at most, unless the table leaves room."""
LONGEST = 800
"""Characters of a cell that are drawn."""

_NULL = len("null")
"""Cells that a column has room for if a value that was not measured may be null."""

CellMarks = Mapping[int, Mapping[int | None, str]]
"""The errors by row and by column (None: the row itself)."""


class TableColumns:
    """The visible columns of a table, from left to right, as far as they fit from `left` on.

    `sorted_by` is the column by which the rows are sorted; None: they have the server's order.
    """

    def __init__(self, table: Table, marks: CellMarks) -> None:
        self.table = table
        self.marks = marks
        self.order = list(range(len(table.columns)))
        self.cursor = 0
        """The index in `order` of the column with the cursor."""
        self.left = 0
        """How many are scrolled off the screen at the left."""
        self.sorted_by: int | None = None
        self.descending = False
        step = max(len(table) // MEASURED, 1)
        self._sample = [table.cells(row) for row in range(0, len(table), step)][: MEASURED + 1]
        self._widths: dict[int, tuple[int, int]] = {}
        self._placed: dict[int, list[tuple[int, int, int]]] = {}

    @property
    def here(self) -> int | None:
        """The column with the cursor."""
        return self.order[self.cursor] if self.order else None

    def mark(self, marks: CellMarks) -> None:
        """Set the cells with errors; their signs take room."""
        self.marks = marks
        self._widths.clear()
        self._placed.clear()

    def sort(self, column: int) -> None:
        """Sort by a column: ascending, then descending, then not at all."""
        if column != self.sorted_by:
            self.sorted_by, self.descending = column, False
        elif not self.descending:
            self.descending = True
        else:
            self.sorted_by, self.descending = None, False
        self._placed.clear()

    def step(self, by: int) -> None:
        """Move the cursor to another column."""
        self.cursor = max(min(self.cursor + by, len(self.order) - 1), 0)

    def move(self, by: int) -> None:
        """Move the column with the cursor."""
        to = self.cursor + by
        if 0 <= to < len(self.order):
            self.order[self.cursor], self.order[to] = self.order[to], self.order[self.cursor]
            self.cursor = to
            self._placed.clear()

    def hide(self) -> None:
        """Hide the column with the cursor; the last one stays."""
        if len(self.order) > 1:
            del self.order[self.cursor]
            self.step(0)
            self._placed.clear()

    def show_all(self) -> None:
        """Show every column, in the order of the server."""
        self.cursor = self.here or 0
        self.order = list(range(len(self.table.columns)))
        self._placed.clear()

    def go_to(self, column: int) -> None:
        """Put the cursor on a column, hidden or not."""
        if column not in self.order:
            self.show_all()
        self.cursor = self.order.index(column)

    def reveal(self, width: int) -> None:
        """Scroll sideways, as little as necessary, until the column with the cursor is visible.

        No room stays empty at the right while columns are off the screen at the left.
        """
        self._scroll_to(min(self.left, self.cursor))
        while self.left < self.cursor and self.here not in {column for column, _, _ in self.placed(width)}:
            self._scroll_to(self.left + 1)
        while self.left and not self.beyond(width):
            self._scroll_to(self.left - 1)
            if self.beyond(width):
                self._scroll_to(self.left + 1)
                break

    def _scroll_to(self, left: int) -> None:
        self.left = left
        self._placed.clear()

    def width_of(self, column: int) -> tuple[int, int]:
        """Return the cells that a column needs, and the digits after the point that it reserves."""
        measured = self._widths.get(column)
        if measured is None:
            measured = self._widths[column] = self._measure(column)
        extra = 2 if column == self.sorted_by else 0
        return max(min(measured[0], WIDEST), min(cell_len(self.heading(column)), WIDEST) + extra), measured[1]

    def heading(self, column: int) -> str:
        """Return a column's name as it is drawn."""
        return safe(self.table.columns[column].name, WIDEST, ascii=ascii_only())

    def _measure(self, column: int) -> tuple[int, int]:
        about = self.table.columns[column]
        wrong = [row for row, columns in self.marks.items() if column in columns]
        marked = 2 if wrong else 0
        least = 1 if len(self._sample) == len(self.table) else _NULL
        measured = [cells[column] for cells in self._sample]
        measured += [self.table.cells(row)[column] for row in wrong[:MEASURED]]
        if about.is_numeric:
            numbers = [value for value in measured if type(value) is WrittenNumber]
            words = max(
                (cell_len(shown_cell(value)) for value in measured if type(value) is not WrittenNumber), default=0
            )
            places = max((max(min(fraction_length(number) - 1, 6), 0) for number in numbers), default=0)
            whole = max((len(number) - fraction_length(number) for number in numbers), default=0)
            return max(about.longest, words, least, whole + (places + 1 if places else 0)) + marked, places
        widest = max((cell_len(shown_cell(value)) for value in measured), default=0)
        return max(widest, least) + marked, 0

    def placed(self, width: int) -> list[tuple[int, int, int]]:
        """Return (column, first cell, cells) of the columns on the screen."""
        places = self._placed.get(width)
        if places is None:
            places = self._placed[width] = self._place(width)
        return places

    def beyond(self, width: int) -> int:
        """Return how many columns do not fit at the right."""
        return len(self.order) - self.left - len(self.placed(width))

    def _place(self, width: int) -> list[tuple[int, int, int]]:
        chosen: list[int] = []
        least: list[int] = []
        needed: list[int] = []
        used = 0
        for column in self.order[self.left :]:
            want = self.width_of(column)[0]
            narrow = want if self.table.columns[column].is_numeric else min(want, NARROWEST)
            if chosen and used + narrow > width:
                break
            chosen.append(column)
            least.append(min(narrow, width))
            needed.append(want)
            used += narrow + GAP
        spare = max(width - sum(least) - GAP * (len(least) - 1), 0)
        cells = _share(least, needed, spare)
        left = max(width - sum(cells) - GAP * (len(cells) - 1), 0)
        every = len(chosen) == len(self.order)
        if every and left:
            longest = [self._widths[column][0] for column in chosen]
            cells = _share(cells, [max(pair) for pair in zip(cells, longest, strict=True)], left)
            left = max(width - sum(cells) - GAP * (len(cells) - 1), 0)
        gap = GAP + (min(left // max(len(cells) - 1, 1), MAX_GAP) if every else 0)
        places: list[tuple[int, int, int]] = []
        at = 0
        for column, taken in zip(chosen, cells, strict=True):
            places.append((column, at, taken))
            at += taken + gap
        return places


def _share(least: Sequence[int], needed: Sequence[int], spare: int) -> list[int]:
    """Divide the width among columns: narrow ones first, the others equally."""
    cells = list(least)
    open = sorted((at for at in range(len(cells)) if needed[at] > cells[at]), key=lambda at: needed[at] - least[at])
    for done, at in enumerate(open):
        given = min(needed[at] - cells[at], spare // (len(open) - done))
        cells[at] += given
        spare -= given
    return cells


def shown_cell(value: Any) -> str:
    """Return the text of a cell as it is drawn."""
    return safe(cell_text(value), LONGEST, ascii=ascii_only())


def fraction_length(number: str) -> int:
    """Return the length of a number from its decimal point on."""
    at = number.find(".")
    return len(number) - at if at >= 0 and "e" not in number.lower() else 0

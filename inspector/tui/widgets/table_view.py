"""A table on the screen: a fixed head, rows drawn only while they are visible, a filter line."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from rich.segment import Segment
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.events import Click
from textual.message import Message
from textual.strip import Strip
from textual.worker import get_current_worker

from inspector.protocol.tables import MISSING, Table, WrittenNumber, cell_text, filter_patterns
from inspector.text import cell_len, safe
from inspector.tui.keymap import bindings
from inspector.tui.themes import ascii_only, signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.clipboard import copy
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.filter_input import FilterInput
from inspector.tui.widgets.line_widget import LineWidget
from inspector.tui.widgets.virtual_list import VirtualList

AT_ONCE = 2_000
"""Rows that are sorted and filtered at once; more are sorted and filtered in a thread."""

MEASURED = 200
"""Rows that determine the width of a column; cells of other rows may be cut."""

GAP = 2
MAX_GAP = 5
NARROWEST = 16
"""Cells to which a text column shrinks before columns are scrolled off the screen."""

WIDEST = 40
_ABOUT = 200

CellMarks = Mapping[int, Mapping[int | None, str]]
"""The errors by row and by column (None: the row itself)."""


class TableView(Container):
    """Shows a `Table`; `load` another. Columns can be sorted, moved and hidden, rows filtered and opened.

    `note` says which row of how many has the cursor; `Changed` is posted when it changes.
    """

    DEFAULT_CSS = """
    TableView { layout: vertical; height: 1fr; }
    TableView > TableList { height: 1fr; }
    TableView > FilterInput { display: none; }
    """

    class Changed(Message):
        """The cursor moved, or other rows are shown."""

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, TableView.Changed)

    class Opened(Message):
        """A row was opened; `json` is its text."""

        def __init__(self, row: int, json: str) -> None:
            super().__init__()
            self.row = row
            self.json = json

    class SaveRequested(Message):
        """The user wants to save the table; `formulas` counts cells that a spreadsheet may run as formulas."""

        def __init__(self, data: bytes, rows: int, formulas: int) -> None:
            super().__init__()
            self.data = data
            self.rows = rows
            self.formulas = formulas

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.table: Table | None = None
        self.marks: CellMarks = {}
        self.list = TableList(self)
        self._head = TableHead(self)
        self._about = _Line()
        self._problem = _Line()
        self._filter = FilterInput()
        self.order: list[int] = []
        """The visible columns, from left to right."""
        self.left = 0
        """How many of them are scrolled off the screen at the left."""
        self.column = 0
        """The index in `order` of the column with the cursor."""
        self.sorted_by: int | None = None
        self.descending = False
        self.words = ""
        self.patterns: Sequence[tuple[int | None, Any]] = ()
        self.busy = ""
        self._widths: dict[int, tuple[int, int]] = {}
        self._sample: list[Sequence[Any]] = []
        self._layout: tuple[tuple[Any, ...], list[tuple[int, int, int]]] = ((), [])

    def compose(self) -> ComposeResult:
        yield self._about
        yield self._head
        yield self.list
        yield self._problem
        yield self._filter

    # Show

    def load(self, table: Table, marks: CellMarks | None = None) -> None:
        """Show a table from the top; the current one keeps its state."""
        if table is self.table:
            self.mark(marks or {})
            return
        self.table = table
        self.marks = marks or {}
        self.order = list(range(len(table.columns)))
        self.left = self.column = 0
        self.sorted_by, self.descending, self.words, self.patterns, self.busy = None, False, "", (), ""
        self._filter.show_without_change("")
        self._filter.display = False
        step = max(len(table) // MEASURED, 1)
        self._sample = [table.cells(row) for row in range(0, len(table), step)][: MEASURED + 1]
        self._widths = {}
        self._draw_about()
        self._show_rows(range(len(table)), keep=False)

    def mark(self, marks: CellMarks) -> None:
        """Mark cells that violate the schema."""
        if marks != self.marks:
            self.marks = marks
            self._widths = {}
            self.redraw()

    def redraw(self) -> None:
        """Draw head and rows again."""
        self._layout = ((), [])
        self.list.redraw()
        self._head.refresh()
        self._say()

    def _draw_about(self) -> None:
        table = self.table
        beside = table.beside if table is not None else ()
        pieces: list[paint.Piece] = []
        for name, value in beside:
            pieces += [("  " if pieces else "", "muted"), (f"{name[:_ABOUT]} ", "muted"), (value[:_ABOUT], "normal")]
        if table is not None and table.has_more:
            pieces += [
                ("  " if pieces else "", "muted"),
                ("Some keys have no column; open a row to see them.", "muted"),
            ]
        self._about.show(pieces)

    def _show_rows(self, rows: Sequence[int], *, keep: bool = True) -> None:
        """Show rows. The cursor stays on its row, unless it was on the first: then on the new first row."""
        self.busy = ""
        self.list.show(rows, keep=keep and self.list.cursor > 0)
        self.redraw()

    @property
    def rows(self) -> Sequence[int]:
        """The visible rows, in order."""
        return self.list.rows

    @property
    def row(self) -> int | None:
        """The row of the table with the cursor."""
        at = self.list.cursor
        return self.rows[at] if 0 <= at < len(self.rows) else None

    @property
    def column_name(self) -> str:
        """The name of the column with the cursor."""
        return self.table.columns[self.order[self.column]].name if self.table is not None and self.order else ""

    @property
    def note(self) -> str:
        """The row of the cursor, and the number of rows."""
        if self.table is None:
            return ""
        if self.busy:
            return self.busy
        shown, every = len(self.rows), len(self.table)
        of = f" ({every:,})" if shown != every else ""
        return f"row {self.list.cursor + 1:,} of {shown:,}{of}" if shown else f"no rows of {every:,} match"

    def _say(self) -> None:
        row = self.row
        found = self.marks.get(row, {}) if row is not None else {}
        here = self.order[self.column] if self.order else None
        problem = found.get(here) or next(iter(found.values()), "")
        at = here if found.get(here) else next(iter(found), None)
        name = self.table.columns[at].name if self.table is not None and at is not None else ""
        sign = signs_now().finding
        self._problem.show([(f"{sign} ", "finding"), (f"{name} ", "bright"), problem] if problem else [])
        self.post_message(self.Changed())

    # Columns on the screen

    def width_of(self, column: int) -> tuple[int, int]:
        """Return the cells that a column needs, and the digits after the point that it reserves."""
        found = self._widths.get(column)
        if found is None:
            found = self._widths[column] = self._measure(column)
        extra = 2 if column == self.sorted_by else 0
        assert self.table is not None
        return max(found[0], min(cell_len(self.heading(column)), WIDEST) + extra), found[1]

    def heading(self, column: int) -> str:
        """Return a column's name as it is drawn."""
        assert self.table is not None
        return safe(self.table.columns[column].name, WIDEST, ascii=ascii_only())

    def _measure(self, column: int) -> tuple[int, int]:
        assert self.table is not None
        about = self.table.columns[column]
        wrong = [row for row, found in self.marks.items() if column in found]
        marked = 2 if wrong else 0
        least = 1 if len(self._sample) == len(self.table) else _NULL
        measured = [cells[column] for cells in self._sample]
        measured += [self.table.cells(row)[column] for row in wrong[:MEASURED]]
        if about.is_numeric:
            numbers = [value for value in measured if type(value) is WrittenNumber]
            words = max((cell_len(_shown(value)) for value in measured if type(value) is not WrittenNumber), default=0)
            places = max(map(_places, numbers), default=0)
            whole = max((len(number) - _after(number) for number in numbers), default=0)
            return min(max(about.longest, words, least, whole + (places + 1 if places else 0)), WIDEST) + marked, places
        widest = max((cell_len(_shown(value)) for value in measured), default=0)
        return min(max(widest, least), WIDEST) + marked, 0

    def placed(self, width: int) -> list[tuple[int, int, int]]:
        """Return (column, first cell, cells) of the columns on the screen."""
        key = (width, tuple(self.order[self.left : self.left + width]), self.left, self.sorted_by)
        if self._layout[0] == key:
            return self._layout[1]
        self._layout = (key, self._place(width))
        return self._layout[1]

    def _place(self, width: int) -> list[tuple[int, int, int]]:
        assert self.table is not None
        chosen: list[int] = []
        least: list[int] = []
        wanted: list[int] = []
        used = 0
        for column in self.order[self.left :]:
            want = self.width_of(column)[0]
            narrow = want if self.table.columns[column].is_numeric else min(want, NARROWEST)
            if chosen and used + narrow > width:
                break
            chosen.append(column)
            least.append(min(narrow, width))
            wanted.append(want)
            used += narrow + GAP
        spare = max(width - sum(least) - GAP * (len(least) - 1), 0)
        cells = _share(least, wanted, spare)
        left = max(width - sum(cells) - GAP * (len(cells) - 1), 0)
        every = len(chosen) == len(self.order)
        gap = GAP + (min(left // max(len(cells) - 1, 1), MAX_GAP) if every else 0)
        found: list[tuple[int, int, int]] = []
        at = 0
        for column, taken in zip(chosen, cells, strict=True):
            found.append((column, at, taken))
            at += taken + gap
        return found

    def _reveal_column(self) -> None:
        """Scroll sideways, as little as necessary, until the column with the cursor is visible."""
        self.left = min(self.left, self.column)
        width = self.list.inner_width
        while self.left < self.column and self.order[self.column] not in [each[0] for each in self.placed(width)]:
            self.left += 1
        self.redraw()

    def step_column(self, by: int) -> None:
        """Move the cursor to another column."""
        if self.order:
            self.column = min(max(self.column + by, 0), len(self.order) - 1)
            self._reveal_column()

    def move_column(self, by: int) -> None:
        """Move the column with the cursor."""
        to = self.column + by
        if 0 <= to < len(self.order):
            self.order[self.column], self.order[to] = self.order[to], self.order[self.column]
            self.column = to
            self._reveal_column()

    def hide_column(self) -> None:
        """Hide the column with the cursor; the last one stays."""
        if len(self.order) > 1:
            del self.order[self.column]
            self.column = min(self.column, len(self.order) - 1)
            self._reveal_column()

    def show_columns(self) -> None:
        """Show every column, in the order of the server."""
        if self.table is not None and self.order:
            here = self.order[self.column]
            self.order = list(range(len(self.table.columns)))
            self.column = here
            self._reveal_column()

    def go_to(self, row: int, column: int | None) -> None:
        """Put the cursor on a cell; drop a filter that hides it."""
        if self.list.index_of(row) is None and self.words:
            self.words = ""
            self._filter.show_without_change("")
            self.patterns = ()
            self._show_rows(self._sorted(None, bool))
        self.list.move_to(row)
        if column is not None:
            if column not in self.order:
                self.show_columns()
            self.column = self.order.index(column)
        self._reveal_column()

    # Order and filter

    def sort(self, column: int | None = None) -> None:
        """Sort by a column: ascending, then descending, then in the server's order."""
        if self.table is None or not self.order:
            return
        column = self.order[self.column] if column is None else column
        if column != self.sorted_by:
            self.sorted_by, self.descending = column, False
        elif not self.descending:
            self.descending = True
        else:
            self.sorted_by, self.descending = None, False
        self._arrange("sorting")

    def filter(self, words: str) -> None:
        """Show only the rows that match."""
        if self.table is not None and words != self.words:
            self.words = words
            self.patterns = filter_patterns(words, [column.name for column in self.table.columns])
            self._arrange("filtering")

    def _arrange(self, doing: str) -> None:
        table = self.table
        if table is None:
            return
        if len(table) <= AT_ONCE:
            self._show_rows(self._sorted(self._matching(bool), bool))
            return
        self.busy = f"{doing} {len(table):,} rows{signs_now().cut}"
        self.redraw()

        def arrange() -> None:
            worker = get_current_worker()
            stopped = partial(getattr, worker, "is_cancelled")
            rows = self._sorted(self._matching(stopped), stopped)
            if not worker.is_cancelled:
                self.app.call_from_thread(self._arranged, table, rows)

        self.run_worker(arrange, thread=True, group="arrange", exclusive=True, exit_on_error=False)

    def _arranged(self, table: Table, rows: Sequence[int]) -> None:
        if table is self.table and self.is_attached:
            self._show_rows(rows)

    def _matching(self, stopped: Callable[[], bool]) -> Sequence[int] | None:
        assert self.table is not None
        return self.table.matching(self.words, stopped=stopped) if self.words.strip() else None

    def _sorted(self, rows: Sequence[int] | None, stopped: Callable[[], bool]) -> Sequence[int]:
        assert self.table is not None
        found = range(len(self.table)) if rows is None else rows
        if self.sorted_by is None:
            return found
        return self.table.ordered(found, self.sorted_by, descending=self.descending, stopped=stopped)

    @property
    def is_typing(self) -> bool:
        """Whether the user is typing a filter."""
        return self._filter.has_focus

    def open_filter(self) -> None:
        """Let the user type a filter."""
        self._filter.display = True
        self._filter.focus()

    def drop_filter(self) -> bool:
        """Clear the filter and show all rows; False without a filter."""
        if not self.words and not self._filter.display:
            return False
        self._filter.show_without_change("")
        self._filter.display = False
        self.filter("")
        return True

    def on_editor_changed(self, event: Editor.Changed) -> None:
        event.stop()
        self.filter(self._filter.value)

    def on_filter_input_left(self, event: FilterInput.Left) -> None:
        event.stop()
        self.screen.set_focus(self.list)
        self._filter.display = bool(self._filter.value)

    # Using rows

    def open_row(self) -> None:
        """Open the row with the cursor."""
        if self.table is not None and self.row is not None:
            self.post_message(self.Opened(self.row, self.table.json(self.row)))

    def copy_cell(self) -> None:
        """Copy the cell with the cursor, as the server wrote it."""
        if self.table is not None and self.row is not None and self.order:
            copy(self, cell_text(self.table.cells(self.row)[self.order[self.column]], None), "the cell")

    def copy_row(self) -> None:
        """Copy the row with the cursor as JSON."""
        if self.table is not None and self.row is not None:
            copy(self, self.table.json(self.row), "the row")

    def save(self) -> None:
        """Write the visible rows and columns as CSV, in a thread."""
        table, rows, columns = self.table, self.rows, tuple(self.order)
        if table is None:
            return

        def write() -> None:
            data, formulas = table.csv(rows, columns), table.formulas(rows, columns)
            if not get_current_worker().is_cancelled:
                self.app.call_from_thread(self.post_message, self.SaveRequested(data, len(rows), formulas))

        self.run_worker(write, thread=True, group="save", exclusive=True, exit_on_error=False)

    # Drawing

    def draw_row(self, row: int, width: int, selected: bool, focused: bool) -> list[Segment]:
        """Draw a row of the table."""
        assert self.table is not None
        cells = self.table.cells(row)
        marks = self.marks.get(row, {})
        here = self.order[self.column] if self.order else None
        line: list[Segment] = []
        at = 0
        for column, start, taken in self.placed(width):
            if start > at:
                line.append(Segment(" " * (start - at)))
            role = "bright bold" if focused and column == here else "bright" if column == self.sorted_by else "normal"
            line += self._cell(cells[column], column, min(taken, width - start), role, marks.get(column, ""))
            at = start + taken
        return line

    def _cell(self, value: Any, column: int, taken: int, role: str, problem: str) -> list[Segment]:
        assert self.table is not None
        lead: list[paint.Piece] = [(f"{signs_now().finding} ", "finding")] if problem else []
        if value is None:
            pieces: list[paint.Piece] = [("null", "muted")]
        elif value is MISSING:
            pieces = []
        else:
            text = _shown(value)
            if type(value) is WrittenNumber and self.table.columns[column].is_numeric:
                places = self.width_of(column)[1]
                after = _after(value)
                pad = (places + 1 if places else 0) - after if "e" not in text.lower() else 0
                if pad > 0 and len(text) + pad + 2 * bool(problem) <= taken:
                    text += " " * pad
            pieces = self._underlined(text, column, role)
        return paint.cell([*lead, *pieces], taken, role, right=self.table.columns[column].is_numeric)

    def _underlined(self, text: str, column: int, role: str) -> list[paint.Piece]:
        """Underline the match of the filter."""
        spans = sorted(
            match.span()
            for at, pattern in self.patterns
            if at is None or at == column
            for match in [pattern.search(text)]
            if match
        )
        pieces: list[paint.Piece] = []
        at = 0
        for start, end in spans:
            if start >= at:
                pieces += [(text[at:start], role), (text[start:end], f"{role} underline")]
                at = end
        return [*pieces, (text[at:], role)]


class TableList(VirtualList):
    """The rows of a `TableView`."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("table")]

    def __init__(self, view: TableView) -> None:
        self.view = view
        self.rows: Sequence[int] = ()
        super().__init__(_TableRows(self), empty="No rows match the filter.")

    @property
    def inner_width(self) -> int:
        """Cells that a row has for its columns."""
        return max(self.scrollable_content_region.width - 2 * self.pad, 1)

    def show(self, rows: Sequence[int], *, keep: bool) -> None:
        """Show other rows; with `keep` the cursor stays on its row if that is still shown."""
        self.rows = rows
        if not keep:
            self.forget_row()
            self.source_changed()
            self.action_first()
        else:
            self.source_changed()

    def cursor_moved(self, before: int, after: int) -> None:
        super().cursor_moved(before, after)
        self.view._say()

    def on_resize(self) -> None:
        super().on_resize()
        if self.view.table is not None:
            self.view._reveal_column()

    def on_focus(self) -> None:
        self.view.redraw()

    def on_blur(self) -> None:
        self.view.redraw()

    def action_sort(self) -> None:
        self.view.sort()

    def action_previous_column(self) -> None:
        self.view.step_column(-1)

    def action_next_column(self) -> None:
        self.view.step_column(1)

    def action_move_left(self) -> None:
        self.view.move_column(-1)

    def action_move_right(self) -> None:
        self.view.move_column(1)

    def action_hide(self) -> None:
        self.view.hide_column()

    def action_show_columns(self) -> None:
        self.view.show_columns()

    def action_filter(self) -> None:
        self.view.open_filter()

    def action_all(self) -> None:
        if not self.view.drop_filter():
            raise SkipAction

    def action_copy(self) -> None:
        self.view.copy_cell()

    def action_copy_row(self) -> None:
        self.view.copy_row()

    def action_save(self) -> None:
        self.view.save()

    def action_select(self) -> None:
        self.view.open_row()


class _TableRows:
    """The row source of a `TableList`: the key of a row is its number in the table."""

    def __init__(self, owner: TableList) -> None:
        self._owner = owner

    def __len__(self) -> int:
        return len(self._owner.rows)

    def key_at(self, index: int) -> Hashable:
        """Return the row's number in the table."""
        return self._owner.rows[index]

    def index_of(self, key: Hashable) -> int | None:
        """Return where a row of the table is shown, or None."""
        rows = self._owner.rows
        if not isinstance(key, int):
            return None
        if isinstance(rows, range):
            return key if 0 <= key < len(rows) else None
        try:
            return rows.index(key) if isinstance(rows, array) else None
        except ValueError:
            return None

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Segment]:
        """Draw a row."""
        owner = self._owner
        return owner.view.draw_row(owner.rows[index], width, selected, focused)


class TableHead(LineWidget):
    """The names of the columns. A click sorts by one."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    TableHead { height: 1; width: 1fr; }
    """

    def __init__(self, view: TableView) -> None:
        super().__init__()
        self._view = view

    def render_line(self, y: int) -> Strip:
        view = self._view
        cells = self.size.width
        if view.table is None:
            return paint.blank(cells)
        line: list[Segment] = [Segment(" ")]
        at = 0
        width = view.list.inner_width
        here = view.order[view.column] if view.order else None
        signs = signs_now()
        placed = view.placed(width)
        for column, start, taken in placed:
            if start > at:
                line.append(Segment(" " * (start - at)))
            focused = view.list.has_focus and column == here
            role = "accent bold" if focused else "bright bold" if column == view.sorted_by else "muted"
            sign = f" {signs.down if view.descending else signs.up}" if column == view.sorted_by else ""
            room = min(taken, width - start)
            name = paint.cut(paint.segments([(view.heading(column), role)], room=taken), max(room - len(sign), 1))
            name += paint.segments([(sign, role)])
            space = Segment(" " * max(room - paint.width(name), 0))
            line += [space, *name] if view.table.columns[column].is_numeric else [*name, space]
            at = start + taken
        more = view.left or len(placed) < len(view.order)
        if more:
            line += paint.segments([(f" {signs.cut}", "muted")])
        return paint.strip(line, cells)

    def on_click(self, event: Click) -> None:
        event.stop()
        view = self._view
        for column, start, taken in view.placed(view.list.inner_width) if view.table is not None else ():
            if start <= event.x - 1 < start + taken:
                view.list.focus()
                view.column = view.order.index(column)
                view.sort()
                return


class _Line(LineWidget):
    """One line of pieces, hidden without any."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    _Line { height: 1; width: 1fr; display: none; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._pieces: Sequence[paint.Piece] = ()

    def show(self, pieces: Sequence[paint.Piece]) -> None:
        """Show these pieces."""
        if pieces != self._pieces:
            self._pieces = pieces
            self.display = bool(pieces)
            self.refresh()

    def render_line(self, y: int) -> Strip:
        cells = self.size.width
        room = max(cells - 2, 1)
        return paint.strip([Segment(" "), *paint.cut(paint.segments(self._pieces, room=room), room)], cells)


def _share(least: Sequence[int], wanted: Sequence[int], spare: int) -> list[int]:
    """Divide the width among columns: narrow ones first, the others equally."""
    cells = list(least)
    open = sorted((at for at in range(len(cells)) if wanted[at] > cells[at]), key=lambda at: wanted[at] - least[at])
    for done, at in enumerate(open):
        given = min(wanted[at] - cells[at], spare // (len(open) - done))
        cells[at] += given
        spare -= given
    return cells


_NULL = len("null")
"""Cells that a column has room for if a value that was not measured may be null."""


def _shown(value: Any) -> str:
    return safe(cell_text(value), 4 * _ABOUT, ascii=ascii_only())


def _after(number: str) -> int:
    """Return the length of a number from its decimal point on."""
    at = number.find(".")
    return len(number) - at if at >= 0 and "e" not in number.lower() else 0


def _places(number: str) -> int:
    return max(min(_after(number) - 1, 6), 0)

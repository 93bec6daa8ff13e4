"""A table on the screen: a fixed head, rows drawn only while they are visible, a filter line."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple

from rich.segment import Segment
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.events import Click
from textual.message import Message
from textual.strip import Strip
from textual.worker import get_current_worker

from inspector.protocol.tables import MISSING, ObjectTable, Table, WrittenNumber, cell_text, filter_patterns
from inspector.tui.keymap import bindings
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.clipboard import copy
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.filter_input import FilterInput
from inspector.tui.widgets.line_widget import LineWidget
from inspector.tui.widgets.table_columns import CellMarks, TableColumns, fraction_length, shown_cell
from inspector.tui.widgets.virtual_list import VirtualList

AT_ONCE = 2_000
"""Rows that are sorted and filtered at once; more are sorted and filtered in a thread."""

_ABOUT = 200
"""Characters of a member beside the table that are drawn."""


class RowFilter(NamedTuple):
    """A filter of rows: its words, and what is underlined in a column (None: in all)."""

    words: str = ""
    patterns: Sequence[tuple[int | None, re.Pattern[str]]] = ()


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
        self.columns = TableColumns(ObjectTable(), {})
        self.row_filter = RowFilter()
        self.busy = ""
        """What the thread does that sorts and filters."""
        self.list = TableList(self)
        self._head = TableHead(self)
        self._about = _Line()
        self._problem = _Line()
        self._filter = FilterInput()

    @property
    def words(self) -> str:
        """The words of the filter."""
        return self.row_filter.words

    @property
    def table(self) -> Table:
        """The table that is shown."""
        return self.columns.table

    def compose(self) -> ComposeResult:
        yield self._about
        yield self._head
        yield self.list
        yield self._problem
        yield self._filter

    def load(self, table: Table, marks: CellMarks | None = None) -> None:
        """Show a table from the top; the current one keeps its state."""
        if table is self.table:
            self.mark(marks or {})
            return
        self.columns = TableColumns(table, marks or {})
        self.row_filter, self.busy = RowFilter(), ""
        self._filter.show_without_change("")
        self._filter.display = False
        self._draw_about()
        self._show_rows(range(len(table)), keep=False)

    def mark(self, marks: CellMarks) -> None:
        """Mark cells that violate the schema."""
        if marks != self.columns.marks:
            self.columns.mark(marks)
            self.redraw()

    def redraw(self) -> None:
        """Draw head and rows again."""
        self.list.redraw()
        self._head.refresh()
        self.tell()

    def _draw_about(self) -> None:
        pieces: list[paint.Piece] = []
        for name, value in self.table.beside:
            pieces += [("  " if pieces else "", "muted"), (f"{name[:_ABOUT]} ", "muted"), (value[:_ABOUT], "normal")]
        if self.table.has_more:
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
        here = self.columns.here
        return self.table.columns[here].name if here is not None else ""

    @property
    def note(self) -> str:
        """The row of the cursor, the number of rows, and how many columns do not fit."""
        if self.busy:
            return self.busy
        visible, every = len(self.rows), len(self.table)
        of = f" ({every:,})" if visible != every else ""
        if not visible:
            return f"no rows of {every:,} match"
        # While a row of it is shown instead, no column is out of sight.
        left, right = (self.columns.left, self.columns.beyond(self.list.inner_width)) if self.display else (0, 0)
        hidden = [f"{signs_now().received} {_columns(left)}"] * bool(left) + [
            f"{_columns(right)} {signs_now().sent}"
        ] * bool(right)
        return "  ".join((f"row {self.list.cursor + 1:,} of {visible:,}{of}", *hidden))

    def tell(self) -> None:
        """Show the error of the cell with the cursor, and post `Changed`."""
        row = self.row
        errors = self.columns.marks.get(row, {}) if row is not None else {}
        here = self.columns.here
        problem = errors.get(here) or next(iter(errors.values()), "")
        at = here if errors.get(here) else next(iter(errors), None)
        name = self.table.columns[at].name if at is not None else ""
        sign = signs_now().finding
        self._problem.show([(f"{sign} ", "finding"), (f"{name} ", "bright"), problem] if problem else [])
        self.post_message(self.Changed())

    def columns_changed(self) -> None:
        """Draw the columns, with the one with the cursor visible."""
        self.columns.reveal(self.list.inner_width)
        self.redraw()

    def go_to(self, row: int, column: int | None) -> None:
        """Put the cursor on a cell; drop a filter that hides it."""
        if self.list.index_of(row) is None and self.words:
            self.row_filter = RowFilter()
            self._filter.show_without_change("")
            self._show_rows(self._sorted(None, bool))
        self.list.move_to(row)
        if column is not None:
            self.columns.go_to(column)
        self.columns_changed()

    def sort(self, column: int | None) -> None:
        """Sort by a column: ascending, then descending, then in the server's order."""
        if column is not None:
            self.columns.sort(column)
            self._arrange("sorting")

    def filter(self, words: str) -> None:
        """Show only the rows that match."""
        if words != self.words:
            self.row_filter = RowFilter(words, filter_patterns(words, [column.name for column in self.table.columns]))
            self._arrange("filtering")

    def _arrange(self, doing: str) -> None:
        table = self.table
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
        return self.table.matching(self.words, stopped=stopped) if self.words.strip() else None

    def _sorted(self, rows: Sequence[int] | None, stopped: Callable[[], bool]) -> Sequence[int]:
        order = range(len(self.table)) if rows is None else rows
        columns = self.columns
        if columns.sorted_by is None:
            return order
        return self.table.ordered(order, columns.sorted_by, descending=columns.descending, stopped=stopped)

    @property
    def is_typing(self) -> bool:
        """Whether the user is typing a filter."""
        return self._filter.has_focus

    def open_filter(self) -> None:
        """Let the user type a filter."""
        self._filter.display = True
        self._filter.focus()

    @property
    def is_filtered(self) -> bool:
        """Whether a filter is set or typed."""
        return bool(self.words) or self._filter.display

    def drop_filter(self) -> bool:
        """Clear the filter and show all rows; False without a filter."""
        if not self.is_filtered:
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
        self.view.tell()

    def on_resize(self) -> None:
        super().on_resize()
        self.view.columns_changed()

    def on_focus(self) -> None:
        self.view.redraw()

    def on_blur(self) -> None:
        self.view.redraw()

    def action_sort(self) -> None:
        self.view.sort(self.view.columns.here)

    def action_previous_column(self) -> None:
        self.view.columns.step(-1)
        self.view.columns_changed()

    def action_next_column(self) -> None:
        self.view.columns.step(1)
        self.view.columns_changed()

    def action_move_left(self) -> None:
        self.view.columns.move(-1)
        self.view.columns_changed()

    def action_move_right(self) -> None:
        self.view.columns.move(1)
        self.view.columns_changed()

    def action_hide(self) -> None:
        self.view.columns.hide()
        self.view.columns_changed()

    def action_show_columns(self) -> None:
        self.view.columns.show_all()
        self.view.columns_changed()

    def action_filter(self) -> None:
        self.view.open_filter()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Without a filter, the key that clears it goes to what is around the table."""
        return self.view.is_filtered if action == "all" else True

    def action_all(self) -> None:
        self.view.drop_filter()

    def action_copy(self) -> None:
        """Copy the cell with the cursor, as the server wrote it."""
        row, column = self.view.row, self.view.columns.here
        if row is not None and column is not None:
            copy(self, cell_text(self.view.table.cells(row)[column], None), "the cell")

    def action_copy_row(self) -> None:
        """Copy the row with the cursor as JSON."""
        if self.view.row is not None:
            copy(self, self.view.table.json(self.view.row), "the row")

    def action_save(self) -> None:
        """Write the visible rows and columns as CSV, in a thread."""
        table, rows, columns = self.view.table, self.rows, tuple(self.view.columns.order)

        def write() -> None:
            data, formulas = table.csv(rows, columns), table.formulas(rows, columns)
            if not get_current_worker().is_cancelled:
                saved = TableView.SaveRequested(data, len(rows), formulas)
                self.app.call_from_thread(self.post_message, saved)

        self.run_worker(write, thread=True, group="save", exclusive=True, exit_on_error=False)

    def action_select(self) -> None:
        """Open the row with the cursor."""
        if self.view.row is not None:
            self.post_message(TableView.Opened(self.view.row, self.view.table.json(self.view.row)))

    def draw_row(self, row: int, width: int, focused: bool) -> list[Segment]:
        """Draw a row of the table."""
        columns = self.view.columns
        cells = columns.table.cells(row)
        problems = columns.marks.get(row, {})
        here = columns.here if focused else None
        line: list[Segment] = []
        at = 0
        for column, start, taken in columns.placed(width):
            if start > at:
                line.append(Segment(" " * (start - at)))
            role = "bright bold" if column == here else "bright" if column == columns.sorted_by else "normal"
            line += self._cell(cells[column], column, min(taken, width - start), role, problems.get(column, ""))
            at = start + taken
        return line

    def _cell(self, value: Any, column: int, taken: int, role: str, problem: str) -> list[Segment]:
        columns = self.view.columns
        is_numeric = columns.table.columns[column].is_numeric
        lead: list[paint.Piece] = [(f"{signs_now().finding} ", "finding")] if problem else []
        if value is None:
            pieces: list[paint.Piece] = [("null", "muted")]
        elif value is MISSING:
            pieces = []
        else:
            text = shown_cell(value)
            if type(value) is WrittenNumber and is_numeric:
                places = columns.width_of(column)[1]
                pad = (places + 1 if places else 0) - fraction_length(value) if "e" not in text.lower() else 0
                if pad > 0 and len(text) + pad + 2 * bool(problem) <= taken:
                    text += " " * pad
            pieces = self._underlined(text, column, role)
        return paint.cell([*lead, *pieces], taken, role, right=is_numeric)

    def _underlined(self, text: str, column: int, role: str) -> list[paint.Piece]:
        """Underline the match of the filter."""
        spans = sorted(
            match.span()
            for at, pattern in self.view.row_filter.patterns
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
        return owner.draw_row(owner.rows[index], width, focused)


def _columns(number: int) -> str:
    return f"{number:,} column{'' if number == 1 else 's'}"


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
        columns = view.columns
        line: list[Segment] = [Segment(" ")]
        at = 0
        width = view.list.inner_width
        signs = signs_now()
        placed = columns.placed(width)
        for column, start, taken in placed:
            if start > at:
                line.append(Segment(" " * (start - at)))
            focused = view.list.has_focus and column == columns.here
            role = "accent bold" if focused else "bright bold" if column == columns.sorted_by else "muted"
            sign = f" {signs.down if columns.descending else signs.up}" if column == columns.sorted_by else ""
            room = min(taken, width - start)
            name = paint.cut(paint.segments([(columns.heading(column), role)], room=taken), max(room - len(sign), 1))
            name += paint.segments([(sign, role)])
            space = Segment(" " * max(room - paint.width(name), 0))
            line += [space, *name] if columns.table.columns[column].is_numeric else [*name, space]
            at = start + taken
        if columns.left or columns.beyond(width):
            line += paint.segments([(f" {signs.cut}", "muted")])
        return paint.strip(line, cells)

    def on_click(self, event: Click) -> None:
        event.stop()
        view = self._view
        for column, start, taken in view.columns.placed(view.list.inner_width):
            if start <= event.x - 1 < start + taken:
                view.list.focus()
                view.columns.go_to(column)
                view.sort(column)
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

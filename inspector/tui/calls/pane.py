"""The list of saved calls: flows with their steps, files that cannot be used, environments."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message

from inspector.text import quantity, safe
from inspector.tui.calls.actions import CallsActions, CursorPlace
from inspector.tui.calls.rows import CallsRows, ListRow
from inspector.tui.calls.saved_calls import SavedCalls
from inspector.tui.keymap import KeyHint, bindings
from inspector.tui.model.calls import CallsFacts
from inspector.tui.pane_keys import hints
from inspector.tui.pane_messages import HintsChanged
from inspector.tui.themes import signs_now
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.filter_input import FilterInput
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.virtual_list import VirtualList

SOON = 0.05
"""Seconds after which what is new is drawn."""


class CallsList(VirtualList, inherit_bindings=False):
    """The rows; the cursor does not stop on the empty rows between files."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("list", without="calls")]

    def __init__(self, rows: CallsRows) -> None:
        super().__init__(rows)
        self._rows = rows

    def _move(self, rows: int) -> None:
        super()._move(rows)
        while 0 < self.cursor < self.count - 1 and self._rows.rows[self.cursor].kind == "blank":
            super()._move(1 if rows > 0 else -1)


class CallsPane(Pane, CallsActions):
    """The list. What the cursor is on is shown beside it."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("calls"), *bindings("collection")]
    DEFAULT_CSS = """
    CallsPane > VirtualList { height: 1fr; }
    """

    class Highlighted(Message):
        """The cursor is on another row, or what is known of it has changed."""

        def __init__(self, row: ListRow | None) -> None:
            super().__init__()
            self.row = row

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, CallsPane.Highlighted)

    class Opened(Message):
        """A row was chosen: put the focus where it is shown."""

    def __init__(self, saved: SavedCalls, *, id: str | None = None) -> None:
        super().__init__(title="Saved calls", id=id)
        self.saved = saved
        self._rows = CallsRows(saved)
        self._list = CallsList(self._rows)
        self._filter = FilterInput()
        self._due = False
        self._pending_selection: tuple[Path, int] | None = None

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield self._list
        yield self._filter

    def on_mount(self) -> None:
        self.saved.listeners.append(self._draw_soon)
        self._list.empty = f"Reading {self.saved.path_text(self.saved.folder)} {signs_now().cut}"
        if self.saved.collection is None:
            self.read_again()
        else:
            self.draw()

    def on_show(self) -> None:
        # The log shows all messages while another tab is shown.
        self._show_row()

    def on_unmount(self) -> None:
        self.saved.listeners.remove(self._draw_soon)

    def _draw_soon(self) -> None:
        if not self._due and self.is_attached:
            self._due = True
            self.set_timer(SOON, self.draw)

    def draw(self) -> None:
        """Show what is known now."""
        self._due = False
        self._rows.reload()
        self._list.empty = self._empty()
        self._list.source_changed()
        if self._pending_selection is not None and self.select(*self._pending_selection):
            self._pending_selection = None
        if 0 <= self._list.cursor < len(self._rows) and self.row is not None and self.row.kind == "blank":
            self._list.action_down()
        saved = self.saved
        facts = [quantity(len(saved.flows), "saved call")] if saved.flows else []
        if saved.errors:
            facts.append(quantity(len(saved.errors), "error"))
        self.facts = facts
        self._show_row()

    def _empty(self) -> str:
        saved = self.saved
        folder = saved.path_text(saved.folder)
        if saved.problem:
            return safe(saved.problem, 500)
        if self._rows.words.strip() and saved.flows:
            return "Nothing matches the filter."
        keys = {name: " ".join(hint.label for hint in hints(self, name)) for name in ("calls.new", "form.save")}
        if saved.session.commands is None:
            return f"The folder {folder} has no saved calls."
        return (
            f"The folder {folder} has no saved calls.\n\n{keys['form.save']} in a form saves its call, "
            f"{keys['calls.new']} saves one that this session made."
        )

    @property
    def row(self) -> ListRow | None:
        """The row under the cursor."""
        at = self._list.cursor
        return self._rows.rows[at] if 0 <= at < len(self._rows) else None

    @property
    def place(self) -> CursorPlace | None:
        """The file, and in a flow the step, under the cursor."""
        row = self.row
        if row is None or row.path is None or row.kind in ("blank", "folder"):
            return None
        return CursorPlace(row.path, row.line, row.flow, row.number)

    def select(self, path: object, number: int = 0) -> bool:
        """Put the cursor on a flow, or on one of its steps."""
        for at, row in enumerate(self._rows.rows):
            if row.path == path and row.number == number and row.kind in ("flow", "step", "error"):
                self._list.cursor = at
                return True
        return False

    def _show_row(self) -> None:
        self.post_message(self.Highlighted(self.row))
        self.post_message(HintsChanged())

    def on_virtual_list_highlighted(self, event: VirtualList.Highlighted) -> None:
        event.stop()
        self._show_row()

    def on_virtual_list_selected(self, event: VirtualList.Selected) -> None:
        event.stop()
        row = self.row
        if row is None:
            return
        if row.kind == "environment":
            self.use_environment("" if row.name == self.saved.environment else row.name)
        elif row.kind in ("flow", "step", "error"):
            self.post_message(self.Opened())

    def focus_inside(self) -> bool:
        """Focus the list, unless the focus is inside already."""
        if not self.has_focus_within:
            self.screen.set_focus(self._list)
        return True

    def go_to_failure(self, by: int) -> None:
        """Go to the next failed step or wrong file."""
        at = self._rows.failure_after(self._list.cursor, by)
        if at is None:
            self.notify("No step failed.", timeout=3)
        else:
            self._list.cursor = at

    # The filter

    def action_filter(self) -> None:
        self._filter.action_select_all()
        self.screen.set_focus(self._filter)

    def on_editor_changed(self, event: Editor.Changed) -> None:
        event.stop()
        self._narrow(event.value)

    def _narrow(self, words: str) -> None:
        self._rows.words = words
        self.draw()

    def on_filter_input_left(self, event: FilterInput.Left) -> None:
        event.stop()
        self.screen.set_focus(self._list)

    def action_leave(self) -> None:
        """Stop the run, or drop the filter."""
        if self._stop():
            return
        self._filter.show_without_change("")
        self._narrow("")

    def hints(self) -> list[KeyHint]:
        """Return the keys for the list."""
        if self._filter.has_focus:
            return self._filter.hints()
        return super().hints()

    def verb_facts(self) -> CallsFacts:
        """Return the facts on which the verbs depend."""
        row, select = self.row, ""
        if row is not None and row.kind in ("flow", "step", "error"):
            select = "open"
        elif row is not None and row.kind == "environment":
            select = "use no more" if row.name == self.saved.environment else "use"
        return super().verb_facts()._replace(select=select, filtered=bool(self._rows.words))

"""A view of lines that fold."""

from __future__ import annotations

from typing import ClassVar

from textual.actions import SkipAction
from textual.binding import BindingType

from inspector.tui.keymap import bindings
from inspector.tui.widgets.clipboard import copy
from inspector.tui.widgets.lines_view import LinesView


class FoldView(LinesView):
    """Adds folding and the path of a value; the sections decide which lines fold."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("json")]

    def fold_at(self, line: int) -> tuple[int, int] | None:
        """Return the first and last line of the fold at a line, in lines of the view."""
        if not 0 <= line < self.rows.lines:
            return None
        section, at = self.section_at(line)
        found = section.fold(at)
        start = line - at
        return None if found is None else (start + found[0], start + found[1])

    def set_folded(self, line: int, folded: bool) -> None:
        """Fold or unfold at a line, with the cursor on the first line."""
        fold = self.fold_at(line)
        if fold is None:
            return
        if folded:
            self.rows.fold(*fold)
        else:
            self.rows.unfold(fold[0])
        self.source_changed()
        self.cursor = self.rows.row_of(fold[0])

    def action_fold(self) -> None:
        fold = self.fold_at(self.line)
        if fold is not None:
            self.set_folded(fold[0], fold[0] not in self.rows.folded)

    def action_select(self) -> None:
        if self.fold_at(self.line) is not None:
            self.action_fold()
        else:
            super().action_select()

    def action_close(self) -> None:
        line = self.line
        fold = self.fold_at(line)
        if fold is not None and fold[0] not in self.rows.folded:
            self.set_folded(line, True)
            return
        parent = self._around(line)
        if parent is not None:
            self.cursor = self.rows.row_of(parent)

    def action_open(self) -> None:
        line = self.line
        fold = self.fold_at(line)
        if fold is not None and fold[0] in self.rows.folded:
            self.set_folded(line, False)
        else:
            self.action_down()

    def action_fold_all(self) -> None:
        """Fold every container directly inside the outermost one of its section."""
        line = 0
        while line < self.rows.lines:
            fold = self.fold_at(line)
            if fold is not None and fold[0] == line and self._around(line) is not None:
                self.rows.fold(*fold)
                line = fold[1]
            line += 1
        self._keep_line()

    def action_unfold_all(self) -> None:
        self.rows.unfold_all()
        self._keep_line()

    def action_strings(self) -> None:
        """Show strings of several lines as blocks; only JSON has them."""
        raise SkipAction

    def action_copy_path(self) -> None:
        line = self.line
        if line >= 0:
            section, at = self.section_at(line)
            pointer = section.pointer(at)
            if pointer is not None:
                copy(self, pointer, "the path")

    def _keep_line(self) -> None:
        self.source_changed()
        self.scroll_to_row(self.cursor)

    def _around(self, line: int) -> int | None:
        if not 0 <= line < self.rows.lines:
            return None
        section, at = self.section_at(line)
        parent = section.parent(at)
        return None if parent is None else line - at + parent

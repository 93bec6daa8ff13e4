"""JSON indented, coloured, folded, but otherwise exactly as it was written."""

from __future__ import annotations

from time import monotonic
from typing import ClassVar

from textual.actions import SkipAction
from textual.binding import BindingType
from textual.message import Message
from textual.timer import Timer
from textual.worker import get_current_worker

from inspector.protocol.exact_json.text import Problem, Tree
from inspector.system.files import return_freed_memory
from inspector.text import size
from inspector.tui.key_order import KeysInOrder
from inspector.tui.keymap import bindings
from inspector.tui.widgets.clipboard import copy
from inspector.tui.widgets.lines_view import LinesView
from inspector.tui.widgets.sections import INLINE, JsonSection


class FoldView(LinesView):
    """Adds folding and the path of a value; the sections decide which lines fold."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("json")]

    def fold_at(self, line: int) -> tuple[int, int] | None:
        """Return the first and last line of the fold at a line, in lines of the view."""
        if not 0 <= line < self.rows.lines:
            return None
        section, at = self.section_at(line)
        fold = section.fold(at)
        start = line - at
        return None if fold is None else (start + fold[0], start + fold[1])

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

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A text without a cursor has nothing to fold: its keys go to what is around the view."""
        if action in ("fold", "close", "open"):
            return self.shows_cursor or self.fold_at(self.line) is not None
        return super().check_action(action, parameters)

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


AT_ONCE = 100_000
"""Characters that are laid out at once; longer texts are laid out in a thread, with a note."""


WORKERS = frozenset(("prepare", "content", "cut", "layout"))
"""Groups of the workers that show what the user asked for."""

_REST = 0.15
"""Seconds without such a worker after which a patient view starts."""

_PAUSE = 0.5
"""Seconds without a key after which it starts: a layout in a thread delays keys."""


class JsonView(FoldView):
    """Shows a JSON text; `load` another. Text that is not JSON is shown as it is, with its error in `problem`."""

    is_patient = False
    """Lay out a large text only when the app is idle, or when the view gets the focus."""

    class Loaded(Message):
        """The text is laid out; `problem` is None if it is JSON."""

        def __init__(self, view: JsonView, problem: Problem | None) -> None:
            super().__init__()
            self.view = view
            self.problem = problem

    class Opened(Message):
        """The user pressed enter on a single value: `pointer` is its path, `raw` its exact JSON text."""

        def __init__(self, view: JsonView, pointer: str, raw: str) -> None:
            super().__init__()
            self.view = view
            self.pointer = pointer
            self.raw = raw

    def __init__(
        self, raw: str = "", *, wrap: bool = False, empty: str = "", id: str | None = None, classes: str | None = None
    ) -> None:
        self._nothing = empty
        self.document: Tree | None = None
        self.problem: Problem | None = None
        self._waiting = ""
        self.blocks = False
        """Whether strings of several lines are shown as blocks."""
        self._return_to: str | None = None
        self._rest: Timer | None = None
        super().__init__(wrap=wrap, empty=empty, id=id, classes=classes)
        if raw:
            self.load(raw)

    def load(self, raw: str) -> None:
        """Show another text, from the top; `""` shows the text for an empty view."""
        self.document = None
        self.problem = None
        self._waiting = ""
        if not raw:
            self.empty = self._nothing
            self.set_sections(())
        elif len(raw) <= AT_ONCE:
            self._show(self._tree(raw))
        else:
            self.empty = f"formatting {size(len(raw))}…"
            self.set_sections(())
            self._waiting = raw
            if self.is_mounted:
                self._begin_layout()

    def _tree(self, raw: str) -> Tree:
        # A block needs the string on its own line.
        return Tree(raw, inline=0 if self.blocks else INLINE)

    def on_mount(self) -> None:
        if self._waiting:
            self._begin_layout()

    def on_focus(self) -> None:
        if self._rest is not None and self._waiting:
            self._stop_resting()
            self._lay_out_in_thread()

    def _begin_layout(self) -> None:
        self._stop_resting()
        if self.is_patient and not self.has_focus:
            # Threads take turns: a layout beside the work for another pane doubles its time.
            self._rest = self.set_timer(_REST, self._after_rest)
        else:
            self._lay_out_in_thread()

    def _after_rest(self) -> None:
        self._rest = None
        if not self._waiting:
            return
        app = self.app
        works = any(worker.group in WORKERS and worker.is_running for worker in app.workers)
        types = isinstance(app, KeysInOrder) and monotonic() - app.key_came < _PAUSE
        if works or types:
            self._begin_layout()
        else:
            self._lay_out_in_thread()

    def _stop_resting(self) -> None:
        if self._rest is not None:
            self._rest.stop()
            self._rest = None

    def _lay_out_in_thread(self) -> None:
        raw = self._waiting

        def lay_out() -> None:
            tree = self._tree(raw)
            if not get_current_worker().is_cancelled:
                self.app.call_from_thread(self._laid_out, raw, tree)
                return_freed_memory()

        self.run_worker(lay_out, thread=True, group="layout", exclusive=True, exit_on_error=False)

    def _laid_out(self, raw: str, tree: Tree) -> None:
        # Another text may have been loaded in the meantime.
        if raw is self._waiting:
            self._waiting = ""
            self._show(tree)

    def _show(self, tree: Tree) -> None:
        self.document = tree
        self.problem = tree.error
        self.empty = self._nothing
        self.set_sections([JsonSection(tree, blocks=self.blocks)])
        if tree.error_line:
            self.show_line(tree.error_line)
        if self._return_to is not None:
            self.show_pointer(self._return_to)
            self._return_to = None
        self.post_message(self.Loaded(self, tree.error))

    def show_pointer(self, pointer: str, *, mark: bool = False) -> bool:
        """Go to the value of a JSON Pointer and highlight its lines; False if there is none."""
        line = None if self.document is None else self.document.line_of(pointer)
        if line is None:
            return False
        self.show_line(line)
        if mark:
            self.mark(frozenset({line}))
        return True

    def action_strings(self) -> None:
        """Show strings of several lines as blocks, or on one line again."""
        if self.document is not None and self.document.error is None:
            self.blocks = not self.blocks
            self._return_to = self.document.pointer(self.line) if self.line >= 0 else None
            self.load(self.document.raw)

    def action_select(self) -> None:
        line = self.line
        if line >= 0 and self.fold_at(line) is None and self.document is not None:
            self.post_message(self.Opened(self, self.document.pointer(line), self.document.value(line)))
        else:
            super().action_select()

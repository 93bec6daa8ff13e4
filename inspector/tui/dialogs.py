"""Dialogs for decisions that cannot wait: quit with a call in flight, a file name, an export format."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType

from inspector.client.engine.pending_requests import Call
from inspector.tui.keymap import KeyHint
from inspector.tui.matching import Typed
from inspector.tui.model.session import leaving
from inspector.tui.themes import signs_now
from inspector.tui.widgets.dialog import LineDialog, ListDialog, QuestionDialog
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.fact_rows import paragraph
from inspector.tui.widgets.filter_input import FilterInput
from inspector.tui.widgets.paint import Pieces
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.virtual_list import TextRows, VirtualList

_FOLDER = 32
"""Characters of the current folder's path that are shown."""
_MAX_ROWS = 18
_MAX_NUMBER = 100
_LOOK_AGAIN = 0.25
"""Seconds after which an open question about calls in flight looks whether they have ended."""
_SHORT = 7
"""Choices of a menu without a field to type in."""


class Confirm(QuestionDialog[bool]):
    """A question with two answers. Enter or `y` means yes, esc or `n` means no."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,enter", "answer(True)", show=False, priority=True),
        Binding("n,escape", "answer(False)", show=False, priority=True),
    ]

    def __init__(self, question: str, detail: str, yes: str, no: str) -> None:
        keys = [KeyHint("y enter", yes, "y"), KeyHint("n esc", no, "escape")]
        super().__init__(question, paragraph(detail), keys)


class ConfirmLeaving(Confirm):
    """Asks whether to do `what` although calls are in flight; says so when they have ended meanwhile."""

    def __init__(self, what: str, calls: Callable[[], Sequence[Call]], yes: str) -> None:
        self._texts = leaving(what, calls())
        super().__init__(*self._texts, yes, "stay")
        self._what, self._calls = what, calls

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(_LOOK_AGAIN, self._update_texts)

    def _update_texts(self) -> None:
        texts = leaving(self._what, self._calls())
        if texts != self._texts:
            self._texts = texts
            self.show(texts[0], paragraph(texts[1]))


async def leave_calls(app: App[Any], calls: Callable[[], Sequence[Call]], what: str, yes: str) -> bool:
    """Ask whether to do `what` although calls are in flight; True if there are none."""
    return not calls() or await app.push_screen_wait(ConfirmLeaving(what, calls, yes))


class AskPath(LineDialog[Path]):
    """Asks for a file name. It never overwrites a file: the dialog shows the error and stays open."""

    def __init__(self, title: str, suggested: str) -> None:
        editor = Editor(_free(suggested), placeholder="file name", id="path")
        super().__init__(title, editor, "write", facts=(_here(),))

    def action_take(self) -> None:
        """Accept the name, unless the file exists or its folder is missing."""
        path = Path(os.path.expanduser(self.editor.value.strip()))
        problem = _problem(path)
        if problem:
            self.show_note(problem)
        else:
            self.dismiss(path)


def _free(name: str) -> str:
    """Return a file name that no file has: with a number before all its suffixes if need be."""
    stem, dot, suffixes = name.partition(".")
    names = (f"{stem}-{number}{dot}{suffixes}" for number in range(2, _MAX_NUMBER))
    return next((candidate for candidate in (name, *names) if not os.path.lexists(candidate)), name)


def _here() -> str:
    """Return the folder for a name without one; only the end of a long path."""
    try:
        folder = str(Path.cwd())
    except OSError:
        return ""
    return f"in {folder}" if len(folder) <= _FOLDER else f"in {signs_now().cut}{folder[-_FOLDER:]}"


def _problem(path: Path) -> str:
    """Return why no new file can have this name; empty if it can."""
    if not path.name:
        return "enter a file name"
    try:
        # A link to a missing file counts as a file.
        with suppress(FileNotFoundError, NotADirectoryError):
            path.lstat()
            return "this file exists already"
        if not path.parent.is_dir():
            return "this folder does not exist"
    except (OSError, ValueError) as error:
        return (getattr(error, "strerror", "") or "not a valid file name").lower()
    return "" if os.access(path.parent, os.W_OK) else "this folder is not writable"


class Choose(ListDialog[str]):
    """A menu: options, each with a line of explanation. Typed text narrows a long one."""

    DEFAULT_CSS = """
    Choose FilterInput { dock: bottom; margin-bottom: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("home", "move('first')", show=False, priority=True),
        Binding("end", "move('last')", show=False, priority=True),
    ]

    def __init__(self, title: str, choices: Sequence[tuple[str, str]], current: str = "") -> None:
        super().__init__()
        self._title, self._choices, self._current = title, list(choices), current
        self._matching = self._choices

    def compose(self) -> ComposeResult:
        keys = [KeyHint("enter", "choose", "enter"), KeyHint("esc", "cancel", "escape")]
        view = VirtualList(TextRows(self._rows()), empty="No choice matches.")
        typed = FilterInput(placeholder="type to narrow") if len(self._choices) > _SHORT else None
        edge = Pane(view, *([typed] if typed is not None else []), title=self._title, keys=keys)
        edge.styles.height = min(len(self._choices), _MAX_ROWS) + (5 if typed is not None else 4)
        yield edge

    def _rows(self) -> list[Pieces]:
        width = max((len(word) for word, _ in self._choices), default=8) + 2
        return [[(f"{word:<{width}}", "bright"), (text, "muted")] for word, text in self._matching]

    def on_mount(self) -> None:
        view = self.query_one(VirtualList)
        view.focus()
        for typed in self.query(FilterInput):
            typed.enter_opens = True
            typed.focus()
        words = [word for word, _ in self._choices]
        if self._current in words:
            view.cursor = words.index(self._current)

    def on_editor_changed(self, event: Editor.Changed) -> None:
        event.stop()
        self._matching = Typed(event.editor.value).best_first(self._choices, lambda choice: choice)
        view = self.query_one(VirtualList)
        view.source = TextRows(self._rows())
        view.cursor = 0 if self._matching else -1

    def on_filter_input_left(self, event: FilterInput.Left) -> None:
        event.stop()
        if event.opens:
            self.query_one(VirtualList).action_select()
        else:
            self.dismiss(None)

    def on_virtual_list_selected(self, event: VirtualList.Selected) -> None:
        self.dismiss(self._matching[event.index][0])

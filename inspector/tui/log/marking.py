"""Marks a message, and asks for a note about it."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from inspector.errors import InspectorError
from inspector.journal.journal import Journal
from inspector.tui.keymap import KeyHint
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.paint import Pieces
from inspector.tui.widgets.pane import Pane


class AskNote(ModalScreen[str | None]):
    """Asks for the note about a message. Returns None if the user leaves the dialog."""

    DEFAULT_CSS = """
    AskNote { align: center middle; }
    AskNote > Pane { width: 90%; max-width: 100; height: auto; max-height: 100%; }
    AskNote Vertical { height: auto; }
    AskNote Editor { margin: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "take", show=False, priority=True),
        Binding("escape", "leave", show=False),
    ]

    def __init__(self, title: Pieces, note: str) -> None:
        super().__init__()
        self._title, self._note = title, note

    def compose(self) -> ComposeResult:
        keys = [
            KeyHint("enter", "keep", "enter"),
            KeyHint("^j", "new line", "ctrl+j"),
            KeyHint("esc", "cancel", "escape"),
        ]
        with Pane(title=self._title, facts=("in the recording",), keys=keys), Vertical():
            yield Editor(self._note, placeholder="what you noticed", id="note", multiline=True)

    def on_mount(self) -> None:
        self.query_one(Editor).focus()

    def action_take(self) -> None:
        self.dismiss(self.query_one(Editor).value.strip())

    def action_leave(self) -> None:
        self.dismiss(None)


def toggle_mark(journal: Journal, n: int) -> InspectorError | None:
    """Mark event `n`, or remove its mark with its note. Returns why that is not possible."""
    return _try(journal, n, "", on=journal.marks.of(n) is None)


def write_note(journal: Journal, n: int, note: str) -> InspectorError | None:
    """Mark event `n` with a note; an empty one leaves the mark. Returns why that is not possible."""
    return _try(journal, n, note, on=True)


def _try(journal: Journal, n: int, note: str, *, on: bool) -> InspectorError | None:
    try:
        journal.mark(n, note, on=on)
    except InspectorError as error:
        return error
    return None

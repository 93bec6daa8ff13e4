"""Marks a message, and asks for a note about it."""

from __future__ import annotations

from inspector.errors import InspectorError
from inspector.journal.journal import Journal
from inspector.tui.widgets.dialog import LineDialog
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.paint import Pieces


class AskNote(LineDialog[str]):
    """Asks for the note about a message. Returns None if the user leaves the dialog."""

    DEFAULT_CSS = """
    AskNote > Pane { max-width: 100; height: auto; }
    AskNote Vertical { height: auto; }
    """

    def __init__(self, title: Pieces, note: str) -> None:
        editor = Editor(note, placeholder="what you noticed", id="note", multiline=True)
        super().__init__(title, editor, "keep", facts=("in the recording",))

    def action_take(self) -> None:
        self.dismiss(self.editor.value.strip())


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

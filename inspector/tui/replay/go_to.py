"""Asks for a place in a recording; on an error the dialog stays open."""

from __future__ import annotations

from inspector.errors import UsageError
from inspector.journal.journal import Journal
from inspector.replay import positions
from inspector.replay.positions import TypedPosition
from inspector.tui.advice import advice
from inspector.tui.widgets.dialog import LineDialog
from inspector.tui.widgets.editor import Editor

_EXAMPLES = "01:12.3   +30s   -2min   at 13:05   1204   start   end"


class AskPlace(LineDialog[TypedPosition]):
    """One line for a time or a number."""

    DEFAULT_CSS = """
    AskPlace { align: center bottom; }
    AskPlace > Pane { width: 92%; margin-bottom: 6; }
    """

    def __init__(self, journal: Journal) -> None:
        editor = Editor(placeholder=_EXAMPLES, lead=[("@ ", "key")], id="place")
        super().__init__("Go to a time or a number", editor, "go", leave="stay")
        self._journal = journal

    def on_editor_changed(self, event: Editor.Changed) -> None:
        event.stop()
        try:
            note = positions.beyond(positions.read(event.value, self._journal), self._journal)
        except UsageError:  # the text may be incomplete
            note = ""
        self.show_note(note, "muted")

    def action_take(self) -> None:
        """Go there if the text names a place."""
        try:
            place = positions.read(self.editor.value, self._journal)
        except UsageError as error:
            self.show_note(advice(error.hint) or error.message)
        else:
            self.dismiss(place)

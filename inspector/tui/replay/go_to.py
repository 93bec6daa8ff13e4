"""Asks for a place in a recording; on an error the dialog stays open."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from inspector.errors import UsageError
from inspector.journal.journal import Journal
from inspector.replay import positions
from inspector.replay.positions import TypedPosition
from inspector.tui.advice import advice
from inspector.tui.keymap import KeyHint
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.pane import Pane

_EXAMPLES = "01:12.3   +30s   -2min   at 13:05   1204   start   end"


class AskPlace(ModalScreen[TypedPosition | None]):
    """One line for a time or a number."""

    DEFAULT_CSS = """
    AskPlace { align: center bottom; }
    AskPlace > Pane { width: 92%; max-width: 90; height: 6; margin-bottom: 6; }
    AskPlace Editor { margin: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "take", show=False, priority=True),
        Binding("escape", "leave", show=False),
    ]

    def __init__(self, journal: Journal) -> None:
        super().__init__()
        self._journal = journal

    def compose(self) -> ComposeResult:
        keys = [KeyHint("enter", "go", "enter"), KeyHint("esc", "stay", "escape")]
        with Pane(title="Go to a time or a number", keys=keys), Vertical():
            yield Editor(placeholder=_EXAMPLES, lead=[("@ ", "key")], id="place")

    def on_mount(self) -> None:
        self.query_one(Editor).focus()

    def on_editor_changed(self, event: Editor.Changed) -> None:
        event.stop()
        try:
            note = positions.beyond(positions.read(event.value, self._journal), self._journal)
        except UsageError:  # the text may be incomplete
            note = ""
        self.query_one(Pane).note = [(note, "muted")] if note else ""

    def action_take(self) -> None:
        """Go there if the text names a place."""
        try:
            place = positions.read(self.query_one(Editor).value, self._journal)
        except UsageError as error:
            self.query_one(Pane).note = [(advice(error.hint) or error.message, "error")]
            return
        self.dismiss(place)

    def action_leave(self) -> None:
        self.dismiss(None)

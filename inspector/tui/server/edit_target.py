"""Asks for another command or URL after a failed connection."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from inspector.config.edited_target import edited
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import TargetError
from inspector.tui.advice import error_text
from inspector.tui.keymap import KeyHint
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.pane import Pane


class EditTarget(ModalScreen[StdioTarget | HttpTarget | None]):
    """One line with the command or URL as shown; secrets stay hidden. An invalid one is shown as an error."""

    DEFAULT_CSS = """
    EditTarget { align: center middle; }
    EditTarget > Pane { width: 90%; max-width: 110; height: 6; }
    EditTarget Editor { margin: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "take", show=False, priority=True),
        Binding("escape", "leave", show=False),
    ]

    def __init__(self, target: StdioTarget | HttpTarget) -> None:
        super().__init__()
        self._target = target

    def compose(self) -> ComposeResult:
        stdio = isinstance(self._target, StdioTarget)
        keys = [KeyHint("enter", "start" if stdio else "connect", "enter"), KeyHint("esc", "cancel", "escape")]
        with Pane(title="Another command" if stdio else "Another URL", keys=keys), Vertical():
            yield Editor(self._target.describe(), id="target")

    def on_mount(self) -> None:
        self.query_one(Editor).focus()

    def on_editor_changed(self, event: Editor.Changed) -> None:
        event.stop()
        self.query_one(Pane).note = ""

    def action_take(self) -> None:
        """Accept the typed command or URL."""
        try:
            self.dismiss(edited(self._target, self.query_one(Editor).value))
        except TargetError as error:
            self.query_one(Pane).note = [(error_text(error, self), "error")]

    def action_leave(self) -> None:
        self.dismiss(None)

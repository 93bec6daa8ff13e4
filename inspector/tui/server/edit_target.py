"""Asks for another command or URL after a failed connection."""

from __future__ import annotations

from inspector.config.edited_target import edited
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import TargetError
from inspector.tui.advice import error_text
from inspector.tui.widgets.dialog import LineDialog
from inspector.tui.widgets.editor import Editor


class EditTarget(LineDialog[StdioTarget | HttpTarget]):
    """One line with the command or URL as shown; secrets stay hidden. An invalid one is shown as an error."""

    DEFAULT_CSS = """
    EditTarget > Pane { max-width: 110; }
    """

    def __init__(self, target: StdioTarget | HttpTarget) -> None:
        stdio = isinstance(target, StdioTarget)
        title = "Another command" if stdio else "Another URL"
        super().__init__(title, Editor(target.describe(), id="target"), "start" if stdio else "connect")
        self._target = target

    def on_editor_changed(self, event: Editor.Changed) -> None:
        event.stop()
        self.show_note("")

    def action_take(self) -> None:
        """Accept the typed command or URL."""
        try:
            self.dismiss(edited(self._target, self.editor.value))
        except TargetError as error:
            self.show_note(error_text(error, self))

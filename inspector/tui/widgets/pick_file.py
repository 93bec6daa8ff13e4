"""A dialog for the file of a field with `x-mcp-file`. The file is read only after the user has named it."""

from __future__ import annotations

import os
from pathlib import Path

from textual.worker import get_current_worker

from inspector.errors import UsageError
from inspector.protocol.file_inputs import FileInput, PickedFile, pick_file
from inspector.text import safe
from inspector.tui.widgets.dialog import LineDialog
from inspector.tui.widgets.editor import Editor


class PickFile(LineDialog[PickedFile]):
    """Asks for the path of a file, and reads it."""

    DEFAULT_CSS = """
    PickFile > Pane { width: 80%; max-width: 100; }
    """

    def __init__(self, title: str, file_input: FileInput) -> None:
        accepted = (safe(", ".join(file_input.accept), 60),) if file_input.accept else ()
        editor = Editor(placeholder="path of the file")
        super().__init__(f"File for {safe(title, 60)}", editor, "use it", facts=accepted)
        self._file_input = file_input

    def action_take(self) -> None:
        """Read the file in a thread."""
        path = Path(os.path.expanduser(self.editor.value.strip()))
        self.run_worker(lambda: self._read(path), thread=True, group="read", exclusive=True, exit_on_error=False)

    def _read(self, path: Path) -> None:
        try:
            picked: PickedFile | str = pick_file(path, self._file_input)
        except UsageError as error:
            picked = error.message
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(self._finish, picked)

    def _finish(self, picked: PickedFile | str) -> None:
        if isinstance(picked, str):
            self.show_note(safe(picked, 200))
        elif self.is_attached:
            self.dismiss(picked)

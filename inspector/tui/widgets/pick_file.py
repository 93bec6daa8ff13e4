"""A dialog for the file of a field with `x-mcp-file`. The file is read only after the user has named it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.worker import get_current_worker

from inspector.errors import UsageError
from inspector.protocol.file_inputs import FileInput, PickedFile, pick_file
from inspector.text import safe
from inspector.tui.keymap import KeyHint
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.pane import Pane


class PickFile(ModalScreen[PickedFile | None]):
    """Asks for the path of a file, and reads it."""

    DEFAULT_CSS = """
    PickFile { align: center middle; }
    PickFile > Pane { width: 80%; max-width: 100; height: 6; }
    PickFile Editor { margin: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "take", show=False, priority=True),
        Binding("escape", "leave", show=False, priority=True),
    ]

    def __init__(self, title: str, wanted: FileInput) -> None:
        super().__init__()
        self._title, self._wanted = title, wanted

    def compose(self) -> ComposeResult:
        keys = [KeyHint("enter", "use it", "enter"), KeyHint("esc", "cancel", "escape")]
        accepted = (safe(", ".join(self._wanted.accept), 60),) if self._wanted.accept else ()
        with Pane(title=f"File for {safe(self._title, 60)}", facts=accepted, keys=keys), Vertical():
            yield Editor("", placeholder="path of the file")

    def on_mount(self) -> None:
        self.query_one(Editor).focus()

    def action_take(self) -> None:
        """Read the file in a thread."""
        path = Path(os.path.expanduser(self.query_one(Editor).value.strip()))
        self.run_worker(lambda: self._read(path), thread=True, group="read", exclusive=True, exit_on_error=False)

    def _read(self, path: Path) -> None:
        try:
            found: PickedFile | str = pick_file(path, self._wanted)
        except UsageError as error:
            found = error.message
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(self._take, found)

    def _take(self, found: PickedFile | str) -> None:
        if isinstance(found, str):
            self.query_one(Pane).note = [(safe(found, 200), "error")]
        elif self.is_attached:
            self.dismiss(found)

    def action_leave(self) -> None:
        """Close without a file."""
        self.dismiss(None)

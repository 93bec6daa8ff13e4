"""Saves and exports from the main screen: asks for format and name, writes in a thread, shows the result."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from textual.screen import Screen

from inspector.client.session_state import SessionState
from inspector.config.paths import RECORDING_SUFFIX
from inspector.errors import InspectorError
from inspector.journal.format import Kind
from inspector.text import quantity
from inspector.tui.advice import error_text
from inspector.tui.custom_commands import CustomCommand, run_command
from inspector.tui.dialogs import AskPath, Choose
from inspector.tui.output_files import export_new, write_new

_NAME = 40
"""Characters of a target's name at the start of a file name."""


class SavedFiles:
    """The files that the user of a screen saves."""

    def __init__(self, screen: Screen[Any], session: SessionState) -> None:
        self._screen = screen
        self._session = session

    def save(self, data: bytes, suggested: str, what: str, note: str = "") -> None:
        """Ask for a file name and write data to it; `note` is shown afterwards."""
        self._screen.run_worker(self._save(data, suggested, what, note), exclusive=True, group="dialog")

    def run_command(self, command: CustomCommand, text: str | None) -> None:
        """Run a command of the user on a text, or on the recording (None)."""
        self._screen.run_worker(self._run_command(command, text), exclusive=True, group="dialog")

    async def _run_command(self, command: CustomCommand, text: str | None) -> None:
        name = f"recording{RECORDING_SUFFIX}" if text is None else f"{command.where}.json"

        def write(path: Path) -> None:
            if text is None:
                export_new(self._session.journal, "recording", path)
            else:
                write_new(path, text.encode("utf-8", "surrogatepass"))

        try:
            await run_command(self._screen.app, command, name, write)
        except (InspectorError, OSError) as error:
            message = error_text(error, self._screen) if isinstance(error, InspectorError) else str(error.strerror)
            self._screen.notify(message, severity="error", markup=False, timeout=10)

    def export(self, numbers: list[int] | None) -> None:
        """Ask for a format and a name, and export the recording, or only some events of it."""
        self._screen.run_worker(self._export(numbers), exclusive=True, group="dialog")

    async def _save(self, data: bytes, suggested: str, what: str, note: str) -> None:
        path = await self._screen.app.push_screen_wait(AskPath(f"Write {what} to a file", suggested))
        if path is not None:

            def write() -> list[str]:
                write_new(path, data)
                return [note] if note else []

            self._write(path, write)

    async def _export(self, numbers: list[int] | None) -> None:
        from inspector.formats import WRITABLE

        app = self._screen.app
        marked = self._session.journal.marks.events()
        if marked and numbers is None:
            choices = [
                ("marked", f"only what you marked: {quantity(len(marked), 'message')}"),
                ("all", f"all of the recording: {quantity(len(self._session.journal), 'event')}"),
            ]
            scope = await app.push_screen_wait(Choose("Export", choices))
            if scope is None:
                return
            numbers = marked if scope == "marked" else None
        which = "the recording"
        if numbers is not None:
            kind = self._session.journal.index.kind
            messages = sum(kind(n) in (Kind.RPC, Kind.INVALID) for n in numbers)
            which = quantity(messages, "message") if messages else quantity(len(numbers), "event")
        format = await app.push_screen_wait(
            Choose(f"Export {which}", [(name, writer.summary) for name, writer in WRITABLE.items()])
        )
        if format is None:
            return
        label = "".join(char if char.isalnum() or char in "-_." else "-" for char in self._session.target.label)
        name = label.strip("-.")[:_NAME] or "session"
        path = await app.push_screen_wait(AskPath(f"Export {which} as {format}", name + WRITABLE[format].suffix))
        if path is not None:
            self._write(path, partial(export_new, self._session.journal, format, path, numbers))

    def _write(self, path: Path, write: Callable[[], list[str] | None]) -> None:
        self._screen.run_worker(partial(self._in_thread, path, write), thread=True, group="write", exit_on_error=False)

    def _in_thread(self, path: Path, write: Callable[[], list[str] | None]) -> None:
        tell = partial(self._screen.app.call_from_thread, self._screen.notify, markup=False)
        try:
            notes = write()
        except InspectorError as error:
            tell(f"{path} could not be written: {error_text(error, self._screen)}", severity="error")
        except OSError as error:
            tell(f"{path} could not be written: {error.strerror or 'the system refused it'}.", severity="error")
        else:
            tell(" ".join((f"Written to {path}.", *(notes or ()))))

"""Edits a text in the user's editor (`$VISUAL`, `$EDITOR`), while the session continues."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from inspector import command_words
from inspector.config import paths
from inspector.errors import UsageError
from inspector.text import safe

if TYPE_CHECKING:
    from textual.app import App

READ_LIMIT = 50_000_000


def editor_command(environ: Mapping[str, str]) -> list[str]:
    """Return the editor's command as arguments. Raises `UsageError` if it cannot be parsed."""
    command = environ.get("VISUAL") or environ.get("EDITOR") or "vi"
    try:
        words = command_words.split(command)
    except ValueError as error:
        raise UsageError(f"$EDITOR cannot be parsed: {safe(command, 80)}", hint="Close every quote.") from error
    return words or ["vi"]


async def edit_externally(app: App[object], text: str) -> str | None:
    """Open `text` in the user's editor and return the saved text; None if the editor failed.

    The text is in a temporary file that only the user can read (mode 0600), in a folder that is deleted afterwards with
    what the editor left there. The editor has the screen meanwhile; the event loop is not blocked, so connections stay
    open. Raises `UsageError` if the editor cannot be started.
    """
    command = editor_command(os.environ)
    with paths.private_temporary("value.json") as path:
        with paths.private_open(path, "w", encoding="utf-8", errors="surrogatepass") as file:
            file.write(text)
        status = await _run(app, [*command, str(path)])
        return None if status else await asyncio.to_thread(_read, path)


async def edit_file(app: App[object], path: Path, line: int = 0) -> None:
    """Open a file in the user's editor, at a line (from 1; 0: none) if the editor supports that.

    Raises `UsageError` where no editor can be started.
    """
    await _run(app, at_line(editor_command(os.environ), path, line))


_LINE_BEHIND = frozenset({"subl", "hx", "helix", "zed", "micro"})
_LINE_OPTION = {"code": "--goto", "codium": "--goto", "cursor": "--goto"}
_LINE_BEFORE = frozenset(
    {"vi", "vim", "nvim", "view", "nano", "pico", "emacs", "emacsclient", "kak", "joe", "mg", "ne"}
)


def at_line(command: list[str], path: Path, line: int) -> list[str]:
    """Return the command that opens a file at a line. Unknown editors get the file alone."""
    program = Path(command[0]).stem
    if line <= 0 or program not in _LINE_BEHIND | _LINE_BEFORE | frozenset(_LINE_OPTION):
        return [*command, str(path)]
    if program in _LINE_BEFORE:
        return [*command, f"+{line}", str(path)]
    option = [_LINE_OPTION[program]] if program in _LINE_OPTION else []
    return [*command, *option, f"{path}:{line}"]


async def _run(app: App[object], command: list[str]) -> int:
    """Lend the terminal to a program and return its exit code."""
    from textual.app import SuspendNotSupported

    problem: OSError | None = None
    status = 1
    try:
        # While the editor has the terminal, nothing may be drawn. An exception here would not give the terminal back.
        with app.batch_update(), app.suspend():
            try:
                process = await asyncio.create_subprocess_exec(*command)
                status = await process.wait()
            except OSError as error:
                problem = error
    except SuspendNotSupported as error:
        raise UsageError("This terminal cannot run another program") from error
    if problem is not None:
        raise UsageError(
            f"The editor {safe(command[0], 80)} cannot be started: {problem.strerror}",
            hint="Set $EDITOR to the command of your editor.",
        ) from problem
    return status


def _read(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(READ_LIMIT).decode("utf-8", "replace")

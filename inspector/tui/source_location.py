"""Finds a file and a line in untrusted text, and opens it in the user's editor on request.

A file is looked up only when the user presses the key: a server cannot make the interface touch a path.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from textual.widget import Widget

from inspector.client.session_state import SessionState
from inspector.config.targets import StdioTarget
from inspector.errors import UsageError
from inspector.lazy_pattern import lazy_pattern
from inspector.text import safe
from inspector.tui.advice import error_text
from inspector.tui.widgets.external_editor import edit_file

_READ = 20_000
"""Characters of a text that are searched."""
_MAX_COUNT = 20
"""Places of one text that are looked up."""
_SHOWN = 120

_PYTHON = lazy_pattern(r'File "([^"\n]{1,1000})", line (\d{1,7})\b')
_FRAME = lazy_pattern(r"\(([^()\n:]{1,1000}):(\d{1,7}):\d{1,7}\)")
_WORD = lazy_pattern(r"((?:[A-Za-z]:(?=\\))?[^:\s]{1,1000}):(\d{1,7})(?::\d{1,7})?:?")
_NAMED = lazy_pattern(r"\.[A-Za-z]\w{0,15}$")
_AROUND = "()[]{}<>\"'`,;"


class SourceLocation(NamedTuple):
    """A file and its line, from 1, as a text names them. The file may not exist."""

    file: str
    line: int


def source_locations(text: str) -> list[SourceLocation]:
    """Return the places that a text names, each once: those of a Python traceback from its last frame, then others.

    URLs are not places. At most the first characters of a long text are searched.
    """
    return list(dict.fromkeys(_locations_in(text[:_READ])))[:_MAX_COUNT]


def _locations_in(text: str) -> Iterator[SourceLocation]:
    for match in reversed(list(_PYTHON.finditer(text))):
        if "://" not in match[1]:
            yield SourceLocation(match[1], int(match[2]))
    for line in text.split("\n"):
        frames = [SourceLocation(match[1], int(match[2])) for match in _FRAME.finditer(line)]
        yield from frames
        for word in [] if frames else line.split():
            named = _WORD.fullmatch(word.strip(_AROUND))
            # A name without folder or extension, such as localhost:8080 or 12:30, is not a file.
            if named is not None and ("/" in named[1] or "\\" in named[1] or _NAMED.search(named[1])):
                yield SourceLocation(named[1], int(named[2]))


def open_source(widget: Widget, session: SessionState, text: str) -> None:
    """Open the first place of a text whose file exists; relative paths start at the server's folder."""
    widget.screen.run_worker(_open(widget, session, text), group="editor", exclusive=True, exit_on_error=False)


async def _open(widget: Widget, session: SessionState, text: str) -> None:
    locations, target = source_locations(text), session.target
    folder = Path((target.cwd if isinstance(target, StdioTarget) else None) or ".")
    place = await asyncio.to_thread(_existing, locations, folder)
    if place is None:
        if locations:
            widget.notify(f"{safe(locations[0].file, _SHOWN)} is not a file here.", timeout=5, markup=False)
        return
    try:
        await edit_file(widget.app, *place)
    except UsageError as error:
        widget.notify(error_text(error, widget), severity="error", markup=False)


def _existing(locations: list[SourceLocation], folder: Path) -> tuple[Path, int] | None:
    for place in locations:
        try:
            # Absolute: a name that begins with a dash or a plus would be an option of the editor.
            path = (folder / place.file).absolute()
            if path.is_file():
                return path, place.line
        except (OSError, ValueError):
            continue
    return None

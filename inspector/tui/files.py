"""Files that the interface writes for the user: new ones only, readable by the user alone."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import IO

from inspector.export import check, export
from inspector.journal.journal import Journal


def write_new(path: Path, data: bytes) -> None:
    """Write a file that does not exist yet. Raises OSError, `FileExistsError` among them."""
    with _create(path) as file:
        file.buffer.write(data)  # type: ignore[attr-defined]


def export_new(journal: Journal, format: str, path: Path, numbers: Iterable[int] | None = None) -> list[str]:
    """Export a journal, or the events in `numbers`, to a file that does not exist yet. Returns what it cannot carry."""
    check(journal, format, numbers)
    with _create(path) as file:
        return export(journal, format, file, numbers)


def export_recording(recording: Path, format: str, path: Path) -> list[str]:
    """Export a recording that is not open. Returns what the format cannot carry. Raises `RecordingError`."""
    journal = Journal.open(recording)
    try:
        while journal.refresh():
            pass
        return export_new(journal, format, path)
    finally:
        journal.release()


def _create(path: Path) -> IO[str]:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    return os.fdopen(fd, "w", encoding="utf-8", errors="backslashreplace", newline="\n")

"""Files that the interface writes for the user: always new, and readable only by the user."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from inspector.config.output_files import new_text, write_file
from inspector.formats import check, export
from inspector.journal.journal import Journal


def write_new(path: Path, data: bytes) -> None:
    """Write a new file. Raises `UsageError`, or `OutputExists` if the file exists."""
    write_file(path, data)


def export_new(journal: Journal, format: str, path: Path, numbers: Iterable[int] | None = None) -> list[str]:
    """Export a journal, or the events in `numbers`, to a new file. Returns what the format cannot carry."""
    check(journal, format, numbers)
    with new_text(path) as file:
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

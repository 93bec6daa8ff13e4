"""Opens whole recordings for commands that read them once, with notes on stderr."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.client.recorded_session import RecordedSession
from inspector.journal.journal import Journal, whole_journal

__all__ = ["recorded_session", "tell_notices", "whole_journal"]

if TYPE_CHECKING:
    from inspector.cli.output import Output


def tell_notices(out: Output, journal: Journal) -> None:
    """Print notes about a recording that was read completely."""
    for notice in journal.notices:
        out.note(f"note: {out.safe(notice)}")
    if journal.end_is_missing and not journal.raw_only:
        out.note("note: The end of the recording is missing: its writer was killed, or is still writing.")


@contextmanager
def recorded_session(path: Path, out: Output) -> Iterator[RecordedSession]:
    """The recording in `path` as a journal at its current end. Raises `RecordingError`."""
    with whole_journal(path) as journal:
        tell_notices(out, journal)
        session = RecordedSession(journal, path)
        while session.advance():
            pass
        yield session

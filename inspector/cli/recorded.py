"""Recordings opened whole, for commands that read them once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from inspector.client.recorded import RecordedSession
from inspector.journal.journal import Journal


@contextmanager
def whole_journal(path: Path) -> Iterator[Journal]:
    """The recording in `path`, indexed to its present end. Raises `RecordingError`."""
    journal = Journal.open(path)
    try:
        while journal.refresh():
            pass
        yield journal
    finally:
        journal.release()


@contextmanager
def recorded_session(path: Path) -> Iterator[RecordedSession]:
    """The recording in `path` as a session, reduced to its present end. Raises `RecordingError`."""
    with whole_journal(path) as journal:
        session = RecordedSession(journal, path)
        while session.advance():
            pass
        yield session

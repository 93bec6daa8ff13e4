"""Recordings opened whole, for commands that read them once; what is unusual about one is told on stderr."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.client.recorded import RecordedSession
from inspector.journal.journal import Journal

if TYPE_CHECKING:
    from inspector.cli.output import Output


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


def tell_notices(out: Output, journal: Journal) -> None:
    """What its reader should know of a recording that has been read to its end."""
    for notice in journal.notices:
        out.note(f"note: {out.safe(notice)}")
    if journal.end_is_missing and not journal.raw_only:
        out.note("note: The recording's end is missing: its writer was killed, or is still writing.")


@contextmanager
def recorded_session(path: Path, out: Output) -> Iterator[RecordedSession]:
    """The recording in `path` as a session, reduced to its present end. Raises `RecordingError`."""
    with whole_journal(path) as journal:
        tell_notices(out, journal)
        session = RecordedSession(journal, path)
        while session.advance():
            pass
        yield session

"""Facts that today's reader finds in a recording, and that every later reader must find too."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from inspector.client.recorded_session import RecordedSession
from inspector.journal.format import Kind
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import Shape

FOLDER = Path(__file__).parents[2] / "recordings" / "kinds"


def facts(path: Path) -> dict[str, Any]:
    """Facts about the recording in `path`."""
    journal = Journal.open(path)
    try:
        while journal.refresh():
            pass
        session = RecordedSession(journal, path)
        while session.advance():
            pass
        return {
            "version": journal.header["version"],
            "target": journal.header["target"]["kind"],
            "events": len(journal),
            "kinds": dict(sorted(Counter(event.kind_name for event in journal.events()).items())),
            "messages": [_message(journal, n) for n in range(1, len(journal) + 1) if journal.index.shape(n)],
            "happened": [str(event.fields.get("event")) for event in journal.events() if event.kind is Kind.LIFE],
            "login": [str(event.fields.get("step")) for event in journal.events() if event.kind is Kind.AUTH],
            "http": [event.fields.get("status") for event in journal.events() if "status" in event.fields],
            "era": session.server.era,
            "revision": session.server.revision,
            "server": session.server.name,
            "lists": {name: len(found.items) for name, found in session.catalog.lists.items() if found.items},
            "ended": None if journal.ended is None else journal.ended["reason"],
            "torn": journal.torn,
            "notices": journal.notices,
        } | ({"marks": list(map(str, map(journal.marks.of, journal.marks.events())))} if len(journal.marks) else {})
    finally:
        journal.release()


def _message(journal: Journal, n: int) -> str:
    """One message in a few words: its number, way, shape, method, id, state and partner."""
    index = journal.index
    said = [f"{n}", index.dir(n).name.lower(), Shape(index.shape(n)).name.lower(), index.method(n) or "-"]
    if index.id(n) is not None:
        said.append(f"id {index.id(n)!r}")
    said.append(index.state(n).name.lower())
    if index.pair(n):
        said.append(f"with {index.pair(n)}")
    if index.parent(n):
        said.append(f"in {index.parent(n)}")
    return " ".join(said)

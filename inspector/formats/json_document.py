"""One JSON document: the recording's header and facts, every event with its pairing, and the findings.

A message that is JSON is in `message` exactly as recorded, number for number and key for key; any other in `raw` as
text, or in `b64` if it is not UTF-8.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import IO, Any

from inspector.formats.json_edits import is_strict, strict
from inspector.formats.selection import (
    RecordingClock,
    facts_of,
    findings_of,
    marks_of,
    write_items,
)
from inspector.journal.connections import KINDS
from inspector.journal.format import DIR_NAMES, Event, Kind, to_base64
from inspector.journal.index import STATE_NAMES, State
from inspector.journal.journal import Journal

VERSION = 1

_dumps = json.JSONEncoder(ensure_ascii=True, default=str).encode


def write(journal: Journal, out: IO[str], numbers: Iterable[int] | None) -> list[str]:
    """Write the document to `out`, event by event. Without numbers, all events."""
    numbers = range(1, len(journal) + 1) if numbers is None else numbers
    facts, at = facts_of(journal), RecordingClock(journal)
    head: dict[str, Any] = {
        "format": "mcp-recording-export",
        "version": VERSION,
        "recording": journal.header,
        "server": facts.server,
        "revision": facts.revision,
        "era": facts.era,
        "transport": facts.transport,
        "end": journal.ended,
        "counts": {
            "events": len(journal),
            "sent": facts.sent,
            "received": facts.received,
            "stderr": facts.stderr,
            "invalid": facts.invalid,
            "errors": facts.errors,
        },
        "notices": journal.notices,
    } | ({"marks": list(marks_of(journal))} if len(journal.marks) else {})
    out.write("{\n" + "".join(f"  {_dumps(key)}: {_value(value)},\n" for key, value in head.items()))
    out.write('  "events": [')
    write_items(out, (f"    {_event(journal, next(journal.events(n, n)), at)}" for n in numbers))
    out.write('\n  ],\n  "findings": [')
    write_items(out, (f"    {_value(finding)}" for finding in findings_of(journal)))
    out.write("\n  ]\n}\n")
    return []


def _event(journal: Journal, event: Event, at: RecordingClock) -> str:
    """Return one event as an object on one line."""
    index, n = journal.index, event.n
    members: dict[str, Any] = {
        "n": n,
        "t": event.t,
        "at": at(event.t, "microseconds"),
        "dir": DIR_NAMES[event.dir],
        "kind": event.kind_name,
        "ch": event.ch,
    }
    if event.kind in KINDS and any(index.connections.between(n, n)):
        members["phase"] = "negotiation"
    if event.kind == Kind.RPC:
        optional = {
            "method": index.method(n) or None,
            "id": index.id(n),
            "pair": index.pair(n) or None,
            "parent": index.parent(n) or None,
            "state": None if index.state(n) is State.PLAIN else STATE_NAMES[index.state(n)],
            "duration_us": index.duration(n),
        }
        members |= {key: value for key, value in optional.items() if value is not None}
    members |= {key: value for key, value in event.fields.items() if key not in members}
    text = ", ".join(f"{_dumps(key)}: {_value(value)}" for key, value in members.items())
    return "{" + text + _payload(event) + "}"


def _payload(event: Event) -> str:
    if event.data is not None:
        return f', "b64": "{to_base64(event.data)}"'
    if event.raw is None:
        return ""
    if event.kind == Kind.RPC and is_strict(event.raw):
        return f', "message": {event.raw.strip()}'
    return f', "raw": {_dumps(event.raw)}'


def _value(value: Any) -> str:
    """Return a value of the header or of an event, even from a hand-made file."""
    try:
        return strict(_dumps(value))[0]
    except RecursionError:
        return '"nested too deeply"'

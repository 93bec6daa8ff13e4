"""The general facts of a recording that every format shows: server, revision, counts, end."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from heapq import merge
from typing import Any, NamedTuple

from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape

_SENT = Query(kind=(Kind.RPC, Kind.INVALID), dir=Dir.SEND)
_RECEIVED = Query(kind=(Kind.RPC, Kind.INVALID), dir=Dir.RECV)
_STDERR = Query(kind=Kind.STDERR)
_LIFE = Query(kind=Kind.LIFE)
_HANDSHAKES = Query(method=("initialize", "server/discover"), dir=Dir.RECV, shape=Shape.RESULT)
_SERVER_KEY = "io.modelcontextprotocol/serverInfo"


class RecordingFacts(NamedTuple):
    """Facts about a recording. Texts and objects come from the server or the file: untrusted, of any type."""

    server: dict[str, Any]
    """The server's identity from either era, or empty."""
    revision: Any
    era: Any
    transport: Any
    sent: int
    received: int
    stderr: int
    invalid: int
    errors: int
    duration: int
    """Microseconds from the start to the last event."""


def facts_of(journal: Journal) -> RecordingFacts:
    """Return the facts from the index; reads only the handshake, and life events until the connection is ready."""
    index = journal.index
    info: dict[str, Any] = {}
    revision = era = transport = None
    for n in merge(_HANDSHAKES.each(index), _LIFE.each(index)):
        if index.kind(n) is Kind.RPC:
            result = _member(journal.event(n).message, "result")
            info = _member(result, "serverInfo") or _member(_member(result, "_meta"), _SERVER_KEY) or info
            revision = result.get("protocolVersion", revision)
        elif transport is None:
            fields = journal.event(n).fields
            if fields.get("event") == "ready":
                revision, era, transport = fields.get("revision"), fields.get("era"), fields.get("transport")
    sent, received, stderr = (query.count(index) for query in (_SENT, _RECEIVED, _STDERR))
    return RecordingFacts(
        info, revision, era, transport, sent, received, stderr, index.invalid, index.errors, index.latest()
    )


class RecordingClock:
    """The clock of a recording: formats the time of an event as RFC 3339, in the recording's time zone."""

    def __init__(self, journal: Journal) -> None:
        self._started = journal.started

    def __call__(self, t: int, timespec: str = "milliseconds") -> str:
        """Return the time `t` microseconds after the start; 1970 if the start is unknown."""
        try:
            return (self._started + timedelta(microseconds=t)).isoformat(timespec=timespec)
        except (OverflowError, ValueError):
            return "1970-01-01T00:00:00+00:00"


def _member(value: Any, key: str) -> dict[str, Any]:
    found = value.get(key) if type(value) is dict else None
    return found if type(found) is dict else {}


def marks_of(journal: Journal) -> Iterator[dict[str, Any]]:
    """Yield the marks of a journal as plain objects: `n`, and the user's `note`, which may be empty."""
    for n in journal.marks.events():
        mark = journal.marks.of(n)
        if mark is not None:
            yield {"n": n, "note": mark.note}


def findings_of(journal: Journal) -> Iterator[dict[str, Any]]:
    """Yield the findings of a journal as plain objects."""
    findings = journal.findings
    for finding in (finding for n in findings.events() for finding in findings.of(n)):
        yield {
            "n": finding.n,
            "rule": finding.rule,
            "level": finding.level,
            "message": finding.message,
            "evidence": list(finding.evidence),
            "page": finding.page,
        }

"""The selected events and exchanges of an export, and the facts of the recording.

One byte per event, and two numbers per event for those inside requests: a million of them take nine megabytes.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from heapq import merge
from typing import IO, Any, NamedTuple

from inspector.journal.exchange import Exchange, around
from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.names import SERVER_KEY
from inspector.protocol.views import View

_REQUESTS = Query(shape=Shape.REQUEST)
_INSIDE = Query(shape=(Shape.REQUEST, Shape.NOTIFICATION))
_BATCHES = Query(shape=Shape.BATCH)
_ANSWERS = (Shape.RESULT, Shape.ERROR)


class Selection:
    """The selected events of a journal. An exchange is selected with its request or its response."""

    def __init__(self, journal: Journal, numbers: Iterable[int] | None) -> None:
        self._journal = journal
        self._index = journal.index
        self.count = journal.index.count
        self.everything = numbers is None
        self._flags = bytearray(b"\1" if numbers is None else b"\0") * (self.count + 1)
        self._flags[0] = 0
        for n in numbers or ():
            self._flags[n] = 1
        self._first: array[int] | None = None
        self._next: array[int] = array("I")

    def __contains__(self, n: int) -> bool:
        return self._flags[n] == 1

    def __len__(self) -> int:
        return self._flags.count(1)

    def __iter__(self) -> Iterator[int]:
        """Yield the selected events, ascending."""
        at = self._flags.find(1)
        while at > 0:
            yield at
            at = self._flags.find(1, at + 1)

    def of(self, *kinds: Kind) -> Iterator[int]:
        """Yield the selected events of some kinds, ascending."""
        kind = self._index.kind
        return (n for n in self if kind(n) in kinds)

    def exchanges(self) -> Iterator[Exchange]:
        """Yield the selected exchanges, by their requests. Requests within a batch are not included."""
        flags = self._flags
        for n in _REQUESTS.forwards(self._index, 0, self.count):
            if flags[n] or flags[self.answer(n)]:
                yield Exchange(self._journal, n)

    def answer(self, request: int) -> int:
        """Return the event that answers only this request; 0 without one, or within a batch."""
        answer = self._index.pair(request)
        return answer if answer <= self.count and answer and self._index.shape(answer) in _ANSWERS else 0

    def inside(self, request: int) -> Iterator[int]:
        """Yield the selected notifications and questions inside a request, ascending."""
        if self._first is None:
            self._first = self._linked()
        n = self._first[request]
        while n:
            yield n
            n = self._next[n]

    def _linked(self) -> array[int]:
        """Return the first event inside each request; `_next` links one to the next."""
        index = self._index
        first = array("I", bytes(4 * (self.count + 1)))
        self._next = array("I", bytes(4 * (self.count + 1)))
        for n in _INSIDE.backwards(index, 0, self.count):
            outer = around(index, n) if self._flags[n] else 0
            if 0 < outer < n:
                self._next[n] = first[outer]
                first[outer] = n
        return first

    def batches(self) -> int:
        """Return the number of selected batches."""
        return sum(self._flags[n] for n in _BATCHES.forwards(self._index, 0, self.count))


def left_out(amount: int, what: str, several: str = "") -> list[str]:
    """Return the sentence about what an export omits, if anything. `several` is an irregular plural."""
    if not amount:
        return []
    named = f"1 {what}" if amount == 1 else f"{amount:,} {several or what + 's'}"
    return [f"Omitted from this format: {named}."]


_SENT = Query(kind=(Kind.RPC, Kind.INVALID), dir=Dir.SEND)
_RECEIVED = Query(kind=(Kind.RPC, Kind.INVALID), dir=Dir.RECV)
_STDERR = Query(kind=Kind.STDERR)
_LIFE = Query(kind=Kind.LIFE)
_HANDSHAKES = Query(method=("initialize", "server/discover"), dir=Dir.RECV, shape=Shape.RESULT)


class RecordingFacts(NamedTuple):
    """Facts about a recording. Texts and objects come from the server or the file: untrusted, of any type."""

    server: Mapping[str, Any]
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


def target_of(journal: Journal) -> View:
    """Return the target in the header of a recording, which may be anything."""
    return View(journal.header.get("target"))


def message_of(journal: Journal, n: int) -> View:
    """Return the message of an event; an empty view for event 0."""
    return View(next(journal.events(n, n)).message if n else None)


def write_items(out: IO[str], items: Iterable[str | Iterable[str]]) -> None:
    """Write the items of a JSON array, each on a line of its own; an item may come in pieces."""
    separator = "\n"
    for item in items:
        out.write(separator)
        out.writelines(item)
        separator = ",\n"


def facts_of(journal: Journal) -> RecordingFacts:
    """Return the facts from the index; reads only the handshake, and life events until the connection is ready."""
    index = journal.index
    info: Mapping[str, Any] = {}
    revision = era = transport = None
    for n in merge(_HANDSHAKES.forwards(index), _LIFE.forwards(index)):
        if index.kind(n) is Kind.RPC:
            result = View(View(journal.event(n).message).object("result"))
            info = result.object("serverInfo") or View(result.meta).object(SERVER_KEY) or info
            revision = result.members.get("protocolVersion", revision)
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

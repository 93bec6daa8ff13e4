"""The HTTP requests of a recording: each head with its message, its response, and the response's content.

Events of one channel are linked, so that a request is followed without reading other events: sixteen bytes per event.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from typing import Any, NamedTuple

from inspector.journal.format import Dir, Event, Kind
from inspector.journal.journal import Journal
from inspector.journal.query import Query

_BODY = frozenset((Kind.RPC, Kind.INVALID, Kind.SSE))
_MESSAGE = frozenset((Kind.RPC, Kind.INVALID))
_HEADS = Query(kind=Kind.HTTP)
_CHAINED = Query(kind=(*_BODY, Kind.HTTP, Kind.LIFE))
_CHANNEL = re.compile(rb'\{"n":\d+,"t":\d+,"dir":"\w+","kind":"\w+","ch":"([\w-]*)"')
"""The start of lines in our own recordings."""


class RecordedHttpExchange(NamedTuple):
    """One HTTP request, by the numbers of its events; 0 for a missing one."""

    head: int
    sent: int
    """The message in its body."""
    answer: int
    """The head of the response."""
    connected: int
    """The life event of the connection that was opened for it."""
    last: int
    """Its last event."""


class HttpExchanges:
    """Finds the HTTP requests of a journal."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._count = journal.index.count
        nothing = bytes(4 * (self._count + 1))
        self._next = array("I", nothing)
        self._sent = array("I", nothing)
        self._heads = array("I", nothing)
        self._channels = array("I", nothing)
        """The channel of each event, as a number of our own."""
        self._over_http: set[int] = set()
        if _HEADS.first(journal.index, 0, self._count):
            self._chain(self._number_channels())

    def _number_channels(self) -> int:
        """Number the channels of all events. Return how many there are.

        The index has one number for all channels after the first 65,534: their names are read from the file.
        """
        index = self._journal.index
        names = {"": 0}
        for n in _CHAINED.forwards(index, 0, self._count):
            name = index.channel(n)
            if index.shares_channel(n):
                name = _channel_name(self._journal, n)
            number = self._channels[n] = names.setdefault(name, len(names))
            if index.kind(n) is Kind.HTTP:
                self._over_http.add(number)
        return len(names)

    def _chain(self, channels: int) -> None:
        index = self._journal.index
        nothing = bytes(4 * channels)
        latest, sent, bare = array("I", nothing), array("I", nothing), array("I", nothing)
        for n in _CHAINED.forwards(index, 0, self._count):
            kind, channel = index.kind(n), self._channels[n]
            if channel not in self._over_http:
                continue
            self._next[latest[channel]] = n
            latest[channel] = n
            if index.dir(n) is not Dir.SEND:
                continue
            if kind in _MESSAGE:
                # A recorder between both sides records the head before the body.
                head, bare[channel] = bare[channel], 0
                self._sent[head], self._heads[n] = n, head
                if not head:
                    sent[channel] = n
            elif kind == Kind.HTTP:
                message = sent[channel]
                self._sent[n], self._heads[message] = message, n
                if not message:
                    bare[channel] = n
        self._next[0] = self._sent[0] = self._heads[0] = 0

    def over_http(self, n: int) -> bool:
        """Whether event `n` has an HTTP channel."""
        return self._channels[n] in self._over_http

    def is_head(self, n: int) -> bool:
        """Whether event `n` is the head of a request."""
        index = self._journal.index
        return index.kind(n) is Kind.HTTP and index.dir(n) is Dir.SEND

    def head_of(self, n: int) -> int:
        """Return the head of a client's message, the last of several; 0 without one."""
        return self._heads[n]

    def of(self, head: int) -> RecordedHttpExchange:
        """Return the request that starts with `head`."""
        index = self._journal.index
        answer = connected = 0
        sent = self._sent[head] if self._method(head) == "POST" else 0
        last = head
        for n in self._after(head):
            kind = index.kind(n)
            if kind is Kind.HTTP:
                answer = answer or n
            elif kind is Kind.LIFE:
                if not connected and self._fields(n).get("event") == "connect":
                    connected = n
                continue
            elif index.dir(n) is Dir.SEND:
                continue
            last = n
        return RecordedHttpExchange(head, sent, answer, connected, last)

    def body(self, exchange: RecordedHttpExchange) -> Iterator[int]:
        """Yield the numbers of the events in the response, ascending."""
        index = self._journal.index
        for n in self._after(exchange.head):
            if index.kind(n) in _BODY and index.dir(n) is not Dir.SEND:
                yield n

    def _after(self, head: int) -> Iterator[int]:
        """Yield the events after a head on its channel, up to the next one."""
        n = self._next[head]
        while n and not self.is_head(n):
            yield n
            n = self._next[n]

    def _fields(self, n: int) -> dict[str, Any]:
        return next(self._journal.events(n, n)).fields

    def _method(self, head: int) -> Any:
        return self._fields(head).get("method")


def _channel_name(journal: Journal, n: int) -> str:
    """Return the name of a channel that the index does not have."""
    match = _CHANNEL.match(journal.line(n))
    return match[1].decode("ascii", "replace") if match else next(journal.events(n, n)).ch


def headers_of(fields: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the valid headers of an HTTP event."""
    pairs = fields.get("headers")
    if type(pairs) is not list:
        return []
    return [
        (pair[0], pair[1])
        for pair in pairs
        if type(pair) is list and len(pair) == 2 and isinstance(pair[0], str) and isinstance(pair[1], str)
    ]


def header(pairs: list[tuple[str, str]], name: str) -> str:
    """Return the value of a header, or an empty text."""
    return next((value for key, value in pairs if key.lower() == name), "")


def as_sse(event: Event) -> str:
    """Return an event as it was in the event stream, as far as the recording has it (WHATWG HTML, 9.2.6).

    Events without a message and without fields are comments and ignored lines: they are unmodified.
    """
    about = event.fields.get("sse") if event.kind is not Kind.SSE else event.fields
    lines: list[str] = []
    if type(about) is dict:
        for key in ("event", "id", "retry"):
            value = about.get(key)
            if type(value) in (str, int):
                lines.append(f"{key}: {str(value)[:1000]}".replace("\n", " ").replace("\r", " "))
    if event.kind is Kind.SSE and not lines:
        return f"{event.text}\n"
    text = event.text.replace("\r\n", "\n").replace("\r", "\n")
    lines += (f"data: {line}" for line in text.split("\n"))
    return "\n".join(lines) + "\n\n"

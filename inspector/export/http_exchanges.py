"""The HTTP requests of a recording: each head with the message it carried, what answered it, and what came in that.

Events of one channel are chained, so that a request is followed without looking at what else went on: twelve bytes an
event.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any, NamedTuple

from inspector.journal.format import Dir, Event, Kind
from inspector.journal.journal import Journal

_BODY = frozenset((Kind.RPC, Kind.INVALID, Kind.SSE))
_MESSAGE = frozenset((Kind.RPC, Kind.INVALID))
_OTHERS = "…"
"""The name under which the index keeps the number of all channels beyond those that it can tell apart."""


class HttpExchange(NamedTuple):
    """One HTTP request, by the numbers of its events; 0 where there is none."""

    head: int
    sent: int
    """The message in its body."""
    answer: int
    """The head of the response."""
    connected: int
    """The life event of the connection that was made for it."""
    last: int
    """The last event that belongs to it."""


class HttpExchanges:
    """Finds the HTTP requests of a journal."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        index = journal.index
        self._count = index.count
        self._next = array("I", bytes(4 * (self._count + 1)))
        self._sent = array("I", bytes(4 * (self._count + 1)))
        self._heads = array("I", bytes(4 * (self._count + 1)))
        self._shared = index.channel_names.find(_OTHERS)
        self._channels = {self._channel(n) for n in self._of(Kind.HTTP)}
        if self._channels:
            self._chain()

    def _of(self, *kinds: Kind) -> Iterator[int]:
        for n, code in enumerate(self._journal.index.codes[: self._count], 1):
            if code & 15 in kinds:
                yield n

    def _channel(self, n: int) -> int | str:
        """Which channel an event is on: the index's number, or the name where that number is shared by many."""
        number = self._journal.index.channels[n - 1]
        return number if number != self._shared else next(self._journal.events(n, n)).ch

    def _chain(self) -> None:
        index = self._journal.index
        latest: dict[int | str, int] = {}
        sent: dict[int | str, int] = {}
        bare: dict[int | str, int] = {}
        for n in self._of(*_BODY, Kind.HTTP, Kind.LIFE):
            channel = self._channel(n)
            if channel not in self._channels:
                continue
            if channel in latest:
                self._next[latest[channel]] = n
            latest[channel] = n
            kind, dir = index.kind(n), index.dir(n)
            if kind in _MESSAGE and dir is Dir.SEND:
                # A recorder that stands between both sides sees the head before the body.
                head = bare.pop(channel, 0)
                self._sent[head], self._heads[n] = n, head
                if not head:
                    sent[channel] = n
            elif kind is Kind.HTTP and dir is Dir.SEND:
                message = sent.get(channel, 0)
                self._sent[n], self._heads[message] = message, n
                if not message:
                    bare[channel] = n

    def over_http(self, n: int) -> bool:
        """Whether event `n` happened on a channel of HTTP."""
        return bool(self._channels) and self._channel(n) in self._channels

    def is_head(self, n: int) -> bool:
        """Whether event `n` is the head of a request."""
        index = self._journal.index
        return index.kind(n) is Kind.HTTP and index.dir(n) is Dir.SEND

    def head_of(self, n: int) -> int:
        """The head with which a message of the client went out, the last one if there were several; 0: none."""
        return self._heads[n]

    def of(self, head: int) -> HttpExchange:
        """The request that begins with `head`."""
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
        return HttpExchange(head, sent, answer, connected, last)

    def body(self, exchange: HttpExchange) -> Iterator[int]:
        """The numbers of what came in the response, ascending."""
        index = self._journal.index
        for n in self._after(exchange.head):
            if index.kind(n) in _BODY and index.dir(n) is not Dir.SEND:
                yield n

    def _after(self, head: int) -> Iterator[int]:
        """What comes after a head on its channel, up to the next one."""
        n = self._next[head]
        while n and not self.is_head(n):
            yield n
            n = self._next[n]

    def _fields(self, n: int) -> dict[str, Any]:
        return next(self._journal.events(n, n)).fields

    def _method(self, head: int) -> Any:
        return self._fields(head).get("method")


def headers_of(fields: dict[str, Any]) -> list[tuple[str, str]]:
    """The header fields of an HTTP event, as far as they are some."""
    pairs = fields.get("headers")
    if type(pairs) is not list:
        return []
    return [
        (pair[0], pair[1])
        for pair in pairs
        if type(pair) is list and len(pair) == 2 and isinstance(pair[0], str) and isinstance(pair[1], str)
    ]


def header(pairs: list[tuple[str, str]], name: str) -> str:
    """The value of a header field, or nothing."""
    return next((value for key, value in pairs if key.lower() == name), "")


def as_sse(event: Event) -> str:
    """An event of an event stream as it stood in the stream, as far as the recording tells (WHATWG HTML, 9.2.6).

    What came without a message and without fields are comments and lines that mean nothing: they stand as they were.
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

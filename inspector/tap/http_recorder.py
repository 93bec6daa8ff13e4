"""Records the content of one tapped HTTP connection: heads, bodies, events. RFC 9112, with h11.

It gets copies of the bytes. If the two sides stop using HTTP/1.1 (an upgrade, an invalid response), it reports that
once and stops recording; the bytes are still passed on. A request that is not HTTP/1.1 is not.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, cast

import h11

from inspector.config.secret_values import in_url
from inspector.errors import HttpError, LimitReached
from inspector.journal import channels
from inspector.journal.format import Dir
from inspector.journal.journal import Journal
from inspector.journal.redaction import is_secret_header
from inspector.protocol.jsonrpc import NotJson, parse
from inspector.reasons import http_reason
from inspector.transports.base import Sink
from inspector.transports.http_client import Inflater
from inspector.transports.http_stream import EventStream

MAX_LENGTH = 1 << 28
"""Bytes of a body above which the rest is not recorded."""
MAX_HEAD = 1 << 20
"""Bytes of the head of a message."""
_NEW_EACH_TIME = "dpop"
"""A header that is redacted, and not searched elsewhere: each message has another value, and each costs time."""


class TappedExchange:
    """One request and its response, on a channel of the recording."""

    def __init__(self, journal: Journal, channel: str, request: h11.Request, url: str) -> None:
        self.journal = journal
        self.channel = channel
        self.request = request
        self.url = url
        self.method = request.method.decode("latin-1")
        self.answered = False
        self.began = time.monotonic()
        self.body = _Body(request.headers)
        self.login = False
        """It is a step of a login, not a message."""

    def record_head(self) -> None:
        """Record the head of the request."""
        _learn(self.journal, self.request.headers)
        for secret in in_url(self.url):
            self.journal.redactor.add(secret)
        self.journal.record_http(
            self.channel, Dir.SEND, method=self.method, url=self.url, headers=_fields(self.request)
        )

    def record_body(self, cut: bool = False) -> None:
        """Record the body of the request; with `cut` it was broken off."""
        data = self.body.whole()
        if data:
            data, more = self.without_secrets(data, self.request.headers)
            try:
                message: Any = None if cut or self.body.cut else parse(data)
            except NotJson:
                message = None
            self.journal.record_sent(
                self.channel, data, message, more + (',"cut":true' if cut or self.body.cut else "")
            )

    def without_secrets(self, data: bytes, headers: Sequence[tuple[bytes, bytes]]) -> tuple[bytes, str]:
        """Return a body of a login without its tokens and codes, and its mark; a message unchanged.

        A server may be its own authorization server: then not only messages pass here.
        """
        form = (
            _field(headers, b"content-type").partition(b";")[0].strip().lower() == b"application/x-www-form-urlencoded"
        )
        self.login = self.login or form
        if not self.login and not (b'"access_token"' in data or b'"client_secret"' in data):
            return data, ""
        redacted, changed = self.journal.redactor.oauth_body(data.decode("utf-8", "replace"))
        return (redacted.encode(), ',"redacted":true') if changed else (data, "")


class _Body:
    """A body in progress, with its content coding removed."""

    def __init__(self, headers: Sequence[tuple[bytes, bytes]]) -> None:
        coding = _field(headers, b"content-encoding").strip().lower()
        packed = coding in (b"gzip", b"x-gzip", b"deflate")
        self._unpack = Inflater(coding.decode("latin-1"), "the other side") if packed else None
        self._parts: list[bytes] = []
        self._size = 0
        self.cut = False
        """More data has come than is recorded."""

    def plain(self, data: bytes) -> bytes:
        """Return `data` decoded; unchanged if it cannot be decoded. Raises `LimitReached` if it decodes to too much."""
        if self._unpack is None:
            return data
        try:
            return b"".join(self._unpack(data))
        except HttpError:
            self._unpack = None
            return data

    def add(self, data: bytes) -> None:
        """Keep more of it."""
        if self.cut:
            return
        try:
            data = self.plain(data)
        except LimitReached:
            self.cut = True
            return
        if self._size + len(data) > MAX_LENGTH:
            self.cut = True
            return
        self._parts.append(data)
        self._size += len(data)

    def whole(self) -> bytes:
        """Return all data so far."""
        return b"".join(self._parts)


class RequestWatch:
    """Parses what the client sends. `waiting` are the requests without a response so far."""

    def __init__(self, tap: Channels) -> None:
        self._tap = tap
        self._parser = _parser()
        self._now: TappedExchange | None = None
        self.waiting: deque[TappedExchange] = deque()
        self.blind = False
        """The data is not HTTP any more."""

    @property
    def in_body(self) -> bool:
        """Whether the next data belongs to the current request."""
        return self._now is not None

    def feed(self, data: bytes) -> int:
        """Parse data, at most to the end of this request; returns how many bytes belonged to it.

        Raises `h11.ProtocolError` for data that is not HTTP/1.1.
        """
        self._parser.receive_data(data)
        return len(data) - self._read()

    def _read(self) -> int:
        """Handle what is complete; returns how many bytes are left for the next request."""
        while True:
            event = self._parser.next_event()
            if isinstance(event, h11.Request):
                self._now = self._tap.new_exchange(event)
                self._now.record_head()
                self.waiting.append(self._now)
            elif isinstance(event, h11.Data) and self._now is not None:
                self._now.body.add(bytes(event.data))
            elif isinstance(event, h11.EndOfMessage) and self._now is not None:
                self._now.record_body()
                self._now = None
                left = len(self._parser.trailing_data[0])
                self._parser = _parser()
                return left
            else:
                return 0

    def end(self) -> None:
        """End the input."""
        if self._now is not None and not self.blind:
            self._now.record_body(cut=True)
            self._now = None


def _parser() -> h11.Connection:
    return h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD)


class ResponseWatch:
    """Parses what the server answers, in the order of the requests."""

    def __init__(self, tap: Channels, requests: RequestWatch) -> None:
        self._tap = tap
        self._requests = requests
        self._parser: h11.Connection | None = None
        self._now: _Answer | None = None
        self.blind = False

    @property
    def midway(self) -> bool:
        """Whether a response has begun and not ended."""
        return self._parser is not None

    def feed(self, data: bytes) -> None:
        """Parse data."""
        try:
            while data and not (self.blind or self._requests.blind):
                parser = self._parser or self._begin()
                if parser is None:
                    self.blind = True
                    self._tap.unreadable("it answers without a request")
                    return
                parser.receive_data(data)
                data = self._read(parser)
        except (h11.ProtocolError, LimitReached) as problem:
            self.blind = True
            self._tap.unreadable(problem.message if isinstance(problem, LimitReached) else http_reason(problem))

    def _begin(self) -> h11.Connection | None:
        """Return a parser for the next response; None if no request waits for one."""
        if not self._requests.waiting:
            return None
        exchange = self._requests.waiting.popleft()
        self._parser = parser = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD)
        # The parser needs the request: the answer to HEAD has no body, whatever its head says.
        asked = exchange.request
        headers = [(b"Host", b"tap"), *((b"Upgrade", value) for name, value in asked.headers if name == b"upgrade")]
        parser.send(h11.Request(method=asked.method, target="/", headers=headers))
        parser.send(h11.EndOfMessage())
        self._now = _Answer(exchange)
        return parser

    def _read(self, parser: h11.Connection) -> bytes:
        """Handle what is complete; returns what belongs to the next response."""
        assert self._now is not None
        while True:
            event = parser.next_event()
            if isinstance(event, (h11.InformationalResponse, h11.Response)):
                self._now.head(event)
                if parser.their_state is h11.SWITCHED_PROTOCOL:
                    self.blind = self._requests.blind = True
                    self._tap.switched(event.status_code)
                    return b""
            elif isinstance(event, h11.Data):
                self._now.data(bytes(event.data))
            elif isinstance(event, h11.EndOfMessage):
                self._now.end()
                rest, _ = parser.trailing_data
                self._parser = self._now = None
                return rest
            else:
                return b""

    def end(self) -> None:
        """End the input: a body without a length is complete, any other is broken off."""
        if self._parser is None or self._now is None or self.blind or self._requests.blind:
            return
        whole = False
        with suppress(h11.ProtocolError):
            self._parser.receive_data(b"")
            whole = isinstance(self._parser.next_event(), h11.EndOfMessage)
        self._now.end(cut=not whole)
        self._parser = self._now = None


class _Answer:
    """One response in progress."""

    def __init__(self, exchange: TappedExchange) -> None:
        self.exchange = exchange
        self._body = _Body(())
        self._stream: EventStream | None = None
        self._status = 0

    def head(self, event: h11.Response | h11.InformationalResponse) -> None:
        exchange = self.exchange
        _learn(exchange.journal, [pair for pair in event.headers if pair[0] in (b"mcp-session-id", b"set-cookie")])
        exchange.journal.record_http(
            exchange.channel,
            Dir.RECV,
            status=event.status_code,
            reason=event.reason.decode("latin-1"),
            version=f"HTTP/{event.http_version.decode('latin-1')}",
            headers=_fields(event),
            ms=round((time.monotonic() - exchange.began) * 1000, 3),
        )
        if isinstance(event, h11.Response):
            self._status = event.status_code
            self._body = _Body(event.headers)
            kind = _field(event.headers, b"content-type").partition(b";")[0].strip().lower()
            if kind == b"text/event-stream":
                self._stream = EventStream(
                    cast(Sink, _JournalSink(exchange.journal)), exchange.channel, exchange.url, MAX_LENGTH
                )

    def data(self, data: bytes) -> None:
        if self._stream is not None:
            self._stream.feed(self._body.plain(data))
        else:
            self._body.add(data)

    def end(self, cut: bool = False) -> None:
        exchange = self.exchange
        if self._stream is not None:
            if cut:
                exchange.journal.record_life(exchange.channel, "stream-broken", by="server")
            return
        data, more = exchange.without_secrets(self._body.whole(), ())
        if data or cut:
            more += f',"status":{self._status}' if self._status not in (0, 200) else ""
            exchange.journal.record_received(exchange.channel, [data], more, cut=cut or self._body.cut)


class _JournalSink:
    """The part of a sink that an event stream needs."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def received(self, channel: str, messages: Sequence[bytes], extra: str = "", *, cut: bool = False) -> bool:
        self._journal.record_received(channel, messages, extra, cut=cut)
        return True

    def sse(self, channel: str, text: str, **fields: Any) -> int:
        return self._journal.record_sse(channel, text, **fields)


class Channels:
    """Names the channels of one tap, and reports data that is not HTTP."""

    def __init__(self, journal: Journal, base: str) -> None:
        self.journal = journal
        self._base = base
        self._counts: dict[str, int] = {}

    def new_exchange(self, request: h11.Request) -> TappedExchange:
        """Return the exchange of a request that has begun, on a channel of its own."""
        kind = channels.of_method(request.method.decode("latin-1"))
        self._counts[kind] = self._counts.get(kind, 0) + 1
        target = request.target.decode("latin-1")
        url = target if "://" in target else self._base + target
        return TappedExchange(self.journal, f"{kind}-{self._counts[kind]}", request, url)

    def switched(self, status: int) -> None:
        """Handle that the two sides have agreed on another protocol."""
        self.journal.record_note(
            f"After status {status} the two sides no longer use HTTP: their data is passed on without recording."
        )

    def unreadable(self, reason: str) -> None:
        """Stop recording a connection whose data is invalid."""
        self.journal.record_note(
            f"The server does not send valid HTTP/1.1 ({reason}): its data is passed on without recording."
        )


def _fields(event: h11.Request | h11.Response | h11.InformationalResponse) -> list[tuple[str, str]]:
    """Return the headers in their spelling."""
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in event.headers.raw_items()]


def _field(headers: Sequence[tuple[bytes, bytes]], name: bytes) -> bytes:
    return next((value for key, value in headers if key == name), b"")


def _learn(journal: Journal, headers: Sequence[tuple[bytes, bytes]]) -> None:
    """Redact the secrets of a head in everything after it."""
    for name, value in headers:
        field, text = name.decode("latin-1"), value.decode("latin-1")
        if field == "cookie":
            journal.redactor.add_cookies(text)
        elif field == "set-cookie":
            journal.redactor.add_cookies(text.partition(";")[0])
        elif is_secret_header(field) and field != _NEW_EACH_TIME:
            journal.redactor.add(text.rpartition(" ")[2])

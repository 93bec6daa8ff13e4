"""A tap on HTTP: a local address that replaces a server's URL.

Each connection of a client has one to the server. Bytes are passed on as they come; in a request's head the `Host`
becomes the server's, an allowed `Origin` becomes the server's, and the configured headers are added. `RequestGuard`
decides which requests are accepted, because the server behind the tap cannot see who sent them.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

import h11

from inspector.config.targets import HttpTarget
from inspector.errors import UsageError
from inspector.hints import Hint, Parameter
from inspector.journal.journal import Journal
from inspector.reasons import http_reason
from inspector.serving.base import RequestHead
from inspector.serving.http_origins import RequestGuard, own_address, path_of
from inspector.tap.http_recorder import MAX_HEAD, Channels, RequestWatch, ResponseWatch
from inspector.text import safe
from inspector.transports.http_problems import explain
from inspector.transports.http_url import Url, parse_url

MAX_CONNECTIONS = 256
"""Connections of clients; each has one to the server."""
CONNECT = 10.0
"""Seconds for a connection to the server."""
LINGER = 1.0
"""Seconds for a client that still sends to read the refusal."""
_END = re.compile(rb"\r?\n\r?\n")
_LINE = re.compile(rb"\r?\n")
_REASONS = {
    400: "Bad Request",
    403: "Forbidden",
    431: "Request Header Fields Too Large",
    502: "Bad Gateway",
    503: "Service Unavailable",
}


class HttpTap:
    """`start` it, `close` it. `url` is for the client."""

    def __init__(
        self,
        target: HttpTarget,
        journal: Journal,
        host: str = "127.0.0.1",
        port: int = 0,
        names: Sequence[str] = (),
        origins: Sequence[str] = (),
    ) -> None:
        self.target = target
        self.journal = journal
        self.upstream: Url = parse_url(target.url)
        self.host = host
        self.port = port
        self.guard = RequestGuard(host, names, origins)
        self.channels = Channels(journal, self.upstream.origin)
        self.tls = _tls(target) if self.upstream.scheme == "https" else None
        self._server: asyncio.Server | None = None
        self._pairs: dict[_Pair, None] = {}
        """The open connections, the oldest first."""

    @property
    def url(self) -> str:
        """The server's URL at our address."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}{self.upstream.target}"

    async def start(self) -> None:
        """Start to listen. Raises `UsageError` if the address cannot be used."""
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_server(lambda: _Pair(self).client, self.host, self.port)
        except OSError as error:
            raise UsageError(
                f"Cannot listen on {self.host}:{self.port}: {error.strerror or error}.",
                hint=Hint("Choose another port with ", Parameter.LISTEN, ", or 0 for any."),
            ) from None
        self.port = self._server.sockets[0].getsockname()[1]
        self.journal.record_life("", "listening", url=self.url, target=self.target.url)

    def began(self, pair: _Pair) -> bool:
        """Keep a new connection. If there are too many, close one that waits for a request; False if none does."""
        has_room = True
        if len(self._pairs) >= MAX_CONNECTIONS:
            idle = min((other for other in self._pairs if other.idle), key=lambda other: other.used, default=None)
            has_room = idle is not None
            if idle is not None:
                self.ended(idle)
                idle.abort()
        self._pairs[pair] = None
        return has_room

    def ended(self, pair: _Pair) -> None:
        """Forget a closed connection."""
        self._pairs.pop(pair, None)

    async def close(self) -> None:
        """Stop listening and close every connection. Idempotent."""
        if self._server is not None:
            self._server.close()
        for pair in list(self._pairs):
            pair.abort()


class _Side(asyncio.Protocol):
    """One side of a pair; its bytes go to `on_block`."""

    def __init__(
        self, on_block: Callable[[bytes], None], ended: Callable[[bool], None], began: Callable[[], None] = lambda: None
    ) -> None:
        self._on_block = on_block
        self._ended = ended
        self._began = began
        self.transport: asyncio.Transport | None = None
        self.other: _Side | None = None
        self._reading = True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._began()

    def data_received(self, data: bytes) -> None:
        self._on_block(data)

    def eof_received(self) -> bool:
        self._ended(False)
        return True  # the other direction may still send data

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport = None
        self._ended(True)

    def pause_writing(self) -> None:
        self._hold(True)

    def resume_writing(self) -> None:
        self._hold(False)

    def _hold(self, pause: bool) -> None:
        """Pause a side that writes faster than we can pass on."""
        if self.other is not None:
            self.other.read(not pause)

    def read(self, on: bool) -> None:
        """Continue or pause reading."""
        transport = self.transport
        if transport is not None and not transport.is_closing() and self._reading != on:
            self._reading = on
            (transport.resume_reading if on else transport.pause_reading)()

    def write(self, data: bytes) -> None:
        """Pass data on; drop it if the side is gone."""
        if self.transport is not None and not self.transport.is_closing():
            self.transport.write(data)

    def finish(self) -> None:
        """End writing."""
        transport = self.transport
        if transport is None or transport.is_closing():
            return
        if transport.can_write_eof():
            with suppress(OSError, RuntimeError):
                transport.write_eof()
        else:
            transport.close()

    def close(self) -> None:
        """Write the rest and close."""
        if self.transport is not None:
            self.transport.close()

    def abort(self) -> None:
        """Close at once."""
        if self.transport is not None:
            self.transport.abort()


class _Refused(Exception):
    """The tap answers instead of the server."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class _Pair:
    """A client's connection and ours to the server."""

    def __init__(self, tap: HttpTap) -> None:
        self._tap = tap
        self._requests = RequestWatch(tap.channels)
        self._responses = ResponseWatch(tap.channels, self._requests)
        self._waiting: list[bytes] = []
        self._connecting: asyncio.Task[None] | None = None
        self._client_done = False
        self._refused = False
        self._has_room = True
        self.client = _Side(self._from_client, self._client_ended, self._client_began)
        self._heads = _Heads(tap, self._requests, self.client)
        self.server = _Side(self._from_server, self._server_ended)
        self.client.other, self.server.other = self.server, self.client

    @property
    def used(self) -> bool:
        """Whether the client has sent anything."""
        return self._connecting is not None or bool(self._heads.held)

    @property
    def idle(self) -> bool:
        """Whether no request is passed on or answered."""
        requests, responses = self._requests, self._responses
        in_use = requests.in_body or requests.waiting or requests.blind or responses.midway or responses.blind
        return not in_use

    def _client_began(self) -> None:
        self._has_room = self._tap.began(self)

    def _from_client(self, data: bytes) -> None:
        if self._refused:
            return
        try:
            if not self._has_room:
                raise _Refused(503, "Too many connections.")
            for passed in self._heads.feed(data):
                self._to_server(passed)
        except _Refused as refusal:
            self._refuse(refusal.status, str(refusal))

    def _to_server(self, data: bytes) -> None:
        if self.server.transport is not None:
            self.server.write(data)
            return
        self._waiting.append(data)
        if self._connecting is None:
            self._connecting = asyncio.get_running_loop().create_task(self._connect())
            self.client.read(False)

    async def _connect(self) -> None:
        upstream = self._tap.upstream
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(CONNECT):
                await loop.create_connection(
                    lambda: self.server,
                    upstream.host,
                    upstream.port,
                    ssl=self._tap.tls,
                    server_hostname=upstream.host if self._tap.tls is not None else None,
                )
        except (OSError, TimeoutError) as error:
            problem = explain(error, upstream, "", reached=False)
            self._tap.journal.record_life("", "failed", error=problem.as_json())
            self._refuse(502, problem.message)
            return
        for data in self._waiting:
            self.server.write(data)
        self._waiting.clear()
        self.client.read(True)
        if self._client_done:
            self.server.finish()

    def _refuse(self, status: int, text: str) -> None:
        """Answer instead of the server, and close the client."""
        self._refused = True
        self._waiting.clear()
        body = f"{safe(text, 500)}\n".encode()
        self._tap.journal.record_note(f"The tap answered with status {status}: {text}")
        head = f"HTTP/1.1 {status} {_REASONS[status]}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        if not self._responses.midway:
            self.client.write(f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
        self.server.abort()
        # A client that still sends would lose the answer with the connection.
        self.client.finish()
        self.client.read(True)
        asyncio.get_running_loop().call_later(LINGER, self.client.close)

    def _from_server(self, data: bytes) -> None:
        if not self._refused:
            self.client.write(data)
        self._responses.feed(data)
        held = self._heads.given_up()
        if held:
            self._to_server(held)

    def _client_ended(self, lost: bool) -> None:
        self._requests.end()
        self._client_done = True
        if lost:
            self.server.abort()
            if self._connecting is not None:
                self._connecting.cancel()
            self._tap.ended(self)
        elif self._refused:
            self.client.close()
        elif self.server.transport is not None:
            self.server.finish()
        elif self._connecting is None:
            self.client.close()

    def _server_ended(self, lost: bool) -> None:
        self._responses.end()
        if self._refused:
            return  # the client closes after it has read the answer
        if lost:
            self.client.close()
        else:
            self.client.finish()

    def abort(self) -> None:
        """Close both sides at once."""
        for side in (self.client, self.server):
            side.abort()
        if self._connecting is not None:
            self._connecting.cancel()


class _Heads:
    """Finds the heads of requests in the client's bytes, and puts the server's name into them."""

    def __init__(self, tap: HttpTap, watch: RequestWatch, client: _Side | None = None) -> None:
        self._tap = tap
        self._client = client
        self._watch = watch
        self.held = bytearray()
        """The beginning of a head."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the bytes to pass on so far. Raises `_Refused` for a refused request."""
        while data:
            if self._watch.blind:
                yield data
                return
            if self._watch.in_body:
                taken = self._parsed(data)
                yield data[:taken]
                data = data[taken:]
                continue
            looked = max(0, len(self.held) - 3)
            self.held += data
            end = _END.search(self.held, looked)
            if end is None:
                if len(self.held) > MAX_HEAD:
                    raise _Refused(431, "The head of a request is longer than 1 MiB.")
                return
            head, data = bytes(self.held[: end.end()]), bytes(self.held[end.end() :])
            self.held.clear()
            rewritten = self._rewritten(head)
            self._parsed(head)
            yield rewritten

    def _parsed(self, data: bytes) -> int:
        """Return how many bytes belong to this request. Raises `_Refused` where the server could see another end."""
        try:
            return self._watch.feed(data)
        except h11.ProtocolError as problem:
            raise _Refused(400, f"The request is not valid HTTP/1.1: {http_reason(problem)}.") from None

    def given_up(self) -> bytes:
        """Return and drop a held part that will not become a head: the two sides use another protocol now."""
        held = bytes(self.held) if self._watch.blind else b""
        if held:
            self.held.clear()
        return held

    def _arrived_at(self) -> tuple[str, int]:
        return own_address(self._client.transport if self._client is not None else None)

    def _rewritten(self, raw: bytes) -> bytes:
        """Return a request's head with the server's name. Raises `_Refused`."""
        first, *lines = _LINE.split(raw.rstrip(b"\r\n"))
        pairs = [(name.strip(), value.strip()) for name, _, value in (line.partition(b":") for line in lines)]
        fields = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in pairs]
        words = first.decode("latin-1").split(" ")
        head = RequestHead(words[0], words[1] if len(words) > 1 else "/", tuple(fields), self._arrived_at())
        refusal = self._tap.guard.refusal(head)
        if refusal:
            raise _Refused(403, refusal)
        unclear = head.unclear_length(words[-1].rpartition("/")[2])
        if any(line[:1] in (b" ", b"\t") for line in lines):
            unclear = "A header must be on one line."
        if unclear:
            raise _Refused(400, unclear)
        upstream = self._tap.upstream
        words[1:2] = [path_of(head.target, head.field("host") or "")]
        new = [" ".join(words).encode("latin-1")]
        for line, (name, _value) in zip(lines, fields, strict=True):
            if name.lower() == "host":
                line = _with_value(line, upstream.netloc)
            elif name.lower() == "origin":
                line = _with_value(line, upstream.origin)
            new.append(line)
        known = {name.lower() for name, _ in fields}
        new += [
            f"{name}: {value}".encode("latin-1", "replace")
            for name, value in self._tap.target.headers
            if name.lower() not in known
        ]
        return b"\r\n".join(new) + b"\r\n\r\n"


def _with_value(line: bytes, value: str) -> bytes:
    """Return a header with another value; its name and the space after it stay unchanged."""
    name, colon, old = line.partition(b":")
    return name + colon + old[: len(old) - len(old.lstrip(b" \t"))] + value.encode("latin-1")


def _tls(target: HttpTarget) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if not target.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context

"""A tap on HTTP: an address of this machine that stands for a server's URL.

Each connection of a client has one to the server. Bytes pass as they come; of a request's head the `Host` is made the
server's, an `Origin` that is ours becomes the server's, and header fields that were asked for are added. A request is
let in by the rules for servers on this machine (`Guard`), for the server behind cannot see who asks any more.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Sequence
from contextlib import suppress

from inspector.config.targets import HttpTarget
from inspector.errors import UsageError
from inspector.journal.journal import Journal
from inspector.serving.base import Head
from inspector.serving.http_guard import Guard
from inspector.tap.http_watch import HEAD, Channels, RequestWatch, ResponseWatch
from inspector.text import safe
from inspector.transports.http_problems import explain
from inspector.transports.http_url import Url, parse_url

CONNECT = 10.0
"""Seconds for a connection to the server."""
_END = b"\r\n\r\n"


class HttpTap:
    """`start` it, `close` it. `url` is what a client is to be given."""

    def __init__(
        self, target: HttpTarget, journal: Journal, host: str = "127.0.0.1", port: int = 0, names: Sequence[str] = ()
    ) -> None:
        self.target = target
        self.journal = journal
        self.upstream: Url = parse_url(target.url)
        self.host = host
        self.port = port
        self.guard = Guard(host, names)
        self.channels = Channels(journal, self.upstream.origin)
        self.tls = _tls(target) if self.upstream.scheme == "https" else None
        self._server: asyncio.Server | None = None
        self._pairs: set[_Pair] = set()

    @property
    def url(self) -> str:
        """The server's URL at our address."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}{self.upstream.target}"

    async def start(self) -> None:
        """Begin to listen. Raises `UsageError` where the address cannot be had."""
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_server(self._accepted, self.host, self.port)
        except OSError as error:
            raise UsageError(
                f"{self.host}:{self.port} cannot be listened on: {error.strerror or error}.",
                hint="Choose another port with --listen, or 0 for any.",
            ) from None
        self.port = self._server.sockets[0].getsockname()[1]
        self.journal.record_life("", "listening", url=self.url, target=self.target.url)

    def _accepted(self) -> asyncio.Protocol:
        pair = _Pair(self)
        self._pairs.add(pair)
        return pair.client

    def ended(self, pair: _Pair) -> None:
        """A connection is over."""
        self._pairs.discard(pair)

    async def close(self) -> None:
        """Listen no more and close every connection. Idempotent."""
        if self._server is not None:
            self._server.close()
        for pair in list(self._pairs):
            pair.abort()


class _Side(asyncio.Protocol):
    """One side of a pair: what it sends goes to `took`."""

    def __init__(self, pair: _Pair, took: Callable[[bytes], None], ended: Callable[[bool], None]) -> None:
        self._pair = pair
        self._took = took
        self._ended = ended
        self.transport: asyncio.Transport | None = None
        self.other: _Side | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self._took(data)

    def eof_received(self) -> bool:
        self._ended(False)
        return True  # The other direction may still have something to say.

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport = None
        self._ended(True)

    def pause_writing(self) -> None:
        self._hold(True)

    def resume_writing(self) -> None:
        self._hold(False)

    def _hold(self, pause: bool) -> None:
        """Whoever writes faster than we can pass on has to wait."""
        other = self.other.transport if self.other is not None else None
        if other is not None and not other.is_closing():
            with suppress(RuntimeError):
                (other.pause_reading if pause else other.resume_reading)()

    def write(self, data: bytes) -> None:
        """Pass on; nothing where it is gone."""
        if self.transport is not None and not self.transport.is_closing():
            self.transport.write(data)

    def finish(self) -> None:
        """Nothing more will be written."""
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


class _Pair:
    """A client's connection and ours to the server."""

    def __init__(self, tap: HttpTap) -> None:
        self._tap = tap
        self._requests = RequestWatch(tap.channels)
        self._responses = ResponseWatch(tap.channels, self._requests)
        self._heads = _Heads(tap, self._requests)
        self._waiting: list[bytes] = []
        self._connecting: asyncio.Task[None] | None = None
        self._client_done = False
        self.client = _Side(self, self._from_client, self._client_ended)
        self.server = _Side(self, self._from_server, self._server_ended)
        self.client.other, self.server.other = self.server, self.client

    def _from_client(self, data: bytes) -> None:
        try:
            passed = self._heads.feed(data)
        except PermissionError as refusal:
            self._refuse(403, str(refusal))
            return
        if passed:
            self._to_server(passed)

    def _to_server(self, data: bytes) -> None:
        if self.server.transport is not None:
            self.server.write(data)
            return
        self._waiting.append(data)
        if self._connecting is None:
            self._connecting = asyncio.get_running_loop().create_task(self._connect())

    async def _connect(self) -> None:
        upstream = self._tap.upstream
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(CONNECT):
                await loop.create_connection(
                    lambda: self.server, upstream.host, upstream.port, ssl=self._tap.tls,
                    server_hostname=upstream.host if self._tap.tls is not None else None,
                )  # fmt: skip
        except (OSError, TimeoutError) as error:
            problem = explain(error, upstream, "", reached=False)
            self._tap.journal.record_life("", "failed", error=problem.as_json())
            self._refuse(502, problem.message)
            return
        for data in self._waiting:
            self.server.write(data)
        self._waiting.clear()
        if self._client_done:
            self.server.finish()

    def _refuse(self, status: int, text: str) -> None:
        """Answer in the place of the server, and be done with the client."""
        body = f"{safe(text, 500)}\n".encode()
        reason = {403: "Forbidden", 502: "Bad Gateway"}[status]
        self._tap.journal.record_note(f"The tap answered with status {status}: {text}")
        head = f"HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        self.client.write(f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
        self.client.close()

    def _from_server(self, data: bytes) -> None:
        self._responses.feed(data)
        self.client.write(data)

    def _client_ended(self, lost: bool) -> None:
        self._requests.end()
        self._client_done = True
        if lost:
            self.server.abort()
            if self._connecting is not None:
                self._connecting.cancel()
            self._tap.ended(self)
        elif self.server.transport is not None:
            self.server.finish()

    def _server_ended(self, lost: bool) -> None:
        self._responses.end()
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
    """Finds the heads of requests among the client's bytes, and puts the server's name into them."""

    def __init__(self, tap: HttpTap, watch: RequestWatch) -> None:
        self._tap = tap
        self._watch = watch
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """What passes on of what is known by now. Raises `PermissionError` for a request that is not let in."""
        passed: list[bytes] = []
        data, self._held = self._held + data, b""
        while data:
            if self._watch.in_body or self._watch.blind:
                taken = len(data) if self._watch.blind else self._watch.feed(data)
                passed.append(data[:taken])
                data = data[taken:]
                continue
            end = data.find(_END) + len(_END)
            if end < len(_END) and len(data) <= HEAD:
                self._held = data
                break
            head = data[:end] if end >= len(_END) else data
            data = data[len(head) :]
            self._watch.feed(head)
            passed.append(head if self._watch.blind else self._rewritten(head))
        return b"".join(passed)

    def _rewritten(self, raw: bytes) -> bytes:
        """A request's head with the server's name. Raises `PermissionError`."""
        first, *lines = raw[: -len(_END)].split(b"\r\n")
        pairs = [(name.strip(), value.strip()) for name, _, value in (line.partition(b":") for line in lines)]
        fields = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in pairs]
        words = first.decode("latin-1").split(" ")
        head = Head(words[0], words[1] if len(words) > 1 else "/", tuple(fields))
        refusal = self._tap.guard.refusal(head)
        if refusal:
            raise PermissionError(refusal)
        upstream = self._tap.upstream
        new = [first]
        for line, (name, _value) in zip(lines, fields, strict=True):
            if name.lower() == "host":
                line = b"Host: " + upstream.netloc.encode("latin-1")
            elif name.lower() == "origin":
                line = b"Origin: " + upstream.origin.encode("latin-1")
            new.append(line)
        known = {name.lower() for name, _ in fields}
        new += [
            f"{name}: {value}".encode("latin-1", "replace")
            for name, value in self._tap.target.headers
            if name.lower() not in known
        ]
        return b"\r\n".join(new) + _END


def _tls(target: HttpTarget) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if not target.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context

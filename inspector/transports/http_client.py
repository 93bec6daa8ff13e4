"""Requests to one origin and their responses: an `Endpoint` makes exchanges, an `HttpAnswer` reads a response.

The connections below are those of a `network.Network`. The pool here keeps idle ones on a stack, and opens more only
for requests that had to wait. A request is sent once: one that met a connection which the server was closing fails,
because nothing shows that the server has not executed it.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import ssl
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from inspector.errors import HttpError, LimitReached, UsageError
from inspector.text import safe, size
from inspector.transports.base import HttpOptions
from inspector.transports.http1_connection import SystemNetwork
from inspector.transports.http_body import Pump, ReadGate
from inspector.transports.http_problems import explain
from inspector.transports.http_url import PROXY_SCHEMES, Url, parse_url, system_proxy
from inspector.transports.network import NetworkError, NetworkRequest, NetworkResponse, OnOpened

if TYPE_CHECKING:
    from inspector.transports.network import Connection, Network

FEW = 8
"""Connections that are opened at once; more only for requests that had to wait."""
PATIENCE = 0.01
"""Seconds a request waits for one of these before it gets a new connection."""
STEP = 16
"""Connections opened at a time for waiting requests: a small server's accept queue must not overflow."""

PIECE = 1 << 16
"""Bytes of a compressed body that are decompressed at a time."""
UNPACKED_ANYWAY = 8 << 20
UNPACKED_RATIO = 100
"""Most times its size that a compressed body may decompress to; `UNPACKED_ANYWAY` bytes are always allowed."""

MAX_MEMBERS = 1000
"""Members of one gzip body."""

Connected = Callable[[dict[str, Any]], object]
"""Gets the facts of a new connection: address, milliseconds, TLS version, proxy."""


class HttpAnswer:
    """A response whose head has been read. Read it with `pump` or `body`; end it with `aclose`."""

    def __init__(self, endpoint: Endpoint, url: Url, lease: _Lease, response: NetworkResponse, ms: float) -> None:
        self._endpoint = endpoint
        self._lease = lease
        self._body = response.body
        self._closed = False
        self.url = url
        """The requested URL; after redirects, the last one."""
        self.status = response.status
        self.reason = response.reason
        self.version = response.version
        self.headers = response.headers
        self._first: dict[str, str] | None = None
        """By name in lower case, the first value; made when it is asked for."""
        self.ms = ms
        """Milliseconds from the request to the end of the response's head."""
        self.authorized = False
        """Whether the request had the credentials of a login."""
        self.given = False
        """Whether the request had an Authorization header of the user."""

    def header(self, name: str) -> str | None:
        """Return the first header of that name, in any case (C-HTTP-04)."""
        if self._first is None:
            self._first = {key.lower(): value for key, value in reversed(self.headers)}
        return self._first.get(name.lower())

    def all(self, name: str) -> tuple[str, ...]:
        """Return all headers of that name, in order."""
        name = name.lower()
        if self.header(name) is None:
            return ()
        return tuple(value for key, value in self.headers if key.lower() == name)

    @property
    def media_type(self) -> str:
        """The content type without parameters, in lower case; empty if missing."""
        return (self.header("content-type") or "").partition(";")[0].strip().lower()

    async def pump(self, deliver: Callable[[bytes], None], gate: ReadGate | None = None) -> None:
        """Read to the end and deliver each network read in one call. Closes the response.

        Reading pauses while `gate` is crowded. Raises `HttpError` for an incomplete body, `LimitReached` for one that
        decompresses to too much, and every error of `deliver`.
        """
        try:
            unpack = self._unpacker()
            await Pump(self._body, deliver, gate=gate, unpack=unpack)
            if unpack is not None:
                unpack.end()
        except (HttpError, LimitReached):
            raise
        except self._endpoint.failures as error:
            raise explain(error, self._endpoint.url, self._endpoint.proxy_address, answered=True) from error
        finally:
            await self.aclose()

    def _unpacker(self) -> Inflater | None:
        """Return the decoder of the body's content coding, which we never request (RFC 9110 section 8.4)."""
        coding = (self.header("content-encoding") or "identity").strip().lower()
        if coding in ("", "identity"):
            return None
        where = self._endpoint.url.address
        if coding not in ("gzip", "x-gzip", "deflate"):
            raise HttpError(
                f"{where} sent its response with the content coding “{safe(coding, 40)}”, which was not requested.",
                hint="Inspector requests no content coding, but reads gzip and deflate. Check the server's proxy.",
            )
        return Inflater(coding, where)

    async def body(self, limit: int) -> tuple[bytes, bool]:
        """Return up to `limit` bytes of the body, and whether that is all of it. Never raises for an incomplete
        body."""
        parts = bytearray()

        def collect(chunk: bytes) -> None:
            parts.extend(chunk)
            if len(parts) > limit:
                raise LimitReached("body limit reached")

        try:
            await self.pump(collect)
        except (HttpError, LimitReached):
            return bytes(parts[:limit]), False
        return bytes(parts), True

    async def aclose(self) -> None:
        """Release it. A body that was not read to its end costs the connection. Idempotent."""
        if self._closed:
            return
        self._closed = True
        try:
            with suppress(*self._endpoint.failures):
                await self._body.aclose()
        finally:
            self._endpoint.release(self._lease)


class Inflater:
    """Decompresses a body as it arrives: gzip, of one or several members (RFC 1952 section 2.2), or deflate."""

    def __init__(self, coding: str, where: str) -> None:
        self._coding = coding
        self._where = where
        self._inflate = zlib.decompressobj(zlib.MAX_WBITS | 32)
        self._members = 1
        self._packed = self._unpacked = 0

    def __call__(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the decompressed data of a chunk in pieces. Raises `HttpError` and `LimitReached`."""
        self._packed += len(chunk)
        for at in range(0, len(chunk), PIECE):
            yield from self._pieces(chunk[at : at + PIECE])

    def _pieces(self, chunk: bytes) -> Iterator[bytes]:
        plain = b"."
        while chunk or len(plain) == PIECE:
            if self._inflate.eof:
                if not chunk:
                    return
                # An ended decompressor would keep everything behind its end, and copy it for each chunk.
                self._begin_member()
            try:
                plain = self._inflate.decompress(chunk, PIECE)
            except zlib.error as error:
                raise HttpError(f"{self._where} sent a response that is not valid {self._coding}.") from error
            chunk = self._inflate.unused_data if self._inflate.eof else self._inflate.unconsumed_tail
            self._unpacked += len(plain)
            if self._unpacked > max(UNPACKED_ANYWAY, UNPACKED_RATIO * self._packed):
                raise LimitReached(
                    f"The {self._coding} response of {self._where} decompresses to more than {UNPACKED_RATIO} times "
                    "its size.",
                    hint=(
                        f"{size(self._packed)} decompressed to more than {size(self._unpacked - len(plain))}. Send "
                        "the response without compression, which Inspector does not request."
                    ),
                )
            if plain:
                yield plain

    def _begin_member(self) -> None:
        self._members += 1
        if self._coding == "deflate" or self._members > MAX_MEMBERS:
            raise HttpError(
                f"{self._where} sent data behind the end of its {self._coding} response.",
                hint="Inspector requests no content coding. Check the server's proxy.",
            )
        self._inflate = zlib.decompressobj(zlib.MAX_WBITS | 32)

    def end(self) -> None:
        """Handle the end of the body. Raises `HttpError` if data is missing."""
        if self._packed and not self._inflate.eof:
            raise HttpError(
                f"{self._where} ended its {self._coding} response before the compressed data was complete.",
                hint="Inspector requests no content coding. Check the server's proxy.",
            )


class _Lease:
    """A connection in use by a request."""

    __slots__ = ("connection", "fresh")

    def __init__(self, connection: Connection, fresh: bool) -> None:
        self.connection = connection
        self.fresh = fresh


class Endpoint:
    """All connections to one origin. Any number of concurrent exchanges is safe; none blocks another for long."""

    def __init__(self, url: Url, options: HttpOptions) -> None:
        """Prepare; nothing is connected yet. Raises `UsageError` for an unusable proxy."""
        self.url = url
        self._verify = options.verify
        self._spoke = False
        """The server has answered a request in HTTP."""
        network = options.network if options.network is not None and options.network.serves(url) else None
        proxy = None if network is not None else options.proxy or system_proxy(url)
        self.proxy = _proxy(proxy) if proxy else None
        self.proxy_address = self.proxy.address if self.proxy else ""
        self._network: Network = network or _system_network(url, self.proxy, options)
        self.failures: tuple[type[BaseException], ...] = (NetworkError, OSError, *self._network.failures)
        """Exceptions of a failed exchange; `explain` describes them."""
        self._idle: list[Connection] = []
        self._open: set[Connection] = set()
        self._young: set[_Lease] = set()
        self._waiting: deque[asyncio.Future[_Lease]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    async def exchange(
        self,
        method: str,
        url: Url,
        headers: Sequence[tuple[str, str]],
        body: bytes = b"",
        *,
        lasting: bool = False,
        anonymous: bool = False,
        connected: Connected | None = None,
    ) -> HttpAnswer:
        """Send one request and read the response's head.

        `url` has this endpoint's origin; `headers` are sent unchanged, in order; `lasting` means that the response will
        stay open, so that no other request should wait for its connection; `anonymous` that a client of the program
        adds no credentials. Raises `HttpError`.
        """
        started = time.perf_counter()
        lease = await self._acquire(lasting)
        facts: dict[str, Any] = {}
        opened = self._reporter(started, facts, connected) if lease.fresh else None
        try:
            response = await lease.connection.exchange(NetworkRequest(method, url, headers, body, anonymous), opened)
        except BaseException as error:
            self._drop(lease)
            if isinstance(error, self.failures):
                reached = "address" in facts
                raise explain(error, self.url, self.proxy_address, reached=reached, spoke=self._spoke) from error
            raise
        self._spoke = True
        return HttpAnswer(self, url, lease, response, (time.perf_counter() - started) * 1000)

    def _reporter(self, started: float, facts: dict[str, Any], connected: Connected | None) -> OnOpened:
        """Fill `facts` while a connection is made, and report them afterwards."""
        facts.update(host=self.url.host, port=self.url.port)
        if self.proxy_address:
            facts["proxy"] = self.proxy_address

        def opened(more: dict[str, Any]) -> None:
            ready = more.pop("ready", False)
            facts.update(more)
            if "tls" in more and not self._verify:
                facts["verified"] = False
            if ready and connected is not None:
                facts["ms"] = round((time.perf_counter() - started) * 1000, 3)
                connected(facts)

        return opened

    # Connections

    async def _acquire(self, lasting: bool) -> _Lease:
        lease = await self._reuse()
        if lease is None and (lasting or len(self._young) < FEW):
            lease = self._connect()
        if lease is None:
            waiter: asyncio.Future[_Lease] = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            self._arm()
            try:
                lease = await waiter
            except asyncio.CancelledError:
                if waiter.done() and not waiter.cancelled():
                    self.release(waiter.result())
                raise
            if not lease.fresh and lease.connection.expired:
                await self._shut(lease.connection)
                lease = self._connect()
        if not lasting:
            self._young.add(lease)
        return lease

    async def _reuse(self) -> _Lease | None:
        while self._idle:
            connection = self._idle.pop()
            if not connection.expired:
                return _Lease(connection, False)
            await self._shut(connection)
        return None

    def _connect(self) -> _Lease:
        connection = self._network.create_connection()
        self._open.add(connection)
        return _Lease(connection, True)

    def _arm(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(PATIENCE, self._lose_patience)

    def _lose_patience(self) -> None:
        """All connections have slow requests: open some more for those that wait."""
        self._timer = None
        self._young.clear()
        for _ in range(STEP):
            if not self._hand_over(None):
                break
        if self._waiting:
            self._arm()

    def _hand_over(self, lease: _Lease | None) -> bool:
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(lease or self._connect())
                return True
        return False

    def release(self, lease: _Lease) -> None:
        """Give the connection of a finished request to the next one that waits, or to the stack of idle ones."""
        self._young.discard(lease)
        connection = lease.connection
        if connection not in self._open:
            return
        if not connection.idle:
            self._drop(lease)
        elif not self._hand_over(_Lease(connection, False)):
            self._idle.append(connection)

    def _drop(self, lease: _Lease) -> None:
        """Forget a connection that the library has closed; a waiting request may open another."""
        self._young.discard(lease)
        self._open.discard(lease.connection)
        self._hand_over(None)

    async def _shut(self, connection: Connection) -> None:
        self._open.discard(connection)
        await connection.close()

    async def aclose(self) -> None:
        """Close all connections; running exchanges fail. Idempotent."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for waiter in self._waiting:
            waiter.cancel()
        self._waiting.clear()
        self._idle.clear()
        for connection in list(self._open):
            await self._shut(connection)


def _system_network(url: Url, proxy: Url | None, options: HttpOptions) -> Network:
    encrypted = "https" in (url.scheme, proxy.scheme if proxy is not None else "")
    tls = tls_context(options.verify) if encrypted else None
    if proxy is None:
        return SystemNetwork(url, tls, options.connect_timeout)
    from inspector.transports.proxy_connections import ProxyNetwork

    return ProxyNetwork(url, proxy, tls, options.connect_timeout)


def tls_context(verify: bool) -> ssl.SSLContext:
    """Trust what the system trusts, and Mozilla's list unless the user chose the authorities (`SSL_CERT_FILE` …)."""
    context = ssl.create_default_context()
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif "SSL_CERT_FILE" not in os.environ and "SSL_CERT_DIR" not in os.environ:
        import certifi

        context.load_verify_locations(certifi.where())
    return context


def _proxy(text: str) -> Url:
    """Parse a proxy's URL. Raises `UsageError`."""
    hint = "A proxy is http://host:port, https://host:port or socks5://host:port, optionally with user:password@."
    try:
        proxy = parse_url(text, PROXY_SCHEMES)
    except ValueError as error:
        raise UsageError(f"The proxy cannot be used: {error}.", hint=hint) from None
    if proxy.scheme.startswith("socks") and importlib.util.find_spec("socksio") is None:
        raise UsageError(
            f"The proxy {proxy.address} uses SOCKS, but the package “socksio” is not installed.",
            hint="Install it beside Inspector (pip install socksio), or use an HTTP proxy.",
        )
    return proxy

"""An HTTP/1.1 connection on an asyncio socket: one request at a time, with or without TLS.

A request is one write, and a response that comes in one read wakes its waiter once.
"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from functools import lru_cache
from typing import Any, TypeVar, cast

from inspector.system.streams import readiness
from inspector.transports.http1_reader import ResponseHead, ResponseReader
from inspector.transports.http_url import Url
from inspector.transports.network import (
    KEPT_ALIVE,
    ConnectionBroken,
    ConnectTimeout,
    Disconnected,
    NetworkError,
    NetworkRequest,
    NetworkResponse,
    NotHttp,
    OnOpened,
    Unsendable,
)

MAX_BUFFERED = 1 << 20
"""Bytes of a body that wait to be read; above that the connection is not read."""
STAGGER = 0.25
"""Seconds after which the next address of a name is tried beside the one before (RFC 8305 section 5)."""
CLOSE_SECONDS = 1.0
"""Seconds to wait until the socket is closed."""
MAX_JOINED = 1 << 16
"""Bytes of a request's body that are copied behind its head, so that both leave in one write."""

_Result = TypeVar("_Result")
_NAME = re.compile(r"[-!#$%&'*+.^_`|~0-9a-zA-Z]+")
_VALUE = re.compile(r"(?:[^\x00\s]+(?:[ \t]+[^\x00\s]+)*)?", re.ASCII)
_TARGET = re.compile(r"[\x21-\x7e]+")


class SystemNetwork:
    """Connects to one origin over the system's network."""

    failures: tuple[type[BaseException], ...] = ()

    def __init__(self, url: Url, tls: ssl.SSLContext | None, connect_timeout: float) -> None:
        """`tls`: None for plain HTTP. `connect_timeout`: seconds for the connection, and again for the handshake."""
        if tls is not None:
            tls.set_alpn_protocols(["http/1.1"])
        self.url = url
        self.tls = tls
        self.connect_timeout = connect_timeout

    def create_connection(self) -> Http1Connection:
        """Create a connection that is not connected yet."""
        return Http1Connection(self)


class _Response:
    """The response that a connection reads: first its head, then the body, which is iterated."""

    def __init__(self, connection: Http1Connection, transport: asyncio.Transport, method: str) -> None:
        self.reader = ResponseReader(method)
        self._connection = connection
        self._transport = transport
        self._failure: NetworkError | None = None
        """Why it will not be complete."""
        self._waiter: asyncio.Future[None] | None = None
        self._buffered = 0

    async def head(self) -> ResponseHead:
        """Wait for the head. Raises `NetworkError`."""
        while self.reader.head is None:
            await self._wait()
        return self.reader.head

    async def __aiter__(self) -> AsyncIterator[bytes]:
        reader = self.reader
        while True:
            if reader.pieces:
                data = b"".join(reader.pieces)
                reader.pieces.clear()
                self._buffered = 0
                self._transport.resume_reading()
                yield data
            elif reader.complete:
                return
            else:
                await self._wait()

    async def _wait(self) -> None:
        if self._failure is not None:
            raise self._failure
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def feed(self, data: bytes) -> None:
        """Read a part of it. Raises `NotHttp`."""
        self.reader.feed(data)
        self._wake()
        self._buffered += len(data)
        if self._buffered > MAX_BUFFERED and self.reader.pieces and not self.reader.complete:
            self._transport.pause_reading()

    def end(self, cause: Exception | None) -> None:
        """Handle that the server sends nothing more. `cause`: the connection broke."""
        if self.reader.complete:
            return
        if cause is not None:
            broken = ConnectionBroken()
            broken.__cause__ = cause
            self.fail(broken)
        elif not self.reader.received:
            self.fail(Disconnected())
        else:
            try:
                self.reader.end()
            except NotHttp as error:
                self.fail(error)
        self._wake()

    def fail(self, error: NetworkError) -> None:
        """Handle that it will not be complete. Only the first reason counts."""
        self._failure = self._failure or error
        self._wake()

    async def aclose(self) -> None:
        """End the exchange: the connection is idle again, or closed if the response was not read to its end."""
        await self._connection.release(self)


class Http1Connection(asyncio.Protocol):
    """A connection to one origin."""

    def __init__(self, network: SystemNetwork) -> None:
        self._network = network
        self._transport: asyncio.Transport | None = None
        self._response: _Response | None = None
        """The present response; None while idle."""
        self._closed = False
        self._gone: asyncio.Future[None] | None = None
        """Done when the socket is closed."""
        self._has_data: Callable[[], bool] | None = None
        self._idle_since = 0.0

    async def exchange(self, request: NetworkRequest, opened: OnOpened | None = None) -> NetworkResponse:
        """Send a request, and read the head of its response. Raises `NetworkError` and `OSError`."""
        head = _head(request)
        if self._transport is None:
            await self._connect(opened)
        transport = self._transport
        assert transport is not None
        response = self._response = _Response(self, transport, request.method)
        body = request.body
        try:
            if self._closed:
                raise Disconnected
            if len(body) <= MAX_JOINED:
                transport.write(head + body)
            else:
                transport.write(head)
                transport.write(body)
            return NetworkResponse(*await response.head(), response)
        except BaseException:
            self._response = None
            self._abort()
            raise

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast(asyncio.Transport, transport)
        self._gone = asyncio.get_running_loop().create_future()

    def data_received(self, data: bytes) -> None:
        """Read a part of the response; drop a connection that sends something unasked."""
        if self._response is None:
            self._abort()
            return
        try:
            self._response.feed(data)
        except NotHttp as error:
            self._response.fail(error)
            self._abort()

    def eof_received(self) -> None:
        """Handle that the server sends nothing more: the transport is closed."""
        self._end(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """Handle that the socket is closed."""
        self._end(exc)
        if self._gone is not None and not self._gone.done():
            self._gone.set_result(None)

    def _end(self, exc: Exception | None) -> None:
        self._closed = True
        if self._response is not None:
            self._response.end(exc)

    def _abort(self) -> None:
        self._closed = True
        if self._transport is not None:
            self._transport.abort()

    @property
    def idle(self) -> bool:
        """Whether it is open and carries no exchange."""
        return not self._closed and self._response is None

    @property
    def expired(self) -> bool:
        """Whether it is older than servers keep it, was closed, or has received something that was not requested."""
        return self._closed or time.monotonic() - self._idle_since > KEPT_ALIVE or self._is_readable()

    def _is_readable(self) -> bool:
        """Whether the server has closed it, or sent something, that the event loop has not seen yet."""
        assert self._transport is not None
        descriptor = self._transport.get_extra_info("socket").fileno()
        if descriptor < 0:
            return True
        if self._has_data is None:
            self._has_data = readiness(descriptor)
        return self._has_data()

    async def release(self, response: _Response) -> None:
        """End an exchange: wait for the next one, or close if another request could not be told from this one."""
        if self._response is not response:
            return
        reader, transport = response.reader, cast(asyncio.Transport, self._transport)
        # A server that answered before it has read the whole request may read the rest of it as another request.
        if self._closed or not (reader.complete and reader.persistent) or transport.get_write_buffer_size():
            await self.close()
            return
        self._response = None
        self._idle_since = time.monotonic()
        transport.resume_reading()

    async def close(self) -> None:
        """Close the socket, and wait until it is closed. Idempotent."""
        response, self._response = self._response, None
        if response is not None:
            response.fail(Disconnected())
        self._abort()
        if self._gone is not None and not self._gone.done():
            await asyncio.wait([self._gone], timeout=CLOSE_SECONDS)

    async def _connect(self, opened: OnOpened | None) -> None:
        network = self._network
        url, tls = network.url, network.tls
        sock = await _within(network.connect_timeout, _dialled(url.host, url.port))
        try:
            if opened is not None:
                opened({"address": sock.getpeername()[0]})
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
            loop = asyncio.get_running_loop()
            name = None if tls is None else url.host.partition("%")[0]
            making = loop.create_connection(lambda: self, sock=sock, ssl=tls, server_hostname=name)
            if tls is None:
                await making
            else:
                await _within(network.connect_timeout, making)
        except BaseException:
            self._closed = True
            sock.close()
            raise
        assert self._transport is not None
        if opened is not None:
            facts: dict[str, object] = {"ready": True}
            if tls is not None:
                facts["tls"] = self._transport.get_extra_info("ssl_object").version()
            opened(facts)


async def _within(seconds: float, work: Coroutine[Any, Any, _Result]) -> _Result:
    try:
        async with asyncio.timeout(seconds):
            return await work
    except TimeoutError as error:
        if error.errno is not None:  # the system's own ETIMEDOUT
            raise
        raise ConnectTimeout from error


async def _dialled(host: str, port: int) -> socket.socket:
    """Return a connected socket. Tries the addresses of a name in order, each a moment after the one before."""
    loop = asyncio.get_running_loop()
    try:
        infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except (OSError, UnicodeError):
        infos = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    if len(infos) == 1:
        return await _reached(infos[0][0], infos[0][4])
    errors: list[OSError] = []
    attempts: set[asyncio.Task[socket.socket]] = set()
    addresses = iter(_alternating(infos))
    try:
        while True:
            address = next(addresses, None)
            if address is not None:
                attempts.add(loop.create_task(_reached(*address)))
            if not attempts:
                raise errors[0]
            wait = None if address is None else STAGGER
            done, attempts = await asyncio.wait(attempts, timeout=wait, return_when=asyncio.FIRST_COMPLETED)
            won: socket.socket | None = None
            for attempt in done:
                error = attempt.exception()
                if isinstance(error, OSError):
                    errors.append(error)
                elif error is not None:
                    raise error
                elif won is None:
                    won = attempt.result()
                else:
                    attempt.result().close()
            if won is not None:
                return won
    finally:
        for attempt in attempts:
            attempt.add_done_callback(_discard)
            attempt.cancel()


def _discard(attempt: asyncio.Task[socket.socket]) -> None:
    """Close the connection of an attempt that came too late."""
    if not attempt.cancelled() and attempt.exception() is None:
        attempt.result().close()


def _alternating(infos: list[Any]) -> list[tuple[int, Any]]:
    """Return families and addresses of a lookup, with the families in turn (RFC 8305 section 4)."""
    first = infos[0][0]
    ours = [(family, address) for family, _, _, _, address in infos if family == first]
    others = [(family, address) for family, _, _, _, address in infos if family != first]
    mixed: list[tuple[int, Any]] = []
    for n in range(max(len(ours), len(others))):
        mixed += ours[n : n + 1] + others[n : n + 1]
    return mixed


async def _reached(family: int, address: Any) -> socket.socket:
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, address)
    except BaseException:
        sock.close()
        raise
    return sock


def _head(request: NetworkRequest) -> bytes:
    """Return the head of a request. Raises `Unsendable`: nothing in it may end a line."""
    if _TARGET.fullmatch(request.url.target) is None:
        raise Unsendable("the path has characters that are not allowed")
    if _NAME.fullmatch(request.method) is None:
        raise Unsendable("the method has characters that are not allowed")
    lines = [f"{request.method} {request.url.target} HTTP/1.1\r\n".encode("ascii")]
    lines += [_line(name, value) for name, value in request.headers]
    lines.append(b"\r\n")
    return b"".join(lines)


@lru_cache(maxsize=256)
def _line(name: str, value: str) -> bytes:
    if _NAME.fullmatch(name) is None:
        raise Unsendable("the name of a header is not valid")
    if _VALUE.fullmatch(value) is None:
        raise Unsendable("the value of a header is not valid")
    return name.encode("ascii") + b": " + octets(value) + b"\r\n"


def octets(text: str) -> bytes:
    """Encode a header's value. Latin-1 if possible: a server's value was decoded that way. Raises `Unsendable`."""
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        pass
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise Unsendable("the value of a header is not valid") from error

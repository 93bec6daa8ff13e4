"""One TCP connection with HTTP/1.1 (RFC 9112): requests in, answers out in order, within limits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from inspector.reasons import http_reason
from inspector.serving.base import MAX_MESSAGE, MAX_UNSENT, Fields, RequestHead
from inspector.serving.http_origins import own_address

if TYPE_CHECKING:
    import h11


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """The limits for a client."""

    head: int = 1 << 16
    """Bytes of a request's head."""
    body: int = MAX_MESSAGE
    """Bytes of a request's body."""
    unsent: int = MAX_UNSENT
    """Unsent bytes for a slow client."""
    connections: int = 256
    patience: float = 30.0
    """Seconds for a head to arrive; a body may take so long too, and a second more for every 64 KiB."""
    idle: float = 75.0
    """Seconds that a connection may stay open without a request."""
    stall: float = 120.0
    """Seconds for which a client may read nothing of what waits for it."""
    keep_alive: float = 15.0
    """Seconds without an event after which a stream gets a comment, so that proxies keep it open."""


class ServedRequest:
    """One HTTP request after its head has arrived, and its body."""

    __slots__ = ("body", "complete", "head")

    def __init__(self, head: RequestHead) -> None:
        self.head = head
        self.body = b""
        self.complete = False
        """The body is complete."""


class RequestRefusal(NamedTuple):
    """An answer that is decided before the body has arrived."""

    status: int
    body: bytes
    fields: Fields


class ConnectionOwner(Protocol):
    """Answers the requests of a connection."""

    limits: ConnectionLimits
    connections: set[ServedConnection]

    def screen(self, head: RequestHead) -> RequestRefusal | None:
        """Return the refusal for a head, whatever its body; None to accept it."""

    def answer(self, request: ServedRequest, response: ServedResponse) -> None:
        """Answer a request, or (not `complete`) the beginning of one whose client disconnected. Never blocks."""


class ServedResponse:
    """The answer to one request: its head, then its body in pieces. After the client is gone, calls have no effect."""

    def __init__(self, connection: ServedConnection, request: ServedRequest) -> None:
        self._connection = connection
        self._request = request
        self._over = asyncio.Event()
        self.begun = False
        self.on_left: Callable[[], None] | None = None
        """Called when the client disconnects before the end."""
        self.always: Fields = ()
        """Headers of this answer in every case."""

    @property
    def open(self) -> bool:
        """Whether more can be written."""
        return not self._over.is_set()

    def begin(self, status: int, fields: Fields, length: int | None = None) -> None:
        """Write the head. `length` is that of the body; None: it is sent in pieces and ends with `finish`."""
        if self.open and not self.begun:
            self.begun = True
            self._connection.write_head(status, (*fields, *self.always), length, last=not self._request.complete)

    def write(self, data: bytes) -> None:
        """Write a piece of the body, unless the request was HEAD."""
        if self.open and data and self._request.head.method != "HEAD":
            self._connection.write_body(data)

    def finish(self) -> None:
        """End the body."""
        if self.open:
            self._over.set()
            self._connection.write_end()

    def whole(self, status: int, body: bytes = b"", fields: Fields = ()) -> None:
        """Answer at once."""
        self.begin(status, fields, len(body))
        self.write(body)
        self.finish()

    def abort(self) -> None:
        """Close the connection in the middle of the answer, or without one, after sending what was written."""
        if self.open:
            self._over.set()
            self._connection.close()

    def lost(self) -> None:
        """Handle that the client has disconnected."""
        if self.open:
            self._over.set()
            if self.on_left is not None:
                self.on_left()

    async def finished(self) -> None:
        """Wait for the end of the answer, or of the connection."""
        await self._over.wait()

    async def drained(self) -> None:
        """Wait until the client has read most of what was written, or is gone."""
        if self.open:
            await self._connection.drained()


class _HungUp(Exception):
    """The client has disconnected."""


class _LastAnswer(Exception):
    """A refusal after which the connection closes: the rest of the request is not read."""

    def __init__(self, refusal: RequestRefusal) -> None:
        self.refusal = refusal


class ServedConnection(asyncio.Protocol):
    """Reads requests and writes answers with h11, in the one coroutine `_serve`. A request is answered before the next
    one is read."""

    def __init__(self, owner: ConnectionOwner) -> None:
        import h11

        self._h11 = h11
        self._owner = owner
        self._limits = owner.limits
        self._loop = asyncio.get_running_loop()
        self._state = h11.Connection(h11.SERVER, max_incomplete_event_size=owner.limits.head)
        self._input = asyncio.StreamReader(owner.limits.head)
        """What has arrived; reading pauses while a client sends requests without reading the answer."""
        self._transport: asyncio.Transport
        self._response: ServedResponse | None = None
        """The answer to the request that arrives or is answered; None while it waits for a request."""
        self._writable = asyncio.Event()
        """The client has read most of what was written, or is gone."""
        self._stall: asyncio.TimerHandle | None = None
        """Checks later whether the client has read any of what waits for it."""
        self.waits: tuple[bool, float] | None = None
        """Whether a request has begun to arrive, and since when it is awaited; None once it is complete."""

    # What asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=HIGH_WATER)
        self._input.set_transport(self._transport)
        self._writable.set()
        has_room = len(self._owner.connections) < self._limits.connections or self._make_room()
        self._owner.connections.add(self)
        self._task = self._loop.create_task(self._serve(has_room))

    def _make_room(self) -> bool:
        """Close the connection that waits longest for a request, first one without any byte; False if none waits."""
        waiting = [
            (connection.waits, connection) for connection in self._owner.connections if connection.waits is not None
        ]
        if not waiting:
            return False
        _, longest = min(waiting, key=lambda pair: pair[0])
        self._owner.connections.discard(longest)
        longest.shut()
        return True

    def data_received(self, data: bytes) -> None:
        if not self._transport.is_closing():
            self._input.feed_data(data)

    def eof_received(self) -> bool:
        self._hang_up()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._hang_up()
        self.resume_writing()
        self._owner.connections.discard(self)

    def pause_writing(self) -> None:
        self._writable.clear()
        self._watch()

    def resume_writing(self) -> None:
        if self._stall is not None:
            self._stall.cancel()
        self._writable.set()

    def _watch(self) -> None:
        waiting = self._transport.get_write_buffer_size()
        self._stall = self._loop.call_later(self._limits.stall, self._check_stall, waiting)

    def _check_stall(self, waiting: int) -> None:
        if self._transport.get_write_buffer_size() >= waiting:
            self._transport.abort()
        else:
            self._watch()

    async def drained(self) -> None:
        """Wait until most of what was written is sent, or the connection is closed."""
        await self._writable.wait()

    def _hang_up(self) -> None:
        """Handle the end of input: the client expects no answer."""
        self._input.feed_eof()
        self._writable.set()
        if self._response is not None:
            self._response.lost()

    # Requests

    async def _serve(self, has_room: bool) -> None:
        """Answer one request after the other, until either side ends the connection."""
        try:
            try:
                if not has_room:
                    raise _LastAnswer(_text_refusal(503, "Too many connections."))
                async for request, response in self._requests():
                    self._owner.answer(request, response)
                    await response.finished()
            except self._h11.RemoteProtocolError as error:
                self._give_up(
                    _text_refusal(error.error_status_hint, f"The request is not valid HTTP/1.1: {http_reason(error)}.")
                )
            except TimeoutError:
                if self.waits is None or not self.waits[0]:
                    return
                self._give_up(_text_refusal(408, "The request did not arrive in time."))
            except _LastAnswer as last:
                self._give_up(last.refusal)
            self.waits = None
            await self._linger()
        except _HungUp:
            pass
        finally:
            self.waits = None
            self.close()

    async def _requests(self) -> AsyncIterator[tuple[ServedRequest, ServedResponse]]:
        """Yield the requests that are for the owner. The answer to one must have ended before the next is read."""
        seconds = self._limits.patience
        while True:
            self._response, self.waits = None, (bool(self._state.trailing_data[0]), self._loop.time())
            async with asyncio.timeout(seconds):
                event = await self._event()
            if not isinstance(event, self._h11.Request):  # it has announced the end of the connection
                return
            request = self._begun(event)
            self._response = response = ServedResponse(self, request)
            unclear = request.head.unclear_length(event.http_version.decode("latin-1"))
            if unclear:
                raise _LastAnswer(_text_refusal(400, unclear))
            refusal = self._owner.screen(request.head)
            try:
                await self._read_body(request, refusal)
            except _HungUp:
                if request.body and refusal is None:
                    self._owner.answer(request, response)
                raise
            self.waits = None
            if refusal is None:
                yield request, response
            else:
                response.whole(*refusal)
            if self._state.our_state is not self._h11.DONE or self._state.their_state is not self._h11.DONE:
                return
            self._state.start_next_cycle()
            seconds = self._limits.idle

    async def _event(self) -> h11.Event | type[h11.NEED_DATA | h11.PAUSED]:
        """Return the next parsed event of h11. Raises `_HungUp` at the end of input."""
        while (event := self._state.next_event()) is self._h11.NEED_DATA:
            if self._state.they_are_waiting_for_100_continue:
                self._send(self._h11.InformationalResponse(status_code=100, headers=[], reason="Continue"))
            data = await self._input.read(READ_SIZE)
            if not data:
                raise _HungUp
            self._state.receive_data(data)
            if self.waits is not None:
                self.waits = (True, self.waits[1])
        return event

    def _begun(self, event: h11.Request) -> ServedRequest:
        fields = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in event.headers.raw_items()]
        own = own_address(self._transport)
        return ServedRequest(RequestHead(event.method.decode("latin-1"), event.target.decode("latin-1"), fields, own))

    async def _read_body(self, request: ServedRequest, refusal: RequestRefusal | None) -> None:
        """Read the body, of a refused request only so much that its client reads the refusal. Raises `_LastAnswer`."""
        limit = self._limits.body if refusal is None else UNWANTED
        too_long = _LastAnswer(refusal or _text_refusal(413, f"The body is longer than {limit} bytes."))
        declared = request.head.field("content-length") or "0"
        if not declared.isdigit() or len(declared) > 15 or int(declared) > self._limits.body:
            raise _LastAnswer(_text_refusal(413, f"The body is longer than {self._limits.body} bytes."))
        if int(declared) > limit or (refusal is not None and self._state.they_are_waiting_for_100_continue):
            raise too_long
        parts: list[bytes] = []
        size, begun = 0, self._loop.time()
        try:
            async with asyncio.timeout(self._limits.patience) as deadline:
                while isinstance(event := await self._event(), self._h11.Data):
                    size += len(event.data)
                    if size > limit:
                        raise too_long
                    parts.append(bytes(event.data))
                    deadline.reschedule(begun + self._limits.patience + (size >> 16))
            request.complete = True
        finally:
            request.body = b"".join(parts)

    def _give_up(self, refusal: RequestRefusal) -> None:
        """Write the last answer of this connection, unless another one has begun."""
        if self._state.our_state in (self._h11.IDLE, self._h11.SEND_RESPONSE):
            response = self._response or ServedResponse(self, ServedRequest(RequestHead("", "", ())))
            response.whole(*refusal)

    async def _linger(self) -> None:
        """Close, but not while a client still sends: it would lose the answer with the connection."""
        if self._state.their_state not in (self._h11.DONE, self._h11.MUST_CLOSE, self._h11.CLOSED):
            if self._transport.can_write_eof() and not self._transport.is_closing():
                self._transport.write_eof()
            with suppress(TimeoutError):
                async with asyncio.timeout(LINGER):
                    while not self._transport.is_closing() and await self._input.read(READ_SIZE):
                        pass

    # Answers

    def write_head(self, status: int, fields: Fields, length: int | None, *, last: bool) -> None:
        """Write the head of an answer; the connection closes after the `last`."""
        headers = [(b"Date", time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime()).encode())]
        headers += [(name.encode("utf-8"), value.encode("utf-8")) for name, value in fields]
        if length is not None and status != 204:
            headers.append((b"Content-Length", b"%d" % length))
        if last:
            headers.append((b"Connection", b"close"))
        self._send(self._h11.Response(status_code=status, headers=headers, reason=_reason(status)))

    def write_body(self, data: bytes) -> None:
        """Write a piece of the body; disconnects a client for which too much waits."""
        self._send(self._h11.Data(data=data))

    def write_end(self) -> None:
        """End the answer."""
        self._send(self._h11.EndOfMessage())

    def _send(self, event: h11.Event) -> None:
        if self._transport.is_closing():
            return
        try:
            parts = self._state.send_with_data_passthrough(event)
        except self._h11.LocalProtocolError:
            # A body of another length than declared, or an invalid header: it cannot be sent correctly.
            self.close()
            return
        for part in parts or ():
            self._transport.write(part)
        if self._transport.get_write_buffer_size() > self._limits.unsent:
            self._transport.abort()

    def close(self) -> None:
        """Close after sending what was written: an answer without its end shows that it broke."""
        self._transport.close()

    def shut(self) -> None:
        """Stop the server: send what was written, but nothing else."""
        self._hang_up()
        self.close()

    def kill(self) -> None:
        """Close now and drop unsent data."""
        self._transport.abort()


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _text_refusal(status: int, text: str) -> RequestRefusal:
    return RequestRefusal(status, f"{text}\n".encode("ascii", "replace"), PLAIN)


READ_SIZE = 1 << 16
PLAIN = (("Content-Type", "text/plain; charset=utf-8"),)
HIGH_WATER = 1 << 20
"""Unsent bytes for a client above which `drained` waits."""
UNWANTED = 1 << 20
"""Bytes that are read of a refused request's body, so that the client reads the refusal."""
LINGER = 1.0
"""Seconds for a client that still sends to read the refusal."""

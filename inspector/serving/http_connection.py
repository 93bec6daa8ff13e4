"""One TCP connection with HTTP/1.1 (RFC 9112): requests in, answers out in order, within limits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from inspector.serving.base import MAX_MESSAGE, MAX_UNSENT, Fields, RequestHead
from inspector.serving.http_origins import own_address

if TYPE_CHECKING:
    import h11

_REASONS = {
    200: "OK",
    202: "Accepted",
    204: "No Content",
    307: "Temporary Redirect",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    406: "Not Acceptable",
    408: "Request Timeout",
    413: "Content Too Large",
    415: "Unsupported Media Type",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    501: "Not Implemented",
    503: "Service Unavailable",
    505: "HTTP Version Not Supported",
}


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

    def __init__(self, connection: ServedConnection) -> None:
        self._connection: ServedConnection | None = connection
        self.begun = False
        self.on_left: Callable[[], None] | None = None
        """Called when the client disconnects before the end."""
        self.always: Fields = ()
        """Headers of this answer in every case."""

    @property
    def open(self) -> bool:
        """Whether more can be written."""
        return self._connection is not None

    def begin(self, status: int, fields: Fields, length: int | None = None) -> None:
        """Write the head. `length` is that of the body; None: it is sent in pieces and ends with `finish`."""
        if self._connection is not None and not self.begun:
            self.begun = True
            self._connection.begin(status, (*fields, *self.always), length)

    def write(self, data: bytes) -> None:
        """Write a piece of the body."""
        if self._connection is not None and data:
            self._connection.write(data)

    def finish(self) -> None:
        """End the body."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.finish()

    def whole(self, status: int, body: bytes = b"", fields: Fields = ()) -> None:
        """Answer at once."""
        self.begin(status, fields, len(body))
        self.write(body)
        self.finish()

    def abort(self) -> None:
        """Close the connection in the middle of the answer, or without one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.abort()

    def lost(self) -> None:
        """Handle that the client has disconnected."""
        gone, self._connection = self._connection is not None, None
        if gone and self.on_left is not None:
            self.on_left()

    async def drained(self) -> None:
        """Wait until the client has read most of what was written, or is gone."""
        if self._connection is not None:
            await self._connection.drained()


class _Exchange:
    """A request that arrives, and its answer."""

    def __init__(self, head: RequestHead, response: ServedResponse, refusal: RequestRefusal | None) -> None:
        self.request = ServedRequest(head)
        self.response = response
        self.refusal = refusal
        """The answer, if the request is not for the owner."""
        self.parts: list[bytes] = []
        self.size = 0
        """Bytes of the body that have arrived."""


class _ClientOutput:
    """Writes to a client that may read slowly; a client that reads nothing for long is disconnected."""

    def __init__(self, transport: asyncio.Transport, limits: ConnectionLimits) -> None:
        self._transport = transport
        self._limits = limits
        self._writable: asyncio.Future[None] | None = None
        """Done when the client has read most of what was written; None if it has."""
        self._stall: asyncio.TimerHandle | None = None
        transport.set_write_buffer_limits(high=HIGH_WATER)

    def write(self, parts: Sequence[bytes]) -> None:
        """Write, and disconnect a client for which too much waits."""
        for part in parts:
            self._transport.write(part)
        if self._transport.get_write_buffer_size() > self._limits.unsent:
            self._transport.abort()

    def pause(self) -> None:
        """Handle that more than `HIGH_WATER` waits."""
        if self._writable is None:
            self._writable = asyncio.get_running_loop().create_future()
        self._watch()

    def _watch(self) -> None:
        """Check later whether the client has read any of what waits for it."""
        waiting = self._transport.get_write_buffer_size()
        self._stall = asyncio.get_running_loop().call_later(self._limits.stall, self._check, waiting)

    def _check(self, waiting: int) -> None:
        if self._transport.get_write_buffer_size() >= waiting:
            self._transport.abort()
        else:
            self._watch()

    def resume(self) -> None:
        """Handle that the client has read most of it, or is gone."""
        if self._stall is not None:
            self._stall.cancel()
        self.wake()

    def wake(self) -> None:
        """End `drained`."""
        writable, self._writable = self._writable, None
        if writable is not None:
            writable.set_result(None)

    async def drained(self) -> None:
        """Wait until the client has read most of it, or is gone."""
        if self._writable is not None:
            await asyncio.shield(self._writable)


class ServedConnection(asyncio.Protocol):
    """Reads requests and writes answers with h11; one is answered before the next is read."""

    def __init__(self, owner: ConnectionOwner) -> None:
        import h11

        self._h11 = h11
        self._owner = owner
        self._limits = owner.limits
        self._loop = asyncio.get_running_loop()
        self._state = h11.Connection(h11.SERVER, max_incomplete_event_size=owner.limits.head)
        self._transport: asyncio.Transport | None = None
        self._output: _ClientOutput
        self._exchange: _Exchange | None = None
        """None while it waits for a request."""
        self._timer: asyncio.TimerHandle | None = None
        """The timeout of a head or a body."""
        self._since = self._loop.time()
        """When it began to wait for a request."""
        self._deaf = False
        """Incoming data is ignored."""

    @property
    def waits(self) -> tuple[bool, float] | None:
        """Whether a request has begun to arrive, and since when it is awaited; None once it is complete."""
        if self._exchange is not None:
            return None if self._exchange.request.complete else (True, self._since)
        return bool(self._state.trailing_data[0]), self._since

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._output = _ClientOutput(self._transport, self._limits)
        if len(self._owner.connections) >= self._limits.connections and not self._make_room():
            self._give_up(503, "Too many connections.")
        else:
            self._wait(self._limits.patience)
        self._owner.connections.add(self)

    def _make_room(self) -> bool:
        """Close the connection that waits longest for a request, first one without any byte; False if none waits."""
        waiting = [(waits, each) for each in self._owner.connections if (waits := each.waits) is not None]
        if not waiting:
            return False
        _, longest = min(waiting, key=lambda each: each[0])
        self._owner.connections.discard(longest)
        longest.shut()
        return True

    def data_received(self, data: bytes) -> None:
        if self._deaf:
            return
        self._state.receive_data(data)
        if self._exchange is None or not self._exchange.request.complete:
            self._advance()
        elif len(self._state.trailing_data[0]) > self._limits.head and self._transport is not None:
            self._transport.pause_reading()  # it sends requests without reading the answer

    def eof_received(self) -> bool:
        self._hung_up()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._hung_up()
        self._output.resume()
        self._stop_waiting()
        self._transport = None
        self._owner.connections.discard(self)

    def pause_writing(self) -> None:
        self._output.pause()

    def resume_writing(self) -> None:
        self._output.resume()

    async def drained(self) -> None:
        """Wait until most of what was written is sent, or the connection is closed."""
        await self._output.drained()

    def _hung_up(self) -> None:
        """Handle the end of input: an unfinished message is incomplete, and the client expects no answer."""
        self._output.wake()
        self._deaf = True
        exchange, self._exchange = self._exchange, None
        if exchange is None:
            return
        exchange.response.lost()
        request = exchange.request
        if not request.complete and exchange.parts and exchange.refusal is None:
            request.body = b"".join(exchange.parts)
            self._owner.answer(request, exchange.response)

    def _advance(self) -> None:
        """Take the parsed events from h11, until it needs more data or an answer is due."""
        while not self._deaf:
            try:
                event = self._state.next_event()
            except self._h11.RemoteProtocolError as error:
                self._give_up(error.error_status_hint, f"{error}.")
                return
            if isinstance(event, self._h11.Request):
                self._begin(event)
            elif self._exchange is not None and isinstance(event, self._h11.Data):
                self._take(self._exchange, bytes(event.data))
            elif self._exchange is not None and isinstance(event, self._h11.EndOfMessage):
                self._complete(self._exchange)
                return
            else:  # more data is needed, or this was the last request
                if event is self._h11.NEED_DATA and self._state.they_are_waiting_for_100_continue:
                    self._send(self._h11.InformationalResponse(status_code=100, headers=[], reason="Continue"))
                return

    def _begin(self, event: h11.Request) -> None:
        fields = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in event.headers.raw_items()]
        own = own_address(self._transport)
        head = RequestHead(event.method.decode("latin-1"), event.target.decode("latin-1"), fields, own)
        exchange = self._exchange = _Exchange(head, ServedResponse(self), self._owner.screen(head))
        self._wait(self._limits.patience)
        declared = head.field("content-length") or "0"
        if not declared.isdigit() or len(declared) > 15 or int(declared) > self._limits.body:
            self._refuse(exchange, self._too_large())
        elif exchange.refusal and (int(declared) > UNWANTED or self._state.they_are_waiting_for_100_continue):
            self._refuse(exchange, exchange.refusal)

    def _take(self, exchange: _Exchange, data: bytes) -> None:
        exchange.size += len(data)
        if exchange.refusal is not None:
            if exchange.size > UNWANTED:
                self._refuse(exchange, exchange.refusal)
        elif exchange.size > self._limits.body:
            self._refuse(exchange, self._too_large())
        else:
            exchange.parts.append(data)

    def _too_large(self) -> RequestRefusal:
        return RequestRefusal(413, f"The body is longer than {self._limits.body} bytes.\n".encode(), PLAIN)

    def _complete(self, exchange: _Exchange) -> None:
        self._stop_waiting()
        request = exchange.request
        request.body = b"".join(exchange.parts)
        exchange.parts.clear()
        request.complete = True
        if exchange.refusal is not None:
            self._refuse(exchange, exchange.refusal)
        else:
            self._owner.answer(request, exchange.response)

    def _refuse(self, exchange: _Exchange, refusal: RequestRefusal) -> None:
        """Send the owner's refusal. The rest of the body is not awaited; the connection then closes."""
        self._deaf = not exchange.request.complete
        exchange.response.whole(*refusal)

    def _wait(self, seconds: float) -> None:
        self._stop_waiting()
        self._timer = self._loop.call_later(seconds, self._lose_patience, self._arrived)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @property
    def _arrived(self) -> int:
        """Bytes of the body that have arrived."""
        return 0 if self._exchange is None else self._exchange.size

    def _lose_patience(self, arrived: int) -> None:
        """Handle the timeout of a head or a body, unless enough data has arrived meanwhile."""
        seconds = (self._arrived - arrived) >> 16
        if seconds:
            self._wait(seconds)
        elif self._exchange is None and not self._state.trailing_data[0]:
            self._close()
        else:
            self._give_up(408, "The request did not arrive in time.")

    def _give_up(self, status: int, reason: str) -> None:
        """Send the reason why this connection answers no more requests, and close it."""
        self._deaf = True
        self._exchange = None
        if self._state.our_state in (self._h11.IDLE, self._h11.SEND_RESPONSE):
            body = f"{reason}\n".encode("ascii", "replace")
            self.begin(status, PLAIN, len(body))
            self.write(body)
            self._send(self._h11.EndOfMessage())
        self._linger()

    def begin(self, status: int, fields: Fields, length: int | None) -> None:
        """Write the head of an answer."""
        headers = [(b"Date", time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime()).encode())]
        headers += [(name.encode("utf-8"), value.encode("utf-8")) for name, value in fields]
        if length is not None and status != 204:
            headers.append((b"Content-Length", b"%d" % length))
        if self._deaf:
            headers.append((b"Connection", b"close"))
        self._send(self._h11.Response(status_code=status, headers=headers, reason=_REASONS.get(status, "")))

    def write(self, data: bytes) -> None:
        """Write a piece of the body, unless the request was HEAD."""
        if self._exchange is None or self._exchange.request.head.method != "HEAD":
            self._send(self._h11.Data(data=data))

    def _send(self, event: h11.Event) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        try:
            parts = self._state.send_with_data_passthrough(event)
        except self._h11.LocalProtocolError:
            # A body of another length than declared, or an invalid header: it cannot be sent correctly.
            self.abort()
            return
        self._output.write(parts or ())

    def finish(self) -> None:
        """End the answer: read the next request, or close."""
        self._send(self._h11.EndOfMessage())
        self._exchange = None
        if self._transport is None:
            return
        done = self._h11.DONE
        if self._deaf or self._state.our_state is not done or self._state.their_state is not done:
            self._linger()
            return
        self._state.start_next_cycle()
        self._since = self._loop.time()
        self._wait(self._limits.idle)
        self._transport.resume_reading()
        self._loop.call_soon(self._advance)

    def _linger(self) -> None:
        """Close, but not while a client still sends: it would lose the answer with the connection."""
        self._deaf = True
        transport = self._transport
        if transport is None or self._state.their_state in (self._h11.DONE, self._h11.MUST_CLOSE, self._h11.CLOSED):
            self._close()
        elif not transport.is_closing():
            if transport.can_write_eof():
                transport.write_eof()
            self._loop.call_later(LINGER, self._close)

    def _close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Close without an end, after sending what was written: an answer without its end shows that it broke."""
        self._deaf = True
        self._exchange = None
        self._close()

    def shut(self) -> None:
        """Stop the server: send what was written, but nothing else."""
        self._hung_up()
        self._close()

    def kill(self) -> None:
        """Close now and drop unsent data."""
        if self._transport is not None:
            self._transport.abort()


PLAIN = (("Content-Type", "text/plain; charset=utf-8"),)
HIGH_WATER = 1 << 20
"""Unsent bytes for a client above which `drained` waits."""
UNWANTED = 1 << 20
"""Bytes that are read of a refused request's body, so that the client reads the refusal."""
LINGER = 1.0
"""Seconds for a client that still sends to read the refusal."""

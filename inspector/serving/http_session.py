"""One client session over HTTP: its handler, the replies to its POSTs, and its streams."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Callable
from typing import Literal

from inspector.journal import channels
from inspector.serving.base import BodyForm, Fields, Handler, HandlerFactory
from inspector.serving.http_connection import ServedResponse

KEPT_EVENTS, KEPT_BYTES = 1000, 1 << 24
"""What is kept at most of one stream for a client that resumes, and of messages without a listener."""
FIELDS: Fields = (("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"), ("X-Accel-Buffering", "no"))
_LINE_END = re.compile(rb"\r\n|\n|\r")
_COMMENT = b": still here\n\n"


def event(data: bytes, id: str = "", kind: str = "") -> bytes:
    """Return one server-sent event. Each line of the data has its own field; a client joins them with line feeds."""
    head = ((f"id: {id}\n" if id else "") + (f"event: {kind}\n" if kind else "")).encode()
    if b"\n" not in data and b"\r" not in data:
        return b"%bdata: %b\n\n" % (head, data)
    return b"%b%b\n" % (head, b"".join(b"data: %b\n" % line for line in _LINE_END.split(data)))


class ServedStream:
    """Events for one response, or, if `resumable`, for those that continue it."""

    def __init__(self, name: str, *, resumable: bool, keep_alive: float, kind: str = "") -> None:
        self.name = name
        """The prefix of its event ids."""
        self.kind = kind
        """The type that its events name; empty for none, which means `message`."""
        self.ended = False
        self.on_left: Callable[[], None] | None = None
        """Called when a listening client has disconnected."""
        self._resumable = resumable
        self._keep_alive = keep_alive
        self._loop = asyncio.get_running_loop()
        self._response: ServedResponse | None = None
        self._events: deque[bytes] = deque()
        self._bytes = 0
        self._count = 0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def attended(self) -> bool:
        """Whether a client listens."""
        return self._response is not None and self._response.open

    @property
    def open(self) -> bool:
        """Whether messages can still reach the client."""
        return not self.ended and (self._resumable or self.attended)

    def attach(self, response: ServedResponse, status: int = 200, fields: Fields = ()) -> None:
        """Send everything in `response` from now on; it replaces any other."""
        before, self._response = self._response, response
        if before is not None:
            before.on_left = None
            before.finish()
        response.on_left = self._left
        response.begin(status, (*FIELDS, *fields))
        self._keep_open()

    def prime(self) -> None:
        """Send an event without data, whose id the client can resume with before there is another (2025-11-25)."""
        if self._resumable:
            self._put(b"")

    def resume(self, response: ServedResponse, after: int) -> None:
        """Send in `response` the kept events after number `after`, and all later ones."""
        self.attach(response)
        kept = list(self._events)
        for data in kept[max(0, len(kept) - (self._count - after)) :] if after < self._count else ():
            response.write(data)
        if self.ended:
            self._finish()

    def send(self, data: bytes) -> None:
        """Send one message. Without a listener it is kept, within the limit."""
        if self.open:
            self._put(data)

    def _put(self, data: bytes) -> None:
        self._count += 1
        line = event(data, f"{self.name}.{self._count}" if self._resumable else "", self.kind)
        if self._resumable:
            self._events.append(line)
            self._bytes += len(line)
            while len(self._events) > KEPT_EVENTS or (self._bytes > KEPT_BYTES and len(self._events) > 1):
                self._bytes -= len(self._events.popleft())
        if self._response is not None:
            self._response.write(line)

    def end(self) -> None:
        """End the stream."""
        if not self.ended:
            self.ended = True
            self._finish()

    def _finish(self) -> None:
        self._stop_timer()
        if self._response is not None:
            self._response.on_left = None
            self._response.finish()
            self._response = None

    def cut(self, data: bytes = b"", retry: int | None = None) -> None:
        """Break the connection, after the beginning of an event. A resumable stream continues."""
        self._stop_timer()
        response, self._response = self._response, None
        if response is not None:
            response.on_left = None
            if retry is not None:
                response.write(b"retry: %d\n\n" % retry)
            if data:
                response.write(b"data: " + data)
            response.abort()

    def _left(self) -> None:
        self._stop_timer()
        self._response = None
        if self.on_left is not None:
            self.on_left()

    def _keep_open(self) -> None:
        """Send a comment at intervals, so that proxies keep the connection open."""
        self._stop_timer()
        self._timer = self._loop.call_later(self._keep_alive, self._send_comment)

    def _send_comment(self) -> None:
        if self._response is not None:
            self._response.write(_COMMENT)
            self._keep_open()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def drained(self) -> None:
        """Wait until the client has read most of the data, or is gone."""
        if self._response is not None:
            await self._response.drained()


MAX_FINISHED = 16
"""Ended streams that are kept for clients that resume late."""
JSON: Fields = (("Content-Type", "application/json"),)


class PostReply:
    """The reply to one POST."""

    def __init__(self, session: ClientSession, channel: str, response: ServedResponse) -> None:
        self.channel = channel
        self._session = session
        self._response = response
        self._stream: ServedStream | None = None
        self._parts: list[bytes] | None = None
        self._status = 202
        self._fields: Fields = ()
        self._ended = False
        response.on_left = self._left

    @property
    def open(self) -> bool:
        """Whether messages can still reach the client."""
        if self._ended:
            return False
        return self._stream.open if self._stream is not None else self._response.open

    def begin(self, form: BodyForm, status: int = 200, fields: Fields = ()) -> None:
        """Choose the form of the answer. A stream's head is sent at once, a body's with the body."""
        if self._ended or self._stream is not None or self._parts is not None:
            return
        self._status, self._fields = status, fields
        if form == "json":
            self._parts = []
            return
        self._stream = self._session.new_stream()
        self._stream.on_left = self._left
        self._stream.attach(self._response, status, fields)
        if self._session.primes:
            self._stream.prime()

    def send(self, data: bytes) -> None:
        """Send one message, or a part of the body."""
        if self._parts is not None:
            self._parts.append(data)
            return
        self.begin("sse")
        if self._stream is not None and not self._ended:
            self._stream.send(data)

    def end(self) -> None:
        """Complete the answer; 202 if there is none."""
        if self._ended:
            return
        self._ended = True
        if self._stream is not None:
            self._stream.end()
        elif self._parts:
            typed = any(name.lower() == "content-type" for name, _ in self._fields)
            self._response.whole(self._status, b"".join(self._parts), self._fields if typed else (*JSON, *self._fields))
        else:
            self._response.whole(self._status, fields=self._fields)

    def cut(self, data: bytes = b"", retry: int | None = None) -> None:
        """Break the connection in the middle of the body or stream; without `data` before it."""
        if self._ended:
            return
        if self._stream is not None:
            self._stream.cut(data, retry)
        elif data:
            self._response.begin(self._status if self._parts is not None else 200, (*JSON, *self._fields), None)
            self._response.write(data)
            self._response.abort()
        else:
            self._response.abort()
        self._ended = self._stream is None or not self._stream.open

    def _left(self) -> None:
        if not self._ended:
            self._session.handler.left(self)

    async def drain(self) -> None:
        """Wait until the client has read most of the data, or is gone."""
        if self._stream is not None:
            await self._stream.drained()


class ClientSession:
    """A client session: the `ServedClient` of its handler. `session` is its id, empty if the protocol has none."""

    transport: Literal["http"] = "http"

    def __init__(
        self,
        new_handler: HandlerFactory,
        id: str = "",
        *,
        resumable: bool = False,
        primes: bool = False,
        keep_alive: float = 15.0,
    ) -> None:
        self.session = id
        self.primes = primes
        """Streams start with an event that has an id and no data (2025-11-25)."""
        self.on_drop: Callable[[], None] = lambda: None
        """Called when the handler drops its client."""
        self._resumable = resumable
        self._keep_alive = keep_alive
        self._streams: dict[str, ServedStream] = {}
        self._listening: list[ServedStream] = []
        self._waiting: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._posts: set[ServedResponse] = set()
        self._made = 0
        self._closed = False
        self.handler: Handler = new_handler(self)

    @property
    def channel(self) -> str:
        """The newest stream that the client listens on."""
        return channels.of_get(self._listening[-1].name if self._listening else 0)

    @property
    def idle(self) -> bool:
        """Whether no answer is pending."""
        return not any(post.open for post in self._posts)

    def reply(self, channel: str, response: ServedResponse) -> PostReply:
        """Return the reply to a POST of this session."""
        self._posts = {post for post in self._posts if post.open}
        self._posts.add(response)
        return PostReply(self, channel, response)

    def new_stream(self) -> ServedStream:
        """Return a stream with a new name; the oldest ended ones are dropped."""
        self._made += 1
        stream = ServedStream(str(self._made), resumable=self._resumable, keep_alive=self._keep_alive)
        if self._resumable:
            for name in [name for name, other in self._streams.items() if other.ended][:-MAX_FINISHED]:
                del self._streams[name]
            self._streams[stream.name] = stream
        return stream

    def listen(self, response: ServedResponse, last_event: str = "") -> None:
        """Handle a GET: a stream for messages outside of requests, or the rest of the one with `last_event`."""
        name, _, number = last_event.partition(".")
        resumed = self._streams.get(name)
        if resumed is not None and number.isascii() and number.isdigit() and len(number) < 16:
            if resumed in self._listening:
                self._listening = [other for other in self._listening if other is not resumed] + [resumed]
            resumed.resume(response, int(number))
            return
        stream = self.new_stream()
        stream.on_left = lambda: self._stop_listening(stream)
        self._listening.append(stream)
        stream.attach(response)
        if self.primes:
            stream.prime()
        for data in self._waiting:
            stream.send(data)
        self._waiting.clear()
        self._waiting_bytes = 0

    def _stop_listening(self, stream: ServedStream) -> None:
        """Handle a disconnect; if the client may resume and no other stream is open, messages are kept for it."""
        if len(self._listening) > 1 or not self._resumable:
            self._listening = [other for other in self._listening if other is not stream]

    def push(self, data: bytes) -> None:
        """Send a message on the newest open stream; without one it waits, within the limit."""
        if self._closed:
            return
        attended = [stream for stream in self._listening if stream.attended] or self._listening
        if attended:
            attended[-1].send(data)
        elif len(self._waiting) < KEPT_EVENTS and self._waiting_bytes < KEPT_BYTES:
            self._waiting.append(data)
            self._waiting_bytes += len(data)

    def drop(self) -> None:
        """Close all connections of the session, without an end."""
        for response in self._posts:
            response.abort()
        for stream in [*self._listening, *self._streams.values()]:
            stream.cut()
        self.on_drop()

    async def drain(self) -> None:
        """Wait until the client has read most of what was pushed, or is gone."""
        if self._listening:
            await self._listening[-1].drained()

    async def close(self) -> None:
        """End the handler, without waiting for its answers, and all streams. Idempotent."""
        if self._closed:
            return
        self._closed = True
        await self.handler.close(gone=True)
        for stream in [*self._listening, *self._streams.values()]:
            stream.end()
        for response in self._posts:
            response.abort()

"""One event stream to a client: server-sent events, kept for a while if the client may resume.

Sources: HTML "Server-sent events", section 9.2.6; MCP 2025-11-25 "Streamable HTTP", "Resumability and Redelivery".
"""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Callable

from inspector.serving.base import Fields
from inspector.serving.http_connection import ServedResponse

KEPT_EVENTS = 1000
KEPT_BYTES = 1 << 24
"""Bytes that are kept of one stream for a client that resumes, and of messages without a listener."""
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
        self._beat()

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
        self._stop()
        if self._response is not None:
            self._response.on_left = None
            self._response.finish()
            self._response = None

    def cut(self, data: bytes = b"", retry: int | None = None) -> None:
        """Break the connection, after the beginning of an event. A resumable stream continues."""
        self._stop()
        response, self._response = self._response, None
        if response is not None:
            response.on_left = None
            if retry is not None:
                response.write(b"retry: %d\n\n" % retry)
            if data:
                response.write(b"data: " + data)
            response.abort()

    def _left(self) -> None:
        self._stop()
        self._response = None
        if self.on_left is not None:
            self.on_left()

    def _beat(self) -> None:
        """Send a comment at intervals, so that proxies keep the connection open."""
        self._stop()
        self._timer = self._loop.call_later(self._keep_alive, self._still_here)

    def _still_here(self) -> None:
        if self._response is not None:
            self._response.write(_COMMENT)
            self._beat()

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def drained(self) -> None:
        """Wait until the client has read most of the data, or is gone."""
        if self._response is not None:
            await self._response.drained()

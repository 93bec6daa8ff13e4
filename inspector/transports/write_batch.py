"""The way to a server's stdin: messages are written one by one, or several with one write."""

from __future__ import annotations

import asyncio
from typing import IO, Protocol

from inspector.transports.base import Outgoing, Sink
from inspector.transports.pipes import InputPipe
from inspector.transports.reading_pause import ReadingPause

MAX_REPLIES = 1 << 20
"""Bytes of replies that the server has not read, beyond its pipe, above which we stop reading from it."""
GATHER_AFTER = 2
"""Messages that are written one by one before further ones, sent without waiting, are combined."""
GATHER_MOST = 32
"""Messages that are combined at most: the server works on these while the next ones are prepared."""


class _Output(Protocol):
    """The stdout of the same server."""

    def pause(self) -> None:
        """Stop reading it."""

    def resume(self) -> None:
        """Continue reading it."""


class WriteBatch:
    """Records and writes messages.

    One message at a time is written at once. Several in a row, without anything received in between, are combined at
    the end of this turn of the event loop and cost one write together. While a server sends requests but does not read
    our replies, its output is not read, which bounds our memory.
    """

    def __init__(self, stdin: IO[bytes] | None, sink: Sink, channel: str, output: _Output) -> None:
        self.pipe = InputPipe(stdin, self._wrote)
        self._loop = asyncio.get_running_loop()
        self._sink = sink
        self._channel = channel
        self._output = output
        self._pause = ReadingPause(sink, channel)
        self._messages: list[bytes] = []
        """Recorded, and not written yet."""
        self._in_a_row = 0
        """Messages since something was received."""
        self._replies = 0
        """Bytes of replies in the queue of the pipe."""

    def received(self, messages: int) -> None:
        """Handle a read with so many messages."""
        if not self._messages:
            # Several answers at once: several requests are in flight, and more will follow in this turn.
            self._in_a_row = GATHER_AFTER if messages > 1 else 0

    def send(self, outgoing: Outgoing) -> None:
        """Record a message and write it as one line, now or at the end of this turn."""
        self._in_a_row += 1
        gather = self._in_a_row > GATHER_AFTER
        self._sink.sent(self._channel, outgoing, hold=gather)
        if outgoing.id is None and not outgoing.method:
            self._replies += len(outgoing.data)
        if not gather:
            self._write(outgoing.data + b"\n")
            return
        if not self._messages:
            self._loop.call_soon(self.flush)
        self._messages.append(outgoing.data)
        if len(self._messages) >= GATHER_MOST:
            self.flush()

    def flush(self) -> None:
        """Write the messages that wait."""
        if self._messages:
            self._sink.flush()
            self._messages.append(b"")
            data = b"\n".join(self._messages)
            self._messages.clear()
            if self.pipe.open:
                self._write(data)

    def _write(self, data: bytes) -> None:
        self.pipe.write(data)
        if not self.pipe.queued:
            self._replies = 0
        elif self._replies > MAX_REPLIES and not self._pause.begun:
            self._pause.begin()
            self._output.pause()

    def _wrote(self) -> None:
        """Continue when the server has read all that was queued for it, or has closed its stdin."""
        if self.pipe.queued:
            return
        self._replies = 0
        if self._pause.begun:
            self._pause.end()
            self._output.resume()

    def unread(self) -> int | None:
        """Return the bytes that the server has not read; None if the system does not tell."""
        waiting = self.pipe.unread()
        return None if waiting is None else waiting + sum(map(len, self._messages))

    def close(self) -> None:
        """Write what waits, then close the server's stdin. Idempotent."""
        self.flush()
        self.pipe.close(after_queue=True)

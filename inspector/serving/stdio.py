"""A server on the stdin and stdout of this process, for one client: one message per line (C-STDIO-02).

While it runs, file descriptor 1 is stderr: only messages reach the client.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Literal

from inspector.journal import channels
from inspector.serving.base import MAX_MESSAGE, MAX_UNSENT, BodyForm, ClientMessage, Fields, Handler, HandlerFactory
from inspector.serving.line_splitter import LineBuffer
from inspector.serving.standard_streams import RESUME_BELOW, StandardStreams

PAUSE_ABOVE = 1 << 24
"""Unsent bytes above which reading pauses: a client that reads no answers may send no more requests."""
BEGINNING = 1 << 20
"""Bytes that are passed on of a line that was too long."""
FLUSH_WITHIN = 2.0
"""Seconds for the client to read what was written, at the end."""

EndReason = Literal["end", "stopped", "dropped", "broken", "too-long"]
"""How it ended: end of stdin, `stop`, dropped by the handler, reader gone, line too long."""


class StdioServer:
    """`run` serves the one client until it is gone. It is also that client's `Client`."""

    transport: Literal["stdio"] = "stdio"
    session = ""
    channel = channels.STDIO

    def __init__(
        self,
        new_handler: HandlerFactory,
        *,
        limit: int = MAX_MESSAGE,
        unsent: int = MAX_UNSENT,
        stdin: int = 0,
        stdout: int = 1,
    ) -> None:
        self._limit = limit
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[EndReason] = self._loop.create_future()
        self._lines = LineBuffer()
        self._reply = StdioReply(self)
        self._files = StandardStreams(stdin, stdout)
        self._out = self._files.writer(unsent, lambda: self._end("broken"), self._resume)
        self._in = self._files.reader(self._on_block)
        self._handler: Handler = new_handler(self)

    async def run(self, stop: asyncio.Event | None = None) -> EndReason:
        """Serve until stdin ends, the client is gone, or `stop` is set; then close the handler and write the rest."""
        stopping = self._loop.create_task((stop or asyncio.Event()).wait())
        stopping.add_done_callback(lambda done: None if done.cancelled() else self._end("stopped"))
        self._in.resume()
        try:
            how = await asyncio.shield(self._ended)
        finally:
            stopping.cancel()
            self._in.close()
            self._end("stopped")
            await self._handler.close(gone=self._ended.result() != "end")
            if self._ended.result() != "broken":
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._out.drained(0), FLUSH_WITHIN)
            self._out.close()
            self._files.close()
        return how

    # Receive

    def _on_block(self, block: bytes) -> None:
        if self._ended.done():
            return
        if not block:
            rest = self._lines.rest()
            if rest:
                self._handler.received(ClientMessage.read(rest, cut=True), self._reply)
            self._end("end")
            return
        for line in self._lines.feed(block):
            if self._ended.done():
                return
            if not line.isspace() and line:
                self._handler.received(ClientMessage.read(line), self._reply)
        if self._lines.held > self._limit:
            self._handler.received(ClientMessage.read(self._lines.rest()[:BEGINNING], cut=True), self._reply)
            self._end("too-long")
        elif self._out.queued > PAUSE_ABOVE:
            self._in.pause()

    def _resume(self) -> None:
        if not self._ended.done():
            self._in.resume()

    def _end(self, how: EndReason) -> None:
        if not self._ended.done():
            self._ended.set_result(how)

    # Send

    def push(self, data: bytes) -> None:
        """Write one message. Line ends within it, which JSON has only between its tokens, become spaces."""
        if b"\n" in data or b"\r" in data:
            data = data.replace(b"\n", b" ").replace(b"\r", b" ")
        self._out.write(data + b"\n")

    def drop(self, data: bytes = b"") -> None:
        """End like a server that dies, after the beginning of a last message."""
        if data:
            self._out.write(data)
        self._end("dropped")

    @property
    def open(self) -> bool:
        """Whether the client can still receive messages: also after stdin's end, until all is answered."""
        return self._out.open and (not self._ended.done() or self._ended.result() == "end")

    async def drain(self) -> None:
        """Wait until the client has read what was written, or is gone; at most a second for the pipe."""
        await self._out.drained(RESUME_BELOW)
        await self._out.emptied()


class StdioReply:
    """The reply on stdio, where all answers use the same stream, without a start or an end."""

    channel = channels.STDIO

    def __init__(self, end: StdioServer) -> None:
        self._end = end

    @property
    def open(self) -> bool:
        """Whether messages can still reach the client."""
        return self._end.open

    def begin(self, form: BodyForm, status: int = 200, fields: Fields = ()) -> None:
        """Has no effect on stdio."""

    def send(self, data: bytes) -> None:
        """Write one message."""
        self._end.push(data)

    def end(self) -> None:
        """Has no effect on stdio."""

    def cut(self, data: bytes = b"", retry: int | None = None) -> None:
        """Break the whole connection, because it carries the answer."""
        self._end.drop(data)

    async def drain(self) -> None:
        """Wait until the client has read what was written, or is gone; at most a second for the pipe."""
        await self._end.drain()

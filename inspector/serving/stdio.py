"""Our own stdin and stdout as the end at which one client talks to us: one message a line (C-STDIO-02).

Raw descriptors on the event loop where they can be waited for (pipes, sockets); what cannot (files, terminals) is read
by a thread. While it runs, file descriptor 1 is stderr: nothing but messages reaches the client.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Literal

from inspector.journal import channels
from inspector.serving.base import LONGEST_MESSAGE, MOST_UNSENT, Arrived, Fields, Form, Handler, Opens
from inspector.serving.descriptors import RESUME_BELOW, Claimed, Input, Output
from inspector.serving.lines import Lines

PAUSE_ABOVE = 1 << 24
"""Unsent bytes above which nothing more is read: whoever does not read answers may ask no more."""
BEGINNING = 1 << 20
"""Bytes handed on of a line that was given up for its length."""
FLUSH_WITHIN = 2.0
"""Seconds that a client is given at the end to take what was written."""

End = Literal["end", "stopped", "dropped", "broken", "too-long"]
"""How it ended: stdin did, we were told to stop, the handler dropped its client, nobody reads any more, a line did not
end."""


class StdioEnd:
    """`run` serves the one client until it is gone. It is that client's `Client`, too."""

    transport: Literal["stdio"] = "stdio"
    session = ""
    channel = channels.STDIO

    def __init__(
        self, opens: Opens, *, limit: int = LONGEST_MESSAGE, unsent: int = MOST_UNSENT, stdin: int = 0, stdout: int = 1
    ) -> None:
        self._limit = limit
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[End] = self._loop.create_future()
        self._lines = Lines()
        self._reply = StdioReply(self)
        self._files = Claimed(stdin, stdout)
        self._out = Output(self._files.stdout, unsent, lambda: self._end("broken"), self._resume)
        self._in = Input(self._files.stdin, self._take)
        self._handler: Handler = opens(self)

    async def run(self, stop: asyncio.Event | None = None) -> End:
        """Serve until stdin ends, the client is gone, or `stop` is set; then close the handler and write the rest."""
        stopping = self._loop.create_task((stop or asyncio.Event()).wait())
        stopping.add_done_callback(lambda done: None if done.cancelled() else self._end("stopped"))
        self._in.start()
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

    # What comes

    def _take(self, block: bytes) -> None:
        if self._ended.done():
            return
        if not block:
            rest = self._lines.rest()
            if rest:
                self._handler.received(Arrived.read(rest, cut=True), self._reply)
            self._end("end")
            return
        for line in self._lines.feed(block):
            if self._ended.done():
                return
            if not line.isspace() and line:
                self._handler.received(Arrived.read(line), self._reply)
        if self._lines.held > self._limit:
            self._handler.received(Arrived.read(self._lines.rest()[:BEGINNING], cut=True), self._reply)
            self._end("too-long")
        elif self._out.unsent > PAUSE_ABOVE:
            self._in.pause()

    def _resume(self) -> None:
        if not self._ended.done():
            self._in.resume()

    def _end(self, how: End) -> None:
        if not self._ended.done():
            self._ended.set_result(how)

    # What goes

    def push(self, data: bytes) -> None:
        """Write one message. Line ends within it, which JSON has only between its tokens, become spaces."""
        if b"\n" in data or b"\r" in data:
            data = data.replace(b"\n", b" ").replace(b"\r", b" ")
        self._out.write(data + b"\n")

    def drop(self, data: bytes = b"") -> None:
        """End as a server does that dies, after the beginning of a last message."""
        if data:
            self._out.write(data)
        self._end("dropped")

    @property
    def open(self) -> bool:
        """Whether the client may still be told something: also after stdin's end, until all has been answered."""
        return self._out.open and (not self._ended.done() or self._ended.result() == "end")

    async def drain(self) -> None:
        """Wait until the client has read what was written, or is gone; a second at most for what the pipe holds."""
        await self._out.drained(RESUME_BELOW)
        await self._out.taken()


class StdioReply:
    """All answers go the same way on stdio; there is nothing to begin or to end."""

    channel = channels.STDIO

    def __init__(self, end: StdioEnd) -> None:
        self._end = end

    @property
    def open(self) -> bool:
        """Whether anything sent can still reach the client."""
        return self._end.open

    def begin(self, form: Form, status: int = 200, fields: Fields = ()) -> None:
        """Has no effect on stdio."""

    def send(self, data: bytes) -> None:
        """Write one message."""
        self._end.push(data)

    def end(self) -> None:
        """Has no effect on stdio."""

    def cut(self, data: bytes = b"", retry: int | None = None) -> None:
        """Break off: the whole connection, which is what carries the answer."""
        self._end.drop(data)

    async def drain(self) -> None:
        """Wait until the client has read what was written, or is gone; a second at most for what the pipe holds."""
        await self._end.drain()

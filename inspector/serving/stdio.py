"""Our own stdin and stdout as the end at which one client talks to us: one message a line (C-STDIO-02).

Raw descriptors on the event loop where they can be waited for (pipes, sockets); what cannot (files, terminals) is read
by a thread. While it runs, file descriptor 1 is stderr: nothing but messages reaches the client.
"""

from __future__ import annotations

import asyncio
import os
import stat
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Literal

from inspector.serving.base import LONGEST_MESSAGE, MOST_UNSENT, Arrived, Fields, Form, Handler, Opens
from inspector.serving.lines import Lines

READ_SIZE = 1 << 18
PAUSE_ABOVE = 1 << 24
"""Unsent bytes above which nothing more is read: whoever does not read answers may ask no more."""
RESUME_BELOW = 1 << 22
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
    channel = "stdio"

    def __init__(
        self, opens: Opens, *, limit: int = LONGEST_MESSAGE, unsent: int = MOST_UNSENT, stdin: int = 0, stdout: int = 1
    ) -> None:
        self._limit = limit
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[End] = self._loop.create_future()
        self._lines = Lines()
        self._reply = StdioReply(self)
        self._files = _Claimed(stdin, stdout)
        self._out = _Output(self._files.stdout, unsent, lambda: self._end("broken"), self._resume)
        self._in = _Input(self._files.stdin, self._take)
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
        """Wait until the client has taken most of what was written, or is gone."""
        await self._out.drained(RESUME_BELOW)


class StdioReply:
    """All answers go the same way on stdio; there is nothing to begin or to end."""

    channel = "stdio"

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

    def cut(self, data: bytes = b"") -> None:
        """Break off: the whole connection, which is what carries the answer."""
        self._end.drop(data)

    async def drain(self) -> None:
        """Wait until the client has taken most of what was written, or is gone."""
        await self._end.drain()


class _Claimed:
    """Descriptors of our own for stdin and stdout; what others mean by 0 and 1 is nothing, and stderr."""

    def __init__(self, stdin: int, stdout: int) -> None:
        self.stdin, self.stdout = os.dup(stdin), os.dup(stdout)
        self._blocking = [(fd, os.get_blocking(fd)) for fd in (self.stdin, self.stdout)]
        if stdin == 0:
            _point(0, os.devnull, os.O_RDONLY)
        if stdout == 1:
            try:
                os.dup2(2, 1)
            except OSError:
                _point(1, os.devnull, os.O_WRONLY)

    def close(self) -> None:
        """Give them back as they were: whoever else holds the same pipe may expect to block on it."""
        for fd, blocking in self._blocking:
            with suppress(OSError):
                os.set_blocking(fd, blocking)
            os.close(fd)


def _point(fd: int, path: str, flags: int) -> None:
    nowhere = os.open(path, flags)
    os.dup2(nowhere, fd)
    os.close(nowhere)


def _can_wait(fd: int) -> bool:
    """Whether the event loop can wait for this descriptor, and whether it may be made non-blocking."""
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


class _Input:
    """Reads a descriptor: each block to `take`, an empty one at the end."""

    def __init__(self, fd: int, take: Callable[[bytes], None]) -> None:
        self._fd = fd
        self._take = take
        self._loop = asyncio.get_running_loop()
        self._waits = _can_wait(fd)
        self._reading = False
        self._closed = False
        self._go_on = threading.Event()

    def start(self) -> None:
        """Begin to read."""
        if self._waits:
            os.set_blocking(self._fd, False)
        else:
            threading.Thread(target=self._read_blocking, name="stdin", daemon=True).start()
        self.resume()

    def _read(self) -> None:
        try:
            block = os.read(self._fd, READ_SIZE)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            block = b""
        if not block:
            self.close()
        self._take(block)

    def _read_blocking(self) -> None:
        while True:
            self._go_on.wait()
            try:
                block = b"" if self._closed else os.read(self._fd, READ_SIZE)
            except OSError:
                block = b""
            try:
                self._loop.call_soon_threadsafe(self._take, block)
            except RuntimeError:  # The loop is closed: nobody listens.
                return
            if not block:
                return

    def pause(self) -> None:
        """Read nothing more for now."""
        self._go_on.clear()
        if self._reading:
            self._reading = False
            self._loop.remove_reader(self._fd)

    def resume(self) -> None:
        """Read on."""
        self._go_on.set()
        if self._waits and not self._reading and not self._closed:
            self._reading = True
            self._loop.add_reader(self._fd, self._read)

    def close(self) -> None:
        """Read no more. Idempotent; the descriptor stays open."""
        self.pause()
        self._closed = True
        self._go_on.set()


class _Output:
    """Writes to a descriptor: at once what it takes, the rest when there is room."""

    def __init__(self, fd: int, limit: int, broken: Callable[[], None], resume: Callable[[], None]) -> None:
        self._fd = fd
        self._limit = limit
        self._broken = broken
        self._resume = resume
        self._loop = asyncio.get_running_loop()
        self._queue: deque[memoryview] = deque()
        self._waiters: list[tuple[int, asyncio.Future[None]]] = []
        self.unsent = 0
        """Bytes that wait."""
        self.open = True
        if _can_wait(fd):
            os.set_blocking(fd, False)

    def write(self, data: bytes) -> None:
        """Write `data` now, or as soon as there is room; nothing where nobody reads any more."""
        if not self.open:
            return
        written = 0 if self._queue else self._write(data)
        if written < 0 or written == len(data):
            return
        if not self._queue:
            self._loop.add_writer(self._fd, self._write_queue)
        self._queue.append(memoryview(data)[written:])
        self.unsent += len(data) - written
        if self.unsent > self._limit:
            self._fail()

    def _write(self, data: bytes | memoryview) -> int:
        """How many bytes were taken; -1 where nobody reads any more."""
        try:
            return os.write(self._fd, data)
        except (BlockingIOError, InterruptedError):
            return 0
        except OSError:
            self._fail()
            return -1

    def _write_queue(self) -> None:
        while self._queue:
            view = self._queue[0]
            written = self._write(view)
            if written < 0:
                return
            self.unsent -= written
            if written < len(view):
                self._queue[0] = view[written:]
                break
            self._queue.popleft()
        else:
            self._loop.remove_writer(self._fd)
        if self.unsent <= RESUME_BELOW:
            self._resume()
        self._wake()

    def _wake(self) -> None:
        for waiting in [each for each in self._waiters if self.unsent <= each[0]]:
            self._waiters.remove(waiting)
            if not waiting[1].done():
                waiting[1].set_result(None)

    async def drained(self, at_most: int) -> None:
        """Wait until no more than `at_most` bytes wait, or nobody reads any more."""
        if self.unsent > at_most:
            done: asyncio.Future[None] = self._loop.create_future()
            self._waiters.append((at_most, done))
            await done

    def _fail(self) -> None:
        self.close()
        self._broken()

    def close(self) -> None:
        """Write no more. Idempotent; the descriptor stays open."""
        if self._queue:
            self._loop.remove_writer(self._fd)
            self._queue.clear()
        self.unsent = 0
        self.open = False
        self._wake()

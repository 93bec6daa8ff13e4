"""Our own stdin and stdout on the event loop, while a client uses them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from inspector.system.streams import Reader, StandardStream, Writer, open_reader

TAKEN_WITHIN = 1.0
"""Seconds for a reader to read what is in its pipe."""
RESUME_BELOW = 1 << 22
"""Unsent bytes at which a waiting writer continues."""


class StandardStreams:
    """Our own descriptors for stdin and stdout; for other code, 0 is empty and 1 is stderr."""

    def __init__(self, stdin: int, stdout: int) -> None:
        self._stdin, self._stdout = StandardStream(stdin), StandardStream(stdout)
        if stdin == 0:
            _point(0, os.devnull, os.O_RDONLY)
        if stdout == 1:
            try:
                os.dup2(2, 1)
            except OSError:
                _point(1, os.devnull, os.O_WRONLY)

    def reader(self, on_block: Callable[[bytes], None]) -> Reader:
        """Return a paused reader of stdin: `on_block` gets each block, and an empty one at the end."""
        return open_reader(self._stdin.copy(), on_block)

    def writer(self, limit: int, broken: Callable[[], None], resume: Callable[[], None]) -> StreamWriter:
        """Return a writer to stdout. See `StreamWriter`."""
        return StreamWriter(self._stdout.copy(), limit, broken, resume)

    def hang_up(self) -> None:
        """Close stdout, so that its reader finds the end. Its writer must be closed."""
        self._stdout.close()

    def close(self) -> None:
        """Close both, and restore them for other processes. Idempotent."""
        self._stdin.close()
        self._stdout.close()


def _point(descriptor: int, path: str, flags: int) -> None:
    nowhere = os.open(path, flags)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


class StreamWriter(Writer):
    """Writes to a descriptor: at once what it accepts, the rest when there is room."""

    def __init__(self, descriptor: int, limit: int, broken: Callable[[], None], resume: Callable[[], None]) -> None:
        """`broken` is called if the reader is gone, or if more than `limit` bytes wait; `resume` when few wait."""
        self._limit = limit
        self._resume = resume
        self._waiters: list[tuple[int, asyncio.Future[None]]] = []
        super().__init__(descriptor, self._wake, broken)

    def write(self, data: bytes) -> None:
        """Write `data` now, or when there is room; drop it if the reader is gone."""
        super().write(data)
        if self.queued > self._limit:
            self.close()
            self._broken()

    def _wake(self) -> None:
        if self.open and self.queued <= RESUME_BELOW:
            self._resume()
        for waiting in [waiter for waiter in self._waiters if self.queued <= waiter[0]]:
            self._waiters.remove(waiting)
            if not waiting[1].done():
                waiting[1].set_result(None)

    async def drained(self, at_most: int) -> None:
        """Wait until at most `at_most` bytes wait, or the reader is gone."""
        if self.queued > at_most:
            done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters.append((at_most, done))
            await done

    async def emptied(self) -> None:
        """Wait until the pipe is empty, if the system can tell, at most a second."""
        loop, pause = asyncio.get_running_loop(), 0.0005
        until = loop.time() + TAKEN_WITHIN
        while self.open and not self.queued and self.waiting() and loop.time() < until:
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, 0.01)

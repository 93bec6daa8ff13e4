"""Pipes and our own standard streams on the event loop, on Windows.

The loop cannot wait for the anonymous pipes, files and consoles that programs get as standard streams: a thread reads
or writes each of them.
"""

from __future__ import annotations

import asyncio
import os
import select
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import IO

from inspector.system.thread_reader import READ_SIZE, Reader, ThreadReader

assert sys.platform == "win32"

_WRITE_SIZE = 1 << 16
"""Most bytes of a write, after which the loop learns that there is room."""


def take_pipe(pipe: IO[bytes] | None) -> int:
    """Return our own descriptor of a child's pipe, and close `pipe`."""
    assert pipe is not None
    descriptor = os.dup(pipe.fileno())
    pipe.close()
    return descriptor


def open_reader(descriptor: int, on_block: Callable[[bytes], None], size: int = READ_SIZE) -> Reader:
    """Return a paused reader of a descriptor, which it then owns. `size` is the most bytes of a block."""
    return ThreadReader(descriptor, on_block, size)


def readiness(descriptor: int) -> Callable[[], bool]:
    """Return a function that tells whether a socket has something to read, or was closed by its other end."""
    return lambda: bool(select.select([descriptor], [], [], 0)[0])


def exact_loop() -> asyncio.AbstractEventLoop:
    """Return an event loop whose timers are as exact as those of the system: 16 ms."""
    return asyncio.ProactorEventLoop()


class StandardStream:
    """A copy of one of our standard descriptors. Where we were started without it, it leads nowhere."""

    def __init__(self, descriptor: int) -> None:
        try:
            self._descriptor = os.dup(descriptor)
        except OSError:
            self._descriptor = os.open(os.devnull, os.O_RDWR | os.O_BINARY)

    def copy(self) -> int:
        """Return another descriptor of it."""
        return os.dup(self._descriptor)

    def close(self) -> None:
        """Close it. Idempotent."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


class Writer:
    """The writing end of a descriptor, which it owns: accepts everything, and writes it in a thread.

    `wrote` is called whenever queued data has been written or dropped, and `broken` if the reader is gone.
    """

    def __init__(self, descriptor: int, wrote: Callable[[], None], broken: Callable[[], None]) -> None:
        self.open = True
        self.queued = 0
        """Bytes that have not been accepted yet."""
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._wrote = wrote
        self._broken = broken
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._drops = False
        """The rest of the queue is not written any more."""
        threading.Thread(target=self._write_queue, name=f"writer of {descriptor}", daemon=True).start()

    def write(self, data: bytes) -> None:
        """Write `data` when there is room; drop it if the reader is gone."""
        if self.open and data:
            self.queued += len(data)
            self._queue.put(data)

    def _write_queue(self) -> None:
        try:
            while (data := self._queue.get()) is not None:
                view = memoryview(data)
                while view and not self._drops:
                    written = os.write(self._descriptor, view[:_WRITE_SIZE])
                    view = view[written:]
                    self._tell(self._note, written)
            self._tell(self.close)
        except OSError:
            self._tell(self._fail)
        finally:
            os.close(self._descriptor)

    def _tell(self, handle: Callable[..., None], *arguments: int) -> None:
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(handle, *arguments)

    def _note(self, written: int) -> None:
        if self.open:
            self.queued -= written
            self._wrote()

    def _fail(self) -> None:
        if self.open:
            self.close()
            self._broken()

    def waiting(self) -> int | None:
        """None: the system does not tell how much is in a pipe to the end that writes."""
        return None

    def taken(self) -> int | None:
        """None, for the same reason."""
        return None

    def has_reader(self) -> bool:
        """False: the system does not tell."""
        return False

    def watch_reader(self) -> None:
        """Does nothing: only a write finds that the reader is gone."""

    def close(self, *, after_queue: bool = False) -> None:
        """Close it, at once or after all has been written. Idempotent."""
        if not self.open:
            return
        self._queue.put(None)
        if not (after_queue and self.queued):
            self.open = False
            self._drops = True
            self.queued = 0
            self._wrote()

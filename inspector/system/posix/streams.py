"""Pipes and our own standard streams on the event loop, on Linux and macOS.

Raw file descriptors instead of asyncio's streams: those copy each line twice and are quadratic for long ones. The loop
waits for pipes and sockets; a thread reads files and terminals.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import select
import stat
import struct
import sys
import termios
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import IO, TYPE_CHECKING

from inspector.system.thread_reader import READ_SIZE, Reader, ThreadReader

assert sys.platform != "win32"

if TYPE_CHECKING:
    import selectors

_PIPE_SIZE = 1 << 20
_F_SETPIPE_SZ = 1031
_MAX_DESCRIPTOR = 1024
"""Descriptors from this number on are too high for `select`."""


def take_pipe(pipe: IO[bytes] | None) -> int:
    """Return our own descriptor of a child's pipe, which is enlarged as far as the system allows, and close `pipe`."""
    assert pipe is not None
    descriptor = os.dup(pipe.fileno())
    pipe.close()
    if sys.platform == "linux":
        with suppress(OSError):
            fcntl.fcntl(descriptor, _F_SETPIPE_SZ, _PIPE_SIZE)
    return descriptor


def open_reader(descriptor: int, on_block: Callable[[bytes], None], size: int = READ_SIZE) -> Reader:
    """Return a paused reader of a descriptor, which it then owns. `size` is the most bytes of a block."""
    if _can_wait(descriptor):
        return _PollReader(descriptor, on_block, size)
    return ThreadReader(descriptor, on_block, size)


def readiness(descriptor: int) -> Callable[[], bool]:
    """Return a function that tells whether a socket has something to read, or was closed by its other end."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return lambda: bool(poll.poll(0))


def exact_loop() -> asyncio.AbstractEventLoop:
    """Return an event loop whose timers are exact to microseconds, where the system allows it."""
    return asyncio.SelectorEventLoop(_exact_selector())


def _exact_selector() -> selectors.BaseSelector:
    import selectors

    if sys.platform == "linux":

        class ExactSelector(selectors.EpollSelector):
            """Epoll rounds each wait up to a millisecond; `select` does not, and waits for the epoll object itself."""

            def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
                if timeout is not None and timeout > 0 and self.fileno() < _MAX_DESCRIPTOR:
                    select.select([self.fileno()], [], [], timeout)
                    timeout = 0
                return super().select(timeout)

        return ExactSelector()
    return selectors.DefaultSelector()


def _can_wait(descriptor: int) -> bool:
    """Whether the event loop can wait for a descriptor, which may then be made non-blocking."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _events(descriptor: int, events: int) -> int:
    """Return the `events`, and errors, that a descriptor has now."""
    poll = select.poll()
    poll.register(descriptor, events)
    ready = poll.poll(0)
    return ready[0][1] if ready else 0


class StandardStream:
    """A copy of one of our standard descriptors. Where we were started without it, it leads nowhere."""

    def __init__(self, descriptor: int) -> None:
        try:
            self._descriptor = os.dup(descriptor)
        except OSError:
            self._descriptor = os.open(os.devnull, os.O_RDWR)
        self._blocking = os.get_blocking(self._descriptor)

    def copy(self) -> int:
        """Return another descriptor of it."""
        return os.dup(self._descriptor)

    def close(self) -> None:
        """Close it. Another process with the same pipe may expect to block on it, so that is restored. Idempotent."""
        if self._descriptor >= 0:
            with suppress(OSError):
                os.set_blocking(self._descriptor, self._blocking)
            os.close(self._descriptor)
            self._descriptor = -1


class _PollReader:
    """A `Reader` of a pipe or a socket."""

    def __init__(self, descriptor: int, on_block: Callable[[bytes], None], size: int) -> None:
        self.open = True
        self.most = size
        self._descriptor = descriptor
        self._on_block = on_block
        self._loop = asyncio.get_running_loop()
        self._view = memoryview(bytearray(size))
        """`os.read` would ask the system for this much memory and return it each time."""
        os.set_blocking(descriptor, False)

    def _read(self) -> None:
        try:
            block = self._view[: os.readv(self._descriptor, (self._view[: self.most],))].tobytes()
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            block = b""
        if not block:
            self.close()
        self._on_block(block)

    def resume(self) -> None:
        """Begin to read, or continue."""
        if self.open:
            self._loop.add_reader(self._descriptor, self._read)

    def pause(self) -> None:
        """Stop reading for now: the writer has to wait."""
        if self.open:
            self._loop.remove_reader(self._descriptor)

    def drain(self, until: float) -> None:
        """Read the available data, at most until the time `until` of the loop's clock."""
        for _ in range(64):
            if (
                not self.open
                or self._loop.time() > until
                or not _events(self._descriptor, select.POLLIN | select.POLLHUP)
            ):
                return
            self._read()

    def close(self) -> None:
        """Stop reading, and close the descriptor. Idempotent."""
        if self.open:
            self.open = False
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)


class Writer:
    """The writing end of a descriptor, which it owns: accepts everything, writes what fits and queues the rest.

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
        self._queue: deque[memoryview] = deque()
        self._written = 0
        self._closes = False
        self._waits = _can_wait(descriptor)
        if self._waits:
            os.set_blocking(descriptor, False)

    def write(self, data: bytes) -> None:
        """Write `data` now, or when there is room; drop it if the reader is gone."""
        if not self.open:
            return
        written = 0 if self._queue else self._write(data)
        if written < 0 or written == len(data):
            return
        if not self._queue:
            self._loop.add_writer(self._descriptor, self._write_queue)
        self._queue.append(memoryview(data)[written:])
        self.queued += len(data) - written

    def _write(self, data: bytes | memoryview) -> int:
        """Return how many bytes were accepted; -1 if the reader is gone."""
        try:
            written = os.write(self._descriptor, data)
        except (BlockingIOError, InterruptedError):
            return 0
        except OSError:
            self.close()
            self._broken()
            return -1
        self._written += written
        return written

    def _write_queue(self) -> None:
        while self._queue:
            view = self._queue[0]
            written = self._write(view)
            if written < 0:
                return
            self.queued -= written
            if written < len(view):
                self._queue[0] = view[written:]
                break
            self._queue.popleft()
        else:
            self._loop.remove_writer(self._descriptor)
        self._wrote()
        if self._closes and not self._queue:
            self.close()

    def waiting(self) -> int | None:
        """Return the bytes in the pipe; None if the system does not tell."""
        if not self.open or sys.platform != "linux":
            return None
        try:
            answer = fcntl.ioctl(self._descriptor, termios.FIONREAD, b"\0\0\0\0")
        except OSError:  # not a pipe
            return None
        return int(struct.unpack("i", answer)[0])

    def taken(self) -> int | None:
        """Return the bytes that have been read; None if the system does not tell."""
        waiting = self.waiting()
        return None if waiting is None else self._written - waiting

    def has_reader(self) -> bool:
        """Whether any process holds the other end; False if the system does not tell."""
        return self.open and not _events(self._descriptor, 0)  # Errors and hang-ups are always reported.

    def watch_reader(self) -> None:
        """Report a reader that is gone also while nothing is written."""
        if self.open and self._waits:
            self._loop.add_reader(self._descriptor, self._look_for_reader)

    def _look_for_reader(self) -> None:
        self._loop.remove_reader(self._descriptor)
        if not self.has_reader():
            self.close()
            self._broken()

    def close(self, *, after_queue: bool = False) -> None:
        """Close it, at once or after all has been written. Idempotent."""
        if after_queue and self._queue:
            self._closes = True
        elif self.open:
            self.open = False
            self._queue.clear()
            self.queued = 0
            self._loop.remove_writer(self._descriptor)
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._wrote()

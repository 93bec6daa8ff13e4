"""Our own stdin, stdout and stderr on the event loop.

The loop waits for descriptors that support it (pipes, sockets); a thread reads the others (files, terminals).
"""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress

READ_SIZE = 1 << 18
TAKEN_WITHIN = 1.0
"""Seconds for a reader to read what is in its pipe."""
RESUME_BELOW = 1 << 22
"""Unsent bytes at which a waiting writer continues."""


class StandardStreams:
    """Our own descriptors for stdin and stdout; for other code, 0 is empty and 1 is stderr."""

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

    def hang_up(self) -> None:
        """Close stdout, so that its reader finds the end. `stdout` must have no waiting writer."""
        os.set_blocking(self.stdout, dict(self._blocking)[self.stdout])
        _point(self.stdout, os.devnull, os.O_WRONLY)

    def close(self) -> None:
        """Restore the original descriptors: another process with the same pipe may expect to block on it."""
        for fd, blocking in self._blocking:
            with suppress(OSError):
                os.set_blocking(fd, blocking)
            os.close(fd)


def _point(fd: int, path: str, flags: int) -> None:
    nowhere = os.open(path, flags)
    os.dup2(nowhere, fd)
    os.close(nowhere)


def can_wait(fd: int) -> bool:
    """Whether the event loop can wait for this descriptor, and whether it may be made non-blocking."""
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


class DescriptorReader:
    """Reads a descriptor: passes each block to `take`, an empty one at the end."""

    def __init__(self, fd: int, take: Callable[[bytes], None]) -> None:
        self._fd = fd
        self._take = take
        self._loop = asyncio.get_running_loop()
        self._waits = can_wait(fd)
        self._view = memoryview(bytearray(READ_SIZE))
        """`os.read` would ask the system for this much memory and return it each time."""
        self._reading = False
        self._closed = False
        self._go_on = threading.Event()

    def start(self) -> None:
        """Start to read."""
        if self._waits:
            os.set_blocking(self._fd, False)
        else:
            threading.Thread(target=self._read_blocking, name="stdin", daemon=True).start()
        self.resume()

    def _read(self) -> None:
        try:
            block = self._view[: os.readv(self._fd, (self._view,))].tobytes()
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
            except RuntimeError:  # the loop is closed
                return
            if not block:
                return

    def pause(self) -> None:
        """Stop reading for now."""
        self._go_on.clear()
        if self._reading:
            self._reading = False
            self._loop.remove_reader(self._fd)

    def resume(self) -> None:
        """Continue reading."""
        self._go_on.set()
        if self._waits and not self._reading and not self._closed:
            self._reading = True
            self._loop.add_reader(self._fd, self._read)

    def close(self) -> None:
        """Stop reading. Idempotent; the descriptor stays open."""
        self.pause()
        self._closed = True
        self._go_on.set()


class DescriptorWriter:
    """Writes to a descriptor: at once what it accepts, the rest when there is room."""

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
        if can_wait(fd):
            os.set_blocking(fd, False)

    def write(self, data: bytes) -> None:
        """Write `data` now, or when there is room; drop it if the reader is gone."""
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
        """Return how many bytes were accepted; -1 if the reader is gone."""
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
        """Wait until at most `at_most` bytes wait, or the reader is gone."""
        if self.unsent > at_most:
            done: asyncio.Future[None] = self._loop.create_future()
            self._waiters.append((at_most, done))
            await done

    async def taken(self) -> None:
        """Wait until the pipe is empty, if the system can tell, at most a second."""
        pause = 0.0005
        until = self._loop.time() + TAKEN_WITHIN
        while self.open and not self._queue and self._in_pipe() and self._loop.time() < until:
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, 0.01)

    def _in_pipe(self) -> int:
        """Return the unread bytes; 0 if the system does not tell."""
        if not sys.platform.startswith("linux"):
            return 0
        import fcntl
        import struct
        import termios

        try:
            return int(struct.unpack("i", fcntl.ioctl(self._fd, termios.FIONREAD, b"\0\0\0\0"))[0])
        except OSError:  # not a pipe
            return 0

    def _fail(self) -> None:
        self.close()
        self._broken()

    def close(self) -> None:
        """Stop writing. Idempotent; the descriptor stays open."""
        if self._queue:
            self._loop.remove_writer(self._fd)
            self._queue.clear()
        self.unsent = 0
        self.open = False
        self._wake()

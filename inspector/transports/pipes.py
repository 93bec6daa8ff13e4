"""The three pipes of a child process on the event loop: stdin, stdout, stderr.

Raw file descriptors instead of asyncio's subprocess streams: those copy each line twice and are quadratic for long
ones.
"""

from __future__ import annotations

import asyncio
import os
import select
import sys
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import IO

READ_SIZE = 1 << 18
FIRST_READ = 1 << 14
STDERR_READ = 1 << 16
MANY_LINES = 4096
"""Lines in one read above which less is read at a time, so that a flood of short ones leaves time for other work."""
STDERR_LINE = 1 << 16
"""Most bytes of one stderr line; a longer one is recorded in pieces."""

_PIPE_SIZE = 1 << 20
_F_SETPIPE_SZ = 1031


class InputPipe:
    """The writing end of a child's stdin: accepts everything at once, writes what fits and queues the rest."""

    def __init__(self, pipe: IO[bytes] | None, drained: Callable[[], None] | None = None) -> None:
        """`drained` is called whenever all queued data has been written or dropped."""
        self._loop = asyncio.get_running_loop()
        self._fd = _take(pipe)
        self._drained = drained
        self._queue: deque[memoryview] = deque()
        self.queued = 0
        """Bytes that the pipe has not accepted yet."""
        self._written = 0
        self._closes = False

    @property
    def open(self) -> bool:
        """Whether the child's stdin is still open."""
        return self._fd >= 0

    def write(self, data: bytes) -> None:
        """Write `data` now, or when there is room. If the child has stopped reading, it is dropped."""
        if self._queue:
            self._queue.append(memoryview(data))
            self.queued += len(data)
            return
        written = self._write(data)
        if 0 <= written < len(data):
            self._queue.append(memoryview(data)[written:])
            self.queued += len(data) - written
            self._loop.add_writer(self._fd, self._write_queue)

    def _write(self, data: bytes | memoryview) -> int:
        """Return how many bytes the pipe accepted; -1 if it has no reader."""
        try:
            written = os.write(self._fd, data)
        except (BlockingIOError, InterruptedError):
            return 0
        except OSError:
            # What the child still writes is read; its end is detected elsewhere.
            self.close()
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
                return
            self._queue.popleft()
        self._loop.remove_writer(self._fd)
        if self._drained is not None:
            self._drained()
        if self._closes:
            self.close()

    def close(self, *, after_queue: bool = False) -> None:
        """Close the child's stdin, at once or after all has been written. Idempotent."""
        if after_queue and self._queue:
            self._closes = True
        elif self._fd >= 0:
            self._queue.clear()
            self.queued = 0
            self._loop.remove_writer(self._fd)
            os.close(self._fd)
            self._fd = -1
            if self._drained is not None:
                self._drained()

    def _waiting(self) -> int | None:
        """Return the bytes in the pipe; None if the system does not tell."""
        if self._fd < 0 or not sys.platform.startswith("linux"):
            return None
        import fcntl
        import struct
        import termios

        try:
            waiting = fcntl.ioctl(self._fd, termios.FIONREAD, b"\0\0\0\0")
        except OSError:
            return None
        return int(struct.unpack("i", waiting)[0])

    def unread(self) -> int | None:
        """Return the unread bytes, queued ones included; None if the system does not tell."""
        waiting = self._waiting()
        return None if waiting is None else waiting + self.queued

    def taken(self) -> int | None:
        """Return the bytes that have been read; None if the system does not tell."""
        waiting = self._waiting()
        return None if waiting is None else self._written - waiting

    def has_reader(self) -> bool:
        """Whether any process holds the other end."""
        return self._fd >= 0 and not _events(self._fd, select.POLLOUT) & select.POLLERR


class _ReadingPipe:
    """The reading end of a pipe: `_read` is called whenever there is data, and at the end."""

    def __init__(self, pipe: IO[bytes] | None, size: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._fd = _take(pipe)
        self._view = memoryview(bytearray(size))
        self._loop.add_reader(self._fd, self._read)

    @property
    def open(self) -> bool:
        """Whether more data may come."""
        return self._fd >= 0

    def _read(self) -> None:
        raise NotImplementedError

    def _block(self, size: int) -> bytes | None:
        """Read the available data, up to `size` bytes, empty at the end; None if there is none yet.

        It reads into its own buffer: `os.read` would allocate and free a large block of memory each time.
        """
        try:
            return self._view[: os.readv(self._fd, (self._view[:size],))].tobytes()
        except (BlockingIOError, InterruptedError):
            return None
        except OSError:
            return b""

    def pause(self) -> None:
        """Stop reading for now: the writer has to wait."""
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)

    def resume(self) -> None:
        """Continue reading."""
        if self._fd >= 0:
            self._loop.add_reader(self._fd, self._read)

    def drain(self, until: float) -> None:
        """Read the available data, at most until the time `until` of the loop's clock."""
        for _ in range(64):
            if not self.open or self._loop.time() > until or not _events(self._fd, select.POLLIN | select.POLLHUP):
                return
            self._read()

    def close(self) -> None:
        """Stop reading. Idempotent."""
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self._fd = -1


class BlockPipe(_ReadingPipe):
    """The reading end of a pipe, raw: passes each block to `took`, an empty one at the end."""

    def __init__(self, pipe: IO[bytes] | None, took: Callable[[bytes], None]) -> None:
        super().__init__(pipe, READ_SIZE)
        self._took = took

    def _read(self) -> None:
        block = self._block(READ_SIZE)
        if block is None:
            return
        if not block:
            self.close()
        self._took(block)


class LinePipe(_ReadingPipe):
    """The reading end of a child's stdout: whole lines, one call per read, linear in their length.

    `received(lines, cut)` gets lines without line feeds (`cut`: the last one is incomplete), `ended()` is called at the
    end, `too_long(size)` instead after `limit` bytes without a line feed.
    """

    def __init__(
        self,
        pipe: IO[bytes] | None,
        *,
        limit: int,
        received: Callable[[list[bytes], bool], None],
        ended: Callable[[], None],
        too_long: Callable[[int], None],
    ) -> None:
        super().__init__(pipe, READ_SIZE)
        self._limit = limit
        self._received = received
        self._ended = ended
        self._too_long = too_long
        self._ask = FIRST_READ
        self._parts: list[bytes] = []
        self._held = 0

    def _read(self) -> None:
        block = self._block(self._ask)
        if block is None:
            return
        if not block:
            self.close()
            self._ended()
            return
        if b"\n" not in block:
            self._ask = READ_SIZE
            self._parts.append(block)
            self._held += len(block)
            if self._held > self._limit:
                held, self._parts = self._held, self._parts[:4]
                self.close()
                self._too_long(held)
            return
        self._held = 0
        lines = block.split(b"\n")
        self._ask = min(READ_SIZE, max(FIRST_READ >> 1, len(block) * MANY_LINES // len(lines)))
        if self._parts:
            self._parts.append(lines[0])
            lines[0] = b"".join(self._parts)
            self._parts.clear()
        rest = lines.pop()
        if rest:
            self._parts.append(rest)
        self._received(lines, False)

    def close(self) -> None:
        """Stop reading; an unfinished line is passed on as an incomplete one. Idempotent."""
        super().close()
        if self._parts:
            rest = b"".join(self._parts)
            self._parts.clear()
            self._received([rest], True)


class StderrPipe(_ReadingPipe):
    """The reading end of a child's stderr: passes lines, long ones in pieces (between words), to `said(lines)`."""

    def __init__(self, pipe: IO[bytes] | None, said: Callable[[list[bytes]], None]) -> None:
        super().__init__(pipe, STDERR_READ)
        self._said = said
        self._rest = b""

    def _read(self) -> None:
        block = self._block(STDERR_READ)
        if block is None:
            return
        if not block:
            self.close()
            return
        *lines, self._rest = (self._rest + block).split(b"\n")
        while len(self._rest) > STDERR_LINE:
            end = self._rest.rfind(b" ", STDERR_LINE // 2, STDERR_LINE) + 1 or STDERR_LINE
            lines.append(self._rest[:end])
            self._rest = self._rest[end:]
        if lines:
            self._said(lines)

    def flush(self) -> None:
        """Pass on the start of an unfinished line."""
        rest, self._rest = self._rest, b""
        if rest:
            self._said([rest])

    def close(self) -> None:
        """Stop reading. Idempotent."""
        super().close()
        self.flush()


def _take(pipe: IO[bytes] | None) -> int:
    """Return our non-blocking descriptor of a pipe, enlarged as far as the system allows."""
    assert pipe is not None
    fd = os.dup(pipe.fileno())
    pipe.close()
    os.set_blocking(fd, False)
    if sys.platform.startswith("linux"):
        import fcntl

        with suppress(OSError):
            fcntl.fcntl(fd, _F_SETPIPE_SZ, _PIPE_SIZE)
    return fd


def _events(fd: int, wanted: int) -> int:
    """Return the `wanted` events, or errors, that a descriptor has now."""
    poll = select.poll()
    poll.register(fd, wanted)
    found = poll.poll(0)
    return found[0][1] if found else 0

"""The three pipes of a child process on the event loop: stdin, stdout, stderr."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO

from inspector.system.streams import READ_SIZE, Writer, open_reader, take_pipe

FIRST_READ = 1 << 14
STDERR_READ = 1 << 16
MANY_LINES = 4096
"""Lines in one read above which less is read at a time, so that a flood of short ones leaves time for other work."""
STDERR_LINE = 1 << 16
"""Most bytes of one stderr line; a longer one is recorded in pieces."""


class InputPipe(Writer):
    """The writing end of a child's stdin: accepts everything at once, writes what fits and queues the rest.

    If the child has stopped reading, it closes: what the child still writes is read; its end is detected elsewhere.
    """

    def __init__(self, pipe: IO[bytes] | None, wrote: Callable[[], None] = lambda: None) -> None:
        """`wrote` is called whenever queued data has been written or dropped."""
        super().__init__(take_pipe(pipe), wrote, lambda: None)

    def unread(self) -> int | None:
        """Return the unread bytes, queued ones included; None if the system does not tell."""
        waiting = self.waiting()
        return None if waiting is None else waiting + self.queued


class _ReadingPipe:
    """The reading end of a pipe: `on_block` gets each block, and an empty one at the end."""

    def __init__(self, pipe: IO[bytes] | None, on_block: Callable[[bytes], None], size: int) -> None:
        self._reader = open_reader(take_pipe(pipe), on_block, size)
        self.pause, self.resume, self.drain = self._reader.pause, self._reader.resume, self._reader.drain
        self.resume()

    @property
    def open(self) -> bool:
        """Whether more data may come."""
        return self._reader.open

    def close(self) -> None:
        """Stop reading. Idempotent."""
        self._reader.close()


class BlockPipe(_ReadingPipe):
    """The reading end of a pipe, raw: passes each block to `on_block`, an empty one at the end."""

    def __init__(self, pipe: IO[bytes] | None, on_block: Callable[[bytes], None]) -> None:
        super().__init__(pipe, on_block, READ_SIZE)


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
        super().__init__(pipe, self._on_block, READ_SIZE)
        self._limit = limit
        self._received = received
        self._ended = ended
        self._too_long = too_long
        self._reader.most = FIRST_READ
        self._parts: list[bytes] = []
        self._held = 0

    def _on_block(self, block: bytes) -> None:
        if not block:
            self.close()
            self._ended()
            return
        if b"\n" not in block:
            self._reader.most = READ_SIZE
            self._parts.append(block)
            self._held += len(block)
            if self._held > self._limit:
                held, self._parts = self._held, self._parts[:4]
                self.close()
                self._too_long(held)
            return
        self._held = 0
        lines = block.split(b"\n")
        self._reader.most = min(READ_SIZE, max(FIRST_READ >> 1, len(block) * MANY_LINES // len(lines)))
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

    def __init__(self, pipe: IO[bytes] | None, on_lines: Callable[[list[bytes]], None]) -> None:
        super().__init__(pipe, self._on_block, STDERR_READ)
        self._on_lines = on_lines
        self._rest = b""

    def _on_block(self, block: bytes) -> None:
        if not block:
            self.close()
            return
        *lines, self._rest = (self._rest + block).split(b"\n")
        while len(self._rest) > STDERR_LINE:
            end = self._rest.rfind(b" ", STDERR_LINE // 2, STDERR_LINE) + 1 or STDERR_LINE
            lines.append(self._rest[:end])
            self._rest = self._rest[end:]
        if lines:
            self._on_lines(lines)

    def flush(self) -> None:
        """Pass on the start of an unfinished line."""
        rest, self._rest = self._rest, b""
        if rest:
            self._on_lines([rest])

    def close(self) -> None:
        """Stop reading. Idempotent."""
        super().close()
        self.flush()

"""Marks: messages that the user marked, each with an optional note. They are events of the recording.

A mark is written to a recording that grows, and to a finished one: its end line is replaced by the mark and a new end
line, in one write.
"""

from __future__ import annotations

import os
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from inspector.errors import RecordingError
from inspector.system import files

MAX_CHARACTERS = 10_000
"""Characters of a note; the rest is cut."""
_TAIL = 1 << 16
"""Bytes at the end of a file in which its end line is searched."""


class Mark(NamedTuple):
    """One marked event, and what the user wrote about it."""

    n: int
    note: str = ""


class Marks:
    """All marks of a journal, by event."""

    def __init__(self) -> None:
        self.version = 0
        """Increases with every change, so that a reader can detect new ones."""
        self._of: dict[int, Mark] = {}
        self._sorted: list[int] | None = []
        self._at = array("I")
        """The `mark` events, ascending."""
        self._targets = array("I")
        """The event that each of them is about."""

    def __len__(self) -> int:
        return len(self._of)

    def apply(self, at: int, fields: dict[str, Any]) -> None:
        """Apply the fields of the `mark` event `at`. A mark of an event that does not exist before it is ignored."""
        n, note = fields.get("for"), fields.get("text")
        if type(n) is not int or not 0 < n < at:
            return
        self._at.append(at)
        self._targets.append(n)
        if fields.get("off") is True:
            self._of.pop(n, None)
        else:
            self._of[n] = Mark(n, note if type(note) is str else "")
        self._sorted = None
        self.version += 1

    def of(self, n: int) -> Mark | None:
        """Return the mark of event `n`; None if it is not marked."""
        return self._of.get(n)

    def between(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """Yield the `mark` events from `first` to `last`, each with the event that it is about."""
        low, high = bisect_left(self._at, first), bisect_right(self._at, last)
        yield from zip(self._at[low:high], self._targets[low:high], strict=True)

    def numbers(self) -> list[int]:
        """Return the numbers of the `mark` events, ascending."""
        return list(self._at)

    def events(self) -> list[int]:
        """Return the numbers of the marked events, ascending."""
        if self._sorted is None:
            self._sorted = sorted(self._of)
        return self._sorted


def mark_fields(n: int, note: str, *, on: bool) -> dict[str, Any]:
    """Return the members of the event that marks event `n`, or removes its mark (`on` is False)."""
    if not on:
        return {"for": n, "off": True}
    return {"for": n, "text": note[:MAX_CHARACTERS]} if note else {"for": n}


@contextmanager
def reopened(path: Path, known: int, *, is_locked: bool) -> Iterator[int]:
    """Open a finished recording to write to it, locked against other windows, and return its descriptor.

    `known` is the descriptor through which it was opened before, and `is_locked` whether that holds the lock. Raises
    `RecordingError` if the path leads to another file now, if the file may not be written, or if another process has it
    open to write.
    """
    try:
        fd = files.open_file(path, os.O_RDWR | files.NO_WAIT)
    except OSError as error:
        raise _refused(path, error) from None
    try:
        if not os.path.sameopenfile(fd, known):
            raise RecordingError(
                f"{path} was replaced by another file, so its messages cannot be marked.", hint="Open it again."
            )
        try:
            locked = is_locked or files.try_lock(fd)
        except OSError as error:
            raise _refused(path, error) from None
        if not locked:
            raise RecordingError(
                f"{path} is being written by another process, so its messages cannot be marked here.",
                hint="Mark them in the session that records it, or when it has ended.",
            )
        yield fd
    finally:
        os.close(fd)


def end_of_events(fd: int) -> tuple[int, bytes]:
    """Return the offset of the next event of a file, and the end line that is there, or nothing."""
    size = os.fstat(fd).st_size
    start = max(size - _TAIL, 0)
    tail = files.read_at(fd, size - start, start)
    at = tail.rstrip(b"\n").rfind(b"\n") + 1
    last = tail[at:]
    return (start + at, last) if last.startswith(b'{"kind":"end"') and last.endswith(b"\n") else (size, b"")


def write_at(fd: int, path: Path, offset: int, data: bytes) -> None:
    """Write `data` at `offset`. Raises `RecordingError`."""
    view = memoryview(data)
    try:
        while view:
            written = files.write_at(fd, view, offset)
            offset += written
            view = view[written:]
    except OSError as error:
        raise _refused(path, error) from None


def append(path: Path, data: bytes) -> None:
    """Append `data` to a file whose writer may still be running. Raises `RecordingError`."""
    try:
        fd = files.open_file(path, os.O_WRONLY | os.O_APPEND)
        try:
            files.append(fd, data)
        finally:
            os.close(fd)
    except OSError as error:
        raise _refused(path, error) from None


def _refused(path: Path, error: OSError) -> RecordingError:
    return RecordingError(
        f"{path} cannot be written, so its messages cannot be marked: {error.strerror or 'the system refuses'}.",
        hint="Copy the recording to a folder of yours and open the copy.",
    )

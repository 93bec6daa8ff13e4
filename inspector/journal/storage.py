"""The append-only file of a journal: one `write()` per batch, and a bounded tail in memory while writing fails.

`Room` says whether the file may grow, `Overflow` what is kept if not.
"""

from __future__ import annotations

import math
import mmap
import os
import threading
import time
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path
from typing import Literal

from inspector.config.output_files import is_device
from inspector.config.secret_forms import DEPTH, SecretFinder
from inspector.errors import RecordingError, RecordingExists
from inspector.hints import Hint, Parameter
from inspector.journal.columns import ROW_BYTES, STEP_BYTES
from inspector.journal.format import Dir, Event
from inspector.protocol.jsonrpc import Shape
from inspector.system import files

TAIL_LIMIT = 64 << 20
"""Bytes kept in memory while the disk cannot be written."""
RETRY_AFTER = 1.0
"""Seconds between two attempts to write to a failing disk."""
KEEP_FREE = 1 << 30
"""Bytes of free disk that a recording never uses; a tenth of a file system smaller than ten times this."""
CHECK_EVERY = 4 << 20
"""Bytes between two checks of the free disk."""
_LEVELS = 2
"""A line is JSON, and so is the message in it."""


class Storage:
    """A logical file: the part on the disk, then the tail that could not be written so far.

    Offsets are logical, so other code does not need to know that the disk is full. `problem` has the error, or is
    empty.
    """

    def __init__(self, fd: int, path: Path | None, *, writable: bool) -> None:
        self.fd = fd
        self.path = path
        self.writable = writable
        self.disk_size = os.fstat(fd).st_size
        self.tail = bytearray()
        self.problem = ""
        self.dropped = 0
        """Bytes that neither the disk nor the bounded tail could store."""
        self._retry_at = 0.0

    @classmethod
    def create(cls, path: Path) -> Storage:
        """Create a new file, mode 0600. Raises `RecordingExists` for an existing one, `RecordingError` for other
        reasons."""
        flags = os.O_RDWR | os.O_APPEND
        try:
            if is_device(path) or path.is_dir():  # a device has nothing to lose; a folder has its own error
                fd = files.open_file(path, flags)
            else:
                fd = files.open_file(path, flags | os.O_CREAT | os.O_EXCL | files.NO_FOLLOW)
        except FileExistsError:
            raise RecordingExists(
                f"The recording {path} already exists.", hint=Hint("Choose another name, or ", Parameter.FORCE, ".")
            ) from None
        except OSError as error:
            raise RecordingError(
                f"The recording {path} cannot be written: {error.strerror}.",
                hint=Hint(
                    "Choose another file with ",
                    Parameter.RECORD.to("FILE"),
                    ", or go without one with ",
                    Parameter.NO_RECORD,
                    ".",
                ),
            ) from error
        # Other windows cannot mark messages of a recording that grows. Some file systems cannot lock.
        with suppress(OSError):
            files.try_lock(fd)
        return cls(fd, path, writable=True)

    @classmethod
    def unnamed(cls) -> Storage:
        """Create a recording without a name: an unlinked temporary file (`--no-record`)."""
        try:
            fd = files.open_temporary()
        except OSError:
            fd = os.open(os.devnull, os.O_RDWR)
        return cls(fd, None, writable=True)

    @classmethod
    def read(cls, path: Path) -> Storage:
        """Open an existing recording to read."""
        try:
            fd = files.open_file(path, os.O_RDONLY | files.NO_WAIT)
            if not os.path.isfile(path):
                os.close(fd)
                raise RecordingError(f"{path} is not a file.", hint="Name a recording (*.mcp.jsonl).")
        except OSError as error:
            raise RecordingError(
                f"The recording {path} cannot be read: {error.strerror}.",
                hint="`inspector recordings` lists the existing ones.",
            ) from error
        return cls(fd, path, writable=False)

    @property
    def size(self) -> int:
        """Logical size in bytes."""
        return self.disk_size + len(self.tail)

    def append(self, data: bytes, *, hold: bool = False) -> bool:
        """Append to the disk, or to the tail while writing fails. False: both are full, the data is lost.

        `hold` leaves it in the tail until the next append or `flush`, so that several small ones become one write.
        """
        if self.problem and not self._retry():
            return self._keep(data)
        if hold:
            self.tail += data
            return True
        if self.tail:
            data = bytes(self.tail) + data
            self.tail.clear()
        view = memoryview(data)
        while view:
            try:
                written = files.append(self.fd, view)
            except OSError as error:
                self._refused(error)
                if self._keep(bytes(view)):
                    return True
                if len(view) < len(data):
                    self.tail += b"\n"  # Half a line is on the disk: end it, or the next one would be lost with it.
                return False
            self.disk_size += written
            view = view[written:]
        return True

    def _refused(self, error: OSError) -> None:
        self.problem = f"{error.strerror or error} ({self.path or 'temporary recording'})"
        self._retry_at = time.monotonic() + RETRY_AFTER

    def _keep(self, data: bytes) -> bool:
        if len(self.tail) + len(data) > TAIL_LIMIT:
            self.dropped += len(data)
            return False
        self.tail += data
        return True

    def _retry(self) -> bool:
        now = time.monotonic()
        if now < self._retry_at:
            return False
        self._retry_at = now + RETRY_AFTER
        return self.flush()

    def flush(self) -> bool:
        """Try to write the tail to the disk. True if memory is empty afterwards."""
        while self.tail:
            try:
                written = files.append(self.fd, self.tail)
            except OSError as error:
                self._refused(error)
                return False
            del self.tail[:written]
            self.disk_size += written
        self.problem = ""
        return True

    def blank(self, secrets: SecretFinder) -> bool:
        """Overwrite secrets, wherever they stand, with `*` or `9`. True if one was found.

        Offsets stay. It may run in a thread while another one appends; `flush` must come before.
        """
        has_secret = False
        if not self.writable or not self.disk_size:
            return has_secret
        try:
            written = mmap.mmap(self.fd, self.disk_size)
        except (OSError, ValueError):
            return has_secret  # A device, for example, keeps nothing.
        with written:
            for anchor in secrets.anchors():
                at = 0
                while 0 <= (at := written.find(anchor.encode(), at)) < len(written):
                    start, end = written.rfind(b"\n", 0, at) + 1, written.find(b"\n", at)
                    at = end if end >= 0 else len(written)
                    line = written[start:at].decode("utf-8", "surrogateescape")
                    blank = secrets.replaced(line, _stars, depth=DEPTH + _LEVELS)
                    if blank != line:
                        written[start:at] = blank.encode("utf-8", "surrogateescape")
                        has_secret = True
                    at += 1
        return has_secret

    def cut(self, size: int) -> None:
        """Drop what follows `size` bytes; the tail must have been written."""
        os.ftruncate(self.fd, size)
        os.lseek(self.fd, size, os.SEEK_SET)
        self.disk_size = size

    def grown(self) -> bool:
        """Whether another process has made the file longer; updates the size."""
        size = os.fstat(self.fd).st_size
        if self.writable or size == self.disk_size:
            return False
        self.disk_size = size
        return True

    def pread(self, offset: int, length: int) -> bytes:
        """Return bytes at a logical offset; fewer than requested at the end."""
        parts: list[bytes] = []
        while length > 0 and offset < self.disk_size:
            block = files.read_at(self.fd, min(length, self.disk_size - offset), offset)
            if not block:
                break
            parts.append(block)
            offset += len(block)
            length -= len(block)
        if length > 0 and self.tail and offset >= self.disk_size:
            start = offset - self.disk_size
            parts.append(bytes(self.tail[start : start + length]))
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def close(self) -> None:
        """Write what can be written, and close. Idempotent."""
        if self.fd >= 0:
            if self.writable and self.tail:
                self.flush()
            os.close(self.fd)
            self.fd = -1

    def __del__(self) -> None:
        """Close a storage that was dropped without `close`, like a file object."""
        if hasattr(self, "tail"):
            self.close()


class Room:
    """Whether a file may grow: within `limit` bytes (None: no limit), with `keep_free` bytes of the disk left free.

    `spare` bytes of both are left for what is written although the file is full.
    """

    def __init__(self, storage: Storage, limit: int | None, keep_free: int, spare: int) -> None:
        self.full: Literal["", "limit", "disk"] = ""
        """Why bodies are not recorded now; empty while they are."""
        self._storage = storage
        self._limit = math.inf if limit is None else limit
        self._keep_free = keep_free
        self._spare = spare
        self._left = 0.0

    def has(self, size: int) -> bool:
        """Whether `size` more bytes may be appended, which is then expected.

        The free disk is checked every `CHECK_EVERY` bytes that were asked about, whether they had room or not.
        """
        if self.full == "limit":  # it does not shrink, so further checks are useless
            return False
        self._left -= size
        if self._left < 0:
            within = self._limit - self._spare - self._storage.size
            free = self._free() - self._spare - len(self._storage.tail)
            self.full = "limit" if within < size else "disk" if free < size else ""
            self._left = CHECK_EVERY if self.full else min(CHECK_EVERY, within, free) - size
        return not self.full

    def _free(self) -> float:
        """Return the bytes of the disk that the recording may still use, after its index has grown."""
        total, free = files.free_disk(self._storage.fd) or (0, 0)
        if not self._keep_free or not total:
            return math.inf
        return free - STEP_BYTES - min(self._keep_free, total // 10)


def _stars(secret: str) -> str:
    """Return what overwrites a secret; a number stays one."""
    return ("9" if secret.isdigit() else "*") * len(secret.encode("utf-8", "surrogateescape"))


OUTLINES = 64 << 20
"""Bytes of lines without bodies, and of their index, that are written after the recording is full."""
RECENT_EVENTS = 512
RECENT_BYTES = 32 << 20
"""Bytes of bodies kept in memory, so that the interface can show the newest events."""
REQUESTS = 100_000
"""Requests of the server that get their own number when even outlines are no longer written."""
MAX_EVENTS = (1 << 32) - 1
"""Events that an index can number."""
BYTES_PER_EVENT = 128
"""Bytes of the limit per event: the index of each event takes memory and disk, but no usual event is smaller."""


class Overflow:
    """The counts, and the remaining bytes for outlines."""

    def __init__(self, outlines: int = OUTLINES, most_events: int = MAX_EVENTS) -> None:
        self.events = 0
        """Events without a recorded body."""
        self.bytes = 0
        """Bytes of these bodies."""
        self.outlines = outlines
        """Bytes of lines without bodies that may still be written."""
        self.requests = REQUESTS
        self.most_events = most_events
        """Most events in the index; from then on nothing is written."""
        self.is_told = False
        """Whether the recording has the note that it is full."""
        self.marker = 0
        """The event with that note."""

    @classmethod
    def for_limit(cls, limit: int | None) -> Overflow:
        """Return the values for a recording of `limit` bytes: outlines are a small part of it."""
        if limit is None:
            return cls()
        return cls(outlines=min(OUTLINES, limit // 16), most_events=min(limit // BYTES_PER_EVENT, MAX_EVENTS))

    def count(self, size: int) -> None:
        """Count a body that is not recorded."""
        self.events += 1
        self.bytes += size

    def takes_line(self, size: int) -> bool:
        """Whether a line of `size` bytes may still be written; this uses up its bytes, and those of its index."""
        size += ROW_BYTES
        if self.outlines < size:
            self.outlines = 0
        else:
            self.outlines -= size
        return self.outlines > 0

    def needs(self, dir: Dir, shape: Shape, is_awaited: bool) -> bool:
        """Whether a message needs its own number even if it is not written: requests, and the answers to ours."""
        if dir is Dir.SEND:
            return shape is Shape.REQUEST
        if shape is Shape.REQUEST:
            self.requests -= 1
            return self.requests >= 0
        return is_awaited and shape in (Shape.RESULT, Shape.ERROR)


class RecentBodies:
    """The newest events whose bodies are not in the file. Several threads may use it."""

    def __init__(self, limit: int = RECENT_BYTES) -> None:
        self.limit = limit
        """Bytes of bodies that are kept."""
        self._held = 0
        self._recent: OrderedDict[int, tuple[Event, int]] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, event: Event, size: int) -> None:
        """Keep the body of a new event in memory, instead of older ones."""
        if size > self.limit:
            return
        with self._lock:
            self._recent[event.n] = event, size
            self._held += size
            while len(self._recent) > RECENT_EVENTS or self._held > self.limit:
                _, (_, gone) = self._recent.popitem(last=False)
                self._held -= gone

    def event(self, n: int) -> Event | None:
        """Return the event with its body, if it is still in memory."""
        if not self._recent:
            return None
        with self._lock:
            kept = self._recent.get(n)
        return kept[0] if kept is not None else None

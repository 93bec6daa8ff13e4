"""Files on Linux and macOS."""

from __future__ import annotations

import fcntl
import os
import stat
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import mmap

assert sys.platform != "win32"

NO_FOLLOW = os.O_NOFOLLOW
"""A flag of `open_file`: refuse a symbolic link."""
NO_TERMINAL = os.O_NOCTTY
"""A flag of `open_file`: a terminal does not become ours."""
NO_WAIT = os.O_NONBLOCK
"""A flag of `open_file`: without it, opening a named pipe blocks until its other end is open."""
CAN_REMOVE_MAPPED = True
"""A mapped file can be removed, and stays readable where it is mapped."""

_LARGE = 4 << 20
"""Bytes from which glibc is told to get a block from the system, and to give it back."""
_MMAP_THRESHOLD = -3
"""`M_MMAP_THRESHOLD` of malloc.h."""
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_ZEROS = bytes(1 << 20)


def open_file(path: os.PathLike[str] | str, flags: int, mode: int = 0o600) -> int:
    """Open a file in binary, with the flags of `os.open`; it can be renamed and removed while it is open."""
    return os.open(path, flags, mode)


def open_temporary() -> int:
    """Return a descriptor of a new file without a name. Raises OSError."""
    import tempfile

    if sys.platform == "linux":
        # Not every file system can: some have to name it first.
        with suppress(OSError):
            return os.open(tempfile.gettempdir(), os.O_TMPFILE | os.O_EXCL | os.O_RDWR, 0o600)
    try:
        descriptor, name = tempfile.mkstemp(prefix="inspector-")
    except OSError:
        if sys.platform == "linux":
            return os.memfd_create("inspector")
        raise
    os.unlink(name)
    return descriptor


def read_at(descriptor: int, size: int, offset: int) -> bytes:
    """Read up to `size` bytes at an offset; empty at the end."""
    return os.pread(descriptor, size, offset)


def write_at(descriptor: int, data: bytes | memoryview, offset: int) -> int:
    """Write at an offset. Returns how many bytes were written."""
    return os.pwrite(descriptor, data, offset)


def append(descriptor: int, data: bytes | bytearray | memoryview) -> int:
    """Write at the end of a file opened to append, or new. Returns how many bytes were written."""
    return os.write(descriptor, data)


def replace(source: os.PathLike[str] | str, path: os.PathLike[str] | str) -> None:
    """Rename a file to `path`, in place of one that may be there. Raises OSError."""
    os.replace(source, path)


def try_lock(descriptor: int) -> bool:
    """Lock an open file; False if another process has the lock. Raises OSError if locking is not possible.

    The system releases the lock when the file is closed or the process ends.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_locked(descriptor: int) -> bool:
    """Whether another process, or another file object of this one, has the lock."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    except OSError:
        return True
    return False


def make_private(descriptor: int) -> None:
    """Let only its user read an open file."""
    # The mode of a pipe or a device is not ours to change.
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        # It may belong to another user, who lets us write it.
        with suppress(PermissionError):
            os.fchmod(descriptor, 0o600)


def is_private(folder: os.stat_result) -> bool:
    """Whether a folder is ours, and only we may write to it."""
    return stat.S_ISDIR(folder.st_mode) and folder.st_uid == os.geteuid() and not folder.st_mode & _WRITABLE_BY_OTHERS


def is_ours(file: os.stat_result) -> bool:
    """Whether a file belongs to our user, or to the system's."""
    return file.st_uid in (0, os.geteuid())


def free_disk(descriptor: int) -> tuple[int, int] | None:
    """Return the size of a file's disk and its free part, in bytes; None if unknown."""
    try:
        info = os.fstatvfs(descriptor)
    except OSError:
        return None
    return info.f_blocks * info.f_frsize, info.f_bavail * info.f_frsize


def reserve(descriptor: int, offset: int, length: int) -> None:
    """Reserve room on the disk: to write to a mapped file without it would end the process."""
    if sys.platform == "linux":
        os.posix_fallocate(descriptor, offset, length)
        return
    while length > 0:
        written = os.pwrite(descriptor, _ZEROS[: min(length, len(_ZEROS))], offset)
        offset, length = offset + written, length - written


def give_back(mapped: mmap.mmap, start: int = 0, length: int | None = None) -> None:
    """Give back the memory of a part of a mapped file. The system keeps it cached as long as it likes."""
    from mmap import MADV_DONTNEED

    with suppress(OSError, ValueError):
        mapped.madvise(MADV_DONTNEED, start, len(mapped) - start if length is None else length)


def return_freed_memory() -> None:
    """Return freed memory to the system, and large blocks from now on as soon as they are freed.

    glibc otherwise keeps blocks up to the size of those that were freed before: 17 MB after a result of 100,000
    objects. Takes a few milliseconds, more after a large result: then call it in a thread. Does nothing with another C
    library.
    """
    if sys.platform == "linux":
        import ctypes

        library = ctypes.CDLL(None)
        trim, set_option = getattr(library, "malloc_trim", None), getattr(library, "mallopt", None)
        if trim is not None and set_option is not None:
            set_option(_MMAP_THRESHOLD, _LARGE)
            trim(0)


def start_with(url: str) -> str | None:
    """Open a URL with the system's own function. Returns how it failed, or empty; None where the system has none."""
    return None

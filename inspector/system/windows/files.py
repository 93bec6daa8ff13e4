"""Files on Windows.

Others' access is decided by the access lists of folders: those below the user's profile are the user's alone.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import msvcrt
import os
import stat
import sys
import time

from inspector.system.windows import api

assert sys.platform == "win32"

NO_FOLLOW = 1 << 29
"""A flag of `open_file`: refuse a symbolic link."""
NO_TERMINAL = NO_WAIT = 0
"""Flags of `open_file` that have no effect here."""
CAN_REMOVE_MAPPED = False
"""A mapped file keeps its name, and its folder, until it is unmapped."""

_READ, _WRITE = 0x80000000, 0x40000000
_SHARE_ALL = 7
"""Others may read, write, and rename or remove the file while it is open."""
_CREATE_NEW, _CREATE_ALWAYS, _OPEN_EXISTING, _OPEN_ALWAYS, _TRUNCATE = 1, 2, 3, 4, 5
_NORMAL, _DELETE_ON_CLOSE = 0x80, 0x04000000
_END_OF_FILE, _LOCK_VIOLATION, _IO_PENDING = 38, 33, 997
_LOCK_EXCLUSIVE, _LOCK_AT_ONCE = 2, 1
_TO_END = (1 << 64) - 1
"""The offset of a write that appends."""
_REPLACEMENTS, _BETWEEN_REPLACEMENTS = 50, 0.01
"""How often a refused replacement of a file is tried again, and after how many seconds."""
_LOCKED = 1 << 62
"""The byte that is locked: a lock keeps others from reading what it covers, so it is behind every file's end."""


def open_file(path: os.PathLike[str] | str, flags: int, mode: int = 0o600) -> int:
    """Open a file in binary, with the flags of `os.open`; it can be renamed and removed while it is open."""
    return _open(os.fspath(path), flags)


def open_temporary() -> int:
    """Return a descriptor of a new file, which is removed when it is closed. Raises OSError."""
    import tempfile

    name = os.path.join(tempfile.gettempdir(), f"inspector-{os.urandom(8).hex()}")
    return _open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, _DELETE_ON_CLOSE)


def _open(path: str, flags: int, attributes: int = 0) -> int:
    if flags & NO_FOLLOW and os.path.islink(path):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
    access = {os.O_RDONLY: _READ, os.O_WRONLY: _WRITE}.get(flags & (os.O_WRONLY | os.O_RDWR), _READ | _WRITE)
    if flags & os.O_CREAT:
        creation = _CREATE_NEW if flags & os.O_EXCL else _CREATE_ALWAYS if flags & os.O_TRUNC else _OPEN_ALWAYS
    else:
        creation = _TRUNCATE if flags & os.O_TRUNC else _OPEN_EXISTING
    handle = api.kernel.CreateFileW(path, access, _SHARE_ALL, None, creation, _NORMAL | attributes, None)
    if handle is None or handle == api.INVALID_HANDLE:
        error = api.last_error()
        if os.path.isdir(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        error.filename = path
        raise error
    return msvcrt.open_osfhandle(handle, flags & (os.O_APPEND | os.O_RDONLY) | os.O_BINARY | os.O_NOINHERIT)


def read_at(descriptor: int, size: int, offset: int) -> bytes:
    """Read up to `size` bytes at an offset; empty at the end."""
    content, read = ctypes.create_string_buffer(size), api.DWORD()
    handle, at = msvcrt.get_osfhandle(descriptor), api.Overlapped.at(offset)
    if not api.kernel.ReadFile(handle, content, size, ctypes.byref(read), ctypes.byref(at)):
        if api.error_number() == _END_OF_FILE:
            return b""
        raise api.last_error()
    return content.raw[: read.value]


def append(descriptor: int, data: bytes | bytearray | memoryview) -> int:
    """Write at the end of a file. Returns how many bytes were written.

    A read at a position moves the position of the file here, also in the middle of an `os.write` of another thread.
    """
    return write_at(descriptor, data, _TO_END)


def write_at(descriptor: int, data: bytes | bytearray | memoryview, offset: int) -> int:
    """Write at an offset. Returns how many bytes were written."""
    content, written = bytes(data), api.DWORD()
    handle, at = msvcrt.get_osfhandle(descriptor), api.Overlapped.at(offset)
    if not api.kernel.WriteFile(handle, content, len(content), ctypes.byref(written), ctypes.byref(at)):
        raise api.last_error()
    return written.value


def replace(source: os.PathLike[str] | str, path: os.PathLike[str] | str) -> None:
    """Rename a file to `path`, in place of one that may be there. Raises OSError.

    A program that has the file open, such as a virus scanner, forbids it for a moment.
    """
    for _ in range(_REPLACEMENTS):
        try:
            os.replace(source, path)
            return
        except PermissionError:
            time.sleep(_BETWEEN_REPLACEMENTS)
    os.replace(source, path)


def try_lock(descriptor: int) -> bool:
    """Lock an open file; False if another process has the lock. Raises OSError if locking is not possible.

    The system releases the lock when the file is closed or the process ends.
    """
    flags, at = _LOCK_EXCLUSIVE | _LOCK_AT_ONCE, api.Overlapped.at(_LOCKED)
    if api.kernel.LockFileEx(msvcrt.get_osfhandle(descriptor), flags, 0, 1, 0, ctypes.byref(at)):
        return True
    if api.error_number() in (_LOCK_VIOLATION, _IO_PENDING):
        return False
    raise api.last_error()


def is_locked(descriptor: int) -> bool:
    """Whether another process, or another file object of this one, has the lock."""
    handle, at = msvcrt.get_osfhandle(descriptor), api.Overlapped.at(_LOCKED)
    if not api.kernel.LockFileEx(handle, _LOCK_AT_ONCE, 0, 1, 0, ctypes.byref(at)):
        return True
    api.kernel.UnlockFileEx(handle, 0, 1, 0, ctypes.byref(at))
    return False


def make_private(descriptor: int) -> None:
    """Does nothing: who may read a file is decided by its folder."""


def is_private(folder: os.stat_result) -> bool:
    """Whether it is a folder: the folder of the user's profile around it decides who may write to it."""
    return stat.S_ISDIR(folder.st_mode)


def is_ours(file: os.stat_result) -> bool:
    """True: a file's owner is not in its status."""
    return True


def free_disk(descriptor: int) -> tuple[int, int] | None:
    """Return the size of a file's disk and its free part, in bytes; None if unknown."""
    path = ctypes.create_unicode_buffer(1 << 15)
    try:
        handle = msvcrt.get_osfhandle(descriptor)
    except OSError:
        return None
    if not api.kernel.GetFinalPathNameByHandleW(handle, path, len(path), 0):
        return None
    free, total = ctypes.c_uint64(), ctypes.c_uint64()
    if not api.kernel.GetDiskFreeSpaceExW(os.path.dirname(path.value), ctypes.byref(free), ctypes.byref(total), None):
        return None
    return total.value, free.value


def reserve(descriptor: int, offset: int, length: int) -> None:
    """Make a file longer, which reserves the room on the disk."""
    os.ftruncate(descriptor, offset + length)


def give_back(mapped: mmap.mmap, start: int = 0, length: int | None = None) -> None:
    """Does nothing: Windows takes the memory of mapped files back when others need it."""


def return_freed_memory() -> None:
    """Does nothing: the heap of Windows returns large blocks by itself."""


def start_with(url: str) -> str | None:
    """Open a URL with the system's own function. Returns how it failed, or empty; None where the system has none."""
    try:
        os.startfile(url)
    except OSError as error:
        return f"Windows did not open the browser: {error.strerror}."
    return ""

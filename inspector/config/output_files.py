"""Writes files that the user asked for, beside their final name, then renames them: a file is never half written.

An existing file is refused unless the user forces it. A symbolic link is never followed: with `force` the link itself
is replaced. Pipes and devices that the user names (`/dev/null`, `/dev/stdout`, a FIFO) are written directly.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from inspector.errors import UsageError
from inspector.hints import Hint, Parameter
from inspector.system import files

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | files.NO_FOLLOW
_STANDARD_STREAMS = {Path("/dev/stdout"): 1, Path("/dev/stderr"): 2}
"""Their descriptors. They have these names on Windows too."""
_NAME = 40
"""Characters of the final name in the temporary name."""


class OutputExists(UsageError):
    """The file to write already exists."""

    code = "exists"


@contextmanager
def new_text(path: Path, *, force: bool = False) -> Iterator[IO[str]]:
    """Like `new_file`, for UTF-8 text; what UTF-8 cannot encode is written with backslashes."""
    import io

    with new_file(path, force=force) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", errors="backslashreplace", newline="\n")
        yield text
        text.detach()


@contextmanager
def new_file(path: Path, *, force: bool = False, mode: int = 0o600) -> Iterator[IO[bytes]]:
    """Open a binary file that appears at `path` when the block ends without an error; otherwise nothing changes.

    Raises `OutputExists` for an existing file unless `force`, and `UsageError` if the file cannot be written.
    """
    try:
        if is_stream(path):
            with open(_open_stream(path), "wb") as file:
                yield file
            return
        check_free(path, force=force)
        temporary, descriptor = create_beside(path, mode)
        try:
            with open(descriptor, "wb") as file:
                yield file
            put_in_place(temporary, path, force=force)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as error:
        raise cannot_write(path, error) from None


def write_file(path: Path, content: bytes, *, force: bool = False, mode: int = 0o600) -> None:
    """Write a whole file. Raises the errors of `new_file`."""
    with new_file(path, force=force, mode=mode) as file:
        file.write(content)


def name_beside(path: Path) -> Path:
    """Return a name for a temporary file in the folder of `path`. Create it with O_EXCL."""
    return path.with_name(f".{path.name[:_NAME]}.{os.urandom(8).hex()}")


def create_beside(path: Path, mode: int = 0o600) -> tuple[Path, int]:
    """Create a temporary file in the folder of `path`. Returns its name and its descriptor, or raises OSError."""
    temporary = name_beside(path)
    return temporary, files.open_file(temporary, _NEW, mode)


def put_in_place(temporary: Path, path: Path, *, force: bool) -> None:
    """Give a finished file its final name. Raises `OutputExists` or OSError; `temporary` then still exists."""
    if force:
        files.replace(temporary, path)
        return
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise already_exists(path) from None
    except OSError:
        # The file system has no hard links, so check and rename are two steps.
        check_free(path, force=force)
        files.replace(temporary, path)
        return
    os.unlink(temporary)


def already_exists(path: Path) -> OutputExists:
    """Return the error for a file that exists."""
    return OutputExists(f"{path} already exists.", hint=Hint("Choose another name, or ", Parameter.FORCE, "."))


def cannot_write(path: Path, error: OSError) -> UsageError:
    """Return the error for a file that cannot be written."""
    return UsageError(f"{path} cannot be written: {error.strerror or 'unknown reason'}.", hint="Choose another name.")


def check_free(path: Path, *, force: bool = False) -> None:
    """Raise `OutputExists` for an existing file unless `force`, and `UsageError` for a folder, pipe or device."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if not force:
        raise already_exists(path)
    if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
        raise UsageError(f"{path} is not a regular file.", hint="Choose another name.")


def is_stream(path: Path) -> bool:
    """Whether `path` is a pipe or a character device that the user named, not one behind a symbolic link."""
    if path in _STANDARD_STREAMS:
        return True
    name = os.path.abspath(path)
    # Links of the system, such as /dev/stdout, lead to what the shell has opened, of any kind.
    of_system = name.startswith(("/dev/", "/proc/self/fd/")) and not name.startswith("/dev/shm/")
    try:
        status = os.stat(path) if of_system else os.lstat(path)
    except OSError:
        return False
    if of_system:
        return not (stat.S_ISDIR(status.st_mode) or stat.S_ISBLK(status.st_mode))
    if stat.S_ISFIFO(status.st_mode):
        # Another user's pipe in a shared folder would give them the content.
        return files.is_ours(status)
    return stat.S_ISCHR(status.st_mode)


def is_device(path: Path) -> bool:
    """Whether `path` is a character device that the user named, such as /dev/null."""
    return is_stream(path) and path.is_char_device()


def _open_stream(path: Path) -> int:
    if (number := _STANDARD_STREAMS.get(path)) is not None:
        # Opening it again would start at the beginning of a file to which the shell has redirected it.
        return os.dup(number)
    return files.open_file(path, os.O_WRONLY | files.NO_TERMINAL)

"""The retention of recordings: which are deleted, and which always stay.

A recording always stays while it is written, if the user keeps it, or if a message in it is marked. The kept ones are
named in a small file beside them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from inspector.client.recording_info import RecordingInfo, is_growing, newest_first
from inspector.config import foreign_files
from inspector.config.paths import write_private
from inspector.errors import ConfigError, UsageError
from inspector.journal import saved_index
from inspector.times import parse_length

KEPT_FILE = "kept.json"
_MARK = b'"kind":"mark"'
_BLOCK = 1 << 20
_MAX_BYTES = 1 << 20


def kept(folder: Path) -> frozenset[str]:
    """Return the names of the files in `folder` that the user keeps. A damaged list counts as empty."""
    with suppress(ConfigError, ValueError, RecursionError):
        data = foreign_files.read_bytes(folder / KEPT_FILE, limit=_MAX_BYTES)
        names = json.loads(data)
        if type(names) is list:
            return frozenset(name for name in names if type(name) is str)
    return frozenset()


def keep(paths: Iterable[Path], *, on: bool = True) -> None:
    """Keep recordings of one folder, or let them be deleted again (`on` is False). Raises OSError."""
    for path in paths:
        names = set(kept(path.parent))
        (names.add if on else names.discard)(path.name)
        present = sorted(name for name in names if (path.parent / name).exists())
        write_private(path.parent / KEPT_FILE, json.dumps(present).encode())


def why_protected(path: Path, names: frozenset[str]) -> str:
    """Return why a recording is never deleted unasked: `being written`, `kept`, `marked`; empty if it may be."""
    if path.name in names:
        return "kept"
    if is_growing(path):
        return "being written"
    return "marked" if has_marks(path) else ""


def has_marks(path: Path) -> bool:
    """Whether a message of a recording was ever marked. The text of a message cannot contain the bytes searched for:
    quotes in it are escaped."""
    with suppress(OSError), open(path, "rb") as file:
        before = b""
        while block := file.read(_BLOCK):
            if _MARK in before + block:
                return True
            before = block[-len(_MARK) :]
    return False


def prune(folder: Path, keep_count: int, keep_bytes: int) -> list[Path]:
    """Delete the oldest recordings beyond `keep_count` files or `keep_bytes` bytes; return the deleted ones.

    The newest one and the protected ones always stay. Only files with our names are deleted.
    """
    files = [RecordingInfo(path, octets) for path, octets in newest_first(folder)]
    names: frozenset[str] | None = None
    deleted: list[Path] = []
    for info in beyond(files, keep_count, keep_bytes):
        names = kept(folder) if names is None else names
        if not why_protected(info.path, names) and delete(info.path):
            deleted.append(info.path)
    return deleted


def beyond(infos: Iterable[RecordingInfo], keep_count: int, keep_bytes: int) -> Iterator[RecordingInfo]:
    """Yield the recordings, of a list with the newest first, that are beyond a number of files or of bytes.

    The newest is never one of them. A recording that is not deleted although it was yielded takes no room of others.
    """
    count = size = 0
    for info in infos:
        if count and (count + 1 > keep_count or size + info.size > keep_bytes):
            yield info
            continue
        count += 1
        size += info.size


def older(infos: Iterable[RecordingInfo], age: timedelta, now: datetime | None = None) -> Iterator[RecordingInfo]:
    """Yield the recordings that started longer ago than `age`. One without a readable start counts by its file."""
    before = (datetime.now(UTC) if now is None else now) - age
    for info in infos:
        started = info.started
        if started is None:
            with suppress(OSError):
                started = datetime.fromtimestamp(info.path.stat().st_mtime, UTC)
        if started is not None and started < before:
            yield info


def delete(path: Path) -> bool:
    """Delete one recording. False if it could not be deleted."""
    saved_index.forget(path)
    with suppress(OSError):
        path.unlink()
        return True
    return False


def age(word: str) -> timedelta:
    """Read an age such as `30d`, `12h` or `2w`. Raises `UsageError`."""
    seconds = parse_length(word)
    # A number alone may be meant as days, and what is deleted does not come back.
    if seconds is None or word[-1:].isdigit():
        raise UsageError(f"“{word[:40]}” is not an age.", hint="Use a number with min, h, d or w, such as 30d.")
    return timedelta(seconds=seconds)

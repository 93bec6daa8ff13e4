"""The recording of a new session: its file, its name and its limits; and how long recordings stay.

A recording without a name from the user is in the state folder. It stays as long as it is written, if the user keeps
it, or if a message in it is marked. The kept ones are named in a small file beside them. The writing process holds a
lock on its file (flock), so that it is not deleted or marked by others while it is written.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.client.recording_info import RecordingInfo, is_growing, newest_first
from inspector.config import foreign_files, paths
from inspector.config.paths import write_private
from inspector.config.targets import HttpTarget, StdioTarget, Target
from inspector.errors import ConfigError, RecordingError, UsageError
from inspector.journal import saved_index
from inspector.journal.format import SUFFIX
from inspector.journal.journal import Journal
from inspector.times import parse_length

if TYPE_CHECKING:
    from inspector.config.settings import Settings

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


_LABEL = 40
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_TRIES = 8


def new_journal(
    target: Target,
    *,
    settings: Settings,
    record: Path | None = None,
    keep: bool = True,
    label: str = "",
    secrets: Iterable[str] = (),
    purpose: str = "",
) -> Journal:
    """Create the journal of a session with `target`; `purpose` is what it is made for, if not a plain session.

    It is in `record` (a new file, or a folder that gets one), in the state folder, or (not `keep`) in memory. The
    settings limit its size and what stays in the state folder; older recordings are deleted. `label` names a file in a
    folder instead of the target; `secrets` are redacted besides the target's. If the file cannot be written, the
    journal stays in memory and has a notice. Raises `RecordingError` for `record` only.
    """
    about = {"purpose": purpose} if purpose else {}
    journal = _begin(target, settings, record, keep, label, tuple(secrets), about)
    journal.bound(settings.max_recording_bytes)
    return journal


def _begin(
    target: Target,
    settings: Settings,
    record: Path | None,
    keep: bool,
    label: str,
    others: tuple[str, ...],
    about: Mapping[str, str],
) -> Journal:
    secrets = (*(target.secrets if isinstance(target, (StdioTarget, HttpTarget)) else ()), *others)
    if record is not None and record.is_dir():
        return _create(record, target, secrets, label, about)
    if record is not None:
        return Journal.create(record, target.as_header(), secrets, about)
    if not keep or settings.keep_recordings == 0 or settings.keep_recordings_bytes == 0:
        return Journal.unnamed(target.as_header(), secrets)
    try:
        folder = paths.recordings_folder()
        journal = _create(folder, target, secrets, label, about)
    except (ConfigError, RecordingError) as error:
        journal = Journal.unnamed(target.as_header(), secrets)
        journal.notices.append(f"This session is not recorded: {error.message}")
        return journal
    prune(folder, settings.keep_recordings, settings.keep_recordings_bytes)
    return journal


def _create(folder: Path, target: Target, secrets: tuple[str, ...], label: str, about: Mapping[str, str]) -> Journal:
    """Create a file whose name sorts by time and contains the label."""
    moment = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%SZ")
    label = _NOT_IN_A_NAME.sub("-", label or target.label).strip(".-")[:_LABEL] or "session"
    names = (folder / f"{moment}-{label}-{os.urandom(2).hex()}{SUFFIX}" for _ in range(_TRIES))
    path = next((path for path in names if not path.exists()), folder / f"{moment}-{label}-{os.getpid()}{SUFFIX}")
    return Journal.create(path, target.as_header(), secrets, about)

"""The saved index of a long recording: opened again, it is not read from its start.

It is a folder of the user's cache with the columns and `index.json`: the state beside the columns, and what tells
whether the recording is still the one that was indexed. It is a copy of what the recording says. A damaged, foreign
or outdated one is not used; the recording is then read as if there were none. Checksums find damage, such as that of a
power failure; they are no protection against a program of the same user, who could change the recording as well.
"""

from __future__ import annotations

import json
import os
import sys
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

from inspector.config import foreign_files, paths
from inspector.errors import ConfigError
from inspector.journal.columns import FORMATS, SPARE_ROWS, SPILL_ROWS, folders, remove_folder
from inspector.journal.index import Index
from inspector.journal.redaction import Redactor
from inspector.system.files import is_private, read_at

_FORMAT = 3
_FILE = "index.json"
_MAX_STATE = 64 << 20
_MAX_BYTES = 16 << 30
"""Bytes of all saved indexes; beyond that, the ones that were not used for the longest time are removed."""
_END = 1 << 16
_SAMPLES, _SAMPLE = 62, 1 << 12
MIN_BYTES = SPILL_ROWS * 32
"""Bytes of a recording from which it may have a saved index."""


def identity(fd: int) -> dict[str, Any]:
    """Return what tells whether a file is still the same: where, how long, changed when, and some of its bytes."""
    from hashlib import blake2b

    info = os.fstat(fd)
    size = info.st_size
    digest = blake2b(digest_size=32)
    digest.update(read_at(fd, _END, 0))
    digest.update(read_at(fd, _END, max(size - _END, 0)))
    for at in range(1, _SAMPLES + 1):
        digest.update(read_at(fd, _SAMPLE, size * at // (_SAMPLES + 1)))
    return {
        "device": info.st_dev,
        "inode": info.st_ino,
        "size": size,
        "changed": info.st_mtime_ns,
        # A program can set the time of the last change back, but not this one.
        "touched": info.st_ctime_ns,
        "digest": digest.hexdigest(),
    }


def load(fd: int, recording: dict[str, Any], index: Index) -> dict[str, Any] | None:
    """Fill an empty index from what was saved of the recording `fd` with this identity.

    Returns `rest` as it was given to `save`: `scanned`, and lists of events by name. None, and no change, without one.
    """
    try:
        folder = _folder(os.fstat(fd))
        if not folder.is_dir() or not is_private(os.lstat(folder)):
            return None
        saved = _read(folder)
        if saved["format"] != _shape() or saved["recording"] != recording:
            return None
        rest: dict[str, Any] = saved["rest"]
        size = recording["size"]
        count = saved["index"]["count"]
        scanned, *lists = rest["scanned"], rest["marks"], rest["findings"]
        if not 0 < scanned <= size or any(not 0 < n <= count for numbers in lists for n in numbers):
            return None
        if not index.load(folder, saved["index"], lambda made: _is_right(fd, made, scanned, saved["sums"])):
            return None
        os.utime(folder / _FILE)
    except (OSError, ConfigError, ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return None
    return rest


def save(fd: int, path: Path, index: Index, rest: dict[str, Any], redactor: Redactor, *, with_open: bool) -> bool:
    """Keep the index of the recording `fd` at `path`, whose columns are in files. False: it cannot be kept."""
    columns = index.columns
    before = columns.folder
    if before is None or not columns.finish(index.count):
        return False
    index.attach()
    state = index.saved(with_open=with_open)
    if state is None or _has_secrets(state, redactor):
        return False
    try:
        recording = identity(fd)
        sums = columns.checksums(index.count)
        content = json.dumps(
            {"format": _shape(), "path": str(path), "recording": recording, "sums": sums, "rest": rest, "index": state}
        ).encode()
        if len(content) > _MAX_STATE:
            return False
        paths.write_private(before / _FILE, _sum_line(content) + content)
        folder = _folder(os.fstat(fd))
        if folder != before:
            remove_folder(folder)
            os.rename(before, folder)
    except (OSError, ValueError, ConfigError):
        return False
    columns.keep(folder, index.count)
    _limit(folder)
    return True


def _read(folder: Path) -> dict[str, Any]:
    """Return what is beside the columns. Raises ConfigError, and ValueError if the file is damaged."""
    line, _, content = foreign_files.read_bytes(folder / _FILE, limit=_MAX_STATE).partition(b"\n")
    if line + b"\n" != _sum_line(content):
        raise ValueError("the index is damaged")
    saved: dict[str, Any] = json.loads(content)
    return saved


def _sum_line(content: bytes) -> bytes:
    return b"%08x\n" % zlib.crc32(content)


def _is_right(fd: int, index: Index, end: int, sums: list[int]) -> bool:
    """Whether a loaded index is as it was saved, and some rows are of this recording: its lines begin there."""
    if index.columns.checksums(index.count) != sums:
        return False
    before = 0
    for at in range(_SAMPLES):
        n = 1 + (index.count - 1) * at // (_SAMPLES - 1)
        offset = index.views.offsets[n - 1]
        if not before <= offset < end or read_at(fd, 2, offset - 1) != b"\n{":
            return False
        if max(index.pair(n), index.parent(n)) > index.count:
            return False
        views = index.views
        if views.methods[n - 1] >= len(index.methods.texts) or views.channels[n - 1] >= len(index.channels.texts):
            return False
        before = offset
    return True


def _has_secrets(state: dict[str, Any], redactor: Redactor) -> bool:
    texts = json.dumps([state["methods"], state["channels"], state["ids"]], ensure_ascii=False)
    return redactor.active and redactor.text(texts)[1]


def forget(path: Path) -> None:
    """Remove the saved index of a recording that is about to be deleted."""
    with suppress(OSError, ConfigError):
        remove_folder(_folder(os.stat(path)))


def _folder(recording: os.stat_result) -> Path:
    return folders() / f"{recording.st_dev:x}-{recording.st_ino:x}"


def _shape() -> list[Any]:
    """Return what must be the same in the process that saved an index."""
    return [_FORMAT, sys.byteorder, SPARE_ROWS, FORMATS]


def _limit(newest: Path) -> None:
    """Remove the indexes of recordings that are gone, and the oldest ones beyond a number of bytes."""
    known: list[tuple[float, int, Path]] = []
    for folder in newest.parent.iterdir():
        if folder == newest or folder.name.startswith("."):
            continue
        with suppress(OSError, ConfigError, ValueError, TypeError, KeyError, RecursionError):
            about = folder / _FILE
            used = about.stat().st_mtime
            saved = _read(folder)
            at = saved["recording"]
            if (info := os.stat(saved["path"])) and (info.st_dev, info.st_ino) == (at["device"], at["inode"]):
                known.append((used, sum(part.stat().st_size for part in folder.iterdir()), folder))
                continue
        remove_folder(folder)
    total = 0
    for _, size, folder in sorted(known, reverse=True):
        total += size
        if total > _MAX_BYTES:
            remove_folder(folder)

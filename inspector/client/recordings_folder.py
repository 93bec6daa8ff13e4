"""The recordings in a folder: what each is, read from its start and end, and how long it stays.

A recording without a name from the user is in the state folder. It stays as long as it is written, if the user keeps
it, or if a message in it is marked. The kept ones are named in a small file beside them. The writing process holds a
lock on its file (flock), so that it is not deleted or marked by others while it is written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from inspector.client.state.server import discovered
from inspector.config import foreign_files, paths
from inspector.config.paths import RECORDING_SUFFIX, write_private
from inspector.errors import ConfigError, UsageError
from inspector.journal import saved_index
from inspector.journal.format import FORMAT
from inspector.protocol.jsonrpc import NotJson, parse
from inspector.protocol.members import object_at, text_at
from inspector.protocol.names import VERSION_KEY
from inspector.system import files
from inspector.text import quantity
from inspector.times import parse_length, parse_time

HEAD = 1 << 16
"""Bytes read at the start of a recording to describe it, and as many at its end."""
KEPT_FILE = "kept.json"
_OTHER_CLIENTS = ("tap", "rerun")
"""The purposes of recordings of another client's messages, without a `ready` of ours."""
_MARK = b'"kind":"mark"'
_BLOCK_BYTES = 1 << 20
_MAX_BYTES = 1 << 20


def is_growing(path: Path) -> bool:
    """Whether a live process is writing the recording in `path`."""
    with _opened(path) as descriptor:
        return descriptor is not None and files.is_locked(descriptor)


@contextmanager
def _opened(path: Path) -> Iterator[int | None]:
    """Yield a descriptor of a regular file; None if it cannot be opened, or is another kind of file."""
    descriptor = -1
    try:
        with suppress(OSError, ValueError):
            descriptor = files.open_file(path, os.O_RDONLY | files.NO_WAIT)
        yield descriptor if descriptor >= 0 and path.is_file() else None
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def newest_first(folder: Path) -> list[tuple[Path, int]]:
    """Return the recordings in `folder` with their sizes in bytes. Their names start with the time and sort by it."""
    recordings: list[tuple[str, int]] = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                if entry.name.endswith(RECORDING_SUFFIX) and entry.is_file(follow_symlinks=False):
                    recordings.append((entry.name, entry.stat(follow_symlinks=False).st_size))
    recordings.sort(reverse=True)
    return [(folder / name, octets) for name, octets in recordings]


class RecordingInfo(NamedTuple):
    """A recording's description from its start and end. Its texts come from the file and are untrusted."""

    path: Path
    size: int
    """In bytes."""
    started: datetime | None = None
    label: str = ""
    target: str = ""
    """The full command, URL or path."""
    revision: str = ""
    """The negotiated revision; empty without one, or if it is not among the first events."""
    events: int | None = None
    duration: int | None = None
    """In microseconds."""
    ended: bool = False
    """Whether it has its end line."""
    growing: bool = False
    """Whether a live process is writing it."""
    failures: int | None = None
    """Events with an error, as the replay counts them; None without an end. Older ones count only error responses."""
    problem: str = ""
    """Why it cannot be read."""
    server: str = ""
    """The name that the server gave itself; empty if it is not among the first events."""
    purpose: str = ""
    """What it was made for, such as `check` or `call`; empty for a session of the interface."""
    loss: str = ""
    """How the last connection was lost: `server exited` or `connection lost`; empty if it was closed."""

    @property
    def error_events(self) -> str:
        """How many events are errors, with the noun: a check that passes provokes some. Empty without any."""
        return quantity(self.failures, "error event") if self.failures else ""

    @property
    def name(self) -> str:
        """The name that its session showed: the server's own, else the label of the target, else the file's."""
        return self.server or self.label or self.path.name


def list_recordings(folder: Path | None = None) -> list[RecordingInfo]:
    """Return the recordings in `folder` (default: the state folder), newest first. Reads each file's ends only."""
    folder = paths.recordings_path() if folder is None else folder
    return [read_info(path, octets) for path, octets in newest_first(folder)]


def read_info(path: Path, octets: int | None = None) -> RecordingInfo:
    """Describe a recording from `HEAD` bytes at its start and its end. Never raises: see `problem`."""
    with _opened(path) as descriptor:
        if descriptor is None:
            return RecordingInfo(path, octets or 0, problem="cannot be read")
        octets = os.fstat(descriptor).st_size
        try:
            head = files.read_at(descriptor, HEAD, 0)
            tail = head if octets <= HEAD else files.read_at(descriptor, HEAD, octets - HEAD)
        except OSError as error:
            return RecordingInfo(path, octets, problem=(error.strerror or "cannot be read").lower())
        growing = files.is_locked(descriptor)
    lines = _objects(head)
    header = next(lines, None) if b"\n" in head else None
    if header is None or header.get("format") != FORMAT:
        return RecordingInfo(path, octets, problem="is not a recording")
    target = object_at(header, "target")
    purpose = text_at(header, "purpose")
    revision, refused, server = _negotiated(lines, another=purpose in _OTHER_CLIENTS)
    last = _last_object(tail)
    ended = last.get("kind") == "end" and "n" not in last
    return RecordingInfo(
        path,
        octets,
        parse_time(header.get("started")),
        text_at(target, "label"),
        _whole_target(target),
        revision,
        _count(last.get("events" if ended else "n", 0 if last == header else None)),
        _count(last.get("t", 0)),
        ended,
        growing and not ended,
        _failures(last, refused) if ended else None,
        server=server,
        purpose=purpose,
        loss=_loss(tail),
    )


def _loss(tail: bytes) -> str:
    """How the connection was lost after which no other was opened, as far as the last events say."""
    loss = ""
    for line in tail.split(b"\n")[1:-1]:
        if b'"life"' not in line:
            continue
        try:
            event = object_at(parse(line))
        except NotJson:
            continue
        if event.get("event") == "lost" and "error" in event:
            loss = "server exited" if object_at(event, "error").get("code") == "exited" else "connection lost"
        elif event.get("event") in ("ready", "reopen"):
            loss = ""
    return loss


def _failures(end: dict[str, Any], refused: int) -> int:
    """The failures in an end line; in an older one, error responses without those to `server/discover`."""
    failures = _count(end.get("failures"))
    return max((_count(end.get("errors")) or 0) - refused, 0) if failures is None else failures


_NEGOTIATING = ("server/discover", '"error"', "erverInfo", "protocolVersion", '"resultType"')


def _negotiated(lines: Iterator[dict[str, Any]], *, another: bool) -> tuple[str, int, str]:
    """Return the negotiated revision, the number of error responses to `server/discover`, and the server's name.

    Revision and name may be empty. Messages of `another` client and its server name the revision themselves.
    """
    probes: set[str] = set()
    refused, server = 0, ""
    offered = revision = ""
    for line in lines:
        if line.get("event") == "ready" and type(line.get("revision")) is str:
            return line["revision"], refused, server
        raw = text_at(line, "raw")
        if line.get("kind") != "rpc" or not any(text in raw for text in _NEGOTIATING):
            continue
        try:
            message = object_at(parse(raw.encode("utf-8", "surrogatepass")))
        except NotJson:
            continue
        identity = discovered(message.get("result"), "")
        server = identity.title or server
        if another and identity.revision:
            return identity.revision, refused, server
        if another:
            offered = text_at(object_at(message, "params"), "_meta", VERSION_KEY) or offered
            revision = offered if "result" in message else revision
        id = repr(message.get("id"))
        if message.get("method") == "server/discover":
            probes.add(id)
        elif "error" in message and id in probes:
            refused += 1
    return revision, refused, server


def _objects(block: bytes) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects in the complete lines at the start of `block`."""
    for line in block.split(b"\n")[:-1]:
        try:
            value = parse(line)
        except NotJson:
            continue
        if type(value) is dict:
            yield value


def _last_object(block: bytes) -> dict[str, Any]:
    """Return the last complete line of `block` that is an object; a truncated one is skipped."""
    lines = block.split(b"\n")[:-1]
    for line in reversed(lines):
        try:
            value = parse(line)
        except NotJson:
            continue
        if type(value) is dict:
            return value
    return {}


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 1 << 62 else None


def _whole_target(target: dict[str, Any]) -> str:
    argv = target.get("argv")
    if type(argv) is list:
        return " ".join(word for word in argv if type(word) is str)
    return text_at(target, "url") or text_at(target, "path")


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
        while block := file.read(_BLOCK_BYTES):
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


def older(infos: Iterable[RecordingInfo], age: timedelta) -> Iterator[RecordingInfo]:
    """Yield the recordings that started longer ago than `age`. One without a readable start counts by its file."""
    before = datetime.now(UTC) - age
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

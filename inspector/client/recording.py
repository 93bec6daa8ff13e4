"""Where the recording of a new session goes, which old ones are kept, and what there is.

Recordings without a name of the user's are kept in the state folder, newest first within a count and a size. Whoever
writes one holds a lock on it (flock), so that it is never taken away from under a living process.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from inspector.config import paths
from inspector.config.targets import HttpTarget, StdioTarget, Target
from inspector.errors import ConfigError, RecordingError
from inspector.journal.format import FORMAT, SUFFIX
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import NotJson, parse

if TYPE_CHECKING:
    from inspector.config.settings import Settings

HEAD = 1 << 16
"""Bytes read at the start of a recording to say what it is, and as many at its end."""

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
) -> Journal:
    """The journal of a session with `target`: in the file `record`, or in the state folder, or (not `keep`) nowhere.

    The settings bound how large it becomes and what stays in the state folder; older recordings are deleted. Where it
    cannot be written, the journal is kept nowhere and has a notice that says so. Raises `RecordingError` for `record`
    only. `label` names a file in the state folder instead of the target; `secrets` are known besides the target's.
    """
    journal = _begin(target, settings, record, keep, label, tuple(secrets))
    journal.bound(settings.max_recording_bytes)
    return journal


def _begin(
    target: Target, settings: Settings, record: Path | None, keep: bool, label: str, others: tuple[str, ...]
) -> Journal:
    secrets = (*(target.secrets if isinstance(target, (StdioTarget, HttpTarget)) else ()), *others)
    if record is not None:
        return _locked(Journal.create(record, target.as_header(), secrets))
    if not keep or settings.keep_recordings == 0 or settings.keep_recordings_bytes == 0:
        return Journal.unnamed(target.as_header(), secrets)
    try:
        folder = paths.recordings_folder()
        journal = _locked(_create(folder, target, secrets, label))
    except (ConfigError, RecordingError) as error:
        journal = Journal.unnamed(target.as_header(), secrets)
        journal.notices.append(f"This session is not kept: {error.message}")
        return journal
    prune(folder, settings.keep_recordings, settings.keep_recordings_bytes)
    return journal


def _create(folder: Path, target: Target, secrets: tuple[str, ...], label: str) -> Journal:
    """A new file whose name sorts by time and says what it is of."""
    moment = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%SZ")
    label = _NOT_IN_A_NAME.sub("-", label or target.label).strip(".-")[:_LABEL] or "session"
    names = (folder / f"{moment}-{label}-{os.urandom(2).hex()}{SUFFIX}" for _ in range(_TRIES))
    path = next((path for path in names if not path.exists()), folder / f"{moment}-{label}-{os.getpid()}{SUFFIX}")
    return Journal.create(path, target.as_header(), secrets)


def _locked(journal: Journal) -> Journal:
    """Hold the file for as long as this process has it open."""
    with suppress(ImportError, OSError):
        import fcntl

        fcntl.flock(journal.storage.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return journal


def is_growing(path: Path) -> bool:
    """Whether a living process is writing the recording in `path`."""
    with _opened(path) as descriptor:
        return descriptor is not None and _is_held(descriptor)


@contextmanager
def _opened(path: Path) -> Iterator[int | None]:
    """A descriptor of a regular file; None where it cannot be opened, or is something else."""
    descriptor = -1
    try:
        with suppress(OSError, ValueError):
            flags = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
            descriptor = os.open(path, flags)
        yield descriptor if descriptor >= 0 and path.is_file() else None
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def _is_held(descriptor: int) -> bool:
    """Whether another process, or another file of this one, holds the lock of its writer."""
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    except ImportError:
        return False
    except OSError:
        return True
    return False


def prune(folder: Path, keep_count: int, keep_bytes: int) -> list[Path]:
    """Delete the oldest recordings beyond `keep_count` files or `keep_bytes` bytes; returns what was deleted.

    The newest one always stays, and one that is being written does. Names of ours only: other files are not touched.
    """
    kept = size = 0
    deleted: list[Path] = []
    for path, octets in _newest_first(folder):
        size += octets
        kept += 1
        if (kept <= keep_count and size <= keep_bytes) or kept == 1:
            continue
        if is_growing(path):
            continue
        with suppress(OSError):
            path.unlink()
            deleted.append(path)
        size -= octets
        kept -= 1
    return deleted


def _newest_first(folder: Path) -> list[tuple[Path, int]]:
    """The recordings in `folder` with their sizes in bytes. Our names begin with the time, so they sort by it."""
    found: list[tuple[str, int]] = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                if entry.name.endswith(SUFFIX) and entry.is_file(follow_symlinks=False):
                    found.append((entry.name, entry.stat(follow_symlinks=False).st_size))
    found.sort(reverse=True)
    return [(folder / name, octets) for name, octets in found]


class RecordingInfo(NamedTuple):
    """What the start and the end of a recording say about it. Texts come from the file and are not to be trusted."""

    path: Path
    size: int
    """Bytes."""
    started: datetime | None = None
    label: str = ""
    target: str = ""
    """The whole command, URL or path."""
    revision: str = ""
    """The revision that was agreed; empty where none was, or where that is not among the first events."""
    events: int | None = None
    duration: int | None = None
    """Microseconds."""
    ended: bool = False
    """The end line is there."""
    growing: bool = False
    """A living process is writing it."""
    errors: int | None = None
    """Error answers, those to `server/discover` among them."""
    problem: str = ""
    """Why it cannot be read."""
    refused_probes: int = 0
    """Errors that answered `server/discover` before the connection was ready: a server of the older era says no so."""

    @property
    def failures(self) -> int:
        """Error answers that tell of something: a server of the older era has no fault because of its era."""
        return max((self.errors or 0) - self.refused_probes, 0)


def list_recordings(folder: Path | None = None) -> list[RecordingInfo]:
    """The recordings in `folder` (by default those that are kept), newest first. Reads the ends of each file only."""
    folder = paths.state_folder() / "recordings" if folder is None else folder
    return [read_info(path, octets) for path, octets in _newest_first(folder)]


def read_info(path: Path, octets: int | None = None) -> RecordingInfo:
    """What `HEAD` bytes at the start and at the end of a recording say. Never raises: see `problem`."""
    with _opened(path) as descriptor:
        if descriptor is None:
            return RecordingInfo(path, octets or 0, problem="cannot be read")
        octets = os.fstat(descriptor).st_size
        try:
            head = os.pread(descriptor, HEAD, 0)
            tail = head if octets <= HEAD else os.pread(descriptor, HEAD, octets - HEAD)
        except OSError as error:
            return RecordingInfo(path, octets, problem=(error.strerror or "cannot be read").lower())
        growing = _is_held(descriptor)
    lines = _objects(head)
    header = next(lines, None) if b"\n" in head else None
    if header is None or header.get("format") != FORMAT:
        return RecordingInfo(path, octets, problem="is no recording")
    target = _object(header.get("target"))
    revision, refused = _negotiated(lines)
    last = _last_object(tail)
    ended = last.get("kind") == "end" and "n" not in last
    return RecordingInfo(
        path,
        octets,
        _moment(header.get("started")),
        _text(target.get("label")),
        _whole_target(target),
        revision,
        _count(last.get("events" if ended else "n", 0 if last == header else None)),
        _count(last.get("t", 0)),
        ended,
        growing and not ended,
        _count(last.get("errors")) if ended else None,
        refused_probes=refused,
    )


def _negotiated(lines: Iterator[dict[str, Any]]) -> tuple[str, int]:
    """The revision that was agreed, or an empty text, and how often `server/discover` was answered by an error."""
    probes: set[str] = set()
    refused = 0
    for line in lines:
        if line.get("event") == "ready" and type(line.get("revision")) is str:
            return line["revision"], refused
        raw = _text(line.get("raw"))
        if line.get("kind") != "rpc" or not ("server/discover" in raw or '"error"' in raw):
            continue
        try:
            message = _object(parse(raw.encode("utf-8", "surrogatepass")))
        except NotJson:
            continue
        id = repr(message.get("id"))
        if message.get("method") == "server/discover":
            probes.add(id)
        elif "error" in message and id in probes:
            refused += 1
    return "", refused


def _objects(block: bytes) -> Iterator[dict[str, Any]]:
    """The JSON objects of the whole lines at the start of `block`."""
    for line in block.split(b"\n")[:-1]:
        try:
            value = parse(line)
        except NotJson:
            continue
        if type(value) is dict:
            yield value


def _last_object(block: bytes) -> dict[str, Any]:
    """The last whole line of `block` that is an object; one that is torn is passed over."""
    lines = block.split(b"\n")[:-1]
    for line in reversed(lines):
        try:
            value = parse(line)
        except NotJson:
            continue
        if type(value) is dict:
            return value
    return {}


def _object(value: Any) -> dict[str, Any]:
    return value if type(value) is dict else {}


def _text(value: Any) -> str:
    return value if type(value) is str else ""


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 1 << 62 else None


def _whole_target(target: dict[str, Any]) -> str:
    argv = target.get("argv")
    if type(argv) is list:
        return " ".join(word for word in argv if type(word) is str)
    return _text(target.get("url")) or _text(target.get("path"))


def _moment(value: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(_text(value).replace("Z", "+00:00"))
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)

"""Descriptions of recordings, read from their start and end; and the list of those in a folder, newest first."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from inspector.client.state.server import discovered
from inspector.config import paths
from inspector.journal.format import FORMAT, SUFFIX
from inspector.protocol.jsonrpc import NotJson, parse
from inspector.protocol.members import object_at, text_at
from inspector.times import parse_time

HEAD = 1 << 16
"""Bytes read at the start of a recording to describe it, and as many at its end."""


def is_growing(path: Path) -> bool:
    """Whether a live process is writing the recording in `path`."""
    with _opened(path) as descriptor:
        return descriptor is not None and _is_held(descriptor)


@contextmanager
def _opened(path: Path) -> Iterator[int | None]:
    """Yield a descriptor of a regular file; None if it cannot be opened, or is another kind of file."""
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
    """Whether another process, or another file object of this one, holds the writer's lock."""
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    except ImportError:
        return False
    except OSError:
        return True
    return False


def newest_first(folder: Path) -> list[tuple[Path, int]]:
    """Return the recordings in `folder` with their sizes in bytes. Their names start with the time and sort by it."""
    found: list[tuple[str, int]] = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                if entry.name.endswith(SUFFIX) and entry.is_file(follow_symlinks=False):
                    found.append((entry.name, entry.stat(follow_symlinks=False).st_size))
    found.sort(reverse=True)
    return [(folder / name, octets) for name, octets in found]


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
    errors: int | None = None
    """Error responses, including those to `server/discover`."""
    problem: str = ""
    """Why it cannot be read."""
    refused_probes: int = 0
    """Error responses to `server/discover` before the connection was ready: older servers answer it with an error."""
    server: str = ""
    """The name that the server gave itself; empty if it is not among the first events."""
    purpose: str = ""
    """What it was made for, such as `check` or `load`; empty for a plain session."""

    @property
    def name(self) -> str:
        """The name that its session showed: the server's own, else the label of the target, else the file's."""
        return self.server or self.label or self.path.name

    @property
    def failures(self) -> int:
        """Error responses without those of older servers to `server/discover`."""
        return max((self.errors or 0) - self.refused_probes, 0)


def list_recordings(folder: Path | None = None) -> list[RecordingInfo]:
    """Return the recordings in `folder` (default: the state folder), newest first. Reads each file's ends only."""
    folder = paths.state_folder() / "recordings" if folder is None else folder
    return [read_info(path, octets) for path, octets in newest_first(folder)]


def read_info(path: Path, octets: int | None = None) -> RecordingInfo:
    """Describe a recording from `HEAD` bytes at its start and its end. Never raises: see `problem`."""
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
        return RecordingInfo(path, octets, problem="is not a recording")
    target = object_at(header, "target")
    revision, refused, server = _negotiated(lines)
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
        _count(last.get("errors")) if ended else None,
        refused_probes=refused,
        server=server,
        purpose=text_at(header, "purpose"),
    )


def _negotiated(lines: Iterator[dict[str, Any]]) -> tuple[str, int, str]:
    """Return the negotiated revision, the number of error responses to `server/discover`, and the server's name.

    Revision and name may be empty.
    """
    probes: set[str] = set()
    refused, server = 0, ""
    for line in lines:
        if line.get("event") == "ready" and type(line.get("revision")) is str:
            return line["revision"], refused, server
        raw = text_at(line, "raw")
        if line.get("kind") != "rpc" or not any(text in raw for text in ("server/discover", '"error"', "erverInfo")):
            continue
        try:
            message = object_at(parse(raw.encode("utf-8", "surrogatepass")))
        except NotJson:
            continue
        server = discovered(message.get("result"), "").title or server
        id = repr(message.get("id"))
        if message.get("method") == "server/discover":
            probes.add(id)
        elif "error" in message and id in probes:
            refused += 1
    return "", refused, server


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

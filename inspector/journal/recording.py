"""A recording that is read: its events, and its index, which grows with the file."""

from __future__ import annotations

import json
import os
import threading
from array import array
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

from inspector.errors import RecordingError
from inspector.hints import Hint, Parameter
from inspector.journal import saved_index
from inspector.journal.findings import Finding, Findings
from inspector.journal.format import (
    FORMAT,
    VERSION,
    Dir,
    Event,
    Kind,
    dumps,
    event_line,
    extra_json,
    read_envelope,
    read_event,
    read_outline,
)
from inspector.journal.index import Index, conn_of
from inspector.journal.marks import Marks, append, end_of_events, reopened, write_at
from inspector.journal.redaction import Redactor
from inspector.journal.storage import RecentBodies, Storage
from inspector.protocol.jsonrpc import NotJson, parse
from inspector.text import count, size
from inspector.times import parse_time

_CACHE_EVENTS = 512
_CACHE_LARGEST = 1 << 18
_BLOCK = 1 << 20
_NEAR = 1 << 16
"""Bytes that are read at once for several events."""


def _first_line(block: bytes) -> bytes:
    """Return the first of several lines: the end line may stand before the last event."""
    end = block.find(b"\n")
    return block if end < 0 else block[:end]


class EventReader:
    """Reads events, and keeps the small ones that were read last. Several threads may use it.

    The bodies of `recent` are not in the file. With `raw_only` lines are returned unchanged: they have a newer format.
    """

    def __init__(self, storage: Storage, index: Index, recent: RecentBodies, *, raw_only: bool) -> None:
        self._storage = storage
        self._index = index
        self._recent = recent
        self._raw_only = raw_only
        self._cache: OrderedDict[int, Event] = OrderedDict()
        self._lock = threading.Lock()

    def forget(self) -> None:
        """Drop the events that are kept: the file was changed."""
        with self._lock:
            self._cache.clear()

    def event(self, n: int) -> Event:
        """Read event `n` (from 1). Raises IndexError outside 1…len."""
        if not 0 < n <= self._index.count:
            raise IndexError(n)
        with self._lock:
            kept = self._cache.get(n)
            if kept is not None:
                self._cache.move_to_end(n)
                return kept
        event = self._read(n)
        if self._index.views.sizes[n - 1] < _CACHE_LARGEST:
            with self._lock:
                self._cache[n] = event
                while len(self._cache) > _CACHE_EVENTS:
                    self._cache.popitem(last=False)
        return event

    def line(self, n: int) -> bytes:
        """Return the line of event `n` in the file, without its line feed."""
        start, end = self._span(n)
        if end - start > _BLOCK and self._storage.pread(end - 1, 1) == b"\n":
            end -= 1  # Without a copy of a long line.
        return _first_line(self._storage.pread(start, end - start))

    def _span(self, n: int) -> tuple[int, int]:
        """Return where the line of event `n` begins and ends in the file. A line feed is part of it.

        After the line of the last event, more lines may be inside: to look for its end costs another read.
        """
        offsets = self._index.views.offsets
        start = offsets[n - 1]
        if n < self._index.count:
            return start, offsets[n]
        end = self._storage.size
        return start, end if end - start <= _NEAR else min(end, start + self._last_length(start))

    def _last_length(self, start: int) -> int:
        length = 4096
        while True:
            block = self._storage.pread(start, length)
            end = block.find(b"\n")
            if end >= 0:
                return end + 1
            if len(block) < length:
                return len(block)
            length *= 8

    def _read(self, n: int) -> Event:
        recent = self._recent.event(n)
        return self._parsed(n, self.line(n)) if recent is None else recent

    def _parsed(self, n: int, line: bytes) -> Event:
        """Return the event of a line."""
        index = self._index
        if not line and self._storage.writable:
            # Indexed when even lines without a body were no longer written.
            dropped = {"dropped": {"bytes": index.views.sizes[n - 1]}}
            return Event(
                n, index.views.times[n - 1], index.dir(n), index.kind(n), index.channel(n), None, None, dropped
            )
        try:
            value = parse(line)
        except NotJson:
            value = None
        if self._raw_only or type(value) is not dict:
            reason = "a line of a newer format" if self._raw_only else "this line of the recording cannot be parsed"
            try:
                text, data = line.decode() or None, None
            except UnicodeDecodeError:
                text, data = None, line
            return Event(n, index.views.times[n - 1], Dir.LOCAL, Kind.OTHER, "", text, data, {"why": reason})
        del line
        event = read_event(value, n)
        event.n = n
        return event

    def events(self, first: int = 1, last: int | None = None) -> Iterator[Event]:
        """Yield the events from `first` to `last`, not cached."""
        return self.events_of(range(first, (last or self._index.count) + 1))

    def events_of(self, numbers: Sequence[int]) -> Iterator[Event]:
        """Yield the events with these ascending numbers, not cached. Those that are near each other are read at once.

        Each read lets other threads run, and then waits for them: one read for each event would take ten times as long.
        """
        if len(numbers) == 1:
            yield self._read(numbers[0])
            return
        block, start = b"", 0
        for n in numbers:
            begin, end = self._span(n)
            if end - begin > _NEAR:
                yield self._read(n)
                continue
            if begin < start or end > start + len(block):
                last = min(begin + _NEAR, self._span(numbers[-1])[1])
                block, start = self._storage.pread(begin, max(end, last) - begin), begin
            recent = self._recent.event(n)
            yield self._parsed(n, _first_line(block[begin - start : end - start])) if recent is None else recent


_HEADER_LIMIT = 1 << 20
_MAX_NAMES, _MAX_OF_NAME = 5, 40
"""Unknown kinds of events that are named, and the characters of each name."""

# A lookup of an enum member costs as much as all other work on a message.
_RPC, _INVALID = Kind.RPC, Kind.INVALID


class Recording:
    """A recording and its index. `open` one, then `refresh` it."""

    def __init__(
        self, storage: Storage, header: dict[str, Any], redactor: Redactor | None = None, *, raw_only: bool = False
    ) -> None:
        self.storage = storage
        self.header = header
        self.index = Index()
        self.findings = Findings()
        self.marks = Marks()
        self.redactor = redactor or Redactor()
        self.index.methods.redact = lambda text: self.redactor.text(text)[0]
        self.ended: dict[str, Any] | None = None
        """The end line, if there is one. None in a finished file means that the writer was killed."""
        self.notices: list[str] = []
        """Unusual facts about the file, as sentences for its reader."""
        self.raw_only = raw_only
        """The file has a newer major version: events are shown, not interpreted."""
        self.recent = RecentBodies()
        self._reader = EventReader(storage, self.index, self.recent, raw_only=raw_only)
        self.event = self._reader.event
        self.line = self._reader.line
        self.events = self._reader.events
        self.events_of = self._reader.events_of
        self._unknown: list[str] = []
        """The first kinds of events that this version does not know."""
        self._scanned = 0
        self._end_at = 0
        """Where the end line starts in the file; 0 without one."""
        self._finding_notes = array("I")
        """The notes with a finding, ascending."""
        self._may_save = True
        self._is_begun = False
        """Whether reading has begun."""
        self.is_read = storage.writable
        """Whether all of the file, as far as it was written, has been read."""
        self._read_as: dict[str, Any] | None = None
        """Of a long recording that is read: its identity when that began."""

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a recording to read. Nothing is indexed yet: call `refresh` until it returns False.

        Raises `RecordingError` if the file is missing, empty, binary or not a recording.
        """
        storage = Storage.read(path)
        try:
            first = storage.pread(0, _HEADER_LIMIT)
            end = first.find(b"\n")
            header = _read_header(path, first if end < 0 else first[:end])
        except RecordingError:
            storage.close()
            raise
        version = header.get("version")
        raw_only = type(version) is not int or version > VERSION
        opened = cls(storage, header, raw_only=raw_only)
        if raw_only:
            opened.notices.append(
                f"This recording has format version {version}; this Inspector supports version {VERSION}. "
                "Its lines are shown unchanged."
            )
        opened._scanned = end + 1 if end >= 0 else storage.size
        return opened

    def __len__(self) -> int:
        return self.index.count

    @property
    def path(self) -> Path | None:
        """The path of the recording; None for one without a name."""
        return self.storage.path

    def shows(self, n: int, what: str = "it") -> str:
        """Return a hint that event `n` shows something. A journal without a file has it only while we run."""
        if self.path is None:
            return f"Message {n} shows {what}, but it is not recorded."
        return f"Message {n} in the recording shows {what}."

    @property
    def started(self) -> datetime:
        """When the recording began; the epoch if the header does not have it."""
        return parse_time(self.header.get("started")) or datetime.fromtimestamp(0, UTC)

    def clock(self, t: int) -> datetime:
        """Return the local wall-clock time of `t` microseconds after the start."""
        try:
            return (self.started + timedelta(microseconds=t)).astimezone()
        except (OverflowError, ValueError):
            return self.started

    @property
    def torn(self) -> bool:
        """Whether the file ends in the middle of a line."""
        return not self.storage.writable and self._scanned < self.storage.size

    @property
    def end_is_missing(self) -> bool:
        """Whether the whole file was read and has no end line: its writer was killed, or still writes."""
        return not self.storage.writable and self.ended is None

    def follower(self) -> Self:
        """Return a reader of the same file with an index of its own, for another thread.

        Call `refresh` as the file grows. The reader stays readable after this one was released. It reads only what is
        on the disk.
        """
        reader = type(self)(Storage(os.dup(self.storage.fd), self.path, writable=False), self.header)
        reader._may_save = False
        reader._scanned = len(self.storage.pread(0, _HEADER_LIMIT).partition(b"\n")[0]) + 1
        return reader

    def release(self) -> None:
        """Close the file. Idempotent. The index of a long recording is saved, so that it opens fast the next time."""
        if self.storage.fd >= 0:
            if self.index.columns.has_unsaved(self.index.count):
                self._save_index()
            self.index.columns.discard()
        self.storage.close()

    def _append_mark(self, fields: dict[str, Any]) -> None:
        """Write a mark into a finished recording, before its end line."""
        path = self.path
        if path is None or self.raw_only:
            raise RecordingError(
                "This recording cannot be marked: "
                + ("it has no file." if path is None else "it has a newer format than this Inspector."),
                hint=Hint("Record it with ", Parameter.RECORD.to("FILE"), ".") if path is None else "Update Inspector.",
            )
        storage = self.storage
        with reopened(path, storage.fd, is_locked=storage.writable) as fd:
            while self.refresh():
                pass
            is_known = self._read_as is not None and self._read_as == saved_index.identity(fd)
            offset, end = end_of_events(fd)
            n, t = self.index.count + 1, self.index.latest()
            line = event_line(n, t, "local", "mark", "", None, False, extra_json(fields)).encode("utf-8", "replace")
            if end:
                ended = {**(self.ended or {}), "kind": "end", "events": n}
                write_at(fd, path, offset, line + (dumps(ended) + "\n").encode("utf-8", "replace"))
            else:
                append(path, b"\n" + line if self.torn else line)
            if is_known:
                self._read_as = saved_index.identity(fd)
            if storage.writable:  # A reader finds the mark by itself; what we wrote is not read again.
                storage.disk_size = os.fstat(fd).st_size
                self.marks.apply(n, fields)
                self.index.add_life(t, Kind.MARK, "", offset, fields)
        while self.refresh():
            pass

    @property
    def dropped(self) -> tuple[int, int]:
        """The number of bodies that were not recorded because the recording was full, and their bytes."""
        about = self.ended.get("dropped") if self.ended is not None else None
        events, octets = (about.get("events"), about.get("bytes")) if type(about) is dict else (0, 0)
        return (events, octets) if isinstance(events, int) and isinstance(octets, int) else (0, 0)

    @property
    def incomplete(self) -> str:
        """Why the recording is incomplete, as a short phrase; empty if it is complete."""
        return missing_bodies("recording was full", *self.dropped) if self.dropped[0] else ""

    def refresh(self, limit: int = 20_000) -> bool:
        """Index up to `limit` new lines of the file. Returns True if there may be more."""
        more = self._refresh(limit)
        self.is_read = not more
        return more

    def _refresh(self, limit: int) -> bool:
        storage = self.storage
        if self.storage.writable:
            return False
        if not self._is_begun:
            self._begin_reading()
        if storage.grown() and self.ended is not None and self._end_at:
            # A mark was added: the end line has moved.
            self._scanned, self.ended = self._end_at, None
        taken = 0
        while taken < limit and self._scanned < storage.size:
            block = storage.pread(self._scanned, _BLOCK)
            end = block.rfind(b"\n")
            if end < 0:
                length = self._long_line(len(block))
                if not length:
                    return False
                del block
                self._index_line(storage.pread(self._scanned, length), self._scanned)
                taken += 1
                self._scanned += length + 1
                continue
            offset = self._scanned
            for line in block[:end].split(b"\n"):
                if line:
                    self._index_line(line, offset)
                    taken += 1
                offset += len(line) + 1
                if taken >= limit:
                    break
            self._scanned = offset
        return self._scanned < storage.size

    def _long_line(self, known: int) -> int:
        """Return the bytes of the line at `_scanned`, which has more than `known`; 0 if it has no end."""
        at = self._scanned + known
        while block := self.storage.pread(at, _BLOCK):
            end = block.find(b"\n")
            if end >= 0:
                return at + end - self._scanned
            at += len(block)
        return 0

    def _index_line(self, line: bytes, offset: int) -> None:
        index = self.index
        try:
            value = parse(line)
        except NotJson:
            value = None
        if type(value) is not dict or self.raw_only:
            index.add(
                index.views.times[index.count - 1] if index.count else 0, Dir.LOCAL, Kind.OTHER, "", offset, len(line)
            )
            return
        if value.get("kind") == "end" and "n" not in value:
            self.ended, self._end_at = value, offset
            if self.dropped[0]:
                self.notices.append(f"This recording is not complete: {self.incomplete}.")
            return
        raw = value.get("raw")
        if value.get("kind") == "rpc" and type(raw) is str:
            if len(raw) >= _BLOCK:
                del line
                with suppress(ValueError, RecursionError):
                    self._take_long(value, raw, read_outline(raw), offset)
                    return
            self._take_message(value, raw.encode("utf-8", "surrogatepass"), offset)
            return
        event = read_event(value, index.count + 1)
        size = len(event.bytes) if event.data is not None or event.raw is not None else event.dropped or 0
        if event.kind is Kind.OTHER:
            self._tell_unknown(event.kind_name)
        if event.kind == Kind.MARK:
            self.marks.apply(index.count + 1, event.fields)
        if event.kind in (Kind.LIFE, Kind.AUTH, Kind.MARK):
            index.add_life(event.t, event.kind, event.ch, offset, event.fields)
            return
        message = event.message
        if event.dropped is not None:
            index.dropped.append(index.count + 1)
        kind = _INVALID if event.kind is _RPC and message is None else event.kind
        n = index.add(event.t, event.dir, kind, event.ch, offset, size, message, conn=conn_of(event.fields))
        if event.kind == Kind.NOTE and type(event.fields.get("finding")) is dict:
            self._take_finding(n, event)

    def _take_message(self, line: dict[str, Any], raw: bytes, offset: int) -> None:
        """Index a message without making an `Event`, as most lines are messages."""
        t, dir, channel = read_envelope(line)
        conn = conn_of(line) if "conn" in line else 0
        try:
            self.index.add(t, dir, _RPC, channel, offset, len(raw), parse(raw), conn=conn)
        except NotJson:
            self.index.add(t, dir, _INVALID, channel, offset, len(raw), conn=conn)

    def _take_long(self, line: dict[str, Any], raw: str, message: Any, offset: int) -> None:
        """Do the same for a long message, of which only the outline is parsed."""
        t, dir, channel = read_envelope(line)
        octets = len(raw) if raw.isascii() else len(raw.encode("utf-8", "surrogatepass"))
        self.index.add(t, dir, _RPC, channel, offset, octets, message, conn=conn_of(line))

    def _tell_unknown(self, kind: str) -> None:
        """Name a kind of event that this version does not know among the notices."""
        name = f"“{kind[:_MAX_OF_NAME]}”"
        if name in self._unknown or len(self._unknown) >= _MAX_NAMES:
            return
        notice, self._unknown = _unknown_notice(self._unknown), [*self._unknown, name]
        self.notices[:] = [other for other in self.notices if other != notice] + [_unknown_notice(self._unknown)]
        # A saved index does not have the names.
        self._may_save = False

    def _take_finding(self, n: int, event: Event) -> None:
        about = event.fields["finding"]
        level = about.get("level")
        self._finding_notes.append(n)
        self.findings.add(
            Finding(
                about["n"] if type(about.get("n")) is int else n,
                str(about.get("rule", "")),
                level if level in ("must", "should", "note") else "note",
                str(event.fields.get("text", "")),
                page=str(about.get("page", "")),
            )
        )

    def _begin_reading(self) -> None:
        """Take the saved index of a long recording, if there is one."""
        self._is_begun = True
        storage, index = self.storage, self.index
        if not self._may_save or self.raw_only or storage.disk_size < saved_index.MIN_BYTES:
            return
        self._read_as = saved_index.identity(storage.fd)
        rest = saved_index.load(storage.fd, self._read_as, index)
        if rest is None:
            return
        self._scanned = rest["scanned"]
        for n in rest["marks"]:
            self.marks.apply(n, self.event(n).fields)
        for n in rest["findings"]:
            event = self.event(n)
            if type(event.fields.get("finding")) is dict:
                self._take_finding(n, event)

    def _save_index(self) -> None:
        """Save the index if it covers the whole file as it is now, and the file has a name."""
        storage, path, at = self.storage, self.path, self._scanned
        if path is None or self.raw_only or not self._may_save:
            return
        if storage.writable:
            if self.ended is None or self.dropped[0] or storage.problem or storage.tail:
                return
        elif self._read_as is None or self._read_as != saved_index.identity(storage.fd):
            return
        if self.ended is not None:
            at, end = end_of_events(storage.fd)
            if not end:
                return
        rest = {"scanned": at, "marks": self.marks.numbers(), "findings": list(self._finding_notes)}
        saved_index.save(storage.fd, path, self.index, rest, self.redactor, with_open=not storage.writable)


def missing_bodies(reason: str, events: int, octets: int) -> str:
    """Return the phrase for bodies that were not recorded."""
    bodies = "1 body" if events == 1 else f"{count(events)} bodies"
    return f"{reason}: {bodies} not recorded ({size(octets)})"


def _unknown_notice(names: Sequence[str]) -> str:
    kinds = "the kind" if len(names) == 1 else "the kinds"
    return (
        f"This recording has events of {kinds} {', '.join(names)}, which this Inspector does not know: it shows their "
        "fields only. A newer version may show more."
    )


def _read_header(path: Path, line: bytes) -> dict[str, Any]:
    if not line.strip():
        raise RecordingError(f"{path} is empty, so it is not a recording.", hint="Choose another file.")
    try:
        header = json.loads(line)
    except (ValueError, RecursionError):
        header = None
    if type(header) is not dict or header.get("format") != FORMAT:
        raise RecordingError(
            f"{path} is not a recording: “{FORMAT}” is missing in its first line.",
            hint=Hint("Recordings are made by ", Parameter.MAKE_RECORDING, " and end in .mcp.jsonl."),
        )
    return header

"""The events of a recording, read from its file by number."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence

from inspector.journal.format import Dir, Event, Kind, read_event
from inspector.journal.index import Index
from inspector.journal.overflow import RecentBodies
from inspector.journal.storage import Storage
from inspector.protocol.jsonrpc import NotJson, parse

_CACHE_EVENTS = 512
_CACHE_LARGEST = 1 << 18
_BLOCK = 1 << 20
_NEAR = 1 << 16
"""Bytes that are read at once for several events."""


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
        return self._storage.pread(start, end - start).rstrip(b"\n")

    def _span(self, n: int) -> tuple[int, int]:
        """Return where the line of event `n` begins and ends in the file. A line feed is part of it."""
        offsets = self._index.views.offsets
        start = offsets[n - 1]
        return start, offsets[n] if n < self._index.count else min(self._storage.size, start + self._last_length(start))

    def _last_length(self, start: int) -> int:
        length = 4096
        while True:
            block = self._storage.pread(start, length)
            found = block.find(b"\n")
            if found >= 0:
                return found + 1
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
            yield self._parsed(n, block[begin - start : end - start].rstrip(b"\n")) if recent is None else recent

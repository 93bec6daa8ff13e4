"""The events of a full recording: it counts them, and keeps the newest bodies in memory.

At first each event still has its line, with its size and the outline of its message instead of the body, so that
requests and answers are paired. After `OUTLINES` bytes of such lines, nothing more is written: only events that the
session needs still have their own number, and all others share that of the note that the recording is full.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

from inspector.journal.columns import ROW_BYTES
from inspector.journal.format import Dir, Event
from inspector.protocol.jsonrpc import Shape

OUTLINES = 64 << 20
"""Bytes of lines without bodies, and of their index, that are written after the recording is full."""
RECENT_EVENTS = 512
RECENT_BYTES = 32 << 20
"""Bytes of bodies kept in memory, so that the interface can show the newest events."""
REQUESTS = 100_000
"""Requests of the server that get their own number when even outlines are no longer written."""
MAX_EVENTS = (1 << 32) - 1
"""Events that an index can number."""
BYTES_PER_EVENT = 128
"""Bytes of the limit per event: the index of each event takes memory and disk, but no usual event is smaller."""


class Overflow:
    """The counts, and the remaining bytes for outlines."""

    def __init__(self, outlines: int = OUTLINES, most_events: int = MAX_EVENTS) -> None:
        self.events = 0
        """Events without a recorded body."""
        self.bytes = 0
        """Bytes of these bodies."""
        self.outlines = outlines
        """Bytes of lines without bodies that may still be written."""
        self.requests = REQUESTS
        self.most_events = most_events
        """Most events in the index; from then on nothing is written."""
        self.is_told = False
        """Whether the recording has the note that it is full."""
        self.marker = 0
        """The event with that note."""

    @classmethod
    def for_limit(cls, limit: int | None) -> Overflow:
        """Return the values for a recording of `limit` bytes: outlines are a small part of it."""
        if limit is None:
            return cls()
        return cls(outlines=min(OUTLINES, limit // 16), most_events=min(limit // BYTES_PER_EVENT, MAX_EVENTS))

    def count(self, size: int) -> None:
        """Count a body that is not recorded."""
        self.events += 1
        self.bytes += size

    def takes_line(self, size: int) -> bool:
        """Whether a line of `size` bytes may still be written; this uses up its bytes, and those of its index."""
        size += ROW_BYTES
        if self.outlines < size:
            self.outlines = 0
        else:
            self.outlines -= size
        return self.outlines > 0

    def needs(self, dir: Dir, shape: Shape, is_awaited: bool) -> bool:
        """Whether a message needs its own number even if it is not written: requests, and the answers to ours."""
        if dir is Dir.SEND:
            return shape is Shape.REQUEST
        if shape is Shape.REQUEST:
            self.requests -= 1
            return self.requests >= 0
        return is_awaited and shape in (Shape.RESULT, Shape.ERROR)


class RecentBodies:
    """The newest events whose bodies are not in the file. Several threads may use it."""

    def __init__(self, limit: int = RECENT_BYTES) -> None:
        self.limit = limit
        """Bytes of bodies that are kept."""
        self._held = 0
        self._recent: OrderedDict[int, tuple[Event, int]] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, event: Event, size: int) -> None:
        """Keep the body of a new event in memory, instead of older ones."""
        if size > self.limit:
            return
        with self._lock:
            self._recent[event.n] = event, size
            self._held += size
            while len(self._recent) > RECENT_EVENTS or self._held > self.limit:
                _, (_, gone) = self._recent.popitem(last=False)
                self._held -= gone

    def event(self, n: int) -> Event | None:
        """Return the event with its body, if it is still in memory."""
        if not self._recent:
            return None
        with self._lock:
            kept = self._recent.get(n)
        return kept[0] if kept is not None else None

"""What a journal does with events when its recording is full: it counts them, and keeps the newest bodies in memory.

At first each event still has its line, with its size and the outline of its message in place of the body, so that
requests and answers are paired. When `OUTLINES` bytes of such lines are written, nothing more is: only what the session
needs still has a number of its own, and everything else shares that of the event that said so.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

from inspector.journal.format import Event

OUTLINES = 64 << 20
"""Bytes of lines without bodies that are written after the recording is full."""
RECENT_EVENTS = 512
RECENT_BYTES = 32 << 20
"""Bodies kept in memory: what the interface shows of the newest events."""
REQUESTS = 100_000
"""Requests of the server that get a number of their own when not even outlines are written."""
MOST_EVENTS = (1 << 32) - 1
"""Events that an index can number."""
BYTES_PER_EVENT = 512
"""A recording may have one event for this many bytes of its limit: the index of each takes memory."""


class Overflow:
    """The counts, the room that is left for outlines, and the newest bodies."""

    def __init__(
        self, outlines: int = OUTLINES, recent_bytes: int = RECENT_BYTES, most_events: int = MOST_EVENTS
    ) -> None:
        self.events = 0
        """Events whose bodies were not kept."""
        self.bytes = 0
        """Bytes of these bodies."""
        self.outlines = outlines
        """Bytes of lines without bodies that may still be written."""
        self.requests = REQUESTS
        self.most_events = most_events
        """Events in the index at most; from then on nothing is written any more."""
        self.is_told = False
        """Whether the recording says that it is full."""
        self.marker = 0
        """The event that says so."""
        self._recent_bytes = recent_bytes
        self._held = 0
        self._recent: OrderedDict[int, tuple[Event, int]] = OrderedDict()
        self._lock = threading.Lock()

    @classmethod
    def for_limit(cls, limit: int | None) -> Overflow:
        """What fits a recording of `limit` bytes: outlines are a small part of it."""
        if limit is None:
            return cls()
        return cls(outlines=min(OUTLINES, limit // 16), most_events=min(limit // BYTES_PER_EVENT, MOST_EVENTS))

    def count(self, size: int) -> None:
        """Count a body that is not kept."""
        self.events += 1
        self.bytes += size

    def takes_line(self, size: int) -> bool:
        """Whether a line of `size` bytes may still be written; it uses up the room."""
        if self.outlines < size:
            self.outlines = 0
        else:
            self.outlines -= size
        return self.outlines > 0

    def keep(self, event: Event, size: int) -> None:
        """Hold the body of a new event in memory, in place of older ones."""
        if size > self._recent_bytes:
            return
        with self._lock:
            self._recent[event.n] = event, size
            self._held += size
            while len(self._recent) > RECENT_EVENTS or self._held > self._recent_bytes:
                _, (_, gone) = self._recent.popitem(last=False)
                self._held -= gone

    def recent(self, n: int) -> Event | None:
        """The event with its body, where it is still in memory."""
        if not self._recent:
            return None
        with self._lock:
            kept = self._recent.get(n)
        return kept[0] if kept is not None else None

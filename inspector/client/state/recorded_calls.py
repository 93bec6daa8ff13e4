"""The calls in flight at a moment of a recording, and their progress."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Literal

from inspector.client.state.calls import Progress
from inspector.client.state.recorded_tracks import params_of
from inspector.journal import durations
from inspector.journal.exchange import given_up_at, is_open, newest_progress, walk_open
from inspector.journal.journal import Journal

BLOCK = 4096
"""Events between two snapshots of the calls in flight."""
KEPT = 200
"""Maximum calls in a snapshot: the latest."""
MAX_OPEN = 10_000
"""Maximum open requests that are tracked; a hostile recording may contain only such."""


class RecordedCall:
    """A call in flight, with the interface of a live one. `moment()` returns the shown last event and time."""

    fate: Literal["pending"] = "pending"
    allowed = 0.0
    """The timeout in seconds; unknown in a recording."""

    def __init__(self, flight: RequestsInFlight, n: int, moment: Callable[[], tuple[int, int]]) -> None:
        journal = flight.journal
        self.n = n
        self.method = journal.index.method(n)
        self.params = params_of(journal.event(n))
        self.started = journal.index.time(n)
        self._flight = flight
        self._moment = moment
        self._progress: tuple[int, Progress | None] = (0, None)

    @property
    def now(self) -> int:
        """The shown moment, in microseconds of the recording."""
        return self._moment()[1]

    @property
    def progress(self) -> Progress | None:
        """Its progress at the moment."""
        upto, _ = self._moment()
        if self._progress[0] != upto:
            self._progress = upto, self._flight.progress(self.n, upto)
        return self._progress[1]

    @property
    def name(self) -> str:
        """The tool's or prompt's name, or the resource's URI."""
        name = self.params.get("name") or self.params.get("uri") or ""
        return name if isinstance(name, str) else ""

    @property
    def elapsed(self) -> float:
        """Seconds since its start."""
        return max(self.now - self.started, 0) / 1_000_000

    @property
    def person_time(self) -> float:
        """Seconds of them in which it waited for a person."""
        found = durations.took(self._flight.journal.index, self.n, until=self.now)
        return found.person / 1_000_000 if found is not None else 0.0


class RequestsInFlight:
    """Our requests without an end. `advance` reads the events in order; `at` returns those of any moment."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.seen = 0
        self._open: dict[int, None] = {}
        self._blocks: list[array[int]] = [array("I")]
        """The open requests after each `BLOCK` events."""
        self._progress: dict[int, tuple[int, int]] = {}
        """By request: the last event searched for its progress, and the latest progress up to there."""

    def advance(self, last: int, limit: int) -> bool:
        """Process the events up to `last`, about `limit` at most. True: all are processed."""
        high = min(last, self.seen + limit)
        while self.seen < high:
            self.seen = self._walk(self._open, self.seen, min(high, self.seen - self.seen % BLOCK + BLOCK))
            if self.seen % BLOCK == 0:
                self._blocks.append(array("I", list(self._open)[-KEPT:]))
        return self.seen >= last

    def at(self, n: int) -> list[int]:
        """Return the requests in flight after event `n`, oldest first, the latest `KEPT` of them."""
        n = min(n, self.seen)
        block = n // BLOCK
        found = dict.fromkeys(self._blocks[block])
        self._walk(found, block * BLOCK, n)
        return list(found)[-KEPT:]

    def _walk(self, found: dict[int, None], first: int, last: int) -> int:
        """Process the events after `first` up to `last`; return `last`."""
        walk_open(self.journal.index, found, first, last, MAX_OPEN)
        return last

    def settled_at(self, request: int) -> int:
        """Return the event that gave up a request; beyond the last event if none did."""
        return given_up_at(self.journal.index, request)

    def is_open(self, request: int, n: int) -> bool:
        """Whether our request was still open after event `n`."""
        return is_open(self.journal.index, request, n)

    def progress(self, request: int, n: int) -> Progress | None:
        """Return the latest progress of a request after event `n`."""
        seen, found = self._progress.get(request, (request, 0))
        if n < seen:
            seen, found = request, 0
        found = newest_progress(self.journal.index, request, seen, n) or found
        if len(self._progress) > KEPT:
            self._progress.clear()
        self._progress[request] = (n, found)
        if not found:
            return None
        event = self.journal.event(found)
        return Progress(found, event.t, params_of(event), 1)

"""A clock and a position in a recording, to play it, step through it and jump in it. Draws nothing.

The position is the number of the last event shown; 0 is before the first. A player stays at the end of a growing
recording until it is moved.
"""

from __future__ import annotations

import time
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from itertools import pairwise
from math import ceil, inf

from inspector.journal.exchange import SENT_REQUESTS
from inspector.journal.failures import failures, problems
from inspector.journal.filters import Filter
from inspector.journal.format import Dir
from inspector.journal.gaps import FOLD
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape
from inspector.replay import speeds
from inspector.replay.positions import TypedPosition

BLOCK = 256
"""Events between two stored positions."""
BINS = 2048
"""Maximum number of parts of the total length; at least half as many once it is long."""
FIRST_BIN = 64
"""Initial microseconds of one part, which doubles whenever there are too many parts."""


class ActivityProfile:
    """Positions are microseconds of playing time at speed 1 since the first event. `advance` processes new events."""

    def __init__(self, journal: Journal, fold: int) -> None:
        self.journal = journal
        self.fold = fold
        """Maximum microseconds that a gap counts for."""
        self.seen = 0
        self.length = 0
        """The position of the last processed event."""
        self.latest = 0
        """The latest time of all events, in microseconds since the start."""
        self.errors = 0
        self._blocks = array("Q", [0])
        self._latest = array("q", [0])
        self._width = FIRST_BIN
        self._counts = array("L", [0]) * BINS
        self._errors = array("L", [0]) * BINS

    def advance(self, limit: int = 20_000) -> bool:
        """Process up to `limit` further events. True: more are left."""
        index = self.journal.index
        last = min(index.count, self.seen + limit)
        fold, place, latest = self.fold, self.length, self.latest
        times, failed = index.times_between(self.seen, last), failures(index, self.seen, last)
        before = index.time(self.seen) if self.seen else times[0] if times else 0
        width, limit_place, counts = self._width, self._width * BINS, self._counts
        for n, (t, has_failed) in enumerate(zip(times, failed, strict=True), self.seen + 1):
            gap = t - before
            before = t
            place += 1 if gap <= 1 else gap if gap < fold else fold
            if t > latest:
                latest = t
            while place >= limit_place:
                self._halve()
                width, limit_place = self._width, self._width * BINS
            counts[place // width] += 1
            if has_failed:
                self._errors[place // width] += 1
                self.errors += 1
            if n % BLOCK == 0:
                self._blocks.append(place)
                self._latest.append(latest)
        self.seen, self.length, self.latest = last, place, latest
        return last < index.count

    def _halve(self) -> None:
        """Double the length of the parts."""
        for bins in (self._counts, self._errors):
            half = array("L", map(sum, zip(bins[::2], bins[1::2], strict=True)))
            bins[: BINS // 2] = half
            bins[BINS // 2 :] = array("L", [0]) * (BINS // 2)
        self._width *= 2

    # Places

    def place(self, n: int) -> int:
        """Return the position of event `n`; 0 before the first."""
        n = min(n, self.seen)
        place = self._blocks[n // BLOCK]
        begin = n // BLOCK * BLOCK
        times = self.journal.index.times_between(max(begin - 1, 0), n)
        if not begin and n:
            place += 1  # The first event.
        for before, t in pairwise(times):
            gap = t - before
            place += 1 if gap <= 1 else min(gap, self.fold)
        return place

    def number_at(self, place: int) -> int:
        """Return the last event at or before a position; 0 without one."""
        n = (bisect_right(self._blocks, place) - 1) * BLOCK
        at = self._blocks[n // BLOCK]
        index, fold = self.journal.index, self.fold
        while n < self.seen:
            gap = index.time(n + 1) - index.time(n) if n else 0
            at += 1 if gap <= 1 else min(gap, fold)
            if at > place:
                break
            n += 1
        return n

    def number_at_time(self, t: int) -> int:
        """Return the last event before the first one that is later than `t` microseconds; 0 without one.

        If a clock ran backwards, the first event after that time is the limit.
        """
        n = (bisect_right(self._latest, t) - 1) * BLOCK if t >= 0 else 0
        index = self.journal.index
        while n < self.seen and index.time(n + 1) <= t:
            n += 1
        return n

    # Drawing

    def columns(self, cells: int) -> list[tuple[int, int]]:
        """Return the events and errors in each of `cells` equal parts of the total length."""
        columns = [(0, 0)] * cells
        if not self.seen or cells <= 0:
            return columns
        events, errors = [0] * cells, [0] * cells
        used = self.length // self._width + 1
        for at in range(used):
            if self._counts[at]:
                cell = self.cell(at * self._width + self._width // 2, cells)
                events[cell] += self._counts[at]
                errors[cell] += self._errors[at]
        return list(zip(events, errors, strict=True))

    def cell(self, place: int, cells: int) -> int:
        """Return the part of `cells` that contains a position."""
        return min(place * cells // max(self.length + 1, 1), cells - 1)

    def number_in(self, cell: int, cells: int) -> int:
        """Return the first event in a part of `cells`, or the last one before it; at least 1."""
        begin = ceil(cell * (self.length + 1) / max(cells, 1))
        before = self.number_at(max(begin - 1, 0))
        after = before + 1
        inside = after <= self.seen and self.cell(self.place(after), cells) == cell
        return max(after if inside else before, min(self.seen, 1))


UNFOLDED = 1 << 62
NEAR, NEAR_READ = 2048, 64
"""Events that are searched immediately for a match; the second limit applies if bodies must be read."""
STEPS = 2000
"""Maximum events that one tick plays; at maximum speed each tick plays as many."""
_MAX_NESTED = 20_000
"""Maximum nested responses that are skipped in one step."""
_ANSWERS = Query(dir=(Dir.SEND, Dir.RECV), shape=(Shape.RESULT, Shape.ERROR))


class Player:
    """Plays a journal. `clock` is a monotonic clock in seconds; call `tick` regularly."""

    def __init__(
        self,
        journal: Journal,
        *,
        clock: Callable[[], float] = time.monotonic,
        fold: float = FOLD,
        speed: float = 1.0,
        follow: bool = False,
    ) -> None:
        self.journal = journal
        self.profile = ActivityProfile(journal, round(fold * 1_000_000) if fold > 0 else UNFOLDED)
        self.speed = speed
        self.follow = follow
        """Another process is still writing the recording: at its end, wait for more."""
        self.playing = False
        self._clock = clock
        self._then = 0.0
        self._owed = 0.0
        """Microseconds of playing time since the event at the position."""
        self._position: int | None = None

    # Position

    @property
    def count(self) -> int:
        """The number of events."""
        return self.journal.index.count

    @property
    def at_end(self) -> bool:
        """Whether it is at the end, and follows a growing recording."""
        return self._position is None

    @property
    def position(self) -> int:
        """The last event shown."""
        return self.count if self._position is None else min(self._position, self.count)

    @property
    def now(self) -> int:
        """The time in microseconds since the start of the recording, also between two events while it plays."""
        n, index = self.position, self.journal.index
        if not n:
            return 0
        if self.at_end or n >= self.count:
            return index.time(n)
        return index.time(n) + min(round(self._owed), max(index.time(n + 1) - index.time(n), 0))

    @property
    def place(self) -> int:
        """The position in the profile."""
        return min(self.profile.place(self.position) + round(self._owed), self.profile.length)

    # Playing

    def play(self) -> None:
        """Play from the position; at the end, from the start."""
        if self.at_end or self.position >= self.count:
            self._position = 0
            self._owed = 0
        self._then = self._clock()
        self.playing = self.count > 0

    def pause(self) -> None:
        """Pause."""
        self.playing = False

    def toggle(self) -> None:
        """Toggle between play and pause."""
        if self.playing:
            self.pause()
        else:
            self.play()

    def change_speed(self, by: int) -> None:
        """Change the speed by one step; slower with a negative `by`."""
        self.speed = speeds.step(self.speed, by)

    def tick(self) -> bool:
        """Advance by the time since the last tick. True: the position changed."""
        if not self.playing:
            return False
        now = self._clock()
        passed, self._then = max(now - self._then, 0.0), now
        before = self.position
        if self.speed == inf:
            after = min(before + STEPS, self.count)
            self._owed = 0.0
        else:
            after = self._play_on(before, passed * self.speed * 1_000_000)
        self._position = after
        if after >= self.count and not (self.follow and self.journal.ended is None):
            self.playing = False
        if after >= self.count:
            self._position, self._owed = None, 0.0
        return after != before

    def _play_on(self, n: int, passed: float) -> int:
        """Return the event reached after this playing time in microseconds; the rest is carried over."""
        self._owed += passed
        for _ in range(STEPS):
            gap = self._gap(n)
            if n >= self.count or self._owed < gap:
                return n
            self._owed -= gap
            n += 1
        self._owed = 0.0  # Playback is too slow: the missed time is dropped.
        return n

    def _gap(self, n: int) -> int:
        """Return the gap after event `n` in microseconds."""
        index = self.journal.index
        return min(max(index.time(n + 1) - index.time(n), 0), self.profile.fold) if 0 < n < self.count else 0

    # Jumping

    def go(self, n: int | None) -> bool:
        """Go to event `n`, or with None to the end. Playback continues from there. True: the position changed."""
        before = (self.position, self.at_end)
        self._owed = 0.0
        self._position = None if n is None or n >= self.count else max(n, 0)
        if self.playing:
            self._then = self._clock()
            self.playing = not self.at_end or (self.follow and self.journal.ended is None)
        return before != (self.position, self.at_end)

    def step(self, by: int) -> bool:
        """Go forward or back by a number of events, and pause."""
        self.pause()
        return self.go(self.position + by)

    def step_exchange(self, by: int) -> bool:
        """Go to the end of the next exchange, or the previous one with a negative `by`, and pause.

        Without one, go to the end, or to the start.
        """
        self.pause()
        return self.go(_next_exchange(self.journal, self.position, by) or (None if by > 0 else 0))

    def go_to(self, place: TypedPosition) -> bool:
        """Go to a time, an event number or an end."""
        if place.unit == "end":
            return self.go(None if place.value else 0)
        if place.unit == "number":
            return self.go(place.value + self.position if place.relative else place.value)
        self.profile.advance(self.count)
        return self.go(self.profile.number_at_time(place.value + self.now if place.relative else place.value))

    def go_to_problem(self, by: int) -> bool:
        """Go to the next or previous event with an error or a finding. False without one."""
        n = _next_problem(self.journal, self.position, by)
        if n:
            self.go(n)
        return bool(n)

    def near_match(self, filter: Filter, by: int) -> int:
        """Return the next or previous event that matches a filter, if it is near; otherwise 0. Fast."""
        n, reach = self.position, NEAR_READ if filter.reads else NEAR
        if by > 0:
            return next(iter(filter.numbers(self.journal, n + 1, n + reach)), 0)
        numbers = filter.numbers(self.journal, n - reach, n - 1)
        return numbers[-1] if numbers else 0

    def next_match(self, filter: Filter, by: int) -> int:
        """Return the next or previous event that matches a filter, or 0. May read the whole file."""
        return filter.next(self.journal, self.position, by)


def _next_exchange(journal: Journal, n: int, step: int) -> int:
    """Return the nearest event after `n` (before it with -1) that ends an outermost exchange, or 0.

    This is its response, or its request if it has none.
    """
    index = journal.index
    answer = 0
    for passed, m in enumerate(_ANSWERS.forwards(index, n) if step > 0 else _ANSWERS.backwards(index, upto=n - 1), 1):
        request = index.pair(m)
        if (request and not index.parent(request)) or passed == _MAX_NESTED:
            answer = m
            break
    if step > 0:
        asked = SENT_REQUESTS.forwards(index, n, answer - 1 if answer else None)
    else:
        asked = SENT_REQUESTS.backwards(index, answer, n - 1)
    return next((m for m in asked if not index.pair(m)), answer)


def _next_problem(journal: Journal, n: int, step: int) -> int:
    """Return the nearest event after `n` (before it with -1) that has an error or a finding, or 0."""
    events = problems(journal.index, journal.findings)
    if step > 0:
        at = bisect_right(events, n)
        return events[at] if at < len(events) else 0
    at = bisect_left(events, n)
    return events[at - 1] if at else 0

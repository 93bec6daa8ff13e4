"""A clock and a position in a recording, to play it, step through it and jump in it. Draws nothing.

The position is the number of the last event shown; 0 is before the first. A player stays at the end of a growing
recording until it is moved.
"""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from math import inf

from inspector.journal.exchange import SENT_REQUESTS
from inspector.journal.filters import Filter
from inspector.journal.format import Dir
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape
from inspector.replay import speeds
from inspector.replay.positions import TypedPosition
from inspector.replay.time_profile import ActivityProfile

FOLD = 2.0
"""Maximum seconds of a gap between two events, at speed 1."""
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

    def go_to_finding(self, by: int) -> bool:
        """Go to the next or previous finding. False without one."""
        n = _next_finding(self.journal, self.position, by)
        if n:
            self.go(n)
        return bool(n)

    def near_match(self, filter: Filter, by: int) -> int:
        """Return the next or previous event that matches a filter, if it is near; otherwise 0. Fast."""
        n, reach = self.position, NEAR_READ if filter.reads else NEAR
        if by > 0:
            return next(iter(filter.numbers(self.journal, n + 1, n + reach)), 0)
        found = filter.numbers(self.journal, n - reach, n - 1)
        return found[-1] if found else 0

    def next_match(self, filter: Filter, by: int) -> int:
        """Return the next or previous event that matches a filter, or 0. May read the whole file."""
        return filter.next(self.journal, self.position, by)


def _next_exchange(journal: Journal, n: int, step: int) -> int:
    """Return the nearest event after `n` (before it with -1) that ends an outermost exchange, or 0.

    This is its response, or its request if it has none.
    """
    index = journal.index
    answer = 0
    for passed, m in enumerate(_ANSWERS.each(index, n) if step > 0 else _ANSWERS.backwards(index, upto=n - 1), 1):
        request = index.pair(m)
        if (request and not index.parent(request)) or passed == _MAX_NESTED:
            answer = m
            break
    if step > 0:
        asked = SENT_REQUESTS.each(index, n, answer - 1 if answer else None)
    else:
        asked = SENT_REQUESTS.backwards(index, answer, n - 1)
    return next((m for m in asked if not index.pair(m)), answer)


def _next_finding(journal: Journal, n: int, step: int) -> int:
    """Return the nearest event after `n` (before it with -1) that has a finding, or 0."""
    found = journal.findings.events()
    if step > 0:
        at = bisect_right(found, n)
        return found[at] if at < len(found) else 0
    at = bisect_left(found, n)
    return max(found[at - 1], 0) if at else 0

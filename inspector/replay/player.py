"""A clock and a position over a recording: what plays it, steps through it and goes to places in it. Draws nothing.

The position is the number of the last event that has happened; 0 is before the first. A player stands at the end as
long as nobody moves it, also when the recording grows.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from math import inf

from inspector.journal.filters import Filter
from inspector.journal.journal import Journal
from inspector.replay import speeds, steps
from inspector.replay.places import Place
from inspector.replay.profile import Profile

FOLD = 2.0
"""Seconds that a gap between two events takes at most, at speed 1."""
UNFOLDED = 1 << 62
NEAR, NEAR_READ = 2048, 64
"""Events that are looked at for a match at once; as many where their bodies have to be read."""
STEPS = 2000
"""Events that one tick goes on by at most; as fast as it goes means as many in each."""


class Player:
    """Plays a journal. `clock` gives seconds on any clock that does not run backwards; call `tick` now and then."""

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
        self.profile = Profile(journal, round(fold * 1_000_000) if fold > 0 else UNFOLDED)
        self.speed = speed
        self.follow = follow
        """Another process still writes the recording: at its end, what comes is waited for."""
        self.playing = False
        self._clock = clock
        self._then = 0.0
        self._owed = 0.0
        """Microseconds of playing time since the event at the position."""
        self._position: int | None = None

    # Where it stands

    @property
    def count(self) -> int:
        """How many events there are."""
        return self.journal.index.count

    @property
    def at_end(self) -> bool:
        """Whether it stands at the end, and stays there as the recording grows."""
        return self._position is None

    @property
    def position(self) -> int:
        """The last event that has happened."""
        return self.count if self._position is None else min(self._position, self.count)

    @property
    def now(self) -> int:
        """The time in microseconds since the start of the recording, between two events while it plays."""
        n, index = self.position, self.journal.index
        if not n:
            return 0
        if self.at_end or n >= self.count:
            return index.time(n)
        return index.time(n) + min(round(self._owed), max(index.time(n + 1) - index.time(n), 0))

    @property
    def place(self) -> int:
        """Where it stands in the profile."""
        return min(self.profile.place(self.position) + round(self._owed), self.profile.length)

    # Playing

    def play(self) -> None:
        """Play from the position; from the beginning where it stands at the end."""
        if self.at_end or self.position >= self.count:
            self._position = 0
            self._owed = 0
        self._then = self._clock()
        self.playing = self.count > 0

    def pause(self) -> None:
        """Stand still."""
        self.playing = False

    def toggle(self) -> None:
        """Play, or pause."""
        if self.playing:
            self.pause()
        else:
            self.play()

    def change_speed(self, by: int) -> None:
        """Play one step faster, or slower with a negative `by`."""
        self.speed = speeds.step(self.speed, by)

    def tick(self) -> bool:
        """Go on by the time that has passed since the last tick. True: it stands elsewhere than before."""
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
        """The event that is reached after so many microseconds of playing time, of which the rest stays owed."""
        self._owed += passed
        for _ in range(STEPS):
            gap = self._gap(n)
            if n >= self.count or self._owed < gap:
                return n
            self._owed -= gap
            n += 1
        self._owed = 0.0  # It cannot keep up: what was not played in time is not made up for.
        return n

    def _gap(self, n: int) -> int:
        """Microseconds for which it waits after event `n`."""
        index = self.journal.index
        return min(max(index.time(n + 1) - index.time(n), 0), self.profile.fold) if 0 < n < self.count else 0

    # Going to places

    def go(self, n: int | None) -> bool:
        """Stand at event `n`, or with None at the end. Plays on from there if it played. True: it was elsewhere."""
        before = (self.position, self.at_end)
        self._owed = 0.0
        self._position = None if n is None or n >= self.count else max(n, 0)
        if self.playing:
            self._then = self._clock()
            self.playing = not self.at_end or (self.follow and self.journal.ended is None)
        return before != (self.position, self.at_end)

    def step(self, by: int) -> bool:
        """Go on, or back, by so many events, and stand there."""
        self.pause()
        return self.go(self.position + by)

    def step_exchange(self, by: int) -> bool:
        """Go to where the next exchange ends, or the one before with a negative `by`, and stand there.

        Where there is none, go to the end, or to the beginning.
        """
        self.pause()
        return self.go(steps.next_exchange(self.journal, self.position, by) or (None if by > 0 else 0))

    def go_to(self, place: Place) -> bool:
        """Go to a time, a number or an end."""
        if place.unit == "end":
            return self.go(None if place.value else 0)
        if place.unit == "number":
            return self.go(place.value + self.position if place.relative else place.value)
        self.profile.advance(self.count)
        return self.go(self.profile.number_at_time(place.value + self.now if place.relative else place.value))

    def go_to_finding(self, by: int) -> bool:
        """Go to the next finding, or to the one before. False where there is none."""
        n = steps.next_finding(self.journal, self.position, by)
        if n:
            self.go(n)
        return bool(n)

    def near_match(self, filter: Filter, by: int) -> int:
        """The next event that a filter leaves, or the one before, if it is near: found at once. 0 where it is not."""
        n, reach = self.position, NEAR_READ if filter.reads else NEAR
        if by > 0:
            return next(iter(filter.numbers(self.journal, n + 1, n + reach)), 0)
        found = filter.numbers(self.journal, n - reach, n - 1)
        return found[-1] if found else 0

    def next_match(self, filter: Filter, by: int) -> int:
        """The next event that a filter leaves, or the one before; 0 where there is none. May read the whole file."""
        return filter.next(self.journal, self.position, by)

"""When calls start: at a constant rate (open), or after the answer to the user's last call (closed). No clock.

All times are seconds since the start of the run, and never decrease. The caller sends one call for each value of
`take`, reports each end with `ended`, and empties `not_sent`, the intended starts of calls that were not sent.
"""

from __future__ import annotations

from collections import deque

from inspector.load.plan import LoadPlan


class OpenArrivals:
    """Calls arrive at a constant rate, whatever the server does. At most `max_waiting` of them have no answer."""

    def __init__(self, plan: LoadPlan) -> None:
        self.not_sent: list[float] = []
        self.slots = plan.at_once
        """Calls that may be at the server at once."""
        self._rate = plan.rate
        self._end = plan.seconds
        self._max_waiting = plan.max_waiting
        self._queue: deque[float] = deque()
        self._at_server = 0
        self._origin = 0.0
        self._arrived = 0

    @property
    def queued(self) -> int:
        """Calls that are due and wait on our side."""
        return len(self._queue)

    @property
    def at_server(self) -> int:
        """Calls that were sent and have not ended."""
        return self._at_server

    @property
    def rate(self) -> float:
        """Calls per second."""
        return self._rate

    def change_rate(self, now: float, rate: float) -> None:
        """Use another rate from now on; 0 pauses."""
        self.advance(now)
        self._rate, self._origin, self._arrived = rate, now, 1

    def advance(self, now: float) -> None:
        """Let the calls arrive that are due."""
        while (due := self.next_due()) is not None and due <= now:
            self._arrived += 1
            if len(self._queue) + self._at_server >= self._max_waiting:
                self.not_sent.append(due)
            else:
                self._queue.append(due)

    def take(self, now: float) -> float | None:
        """Return the intended start of the next call to send; None if there is none."""
        if not self._queue or self._at_server >= self.slots:
            return None
        self._at_server += 1
        return self._queue.popleft()

    def ended(self, now: float) -> None:
        """Handle the end of a call."""
        self._at_server -= 1

    def next_due(self) -> float | None:
        """Return when the next call arrives; None after the last one."""
        if not self._rate:
            return None
        due = self._origin + self._arrived / self._rate  # Not a sum of intervals: errors would add up.
        return due if due < self._end else None

    def drop_queue(self) -> None:
        """Give up the calls that still wait on our side."""
        self.not_sent.extend(self._queue)
        self._queue.clear()


class ClosedArrivals:
    """Each of some users sends the next call when the last one has ended."""

    def __init__(self, plan: LoadPlan) -> None:
        self.not_sent: list[float] = []
        self.slots = plan.users
        self._end = plan.seconds
        self._at_server = 0
        self._is_over = False

    @property
    def queued(self) -> int:
        """0: a user has one call at a time."""
        return 0

    @property
    def at_server(self) -> int:
        """Calls that were sent and have not ended."""
        return self._at_server

    def advance(self, now: float) -> None:
        """End the run at its time."""
        self._is_over = self._is_over or now >= self._end

    def take(self, now: float) -> float | None:
        """Return `now` while a user has no call in flight; None otherwise."""
        if self._is_over or self._at_server >= self.slots:
            return None
        self._at_server += 1
        return now

    def ended(self, now: float) -> None:
        """Handle the end of a call."""
        self._at_server -= 1

    def next_due(self) -> float | None:
        """None: it depends on answers."""
        return None

    def drop_queue(self) -> None:
        """Do nothing: nothing waits on our side."""

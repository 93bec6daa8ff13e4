"""The plan of a load: the calls, their rate, and the length of the run."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from inspector.addresses import is_loopback
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import UsageError
from inspector.text import count, quantity

if TYPE_CHECKING:
    from inspector.calls.variables import Secrets

RATE, SECONDS, WARM_UP, WAITING = 10.0, 30.0, 3.0, 1000
"""The defaults: calls per second, the seconds of the run and of its warm-up, and calls that wait at most."""
MAX_RATE, MAX_USERS, MAX_CONNECTIONS, MAX_SECONDS, MAX_WAITING = 1e6, 10_000, 1000, 7 * 86400.0, 1_000_000
"""The largest plan."""
MAX_CALLS = 1000
"""Different calls in one plan."""


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """One call of a tool, and how often it is made compared with the others."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    weight: int = 1
    masked: Mapping[str, Any] | None = None
    """The arguments without the secrets in them; None: they have none."""

    @property
    def shown(self) -> Mapping[str, Any]:
        """The arguments as they are shown and reported."""
        return self.arguments if self.masked is None else self.masked

    def masking(self, secrets: Secrets) -> PlannedCall:
        """Return the call with these secrets masked too, where it is shown."""
        masked = secrets.mask_value(dict(self.shown))
        return self if masked == self.shown else replace(self, masked=masked)


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """A load. With `users` it is the closed model: each user sends the next call after the answer to the last one.

    Otherwise calls start at a constant `rate`, whatever the server does: the open model.
    """

    calls: tuple[PlannedCall, ...]
    rate: float = RATE
    """Calls per second."""
    users: int = 0
    """Users of the closed model; 0: the open model."""
    seconds: float = SECONDS
    """Length of the run with its warm-up."""
    warm_up: float = WARM_UP
    """Seconds at its start that are not counted."""
    max_waiting: int = WAITING
    """Calls without an answer at once; further ones are not sent."""
    connections: int = 1
    in_flight: int = 0
    """Calls at the server at once on each connection, others wait on our side; 0: only `max_waiting` limits them."""

    def __post_init__(self) -> None:
        """Raises `UsageError` for a plan that cannot be run."""
        _within("rate", self.rate, 0.01, MAX_RATE)
        _within("number of users", self.users, 0, MAX_USERS)
        _within("length in seconds", self.seconds, 0.1, MAX_SECONDS)
        _within("number of waiting calls", self.max_waiting, 1, MAX_WAITING)
        _within("number of connections", self.connections, 1, MAX_CONNECTIONS)
        _within("number of calls in flight", self.in_flight, 0, MAX_WAITING)
        if not 0 <= self.warm_up < self.seconds:
            raise UsageError(
                f"The warm-up of {self.warm_up:g} s is not shorter than the run of {self.seconds:g} s.",
                hint="Choose a shorter warm-up or a longer run.",
            )
        if not self.calls:
            raise UsageError("The plan has no calls.", hint="Name a tool.")
        if len(self.calls) > MAX_CALLS:
            raise UsageError(f"The plan has {count(len(self.calls))} calls; {count(MAX_CALLS)} are the limit.")

    @property
    def model(self) -> Literal["open", "closed"]:
        """The model of arrival."""
        return "closed" if self.users else "open"

    @property
    def at_once(self) -> int:
        """Calls that may be at the server at once, on all connections."""
        return self.users or self.connections * self.in_flight or self.max_waiting

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools, each once."""
        return tuple(dict.fromkeys(call.tool for call in self.calls))

    def describe(self) -> str:
        """Return the plan in one line, without the tools."""
        if self.users:
            return f"{quantity(self.users, 'user')}, {self.seconds:g} s"
        return f"{number_text(self.rate)} calls/s, {self.seconds:g} s"

    def as_json(self) -> dict[str, Any]:
        """Return the plan for `--json`."""
        return {
            "model": self.model,
            "rate": None if self.users else self.rate,
            "users": self.users or None,
            "seconds": self.seconds,
            "warmup": self.warm_up,
            "max_waiting": self.max_waiting,
            "connections": self.connections,
            "in_flight": self.in_flight or None,
            "calls": [{"tool": call.tool, "arguments": dict(call.shown), "weight": call.weight} for call in self.calls],
        }


def number_text(value: float, digits: int = 10) -> str:
    """Return a number with so many significant digits: `0.5`, `47.5`, `12,400`."""
    return f"{float(f'{value:.{digits}g}'):,.10g}"


def rate_text(value: float, digits: int = 10) -> str:
    """Return a rate with so many significant digits: `47.5/s`."""
    return f"{number_text(value, digits)}/s"


def _within(name: str, value: float, least: float, largest: float) -> None:
    if not least <= value <= largest:
        raise UsageError(f"The {name}, {number_text(value)}, is not between {least:g} and {largest:,.0f}.")


class WeightedRotation:
    """Chooses the next call by weight, without chance: each tool comes at even distances."""

    def __init__(self, calls: Sequence[PlannedCall]) -> None:
        self._calls = list(calls)
        self._total = sum(call.weight for call in calls)
        self._credit = [0] * len(calls)

    def next(self) -> PlannedCall:
        """Return the next call."""
        if len(self._calls) == 1:
            return self._calls[0]
        credit = self._credit
        for at, call in enumerate(self._calls):
            credit[at] += call.weight
        best = max(range(len(credit)), key=credit.__getitem__)
        credit[best] -= self._total
        return self._calls[best]


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

    def next_start(self, now: float) -> float | None:
        """Return the planned start of the next call to send; None if there is none."""
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

    def next_start(self, now: float) -> float | None:
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


def is_this_machine(target: StdioTarget | HttpTarget) -> bool:
    """Whether the target is a process of ours, or a server at a loopback address."""
    if isinstance(target, StdioTarget) or target.network is not None:
        return True
    try:
        host = urlsplit(target.url).hostname or ""
    except ValueError:
        return False
    return is_loopback(host) and not target.proxy

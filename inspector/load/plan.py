"""The plan of a load: what is called, how often, for how long; and the conditions under which it fails."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from inspector.errors import UsageError
from inspector.load.histogram import PERCENTILES
from inspector.text import count, duration, quantity

if TYPE_CHECKING:
    from inspector.load.report import LoadReport

RATE, SECONDS, WARM_UP = 10.0, 30.0, 3.0
"""The defaults: calls per second, and the seconds of the run and of its warm-up."""
MAX_WAITING, IN_FLIGHT = 1000, 16
"""The defaults: calls that wait at most, and calls at the server at once on each connection."""
MOST_RATE, MOST_USERS, MOST_CONNECTIONS, MOST_SECONDS, MOST_WAITING = 1e6, 10_000, 1000, 7 * 86400.0, 1_000_000
MOST_CALLS = 1000
"""Different calls in one plan."""


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """One call of a tool, and how often it is made compared with the others."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    weight: int = 1


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
    max_waiting: int = MAX_WAITING
    """Calls without an answer at once; further ones are not sent."""
    connections: int = 1
    in_flight: int = IN_FLIGHT
    """Calls at the server at once on each connection; others wait on our side."""

    def __post_init__(self) -> None:
        """Raises `UsageError` for a plan that cannot be run."""
        _within("--rate", self.rate, 0.01, MOST_RATE)
        _within("--users", self.users, 0, MOST_USERS)
        _within("--for", self.seconds, 0.1, MOST_SECONDS)
        _within("--max-waiting", self.max_waiting, 1, MOST_WAITING)
        _within("--connections", self.connections, 1, MOST_CONNECTIONS)
        _within("--in-flight", self.in_flight, 1, MOST_WAITING)
        if not 0 <= self.warm_up < self.seconds:
            raise UsageError(
                f"The warm-up of {self.warm_up:g} s is not shorter than the run of {self.seconds:g} s.",
                hint="Choose a shorter --warmup or a longer --for.",
            )
        if not self.calls:
            raise UsageError("The plan has no calls.", hint="Name a tool, or a flow with --flow FILE.")
        if len(self.calls) > MOST_CALLS:
            raise UsageError(f"The plan has {count(len(self.calls))} calls; {count(MOST_CALLS)} are the limit.")

    @property
    def model(self) -> Literal["open", "closed"]:
        """The model of arrival."""
        return "closed" if self.users else "open"

    @property
    def at_once(self) -> int:
        """Calls at the server at once, on all connections."""
        return self.users or self.connections * self.in_flight

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools, each once."""
        return tuple(dict.fromkeys(call.tool for call in self.calls))

    def describe(self) -> str:
        """The plan in one line, without the tools."""
        if self.users:
            return f"{quantity(self.users, 'user')}, {self.seconds:g} s"
        return f"{self.rate:g} calls/s, {self.seconds:g} s"

    def as_json(self) -> dict[str, Any]:
        """The plan for `--json`."""
        return {
            "model": self.model,
            "rate": None if self.users else self.rate,
            "users": self.users or None,
            "seconds": self.seconds,
            "warmup": self.warm_up,
            "max_waiting": self.max_waiting,
            "connections": self.connections,
            "in_flight": self.in_flight,
            "calls": [
                {"tool": call.tool, "arguments": dict(call.arguments), "weight": call.weight} for call in self.calls
            ],
        }


def _within(name: str, value: float, least: float, most: float) -> None:
    if not least <= value <= most:
        raise UsageError(f"{name} {value:g} is not between {least:g} and {most:,.0f}.")


class Turns:
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


# Conditions

_UNITS = {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le,
}  # fmt: skip
_TIMES = (*PERCENTILES, "mean", "max")
_COUNTS = ("errors", "failed", "not_sent", "throughput")
_CONDITION = re.compile(r"\s*(?:(latency|service)\.)?([a-z][a-z0-9._-]*)\s*(>=|<=|>|<)\s*([0-9.]{1,12})\s*(\S*)\s*")


@dataclass(frozen=True, slots=True)
class FailCondition:
    """A condition of `--fail`: the run fails where it holds."""

    text: str
    metric: str
    """A time (`p99`), a count, or `errors`."""
    limit: float
    """Seconds of a time; a share (0 to 1) of errors or calls that were not sent if `is_share`; else a number."""
    comparison: str
    is_service: bool = False
    is_share: bool = False

    @classmethod
    def parse(cls, text: str) -> FailCondition:
        """Read `p99>300ms`, `service.p50>20ms`, `errors>1%`, `not_sent>0`, `throughput<45`. Raises `UsageError`."""
        found = _CONDITION.fullmatch(text[:200])
        if found is None:
            raise UsageError(
                f"“{text[:80]}” is not a condition.", hint="Examples: 'p99>300ms', 'errors>1%', 'throughput<45'."
            )
        part, metric, comparison, digits, unit = found.groups()
        try:
            number = float(digits)
        except ValueError:
            raise UsageError(f"“{digits}” in “{text[:80]}” is not a number.") from None
        if metric in _TIMES:
            if unit not in _UNITS:
                raise UsageError(f"“{text[:80]}” needs a unit of time.", hint=f"Example: {metric}>300ms")
            return cls(text.strip(), metric, number * _UNITS[unit], comparison, part == "service")
        if metric not in _COUNTS or part:
            raise UsageError(
                f"“{metric[:40]}” in “{text[:80]}” is not a figure of the report.",
                hint=f"Use one of {', '.join((*_TIMES, *_COUNTS))}; times of service are service.p99 and so on.",
            )
        is_share = unit == "%" and metric != "throughput"
        if unit not in ("", "/s") and not is_share:
            raise UsageError(f"“{unit[:20]}” in “{text[:80]}” is not a unit of {metric}.")
        return cls(text.strip(), metric, number / 100 if is_share else number, comparison, is_share=is_share)

    def value(self, report: LoadReport) -> float | None:
        """The figure of the report; None for a time without any answer."""
        if self.metric in _TIMES:
            times = report.service if self.is_service else report.latency
            return times.value(self.metric) if times.count else None
        if self.metric == "throughput":
            return report.throughput
        number = report.not_sent if self.metric == "not_sent" else report.failed
        whole = report.sent + report.not_sent if self.metric == "not_sent" else report.sent
        return number / max(whole, 1) if self.is_share else number

    def holds(self, report: LoadReport) -> bool:
        """Whether the run fails. Without any answer, each condition about a time does."""
        value = self.value(report)
        return True if value is None else _COMPARISONS[self.comparison](value, self.limit)

    def shown(self, report: LoadReport) -> str:
        """The figure that was found, with its unit."""
        value = self.value(report)
        if value is None:
            return "no answers"
        if self.metric in _TIMES:
            return duration(value * 1e6)
        return f"{100 * value:.1f} %" if self.is_share else f"{value:.4g}"

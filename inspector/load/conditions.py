"""The conditions under which a load fails, such as `p99>300ms`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from inspector.errors import UsageError
from inspector.load.histogram import PERCENTILES, Histogram
from inspector.load.plan import rate_text
from inspector.text import duration


class Figures(Protocol):
    """The figures of a report that conditions compare."""

    latency: Histogram
    service: Histogram
    sent: int
    failed: int
    not_sent: int
    throughput: float


_UNITS = {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
_TIMES = (*PERCENTILES, "mean", "max")
_COUNTS = ("errors", "failed", "not_sent", "throughput")
_CONDITION = re.compile(r"\s*(?:(latency|service)\.)?([a-z][a-z0-9._-]*)\s*(>=|<=|>|<)\s*([0-9.]{1,12})\s*(\S*)\s*")


@dataclass(frozen=True, slots=True)
class FailCondition:
    """A condition of `--fail-on`: the run fails where it holds."""

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

    def value(self, report: Figures) -> float | None:
        """The figure of the report; None for a time without any answer."""
        if self.metric in _TIMES:
            times = report.service if self.is_service else report.latency
            return times.value(self.metric) if times.count else None
        if self.metric == "throughput":
            return report.throughput
        number = report.not_sent if self.metric == "not_sent" else report.failed
        whole = report.sent + report.not_sent if self.metric == "not_sent" else report.sent
        return number / max(whole, 1) if self.is_share else number

    def holds(self, report: Figures) -> bool:
        """Whether the run fails. Without any answer, each condition about a time does."""
        value = self.value(report)
        return True if value is None else _COMPARISONS[self.comparison](value, self.limit)

    def shown(self, report: Figures) -> str:
        """The figure that was found, with its unit."""
        value = self.value(report)
        if value is None:
            return "no answers"
        if self.metric in _TIMES:
            return duration(value * 1e6)
        if self.metric == "throughput":
            return rate_text(value, 4)
        return f"{100 * value:.1f} %" if self.is_share else f"{value:,.0f}"

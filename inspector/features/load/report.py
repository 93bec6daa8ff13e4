"""The report of a run: its figures as data, conditions on them, and the sentence that sums them up. Draws nothing."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from inspector.errors import UsageError
from inspector.features.load.histogram import PERCENTILES, Histogram
from inspector.features.load.measurement import ErrorCount, Sample, ToolFigures
from inspector.features.load.plan import LoadPlan, number_text, rate_text
from inspector.text import duration, quantity, repr_of

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
        match = _CONDITION.fullmatch(text[:200])
        if match is None:
            raise UsageError(
                f"“{text[:80]}” is not a condition.", hint="Examples: 'p99>300ms', 'errors>1%', 'throughput<45'."
            )
        part, metric, comparison, digits, unit = match.groups()
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
        """Return the figure of the report; None for a time without any answer."""
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

    def figure(self, report: LoadReport) -> str:
        """Return the figure that was found, with its unit."""
        value = self.value(report)
        if value is None:
            return "no answers"
        if self.metric in _TIMES:
            return duration(value * 1e6)
        if self.metric == "throughput":
            return rate_text(value, 4)
        return f"{100 * value:.1f} %" if self.is_share else f"{value:,.0f}"


_KEEPS_UP = 0.97
"""The share of the planned rate that a server must answer to keep up."""
_MANY_TIMEOUTS = 0.05
"""The share of calls without an answer from which on they are the reason of a queue."""
_OWN_CPU = 0.9
"""The share of one core from which on we are the limit."""
_NEAR_FLOOR = 0.7
"""The share of the answers of an echo server from which on we are the limit."""
_SLOWER = 1.5
"""How much longer calls take in a full server than in a half empty one, at least."""
_STALL, _STALL_SECONDS = 10, 0.1
"""A stall is a p99 of so many times p50, and of so many seconds."""
_SILENCE = 1.5
"""Seconds without an answer, at least, after which a server no longer answers."""
_GROWS = 2
"""How much longer the last calls take than the first ones if a queue builds up, at least."""
_OWN_SHARE, _OWN_SECONDS = 0.5, 0.02
"""The share of p99, and the seconds, from which on our own delay is told with the result."""


class Floor(NamedTuple):
    """The latency of a server that answers at once, in seconds from the planned start."""

    p50: float
    p99: float
    throughput: float
    """Answers per second."""
    calls: int

    def as_json(self) -> dict[str, Any]:
        """Return the floor for `--json`; times are in seconds."""
        return {"p50": _rounded(self.p50), "p99": _rounded(self.p99), "throughput": round(self.throughput)}


@dataclass(slots=True)
class LoadReport:
    """The figures of a run. Counts and times are those after the warm-up; times are in seconds."""

    plan: LoadPlan
    sent: int = 0
    done: int = 0
    failed: int = 0
    not_sent: int = 0
    queued: int = 0
    """Calls that were due and still waited on our side when the run ended early."""
    seconds: float = 0.0
    """Length of the run with its warm-up and the wait for the last answers."""
    throughput: float = 0.0
    """Results per second, of calls without an error."""
    latency: Histogram = field(default_factory=Histogram)
    service: Histogram = field(default_factory=Histogram)
    own_delay: Histogram = field(default_factory=Histogram)
    service_few: Histogram = field(default_factory=Histogram)
    service_many: Histogram = field(default_factory=Histogram)
    longest_gap: float = 0.0
    errors: list[ErrorCount] = field(default_factory=list)
    series: list[Sample] = field(default_factory=list)
    width: float = 0.0
    """Seconds of each point of the series."""
    cpu: float | None = None
    """CPU seconds of the server's processes; None if unknown."""
    rss: int | None = None
    """Most bytes of memory of the server's processes; None if unknown."""
    own_cpu: float = 0.0
    floor: Floor | None = None
    lost: int = 0
    """How often a connection broke."""
    incomplete: str = ""
    """Why the run ended before its time; empty if it did not."""
    failing: list[FailCondition] = field(default_factory=list)
    """The conditions of `--fail-on` that hold."""
    conditions: Sequence[FailCondition] = ()
    target: str = ""
    server: str = ""
    transport: str = ""
    recording: str = ""
    steps: list[RateStep] = field(default_factory=list)
    """The steps of `--find-limit`."""
    limit: float | None = None
    """The highest rate that kept the bounds, found by `--find-limit`."""
    warm_up_sent: int = 0
    """Calls that were sent in the warm-up."""
    last_answer: float = 0.0
    """Seconds from the start to the last answer, also of the warm-up; 0 without one."""
    tools: Sequence[ToolFigures] = ()
    """The figures of each tool, if there are several."""
    first_latency: float = 0.0
    last_latency: float = 0.0
    """Mean latency of the first and of the last quarter of the calls."""
    stderr: Sequence[str] = ()
    """The last lines that the first server wrote before it ended by itself."""

    def judged(self, conditions: Sequence[FailCondition]) -> LoadReport:
        """Return the report with the conditions that hold."""
        return replace(
            self, conditions=conditions, failing=[condition for condition in conditions if condition.holds(self)]
        )

    def __repr__(self) -> str:
        return repr_of(self, self.target, self.verdict)

    @property
    def at_server(self) -> int:
        """Calls that were sent and have neither an answer nor an error, because the run was stopped."""
        return self.sent - self.done - self.failed

    @property
    def is_closed(self) -> bool:
        """Whether it is the closed model."""
        return bool(self.plan.users)

    @property
    def server_share(self) -> float | None:
        """The server's CPU seconds per second; None if unknown."""
        return self.cpu / self.seconds if self.cpu is not None and self.seconds else None

    @property
    def result_rates(self) -> list[float]:
        """Results per second in each point of the series."""
        return [(sample.done - sample.failed) / self.width for sample in self.series]

    # In one sentence

    @property
    def verdict(self) -> str:
        """The result in one sentence, and where the figures are not the server's, in a second one why."""
        if self.steps:
            return self._limit_found()
        text = self._verdict()
        if self.failed and self.done and (self.lost or not self.keeps_up):
            text += f" {percent(self.failure_share)} of the calls failed."
        if self.is_delayed_by_us and not self.is_limited_by_us:
            text += (
                f" This machine is busy: Inspector sent calls up to {duration(self.own_delay.percentile(99) * 1e6)}"
                " late (p99), which is part of these times."
            )
        return text

    def _limit_found(self) -> str:
        broken = min((step for step in self.steps if step.broken), key=lambda step: step.rate, default=None)
        if self.limit is None:
            if broken is None:
                return "No rate was tried."
            return f"No rate holds: at {rate_text(broken.rate)}, {broken.broken}."
        end = f"at {rate_text(broken.rate)}, {broken.broken}" if broken is not None else "no higher rate was tried"
        if self.incomplete:
            return f"The limit is at least {rate_text(self.limit)}: {end}. The search was not finished."
        return f"The limit is about {rate_text(self.limit)}: {end}."

    def _verdict(self) -> str:
        if not self.done:
            if not self.failed and self.is_silent_at_end and (self.sent or self.queued):
                return self._silent_since()
            if not self.sent:
                return self._nothing_sent()
            reason = f": {self.errors[0].message}." if self.errors and self.errors[0].message else "."
            return f"No call succeeded{reason}".replace("..", ".")
        if self.lost:
            return self.loss
        p99 = duration(self.latency.percentile(99) * 1e6)
        rate = rate_text(self.throughput, 3)
        if self.is_limited_by_us:
            echo = f" An echo server gets {rate_text(self.floor.throughput, 3)}." if self.floor is not None else ""
            return (
                f"Inspector is the limit with {rate} and {100 * self.own_cpu:.0f} % of one core: the server may be "
                f"faster.{echo}"
            )
        if self.is_silent_at_end:
            return self._silent_since()
        if self.is_closed:
            return (
                f"{self.plan.describe().partition(',')[0]} get {rate}, p99 {p99}. Calls that a stall delayed are not "
                "counted; the open model counts them."
            ).replace("1 user get", "1 user gets")
        planned = rate_text(self.plan.rate)
        if not self.keeps_up:
            since = self.queue_since
            is_late = since is not None and since >= self.plan.warm_up + max(0.05 * self.plan.seconds, self.width)
            start = f"From {since:.0f} s on, the server" if is_late else "The server"
            if self._timed_out >= _MANY_TIMEOUTS * self.sent:
                share = percent(self._timed_out / self.sent)
                text = f"The server does not answer {share} of the calls."
                if not self.plan.in_flight:
                    return text
                return (
                    f"{text} Until they time out they occupy places among the {self.plan.at_once} calls at once, so a "
                    "queue builds up."
                )
            if self.is_limited_by_slots:
                return (
                    f"{self.plan.at_once} calls at once are the limit of this plan, not the server: it answers "
                    f"{rate_text(self._late_rate(since), 3)} of {planned}. Allow more in flight."
                )
            late = self._late_rate(since)
            return f"{start} answers {rate_text(late, 3)}, slower than the planned {planned}. A queue builds up."
        if self.failed:
            message = self.errors[0].message if self.errors else ""
            reason = f": {message.rstrip('.')}" if message else ""
            share = percent(self.failure_share)
            return f"The server keeps up with {planned} (p99 {p99}), but {share} of the calls fail{reason}."
        if self.stalls:
            p50 = self.latency.percentile(50)
            return (
                f"The server keeps up with {planned} but stalls: p99 {p99} with p50 {duration(p50 * 1e6)}, "
                f"and {duration(self.longest_gap * 1e6)} without an answer."
            )
        return f"The server keeps up with {planned}: p99 {p99}."

    @property
    def loss(self) -> str:
        """How often the connection broke, and why, as a sentence; empty if it held."""
        if not self.lost:
            return ""
        reasons = (error.message for error in self.errors if error.kind not in ("tool", "schema", "server", "timeout"))
        return f"The connection broke {quantity(self.lost, 'time')}: {next(reasons, '') or 'the server closed it.'}"

    def _silent_since(self) -> str:
        since = f"From {number_text(self.last_answer, 2)} s on, the" if self.last_answer else "The"
        return f"{since} server answers no call."

    def _nothing_sent(self) -> str:
        if not self.warm_up_sent:
            return "No call was sent."
        text = f"No call was sent after the warm-up of {self.plan.warm_up:g} s"
        sent = f"{quantity(self.warm_up_sent, 'call')} {'was' if self.warm_up_sent == 1 else 'were'} sent in it"
        if not self.last_answer:
            return f"{text}: {sent}, and the server answered none."
        return f"{text}: {sent}. Choose a longer run or a shorter warm-up."

    @property
    def failure_share(self) -> float:
        """The share of the calls that failed."""
        return self.failed / max(self.sent, 1)

    @property
    def _arrived(self) -> float:
        """Seconds in which calls arrived."""
        return min(self.seconds, self.plan.seconds)

    @property
    def _timed_out(self) -> int:
        return sum(error.count for error in self.errors if error.kind == "timeout")

    @property
    def is_silent_at_end(self) -> bool:
        """Whether the server stopped to answer in the middle of the run, although calls waited."""
        patience = max(_SILENCE, 0.1 * self._arrived, 0.0 if self.is_closed else 3 / self.plan.rate)
        return bool(self._timed_out or self.at_server or self.queued) and self.last_answer < self._arrived - patience

    @property
    def is_delayed_by_us(self) -> bool:
        """Whether a large part of the longest times passed before Inspector sent the calls."""
        late = self.own_delay.percentile(99)
        return late > max(_OWN_SHARE * self.latency.percentile(99), _OWN_SECONDS)

    @property
    def is_limited_by_us(self) -> bool:
        """Whether our process had no time left, so that the figures say little about the server."""
        share, floor = self.server_share, self.floor
        if not self.is_closed and self.keeps_up:
            return False
        if self.own_cpu >= _OWN_CPU and (share is None or share < self.own_cpu):
            return True
        if floor is None:
            return False
        # Not even a server that answers at once gets much more than this one did.
        if self.is_closed:
            return self.throughput >= _NEAR_FLOOR * floor.throughput
        return floor.throughput < _KEEPS_UP * self.plan.rate and self.throughput >= _NEAR_FLOOR * floor.throughput

    @property
    def stalls(self) -> bool:
        """Whether few calls take very much longer than most."""
        return self.latency.percentile(99) > max(_STALL * self.latency.percentile(50), _STALL_SECONDS)

    @property
    def has_gap(self) -> bool:
        """Whether the server gave no answer for a time that is much longer than most calls."""
        return self.longest_gap > max(_STALL * self.service.percentile(50), _STALL_SECONDS)

    @property
    def keeps_up(self) -> bool:
        """Whether the server answered what was planned, without a queue that stays."""
        if self.is_closed:
            return True
        if self.not_sent or self.is_silent_at_end:
            return False
        # So many calls are at a server without a queue: those that come in the time that it needs for one.
        usual = self.plan.rate * (self.service.percentile(50) + max(1.0, 0.03 * self._arrived))
        if self.at_server + self.queued > usual:
            return False
        late = self.last_answer - self.plan.seconds
        if late < max(1.0, 0.05 * self.plan.seconds):
            return True
        # A server that takes long for each call answers late, but not later and later.
        return late < 3 * self.service.percentile(50) and self.last_latency < _GROWS * self.first_latency

    @property
    def is_limited_by_slots(self) -> bool:
        """Whether calls in a full server are as fast as in a half empty one: it could take more."""
        few, many = self.service_few, self.service_many
        if not self.plan.in_flight or min(few.count, many.count) < 5:
            return False
        return many.percentile(50) < _SLOWER * few.percentile(50)

    @property
    def queue_since(self) -> float | None:
        """Seconds after which the number of waiting calls grew until the end of the plan; None if it did not."""
        points = [sample for sample in self.series if sample.t <= self.plan.seconds]
        if not points:
            return None
        largest = max(sample.waiting for sample in points)
        low = max(0.1 * largest, 2)
        since = None
        for sample in reversed(points):
            if sample.waiting <= low:
                break
            since = sample.t
        return since

    def _late_rate(self, since: float | None) -> float:
        """Answers per second after `since`."""
        points = [sample for sample in self.series if (since or self.plan.warm_up) <= sample.t < self.plan.seconds]
        if not points:
            return self.throughput
        return sum(sample.done - sample.failed for sample in points) / (len(points) * self.width)

    # As data

    def as_json(self) -> dict[str, Any]:
        """Return the report for `--json`; times are in seconds."""
        document: dict[str, Any] = {
            "format": "mcp-load",
            "version": 1,
            "exit_code": self.exit_code,
            "plan": self.plan.as_json(),
            "target": self.target,
            "transport": self.transport,
            "verdict": self.verdict,
            "incomplete": self.incomplete or None,
            "sent": self.sent,
            "done": self.done,
            "failed": self.failed,
            "not_sent": self.not_sent,
            "waiting": self.at_server + self.queued,
            "at_server": self.at_server,
            "queued": self.queued,
            "throughput": round(self.throughput, 2),
            "longest_gap": _rounded(self.longest_gap),
            "latency": {"from": "sent" if self.is_closed else "intended", **_times(self.latency)},
            "service": {"from": "sent", **_times(self.service)},
            "errors": [error.as_json() for error in self.errors],
            "server": {
                "cpu_seconds": None if self.cpu is None else round(self.cpu, 2),
                "rss_bytes": self.rss,
                "lost": self.lost,
                "stderr": list(self.stderr),
            },
            "own": {"cpu_share": round(self.own_cpu, 3), "delay_p99": _rounded(self.own_delay.percentile(99))},
            "floor": None if self.floor is None else self.floor.as_json(),
            "series": [
                {
                    "t": round(sample.t, 3),
                    "sent": sample.sent,
                    "done": sample.done,
                    "failed": sample.failed,
                    "waiting": sample.waiting,
                    "p99": None if sample.p99 is None else _rounded(sample.p99),
                    "cpu": None if sample.cpu is None else round(sample.cpu, 3),
                    "rss_bytes": sample.rss,
                }
                for sample in self.series
            ],
            "recording": self.recording or None,
        }
        if self.tools:
            document["tools"] = [
                {
                    "tool": tool.tool,
                    "done": tool.done,
                    "failed": tool.failed,
                    "latency": _percentiles(tool.latency),
                    "service": _percentiles(tool.service),
                }
                for tool in self.tools
            ]
        if self.conditions:
            document["conditions"] = [
                {"condition": condition.text, "found": condition.figure(self), "holds": condition in self.failing}
                for condition in self.conditions
            ]
        if self.steps:
            document["limit"] = {"rate": self.limit, "steps": [step.as_json() for step in self.steps]}
        return document

    @property
    def exit_code(self) -> int:
        """5 if a condition of `--fail-on` holds, 4 without connection or answers, 1 without results, else 0."""
        if self.failing:
            return 5
        if not (self.sent + self.warm_up_sent):
            return 0
        return 4 if self.lost or not self.last_answer else 0 if self.done or not self.failed else 1


@dataclass(frozen=True, slots=True)
class RateStep:
    """One rate that `--find-limit` tried."""

    rate: float
    throughput: float
    p99: float
    """Seconds."""
    failed: int
    broken: str
    """The bound that broke, as a phrase; empty if none did."""

    def as_json(self) -> dict[str, Any]:
        """Return the step for `--json`."""
        return {
            "rate": self.rate,
            "throughput": round(self.throughput, 2),
            "p99": _rounded(self.p99),
            "failed": self.failed,
            "broken": self.broken or None,
        }


def percent(share: float) -> str:
    """Return a share with two digits."""
    return f"{100 * share:.2g} %" if share < 0.995 else "100 %"


def _rounded(seconds: float) -> float:
    return round(seconds, 6)


def _percentiles(times: Histogram) -> dict[str, float]:
    return {name: _rounded(times.value(name)) for name in ("mean", *PERCENTILES, "max")}


def _times(times: Histogram) -> dict[str, Any]:
    return {
        "count": times.count,
        **_percentiles(times),
        "histogram": [[_rounded(upper), count] for upper, count in times.buckets()],
    }

"""The measurements of a run: times, counts, errors by kind, and a series. Their size does not grow with the calls."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

from inspector.features.load.histogram import Histogram
from inspector.features.load.plan import LoadPlan

MAX_ERRORS = 50
"""Different errors that are told apart; further ones are counted as one."""
MAX_SAMPLES = 240
"""Points of the series; when there are more, each two of them are joined."""
_MIN_WIDTH = 0.25
"""Seconds of a point, at first: in shorter ones, counts of a few calls jump."""
OTHER = "other"
_FEW = 0.25
"""The share of slots in use up to which the server is hardly loaded."""
_PART = 0.25
"""The part of the run whose calls are the first ones, or the last ones."""
_DIGITS = re.compile(r"\d+")


@dataclass(slots=True)
class ErrorCount:
    """Errors of one kind. `message` is text of the server."""

    kind: str
    """`tool` (isError), `schema` (the result does not match the output schema), `server` (JSON-RPC error), or the code
    of an Inspector error such as `timeout`."""
    code: int | None
    message: str
    first: float
    """Seconds from the start of the run to the first one."""
    count: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return the errors for `--json`."""
        return {
            "kind": self.kind,
            "code": self.code,
            "count": self.count,
            "message": self.message,
            "from": round(self.first, 3),
        }


@dataclass(slots=True)
class Sample:
    """One point of the series: an interval that starts at `t` seconds."""

    t: float
    sent: int = 0
    done: int = 0
    """Calls that ended in the interval, with an answer or with an error."""
    failed: int = 0
    waiting: int = 0
    """Calls without an answer at its end."""
    p99: float | None = None
    """Seconds from the planned start, of the calls that ended in it; None without one."""
    cpu: float | None = None
    """CPU seconds of the server per second."""
    rss: int | None = None
    """Bytes of memory of the server at its end."""
    times: Histogram = field(default_factory=Histogram)
    """The times from which `p99` is."""

    def complete(self, waiting: int, cpu: float | None, rss: int | None) -> None:
        """End the interval."""
        self.waiting, self.cpu, self.rss = waiting, cpu, rss
        self.p99 = self.times.percentile(99) if self.times.count else None

    def join(self, later: Sample) -> None:
        """Make one interval of this one and the following one."""
        self.sent += later.sent
        self.done += later.done
        self.failed += later.failed
        self.times.merge(later.times)
        shares = [share for share in (self.cpu, later.cpu) if share is not None]
        self.complete(later.waiting, sum(shares) / len(shares) if shares else None, later.rss)


@dataclass(slots=True)
class ToolFigures:
    """The calls of one tool, after the warm-up."""

    tool: str
    done: int = 0
    failed: int = 0
    latency: Histogram = field(default_factory=Histogram)
    service: Histogram = field(default_factory=Histogram)


class _Mean:
    """The mean latency of the calls that were due in a part of the run."""

    def __init__(self, since: float, until: float) -> None:
        self._since, self._until = since, until
        self._count = 0
        self._total = 0.0

    def add(self, intended: float, seconds: float) -> None:
        if self._since <= intended < self._until:
            self._count += 1
            self._total += seconds

    @property
    def value(self) -> float:
        """Seconds; 0 without a call."""
        return self._total / self._count if self._count else 0.0


class Series:
    """The run as consecutive intervals of one length. A long run has longer ones, so that they stay few."""

    def __init__(self) -> None:
        self.points: list[Sample] = []
        """The complete ones."""
        self.width = _MIN_WIDTH
        """Seconds of each point."""
        self.current = Sample(0.0)
        """The point that is not complete yet."""

    @property
    def end(self) -> float:
        """When the current point is complete."""
        return self.current.t + self.width

    def advance(self, now: float, waiting: int, cpu: float | None = None, rss: int | None = None) -> None:
        """Complete the current point if its time is over.

        `cpu` is the CPU time of the server per second, since the last point.
        """
        if now < self.end:
            return
        self.current.complete(waiting, cpu, rss)
        self.points.append(self.current)
        if len(self.points) >= MAX_SAMPLES:
            self._halve()
        start = math.floor(now / self.width) * self.width
        # The last point goes on if it was the first one of two.
        self.current = self.points.pop() if self.points[-1].t >= start else Sample(start)

    def finish(self, now: float, waiting: int, cpu: float | None = None, rss: int | None = None) -> None:
        """Complete the last point, if anything happened in it."""
        if self.current.sent or self.current.done:
            self.current.t = min(self.current.t, now)
            self.advance(self.end, waiting, cpu, rss)

    def _halve(self) -> None:
        """Join each two points: the run is long."""
        self.width *= 2
        joined: list[Sample] = []
        for sample in self.points:
            start = math.floor(sample.t / self.width) * self.width
            if joined and joined[-1].t == start:
                joined[-1].join(sample)
            else:
                sample.t = start
                joined.append(sample)
        self.points = joined


class _AnswerGap:
    """The longest time without an answer while calls waited for one."""

    def __init__(self, warm_up: float) -> None:
        self.longest = 0.0
        self._warm_up = self._since = warm_up

    def call_waits(self, intended: float) -> None:
        """A call waits, after a time in which none did."""
        self._since = max(self._since, intended)

    def answered(self, intended: float, now: float) -> None:
        """A call has ended. Those that were due in the warm-up do not count."""
        if intended >= self._warm_up:
            self.longest = max(self.longest, now - self._since)
        self._since = max(self._since, now)


class Measurement:
    """The figures of one run. All times are seconds since its start."""

    def __init__(self, plan: LoadPlan) -> None:
        self.warm_up = plan.warm_up
        self.latency = Histogram()
        """From the planned start to the answer, or to the timeout."""
        self.service = Histogram()
        """From the time it was sent."""
        self.own_delay = Histogram()
        """From the time at which a call could be sent to the time it was: our own part of the latency."""
        self.service_few = Histogram()
        self.service_many = Histogram()
        """Service times of calls that were sent with up to a quarter of the slots in use, and with all of them."""
        self.sent = self.done = self.failed = self.not_sent = 0
        """Calls after the warm-up; `done` have a result, `failed` an error."""
        self.warm_up_sent = 0
        self.answers = 0
        """Results that came after the warm-up, also to calls that were due before."""
        self.tools = {name: ToolFigures(name) for name in plan.tools} if len(plan.tools) > 1 else {}
        """By name, if there are several tools."""
        self.errors: dict[tuple[str, int | None, str], ErrorCount] = {}
        self.series = Series()
        self.gap = _AnswerGap(plan.warm_up)
        self.last_answer = 0.0
        """When the last answer came, also of calls in the warm-up."""
        self.first_latency = _Mean(plan.warm_up, plan.warm_up + (plan.seconds - plan.warm_up) * _PART)
        self.last_latency = _Mean(plan.seconds - (plan.seconds - plan.warm_up) * _PART, plan.seconds)
        """The mean latency of the calls that were due first, and of those that were due last."""
        self.free_since = 0.0
        """When calls could be sent at last, after all slots were in use or a connection was lost."""

    def count_sent(self, intended: float, sent: float, *, idle: bool) -> None:
        """Count a call that is sent. `idle`: no call was at the server before it."""
        if intended >= self.warm_up:
            self.sent += 1
            self.own_delay.add(sent - max(intended, self.free_since))
        else:
            self.warm_up_sent += 1
        self.series.current.sent += 1
        if idle:
            self.gap.call_waits(intended)

    def count_not_sent(self, intended: float) -> None:
        """Count a call that was not sent."""
        if intended >= self.warm_up:
            self.not_sent += 1

    def count_ended(
        self,
        intended: float,
        sent: float,
        now: float,
        *,
        busy: float,
        error: tuple[str, int | None, str] | None,
        has_time: bool,
        is_answer: bool = True,
        tool: str = "",
    ) -> None:
        """Count a call that ended now.

        `busy` is the share of slots that were in use when it was sent; `has_time`: it has an answer, or timed out.
        """
        point = self.series.current
        point.done += 1
        if is_answer:
            self.last_answer = now
        if has_time:
            point.times.add(now - intended)
            self.gap.answered(intended, now)
        if error is not None:
            point.failed += 1
        elif now >= self.warm_up:
            self.answers += 1
        if has_time and busy <= _FEW:
            self.service_few.add(now - sent)  # A queue may build up in the warm-up already.
        if intended < self.warm_up:
            return
        figures = self.tools.get(tool)
        if figures is not None:
            figures.done += error is None
            figures.failed += error is not None
        if error is None:
            self.done += 1
        else:
            self.failed += 1
            self._count_error(error, now)
        if has_time:
            self.latency.add(now - intended)
            self.first_latency.add(intended, now - intended)
            self.last_latency.add(intended, now - intended)
            self.service.add(now - sent)
            if figures is not None:
                figures.latency.add(now - intended)
                figures.service.add(now - sent)
            if busy >= 1:
                self.service_many.add(now - sent)

    def _count_error(self, error: tuple[str, int | None, str], now: float) -> None:
        """Count an error. Texts that differ only in numbers, such as ids, are of one kind."""
        kind, code, message = error
        key = kind, code, _DIGITS.sub("#", message)
        if key not in self.errors and len(self.errors) >= MAX_ERRORS:
            key = kind, code, message = OTHER, None, "errors of further kinds"
        error_count = self.errors.get(key)
        if error_count is None:
            error_count = self.errors[key] = ErrorCount(kind, code, message, now)
        error_count.count += 1

"""Finds the highest rate that a server keeps: doubles the rate until a bound breaks, then halves the distance."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Sequence
from dataclasses import replace

from inspector.features.load.plan import MAX_RATE, LoadPlan
from inspector.features.load.report import FailCondition, LoadReport, RateStep

STEP_SECONDS = 5.0
"""Length of each step."""
MAX_STEPS = 20
_EXACT = 0.05
"""The distance between the highest rate that holds and the lowest that breaks, at which the search ends."""
DEFAULT = tuple(map(FailCondition.parse, ("p99>1s", "errors>1%")))


def rates(first: float) -> Generator[float, bool, float | None]:
    """Yield the rates to try, and be sent whether each held. Returns the highest that held; None if none did."""
    good, bad, rate = None, None, first
    for _ in range(MAX_STEPS):
        if (yield rate):
            good = rate
        else:
            bad = rate
        if good is not None and bad is not None:
            if bad - good <= _EXACT * bad:
                break
            rate = (good + bad) / 2
        elif good is not None:
            if good >= MAX_RATE:
                break
            rate = min(good * 2, MAX_RATE)
        elif bad is not None:
            rate = bad / 2
            if rate < 0.5:
                break
        rate = float(f"{rate:.3g}")
        if rate in (good, bad):
            break
    return good


def broken_bound(report: LoadReport, bounds: Sequence[FailCondition]) -> str:
    """Return the bound that a step broke, as a phrase; empty if it held."""
    for bound in bounds:
        if bound.holds(report):
            return f"{bound.text} (found {bound.figure(report)})"
    if report.incomplete:
        return report.incomplete
    if report.lost:
        return "the connection broke"
    if report.is_limited_by_us:
        return "Inspector is the limit"
    return "" if report.keeps_up else "a queue builds up"


class LimitSearch:
    """Runs steps until the limit is known. `run` runs one plan."""

    def __init__(
        self, plan: LoadPlan, bounds: Sequence[FailCondition], run: Callable[[LoadPlan], Awaitable[LoadReport]]
    ) -> None:
        self._plan = plan
        self._bounds = bounds or DEFAULT
        self._run = run
        self._steps: list[RateStep] = []
        self._best: LoadReport | None = None
        self._lowest: LoadReport | None = None

    async def go(self) -> LoadReport:
        """Return the report of the highest rate that held, or of the lowest if none did, with all steps."""
        search = rates(self._plan.rate)
        rate = next(search)
        while True:
            report = await self._run(replace(self._plan, rate=rate))
            broken = broken_bound(report, self._bounds)
            p99 = report.latency.percentile(99)
            self._steps.append(RateStep(rate, report.throughput, p99, report.failed, broken))
            if not broken and (self._best is None or rate > self._best.plan.rate):
                self._best = report
            if self._lowest is None or rate < self._lowest.plan.rate:
                self._lowest = report
            if report.incomplete:
                return self._result(None if self._best is None else self._best.plan.rate, report.incomplete)
            try:
                rate = search.send(not broken)
            except StopIteration as end:
                return self._result(end.value, "")

    def report(self, reason: str) -> LoadReport | None:
        """Return the report of the steps so far; None before the end of the first.

        `reason` says why the search ended early.
        """
        if not self._steps:
            return None
        return self._result(None if self._best is None else self._best.plan.rate, reason)

    def _result(self, limit: float | None, incomplete: str) -> LoadReport:
        best = self._best or self._lowest
        assert best is not None
        return replace(best, steps=list(self._steps), limit=limit, incomplete=incomplete)

"""Finds the highest rate that a server keeps: doubles the rate until a bound breaks, then halves the distance."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Sequence
from dataclasses import replace

from inspector.load.conditions import FailCondition
from inspector.load.plan import MOST_RATE, LoadPlan
from inspector.load.report import LoadReport, RateStep

STEP_SECONDS = 5.0
"""Length of each step."""
MOST_STEPS = 20
_EXACT = 0.05
"""The distance between the highest rate that holds and the lowest that breaks, at which the search ends."""
DEFAULT = tuple(map(FailCondition.parse, ("p99>1s", "errors>1%")))


def rates(first: float) -> Generator[float, bool, float | None]:
    """Yield the rates to try, and be sent whether each held. Returns the highest that held; None if none did."""
    good, bad, rate = None, None, first
    for _ in range(MOST_STEPS):
        if (yield rate):
            good = rate
        else:
            bad = rate
        if good is not None and bad is not None:
            if bad - good <= _EXACT * bad:
                break
            rate = (good + bad) / 2
        elif good is not None:
            if good >= MOST_RATE:
                break
            rate = min(good * 2, MOST_RATE)
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
            return f"{bound.text} (found {bound.shown(report)})"
    if report.incomplete:
        return report.incomplete
    if report.is_limited_by_us:
        return "Inspector is the limit"
    return "" if report.keeps_up else "a queue builds up"


async def find_limit(
    plan: LoadPlan, bounds: Sequence[FailCondition], run: Callable[[LoadPlan], Awaitable[LoadReport]]
) -> LoadReport:
    """Run steps until the limit is known. Returns the report of the highest rate that held, with all steps.

    If none held, it is the report of the lowest rate. `run` runs one plan.
    """
    steps: list[RateStep] = []
    best: LoadReport | None = None
    lowest: LoadReport | None = None
    search = rates(plan.rate)
    rate = next(search)
    limit: float | None = None
    while True:
        report = await run(replace(plan, rate=rate))
        broken = broken_bound(report, bounds or DEFAULT)
        p99 = report.latency.percentile(99)
        steps.append(RateStep(rate, report.throughput, p99, report.failed, broken))
        if not broken and (best is None or rate > best.plan.rate):
            best = report
        if lowest is None or rate < lowest.plan.rate:
            lowest = report
        if report.incomplete:
            limit = None if best is None else best.plan.rate
            break
        try:
            rate = search.send(not broken)
        except StopIteration as end:
            limit = end.value
            break
    found = best or lowest
    assert found is not None
    return replace(found, steps=steps, limit=limit, incomplete=report.incomplete)

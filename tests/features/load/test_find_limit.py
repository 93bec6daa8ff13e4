"""The search for the highest rate, on servers with a known limit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from inspector.features.load.find_limit import LimitSearch, broken_bound, rates
from inspector.features.load.plan import LoadPlan
from inspector.features.load.report import FailCondition, LoadReport
from tests.features.load.simulated import CALL, simulate
from tests.features.load.test_report import report


def search(first: float, limit: float) -> tuple[float | None, list[float]]:
    tried = []
    steps = rates(first)
    rate = next(steps)
    while True:
        tried.append(rate)
        try:
            rate = steps.send(rate <= limit)
        except StopIteration as end:
            return end.value, tried


@pytest.mark.parametrize("limit", [3.0, 47.0, 1234.0, 99_000.0])
@pytest.mark.parametrize("first", [1.0, 10.0, 5000.0])
def test_the_limit_is_found_within_six_percent(first: float, limit: float) -> None:
    highest, tried = search(first, limit)
    assert highest is not None
    assert 0.94 * limit <= highest <= limit
    assert len(tried) <= 20


def test_a_server_that_holds_nothing_and_one_that_holds_all() -> None:
    assert search(10, 0.1)[0] is None
    assert search(1e5, 1e9)[0] == 1e6


async def test_steps_on_a_server_of_40_a_second() -> None:
    async def run(plan: LoadPlan) -> LoadReport:
        return report(simulate(plan, 0.025), plan)

    load_report = await LimitSearch(
        LoadPlan(CALL, rate=10, seconds=10, warm_up=1), [FailCondition.parse("p99>500ms")], run
    ).go()
    assert load_report.limit == pytest.approx(40, rel=0.06)
    assert load_report.plan.rate == load_report.limit
    assert load_report.steps[0].rate == 10
    assert any("p99>500ms" in step.broken for step in load_report.steps)


async def test_a_run_that_ends_early_ends_the_search() -> None:
    async def run(plan: LoadPlan) -> LoadReport:
        return replace(report(simulate(plan, 0.001), plan), incomplete="The server ended.")

    load_report = await LimitSearch(LoadPlan(CALL, rate=10, seconds=2, warm_up=0), [], run).go()
    assert load_report.limit is None
    assert len(load_report.steps) == 1
    assert broken_bound(load_report, []) == "The server ended."

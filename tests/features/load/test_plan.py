"""Plans, weights and the conditions of `--fail-on`."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from inspector.errors import UsageError
from inspector.features.load.histogram import Histogram
from inspector.features.load.plan import LoadPlan, PlannedCall, WeightedRotation
from inspector.features.load.report import FailCondition, LoadReport
from tests.features.load.simulated import CALL


@pytest.mark.parametrize(
    "wrong",
    [
        {"rate": 0}, {"rate": 1e9}, {"users": -1}, {"seconds": 0}, {"warm_up": 30}, {"warm_up": -1},
        {"max_waiting": 0}, {"connections": 0}, {"in_flight": -1}, {"calls": ()},
    ],
)  # fmt: skip
def test_impossible_plans_are_errors(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        LoadPlan(**({"calls": CALL} | wrong))


def test_only_the_waiting_calls_are_limited_by_default() -> None:
    plan = LoadPlan(CALL, connections=3)
    assert (plan.in_flight, plan.max_waiting, plan.at_once) == (0, 1000, 1000)
    assert plan.as_json()["in_flight"] is None
    assert LoadPlan(CALL, connections=3, in_flight=4).at_once == 12


def test_weights_spread_the_calls_evenly() -> None:
    turns = WeightedRotation([PlannedCall("a", weight=3), PlannedCall("b"), PlannedCall("c", weight=2)])
    order = [turns.next().tool for _ in range(60)]
    assert Counter(order) == {"a": 30, "c": 20, "b": 10}
    assert all(Counter(order[at : at + 6]) == {"a": 3, "c": 2, "b": 1} for at in range(0, 60, 6))
    assert "aaa" not in "".join(order)


def report(**figures: Any) -> LoadReport:
    times = Histogram()
    for number in range(1, 101):
        times.add(number / 1000)
    return LoadReport(LoadPlan(CALL), latency=times, service=Histogram(), **({"sent": 100, "done": 95} | figures))


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("p99>98ms", True), ("p99 > 100 ms", False), ("p50>=50ms", True), ("max<0.2s", True), ("mean>60000us", False),
        ("latency.p99>98ms", True), ("errors>4%", True), ("errors>5%", False), ("failed>4", True), ("failed>5", False),
        ("not_sent>0", True), ("not_sent>10%", False), ("throughput<45", True), ("throughput<40/s", False),
        ("service.p50>1ms", True),
    ],
)  # fmt: skip
def test_conditions(text: str, holds: bool) -> None:
    load_report = report(failed=5, not_sent=3, throughput=42.0)
    assert FailCondition.parse(text).holds(load_report) is holds


def test_a_time_without_answers_holds_and_says_so() -> None:
    condition = FailCondition.parse("service.p50>1ms")
    assert condition.holds(report())
    assert condition.figure(report()) == "no answers"


@pytest.mark.parametrize(
    "text", ["", "p99", "p99>300", "p98>3ms", "errors>3ms", "p99>x ms", "p99>1.2.3ms", "service.errors>1"]
)
def test_other_texts_are_errors(text: str) -> None:
    with pytest.raises(UsageError):
        FailCondition.parse(text)


def test_figures_that_were_found_have_units() -> None:
    load_report = report(failed=5)
    assert FailCondition.parse("p99>1ms").figure(load_report) == "99 ms"
    assert FailCondition.parse("errors>1%").figure(load_report) == "5.0 %"
    assert FailCondition.parse("failed>1").figure(load_report) == "5"

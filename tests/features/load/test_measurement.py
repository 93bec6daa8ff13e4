"""Counts, errors by kind, and a series of bounded length."""

from __future__ import annotations

from inspector.features.load.measurement import MAX_ERRORS, MAX_SAMPLES, OTHER, Measurement
from inspector.features.load.plan import LoadPlan
from tests.features.load.simulated import CALL


def ended(
    m: Measurement, at: float, *, error: tuple[str, int | None, str] | None = None, has_time: bool = True
) -> None:
    m.count_sent(at, at, idle=True)
    m.count_ended(at, at, at + 0.01, busy=0.1, error=error, has_time=has_time)


def test_texts_that_differ_in_numbers_are_one_kind_of_error() -> None:
    m = Measurement(LoadPlan(CALL, warm_up=0))
    for number in range(5):
        ended(m, number, error=("tool", None, f"row {number} is locked"))
    ended(m, 5, error=("server", -32603, "row 5 is locked"))
    assert [(e.kind, e.count, e.message, e.first) for e in m.errors.values()] == [
        ("tool", 5, "row 0 is locked", 0.01),
        ("server", 1, "row 5 is locked", 5.01),
    ]
    assert m.failed == 6
    assert m.done == 0


def test_the_kinds_of_errors_are_limited() -> None:
    m = Measurement(LoadPlan(CALL, warm_up=0))
    for number in range(500):
        ended(m, number / 100, error=("tool", None, "x" * number))
    assert len(m.errors) == MAX_ERRORS + 1
    assert sum(error.count for error in m.errors.values()) == 500
    assert m.errors[OTHER, None, "errors of further kinds"].count == 500 - MAX_ERRORS


def test_a_call_that_was_lost_has_no_time() -> None:
    m = Measurement(LoadPlan(CALL, warm_up=0))
    ended(m, 1, error=("exited", None, "gone"), has_time=False)
    assert m.latency.count == m.service.count == 0
    assert m.failed == 1


def test_the_series_is_limited_even_if_the_run_takes_longer() -> None:
    m = Measurement(LoadPlan(CALL, seconds=12, warm_up=0))
    for number in range(10_000):
        ended(m, number / 10)
        m.series.advance(number / 10, waiting=number)
        assert m.series.current.t <= number / 10
    assert MAX_SAMPLES / 2 - 1 <= len(m.series.points) < MAX_SAMPLES
    assert all(abs(sample.done - m.series.width * 10) <= 1 for sample in m.series.points)
    assert m.series.points[-1].p99 is not None
    assert sum(sample.done for sample in m.series.points) + m.series.current.done == 10_000
    assert [sample.t for sample in m.series.points] == sorted(sample.t for sample in m.series.points)


def test_a_gap_counts_only_while_a_call_waits() -> None:
    m = Measurement(LoadPlan(CALL, warm_up=0))
    ended(m, 1)
    ended(m, 9)
    assert m.gap.longest < 0.02
    m.count_sent(10, 10, idle=True)
    m.count_ended(10, 10, 12, busy=0.1, error=None, has_time=True)
    assert m.gap.longest == 2

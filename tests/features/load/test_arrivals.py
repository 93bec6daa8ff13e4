"""Constant arrival and the closed model, on a clock of their own."""

from __future__ import annotations

import pytest

from inspector.features.load.plan import ClosedArrivals, LoadPlan, OpenArrivals
from tests.features.load.simulated import CALL, simulate, stalls


def test_the_stall_of_a_server_counts_in_full_in_the_open_model() -> None:
    plan = LoadPlan(CALL, rate=50, seconds=25, warm_up=0)
    measured = simulate(plan, 0.001, stalls)
    # One call in five arrives in a stall and waits until its end, evenly between 0 and 1 s: p99 is 0.95 s.
    assert measured.latency.percentile(99) == pytest.approx(0.95, rel=0.1)
    assert measured.latency.percentile(50) < 0.01
    assert measured.gap.longest == pytest.approx(1.0, abs=0.05)
    assert measured.sent == measured.done == 1250


def test_the_closed_model_does_not_see_the_stall() -> None:
    plan = LoadPlan(CALL, users=1, seconds=25, warm_up=0)
    measured = simulate(plan, 0.02, stalls)
    # 5 of about 1,000 calls are slow: the stall is beyond p99.
    assert measured.latency.percentile(99) < 0.1
    assert measured.latency.longest > 0.9
    assert measured.gap.longest > 0.9


def test_service_time_leaves_out_the_queue_on_our_side() -> None:
    plan = LoadPlan(CALL, rate=50, seconds=25, warm_up=0, in_flight=1)
    measured = simulate(plan, 0.001, stalls)
    assert measured.latency.percentile(90) > 0.4
    assert measured.service.percentile(90) < 0.01


def test_calls_beyond_the_limit_are_counted_and_not_sent() -> None:
    plan = LoadPlan(CALL, rate=100, seconds=10, warm_up=0, max_waiting=20, in_flight=4)
    measured = simulate(plan, 0.02)  # 50 a second
    assert measured.sent + measured.not_sent == 1000
    assert measured.not_sent == pytest.approx(500, abs=25)
    assert measured.latency.longest <= 20 * 0.02 + 0.03


def test_a_server_that_stands_still_gets_every_call_that_is_due() -> None:
    arrivals = OpenArrivals(LoadPlan(CALL, rate=50, seconds=30, warm_up=0))
    arrivals.advance(10.0)
    assert len([due for due in iter(lambda: arrivals.next_start(10.0), None)]) == 501
    arrivals.advance(30.0)
    while arrivals.next_start(30.0) is not None:
        pass
    assert (arrivals.at_server, arrivals.queued, len(arrivals.not_sent)) == (1000, 0, 500)


def test_the_warm_up_is_not_counted() -> None:
    measured = simulate(LoadPlan(CALL, rate=10, seconds=10, warm_up=3), 0.001)
    assert measured.sent == measured.done == 70
    assert measured.warm_up_sent == 30
    assert sum(sample.sent for sample in measured.series.points) + measured.series.current.sent == 100


def test_arrivals_do_not_drift() -> None:
    arrivals = OpenArrivals(LoadPlan(CALL, rate=333, seconds=300, warm_up=0, max_waiting=10, in_flight=1))
    arrivals.advance(299.9995)
    assert arrivals.queued + len(arrivals.not_sent) == 99_900
    assert arrivals.not_sent[-1] == pytest.approx(99_899 / 333, abs=1e-9)


def test_another_rate_holds_from_now_on() -> None:
    arrivals = OpenArrivals(LoadPlan(CALL, rate=10, seconds=100, warm_up=0))
    arrivals.change_rate(1.0, 100)
    arrivals.advance(2.0)
    assert arrivals.queued == 11 + 100
    arrivals.change_rate(2.0, 0)
    arrivals.advance(50.0)
    assert arrivals.queued == 111
    assert arrivals.next_due() is None


def test_users_send_nothing_after_the_end() -> None:
    arrivals = ClosedArrivals(LoadPlan(CALL, users=2, seconds=1, warm_up=0))
    assert [arrivals.next_start(0.5), arrivals.next_start(0.5), arrivals.next_start(0.5)] == [0.5, 0.5, None]
    arrivals.ended(0.6)
    arrivals.advance(1.0)
    assert arrivals.next_start(1.0) is None
    assert arrivals.at_server == 1


def test_the_queue_can_be_given_up() -> None:
    arrivals = OpenArrivals(LoadPlan(CALL, rate=10, seconds=1, warm_up=0, in_flight=1))
    arrivals.advance(0.95)
    assert arrivals.next_start(0.95) == 0
    arrivals.drop_queue()
    assert arrivals.next_start(1.0) is None
    assert len(arrivals.not_sent) == 9

"""A server and our connections to it on a clock of their own: a run without waiting."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable

from inspector.features.load.measurement import Measurement
from inspector.features.load.plan import ClosedArrivals, LoadPlan, OpenArrivals, PlannedCall

CALL = (PlannedCall("get"),)


def stalls(now: float) -> float:
    """A server that stands still for 1 s in every 5 s: the time at which it goes on."""
    return now - now % 5 + 5 if now % 5 >= 4 else now


def simulate(plan: LoadPlan, work: float, ready: Callable[[float], float] = lambda now: now) -> Measurement:
    """Run a plan on a server that handles one call after another, each in `work` seconds, when it is `ready`."""
    arrivals = ClosedArrivals(plan) if plan.users else OpenArrivals(plan)
    measured = Measurement(plan)
    answers: list[tuple[float, float, float, float]] = []
    free_at = now = 0.0
    while True:
        arrivals.advance(now)
        for intended in arrivals.not_sent:
            measured.count_not_sent(intended)
        arrivals.not_sent.clear()
        while (intended := arrivals.next_start(now)) is not None:
            free_at = ready(max(free_at, now)) + work
            busy = arrivals.at_server / arrivals.slots
            measured.count_sent(intended, now, idle=arrivals.at_server == 1)
            heapq.heappush(answers, (free_at, intended, now, busy))
        if now >= plan.seconds and not answers:
            return measured
        measured.series.advance(now, arrivals.queued + arrivals.at_server)
        due = arrivals.next_due()
        if due is None:
            due = plan.seconds if now < plan.seconds else math.inf
        now = min(due, answers[0][0] if answers else math.inf)
        while answers and answers[0][0] <= now:
            _, intended, sent, busy = heapq.heappop(answers)
            arrivals.ended(now)
            measured.count_ended(intended, sent, now, busy=busy, error=None, has_time=True)

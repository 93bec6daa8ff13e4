"""The load of this machine, so that no server is blamed for it."""

from __future__ import annotations

import os
import time

from inspector.system.processes import waiting_processes

_SAMPLE = 0.01
"""CPU seconds of one measurement: a few turns of the scheduler."""


def takes_longer(seconds: float, limit: float) -> bool:
    """Whether `seconds` are more than `limit` seconds of an idle machine. Measures this machine only if it matters."""
    return seconds > limit and seconds > limit * slowdown()


def slowdown() -> float:
    """The factor by which work is slower now than on an idle machine; at least 1.

    Takes a hundredth of a second of an idle machine. Counts the processes that have waited for a processor in the last
    minute too: the measurement may fall into a pause.
    """
    began, used = time.monotonic(), time.thread_time()
    while (spent := time.thread_time() - used) < _SAMPLE:
        pass
    return max(1.0, (time.monotonic() - began) / spent, waiting_processes() / (os.cpu_count() or 1))

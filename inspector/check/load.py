"""How busy this machine is, so that no server is blamed for it."""

from __future__ import annotations

import time

_SAMPLE = 0.03
"""Seconds of the processor that one measurement takes."""


def slowdown() -> float:
    """How many times longer work takes now than on an idle machine; at least 1. Takes some hundredths of a second."""
    began, used = time.monotonic(), time.thread_time()
    while (spent := time.thread_time() - used) < _SAMPLE:
        pass
    return max(1.0, (time.monotonic() - began) / spent)

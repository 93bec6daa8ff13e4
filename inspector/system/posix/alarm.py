"""An alarm by SIGALRM, whose handler runs in the code that it interrupts."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from threading import current_thread, main_thread

assert sys.platform != "win32"


class Alarm:
    """Calls `ring` between two steps of the main thread, where it may raise. Made in another thread, it never rings."""

    def __init__(self, ring: Callable[[], None]) -> None:
        self._can_ring = current_thread() is main_thread()
        if self._can_ring:
            signal.signal(signal.SIGALRM, lambda _number, _frame: ring())

    def set(self, seconds: float, again: float) -> None:
        """Ring after these seconds, and then every `again` seconds, until `clear`."""
        if self._can_ring:
            signal.setitimer(signal.ITIMER_REAL, seconds, again)

    def clear(self) -> None:
        """Do not ring."""
        if self._can_ring:
            signal.setitimer(signal.ITIMER_REAL, 0)

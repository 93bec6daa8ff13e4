"""Messages that a filter delivers later."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class DelayedMessages:
    """Delivers each message when it is due, and all of them when the connection ends."""

    def __init__(self) -> None:
        self._waiting: dict[asyncio.TimerHandle, Callable[[], None]] = {}

    def add(self, seconds: float, deliver: Callable[[], None]) -> None:
        """Call `deliver` after that time."""

        def due() -> None:
            del self._waiting[handle]
            deliver()

        handle = asyncio.get_running_loop().call_later(seconds, due)
        self._waiting[handle] = deliver

    def deliver_all(self) -> None:
        """Deliver all now, in the order in which they were added."""
        waiting, self._waiting = self._waiting, {}
        for handle, deliver in waiting.items():
            handle.cancel()
            deliver()

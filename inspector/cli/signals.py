"""Signals that end a command: the first cancels the work, one during the clean-up terminates the process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from inspector.errors import Interrupted
from inspector.system.terminal import ENDING, watch_signals

T = TypeVar("T")

_BLOCKED = 0.5
"""Seconds after which a signal that the event loop has not handled shows that something blocks it."""


class Signals:
    """Create it in the task that it cancels. `kill_now` stops what a second signal must not wait for."""

    def __init__(self, kill_now: Callable[[], None] = lambda: None) -> None:
        self.caught = 0
        """The number of the first signal, or 0."""
        self.closing = False
        """The clean-up has started."""
        self._kill_now = kill_now
        self._came_at = 0.0
        """When the first signal came that the event loop has not handled."""
        self._task: asyncio.Task[Any] | None = asyncio.current_task()
        self.remove = watch_signals(ENDING, self._on, self._came)
        """Restores the signal handlers."""

    def _came(self, number: int) -> None:
        """End at once where the loop does not run: a regular expression of the user's takes long, for example."""
        now = time.monotonic()
        if self._came_at and now > self._came_at + _BLOCKED:
            self._kill_now()
            raise KeyboardInterrupt
        self._came_at = self._came_at or now

    def _on(self, number: int) -> None:
        self._came_at = 0.0
        again = bool(self.caught)
        self.caught = self.caught or number
        if again or self.closing:
            self._kill_now()
        elif self._task is not None:
            self._task.cancel()


async def until_interrupted(work: Awaitable[T], kill_now: Callable[[], None] = lambda: None) -> T:
    """Await `work`. Raises `Interrupted` if a signal ended it."""
    signals = Signals(kill_now)
    try:
        return await work
    except asyncio.CancelledError:
        if not signals.caught:
            raise
        raise Interrupted(signals.caught) from None
    finally:
        signals.remove()

"""Signals that end a command: the first cancels the work, one during the clean-up terminates the process."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from typing import Any

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Signals:
    """Create it in the task that it cancels. `kill_now` stops what a second signal must not wait for."""

    def __init__(self, kill_now: Callable[[], None] = lambda: None) -> None:
        self.caught = 0
        """The number of the first signal, or 0."""
        self.closing = False
        """The clean-up has started."""
        self._kill_now = kill_now
        self._task: asyncio.Task[Any] | None = asyncio.current_task()
        self._loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            try:
                self._loop.add_signal_handler(number, self._on, number)
            except (NotImplementedError, ValueError, RuntimeError):
                pass  # Not the main thread, or a system without signals: the caller handles them.

    def _on(self, number: int) -> None:
        again = bool(self.caught)
        self.caught = self.caught or number
        if again or self.closing:
            self._kill_now()
        elif self._task is not None:
            self._task.cancel()

    def remove(self) -> None:
        """Restore the signal handlers."""
        for number in _SIGNALS:
            try:
                self._loop.remove_signal_handler(number)
            except (NotImplementedError, ValueError, RuntimeError):
                pass

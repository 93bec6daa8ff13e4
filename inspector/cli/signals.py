"""Signals that end a command: the first cancels what goes on, one that comes during the clean-up ends it at once."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from typing import Any

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Signals:
    """Made in the task that they cancel. `kill_now` ends, without a wait, what a second signal shall not wait for."""

    def __init__(self, kill_now: Callable[[], None] = lambda: None) -> None:
        self.caught = 0
        """The number of the first signal, or 0."""
        self.closing = False
        """What is going on now is the clean-up."""
        self._kill_now = kill_now
        self._task: asyncio.Task[Any] | None = asyncio.current_task()
        self._loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            try:
                self._loop.add_signal_handler(number, self._on, number)
            except (NotImplementedError, ValueError, RuntimeError):
                pass  # Not the main thread, or a system without signals: whoever called us deals with them.

    def _on(self, number: int) -> None:
        again = bool(self.caught)
        self.caught = self.caught or number
        if again or self.closing:
            self._kill_now()
        elif self._task is not None:
            self._task.cancel()

    def remove(self) -> None:
        """Give the signals back."""
        for number in _SIGNALS:
            try:
                self._loop.remove_signal_handler(number)
            except (NotImplementedError, ValueError, RuntimeError):
                pass

"""A timer that is started again and again."""

from __future__ import annotations

from collections.abc import Callable

from textual.message_pump import MessagePump
from textual.timer import Timer


class SingleTimer:
    """Calls `then` some time after `start`; at most one call is due."""

    def __init__(self, owner: MessagePump, then: Callable[[], object]) -> None:
        self._owner, self._then = owner, then
        self._timer: Timer | None = None

    def start(self, seconds: float) -> None:
        """Start it, unless it runs."""
        if self._timer is None:
            self._timer = self._owner.set_timer(seconds, self._end)

    def stop(self) -> None:
        """Stop it, if it runs."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def _end(self) -> None:
        self._timer = None
        self._then()

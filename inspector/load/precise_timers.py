"""An event loop whose timers are exact to microseconds, so that calls start when they are due."""

from __future__ import annotations

import asyncio
import select
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
_MAX_COUNT = 1024
"""Descriptors from this number on are too high for `select`."""


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine like `asyncio.run`, with exact timers."""
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(_selector())) as runner:
        return runner.run(main)


def _selector() -> selectors.BaseSelector:
    if not hasattr(selectors, "EpollSelector"):
        return selectors.DefaultSelector()

    class PreciseSelector(selectors.EpollSelector):
        """Epoll rounds each wait up to a millisecond; `select` does not, and waits for the epoll object itself."""

        def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
            if timeout is not None and timeout > 0 and self.fileno() < _MAX_COUNT:
                select.select([self.fileno()], [], [], timeout)
                timeout = 0
            return super().select(timeout)

    return PreciseSelector()

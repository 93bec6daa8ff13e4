"""An event loop whose timers are exact to microseconds, so that calls start when they are due."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from inspector.system.streams import exact_loop

T = TypeVar("T")


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine like `asyncio.run`, with exact timers."""
    with asyncio.Runner(loop_factory=exact_loop) as runner:
        return runner.run(main)

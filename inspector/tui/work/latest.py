"""Doing something slow for the newest of many wishes: one at a time, never interrupted, old wishes left out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from textual.widget import Widget

Wish = TypeVar("Wish")

QUICK = 0.2
"""Seconds between two wishes that count as quick."""

REST = 0.06
"""Seconds that are waited in a quick row of wishes, of which most will be gone by then."""


class Latest(Generic[Wish]):
    """Calls `do(wish)` in a worker of `owner`. `settled` waits until the newest wish is fulfilled."""

    def __init__(self, owner: Widget, do: Callable[[Wish], Awaitable[None]]) -> None:
        self._owner = owner
        self._do = do
        self._wishes: list[Wish] = []
        self._at_work = False
        self._idle = asyncio.Event()
        self._idle.set()
        self._done_at = 0.0

    def want(self, wish: Wish) -> None:
        """Take the place of any wish that waits."""
        self._wishes = [wish]
        self._idle.clear()
        if not self._at_work:
            self._at_work = True
            self._owner.run_worker(self._work(), group=f"latest {id(self)}", exit_on_error=False)

    def drop(self) -> None:
        """Forget a wish that waits."""
        self._wishes.clear()

    def is_wanted(self, wish: Wish) -> bool:
        """Tell whether nothing newer was wished for since."""
        return not self._wishes or self._wishes[-1] is wish

    @property
    def is_idle(self) -> bool:
        """Whether nothing is wished for."""
        return self._idle.is_set()

    async def settled(self) -> None:
        """Wait until nothing is wished for."""
        await self._idle.wait()

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._wishes:
                if loop.time() - self._done_at < QUICK:
                    await asyncio.sleep(REST)
                if self._wishes:
                    await self._do(self._wishes.pop())
                self._done_at = loop.time()
        finally:
            self._at_work = False
            self._idle.set()

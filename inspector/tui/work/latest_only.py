"""Runs slow work for the newest of many requests: one at a time, never interrupted, old requests dropped."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from textual.timer import Timer
from textual.widget import Widget

Wish = TypeVar("Wish")

QUICK = 0.2
"""Seconds between two requests that count as quick."""

REST = 0.06
"""Pause in seconds within quick requests, most of which are obsolete after it."""


class LatestOnly(Generic[Wish]):
    """Calls `do(wish)` in a worker of `owner`. `settled` waits until the newest request is done."""

    def __init__(self, owner: Widget, do: Callable[[Wish], Awaitable[None]]) -> None:
        self._owner = owner
        self._do = do
        self._wishes: list[Wish] = []
        self._at_work = False
        self._idle = asyncio.Event()
        self._idle.set()
        self._done_at = 0.0
        self._rested = asyncio.Event()
        self._rested.set()
        self._rest: Timer | None = None

    def want(self, wish: Wish, *, when_keys_rest: bool = False) -> None:
        """Replace the waiting request. `when_keys_rest`: it starts `REST` after the last one, or with `hurry`."""
        self._wishes = [wish]
        self._idle.clear()
        if self._rest is not None:
            self._rest.stop()
            self._rest = None
        if when_keys_rest:
            self._rested.clear()
            self._rest = self._owner.set_timer(REST, self._rested.set)
        else:
            self._rested.set()
        if not self._at_work:
            self._at_work = True
            self._owner.run_worker(self._work(), group=f"latest {id(self)}", exit_on_error=False)

    def hurry(self) -> None:
        """Start the waiting request now: something waits for it."""
        self._rested.set()

    def drop(self) -> None:
        """Drop the waiting request."""
        self._wishes.clear()

    def is_wanted(self, wish: Wish) -> bool:
        """Whether there was no newer request."""
        return not self._wishes or self._wishes[-1] is wish

    @property
    def is_idle(self) -> bool:
        """Whether no request is waiting or running."""
        return self._idle.is_set()

    async def settled(self) -> None:
        """Wait until no request is waiting or running."""
        await self._idle.wait()

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._wishes:
                if not self._rested.is_set():
                    await self._rested.wait()
                elif loop.time() - self._done_at < QUICK:
                    await asyncio.sleep(REST)
                if self._wishes:
                    await self._do(self._wishes.pop())
                self._done_at = loop.time()
        finally:
            self._at_work = False
            self._idle.set()

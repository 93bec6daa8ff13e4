"""What a transport over HTTP has running: every task has this owner, and none ends unseen."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any

from inspector.errors import HttpError

MOST_SENDING = 64
"""Messages that expect no answer, replies to the server among them, which are on their way before reading pauses."""
REPLIES_AT_ONCE = 8
"""Replies being posted at the same time; the others wait, so that a flood of them leaves time for the rest."""
CANCEL_GRACE = 0.2
"""Seconds for a cancelled exchange to close its connection."""


class Tasks:
    """The running tasks of one transport. Those that expect an answer need not be waited for when closing.

    Also the gate of its readers (see `Pump`): a server that asks faster than it takes our replies is not read on.
    """

    def __init__(self) -> None:
        self._sending = 0
        """Running tasks that expect no answer."""
        self._replying = asyncio.Semaphore(REPLIES_AT_ONCE)
        self._relief: asyncio.Event | None = None
        """Set when there is room again; None while no task waits for that."""
        self._running: dict[asyncio.Task[None], bool] = {}
        """With each task, whether it expects an answer."""

    def __len__(self) -> int:
        return len(self._running)

    def start(
        self, work: Coroutine[Any, Any, None], *, waits: bool, fault: Callable[[BaseException], None] | None = None
    ) -> asyncio.Task[None]:
        """Run `work`. `fault` is told of an exception that it should have dealt with, which is a fault of our own."""
        task = asyncio.get_running_loop().create_task(work)
        self._running[task] = waits
        self._sending += not waits
        task.add_done_callback(lambda done: self._ended(done, fault))
        return task

    def _ended(self, task: asyncio.Task[None], fault: Callable[[BaseException], None] | None) -> None:
        self._sending -= not self._running.pop(task)
        if self._relief is not None and not self.crowded:
            self._relief.set()
            self._relief = None
        error = None if task.cancelled() else task.exception()
        if error is not None:
            if fault is not None:
                fault(error)
            task.get_loop().call_exception_handler(
                {"message": "a task of the HTTP transport failed", "exception": error, "task": task}
            )

    async def in_turn(self, work: Callable[[], Awaitable[None]]) -> None:
        """Post a reply to the server, when those before it leave room."""
        async with self._replying:
            await work()

    @property
    def crowded(self) -> bool:
        """Whether more messages are on their way than a server should have to take at once."""
        return self._sending > MOST_SENDING

    async def room(self) -> None:
        """Wait until some of them have arrived."""
        while self.crowded:
            if self._relief is None:
                self._relief = asyncio.Event()
            await self._relief.wait()

    async def settled(self, seconds: float) -> None:
        """Wait for those that expect no answer, but not longer than that."""
        sending = [task for task, waits in self._running.items() if not waits]
        if sending:
            await asyncio.wait(sending, timeout=seconds)

    async def cancel(self, *, waiting: bool = False) -> None:
        """Cancel all, or with `waiting` those that expect an answer, and let them close what they hold."""
        await cancelled([task for task, waits in self._running.items() if waits or not waiting])


async def cancelled(tasks: Iterable[asyncio.Task[None]]) -> None:
    """Cancel tasks and wait until they have ended, for a moment at most."""
    tasks = list(tasks)
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=CANCEL_GRACE)


def a_fault(error: BaseException) -> HttpError:
    """What a request is told that fails by a fault of our own: it must neither hang nor vanish."""
    return HttpError(f"Reading the answer failed: {error!r}.", hint="This is a bug.")

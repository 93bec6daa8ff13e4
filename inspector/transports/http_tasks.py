"""The running tasks of an HTTP transport: each has this owner, and its errors are reported."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any

from inspector.errors import HttpError
from inspector.transports.base import Sink
from inspector.transports.reading_pause import ReadingPause

MAX_SENDING = 64
"""Messages without an expected answer that are being sent, replies included, above which reading pauses."""
REPLIES_AT_ONCE = 8
"""Replies that are posted at the same time; others wait, so that a flood of them leaves time for the rest."""
CANCEL_GRACE = 0.2
"""Seconds for a cancelled exchange to close its connection."""


class TransportTasks:
    """The running tasks of one transport. Closing does not wait for those that expect an answer.

    It is also the gate of its readers (see `Pump`): reading pauses if a server asks faster than it accepts our replies.
    """

    def __init__(self, sink: Sink) -> None:
        self._pause = ReadingPause(sink, "")
        self._sending = 0
        """Running tasks that expect no answer."""
        self._replying = asyncio.Semaphore(REPLIES_AT_ONCE)
        self._relief: asyncio.Event | None = None
        """Set when there is room again; None if no task waits for it."""
        self._running: dict[asyncio.Task[None], bool] = {}
        """For each task, whether it expects an answer."""

    def __len__(self) -> int:
        return len(self._running)

    def start(
        self, work: Coroutine[Any, Any, None], *, waits: bool, fault: Callable[[BaseException], None] | None = None
    ) -> asyncio.Task[None]:
        """Run `work`. `fault` gets an exception that it should have handled, which is a bug."""
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
            self._pause.end()
        error = None if task.cancelled() else task.exception()
        if error is not None:
            if fault is not None:
                fault(error)
            task.get_loop().call_exception_handler(
                {"message": "a task of the HTTP transport failed", "exception": error, "task": task}
            )

    async def in_turn(self, work: Callable[[], Awaitable[None]]) -> None:
        """Post a reply to the server, after earlier ones leave room."""
        async with self._replying:
            await work()

    @property
    def crowded(self) -> bool:
        """Whether the server has to accept too many messages at once."""
        return self._sending > MAX_SENDING

    async def room(self) -> None:
        """Wait until some of them have arrived."""
        while self.crowded:
            if self._relief is None:
                self._relief = asyncio.Event()
                self._pause.begin()
            await self._relief.wait()

    async def settled(self, seconds: float) -> None:
        """Wait for tasks that expect no answer, at most so long."""
        sending = [task for task, waits in self._running.items() if not waits]
        if sending:
            await asyncio.wait(sending, timeout=seconds)

    async def cancel(self, *, waiting: bool = False) -> None:
        """Cancel all, or with `waiting` those that expect an answer, and let them release their resources."""
        await cancelled([task for task, waits in self._running.items() if waits or not waiting])


async def cancelled(tasks: Iterable[asyncio.Task[None]]) -> None:
    """Cancel tasks and wait shortly until they have ended."""
    tasks = list(tasks)
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=CANCEL_GRACE)


def a_fault(error: BaseException) -> HttpError:
    """Return the error of a request that fails by a bug of ours: it must neither hang nor vanish."""
    return HttpError(f"Reading the answer failed: {error!r}.", hint="This is a bug.")

"""Incoming messages: progress of a call, and notifications of the server.

Both are read from the journal by their numbers: nothing is queued, so nothing can be lost or fill the memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from inspector.client.engine.pending_requests import Call
from inspector.client.state.calls import Progress
from inspector.journal.exchange import PROGRESS
from inspector.journal.format import Dir
from inspector.journal.query import Query
from inspector.library.results import Notification
from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import Shape
from inspector.text import repr_of

if TYPE_CHECKING:
    from inspector.client.session import Session

_PROGRESS = Query(method=PROGRESS, dir=Dir.RECV, shape=Shape.NOTIFICATION)
_TOLD = Query(dir=Dir.RECV, shape=(Shape.NOTIFICATION, Shape.BATCH))


class ChangeNotifier:
    """Wakes the tasks that wait for changes of a session, at most once in each turn of the event loop."""

    def __init__(self, session: Session, on_change: Callable[[], None]) -> None:
        """`on_change` is also called on each change."""
        self._session = session
        self._also = on_change
        self._scheduled = False
        self._waiting: set[asyncio.Future[None]] = set()
        self._loop = asyncio.get_running_loop()
        session.changes.listen(self._wake)

    def _wake(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._notify)

    def _notify(self) -> None:
        self._scheduled = False
        self._also()
        self.wake_all()

    def wake_all(self) -> None:
        """Wake all waiting tasks."""
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)
        self._waiting.clear()

    async def wait(self) -> None:
        """Wait for the next change."""
        waiter: asyncio.Future[None] = self._loop.create_future()
        self._waiting.add(waiter)
        try:
            await waiter
        finally:
            self._waiting.discard(waiter)


class ProgressFollower:
    """The progress of one call, which may be sent several times, each time as another request."""

    def __init__(self, session: Session, call: Call) -> None:
        self._journal = session.journal
        self._call = call
        self._requests = {call.n}
        self._seen = call.n
        self._count = 0

    def new(self) -> Iterator[Progress]:
        """Yield the progress since the last call."""
        index = self._journal.index
        self._requests.add(self._call.n)
        while self._seen < (count := index.count):
            n = _PROGRESS.first(index, self._seen, count)
            self._seen = n or count
            if n and index.pair(n) in self._requests:
                self._count += 1
                event = self._journal.event(n)
                params = event.message.get("params")
                yield Progress(n, event.t, params if type(params) is dict else {}, self._count)


class Notifications:
    """An asynchronous iterator over the notifications of a session."""

    def __init__(self, news: ChangeNotifier, session: Session, methods: frozenset[str]) -> None:
        self._news = news
        self._session = session
        self._methods = methods
        self._seen = session.journal.index.count
        self._batch: list[Notification] = []

    def __repr__(self) -> str:
        return repr_of(self, ", ".join(sorted(self._methods)) or "all methods")

    def __aiter__(self) -> Notifications:
        return self

    async def __anext__(self) -> Notification:
        while True:
            notification = self._next()
            if notification is not None:
                return notification
            session = self._session
            if session.phase == "lost" and session.error is not None:
                raise session.error
            if session.phase in ("closed", "failed", "lost"):
                raise StopAsyncIteration
            await self._news.wait()

    def _next(self) -> Notification | None:
        """Return the next notification that has already arrived."""
        index = self._session.journal.index
        while not self._batch and self._seen < (count := index.count):
            n = _TOLD.first(index, self._seen, count)
            self._seen = n or count
            if not n:
                break
            if index.shape(n) is Shape.BATCH:
                message = self._session.journal.event(n).message
                items: list[Any] = message if type(message) is list else []
                self._batch = [
                    Notification(item, n)
                    for item in reversed(items)
                    if jsonrpc.shape_of(item) is Shape.NOTIFICATION and self._accepts(item["method"])
                ]
            elif self._accepts(index.method(n)):
                return Notification(self._session.journal.event(n).message, n)
        return self._batch.pop() if self._batch else None

    def _accepts(self, method: str) -> bool:
        return not self._methods or method in self._methods

"""Sessions without `await`, for scripts and notebooks: `inspector.open_sync`.

Each session has an event loop in its own thread, so it also works if the caller's thread runs one, as in Jupyter. The
thread ends with the session: at the end of `with`, when the session is garbage-collected, or at exit.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar, cast

from inspector.errors import SessionLost, UsageError
from inspector.library.opening import open as open_session

if TYPE_CHECKING:
    from types import TracebackType

    from inspector.client.state.calls import Progress
    from inspector.client.state.server import Server
    from inspector.client.state.tasks import Task
    from inspector.library.incoming import Notifications
    from inspector.library.recordings import Recording
    from inspector.library.results import Notification, PromptResult, ResourceResult, ToolResult
    from inspector.library.session import Session
    from inspector.protocol.views import Prompt, Resource, ResourceTemplate, Tool

T = TypeVar("T")
P = ParamSpec("P")

CANCEL_SECONDS = 5.0
"""Seconds for an interrupted call to end; the caller continues after that."""


class LoopThread:
    """An event loop in a thread of that name. `stop` it."""

    def __init__(self, name: str) -> None:
        self._loop: asyncio.AbstractEventLoop
        self._stopped: asyncio.Event
        self._ended = False
        ready: SimpleQueue[None] = SimpleQueue()
        self._thread = threading.Thread(target=self._main, args=(ready,), name=name, daemon=True)
        self._thread.start()
        ready.get()

    def _main(self, ready: SimpleQueue[None]) -> None:
        async def live() -> None:
            self._loop, self._stopped = asyncio.get_running_loop(), asyncio.Event()
            ready.put(None)
            await self._stopped.wait()

        try:
            asyncio.run(live())
        finally:
            self._ended = True

    @property
    def is_alive(self) -> bool:
        """Whether its loop runs."""
        # Not `Thread.is_alive`: interrupted, that of Python 3.11 takes a living thread for a dead one.
        return not self._ended

    @property
    def is_current(self) -> bool:
        """Whether the caller runs in this thread."""
        return threading.current_thread() is self._thread

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the loop and wait for it. An interrupt, such as Ctrl-C, cancels it."""
        if self.is_current or not self.is_alive:
            work.close()
            if self.is_current:
                raise UsageError(
                    "A callback cannot wait for its own session.",
                    hint="Open a second session in the callback, or use inspector.open with asynchronous callbacks.",
                )
            raise SessionLost("The session is closed.")
        # An interrupt may come before the task exists, or while a lock that is written in Python is entered: it stays
        # held, and the loop waits for it for ever. Only a SimpleQueue, which has no such lock, is shared.
        ended: SimpleQueue[asyncio.Future[T] | None] = SimpleQueue()
        begun: list[asyncio.Task[T]] = []

        def begin() -> None:
            begun.append(self._loop.create_task(work))
            begun[0].add_done_callback(ended.put)

        def cancel() -> None:
            if begun:
                begun[0].cancel()
            else:
                work.close()
                ended.put(None)

        try:
            self._loop.call_soon_threadsafe(begin)
            task = ended.get()
        except BaseException:
            if not (begun and begun[0].done()):
                self._loop.call_soon_threadsafe(cancel)
                with suppress(Empty):
                    ended.get(timeout=CANCEL_SECONDS)
            raise
        assert task is not None
        try:
            return task.result()
        except asyncio.CancelledError:
            raise SessionLost("The session was closed before the answer came.") from None

    def stop(self) -> None:
        """Stop the loop and the thread. Idempotent."""
        if self.is_alive:
            self._loop.call_soon_threadsafe(self._stopped.set)
            if not self.is_current:
                self._thread.join(CANCEL_SECONDS)

    def finish(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run the last coroutine, then `stop`. May be called from any thread, including this one."""
        if not self.is_alive:
            return
        if self.is_current:
            task = self._loop.create_task(work())
            task.add_done_callback(lambda _task: self._stopped.set())
            return
        try:
            self.run(work())
        finally:
            self.stop()


class SyncSession:
    """One connection to one server, as `Session`, but every method blocks. Use it with `with`.

    Callbacks (`sampling`, `elicit`, `progress`) run in the session's thread. Ctrl-C cancels the blocking call.
    """

    def __init__(self, session: Session) -> None:
        """Created by `inspector.open_sync`."""
        self._session = session
        self._thread: LoopThread | None = None
        self._finalize: weakref.finalize[Any, Any] | None = None

    def __repr__(self) -> str:
        return f"<inspector.SyncSession{repr(self._session).removeprefix('<inspector.Session')}"

    # Opening and closing

    def connect(self) -> Self:
        """Start or reach the server and negotiate a revision. Raises the failure."""
        if self._thread is not None:
            raise SessionLost(
                "A session can be connected only once.", hint="Open another one with inspector.open_sync(…)."
            )
        thread = self._thread = LoopThread("inspector")
        self._finalize = weakref.finalize(self, thread.finish, self._session.close)
        try:
            thread.run(self._session.connect())
        except BaseException:
            self.close()
            raise
        return self

    def close(self) -> None:
        """Close the session and its thread, and stop the server if it is a command. Idempotent."""
        if self._finalize is not None:
            self._finalize()

    def __enter__(self) -> Self:
        return self.connect()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread is not None:
            try:
                self._thread.run(self._session.__aexit__(kind, error, trace))
            finally:
                self.close()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        if self._thread is None:
            work.close()
            raise SessionLost("The session is not connected.", hint="Use it with `with`, or call connect().")
        return self._thread.run(work)

    def _next(self, notifications: Notifications) -> Notification:
        """Return the next notification. After the session's end, return those that had arrived, without waiting."""
        if self._thread is None or self._thread.is_alive:
            return self._run(notifications.__anext__())
        try:
            notifications.__anext__().send(None)
        except StopIteration as done:
            return cast("Notification", done.value)
        raise StopAsyncIteration

    def _do(self, action: Callable[[], T]) -> T:
        """Run a non-blocking action in the session's thread."""

        async def work() -> T:
            return action()

        return self._run(work())

    # State

    @property
    def server(self) -> Server:
        """The server: `name`, `version`, `revision`, `era`, `capabilities`, `instructions`, `can("tools")`."""
        return self._session.server

    @property
    def recording(self) -> Recording:
        """Everything that has crossed the wire so far; also after the session."""
        return self._session.recording

    # Lists

    def tools(self) -> list[Tool]:
        """Return all pages of `tools/list`."""
        return self._run(self._session.tools())

    def resources(self) -> list[Resource]:
        """Return all pages of `resources/list`."""
        return self._run(self._session.resources())

    def templates(self) -> list[ResourceTemplate]:
        """Return all pages of `resources/templates/list`."""
        return self._run(self._session.templates())

    def prompts(self) -> list[Prompt]:
        """Return all pages of `prompts/list`."""
        return self._run(self._session.prompts())

    # Requests

    def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        progress: Callable[[Progress], object] | None = None,
        timeout: float | None = None,
        as_task: bool = False,
    ) -> ToolResult:
        """Send `tools/call`; see `Session.call_tool`."""
        return self._run(self._session.call_tool(name, arguments, progress=progress, timeout=timeout, as_task=as_task))

    def read_resource(self, uri: str) -> ResourceResult:
        """Send `resources/read`."""
        return self._run(self._session.read_resource(uri))

    def get_prompt(self, name: str, arguments: Mapping[str, str] | None = None) -> PromptResult:
        """Send `prompts/get`. Arguments of prompts are texts."""
        return self._run(self._session.get_prompt(name, arguments))

    def complete(self, ref: str, argument: str, value: str, context: Mapping[str, str] | None = None) -> list[str]:
        """Send `completion/complete`; see `Session.complete`."""
        return self._run(self._session.complete(ref, argument, value, context))

    def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        progress: Callable[[Progress], object] | None = None,
        timeout: float | None = None,
    ) -> Any:
        """Send any request and return its `result` unmodified."""
        return self._run(self._session.request(method, params, progress=progress, timeout=timeout))

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Send any notification."""
        self._do(lambda: self._session.notify(method, params))

    def ping(self) -> float:
        """Return the seconds of a `ping`. Raises `NotOffered` in revisions without it."""
        return self._run(self._session.ping())

    # Notifications

    def notifications(self, *methods: str) -> SyncNotifications:
        """Return the server's notifications from now on, as a blocking iterator; with `methods` only those."""
        return SyncNotifications(self, self._do(lambda: self._session.notifications(*methods)))

    def listen(self) -> None:
        """Subscribe to list changes, where a subscription is needed (revision 2026-07-28)."""
        self._run(self._session.listen())

    def subscribe(self, uri: str) -> None:
        """Subscribe to changes of a resource: `notifications/resources/updated`."""
        self._run(self._session.subscribe(uri))

    def unsubscribe(self, uri: str) -> None:
        """Unsubscribe from changes of a resource."""
        self._run(self._session.unsubscribe(uri))

    def set_log_level(self, level: str) -> None:
        """Request log messages of at least this level (`debug` … `emergency`): `notifications/message`."""
        self._run(self._session.set_log_level(level))

    # Tasks

    def tasks(self) -> list[Task]:
        """Return the known tasks, newest last."""
        return self._run(self._session.tasks())

    def cancel_task(self, task: Task) -> None:
        """Request the cancellation of a task; its call ends when the server confirms it."""
        self._do(lambda: self._session.cancel_task(task))


class SyncNotifications:
    """An iterator over the notifications of a session. It ends with the session."""

    def __init__(self, session: SyncSession, notifications: Notifications) -> None:
        self._session = session
        self._notifications = notifications

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Notification:
        try:
            return self._session._next(self._notifications)
        except StopAsyncIteration:
            raise StopIteration from None


def _as(_signature: Callable[P, Session]) -> Callable[[Callable[..., SyncSession]], Callable[P, SyncSession]]:
    """Give a function the parameters of another one."""
    return lambda function: function


@_as(open_session)
def open_sync(*args: Any, **options: Any) -> SyncSession:
    """Return a session with `target`, for use with `with`. Parameters and errors are those of `inspector.open`."""
    return SyncSession(open_session(*args, **options))

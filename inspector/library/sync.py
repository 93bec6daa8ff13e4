"""Sessions without `await`, for scripts and notebooks: `inspector.open_sync`.

Each session has an event loop in a thread of its own, so it also works where the caller's thread runs one already, as
in Jupyter. The thread ends with the session: at the end of `with`, when the session is collected, or at exit.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Callable, Coroutine, Mapping
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
"""Seconds for a call that was interrupted to end; the caller goes on after that."""


class LoopThread:
    """An event loop in a thread. `stop` it."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop
        self._stopped: asyncio.Event
        ready = threading.Event()
        self._thread = threading.Thread(target=self._main, args=(ready,), name="inspector", daemon=True)
        self._thread.start()
        ready.wait()

    def _main(self, ready: threading.Event) -> None:
        async def live() -> None:
            self._loop, self._stopped = asyncio.get_running_loop(), asyncio.Event()
            ready.set()
            await self._stopped.wait()

        asyncio.run(live())

    @property
    def is_alive(self) -> bool:
        """Whether it was not stopped."""
        return self._thread.is_alive()

    @property
    def is_current(self) -> bool:
        """Whether the caller runs in this thread."""
        return threading.current_thread() is self._thread

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the loop and wait for it. An interrupt, such as Ctrl-C, cancels it first."""
        if self.is_current or not self.is_alive:
            work.close()
            if self.is_current:
                raise UsageError(
                    "A callback cannot wait for its own session.",
                    hint="Open a second session in the callback, or use inspector.open with asynchronous callbacks.",
                )
            raise SessionLost("The session was closed.")
        # An interrupt may come at any moment, also before the loop's future is in our hands.
        ended, interrupted = threading.Event(), threading.Event()
        begun: list[asyncio.Task[Any]] = []

        async def watched() -> T:
            task = asyncio.current_task()
            assert task is not None
            begun.append(task)
            try:
                if interrupted.is_set():
                    work.close()
                    raise asyncio.CancelledError
                return await work
            finally:
                ended.set()

        def cancel() -> None:
            if begun:
                begun[0].cancel()
            else:
                ended.set()

        try:
            return asyncio.run_coroutine_threadsafe(watched(), self._loop).result()
        except BaseException:
            if not ended.is_set():
                interrupted.set()
                self._loop.call_soon_threadsafe(cancel)
                ended.wait(CANCEL_SECONDS)
            raise

    def stop(self) -> None:
        """End the loop and the thread. Idempotent."""
        if self.is_alive:
            self._loop.call_soon_threadsafe(self._stopped.set)
            if not self.is_current:
                self._thread.join(CANCEL_SECONDS)

    def finish(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run the last coroutine, then `stop`. Any thread may call it, this one too."""
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
    """One connection to one server, as `Session`, but every method waits. Use it with `with`.

    Callbacks (`sampling`, `elicit`, `progress`) run in the session's thread. Ctrl-C cancels the call that waits.
    """

    def __init__(self, session: Session) -> None:
        """Made by `inspector.open_sync`."""
        self._session = session
        self._thread: LoopThread | None = None
        self._finalize: weakref.finalize[Any, Any] | None = None

    def __repr__(self) -> str:
        return f"<inspector.SyncSession{repr(self._session).removeprefix('<inspector.Session')}"

    # Opening and closing

    def connect(self) -> Self:
        """Start or reach the server and agree on a revision. Raises what went wrong."""
        if self._thread is not None:
            raise SessionLost("A session is connected once.", hint="Open another one with inspector.open_sync(…).")
        thread = self._thread = LoopThread()
        self._finalize = weakref.finalize(self, thread.finish, self._session.close)
        try:
            thread.run(self._session.connect())
        except BaseException:
            self.close()
            raise
        return self

    def close(self) -> None:
        """End the session, its thread, and the server where it is a command. Idempotent."""
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

    def _next(self, found: Notifications) -> Notification:
        """The next notification. After the end of the session those that had come before, which needs no waiting."""
        if self._thread is None or self._thread.is_alive:
            return self._run(found.__anext__())
        try:
            found.__anext__().send(None)
        except StopIteration as done:
            return cast("Notification", done.value)
        raise StopAsyncIteration

    def _do(self, action: Callable[[], T]) -> T:
        """Something that does not wait, in the session's thread."""

        async def work() -> T:
            return action()

        return self._run(work())

    # What is known

    @property
    def server(self) -> Server:
        """Who the server is: `name`, `version`, `revision`, `era`, `capabilities`, `instructions`, `can("tools")`."""
        return self._session.server

    @property
    def recording(self) -> Recording:
        """Everything that has crossed the wire so far; also when the session is over."""
        return self._session.recording

    # Lists

    def tools(self) -> list[Tool]:
        """All pages of `tools/list`."""
        return self._run(self._session.tools())

    def resources(self) -> list[Resource]:
        """All pages of `resources/list`."""
        return self._run(self._session.resources())

    def templates(self) -> list[ResourceTemplate]:
        """All pages of `resources/templates/list`."""
        return self._run(self._session.templates())

    def prompts(self) -> list[Prompt]:
        """All pages of `prompts/list`."""
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
        """`tools/call`; see `Session.call_tool`."""
        return self._run(self._session.call_tool(name, arguments, progress=progress, timeout=timeout, as_task=as_task))

    def read_resource(self, uri: str) -> ResourceResult:
        """`resources/read`."""
        return self._run(self._session.read_resource(uri))

    def get_prompt(self, name: str, arguments: Mapping[str, str] | None = None) -> PromptResult:
        """`prompts/get`. Arguments of prompts are texts."""
        return self._run(self._session.get_prompt(name, arguments))

    def complete(self, ref: str, argument: str, value: str, context: Mapping[str, str] | None = None) -> list[str]:
        """`completion/complete`; see `Session.complete`."""
        return self._run(self._session.complete(ref, argument, value, context))

    def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        progress: Callable[[Progress], object] | None = None,
        timeout: float | None = None,
    ) -> Any:
        """Send any request and wait for its `result`, which is given as it came."""
        return self._run(self._session.request(method, params, progress=progress, timeout=timeout))

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Send any notification."""
        self._do(lambda: self._session.notify(method, params))

    def ping(self) -> float:
        """Seconds that a `ping` takes. Raises `NotOffered` in revisions that have none."""
        return self._run(self._session.ping())

    # Notifications

    def notifications(self, *methods: str) -> SyncNotifications:
        """The server's notifications from now on, as an iterator that waits; with `methods` only those."""
        return SyncNotifications(self, self._do(lambda: self._session.notifications(*methods)))

    def listen(self) -> None:
        """Ask to be told when a list changes, where that has to be asked for (revision 2026-07-28)."""
        self._run(self._session.listen())

    def subscribe(self, uri: str) -> None:
        """Ask to be told when a resource changes: `notifications/resources/updated`."""
        self._run(self._session.subscribe(uri))

    def unsubscribe(self, uri: str) -> None:
        """Ask no longer to be told."""
        self._run(self._session.unsubscribe(uri))

    def set_log_level(self, level: str) -> None:
        """Have log messages from this level on (`debug` … `emergency`): `notifications/message`."""
        self._run(self._session.set_log_level(level))

    # Tasks

    def tasks(self) -> list[Task]:
        """The tasks that are known, newest last."""
        return self._run(self._session.tasks())

    def cancel_task(self, task: Task) -> None:
        """Ask the server to cancel a task; the call that waits for it ends when the server says so."""
        self._do(lambda: self._session.cancel_task(task))


class SyncNotifications:
    """An iterator over the notifications of a session. It ends with the session."""

    def __init__(self, session: SyncSession, found: Notifications) -> None:
        self._session = session
        self._found = found

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Notification:
        try:
            return self._session._next(self._found)
        except StopAsyncIteration:
            raise StopIteration from None


def _as(_signature: Callable[P, Session]) -> Callable[[Callable[..., SyncSession]], Callable[P, SyncSession]]:
    """Give a function the parameters of another one."""
    return lambda function: function


@_as(open_session)
def open_sync(*args: Any, **options: Any) -> SyncSession:
    """A session with `target`, to be used with `with`. Parameters and errors are those of `inspector.open`."""
    return SyncSession(open_session(*args, **options))

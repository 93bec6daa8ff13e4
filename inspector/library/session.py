"""A session for programs, returned by `inspector.open`. It uses the same engine as the interface and the commands."""

from __future__ import annotations

import asyncio
import os
import sys
import warnings
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from inspector.client import session as engine
from inspector.client.engine.connect import transport_for
from inspector.client.new_recording import new_journal
from inspector.config.settings import Settings
from inspector.config.targets import HttpTarget
from inspector.errors import NotOffered, SessionLost, UsageError
from inspector.library.answering import CallbackRunner, ElicitationCallback, SamplingCallback
from inspector.library.incoming import ChangeNotifier, Notifications, ProgressFollower
from inspector.library.results import PromptResult, RequestResult, ResourceResult, ToolResult
from inspector.protocol.views import Prompt, Resource, ResourceTemplate, Tool, View

if TYPE_CHECKING:
    from types import TracebackType

    from inspector.client.engine.pending_requests import Call
    from inspector.client.inbox import Question
    from inspector.client.options import Options
    from inspector.client.state.calls import Progress
    from inspector.client.state.catalog import ListName
    from inspector.client.state.server import Server
    from inspector.client.state.tasks import Task
    from inspector.config.targets import StdioTarget, Target
    from inspector.journal.journal import Journal
    from inspector.library.recordings import Recording
    from inspector.transports.asgi import App

V = TypeVar("V", bound=View)
A = TypeVar("A", bound=RequestResult)


class Session:
    """One connection to one server. Use it with `async with`, or `connect` it and `close` it.

    Every failure raises an `InspectorError`: `ConnectionProblem` and its subclasses if the connection failed, broke or
    timed out, `ServerError` if the server responded with an error, `NotOffered` if it does not declare the capability.
    Cancelling the awaiting task cancels the request, and notifies the server.
    """

    def __init__(
        self,
        target: Target,
        options: Options,
        *,
        record: Path | bool = False,
        sampling: SamplingCallback | None = None,
        elicitation: ElicitationCallback | None = None,
        connect: Callable[..., Any] = transport_for,
    ) -> None:
        """Created by `inspector.open`. `record` True: in the folder where Inspector keeps recordings."""
        self._target = target
        self._options = options
        self._record = record
        self._callbacks = sampling, elicitation
        self._connect = connect
        self._engine: engine.Session | None = None
        self._recording: Recording | None = None
        self._answering: CallbackRunner
        self._news: ChangeNotifier

    def __repr__(self) -> str:
        phase = "not connected" if self._engine is None else self._engine.phase
        return f"<inspector.Session {self._target.describe()}, {phase}>"

    # Opening and closing

    async def connect(self) -> Self:
        """Start or reach the server and negotiate a revision. Raises the failure."""
        from inspector.library.recordings import Recording

        need_asyncio()
        if self._engine is not None:
            raise SessionLost("A session can be connected only once.", hint="Open another one with inspector.open(…).")
        journal = new_journal(
            self._target,
            settings=Settings(),
            record=self._record if isinstance(self._record, Path) else None,
            keep=self._record is True,
        )
        journal.exact_frames = True  # A program uses the exact responses and escapes them itself when it shows them.
        self._recording = Recording(journal)
        session = self._engine = engine.Session(self._target, journal, self._options, connect=self._connect)
        record_note = session.inbox.on_note

        def warn(text: str, question: Question) -> None:
            """Warn about a doubtful answer of the program, in the recording and as a Python warning."""
            if record_note is not None:
                record_note(text, question)
            warnings.warn(text, UserWarning, stacklevel=2)

        session.inbox.on_note = warn
        self._answering = CallbackRunner(session.inbox, *self._callbacks)
        self._news = ChangeNotifier(session, self._answering.ask_new)
        try:
            if (app := _app(self._target)) is not None:
                await app.start()
            await session.open()
        except BaseException:
            await self.close()
            raise
        return self

    async def close(self) -> None:
        """Close the session, and stop the server if it is a command. Idempotent; the recording stays readable."""
        if self._engine is not None:
            await self._answering.close()
            await self._engine.close()
            if (app := _app(self._target)) is not None:
                await app.close()
            self._news.wake_all()

    async def __aenter__(self) -> Self:
        return await self.connect()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
        if error is None:
            self._answering.raise_problem()

    @property
    def engine(self) -> engine.Session:
        """The session of the engine: complete, but without a promise of stability."""
        if self._engine is None:
            raise SessionLost("The session is not connected.", hint="Use it with `async with`, or await connect().")
        return self._engine

    # State

    @property
    def server(self) -> Server:
        """The server: `name`, `version`, `revision`, `era`, `capabilities`, `instructions`, `can("tools")`."""
        return self.engine.server

    @property
    def recording(self) -> Recording:
        """Everything that has crossed the wire so far; also after the session."""
        if self._recording is None:
            raise SessionLost("The session is not connected.", hint="Use it with `async with`, or await connect().")
        return self._recording

    # Lists

    async def tools(self) -> list[Tool]:
        """Return all pages of `tools/list`."""
        return await self._list("tools", Tool)

    async def resources(self) -> list[Resource]:
        """Return all pages of `resources/list`."""
        return await self._list("resources", Resource)

    async def templates(self) -> list[ResourceTemplate]:
        """Return all pages of `resources/templates/list`."""
        return await self._list("templates", ResourceTemplate)

    async def prompts(self) -> list[Prompt]:
        """Return all pages of `prompts/list`."""
        return await self._list("prompts", Prompt)

    async def _list(self, name: ListName, view: Callable[[Any], V]) -> list[V]:
        await self.engine.load(name)
        listing = self.engine.catalog[name]
        if listing.error is not None:
            raise listing.error
        return [view(item) for item in listing.items]

    # Requests

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        progress: Callable[[Progress], object] | None = None,
        timeout: float | None = None,
        as_task: bool = False,
    ) -> ToolResult:
        """Send `tools/call`. A failed tool returns a result with `is_error`; see `ToolResult.raise_for_error`.

        `progress` is called with each progress notification, in order; `timeout` is in seconds without a response or
        progress. A tool that requires a task is called as one and awaited; `as_task` does so for a tool that supports
        it.
        """
        session = self.engine
        # Only the list says which arguments are repeated in HTTP headers, and which tools are tasks.
        if (session.driver.lists_before_calls or as_task) and not session.catalog["tools"].pages:
            await session.load("tools")
        call = session.call_tool(name, dict(arguments or {}), timeout=timeout, as_task=as_task)
        return await self._answer(call, ToolResult, progress)

    async def read_resource(self, uri: str) -> ResourceResult:
        """Send `resources/read`."""
        return await self._answer(self.engine.read_resource(uri), ResourceResult)

    async def get_prompt(self, name: str, arguments: Mapping[str, str] | None = None) -> PromptResult:
        """Send `prompts/get`. Arguments of prompts are texts."""
        return await self._answer(self.engine.get_prompt(name, dict(arguments or {})), PromptResult)

    async def complete(
        self, ref: str, argument: str, value: str, context: Mapping[str, str] | None = None
    ) -> list[str]:
        """Send `completion/complete`: return the values for an argument of a prompt or a resource template.

        `ref` is the prompt's name or the template's URI; `context` holds the arguments already chosen.
        """
        kind = {"type": "ref/resource", "uri": ref} if "://" in ref else {"type": "ref/prompt", "name": ref}
        return await self.engine.complete(kind, argument, value, dict(context or {}) or None)

    async def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        progress: Callable[[Progress], object] | None = None,
        timeout: float | None = None,
    ) -> Any:
        """Send any request and return its `result` unmodified."""
        call = self.engine.start(
            method, None if params is None else dict(params), timeout=timeout, progress=progress is not None
        )
        return (await self._answer(call, RequestResult, progress)).raw

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Send any notification."""
        self.engine.notify(method, None if params is None else dict(params))

    async def ping(self) -> float:
        """Return the seconds of a `ping`. Raises `NotOffered` in revisions without it."""
        return await self.engine.ping()

    async def _answer(self, call: Call, kind: type[A], progress: Callable[[Progress], object] | None = None) -> A:
        if progress is not None or any(self._callbacks):
            await self._attend(call, progress)
        result = await call.result()
        return kind(result, n=call.answer_n, seconds=call.elapsed, name=call.name)

    async def _attend(self, call: Call, progress: Callable[[Progress], object] | None) -> None:
        """Wait for the end of a call and report its progress. A callback's exception cancels the call and is raised."""
        following = ProgressFollower(self.engine, call)
        try:
            while True:
                over = call.fate != "pending"
                if progress is not None:
                    for update in following.new():
                        progress(update)
                self._answering.raise_problem()
                if over:
                    return
                await self._news.wait()
        finally:
            call.cancel("the caller stopped waiting")  # No effect on a call that has ended.

    # Server notifications

    def notifications(self, *methods: str) -> Notifications:
        """Return the server's notifications from now on, as an asynchronous iterator; with `methods` only those.

        Nothing is lost between two turns of the event loop: they are read from the recording. The iterator ends when
        the session is closed, and raises the reason if the connection is lost.
        """
        return Notifications(self._news, self.engine, frozenset(methods))

    async def listen(self) -> None:
        """Subscribe to list changes, where a subscription is needed (revision 2026-07-28)."""
        await self.engine.listen()

    async def subscribe(self, uri: str) -> None:
        """Subscribe to changes of a resource: `notifications/resources/updated`."""
        await self.engine.subscribe(uri)

    async def unsubscribe(self, uri: str) -> None:
        """Unsubscribe from changes of a resource."""
        await self.engine.unsubscribe(uri)

    async def set_log_level(self, level: str) -> None:
        """Request log messages of at least this level (`debug` … `emergency`): `notifications/message`."""
        await self.engine.set_log_level(level)

    # Tasks

    async def tasks(self) -> list[Task]:
        """Return the known tasks, newest last: those of this session, and those of `tasks/list` where it exists."""
        tasks = self.engine.tasks
        if not tasks.offered:
            raise NotOffered("The server does not offer tasks.")
        if tasks.can_list:
            await self.engine.list_tasks()
        return list(tasks.items.values())

    def cancel_task(self, task: Task) -> None:
        """Request the cancellation of a task; its call ends when the server confirms it."""
        self.engine.cancel_task(task)


def need_asyncio() -> None:
    """Raise `UsageError` unless an asyncio event loop is running: not under trio, and not without a loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        reason = "trio is running" if "trio" in sys.modules else "no asyncio event loop is running"
        raise UsageError(
            f"A session needs asyncio, but {reason}.",
            hint="Run the code on asyncio, or use `with inspector.open_sync(…)`, which needs no loop.",
        ) from None


@contextmanager
def recorded(
    target: StdioTarget | HttpTarget, record: str | os.PathLike[str] | bool, purpose: str
) -> Iterator[Journal]:
    """The recording of work on a server, ended afterwards: in the file `record`, or True: in the recordings folder."""
    file = None if isinstance(record, bool) else Path(record)
    journal = new_journal(target, settings=Settings(), record=file, keep=record is True, purpose=purpose)
    try:
        yield journal
    finally:
        journal.close("closed")
        journal.release()


@asynccontextmanager
async def running(target: Target) -> AsyncIterator[None]:
    """Run the target's app, if it is one in this process, inside `async with`."""
    app = _app(target)
    if app is None:
        yield
        return
    try:
        await app.start()
        yield
    finally:
        await app.close()


def _app(target: Target) -> App | None:
    return cast("App", target.network) if isinstance(target, HttpTarget) and target.title else None


def parts(session: Session) -> tuple[Target, Options]:
    """Return a session's target and options, for other uses than connecting."""
    return session._target, session._options

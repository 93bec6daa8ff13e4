"""The session: one connection to one server, the interface for all layers above.

State is read from attributes; `changes` counts their changes. Everything is sent with `start`, `notify`, `reply` or
`send_raw`, and is recorded in the journal before the server receives it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from functools import partial
from typing import Any
from weakref import WeakSet

from inspector.client.answer_program import AnswerProgram
from inspector.client.engine.connect import Connect, transport_for
from inspector.client.engine.engine import Driver
from inspector.client.engine.legacy import LegacyDriver
from inspector.client.engine.listing import Listing
from inspector.client.engine.negotiation import Negotiation
from inspector.client.engine.pending_requests import Call, ContinuedCall, PendingRequests, RpcResponse
from inspector.client.engine.tasks import TaskPoller
from inspector.client.engine.timeout_reason import explain_timeout
from inspector.client.engine.wire import Wire
from inspector.client.inbox import Inbox, Question
from inspector.client.inbox import QuestionStatus as QuestionState
from inspector.client.options import Options
from inspector.client.state.catalog import KINDS, ListName, compare
from inspector.client.state.model import SessionModel
from inspector.client.state.tasks import Task
from inspector.config.targets import Target
from inspector.errors import (
    ConnectingStopped,
    ConnectionProblem,
    HttpError,
    InspectorError,
    NotOffered,
    ServerError,
    SessionLost,
)
from inspector.journal.durations import took
from inspector.journal.journal import Frame, Journal
from inspector.protocol import jsonrpc
from inspector.protocol.file_inputs import file_values
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.members import object_at, texts_at
from inspector.transports.base import Outgoing, Transport

# A lookup in an enum costs more than the comparison; `on_frame` does it for each message.
_REQUEST, _NOTIFICATION, _RESULT, _ERROR, _BATCH = (
    Shape.REQUEST,
    Shape.NOTIFICATION,
    Shape.RESULT,
    Shape.ERROR,
    Shape.BATCH,
)

DECLINED_EVERY = 1.0
"""Seconds between two events that count the questions that were declined unseen."""


class DeclinedQuestions:
    """Records how many questions were declined unseen: at once, then at most every `DECLINED_EVERY` seconds."""

    def __init__(self, session: SessionModel) -> None:
        self._session = session
        self._recorded = 0
        self._timer: asyncio.TimerHandle | None = None

    def came(self) -> None:
        """Handle one more."""
        if self._timer is None and self._tell():
            self._timer = asyncio.get_running_loop().call_later(DECLINED_EVERY, self._after_delay)

    def stop(self) -> None:
        """Record the last ones."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._tell()

    def _after_delay(self) -> None:
        self._timer = None
        self.came()

    def _tell(self) -> bool:
        """Record the number, if it has grown."""
        inbox = self._session.inbox
        if inbox.declined == self._recorded:
            return False
        self._recorded = inbox.declined
        self._session.journal.record_life("", "questions-declined", count=self._recorded, open=inbox.OPEN_LIMIT)
        self._session.changes.bump("log")
        return True


class Renewal:
    """Handles HTTP 404 to our session id: renews the session once for all calls, and resends each call once."""

    def __init__(
        self,
        run: Callable[[Coroutine[Any, Any, Any]], asyncio.Task[Any]],
        renew: Callable[[], Coroutine[Any, Any, None]],
        resend: Callable[[Call], None],
    ) -> None:
        self._run = run
        self._renew = renew
        self._resend = resend
        self._renewed: asyncio.Task[Any] | None = None
        self._resent: WeakSet[Call] = WeakSet()

    def start(self) -> None:
        """Start to renew the session, unless that goes on."""
        if self._renewed is None or self._renewed.done():
            self._renewed = self._run(self._renew())

    def resends(self, call: Call) -> bool:
        """Whether a call is sent again after the renewal: it was not before."""
        if call in self._resent:
            return False
        self._resent.add(call)
        self._run(self._send_after(call))
        return True

    async def _send_after(self, call: Call) -> None:
        if self._renewed is not None:
            await asyncio.wait([self._renewed])
        if call.fate == "pending":
            self._resend(call)


class Session(SessionModel):
    """A live session. `open` it, use it, `close` it; `reopen` connects again on the same journal."""

    def __init__(
        self,
        target: Target,
        journal: Journal,
        options: Options | None = None,
        *,
        connect: Connect = transport_for,
    ) -> None:
        self._connect = connect
        self.target = target
        self.options = options or Options()
        inbox = Inbox(self.options.standing, self._answer, lambda: self.changes.bump("inbox"), _defaults)
        super().__init__(journal, inbox, "new")
        self.task_follower = TaskPoller(self)
        self.pending = PendingRequests(
            self._tell_cancelled,
            partial(self.changes.bump, "calls"),
            lambda call: explain_timeout(journal, call),
            lambda call, n, message: self.driver.intercepts_response(call, n, message),
            self.run,
            journal.redactor.error,
        )
        self.inbox.on_open = self._pause_for
        self.inbox.on_closed = self._resume_for
        self._declined = DeclinedQuestions(self)
        self.inbox.on_declined = self._declined.came
        self.inbox.on_note = lambda text, question: journal.record_note(text, question=question.n)
        self.inbox.on_program = lambda question, program: self.run(self._ask_program(question, program))
        self.transport: Transport
        self.driver: Driver = LegacyDriver(self, self.task_follower)
        self._listens = False
        self._next_id = 0
        self._tasks: set[asyncio.Task[Any]] = set()
        self._listing = Listing(self, lambda name, n: self.driver.took_page(name, n))
        self._renewal = Renewal(self.run, self._renew, self._send_again)

    @property
    def commands(self) -> Session:
        """The session itself: it accepts commands."""
        return self

    @property
    def transport_name(self) -> str:
        """The transport in use; the kind of the target without a connection."""
        return self.transport.name if self.phase == "ready" else self.target.kind

    @property
    def latency(self) -> float:
        """Seconds for the latest response to a request of the user or a list; 0 before the first."""
        # By the times of the recording, as every other place shows it.
        call = self.pending.latest
        if call is None:
            return 0.0
        times = took(self.journal.index, call.answer_n)
        return times.server / 1e6 if times is not None else call.server_time

    @property
    def at_end(self) -> bool:
        """Always true: a live session shows the present."""
        return True

    @property
    def catching_up(self) -> bool:
        """Always false: a live session has no earlier state to show."""
        return False

    @property
    def upto(self) -> int:
        """The latest event."""
        return self.journal.index.count

    @property
    def now(self) -> int:
        """The present, in microseconds since the recording started."""
        return self.journal.now()

    def advance(self) -> bool:
        """Do nothing: messages are processed as they arrive."""
        return False

    def calls_in_flight(self) -> list[Call]:
        """Return the calls without a response, oldest first."""
        return self.pending.calls()

    def listen_to_ends(self, listener: Callable[[Call], None] | None) -> None:
        """Call `listener` (cheap) with each call that has ended."""
        self.pending.on_ended = listener

    def call_in_flight(self, n: int) -> Call | None:
        """Return the call whose latest request is `n`, while it has no response."""
        return next((call for call in self.pending.calls() if call.n == n), None)

    def answer_to(self, question: Question) -> tuple[QuestionState, Any]:
        """Return a question's state and its answer."""
        return question.state, question.answer

    def reply_to(self, question: Question) -> tuple[int, QuestionState]:
        """Return the message that answers a question of the legacy era, 0 without one; and its state."""
        index = self.journal.index
        return index.pair(question.n) if index.shape(question.n) == Shape.REQUEST else 0, question.state

    async def open(self) -> None:
        """Connect and negotiate. Raises the failure, which `phase` and `error` show too."""
        self.error = None
        self.enter("connecting")
        if self.options.authorize is not None:
            self.options.authorize.opening(self.options.timeout)
        try:
            self.server = await Negotiation(self).open()
        except InspectorError as error:
            await self._fail(error)
            raise
        except asyncio.CancelledError:
            await self._close_transport()
            self.enter("closed")
            raise
        self._record_ready()
        self.enter("ready")
        self.changes.bump("server")
        if self.options.log_level and self.server.can("logging"):
            self.run(self.driver.set_log_level(self.options.log_level))

    async def open_with_lists(self) -> None:
        """Connect as `open` does, then `follow_lists`."""
        await self.open()
        self.follow_lists()

    def follow_lists(self) -> None:
        """Start to load every list, and to listen for changes of them."""
        self.load_all()
        self.run(self.listen())

    async def stopped(self, error: InspectorError) -> None:
        """Store `error` as the reason why opening, which was cancelled, failed."""
        if self.phase == "closed" and self.journal.ended is None:
            await self._fail(error)

    def _record_ready(self) -> None:
        server = self.server
        self.journal.record_life(
            "", "ready", revision=server.revision, era=server.era, transport=self.transport.name, how=server.how
        )

    def remember_outcome(self) -> None:
        """Store for the start screen whether the server was opened, or its error."""
        from inspector.config.server_memory import ServerMemory

        if self.phase == "ready" or (self.phase != "failed" and self.server.known):
            ServerMemory(self.target).remember_outcome(None)
        elif self.error is not None and not isinstance(self.error, ConnectingStopped):
            ServerMemory(self.target).remember_outcome(self.error)

    @property
    def state(self) -> SessionModel:
        """The session itself: its fields hold the state."""
        return self

    def use(self, driver: Driver) -> None:
        """Use this driver from now on."""
        self.driver = driver

    async def attach(self, target: Target) -> None:
        """Replace the connection by a new one to `target`."""
        await self._close_transport()
        wire = Wire(
            self.journal, self, partial(self.changes.bump, "log"), handled=lambda: self.driver.handled_notifications
        )
        self.transport = self._connect(target, wire, self.options)
        await self.transport.start()

    async def _fail(self, error: InspectorError) -> None:
        self.journal.redactor.error(error)
        self.error = error
        if isinstance(error, ConnectionProblem):
            error.connecting = True
        self.journal.record_life("", "failed", error=error.as_event())
        await self._close_transport()
        self.enter("failed")

    async def close(self, reason: str = "closed") -> None:
        """Stop everything this session started, within about a second, and end the recording. Idempotent."""
        await self.leave()
        self.journal.close(reason)

    async def leave(self) -> None:
        """Stop everything this session started; others may continue the recording. Idempotent."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._close_transport()
        self.pending.fail_all(SessionLost("The session was closed."))
        self.inbox.lose_all()
        self._declined.stop()
        self.enter("closed")

    async def _close_transport(self) -> None:
        transport = getattr(self, "transport", None)
        if transport is not None:
            await transport.close()

    def kill_now(self) -> None:
        """Kill the server process without waiting, for exits without time for `close`."""
        transport: Transport | None = getattr(self, "transport", None)
        if transport is not None:
            transport.kill_now()

    async def reopen(self) -> None:
        """Reconnect, or restart the command; reload and compare the lists, and subscribe again.

        Unfinished tasks are polled further.
        """
        before = self.catalog.surface()
        uris = list(self.subscriptions.uris)
        loaded = [name for name in KINDS if self.catalog[name].pages]
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._close_transport()
        self._end_requests(SessionLost("The connection was closed for a reconnect."))
        self.journal.record_life("", "reopen")
        self.cache.forget()
        await self.open()
        self.task_follower.resume()
        after = self.catalog.surface()

        async def load_again(name: ListName) -> None:
            await self.load(name)
            # Taken at once: the server may report a change of this list while another one is loaded.
            after[name] = self.catalog[name].by_id()

        await asyncio.gather(*map(load_again, loaded))
        self.surface_changes = compare(before, after)
        self.subscriptions.uris.clear()
        for uri in uris:
            with suppress(InspectorError):
                await self.subscribe(uri)
        if self._listens:
            with suppress(InspectorError):
                await self.listen()
        self.changes.bump("server")

    def run(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run a coroutine that belongs to this session and ends with it. Its `InspectorError` is dropped."""
        task = asyncio.get_running_loop().create_task(_quiet(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(
            lambda _: work.close()
        )  # The coroutine did not start if the task was cancelled immediately.
        return task

    def start(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        timeout: float | None = None,
        progress: bool = True,
        background: bool = False,
        id: str | None = None,
        headers: Iterable[tuple[str, str]] = (),
    ) -> Call:
        """Send a request and return immediately. A lost connection shows in the call's result.

        `background` calls are the session's own; `id` is for requests outside the usual sequence; `headers` are HTTP
        header fields of this request only.
        """
        loop = asyncio.get_running_loop()
        seconds = self.options.timeout if timeout is None else timeout
        call = Call(method, params, seconds, max(seconds, self.options.max_timeout), loop)
        call.background = background
        call.headers = tuple(headers)
        self._send_call(call, progress=progress, id=id)
        return call

    async def exchange(self, call: Call, extra: dict[str, Any] | None = None) -> RpcResponse:
        """Resend an intercepted call as a request of its own with a new id (C-MRTR-01, C-MOD-12).

        `extra` are parameters of this request only. Waits for the response.
        """
        if not isinstance(call.outcome, ContinuedCall):
            raise asyncio.CancelledError
        answer = call.outcome.expect(extra or {})
        self._send_again(call)
        return await answer

    def _send_again(self, call: Call) -> None:
        self._send_call(call, progress=call.token is not None)
        self.changes.bump("calls")

    def _send_call(self, call: Call, *, progress: bool, id: int | str | None = None) -> None:
        if id is None:
            id = self._next_id
            self._next_id += 1  # An id is never reused in a session (C-BASE-03), even after a reconnect.
        if call.outgoing is None:
            call.id = id
            self.pending.add(call)
        else:
            self.pending.rename(call, id)
        built, headers = self.driver.build_request(call, progress=progress)
        if self.options.trace:
            built = self._traced(built)
        message = self.journal.redactor.restored(built)
        if message is not built:
            headers = self.driver.headers(call.method, message["params"])
        outgoing = call.outgoing = Outgoing(jsonrpc.encode(message), message, id, call.method, headers)
        outgoing.user_headers, outgoing.headers_of = call.headers, self.driver.headers
        try:
            if self.phase == "closed":
                raise SessionLost("The session is closed.")
            self.transport.send(outgoing)
        except InspectorError as error:
            self.pending.fail(call, error)

    def _traced(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return a message with its trace context, if the user wants one."""
        if not self.options.trace:
            return message
        from inspector.journal.trace_context import traced

        return traced(message, self.journal.header.get("id"))

    async def request(self, method: str, params: dict[str, Any] | None = None, *, timeout: float | None = None) -> Any:
        """Send a request and wait for its result."""
        return await self.start(method, params, timeout=timeout, progress=False).result()

    def notify(
        self, method: str, params: dict[str, Any] | None = None, *, headers: Iterable[tuple[str, str]] = ()
    ) -> int:
        """Send a notification. Return its number in the journal, 0 if the connection is lost."""
        return self.send(jsonrpc.notification(method, params), headers=headers)

    def send(self, message: dict[str, Any], *, headers: Iterable[tuple[str, str]] = ()) -> int:
        """Send a message that is not a request. Return its number in the journal, 0 if the connection is lost."""
        message = self.journal.redactor.restored(self._traced(message) if "method" in message else message)
        outgoing = Outgoing(jsonrpc.encode(message), message, None, str(message.get("method", "")))
        if outgoing.method:
            outgoing.headers = self.driver.headers(outgoing.method, object_at(message, "params"))
        outgoing.user_headers = tuple(headers)
        try:
            self.transport.send(outgoing)
        except InspectorError:
            return 0  # `on_lost` reports the reason; this message has no caller that waits.
        return outgoing.n

    def send_raw(self, data: bytes) -> int | Call:
        """Send bytes written by hand, valid or not. A request becomes a `Call` with the given id.

        Line feeds are sent unchanged: over stdio they split the message into lines, which may be the intended test.
        """
        try:
            message = jsonrpc.parse(data)
        except jsonrpc.NotJson:
            message = None
        restored = self.journal.redactor.restored(message)
        if restored is not message:
            data, message = jsonrpc.encode(restored), restored
        if jsonrpc.shape_of(message) == Shape.REQUEST and jsonrpc.id_key(message["id"]) is not None:
            params = message.get("params")
            call = Call(
                message["method"],
                params if type(params) is dict else None,
                self.options.timeout,
                self.options.max_timeout,
                asyncio.get_running_loop(),
            )
            call.id = message["id"]
            if type(call.id) is int and self._next_id <= call.id < 1 << 53:
                self._next_id = call.id + 1
            headers = self.driver.headers(call.method, call.params or {})
            call.outgoing = Outgoing(data, message, call.id, call.method, headers, headers_of=self.driver.headers)
            self.pending.add(call)
            try:
                self.transport.send(call.outgoing)
            except InspectorError as error:
                self.pending.fail(call, error)
            return call
        outgoing = Outgoing(data, message)
        if jsonrpc.shape_of(message) == Shape.NOTIFICATION:
            outgoing.headers = self.driver.headers(message["method"], object_at(message, "params"))
        self.transport.send(outgoing)
        return outgoing.n

    @property
    def next_id(self) -> int:
        """The id of the next request."""
        return self._next_id

    def _tell_cancelled(self, call: Call, reason: str) -> None:
        event = "timeout" if call.fate == "timeout" else "cancel"
        about: dict[str, Any] = {"for": call.n, "reason": reason, "after_ms": round(call.elapsed * 1000)}
        if call.fate == "timeout" and call.error is not None:
            about["error"] = call.error.as_event()
        self.journal.record_life("", event, **about)
        self.driver.give_up(call, reason)
        self.transport.abandon(call.id)

    def on_frame(self, frame: Frame) -> None:
        """Settle a call, add a question or handle a notification, by the message's shape."""
        shape = frame.shape
        if shape is _RESULT or shape is _ERROR:
            self.exchange_lost = False
            self.pending.answer(frame.n, frame.message)
        elif shape is _NOTIFICATION:
            self.driver.on_notification(frame, frame.message)
        elif shape is _REQUEST:
            self.driver.on_request(frame, frame.message)
        elif shape is _BATCH:
            for item in frame.message:
                inner = jsonrpc.shape_of(item)
                if inner is not Shape.BATCH and inner is not Shape.NONE:
                    self.on_frame(Frame(frame.n, frame.t, frame.channel, inner, item))

    def on_failed(self, outgoing: Outgoing, error: InspectorError) -> None:
        """Handle a failed exchange. After a lost session, initialize again once, and resend the request."""
        call = self.pending.get(outgoing.id) if outgoing.id is not None else None
        self.exchange_lost = isinstance(error, HttpError) and error.status is None
        if isinstance(error, SessionLost) and self.phase == "ready":
            if not error.renewed:
                self._renewal.start()
            if call is not None and self._renewal.resends(call):
                return
        if call is not None:
            # An error body with a foreign id is a response too: its exchange identifies the request.
            fate = "lost" if isinstance(error, ConnectionProblem) else "error"
            self.journal.record_life("", fate, **{"for": call.n, "error": error.as_json()})
            if isinstance(error, ServerError):
                self.pending.refused(call, outgoing.n, _as_answer(error), error)
            else:
                self.pending.fail(call, error)

    async def _renew(self) -> None:
        """Initialize again without the session id (C-HTTP-12)."""
        try:
            self.journal.record_life("", "session-lost")
            how = self.server.how
            self.server = await self.driver.open()
            self.server.how = how
            self._record_ready()
            self.changes.bump("server")
            for name in KINDS:
                if self.catalog[name].pages:
                    self.lists_changed(KINDS[name].changed)
        except InspectorError as error:
            self.on_lost(error)

    def on_lost(self, error: InspectorError) -> None:
        """Handle the loss of the connection: end all calls with the reason."""
        self._end_requests(error, broken=True)
        if self.phase == "ready":
            self.error = error
            self.journal.record_life("", "lost", error=error.as_event())
            self.enter("lost")

    def on_asking(self, begun: bool) -> None:
        """Pause the timeouts of all requests while a person logs in."""
        for call in self.pending.calls():
            if begun:
                call.deadline.pause()
            elif not any(call in self._calls_around(question) for question in self.inbox.open()):
                call.deadline.resume()

    def _end_requests(self, error: InspectorError, *, broken: bool = False) -> None:
        """`broken`: by the server or the network, not by us. The line records this and the reason."""
        reason = {"by": "server", "why": error.message} if broken else {}
        for call in self.pending.calls():
            self.journal.record_life("", "lost", **{"for": call.n, **reason})
        self.pending.fail_all(error)
        self.inbox.lose_all()

    def _answer(self, question: Question, result: Any, error: tuple[int, str] | None) -> None:
        message = jsonrpc.error(question.id, *error) if error is not None else jsonrpc.result(question.id, result)
        self.send(message)

    async def _ask_program(self, question: Question, program: AnswerProgram) -> None:
        problem = await question.answer_with(program)
        if problem:
            self.journal.record_note(problem, question=question.n)
            self.changes.bump("log")

    def _calls_around(self, question: Question) -> list[Call]:
        return [call for call in self.pending.calls() if not question.parent or call.n == question.parent]

    def _pause_for(self, question: Question) -> None:
        for call in self._calls_around(question):
            call.deadline.pause()

    def _resume_for(self, question: Question) -> None:
        around = self._calls_around(question)
        if around:
            parents = {other.parent for other in self.inbox.open()}
            for call in around:
                if 0 not in parents and call.n not in parents:
                    call.deadline.resume()

    def recorder(self) -> Wire:
        """The recorder of login steps in this session's journal."""
        return Wire(self.journal, self, lambda: None)

    async def list_tasks(self) -> None:
        """Send `tasks/list`: it includes tasks of other sessions. Known tasks keep their state."""
        await self.task_follower.list()

    def refresh_task(self, task: Task) -> None:
        """Poll a task's state now."""
        self.task_follower.refresh(task)

    def cancel_task(self, task: Task) -> None:
        """Send `tasks/cancel`. The server decides; the next poll shows the outcome."""
        self.task_follower.cancel(task)

    async def load(
        self, name: ListName, *, page_limit: int = 0, cursor: str | None = None, fresh: bool = False
    ) -> None:
        """Load a list, page by page, into the catalogue. The list's `error` has a failure; loaded items stay.

        At most `page_limit` pages (0: all), starting at `cursor`. `fresh`: keep what is loaded while the server's cache
        hint says that it is fresh (C-CACHE-02).
        """
        await self._listing.load(name, page_limit=page_limit, cursor=cursor, fresh=fresh)

    def load_all(self) -> None:
        """Start to load every list that the server offers."""
        self._listing.load_all()

    def lists_changed(self, notification: str) -> None:
        """Load the lists again that a notification names."""
        self._listing.changed(notification)

    def call_tool(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        *,
        timeout: float | None = None,
        as_task: bool = False,
        anyway: bool = False,
        meta: dict[str, Any] | None = None,
        headers: Iterable[tuple[str, str]] = (),
    ) -> Call:
        """Send `tools/call`. A tool that requires a task gets one; with `as_task` one that supports it does too.

        `meta` are members of `_meta`, `headers` HTTP header fields of this request only. Raises `NotOffered` for a tool
        that the rules forbid to call, unless `anyway`.
        """
        reasons = self.refused_tools.get(name)
        if reasons and not anyway:
            raise NotOffered(
                f"The tool {name[:80]} must not be called over HTTP: {reasons[0]}.",
                hint="The specification forbids it (x-mcp-header). To send it anyway, write the request by hand.",
            )
        params: dict[str, Any] = {"name": name, "arguments": arguments or {}}
        tool = self.catalog["tools"].get(name) or {}
        for file in file_values(tool.get("inputSchema"), params["arguments"]):
            self.journal.redactor.add_file(*file)
        support = self.tasks.support(tool)
        if support == "required" or (as_task and support == "optional"):
            params["task"] = {}
        if meta:
            params["_meta"] = meta
        return self.start("tools/call", params, timeout=timeout, headers=headers)

    def read_resource(self, uri: str) -> Call:
        """Send `resources/read`."""
        return self.start("resources/read", {"uri": uri})

    def get_prompt(self, name: str, arguments: dict[str, str] | None = None) -> Call:
        """Send `prompts/get`."""
        params: dict[str, Any] = {"name": name}
        if arguments:
            params["arguments"] = arguments
        return self.start("prompts/get", params)

    async def complete(
        self, ref: dict[str, Any], argument: str, value: str, context: dict[str, str] | None = None
    ) -> list[str]:
        """Send `completion/complete`: return the values for one argument of a prompt or template (C-COMP-01)."""
        row = self.server.features
        if row.completions_capability and not self.server.can("completions"):
            raise NotOffered("The server does not offer completion.")
        params: dict[str, Any] = {"ref": ref, "argument": {"name": argument, "value": value}}
        if context and row.completion_context:
            params["context"] = {"arguments": context}
        result = await self.request("completion/complete", params)
        return texts_at(result, "completion", "values")

    async def ping(self) -> float:
        """Return the seconds of a `ping` (C-PING-02). Raises `NotOffered` in the modern era (C-MOD-11)."""
        if not self.server.features.ping:
            raise NotOffered(
                f"Revision {self.server.revision} has no ping.", hint="Send any other request to test the connection."
            )
        call = self.start("ping", progress=False)
        await call.result()
        return call.elapsed

    async def subscribe(self, uri: str) -> None:
        """Subscribe to changes of a resource."""
        await self.driver.subscribe(uri)
        self.subscriptions.add(uri)

    async def unsubscribe(self, uri: str) -> None:
        """Unsubscribe from changes of a resource."""
        await self.driver.unsubscribe(uri)
        self.subscriptions.remove(uri)

    async def listen(self) -> None:
        """Subscribe to list changes, in an era that needs a subscription; again after a reconnect."""
        self._listens = True
        await self.driver.listen()

    async def set_log_level(self, level: str) -> None:
        """Set the minimum level of the server's log messages."""
        await self.driver.set_log_level(level)


def _as_answer(error: ServerError) -> dict[str, Any]:
    """Return an error body that only its exchange assigns to a request, as a response."""
    return {"error": {"code": error.rpc_code, "message": error.rpc_message, "data": error.data}}


async def _quiet(work: Coroutine[Any, Any, Any]) -> None:
    """Drop an `InspectorError`: the call or list has it, and this task is not awaited."""
    with suppress(InspectorError):
        await work


def _defaults(schema: dict[str, Any]) -> Any:
    from inspector.protocol.forms.form import Form

    return Form(schema).defaults()

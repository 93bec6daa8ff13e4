"""The session: one connection to one server, as everybody above sees it.

State is read from attributes; `changes` tells which of them are new. Everything that is sent goes through `start`,
`notify`, `reply` or `send_raw`, and stands in the journal before the server has it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from contextlib import suppress
from time import monotonic
from typing import Any
from weakref import WeakSet

from inspector.client.engine.connect import Connect, transport_for
from inspector.client.engine.driver import Driver
from inspector.client.engine.legacy import LegacyDriver
from inspector.client.engine.listing import Listing
from inspector.client.engine.negotiation import Negotiation
from inspector.client.engine.pending_requests import Call, Pending, Response
from inspector.client.engine.tasks import Tasks
from inspector.client.engine.timeout_reason import explain_timeout
from inspector.client.engine.wire import Wire
from inspector.client.inbox import Inbox, Question
from inspector.client.inbox import State as QuestionState
from inspector.client.options import Options
from inspector.client.state.catalog import KINDS, ListName, compare
from inspector.client.state.model import Phase, SessionModel
from inspector.client.state.tasks import Task
from inspector.config.targets import Target
from inspector.errors import ConnectingStopped, ConnectionProblem, InspectorError, NotOffered, ServerError, SessionLost
from inspector.journal.journal import Frame, Journal
from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import Shape
from inspector.transports.base import Outgoing, Transport

# Looking a member up in an enum costs more than the comparison; `on_frame` does it for each message.
_REQUEST, _NOTIFICATION, _RESULT, _ERROR, _BATCH = (
    Shape.REQUEST, Shape.NOTIFICATION, Shape.RESULT, Shape.ERROR, Shape.BATCH,
)  # fmt: skip


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
        self.task_follower = Tasks(self)
        self.pending = Pending(
            self._tell_cancelled, lambda: self.changes.bump("calls"), lambda call: explain_timeout(journal, call),
            lambda call, n, message: self.driver.intercepts_response(call, n, message), self.run,
            journal.redactor.error,
        )  # fmt: skip
        self.inbox.on_open = self._pause_for
        self.inbox.on_closed = self._resume_for
        self.inbox.on_declined = self._record_declined
        self._declined_told = 0
        self.inbox.on_note = lambda text, question: journal.record_note(text, question=question.n)
        self.transport: Transport
        self.driver: Driver = LegacyDriver(self, self.task_follower)
        self._listens = False
        self._next_id = 0
        self._tasks: set[asyncio.Task[Any]] = set()
        self._listing = Listing(self, lambda name, n: self.driver.took_page(name, n))
        self._renewing: asyncio.Task[Any] | None = None
        self._resent: WeakSet[Call] = WeakSet()
        """Calls that were sent a second time because the server had forgotten the session."""

    # As it is read (`SessionState`)

    @property
    def commands(self) -> Session:
        """The session itself: it can be acted on."""
        return self

    @property
    def transport_name(self) -> str:
        """The transport that is in use; the kind of the target while there is no connection."""
        return self.transport.name if self.phase == "ready" else self.target.kind

    @property
    def latency(self) -> float:
        """Seconds that the server took for the newest answer to a request of the user or a list; 0 for none yet."""
        return self.pending.latency

    @property
    def at_end(self) -> bool:
        """Always true: what is shown is what is known now."""
        return True

    @property
    def upto(self) -> int:
        """The newest event."""
        return self.journal.index.count

    @property
    def now(self) -> int:
        """Now, in microseconds since the recording began."""
        return self.journal.now()

    def advance(self) -> bool:
        """Nothing to do: messages are taken in as they arrive."""
        return False

    def calls_in_flight(self) -> list[Call]:
        """The calls without an answer, oldest first."""
        return self.pending.calls()

    def call_in_flight(self, n: int) -> Call | None:
        """The call whose newest request is `n`, while it has no answer."""
        return next((call for call in self.pending.calls() if call.n == n), None)

    def answer_to(self, question: Question) -> tuple[QuestionState, Any]:
        """How a question stands and what was answered."""
        return question.state, question.answer

    def reply_to(self, question: Question) -> tuple[int, QuestionState]:
        """The message that answers a question of the handshake era, 0 where there is none; and how it stands."""
        index = self.journal.index
        return index.pair(question.n) if index.shape(question.n) == Shape.REQUEST else 0, question.state

    # Opening and closing

    async def open(self) -> None:
        """Connect, find out what the server speaks, agree. Raises what went wrong; `phase` and `error` say it too."""
        self.error = None
        self._set_phase("connecting")
        if self.options.authorize is not None:
            self.options.authorize.opening(self.options.timeout)
        try:
            self.server = await Negotiation(self).open()
        except InspectorError as error:
            await self._fail(error)
            raise
        except asyncio.CancelledError:
            await self._close_transport()
            self._set_phase("closed")
            raise
        self._record_ready()
        self._set_phase("ready")
        self.changes.bump("server")
        if self.options.log_level and self.server.can("logging"):
            self.run(self.driver.set_log_level(self.options.log_level))

    async def stopped(self, error: InspectorError) -> None:
        """Keep `error` as the reason why opening, which was cancelled, came to nothing."""
        if self.phase == "closed" and self.journal.ended is None:
            await self._fail(error)

    def _record_ready(self) -> None:
        server = self.server
        self.journal.record_life(
            "", "ready", revision=server.revision, era=server.era, transport=self.transport.name, how=server.how
        )

    def remember_outcome(self) -> None:
        """Keep, for the start screen, whether the server was opened or the error it failed with, once that is known."""
        from inspector.config.remember import ServerMemory

        if self.phase == "ready" or (self.phase != "failed" and self.server.known):
            ServerMemory(self.target).remember_outcome(None)
        elif self.error is not None and not isinstance(self.error, ConnectingStopped):
            ServerMemory(self.target).remember_outcome(self.error)

    # For the negotiation and the drivers (`Opener`, `Engine`)

    @property
    def state(self) -> SessionModel:
        """The session itself: it has the fields that messages fill."""
        return self

    def use(self, driver: Driver) -> None:
        """Speak by this driver from now on."""
        self.driver = driver

    async def attach(self, target: Target) -> None:
        """Make a fresh connection to `target` instead of the one that was there."""
        await self._close_transport()
        wire = Wire(
            self.journal, self, lambda: self.changes.bump("log"), handled=lambda: self.driver.handled_notifications
        )
        self.transport = self._connect(target, wire, self.options)
        await self.transport.start()

    async def _fail(self, error: InspectorError) -> None:
        self.journal.redactor.error(error)
        self.error = error
        self.journal.record_life("", "failed", error=error.as_event())
        await self._close_transport()
        self._set_phase("failed")

    async def close(self, reason: str = "closed") -> None:
        """End everything this session started, within about a second, and write the recording's end. Idempotent."""
        await self.leave()
        self.journal.close(reason)

    async def leave(self) -> None:
        """End everything this session started; others may go on writing the recording. Idempotent."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._close_transport()
        self.pending.fail_all(SessionLost("The session was closed."))
        self.inbox.lose_all()
        if self.inbox.declined > self._declined_told:
            self._record_declined(self.inbox.declined)
        self._set_phase("closed")

    async def _close_transport(self) -> None:
        transport = getattr(self, "transport", None)
        if transport is not None:
            await transport.close()

    def kill_now(self) -> None:
        """Kill the server process without waiting, for exits that leave no time for `close`."""
        transport: Transport | None = getattr(self, "transport", None)
        if transport is not None:
            transport.kill_now()

    async def reopen(self) -> None:
        """Reconnect, or start the command again; lists are read anew and compared, subscriptions asked for again.

        Tasks that are not over are followed on.
        """
        before = self.catalog.surface()
        wanted = list(self.subscriptions.uris)
        loaded = [name for name in KINDS if self.catalog[name].pages]
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._close_transport()
        self._end_requests(SessionLost("The connection was closed to be made anew."))
        self.journal.record_life("", "reopen")
        self.cache.forget()
        await self.open()
        self.task_follower.resume()
        await asyncio.gather(*(self.load(name) for name in loaded))
        self.surface_changes = compare(before, self.catalog.surface())
        self.subscriptions.uris.clear()
        for uri in wanted:
            with suppress(InspectorError):
                await self.subscribe(uri)
        if self._listens:
            with suppress(InspectorError):
                await self.listen()
        self.changes.bump("server")

    def _set_phase(self, phase: Phase) -> None:
        self.phase, self.phase_since = phase, monotonic()
        self.changes.bump("phase")

    def run(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run something that belongs to this session: it ends with it. Errors of ours are kept where they belong."""
        task = asyncio.get_running_loop().create_task(_quiet(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: work.close())  # It was never begun where the task was cancelled at once.
        return task

    # Sending

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
        """Send a request and return at once. A connection that is gone shows in the call's result.

        `background` calls are the session's own; `id` is for requests that must leave the numbers as they are;
        `headers` are HTTP header fields of this request only.
        """
        loop = asyncio.get_running_loop()
        seconds = self.options.timeout if timeout is None else timeout
        call = Call(method, params, seconds, max(seconds, self.options.max_timeout), loop)
        call.background = background
        call.headers = tuple(headers)
        self._send_call(call, progress=progress, id=id)
        return call

    async def exchange(self, call: Call, extra: dict[str, Any] | None = None) -> Response:
        """Send a call that was taken over once more, as a request of its own with a new id (C-MRTR-01, C-MOD-12).

        `extra` are parameters of this request only. Waits for the response.
        """
        if call.fate != "pending" or call.takeover is None:
            raise asyncio.CancelledError
        answer = call.takeover.expect(extra or {})
        self._send_again(call)
        return await answer

    def _send_again(self, call: Call) -> None:
        self._send_call(call, progress=call.token is not None)
        self.changes.bump("calls")

    def _send_call(self, call: Call, *, progress: bool, id: int | str | None = None) -> None:
        if id is None:
            id = self._next_id
            self._next_id += 1  # Never used twice in a session (C-BASE-03), nor after a reconnect.
        if call.outgoing is None:
            call.id = id
            self.pending.add(call)
        else:
            self.pending.rename(call, id)
        built, headers = self.driver.build_request(call, progress=progress)
        message = self.journal.redactor.restored(built)
        if message is not built:
            headers = self.driver.headers(call.method, message["params"])
        outgoing = call.outgoing = Outgoing(jsonrpc.encode(message), message, id, call.method, headers)
        outgoing.user_headers = call.headers
        try:
            self.transport.send(outgoing)
        except InspectorError as error:
            self.pending.fail(call, error)

    async def request(self, method: str, params: dict[str, Any] | None = None, *, timeout: float | None = None) -> Any:
        """Send a request and wait for its result."""
        return await self.start(method, params, timeout=timeout, progress=False).result()

    def notify(
        self, method: str, params: dict[str, Any] | None = None, *, headers: Iterable[tuple[str, str]] = ()
    ) -> int:
        """Send a notification. Returns its number in the journal, 0 if the connection is gone."""
        return self.send(jsonrpc.notification(method, params), headers=headers)

    def send(self, message: dict[str, Any], *, headers: Iterable[tuple[str, str]] = ()) -> int:
        """Send a message that is not a request. Returns its number in the journal, 0 if the connection is gone."""
        message = self.journal.redactor.restored(message)
        outgoing = Outgoing(jsonrpc.encode(message), message, None, str(message.get("method", "")))
        outgoing.user_headers = tuple(headers)
        try:
            self.transport.send(outgoing)
        except InspectorError:
            return 0  # `on_lost` has said or will say why; nobody waits for this message.
        return outgoing.n

    def send_raw(self, data: bytes) -> int | Call:
        """Send bytes composed by hand, valid or not. A request becomes a `Call`, with the id that was typed.

        Line feeds inside are sent as they are: over stdio they make several lines, which may be what is to be tried.
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
                message["method"], params if type(params) is dict else None, self.options.timeout,
                self.options.max_timeout, asyncio.get_running_loop(),
            )  # fmt: skip
            call.id = message["id"]
            if type(call.id) is int and self._next_id <= call.id < 1 << 53:
                self._next_id = call.id + 1
            headers = self.driver.headers(call.method, call.params or {})
            call.outgoing = Outgoing(data, message, call.id, call.method, headers)
            self.pending.add(call)
            try:
                self.transport.send(call.outgoing)
            except InspectorError as error:
                self.pending.fail(call, error)
            return call
        outgoing = Outgoing(data, message)
        self.transport.send(outgoing)
        return outgoing.n

    @property
    def next_id(self) -> int:
        """The id that the next request will have."""
        return self._next_id

    def _tell_cancelled(self, call: Call, reason: str) -> None:
        event = "timeout" if call.fate == "timeout" else "cancel"
        self.journal.record_life("", event, **{"for": call.n, "reason": reason, "after_ms": round(call.elapsed * 1000)})
        self.driver.give_up(call, reason)
        self.transport.abandon(call.id)

    # What arrives (the wire's listener)

    def on_frame(self, frame: Frame) -> None:
        """Settle, ask or tell, by the message's shape."""
        shape = frame.shape
        if shape is _RESULT or shape is _ERROR:
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
        """One exchange broke. A session that the server forgot is made anew, once, and the request sent again."""
        call = self.pending.get(outgoing.id) if outgoing.id is not None else None
        if isinstance(error, SessionLost) and self.phase == "ready":
            if self._renewing is None:
                self._renewing = self.run(self._renew())
            if call is not None and call not in self._resent:
                self._resent.add(call)
                self.run(self._resend(call, self._renewing))
                return
        if call is not None:
            # An error body with a foreign id is an answer all the same: the exchange says to what.
            fate = "lost" if isinstance(error, ConnectionProblem) else "error"
            self.journal.record_life("", fate, **{"for": call.n, "error": error.as_json()})
            if isinstance(error, ServerError):
                self.pending.refused(call, outgoing.n, _as_answer(error), error)
            else:
                self.pending.fail(call, error)

    async def _renew(self) -> None:
        """HTTP 404 to our session id: initialize again, without one (C-HTTP-12)."""
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
        finally:
            self._renewing = None

    async def _resend(self, call: Call, renewed: asyncio.Task[Any]) -> None:
        await asyncio.wait([renewed])
        if call.fate == "pending":
            self._send_again(call)

    def on_lost(self, error: InspectorError) -> None:
        """The connection is gone: everything in flight ends with the reason."""
        self._end_requests(error, broken=True)
        if self.phase == "ready":
            self.error = error
            self.journal.record_life("", "lost", error=error.as_json())
            self._set_phase("lost")

    def on_asking(self, begun: bool) -> None:
        """While somebody is asked to authorize, the clocks of all requests stand still."""
        for call in self.pending.calls():
            if begun:
                call.pause()
            elif not any(call in self._calls_around(question) for question in self.inbox.open()):
                call.resume()

    def _end_requests(self, error: InspectorError, *, broken: bool = False) -> None:
        """`broken`: by the server or the network, and not by us. The line says so, and why."""
        why = {"by": "server", "why": error.message} if broken else {}
        for call in self.pending.calls():
            self.journal.record_life("", "lost", **{"for": call.n, **why})
        self.pending.fail_all(error)
        self.inbox.lose_all()

    def _answer(self, question: Question, result: Any, error: tuple[int, str] | None) -> None:
        message = jsonrpc.error(question.id, *error) if error is not None else jsonrpc.result(question.id, result)
        self.send(message)

    def _record_declined(self, count: int) -> None:
        self._declined_told = count
        self.journal.record_life("", "questions-declined", count=count, open=self.inbox.OPEN_LIMIT)

    def _calls_around(self, question: Question) -> list[Call]:
        return [call for call in self.pending.calls() if not question.parent or call.n == question.parent]

    def _pause_for(self, question: Question) -> None:
        for call in self._calls_around(question):
            call.pause()

    def _resume_for(self, question: Question) -> None:
        around = self._calls_around(question)
        if around:
            parents = {other.parent for other in self.inbox.open()}
            for call in around:
                if 0 not in parents and call.n not in parents:
                    call.resume()

    def recorder(self) -> Wire:
        """What records the steps of a login in this session's journal."""
        return Wire(self.journal, self, lambda: None)

    # Tasks

    async def list_tasks(self) -> None:
        """`tasks/list`: also what other sessions began. Known tasks stay as they are."""
        await self.task_follower.list()

    def refresh_task(self, task: Task) -> None:
        """Ask the server now how a task stands."""
        self.task_follower.refresh(task)

    def cancel_task(self, task: Task) -> None:
        """`tasks/cancel`. The server decides; what becomes of the task is seen at the next look."""
        self.task_follower.cancel(task)

    # Lists

    async def load(
        self, name: ListName, *, page_limit: int = 0, cursor: str | None = None, fresh: bool = False
    ) -> None:
        """Read a list, page by page, into the catalogue. What goes wrong stands in the list's `error`; what came stays.

        `page_limit` pages at most (0: all), beginning at `cursor`. `fresh`: what is there is enough while the server
        says that it is fresh (C-CACHE-02).
        """
        await self._listing.load(name, page_limit=page_limit, cursor=cursor, fresh=fresh)

    def load_all(self) -> None:
        """Begin to read every list that the server offers."""
        self._listing.load_all()

    def lists_changed(self, notification: str) -> None:
        """Read again what the server says has changed."""
        self._listing.changed(notification)

    # What a server offers

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
        """`tools/call`. A tool that wants to be called as a task is; with `as_task` one that may be is too.

        `meta` are members of `_meta`, `headers` HTTP header fields of this request only. Raises `NotOffered` for a tool
        that the rules forbid to call, unless it is to be called `anyway`.
        """
        reasons = self.refused_tools.get(name)
        if reasons and not anyway:
            raise NotOffered(
                f"The tool {name[:80]} must not be called over HTTP: {reasons[0]}.",
                hint="The rule is the specification's (x-mcp-header). Only a request composed by hand sends it anyway.",
            )
        params: dict[str, Any] = {"name": name, "arguments": arguments or {}}
        support = self.tasks.support(self.catalog["tools"].get(name) or {})
        if support == "required" or (as_task and support == "optional"):
            params["task"] = {}
        if meta:
            params["_meta"] = meta
        return self.start("tools/call", params, timeout=timeout, headers=headers)

    def read_resource(self, uri: str) -> Call:
        """`resources/read`."""
        return self.start("resources/read", {"uri": uri})

    def get_prompt(self, name: str, arguments: dict[str, str] | None = None) -> Call:
        """`prompts/get`."""
        params: dict[str, Any] = {"name": name}
        if arguments:
            params["arguments"] = arguments
        return self.start("prompts/get", params)

    async def complete(
        self, ref: dict[str, Any], argument: str, value: str, context: dict[str, str] | None = None
    ) -> list[str]:
        """`completion/complete`: the values offered for one argument of a prompt or template (C-COMP-01)."""
        row = self.server.features
        if row.completions_capability and not self.server.can("completions"):
            raise NotOffered("The server does not offer completion.")
        params: dict[str, Any] = {"ref": ref, "argument": {"name": argument, "value": value}}
        if context and row.completion_context:
            params["context"] = {"arguments": context}
        result = await self.request("completion/complete", params)
        completion = result.get("completion") if type(result) is dict else None
        values = completion.get("values") if type(completion) is dict else None
        return [item for item in values if type(item) is str] if type(values) is list else []

    async def ping(self) -> float:
        """Seconds that a `ping` takes (C-PING-02). Raises `NotOffered` in the era that has none (C-MOD-11)."""
        if not self.server.features.ping:
            raise NotOffered(
                f"Revision {self.server.revision} has no ping.", hint="Any request shows whether the server answers."
            )
        call = self.start("ping", progress=False)
        await call.result()
        return call.elapsed

    async def subscribe(self, uri: str) -> None:
        """Ask to be told when a resource changes."""
        await self.driver.subscribe(uri)
        self.subscriptions.add(uri)

    async def unsubscribe(self, uri: str) -> None:
        """Ask no longer to be told."""
        await self.driver.unsubscribe(uri)
        self.subscriptions.remove(uri)

    async def listen(self) -> None:
        """Be told of list changes, also in the era where that has to be asked for; again after a reconnect."""
        self._listens = True
        await self.driver.listen()

    async def set_log_level(self, level: str) -> None:
        """Choose which log messages the server sends."""
        await self.driver.set_log_level(level)


def _as_answer(error: ServerError) -> dict[str, Any]:
    """An error body that only its exchange assigns to a request, as the answer it is."""
    return {"error": {"code": error.rpc_code, "message": error.rpc_message, "data": error.data}}


async def _quiet(work: Coroutine[Any, Any, Any]) -> None:
    """Errors of requests stand in their calls and lists; nobody awaits this task."""
    with suppress(InspectorError):
        await work


def _defaults(schema: dict[str, Any]) -> Any:
    from inspector.protocol.form import Form

    return Form.from_schema(schema).defaults()

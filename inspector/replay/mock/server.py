"""A mock server: it answers from a recording, over any transport of its clients.

`inspector.serving` passes its clients to `Mock` with `opens`. The recording is read once for all clients. Each client
(`MockClient`) has its own order, faults and recording. Each request is matched, then answered on its own
(`_Answering`). Messages that the server sent on its own are sent when the conversation has reached the same point
(`_TimelineSender`).
"""

from __future__ import annotations

import asyncio
import secrets
from array import array
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, cast

from inspector.errors import ConnectionProblem, InspectorError
from inspector.journal import channels
from inspector.journal.alterations import Alteration, ConnectionFilter, Filtered
from inspector.journal.format import Dir, Event, Kind
from inspector.journal.index import State
from inspector.journal.journal import Journal, altered
from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import Shape, encode, id_key
from inspector.protocol.members import value_at
from inspector.protocol.names import SESSION_FIELD
from inspector.replay.mock.batch import Batch
from inspector.replay.mock.faults import MockFault, MockFaults
from inspector.replay.mock.http import ServerBehaviour, field, status_of, version_of
from inspector.replay.mock.passthrough import Passthrough, Upstream
from inspector.replay.mock.statistics import MockReport, MockStatistics, UnrecordedRequest, params_text, report
from inspector.replay.mock.timeline import GET, TaskEnds, Timeline, subscription_of
from inspector.serving.base import BodyForm, ClientMessage, Reply, RequestHead, ServedClient
from inspector.serving.http import Binding
from inspector.transports.base import MessageFilter
from inspector.transports.recorded import (
    LiveIds,
    OpenQuestion,
    ReplayedExchange,
    UnansweredQuestions,
    asked_as,
    fate,
    load,
)
from inspector.transports.request_matching import HANDSHAKE, NOT_RECORDED, Match, RecordedRequests, UsedRequests

OnMiss = Literal["error", "last", "passthrough"]
MAX_RECORDED = 100
"""Maximum clients of one run whose recordings are kept."""
TYPES: dict[BodyForm, str] = {"json": "application/json", "sse": "text/event-stream"}
FINISH_WITHIN = 1.0
"""Seconds for which open requests are still answered after the client's last message."""
_ANSWERS = (Shape.RESULT, Shape.ERROR)
_FORMS = {kind: form for form, kind in TYPES.items()}
_DRAIN_EVERY = 64
RESPONSE_PAUSE = 0.02
"""Seconds before a response that follows other messages: some clients lose progress that they read together with the
response.
"""
_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class MockOptions:
    """The options of a mock server."""

    match: Match = "params"
    on_miss: OnMiss = "error"
    speed: float | None = None
    """1.0 is the recorded pace, 2.0 twice as fast, None as fast as possible."""
    faults: tuple[MockFault, ...] = ()
    seed: str = ""
    """The seed of the faults; empty: a different one in each run."""


class Mock:
    """Serves `journal`, which the caller opens and releases. `load` it before the first client.

    `new_journal` creates the recording of a client by its number, from 1; without it none is kept. `on_stderr` receives
    the lines of the recorded stderr. `upstream` connects to the live server for requests that are not recorded.
    """

    def __init__(
        self,
        journal: Journal,
        options: MockOptions | None = None,
        *,
        new_journal: Callable[[int], Journal] | None = None,
        ended: Callable[[Journal], None] = lambda journal: None,
        on_stderr: Callable[[bytes], None] = lambda line: None,
        upstream: Upstream | None = None,
        live_journal: Callable[[], Journal] = lambda: Journal.unnamed({}),
        filter: MessageFilter | None = None,
        sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep,
    ) -> None:
        self.journal = journal
        self.options = options or MockOptions()
        self.seed = self.options.seed or secrets.token_hex(4)
        self.requests = RecordedRequests(journal)
        self.timeline = Timeline(journal)
        self.tasks = TaskEnds(journal)
        self.statistics = MockStatistics()
        self.unreached: InspectorError | None = None
        """Why the live server of a passthrough could not be connected to."""
        self.on_stderr = on_stderr
        self.upstream = upstream if self.options.on_miss == "passthrough" else None
        self.live_journal = live_journal
        """Creates the recording of a connection to the live server."""
        self.filter = filter
        """Sees the messages of each client."""
        self.sleep = sleep
        self.recordings: list[str] = []
        self._new_journal = new_journal
        self.ended = ended
        """Receives the recording of a client that has disconnected, before it is closed."""

    async def load(self, **binding: Any) -> None:
        """Read the recording to its end. Raises `RecordingError` if nothing in it can answer.

        `binding` are the properties of the HTTP endpoint that the recording does not determine: path, names, origins,
        limits.
        """
        await load(self.requests, self.journal)
        await self.timeline.read()
        self.behaviour = ServerBehaviour(self.journal)
        self.binding: Binding = self.behaviour.binding(**binding)

    def opens(self, client: ServedClient) -> MockClient:
        """Return the handler of a new client."""
        self.statistics.clients += 1
        return MockClient(self, client, self.statistics.clients)

    def new_journal(self, number: int) -> Journal:
        """Return the recording of a client."""
        if self._new_journal is None or number > MAX_RECORDED:
            return Journal.unnamed({})
        made = self._new_journal(number)
        if made.path is not None:
            self.recordings.append(str(made.path))
        return made

    async def wait(self, microseconds: int) -> None:
        """Wait for recorded time to pass, at the chosen pace."""
        if self.options.speed is not None and microseconds > 0:
            await self.sleep(microseconds / 1e6 / self.options.speed)

    def report(self) -> MockReport:
        """Return the answered, missed and unused requests."""
        return report(self.statistics, self.journal, self.requests.methods, self.seed, self.recordings)

    async def close(self) -> None:
        """Stop reading. `inspector.serving` closes the clients."""
        await self.requests.aclose()


class _OpenRequest:
    """A request without a response."""

    __slots__ = ("given_up", "matched", "reply", "task")

    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self.task: asyncio.Task[None]
        self.matched = False
        """Whether its recorded request is known."""
        self.given_up = False

    def give_up(self) -> None:
        """Cancel the request for the client. The recorded request counts as used."""
        self.given_up = True
        if self.matched:
            self.task.cancel()
        self.reply.end()


class MockClient:
    """The `Handler` of one client."""

    def __init__(self, mock: Mock, client: ServedClient, number: int) -> None:
        self.mock = mock
        self.client = client
        self.number = number
        self.journal: Journal = mock.new_journal(number)
        self.questions = UnansweredQuestions()
        self.faults = MockFaults(mock.options.faults, mock.journal, f"{mock.seed}:{number}")
        self._order = UsedRequests(mock.requests, mock.options.match)
        self._passthrough = Passthrough(self, mock.upstream) if mock.upstream is not None else None
        self._tasks: set[asyncio.Task[None]] = set()
        self._silent: set[asyncio.Task[Any]] = set()
        self._changed = asyncio.Event()
        """Set when a task has ended or stays silent."""
        self._open_requests: dict[Any, _OpenRequest] = {}
        """By id."""
        self.sender = _TimelineSender(self)
        self._passed: dict[str, int] = {}
        self._ready = False
        self.initialize: dict[str, Any] | None = None
        """The client's `initialize` request, in the legacy era."""
        self._filter: ConnectionFilter | None = None
        if mock.filter is not None:
            self._filter = mock.filter.connection(
                lambda by, text: self.journal.record_life("", "addon", by=by, text=text)
            )
            self._filter.opened()
        self.sender.send_after(0)

    # Incoming messages

    def received(self, arrived: ClientMessage, reply: Reply) -> None:
        """Record a message and handle it, after the filter."""
        if self._filter is None or not self._filter.handles_messages:
            self._received(arrived, reply)
            return
        filtered = self._filter.judge("client", arrived.data, arrived.message)
        reply = cast("Reply", _LateReply(reply))
        if filtered.alterations:
            arrived = replace(ClientMessage.read(filtered.data, head=arrived.head), alterations=filtered.alterations)
        handle = self._received if filtered.passes else partial(self._withhold, filtered)
        if filtered.delay:
            self.start(self._after(filtered.delay, partial(handle, arrived, reply)))
        else:
            handle(arrived, reply)

    def _withhold(self, filtered: Filtered, arrived: ClientMessage, reply: Reply) -> None:
        self._record_arrived(arrived, reply)
        if filtered.reply is not None:
            self.begin(reply, "json", 200)
            self.record(reply.channel, filtered.reply, alterations=filtered.reply_alterations)
            reply.send(filtered.reply)
        reply.end()

    def _received(self, arrived: ClientMessage, reply: Reply) -> None:
        self._record_arrived(arrived, reply)
        if arrived.shape is Shape.BATCH:
            batch = Batch(reply, arrived.message)
            for item in arrived.message:
                self._dispatch(jsonrpc.shape_of(item), item, batch.reply(), arrived.head)
            batch.ended()
        else:
            self._dispatch(arrived.shape, arrived.message, reply, arrived.head, arrived)

    def _record_arrived(self, arrived: ClientMessage, reply: Reply) -> None:
        extra = ',"cut":true' if arrived.cut else ""
        extra += altered(self.journal, arrived.alterations)
        self.journal.record_sent(reply.channel, arrived.data, arrived.message, extra)
        if arrived.head is not None:
            head = arrived.head
            url = f"http://{head.field('host')}{head.target}"
            fields = [list(field) for field in head.fields]
            self.journal.record_http(reply.channel, Dir.SEND, method=head.method, url=url, headers=fields)

    def _dispatch(
        self, shape: Shape, message: Any, reply: Reply, head: RequestHead | None, arrived: ClientMessage | None = None
    ) -> None:
        if shape is Shape.REQUEST:
            self._request(message, reply, head)
            return
        if shape is Shape.NOTIFICATION:
            self._notified(message)
        elif shape in _ANSWERS:
            self._answered(message)
        else:
            self._reply_to_invalid(reply, arrived)
        if shape in (Shape.NOTIFICATION, *_ANSWERS):
            self._record_head(reply, 202, [])
        reply.end()

    def _answered(self, message: dict[str, Any]) -> None:
        """Handle a response to a question."""
        if self._passthrough is None or not self._passthrough.answered(message):
            self.questions.answered(message)

    def _reply_to_invalid(self, reply: Reply, arrived: ClientMessage | None) -> None:
        """Respond to an invalid message as recorded, or with its JSON-RPC error (section 5.1 of JSON-RPC 2.0)."""
        self.mock.statistics.counts["invalid"] += 1
        point = self._next_point("", self.mock.timeline.invalid)
        if point:
            self.sender.send_after(point)
        elif arrived is None or not arrived.reason:
            self._refuse(reply, jsonrpc.INVALID_REQUEST, "This is not a JSON-RPC message.")
        elif not arrived.cut:  # A client that closed the connection cannot receive a response.
            self._refuse(reply, jsonrpc.PARSE_ERROR, f"This is not JSON: {arrived.reason}.")

    def _refuse(self, reply: Reply, code: int, text: str) -> None:
        raw = encode(jsonrpc.error(None, code, text))
        self.begin(reply, "json", 400)
        self.send(raw, reply=reply)

    def _notified(self, message: dict[str, Any]) -> None:
        method = message["method"]
        if method == "notifications/cancelled":
            self._cancel(id_key(value_at(message, "params", "requestId")))
        point = self._next_point(method, self.mock.timeline.notifications.get(method, ()))
        if point:
            self.sender.send_after(point)

    def _next_point(self, method: str, numbers: list[int] | tuple[int, ...]) -> int:
        """Return the next recorded occurrence of a repeated message; 0 without one."""
        position = self._passed.get(method, 0)
        self._passed[method] = position + 1
        return numbers[position] if position < len(numbers) else 0

    def left(self, reply: Reply) -> None:
        """Handle a stream that its client closed: in the modern era this cancels its requests."""
        if self.mock.behaviour.modern:
            for key in [key for key, asked in self._open_requests.items() if asked.reply is reply]:
                self._cancel(key)

    def _cancel(self, key: Any) -> None:
        asked = self._open_requests.pop(key, None)
        if asked is not None:
            self.mock.statistics.counts["cancelled"] += 1
            asked.give_up()

    # Requests

    def _request(self, message: dict[str, Any], reply: Reply, head: RequestHead | None) -> None:
        self.mock.statistics.requests += 1
        if message["method"] == "initialize":
            self.initialize = message
        key = id_key(message["id"])
        if key is None:
            self.mock.statistics.counts["invalid"] += 1
            _Answering(self, {"id": None}, reply).error(jsonrpc.INVALID_REQUEST, "An id must be a string or a number.")
            return
        asked = self._open_requests[key] = _OpenRequest(reply)
        asked.task = self.start(self._answer(message, asked, head))
        asked.task.add_done_callback(lambda _: self._over(key, asked))

    def _over(self, key: Any, asked: _OpenRequest) -> None:
        if self._open_requests.get(key) is asked:
            del self._open_requests[key]

    async def _answer(self, message: dict[str, Any], asked: _OpenRequest, head: RequestHead | None) -> None:
        reply = asked.reply
        answering = _Answering(self, message, reply)
        problem = self.mock.behaviour.problem(head, message)
        if problem is not None:
            self.mock.statistics.counts["refused"] += 1
            answering.error(*problem, status=400)
            return
        n = await self._order.find(message["method"], message.get("params"))
        asked.matched = True
        if asked.given_up:
            return
        ended = self._task_ended(n, message)
        if ended is not None:
            answering.result(ended)
        elif n:
            await self._play(n, message, reply)
        elif (default := self._default(message)) is not None:
            if message["method"].endswith("/list"):
                self.mock.statistics.counts["empty"] += 1
                self.journal.record_note(f"{message['method']} is not in the recording: an empty list was sent")
            answering.result(default)
        elif (
            message["method"] in HANDSHAKE
        ):  # A request for another era's handshake: the recorded server does not support that era.
            self.mock.statistics.counts["refused"] += 1
            self._error(message, answering)
        else:
            await self._miss(message, answering)

    def _default(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """Return the default response to an unrecorded request, or None. A recorded list has its own pages only."""
        method = message["method"]
        if method != "ping" and self._passthrough is not None:
            return None  # The live server responds instead.
        if method.endswith("/list") and method in self.mock.requests.methods:
            return None
        return self.mock.behaviour.default_answer(method)

    def _task_ended(self, n: int, message: dict[str, Any]) -> dict[str, Any] | None:
        """Return the final state of a task that is polled more often than in the recording."""
        if message["method"] != GET:
            return None
        answered = bool(n) and self.mock.journal.index.pair(n) > 0
        if answered and (not self._order.repeated or self.mock.tasks.ended(n)):
            return None
        state = self.mock.tasks.of(message.get("params"))
        if state is not None:
            self.mock.statistics.counts["answered"] += 1
        return state

    async def _play(self, n: int, message: dict[str, Any], reply: Reply) -> None:
        mock = self.mock
        mock.statistics.used.add(n)
        answering = _Answering(self, message, reply, n)
        names = self.sender.names[n] = LiveIds(mock.journal.event(n).message, message)
        if n in mock.timeline.listens:
            await self.sender.listen(n, names, answering)
            return
        if self.sender.send_after(n):
            await asyncio.sleep(0)  # Messages that arrived before the response are sent before it.
        if not await ReplayedExchange(mock.journal, n, message, answering).run():
            await answering.without_answer()
        elif not self._ready:
            self._record_ready(message, reply)

    async def _miss(self, message: dict[str, Any], answering: _Answering) -> None:
        mock, method, params = self.mock, message["method"], message.get("params")
        nearest = mock.requests.nearest(method, params)
        became = mock.options.on_miss
        n = await self._order.last(method, params) if became == "last" else 0
        if became == "last" and not n:
            became = "error"
        mock.statistics.miss(UnrecordedRequest(self.number, method[:200], params_text(params), nearest, became))
        self.journal.record_note(
            f"missed: {method[:200]} is not in the recording" + (" with these parameters" if nearest else ""),
            missed=method[:200],
            nearest=nearest or None,
            became=became,
        )
        if n:
            await self._play(n, message, answering.reply)
        elif became == "passthrough" and self._passthrough is not None:
            try:
                await self._passthrough.forward(message, answering)
            except InspectorError as error:
                if isinstance(error, ConnectionProblem) and error.connecting:
                    mock.unreached = error
                answering.error(jsonrpc.INTERNAL_ERROR, error.message)
        else:
            self._error(message, answering, {"nearest": nearest} if nearest else None)

    def _error(self, message: dict[str, Any], answering: _Answering, data: Any = None) -> None:
        """Respond that a request is not in the recording."""
        code, text = self.mock.requests.missing(message["method"])
        # A modern client expects HTTP 400 from a legacy server (2026-07-28, "Versioning").
        status = 400 if version_of(message) is not None and not self.mock.behaviour.modern else None
        answering.error(code, text, data, status=status)

    def _record_ready(self, message: dict[str, Any], reply: Reply) -> None:
        """Record that the connection is ready, as any session does."""
        self._ready = True
        modern = version_of(message)
        answer = self.mock.behaviour.initialize
        opening = self.mock.journal.event(answer).message if answer is not None else None
        revision = modern or value_at(opening, "result", "protocolVersion")
        if type(revision) is str:
            era = "modern" if modern else "legacy"
            transport = "stdio" if channels.is_stdio(reply.channel) else "http"
            self.journal.record_life("", "ready", revision=revision, era=era, transport=transport)

    # Outgoing messages

    def begin(self, reply: Reply, form: BodyForm, status: int, kind: str = "") -> None:
        """Start a response, and record its HTTP head. `kind` is the type of a body that is not JSON."""
        fields = [["Content-Type", kind or TYPES[form]]]
        self._record_head(reply, status, fields)
        reply.begin(form, status, (("Content-Type", kind),) if kind else ())

    def _record_head(self, reply: Reply, status: int, fields: list[list[str]]) -> None:
        if self.client.transport == "http":
            if self.client.session and not self._ready:
                fields = [*fields, [SESSION_FIELD, self.client.session]]
            self.journal.record_http(reply.channel, Dir.RECV, status=status, headers=fields)

    def live_journal(self) -> Journal:
        """Return a recording for a connection to the live server."""
        return self.mock.live_journal()

    def forward_stderr(self, lines: Sequence[bytes]) -> None:
        """Forward the live server's stderr."""
        self.journal.record_stderr("stderr", lines)
        for line in lines:
            self.mock.on_stderr(line)

    def send(self, raw: bytes, m: int = 0, reply: Reply | None = None) -> None:
        """Record and send a message, after the filter; `m` is its event in the served recording.

        Without a reply it belongs to no request.
        """
        if self._filter is None or not self._filter.handles_messages:
            self._put(Filtered(raw, None), m, reply)
            return
        filtered = self._filter.judge("server", raw, ClientMessage.read(raw).message)
        if not filtered.delay:
            self._put(filtered, m, reply)
            return
        if isinstance(reply, _LateReply):
            reply.late += 1
        self.start(self._after(filtered.delay, partial(self._put, filtered, m, reply)))

    async def _after(self, seconds: float, work: Callable[[], None]) -> None:
        await self.mock.sleep(seconds)
        work()

    def _put(self, filtered: Filtered, m: int, reply: Reply | None) -> None:
        """Record and send a message now."""
        channel = self.client.channel if reply is None else reply.channel
        self.record(channel, filtered.data, m, alterations=filtered.alterations)
        if filtered.passes:
            (self.client.push if reply is None else reply.send)(filtered.data)
        elif filtered.reply is not None:
            message = jsonrpc.parse(filtered.reply)
            self.journal.record_sent(
                channel, filtered.reply, message, altered(self.journal, filtered.reply_alterations)
            )
            self._answered(message)
        if filtered.delay and isinstance(reply, _LateReply):
            reply.late_sent()

    def record(
        self, channel: str, raw: bytes, m: int = 0, *, cut: bool = False, alterations: Sequence[Alteration] = ()
    ) -> None:
        """Record an outgoing message; `m` is its event in the served recording."""
        extra = (f',"recorded":{m}' if m else "") + altered(self.journal, alterations)
        self.journal.record_received(channel, [raw], extra, cut=cut)

    # Tasks, and the end

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start a task of this client, which ends with it at the latest."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._changed.set()
        error = None if task.cancelled() else task.exception()
        if error is not None:
            # A failure of ours must be visible, and must not affect other clients.
            self.journal.record_note(f"failed: {error!r}")
            task.get_loop().call_exception_handler(
                {"message": "the mock server failed", "exception": error, "task": task}
            )

    async def close(self, *, gone: bool) -> None:
        """Answer for up to a second, unless the client is gone; cancel the rest; close the recording."""
        if not gone and self._tasks:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._finished(), FINISH_WITHIN)
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=1.0)
        if self._passthrough is not None:
            await self._passthrough.close()
        if self._filter is not None:
            self._filter.ended()
        self.mock.ended(self.journal)
        self.journal.close()
        self.journal.release()

    async def stay_silent(self) -> None:
        """Stay silent in this task, without delaying the end."""
        task = asyncio.current_task()
        if task is not None:
            self._silent.add(task)
            task.add_done_callback(self._silent.discard)
        self._changed.set()
        await asyncio.get_running_loop().create_future()

    async def _finished(self) -> None:
        while self._tasks - self._silent:
            self._changed.clear()
            await self._changed.wait()


class _LateReply:
    """A reply that ends only after its delayed messages. What it does not define is the reply's own."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self._ended = False
        self.late = 0
        """Messages that are still to be sent."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reply, name)

    def end(self) -> None:
        self._ended = True
        if not self.late:
            self._reply.end()

    def late_sent(self) -> None:
        """Handle a delayed message that was sent."""
        self.late -= 1
        if self._ended:
            self.end()


class _Answering:
    """The response to one live request. `message` is the request, `n` its recorded request (0: none)."""

    def __init__(self, client: MockClient, message: dict[str, Any], reply: Reply, n: int = 0) -> None:
        self.reply = reply
        self._client = client
        self._message = message
        self._n = n
        self._form: BodyForm | None = None
        """The form recorded over HTTP, or the chosen one."""
        self._status: int | None = None
        self._retry: int | None = None
        self._body = b""
        self._sent = 0
        self._begun = False
        index = client.mock.journal.index
        answer = index.pair(n) if n else 0
        self._apart = not (answer and channels.is_get(index.channel(answer)))
        """Messages on a standing stream belong to no exchange (except over HTTP+SSE, which has only one stream)."""

    @property
    def id(self) -> Any:
        """The id of the live request."""
        return self._message.get("id")

    # The player's interface

    async def deliver(self, raw: bytes, m: int, event: Event, *, answer: bool) -> None:
        """Send a message of the recorded server."""
        if event.kind == Kind.INVALID and self._status is not None and self._status >= 400:
            self._body = raw
        elif answer:
            await self._answer(raw, m)
        elif event.shape is Shape.NOTIFICATION and self._client.sender.send_to_subscriptions(m, event):
            return  # It belongs to no exchange: it only arrived during this call.
        elif (self._apart and channels.is_get(event.ch)) or self._form == "json":
            self._client.send(raw, m)
        else:
            self._begin("sse")
            self.send(raw, m, cut=event.fields.get("cut") is True)
        self._sent += 1
        if self._sent % _DRAIN_EVERY == 0:
            await self.reply.drain()

    async def passed(self, m: int) -> None:
        """Handle an HTTP head, which has the status, or a client message, after which the server may continue."""
        journal = self._client.mock.journal
        kind, dir = journal.index.kind(m), journal.index.dir(m)
        if dir == Dir.SEND and kind == Kind.RPC:
            self._client.sender.send_after(m)
        elif kind == Kind.HTTP and dir == Dir.RECV:
            self._head(journal.event(m).fields)
        elif kind == Kind.SSE:
            retry = journal.event(m).fields.get("retry")
            self._retry = retry if type(retry) is int and 0 <= retry < 1 << 31 else self._retry
        elif kind == Kind.LIFE and journal.event(m).fields.get("event") == "stream-end" and self._may_come_back():
            self.reply.cut(retry=self._retry)

    def _may_come_back(self) -> bool:
        return self._form == "sse" and self._client.mock.binding.resumable and self._client.client.transport == "http"

    def _head(self, fields: dict[str, Any]) -> None:
        status = fields.get("status")
        if type(status) is not int or not 200 <= status < 600 or self._form is not None:
            return
        form = _FORMS.get((field(fields, "content-type") or "").partition(";")[0].strip().lower())
        if form is not None or status >= 400:
            self._status = status
            if status < 400 and form is not None:
                self._form = form
                if form == "sse":
                    self._begin("sse", status)

    def ask(self, id: Any) -> OpenQuestion:
        """Expect the client's answer to a question."""
        return self._client.questions.ask(id)

    def forget(self, questions: list[OpenQuestion]) -> None:
        """Stop waiting for the answers to these questions."""
        self._client.questions.forget(questions)

    async def wait(self, microseconds: int) -> None:
        """Wait as long as in the recording."""
        await self._client.mock.wait(microseconds)

    # Sending

    def _begin(self, form: BodyForm, status: int = 200) -> None:
        self._form = self._form or form
        if not self._begun:
            self._begun = True
            self._client.begin(self.reply, self._form, self._status or status)

    def listen(self) -> None:
        """Start a stream that stays open."""
        self._begin("sse")

    def send(self, raw: bytes, m: int = 0, *, cut: bool = False) -> None:
        """Record and send one message."""
        if cut:
            self._client.record(self.reply.channel, raw, m, cut=True)
            self.reply.send(raw)
        else:
            self._client.send(raw, m, self.reply)

    async def _answer(self, raw: bytes, m: int) -> None:
        mock = self._client.mock
        if self._sent and mock.options.speed is None:
            await self.reply.drain()
            await mock.sleep(RESPONSE_PAUSE)
        delay, fault = self._client.faults.striking(m)
        if delay:
            self._record_fault(f"delay={delay}", "delay", m)
            await mock.sleep(delay / 1000)
        if fault is not None:
            self._record_fault(fault.text, fault.kind, m)
            if not self._apply_to_connection(fault, raw, m):
                return
            raw = self._faulty_response(fault, raw)
        message = mock.journal.event(m).message
        self._begin("json", status_of(message, modern=mock.behaviour.modern and not mock.behaviour.over_http))
        self.send(raw, m)
        self.reply.end()
        mock.statistics.counts["answered"] += 1
        self._client.sender.send_after(m)

    def _record_fault(self, text: str, kind: str, m: int) -> None:
        self._client.mock.statistics.counts[f"fault:{kind}"] += 1
        self._client.journal.record_note(f"fault: {text}", fault=kind, recorded=m)

    def _apply_to_connection(self, fault: MockFault, raw: bytes, m: int) -> bool:
        """Apply a fault to the connection; True if the response is still sent."""
        if fault.kind == "disconnect":
            self.reply.cut()
        elif fault.kind == "cut":
            self._begin("json")
            self._client.record(self.reply.channel, raw[: len(raw) // 2], m, cut=True)
            self.reply.cut(raw[: len(raw) // 2])
        return fault.kind in ("corrupt", "error")

    def _faulty_response(self, fault: MockFault, raw: bytes) -> bytes:
        if fault.kind == "corrupt":
            return self._client.faults.corrupted(raw)
        return encode(jsonrpc.error(self.id, fault.value, "This error was requested with --fault."))

    def forward_message(self, raw: bytes) -> None:
        """Send a message of the live server during this request."""
        self._begin("sse")
        self.send(raw)

    def forward_response(self, raw: bytes, message: dict[str, Any]) -> None:
        """Send the live server's response."""
        self._begin("json", status_of(message, modern=self._client.mock.behaviour.modern))
        self.send(raw)
        self.reply.end()

    def result(self, value: Any) -> None:
        """Respond with a result that is not recorded."""
        self._begin("json")
        self.send(encode(jsonrpc.result(self.id, value)))
        self.reply.end()

    def error(self, code: int, text: str, data: Any = None, *, status: int | None = None) -> None:
        """Respond with our own error."""
        body = jsonrpc.error(self.id, code, text, data)
        self._begin("json", status or status_of(body, modern=self._client.mock.behaviour.modern))
        self.send(encode(body))
        self.reply.end()

    async def without_answer(self) -> None:
        """End an exchange without a recorded response: stay silent as recorded, or respond with an error."""
        mock = self._client.mock
        refusal = mock.timeline.refusals.get(self._n)
        if refusal is not None:
            message = mock.journal.event(refusal).message
            await self._answer(encode({**message, "id": self.id}), refusal)
            return
        state = mock.journal.index.state(self._n)
        if state in (State.CANCELLED, State.TIMED_OUT):
            await self._client.stay_silent()
        mock.statistics.counts["unanswered"] += 1
        if self._status is not None and self._status >= 400:
            if not channels.is_stdio(self.reply.channel):
                self._client.begin(self.reply, "json", self._status, "text/plain; charset=utf-8")
                self.send(self._body)
                self.reply.end()
                return
            reason = f"the recorded server responded with HTTP {self._status}"
        else:
            reason = fate(mock.journal, self._n)
        method = mock.journal.index.method(self._n)
        self._client.journal.record_note(f"no response: {method}: {reason}", unanswered=self._n)
        self.error(NOT_RECORDED, f"The recording has no response to {method[:200]}: {reason}.")


class _TimelineSender:
    """Sends a client the server's own messages of the timeline, each once.

    Those of a subscription go once to each live one: without sessions, several programs are one client.
    """

    def __init__(self, client: MockClient) -> None:
        self.names: dict[int, LiveIds] = {}
        """By recorded request, the names of its latest live request."""
        self._client = client
        self._mock = client.mock
        self._listens: dict[int, list[tuple[LiveIds, _Answering, set[int]]]] = {}
        """By recorded `subscriptions/listen`, the open live ones, with the events that were sent to each."""
        self._delivered: set[int] = set()

    def send_after(self, point: int) -> bool:
        """Send the messages that follow this point of the recorded conversation; True if there are any."""
        events = self._mock.timeline.after.get(point)
        if events is not None and point in self._delivered:
            events = array("I", filter(self._is_missed, events)) if any(self._listens.values()) else None
        if not events:
            return False
        self._delivered.add(point)
        self._client.start(self._send_events(point, events))
        return True

    def _is_missed(self, m: int) -> bool:
        """Whether an event belongs to a subscription, and a live one has not received it."""
        listen = self._mock.timeline.listen_of(m, subscription_of(self._mock.journal.event(m).message))
        return any(m not in sent for _, _, sent in self._listens.get(listen, ()))

    async def _send_events(self, point: int, events: array[int]) -> None:
        journal = self._mock.journal
        clock = journal.index.time(point or events[0])
        for done, m in enumerate(events, 1):
            await self._mock.wait(journal.index.time(m) - clock)
            clock = journal.index.time(m)
            self._send_event(m, journal.event(m))
            if done % _AT_ONCE == 0:
                await self._client.client.drain()
                await asyncio.sleep(0)

    def _send_event(self, m: int, event: Event) -> None:
        client, pair = self._client, self._mock.journal.index.pair(m)
        if event.kind == Kind.STDERR:
            client.journal.record_stderr("stderr", [event.bytes])
            self._mock.on_stderr(event.bytes)
        elif self.send_to_subscriptions(m, event, once=True):
            return
        elif event.shape is Shape.REQUEST and id_key(event.message["id"]) is not None:
            id, answered = client.questions.ask(event.message["id"])
            answered.add_done_callback(lambda done: self._answered(pair) if not done.cancelled() else None)
            client.send(asked_as(id, event.bytes, event.message), m)
        elif event.shape in _ANSWERS and pair in self.names:
            client.send(self.names[pair].response(event.bytes, event.message), m)
        else:
            client.send(event.bytes, m)

    def _answered(self, answer: int) -> None:
        """Handle the client's answer to a question; `answer` is the recorded answer (0: none)."""
        if answer:
            self.send_after(answer)

    # Subscriptions

    async def listen(self, n: int, names: LiveIds, answering: _Answering) -> None:
        """Serve a subscription until either side ends it."""
        answering.listen()
        sent: set[int] = set()
        live = names, answering, sent
        self._listens.setdefault(n, []).append(live)
        try:
            acknowledged = self._mock.timeline.acknowledged.get(n)
            if acknowledged is not None:
                sent.add(acknowledged)
                self._send_to(acknowledged, self._mock.journal.event(acknowledged), names, answering)
            self.send_after(n)
            await self._client.stay_silent()
        finally:
            self._listens[n].remove(live)

    def send_to_subscriptions(self, m: int, event: Event, *, once: bool = False) -> bool:
        """Send an event to the open subscriptions that it belongs to; False if it belongs to none.

        `once`: not to those that have received it.
        """
        subscription = subscription_of(event.message)
        listen = self._mock.timeline.listen_of(m, subscription)
        if self._mock.timeline.acknowledged.get(listen) == m:
            return True
        for names, answering, sent in self._listens.get(listen, ()):
            if not once or m not in sent:
                sent.add(m)
                self._send_to(m, event, names, answering)
        return bool(listen) or subscription is not None

    def _send_to(self, m: int, event: Event, names: LiveIds, answering: _Answering) -> None:
        if event.shape in _ANSWERS:
            answering.send(names.response(event.bytes, event.message), m)
            answering.reply.end()
        elif event.shape is Shape.NOTIFICATION:
            raw = names.notification(event.bytes, event.message)
            if raw is not None:
                answering.send(raw, m)
        else:
            answering.send(event.bytes, m)

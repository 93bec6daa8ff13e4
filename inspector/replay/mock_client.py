"""One client of a mock server: what it asks is matched, played and recorded, with an order of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from inspector.errors import InspectorError
from inspector.journal import channels
from inspector.journal.format import Dir
from inspector.journal.journal import Journal
from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import Shape, encode, id_key
from inspector.replay.mock_answer import Answering
from inspector.replay.mock_batch import Batch
from inspector.replay.mock_faults import Faults
from inspector.replay.mock_http import version_of
from inspector.replay.mock_passthrough import Passthrough
from inspector.replay.mock_tally import Missed, shown
from inspector.replay.mock_tasks import GET
from inspector.replay.mock_teller import Teller
from inspector.serving.base import Arrived, Client, Form, Head, Reply
from inspector.transports.recorded_play import Names, Play, Questions
from inspector.transports.recorded_requests import HANDSHAKE, Order

if TYPE_CHECKING:
    from inspector.replay.mock import Mock

TYPES: dict[Form, str] = {"json": "application/json", "sse": "text/event-stream"}
FINISH_WITHIN = 1.0
"""Seconds in which what was asked is still answered when the client has said its last word."""
_ANSWERS = (Shape.RESULT, Shape.ERROR)


class _Asked:
    """A request that has no answer yet."""

    __slots__ = ("given_up", "matched", "reply", "task")

    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self.task: asyncio.Task[None]
        self.matched = False
        """It is known which recorded request stands for it."""
        self.given_up = False

    def give_up(self) -> None:
        """The client wants no answer. The recorded request counts as used up all the same."""
        self.given_up = True
        if self.matched:
            self.task.cancel()
        self.reply.end()


class MockClient:
    """The `Handler` of one client."""

    def __init__(self, mock: Mock, client: Client, number: int) -> None:
        self.mock = mock
        self.client = client
        self.number = number
        self.journal: Journal = mock.new_journal(number)
        self.questions = Questions()
        self.faults = Faults(mock.options.faults, mock.journal, f"{mock.seed}:{number}")
        self._order = Order(mock.requests, mock.options.match)
        self._passthrough = Passthrough(self, mock.upstream) if mock.upstream is not None else None
        self._tasks: set[asyncio.Task[None]] = set()
        self._silent: set[asyncio.Task[Any]] = set()
        self._changed = asyncio.Event()
        """A task has ended, or is silent now."""
        self._asked: dict[Any, _Asked] = {}
        """By id."""
        self.teller = Teller(self)
        self._passed: dict[str, int] = {}
        self._ready = False
        self.initialize: dict[str, Any] | None = None
        """How the client opened its connection in the legacy era."""
        self.teller.tell(0)

    # What comes

    def received(self, arrived: Arrived, reply: Reply) -> None:
        """Record a message and do what it asks for."""
        self._record_arrived(arrived, reply)
        if arrived.shape is Shape.BATCH:
            batch = Batch(reply, arrived.message)
            for item in arrived.message:
                self._take(jsonrpc.shape_of(item), item, batch.reply_to(item), arrived.head)
            batch.complete()
        else:
            self._take(arrived.shape, arrived.message, reply, arrived.head, arrived)

    def _record_arrived(self, arrived: Arrived, reply: Reply) -> None:
        extra = ',"cut":true' if arrived.cut else ""
        self.journal.record_sent(reply.channel, arrived.data, arrived.message, extra)
        if arrived.head is not None:
            head = arrived.head
            url = f"http://{head.field('host')}{head.target}"
            fields = [list(field) for field in head.fields]
            self.journal.record_http(reply.channel, Dir.SEND, method=head.method, url=url, headers=fields)

    def _take(
        self, shape: Shape, message: Any, reply: Reply, head: Head | None, arrived: Arrived | None = None
    ) -> None:
        if shape is Shape.REQUEST:
            self._request(message, reply, head)
            return
        if shape is Shape.NOTIFICATION:
            self._notified(message)
        elif shape in _ANSWERS:
            if self._passthrough is None or not self._passthrough.answered(message):
                self.questions.answered(message)
        else:
            self._senseless(reply, arrived)
        if shape in (Shape.NOTIFICATION, *_ANSWERS):
            self._record_head(reply, 202, [])
        reply.end()

    def _senseless(self, reply: Reply, arrived: Arrived | None) -> None:
        """What is no message gets what it got then, else the error that JSON-RPC has for it (section 5.1)."""
        self.mock.tally.counts["invalid"] += 1
        word = self._next_word("", self.mock.timeline.senseless)
        if word:
            self.teller.tell(word)
        elif arrived is None or not arrived.why:
            self._refuse(reply, jsonrpc.INVALID_REQUEST, "This is no JSON-RPC message.")
        elif not arrived.cut:  # Who broke off does not listen any more.
            self._refuse(reply, jsonrpc.PARSE_ERROR, f"This is no JSON: {arrived.why}.")

    def _refuse(self, reply: Reply, code: int, text: str) -> None:
        raw = encode(jsonrpc.error(None, code, text))
        self.begin(reply, "json", 400)
        self.record(reply.channel, raw)
        reply.send(raw)

    def _notified(self, message: dict[str, Any]) -> None:
        method = message["method"]
        if method == "notifications/cancelled":
            params = message.get("params")
            self._cancel(id_key(params.get("requestId")) if type(params) is dict else None)
        word = self._next_word(method, self.mock.timeline.notifications.get(method, ()))
        if word:
            self.teller.tell(word)

    def _next_word(self, method: str, numbers: list[int] | tuple[int, ...]) -> int:
        """The next recorded one of what the client says again; 0 when there are no more."""
        position = self._passed.get(method, 0)
        self._passed[method] = position + 1
        return numbers[position] if position < len(numbers) else 0

    def left(self, reply: Reply) -> None:
        """A stream was closed by its client: in the modern era it has cancelled what was asked there."""
        if self.mock.conduct.modern:
            for key in [key for key, asked in self._asked.items() if asked.reply is reply]:
                self._cancel(key)

    def _cancel(self, key: Any) -> None:
        asked = self._asked.pop(key, None)
        if asked is not None:
            self.mock.tally.counts["cancelled"] += 1
            asked.give_up()

    # Requests

    def _request(self, message: dict[str, Any], reply: Reply, head: Head | None) -> None:
        self.mock.tally.requests += 1
        if message["method"] == "initialize":
            self.initialize = message
        key = id_key(message["id"])
        if key is None:
            self.mock.tally.counts["invalid"] += 1
            Answering(self, {"id": None}, reply).error(jsonrpc.INVALID_REQUEST, "An id is a string or a number.")
            return
        asked = self._asked[key] = _Asked(reply)
        asked.task = self.start(self._answer(message, asked, head))
        asked.task.add_done_callback(lambda _: self._over(key, asked))

    def _over(self, key: Any, asked: _Asked) -> None:
        if self._asked.get(key) is asked:
            del self._asked[key]

    async def _answer(self, message: dict[str, Any], asked: _Asked, head: Head | None) -> None:
        reply = asked.reply
        answering = Answering(self, message, reply)
        problem = self.mock.conduct.problem(head, message)
        if problem is not None:
            self.mock.tally.counts["refused"] += 1
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
            answering.result(default)
        elif message["method"] in HANDSHAKE:  # It asks which era this is, and the recording says: not that one.
            self.mock.tally.counts["refused"] += 1
            self._error(message, answering)
        else:
            await self._miss(message, answering)

    def _default(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """What answers a request that was never recorded, or None. A list that was recorded has its own pages only."""
        method = message["method"]
        if method != "ping" and self._passthrough is not None:
            return None  # The live server knows better.
        if method.endswith("/list") and method in self.mock.requests.methods:
            return None
        return self.mock.conduct.default_answer(method)

    def _task_ended(self, n: int, message: dict[str, Any]) -> dict[str, Any] | None:
        """How a task has ended which is asked for more often than it was answered for in the recording."""
        if message["method"] != GET:
            return None
        answered = bool(n) and self.mock.journal.index.pair(n) > 0
        if answered and (not self._order.repeated or self.mock.tasks.ended(n)):
            return None
        state = self.mock.tasks.of(message.get("params"))
        if state is not None:
            self.mock.tally.counts["answered"] += 1
        return state

    async def _play(self, n: int, message: dict[str, Any], reply: Reply) -> None:
        mock = self.mock
        mock.tally.used.add(n)
        answering = Answering(self, message, reply, n)
        names = self.teller.names[n] = Names(mock.journal.event(n).message, message)
        if n in mock.timeline.listens:
            await self.teller.listen(n, names, answering)
            return
        if self.teller.tell(n):
            await asyncio.sleep(0)  # What came before the answer comes before it.
        if not await Play(mock.journal, n, message, answering).run():
            await answering.without_answer()
        elif not self._ready:
            self._say_ready(message, reply)

    async def _miss(self, message: dict[str, Any], answering: Answering) -> None:
        mock, method, params = self.mock, message["method"], message.get("params")
        nearest = mock.requests.nearest(method, params)
        became = mock.options.on_miss
        n = await self._order.last(method, params) if became == "last" else 0
        if became == "last" and not n:
            became = "error"
        mock.tally.miss(Missed(self.number, method[:200], shown(params), nearest, became))
        self.journal.record_note(
            f"missed: {method[:200]} is not in the recording" + (" with these parameters" if nearest else ""),
            missed=method[:200], nearest=nearest or None, became=became,
        )  # fmt: skip
        if n:
            await self._play(n, message, answering.reply)
        elif became == "passthrough" and self._passthrough is not None:
            try:
                await self._passthrough.forward(message, answering)
            except InspectorError as error:
                answering.error(jsonrpc.INTERNAL_ERROR, error.message)
        else:
            self._error(message, answering, {"nearest": nearest} if nearest else None)

    def _error(self, message: dict[str, Any], answering: Answering, data: Any = None) -> None:
        """Say that something is not in the recording."""
        code, text = self.mock.requests.missing(message["method"])
        # A modern client that meets a legacy recording takes HTTP 400 for what it is (2026-07-28, "Versioning").
        status = 400 if version_of(message) is not None and not self.mock.conduct.modern else None
        answering.error(code, text, data, status=status)

    def _say_ready(self, message: dict[str, Any], reply: Reply) -> None:
        """A connection stands: its recording says so, as that of any session does."""
        self._ready = True
        modern = version_of(message)
        answer = self.mock.conduct.initialize
        result = self.mock.journal.event(answer).message.get("result") if answer is not None else None
        revision = modern or (result.get("protocolVersion") if type(result) is dict else None)
        if type(revision) is str:
            era = "modern" if modern else "legacy"
            transport = "stdio" if channels.is_stdio(reply.channel) else "http"
            self.journal.record_life("", "ready", revision=revision, era=era, transport=transport)

    # What goes

    def begin(self, reply: Reply, form: Form, status: int, kind: str = "") -> None:
        """Begin an answer, and record the head of its response. `kind` is the type of a body that is no JSON."""
        fields = [["Content-Type", kind or TYPES[form]]]
        self._record_head(reply, status, fields)
        reply.begin(form, status, (("Content-Type", kind),) if kind else ())

    def _record_head(self, reply: Reply, status: int, fields: list[list[str]]) -> None:
        if self.client.transport == "http":
            if self.client.session and not self._ready:
                fields = [*fields, ["Mcp-Session-Id", self.client.session]]
            self.journal.record_http(reply.channel, Dir.RECV, status=status, headers=fields)

    def push(self, raw: bytes, m: int = 0) -> None:
        """Record and send what belongs to no request."""
        self.record(self.client.channel, raw, m)
        self.client.push(raw)

    def record(self, channel: str, raw: bytes, m: int = 0, *, cut: bool = False) -> None:
        """Record what goes to the client; `m` is the event of the recording that it comes from."""
        self.journal.record_received(channel, [raw], f',"recorded":{m}' if m else "", cut=cut)

    # Tasks, and the end

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Have something done for this client, at its end at the latest."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._changed.set()
        error = None if task.cancelled() else task.exception()
        if error is not None:
            # A fault of our own must not vanish, and must not take the other clients with it.
            self.journal.record_note(f"failed: {error!r}")
            task.get_loop().call_exception_handler({"message": "the mock failed", "exception": error, "task": task})

    async def close(self, *, gone: bool) -> None:
        """Answer what can be answered in a second, unless nobody listens; stop the rest; close the recording."""
        if not gone and self._tasks:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._finished(), FINISH_WITHIN)
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=1.0)
        if self._passthrough is not None:
            await self._passthrough.close()
        self.journal.close()
        self.journal.release()

    async def silence(self) -> None:
        """Say nothing more in this task, which nobody has to wait for."""
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

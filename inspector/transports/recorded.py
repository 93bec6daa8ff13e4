"""A transport that answers from a recording.

Each request is matched with a recorded one (`request_matching`), whose events are sent again:
progress, notifications, the server's own requests and the answer.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from typing import Any, Protocol

from inspector.errors import ConnectionProblem, RecordingError
from inspector.journal import channels
from inspector.journal.format import Dir, Event, Kind
from inspector.journal.index import STATE_NAMES
from inspector.journal.journal import Journal
from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import Shape, encode, id_key
from inspector.transports.base import Outgoing, Sink, Transport
from inspector.transports.http_tasks import cancelled
from inspector.transports.request_matching import RecordedRequests, UsedRequests
from inspector.transports.response_matching import id_span, parsed

_AT_ONCE = 64
"""Messages that are played before other tasks run."""
_LOOKED_AT = 1 << 13
"""Events that are read before other tasks run."""
_TOKEN = re.compile(rb'"progressToken"\s*:\s*(-?\d+|"[^"\\]*")\s*[,}]')
_SUBSCRIPTION = re.compile(rb'"io\.modelcontextprotocol/subscriptionId"\s*:\s*(-?\d+|"[^"\\]*")\s*[,}]')
SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"

OpenQuestion = tuple[Any, asyncio.Future[None]]
"""A request of the recorded server: its live id, and when the client has answered."""


class PlayedEvents(Protocol):
    """Receives the played events of an exchange."""

    async def deliver(self, raw: bytes, m: int, event: Event, *, answer: bool) -> None:
        """Send event `m` to the client, in its live form. `answer`: it ends the exchange."""

    async def passed(self, m: int) -> None:
        """Handle an event that is not a message of the server: one of the client, an HTTP head, an end."""

    def ask(self, id: Any) -> OpenQuestion:
        """Expect an answer to a request of the server, under this id or another free one."""

    def forget(self, questions: list[OpenQuestion]) -> None:
        """Stop expecting answers to these."""

    async def wait(self, microseconds: int) -> None:
        """Wait for so much recorded time."""


class LiveIds:
    """The names of a request in the recording and live."""

    def __init__(self, recorded: Any, live: Any) -> None:
        self.recorded_id, self.id = _id(recorded), _id(live)
        self.recorded_token, self.token = token_of(recorded), token_of(live)

    def notification(self, raw: bytes, message: dict[str, Any]) -> bytes | None:
        """Return a notification with the live token; None for progress that the live request did not ask for."""
        params = message.get("params")
        if type(params) is not dict:
            return raw
        progress = message["method"] == "notifications/progress" and self.recorded_token is not None
        if progress and params.get("progressToken") == self.recorded_token:
            if self.token is None:
                return None
            return _swapped(
                raw, _TOKEN, self.token, lambda: {**message, "params": {**params, "progressToken": self.token}}
            )
        return self._of_subscription(raw, message, params)

    def _of_subscription(self, raw: bytes, message: dict[str, Any], params: dict[str, Any]) -> bytes:
        meta = params.get("_meta")
        if type(meta) is not dict or SUBSCRIPTION_KEY not in meta or meta[SUBSCRIPTION_KEY] != self.recorded_id:
            return raw
        changed = {**params, "_meta": {**meta, SUBSCRIPTION_KEY: self.id}}
        return _swapped(raw, _SUBSCRIPTION, self.id, lambda: {**message, "params": changed})

    def response(self, raw: bytes, message: Any) -> bytes:
        """Return the answer with the live id; from a batch of several answers, this one's."""
        if self.id == self.recorded_id and type(self.id) is type(self.recorded_id):
            return raw
        if type(message) is list:
            return encode([{**item, "id": self.id} if self._is_ours(item) else item for item in message])
        span = id_span(raw)
        if span is not None:
            changed = raw[: span[0]] + encode(self.id) + raw[span[1] :]
            after = parsed(changed)
            if type(after) is dict and after.get("id") == self.id:
                return changed
        return encode({**message, "id": self.id})

    def _is_ours(self, item: Any) -> bool:
        return jsonrpc.shape_of(item) in (Shape.RESULT, Shape.ERROR) and item.get("id") == self.recorded_id


class ReplayedExchange:
    """Plays the exchange of request `n` for the request `live`."""

    def __init__(self, journal: Journal, n: int, live: Any, stage: PlayedEvents) -> None:
        self.n = n
        self.answered = False
        self.names = LiveIds(journal.event(n).message, live)
        self._journal = journal
        self._stage = stage
        self._questions: dict[int, OpenQuestion] = {}
        """By their number in the recording."""

    async def run(self) -> bool:
        """Deliver everything in order, each event after the client's earlier messages. Returns whether there was an
        answer."""
        try:
            await self._run()
        finally:
            self._stage.forget(list(self._questions.values()))
        return self.answered

    async def _run(self) -> None:
        index = self._journal.index
        clock = index.time(self.n)
        played = 0
        async for m in self._members():
            dir, kind = index.dir(m), index.kind(m)
            if dir == Dir.SEND and kind == Kind.RPC:
                await self._client_answers(m)
                clock = index.time(m)
                await self._stage.passed(m)
            elif kind not in (Kind.RPC, Kind.INVALID):
                await self._stage.passed(m)
            elif dir == Dir.RECV:
                await self._stage.wait(index.time(m) - clock)
                clock = index.time(m)
                await self._deliver(m, self._journal.event(m))
            played += 1
            if played % _AT_ONCE == 0:
                await asyncio.sleep(0)

    async def _members(self) -> AsyncIterator[int]:
        """Yield the events of the exchange after its request: to its answer, or to the end without one."""
        index = self._journal.index
        members = {self.n}
        last = index.pair(self.n) or index.count
        for low in range(self.n, last, _LOOKED_AT):
            if low > self.n:
                await asyncio.sleep(0)
            for m in index.related(members, low, min(low + _LOOKED_AT, last)):
                members.add(m)
                yield m

    async def _client_answers(self, m: int) -> None:
        """Wait until the client answers a question that it had answered here."""
        question = self._questions.get(self._journal.index.pair(m))
        if question is not None:
            await question[1]

    async def _deliver(self, m: int, event: Event) -> None:
        raw, shape = event.bytes, event.shape
        answer = self._journal.index.pair(m) == self.n and shape in (Shape.RESULT, Shape.ERROR, Shape.BATCH)
        if shape is Shape.REQUEST:
            raw = self._question(m, raw, event.message)
        elif shape is Shape.NOTIFICATION:
            notification = self.names.notification(raw, event.message)
            if notification is None:
                return
            raw = notification
        elif answer:
            raw = self.names.response(raw, event.message)
            self.answered = True
        await self._stage.deliver(raw, m, event, answer=answer)

    def _question(self, m: int, raw: bytes, message: dict[str, Any]) -> bytes:
        if id_key(message["id"]) is None:
            return raw
        self._questions[m] = question = self._stage.ask(message["id"])
        return asked_as(question[0], raw, message)


class UnansweredQuestions:
    """Requests of recorded servers that the live client has not answered."""

    def __init__(self) -> None:
        self._open: dict[Any, asyncio.Future[None]] = {}

    def __len__(self) -> int:
        return len(self._open)

    def ask(self, id: Any) -> OpenQuestion:
        """Expect an answer to a request. Returns its id (another one if that is in use) and an event for its answer."""
        fresh, again = id, 1
        while fresh in self._open:
            again += 1
            fresh = f"{id}#{again}"
        future = self._open[fresh] = asyncio.get_running_loop().create_future()
        return fresh, future

    def answered(self, message: Any) -> None:
        """Handle a message of the client that may be an answer."""
        if jsonrpc.shape_of(message) in (Shape.RESULT, Shape.ERROR):
            asked = self._open.pop(id_key(message.get("id")), None)
            if asked is not None and not asked.done():
                asked.set_result(None)

    def forget(self, questions: list[OpenQuestion]) -> None:
        """Stop expecting answers to these."""
        for id, future in questions:
            if self._open.get(id) is future:
                del self._open[id]


def asked_as(id: Any, raw: bytes, message: dict[str, Any]) -> bytes:
    """Return a request of the server with this id."""
    return raw if id == message["id"] else encode({**message, "id": id})


def token_of(message: Any) -> Any:
    """Return the progress token of a request, or None."""
    params = message.get("params") if type(message) is dict else None
    meta = params.get("_meta") if type(params) is dict else None
    return id_key(meta.get("progressToken")) if type(meta) is dict else None


def _id(message: Any) -> Any:
    return message.get("id") if type(message) is dict else None


def _swapped(raw: bytes, pattern: re.Pattern[bytes], value: Any, otherwise: Callable[[], Any]) -> bytes:
    """Return `raw` with the one value that `pattern` finds replaced; without exactly one, `otherwise()` encoded."""
    matches = list(pattern.finditer(raw))
    if len(matches) != 1:
        return encode(otherwise())
    start, end = matches[0].span(1)
    return raw[:start] + encode(value) + raw[end:]


class RecordedTransport(Transport):
    """Answers from `journal`, which the caller opens and closes.

    `speed` is the pace: 1.0 as recorded, 2.0 twice as fast, None as fast as possible. Each exchange has a separate
    channel; `recorded` on each event is the number of the event in the recording.
    """

    name = "recording"

    def __init__(self, sink: Sink, journal: Journal, *, speed: float | None = None) -> None:
        self.sink = sink
        self.journal = journal
        self.speed = speed
        self.questions = UnansweredQuestions()
        self._requests = RecordedRequests(journal)
        self._order = UsedRequests(self._requests)
        self._plays: dict[int | str, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._count = 0
        self._closed = False

    async def start(self) -> None:
        """Index the recording. Raises `RecordingError` if it has no request of a client."""
        await load(self._requests, self.journal)
        self.sink.life(channels.REPLAY, "connect", recording=str(self.journal.path or ""), events=len(self.journal))

    def send(self, outgoing: Outgoing) -> None:
        """Record the message and start to play what was recorded for it. Notifications end here."""
        if self._closed:
            raise ConnectionProblem("The recording is closed.", hint="Open it again.")
        if outgoing.id is None:
            self.sink.sent(channels.REPLAY, outgoing)
            self.questions.answered(outgoing.message)
            return
        self._count += 1
        channel = channels.of_replay(self._count)
        self.sink.sent(channel, outgoing)
        task = asyncio.get_running_loop().create_task(self._answer(channel, outgoing))
        self._tasks.add(task)
        self._plays[outgoing.id] = task
        task.add_done_callback(lambda done: self._ended(outgoing, done))

    def _ended(self, outgoing: Outgoing, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if outgoing.id is not None and self._plays.get(outgoing.id) is task:
            del self._plays[outgoing.id]
        error = None if task.cancelled() else task.exception()
        if error is not None:
            # A bug of ours must neither hang the request nor vanish.
            problem = ConnectionProblem(f"Playing the recording failed: {error!r}.", hint="This is a bug.")
            self.sink.failed(outgoing, problem)
            task.get_loop().call_exception_handler({"message": "replay failed", "exception": error, "task": task})

    async def _answer(self, channel: str, outgoing: Outgoing) -> None:
        message = outgoing.message if type(outgoing.message) is dict else {}
        n = await self._order.find(outgoing.method, message.get("params"))
        if not n:
            code, text = self._requests.missing(outgoing.method)
            self.sink.received(channel, [encode(jsonrpc.error(outgoing.id, code, text))])
        elif not await ReplayedExchange(self.journal, n, {**message, "id": outgoing.id}, _Channel(self, channel)).run():
            self.sink.failed(
                outgoing,
                ConnectionProblem(
                    f"The recording has no answer to {outgoing.method}: {fate(self.journal, n)}.",
                    hint=f"Event {n} of the recording is the request.",
                ),
            )

    def unread(self) -> int | None:
        """0: a recording accepts everything at once."""
        return 0

    def abandon(self, id: int | str) -> None:
        """Stop playing this exchange."""
        task = self._plays.get(id)
        if task is not None:
            task.cancel()

    async def close(self) -> None:
        """Stop playing. Idempotent."""
        self._closed = True
        await cancelled(self._tasks)
        await self._requests.aclose()


class _Channel:
    """The channel of one exchange, as its stage."""

    def __init__(self, transport: RecordedTransport, channel: str) -> None:
        self._transport = transport
        self._channel = channel

    async def deliver(self, raw: bytes, m: int, event: Event, *, answer: bool) -> None:
        cut = event.fields.get("cut") is True
        self._transport.sink.received(self._channel, [raw], f',"recorded":{m}', cut=cut)

    async def passed(self, m: int) -> None:
        """Skip an event that was not a message."""

    def ask(self, id: object) -> OpenQuestion:
        return self._transport.questions.ask(id)

    def forget(self, questions: list[OpenQuestion]) -> None:
        self._transport.questions.forget(questions)

    async def wait(self, microseconds: int) -> None:
        speed = self._transport.speed
        if speed is not None and microseconds > 0:
            await asyncio.sleep(microseconds / 1e6 / speed)


async def load(requests: RecordedRequests, journal: Journal) -> None:
    """Index a recording to answer from it. Raises `RecordingError` if it has no request of a client."""
    if journal.raw_only:
        raise RecordingError(
            "The recording has a newer format, so it cannot be used as a server.", hint="Update Inspector."
        )
    if not await requests.load():
        name = journal.path or "The recording"
        raise RecordingError(
            f"{name} has no request of a client, so it cannot be used as a server.",
            hint="Choose a recording with requests.",
        )


def fate(journal: Journal, n: int) -> str:
    """Return the end of a request without an answer, as the end of a sentence."""
    became = {"cancelled": "it was cancelled", "timeout": "it timed out", "lost": "the connection was lost"}
    return became.get(STATE_NAMES[journal.index.state(n)], "the recording ends before one")

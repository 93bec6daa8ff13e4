"""A recording as a transport: what was asked then is answered now as it was answered then.

Each request is matched with a recorded one, and what belonged to that one arrives again: progress, notifications, the
server's own questions and the answer, with ids and progress tokens of now. The text of messages is kept wherever only
an id has to be another one.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Iterable
from typing import Any

from inspector.errors import ConnectionProblem, RecordingError
from inspector.journal.format import Dir, Event, Kind
from inspector.journal.index import STATE_NAMES
from inspector.journal.journal import Journal
from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import Shape, encode, id_key
from inspector.transports.base import Outgoing, Sink
from inspector.transports.correlate import id_span, parsed
from inspector.transports.recorded_requests import RecordedRequests

_AT_ONCE = 64
"""Messages delivered before others get their turn."""
_TOKEN = re.compile(rb'"progressToken"\s*:\s*(-?\d+|"[^"\\]*")\s*[,}]')
_SUBSCRIPTION = re.compile(rb'"io\.modelcontextprotocol/subscriptionId"\s*:\s*(-?\d+|"[^"\\]*")\s*[,}]')


class RecordedTransport:
    """Answers from `journal`, which the caller opened and releases.

    `speed` is the pace: 1.0 as recorded, 2.0 twice as fast, None as fast as can be. Everything of one exchange is on a
    channel of its own; `recorded` on each event is the number of the event in the recording.
    """

    name = "recording"

    def __init__(self, sink: Sink, journal: Journal, *, speed: float | None = None) -> None:
        self.sink = sink
        self.journal = journal
        self.speed = speed
        self._requests = RecordedRequests(journal)
        self._plays: dict[int | str, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._questions: dict[Any, asyncio.Future[None]] = {}
        self._count = 0
        self._closed = False

    async def start(self) -> None:
        """Index the recording. Raises `RecordingError` where nothing in it could answer."""
        if self.journal.raw_only:
            raise RecordingError(
                "The recording has a newer format, so it cannot be answered from.", hint="Update Inspector."
            )
        if not await self._requests.load():
            name = self.journal.path or "The recording"
            raise RecordingError(
                f"{name} holds no request of a client: nothing can be answered from it.",
                hint="Choose a recording in which something was asked.",
            )
        self.sink.life("replay", "connect", recording=str(self.journal.path or ""), events=len(self.journal))

    def send(self, outgoing: Outgoing) -> None:
        """Record the message and begin to play what was recorded for it. Notifications end here."""
        if self._closed:
            raise ConnectionProblem("The recording is closed.", hint="Open it again.")
        if outgoing.id is None:
            outgoing.n = self.sink.sent("replay", outgoing)
            self._take_answer(outgoing.message)
            return
        self._count += 1
        channel = f"replay-{self._count}"
        outgoing.n = self.sink.sent(channel, outgoing)
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
            # A fault of our own must neither hang the request nor vanish.
            problem = ConnectionProblem(f"Playing the recording failed: {error!r}.", hint="This is a bug.")
            self.sink.failed(outgoing, problem)
            task.get_loop().call_exception_handler({"message": "replay failed", "exception": error, "task": task})

    def _take_answer(self, message: Any) -> None:
        """The client answers one of the recorded server's questions."""
        if jsonrpc.shape_of(message) in (Shape.RESULT, Shape.ERROR):
            asked = self._questions.pop(id_key(message.get("id")), None)
            if asked is not None and not asked.done():
                asked.set_result(None)

    async def _answer(self, channel: str, outgoing: Outgoing) -> None:
        message = outgoing.message
        params = message.get("params") if type(message) is dict else None
        n = await self._requests.find(outgoing.method, params)
        if not n:
            code, text = self._requests.missing(outgoing.method)
            self.sink.received(channel, [encode(jsonrpc.error(outgoing.id, code, text))])
            return
        play = _Play(self, channel, outgoing, n)
        await play.run()

    def ask(self, id: Any) -> tuple[Any, asyncio.Future[None]]:
        """Expect an answer to a question; its id, another one if that is waiting already, and when it is answered."""
        fresh, again = id, 1
        while fresh in self._questions:
            again += 1
            fresh = f"{id}#{again}"
        future = self._questions[fresh] = asyncio.get_running_loop().create_future()
        return fresh, future

    def forget(self, questions: Iterable[tuple[Any, asyncio.Future[None]]]) -> None:
        """Expect no answers to these any more."""
        for id, future in questions:
            if self._questions.get(id) is future:
                del self._questions[id]

    def agreed(self, revision: str, *, version_header: bool, resumable: bool, listen: bool) -> None:
        """A recording has agreed on its revision long ago."""

    async def settled(self) -> None:
        """Nothing to wait for."""

    def close_stream(self, id: int | str) -> bool:
        """Nothing more of this exchange is wanted; whether a notification follows is the era's matter."""
        return False

    def unread(self) -> int | None:
        """A recording takes everything at once."""
        return 0

    def abandon(self, id: int | str) -> None:
        """Play nothing more of this exchange."""
        task = self._plays.get(id)
        if task is not None:
            task.cancel()

    async def close(self) -> None:
        """Stop playing. Idempotent."""
        self._closed = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=1.0)
        await self._requests.aclose()


class _Play:
    """One recorded exchange, played for a live request."""

    def __init__(self, transport: RecordedTransport, channel: str, outgoing: Outgoing, n: int) -> None:
        self.transport = transport
        self.channel = channel
        self.outgoing = outgoing
        self.n = n
        self.journal = transport.journal
        self.answered = False
        request = self.journal.event(n).message
        self.recorded_id = request.get("id")
        self.recorded_token = _token(request)
        self.token = _token(outgoing.message)
        self.questions: dict[int, tuple[Any, asyncio.Future[None]]] = {}
        """By the question's number in the recording: its id of now, and when it is answered."""

    async def run(self) -> None:
        """Deliver what belonged to the recorded request, in its order, each after what the client had said by then."""
        try:
            await self._run()
        finally:
            self.transport.forget(self.questions.values())

    async def _run(self) -> None:
        index = self.journal.index
        clock = index.times[self.n - 1]
        for done, m in enumerate(index.exchange(self.n, limit=sys.maxsize)):
            if index.dir(m) == Dir.SEND:
                await self._client_answers(m)
                clock = index.times[m - 1]
            elif index.dir(m) == Dir.RECV and index.kind(m) in (Kind.RPC, Kind.INVALID):
                await self._wait(index.times[m - 1] - clock)
                clock = index.times[m - 1]
                self._deliver(m, self.journal.event(m))
            if done % _AT_ONCE == _AT_ONCE - 1:
                await asyncio.sleep(0)
        if not self.answered:
            self._end()

    async def _client_answers(self, m: int) -> None:
        """Here the client had answered a question: go on when it has done so again."""
        question = self.questions.get(self.journal.index.pairs[m - 1])
        if question is not None:
            await question[1]

    async def _wait(self, microseconds: int) -> None:
        if self.transport.speed is not None and microseconds > 0:
            await asyncio.sleep(microseconds / 1e6 / self.transport.speed)

    def _deliver(self, m: int, event: Event) -> None:
        raw = event.bytes
        shape = event.shape
        if shape is Shape.REQUEST:
            raw = self._question(m, raw, event.message)
        elif shape is Shape.NOTIFICATION:
            told = self._notification(raw, event.message)
            if told is None:
                return
            raw = told
        elif self.journal.index.pairs[m - 1] == self.n:
            raw = self._response(raw, event.message)
            self.answered = True
        self.transport.sink.received(self.channel, [raw], f',"recorded":{m}', cut=event.fields.get("cut") is True)

    def _question(self, m: int, raw: bytes, message: dict[str, Any]) -> bytes:
        id = message["id"]
        if id_key(id) is None:
            return raw
        self.questions[m] = fresh, _ = self.transport.ask(id)
        return raw if fresh == id else encode({**message, "id": fresh})

    def _notification(self, raw: bytes, message: dict[str, Any]) -> bytes | None:
        """A notification with the token of now; None for progress that nobody asked for this time."""
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
        meta = params.get("_meta")
        key = "io.modelcontextprotocol/subscriptionId"
        if type(meta) is dict and meta.get(key) == self.recorded_id and key in meta:
            id = self.outgoing.id
            return _swapped(
                raw, _SUBSCRIPTION, id, lambda: {**message, "params": {**params, "_meta": {**meta, key: id}}}
            )
        return raw

    def _response(self, raw: bytes, message: Any) -> bytes:
        id = self.outgoing.id
        if id == self.recorded_id and type(id) is type(self.recorded_id):
            return raw
        if type(message) is list:
            return encode([{**item, "id": id} if self._is_ours(item) else item for item in message])
        span = id_span(raw)
        if span is not None:
            changed = raw[: span[0]] + encode(id) + raw[span[1] :]
            after = parsed(changed)
            if type(after) is dict and after.get("id") == id:
                return changed
        return encode({**message, "id": id})

    def _is_ours(self, item: Any) -> bool:
        return jsonrpc.shape_of(item) in (Shape.RESULT, Shape.ERROR) and item.get("id") == self.recorded_id

    def _end(self) -> None:
        """The recording has no answer: say what became of the request then."""
        fate = STATE_NAMES[self.journal.index.state(self.n)]
        became = {"cancelled": "it was cancelled", "timeout": "it timed out", "lost": "the connection was lost"}
        self.transport.sink.failed(
            self.outgoing,
            ConnectionProblem(
                f"The recording has no answer to {self.outgoing.method}: {became.get(fate, 'it ends before one')}.",
                hint=f"Event {self.n} of the recording is the request.",
            ),
        )


def _token(message: Any) -> Any:
    params = message.get("params") if type(message) is dict else None
    meta = params.get("_meta") if type(params) is dict else None
    return id_key(meta.get("progressToken")) if type(meta) is dict else None


def _swapped(raw: bytes, pattern: re.Pattern[bytes], value: Any, otherwise: Any) -> bytes:
    """`raw` with the one value that `pattern` finds replaced; where there is not exactly one, `otherwise()` encoded."""
    found = list(pattern.finditer(raw))
    if len(found) != 1:
        return encode(otherwise())
    start, end = found[0].span(1)
    return raw[:start] + encode(value) + raw[end:]

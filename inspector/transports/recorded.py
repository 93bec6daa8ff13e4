"""A transport that answers from a recording.

Each request is matched with a recorded one (`recorded_requests`), whose events are sent again (`recorded_play`):
progress, notifications, the server's own requests and the answer.
"""

from __future__ import annotations

import asyncio

from inspector.errors import ConnectionProblem, RecordingError
from inspector.journal import channels
from inspector.journal.format import Event
from inspector.journal.index import STATE_NAMES
from inspector.journal.journal import Journal
from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import encode
from inspector.transports.base import Outgoing, Sink, Transport
from inspector.transports.recorded_exchange import OpenQuestion, ReplayedExchange, UnansweredQuestions
from inspector.transports.request_matching import RecordedRequests, UsedRequests


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
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=1.0)
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

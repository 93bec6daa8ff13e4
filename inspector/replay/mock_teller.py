"""What the recorded server told by itself, told to one client when its conversation has come as far."""

from __future__ import annotations

import asyncio
from array import array
from typing import TYPE_CHECKING

from inspector.journal.format import Event, Kind
from inspector.protocol.jsonrpc import Shape, id_key
from inspector.replay.mock_timeline import subscription_of
from inspector.transports.recorded_play import Names, asked_as

if TYPE_CHECKING:
    from inspector.replay.mock_answer import Answering
    from inspector.replay.mock_client import MockClient

_AT_ONCE = 64
_ANSWERS = (Shape.RESULT, Shape.ERROR)


class Teller:
    """Tells a client what stands behind each word of the timeline, once."""

    def __init__(self, client: MockClient) -> None:
        self.names: dict[int, Names] = {}
        """By recorded request, the live one that stood for it last."""
        self._client = client
        self._mock = client.mock
        self._listens: dict[int, list[tuple[Names, Answering]]] = {}
        """By recorded `subscriptions/listen`, the live ones that are open."""
        self._told: set[int] = set()

    def tell(self, word: int) -> bool:
        """The conversation has come to this word of the recording: tell what came behind it. Whether there is any."""
        told = self._mock.timeline.after.get(word)
        if told is None or word in self._told:
            return False
        self._told.add(word)
        self._client.start(self._tell(word, told))
        return True

    async def _tell(self, word: int, told: array[int]) -> None:
        journal = self._mock.journal
        clock = journal.index.time(word or told[0])
        for done, m in enumerate(told, 1):
            await self._mock.wait(journal.index.time(m) - clock)
            clock = journal.index.time(m)
            self._tell_one(m, journal.event(m))
            if done % _AT_ONCE == 0:
                await self._client.client.drain()
                await asyncio.sleep(0)

    def _tell_one(self, m: int, event: Event) -> None:
        client, pair = self._client, self._mock.journal.index.pair(m)
        if event.kind == Kind.STDERR:
            client.journal.record_stderr("stderr", [event.bytes])
            self._mock.said(event.bytes)
        elif self.tell_listener(m, event):
            return
        elif event.shape is Shape.REQUEST and id_key(event.message["id"]) is not None:
            id, answered = client.questions.ask(event.message["id"])
            answered.add_done_callback(lambda done: self._answered(pair) if not done.cancelled() else None)
            client.push(asked_as(id, event.bytes, event.message), m)
        elif event.shape in _ANSWERS and pair in self.names:
            client.push(self.names[pair].response(event.bytes, event.message), m)
        else:
            client.push(event.bytes, m)

    def _answered(self, answer: int) -> None:
        """The client has answered a question; `answer` is how it had done so in the recording (0: it had not)."""
        if answer:
            self.tell(answer)

    # Subscriptions

    async def listen(self, n: int, names: Names, answering: Answering) -> None:
        """A subscription: it is open until either side ends it, and what comes on it is told."""
        answering.listen()
        live = names, answering
        self._listens.setdefault(n, []).append(live)
        try:
            acknowledged = self._mock.timeline.acknowledged.get(n)
            if acknowledged is not None:
                self._tell_live(acknowledged, self._mock.journal.event(acknowledged), *live)
            self.tell(n)
            await self._client.silence()
        finally:
            self._listens[n].remove(live)

    def tell_listener(self, m: int, event: Event) -> bool:
        """Whether an event belongs to a subscription; then it goes to those that the client has open now."""
        subscription = subscription_of(event.message)
        listen = self._mock.timeline.listen_of(m, subscription)
        if self._mock.timeline.acknowledged.get(listen) == m:
            return True
        for live in self._listens.get(listen, ()):
            self._tell_live(m, event, *live)
        return bool(listen) or subscription is not None

    def _tell_live(self, m: int, event: Event, names: Names, answering: Answering) -> None:
        if event.shape in _ANSWERS:
            answering.send(names.response(event.bytes, event.message), m)
            answering.reply.end()
        elif event.shape is Shape.NOTIFICATION:
            raw = names.notification(event.bytes, event.message)
            if raw is not None:
                answering.send(raw, m)
        else:
            answering.send(event.bytes, m)

"""Plays one recorded exchange for a live request: in order, with the live ids and tokens.

The text of messages is kept if only an id changes.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from typing import Any, Protocol

from inspector.journal.format import Dir, Event, Kind
from inspector.journal.journal import Journal
from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import Shape, encode, id_key
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
            told = self.names.notification(raw, event.message)
            if told is None:
                return
            raw = told
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
    found = list(pattern.finditer(raw))
    if len(found) != 1:
        return encode(otherwise())
    start, end = found[0].span(1)
    return raw[:start] + encode(value) + raw[end:]

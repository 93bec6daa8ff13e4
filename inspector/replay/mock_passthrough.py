"""What was never recorded, asked of a live server: one connection for each client, made when it is first needed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from inspector.client.bare_connection import BareConnection, Hearer
from inspector.errors import ConnectionProblem, InspectorError
from inspector.journal.journal import Frame, Journal
from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import Shape, encode, excerpt, id_key
from inspector.replay.mock_http import version_of
from inspector.transports.base import Outgoing

Upstream = Callable[[Journal, Hearer], BareConnection]
"""Makes a connection to the live server."""


class Asking(Protocol):
    """One request of the client, as the live server's answer comes to it."""

    def deliver_foreign(self, raw: bytes, message: dict[str, Any]) -> None:
        """Send the answer."""

    def pass_on(self, raw: bytes) -> None:
        """Send a message that belongs to the request."""


class Downstream(Protocol):
    """The client of the mock, as the live server behind it needs it."""

    initialize: dict[str, Any] | None
    """The request with which it began its connection."""

    def live_journal(self) -> Journal:
        """A recording for a connection to the live server."""

    def push(self, raw: bytes) -> None:
        """Send a message that belongs to no request."""

    def hear_stderr(self, lines: Sequence[bytes]) -> None:
        """Take lines of the live server's stderr."""


class Passthrough:
    """The live server behind one client. Ids of requests are ours on the way there."""

    def __init__(self, client: Downstream, upstream: Upstream) -> None:
        self._client = client
        self._upstream = upstream
        self._connection: BareConnection | None = None
        self._journal: Journal | None = None
        self._opening = asyncio.Lock()
        self._waiting: dict[Any, tuple[asyncio.Future[dict[str, Any]], Asking | None]] = {}
        self._asked: dict[Any, Any] = {}
        """By the id a question of the live server has for our client: its own."""
        self._count = 0

    async def forward(self, message: dict[str, Any], answering: Asking) -> None:
        """Ask the live server and give its answer to the client. Raises an `InspectorError` where there is none."""
        async with self._opening:
            if self._connection is None:
                await self._open(message)
        answer = await self._ask(message, answering)
        answering.deliver_foreign(encode({**answer, "id": message["id"]}), answer)

    async def _open(self, message: dict[str, Any]) -> None:
        """Connect; where the client has opened its own connection with a handshake, open this one with the same."""
        self._journal = self._client.live_journal()
        connection = self._upstream(self._journal, self)
        await connection.open()
        self._connection = connection
        opening = self._client.initialize
        if version_of(message) is None and opening is not None:
            answer = await self._ask(opening, None)
            if "error" in answer:
                why = excerpt(answer["error"], 300)
                raise ConnectionProblem(f"The live server refused the handshake of this client: {why}")
            connection.send(encode(jsonrpc.notification("notifications/initialized")))

    async def _ask(self, message: dict[str, Any], answering: Asking | None) -> dict[str, Any]:
        connection = self._connection
        if connection is None:
            raise ConnectionProblem("The connection to the live server is gone.")
        self._count += 1
        id = self._count
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[id] = future, answering
        try:
            connection.send(encode({**message, "id": id}))
            return await future
        except asyncio.CancelledError:
            connection.send(encode(jsonrpc.notification("notifications/cancelled", {"requestId": id})))
            raise
        finally:
            self._waiting.pop(id, None)

    def answered(self, message: dict[str, Any]) -> bool:
        """The client has answered something: whether that was a question of the live server, which then has it."""
        key = id_key(message.get("id"))
        if key not in self._asked or self._connection is None:
            return False
        self._connection.send(encode({**message, "id": self._asked.pop(key)}))
        return True

    # What the live server says

    def on_received(self, messages: Sequence[bytes], frames: Sequence[Frame]) -> None:
        """Answers go to whoever asked, everything else to the exchange that is under way, if it is one."""
        for frame in frames:
            message = frame.message
            if frame.shape in (Shape.RESULT, Shape.ERROR):
                self._take_answer(message)
            elif frame.shape is Shape.REQUEST:
                fresh = f"live-{message['id']}"
                self._asked[fresh] = message["id"]
                self._pass_on(encode({**message, "id": fresh}))
            elif frame.shape is Shape.NOTIFICATION:
                self._pass_on(encode(message))

    def _take_answer(self, message: dict[str, Any]) -> None:
        """An error without an id can only be about the one request that waits: its server could not read it."""
        id = message.get("id")
        if id is None and len(self._waiting) == 1:
            (id,) = self._waiting
        future, _ = self._waiting.get(id_key(id), (None, None))
        if future is not None and not future.done():
            future.set_result(message)

    def _pass_on(self, raw: bytes) -> None:
        under_way = [answering for _, answering in self._waiting.values() if answering is not None]
        if len(under_way) == 1:
            under_way[0].pass_on(raw)
        else:
            self._client.push(raw)

    def on_stderr(self, lines: Sequence[bytes]) -> None:
        """The live server's stderr becomes ours."""
        self._client.hear_stderr(lines)

    def on_failed(self, outgoing: Outgoing, error: InspectorError) -> None:
        """One request will get no answer."""
        future, _ = self._waiting.get(id_key(outgoing.id), (None, None))
        if future is not None and not future.done():
            future.set_exception(error)

    def on_lost(self, error: InspectorError) -> None:
        """The live server is gone; the next miss connects anew."""
        self._connection = None
        for future, _ in self._waiting.values():
            if not future.done():
                future.set_exception(error)

    async def close(self) -> None:
        """End the connection."""
        if self._connection is not None:
            await self._connection.close()
        if self._journal is not None:
            self._journal.close("closed")
            self._journal.release()

"""Unrecorded requests to a live server: one connection for each client, opened at first use."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from inspector.client.bare_connection import BareConnection, ConnectionListener
from inspector.errors import ConnectionProblem, InspectorError
from inspector.journal.journal import Frame, Journal
from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import Shape, encode, excerpt, id_key
from inspector.replay.mock.http import version_of
from inspector.transports.base import Outgoing

Upstream = Callable[[Journal, ConnectionListener], BareConnection]
"""Creates a connection to the live server."""


class PassthroughRequest(Protocol):
    """One request of the client, which receives the live server's response."""

    def forward_response(self, raw: bytes, message: dict[str, Any]) -> None:
        """Send the response."""

    def forward_message(self, raw: bytes) -> None:
        """Send a message that belongs to the request."""


class Downstream(Protocol):
    """The client of the mock server, as its live server needs it."""

    initialize: dict[str, Any] | None
    """The request that opened the client's connection."""

    def live_journal(self) -> Journal:
        """Return a recording for a connection to the live server."""

    def send(self, raw: bytes) -> None:
        """Send a message that belongs to no request."""

    def forward_stderr(self, lines: Sequence[bytes]) -> None:
        """Handle lines of the live server's stderr."""


class Passthrough:
    """The live server of one client. Requests get our own ids on this connection."""

    def __init__(self, client: Downstream, upstream: Upstream) -> None:
        self._client = client
        self._upstream = upstream
        self._connection: BareConnection | None = None
        self._journal: Journal | None = None
        self._opening = asyncio.Lock()
        self._waiting: dict[Any, tuple[asyncio.Future[dict[str, Any]], PassthroughRequest | None]] = {}
        self._asked: dict[Any, Any] = {}
        """By the client-side id of the live server's question: its original id."""
        self._count = 0

    async def forward(self, message: dict[str, Any], answering: PassthroughRequest) -> None:
        """Send the request to the live server and pass on its response. Raises an `InspectorError` without one."""
        async with self._opening:
            if self._connection is None:
                await self._open(message)
        answer = await self._ask(message, answering)
        answering.forward_response(encode({**answer, "id": message["id"]}), answer)

    async def _open(self, message: dict[str, Any]) -> None:
        """Connect, and repeat the client's handshake if it made one."""
        self._journal = self._client.live_journal()
        connection = self._upstream(self._journal, self)
        await connection.open()
        self._connection = connection
        opening = self._client.initialize
        if version_of(message) is None and opening is not None:
            answer = await self._ask(opening, None)
            if "error" in answer:
                reason = excerpt(answer["error"], 300)
                raise ConnectionProblem(f"The live server refused the handshake of this client: {reason}")
            connection.send(encode(jsonrpc.notification("notifications/initialized")))

    async def _ask(self, message: dict[str, Any], answering: PassthroughRequest | None) -> dict[str, Any]:
        connection = self._connection
        if connection is None:
            raise ConnectionProblem("The connection to the live server is lost.")
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
        """Pass on an answer of the client to the live server's question; False if it is not one."""
        key = id_key(message.get("id"))
        if key not in self._asked or self._connection is None:
            return False
        self._connection.send(encode({**message, "id": self._asked.pop(key)}))
        return True

    # Messages of the live server

    def on_received(self, messages: Sequence[bytes], frames: Sequence[Frame]) -> None:
        """Pass responses to their requests, and other messages to the open exchange, if there is exactly one."""
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
        """Handle a response. An error without an id belongs to the only open request: the server could not read it."""
        id = message.get("id")
        if id is None and len(self._waiting) == 1:
            (id,) = self._waiting
        future, _ = self._waiting.get(id_key(id), (None, None))
        if future is not None and not future.done():
            future.set_result(message)

    def _pass_on(self, raw: bytes) -> None:
        under_way = [answering for _, answering in self._waiting.values() if answering is not None]
        if len(under_way) == 1:
            under_way[0].forward_message(raw)
        else:
            self._client.send(raw)

    def on_stderr(self, lines: Sequence[bytes]) -> None:
        """Forward the live server's stderr."""
        self._client.forward_stderr(lines)

    def on_failed(self, outgoing: Outgoing, error: InspectorError) -> None:
        """Handle a request that gets no response."""
        future, _ = self._waiting.get(id_key(outgoing.id), (None, None))
        if future is not None and not future.done():
            future.set_exception(error)

    def on_lost(self, error: InspectorError) -> None:
        """Handle the loss of the live server; the next miss connects again."""
        self._connection = None
        for future, _ in self._waiting.values():
            if not future.done():
                future.set_exception(error)

    async def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            await self._connection.close()
        if self._journal is not None:
            self._journal.close("closed")
            self._journal.release()

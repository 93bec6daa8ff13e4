"""A server in this process, as a transport: for tests of everything above, well-behaved servers and hostile ones."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from inspector.errors import ConnectionProblem, InspectorError, ServerExited
from inspector.journal import channels
from inspector.protocol.jsonrpc import encode
from inspector.transports.base import Outgoing, Sink

Reply = Callable[[dict[str, Any] | list[Any] | bytes], None]
"""Sends something to the client: a message, a batch, or bytes that go out as they are, valid or not."""
Server = Callable[[Any, Reply], Awaitable[None]]
"""Takes each message of the client (bytes where it is no JSON) in a task of its own, and a way to reply at any time."""


class MemoryTransport:
    """One pipe to an in-process server, with the pairing rules of stdio.

    `server` may raise a `ConnectionProblem` to drop the connection; any other exception is a crash of the server.
    """

    name = "memory"
    channel = channels.STDIO

    def __init__(self, sink: Sink, server: Server) -> None:
        self.sink = sink
        self.server = server
        self.abandoned: list[int | str] = []
        """Ids whose answers nobody waits for any more."""
        self.agreed_on: dict[str, Any] = {}
        """What the handshake agreed on, as `agreed` was told."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._error: InspectorError | None = None
        self._closed = False

    async def start(self) -> None:
        """Nothing to connect."""

    def send(self, outgoing: Outgoing) -> None:
        """Record the message and let the server have it."""
        if self._closed or self._error is not None:
            raise self._error or ConnectionProblem("The connection is closed.")
        outgoing.n = self.sink.sent(self.channel, outgoing)
        message = outgoing.data if outgoing.message is None else outgoing.message
        task = asyncio.get_running_loop().create_task(self._serve(message))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, message: Any) -> None:
        try:
            await self.server(message, self.reply)
        except ConnectionProblem as error:
            self.drop(error)
        except Exception as error:  # noqa: BLE001 - the server is foreign code: its crash is what is reported
            self.drop(ServerExited(f"The in-process server crashed: {error!r}.", hint="See the server's code."))

    def reply(self, message: dict[str, Any] | list[Any] | bytes) -> None:
        """Let something arrive from the server. Nothing arrives once the connection is gone."""
        if not self._closed and self._error is None:
            self.sink.received(self.channel, [message if isinstance(message, bytes) else encode(message)])

    def drop(self, error: ConnectionProblem) -> None:
        """Lose the connection, as when a server dies."""
        if not self._closed and self._error is None:
            self._error = error
            self.sink.lost(error)

    def agreed(self, revision: str, *, version_header: bool, resumable: bool, listen: bool) -> None:
        """Remembered for tests; a pipe has no use for it."""
        self.agreed_on = {
            "revision": revision, "version_header": version_header, "resumable": resumable, "listen": listen,
        }  # fmt: skip

    async def settled(self) -> None:
        """Nothing to wait for."""

    def abandon(self, id: int | str) -> None:
        """Remembered for tests; nothing is held for an answer."""
        self.abandoned.append(id)

    def close_stream(self, id: int | str) -> bool:
        """A pipe has no stream for each request."""
        return False

    def unread(self) -> int | None:
        """The server has a message as soon as it is sent."""
        return 0

    async def close(self) -> None:
        """Stop the server's tasks. Idempotent."""
        self._closed = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=1.0)

    def kill_now(self) -> None:
        """There is no process to kill."""

"""A transport to a server in this process, for tests of the layers above, with valid and malicious servers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from inspector.errors import ConnectionProblem, InspectorError, ServerExited
from inspector.journal import channels
from inspector.protocol.jsonrpc import encode
from inspector.transports.base import Outgoing, Sink, Transport
from inspector.transports.http_tasks import cancelled

SendReply = Callable[[dict[str, Any] | list[Any] | bytes], None]
"""Sends to the client: a message, a batch, or raw bytes, valid or not."""
MemoryServer = Callable[[Any, SendReply], Awaitable[None]]
"""Gets each message of the client (bytes if it is not JSON) in a separate task, and a function to reply at any time."""


class MemoryTransport(Transport):
    """One pipe to an in-process server, with the pairing rules of stdio.

    `server` may raise a `ConnectionProblem` to drop the connection; any other exception is a crash of the server.
    """

    name = "memory"
    channel = channels.STDIO

    def __init__(self, sink: Sink, server: MemoryServer) -> None:
        self.sink = sink
        self.server = server
        self.abandoned: list[int | str] = []
        """Ids of abandoned requests."""
        self.agreed_on: dict[str, Any] = {}
        """The arguments of `agreed`."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._error: InspectorError | None = None
        self._closed = False

    def send(self, outgoing: Outgoing) -> None:
        """Record the message and pass it to the server."""
        if self._closed or self._error is not None:
            raise (self._error or ConnectionProblem("The connection is closed.")).with_traceback(None)
        self.sink.sent(self.channel, outgoing)
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
            self.drop(ServerExited(f"The in-process server crashed: {error!r}.", hint="Check the server's code."))

    def reply(self, message: dict[str, Any] | list[Any] | bytes) -> None:
        """Receive something from the server. After the connection is gone, it is dropped."""
        if not self._closed and self._error is None:
            self.sink.received(self.channel, [message if isinstance(message, bytes) else encode(message)])

    def drop(self, error: ConnectionProblem) -> None:
        """Lose the connection, as if the server died."""
        if not self._closed and self._error is None:
            self._error = error
            self.sink.lost(error)

    def agreed(self, revision: str, *, version_header: bool, resumable: bool, listen: bool) -> None:
        """Keep the arguments for tests."""
        self.agreed_on = {
            "revision": revision,
            "version_header": version_header,
            "resumable": resumable,
            "listen": listen,
        }

    def abandon(self, id: int | str) -> None:
        """Keep the id for tests."""
        self.abandoned.append(id)

    def unread(self) -> int | None:
        """0: the server gets a message as soon as it is sent."""
        return 0

    async def close(self) -> None:
        """Stop the server's tasks. Idempotent."""
        self._closed = True
        await cancelled(self._tasks)

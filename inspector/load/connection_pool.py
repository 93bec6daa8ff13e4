"""The connections of a run: chooses the one for the next call, and connects again where one has broken."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from inspector.errors import InspectorError, ServerExited
from inspector.load.connection import LoadConnection


class ConnectionPool:
    """Calls `on_change` when a lost connection is there again, or is given up."""

    def __init__(self, on_change: Callable[[bool], object]) -> None:
        """`on_change` gets whether it is there again."""
        self.connections: list[LoadConnection] = []
        self.lost = 0
        """How often a connection broke."""
        self.stderr: tuple[str, ...] = ()
        """The last lines of the first server that wrote some before its end."""
        self._on_change = on_change
        self._reconnects: dict[LoadConnection, asyncio.Task[None]] = {}
        """Of the lost connections. One whose task is done is given up."""

    @property
    def pids(self) -> list[int]:
        """The server processes that are our children."""
        return [connection.pid for connection in self.connections if connection.pid]

    @property
    def loss(self) -> InspectorError | None:
        """Why the first connection is lost."""
        return self.connections[0].session.error

    @property
    def is_given_up(self) -> bool:
        """Whether every connection is given up."""
        given_up = self._reconnects.values()
        return len(given_up) == len(self.connections) and all(task.done() for task in given_up)

    def free(self, largest: int) -> LoadConnection | None:
        """Return the connection with the fewest calls; None if each has `largest` calls or is lost."""
        best = None
        for connection in self.connections:
            if not connection.is_ready or connection in self._reconnects:
                continue
            if connection.in_flight < (largest if best is None else best.in_flight):
                best = connection
                if not connection.in_flight:
                    break
        return best

    def reconnect_lost(self) -> None:
        """Start to connect again where a connection has broken."""
        for connection in self.connections:
            if connection.session.phase == "lost" and connection not in self._reconnects:
                self.lost += 1
                self._learn_why(connection)
                self._reconnects[connection] = asyncio.create_task(self._reconnect(connection))

    async def _reconnect(self, connection: LoadConnection) -> None:
        is_back = await connection.reconnect()
        if is_back:
            del self._reconnects[connection]
        else:
            self._learn_why(connection)
        self._on_change(is_back)

    def _learn_why(self, connection: LoadConnection) -> None:
        error = connection.session.error
        if isinstance(error, ServerExited) and not self.stderr:
            self.stderr = error.stderr

    def kill_now(self) -> None:
        """Kill the server processes without waiting."""
        for connection in self.connections:
            connection.kill_now()

    async def close(self) -> None:
        """Close every connection, and the journals of all but the first."""
        tasks = list(self._reconnects.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*(connection.close() for connection in self.connections), return_exceptions=True)
        for connection in self.connections[1:]:
            connection.journal.close()
            connection.journal.release()

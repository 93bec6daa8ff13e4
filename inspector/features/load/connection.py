"""One connection under load: calls of tools pass it without being recorded, everything else is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from inspector.client.engine.connect import transport_for
from inspector.client.engine.pending_requests import ContinuedCall
from inspector.client.options import Options
from inspector.client.session import Session
from inspector.config.targets import Target
from inspector.errors import InspectorError, ServerExited
from inspector.journal.alterations import Alteration
from inspector.journal.format import Dir
from inspector.journal.journal import Frame, Journal
from inspector.journal.storage import Overflow
from inspector.protocol.jsonrpc import URL_ELICITATION_REQUIRED, NotJson, Shape, parse, shape_of
from inspector.transports.base import Outgoing, Sink, Transport

if TYPE_CHECKING:
    from inspector.client.engine.pending_requests import Call

_FIRST = 1 << 40
"""The first number of an answer that is not recorded; recorded messages have lower numbers."""
_CALL = "tools/call"
_PROGRESS = "notifications/progress"
MAX_EVENTS = 20_000
"""Events that a recording keeps during the load: what the server asks and logs, and lost connections."""
RECONNECTS = (0.1, 1.0, 3.0)
"""Seconds before each attempt to reconnect; then the connection is given up."""


class PassingSink:
    """A sink that passes calls of tools on without recording them, and gives the rest to another sink.

    So the memory of a session does not grow with its calls. A response that is more than the end of a call (a task, a
    question) is recorded, because the session reads it again.
    """

    def __init__(self, sink: Sink, connection: LoadConnection) -> None:
        self._sink = sink
        self._connection = connection

    def received(self, channel: str, messages: Sequence[bytes], extra: str = "", *, cut: bool = False) -> bool:
        if cut:
            return self._sink.received(channel, messages, extra, cut=True)
        connection = self._connection
        are_json = True
        for raw in messages:
            try:
                message = parse(raw)
            except (NotJson, UnicodeDecodeError):
                message = None
            if message is None or not connection.passes(raw, message, channel):
                are_json &= self._sink.received(channel, [raw], extra)
        return are_json

    def filtered(
        self, channel: str, data: bytes, alterations: Sequence[Alteration], extra: str = "", *, passes: bool = True
    ) -> None:
        if not (passes and self._connection.passes(data, parse(data), channel)):
            self._sink.filtered(channel, data, alterations, extra, passes=passes)

    def sent(self, channel: str, outgoing: Outgoing, *, hold: bool = False) -> None:
        if outgoing.method == _CALL:
            self._connection.channel = channel
        else:
            self._sink.sent(channel, outgoing, hold=hold)

    def flush(self) -> None:
        self._sink.flush()

    def stderr(self, lines: Sequence[bytes]) -> Sequence[bytes]:
        return self._sink.stderr(lines)

    def life(self, channel: str, event: str, **fields: Any) -> int:
        if event == "spawn" and type(fields.get("pid")) is int:
            self._connection.pid = fields["pid"]
        if self._connection.is_loaded and event in _OF_REQUESTS:
            return 0
        return self._sink.life(channel, event, **fields)

    def http(self, channel: str, dir: Dir, **fields: Any) -> int:
        return 0 if self._connection.is_loaded else self._sink.http(channel, dir, **fields)

    def sse(self, channel: str, text: str, **fields: Any) -> int:
        return 0 if self._connection.is_loaded else self._sink.sse(channel, text, **fields)

    def auth(
        self, step: str, ok: bool, text: str, *, rule: str = "", fix: str = "", facts: dict[str, Any] | None = None
    ) -> int:
        return self._sink.auth(step, ok, text, rule=rule, fix=fix, facts=facts)

    def asking(self, begun: bool) -> None:
        self._sink.asking(begun)

    def failed(self, request: Outgoing, error: InspectorError) -> None:
        self._sink.failed(request, error)

    def lost(self, error: InspectorError) -> None:
        self._sink.lost(error)

    def secret(self, value: str) -> None:
        self._sink.secret(value)


_OF_REQUESTS = frozenset(("connect", "redirect", "refused", "stream-end", "stream-closed", "accepted", "reconnect"))
"""Events of single HTTP exchanges."""


class LoadConnection:
    """A session whose calls of tools are not recorded. `lost` is called when the connection has broken."""

    def __init__(
        self,
        target: Target,
        journal: Journal,
        options: Options,
        connect: Callable[[Target, Sink, Options], Transport] = transport_for,
    ) -> None:
        self.journal = journal
        self.session = Session(
            target,
            journal,
            options,
            connect=lambda target, sink, options: connect(target, PassingSink(sink, self), options),
        )
        self.pid = 0
        """The server's process, if it is our child."""
        self.in_flight = 0
        self.is_loaded = False
        """The connection is set up; from now on only what is out of the ordinary is recorded."""
        self.reconnects = 0
        self.channel = ""
        """The channel of the call that was sent last."""
        self.response: tuple[int, bytes] = (0, b"")
        """The latest answer to a call: its number and its bytes. Valid while the call ends."""
        self._number = _FIRST

    @property
    def is_ready(self) -> bool:
        """Whether calls can be sent."""
        return self.session.phase == "ready"

    async def open(self) -> None:
        """Connect, and load the list of tools. Raises the failure."""
        await self.session.open()
        await self.session.load("tools")
        error = self.session.catalog["tools"].error
        if error is not None:
            raise error

    def begin(self) -> None:
        """Record only a limited number of events from now on."""
        self.is_loaded = True
        largest = len(self.journal) + MAX_EVENTS
        bounds = Overflow(outlines=0, most_events=largest)
        self.journal.bound(self.journal.limit, overflow=bounds)
        self.journal.recent.limit = 1 << 20

    def passes(self, raw: bytes, message: Any, channel: str) -> bool:
        """Give a message to the session without recording it, if it is an ordinary part of a call."""
        shape = shape_of(message)
        if shape is Shape.RESULT or shape is Shape.ERROR:
            call = self.session.pending.get(message.get("id"))
            if call is None or call.method != _CALL or not _ends(call, message):
                return False
        elif shape is not Shape.NOTIFICATION or not self.is_loaded:
            return False
        elif message["method"] != _PROGRESS:
            # Lists that change are not loaded again, and log messages have no reader.
            return not message["method"].startswith(("notifications/tasks", "notifications/elicitation"))
        n = self._number = self._number + 1
        self.response = n, raw
        self.session.on_frame(Frame(n, self.journal.now(), channel, shape, message))
        return True

    async def reconnect(self) -> bool:
        """Connect again after a loss. False after the last attempt."""
        for seconds in RECONNECTS:
            await asyncio.sleep(seconds)
            with suppress(InspectorError):
                await self.session.reopen()
                self.reconnects += 1
                return True
        return False

    async def close(self, reason: str = "closed") -> None:
        """Close the session; the recording stays open."""
        await self.session.leave()

    def kill_now(self) -> None:
        """Kill the server process without waiting."""
        self.session.kill_now()


def _ends(call: Call, message: dict[str, Any]) -> bool:
    """Whether a response only ends its call; otherwise the session reads it in the recording."""
    if isinstance(call.outcome, ContinuedCall):
        return False
    error = message.get("error")
    if error is not None:
        return type(error) is not dict or error.get("code") != URL_ELICITATION_REQUIRED
    result = message.get("result")
    return type(result) is not dict or (result.get("resultType") in (None, "complete") and "task" not in result)


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

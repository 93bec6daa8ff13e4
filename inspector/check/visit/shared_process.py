"""One process of a server over stdio that a session and the checks' connection use together.

The session makes the transport and answers the server's requests; the checks send through the same transport and see
everything that arrives.
"""

from __future__ import annotations

from collections.abc import Sequence

from inspector.client.bare_connection import ConnectionListener
from inspector.client.engine.connect import Connect
from inspector.client.engine.wire import Wire
from inspector.client.options import Options
from inspector.client.session import Session
from inspector.config.targets import Target
from inspector.errors import InspectorError
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import NotJson, Shape, id_key, parse, shape_of
from inspector.transports.base import Outgoing, Sink, Transport


class SharedProcess:
    """Give `connect` to the session; set `listener` to receive what the session receives."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self.listener: ConnectionListener | None = None

    def connect(self, target: Target, sink: Sink, options: Options) -> Transport:
        """Create the session's transport."""
        assert isinstance(sink, Wire)
        return self._connect(target, _SharedWire(sink.journal, sink, self), options)


class _SharedWire(Wire):
    """The session's wire, with the checks as a second listener."""

    def __init__(self, journal: Journal, own: Wire, process: SharedProcess) -> None:
        super().__init__(journal, own.listener, lambda: None)
        self._process = process

    def received(self, channel: str, messages: Sequence[bytes], extra: str = "", *, cut: bool = False) -> bool:
        invalid = self.journal.index.invalid
        frames = self.journal.record_received(channel, messages, extra, cut=cut)
        for frame in frames:
            self.listener.on_frame(frame)
        if self._process.listener is not None:
            self._process.listener.on_received(messages, frames)
        return self.journal.index.invalid == invalid

    def stderr(self, lines: Sequence[bytes]) -> Sequence[bytes]:
        kept = super().stderr(lines)
        if self._process.listener is not None:
            self._process.listener.on_stderr(kept)
        return kept

    def failed(self, request: Outgoing, error: InspectorError) -> None:
        super().failed(request, error)
        if self._process.listener is not None:
            self._process.listener.on_failed(request, error)

    def lost(self, error: InspectorError) -> None:
        super().lost(error)
        if self._process.listener is not None:
            self._process.listener.on_lost(error)


class SessionConnection:
    """The session's connection for the checks: like a `BareConnection`, but it is open, and the session closes it."""

    def __init__(self, session: Session, process: SharedProcess, listener: ConnectionListener) -> None:
        self._process = process
        self.transport = session.transport
        process.listener = listener

    async def open(self) -> None:
        """Do nothing: the session has opened it."""

    def send(self, data: bytes) -> int:
        """Send the exact bytes of one message; return its number in the journal. Raises a `ConnectionProblem`."""
        try:
            message = parse(data)
        except NotJson:
            message = None
        outgoing = Outgoing(data, message)
        if shape_of(message) is Shape.REQUEST and id_key(message["id"]) is not None:
            outgoing = Outgoing(data, message, message["id"], message["method"])
        self.transport.send(outgoing)
        return outgoing.n

    def close_stream(self, id: int | str) -> None:
        """Do nothing: over stdio, requests have no streams."""

    async def close(self) -> None:
        """Receive nothing more."""
        self._process.listener = None

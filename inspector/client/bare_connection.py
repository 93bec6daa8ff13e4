"""A connection without a session: prepared messages are sent unchanged.

For commands that resend another client's messages, or stand between a client and its server. Everything is recorded as
in a session. Of each message only what the transport needs is read: the negotiated revision, and the values that a
request repeats in its HTTP headers.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Protocol

from inspector.client.engine.connect import Connect, transport_for
from inspector.client.engine.header_fields import HeaderFields
from inspector.client.engine.wire import Wire
from inspector.client.options import Options
from inspector.config.targets import Target
from inspector.errors import ConnectionProblem, InspectorError
from inspector.journal.journal import Frame, Journal
from inspector.protocol.jsonrpc import NotJson, Shape, id_key, parse, shape_of
from inspector.protocol.members import array_at, object_at, value_at
from inspector.protocol.names import VERSION_KEY
from inspector.protocol.revisions import LEGACY, features
from inspector.transports.base import Outgoing


class ConnectionListener(Protocol):
    """Receives what arrives, after it is recorded in the journal."""

    def on_received(self, messages: Sequence[bytes], frames: Sequence[Frame]) -> None:
        """One read's messages: exact bytes without delimiters, and a frame for each one that is JSON."""

    def on_stderr(self, lines: Sequence[bytes]) -> None:
        """Lines of the server's stderr."""

    def on_failed(self, outgoing: Outgoing, error: InspectorError) -> None:
        """One request failed: it gets no response."""

    def on_lost(self, error: InspectorError) -> None:
        """The connection is gone."""


class BareConnection:
    """A raw connection: `open` it, `send` bytes, `close` it. The caller owns the journal."""

    def __init__(
        self,
        target: Target,
        journal: Journal,
        listener: ConnectionListener,
        options: Options | None = None,
        *,
        connect: Connect = transport_for,
        conn: int = 0,
    ) -> None:
        """`conn` is its number in a journal with several connections."""
        self.journal = journal
        self.listener = listener
        self.revision = ""
        """The negotiated revision, or the one that the latest request of the modern era names."""
        self.has_received = False
        """Whether the server has sent a message."""
        self._fields = HeaderFields()
        self._asked: dict[Any, tuple[str, bool]] = {}
        """By id, the requests whose responses are read: method, and whether it is a list's first page."""
        self.transport = connect(target, _BareWire(journal, self, conn), options or Options())

    async def open(self) -> None:
        """Start the transport. Raises a `ConnectionProblem`."""
        try:
            await self.transport.start()
        except ConnectionProblem as error:
            error.connecting = True
            raise

    def send(self, data: bytes, user_headers: Sequence[tuple[str, str]] = (), message: Any = None) -> int:
        """Send the exact bytes of one message, with these HTTP header fields; return its number in the journal.

        `message` is its parsed form, if that is known.

        Where the transport cancels by closing a stream, a cancellation closes it and 0 is returned. Raises a
        `ConnectionProblem` if the connection is lost.
        """
        if message is None:
            with suppress(NotJson):
                message = parse(data)
        shape = shape_of(message)
        outgoing = Outgoing(data, message)
        if shape is Shape.REQUEST and id_key(message["id"]) is not None:
            outgoing = self._request(data, message)
        elif shape is Shape.NOTIFICATION:
            if self._cancels_by_closing(message):
                return 0
            if self._modern_over_http:
                params = object_at(message, "params")
                outgoing.headers = self._fields.of(message["method"], params, self.revision)
        outgoing.user_headers = user_headers
        self.transport.send(outgoing)
        return outgoing.n

    def _request(self, data: bytes, message: dict[str, Any]) -> Outgoing:
        id, method, params = message["id"], message["method"], object_at(message, "params")
        if method in ("initialize", "tools/list"):
            self._asked[id_key(id)] = method, "cursor" not in params
        revision = value_at(params, "_meta", VERSION_KEY)
        outgoing = Outgoing(data, message, id, method)
        if isinstance(revision, str):
            self.revision = revision
            if self.transport.name == "http":
                outgoing.headers_of = partial(self._fields.of, revision=revision)
                outgoing.headers = outgoing.headers_of(method, params)
        return outgoing

    def _cancels_by_closing(self, message: dict[str, Any]) -> bool:
        """The modern era over HTTP cancels a request by closing its stream (C-HTTP-36)."""
        if message["method"] != "notifications/cancelled" or not self._modern_over_http:
            return False
        id = value_at(message, "params", "requestId")
        return isinstance(id, (int, str)) and self.transport.close_stream(id)

    @property
    def _modern_over_http(self) -> bool:
        return bool(self.revision) and self.revision not in LEGACY and self.transport.name == "http"

    def close_stream(self, id: int | str) -> None:
        """Close the stream of a request: the modern era's cancellation over HTTP."""
        self.transport.close_stream(id)

    async def close(self) -> None:
        """Close the connection and everything started for it, within about a second. Idempotent."""
        await self.transport.close()

    # What arrives

    def on_frame(self, frame: Frame) -> None:
        """Read from a response what the transport must know."""
        if not self._asked or frame.shape is not Shape.RESULT:
            return
        method, first = self._asked.pop(id_key(frame.message.get("id")), ("", False))
        result = frame.message["result"]
        if type(result) is not dict or not method:
            return
        if method == "tools/list":
            if first:
                self._fields.forget()
            self._fields.learn(array_at(result, "tools"))
            return
        self.revision = str(result.get("protocolVersion") or "")
        row = features(self.revision)
        self.transport.agreed(self.revision, version_header=row.version_header, resumable=row.resumable, listen=True)

    def on_failed(self, outgoing: Outgoing, error: InspectorError) -> None:
        """Report that a request gets no response."""
        self.listener.on_failed(outgoing, self._placed(error))

    def on_lost(self, error: InspectorError) -> None:
        """Report that the connection is lost."""
        self.listener.on_lost(self._placed(error))

    def _placed(self, error: InspectorError) -> InspectorError:
        """Return the error; before the first message of the server, the connection was not made at all."""
        if isinstance(error, ConnectionProblem) and not self.has_received:
            error.connecting = True
        return error

    def on_asking(self, begun: bool) -> None:
        """Do nothing: requests of this connection have no timeout to pause."""


class _BareWire(Wire):
    """Records like any wire, and passes on the bytes too."""

    def __init__(self, journal: Journal, connection: BareConnection, conn: int) -> None:
        super().__init__(journal, connection, lambda: None, conn=conn)
        self._connection = connection

    def received(self, channel: str, messages: Sequence[bytes], extra: str = "", *, cut: bool = False) -> bool:
        invalid = self.journal.index.invalid
        frames = self.journal.record_received(channel, messages, extra, cut=cut, conn=self.conn)
        self._connection.has_received = True
        for frame in frames:
            self._connection.on_frame(frame)
        self._connection.listener.on_received(messages, frames)
        return self.journal.index.invalid == invalid

    def stderr(self, lines: Sequence[bytes]) -> Sequence[bytes]:
        recorded = super().stderr(lines)
        self._connection.listener.on_stderr(recorded)
        return recorded

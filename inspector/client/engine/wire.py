"""The session's end of the wire: every message is recorded in the journal first, then handled."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Protocol

from inspector.errors import InspectorError
from inspector.journal.alterations import Alteration
from inspector.journal.format import Dir
from inspector.journal.journal import Frame, Journal, altered
from inspector.transports.base import Outgoing


class WireListener(Protocol):
    """Receives what the wire delivers, after it is recorded."""

    def on_frame(self, frame: Frame) -> None:
        """Handle a message that arrived and is recorded."""

    def on_failed(self, outgoing: Outgoing, error: InspectorError) -> None:
        """Handle a request that gets no response."""

    def on_lost(self, error: InspectorError) -> None:
        """Handle the loss of the connection."""

    def on_asking(self, begun: bool) -> None:
        """Handle the start or the end of a login by a person."""


class Wire:
    """The `Sink` of a live session's transport.

    `handled` names the notifications to pass to the listener (None: all); the others are only recorded. `conn` is the
    connection's number in the journal, if it is not the session's own (0).
    """

    def __init__(
        self,
        journal: Journal,
        listener: WireListener,
        changed: Callable[[], None],
        handled: Callable[[], Collection[str] | None] = lambda: None,
        conn: int = 0,
    ) -> None:
        self.journal = journal
        self.conn = conn
        self._named = {"conn": conn} if conn else {}
        self.listener = listener
        self._changed = changed
        self._handled = handled
        self._closed = False

    def received(self, channel: str, messages: Sequence[bytes], extra: str = "", *, cut: bool = False) -> bool:
        invalid = self.journal.index.invalid
        frames = self.journal.record_received(channel, messages, extra, cut=cut, heeded=self._handled(), conn=self.conn)
        for frame in frames:
            self.listener.on_frame(frame)
        self._changed()
        return self.journal.index.invalid == invalid

    def filtered(
        self, channel: str, data: bytes, alterations: Sequence[Alteration], extra: str = "", *, passes: bool = True
    ) -> None:
        extra += altered(self.journal, alterations)
        if passes:
            self.received(channel, [data], extra)
        else:
            self.journal.record_received(channel, [data], extra, conn=self.conn)
            self._changed()

    def sent(self, channel: str, outgoing: Outgoing, *, hold: bool = False) -> None:
        extra = altered(self.journal, outgoing.alterations)
        outgoing.n = self.journal.record_sent(
            channel, outgoing.data, outgoing.message, extra, hold=hold, conn=self.conn
        )
        self._changed()

    def flush(self) -> None:
        self.journal.flush()

    def stderr(self, lines: Sequence[bytes]) -> Sequence[bytes]:
        recorded = self.journal.record_stderr("stderr", lines, conn=self.conn)
        self._changed()
        return recorded

    def life(self, channel: str, event: str, **fields: Any) -> int:
        n = self.journal.record_life(channel, event, **self._named, **fields)
        self._changed()
        return n

    def http(self, channel: str, dir: Dir, **fields: Any) -> int:
        return self.journal.record_http(channel, dir, **self._named, **fields)

    def sse(self, channel: str, text: str, **fields: Any) -> int:
        return self.journal.record_sse(channel, text, **self._named, **fields)

    def auth(
        self, step: str, ok: bool, text: str, *, rule: str = "", fix: str = "", facts: dict[str, Any] | None = None
    ) -> int:
        n = self.journal.record_auth(step, ok, text, rule=rule, fix=fix, facts=facts)
        self._changed()
        return n

    def asking(self, begun: bool) -> None:
        self.listener.on_asking(begun)

    def failed(self, request: Outgoing, error: InspectorError) -> None:
        self._without_secrets(error)
        self.listener.on_failed(request, error)

    def lost(self, error: InspectorError) -> None:
        if not self._closed:
            self._closed = True
            self._without_secrets(error)
            self.listener.on_lost(error)

    def _without_secrets(self, error: InspectorError) -> None:
        self.journal.redactor.error(error)

    def secret(self, value: str) -> None:
        self.journal.redactor.add(value)

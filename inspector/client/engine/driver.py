"""What an era must be able to do. `legacy.py` is the handshake's era, `modern.py` the one of per-request metadata."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, Protocol

from inspector.client.engine.pending_requests import Call
from inspector.client.state.catalog import ListName
from inspector.client.state.server import Server
from inspector.journal.journal import Frame
from inspector.protocol.revisions import Era


class Driver(Protocol):
    """One era's way to open a connection, to build a request, to give one up, and to take what the server sends."""

    era: Era
    handled_notifications: frozenset[str]
    """Methods of the notifications that `on_notification` does anything about."""

    @property
    def lists_before_calls(self) -> bool:
        """Whether a tool must have been listed before it can be called by the rules."""

    async def open(self) -> Server:
        """Agree on a revision with the server. Raises `HandshakeError` or what the request raised."""

    def build_request(self, call: Call, *, progress: bool) -> tuple[dict[str, Any], tuple[tuple[str, str], ...]]:
        """The message for a call that has its id, and the HTTP header fields that go with it."""

    def headers(self, method: str, params: dict[str, Any]) -> tuple[tuple[str, str], ...]:
        """The HTTP header fields of a request that is built already."""

    def intercepts_response(self, call: Call, n: int, message: dict[str, Any]) -> Coroutine[Any, Any, Any] | None:
        """None where response `n` ends the call, which is the rule. Else what carries the call on.

        The coroutine returns the result of the call, or raises its error; with the call it is cancelled. It sends the
        call again with `Engine.exchange`. What must be known before the next message is read is done before it begins.
        Raises an `InspectorError` to end the call with it.
        """

    def took_page(self, name: ListName, n: int) -> None:
        """A page of a list is in the catalogue; message `n` brought it."""

    def give_up(self, call: Call, reason: str) -> None:
        """Tell the server, by the era's and the transport's rule, that a call is cancelled."""

    def on_request(self, frame: Frame, message: dict[str, Any]) -> None:
        """The server asks something."""

    def on_notification(self, frame: Frame, message: dict[str, Any]) -> None:
        """The server tells something."""

    async def listen(self) -> None:
        """Ask to be told of list changes, where that has to be asked for."""

    async def set_log_level(self, level: str) -> None:
        """Choose which log messages the server sends."""

    async def subscribe(self, uri: str) -> None:
        """Ask to be told when a resource changes."""

    async def unsubscribe(self, uri: str) -> None:
        """Ask no longer to be told."""

    def roots_changed(self) -> None:
        """Our roots are others now."""

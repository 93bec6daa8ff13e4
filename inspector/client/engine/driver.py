"""The interface of an era. `legacy.py` implements the legacy era, `modern.py` the era of per-request metadata."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, Protocol

from inspector.client.engine.pending_requests import Call
from inspector.client.state.catalog import ListName
from inspector.client.state.server import Server
from inspector.journal.journal import Frame
from inspector.protocol.revisions import Era


class Driver(Protocol):
    """One era: opens a connection, builds and cancels requests, and handles the server's messages."""

    era: Era
    handled_notifications: frozenset[str]
    """Methods of the notifications that `on_notification` handles."""

    @property
    def lists_before_calls(self) -> bool:
        """Whether a tool must be listed before it may be called."""

    async def open(self) -> Server:
        """Negotiate a revision with the server. Raises `HandshakeError` or the request's error."""

    def build_request(self, call: Call, *, progress: bool) -> tuple[dict[str, Any], tuple[tuple[str, str], ...]]:
        """Return the message for a call that has its id, and its HTTP header fields."""

    def headers(self, method: str, params: dict[str, Any]) -> tuple[tuple[str, str], ...]:
        """Return the HTTP header fields of a built request."""

    def intercepts_response(self, call: Call, n: int, message: dict[str, Any]) -> Coroutine[Any, Any, Any] | None:
        """Return None if response `n` ends the call, as usual; else a coroutine that continues the call.

        The coroutine returns the call's result or raises its error; it is cancelled with the call. It sends the call
        again with `Engine.exchange`. State that the next message depends on is set before the coroutine starts. Raises
        an `InspectorError` to end the call with it.
        """

    def took_page(self, name: ListName, n: int) -> None:
        """A page of a list was added to the catalogue; message `n` contained it."""

    def give_up(self, call: Call, reason: str) -> None:
        """Tell the server that a call is cancelled, by the rule of the era and transport."""

    def on_request(self, frame: Frame, message: dict[str, Any]) -> None:
        """Handle a request of the server."""

    def on_notification(self, frame: Frame, message: dict[str, Any]) -> None:
        """Handle a notification of the server."""

    async def listen(self) -> None:
        """Subscribe to list changes, in an era that needs a subscription."""

    async def set_log_level(self, level: str) -> None:
        """Set the minimum level of the server's log messages."""

    async def subscribe(self, uri: str) -> None:
        """Subscribe to changes of a resource."""

    async def unsubscribe(self, uri: str) -> None:
        """Unsubscribe from changes of a resource."""

    def roots_changed(self) -> None:
        """Our roots changed."""

"""The session as its driver and helpers see it, and the driver of an era as the session sees it.

`legacy.py` implements the legacy era, `modern.py` the era of per-request metadata.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Protocol

from inspector.client.engine.pending_requests import Call, PendingRequests, RpcResponse
from inspector.client.options import Options
from inspector.client.state.catalog import ListName
from inspector.client.state.model import SessionModel
from inspector.client.state.server import Server
from inspector.errors import InspectorError
from inspector.journal.journal import Frame
from inspector.protocol.revisions import Era
from inspector.transports.base import Transport


class Engine(Protocol):
    """The effects of a live session, and its state."""

    options: Options
    pending: PendingRequests
    """The calls in flight."""

    @property
    def state(self) -> SessionModel:
        """The session's state, as reduced from its messages."""

    @property
    def transport(self) -> Transport:
        """The newest connection."""

    def start(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        timeout: float | None = None,
        progress: bool = True,
        background: bool = False,
        id: str | None = None,
    ) -> Call:
        """Send a request. `background`: the session's own; `id`: one outside the usual sequence."""

    def send(self, message: dict[str, Any]) -> int:
        """Send a message that is not a request. Return its number in the journal, 0 if the connection is lost."""

    async def exchange(self, call: Call, extra: dict[str, Any] | None = None) -> RpcResponse:
        """Resend an intercepted call as a request of its own with a new id (C-MRTR-01, C-MOD-12).

        `extra` are parameters of this request only. Waits for the response.
        """

    def run(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run a coroutine that ends with the session. An `InspectorError` from it is dropped."""

    async def load(self, name: ListName) -> None:
        """Load a list into the catalogue."""

    def lists_changed(self, notification: str) -> None:
        """Load the lists again that a notification names."""

    def on_lost(self, error: InspectorError) -> None:
        """The connection is lost."""


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

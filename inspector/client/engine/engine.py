"""The session as its driver and helpers see it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Protocol

from inspector.client.engine.pending_requests import Call, PendingRequests, RpcResponse
from inspector.client.options import Options
from inspector.client.state.catalog import ListName
from inspector.client.state.model import SessionModel
from inspector.errors import InspectorError
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

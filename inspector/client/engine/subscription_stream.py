"""The modern era's notification stream: one `subscriptions/listen`, replaced when the filter changes.

Source: specification 2026-07-28, "Subscriptions" (C-SUB-01 … C-SUB-03, C-CANC-03).
"""

from __future__ import annotations

import asyncio
from typing import Any

from inspector.client.engine.engine import Engine
from inspector.client.engine.pending_requests import Call
from inspector.client.state.catalog import KINDS
from inspector.errors import InspectorError, NotOffered
from inspector.journal.journal import Frame
from inspector.protocol.extensions import EVENTS
from inspector.protocol.jsonrpc import id_key
from inspector.protocol.members import object_at, texts_at, value_at

FOR_EVER = float("inf")
REOPENED = 5
"""Consecutive attempts to reopen a broken stream."""
FIRST_PAUSE = 0.5
"""Seconds before the first attempt; each further one waits twice as long."""


class ListenStream:
    """One `subscriptions/listen`: its filter, and the part that the server acknowledged."""

    def __init__(self, call: Call, requested: dict[str, Any]) -> None:
        self.call = call
        self.requested = requested
        self.agreed: dict[str, Any] | None = None
        self.settled = asyncio.Event()
        """Set when the stream is acknowledged or has ended."""


class Listening:
    """The session's subscriptions, and the stream that delivers their notifications."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.stream: ListenStream | None = None
        self._lists = False
        self._uris: list[str] = []
        self._lock = asyncio.Lock()
        self._opening: ListenStream | None = None

    async def begin(self) -> None:
        """Subscribe to changes of the lists that the server offers notifications for."""
        if not self._lists and (self._events or any(self._offered(kind.capability) for kind in KINDS.values())):
            self._lists = True
            await self._renew()

    async def follow(self, uri: str) -> None:
        """Subscribe to changes of a resource. Raises `NotOffered` if the server does not acknowledge it."""
        if uri not in self._uris:
            self._uris.append(uri)
        try:
            await self._renew()
            agreed = self.stream.agreed if self.stream is not None else None
            if agreed is not None and uri not in texts_at(agreed, "resourceSubscriptions"):
                raise NotOffered(
                    "The server did not acknowledge the subscription to this resource.",
                    hint="The acknowledgement in the message log shows what it accepted.",
                )
        except InspectorError:
            self._uris.remove(uri)
            raise

    async def unfollow(self, uri: str) -> None:
        """Unsubscribe from changes of a resource."""
        if uri in self._uris:
            self._uris.remove(uri)
            await self._renew()

    def _offered(self, capability: str) -> bool:
        return self.engine.state.server.can(capability, "listChanged")

    @property
    def _events(self) -> bool:
        """Whether to subscribe to changes of the event types: we offer the extension, the server declares them."""
        offered = self.engine.options.extensions.get(EVENTS) is not None
        declared = value_at(self.engine.state.server.capabilities, "extensions", EVENTS, "listChanged")
        return offered and declared is True

    def _requested(self) -> dict[str, Any]:
        requested: dict[str, Any] = {}
        if self._lists:
            if self._events:
                requested["eventsListChanged"] = True  # C-EVENT-20
            requested.update(
                {f"{kind.capability}ListChanged": True for kind in KINDS.values() if self._offered(kind.capability)}
            )
        if self._uris:
            requested["resourceSubscriptions"] = list(self._uris)
        return requested

    async def _renew(self) -> None:
        """Open a stream with the current filter; the old one is closed when the new one is acknowledged."""
        async with self._lock:
            await asyncio.sleep(0)  # What is subscribed in the same turn goes into one request.
            before, requested = self.stream, self._requested()
            if before is not None and before.requested == requested and before.call.fate == "pending":
                return
            stream = self.stream = await self._open(requested) if requested else None
            if stream is not None and stream.call.fate != "pending":
                self._ended(stream)  # The stream ended in the same read as its acknowledgement.
            if before is not None:
                before.call.cancel("replaced by another subscription" if requested else "no longer wanted")

    async def _open(self, requested: dict[str, Any]) -> ListenStream:
        """Send the request, and wait for the acknowledgement. Raises the server's error."""
        engine = self.engine
        call = engine.start(
            "subscriptions/listen", {"notifications": requested}, timeout=FOR_EVER, progress=False, background=True
        )
        stream = self._opening = ListenStream(call, requested)
        call.on_result = lambda _call: self._ended(stream)
        try:
            async with asyncio.timeout(engine.options.timeout):
                await stream.settled.wait()
        except TimeoutError:
            call.cancel("it was not acknowledged")
            raise NotOffered(
                f"The server did not acknowledge the subscription within {engine.options.timeout:g} s.",
                hint=engine.state.journal.shows(call.n, "the request"),
            ) from None
        finally:
            self._opening = None
        if call.error is not None:
            raise call.error
        return stream

    # What the server says

    def acknowledged(self, frame: Frame, params: dict[str, Any]) -> None:
        """Handle the first message of a stream: the acknowledged filter (C-SUB-01)."""
        stream = self._opening
        if stream is None or not self._is_of(stream, frame, params):
            return
        stream.agreed = object_at(params, "notifications")
        self.engine.state.subscriptions.refused = _missing(stream.requested, stream.agreed)
        self.engine.state.changes.bump("subscriptions")
        stream.settled.set()

    def _is_of(self, stream: ListenStream, frame: Frame, params: dict[str, Any]) -> bool:
        """Match the subscription id, including its type (C-SUB-02); over HTTP, the stream it came on matches too."""
        id = value_at(params, "_meta", "io.modelcontextprotocol/subscriptionId")
        if id is not None:
            return id_key(id) == stream.call.id and type(id) is type(stream.call.id)
        return self.engine.state.journal.index.parent(frame.n) == stream.call.n

    def cancelled(self, params: dict[str, Any]) -> None:
        """Handle `notifications/cancelled` from the server: it ends the named stream (C-CANC-03)."""
        for stream in (self.stream, self._opening):
            if stream is not None and id_key(params.get("requestId")) == stream.call.id:
                self.engine.pending.done(stream.call, None)

    def _ended(self, stream: ListenStream) -> None:
        """Handle the end of a stream: only a broken one is reopened."""
        stream.settled.set()
        if stream is not self.stream or stream.call.fate == "cancelled":
            return
        engine = self.engine
        self.stream = None
        if stream.call.fate == "lost" and engine.state.phase == "ready":
            engine.run(self._reopen())  # C-SUB-03
        else:
            engine.state.subscriptions.refused = [*_names(stream.requested)]
        engine.state.changes.bump("subscriptions")

    async def _reopen(self) -> None:
        """Reopen the stream with growing pauses. If the attempts fail, the server is lost."""
        pause = FIRST_PAUSE
        broken: InspectorError | None = None
        for _ in range(REOPENED):
            await asyncio.sleep(pause)
            pause *= 2
            if self.stream is not None or self.engine.state.phase != "ready":
                return
            try:
                await self._renew()
                return
            except InspectorError as error:
                broken = error
        if broken is not None:
            self.engine.on_lost(broken)


def _names(notifications: dict[str, Any]) -> list[str]:
    """Return the names of what a filter requests."""
    names = [name for name, value in notifications.items() if value is True]
    return names + texts_at(notifications, "resourceSubscriptions")


def _missing(requested: dict[str, Any], agreed: dict[str, Any]) -> list[str]:
    """Return what was requested and not acknowledged."""
    known = set(_names(agreed))
    return [name for name in _names(requested) if name not in known]

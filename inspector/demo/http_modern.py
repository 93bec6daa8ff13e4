"""One modern request over HTTP: a JSON response, or a stream that ends with the response."""

from __future__ import annotations

import threading

from inspector.demo.event_stream import LOOK, MessageQueue
from inspector.demo.modern import LISTEN, Modern, is_modern
from inspector.demo.revisions import MODERN
from inspector.demo.rpc import kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from email.message import Message
    from typing import Any

    from inspector.demo.http_connection import ResponseConnection
    from inspector.demo.server_state import DemoState

PATIENCE = 0.5  # seconds until the stream starts for a call without messages so far


class Answering(MessageQueue):
    """The messages about one request. A subscription that is not read drops its messages."""

    def __init__(self, *, endless: bool) -> None:
        super().__init__(lossy=endless)
        self.status = 200
        self.flushed = threading.Event()
        self._answered = False

    def answer(self, raw: bytes | None, status: int = 200) -> None:
        with self.news:
            if raw is not None and not self.ended:
                self.messages.append(raw)
                self._answered = True
                self.status = status
            self.end()

    def hang_up(self, retry: int) -> None:
        self.end()

    def only_answer(self, gone: Callable[[], bool]) -> bytes | None:
        """Returns the response, if it comes soon and is the only message."""
        with self.news:
            waited = 0.0
            while not self.messages and not self.ended and waited < PATIENCE and not gone():
                self.news.wait(LOOK)
                waited += LOOK
            return self.messages[0] if self._answered and len(self.messages) == 1 else None


def is_for_modern(headers: Message, message: Any, world: DemoState) -> bool:
    """Whether a POST is for this era: by its message, by its headers, or because the other era is disabled."""
    if not world.modern or not world.handshakes:
        return bool(world.modern)
    said = headers.get("MCP-Protocol-Version") in MODERN or "Mcp-Method" in headers
    return said or is_modern(message)


def serve(connection: ResponseConnection, message: Any, world: DemoState, running: set[Answering]) -> None:
    """Answers one POST whose message `is_for_modern`; raises RpcError if it is neither a request nor a notification.

    While a request is served, `running` contains its messages.
    """
    kind = kind_of(message)
    if kind != "request":
        # No notification of a client has an effect here, but none is an error either.
        connection.reply(202 if kind == "notification" else 400, {}, b"")
        return
    answering = Answering(endless=message["method"] == LISTEN)
    modern = Modern(world, "http", connection.headers)
    running.add(answering)
    try:
        modern.receive(message, answering)
        answer = answering.only_answer(connection.client_is_gone)
        if answer is not None:
            connection.reply(answering.status, {"Content-Type": "application/json"}, answer)
            return
        connection.begin_stream()
        for events in answering.follow(connection.client_is_gone):
            connection.write_chunk(events)
        connection.write_chunk(b"")
    finally:
        answering.end()
        modern.drop()  # nothing remains of it, unless the client has closed the stream: that cancels the request
        running.discard(answering)
        answering.flushed.set()

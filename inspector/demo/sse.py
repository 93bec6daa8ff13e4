"""The transport HTTP+SSE of 2024-11-05: all responses on one long stream, all requests by POST to its endpoint."""

from __future__ import annotations

import os

from inspector.demo.event_stream import MessageQueue
from inspector.demo.legacy import LegacySession
from inspector.demo.rpc import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from inspector.demo.http_connection import ResponseConnection
    from inspector.demo.server_state import DemoState

STREAM = "/sse"
MESSAGES = "/messages"
_NAME = "session_id="


class SseSession:
    """A session that lives as long as its stream."""

    def __init__(self, world: DemoState) -> None:
        self.id = os.urandom(16).hex()
        self.feed = MessageQueue()
        self.session = LegacySession(world, self.feed, "sse")


def serve(connection: ResponseConnection, world: DemoState, sessions: dict[str, SseSession]) -> None:
    """Serves the stream of a new session until its client disconnects; until then `sessions` contains it."""
    session = SseSession(world)
    sessions[session.id] = session
    try:
        connection.begin_stream()
        connection.write_chunk(f"event: endpoint\ndata: {MESSAGES}?{_NAME}{session.id}\n\n".encode())
        for events in session.feed.follow(connection.client_is_gone, b"event: message\n"):
            connection.write_chunk(events)
        connection.write_chunk(b"")
    finally:
        del sessions[session.id]
        session.session.close()
        session.feed.end()


def receive(connection: ResponseConnection, body: bytes, sessions: dict[str, SseSession]) -> None:
    """Handles one message; its response goes to the stream. Raises RpcError if it is not JSON."""
    names = [each for each in connection.path.partition("?")[2].split("&") if each.startswith(_NAME)]
    session = sessions.get(names[0].removeprefix(_NAME)) if names else None
    if session is None:
        connection.refuse(404 if names else 400, f"Unknown session: start with GET {STREAM}")
    message = decode(body)
    connection.reply(202, {"Content-Type": "text/plain"}, b"Accepted")
    session.session.receive(message, session.feed)

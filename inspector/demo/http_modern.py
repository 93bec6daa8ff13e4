"""One request of the era without a handshake over HTTP: a JSON answer, or a stream that ends with the answer."""

from __future__ import annotations

import socket
import threading
from collections import deque

from inspector.demo.call import Channel
from inspector.demo.modern import LISTEN, Modern, is_modern
from inspector.demo.revisions import MODERN
from inspector.demo.rpc import kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from inspector.demo.http import Handler

MOST_UNSENT = 1000  # messages
PATIENCE = 0.5  # seconds until the stream begins for a call that has said nothing yet
KEEP_ALIVE = 15.0
_LOOK = 0.05  # seconds between looks at whether the client is still there


class Answering(Channel):
    """What is said about one request. Who says more than the client takes has to wait; a subscription forgets it."""

    def __init__(self, *, endless: bool) -> None:
        self.status = 200
        self.ended = False
        self.flushed = threading.Event()
        self._endless = endless
        self._answered = False
        self._messages: deque[bytes] = deque()
        self._news = threading.Condition()

    def send(self, raw: bytes) -> None:
        with self._news:
            if not self._endless:
                self._news.wait_for(lambda: self.ended or len(self._messages) < MOST_UNSENT)
            if not self.ended and len(self._messages) < MOST_UNSENT:
                self._messages.append(raw)
                self._news.notify_all()

    def answer(self, raw: bytes | None, status: int = 200) -> None:
        with self._news:
            if raw is not None and not self.ended:
                self._messages.append(raw)
                self._answered = True
                self.status = status
            self.ended = True
            self._news.notify_all()

    def hang_up(self, retry: int) -> None:
        self.answer(None)

    def only_answer(self, gone: Callable[[], bool]) -> bytes | None:
        """The answer, if it comes soon and nothing else before it."""
        with self._news:
            waited = 0.0
            while not self._messages and not self.ended and waited < PATIENCE and not gone():
                self._news.wait(_LOOK)
                waited += _LOOK
            return self._messages[0] if self._answered and len(self._messages) == 1 else None

    def follow(self, gone: Callable[[], bool]) -> Iterator[bytes]:
        """Server-sent events as they come, with comments in quiet times, until the end or until nobody is there."""
        quiet = 0.0
        while True:
            with self._news:
                self._news.wait_for(lambda: self._messages or self.ended, _LOOK)
                events = b"".join(b"data: %b\n\n" % raw for raw in self._messages)
                self._messages.clear()
                ended = self.ended
                self._news.notify_all()
            quiet = 0.0 if events else quiet + _LOOK
            if events:
                yield events
            elif quiet > KEEP_ALIVE:
                quiet = 0.0
                yield b": still here\n\n"
            if ended or gone():
                return


def is_for_modern(handler: Handler, message: Any) -> bool:
    """Whether a POST is for this era: by what it says, by its headers, or because there is no other."""
    world = handler.server.world
    if not world.modern or not world.handshakes:
        return bool(world.modern)
    said = handler.headers.get("MCP-Protocol-Version") in MODERN or "Mcp-Method" in handler.headers
    return said or is_modern(message)


def serve(handler: Handler, message: Any) -> None:
    """Answers one POST whose message `is_for_modern`; raises RpcError for one that is no request or notification."""
    kind = kind_of(message)
    if kind != "request":
        # There is no notification that a client could send here, but none of them is an error either.
        handler.reply(202 if kind == "notification" else 400, {}, b"")
        return
    answering = Answering(endless=message["method"] == LISTEN)
    modern = Modern(handler.server.world, "http", handler.headers)
    handler.server.answering.add(answering)
    try:
        modern.receive(message, answering)
        answer = answering.only_answer(handler.client_is_gone)
        if answer is not None:
            handler.reply(answering.status, {"Content-Type": "application/json"}, answer)
            return
        handler.begin_stream()
        for events in answering.follow(handler.client_is_gone):
            handler.write_chunk(events)
        handler.write_chunk(b"")
    finally:
        answering.answer(None)
        modern.drop()  # nothing is left of it, unless the client has closed the stream: that cancels the request
        handler.server.answering.discard(answering)
        answering.flushed.set()


def client_is_gone(connection: socket.socket) -> bool:
    """Whether the client has closed its connection."""
    try:
        return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True

"""A stream of server-sent events that lives as long as its connection: the queued messages and their reader."""

from __future__ import annotations

import socket
import threading
from collections import deque

from inspector.demo.call import Channel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_UNSENT = 1000  # messages
KEEP_ALIVE = 15.0  # seconds
LOOK = 0.05  # seconds between two checks of whether the client is connected


class MessageQueue(Channel):
    """Messages for one reader. A sender that is too fast waits, or loses messages if `lossy`."""

    def __init__(self, *, lossy: bool = False) -> None:
        self.ended = False
        self.messages: deque[bytes] = deque()
        self.news = threading.Condition()
        self._lossy = lossy

    def send(self, raw: bytes) -> None:
        with self.news:
            if not self._lossy:
                self.news.wait_for(lambda: self.ended or len(self.messages) < MAX_UNSENT)
            if not self.ended and len(self.messages) < MAX_UNSENT:
                self.messages.append(raw)
                self.news.notify_all()

    def answer(self, raw: bytes | None, status: int = 200) -> None:
        if raw is not None:
            self.send(raw)

    def end(self) -> None:
        """Ends the stream: no more messages in either direction."""
        with self.news:
            self.ended = True
            self.news.notify_all()

    def follow(self, gone: Callable[[], bool], kind: bytes = b"") -> Iterator[bytes]:
        """Yields events as they come, with comments in quiet times, until the end or the client's disconnect.

        `kind` goes before the data of each event: `event: …` and a line break.
        """
        quiet = 0.0
        while True:
            with self.news:
                self.news.wait_for(lambda: self.messages or self.ended, LOOK)
                events = b"".join(b"%bdata: %b\n\n" % (kind, raw) for raw in self.messages)
                self.messages.clear()
                ended = self.ended
                self.news.notify_all()
            quiet = 0.0 if events else quiet + LOOK
            if events:
                yield events
            elif quiet > KEEP_ALIVE:
                quiet = 0.0
                yield b": still here\n\n"
            if ended or gone():
                return


def is_gone(connection: socket.socket) -> bool:
    """Whether a client has closed its connection."""
    try:
        return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True

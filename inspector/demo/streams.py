"""The server's SSE streams: the sent events of each, so that a broken stream can be resumed."""

from __future__ import annotations

import threading
from collections import deque

from inspector.demo.call import Channel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator

MAX_WAITING = 1000  # maximum messages for a client without an open GET stream
MAX_KEPT = 1000  # maximum events of one stream
MAX_FINISHED = 16  # maximum finished streams for clients that resume late


class Stream(Channel):
    """One stream: of a POST, which ends with the last response, or of a GET, which has no end.

    Event n of stream s has the id "s.n". `primed` streams start with an event that has an id and no data (2025-11-25),
    so that a client can resume even before the first message. Only the newest sent or unread events are kept; a sender
    that is faster than the reader waits.
    """

    def __init__(self, name: int, *, endless: bool, primed: bool) -> None:
        self.name = name
        self.endless = endless
        self.ended = False
        self._primed = primed
        self._events = deque([b""] if primed else [])
        self._first = 0  # number of the first kept event
        self._sent = 0
        self._break: tuple[int, int] | None = None  # the event after which the stream closes, and when to reconnect
        self._reader = 0
        self._attended = not endless  # a POST is read from the start, even before its reader follows
        self._news = threading.Condition()

    def send(self, raw: bytes) -> None:
        with self._news:
            if not self.endless:
                self._news.wait_for(lambda: not self._attended or self.ended or self._unsent() < MAX_KEPT)
            self._append(raw)

    def answer(self, raw: bytes | None, status: int = 200) -> None:
        with self._news:
            self.ended = not self.endless
            if raw is not None:
                self._append(raw)
            self._news.notify_all()

    def hang_up(self, retry: int) -> None:
        with self._news:
            self._break = (self._first + len(self._events), retry)
            self._news.notify_all()

    def end(self) -> None:
        """Ends the stream without a response."""
        with self._news:
            self.ended = True
            self._news.notify_all()

    def messages(self) -> list[bytes]:
        """The messages so far."""
        with self._news:
            return list(self._events)[self._primed :]

    def follow(self, after: int, keep_alive: float) -> Generator[bytes, None, None]:
        """Yields server-sent events after event number `after`, as they come; a comment after `keep_alive` quiet
        seconds.

        Ends with the stream, when the stream closes, and when another reader follows the same stream.
        """
        with self._news:
            self._reader += 1
            me = self._reader
            self._attended = True
            self._sent = after
            self._news.notify_all()
        try:
            while True:
                with self._news:
                    fresh = self._news.wait_for(lambda: self._reader != me or self._has_news(), keep_alive)
                    if self._reader != me:
                        return
                    last = self.ended or self._break is not None
                    events = self._take()
                if events or not fresh:  # A stream may end without a response: an empty chunk would be a second end.
                    yield events if fresh else b": still here\n\n"
                if last:
                    return
        finally:
            with self._news:
                self._attended = self._reader != me
                self._news.notify_all()

    def _unsent(self) -> int:
        return self._first + len(self._events) - self._sent

    def _has_news(self) -> bool:
        return self._unsent() > 0 or self.ended or self._break is not None

    def _append(self, raw: bytes) -> None:
        self._events.append(raw)
        if self.endless or not self._attended:
            self._trim(len(self._events) - MAX_KEPT)
        self._news.notify_all()

    def _take(self) -> bytes:
        end, retry = self._break or (self._first + len(self._events), None)
        start = max(self._sent, self._first)
        fresh = list(self._events)[start - self._first : max(end - self._first, 0)]
        events = [b"id: %d.%d\ndata: %b\n\n" % (self.name, start + n, raw) for n, raw in enumerate(fresh, 1)]
        if retry is not None:
            events.append(b"retry: %d\n\n" % retry)
        self._break = None
        self._sent = start + len(fresh)
        self._trim(len(self._events) - MAX_KEPT)
        self._news.notify_all()
        return b"".join(events)

    def _trim(self, surplus: int) -> None:
        for _ in range(surplus):
            self._events.popleft()
            self._first += 1


class Streams(Channel):
    """All streams of a session. As a channel it receives messages without a request, for the newest open GET stream."""

    def __init__(self) -> None:
        self.primed = False
        self._streams: dict[int, Stream] = {}
        self._listening: list[Stream] = []
        self._waiting: list[bytes] = []
        self._made = 0
        self._lock = threading.Lock()

    def send(self, raw: bytes) -> None:
        with self._lock:
            if self._listening:
                self._listening[-1].send(raw)
            elif len(self._waiting) < MAX_WAITING:
                self._waiting.append(raw)

    def open(self, *, endless: bool) -> Stream:
        """Opens a new stream; an endless one gets the waiting messages."""
        with self._lock:
            self._made += 1
            stream = Stream(self._made, endless=endless, primed=self.primed)
            finished = [name for name, each in self._streams.items() if each.ended]
            for name in finished[:-MAX_FINISHED]:
                del self._streams[name]
            self._streams[stream.name] = stream
            if endless:
                self._listening.append(stream)
                for raw in self._waiting:
                    stream.send(raw)
                self._waiting.clear()
            return stream

    def find(self, event_id: str) -> tuple[Stream, int] | None:
        """Returns the stream of an event id, and the number of the event; None for an unknown id.

        A resumed endless stream receives the messages from now on.
        """
        name, _, number = event_id.partition(".")
        if not (name.isascii() and name.isdigit() and number.isascii() and number.isdigit() and len(event_id) < 30):
            return None
        with self._lock:
            stream = self._streams.get(int(name))
            if stream is None:
                return None
            if stream.endless:
                self._listening = [each for each in self._listening if each is not stream] + [stream]
        return stream, int(number)

    def leave(self, stream: Stream) -> None:
        """The reader of an endless stream has disconnected: further messages go to another one."""
        with self._lock:
            if stream in self._listening and len(self._listening) > 1:
                self._listening.remove(stream)

    def end(self) -> None:
        """Ends all streams."""
        with self._lock:
            streams = list(self._streams.values())
        for stream in streams:
            stream.end()

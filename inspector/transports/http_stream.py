"""Passes one event stream to the sink: messages in batches, all other events unchanged."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

from inspector.errors import LimitReached
from inspector.journal.format import dumps
from inspector.text import size
from inspector.transports.base import Sink
from inspector.transports.sse_stream import SseEvent, SseParser

ENDPOINT = "endpoint"
"""The event type with the URL for messages: its data is a URI."""
DEFAULT_RETRY = 1000
"""Milliseconds before a reconnect if the server names none."""
MIN_RETRY = 100
MAX_RETRY = 60_000
"""Limits of the server's value, in milliseconds."""

MAX_ID = 4096
BEGINNING = 1 << 20
"""Bytes recorded of a message that was too long."""

_UNSENDABLE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


class Pauses(NamedTuple):
    """How the pause before a reconnect grows with each attempt in a row that brings nothing new."""

    growth: float
    longest: float
    """Seconds; the server's own `retry` may be longer."""


RESUMING = Pauses(growth=1.5, longest=60.0)
"""Before the stream of a request is resumed: the user waits for its answer."""
STANDING = Pauses(growth=2.0, longest=30.0)
"""Before the standing stream is opened again."""


def too_large(where: str, limit: int) -> LimitReached:
    """Return the error for an answer above the user's limit."""
    return LimitReached(
        f"The answer from {where} is larger than {size(limit)}.",
        hint="If the size is intended, raise max_body_bytes in the settings; the recording has its beginning.",
    )


class EventStream:
    """Events of one channel. Id and retry survive a reconnect.

    `watch` gets each batch before the sink; `unread` gets it again if the sink could not parse all of it; `heed` gets
    each event without a message before the sink.
    """

    def __init__(
        self,
        sink: Sink,
        channel: str,
        where: str,
        limit: int,
        watch: Callable[[Sequence[bytes]], None] | None = None,
        unread: Callable[[Sequence[bytes]], None] | None = None,
        heed: Callable[[SseEvent], None] | None = None,
    ) -> None:
        self._sink = sink
        self._channel = channel
        self._where = where
        self._limit = limit
        self._watch = watch
        self._unread = unread
        self._heed = heed
        self._parser = SseParser()
        self._previous_id = ""
        self.events = 0
        """Events so far, without comments."""
        self.news = 0
        """Messages and new ids so far: they show that a reconnect was useful."""

    @property
    def resume_id(self) -> str:
        """The value of `Last-Event-ID`; empty if no event had an id, or one that a header cannot carry.

        Its bytes are the received ones, one character each, like all headers here.
        """
        id = self._parser.last_id.encode("utf-8", "surrogateescape").decode("latin-1").strip()
        return "" if len(id) > MAX_ID or _UNSENDABLE.search(id) else id

    @property
    def retry(self) -> int:
        """Milliseconds to wait before reconnecting (C-HTTP-16), within limits."""
        asked = self._parser.retry
        return DEFAULT_RETRY if asked is None else min(max(asked, MIN_RETRY), MAX_RETRY)

    def pause(self, attempt: int, pauses: Pauses) -> float:
        """Seconds to wait before a reconnect; the first attempt is 0."""
        retry = self.retry / 1000
        return min(retry * pauses.growth**attempt, max(pauses.longest, retry))

    def feed(self, chunk: bytes) -> None:
        """Parse the data of one read. Messages reach the sink in one call while their ids do not differ."""
        batch: list[bytes] = []
        strays: list[bytes] = []
        about = ""
        limit = self._limit
        for event in self._parser.feed(chunk):
            data = event.data
            if event.line is not None:
                self._pass_on(batch, about)
                strays.append(event.line)
                continue
            if strays:
                self._stray(strays)
            if data is None or not _is_message(event, data):
                self._pass_on(batch, about)
                self._other(event)
                continue
            if len(data) > limit:
                self._pass_on(batch, about)
                self._give_up(data, limit)
            described = _describe(event)
            if described != about:
                self._pass_on(batch, about)
                about = described
            batch.append(data)
        self._pass_on(batch, about)
        if strays:
            self._stray(strays)
        if self._parser.held > limit:
            left = self._parser.end()
            self._give_up((left.data or left.line or b"") if left is not None else b"", limit)

    def _give_up(self, data: bytes, limit: int) -> NoReturn:
        """Record the beginning of an event that is too large."""
        self._sink.received(self._channel, [data[: min(limit, BEGINNING)]], cut=True)
        raise too_large(self._where, limit)

    def _pass_on(self, batch: list[bytes], about: str) -> None:
        if batch:
            messages = batch.copy()
            batch.clear()
            self.events += len(messages)
            self.news += len(messages)
            self._hand_on(messages, about)

    def _hand_on(self, messages: Sequence[bytes], about: str, *, cut: bool = False) -> None:
        if self._watch is not None:
            self._watch(messages)
        if not self._sink.received(self._channel, messages, about, cut=cut) and self._unread is not None:
            self._unread(messages)

    def _stray(self, lines: list[bytes]) -> None:
        """Record lines without effect (C-HTTP-05): those of one read are one record, so that a flood costs little."""
        self._sink.sse(self._channel, b"\n".join(lines).decode("utf-8", "replace"))
        lines.clear()

    def _other(self, event: SseEvent) -> None:
        """Handle an event without a message: priming, retry, an unknown event type."""
        self.events += 1
        if self._heed is not None:
            self._heed(event)
        fields: dict[str, Any] = {}
        if event.type:
            fields["event"] = event.type
        if event.id is not None:
            fields["id"] = _id_text(event.id)
            if event.id != self._previous_id:
                self.news += 1
                self._previous_id = event.id
        if event.retry is not None:
            fields["retry"] = event.retry
        self._sink.sse(self._channel, (event.data or b"").decode("utf-8", "replace"), **fields)

    def end(self) -> None:
        """End the stream and record what it left unfinished; the stream that resumes it starts with a new event."""
        left = self._parser.end()
        if left is None:
            return
        if left.line is not None:
            self._stray([left.line])
        elif left.data:
            self._hand_on([left.data], _describe(left), cut=True)
        else:
            self._other(left)


def _is_message(event: SseEvent, data: bytes) -> bool:
    """Whether it is a message: type `message`, or another type whose data is clearly JSON-RPC."""
    if not data or data.isspace():
        return False
    return event.type in ("", "message") or (event.type != ENDPOINT and b'"jsonrpc"' in data)


def _describe(event: SseEvent) -> str:
    """Return the other facts of an event for the recording: ready JSON members, or nothing."""
    if event.id is None and event.retry is None:
        return _TYPES[event.type] if event.type in _TYPES else _members({"event": event.type})
    fields: dict[str, Any] = {"event": event.type} if event.type else {}
    if event.id is not None:
        fields["id"] = _id_text(event.id)
    if event.retry is not None:
        fields["retry"] = event.retry
    return _members(fields)


def _id_text(id: str) -> str:
    """Return an id for the recording: bytes that are not UTF-8, which the header keeps, become U+FFFD."""
    return id if id.isascii() else id.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _members(fields: dict[str, Any]) -> str:
    return ',"sse":' + dumps(fields)


_TYPES = {"": "", "message": _members({"event": "message"})}

"""An incremental parser for server-sent events.

Source: WHATWG HTML, "Server-sent events", "Parsing an event stream" and "Interpreting an event stream".
Works on bytes, in linear time however the stream is cut into chunks, and never waits for the line feed after a CR.
"""

from __future__ import annotations

_BOM = b"\xef\xbb\xbf"
_MAX_RETRY_DIGITS = 15


class SseEvent:
    """One event, or one line without effect.

    `data` is None if the event had no data field; `type` is empty without an event field; `id` and `retry` are None if
    they were not set. `line` has a comment, an unknown field or a field with an invalid value.
    """

    __slots__ = ("data", "id", "line", "retry", "type")

    def __init__(
        self,
        data: bytes | None,
        type: str = "",
        id: str | None = None,
        retry: int | None = None,
        line: bytes | None = None,
    ) -> None:
        self.data = data
        self.type = type
        self.id = id
        self.retry = retry
        self.line = line

    def __repr__(self) -> str:
        return f"SseEvent({self.data!r}, {self.type!r}, {self.id!r}, {self.retry!r}, {self.line!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SseEvent) and repr(self) == repr(other)

    __hash__ = None  # type: ignore[assignment]


class SseParser:
    """Parses chunks and returns the events that they complete."""

    def __init__(self) -> None:
        self.last_id = ""
        """The id to resume after; empty if there was none."""
        self.retry: int | None = None
        """Milliseconds to wait before reconnecting, from the server's last value."""
        self._skipped = _BOM
        """Dropped if the next chunk begins with it: after a CR, the line feed is not another line end."""
        self._rest = bytearray()
        """The beginning of a line."""
        self._event: SseEvent | None = None
        """The event whose fields are being read, without its data."""
        self._data: bytes | bytearray | None = None
        """Its data so far. The lines are one buffer, because as objects short ones take ten times their size."""

    @property
    def held(self) -> int:
        """Bytes kept of an incomplete event."""
        return len(self._data or b"") + len(self._rest)

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Parse the data of one read."""
        rest = self._rest
        if self._skipped and chunk:
            chunk = bytes(rest) + chunk
            rest.clear()
            if chunk != self._skipped and self._skipped.startswith(chunk):
                rest += chunk
                return []
            chunk = chunk.removeprefix(self._skipped)
            self._skipped = b""
        if b"\n" not in chunk and b"\r" not in chunk:
            rest += chunk
            return []
        lines = chunk.splitlines()
        if rest:
            rest += lines[0]
            lines[0] = bytes(rest)
            rest.clear()
        last = chunk[-1]
        if last == 13:
            self._skipped = b"\n"
        elif last != 10:
            rest += lines.pop()
        return self._read(lines)

    def _read(self, lines: list[bytes]) -> list[SseEvent]:
        events: list[SseEvent] = []
        for line in lines:
            if line[:6] == b"data: ":
                self._add_data(line[6:])
            elif line:
                self._read_field(line, events)
            elif self._is_open():
                event = self._take_event()
                if event.id is not None:
                    self.last_id = event.id
                if event.retry is not None:
                    self.retry = event.retry
                events.append(event)
        return events

    def _read_field(self, line: bytes, events: list[SseEvent]) -> None:
        name, _, value = line.partition(b":")
        if value[:1] == b" ":
            value = value[1:]
        if name == b"data":
            self._add_data(value)
            return
        event = self._event or SseEvent(None)
        if name == b"event":
            event.type = value.decode("utf-8", "replace")
        elif name == b"id" and b"\0" not in value:
            event.id = value.decode("utf-8", "surrogateescape")
        elif name == b"retry" and value.isdigit() and len(value) <= _MAX_RETRY_DIGITS:
            event.retry = int(value)
        else:
            events.append(SseEvent(None, line=line))
            return
        self._event = event

    def _is_open(self) -> bool:
        return self._data is not None or self._event is not None

    def _add_data(self, value: bytes) -> None:
        if self._data is None:
            self._data = value
            return
        if isinstance(self._data, bytes):
            self._data = bytearray(self._data)
        self._data += b"\n"
        self._data += value

    def _take_event(self) -> SseEvent:
        event, self._event = self._event or SseEvent(None), None
        if self._data is not None:
            event.data, self._data = bytes(self._data), None
        return event

    def end(self) -> SseEvent | None:
        """End the stream: return what it left unfinished, if anything, and prepare for another stream.

        Id and retry of an unfinished event do not count: it has not been received (WHATWG, "Interpreting …").
        """
        others = self._read([bytes(self._rest)]) if self._rest else []
        left = self._take_event() if self._is_open() else others[0] if others else None
        self._rest.clear()
        self._skipped = _BOM
        return left

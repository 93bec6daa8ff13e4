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
        self.held = 0
        """Bytes kept of an incomplete event."""
        self._begun = False
        self._bom = b""
        self._after_cr = False
        self._partial = bytearray()
        self._data: list[bytes] = []
        self._type = ""
        self._id: str | None = None
        self._retry: int | None = None
        self._open = False

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Parse the data of one read."""
        if not self._begun:
            chunk = self._skip_bom(chunk)
        if self._after_cr and chunk:
            self._after_cr = False
            if chunk[0] == 10:
                chunk = chunk[1:]
        if not chunk:
            return []
        if b"\n" not in chunk and b"\r" not in chunk:
            self._partial += chunk
            self.held += len(chunk)
            return []
        lines = chunk.splitlines()
        if self._partial:
            self.held -= len(self._partial)
            self._partial += lines[0]
            lines[0] = bytes(self._partial)
            self._partial = bytearray()
        last = chunk[-1]
        if last == 13:
            self._after_cr = True
        elif last != 10:
            self._partial += lines.pop()
            self.held += len(self._partial)
        return self._take(lines)

    def _skip_bom(self, chunk: bytes) -> bytes:
        chunk = self._bom + chunk
        if len(chunk) < 3 and _BOM.startswith(chunk):
            self._bom = chunk
            return b""
        self._begun = True
        self._bom = b""
        return chunk[3:] if chunk.startswith(_BOM) else chunk

    def _take(self, lines: list[bytes]) -> list[SseEvent]:
        events: list[SseEvent] = []
        data = self._data
        for line in lines:
            if line[:6] == b"data: ":
                data.append(line[6:])
                self.held += len(line)
                self._open = True
            elif not line:
                if self._open:
                    events.append(self._complete())
                    data = self._data
            else:
                self._field(line, events)
        return events

    def _field(self, line: bytes, events: list[SseEvent]) -> None:
        name, _, value = line.partition(b":")
        if value[:1] == b" ":
            value = value[1:]
        if name == b"event":
            self._type = value.decode("utf-8", "replace")
        elif name == b"data":
            self._data.append(value)
            self.held += len(line)
        elif name == b"id" and b"\0" not in value:
            self._id = value.decode("utf-8", "surrogateescape")
        elif name == b"retry" and value.isdigit() and len(value) <= _MAX_RETRY_DIGITS:
            self._retry = int(value)
        else:
            events.append(SseEvent(None, line=line))
            return
        self._open = True

    def _complete(self) -> SseEvent:
        event = self._event()
        if event.id is not None:
            self.last_id = event.id
        if event.retry is not None:
            self.retry = event.retry
        self._forget()
        return event

    def _event(self) -> SseEvent:
        lines = self._data
        data = None if not lines else lines[0] if len(lines) == 1 else b"\n".join(lines)
        return SseEvent(data, self._type, self._id, self._retry)

    def _forget(self) -> None:
        self._data = []
        self._type = ""
        self._id = self._retry = None
        self._open = False
        self.held = len(self._partial)

    def end(self) -> SseEvent | None:
        """End the stream: return what it left unfinished, if anything, and prepare for another stream.

        Id and retry of an unfinished event do not count: it has not been received (WHATWG, "Interpreting …").
        """
        rest = bytes(self._partial) or self._bom
        self._partial = bytearray()
        strays = self._take([rest]) if rest else []
        left = self._event() if self._open else strays[0] if strays else None
        self._forget()
        self._begun = self._after_cr = False
        self._bom = b""
        return left

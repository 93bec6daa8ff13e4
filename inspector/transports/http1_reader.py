"""Reads one HTTP/1.1 response from the bytes of its connection, without I/O. Source: RFC 9112.

It is lenient where servers are known to be (line ends without CR, folded header lines, a missing reason) and strict
where two readers could disagree about where a response ends (RFC 9112 section 11.2).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NoReturn

from inspector.transports.network import BadFraming, NotHttp

MAX_HEAD = 100 << 10
"""Bytes of a response's head, and of the trailers behind a chunked body."""
MAX_CHUNK_LINE = 16 << 10
"""Bytes of the line before a chunk: its size and its extensions, which are ignored."""
MAX_INTERIM = 32
"""Interim responses (1xx) before the real one."""
MAX_QUOTED = 200
"""Bytes of a wrong line that the error has."""

_HEAD_END = re.compile(rb"\n\r?\n")
_STATUS = re.compile(r"HTTP/([0-9]\.[0-9]) ([0-9]{3})(?: ([^\x00\n\r\x0b\x0c]*))?")
_TOKEN = r"[-!#$%&'*+.^_`|~0-9a-zA-Z]+"
_VALUE = r"[^\x00\n\r\x0b\x0c]*"
_FIELD = re.compile(f"{_TOKEN}:{_VALUE}")
_FIELDS = re.compile(f"(?:{_TOKEN}:{_VALUE}\r?\n)*")
_LENGTH = re.compile(r"[0-9]{1,20}")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,20})[ \t]*(?:;[^\r\n]*)?\r\n")
_CHUNK_BEGINS = re.compile(rb"[0-9A-Fa-f]{0,20}\Z|[0-9A-Fa-f]{1,20}[ \t]*(?:\r?\Z|;[^\r\n]*\r?\Z)")
_START = b"HTTP/"

_FRAMING = frozenset(("content-length", "transfer-encoding", "connection"))

ResponseHead = tuple[int, str, str, list[tuple[str, str]]]
"""Status, reason, version and headers."""


class ResponseReader:
    """One response: `feed` it with what the connection receives, and tell it of the `end`."""

    def __init__(self, method: str) -> None:
        """`method`: that of the request, because the response to HEAD has no body."""
        self._bodiless = method == "HEAD"
        self.head: ResponseHead | None = None
        """The head, when all of it is there."""
        self.pieces: list[bytes] = []
        """Decoded parts of the body. The caller takes them out."""
        self.persistent = False
        """The connection can carry another request when this response is complete."""
        self._held = bytearray()
        """The beginning of a head or a line."""
        self._step: Callable[[ResponseReader, bytes], None] = ResponseReader._read_head
        """Takes what is received next. A bound method would make a cycle, and so garbage of each response."""
        self._interim = 0
        self._length = 0
        """Bytes of the body, by its Content-Length."""
        self._left = 0
        """Bytes of the body, or of its present chunk and the line end behind it, that are still to come."""

    @property
    def complete(self) -> bool:
        """Whether the response has been read to its end."""
        return self._step is ResponseReader._drop

    @property
    def received(self) -> bool:
        """Whether the server has sent at least one byte."""
        return bool(self.head or self._held or self._interim)

    def feed(self, data: bytes) -> None:
        """Take received bytes. Raises `NotHttp`; after that it cannot be used."""
        self._step(self, data)

    def end(self) -> None:
        """Handle that the server closes the connection. Raises `NotHttp` if the response is incomplete."""
        if self.complete:
            return
        if self.head is None:
            raise NotHttp("the connection was closed within its header")
        if self._step is ResponseReader._read_to_close:
            self._step = ResponseReader._drop
            return
        clause = "the connection was closed"
        if self._step is ResponseReader._read_length:
            clause += f" after {self._length - self._left:,} of {self._length:,} bytes"
        raise NotHttp(clause)

    def _read_head(self, data: bytes) -> None:
        held = self._held
        start = max(0, len(held) - 3)
        if held:
            held += data
            data = held  # type: ignore[assignment]
        if not data.startswith(_START, 0, 5) and data[:5] != _START[: len(data)]:
            self._refuse_start(bytes(data))
        end = _HEAD_END.search(data, start)
        if end is None:
            if len(data) > MAX_HEAD:
                raise NotHttp("its header is too long")
            if not held:
                held += data
            return
        at = end.end()
        if at > MAX_HEAD:
            raise NotHttp("its header is too long")
        text = bytes(data[: end.start() + 1]).decode("latin-1")
        rest = bytes(data[at:])
        held.clear()
        self._take_head(text)
        if rest:
            self._step(self, rest)

    def _refuse_start(self, data: bytes) -> NoReturn:
        if data[:1] in (b"\r", b"\n"):
            raise NotHttp("the first line is missing")
        line = data.partition(b"\n")[0].rstrip(b"\r")[:MAX_QUOTED]
        raise NotHttp("its first line is not an HTTP status line", line, binary=data[0] < 0x21)

    def _take_head(self, text: str) -> None:
        line, _, rest = text.partition("\n")
        line = line.removesuffix("\r")
        status_line = _STATUS.fullmatch(line)
        if status_line is None:
            raise NotHttp("its first line is not an HTTP status line", line[:MAX_QUOTED].encode("latin-1"))
        version, code, reason = status_line.groups()
        headers = parsed_fields(rest)
        status = int(code)
        if status < 200:
            self._take_interim(status)
            return
        self.head = status, reason or "", f"HTTP/{version}", headers
        self._frame(status, version, headers)

    def _take_interim(self, status: int) -> None:
        if status == 101:
            raise NotHttp("it switches to a protocol that was not requested")
        if status < 100:
            raise NotHttp("its status code is out of range")
        self._interim += 1
        if self._interim > MAX_INTERIM:
            raise NotHttp(f"it begins with more than {MAX_INTERIM} interim responses (1xx)")

    def _frame(self, status: int, version: str, headers: list[tuple[str, str]]) -> None:
        """Decide where the body ends (RFC 9112 section 6.3)."""
        length: str | None = None
        chunked = closing = False
        for name, value in headers:
            name = name.lower()
            if name not in _FRAMING:
                continue
            if name == "connection":
                closing = closing or "close" in (word.strip().lower() for word in value.split(","))
            elif name == "content-length":
                length = _content_length(value, length)
            elif chunked:
                raise BadFraming("it has several Transfer-Encoding headers")
            elif value.lower() != "chunked":
                raise BadFraming("its Transfer-Encoding is not “chunked”", value[:MAX_QUOTED].encode("latin-1"))
            else:
                chunked = True
        # With both, the length may be another response's for a proxy before us: nothing is read behind this one.
        self.persistent = not closing and version >= "1.1" and not (chunked and length is not None)
        if self._bodiless or status in (204, 304):
            if status == 204 and (chunked or (length or "").strip("0")):
                # It announces a body that it must not have: what comes next may be that body, and no response.
                self.persistent = False
            self._step = ResponseReader._drop
        elif chunked:
            self._step = ResponseReader._read_chunks
        elif length is not None:
            self._length = self._left = int(length)
            self._step = ResponseReader._read_length if self._left else ResponseReader._drop
        else:
            self.persistent = False
            self._step = ResponseReader._read_to_close

    def _drop(self, data: bytes) -> None:
        """Drop bytes behind the response: nothing was requested whose answer they could be."""
        self.persistent = False

    def _read_to_close(self, data: bytes) -> None:
        self.pieces.append(data)

    def _read_length(self, data: bytes) -> None:
        size = len(data)
        if size < self._left:
            self._left -= size
            self.pieces.append(data)
            return
        if size > self._left:
            data = data[: self._left]
            self.persistent = False
        self._left = 0
        self.pieces.append(data)
        self._step = ResponseReader._drop

    def _read_chunks(self, data: bytes) -> None:
        if self._held:
            data = bytes(self._held) + data
            self._held.clear()
        at, size, pieces = 0, len(data), self.pieces
        while at < size:
            if self._left > 2:
                end = at + self._left - 2
                if end > size:
                    self._left -= size - at
                    pieces.append(data[at:])
                    return
                pieces.append(data[at:end])
                at, self._left = end, 2
            if self._left:
                footer = data[at : at + 2]
                if footer != b"\r\n"[: len(footer)]:
                    raise NotHttp("a chunk of the body is longer than its size", data[at : at + 20])
                if len(footer) < 2:
                    self._held += footer
                    return
                at += 2
                self._left = 0
            line = _CHUNK.match(data, at)
            if line is None:
                if at < size:
                    self._hold_chunk_line(data[at:])
                return
            if line.end() - at > MAX_CHUNK_LINE:
                raise NotHttp("the line before a chunk of the body is too long")
            at = line.end()
            length = int(line[1], 16)
            if length:
                self._left = length + 2
            else:
                self._step = ResponseReader._read_trailers
                if at < size:
                    self._read_trailers(data[at:])
                return

    def _hold_chunk_line(self, start: bytes) -> None:
        """Keep the beginning of a line until the rest has come."""
        if b"\n" in start[:MAX_CHUNK_LINE] or _CHUNK_BEGINS.match(start) is None:
            raise NotHttp("a chunk of the body is not valid", start.partition(b"\n")[0].rstrip(b"\r")[:MAX_QUOTED])
        if len(start) > MAX_CHUNK_LINE:
            raise NotHttp("the line before a chunk of the body is too long")
        self._held += start

    def _read_trailers(self, data: bytes) -> None:
        held = self._held
        start = max(0, len(held) - 3)
        held += data
        if held.startswith((b"\r\n", b"\n")):
            end = 2 if held[0] == 13 else 1
        else:
            match = _HEAD_END.search(held, start)
            if (match.end() if match is not None else len(held)) > MAX_HEAD:
                raise NotHttp("the trailers of its body are too long")
            if match is None:
                return
            end = match.end()
            parsed_fields(bytes(held[: match.start() + 1]).decode("latin-1"))
        if len(held) > end:
            self.persistent = False
        held.clear()
        self._step = ResponseReader._drop


def parsed_fields(text: str) -> list[tuple[str, str]]:
    """Return the header lines of `text`, each with its line end. Raises `NotHttp` for one that is not valid."""
    if _FIELDS.fullmatch(text) is None:
        text = _unfolded(text)
    fields = []
    for line in text.split("\n")[:-1]:
        name, _, value = line.partition(":")
        fields.append((name, value.strip("\r\t ")))
    return fields


def _unfolded(text: str) -> str:
    """Join continuation lines with their first (RFC 9112 section 5.2), and check each."""
    lines: list[list[str]] = []
    for line in text.split("\n")[:-1]:
        line = line.removesuffix("\r")
        if line[:1] in (" ", "\t"):
            if not lines:
                raise NotHttp("its header begins with a continuation line")
            lines[-1].append(line.strip(" \t"))
        else:
            lines.append([line])
    joined = [" ".join(parts) for parts in lines]
    for line in joined:
        if _FIELD.fullmatch(line) is None:
            raise NotHttp("a line of its header is not valid", line[:MAX_QUOTED].encode("latin-1"))
    return "".join(line + "\n" for line in joined)


def _content_length(value: str, before: str | None) -> str:
    lengths = {length.strip(" \t") for length in value.split(",")}
    if before is not None:
        lengths.add(before)
    if len(lengths) != 1:
        raise BadFraming("it has two different Content-Length headers")
    length = lengths.pop()
    if _LENGTH.fullmatch(length) is None:
        raise BadFraming("its Content-Length is not a number", length[:MAX_QUOTED].encode("latin-1"))
    return length

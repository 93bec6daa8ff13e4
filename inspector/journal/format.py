"""The recording format `*.mcp.jsonl`, version 1: JSON Lines, one event a line. See docs/reference/recording-format.md.

An event line is written by hand-made concatenation and not by a JSON encoder: the envelope's values are ours, only
`raw` needs escaping, and this is the hot path.
"""

from __future__ import annotations

import base64
import json
from enum import IntEnum
from typing import Any, Literal

from inspector.protocol.jsonrpc import NotJson, Shape, parse, shape_of
from inspector.text import decode_log

FORMAT = "mcp-recording"
VERSION = 1

escape = json.encoder.encode_basestring
"""Return a Python string as a JSON string with its quotes; non-ASCII text stays readable."""

dumps = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str).encode


class Dir(IntEnum):
    """The direction of an event: to the server, from it, or neither."""

    LOCAL = 0
    SEND = 1
    RECV = 2


class Kind(IntEnum):
    """The kind of an event. `OTHER` is a kind of a newer version that we do not know."""

    RPC = 0
    INVALID = 1
    STDERR = 2
    HTTP = 3
    SSE = 4
    LIFE = 5
    AUTH = 6
    NOTE = 7
    OTHER = 8
    MARK = 9


DIRS = {"local": Dir.LOCAL, "send": Dir.SEND, "recv": Dir.RECV}
KINDS = {
    "rpc": Kind.RPC,
    "invalid": Kind.INVALID,
    "stderr": Kind.STDERR,
    "http": Kind.HTTP,
    "sse": Kind.SSE,
    "life": Kind.LIFE,
    "auth": Kind.AUTH,
    "note": Kind.NOTE,
    "mark": Kind.MARK,
}
_LOCAL = Dir.LOCAL
DIR_NAMES: tuple[Literal["local", "send", "recv"], ...] = ("local", "send", "recv")
KIND_NAMES = ("rpc", "invalid", "stderr", "http", "sse", "life", "auth", "note", "other", "mark")
_LARGE = 1 << 14
"""Bytes from which it is faster to search for the few characters that need an escape than to check each."""
_OUTLINED = 256
"""Characters of an id or a method, and messages of a batch, in the outline of a message."""
_ENVELOPE = frozenset(("n", "t", "dir", "kind", "ch", "raw", "b64"))
# A lookup of an enum member costs as much as the rest of what is done for an event.
_RPC, _OTHER, _NONE = Kind.RPC, Kind.OTHER, Shape.NONE


class Event:
    """One event of the file. `n` from 1, `t` in microseconds since the recording began."""

    __slots__ = ("_message", "_parsed", "ch", "data", "dir", "fields", "kind", "kind_name", "n", "raw", "t")

    def __init__(
        self,
        n: int,
        t: int,
        dir: Dir,
        kind: Kind,
        ch: str,
        raw: str | None,
        data: bytes | None,
        fields: dict[str, Any],
        kind_name: str = "",
    ) -> None:
        self.n = n
        self.t = t
        self.dir = dir
        self.kind = kind
        self.kind_name = kind_name or KIND_NAMES[kind]
        self.ch = ch
        self.raw = raw
        """The exact text of the message; None if there is none or if it was not UTF-8 (see `data`)."""
        self.data = data
        """The exact bytes if they were not UTF-8."""
        self.fields = fields
        """The other members of the line (status, headers, exit code, why …)."""
        self._parsed = False
        self._message: Any = None

    @property
    def text(self) -> str:
        """The message as text; bytes that are not UTF-8 show as U+FFFD, on stderr by the code page."""
        if self.raw is not None:
            return self.raw
        if self.data is None:
            return ""
        return decode_log(self.data) if self.kind == Kind.STDERR else self.data.decode("utf-8", "replace")

    @property
    def dropped(self) -> int | None:
        """Bytes of a message whose body was not recorded, because the recording was full; None for a recorded one."""
        about = self.fields.get("dropped") if self.raw is None and self.data is None else None
        size = about.get("bytes") if type(about) is dict else None
        return size if type(size) is int and size >= 0 else None

    @property
    def bytes(self) -> bytes:
        """The exact bytes on the wire."""
        if self.data is not None:
            return self.data
        return (self.raw or "").encode("utf-8", "surrogatepass")

    @property
    def message(self) -> Any:
        """The parsed message of an `rpc` event, else None. Of one without a recorded body: its outline."""
        if not self._parsed:
            self._parsed = True
            if self.dropped is not None:
                short = self.fields["dropped"].get("message")
                self._message = short if type(short) in (dict, list) else None
            elif self.kind == _RPC:
                try:
                    self._message = parse(self.bytes)
                except NotJson:
                    self._message = None
        return self._message

    @property
    def shape(self) -> Shape:
        """The shape of the message in JSON-RPC's terms."""
        return shape_of(self.message) if self.kind == _RPC else _NONE


def header_line(header: dict[str, Any]) -> bytes:
    """Return the first line of a recording, with its line feed."""
    return dumps({"format": FORMAT, "version": VERSION, **header}).encode("utf-8", "replace") + b"\n"


def event_line(n: int, t: int, dir: str, kind: str, ch: str, payload: str | None, b64: bool, extra: str = "") -> str:
    """Return one event line, with its line feed. `extra` is ready JSON that starts with a comma, or empty."""
    head = f'{{"n":{n},"t":{t},"dir":"{dir}","kind":"{kind}","ch":{escape(ch)}'
    if payload is None:
        return f"{head}{extra}}}\n"
    if b64:
        return f'{head}{extra},"b64":"{payload}"}}\n'
    return f'{head}{extra},"raw":{escape(payload)}}}\n'


def parsed_line(head: str, raw: bytes) -> bytes:
    """Return the line of a message that was parsed as JSON.

    `head` is all of the line up to the value of `raw`. Raises UnicodeDecodeError if the message is not UTF-8.
    """
    if len(raw) < _LARGE:
        return f"{head}{escape(raw.decode('utf-8'))}}}\n".encode()
    if not raw.isascii():
        raw.decode("utf-8")
    return b'%b"%b"}\n' % (head.encode(), escape_parsed(raw))


def escape_parsed(raw: bytes) -> bytes:
    """Like `escape`, without the quotes, for UTF-8 that was parsed as JSON; three times as fast for long texts.

    Outside of its strings JSON allows four characters of white space, inside of them no control character at all: the
    other characters that `escape` handles cannot occur.
    """
    raw = raw.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    return raw.replace(b"\n", b"\\n").replace(b"\r", b"\\r").replace(b"\t", b"\\t")


def outline(message: Any) -> Any:
    """Return the members of a message that pairing needs, each of bounded length, for a full recording."""
    if type(message) is list:
        return [outline(item) for item in message[:_OUTLINED] if type(item) is dict]
    if type(message) is not dict:
        return None
    kept = {name: _short(message[name]) for name in ("jsonrpc", "id", "method") if name in message}
    params, result, error = message.get("params"), message.get("result"), message.get("error")
    if type(params) is dict:
        about = {name: _short(params[name]) for name in ("progressToken", "requestId") if name in params}
        meta = params.get("_meta")
        if type(meta) is dict and "progressToken" in meta:
            about["_meta"] = {"progressToken": _short(meta["progressToken"])}
        kept |= {"params": about} if about else {}
    if "result" in message:
        kept["result"] = {"isError": True} if type(result) is dict and result.get("isError") is True else {}
    if "error" in message:
        kept["error"] = {"code": _short(error.get("code"))} if type(error) is dict else {}
    return kept


def read_outline(text: str) -> Any:
    """Parse a long message: only the members that pairing needs, without the memory for the others.

    Raises ValueError or RecursionError for text that the standard library does not parse.
    """
    return _OUTLINES.decode(text)


_TOP = ("jsonrpc", "id", "method")
_INSIDE = ("params", "result", "error", "isError", "progressToken", "requestId", "_meta", "cursor", "code")
_SMALL: dict[str, Any] = {}


def _outlined(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of a message with what pairing may need. `id` of a row of data is none of it."""
    members = dict(pairs)
    kept = {name: members[name] for name in _INSIDE if name in members}
    if kept or "method" in members or "jsonrpc" in members:
        kept.update((name, members[name]) for name in _TOP if name in members)
    return kept or _SMALL


_OUTLINES = json.JSONDecoder(object_pairs_hook=_outlined, parse_float=lambda _: 0.0)


def _short(value: Any) -> Any:
    """Return a scalar up to a length; null for anything else."""
    if type(value) is str:
        return value[:_OUTLINED]
    if type(value) is int and value.bit_length() > 64:
        return None
    return value if type(value) in (int, bool, float) else None


def extra_json(fields: dict[str, Any]) -> str:
    """Format fields as the `extra` of `event_line`. Keys of the envelope are never overwritten."""
    kept = {key: value for key, value in fields.items() if key not in _ENVELOPE}
    return "," + dumps(kept)[1:-1] if kept else ""


def to_base64(data: bytes) -> str:
    """Encode bytes for the member `b64`."""
    return base64.b64encode(data).decode("ascii")


def read_envelope(line: dict[str, Any]) -> tuple[int, Dir, str]:
    """Return time, direction and channel of a parsed line, for any values."""
    t, way, ch = line.get("t"), line.get("dir"), line.get("ch")
    return (
        t if type(t) is int and 0 <= t < 1 << 62 else 0,
        DIRS.get(way, _LOCAL) if type(way) is str else _LOCAL,
        ch if type(ch) is str else "",
    )


def read_event(line: dict[str, Any], fallback_n: int) -> Event:
    """Return an event from its parsed line. Tolerates unknown keys and kinds, and wrong types in the envelope."""
    n, raw, b64, kind = line.get("n"), line.get("raw"), line.get("b64"), line.get("kind")
    t, dir, ch = read_envelope(line)
    data: bytes | None = None
    if type(b64) is str:
        try:
            data = base64.b64decode(b64, validate=True)
        except ValueError:
            data = b64.encode()
    return Event(
        n if type(n) is int else fallback_n,
        t,
        dir,
        KINDS.get(kind, _OTHER) if type(kind) is str else _OTHER,
        ch,
        raw if type(raw) is str else None,
        data,
        {key: value for key, value in line.items() if key not in _ENVELOPE},
        kind if type(kind) is str else "other",
    )

"""JSON-RPC 2.0 messages: lenient parsing, classification, ids, exact encoding.

Sources: JSON-RPC 2.0 sections 4 to 6; MCP "Base protocol", "Messages" (C-BASE-01, C-BASE-02, C-BASE-07).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from enum import IntEnum
from typing import Any

from inspector.lazy_pattern import lazy_pattern

VERSION = "2.0"

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002
URL_ELICITATION_REQUIRED = -32042
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022
USER_REJECTED = -1

# The standard library's JSON is loaded anyway. pydantic_core is three to five times faster, but takes 50 ms to import:
# the time that the standard library needs in addition for about so many bytes, where a message counts as so many more.
_WARM_AFTER = 2_000_000
_WEIGHT = 128

MAX_VALUES = _WARM_AFTER
"""Values of a message above which it is not parsed: each takes up to 100 times the memory of its text. Each has at
least one byte, so no message that the standard library parses has so many."""
_SPARSE = 1_000
"""Finds of a byte before the others are counted."""

_STRING_OR_REST = lazy_pattern(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[^"]++', re.DOTALL)


class Shape(IntEnum):
    """The JSON-RPC shape of a parsed value."""

    NONE = 0
    REQUEST = 1
    NOTIFICATION = 2
    RESULT = 3
    ERROR = 4
    BATCH = 5


class NotJson(ValueError):
    """The bytes cannot be read as JSON; the text has the reason and the position."""


class Codec:
    """Parses and writes JSON: with the standard library at first, with `pydantic_core` after enough data."""

    def __init__(self) -> None:
        self.parsed = 0
        self._fast_parse: Callable[[bytes], Any] | None = None
        self._fast_encode: Callable[[Any], bytes] | None = None

    @property
    def warm(self) -> bool:
        """Whether the fast library is loaded."""
        return self._fast_parse is not None

    def warm_up(self) -> None:
        """Load the fast library now."""
        from pydantic_core import from_json, to_json

        self._fast_encode = to_json
        self._fast_parse = from_json

    def parse(self, raw: bytes) -> Any:
        """Parse `raw` as leniently as possible.

        Integers of any size are exact; `NaN`, `1E400` and lone surrogate escapes are accepted; a byte order mark is
        skipped; bytes that are not UTF-8 become U+FFFD *in the value only* (the recording keeps the bytes). Of
        duplicate keys the last wins; values that are nested too deeply for any parser are removed (`exact_json.depth`).
        Raises `NotJson` with the reason, also for more than `MAX_VALUES` values.
        """
        if self._fast_parse is None:
            self.parsed += len(raw) + _WEIGHT
            if self.parsed < _WARM_AFTER:
                return _lenient(raw)
            self.warm_up()
            return self.parse(raw)
        if len(raw) > MAX_VALUES and has_too_many_values(raw):
            raise NotJson(f"it holds more than {MAX_VALUES:,} values")
        try:
            return self._fast_parse(raw)
        except ValueError:
            return _lenient(raw)

    def encode(self, message: Any) -> bytes:
        """Encode a message as one line of UTF-8 JSON without its line feed (C-STDIO-02).

        Text that UTF-8 cannot encode (a lone surrogate from a server) is written as an escape.
        """
        if self._fast_encode is not None:
            try:
                return self._fast_encode(message)
            except ValueError:
                pass  # a lone surrogate, or nested too deeply
        try:
            return _encode_plain(message).encode("utf-8")
        except UnicodeEncodeError:
            return _encode_ascii(message).encode("ascii")


_codec = Codec()
parse = _codec.parse
encode = _codec.encode
warm_up = _codec.warm_up


_decode = json.JSONDecoder().decode
_encode_plain = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_encode_ascii = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode


def has_too_many_values(json_text: bytes | str) -> bool:
    """Whether a JSON text has more than `MAX_VALUES` values, by its commas and brackets."""
    if len(json_text) <= MAX_VALUES:
        return False
    raw = json_text if isinstance(json_text, bytes) else json_text.encode("utf-8", "surrogatepass")
    if _marks(raw, 0, len(raw)) <= MAX_VALUES:
        return False
    marks = strings = 0
    for piece in _STRING_OR_REST.finditer(raw):  # A table or a document in one string is one value.
        at = piece.start()
        if raw[at] == 34:
            strings += 1
        else:
            marks += _marks(raw, at, piece.end())
        if marks > MAX_VALUES or strings > 2 * MAX_VALUES:
            return True
    return False


def _marks(raw: bytes, start: int, end: int) -> int:
    return sum(_count(raw, mark, start, end) for mark in (b",", b"[", b"{"))


def _count(raw: bytes, byte: bytes, start: int, end: int) -> int:
    """`bytes.count`, but through long stretches without the byte with `bytes.find`, which is seven times as fast."""
    for n in range(_SPARSE):
        start = raw.find(byte, start, end) + 1
        if not start:
            return n
    return _SPARSE + raw.count(byte, start, end)


def _lenient(raw: bytes) -> Any:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("utf-8", "replace")
    from inspector.protocol.exact_json.depth import is_too_deep

    if is_too_deep(text):
        return _too_deep(text)
    try:
        return _decode(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        from inspector.reasons import json_fault

        raise NotJson(json_fault(error)) from None
    except RecursionError:
        return _too_deep(text)
    except ValueError:
        # Python refuses decimal strings of more than 4,300 digits: the conversion is quadratic (CVE-2020-10735).
        raise NotJson("an integer of more than 4,300 digits") from None


def _too_deep(text: str) -> Any:
    from inspector.protocol.exact_json.depth import shallow

    try:
        return _decode(shallow(text.removeprefix("\ufeff"), _decode))
    except (ValueError, RecursionError):
        raise NotJson("nested too deeply to parse") from None


def compact_json(value: Any) -> str:
    """Return a parsed value as JSON without spaces, keys in their order, as hosts send schemas to a model."""
    try:
        return encode(value).decode()
    except RecursionError:
        return ""  # Deeper than any message that was read.


def excerpt(value: Any, limit: int) -> str:
    """Format a parsed value as JSON in at most `limit` characters, for a sentence: `1` and `"1"` differ."""
    if type(value) is str:
        value = value[: limit + 1]
    try:
        text = encode(value).decode()
    except RecursionError:
        return "a value nested too deeply to show"[:limit]
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


# Used for each message: a lookup of an enum member costs as much as all the rest.
_NONE, _REQUEST, _NOTIFICATION, _RESULT, _ERROR, _BATCH = Shape


def shape_of(value: Any) -> Shape:
    """Classify a parsed message. `NONE` means: JSON, but not a JSON-RPC message (C-BASE-01)."""
    if type(value) is not dict:
        return _BATCH if type(value) is list and value else _NONE
    if "method" in value:
        if type(value["method"]) is not str:
            return _NONE
        return _REQUEST if value.get("id") is not None else _NOTIFICATION
    if value.get("error") is not None:
        return _ERROR
    if "result" in value:
        return _RESULT
    return _ERROR if "error" in value else _NONE


def id_key(value: Any) -> int | str | float | None:
    """Return a request id as a dictionary key, or None if it is invalid. `1` and `"1"` differ; `1` and `1.0` do not."""
    return value if type(value) in (int, str, float) else None


def request(id: int | str, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a request object. `params` is omitted if None."""
    message: dict[str, Any] = {"jsonrpc": VERSION, "id": id, "method": method}
    if params is not None:
        message["params"] = params
    return message


def notification(method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a notification object."""
    message: dict[str, Any] = {"jsonrpc": VERSION, "method": method}
    if params is not None:
        message["params"] = params
    return message


def result(id: Any, value: Any) -> dict[str, Any]:
    """Return a response object with a result; the id is returned unchanged (C-BASE-06)."""
    return {"jsonrpc": VERSION, "id": id, "result": value}


def error(id: Any, code: int, message: str, data: Any = None) -> dict[str, Any]:
    """Return a response object with an error."""
    body: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        body["data"] = data
    return {"jsonrpc": VERSION, "id": id, "error": body}

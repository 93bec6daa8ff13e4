"""JSON-RPC 2.0 messages: lenient parsing, classification, ids, exact encoding.

Sources: JSON-RPC 2.0 sections 4 to 6; MCP "Base protocol", "Messages" (C-BASE-01, C-BASE-02, C-BASE-07).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from enum import IntEnum
from typing import Any

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
# what the standard library takes longer for about so many bytes, a message counting as so many more.
_WARM_AFTER = 2 << 20
_WEIGHT = 128


class Shape(IntEnum):
    """What a parsed value is, as JSON-RPC sees it."""

    NONE = 0
    REQUEST = 1
    NOTIFICATION = 2
    RESULT = 3
    ERROR = 4
    BATCH = 5


class NotJson(ValueError):
    """The bytes are not JSON at all; the text says why and where."""


class Codec:
    """Reads and writes JSON: with the standard library at first, with `pydantic_core` once there was enough of it."""

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
        """The JSON value in `raw`, read as leniently as can be.

        Integers of any size are exact; `NaN`, `1E400` and lone surrogate escapes are accepted; a byte order mark is
        skipped; bytes that are not UTF-8 become U+FFFD *in the value only* (the recording keeps the bytes).
        Of duplicate keys the last wins; what is nested too deeply for any parser is left out (see `jsondepth`). Raises
        `NotJson` with the reason.
        """
        if self._fast_parse is None:
            self.parsed += len(raw) + _WEIGHT
            if self.parsed < _WARM_AFTER:
                return _lenient(raw)
            self.warm_up()
            return self.parse(raw)
        try:
            return self._fast_parse(raw)
        except ValueError:
            return _lenient(raw)

    def encode(self, message: Any) -> bytes:
        """The message as one line of UTF-8 JSON without its line feed (C-STDIO-02).

        Text that UTF-8 cannot carry (a lone surrogate that a server sent us) goes out as the escape it came as.
        """
        if self._fast_encode is not None:
            try:
                return self._fast_encode(message)
            except ValueError:
                pass  # A lone surrogate, or nested deeper than it can.
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


def _lenient(raw: bytes) -> Any:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("utf-8", "replace")
    from inspector.protocol.jsondepth import is_too_deep

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
    from inspector.protocol.jsondepth import shallow

    try:
        return _decode(shallow(text.removeprefix("\ufeff"), _decode))
    except (ValueError, RecursionError):
        raise NotJson("nested too deeply to be read") from None


def excerpt(value: Any, limit: int) -> str:
    """A parsed value as JSON in at most `limit` characters, for a sentence: `1` and `"1"` are told apart."""
    if type(value) is str:
        value = value[: limit + 1]
    try:
        text = encode(value).decode()
    except RecursionError:
        return "something nested too deeply to be shown"[:limit]
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


# Done for each message, and looking a member up in an enum costs as much as all the rest of it.
_NONE, _REQUEST, _NOTIFICATION, _RESULT, _ERROR, _BATCH = Shape


def shape_of(value: Any) -> Shape:
    """Classify a parsed message. `NONE` means: JSON, but no JSON-RPC message (C-BASE-01)."""
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
    """A request id as a dictionary key, or None where it is no id. `1` and `"1"` differ; `1` and `1.0` do not."""
    return value if type(value) in (int, str, float) else None


def request(id: int | str, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    """A request object. `params` is left out when None."""
    message: dict[str, Any] = {"jsonrpc": VERSION, "id": id, "method": method}
    if params is not None:
        message["params"] = params
    return message


def notification(method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    """A notification object."""
    message: dict[str, Any] = {"jsonrpc": VERSION, "method": method}
    if params is not None:
        message["params"] = params
    return message


def result(id: Any, value: Any) -> dict[str, Any]:
    """A response object that carries a result; the id is given back as it came (C-BASE-06)."""
    return {"jsonrpc": VERSION, "id": id, "result": value}


def error(id: Any, code: int, message: str, data: Any = None) -> dict[str, Any]:
    """A response object that carries an error."""
    body: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        body["data"] = data
    return {"jsonrpc": VERSION, "id": id, "error": body}

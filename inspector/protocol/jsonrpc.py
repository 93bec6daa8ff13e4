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
USER_REJECTED = -1

# The standard library's parser is loaded anyway; pydantic_core parses five times faster but takes 50 ms to import:
# as long as the standard library takes for about so many bytes.
_WARM_AFTER = 2 << 20


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


class Parser:
    """Reads JSON: with the standard library's parser the first megabytes, with `pydantic_core` once there were more."""

    def __init__(self) -> None:
        self.parsed = 0
        self.fast: Callable[[bytes], Any] | None = None

    def warm(self) -> None:
        """Load the fast parser now."""
        from pydantic_core import from_json

        self.fast = from_json

    def parse(self, raw: bytes) -> Any:
        """The JSON value in `raw`, read as leniently as can be.

        Integers of any size are exact; `NaN`, `1E400` and lone surrogate escapes are accepted; a byte order mark is
        skipped; bytes that are not UTF-8 become U+FFFD *in the value only* (the recording keeps the bytes).
        Of duplicate keys the last wins. Raises `NotJson` with the reason.
        """
        if self.fast is None:
            self.parsed += len(raw)
            if self.parsed < _WARM_AFTER:
                return _lenient(raw)
            self.warm()
            return self.parse(raw)
        try:
            return self.fast(raw)
        except ValueError:
            return _lenient(raw)


_parser = Parser()
parse = _parser.parse
warm_up = _parser.warm


_decode = json.JSONDecoder().decode


def _lenient(raw: bytes) -> Any:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("utf-8", "replace")
    try:
        return _decode(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        raise NotJson(f"{error.msg.removesuffix(' at')} at character {error.pos + 1}") from None
    except RecursionError:
        raise NotJson("nested too deeply to be read") from None
    except ValueError:
        # Python refuses decimal strings of more than 4,300 digits: the conversion is quadratic (CVE-2020-10735).
        raise NotJson("an integer of more than 4,300 digits") from None


def shape_of(value: Any) -> Shape:
    """Classify a parsed message. `NONE` means: JSON, but no JSON-RPC message (C-BASE-01)."""
    if type(value) is not dict:
        return Shape.BATCH if type(value) is list and value else Shape.NONE
    if "method" in value:
        if type(value["method"]) is not str:
            return Shape.NONE
        return Shape.REQUEST if value.get("id") is not None else Shape.NOTIFICATION
    if value.get("error") is not None:
        return Shape.ERROR
    if "result" in value:
        return Shape.RESULT
    return Shape.ERROR if "error" in value else Shape.NONE


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


_encode_plain = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_encode_ascii = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode


def encode(message: Any) -> bytes:
    """The message as one line of UTF-8 JSON without its line feed (C-STDIO-02).

    Text that UTF-8 cannot carry (a lone surrogate that a server sent us) goes out as the escape it came as.
    """
    try:
        return _encode_plain(message).encode("utf-8")
    except UnicodeEncodeError:
        return _encode_ascii(message).encode("ascii")

"""Finds the request that a raw message answers, if possible without parsing all of it.

Over HTTP the exchange identifies an answer, but an event stream also carries other messages, and a large answer should
not be parsed twice. Every MCP implementation writes the id at the beginning or at the end of the object.
"""

from __future__ import annotations

import re
from typing import Any

from inspector.protocol.jsonrpc import NotJson, Shape, encode, parse, shape_of

_SMALL = 1 << 16
"""Bytes up to which a message is always parsed."""
_TAIL = 512

_ID = rb'"id"\s*:\s*(-?\d+|"[^"\\]*")\s*'
_VERSION = rb'"jsonrpc"\s*:\s*"2\.0"\s*'
_ASKS = re.compile(rb"\s*\{\s*(?:" + _VERSION + rb",\s*)?(?:" + _ID + rb',\s*)?"method"')
_BEGINS = re.compile(
    rb"\s*\{\s*(?:" + _VERSION + rb",\s*)?" + _ID + rb",\s*(?:" + _VERSION + rb',\s*)?"(?:result|error)"'
)
_OPENS = re.compile(rb"\s*\{\s*(?:" + _VERSION + rb',\s*)?"(?:result|error)"')
_ENDS = re.compile(rb"[,{\s]" + _ID + rb"(?:,\s*" + _VERSION + rb")?\}\s*\Z")


def answers(raw: bytes, id: int | str) -> bool:
    """Whether `raw` is, or contains in a batch, the response to request `id`. `1` and `"1"` are different ids."""
    if _ASKS.match(raw):
        return False
    if len(raw) > _SMALL and raw[-_TAIL:].rstrip().endswith(b"}"):
        span = id_span(raw)
        if span is not None:
            return raw[span[0] : span[1]] == encode(id)
    message = parsed(raw)
    return any(_is_answer(item, id) for item in (message if type(message) is list else (message,)))


def _is_answer(message: Any, id: int | str) -> bool:
    if shape_of(message) not in (Shape.RESULT, Shape.ERROR):
        return False
    answer_id = message.get("id")
    return answer_id == id and (type(answer_id) is str) == (type(id) is str) and type(answer_id) is not bool


def id_span(raw: bytes) -> tuple[int, int] | None:
    """Return the position of the id in a response, if the ends of the text show it."""
    match = _BEGINS.match(raw)
    if match:
        return match.span(1)
    if not _OPENS.match(raw):
        return None
    start = max(0, len(raw) - _TAIL)
    match = _ENDS.search(raw, start)
    return match.span(1) if match else None


def parsed(raw: bytes) -> Any:
    """Return the JSON value in `raw`, or None if it is not JSON."""
    try:
        return parse(raw)
    except NotJson:
        return None


def rpc_error(message: Any) -> dict[str, Any] | None:
    """Return the error object of a JSON-RPC error response, with any id; None for anything else."""
    if shape_of(message) != Shape.ERROR:
        return None
    error = message["error"]
    return error if type(error) is dict else None

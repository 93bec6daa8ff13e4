"""The request metadata that the modern era repeats in HTTP headers (C-HTTP-31 to C-HTTP-34).

Source: 2026-07-28 basic/transports/streamable-http, "Request Metadata"; server/tools, "x-mcp-header"; SEP-2663,
"Routing Headers". The functions need no connection: the input is a tool or a request, the result is headers.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from inspector.lazy_pattern import lazy_pattern
from inspector.protocol.members import value_at
from inspector.text import safe

ANNOTATION = "x-mcp-header"
"""The keyword in a parameter's schema that requests a header; its value is the end of the header's name."""
PREFIX = "Mcp-Param-"

PARAM_LIMIT = 1_000
"""Annotations that are read in one tool. Servers accept about a hundred headers, so this is far beyond use."""
DEPTH_LIMIT = 100
"""Property names on the way to an annotated parameter."""
REASON_LIMIT = 20

SAFE_INTEGER = 2**53 - 1
_OPEN, _CLOSE = "=?base64?", "?="
_TOKEN = lazy_pattern(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_FIELD_VALUE = lazy_pattern(r"[\t\x20-\x7e]*")
_TYPES = ("string", "integer", "boolean")

# The places of schemas in JSON Schema 2020-12 and draft-07, except `properties`: one, a list, or a map from names.
_ANYWHERE = frozenset(
    """
    items additionalItems prefixItems contains unevaluatedItems additionalProperties propertyNames unevaluatedProperties
    allOf anyOf oneOf not if then else contentSchema
    """.split()
)
_MAPS = frozenset({"patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"})

NAMED_BY = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}
"""The parameter that `Mcp-Name` repeats, by method."""

_Chain = tuple["_Chain", str] | tuple[()]


class HeaderParam(NamedTuple):
    """A tool's parameter that is repeated in an HTTP header."""

    header: str
    """The header's name, `Mcp-Param-Region`."""
    path: tuple[str, ...]
    """Property names from the arguments to the value."""


def mirrored(tool: Any) -> tuple[tuple[HeaderParam, ...], list[str]]:
    """Return the parameters that a call of a tool repeats in headers, and the reasons not to call it (C-HTTP-34).

    `tool` may be any value. Without reasons the tool is valid. Otherwise, the parameters are the valid ones, the first
    of two with the same name. A reason is one line, safe to show. Only a single type counts as one of the three: a
    value that may be null, or of several types, has no text that all clients agree on.
    """
    schema = value_at(tool, "inputSchema")
    parameters: dict[str, HeaderParam] = {}
    reasons: list[str] = []
    looked_at = 0
    for subschema, chain in _subschemas(schema):
        if ANNOTATION not in subschema:
            continue
        looked_at += 1
        if looked_at > PARAM_LIMIT or len(reasons) >= REASON_LIMIT:
            reasons.append(f"{ANNOTATION} occurs too often")
            break
        name = subschema[ANNOTATION]
        path = None if chain is None else _path(chain)
        where = _where(path) if path else f"the {ANNOTATION} “{safe(name, 80)}”"
        problem = _misplaced(path) or _bad_name(name) or _bad_type(subschema)
        if not problem and (first := parameters.get(name.lower())) is not None:
            problem = f"asks for the header {safe(PREFIX + name, 80)}, as {_where(first.path)} does"
        if problem:
            reasons.append(f"{where} {problem}")
        elif path is not None:
            parameters[name.lower()] = HeaderParam(PREFIX + name, path)
    return tuple(parameters.values()), reasons


def _subschemas(schema: Any) -> Iterator[tuple[dict[str, Any], _Chain | None]]:
    """Yield every subschema in text order with the property names that lead to it.

    The names are None if other keywords lead to it. Chains are linked backwards, so that their length costs nothing in
    a deep schema.
    """
    stack: list[tuple[Any, _Chain | None]] = [(schema, ())]
    while stack:
        node, chain = stack.pop()
        if isinstance(node, list):
            stack.extend((item, None) for item in reversed(node))
        if not isinstance(node, dict):
            continue
        yield node, chain
        for keyword, value in reversed(node.items()):
            if keyword in _ANYWHERE:
                stack.append((value, None))
            elif keyword == "properties" and isinstance(value, dict):
                stack.extend(
                    (below, None if chain is None else (chain, name)) for name, below in reversed(value.items())
                )
            elif keyword in _MAPS and isinstance(value, dict):
                stack.extend((below, None) for below in reversed(value.values()))


def _path(chain: _Chain) -> tuple[str, ...]:
    """Return the names of a chain from the outside, one more than the limit if there are too many."""
    names: list[str] = []
    while chain and len(names) <= DEPTH_LIMIT:
        chain, name = chain
        names.append(name)
    return tuple(reversed(names))


def _where(path: tuple[str, ...]) -> str:
    return f"“{safe('.'.join(name[:60] for name in path[:10]), 80)}”"


def _misplaced(path: tuple[str, ...] | None) -> str:
    if path is None:
        return "is not reached only through properties, but through items, anyOf or $defs"
    if not path:
        return "is on the schema itself, not on one of its properties"
    if len(path) > DEPTH_LIMIT:
        return f"is nested deeper than {DEPTH_LIMIT} properties"
    return ""


def _bad_name(name: Any) -> str:
    if not isinstance(name, str):
        return f"has an {ANNOTATION} that is not a string"
    if not name:
        return f"has an empty {ANNOTATION}"
    if not _TOKEN.fullmatch(name):
        return f"has an {ANNOTATION} that cannot be part of a header's name: “{safe(name, 80)}”"
    return ""


def _bad_type(subschema: dict[str, Any]) -> str:
    if "type" not in subschema:
        return f"has an {ANNOTATION} but no type"
    kind = subschema["type"]
    if isinstance(kind, list) and len(kind) == 1:
        kind = kind[0]
    if isinstance(kind, str) and kind in _TYPES:
        return ""
    return f"has an {ANNOTATION}, but its type is {safe(kind, 60)} instead of string, integer or boolean"


def encode(value: str) -> str:
    """Return `value` for a header: unchanged if that is safe, else its UTF-8 in base64 (C-HTTP-32).

    Safe is visible ASCII with spaces inside, the empty string included. A lone surrogate has no UTF-8; it is sent as
    U+FFFD.
    """
    if value.isascii() and value.isprintable() and value.strip(" ") == value and not _is_coded(value):
        return value
    whole = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _OPEN + base64.b64encode(whole.encode()).decode("ascii") + _CLOSE


def decode(text: str) -> str | None:
    """Return the value of a header; None if a server must refuse it: bad characters, base64 or UTF-8."""
    if not _FIELD_VALUE.fullmatch(text):
        return None
    if not _is_coded(text) or len(text) < len(_OPEN) + len(_CLOSE):
        return text
    try:
        return base64.b64decode(text[len(_OPEN) : -len(_CLOSE)], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


def _is_coded(text: str) -> bool:
    return text.startswith(_OPEN) and text.endswith(_CLOSE)


def request_headers(
    method: str, params: dict[str, Any] | None, mirrored: Sequence[HeaderParam] = ()
) -> tuple[tuple[str, str], ...]:
    """Return the headers that repeat a request: its method, its name, a tool's parameters (C-HTTP-31, C-HTTP-33).

    `mirrored` are the parameters of the tool in `tools/call`. A value of the wrong type is repeated if it is a number,
    a string or a boolean: the server validates arguments, and it must refuse a call with a missing header before that.
    A value that is null, missing, an object or an array has no header. An integer beyond the safe range is written with
    all its digits, as in the body. A method that is not a valid header value is encoded like a name: no server will
    accept it, but it cannot break out of its line.
    """
    fields = [("Mcp-Method", encode(method))]
    params = params or {}
    name = NAMED_BY.get(method)
    if name is not None and (text := _text(params.get(name))) is not None:
        fields.append(("Mcp-Name", encode(text)))
    if method == "tools/call":
        for header, path in mirrored:
            if (text := _text(value_at(params, "arguments", *path))) is not None:
                fields.append((header, encode(text)))
    return tuple(fields)


def _text(value: Any) -> str | None:
    """Return a scalar's text for a header; an integer written as 42.0 is an integer."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and math.isfinite(value):
        return str(int(value)) if value.is_integer() and abs(value) <= SAFE_INTEGER else repr(value)
    if isinstance(value, int):
        try:
            return str(value)
        except ValueError:  # more digits than Python writes; the body cannot have it either
            return None
    return None

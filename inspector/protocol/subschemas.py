"""The parts of a JSON Schema that are schemas themselves, in bounded time, for a schema of an untrusted server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from inspector.protocol.exact_json.tokens import escape_step

MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
"""Keywords whose value is an object of schemas."""
LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
"""Keywords whose value is a list of schemas."""
SINGLE = tuple(
    """
    items additionalItems contains unevaluatedItems additionalProperties unevaluatedProperties propertyNames not if then
    else
    """.split()
)
"""Keywords whose value is a schema; `items` of draft-07 may be a list."""
MAX_COUNT = 10_000
"""Subschemas of one schema that are visited."""
MAX_DEPTH = 100
"""Levels of nesting that are visited."""


class Subschema(NamedTuple):
    """One schema inside another."""

    pointer: str
    """Its JSON pointer; empty for the root."""
    schema: dict[str, Any]
    depth: int
    """The number of schemas around it."""


def subschemas(schema: Any, limit: int = MAX_COUNT) -> Iterator[Subschema]:
    """Yield the root and every schema inside, each before its own parts, at most `limit` and `MAX_DEPTH` levels.

    References are not followed.
    """
    todo: list[tuple[str, Any, int]] = [("", schema, 0)]
    left = limit
    while todo and left:
        pointer, item, depth = todo.pop()
        if type(item) is not dict or depth > MAX_DEPTH:
            continue
        left -= 1
        yield Subschema(pointer, item, depth)
        todo += reversed([(f"{pointer}/{at}", inner, depth + 1) for at, inner in _inside(item, left)])


def _inside(schema: dict[str, Any], limit: int) -> Iterator[tuple[str, Any]]:
    for key, value in schema.items():
        if key in MAPS and type(value) is dict:
            for name, inner in list(value.items())[:limit]:
                yield f"{key}/{escape_step(name)}", inner
        elif (key in LISTS or key in SINGLE) and type(value) is list:
            for at, inner in enumerate(value[:limit]):
                yield f"{key}/{at}", inner
        elif key in SINGLE:
            yield key, value

"""The arguments of one tool in two versions: one form for both, and what each of them gets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_OPENS = ("patternProperties", "allOf", "anyOf", "oneOf", "$ref", "if", "dependentSchemas")
"""Keywords at the top of a schema that may allow arguments which `properties` does not name."""


def shared_schema(a: Any, b: Any) -> dict[str, Any]:
    """Return a schema for the form of both: that of A, and the arguments that only B has.

    An argument that one of them requires is required. Where both have an argument, A's schema of it is used.
    """
    one, other = _object(a), _object(b)
    mine, theirs = _object(one.get("properties")), _object(other.get("properties"))
    if not theirs.keys() - mine.keys() and not _required(other) - _required(one):
        return dict(one) or {"type": "object"}
    defined: dict[str, Any] = {
        name: {**_object(other.get(name)), **_object(one.get(name))}
        for name in ("$defs", "definitions")
        if name in one or name in other
    }
    properties = {**mine, **{name: schema for name, schema in theirs.items() if name not in mine}}
    required = [name for name in properties if name in _required(one) | _required(other)]
    return {**one, "type": "object", **defined, "properties": properties, "required": required}


def split_arguments(schema: Any, other: Any, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments for a tool with `schema`, and the names of those that only the `other` one knows.

    An argument that neither declares is for both: the user typed it to see what happens.
    """
    known, theirs = _object(schema), _object(other)
    if known.get("additionalProperties") or any(keyword in known for keyword in _OPENS):
        return dict(arguments), []
    mine = _object(known.get("properties"))
    unknown = [name for name in arguments if name not in mine and name in _object(theirs.get("properties"))]
    return {name: value for name, value in arguments.items() if name not in unknown}, unknown


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _required(schema: Mapping[str, Any]) -> set[str]:
    found = schema.get("required")
    return {name for name in found if isinstance(name, str)} if isinstance(found, list) else set()

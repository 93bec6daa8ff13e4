"""The JSON values of a form: presence, kind, equality, and text."""

from __future__ import annotations

import json
from typing import Any, Final

from inspector.text import safe


class Unset:
    """The type of `UNSET`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> bool:
        return False


UNSET: Final = Unset()
"""The absence of a value: the member is missing. It differs from null."""


def fits(kind: str, value: Any) -> bool:
    """Whether a value has the type of a kind of field; for kinds of any type True."""
    if kind in ("enum", "const", "json"):
        return True
    if kind == "null":
        return value is None
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "integer":
        return (isinstance(value, int) and not isinstance(value, bool)) or (
            isinstance(value, float) and value.is_integer()
        )
    if kind == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    types = {"string": str, "object": dict, "array": list, "multi": list}[kind]
    return isinstance(value, types)


def same(first: Any, second: Any) -> bool:
    """Whether two JSON values are equal; unlike in Python, true is not 1."""
    try:
        return isinstance(first, bool) == isinstance(second, bool) and bool(first == second)
    except RecursionError:
        return first is second


def text_of(value: Any) -> str:
    """Format a value as a field shows it: a string as it is, everything else as JSON."""
    if value is UNSET:
        return ""
    if isinstance(value, str):
        return value
    return json_of(value)


def json_of(value: Any) -> str:
    """Format a value as JSON on one line."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (RecursionError, ValueError):  # nested too deeply for Python, or an integer that it refuses to write
        return safe(value)

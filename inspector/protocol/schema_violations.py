"""Describes the results of a JSON Schema check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from inspector.text import safe

SHOWN_LIMIT = 40
"""Characters of one value inside a message."""


class Violation(NamedTuple):
    """One place where a value does not match a schema."""

    path: str
    """The JSON pointer of the value (RFC 6901); `""` for the whole."""
    message: str
    """The error without the path, such as `expected integer, got 12.5`. Safe to show."""
    keyword: str = ""
    """The schema keyword that it violates, or `limit` if a limit prevented the check."""
    member: str = ""
    """The member of the object at `path` that is missing or not allowed."""
    definition: str = ""
    """The definition of the official schema, for messages of the protocol."""


_FORMATS = {
    "email": "email address",
    "idn-email": "email address",
    "uri": "URI",
    "uri-reference": "URI reference",
    "iri": "IRI",
    "iri-reference": "IRI reference",
    "uri-template": "URI template",
    "date": "date (YYYY-MM-DD)",
    "time": "time with an offset (hh:mm:ssZ)",
    "date-time": "date and time (2026-07-28T12:00:00Z)",
    "duration": "duration (P1DT2H)",
    "ipv4": "IPv4 address",
    "ipv6": "IPv6 address",
    "hostname": "host name",
    "idn-hostname": "host name",
    "uuid": "UUID",
    "regex": "regular expression",
    "json-pointer": "JSON pointer",
    "relative-json-pointer": "relative JSON pointer",
}


def value_text(value: Any) -> str:
    """Format a value for a message: scalars as in JSON, containers by their kind."""
    if isinstance(value, float) and value - value != 0:
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, str):
        return f'"{safe(value, SHOWN_LIMIT)}"'
    if isinstance(value, dict):
        return "an object" if value else "an empty object"
    if isinstance(value, (list, tuple)):
        return "an array" if value else "an empty array"
    return safe(value, SHOWN_LIMIT)


def listed(values: list[Any], joint: str = "or") -> str:
    """Join alternatives: `"a", "b" or "c"`; of many the first five and how many more."""
    words = [value_text(value) for value in values[:5]]
    if len(values) > 5:
        return f"{', '.join(words)} {joint} {len(values) - 5:,} more"
    return f"{', '.join(words[:-1])} {joint} {words[-1]}" if len(words) > 1 else "".join(words)


def pointer(steps: list[str | int]) -> str:
    """Format a path as a JSON pointer."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps)


def describe(error: Any, prefix: str = "") -> Violation:
    """Return the violation for a `jsonschema_rs.ValidationError`; `prefix` is the pointer of the checked value."""
    path = prefix + pointer(error.instance_path)
    kind = error.kind
    keyword = kind.name
    if type(kind).__name__ == "BacktrackLimitExceeded":
        return Violation(path, "not checked: the pattern takes too long on this text", "limit")
    if keyword == "required":
        return Violation(path, f"{value_text(kind.property)} is missing", keyword, kind.property)
    if keyword in ("additionalProperties", "unevaluatedProperties"):
        names = kind.unexpected
        return Violation(path, f"unexpected {listed(names, 'and')}", keyword, names[0] if names else "")
    if keyword == "propertyNames":
        inner = describe(kind.error)
        return Violation(path, f"the name of a member: {inner.message}", keyword)
    if keyword == "falseSchema" and error.schema_path[-1:] == ["additionalProperties"]:
        return Violation(path, "no members are allowed here", "additionalProperties")
    if type(kind).__name__ in ("AnyOf", "OneOfNotValid"):
        meant = _meant_variant(error)
        return Violation(path, _variants(error), keyword) if meant is None else describe(meant, prefix)
    write = _WRITERS.get(keyword)
    message = write(kind, error.instance) if write else ""
    return Violation(path, message or f"does not match {safe(keyword, SHOWN_LIMIT)}", keyword)


def _type(kind: Any, value: Any) -> str:
    got = "null" if value is None else value_text(value)
    return f"expected {' or '.join(kind.types)}, got {got}"


def _meant_variant(error: Any) -> Any:
    """Return the first error of the one variant that matches the value's type, if exactly one does."""
    near = [
        errors[0]
        for errors in error.kind.context
        if errors
        and (errors[0].instance_path != error.instance_path or errors[0].kind.name not in ("type", "const", "enum"))
    ]
    return near[0] if len(near) == 1 else None


def _variants(error: Any) -> str:
    """Return the valid types if all variants agree; otherwise the number of variants."""
    branches = error.kind.context
    firsts = [errors[0] for errors in branches if errors]
    if firsts and all(first.instance_path == error.instance_path for first in firsts):
        if all(first.kind.name == "const" for first in firsts):
            return f"expected {listed([first.kind.expected_value for first in firsts])}"
        if all(first.kind.name == "type" for first in firsts):
            types = dict.fromkeys(name for first in firsts for name in first.kind.types)
            return f"expected {' or '.join(types)}, got {value_text(error.instance)}"
    return f"matches none of the {len(branches)} variants"


_WRITERS: dict[str, Callable[[Any, Any], str]] = {
    "type": _type,
    "enum": lambda kind, value: f"expected {listed(kind.options)}",
    "const": lambda kind, value: f"expected {value_text(kind.expected_value)}",
    "minimum": lambda kind, value: f"must be at least {value_text(kind.limit)}",
    "maximum": lambda kind, value: f"must be at most {value_text(kind.limit)}",
    "exclusiveMinimum": lambda kind, value: f"must be more than {value_text(kind.limit)}",
    "exclusiveMaximum": lambda kind, value: f"must be less than {value_text(kind.limit)}",
    "multipleOf": lambda kind, value: f"must be a multiple of {value_text(kind.multiple_of)}",
    "minLength": lambda kind, value: f"must have at least {_many(kind.limit, 'character')}",
    "maxLength": lambda kind, value: f"must have at most {_many(kind.limit, 'character')}",
    "pattern": lambda kind, value: f"does not match {safe(kind.pattern, 80)}",
    "format": lambda kind, value: f"not a valid {_FORMATS.get(kind.format) or safe(kind.format, SHOWN_LIMIT)}",
    "minItems": lambda kind, value: f"must have at least {_many(kind.limit, 'item')}",
    "maxItems": lambda kind, value: f"must have at most {_many(kind.limit, 'item')}",
    "additionalItems": lambda kind, value: f"must have at most {_many(kind.limit, 'item')}",
    "minProperties": lambda kind, value: f"must have at least {_many(kind.limit, 'member')}",
    "maxProperties": lambda kind, value: f"must have at most {_many(kind.limit, 'member')}",
    "uniqueItems": lambda kind, value: "has equal items",
    "contains": lambda kind, value: "has no item, or too few or too many, of the kind it must contain",
    "oneOf": lambda kind, value: "matches more than one of the variants, of which exactly one is allowed",
    "not": lambda kind, value: "matches a schema that is excluded by “not”",
    "falseSchema": lambda kind, value: "nothing is allowed here",
    "unevaluatedItems": lambda kind, value: "has items that the schema does not know",
}


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"

"""A small JSON Schema validator (2020-12) for the keywords that this server's own schemas use."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Problem = tuple[str, str]

_MAX_PROBLEMS = 10
_TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "number": lambda value: _is_number(value),
    "integer": lambda value: _is_number(value) and value == int(value),
}
_DATE = r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"
_TIME = r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]\d\d:\d\d)"
_FORMATS = {
    "date": _DATE,
    "time": _TIME,
    "date-time": f"{_DATE}T{_TIME}",
    "email": r"[^@\s]+@[^@\s]+",
    "uri": r"[A-Za-z][A-Za-z0-9+.-]*:\S+",
    "uuid": r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
    "ipv4": r"((25[0-5]|2[0-4]\d|1?\d?\d)(\.(?!$)|$)){4}",
}
_BOUNDS: dict[str, tuple[Callable[[Any, Any], bool], str]] = {
    "minimum": (lambda value, bound: value >= bound, "must be at least {}"),
    "maximum": (lambda value, bound: value <= bound, "must be at most {}"),
    "exclusiveMinimum": (lambda value, bound: value > bound, "must be more than {}"),
    "exclusiveMaximum": (lambda value, bound: value < bound, "must be less than {}"),
    "multipleOf": (lambda value, bound: value % bound == 0, "must be a multiple of {}"),
}
_SIZES: dict[str, tuple[type[str | list | dict], bool, str]] = {
    "minLength": (str, True, "must have at least {} characters"),
    "maxLength": (str, False, "must have at most {} characters"),
    "minItems": (list, True, "must have at least {} items"),
    "maxItems": (list, False, "must have at most {} items"),
    "maxProperties": (dict, False, "must have at most {} properties"),
}


def problems(value: Any, schema: dict[str, Any]) -> list[str]:
    """Returns the problems of a value, as "place: what"; empty if it is valid. Stops after ten."""
    problems: list[str] = []
    try:
        for place, what in _check(value, schema, schema, ""):
            problems.append(f"{place or '(whole)'}: {what}")
            if len(problems) == _MAX_PROBLEMS:
                break
    except RecursionError:
        return ["(whole): is nested too deeply"]
    return problems


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _same(one: Any, other: Any) -> bool:
    """Whether two values are equal as JSON: true is not 1, but 1.0 is."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)


def _fits(value: Any, schema: dict[str, Any], root: dict[str, Any]) -> bool:
    return next(_check(value, schema, root, ""), None) is None


def _check(value: Any, schema: dict[str, Any], root: dict[str, Any], place: str) -> Iterator[Problem]:
    if "$ref" in schema:
        target = root
        for step in schema["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        yield from _check(value, target, root, place)
    yield from _check_itself(value, schema, place)
    yield from _check_choices(value, schema, root, place)
    if isinstance(value, dict):
        yield from _check_object(value, schema, root, place)
    if isinstance(value, list):
        yield from _check_array(value, schema, root, place)


def _check_itself(value: Any, schema: dict[str, Any], place: str) -> Iterator[Problem]:
    declared = schema.get("type")
    if declared is not None:
        kinds = declared if isinstance(declared, list) else [declared]
        if not any(_TYPES[kind](value) for kind in kinds):
            yield place, f"must be {' or '.join(kinds)}"
            return
    if "const" in schema and not _same(value, schema["const"]):
        yield place, f"must be {schema['const']!r}"
    if "enum" in schema and not any(_same(value, allowed) for allowed in schema["enum"]):
        yield place, f"must be one of {', '.join(map(repr, schema['enum']))}"
    if _is_number(value):
        for keyword, (holds, words) in _BOUNDS.items():
            if keyword in schema and not holds(value, schema[keyword]):
                yield place, words.format(schema[keyword])
    for keyword, (kind, lower, words) in _SIZES.items():
        if keyword in schema and isinstance(value, kind):
            size, bound = len(value), schema[keyword]
            if size < bound if lower else size > bound:
                yield place, words.format(bound)
    if isinstance(value, str):
        if "pattern" in schema and not re.search(schema["pattern"], value):
            yield place, f"must match {schema['pattern']}"
        if "format" in schema and not re.fullmatch(_FORMATS[schema["format"]], value, re.ASCII):
            yield place, f"is not a valid {schema['format']}"


def _check_choices(value: Any, schema: dict[str, Any], root: dict[str, Any], place: str) -> Iterator[Problem]:
    for part in schema.get("allOf", ()):
        yield from _check(value, part, root, place)
    if "anyOf" in schema and not any(_fits(value, part, root) for part in schema["anyOf"]):
        yield place, "matches none of the variants"
    if "oneOf" in schema and sum(_fits(value, part, root) for part in schema["oneOf"]) != 1:
        yield place, "must match exactly one of the variants"
    if "not" in schema and _fits(value, schema["not"], root):
        yield place, "must not match the forbidden schema"
    if "if" in schema:
        yield from _check(value, schema.get("then" if _fits(value, schema["if"], root) else "else", {}), root, place)


def _check_object(value: dict[str, Any], schema: dict[str, Any], root: dict[str, Any], place: str) -> Iterator[Problem]:
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{place}/{name}", "is required"
    for name, others in schema.get("dependentRequired", {}).items():
        for other in others:
            if name in value and other not in value:
                yield f"{place}/{other}", f"is required together with {name}"
    known = schema.get("properties", {})
    rest = schema.get("additionalProperties", True)
    for name, member in value.items():
        if name in known:
            yield from _check(member, known[name], root, f"{place}/{name}")
        elif rest is False:
            yield f"{place}/{name}", "is not allowed"
        elif rest is not True:
            yield from _check(member, rest, root, f"{place}/{name}")


def _check_array(value: list[Any], schema: dict[str, Any], root: dict[str, Any], place: str) -> Iterator[Problem]:
    first = schema.get("prefixItems", ())
    for number, item in enumerate(value):
        part = first[number] if number < len(first) else schema.get("items", {})
        yield from _check(item, part, root, f"{place}/{number}")
    if schema.get("uniqueItems") and any(_same(a, b) for n, a in enumerate(value) for b in value[:n]):
        yield place, "must not contain the same item twice"

"""Generated arguments for a tool: valid ones, invalid ones, and valid but unusual ones.

They cover the branches and bounds of the schema. Every case is validated before it is used: a case that does not have
the intended validity is dropped. The same seed gives the same cases.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, TypeGuard

from inspector.errors import SchemaError
from inspector.protocol.sample_values import sample
from inspector.protocol.validation import Validator

CaseKind = Literal["allowed", "forbidden", "odd"]

MAX_MEMBERS = 50
"""Members of one object that are varied."""
MAX_CHOICES = 20
LONG = 100_000
"""Characters of the longest text."""

ODD = (
    "",
    " ",
    "\t\n",
    "ñandú 日本語 العربية 👩‍🚀",
    "a\u0000b",
    "\u202eabc",
    "'",
    '"',
    "\\",
    "%s%n{0}${7*7}{{7*7}}",
    "' OR '1'='1' --",
    "$(id)",
    "`id`",
    "; id",
    "../../../../etc/passwd",
    "<script>alert(1)</script>",
    "null",
    "-1",
    "1e309",
    "\r\nX-Injected: 1",
)
NO_FORMAT = "\u2028 no format has this"
_OTHERS: dict[str, Any] = {
    "string": 7,
    "integer": "seven",
    "number": "seven",
    "boolean": "true",
    "array": {},
    "object": [],
    "null": 0,
}


class ArgumentCase(NamedTuple):
    """One set of arguments."""

    kind: CaseKind
    about: str
    """The special property of the case: `count at its minimum`."""
    arguments: dict[str, Any]


def cases(schema: Any, seed: int = 0, limit: int = 60) -> list[ArgumentCase]:
    """The cases for a tool's `inputSchema` of any form; empty if the schema is unusable."""
    try:
        validator = Validator(schema)
    except SchemaError:
        return []
    base = sample(schema)
    if type(base) is not dict or type(schema) is not dict:
        return []
    kept: list[ArgumentCase] = []
    seen: set[str] = set()
    for case in _all(schema, base, random.Random(seed)):
        if validator.is_valid(case.arguments) == (case.kind == "forbidden"):
            continue
        known = repr(case.arguments)
        if known not in seen:
            seen.add(known)
            kept.append(case)
    return [kept[at] for at in _spread(len(kept), limit)]


def _spread(count: int, limit: int) -> range:
    """Positions spread evenly over all of them."""
    return range(0, count, max(1, -(-count // limit)))


def _all(schema: dict[str, Any], base: dict[str, Any], chance: random.Random) -> Iterator[ArgumentCase]:
    yield ArgumentCase("allowed", "only required arguments", base)
    properties = schema.get("properties")
    members = list(properties.items())[:MAX_MEMBERS] if type(properties) is dict else []
    whole = {**base, **{name: sample(below) for name, below in members}}
    yield ArgumentCase("allowed", "everything", whole)
    required = schema.get("required")
    for name in required if type(required) is list else ():
        if isinstance(name, str):
            left = {key: value for key, value in base.items() if key != name}
            yield ArgumentCase("forbidden", f"without {name}", left)
    for name, below in members:
        if type(below) is not dict:
            continue
        for kind, about, value in _values(below, chance):
            yield ArgumentCase(kind, f"{name} {about}", {**base, name: value})
    yield ArgumentCase("forbidden", "an unknown member", {**base, "inspector-check-unknown": 1})
    yield ArgumentCase("forbidden", "not an object", {})


def _values(schema: dict[str, Any], chance: random.Random) -> Iterator[tuple[CaseKind, str, Any]]:
    """Values for one member."""
    variants = [variant for key in ("oneOf", "anyOf") for variant in _list(schema.get(key))]
    for at, variant in enumerate(variants[:MAX_CHOICES]):
        yield "allowed", f"of variant {at + 1}", sample(variant)
        if type(variant) is dict and variant.keys() != schema.keys():
            yield from _values({key: value for key, value in variant.items() if key not in ("oneOf", "anyOf")}, chance)
    for choice in _list(schema.get("enum"))[:MAX_CHOICES]:
        yield "allowed", f"is {choice!r:.40}", choice
    kinds = schema.get("type")
    kinds = kinds if type(kinds) is list else [kinds]
    for kind in kinds:
        maker = _BY_TYPE.get(kind) if isinstance(kind, str) else None
        if maker is not None:
            yield from maker(schema, chance)
    for kind, other in _OTHERS.items():
        if kind in kinds:
            yield "forbidden", "of another type", other
    yield "forbidden", "is null", None


def _texts(schema: dict[str, Any], chance: random.Random) -> Iterator[tuple[CaseKind, str, Any]]:
    least, limit = _count(schema.get("minLength")), _count(schema.get("maxLength"))
    if least:
        yield "allowed", "at its minimum length", "x" * min(least, LONG)
        yield "forbidden", "shorter than allowed", "x" * min(least - 1, LONG)
    if limit is not None and limit < LONG:
        yield "allowed", "at its maximum length", "x" * limit
        yield "forbidden", "longer than allowed", "x" * (limit + 1)
    if "enum" in schema:
        yield "forbidden", "not one of its choices", "inspector-check-none-of-them"
    if "pattern" in schema or "format" in schema:
        yield "forbidden", "in an invalid format", NO_FORMAT
    for text in chance.sample(ODD, len(ODD)):
        yield "odd", f"is {text!r:.40}", text
    yield "odd", f"has {LONG:,} characters", "x" * LONG


def _numbers(schema: dict[str, Any], chance: random.Random) -> Iterator[tuple[CaseKind, str, Any]]:
    for key, about, step in (("minimum", "its minimum", -1), ("maximum", "its maximum", 1)):
        bound = schema.get(key)
        if _is_number(bound):
            yield "allowed", f"at {about}", bound
            yield "forbidden", f"beyond {about}", bound + step
    for key in ("exclusiveMinimum", "exclusiveMaximum"):
        bound = schema.get(key)
        if _is_number(bound):
            yield "forbidden", f"at its {key}", bound
    multiple = schema.get("multipleOf")
    if _is_number(multiple) and multiple > 0:
        yield "forbidden", "not a multiple", multiple * 1.5
    if schema.get("type") == "integer":
        yield "forbidden", "a fraction", 1.5
    odd = (0, -1, 2**31, 2**53 + 1, -(2**63), 10**30)
    for value in chance.sample(odd, len(odd)):
        yield "odd", f"is {value}", value


def _arrays(schema: dict[str, Any], _chance: random.Random) -> Iterator[tuple[CaseKind, str, Any]]:
    item = sample(schema.get("items", {}))
    least, limit = _count(schema.get("minItems")), _count(schema.get("maxItems"))
    yield "allowed", "with one item", [item]
    yield "odd", "empty", []
    if least:
        yield "forbidden", "with too few items", [item] * (min(least, 1000) - 1)
    if limit is not None and limit < 1000:
        yield "allowed", "with as many items as allowed", [item] * limit
        yield "forbidden", "with too many items", [item] * (limit + 1)
    if schema.get("uniqueItems") is True:
        yield "forbidden", "with the same item twice", [item, item]
    if schema.get("items"):
        yield "forbidden", "with an item of another type", [{"inspector-check": []}]


def _objects(schema: dict[str, Any], _chance: random.Random) -> Iterator[tuple[CaseKind, str, Any]]:
    value = sample(schema)
    if type(value) is not dict:
        return
    yield "allowed", "with required members only", value
    for name in _list(schema.get("required"))[:MAX_CHOICES]:
        yield "forbidden", f"without its {name}", {key: item for key, item in value.items() if key != name}


def _booleans(_schema: dict[str, Any], _chance: random.Random) -> Iterator[tuple[CaseKind, str, Any]]:
    yield "allowed", "is true", True
    yield "allowed", "is false", False


_BY_TYPE: dict[str, Callable[[dict[str, Any], random.Random], Iterator[tuple[CaseKind, str, Any]]]] = {
    "string": _texts,
    "integer": _numbers,
    "number": _numbers,
    "array": _arrays,
    "object": _objects,
    "boolean": _booleans,
}


def smaller(case: ArgumentCase, schema: Any) -> Iterator[ArgumentCase]:
    """The same case with one member less at a time while it keeps its validity, for a minimal reproduction."""
    try:
        validator = Validator(schema)
    except SchemaError:
        return
    for name in case.arguments:
        left = {key: value for key, value in case.arguments.items() if key != name}
        if validator.is_valid(left) == (case.kind != "forbidden"):
            yield case._replace(arguments=left)


def _list(value: Any) -> list[Any]:
    return value if type(value) is list else []


def _count(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and -1e15 < value < 1e15

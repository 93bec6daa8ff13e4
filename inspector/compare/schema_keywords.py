"""Compares keywords of two JSON Schemas on one level: types, enumerations, bounds, and others.

Each function yields changes as (effect, phrase) or (effect, phrase, before, after). Source: JSON Schema Validation
2020-12, sections 6 to 9.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from inspector.compare.digests import exact_digest
from inspector.compare.lossless_json import type_of
from inspector.compare.values import isfinite_number
from inspector.protocol.jsonrpc import excerpt

NOTHING: dict[str, Any] = {"not": {}}
"""The schema that no value matches, like `false`."""
WORDS = ("title", "description", "examples", "$comment")
"""Texts for people and models."""
MARKS = ("deprecated", "readOnly", "writeOnly")
NAMED = 5
"""Values listed in a phrase."""
SHOWN = 60
"""Characters shown of each."""

SetEffect = Literal["narrower", "wider", "both", "unsure"]
KeywordEffect = tuple[SetEffect, str] | tuple[SetEffect, str, Any, Any]

_LOWER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains")
_UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains")
_COUNTS = frozenset(("minLength", "minItems", "minProperties"))
_HANDLED = frozenset(
    (
        *WORDS,
        *MARKS,
        *_LOWER,
        *_UPPER,
        *"""
        default type enum const multipleOf uniqueItems pattern properties required additionalProperties
        unevaluatedProperties patternProperties propertyNames items prefixItems additionalItems contains
        unevaluatedItems anyOf oneOf allOf dependentRequired $defs definitions $id $anchor $dynamicAnchor $ref
        $dynamicRef
        """.split(),
    )
)


def is_nothing(schema: dict[str, Any]) -> bool:
    """Whether it is the schema that no value matches."""
    refused = schema.get("not")
    return refused is True or refused == {}


def is_false(schema: Any) -> bool:
    """Whether it forbids every value."""
    return schema is False or (type(schema) is dict and is_nothing(schema))


def members(schema: dict[str, Any], key: str) -> dict[str, Any]:
    """Return an object of schemas; empty if it is not one."""
    value = schema.get(key)
    return value if type(value) is dict else {}


def listed(schema: dict[str, Any], key: str) -> list[Any]:
    """Return a list of schemas; empty if it is not one."""
    value = schema.get(key)
    return value if type(value) is list else []


def names(schema: dict[str, Any], key: str) -> dict[str, None]:
    """Return a list of names, each once, in order."""
    return dict.fromkeys(name for name in listed(schema, key) if type(name) is str)


def items_of(schema: dict[str, Any]) -> tuple[list[Any], Any]:
    """Return the schemas of the first items, and that of the rest; draft-07 uses other keywords."""
    items = schema.get("items", True)
    if type(items) is list:
        return items, schema.get("additionalItems", True)
    return listed(schema, "prefixItems"), items


# Types


class TypeChange(NamedTuple):
    """The change of the types; `disjoint`: no earlier value matches now."""

    effect: SetEffect
    what: str
    disjoint: bool


def compare_types(a: dict[str, Any], b: dict[str, Any]) -> TypeChange | None:
    """Return the change of `type`; None without one."""
    before, after = _types(a), _types(b)
    if before is None or after is None:
        if exact_digest(a.get("type")) == exact_digest(b.get("type")):
            return None
        return TypeChange("unsure", "type is unknown in JSON Schema", False)
    if before == after:
        return None
    phrase = f"type {_type_words(a)} → {_type_words(b)}"
    if before < after:
        return TypeChange("wider", phrase, False)
    if before > after:
        return TypeChange("narrower", phrase, False)
    return TypeChange("both", phrase, not before & after)


_ALL = frozenset(("null", "boolean", "integer", "number", "string", "array", "object"))


def _types(schema: dict[str, Any]) -> frozenset[str] | None:
    """Return the allowed types; None if `type` does not restrict them."""
    value = schema.get("type")
    if value is None and "type" not in schema:
        allowed = _allowed(schema)  # enumerated values have their types, with or without `type`
        return _ALL if allowed is None else _wide({type_of(one) for one in allowed.values()})
    given = [value] if type(value) is str else value
    if type(given) is not list or not all(type(name) is str for name in given):
        return None
    return _wide(given)


def _wide(types: Iterable[str]) -> frozenset[str]:
    """Return the types, where number includes integer."""
    found = frozenset(types)
    return found | {"integer"} if "number" in found else found


def _type_words(schema: dict[str, Any]) -> str:
    value = schema.get("type")
    if type(value) is list:
        return " or ".join(str(name)[:SHOWN] for name in value[:8])
    return str(value)[:SHOWN] if value is not None else "any"


def variants_of(schema: dict[str, Any]) -> list[Any]:
    """Return the alternatives of a schema; without any, the schema itself once for each of its types."""
    for key in ("anyOf", "oneOf"):
        if key in schema:
            beside = {name: value for name, value in schema.items() if name not in (key, *WORDS, "default", *MARKS)}
            found = listed(schema, key)
            return [{**beside, **one} if type(one) is dict and "$ref" not in one else one for one in found]
    plain = {name: value for name, value in schema.items() if name not in (*WORDS, "default", *MARKS)}
    types = plain.get("type")
    return [{**plain, "type": name} for name in types[:16]] if type(types) is list and types else [plain]


# Values


def compare_values(a: dict[str, Any], b: dict[str, Any]) -> Iterator[KeywordEffect]:
    """Return the changes of `enum` and `const`."""
    before, after = _allowed(a), _allowed(b)
    if before is None and after is None:
        return
    if before is None or after is None:
        given = after if before is None else before
        assert given is not None
        values = _some(list(given.values()))
        yield (
            ("narrower", f"allows only {values} now") if before is None else ("wider", f"is no longer one of {values}")
        )
        return
    gone = [value for key, value in before.items() if key not in after]
    new = [value for key, value in after.items() if key not in before]
    if gone:
        yield "narrower", f"no longer allows {_some(gone)}"
    if new:
        yield "wider", f"allows {_some(new)} too"


def _allowed(schema: dict[str, Any]) -> dict[bytes, Any] | None:
    """Return the enumerated values, by their digests."""
    if "const" in schema:
        return {exact_digest(schema["const"]): schema["const"]}
    values = schema.get("enum")
    return {exact_digest(value): value for value in values} if type(values) is list else None


def _some(values: list[Any]) -> str:
    shown = ", ".join(excerpt(value, SHOWN) for value in values[:NAMED])
    return shown + (f" and {len(values) - NAMED:,} more" if len(values) > NAMED else "")


# Bounds


def compare_bounds(a: dict[str, Any], b: dict[str, Any]) -> Iterator[KeywordEffect]:
    """Return the changes of bounds on numbers, lengths and counts, of `multipleOf`, `uniqueItems` and `pattern`."""
    for key in (*_LOWER, *_UPPER):
        found = _bound(key, a.get(key), b.get(key), lower=key in _LOWER)
        if found is not None:
            yield found
    yield from _multiples(a, b)
    if (a.get("uniqueItems") is True) != (b.get("uniqueItems") is True):
        unique = b.get("uniqueItems") is True
        yield "narrower" if unique else "wider", "items must differ now" if unique else "items may be equal now"
    before, after = a.get("pattern"), b.get("pattern")
    if exact_digest(before) != exact_digest(after):
        if before is None:
            yield "narrower", "must match a pattern now", None, after
        elif after is None:
            yield "wider", "no longer has to match a pattern", before, None
        else:
            yield "unsure", "pattern changed", before, after


def _bound(key: str, before: Any, after: Any, *, lower: bool) -> KeywordEffect | None:
    if key in _COUNTS:
        before, after = (0 if value is None else value for value in (before, after))
    if exact_digest(before) == exact_digest(after):
        return None
    phrase = f"{key} {_number(before)} → {_number(after)}"
    if not (before is None or _is_number(before)) or not (after is None or _is_number(after)):
        return "unsure", phrase
    if before is None or after is None:
        return ("narrower" if before is None else "wider"), phrase
    if before == after:
        return None
    return ("narrower" if (after > before) == lower else "wider"), phrase


def _multiples(a: dict[str, Any], b: dict[str, Any]) -> Iterator[KeywordEffect]:
    before, after = a.get("multipleOf"), b.get("multipleOf")
    if exact_digest(before) == exact_digest(after):
        return
    phrase = f"multipleOf {_number(before)} → {_number(after)}"
    if not all(value is None or (_is_number(value) and value > 0) for value in (before, after)):
        yield "unsure", phrase
    elif before is None or after is None:
        yield "narrower" if before is None else "wider", phrase
    else:
        one, other = Fraction(repr(before)), Fraction(repr(after))
        if one != other:
            yield "narrower" if not other % one else "wider" if not one % other else "both", phrase


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and isfinite_number(value) and abs(value) < 10**300


def _number(value: Any) -> str:
    return "none" if value is None else excerpt(value, SHOWN)


# The rest


def compare_rest(a: dict[str, Any], b: dict[str, Any]) -> Iterator[KeywordEffect]:
    """Return the changes of keywords whose effect is unknown, and of dependent members."""
    yield from _companions(members(a, "dependentRequired"), members(b, "dependentRequired"))
    for key in (*a, *(key for key in b if key not in a)):
        if key in _HANDLED or (key in a and key in b and exact_digest(a[key]) == exact_digest(b[key])):
            continue
        word = "changed" if key in a and key in b else "is new" if key in b else "is gone"
        yield "unsure", f"{key[:SHOWN]} {word}", a.get(key), b.get(key)


def _companions(of_a: dict[str, Any], of_b: dict[str, Any]) -> Iterator[KeywordEffect]:
    for name in (*of_a, *(name for name in of_b if name not in of_a)):
        before, after = names(of_a, name), names(of_b, name)
        for other in after:
            if other not in before:
                yield "narrower", f"{name[:SHOWN]} requires {other[:SHOWN]} now"
        for other in before:
            if other not in after:
                yield "wider", f"{name[:SHOWN]} no longer requires {other[:SHOWN]}"

"""Sample values for schemas: the author's examples, otherwise valid values; also for hostile schemas."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol.sample_values import MEMBER_LIMIT, sample
from inspector.protocol.validation import Validator

_NUMBERS = st.one_of(st.integers(-50, 50), st.floats(-50, 50, allow_nan=False).map(lambda number: round(number, 2)))


@st.composite
def _numbers(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(("number", "integer")))
    least, size = draw(_NUMBERS), draw(st.floats(1.5, 9))
    low = draw(st.sampled_from(("minimum", "exclusiveMinimum", "")))
    high = draw(st.sampled_from(("maximum", "exclusiveMaximum", "")))
    bounds = {low: least, high: least + size + (1 if kind == "integer" else 0)}
    return {"type": kind} | {key: value for key, value in bounds.items() if key}


@st.composite
def _texts(draw: st.DrawFn) -> dict[str, Any]:
    least = draw(st.integers(0, 40))
    return {"type": "string", "minLength": least, "maxLength": least + draw(st.integers(0, 40))}


_LEAVES = st.one_of(
    _numbers(),
    _texts(),
    st.sampled_from(({"type": "boolean"}, {"type": "null"}, {"const": 3}, {"enum": ["a", 2]}, {}, True)),
    st.sampled_from(({"type": ["string", "null"]}, {"anyOf": [{"type": "integer"}, {"type": "string"}]})),
)


def _objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    named = st.dictionaries(st.sampled_from("abcd"), inner, max_size=3)
    return named.flatmap(
        lambda properties: st.sets(st.sampled_from("abcde"), max_size=3).map(
            lambda required: {"type": "object", "properties": properties, "required": sorted(required)}
        )
    )


def _arrays(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(
        lambda items, least: {"type": "array", "items": items, "minItems": least}, inner, st.integers(0, 3)
    )


SCHEMAS = st.recursive(_LEAVES, lambda inner: st.one_of(_objects(inner), _arrays(inner)), max_leaves=8)


@given(SCHEMAS)
def test_what_is_made_up_is_valid(schema: Any) -> None:
    assert Validator(schema).errors(sample(schema)) == []


@given(st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.sampled_from((
                "type", "properties", "required", "items", "prefixItems", "enum", "const", "default", "examples", "$ref",
                "anyOf", "allOf", "minimum", "maximum", "exclusiveMinimum", "multipleOf", "minLength", "minItems", "a",
            )),
            st.one_of(inner, st.sampled_from(("object", "array", "string", "integer", "number", "#", "#/properties/a"))),
            max_size=6,
        ),
    ),
    max_leaves=20,
))  # fmt: skip
def test_any_value_at_all_can_be_a_schema(schema: Any) -> None:
    sample(schema)


def test_what_the_author_gave_comes_first() -> None:
    schema = {
        "type": "object",
        "properties": {
            "defaulted": {"type": "string", "default": "d", "examples": ["e"]},
            "exemplified": {"type": "string", "examples": ["e"]},
            "fixed": {"const": None},
            "chosen": {"enum": [7, 8]},
            "referred": {"$ref": "#/$defs/there"},
        },
        "required": ["defaulted", "exemplified", "fixed", "chosen", "referred"],
        "$defs": {"there": {"type": "integer", "examples": [42]}},
    }
    assert sample(schema) == {"defaulted": "d", "exemplified": "e", "fixed": None, "chosen": 7, "referred": 42}


def test_members_that_may_be_left_out_are() -> None:
    assert sample({"type": "object", "properties": {"a": {"type": "string"}, "b": {"default": 1}}}) == {}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "number"}, 1),
        ({"type": "integer", "minimum": 2.5}, 3),
        ({"type": "integer", "exclusiveMaximum": 0}, -1),
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, 0.5),
        ({"type": "integer", "multipleOf": 5, "minimum": 11}, 15),
        ({"type": "integer", "multipleOf": 5, "minimum": 1, "maximum": 9}, 5),
        ({"type": "integer", "minimum": 10**400}, 1),
        ({"type": "number", "multipleOf": 1e-310}, 1),
        ({"type": "string", "format": "email"}, "user@example.com"),
        ({"type": "string", "format": {"not": "a name"}}, "sample"),
        ({"type": "string", "maxLength": 3}, "sam"),
        ({"type": "array", "items": {"enum": ["a", "b"]}, "uniqueItems": True, "minItems": 2}, ["a", "b"]),
        ({"type": "array", "prefixItems": [{"type": "null"}], "minItems": 2, "items": {"type": "boolean"}}, [None, True]),
        (None, "sample"),
        (False, "sample"),
    ],
)  # fmt: skip
def test_values_are_plain(schema: Any, value: Any) -> None:
    assert sample(schema) == value


def test_schemas_without_an_end_make_values_with_one() -> None:
    endless = {"$ref": "#/$defs/node", "$defs": {"node": {
        "type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}, "required": ["next"],
    }}}  # fmt: skip
    assert json.dumps(sample(endless)).count("next") < 20
    wide = {"type": "array", "items": {"type": "array", "items": {"type": "null"}, "minItems": 1e9}, "minItems": 1e9}
    assert json.dumps(sample(wide)).count("null") <= MEMBER_LIMIT
    assert len(sample({"type": "string", "minLength": 1e12})) < 10_000

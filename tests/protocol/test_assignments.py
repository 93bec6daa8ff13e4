"""`key=value` arguments of the command line."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.errors import UsageError
from inspector.protocol.assignments import parse_assignments

SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "count": {"type": "integer"},
        "ratio": {"type": "number"},
        "flag": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "numbers": {"type": ["array", "null"], "items": {"type": "integer"}},
        "colours": {"type": "array", "items": {"enum": ["red", "blue"]}},
        "where": {"type": "object", "properties": {"city": {"type": "string"}, "zip": {"type": "integer"}}},
        "a.b": {"type": "integer"},
        "any": {},
        "colour": {"oneOf": [{"const": 1, "title": "Red"}, {"const": 2, "title": "Blue"}]},
        "maybe": {"type": ["integer", "null"]},
    },
}


@pytest.mark.parametrize("kind", ["date-time", "mixed", "any", "int", ["mixed", "null"]])
def test_a_type_that_json_schema_does_not_have_takes_text_as_it_is_written(kind: Any) -> None:
    schema = {"type": "object", "properties": {"x": {"type": kind}}}
    assert parse_assignments(["x=2026-01-01"], schema).value == {"x": "2026-01-01"}
    assert parse_assignments(["x=hello"], schema).value == {"x": "hello"}


@pytest.mark.parametrize(
    ("words", "value"),
    [
        (["text=5"], {"text": "5"}),
        (["text="], {"text": ""}),
        (["text=a=b"], {"text": "a=b"}),
        (["text=line\nbreak"], {"text": "line\nbreak"}),
        (["count=5"], {"count": 5}),
        (["count=123456789012345678901234567890"], {"count": 123456789012345678901234567890}),
        (["ratio=1e3"], {"ratio": 1000.0}),
        (["flag=true"], {"flag": True}),
        (["tags=a", "tags=b"], {"tags": ["a", "b"]}),
        (["tags=a"], {"tags": ["a"]}),
        (['tags=["x","y"]'], {"tags": ["x", "y"]}),
        (["tags.0=a", "tags.1=b"], {"tags": ["a", "b"]}),
        (["numbers=1", "numbers=2"], {"numbers": [1, 2]}),
        (["numbers=null"], {"numbers": None}),
        (["colours=red"], {"colours": ["red"]}),
        (["where.city=Graz", "where.zip=8010"], {"where": {"city": "Graz", "zip": 8010}}),
        (['where={"city":"Graz"}'], {"where": {"city": "Graz"}}),
        (['where:={"city":"Graz"}', "where.zip=1"], {"where": {"city": "Graz", "zip": 1}}),
        (["a.b=1"], {"a.b": 1}),
        (["any=5"], {"any": 5}),
        (["any=five"], {"any": "five"}),
        (["any.x.y=1"], {"any": {"x": {"y": 1}}}),
        (["colour=Blue"], {"colour": 2}),
        (["colour=1"], {"colour": 1}),
        (["maybe=null"], {"maybe": None}),
        (["text:=5"], {"text": 5}),
        (['count:="x"'], {"count": "x"}),
        (["count=1", "text=x"], {"text": "x", "count": 1}),
        ([], {}),
    ],
)
def test_words_become_values_typed_by_the_schema(words: list[str], value: Any) -> None:
    assignments = parse_assignments(words, SCHEMA)
    assert assignments.value == value
    assert assignments.warnings == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["text"], "text is not of the form key=value"),
        (["=x"], "=x is not of the form key=value"),
        (["count=abc"], "count: abc is not a whole number"),
        (["flag=maybe"], "flag: maybe must be true or false"),
        (["numbers=x"], "numbers: x is not a whole number"),
        (["where=x"], "where: x is not JSON"),
        (["tags=[1"], "tags: [1 is not JSON"),
        (["any:={"], "any: { is not JSON"),
        (["any:=" + "[" * 200_000], "nested too deeply"),
        (["text=a", "text=b"], "text is given twice"),
        (["tags=a", 'tags=["b"]'], "tags is given twice"),
        (['tags=["b"]', "tags=a"], "tags is given twice"),
        (["any=1", "any.x=2"], "any.x is inside a value that another word has set"),
        (["any.x=2", "any=1"], "any is given twice"),
        (["tags.5=a"], "no field"),
        (["count=\x1b[2J"], "count: ␛[2J is not a whole number"),
    ],
)
def test_what_cannot_be_meant_is_an_error(words: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_assignments(words, SCHEMA)
    assert message in caught.value.message


def test_a_key_the_schema_does_not_know_is_sent_with_a_warning() -> None:
    assignments = parse_assignments(["txet=x", "where.ciyt=5", "zzz=[1]"], SCHEMA)
    assert assignments.value == {"txet": "x", "where": {"ciyt": 5}, "zzz": [1]}
    assert assignments.warnings[0] == "The schema has no txet; did you mean text?"
    assert assignments.warnings[1] == "The schema has no where.ciyt; did you mean city?"
    assert assignments.warnings[2].startswith("The schema has no zzz; it has text, count,")


def test_a_schema_that_says_nothing_warns_of_nothing() -> None:
    for schema in (None, True, {}, {"type": "object"}, {"properties": {"a": {}}, "additionalProperties": True}):
        assert parse_assignments(["x=1", "y=a"], schema) == ({"x": 1, "y": "a"}, [])


@given(st.lists(st.text(st.sampled_from("ab.=:0[{\"'}]tags\n"), max_size=8), max_size=4))
def test_no_words_raise_anything_but_a_usage_error(words: list[str]) -> None:
    try:
        assignments = parse_assignments(words, SCHEMA)
    except UsageError:
        return
    assert isinstance(assignments.value, dict)


EMAIL = {"type": "object", "properties": {"kind": {"const": "email"}, "to": {"type": "string"}}}
SMS = {
    "type": "object",
    "properties": {"kind": {"const": "sms"}, "phone": {"type": "string"}, "n": {"type": "integer"}},
}
NUMBERED = {"type": "object", "properties": {"kind": {"const": "7"}, "phone": {"type": "integer"}}}
VARIANTS = [{**variant, "required": list(variant["properties"])[:2]} for variant in (EMAIL, SMS, NUMBERED)]


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
@pytest.mark.parametrize(
    ("words", "value"),
    [
        (["kind=sms", "phone=123", "n=2"], {"kind": "sms", "phone": "123", "n": 2}),
        (["kind=7", "phone=123"], {"kind": "7", "phone": 123}),
        (["phone=123"], {"phone": "123"}),
        (["to=5"], {"to": "5"}),
    ],
)
def test_all_arguments_together_choose_the_variant(keyword: str, words: list[str], value: Any) -> None:
    schema = {"type": "object", keyword: VARIANTS}
    for order in permutations(words):
        assert parse_assignments(list(order), schema) == (value, [])
        inner = parse_assignments([f"at.{word}" for word in order], {"type": "object", "properties": {"at": schema}})
        assert inner == ({"at": value}, [])

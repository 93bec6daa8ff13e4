"""Changes of JSON Schemas: what breaks inputs, what breaks outputs, what cannot be told; and nothing breaks us."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.compare.schemas import compare_schemas


def told(a: Any, b: Any) -> list[tuple[str, str, str]]:
    return [(change.place, change.effect, change.what) for change in compare_schemas(a, b)]


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


STRING, NUMBER, INTEGER, NULL = ({"type": name} for name in ("string", "number", "integer", "null"))
WORDS = st.sampled_from([
    "type", "properties", "items", "anyOf", "allOf", "oneOf", "$ref", "$defs", "required", "enum", "const", "minimum",
    "additionalProperties", "pattern", "not", "a", "#", "#/$defs/a", "string", "number", "object", "dependentRequired",
    "prefixItems", "multipleOf", "default", "description", "patternProperties", "$anchor", "uniqueItems",
])  # fmt: skip
SCHEMAS = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), WORDS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(WORDS, inner, max_size=6)),
    max_leaves=30,
)


@given(SCHEMAS, SCHEMAS)
def test_whatever_stands_in_the_place_of_a_schema_is_compared(a: Any, b: Any) -> None:
    for change in compare_schemas(a, b):
        assert change.severity("input") in ("breaking", "unsure", "changed", "added", "cosmetic")
        assert change.severity("output") in ("breaking", "unsure", "changed", "added", "cosmetic")


@given(SCHEMAS)
def test_a_schema_does_not_differ_from_itself(schema: Any) -> None:
    assert compare_schemas(schema, schema) == []


OPPOSITE = {"narrower": "wider", "wider": "narrower", "both": "both"}


@pytest.mark.parametrize(
    ("a", "b", "effect", "what"),
    [
        (STRING, NUMBER, "both", "type string → number"),
        (INTEGER, NUMBER, "wider", "type integer → number"),
        (STRING, {"type": ["string", "null"]}, "wider", "type string → string or null"),
        ({}, STRING, "narrower", "type any → string"),
        ({"enum": ["a", "b"]}, {"enum": ["b", "a", "c"]}, "wider", 'allows "c" too'),
        ({"enum": [1, 2]}, {"enum": [1]}, "narrower", "no longer allows 2"),
        ({"const": 1}, {"enum": [1, 2]}, "wider", "allows 2 too"),
        (STRING, {"type": "string", "enum": ["a"]}, "narrower", 'allows only "a" now'),
        (NUMBER, {"type": "number", "minimum": 0}, "narrower", "minimum none → 0"),
        ({"maximum": 5}, {"maximum": 9}, "wider", "maximum 5 → 9"),
        ({"minLength": 3}, {}, "wider", "minLength 3 → 0"),
        ({"maxItems": 3}, {"maxItems": 2}, "narrower", "maxItems 3 → 2"),
        ({"multipleOf": 2}, {"multipleOf": 4}, "narrower", "multipleOf 2 → 4"),
        ({"multipleOf": 0.1}, {"multipleOf": 0.3}, "narrower", "multipleOf 0.1 → 0.3"),
        ({"multipleOf": 2}, {"multipleOf": 3}, "both", "multipleOf 2 → 3"),
        ({}, {"uniqueItems": True}, "narrower", "items must differ now"),
        ({}, {"pattern": "^a"}, "narrower", "must match a pattern now"),
        (of(a=STRING), of(a=STRING) | {"required": ["a"]}, "narrower", "is required now"),
        ({}, {"additionalProperties": False}, "narrower", "no longer allows other properties"),
        ({"items": False}, {}, "wider", "allows other items"),
        ({"anyOf": [STRING, NULL]}, {"anyOf": [STRING, NULL, NUMBER]}, "wider", "allows number too"),
        (STRING, {"anyOf": [STRING, NULL]}, "wider", "allows null too"),
        ({"type": ["string", "null"]}, {"anyOf": [STRING]}, "narrower", "no longer allows null"),
        ({}, {"allOf": [{"title": "Named"}]}, "narrower", "must match Named as well"),
        ({}, {"dependentRequired": {"a": ["b"]}}, "narrower", "a requires b now"),
        (True, False, "narrower", "allows nothing now"),
    ],
)
def test_a_change_narrows_or_widens_and_the_other_way_round(a: Any, b: Any, effect: str, what: str) -> None:
    (found,) = told(a, b)
    assert found[1:] == (effect, what)
    (back,) = told(b, a)
    assert back[1] == OPPOSITE[effect]


@pytest.mark.parametrize(
    ("a", "b", "what"),
    [
        ({"pattern": "^a"}, {"pattern": "^b"}, "pattern changed"),
        ({"format": "date"}, {"format": "date-time"}, "format changed"),
        ({"if": {"a": 1}}, {}, "if is gone"),
        ({"not": STRING}, {"not": NUMBER}, "not changed"),
        ({}, {"x-mcp-header": "Region"}, "x-mcp-header is new"),
        ({"type": 3}, {"type": {}}, "type is unknown in JSON Schema"),
        ({"minimum": "0"}, {"minimum": 1}, 'minimum "0" → 1'),
        ({"$ref": "https://host.example/a"}, {"$ref": "https://host.example/b"}, "refers to a schema elsewhere"),
        ([], "", "is not a schema"),
        ({"patternProperties": {"^x": {}}}, {}, "is no longer a pattern of names"),
    ],
)
def test_what_cannot_be_told_is_reported_to_be_so(a: Any, b: Any, what: str) -> None:
    ((_, effect, phrase),) = told(a, b)
    assert (effect, phrase) == ("unsure", what)


def test_narrower_breaks_inputs_and_wider_breaks_outputs() -> None:
    (narrower,) = compare_schemas({}, STRING)
    (wider,) = compare_schemas(STRING, {})
    assert (narrower.severity("input"), narrower.severity("output")) == ("breaking", "changed")
    assert (wider.severity("input"), wider.severity("output")) == ("changed", "breaking")


def test_properties_come_and_go() -> None:
    a, b = of(kept=STRING, gone=STRING), of(kept=STRING, new=NUMBER, needed=NUMBER) | {"required": ["needed"]}
    assert told(a, b) == [
        ("gone", "removed", "is gone"),
        ("new", "added", "is new"),
        ("needed", "narrower", "is new, and required"),
    ]
    assert compare_schemas(a, b)[0].severity("input") == "breaking"
    assert compare_schemas(a, b)[0].severity("output") == "breaking"


def test_a_new_property_breaks_an_output_that_allowed_no_other() -> None:
    (change,) = compare_schemas(of() | {"additionalProperties": False}, of(x=STRING) | {"additionalProperties": False})
    assert (change.severity("output"), change.severity("input")) == ("breaking", "changed")


def test_places_are_reported_in_words_of_the_data() -> None:
    a = of(filters={"type": "array", "items": of(name=STRING)}, map={"additionalProperties": of(x=STRING)})
    b = of(filters={"type": "array", "items": of(name=NUMBER)}, map={"additionalProperties": of(x=NUMBER)})
    assert [place for place, _, _ in told(a, b)] == ["filters[].name", "map.*.x"]
    assert told({"prefixItems": [STRING]}, {"prefixItems": [NUMBER]})[0][0] == "[0]"
    assert told({"items": [STRING]}, {"prefixItems": [STRING]}) == []


def test_words_and_defaults_are_reported() -> None:
    a, b = of(x={"description": "old", "default": 1}), of(x={"description": "new", "default": 2, "deprecated": True})
    found = compare_schemas(a, b)
    assert [(change.effect, change.what, change.a, change.b) for change in found] == [
        ("words", "description changed", "old", "new"),
        ("default", "default changed", 1, 2),
        ("cosmetic", "is now deprecated", None, None),
    ]
    assert found[1].severity("input") == "changed"
    assert found[1].severity("output") == "cosmetic"


def test_a_default_of_1_point_0_is_not_1() -> None:
    assert told({"default": 1}, {"default": 1.0}) == [("", "default", "default changed")]


def test_order_of_names_means_nothing() -> None:
    assert told({"required": ["a", "b"], "enum": [1, 2]}, {"required": ["b", "a"], "enum": [2, 1]}) == []


def test_enumerated_values_have_their_types_without_naming_them() -> None:
    assert told({"enum": ["a"]}, {"enum": ["a"], "type": "string"}) == []


def test_references_are_followed_inside_the_document() -> None:
    plain = of(x=STRING)
    for reference, where in (
        ("#/$defs/a", {"$defs": {"a": STRING}}),
        ("#named", {"$defs": {"a": {"$anchor": "named", "type": "string"}}}),
        ("https://host.example/s#/definitions/a~1b", {"$id": "https://host.example/s", "definitions": {"a/b": STRING}}),
    ):
        assert told(plain, of(x={"$ref": reference}) | where) == []
    a = of(x={"$ref": "#/$defs/a"}) | {"$defs": {"a": STRING}}
    b = of(x={"$ref": "#/$defs/a"}) | {"$defs": {"a": NUMBER}}
    assert told(a, b) == [("x", "both", "type string → number")]


def test_what_stands_beside_a_reference_counts() -> None:
    a = of(x={"$ref": "#/$defs/a", "minimum": 1}) | {"$defs": {"a": NUMBER}}
    b = of(x={"$ref": "#/$defs/a", "minimum": 2}) | {"$defs": {"a": NUMBER}}
    assert told(a, b) == [("x", "narrower", "minimum 1 → 2")]


@pytest.mark.parametrize("beside", [{}, {"description": "again"}])
def test_a_schema_that_refers_to_itself_ends(beside: dict[str, Any]) -> None:
    def tree(leaf: dict[str, Any]) -> dict[str, Any]:
        return of(value=leaf, children={"type": "array", "items": {"$ref": "#", **beside}})

    assert ("value", "both", "type string → number") in told(tree(STRING), tree(NUMBER))


def test_references_in_a_circle_end() -> None:
    a = {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}
    assert told(a, STRING)[0][1] == "unsure"
    assert told({"$ref": "#"}, STRING)[0][1] == "unsure"


@pytest.mark.slow
def test_a_very_deep_or_wide_schema_is_reported_to_be_too_much() -> None:
    a, b = STRING, NUMBER
    for _ in range(3000):
        a, b = {"items": a}, {"items": b}
    ((_, effect, what),) = told(a, b)
    assert (effect, what) == ("unsure", "is too deep or too large to compare")
    wide = compare_schemas(
        of(**{f"p{n}": STRING for n in range(12_000)}), of(**{f"p{n}": NUMBER for n in range(12_000)})
    )
    assert {change.effect for change in wide} == {"both", "unsure"}


def test_alternatives_are_paired_by_what_they_are() -> None:
    a = {"anyOf": [{"title": "One", "minimum": 1}, {"$ref": "#/$defs/Two"}], "$defs": {"Two": of(x=STRING)}}
    b = {"anyOf": [{"$ref": "#/$defs/Two"}, {"title": "One", "minimum": 2}], "$defs": {"Two": of(x=NUMBER)}}
    assert told(a, b) == [("|One", "narrower", "minimum 1 → 2"), ("|Two.x", "both", "type string → number")]

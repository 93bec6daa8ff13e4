"""Changes of JSON Schemas: what breaks inputs, what breaks outputs, what cannot be told; and nothing breaks us."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.compare.schema_changes import Side
from inspector.compare.schema_forms import Effort
from inspector.compare.schemas import SchemaChange, compare_schemas
from inspector.protocol.validation import Validator
from tests.conftest import SLOW

PAIRS = [json.loads(line) for line in (Path(__file__).parent / "schema_pairs.jsonl").read_text().splitlines()]
"""Pairs of schemas of an input, each with its verdict: `breaking` with a value that proves it, `safe`, or `same`."""


SIDES: tuple[Side, ...] = ("input", "output")


def changed(a: Any, b: Any) -> list[tuple[str, str, str]]:
    return [(change.place, change.effect, change.what) for change in compare_schemas(a, b, "input")]


def severity(a: Any, b: Any, side: Side = "input") -> str:
    (change,) = compare_schemas(a, b, side)
    return change.severity


def verdict(changes: list[SchemaChange]) -> str:
    severities = {change.severity for change in changes}
    return next((word for word in ("breaking", "unsure") if word in severities), "safe" if changes else "same")


def size(value: Any) -> int:
    return len(json.dumps(value))


def of(*required: str, **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties}
    return schema | {"required": list(required)} if required else schema


STRING, NUMBER, INTEGER, NULL, BOOLEAN = ({"type": name} for name in ("string", "number", "integer", "null", "boolean"))

# Pairs with proven verdicts

SCALARS = st.sampled_from([None, True, False, 0, 1, 2, 3, 5, 6, 9, -1, 0.5, "", "a", "ab", "abc", "aaaa", "s"])
NAMES = st.sampled_from(["a", "b", "c", "k", "v", "x", "y", "n", "t", "f"])
VALUES = st.recursive(
    SCALARS, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3))
)


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["about"])
def test_a_pair_gets_its_verdict(pair: dict[str, Any], mirrored: bool) -> None:
    a, b = pair["a"], pair["b"]
    changes = compare_schemas(b, a, "output") if mirrored else compare_schemas(a, b, "input")
    assert verdict(changes) == pair["verdict"]
    for change in changes:
        for value in change.witness:
            assert change.severity == "breaking"
            assert Validator(a).is_valid(value)
            assert not Validator(b).is_valid(value)
    if pair["verdict"] == "breaking":
        assert min(size(value) for change in changes for value in change.witness) <= size(pair["witness"])


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["about"])
def test_the_verdict_of_a_pair_is_proven_by_its_witness(pair: dict[str, Any]) -> None:
    assert ("witness" in pair) == (pair["verdict"] == "breaking")
    if "witness" in pair:
        assert Validator(pair["a"]).is_valid(pair["witness"])
        assert not Validator(pair["b"]).is_valid(pair["witness"])


@settings(max_examples=25, suppress_health_check=SLOW, deadline=None)
@given(st.lists(VALUES, min_size=40, max_size=60))
@pytest.mark.slow
def test_no_value_contradicts_the_verdict_of_a_pair(values: list[Any]) -> None:
    for pair in PAIRS:
        if pair["verdict"] != "breaking":
            a, b = Validator(pair["a"]), Validator(pair["b"])
            for value in values:
                before, after = a.is_valid(value), b.is_valid(value)
                assert before == after if pair["verdict"] == "same" else after or not before, (pair["about"], value)


def test_there_are_pairs_of_each_verdict() -> None:
    counts = {word: sum(pair["verdict"] == word for pair in PAIRS) for word in ("breaking", "safe", "same")}
    assert len(PAIRS) >= 60
    assert min(counts.values()) >= 8


# Random schemas. Each object lists the names of its level, because a member that a schema does not name is not sent.

LEVELS = (("a", "b"), ("c", "d"))
PLAIN: dict[str, list[Any]] = {
    "type": ["string", "integer", "number", "object", "array", "null", ["string", "object"]],
    "enum": [[0, 1], [1.5, "", None], ["x", True, []]],
    "const": [0, 1, "x"],
    "minimum": [0, 1, 1.5],
    "exclusiveMinimum": [0, 1],
    "maximum": [0, 1, 2.5],
    "multipleOf": [1, 2, 0.5],
    "minLength": [0, 1],
    "maxLength": [0, 1],
    "pattern": ["^x", "x$"],
    "minItems": [0, 1],
    "maxItems": [0, 1],
    "uniqueItems": [True, False],
}
OBJECTS = ("required", "minProperties", "maxProperties", "additionalProperties", "dependentRequired")
INSIDE = ("items", "contains")
SEVERAL = ("anyOf", "oneOf", "allOf")
CONDITIONS = ("not", "if", "then", "else")


@st.composite
def schemas(draw: st.DrawFn, level: int = 0, *, combined: bool = True) -> dict[str, Any]:
    """A small schema with a few keywords."""
    inner = (*OBJECTS, *INSIDE, *((*SEVERAL, *CONDITIONS) if combined else ())) if level < len(LEVELS) else ()
    schema: dict[str, Any] = {}
    for key in draw(st.lists(st.sampled_from([*PLAIN, *inner, *inner]), max_size=3, unique=True)):
        if key in PLAIN:
            schema[key] = draw(st.sampled_from(PLAIN[key]))
        elif key in ("minProperties", "maxProperties"):
            schema[key] = draw(st.sampled_from([0, 1, 2]))
        elif key == "required":
            schema[key] = draw(st.lists(st.sampled_from(LEVELS[level]), min_size=1, unique=True))
        elif key == "dependentRequired":
            schema[key] = {LEVELS[level][0]: [LEVELS[level][1]]}
        elif key in SEVERAL:
            schema[key] = draw(st.lists(schemas(level, combined=False), min_size=1, max_size=3))
        elif key in CONDITIONS:
            schema[key] = draw(schemas(level, combined=False))
        else:
            schema[key] = draw(st.just(False) | schemas(level + 1, combined=False))
    if level < len(LEVELS):
        schema["properties"] = {name: draw(schemas(level + 1, combined=False)) for name in LEVELS[level]}
    return schema


def values(level: int = 0) -> st.SearchStrategy[Any]:
    plain = st.sampled_from([None, True, False, 0, 1, 2, 3, 0.5, 1.5, "", "x", "xx", "yx", []])
    if level == len(LEVELS):
        return plain
    below = values(level + 1)
    members = st.dictionaries(st.sampled_from([*LEVELS[level], "other"]), below, max_size=3)
    return st.one_of(plain, st.lists(below, max_size=2), members)


@settings(max_examples=150, suppress_health_check=SLOW, deadline=None)
@given(schemas(), st.data(), st.lists(values(), min_size=30, max_size=40))
@pytest.mark.slow
def test_no_value_contradicts_what_is_called_safe(a: dict[str, Any], data: st.DataObject, instances: list[Any]) -> None:
    kept = data.draw(st.sets(st.sampled_from(sorted(a))))
    b = data.draw(schemas()) | {key: a[key] for key in kept}  # Otherwise nearly every change breaks.
    old, new = Validator(a), Validator(b)
    matching = [(value, old.is_valid(value), new.is_valid(value)) for value in instances]
    sides: list[tuple[Side, Any, Any]] = [("input", old, new), ("output", new, old)]
    for side, first, second in sides:
        changes = compare_schemas(a, b, side)
        for change in changes:
            for value in change.witness:
                assert change.severity == "breaking"
                assert first.is_valid(value)
                assert not second.is_valid(value)
        if verdict(changes) in ("safe", "same"):
            bad = [
                value for value, before, after in matching if (before > after if side == "input" else after > before)
            ]
            assert not bad, (side, changes)
        if not changes:
            assert all(before == after for _, before, after in matching)


# Whatever stands there

WORDS = st.sampled_from([
    "type", "properties", "items", "anyOf", "allOf", "oneOf", "$ref", "$defs", "required", "enum", "const", "minimum",
    "additionalProperties", "pattern", "not", "a", "#", "#/$defs/a", "string", "number", "object", "dependentRequired",
    "prefixItems", "multipleOf", "default", "description", "patternProperties", "$anchor", "uniqueItems", "if", "then",
    "dependencies", "$schema", "$id", "contains", "propertyNames", "unevaluatedProperties", "maxLength", "format",
])  # fmt: skip
SCHEMAS = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), WORDS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(WORDS, inner, max_size=6)),
    max_leaves=30,
)


@given(SCHEMAS, SCHEMAS)
def test_whatever_stands_in_the_place_of_a_schema_is_compared(a: Any, b: Any) -> None:
    for side in SIDES:
        for change in compare_schemas(a, b, side):
            assert change.severity in ("breaking", "unsure", "changed", "added", "cosmetic")


@given(SCHEMAS)
def test_a_schema_does_not_differ_from_itself(schema: Any) -> None:
    assert compare_schemas(schema, schema, "input") == []


# The phrases

OPPOSITE = {"narrower": "wider", "wider": "narrower", "both": "both"}


@pytest.mark.parametrize(
    ("a", "b", "effect", "what"),
    [
        (STRING, NUMBER, "both", "type string → number"),
        (INTEGER, NUMBER, "wider", "type integer → number"),
        (STRING, {"type": ["string", "null"]}, "wider", "allows null too"),
        ({}, STRING, "narrower", "type any → string"),
        ({"enum": ["a", "b"]}, {"enum": ["b", "a", "c"]}, "wider", 'allows "c" too'),
        ({"enum": [1, 2]}, {"enum": [1]}, "narrower", "no longer allows 2"),
        ({"const": 1}, {"enum": [1, 2]}, "wider", "allows 2 too"),
        (STRING, {"type": "string", "enum": ["a"]}, "narrower", 'allows only "a" now'),
        (NUMBER, {"type": "number", "minimum": 0}, "narrower", "minimum none → 0"),
        (NUMBER, {"type": "number", "exclusiveMaximum": 9}, "narrower", "exclusiveMaximum none → 9"),
        ({"minimum": 1}, {"exclusiveMinimum": 1}, "narrower", "minimum 1 → exclusiveMinimum 1"),
        ({"maximum": 5}, {"maximum": 9}, "wider", "maximum 5 → 9"),
        ({"minLength": 3}, {}, "wider", "minLength 3 → 0"),
        ({"maxItems": 3}, {"maxItems": 2}, "narrower", "maxItems 3 → 2"),
        ({"multipleOf": 2}, {"multipleOf": 4}, "narrower", "multipleOf 2 → 4"),
        ({"multipleOf": 0.1}, {"multipleOf": 0.3}, "narrower", "multipleOf 0.1 → 0.3"),
        ({"multipleOf": 2}, {"multipleOf": 3}, "both", "multipleOf 2 → 3"),
        ({}, {"uniqueItems": True}, "narrower", "items must differ now"),
        ({}, {"pattern": "^a"}, "narrower", "must match a pattern now"),
        (of(a=STRING), of("a", a=STRING), "narrower", "is required now"),
        ({}, {"additionalProperties": False}, "narrower", "no longer allows other properties"),
        ({"items": False}, {}, "wider", "maxItems 0 → none"),
        ({"anyOf": [STRING, NULL]}, {"anyOf": [STRING, NULL, NUMBER]}, "wider", "allows number too"),
        (STRING, {"anyOf": [STRING, NULL]}, "wider", "allows null too"),
        ({"type": ["string", "null"]}, {"anyOf": [STRING]}, "narrower", "no longer allows null"),
        ({}, {"allOf": [{"minLength": 1}]}, "narrower", "minLength 0 → 1"),
        ({}, {"dependentRequired": {"a": ["b"]}}, "narrower", "a requires b now"),
        (True, False, "narrower", "allows nothing now"),
    ],
)
def test_a_change_narrows_or_widens_and_the_other_way_round(a: Any, b: Any, effect: str, what: str) -> None:
    (forth,) = changed(a, b)
    assert forth[1:] == (effect, what)
    (back,) = changed(b, a)
    assert back[1] == OPPOSITE[effect]


@pytest.mark.parametrize(
    ("a", "b", "what"),
    [
        ({"pattern": "(?=é)"}, {"pattern": "(?=ü)"}, "pattern changed"),
        ({"format": "of-ours"}, {"format": "of-others"}, "format changed"),
        ({}, {"format": "of-ours"}, "format is new"),
        ({}, {"x-mcp-header": "Region"}, "x-mcp-header is new"),
        ({"minimum": "0"}, {"minimum": 1}, "minimum changed"),
        ({"$ref": "https://host.example/a"}, {"$ref": "https://host.example/b"}, "refers to a schema elsewhere"),
        ([], "", "is not a schema"),
        ({"pattern": "^[a-z]{2}$"}, {"pattern": "^[a-z]{2}$", "maxLength": 2}, "maxLength none → 2"),
        (
            {"$defs": {"a": {"$id": "c:d", "pattern": "(?=é)"}}, "$ref": "#/$defs/a"},
            {"$defs": {"a": {"$id": "c:d", "pattern": "(?=ü)"}}, "$ref": "#/$defs/a"},
            "refers to a schema elsewhere",
        ),
    ],
)
def test_what_cannot_be_told_is_reported_to_be_so(a: Any, b: Any, what: str) -> None:
    ((_, effect, phrase),) = changed(a, b)
    assert (effect, phrase) == ("unsure", what)


def test_a_condition_that_is_written_as_alternatives_is_not_called_breaking() -> None:
    kinds = {"properties": {"m": {"enum": ["a", "b"]}, "v": INTEGER}, "type": "object", "required": ["m"]}
    a = kinds | {"if": {"properties": {"m": {"const": "a"}}}, "then": {"required": ["v"]}}
    b = kinds | {"anyOf": [{"properties": {"m": {"const": "b"}}}, {"required": ["v"]}]}
    assert [verdict(compare_schemas(*pair)) for pair in ((a, b, "input"), (b, a, "output"))] == ["unsure", "unsure"]


def test_a_schema_that_is_not_valid_is_compared_as_far_as_it_can_be_read() -> None:
    assert ("x", "removed", "is gone") in changed(of(x=STRING, y={"type": 3}), of(y={"type": 3}))
    assert changed(of(y={"type": 3}), of(y={"type": 3, "description": "y"})) == [("y", "words", "description is new")]


def test_narrower_breaks_inputs_and_wider_breaks_outputs() -> None:
    assert (severity({}, STRING), severity({}, STRING, "output")) == ("breaking", "changed")
    assert (severity(STRING, {}), severity(STRING, {}, "output")) == ("changed", "breaking")


def test_properties_come_and_go() -> None:
    a, b = of(kept=STRING, gone=STRING), of("needed", kept=STRING, new=NUMBER, needed=NUMBER)
    assert changed(a, b) == [
        ("gone", "removed", "is gone"),
        ("new", "added", "is new"),
        ("needed", "narrower", "is new, and required"),
    ]
    assert [compare_schemas(a, b, side)[0].severity for side in ("input", "output")] == ["breaking", "breaking"]
    assert changed(of(x={"title": "X"}), of()) == [("x", "removed", "is gone")]
    assert changed(of(), of(x={"title": "X"})) == [("x", "added", "is new")]


def test_a_new_property_breaks_an_output_that_allowed_no_other() -> None:
    closed = {"additionalProperties": False}
    assert severity(of() | closed, of(x=STRING) | closed, "output") == "breaking"
    assert severity(of() | closed, of(x=STRING) | closed) == "changed"


def test_places_are_reported_in_words_of_the_data() -> None:
    a = of(filters={"type": "array", "items": of(name=STRING)}, map={"additionalProperties": of(x=STRING)})
    b = of(filters={"type": "array", "items": of(name=NUMBER)}, map={"additionalProperties": of(x=NUMBER)})
    assert [place for place, _, _ in changed(a, b)] == ["filters[].name", "map.*.x"]
    assert changed({"prefixItems": [STRING]}, {"prefixItems": [NUMBER]})[0][0] == "[0]"


def test_a_value_proves_each_change_by_itself() -> None:
    a = of("id", id=STRING, size={"type": "integer", "minimum": 0, "maximum": 9})
    b = of("id", id=STRING, size={"type": "integer", "minimum": 1, "maximum": 8})
    witnesses = {change.what: change.witness for change in compare_schemas(a, b, "input")}
    assert witnesses == {"minimum 0 → 1": ({"id": "", "size": 0},), "maximum 9 → 8": ({"id": "", "size": 9},)}


def test_words_and_defaults_are_reported() -> None:
    a, b = of(x={"description": "old", "default": 1}), of(x={"description": "new", "default": 2, "deprecated": True})
    changes = compare_schemas(a, b, "input")
    assert [(change.effect, change.what, change.a, change.b) for change in changes] == [
        ("words", "description changed", "old", "new"),
        ("default", "default changed", 1, 2),
        ("cosmetic", "is now deprecated", None, None),
    ]
    assert [compare_schemas(a, b, side)[1].severity for side in ("input", "output")] == ["changed", "cosmetic"]


@pytest.mark.parametrize(
    ("where", "place"),
    [
        (lambda text: {"anyOf": [{"const": 1, "description": text}, {"const": 2}]}, "|1"),
        (lambda text: {"$ref": "#/$defs/a", "$defs": {"a": {"type": "string", "description": text}}}, ""),
        (lambda text: {"if": {"description": text}}, "(if)"),
        (lambda text: {"type": "string", "$defs": {"unused": {"description": text}}}, "$defs.unused"),
        (lambda text: of(x={"description": "beside", "$ref": "#/$defs/a"}) | {"$defs": {"a": {"title": text}}}, "x"),
    ],
)
def test_a_changed_text_is_reported_wherever_it_stands(where: Any, place: str) -> None:
    ((named, effect, _),) = changed(where("old"), where("new"))
    assert (named, effect) == (place, "words")


def test_a_default_of_1_point_0_is_not_1() -> None:
    assert changed({"default": 1}, {"default": 1.0}) == [("", "default", "default changed")]


def test_references_are_followed_inside_the_document() -> None:
    plain = of(x=STRING)
    for reference, where in (
        ("#/$defs/a", {"$defs": {"a": STRING}}),
        ("#named", {"$defs": {"a": {"$anchor": "named", "type": "string"}}}),
        ("https://host.example/s#/definitions/a~1b", {"$id": "https://host.example/s", "definitions": {"a/b": STRING}}),
    ):
        assert changed(plain, of(x={"$ref": reference}) | where) == []
    a = of(x={"$ref": "#/$defs/a"}) | {"$defs": {"a": STRING}}
    b = of(x={"$ref": "#/$defs/a"}) | {"$defs": {"a": NUMBER}}
    assert changed(a, b) == [("x", "both", "type string → number")]


def test_what_stands_beside_a_reference_counts_with_its_target() -> None:
    def beside(least: int, **target: Any) -> dict[str, Any]:
        return of(x={"$ref": "#/$defs/a", "minimum": least}) | {"$defs": {"a": NUMBER | target}}

    assert changed(beside(1), beside(2)) == [("x", "narrower", "minimum 1 → 2")]
    assert changed(beside(1, minimum=3), beside(1, minimum=4)) == [("x", "narrower", "minimum 3 → 4")]


@pytest.mark.parametrize("beside", [{}, {"description": "again"}])
def test_a_schema_that_refers_to_itself_ends(beside: dict[str, Any]) -> None:
    def tree(leaf: dict[str, Any]) -> dict[str, Any]:
        return of(value=leaf, children={"type": "array", "items": {"$ref": "#", **beside}})

    assert changed(tree(STRING), tree(NUMBER)) == [("value", "both", "type string → number")]


def test_references_in_a_circle_end() -> None:
    a = {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}
    for circular in (a, {"not": {"$ref": "#"}}, {"oneOf": [STRING, {"$ref": "#"}]}):
        for side in SIDES:
            assert verdict(compare_schemas(circular, STRING, side)) in ("breaking", "unsure")


def test_alternatives_are_paired_by_what_they_are() -> None:
    one = {"title": "One", "type": "object", "minProperties": 1}
    a = {"anyOf": [one, {"$ref": "#/$defs/Two"}], "$defs": {"Two": of("x", x=STRING)}}
    b = {"anyOf": [{"$ref": "#/$defs/Two"}, one | {"minProperties": 2}], "$defs": {"Two": of("x", x=NUMBER)}}
    assert changed(a, b) == [
        ("|One", "narrower", "minProperties 1 → 2"),
        ("|Two.x", "narrower", "type string → number"),
    ]


def test_a_change_beside_alternatives_is_told_once() -> None:
    def either(leaf: dict[str, Any]) -> dict[str, Any]:
        return of(x=leaf, y=STRING) | {"anyOf": [{"title": "A", "required": ["x"]}, {"title": "B", "required": ["y"]}]}

    assert changed(either(STRING), either(NUMBER)) == [("x", "both", "type string → number")]


# Bounds

DEEP = 3_000


def nested(leaf: dict[str, Any], levels: int, key: str) -> dict[str, Any]:
    for _ in range(levels):
        leaf = {key: [leaf] if key in ("anyOf", "allOf") else leaf}
    return leaf


def doubling(leaf: dict[str, Any]) -> dict[str, Any]:
    """A schema whose definitions each refer to the next one twice."""
    steps = {f"d{n}": of(a={"$ref": f"#/$defs/d{n + 1}"}, b={"$ref": f"#/$defs/d{n + 1}"}) for n in range(40)}
    return {"$ref": "#/$defs/d0", "$defs": steps | {"d40": leaf}}


HOSTILE = {
    "deep": (nested(STRING, DEEP, "items"), nested(NUMBER, DEEP, "items")),
    "deep alternatives": (nested(STRING, 90, "anyOf"), nested(NUMBER, 90, "anyOf")),
    "wide": (of(**{f"p{n}": STRING for n in range(900)}), of(**{f"p{n}": NUMBER for n in range(900)})),
    "doubling": (doubling(STRING), doubling(NUMBER)),
    "overlapping": (
        {"oneOf": [of(**{f"k{n}": INTEGER}) for n in range(60)]},
        {"oneOf": [of(**{f"k{n}": INTEGER}) for n in range(61)]},
    ),
    "branching": (
        {"anyOf": [{"type": "array", "items": {"$ref": "#"}, "minItems": n} for n in range(40)]},
        {"anyOf": [{"type": "array", "items": {"$ref": "#"}, "maxItems": n} for n in range(40)]},
    ),
    "combinations": (
        {"dependentSchemas": {f"x{n}": {"required": [f"y{n}"]} for n in range(40)}},
        {"dependentSchemas": {f"x{n}": {"required": [f"z{n}"]} for n in range(40)}},
    ),
    "regex": ({"pattern": "^(a{1,500}){1,3}$", "minLength": 999}, {"pattern": "^(a+)+b$", "minLength": 999}),
    "huge": ({"minItems": 10**9, "minimum": 10**5_000}, {"minItems": 10**9 + 1, "minimum": 10**5_001}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_schema_takes_a_bounded_number_of_steps(name: str) -> None:
    a, b = HOSTILE[name]
    for side in SIDES:
        effort = Effort(40_000)
        changes = compare_schemas(a, b, side, effort)
        assert effort.left > -3_000
        assert side == "output" or verdict(changes) in ("breaking", "unsure")


NESTED: dict[str, Any] = {
    "items": lambda inner: {"items": inner},
    "members": lambda inner: of("x", x=inner),
    "alternatives": lambda inner: {"anyOf": [of("x", x=inner), NULL]},
    "parts": lambda inner: {"allOf": [inner]},
    "not": lambda inner: {"not": inner},
    "refused members": lambda inner: {"type": "object", "not": of("x", x=inner)},
    "others": lambda inner: {"additionalProperties": inner},
    "names": lambda inner: {"propertyNames": inner},
    "contained": lambda inner: {"contains": inner},
    "dependent": lambda inner: {"dependentSchemas": {"a": inner}},
    "condition": lambda inner: {"if": inner, "then": {"maxLength": 3}},
}


@pytest.mark.slow
@pytest.mark.parametrize("way", NESTED)
def test_a_deep_schema_is_compared_without_a_deep_stack(way: str) -> None:
    def deeper(frames: int, a: Any, b: Any) -> None:
        if frames:
            deeper(frames - 1, a, b)
        else:
            compare_schemas(a, b, "input")
            compare_schemas(a, b, "output")

    a, b = STRING, NUMBER
    for levels in range(1, 90):
        a, b = NESTED[way](a), NESTED[way](b)
        if levels in (10, 22, 24, 26, 45, 89):
            deeper(250, a, b)


def test_without_effort_nothing_is_called_safe() -> None:
    for steps in (0, 1, 10, 50, 100):
        for pair in PAIRS:
            if pair["verdict"] == "breaking":
                assert verdict(compare_schemas(pair["a"], pair["b"], "input", Effort(steps))) in ("breaking", "unsure")

"""Validation: readable errors, bounded work, no network (C-BASE-13, C-BASE-14, C-BASE-15, BASE-27)."""

from __future__ import annotations

import http.server
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.errors import SchemaError
from inspector.protocol import schema_limits
from inspector.protocol.schema_limits import pattern_weight
from inspector.protocol.validation import DIALECTS, Validator

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def errors_of(schema: Any, value: Any, limit: int = 50) -> list[tuple[str, str]]:
    return [(violation.path, violation.message) for violation in Validator(schema).errors(value, limit)]


def nested(levels: int, make: Any, core: Any) -> Any:
    for _ in range(levels):
        core = make(core)
    return core


@pytest.fixture
def canary() -> Any:
    """A server on the loopback that notes every request."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"type":"integer"}')

        def log_message(self, *_: Any) -> None:
            """Keep quiet."""

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", asked
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "URL/a.json"},
        {"properties": {"x": {"$ref": "URL/a.json#/$defs/y"}}},
        {"$dynamicRef": "URL/a.json"},
        {"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "URL/a.json"},
        {"$id": "URL/root.json", "properties": {"x": {"$ref": "other.json"}}},
        {"$schema": "URL/meta.json", "type": "string"},
        {"$defs": {"never": {"$ref": "URL/a.json"}}},
        {"$defs": {"s": {"$schema": "URL/meta.json"}}, "$ref": "#/$defs/s"},
    ],
)
def test_nothing_is_fetched_or_read(schema: dict[str, Any], canary: Any, tmp_path: Path) -> None:
    """C-BASE-14."""
    url, asked = canary
    document = tmp_path / "a.json"
    document.write_text('{"type":"integer"}')
    for base in (url, tmp_path.as_uri()):
        hostile = json.loads(json.dumps(schema).replace("URL", base))
        try:
            errors = Validator(hostile).errors("text")
        except SchemaError:
            continue
        assert errors == []  # if the reference were followed, "text" would not be an integer
    assert asked == []


def test_a_reference_outside_the_schema_is_an_error_that_names_it() -> None:
    """C-BASE-15."""
    with pytest.raises(SchemaError, match=r"refers to https://example\.com/a, which is not part of it"):
        Validator({"properties": {"x": {"$ref": "https://example.com/a"}}})
    with pytest.raises(SchemaError, match=r"refers to other\.json"):
        Validator({"$ref": "other.json"})


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (None, "null, not an object"),
        ([1], "an array, not an object"),
        ("true", '"true", not an object'),
        ({"type": "strin"}, "not valid at /type"),
        ({"properties": {"a": {"required": True}}}, "not valid at /properties/a/required: expected array, got true"),
        ({"pattern": "("}, "not valid at /pattern"),
        ({"$ref": "#/$defs/nowhere"}, 'the reference "#/$defs/nowhere" has no target'),
        ({"$schema": "https://example.com/mine"}, "Unsupported dialect"),
        ({"$schema": "http://json-schema.org/draft-03/schema#"}, "Unsupported dialect"),
        ({"$schema": {"a": 1}}, "Unsupported dialect"),
        ({"type": 7}, "not valid at /type: 7 is not a JSON type"),
        ({"pattern": "["}, 'at /pattern: "[" is not a valid regular expression'),
        ({"$ref": "#here"}, 'the reference "#here" has no target'),
        ({"$ref": "::%%"}, 'the reference "::%%" cannot be followed'),
        ({"const": 10**5000}, "cannot be used: it has a value that cannot be validated"),
        (nested(150, lambda inner: {"properties": {"a": inner}}, {}), "more than 200 levels"),
        ({"enum": nested(100_000, lambda inner: [inner], 1)}, "more than 200 levels"),
        ({"allOf": [{}] * 30_000}, "more than 20,000 objects"),
        ({"enum": list(range(600_000))}, "more than 500,000 values"),
        ({"enum": ["x" * 9_000_000]}, "more than 8,000,000 characters"),
        ({"patternProperties": {f"^{n}$": True for n in range(1001)}}, "more than 1,000 patterns"),
        ({"pattern": "((a{1000}){1000}){1000}"}, "pattern size"),
    ],
)
def test_a_schema_that_cannot_be_used_says_why(schema: Any, message: str) -> None:
    """C-BASE-13, C-BASE-15."""
    with pytest.raises(SchemaError) as caught:
        Validator(schema)
    assert message in caught.value.message
    assert len(caught.value.message) < 400


@pytest.mark.parametrize(
    ("schema", "value", "errors"),
    [
        ({"properties": {"a\ud800": {"type": "string"}}}, {"a\ud800": 1}, [("/a\ufffd", "expected string, got 1")]),
        ({"description": "\ud800", "type": "integer"}, "x", [("", 'expected integer, got "x"')]),
        ({"const": "\ud800"}, "\ud800", []),
        ({"required": ["\ud800"]}, {}, [("", '"\ufffd" is missing')]),
    ],
)
def test_a_schema_with_a_lone_surrogate_is_checked_like_any_other(schema: Any, value: Any, errors: Any) -> None:
    assert errors_of(schema, value) == errors


def test_the_dialect_is_2020_12_unless_stated() -> None:
    """C-BASE-13."""
    tuple_of_2020 = {"prefixItems": [{"type": "string"}]}
    assert errors_of(tuple_of_2020, [1]) == [("/0", "expected string, got 1")]
    assert errors_of({"$schema": "http://json-schema.org/draft-07/schema#", **tuple_of_2020}, [1]) == []
    tuple_of_7 = {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]}
    assert errors_of(tuple_of_7, [1]) == [("/0", "expected string, got 1")]
    for plain in DIALECTS:
        for scheme in ("http://", "https://"):
            for end in ("", "#"):
                assert errors_of({"$schema": scheme + plain + end, "type": "string"}, 1) == [
                    ("", "expected string, got 1")
                ]


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        ({"type": "integer"}, 12.5, "expected integer, got 12.5"),
        ({"type": ["string", "null"]}, {}, "expected null or string, got an empty object"),
        ({"enum": ["a", 2, None]}, "c", 'expected "a", 2 or null'),
        ({"enum": list(range(100))}, "c", "expected 0, 1, 2, 3, 4 or 95 more"),
        ({"const": "x"}, 1, 'expected "x"'),
        ({"minimum": 1}, 0, "must be at least 1"),
        ({"exclusiveMaximum": 1.5}, 2, "must be less than 1.5"),
        ({"multipleOf": 5}, 7, "must be a multiple of 5"),
        ({"minLength": 1}, "", "must have at least 1 character"),
        ({"maxItems": 2}, [1, 2, 3], "must have at most 2 items"),
        ({"pattern": "^a+$"}, "b", "does not match ^a+$"),
        ({"format": "email"}, "not an address", "not a valid email address"),
        ({"format": "uri"}, "not a uri", "not a valid URI"),
        ({"format": "date"}, "2026-13-01", "not a valid date (YYYY-MM-DD)"),
        ({"format": "date-time"}, "today", "not a valid date and time (2026-07-28T12:00:00Z)"),
        ({"uniqueItems": True}, [1, 1], "has equal items"),
        ({"required": ["a"]}, {}, '"a" is missing'),
        ({"additionalProperties": False, "properties": {"a": {}}}, {"b": 1, "c": 2}, 'unexpected "b" and "c"'),
        ({"additionalProperties": False}, {"b": 1}, "no members are allowed here"),
        ({"propertyNames": {"maxLength": 1}}, {"ab": 1}, "the name of a member: must have at most 1 character"),
        (False, 1, "nothing is allowed here"),
        ({"not": {}}, 1, "matches a schema that is excluded by “not”"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, 5, "expected string or null, got 5"),
        ({"oneOf": [{"const": "a"}, {"const": "b"}]}, "c", 'expected "a" or "b"'),
        (
            {"oneOf": [{}, {"type": "integer"}]},
            5,
            "matches more than one of the variants, of which exactly one is allowed",
        ),
        ({"anyOf": [{"minimum": 9}, {"multipleOf": 7}]}, 5, "matches none of the 2 variants"),
        ({"type": "integer"}, float("nan"), "NaN is not a JSON number"),
        ({}, float("-inf"), "-Infinity is not a JSON number"),
        ({"type": "integer"}, "\ud800\x1b[2J", 'expected integer, got "�␛[2J"'),
    ],
)
def test_messages_are_short_and_plain(schema: Any, value: Any, message: str) -> None:
    assert errors_of(schema, value) == [("", message)]


def test_what_matches_has_no_errors() -> None:
    for schema, value in (
        (True, None),
        ({}, "\ud800"),
        ({"type": "integer"}, 10**30),
        ({"type": "integer"}, 5.0),
        ({"minLength": 2, "maxLength": 2}, "\ud800a"),
        ({"$ref": "#"}, 1),
        ({"$dynamicAnchor": "n", "properties": {"c": {"$dynamicRef": "#n"}}}, {"c": {"c": {}}}),
        ({"format": "made-up"}, "x"),
    ):
        assert errors_of(schema, value) == []
        assert Validator(schema).is_valid(value)


def test_a_variant_that_was_meant_is_the_one_that_is_explained() -> None:
    schema = {
        "properties": {
            "x": {"anyOf": [{"type": "string"}, {"type": "object", "properties": {"k": {"type": "integer"}}}]}
        }
    }
    assert errors_of(schema, {"x": {"k": "v"}}) == [("/x/k", 'expected integer, got "v"')]


def test_required_members_are_named() -> None:
    (violation,) = Validator({"properties": {"a": {"required": ["b/c"]}}}).errors({"a": {}})
    assert (violation.path, violation.member, violation.keyword) == ("/a", "b/c", "required")


def test_the_number_of_errors_is_limited() -> None:
    assert len(errors_of({"items": {"type": "string"}}, [1] * 100, limit=7)) == 7


@given(JSON, JSON)
def test_no_schema_and_no_value_raise_anything_but_a_schema_error(schema: Any, value: Any) -> None:
    try:
        validator = Validator(schema)
    except SchemaError:
        return
    validator.errors(value)


def branching(keyword: str, levels: int) -> dict[str, Any]:
    definitions: dict[str, Any] = {
        f"a{n}": {keyword: [{"$ref": f"#/$defs/a{n + 1}"}, {"$ref": f"#/$defs/a{n + 1}"}]} for n in range(levels)
    }
    return {"$defs": definitions | {f"a{levels}": {"type": "string"}}, "$ref": "#/$defs/a0"}


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
@pytest.mark.parametrize("levels", [40, 400])
def test_schemas_that_double_at_every_step_are_not_checked(keyword: str, levels: int) -> None:
    """C-BASE-15."""
    (violation,) = Validator(branching(keyword, levels)).errors(1)
    assert violation.keyword == "limit"
    assert violation.message.startswith("not checked")


def test_doubling_along_the_value_is_not_checked_either() -> None:
    validator = Validator({"anyOf": [{"properties": {"c": {"$ref": "#"}}, "required": ["z"]}] * 2, "type": "object"})
    keywords = [validator.errors(nested(depth, lambda inner: {"c": inner}, {}))[0].keyword for depth in (3, 150)]
    assert keywords == ["anyOf", "limit"]


@pytest.mark.parametrize("name", ["#n", "inner", "inner#/$defs/x", "inner#n"])
def test_doubling_hidden_behind_ids_and_anchors_is_found_too(name: str) -> None:
    doubling: dict[str, Any] = {f"a{n}": {"anyOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(1, 40)}
    doubling["a40"] = {"type": "string"}
    inner = {"$id": "inner", "$anchor": "n", "$ref": "#/$defs/x", "$defs": {"x": {"$ref": "#/$defs/a1"}, **doubling}}
    start = {"$ref": "https://example.com/root#n"} if name == "#n" else {"$ref": name}
    top = {"$anchor": "n", "$ref": "inner"}
    (violation,) = Validator({"$id": "https://example.com/root", **start, "$defs": {"i": inner, "t": top}}).errors(1)
    assert violation.keyword == "limit"


def test_patterns_cannot_take_for_ever() -> None:
    assert errors_of({"pattern": "(a+)+$"}, "a" * 5000 + "b") == [("", "does not match (a+)+$")]
    heavy = {"pattern": "(a{0,300}b?){0,300}$"}
    assert Validator(heavy).errors("ab" * 200_000)[0].keyword == "limit"
    assert Validator(heavy).errors("ab" * 20) == []
    backtracking = r"^(\w*)(\w*)(\w*)(\w*)\1\2\3\4!$"
    assert errors_of({"pattern": backtracking}, "ab" * 400) == [
        ("", "not checked: the pattern takes too long on this text")
    ]
    assert errors_of({"items": {"pattern": backtracking}}, ["ab" * 400] * 5000) == [
        ("", "not checked: too many texts for the backtracking patterns of the schema")
    ]


def test_depth_of_the_value_is_bounded() -> None:
    deep = nested(100_000, lambda inner: [inner], 1)
    assert errors_of({}, deep) == [("", "not checked: nested deeper than 200 levels")]
    assert errors_of({"items": {}}, nested(190, lambda inner: [inner], 1)) == []


@pytest.mark.slow
def test_large_values_are_narrowed_down_to_what_is_wrong() -> None:
    record = {
        "type": "object",
        "properties": {"k": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "string"}}},
        "required": ["k"],
    }
    schema = {
        "$defs": {"record": record},
        "allOf": [{"required": ["rows", "total"]}],
        "properties": {
            "rows": {"items": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/record"}]}},
            "flat/": {"type": "array", "prefixItems": [{"const": 1}], "items": {"type": "integer"}, "maxItems": 3},
        },
        "additionalProperties": {"maxItems": 2, "type": ["array", "null"]},
    }
    value = {
        "rows": [{"k": 1, "tags": ["x"] * 5}] * 3000 + [{"k": "x"}, 7],
        "flat/": [2, *range(20_000), "x"],
        "other": list(range(20_000)),
        "third": {"x": list(range(20_000))},
    }
    assert set(errors_of(schema, value)) == {
        ("", '"total" is missing'),
        ("/rows/3000/k", 'expected integer, got "x"'),
        ("/rows/3001", "expected string or object, got 7"),
        ("/flat~1/0", "expected 1"),
        ("/flat~1/20001", 'expected integer, got "x"'),
        ("/flat~1", "must have at most 3 items, has 20,002"),
        ("/other", "must have at most 2 items, has 20,000"),
        ("/third", "expected array or null, got an object"),
    }
    assert len(errors_of(schema, value, limit=3)) == 3


def test_a_large_value_that_fits_no_variant_costs_no_copies() -> None:
    schema = {"anyOf": [{"type": "integer"}] * 50}
    assert errors_of(schema, {"a": ["x" * 100] * 20_000}) == [
        ("", "matches none of the 50 variants, or more than allowed")
    ]


def test_the_size_of_patterns_is_reckoned_with_repetitions() -> None:
    assert pattern_weight("abc") == 3
    assert pattern_weight(r"\w{3,5}x") == 6
    assert pattern_weight("(ab{2}){10}") == 30
    assert pattern_weight("a{2}{3}") == 6
    assert pattern_weight("(a{1000}){1000}") == 1_000_000
    assert pattern_weight("))(((a{999999999}){999999999}") <= 10**12
    assert pattern_weight("a{,3}{") > 0


def test_trusted_schemas_are_checked_alike() -> None:
    schema = {"$defs": {"n": {"type": "integer"}, "list": {"items": {"$ref": "#/$defs/n"}}}}
    validator = Validator(schema, pointer="/$defs/list", trusted=True)
    assert validator.errors([1]) == []
    assert validator.errors(["x"])[0].path == "/0"
    assert validator.errors([1] * 20_000 + ["x"])[0].path == "/20000"
    assert validator.errors(nested(100_000, lambda inner: [inner], 1))[0].keyword == "limit"
    assert validator.errors(["\ud800"])[0].path == "/0"


def test_reckoning_ends_where_a_value_has_too_many_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema_limits, "PAIR_LIMIT", 1000)
    schema = {"items": {"$ref": "#/$defs/x"}, "$defs": {"x": {"anyOf": [{}, {}]}}}
    references = schema_limits.ReferenceTargets(schema)
    few, many = [1.5 * n for n in range(10)], [[n] for n in range(2000)]
    assert schema_limits.reckon(schema, few, references=references, limit=1000) == 41
    assert schema_limits.reckon(schema, many, references=references, limit=10**9) is None


def test_a_part_of_a_schema_is_checked_alone() -> None:
    schema = {"required": ["a%b/c"], "properties": {"a%b/c": {"type": "string"}}, "$defs": {"never": False}}
    validator = Validator(schema)
    assert validator.matches_at("", {}) is False
    assert validator.matches_at("/properties/a%b~1c", "x") is True
    assert validator.matches_at("/$defs/never", "x") is False
    assert validator.matches_at("/elsewhere", "x") is None


def test_the_cost_of_a_check_is_estimated() -> None:
    branching = {"anyOf": [{"items": {"$ref": "#"}}] * 30}
    value: Any = []
    for _ in range(3):
        value = [value]
    assert Validator({"items": {"type": "null"}}).visits_at("", [None, None], 100) == 3
    assert Validator(branching).visits_at("", [], 100) is not None
    assert Validator(branching).visits_at("", value, 1_000) is None
    assert Validator({"type": "number"}).visits_at("", float("nan"), 100) is None

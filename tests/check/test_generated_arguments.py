"""Arguments made from schemas, and what tools make of them."""

import json

from hypothesis import given
from hypothesis import strategies as st

from inspector.check.visit.argument_cases import cases, smaller
from inspector.check.visit.visit import Allowed
from inspector.demo.prompts import all_prompts
from inspector.demo.revisions import DemoFeatures
from inspector.demo.server_state import DemoState
from inspector.demo.tools import all_tools
from inspector.protocol.validation import Validator
from tests.check.faults import R4, gives, refuses
from tests.check.faulty_servers import Case, case_tests

CALLS = Allowed(calls=("roll-dice", "order-pizza", "book-trip", "send-parcel", "set-nickname"))
SCHEMA = {
    "type": "object",
    "properties": {
        "size": {"type": "string", "enum": ["s", "m"]},
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "name": {"type": "string", "minLength": 2, "maxLength": 5},
        "to": {"oneOf": [{"type": "string", "minLength": 3}, {"type": "object", "required": ["zip"]}]},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2, "uniqueItems": True},
    },
    "required": ["size", "count"],
    "additionalProperties": False,
}
HUGE = gives("tools/call", content=[{"type": "text", "text": "x" * 200_000}])

CASES = [
    Case("CASE-01", R4, refuses("tools/call", -32602, where=lambda given: len(given.get("arguments", {})) > 1),
         allowed=CALLS),
    Case("CASE-02", R4, gives("tools/call", content=[]), allowed=CALLS),
    Case("CASE-03", R4, refuses("tools/call", -32603, where=lambda given: "\\u202e" in json.dumps(given)), allowed=CALLS),
    Case("CASE-04", R4, HUGE, allowed=CALLS),
]  # fmt: skip


test_a_planted_fault_is_found, test_a_server_in_order_is_not_blamed = case_tests(CASES, slow_right=True)


def test_every_branch_and_bound_has_its_case():
    made = cases(SCHEMA, limit=1000)
    allowed = [case.arguments for case in made if case.kind == "allowed"]
    assert {arguments["size"] for arguments in allowed} == {"s", "m"}
    assert {1, 9} <= {arguments["count"] for arguments in allowed}
    assert {2, 5} <= {len(arguments["name"]) for arguments in allowed if "name" in arguments}
    assert {type(arguments["to"]) for arguments in allowed if "to" in arguments} == {str, dict}
    forbidden = {case.about for case in made if case.kind == "forbidden"}
    assert {
        "without size", "without count", "count beyond its minimum", "count beyond its maximum", "count a fraction",
        "name shorter than allowed", "name longer than allowed", "size not one of its choices", "tags with too many items",
        "tags with the same item twice", "an unknown member", "count of another type",
    } <= forbidden  # fmt: skip


def test_what_is_allowed_is_valid_and_what_is_not_is_not():
    for tool in DemoState(all_tools(), all_prompts(), items=1).tools(DemoFeatures(R4)):
        schema = tool.definition["inputSchema"]
        validator = Validator(schema)
        for case in cases(schema):
            assert validator.is_valid(case.arguments) == (case.kind != "forbidden"), (tool.name, case)


def test_the_same_seed_makes_the_same_cases():
    assert cases(SCHEMA, 7) == cases(SCHEMA, 7)
    assert cases(SCHEMA, 7) != cases(SCHEMA, 8)


def test_a_smaller_case_is_still_of_its_kind():
    whole = next(case for case in cases(SCHEMA) if case.about == "everything")
    less = list(smaller(whole, SCHEMA))
    assert {frozenset(case.arguments) for case in less} == {
        frozenset(whole.arguments) - {name} for name in ("name", "to", "tags")
    }


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["type", "properties", "required", "enum", "items", "minimum", "oneOf", "anyOf", "minItems", "a"]),
        inner, max_size=4,
    ), max_leaves=20,
))  # fmt: skip
def test_any_schema_gives_cases_or_none(schema):
    assert isinstance(cases(schema), list)

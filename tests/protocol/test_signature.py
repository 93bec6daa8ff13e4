"""A tool's signature in one line."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.protocol.assignments import signature
from inspector.protocol.views import Tool


def of(properties: dict[str, Any], *required: str, **more: Any) -> str:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return signature(Tool({"name": "search", "inputSchema": schema, **more}))


@pytest.mark.parametrize(
    ("schema", "written"),
    [
        ({"type": "string"}, "string"),
        ({"type": ["string", "null"]}, "string | null"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "integer | null"),
        ({"enum": ["a", "b"]}, '"a" | "b"'),
        ({"enum": list(range(9))}, "one of 9"),
        ({"const": 4}, "4"),
        ({"type": "array", "items": {"type": "string"}}, "string[]"),
        ({"type": "array", "items": {"enum": [1, 2]}}, "(1 | 2)[]"),
        ({"type": "array"}, "any[]"),
        ({"type": "object"}, "object"),
        ({}, "any"),
        (True, "any"),
        (7, "any"),
    ],
)
def test_types(schema: Any, written: str) -> None:
    assert of({"q": schema}, "q") == f"search(q: {written})"


def test_what_may_be_left_out_shows_its_default_or_a_question_mark() -> None:
    written = of(
        {"query": {"type": "string"}, "limit": {"type": "integer", "default": 10}, "deep": {"type": "boolean"}}, "query"
    )
    assert written == "search(query: string, limit: integer = 10, deep?: boolean)"


def test_references_are_followed_and_circles_end() -> None:
    schema = {
        "properties": {"unit": {"$ref": "#/$defs/Unit"}, "tree": {"$ref": "#/$defs/Tree"}},
        "$defs": {
            "Unit": {"enum": ["C", "F"]},
            "Tree": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
        },
    }
    assert signature(Tool({"name": "t", "inputSchema": schema})) == 't(unit?: "C" | "F", tree?: any[][][][])'


@pytest.mark.parametrize(
    ("schema", "written"),
    [
        ({"type": "object", "title": "Results"}, " → Results"),
        ({"type": "object", "properties": {"a": {}, "b": {}}}, " → {a, b}"),
        ({"type": "object"}, " → object"),
        (
            {
                "type": "object",
                "title": "searchOutput",
                "properties": {"result": {"type": "array", "items": {"type": "string"}}},
            },
            " → string[]",
        ),
        (None, ""),
        ("no schema", ""),
    ],
)
def test_the_result_has_a_type_where_the_server_describes_it(schema: Any, written: str) -> None:
    assert of({}, outputSchema=schema) == f"search(){written}"


def test_variants_of_all_parameters_are_written_one_after_the_other() -> None:
    variants = [{"properties": {"kind": {"const": kind}, kind: {}}, "required": ["kind"]} for kind in "abcdef"]
    written = of({}, inputSchema={"type": "object", "anyOf": variants[:2]})
    assert written == 'search(kind: "a", a?: any | kind: "b", b?: any)'
    assert of({}, inputSchema={"type": "object", "oneOf": variants}).endswith("| … 2 more)")


def test_hostile_text_is_safe_and_bounded() -> None:
    written = of(
        {"\x1b[2J" + "n" * 500: {"default": "\u202e" + "d" * 500, "type": "string"}, **{f"p{n}": {} for n in range(99)}}
    )
    assert "\x1b" not in written
    assert "\u202e" not in written
    assert "… 80 more" in written
    assert len(written) < 900

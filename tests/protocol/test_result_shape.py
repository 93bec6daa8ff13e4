"""Which structured results only repeat their content, and where records are in them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector.protocol.result_shape import (
    has_structured,
    is_records,
    records_at,
    repeats_content,
    schema_errors,
    text_blocks,
)
from inspector.protocol.validation import Validator


def result(structured: Any, *texts: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text} for text in texts], "structuredContent": structured}


@pytest.mark.parametrize(
    "repeated",
    [
        result("# Revenue\n\nup", "# Revenue\n\nup"),
        result({"result": "# Revenue"}, "# Revenue"),
        result({"result": "# Revenue"}, '{"result": "# Revenue"}'),
        result({"city": "Lima", "hours": [1, 2.5]}, '{\n  "hours": [1, 2.50],\n  "city": "Lima"\n}'),
        result({"result": [{"a": 1}, {"a": 2}]}, '{"a": 1}', '{"a": 2}'),
        result({"result": ["x", "y"]}, "x", "y"),
        result({"result": [1, True]}, "1", "true"),
        result({"result": 5}, "5"),
        result({"result": True}, "true"),
        result({"result": None}, "null"),
        result(["x"], "see below", '["x"]'),
    ],
)
def test_a_structured_result_that_its_text_says_too(repeated: dict[str, Any]) -> None:
    assert repeats_content(repeated)


@pytest.mark.parametrize(
    "different",
    [
        result({"rows": [{"id": 1}]}, "1 row"),
        result({"result": "one"}, "another"),
        result({"ok": True}, '{"ok": 1}'),
        result({"ok": 1}, '{"ok": 1, "more": 2}'),
        result({"ok": 1}),
        result({"result": [{"a": 1}, {"a": 2}]}, '{"a": 1}'),
        result({"result": [{"a": 1}]}, "[" * 100_000),
        {"content": [{"type": "text", "text": "alone"}]},
        {"content": "no list", "structuredContent": "no list"},
        {"content": [{"type": "image", "data": "x"}], "structuredContent": "x"},
        None,
        ["x"],
    ],
)
def test_a_structured_result_that_says_more(different: Any) -> None:
    assert not repeats_content(different)


def test_text_is_taken_from_text_blocks_alone() -> None:
    blocks = [{"type": "text", "text": "a"}, {"type": "image", "text": "b"}, "c", {"type": "text", "text": 4}]
    assert text_blocks({"content": blocks}) == ["a"]


def test_records_are_the_list_or_the_only_list_of_an_object() -> None:
    rows = [{"id": 1}, {}]
    assert is_records(rows)
    assert not is_records([])
    assert not is_records([{"id": 1}, 2])
    assert records_at(rows) == ()
    assert records_at({"rows": rows}) == ("rows",)
    assert records_at({"total": 2, "items": rows, "next": None}) == ("items",)
    assert records_at({"one": rows, "two": rows}) is None
    assert records_at({"rows": rows, "about": {"name": "x"}}) is None
    assert records_at({"rows": []}) is None
    assert records_at(json.loads("{}")) is None


@pytest.mark.parametrize(
    ("of", "schema", "message"),
    [
        (result(None, "x"), {"type": "object"}, "structuredContent is null, although the tool has an outputSchema"),
        ({"content": []}, {"type": "object"}, "structuredContent is missing, although the tool has an outputSchema"),
        ({"content": []}, {}, "structuredContent is missing, although the tool has an outputSchema"),
        (result(None), {"type": ["object", "null"]}, None),
        (result({}), {"type": "object"}, None),
        (result(5), {"type": "object"}, "expected object, got 5"),
    ],
)
def test_null_is_a_missing_structured_result_unless_the_schema_accepts_it(
    of: Any, schema: Any, message: str | None
) -> None:
    assert [violation.message for violation in schema_errors(Validator(schema), of, 5)] == (
        [message] if message else []
    )


def test_null_is_not_a_structured_result() -> None:
    assert not has_structured(result(None, "null"))
    assert not repeats_content(result(None, "null"))
    assert has_structured(result(0))
    assert not has_structured(None)

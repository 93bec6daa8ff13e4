"""Detects repeated content and lists of records in a tool's result: the basis for choosing its first view.

Source: MCP "Tools", "Structured Content": a server that returns structured content should also return its JSON as text
(C-TOOL-02). The Python SDK and FastMCP wrap a value that is not an object as `{"result": ...}`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from inspector.protocol.jsonrpc import has_too_many_values
from inspector.protocol.members import objects_at
from inspector.protocol.schema_violations import Violation

if TYPE_CHECKING:
    from inspector.protocol.validation import Validator

MAX_COMPARED = 20_000_000
"""Characters of text that are parsed to compare them with a structured result; longer text counts as different."""

MAX_BESIDE = 12
"""Most members beside a list of records with which the list is still the subject of the result."""


def has_structured(result: Any) -> bool:
    """Return whether a result has structured content. Servers write `null` for none, which the SDKs refuse."""
    return isinstance(result, dict) and result.get("structuredContent") is not None


def schema_errors(validator: Validator, result: Any, limit: int) -> list[Violation]:
    """Return how the structured content of a result differs from the output schema of its tool.

    `null` is a value only where the schema accepts it (2026-07-28), else it counts as missing.
    """
    if has_structured(result):
        return validator.errors(result["structuredContent"], limit)
    written = isinstance(result, dict) and "structuredContent" in result
    if written and not validator.errors(None, 1):
        return []
    what = "structuredContent is null" if written else "structuredContent is missing"
    return [Violation("", f"{what}, although the tool has an outputSchema", "")]


def repeats_content(result: Any) -> bool:
    """Return whether the `structuredContent` of a result repeats its text content.

    True for a structured string (or `{"result": string}`) that is a text block, for JSON text that is equal to the
    structured value, and for a list whose items are the text blocks, as the Python SDK sends them.
    """
    if not has_structured(result):
        return False
    texts = text_blocks(result)
    if not texts:
        return False
    structured = result["structuredContent"]
    wrapped = unwrapped(structured)
    joined = "\n".join(texts) if len(texts) > 1 else texts[0]
    for value in (structured, wrapped) if wrapped is not structured else (structured,):
        if any(_says(text, value) for text in texts) or (len(texts) > 1 and value == joined):
            return True
        if isinstance(value, list) and len(value) == len(texts) == len(result["content"]):
            return all(_says(text, item) for text, item in zip(texts, value, strict=True))
    return False


def text_blocks(result: Any) -> list[str]:
    """Return the text of each text block of a result's `content`."""
    return [
        block["text"]
        for block in objects_at(result, "content")
        if block.get("type") == "text" and isinstance(block.get("text"), str)
    ]


def unwrapped(structured: Any) -> Any:
    """Return the value of an object with one member, which SDKs use as a wrapper; anything else unchanged."""
    if isinstance(structured, dict) and len(structured) == 1:
        return next(iter(structured.values()))
    return structured


def is_records(value: Any) -> bool:
    """Return whether a value is a non-empty list of objects."""
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def records_at(value: Any) -> tuple[str, ...] | None:
    """Return the path of the list of objects in a value; None if it has none.

    `()` for the list itself, `("rows",)` for an object with one list of objects in it and otherwise only scalars (a
    total, a cursor).
    """
    if is_records(value):
        return ()
    if not isinstance(value, dict) or len(value) > MAX_BESIDE + 1:
        return None
    lists = [key for key, item in value.items() if isinstance(item, (list, dict))]
    return (lists[0],) if len(lists) == 1 and is_records(value[lists[0]]) else None


def _says(text: str, value: Any) -> bool:
    if isinstance(value, str):
        return text == value or (text[:1] == '"' and _is_json_of(text, value))
    if value is None or isinstance(value, (bool, int, float)):
        return text == str(value) or _is_json_of(text, value)
    return text.lstrip()[:1] == ("{" if isinstance(value, Mapping) else "[") and _is_json_of(text, value)


def _is_json_of(text: str, value: Any) -> bool:
    if len(text) > MAX_COMPARED or has_too_many_values(text):
        return False
    try:
        return _equal(json.loads(text, strict=False), value)
    except (ValueError, RecursionError):
        return False


def _equal(one: Any, other: Any) -> bool:
    """Compare as JSON does: `1` and `1.0` are equal, `1` and `true` are not."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(item, other[key]) for key, item in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    return bool(one == other)

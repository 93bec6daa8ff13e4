"""Expectations that a result fulfils: the same value at a path, the same shape, the same as a snapshot file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from inspector.calls.templates import literal
from inspector.compare.json_places import ROOT, ValuePath
from inspector.errors import ServerError
from inspector.protocol.result_shape import has_structured
from inspector.text import json_document
from inspector.tui.calls.drafts import file_name
from inspector.tui.work.outcome import CallOutcome

_MAX_DEPTH = 20
"""Levels of a value whose shape is described; what is deeper may be anything."""
_BRANCHES = 5
"""Different shapes of the items of a list that are told apart."""
_SHOWN = 60


class WritableExpectation(NamedTuple):
    """One expectation that can be written. `snapshot` is a file that it needs, beside the flow, with its content."""

    id: str
    about: str
    expect: Mapping[str, Any]
    snapshot: tuple[str, str] | None = None


def choices(outcome: CallOutcome, value: Any, pointer: str | None, address: str) -> list[WritableExpectation]:
    """Return the expectations that a result fulfils. `pointer` is the JSON Pointer of the chosen value, or None."""
    if isinstance(outcome.error, ServerError):
        code = outcome.error.rpc_code
        return [WritableExpectation("same error", f"a JSON-RPC error with code {code}", {"error": code})]
    if not outcome.has_answer or not isinstance(value, dict):
        return []
    at, path = place(value, pointer)
    written = literal(str(path))
    found: list[WritableExpectation] = []
    if outcome.is_tool_error:
        found.append(WritableExpectation("tool error", "the tool reports an error", {"tool_error": True}))
    shown = json.dumps(at, ensure_ascii=False)
    shown = shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 1]}…"
    allowed = {"tool_error": True} if outcome.is_tool_error else {}
    # An object would be read as an expectation with the names of its members.
    wanted = {"exactly": literal(at)} if isinstance(at, dict) else literal(at)
    found += [
        WritableExpectation("same value", f"{path} is {shown}", {**allowed, "result": {written: wanted}}),
        WritableExpectation(
            "same shape",
            f"{path} has the same members and types",
            {**allowed, "result": {written: {"schema": shape_of(at)}}},
        ),
    ]
    name = f"snapshots/{Path(file_name(address)).stem}.json"
    found.append(
        WritableExpectation(
            "same as a file",
            f"the whole result is that of {name}",
            {**allowed, "same_as": name},
            (name, json_document(value)),
        )
    )
    return found


def place(value: dict[str, Any], pointer: str | None) -> tuple[Any, ValuePath]:
    """Return the chosen place in a result, and its path.

    Without a choice it is the structured result, else the only text, else the whole result.
    """
    if pointer is None:
        if has_structured(value):
            return value["structuredContent"], ROOT / "structuredContent"
        content = value.get("content")
        if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict) and "text" in content[0]:
            return content[0]["text"], ROOT / "content" / 0 / "text"
        return value, ROOT
    at: Any = value
    path = ROOT
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(at, dict) and key in at:
            at, path = at[key], path / key
        elif isinstance(at, list) and key.isdigit() and int(key) < len(at):
            at, path = at[int(key)], path / int(key)
        else:
            break
    return at, path


def shape_of(value: Any, depth: int = 0) -> dict[str, Any]:
    """A JSON Schema of the members and types of a value. Members may be added to its objects, none may be missing."""
    if depth >= _MAX_DEPTH:
        return {}
    if isinstance(value, dict):
        properties = {key: shape_of(item, depth + 1) for key, item in value.items()}
        return {"type": "object", "properties": properties, "required": list(value)} if value else {"type": "object"}
    if isinstance(value, list):
        shapes: list[dict[str, Any]] = []
        for item in value:
            shape = shape_of(item, depth + 1)
            if shape not in shapes:
                shapes.append(shape)
            if len(shapes) > _BRANCHES:
                return {"type": "array"}
        if not shapes:
            return {"type": "array"}
        return {"type": "array", "items": shapes[0] if len(shapes) == 1 else {"anyOf": shapes}}
    return {"type": _type_of(value)}


def _type_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    return "integer" if isinstance(value, int) else "number"

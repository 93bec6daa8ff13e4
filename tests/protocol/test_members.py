"""Values at a path of foreign JSON have the requested type, whatever the JSON has there."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.protocol.members import array_at, object_at, objects_at, subject_of, text_at, texts_at, value_at

MESSAGE: dict[str, Any] = {
    "params": {"name": "echo", "_meta": {"token": 1}, "items": ["a", 1, {"b": 2}, None], "text": "x"}
}


@pytest.mark.parametrize(
    ("read", "path", "value"),
    [
        (value_at, ("params", "_meta", "token"), 1),
        (value_at, ("params", "text", "deeper"), None),
        (value_at, (), MESSAGE),
        (object_at, ("params", "_meta"), {"token": 1}),
        (object_at, ("params", "text"), {}),
        (array_at, ("params", "items"), ["a", 1, {"b": 2}, None]),
        (array_at, ("params", "_meta"), []),
        (text_at, ("params", "name"), "echo"),
        (text_at, ("params", "_meta", "token"), ""),
        (texts_at, ("params", "items"), ["a"]),
        (objects_at, ("params", "items"), [{"b": 2}]),
        (objects_at, ("params", "none"), []),
    ],
)
def test_a_value_of_the_asked_type_or_an_empty_one(read: Any, path: tuple[str, ...], value: Any) -> None:
    assert read(MESSAGE, *path) == value


@pytest.mark.parametrize("foreign", [None, 1, "text", [MESSAGE], True])
def test_what_is_no_object_has_no_members(foreign: Any) -> None:
    assert (value_at(foreign, "params"), object_at(foreign, "params")) == (None, {})
    assert (text_at(foreign, "params"), texts_at(foreign), subject_of(foreign)) == ("", texts_at(foreign), "")


@pytest.mark.parametrize(
    ("params", "subject"),
    [({"name": "a", "uri": "b"}, "a"), ({"uri": "b"}, "b"), ({"name": 1, "uri": "b"}, ""), ({}, ""), (None, "")],
)
def test_a_request_is_about_its_name_or_uri(params: Any, subject: str) -> None:
    assert subject_of(params) == subject

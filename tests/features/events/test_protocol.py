"""Events of a server: its declaration, its list of types, and its errors."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.features.events.protocol import EventPage, condition, declared, event_page, event_type
from inspector.protocol.extensions import EVENTS

TIDE = {
    "name": "tide.turned", "description": "High or low water", "delivery": ["poll", "push"],
    "inputSchema": {"type": "object", "properties": {"pier": {"type": "integer"}}},
    "payloadSchema": {"type": "object", "properties": {"pier": {"type": "integer"}}, "required": ["pier"]},
}  # fmt: skip


@pytest.mark.parametrize(
    ("capabilities", "dialect", "changed", "odd"),
    [
        ({"extensions": {EVENTS: {}}}, "extension", False, False),
        ({"extensions": {EVENTS: {"listChanged": True}}}, "extension", True, False),
        ({"extensions": {EVENTS: {"listChanged": "yes"}}}, "extension", False, True),
        ({"extensions": {EVENTS: True}, "events": {}}, None, False, True),
        ({"extensions": [EVENTS]}, None, False, False),
        ({"events": {}}, "sketch", False, True),
        ({}, None, False, False),
    ],
)
def test_a_declaration(capabilities: dict[str, Any], dialect: str | None, changed: bool, odd: bool) -> None:
    """C-EVENT-03: the sketch's place is another dialect, not a declaration of the extension."""
    declaration = declared(capabilities)
    assert (declaration.dialect, declaration.list_changed, bool(declaration.problem)) == (dialect, changed, odd)


def test_the_vector_of_a_list() -> None:
    """C-EVENT-05."""
    (tide,) = event_page({"resultType": "complete", "events": [TIDE]}).types
    assert (tide.name, tide.delivery, tide.problems, tide.follows_by) == ("tide.turned", ("poll", "push"), (), "push")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"delivery": []}, "delivery is not an array with at least one mode."),
        ({"delivery": "poll"}, "delivery is not an array with at least one mode."),
        ({"delivery": ["poll", "pigeon"]}, "delivery has the unknown mode 'pigeon'."),
        ({"delivery": ["poll", "poll"]}, "delivery names a mode twice."),
        ({"inputSchema": None}, "inputSchema is not an object."),
        ({"payloadSchema": "x"}, "payloadSchema is not an object."),
        ({"description": 5}, "description is not a string."),
    ],
)
def test_a_wrong_descriptor_is_kept_and_named(changes: dict[str, Any], problem: str) -> None:
    assert event_type(TIDE | changes).problems == (problem,)


def test_a_type_that_inspector_cannot_follow() -> None:
    assert event_type(TIDE | {"delivery": ["webhook"]}).follows_by is None


@pytest.mark.parametrize("result", [None, [], {}, {"events": None}, {"events": [None, {"name": ""}, {"name": 5}]}])
def test_lists_that_are_none(result: Any) -> None:
    page = event_page(result)
    assert page.types == ()
    assert page.problems


def test_pages() -> None:
    assert event_page({"events": [], "nextCursor": ""}) == EventPage((), "")
    assert event_page({"events": [], "nextCursor": 5}).next_cursor is None


@pytest.mark.parametrize(
    ("code", "data", "name", "is_final"),
    [
        (-32023, None, "NotFound (SEP-3415)", True),
        (-32024, None, "Forbidden (SEP-3415)", True),
        (-32025, {"limit": "subscriptions"}, "ResourceExhausted (SEP-3415)", False),
        (-32026, {"feature": "deliveryMode"}, "Unsupported (SEP-3415)", True),
        (-32027, {"reason": "timeout"}, "CallbackEndpointError (SEP-3415)", False),
        (-32011, None, "NotFound (sketch)", True),
        (-32014, None, "Unsupported (sketch)", True),
        (-32014, {"limit": 5}, "ResourceExhausted (sketch)", False),
        (-32016, None, "", False),
        (-32602, None, "InvalidParams (JSON-RPC)", True),
        (-32603, None, "InternalError (JSON-RPC)", False),
        (-31000, {"kind": "event"}, "", False),
        ("-32023", None, "", False),
        (True, None, "", False),
    ],
)
def test_a_condition_has_its_name_and_list_of_codes(code: Any, data: Any, name: str, is_final: bool) -> None:
    """C-EVENT-04."""
    meaning = condition(code, data)
    assert (str(meaning), meaning.is_final) == (name, is_final)


@pytest.mark.parametrize(
    ("code", "data", "again"),
    [
        (-32023, {"kind": "event"}, True),
        (-32023, None, True),
        (-32023, {"kind": "subscription"}, False),
        (-32026, {"feature": "payloadSchema", "reason": "schema_changed"}, True),
        (-32026, {"feature": "deliveryMode"}, False),
        (-32024, None, False),
    ],
)
def test_which_errors_mean_another_list(code: int, data: Any, again: bool) -> None:
    """C-EVENT-18."""
    assert condition(code, data).list_again is again

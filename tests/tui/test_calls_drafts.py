"""Calls as steps that can be written: variables, secrets, servers, shapes; and editors that open a file at a line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from inspector.calls.templates import insert
from inspector.calls.writing import step_text
from inspector.config.targets import HttpTarget, StdioTarget, Target
from inspector.protocol.validation import Validator
from inspector.tui.calls.drafts import draft_of, escaped, file_name, literal, server_of
from inspector.tui.calls.expectation import place, shape_of
from inspector.tui.widgets.external_editor import at_line

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def test_a_variable_replaces_its_value_and_a_part_of_a_longer_text() -> None:
    arguments = {"order": "A-4711", "note": "about A-4711", "count": 2, "flag": True}
    draft = draft_of("tools", "ship", arguments, None, {"order": "A-4711", "count": 2, "other": "x"})
    assert [(offer.name, offer.likely) for offer in draft.offers] == [("order", True), ("count", False)]
    step = draft.step("ship it", ["order", "count"])
    assert step == {
        "name": "ship it",
        "call": "ship",
        "args": {"order": "{{order}}", "note": "about {{order}}", "count": "{{count}}", "flag": True},
    }


@pytest.mark.parametrize(
    ("schema", "secrets"),
    [
        ({"type": "object", "properties": {"code": {"type": "string", "format": "password"}}}, ()),
        ({"type": "object", "properties": {"code": {"type": "string", "writeOnly": True}}}, ()),
        (None, ("open-sesame",)),
    ],
)
def test_a_secret_is_written_as_a_variable(schema: Any, secrets: tuple[str, ...]) -> None:
    draft = draft_of("tools", "log-in", {"user": "ann", "code": "open-sesame"}, schema, {}, secrets)
    assert draft.secrets == ["code"]
    assert draft.step("")["args"] == {"user": "ann", "code": "{{code}}"}
    assert "sesame" not in step_text(draft.step(""))


def test_a_secret_inside_a_list_is_written_as_a_variable() -> None:
    draft = draft_of("tools", "t", {"rows": [{"api_key": "k1"}, {"id": 1}]}, None, {})
    assert draft.step("")["args"] == {"rows": [{"api_key": "{{api_key}}"}, {"id": 1}]}
    assert "k1" not in step_text(draft.step(""))


def test_braces_that_are_not_a_variable_stay_braces() -> None:
    assert escaped({"a": ["{{name}} {{ x", "{{{{"]}) == {"a": ["{{name}} {{{{ x", "{{{{{{{{"]}


@given(VALUES)
def test_a_literal_value_is_the_same_after_variables_are_inserted(value: Any) -> None:
    def read(part: Any) -> Any:
        if isinstance(part, str):
            return insert(part, lambda placeholder: pytest.fail(f"{placeholder} was inserted"))
        if isinstance(part, dict):
            return {key: read(item) for key, item in part.items()}
        return [read(item) for item in part] if isinstance(part, list) else part

    assert read(literal(value)) == value


@given(VALUES)
def test_a_value_has_its_own_shape(value: Any) -> None:
    assert list(Validator(shape_of(value)).errors(value)) == []


def test_another_shape_is_reported_apart() -> None:
    validator = Validator(shape_of({"id": 1, "rows": [{"name": "x"}]}))
    assert list(validator.errors({"id": "1", "rows": [{"name": "x"}]}))
    assert list(validator.errors({"id": 1, "rows": [{}]}))
    assert not list(validator.errors({"id": 2, "rows": [], "more": True}))


def test_the_place_in_a_result() -> None:
    result = {"content": [{"type": "text", "text": "hi"}]}
    assert str(place(result, None)[1]) == "$.content[0].text"
    assert str(place({**result, "structuredContent": {"a b": [7]}}, "/structuredContent/a b/0")[1]) == (
        '$.structuredContent["a b"][0]'
    )
    assert str(place({"content": []}, None)[1]) == "$"


@pytest.mark.parametrize(
    ("target", "server"),
    [
        (StdioTarget(("node", "server.js", "a b")), "node server.js 'a b'"),
        (StdioTarget(("node", "server.js"), name="shop", source="inspector.json"), "@shop"),
        (StdioTarget(("node", "server.js", "--token", "t0p-secret-value")), None),
        (HttpTarget("https://shop.example/mcp"), "https://shop.example/mcp"),
        (HttpTarget("https://shop.example/mcp?api_key=t0p-secret-value"), None),
    ],
)
def test_the_server_of_a_new_flow_holds_no_secret(target: Target, server: str | None) -> None:
    assert server_of(target) == server


@pytest.mark.parametrize(
    ("address", "name"), [("create-order", "create-order.yaml"), ("shop://orders/", "orders.yaml"), ("…", "calls.yaml")]
)
def test_the_name_of_a_new_file(address: str, name: str) -> None:
    assert file_name(address) == name


@pytest.mark.parametrize(
    ("editor", "words"),
    [
        (["vim", "-u", "NONE"], ["vim", "-u", "NONE", "+12", "calls/a.yaml"]),
        (["/usr/bin/nano"], ["/usr/bin/nano", "+12", "calls/a.yaml"]),
        (["code", "--wait"], ["code", "--wait", "--goto", "calls/a.yaml:12"]),
        (["hx"], ["hx", "calls/a.yaml:12"]),
        (["my-editor"], ["my-editor", "calls/a.yaml"]),
    ],
)
def test_editors_open_a_file_at_a_line(editor: list[str], words: list[str]) -> None:
    assert at_line(editor, Path("calls/a.yaml"), 12) == words
    assert at_line(editor, Path("calls/a.yaml"), 0)[-1] == "calls/a.yaml"


@given(VALUES)
def test_a_step_is_the_same_when_it_is_read_again(value: Any) -> None:
    draft = draft_of("tools", "t", {"x": value}, None, {})
    step = draft.step("n")
    assert yaml.safe_load(step_text(step)) == [step]

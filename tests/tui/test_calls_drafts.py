"""Calls as steps that can be written: variables, secrets, servers, shapes; and editors that open a file at a line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from inspector.calls.collection import read_flow
from inspector.calls.templates import insert, literal
from inspector.calls.variables import names_used
from inspector.calls.writing import step_text
from inspector.config.targets import HttpTarget, StdioTarget, Target, demo_target
from inspector.protocol.validation import Validator
from inspector.tui.calls.drafts import choices, draft_of, file_name, place, server_of, shape_of
from inspector.tui.widgets.external_editor import at_line
from inspector.tui.work.outcome import CallOutcome

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
def test_a_secret_is_written_as_a_variable_also_inside_a_list(schema: Any, secrets: tuple[str, ...]) -> None:
    arguments = {"user": "ann", "code": "open-sesame", "rows": [{"api_key": "k1"}, {"id": 1}]}
    draft = draft_of("tools", "log-in", arguments, schema, {}, secrets)
    assert draft.secrets == ["code", "api_key"]
    step = draft.step("")
    assert step["args"] == {"user": "ann", "code": "{{code}}", "rows": [{"api_key": "{{api_key}}"}, {"id": 1}]}
    assert "sesame" not in step_text(step)
    assert "k1" not in step_text(step)


def test_what_looks_like_a_variable_is_a_text_unless_a_saved_step_has_it() -> None:
    arguments = {"a": ["{{name}} {{ x", "{{{{"], "b": "{{token}}"}
    draft = draft_of("resources", "x://{{token}}", arguments, None, {})
    step = draft.step("{{token}}")
    assert step["read"] == "x://{{{{token}}"
    assert step["args"] == {"a": ["{{{{name}} {{{{ x", "{{{{{{{{"], "b": "{{{{token}}"}
    texts = {"hello {{token}}": "{{word}} {{token}}"}
    draft = draft_of("tools", "t", {"a": "hello {{token}}", "b": "{{token}}"}, None, {}, templates=texts)
    assert draft.step("")["args"] == {"a": "{{word}} {{token}}", "b": "{{{{token}}"}


def test_a_secret_never_takes_the_name_of_another_secret() -> None:
    arguments = {"github_token": "typed-here-1", "password": "known-value-1"}
    secrets = ("typed-here-1", "known-value-1")
    draft = draft_of(
        "tools", "t", arguments, None, {}, secrets, named={"known-value-1": "shop_password"}, taken={"github_token"}
    )
    assert draft.step("")["args"] == {"github_token": "{{github_token_2}}", "password": "{{shop_password}}"}
    assert draft.secrets == ["github_token_2"], "the other one is defined"


@given(VALUES)
def test_a_value_is_the_same_after_it_was_written_and_has_its_own_shape(value: Any) -> None:
    def read(part: Any) -> Any:
        if isinstance(part, str):
            return insert(part, lambda placeholder: pytest.fail(f"{placeholder} was inserted"))
        if isinstance(part, dict):
            return {key: read(item) for key, item in part.items()}
        return [read(item) for item in part] if isinstance(part, list) else part

    assert read(literal(value)) == value
    assert list(Validator(shape_of(value)).errors(value)) == []
    step = draft_of("tools", "t", {"x": value}, None, {}).step("n")
    assert yaml.safe_load(step_text(step)) == [step]


def test_no_member_of_a_result_inserts_a_variable() -> None:
    result = {"structuredContent": {"{{token}}": "{{token}}"}}
    outcome = CallOutcome("tools/call", 1, 2, result, None, late=False, took=1, gave_up=0)
    for choice in choices(outcome, result, "/structuredContent/{{token}}", "../{{token}}"):
        step = {"call": "t", "expect": dict(choice.expect)}
        text = f"inspector: 1\nsteps:\n{step_text(step)}"
        assert names_used(read_flow(Path("flow.yaml"), text.encode())) == set()
        if choice.snapshot is not None:
            assert choice.snapshot[0] == "snapshots/token.json"
    same = next(choice for choice in choices(outcome, result, "/structuredContent/{{token}}", "t"))
    assert same.expect["result"] == {'$.structuredContent["{{{{token}}"]': "{{{{token}}"}


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
        (StdioTarget(("node", "server.js", "a b")), 'node server.js "a b"'),
        (StdioTarget(("node", "server.js"), name="shop", source="inspector.json"), "@shop"),
        (demo_target(), "@demo"),
        (StdioTarget(("docker", "--format", "{{token}}")), 'docker --format "{{{{token}}"'),
        (HttpTarget("https://shop.example/{{token}}"), "https://shop.example/{{{{token}}"),
        (StdioTarget(("@shop",)), None),
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

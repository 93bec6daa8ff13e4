"""Calls of a plan from a flow, and the Locust file of a plan."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from inspector.calls.collection import Collection, read_flow
from inspector.calls.variables import Secrets
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import UsageError
from inspector.load.flow_calls import calls_of
from inspector.load.locust import locust_file
from inspector.load.plan import LoadPlan, PlannedCall

FLOW = """
inspector: 1
vars: {who: Ann}
steps:
  - call: search
    args: {name: "{{who}}", limit: 5}
    weight: 3
  - wait: 1 s
  - call: get
    args: {id: "{{n}}"}
    each: [{n: 1}, {n: 2}]
  - call: old
    skip: broken
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "flow.yaml"
    path.write_text(text)
    return path


def test_calls_have_their_weights_variables_and_rows(tmp_path: Path) -> None:
    assert calls_of(read_flow(write(tmp_path, FLOW))) == (
        PlannedCall("search", {"name": "Ann", "limit": 5}, 3),
        PlannedCall("get", {"id": 1}),
        PlannedCall("get", {"id": 2}),
    )


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ("  - read: a://b\n", "has no calls of tools"),
        ("  - call: a\n    capture: {x: $.id}\n  - call: b\n    args: {x: '{{x}}'}\n", "Step 2"),
        ("  - call: a\n    weight: 0\n", "weight"),
    ],
)
def test_flows_without_usable_calls_are_errors(tmp_path: Path, steps: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        calls_of(read_flow(write(tmp_path, f"inspector: 1\nsteps:\n{steps}")))


def test_given_values_win_over_environments_and_those_over_the_flow(tmp_path: Path) -> None:
    (tmp_path / "env").mkdir()
    (tmp_path / "env" / "staging.yaml").write_text("who: Bob\nn: 3\n")
    found = Collection.read([write(tmp_path, FLOW)])
    staging = found.environment("staging")
    assert calls_of(found.flows[0], [staging])[0].arguments == {"name": "Bob", "limit": 5}
    assert calls_of(found.flows[0], [staging], {"who": "Eve"})[0].arguments == {"name": "Eve", "limit": 5}


def test_secrets_are_sent_and_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_KEY", "hidden-value-1")
    (tmp_path / "env").mkdir()
    (tmp_path / "env" / "staging.yaml").write_text("key: env:SHOP_KEY\n")
    found = Collection.read([write(tmp_path, "inspector: 1\nsteps:\n  - call: a\n    args: {key: '{{key}}', b: 1}\n")])
    secrets = Secrets()
    plan = LoadPlan(calls_of(found.flows[0], [found.environment("staging")], {}, secrets))
    assert plan.calls[0].arguments == {"key": "hidden-value-1", "b": 1}
    assert "hidden-value-1" in secrets.known
    assert "hidden-value-1" not in str(plan.as_json())
    with pytest.raises(UsageError, match="have secrets"):
        locust_file(plan, HttpTarget("http://127.0.0.1:1/mcp"), "load.py")


@pytest.mark.parametrize("users", [0, 7])
def test_the_locust_file_is_python_with_the_plan_and_without_secrets(users: int) -> None:
    plan = LoadPlan((PlannedCall("get", {"text": "a'b\"\n"}, 3),), rate=250, users=users, seconds=30)
    target = HttpTarget("http://user:hunter2@127.0.0.1:1/mcp", headers=(("Authorization", "Bearer hunter2"),))
    text = locust_file(plan, target)
    names = {
        node.targets[0].id: node.value
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    assert ast.literal_eval(names["CALLS"]) == [("get", {"text": "a'b\"\n"}, 3)]
    assert ast.literal_eval(names["USERS"]) == (users or 100)
    assert users or ast.literal_eval(names["INTERVAL"]) == 0.4
    assert "hunter2" not in text
    assert "Bearer" not in text


def test_a_named_server_stays_a_name() -> None:
    text = locust_file(LoadPlan((PlannedCall("get"),)), StdioTarget(("server", "--key=abc"), name="shop"))
    assert "\"INSPECTOR_TARGET\", '@shop'" in text

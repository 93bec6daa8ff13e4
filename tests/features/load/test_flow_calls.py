"""Calls of a plan from a flow, and the Locust file of a plan."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from inspector.calls.collection import Collection, read_flow
from inspector.calls.variables import Secrets
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import UsageError
from inspector.features.load.flow_calls import calls_of
from inspector.features.load.locust import locust_file
from inspector.features.load.plan import LoadPlan, PlannedCall

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
    collection = Collection.read([write(tmp_path, FLOW)])
    staging = collection.environment("staging")
    assert calls_of(collection.flows[0], [staging])[0].arguments == {"name": "Bob", "limit": 5}
    assert calls_of(collection.flows[0], [staging], {"who": "Eve"})[0].arguments == {"name": "Eve", "limit": 5}


def test_secrets_are_sent_and_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_KEY", "hidden-value-1")
    (tmp_path / "env").mkdir()
    (tmp_path / "env" / "staging.yaml").write_text("key: env:SHOP_KEY\n")
    collection = Collection.read(
        [write(tmp_path, "inspector: 1\nsteps:\n  - call: a\n    args: {key: '{{key}}', b: 1}\n")]
    )
    secrets = Secrets()
    plan = LoadPlan(calls_of(collection.flows[0], [collection.environment("staging")], {}, secrets))
    assert plan.calls[0].arguments == {"key": "hidden-value-1", "b": 1}
    assert "hidden-value-1" in secrets.known
    assert "hidden-value-1" not in str(plan.as_json())
    text = locust_file(plan, HttpTarget("http://127.0.0.1:1/mcp"), secrets=secrets.known)
    assert "hidden-value-1" not in text
    assert plan_of(text) == [("a", {"key": "<INSPECTOR_KEY>", "b": 1}, 1)]


def plan_of(source: str) -> Any:
    """The calls of a Locust file; a value that it reads from a variable is `<NAME>`."""
    tree = ast.parse(source)
    (calls,) = (
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "CALLS"
    )

    class Environ(dict[str, str]):
        def __missing__(self, name: str) -> str:
            return f"<{name}>"

    class Os:
        environ = Environ()

    class Json:
        @staticmethod
        def loads(text: str) -> tuple[str, str]:
            return ("json", text)

    return eval(compile(ast.Expression(calls), "calls", "eval"), {"os": Os, "json": Json})


HELD = 'held/"secret" ü 77ab'


@pytest.mark.parametrize(
    ("arguments", "schema", "target", "written"),
    [
        ({"password": "hunter2-1", "n": 1}, None, StdioTarget(("x",)), {"password": "<INSPECTOR_PASSWORD>", "n": 1}),
        ({"n": "hunter2-1"}, {"properties": {"n": {"format": "password"}}}, StdioTarget(("x",)), {"n": "<INSPECTOR_N>"}),
        ({"n": HELD}, None, StdioTarget(("x",), {"API_KEY": HELD}), {"n": "<INSPECTOR_N>"}),
        ({"n": f"a {HELD}!"}, None, HttpTarget("http://x.example", (("X-Api-Key", HELD),)), {"n": "<INSPECTOR_N>"}),
        ({"a": {"b": [1, HELD]}}, None, StdioTarget(("x", "--token", HELD)), {"a": {"b": ("json", "<INSPECTOR_B>")}}),
        ({"n": HELD, "m": HELD, "token": {"n": 1}}, None, StdioTarget(("x",), {"API_KEY": HELD}),
         {"n": "<INSPECTOR_N>", "m": "<INSPECTOR_N>", "token": ("json", "<INSPECTOR_TOKEN>")}),
    ],
)  # fmt: skip
def test_a_locust_file_reads_each_secret_from_a_variable(
    arguments: dict[str, Any], schema: Any, target: StdioTarget | HttpTarget, written: dict[str, Any]
) -> None:
    text = locust_file(LoadPlan((PlannedCall("t", arguments),)), target, schemas={"t": schema})
    assert plan_of(text) == [("t", written, 1)]
    assert "hunter2" not in text
    assert "77ab" not in text
    assert "Set these variables: INSPECTOR_" in text


def test_a_plan_with_a_secret_in_a_name_is_refused() -> None:
    target = StdioTarget(("x",), {"API_KEY": HELD})
    for call in (PlannedCall(HELD), PlannedCall("t", {"a": {HELD: 1}})):
        with pytest.raises(UsageError, match="A name in this plan is a secret") as caught:
            locust_file(LoadPlan((call,)), target)
        assert "77ab" not in f"{caught.value.message}{caught.value.hint}"


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

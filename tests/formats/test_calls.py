"""Flows of saved calls made from recordings."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.calls.collection import read_flow
from inspector.calls.variables import Variables, names_used
from inspector.calls.yaml_text import read_yaml
from inspector.errors import UsageError
from inspector.formats import export
from inspector.journal.journal import Journal
from tests.formats.journals import RECORDINGS, call, exported, hostile, live, opened, result

Steps = list[dict[str, Any]]
MARK = "‹redacted 01234567›"


def flow(journal: Journal, numbers: list[int] | None = None) -> dict[str, Any]:
    """Return the flow of a recording, read again."""
    read: dict[str, Any] = read_yaml(Path("flow.yaml"), exported(journal, "calls", numbers).encode()).value
    return read


def steps_of(journal: Journal) -> Steps:
    steps: Steps = flow(journal)["steps"]
    return steps


def tool(journal: Journal, id: int, name: str, args: dict[str, Any], structured: Any = None, text: str = "") -> None:
    value: dict[str, Any] = {"content": [{"type": "text", "text": text or json.dumps(structured)}]}
    if structured is not None:
        value["structuredContent"] = structured
    call(journal, id, "tools/call", {"name": name, "arguments": args}, result(id, value))


def test_a_value_that_an_answer_made_up_and_a_later_request_uses_is_captured() -> None:
    journal = live()
    tool(journal, 1, "create-order", {"sku": "A-1"}, {"id": "ord-4711", "number": 4711, "state": "new"})
    tool(journal, 2, "order", {"order_id": "ord-4711"}, {"id": "ord-4711"})
    call(journal, 3, "resources/read", {"uri": "order://ord-4711/lines"}, result(3, {"contents": []}))
    tool(journal, 4, "pay", {"orders": [{"number": 4711}], "state": "new", "sku": "A-1"})
    assert steps_of(journal) == [
        {
            "call": "create-order",
            "args": {"sku": "A-1"},
            "capture": {"order_id": "$.structuredContent.id", "number": "$.structuredContent.number"},
        },
        {"call": "order", "args": {"order_id": "{{order_id}}"}},
        {"read": "order://{{order_id}}/lines"},
        {"call": "pay", "args": {"orders": [{"number": "{{number}}"}], "state": "new", "sku": "A-1"}},
    ]


def test_names_of_captured_values_are_different_and_say_what_they_are() -> None:
    journal = live()
    tool(journal, 1, "create-order", {}, {"id": "a-100001"})
    tool(journal, 2, "create-order", {}, {"id": "a-100002"})
    tool(journal, 3, "compare", {"left": "a-100001", "right": "a-100002"})
    assert [step.get("capture") for step in steps_of(journal)] == [
        {"create_order_id": "$.structuredContent.id"},
        {"create_order_id_2": "$.structuredContent.id"},
        None,
    ]


def test_values_that_are_equal_by_chance_or_were_known_before_stay() -> None:
    journal = live()
    listed = {"resources": [{"name": "readme-2026", "uri": "demo://readme-2026"}]}
    call(journal, 1, "resources/list", {}, result(1, listed))
    tool(journal, 2, "state", {"name": "mine-123"}, {"n": 3, "state": "open", "it": "mine-123", "r": "readme-2026"})
    tool(journal, 3, "next", {"n": 3, "state": "open", "it": "mine-123", "ok": True, "r": "demo://readme-2026"})
    assert steps_of(journal) == [
        {"call": "state", "args": {"name": "mine-123"}},
        {"call": "next", "args": {"n": 3, "state": "open", "it": "mine-123", "ok": True, "r": "demo://readme-2026"}},
    ]


def test_a_secret_is_a_variable_and_one_that_an_answer_gave_is_captured_as_a_secret() -> None:
    journal = live()
    other = MARK.replace("0", "f")
    tool(journal, 1, "login", {"password": other}, {"token": MARK})
    tool(journal, 2, "who", {"header": f"Bearer {MARK}", "password": other})
    notes = []
    text = exported(journal, "calls")
    assert "redacted" not in text
    assert steps_of(journal) == [
        {
            "call": "login",
            "args": {"password": "{{password}}"},
            "capture": {"token": "$.structuredContent.token"},
            "secret": ["token"],
        },
        {"call": "who", "args": {"header": "Bearer {{token}}", "password": "{{password}}"}},
    ]
    with open("/dev/null", "w") as out:
        notes = export(journal, "calls", out)
    assert any("--set" in note and note.endswith(": password.") for note in notes)


def test_braces_of_a_recording_are_not_variables() -> None:
    journal = live()
    tool(journal, 1, "render", {"template": "Hello {{name}} {{{{x}}}}"})
    assert steps_of(journal) == [{"call": "render", "args": {"template": "Hello {{{{name}} {{{{{{{{x}}}}"}}]


@given(st.text(st.sampled_from("{} xa$9"), max_size=20))
def test_any_text_is_inserted_as_it_was(text: str) -> None:
    journal = live()
    tool(journal, 1, "render", {"template": text})
    assert Variables({}).insert(steps_of(journal)[0]["args"]) == {"template": text}


def test_no_text_of_a_recording_inserts_a_variable_wherever_it_stands() -> None:
    """The values of answers, names of members, methods and URIs: a foreign recording chooses all of them."""
    text = "x/{{token}}"
    journal = live()
    tool(journal, 1, text, {text: text}, {text: "made-up-4711"})
    tool(journal, 2, "use", {"id": "made-up-4711"})
    call(journal, 3, text, {"p": text}, result(3, {}))
    call(journal, 4, "resources/read", {"uri": text}, result(4, {"contents": []}))
    call(journal, 5, "prompts/get", {"name": text, "arguments": {"a": text}}, result(5, {"messages": []}))
    ref = {"ref": {"type": "ref/prompt", "name": text}, "argument": {"name": text, "value": text}}
    call(journal, 6, "completion/complete", ref, result(6, {"completion": {"values": []}}))
    note = {"jsonrpc": "2.0", "method": text, "params": {"p": text}}
    journal.record_sent("stdio", json.dumps(note).encode(), note)
    asks = {"resultType": "input_required", "inputRequests": {}, "requestState": "s"}
    call(journal, 7, "tools/call", {"name": "ask"}, result(7, asks))
    given = {
        "a": {"action": "accept", "content": {"c": text}}, "b": {"roots": [{"uri": f"file:///{text}"}, {"uri": "~/.ssh"}]},
        "c": {"role": "assistant", "content": {"type": "text", "text": text}},
    }  # fmt: skip
    params = {"name": "ask", "inputResponses": given, "requestState": "s"}
    call(journal, 8, "tools/call", params, result(8, {"content": []}))
    source = exported(journal, "calls")
    read = read_flow(Path("flow.yaml"), source.encode())
    assert names_used(read) == {"x_token__id"}, "the variable that the second step takes from the first"
    steps = Variables({}, {"x_token__id": "v"}).insert(read.located.value["steps"])
    assert steps[0] == {
        "call": text,
        "args": {text: text},
        "capture": {"x_token__id": f'$.structuredContent["{text}"]'},
    }
    assert steps[2] == {"request": text, "params": {"p": text}}
    assert steps[3] == {"read": text}
    assert steps[4] == {"prompt": text, "args": {"a": text}}
    assert steps[5] == {"complete": f"prompt/{text}", "argument": text, "value": text}
    assert steps[6] == {"notify": text, "params": {"p": text}}
    answers = {"elicitation": {"c": text}, "roots": [f"file:///{text}"], "sampling": text}
    assert steps[7] == {"call": "ask", "answer": answers}


def test_failures_are_expected() -> None:
    journal = live()
    call(journal, 1, "tools/call", {"name": "a"}, result(1, {"content": [], "isError": True}))
    call(journal, 2, "x/y", {"a": 1}, b'{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"m"}}')
    call(journal, 3, "x/y", {}, None)
    assert steps_of(journal) == [
        {"call": "a", "expect": {"tool_error": True}},
        {"request": "x/y", "params": {"a": 1}, "expect": {"error": -32601}},
    ]


def test_answers_of_the_client_in_both_eras() -> None:
    journal = live()
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask"}}
    journal.record_sent("stdio", json.dumps(message).encode(), message)
    asked = b'{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":{}}}'
    journal.record_received("stdio", [asked])
    response = {"jsonrpc": "2.0", "id": "q", "result": {"action": "accept", "content": {"name": "Ada"}}}
    journal.record_sent("stdio", json.dumps(response).encode(), response)
    journal.record_received("stdio", [result(1, {"content": []})])

    questions = {"k": {"method": "roots/list", "params": {}}, "l": {"method": "sampling/createMessage", "params": {}}}
    asks = {"resultType": "input_required", "inputRequests": questions, "requestState": "opaque-1234"}
    call(journal, 2, "tools/call", {"name": "ask"}, result(2, asks))
    sampled = {"role": "assistant", "content": {"type": "text", "text": "yes"}, "model": "m"}
    given = {"k": {"roots": [{"uri": "file:///a"}]}, "l": sampled}
    params = {"name": "ask", "inputResponses": given, "requestState": "opaque-1234"}
    call(journal, 3, "tools/call", params, result(3, {"content": [], "structuredContent": {"id": "made-up-1"}}))
    tool(journal, 4, "use", {"id": "made-up-1"})
    assert steps_of(journal) == [
        {"call": "ask", "answer": {"elicitation": {"name": "Ada"}}},
        {
            "call": "ask",
            "answer": {"roots": ["file:///a"], "sampling": "yes"},
            "capture": {"ask_id": "$.structuredContent.id"},
        },
        {"call": "use", "args": {"id": "{{ask_id}}"}},
    ]


def test_a_step_that_cannot_pass_as_it_was_recorded_is_skipped_with_the_reason() -> None:
    from inspector.check.judge.judge import Judge

    with closing(opened(RECORDINGS / "demo-tour.mcp.jsonl")) as journal:
        Judge(journal).run_all()
        steps = steps_of(journal)
    assert {step["call"]: step["skip"] for step in steps if "skip" in step} == {
        "bad-structured": "The recorded result does not fit the tool's outputSchema.",
        "ask-link": "The server asked the user to open a URL.",
    }
    assert not any(step.get("expect") == {"findings": "any"} for step in steps)


def test_a_step_that_broke_another_rule_allows_findings() -> None:
    from inspector.check.judge.judge import Judge

    journal = live()
    call(journal, 1, "tools/call", {"name": "a"}, result(1, {"content": [{"type": "text"}]}))
    assert steps_of(journal) == [{"call": "a"}]
    Judge(journal).run_all()
    assert steps_of(journal) == [{"call": "a", "expect": {"findings": "any"}}]


def test_the_server_is_that_of_the_recording() -> None:
    with closing(opened(RECORDINGS / "demo-tour.mcp.jsonl")) as journal:
        assert flow(journal)["server"] == "python -m inspector.demo --items 30 --tick 60"
    for target, server in (
        ({"name": "shop", "argv": ["a"]}, "@shop"),
        ({"argv": ["node", "my server.js"]}, 'node "my server.js"'),
        ({"url": "https://example.com/mcp"}, "https://example.com/mcp"),
        ({"url": f"https://example.com/mcp?key={MARK}"}, None),
        ({"url": "https://example.com/{{token}}"}, "https://example.com/{{{{token}}"),
        ({"argv": ["node", "{{token}}"]}, 'node "{{{{token}}"'),
        ({"name": "{{token}}"}, "@{{{{token}}"),
        # What is one of the three in a recording is never another one in a flow.
        ({"url": "sh -c 'touch pwned'"}, None),
        ({"url": "@github"}, None),
        ({"argv": ["@github"]}, None),
        ({"argv": ["@github", "x"]}, None),
        ({"argv": ["https://evil.example"]}, None),
    ):
        journal = Journal.unnamed({"label": "x", **target})
        tool(journal, 1, "a", {})
        assert flow(journal).get("server") == server


def test_chosen_events_make_a_flow_of_their_own() -> None:
    with closing(opened(RECORDINGS / "demo-tour.mcp.jsonl")) as journal:
        assert flow(journal, [14, 17])["steps"] == [
            {"call": "echo", "args": {"message": "hello"}},
            {"call": "add", "args": {"a": 19, "b": 23}},
        ]


@pytest.mark.parametrize("http", [False, True])
def test_a_hostile_server_makes_only_text(http: bool) -> None:
    read = flow(hostile(http=http))
    assert set(read) <= {"inspector", "name", "server", "steps"}


def test_what_yaml_cannot_hold_is_omitted() -> None:
    journal = live()
    tool(journal, 1, "a", {"text": "\ud800"})
    tool(journal, 2, "a", {"number": float("nan")})
    tool(journal, 3, "a", {"text": "\x00\u2028\x85"})
    assert steps_of(journal) == [{"call": "a", "args": {"text": "\x00\u2028\x85"}}]


def test_a_recording_without_requests_makes_a_flow_without_steps() -> None:
    assert steps_of(live()) == []


def test_a_flow_that_would_be_too_large_is_refused() -> None:
    journal = live()
    for id in range(12):
        tool(journal, id, "a", {"text": "x" * 100_000})
    with pytest.raises(UsageError, match="larger than 1 MiB"):
        exported(journal, "calls")


@pytest.mark.slow
def test_the_flow_of_the_demo_recording_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every call of the recorded tour, on the demo server as it is today."""
    from inspector.cli.main import run

    path = tmp_path / "tour.yaml"
    assert run(["export", str(RECORDINGS / "demo-tour.mcp.jsonl"), "--to", "calls", "-o", str(path)]) == 0
    words = ["run", "--era", "legacy", "--no-record", "--json", str(path), "--"]
    code = run([*words, sys.executable, "-m", "inspector.demo", "--items", "30", "--tick", "60"])
    report = json.loads(capsys.readouterr().out)
    failed = [step for flow in report["flows"] for step in flow["steps"] if step["outcome"] == "failed"]
    assert (code, failed) == (0, [])

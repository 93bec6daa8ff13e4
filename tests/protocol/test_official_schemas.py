"""The official schemas: the definition that a message is validated against, in each revision (BASE-01 to BASE-05, BASE-14)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.errors import SchemaError
from inspector.protocol.official_schemas import Catalogue, validate_message
from inspector.protocol.revisions import R1, R2, R3, R4, R5, REVISIONS

EXAMPLES = sorted((Path(__file__).parent.parent / "data" / "examples" / R5).rglob("*.json"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def violations_of(
    message: Any, revision: str, direction: Any = "recv", method: str | None = None
) -> list[tuple[str, str, str]]:
    violations = validate_message(message, revision=revision, direction=direction, answered_method=method)
    return [(violation.path, violation.message, violation.definition) for violation in violations]


def reply(result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "result": result}


def failure(code: int, **members: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": "m", **members}}


def test_the_official_examples_are_all_there() -> None:
    assert len(EXAMPLES) == 129


def test_official_examples_match_their_definitions(subtests: pytest.Subtests) -> None:
    for path in EXAMPLES:
        with subtests.test(f"{path.parent.name}/{path.stem}"):
            assert Catalogue.for_revision(R5).check(path.parent.name, json.loads(path.read_text("utf-8"))) == []


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_definition_of_every_revision_compiles(revision: str) -> None:
    catalogue = Catalogue.for_revision(revision)
    for name in catalogue.definitions:
        catalogue.validator(name)
    assert Catalogue.for_revision(revision) is catalogue


def test_methods_are_known_by_revision_and_direction() -> None:
    first, last_legacy, modern = (Catalogue.for_revision(revision) for revision in (R1, R4, R5))
    assert first.methods("Request", "send")["tools/call"] == "CallToolRequest"
    assert first.methods("Request", "recv") == {
        "ping": "PingRequest",
        "sampling/createMessage": "CreateMessageRequest",
        "roots/list": "ListRootsRequest",
    }
    assert "elicitation/create" in last_legacy.methods("Request", "recv")
    assert "tasks/list" in last_legacy.methods("Request", "send")
    assert "initialize" not in modern.methods("Request", "send")
    assert modern.methods("Request", "recv") == {}
    assert modern.methods("Notification", "send") == {"notifications/cancelled": "ClientNotification"}
    assert "notifications/elicitation/complete" in last_legacy.methods("Notification", "recv")


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_request_has_the_definition_of_its_result(revision: str) -> None:
    catalogue = Catalogue.for_revision(revision)
    for direction, answer in (("send", "recv"), ("recv", "send")):
        for method, request in catalogue.methods("Request", direction).items():  # type: ignore[arg-type]
            result = catalogue.result_of(method, answer)  # type: ignore[arg-type]
            assert result in catalogue.definitions
            assert result in ("EmptyResult", request.removesuffix("Request") + "Result")
    assert catalogue.result_of("tools/call", "recv") == "CallToolResult"
    assert catalogue.result_of("unknown/method", "recv") is None
    assert catalogue.result_of("tools/call", "send") is None


def test_a_request_needs_its_params_in_every_revision() -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"arguments": {}}}
    for revision in REVISIONS:
        violations = violations_of(call, revision, "send")
        assert ("/params", '"name" is missing', "CallToolRequest") in violations
        call["params"]["name"] = "x"  # type: ignore[index]
        assert [item for item in violations_of(call, revision, "send") if "_meta" not in item[1]] == []
        del call["params"]["name"]  # type: ignore[attr-defined]


def test_envelopes() -> None:
    for revision in REVISIONS:
        assert violations_of({"jsonrpc": "2.0", "method": "unknown/method", "id": "a", "params": {}}, revision) == []
        assert violations_of({"jsonrpc": "2.0", "method": "x/y"}, revision) == []
        assert violations_of({"jsonrpc": "1.0", "method": "x/y"}, revision)[0][:2] == ("/jsonrpc", 'expected "2.0"')
        assert violations_of({"jsonrpc": "2.0", "method": "x/y", "id": None}, revision)[0][0] == "/id"
        assert violations_of({"jsonrpc": "2.0", "method": "x/y", "id": 1.5}, revision)[0][0] == "/id"
        assert violations_of({"jsonrpc": "2.0", "method": "x/y", "params": []}, revision)[0][0] == "/params"
        assert violations_of({"id": 1, "result": {"resultType": "complete"}}, revision)[0][1] == '"jsonrpc" is missing'
        for nothing in (None, 5, "text", [], {}, {"method": 5}, {"jsonrpc": "2.0", "id": 1}):
            assert violations_of(nothing, revision)[0][1].endswith("is not a JSON-RPC message")
        assert "has a result and an error" in violations_of({**reply({}), **failure(1)}, revision)[0][1]


def test_a_result_is_held_against_the_request_it_answers() -> None:
    for revision in REVISIONS:
        wrong = reply({"content": [{"type": "text"}], "resultType": "complete"})
        assert violations_of(wrong, revision) == []
        violations = violations_of(wrong, revision, "recv", "tools/call")
        assert violations
        assert {item[2] for item in violations} == {"CallToolResult"}
        assert violations[0][0].startswith("/result/content/0")
        right = reply({"content": [{"type": "text", "text": "x"}], "resultType": "complete"})
        assert violations_of(right, revision, "recv", "tools/call") == []
        assert violations_of(wrong, revision, "recv", "unknown/method") == []
        assert violations_of(reply(5), revision, "recv", "tools/call")[0][0] == "/result"


def test_results_that_ask_for_input_belong_to_the_methods_that_may() -> None:
    asks = reply({"resultType": "input_required", "inputRequests": {"a": {"method": "roots/list"}}})
    assert violations_of(asks, R5, "recv", "tools/call") == []
    assert violations_of(asks, R5, "recv", "tools/list")[0][2] == "ListToolsResult"
    bad = reply({"resultType": "input_required", "inputRequests": {"a": {"method": "tools/list"}}})
    assert violations_of(bad, R5, "recv", "tools/call")[0][2] == "InputRequiredResult"
    assert violations_of(reply({"content": []}), R5, "recv", "tools/call")[0][1] == '"resultType" is missing'


def test_a_task_answers_where_a_task_was_requested() -> None:
    task = {"taskId": "1", "status": "working", "createdAt": "x", "lastUpdatedAt": "x", "ttl": None}
    assert violations_of(reply({"task": task}), R4, "recv", "tools/call") == []
    assert violations_of(reply({"task": task}), R4, "send", "elicitation/create") == []
    assert violations_of(reply({"task": task}), R4, "recv", "prompts/get")[0][2] == "GetPromptResult"
    assert violations_of(reply({"task": {}}), R4, "recv", "tools/call")[0][2] == "CreateTaskResult"


def test_errors_are_held_against_their_code() -> None:
    for revision in REVISIONS:
        assert violations_of(failure(-32601), revision) == []
        assert (
            violations_of({"jsonrpc": "2.0", "id": 1, "error": {"code": "x", "message": 5}}, revision)[0][0]
            == "/error/code"
        )
        assert violations_of({"jsonrpc": "2.0", "id": 1, "error": "x"}, revision)[0][0] == "/error"
    assert violations_of({"jsonrpc": "2.0", "error": {"code": 1, "message": "m"}}, R1)[0][1] == '"id" is missing'
    assert violations_of({"jsonrpc": "2.0", "error": {"code": 1, "message": "m"}}, R4) == []
    assert violations_of(failure(-32042), R3) == []
    assert violations_of(failure(-32042), R4)[0][2] == "URLElicitationRequiredError"
    assert violations_of(failure(-32022, data={"supported": [R5], "requested": "x"}), R5) == []
    assert violations_of(failure(-32022, data={"supported": R5}), R5)[0][2] == "UnsupportedProtocolVersionError"
    assert Catalogue.for_revision(R5).error_of(-32021) == "MissingRequiredClientCapabilityError"
    assert Catalogue.for_revision(R5).error_of({"a": 1}) == "JSONRPCErrorResponse"


def test_a_method_of_the_other_side_or_of_another_revision_is_a_violation() -> None:
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert violations_of(listing, R4, "recv") == [
        ("/method", "tools/list is not a request that a server may send in 2025-11-25", "ServerRequest")
    ]
    assert violations_of(listing, R4, "send") == []
    asking = {"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": {}}
    assert violations_of(asking, R2, "recv")[0][0] == "/method"
    changed = {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}
    assert violations_of(changed, R4, "send") == []
    assert violations_of(changed, R5, "send")[0][0] == "/method"


def test_batches_are_looked_through_and_belong_to_one_revision() -> None:
    batch = [{"jsonrpc": "2.0", "method": "x/y"}, {"jsonrpc": "2.0", "id": None, "method": "x/y"}, 5, []]
    violations = violations_of(batch, R2)
    assert [path for path, _, _ in violations] == ["/1/id", "/2", "/3"]
    assert violations_of(batch, R3)[0][1] == "is a batch, which 2025-06-18 does not have"


def test_numbers_with_a_fraction_and_null_are_values() -> None:
    for revision in (R3, R4):
        answer = reply({"action": "accept", "content": {"n": 1.5, "b": True, "s": "x"}})
        assert violations_of(answer, revision, "send", "elicitation/create") == []
        answer["result"]["content"]["n"] = {}
        assert violations_of(answer, revision, "send", "elicitation/create")[0][0].startswith("/result/content/n")
    capabilities = {"extensions": {"x/y": {"a": 1.5, "b": None, "c": [{}]}}}
    assert Catalogue.for_revision(R5).check("ServerCapabilities", capabilities) == []


def test_unknown_revisions_and_definitions_are_errors() -> None:
    with pytest.raises(SchemaError, match="Unknown protocol revision"):
        validate_message({}, revision="1999-01-01", direction="recv")
    with pytest.raises(SchemaError, match="no definition"):
        Catalogue.for_revision(R1).check("Nonsense", 1)


@given(
    st.dictionaries(st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error"]), JSON) | JSON,
    st.sampled_from(REVISIONS),
    st.sampled_from(["send", "recv"]),
    st.sampled_from([None, "tools/call", "tools/list", "x"]),
)
def test_no_message_raises(message: Any, revision: str, direction: Any, method: str | None) -> None:
    violations_of(message, revision, direction, method)


def test_hostile_results_take_bounded_work() -> None:
    deep: Any = {}
    for _ in range(100_000):
        deep = [deep]
    assert "not checked" in violations_of(reply({"content": deep}), R4, "recv", "tools/call")[0][1]
    many = reply({"tools": [{"name": n} for n in range(5_000)]})
    assert len(validate_message(many, revision=R4, direction="recv", answered_method="tools/list")) == 50
    big = reply({"content": [{"type": "image", "data": "A" * 1_000_000, "mimeType": 5}] * 20})
    assert len(validate_message(big, revision=R4, direction="recv", answered_method="tools/call")) == 20

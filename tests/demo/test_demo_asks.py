"""The questions of the demo server to its client."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.demo.demo_client import EVERYTHING, MemoryPeer, StdioPeer, text_of

Connect = Callable[..., MemoryPeer]


def test_sampling_goes_to_the_client_and_its_answer_into_the_result(connect: Connect) -> None:
    peer = connect()
    asked: list[dict[str, Any]] = []

    def answer(params: dict[str, Any]) -> dict[str, Any]:
        asked.append(params)
        return {"result": {"role": "assistant", "model": "m-1", "content": {"type": "text", "text": "green glow"}}}

    peer.answers["sampling/createMessage"] = answer
    text = text_of(peer.call("ask-model", prompt="Why?", max_tokens=9, with_picture=True, temperature=0.5))
    assert "m-1" in text
    assert "green glow" in text
    assert asked[0]["maxTokens"] == 9
    assert [message["content"]["type"] for message in asked[0]["messages"]] == ["image", "text"]


def test_sampling_with_tools_answers_tool_uses_until_the_model_is_content(connect: Connect) -> None:
    peer = connect()
    asked: list[dict[str, Any]] = []

    def answer(params: dict[str, Any]) -> dict[str, Any]:
        asked.append(params)
        use = {"type": "tool_use", "id": "u1", "name": "look-up-weather", "input": {"city": "Lima"}}
        content: Any = [use] if len(asked) == 1 else {"type": "text", "text": "fine"}
        return {"result": {"role": "assistant", "model": "m", "content": content}}

    peer.answers["sampling/createMessage"] = answer
    assert "After 2 rounds" in text_of(peer.call("ask-model-with-tools"))
    assert asked[1]["messages"][2]["content"][0]["toolUseId"] == "u1"


@pytest.mark.parametrize("name", ["ask-model", "ask-user", "ask-link", "where-am-i", "ping-client"])
def test_a_refusal_by_the_client_becomes_a_tool_error(connect: Connect, name: str) -> None:  # CLI-08
    peer = connect()
    for method in ("sampling/createMessage", "elicitation/create", "roots/list", "ping"):
        peer.answers[method] = lambda params: {"error": {"code": -1, "message": "not today"}}
    result = peer.call(name)
    assert result["isError"] is True
    assert "not today (-1)" in text_of(result)


@pytest.mark.parametrize("reply", [{}, {"result": None}, {"result": [1]}, {"error": "no"}, {"error": {"code": {}}}])
def test_a_malformed_answer_of_the_client_is_survived(connect: Connect, reply: dict[str, Any]) -> None:
    peer = connect()
    peer.answers["roots/list"] = lambda params: reply or {"result": {"roots": "none"}}
    assert peer.call("where-am-i")["isError"] is True


FORM = {"name": "Bo", "email": "bo@example.com", "age": 3, "newsletter": False, "size": "m", "fruit": ["fig"]}


@pytest.mark.parametrize(
    ("answer", "text", "failed"),
    [
        ({"action": "accept", "content": FORM}, '"email":"bo@example.com"', False),
        ({"action": "accept", "content": {"name": "B"}}, "/email: is required", True),
        ({"action": "accept"}, "(whole): must be object", True),
        ({"action": "decline"}, "chose to decline", False),
        ({"action": "cancel"}, "chose to cancel", False),
    ],
)
def test_a_form_is_requested_and_its_answer_checked(
    connect: Connect, answer: dict[str, Any], text: str, failed: bool
) -> None:  # CLI-05
    peer = connect()
    peer.answers["elicitation/create"] = lambda params: {"result": answer}
    result = peer.call("ask-user", message="Who?")
    assert text in text_of(result)
    assert result.get("isError", False) is failed
    (asked,) = peer.all_of("elicitation/create")
    assert asked["mode"] == "form"
    assert asked["message"] == "Who?"


def test_the_form_of_2025_06_18_has_only_what_that_revision_knows(connect: Connect) -> None:
    peer = connect(revision="2025-06-18", capabilities={"elicitation": {}})
    peer.answers["elicitation/create"] = lambda params: {"result": {"action": "decline"}}
    peer.call("ask-user")
    (asked,) = peer.all_of("elicitation/create")
    assert "mode" not in asked
    fields = asked["requestedSchema"]["properties"]
    assert "fruit" not in fields
    assert {name for name, field in fields.items() if "default" in field} == {"newsletter"}


def test_a_link_is_requested_and_its_completion_told(connect: Connect) -> None:
    peer = connect(tick=0.01)
    peer.answers["elicitation/create"] = lambda params: {"result": {"action": "accept"}}
    assert "complete" in text_of(peer.call("ask-link"))
    (asked,) = peer.all_of("elicitation/create")
    assert (asked["mode"], asked["url"][:8]) == ("url", "https://")
    (completed,) = peer.all_of("notifications/elicitation/complete")
    assert completed == {"elicitationId": asked["elicitationId"]}


def test_a_tool_that_needs_a_link_refuses_once_and_then_works(connect: Connect) -> None:  # CLI-04
    peer = connect(tick=0.01)
    problem = peer.error("tools/call", {"name": "need-link"})
    assert problem["code"] == -32042
    elicitation_id = problem["data"]["elicitations"][0]["elicitationId"]
    assert peer.notification("notifications/elicitation/complete")["params"] == {"elicitationId": elicitation_id}
    assert "isError" not in peer.call("need-link")


@pytest.mark.parametrize(("roots", "text"), [([], "no roots"), ([{"uri": "file:///home/bo"}], "file:///home/bo")])
def test_roots_are_requested(connect: Connect, roots: list[dict[str, Any]], text: str) -> None:  # CLI-09
    peer = connect()
    peer.answers["roots/list"] = lambda params: {"result": {"roots": roots}}
    assert text in text_of(peer.call("where-am-i"))


@pytest.mark.slow
def test_the_client_is_pinged(shared: StdioPeer) -> None:
    assert text_of(shared.call("ping-client", times=3)).count("ms") == 3


@pytest.mark.parametrize(
    "name", ["ask-model", "ask-model-with-tools", "ask-user", "ask-link", "need-link", "where-am-i"]
)
def test_a_client_that_declares_nothing_is_asked_nothing(connect: Connect, name: str) -> None:  # LIFE-08
    peer = connect(capabilities={})
    result = peer.call(name)
    assert result["isError"] is True
    assert "did not declare the capability" in text_of(result)
    assert not any("method" in message for message in peer.received)


@pytest.mark.parametrize(
    ("capabilities", "form", "link"),
    [
        ({"elicitation": {}}, True, False),
        ({"elicitation": {"form": {}}}, True, False),
        ({"elicitation": {"url": {}}}, False, True),
        ({"elicitation": {"url": {}, "form": {}}}, True, True),
        ({"elicitation": "yes"}, False, False),
    ],
)
def test_only_the_declared_modes_of_elicitation_are_used(
    connect: Connect, capabilities: dict[str, Any], form: bool, link: bool
) -> None:
    peer = connect(tick=0, capabilities=capabilities)
    peer.answers["elicitation/create"] = lambda params: {"result": {"action": "decline"}}
    assert ("isError" not in peer.call("ask-user")) is form
    assert ("isError" not in peer.call("ask-link")) is link


def test_features_of_later_revisions_are_not_used(connect: Connect) -> None:
    peer = connect(revision="2025-03-26", capabilities=EVERYTHING)
    for name in ("ask-user", "ask-link", "ask-model-with-tools"):
        result = peer.call(name)
        assert result["isError"] is True
        assert "requires revision" in text_of(result)


def test_a_question_is_withdrawn_when_its_call_is_cancelled(connect: Connect) -> None:  # C-CANC-02
    peer = connect()
    request_id = peer.start("tools/call", {"name": "ask-user"})
    question = peer.wait(lambda m: m.get("method") == "elicitation/create")
    peer.notify("notifications/cancelled", {"requestId": request_id})
    assert peer.notification("notifications/cancelled")["params"]["requestId"] == question["id"]
    assert not any(message.get("id") == request_id and "method" not in message for message in peer.received)

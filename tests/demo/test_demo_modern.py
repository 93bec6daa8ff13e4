"""The demo server at 2026-07-28: requests that say who asks, one era beside the other, and every result valid."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jsonschema_rs
import pytest

from tests.demo.demo_client import (
    MODERN,
    PREFIX,
    HttpServer,
    MemoryPeer,
    ModernHttpPeer,
    Peer,
    StdioPeer,
    about_client,
    modern_params,
    text_of,
)
from tests.demo.schemas import check
from tests.demo.test_demo_schema import ARGUMENTS, ENDLESS, FAILING, REFUSING

Modern = Callable[..., MemoryPeer]
RESULTS = {
    "server/discover": "DiscoverResult",
    "tools/list": "ListToolsResult",
    "tools/call": "CallToolResult",
    "resources/list": "ListResourcesResult",
    "resources/templates/list": "ListResourceTemplatesResult",
    "resources/read": "ReadResourceResult",
    "prompts/list": "ListPromptsResult",
    "prompts/get": "GetPromptResult",
    "completion/complete": "CompleteResult",
}
CACHEABLE = set(RESULTS) - {"tools/call", "prompts/get", "completion/complete"}
ANSWERS: dict[str, Any] = {
    "roots/list": {"roots": [{"uri": "file:///home/bo", "name": "home"}]},
    "sampling/createMessage": {"role": "assistant", "model": "m", "content": {"type": "text", "text": "x"}},
    "elicitation/create": {"action": "accept", "content": {"name": "Bo", "email": "bo@example.com", "sure": True}},
}


def asked(peer: Peer, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    """The result of a request, checked; what it needs on the way is answered from ANSWERS."""
    params = params or {}
    for _ in range(9):
        result = peer.ask(method, params)
        if result["resultType"] == "complete":
            check(MODERN, RESULTS[method], result)
            assert ("ttlMs" in result) == ("cacheScope" in result) == (method in CACHEABLE)  # CACHE-01
            assert result["_meta"][PREFIX + "serverInfo"]["name"] == "inspector-demo"  # BASE-17
            return result
        check(MODERN, "InputRequiredResult", result)
        assert not {"ttlMs", "cacheScope"} & set(result)  # CACHE-06
        answers = {key: ANSWERS[question["method"]] for key, question in result.get("inputRequests", {}).items()}
        state = {"requestState": result["requestState"]} if "requestState" in result else {}
        params = {key: value for key, value in params.items() if key != "requestState"} | state
        params |= {"inputResponses": answers} if answers else {}
    raise AssertionError(f"{method} has no end")


@pytest.fixture(scope="module", params=["stdio", "http"])
def peer(request: pytest.FixtureRequest, http_server: HttpServer) -> Iterator[Peer]:
    if request.param == "http":
        http = ModernHttpPeer(http_server.url)
        http.meta = about_client(logLevel="debug")
        yield http
        http.finish_posts()
    else:
        stdio = StdioPeer("--items", "120", "--tick", "0.01", "--era", "modern")
        stdio.meta = about_client(logLevel="debug")
        yield stdio
        assert stdio.close() == 0


def test_discover_tells_versions_capabilities_and_who_it_is(modern: Modern) -> None:  # LIFE-20, LIFE-21, LIFE-22
    discovered = asked(modern(), "server/discover")
    assert discovered["supportedVersions"] == [MODERN]
    assert set(discovered["capabilities"]) >= {"tools", "resources", "prompts", "logging", "completions"}
    assert discovered["_meta"][PREFIX + "serverInfo"]["icons"]
    assert "Demo server" in discovered["instructions"]
    assert discovered["ttlMs"] > 0


@pytest.mark.slow
def test_every_tool_answers_validly(peer: Peer) -> None:  # BASE-15, BASE-16, TOOL-11
    tools = {tool["name"]: tool for tool in asked(peer, "tools/list")["tools"]}
    assert "ping-client" not in tools
    assert "end-listening" in tools
    for name, tool in tools.items():
        if name in ENDLESS | REFUSING | {"hang-up", "task-only"}:
            continue  # they give no result here, and have tests of their own
        params = {"name": name, "arguments": ARGUMENTS.get(name, {}), "_meta": {"progressToken": name}}
        result = asked(peer, "tools/call", params)
        if "outputSchema" in tool:
            valid = jsonschema_rs.is_valid(tool["outputSchema"], result["structuredContent"])
            assert valid is (name != "bad-structured"), name
        assert result.get("isError", False) is (name in FAILING), (name, result)
    assert peer.error("tools/call", {"name": "protocol-error"})["code"] == -32603


def test_resources_prompts_and_completions_are_valid(peer: Peer) -> None:
    page = asked(peer, "resources/list")
    assert asked(peer, "resources/list", {"cursor": page["nextCursor"]})["cacheScope"] == page["cacheScope"]  # CACHE-04
    for resource in page["resources"][:12]:
        asked(peer, "resources/read", {"uri": resource["uri"]})
    assert asked(peer, "resources/read", {"uri": "demo://clock"})["ttlMs"] == 0
    asked(peer, "resources/templates/list")
    for prompt in asked(peer, "prompts/list")["prompts"]:
        given = {argument["name"]: "demo://readme" for argument in prompt.get("arguments", ())}
        asked(peer, "prompts/get", {"name": prompt["name"], "arguments": given})
    ref = {"type": "ref/resource", "uri": "demo://items/{id}"}
    completion = asked(peer, "completion/complete", {"ref": ref, "argument": {"name": "id", "value": "1"}})
    assert completion["completion"]["values"]


def test_the_server_never_sends_a_request_and_every_notification_is_valid(peer: Peer) -> None:  # BASE-31
    peer.call("slow", seconds=0.01, steps=1)
    peer.call("count", to=1)
    for message in peer.received:
        if "method" in message:
            assert "id" not in message
            check(MODERN, "ServerNotification", message)
        check(MODERN, "JSONRPCMessage", message)


@pytest.mark.parametrize(
    ("meta", "code", "about"),
    [
        (None, -32602, "_meta"),
        ([], -32602, "_meta"),
        ({}, -32602, "protocolVersion"),
        (about_client() | {PREFIX + "clientCapabilities": None}, -32602, "clientCapabilities"),
        (about_client() | {PREFIX + "clientCapabilities": []}, -32602, "clientCapabilities"),
        (about_client(protocolVersion=7), -32602, "protocolVersion"),
        (about_client(clientInfo="me"), -32602, "clientInfo"),
        (about_client(logLevel="loud"), -32602, "logLevel"),  # UTIL-12
        (about_client(logLevel=3), -32602, "logLevel"),
        (about_client(protocolVersion="1900-01-01"), -32022, MODERN),
        (about_client(protocolVersion="2025-11-25"), -32022, MODERN),
    ],
)
def test_requests_that_do_not_say_properly_who_asks_are_refused(
    modern: Modern, meta: Any, code: int, about: str
) -> None:  # BASE-18, LIFE-23, LIFE-24
    client = modern(era="modern")
    for method in ("server/discover", "tools/list", "subscriptions/listen", "no/such"):
        client.send({"jsonrpc": "2.0", "id": method, "method": method, "params": {"_meta": meta}})
        refused = client.response(method)
        assert refused["error"]["code"] == code
        assert about in refused["error"]["message"]
        if code == -32022:
            check(MODERN, "UnsupportedProtocolVersionError", refused)
            data = refused["error"]["data"]
            assert data == {"supported": [MODERN], "requested": meta[PREFIX + "protocolVersion"]}


def test_who_asks_need_not_be_named(modern: Modern) -> None:  # BASE-19
    client = modern()
    del client.meta[PREFIX + "clientInfo"]
    assert asked(client, "tools/list")["tools"]


@pytest.mark.parametrize("method", ["ping", "logging/setLevel", "resources/subscribe", "tasks/result", "no/such"])
def test_methods_of_the_other_era_are_unknown(modern: Modern, method: str) -> None:  # LIFE-27
    assert modern().error(method)["code"] == -32601


def test_nothing_is_remembered_from_one_request_to_the_next(modern: Modern) -> None:  # BASE-24
    client = modern()
    assert "inputRequests" in client.ask("tools/call", {"name": "where-am-i"})
    client.meta = about_client({})
    assert client.error("tools/call", {"name": "where-am-i"})["code"] == -32021
    facts = client.ask("tools/call", {"name": "about-client"})["structuredContent"]
    assert facts["capabilities"] == {}
    assert facts["revision"] == MODERN


def test_an_unknown_resource_is_a_wrong_parameter(modern: Modern) -> None:  # RES-08, RES-19, BASE-21
    problem = modern().error("resources/read", {"uri": "demo://nowhere"})
    assert problem == {"code": -32602, "message": "Resource not found", "data": {"uri": "demo://nowhere"}}


def test_log_messages_come_only_where_they_are_requested(modern: Modern) -> None:  # UTIL-11
    quiet, loud = modern(), modern(log_level="warning")
    for client in (quiet, loud):
        client.call("count", to=1, level="info", interval=0)
        client.call("count", to=2, level="error", interval=0)
    assert quiet.all_of("notifications/message") == []
    assert [params["level"] for params in loud.all_of("notifications/message")] == ["error", "error"]


def test_a_cancelled_request_is_not_answered(modern: Modern) -> None:  # STDIO-08
    client = modern()
    request_id = client.start("tools/call", {"name": "forget"})
    client.notify("notifications/cancelled", {"requestId": request_id})
    again = client.start("server/discover")
    client.response(again)
    assert not any(message.get("id") == request_id for message in client.received)


def test_an_id_in_use_is_refused(modern: Modern) -> None:
    client = modern()
    request_id = client.start("tools/call", {"name": "forget"})
    params = modern_params({}, about_client())
    client.send({"jsonrpc": "2.0", "id": request_id, "method": "tools/list", "params": params})
    assert client.response(request_id)["error"]["code"] == -32600


# --- both eras -------------------------------------------------------------------------------------------------------


def test_both_eras_are_served_on_one_connection(connect: Callable[..., MemoryPeer]) -> None:
    peer = connect()
    assert "resultType" not in peer.ask("tools/list")
    peer.meta = about_client()
    assert peer.ask("tools/list")["resultType"] == "complete"
    forgotten = peer.start("tools/call", {"name": "forget"})
    peer.meta = None
    also = peer.start("tools/call", {"name": "forget"})
    for request_id in (forgotten, also):
        peer.notify("notifications/cancelled", {"requestId": request_id})
    assert peer.ask("ping") == {}
    assert not any(message.get("id") in (forgotten, also) for message in peer.received)


def test_without_a_handshake_and_without_meta_nothing_but_ping_is_served(modern: Modern) -> None:
    client = modern()
    client.meta = None
    assert client.error("tools/list")["code"] == -32602
    assert client.error("server/discover")["code"] == -32602
    assert client.ask("ping") == {}


@pytest.mark.parametrize("params", [{"protocolVersion": "2025-11-25"}, {}, None, [], {"protocolVersion": {}}])
def test_the_modern_era_alone_refuses_a_handshake_and_names_its_versions(params: Any) -> None:  # LIFE-26
    client = MemoryPeer(era="modern")
    client.send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
    refused = client.response(1)
    check(MODERN, "UnsupportedProtocolVersionError", refused)
    requested = params.get("protocolVersion") if isinstance(params, dict) else ""
    assert refused["error"]["data"] == {
        "supported": [MODERN],
        "requested": requested if isinstance(requested, str) else "",
    }


@pytest.mark.parametrize("how", [{"era": "legacy"}, {"newest": "2025-06-18"}])
def test_the_older_era_alone_does_not_know_the_methods_of_the_newer(how: dict[str, str]) -> None:
    client = MemoryPeer(**how)
    client.meta = about_client()
    assert client.error("server/discover")["code"] == -32601
    assert client.error("no/such")["code"] == -32601
    assert client.error("tools/list")["code"] == -32600
    client.meta = None
    assert client.open("2099-01-01")["protocolVersion"] == how.get("newest", "2025-11-25")


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "id": None, "method": "tools/list", "params": {"_meta": about_client()}},
        [{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": about_client()}}],
        {"jsonrpc": "1.0", "id": 1, "method": "server/discover"},
        {"id": 7, "method": {}},
        "server/discover",
    ],
)
def test_what_is_not_a_request_is_refused_without_an_id(modern: Modern, message: Any) -> None:
    for era in ("modern", "both"):
        client = modern(era=era)
        client.send(message)
        refused = client.wait(lambda answer: "error" in answer)
        assert refused["error"]["code"] == -32600
        assert "id" not in refused


def test_stray_messages_are_not_answered(modern: Modern) -> None:
    client = modern(era="modern")
    client.send({"jsonrpc": "2.0", "id": 5, "result": {}})
    for params in ({"requestId": 4711}, {"requestId": {}}, {}, None, []):
        client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
    client.notify("notifications/unheard-of")
    asked(client, "server/discover")
    assert len(client.received) == 1


# --- rounds ----------------------------------------------------------------------------------------------------------


def call(peer: Peer, name: str, answers: Any = None, state: Any = None, **arguments: Any) -> dict[str, Any]:
    params: dict[str, Any] = {"name": name, "arguments": arguments}
    params |= {} if answers is None else {"inputResponses": answers}
    params |= {} if state is None else {"requestState": state}
    return peer.ask("tools/call", params)


def test_several_things_are_asked_at_once_and_what_is_missing_is_asked_again(modern: Modern) -> None:
    client = modern()  # MRTR-03, MRTR-05, MRTR-06
    first = call(client, "ask-several")
    methods = {key: question["method"] for key, question in first["inputRequests"].items()}
    assert sorted(methods.values()) == sorted(ANSWERS)
    answers = {key: ANSWERS[method] for key, method in methods.items()}
    (roots,) = [key for key, method in methods.items() if method == "roots/list"]
    some = {key: answer for key, answer in answers.items() if key != roots} | {"unasked": {"x": 1}}
    second = call(client, "ask-several", some, first["requestState"])
    assert set(second["inputRequests"]) == {roots}
    done = call(client, "ask-several", {roots: answers[roots]}, second["requestState"])
    assert [block["type"] for block in done["content"]] == ["text"] * 3
    assert "file:///home/bo" in done["content"][2]["text"]


def test_later_rounds_depend_on_earlier_ones_and_work_on_another_connection(http_server: HttpServer) -> None:
    first_client, second_client = ModernHttpPeer(http_server.url), ModernHttpPeer(http_server.url)  # MRTR-10
    first = call(first_client, "ask-twice")
    (key,) = first["inputRequests"]
    content = {"continent": "Asia"}
    second = call(second_client, "ask-twice", {key: {"action": "accept", "content": content}}, first["requestState"])
    (other,) = second["inputRequests"]
    assert other != key
    towns = second["inputRequests"][other]["params"]["requestedSchema"]["properties"]["town"]["enum"]
    assert "Kyoto" in towns
    answer = {"action": "accept", "content": {"town": "Kyoto"}}
    done = call(first_client, "ask-twice", {other: answer}, second["requestState"])
    assert "Kyoto" in text_of(done)


def test_a_client_may_be_asked_for_nothing_but_to_come_back(modern: Modern) -> None:
    client = modern()
    first = call(client, "come-back", times=2)
    assert "inputRequests" not in first
    second = call(client, "come-back", state=first["requestState"], times=2)
    assert second["requestState"] != first["requestState"]
    assert call(client, "come-back", state=second["requestState"], times=2)["resultType"] == "complete"


def test_roots_alone_are_requested_without_a_state(modern: Modern) -> None:
    client = modern()
    first = call(client, "where-am-i")
    assert "requestState" not in first
    (key,) = first["inputRequests"]
    assert "file:///home/bo" in text_of(call(client, "where-am-i", {key: ANSWERS["roots/list"]}))


def test_prompts_and_resources_ask_too(modern: Modern) -> None:
    client = modern()
    assert "Bo" in asked(client, "prompts/get", {"name": "introduce-me"})["messages"][0]["content"]["text"]
    read = asked(client, "resources/read", {"uri": "demo://guarded/x"})
    assert (read["ttlMs"], read["cacheScope"]) == (0, "private")
    first = client.ask("resources/read", {"uri": "demo://guarded/x"})
    (key,) = first["inputRequests"]
    refusal = {"inputResponses": {key: {"action": "decline"}}, "requestState": first["requestState"]}
    assert client.error("resources/read", {"uri": "demo://guarded/x"} | refusal)["code"] == -32602


def test_a_link_needs_no_id_and_no_error(modern: Modern) -> None:
    client = modern(tick=0)
    for name in ("ask-link", "need-link"):
        first = call(client, name)
        ((key, question),) = first["inputRequests"].items()
        assert question["params"]["mode"] == "url"
        assert "elicitationId" not in question["params"]
        assert "complete" in text_of(call(client, name, {key: {"action": "accept"}}, first["requestState"]))
        assert "decline" in text_of(call(client, name, {key: {"action": "decline"}}, first["requestState"]))
    assert client.all_of("notifications/elicitation/complete") == []


def test_a_state_is_good_for_its_own_request_only(modern: Modern) -> None:  # MRTR-08, MRTR-09
    client, other = modern(), modern()
    state = call(client, "come-back", times=2)["requestState"]
    middle = len(state) // 2
    flipped = state[:middle] + ("A" if state[middle] != "A" else "B") + state[middle + 1 :]
    for wrong in (flipped, state[:-8], state + "AAAA", "", "x", "é", 7, {}, [], "A" * 400):
        problem = client.error("tools/call", {"name": "come-back", "arguments": {"times": 2}, "requestState": wrong})
        assert problem["code"] == -32602
        assert "requestState" in problem["message"]
    for params in ({"name": "come-back", "arguments": {"times": 3}}, {"name": "ask-twice", "arguments": {"times": 2}}):
        assert client.error("tools/call", params | {"requestState": state})["code"] == -32602
    params = {"name": "come-back", "arguments": {"times": 2}, "requestState": state}
    assert other.error("tools/call", params)["code"] == -32602


def test_a_state_does_not_hold_for_ever(modern: Modern, monkeypatch: pytest.MonkeyPatch) -> None:  # MRTR-09
    client = modern()
    monkeypatch.setattr("inspector.demo.server_state.LIFETIME", -1.0)
    state = call(client, "come-back")["requestState"]
    problem = client.error("tools/call", {"name": "come-back", "arguments": {}, "requestState": state})
    assert "has expired" in problem["message"]


@pytest.mark.parametrize(
    "answers", [[], "x", 7, {"elicitation-1": None}, {"elicitation-1": []}, {"elicitation-1": {"action": 1}}]
)
def test_malformed_answers_are_refused(modern: Modern, answers: Any) -> None:  # MRTR-07
    client = modern()
    params = {"name": "ask-user", "arguments": {}, "inputResponses": answers}
    assert client.error("tools/call", params)["code"] == -32602


@pytest.mark.parametrize(
    ("capabilities", "name", "required"),
    [
        ({}, "ask-user", {"elicitation": {"form": {}}}),
        ({"elicitation": {"url": {}}}, "ask-user", {"elicitation": {"form": {}}}),
        ({"elicitation": {}}, "ask-link", {"elicitation": {"url": {}}}),
        ({"elicitation": "yes"}, "ask-user", {"elicitation": {"form": {}}}),
        ({}, "ask-model", {"sampling": {}}),
        ({"sampling": {}}, "ask-model-with-tools", {"sampling": {"tools": {}}}),
        ({"elicitation": {}, "sampling": {}}, "ask-several", {"roots": {}}),
    ],
)
def test_nothing_is_asked_that_the_client_did_not_declare(
    modern: Modern, capabilities: dict[str, Any], name: str, required: dict[str, Any]
) -> None:  # BASE-23, MRTR-04
    client = modern(capabilities)
    request_id = client.start("tools/call", {"name": name})
    refused = client.response(request_id)
    check(MODERN, "MissingRequiredClientCapabilityError", refused)
    assert refused["error"]["data"] == {"requiredCapabilities": required}

"""Everything the demo server says is valid by the official schema of each revision, every tool included."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from inspector.demo.schema import problems
from inspector.demo.tools import all_tools
from tests.demo.demo_client import EVERYTHING, HttpPeer, HttpServer, Peer, StdioPeer
from tests.demo.schemas import check

REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
RESULTS = {
    "initialize": "InitializeResult",
    "ping": "EmptyResult",
    "tools/list": "ListToolsResult",
    "tools/call": "CallToolResult",
    "resources/list": "ListResourcesResult",
    "resources/templates/list": "ListResourceTemplatesResult",
    "resources/read": "ReadResourceResult",
    "resources/subscribe": "EmptyResult",
    "resources/unsubscribe": "EmptyResult",
    "prompts/list": "ListPromptsResult",
    "prompts/get": "GetPromptResult",
    "completion/complete": "CompleteResult",
    "logging/setLevel": "EmptyResult",
}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "echo": {"message": "hello"},
    "add": {"a": 1, "b": 2.5},
    "order-pizza": {"size": "m", "toppings": ["tomato"], "extras": ["oil"]},
    "book-trip": {
        "traveller": {"name": "Bo", "born": "2000-02-29", "passport": {"country": "NO", "number": "A12345"}},
        "legs": [{"from": "OSL", "to": "LIM", "date": "2025-12-01"}],
        "companions": [{"name": "Cy"}],
    },
    "send-parcel": {"to": {"kind": "locker", "number": 4}, "weight": "2 kg"},
    "set-nickname": {"nickname": None, "age": None, "pronouns": None},
    "tree": {"root": {"name": "a", "children": [{"name": "b"}]}},
    "search": {"query": "item", "sort": {"by": "size", "descending": True}},
    "register": {
        "email": "a@b.c", "homepage": "https://b.c", "birthday": "2000-01-31", "meeting": "2025-11-25T10:00:00Z",
        "alarm": "07:30:00+01:00", "token": "0123abcd-0123-4567-89ab-0123456789ab", "host": "127.0.0.1",
        "code": "AB-1234", "bio": "ten letters",
    },
    "accept-terms": {"version": "2.1", "accepted": True},
    "free-form": {"data": {"a": [1, None]}, "scores": {"x": 1.5}, "anything": 2**70},
    "plot": {"points": [[1, 2], [2, 5]], "labels": ["a"]},
    "plan-meeting": {"online": True, "link": "https://b.c", "start": "10:00:00Z", "end": "11:00:00Z"},
    "weather": {"city": "Lima"},
    "slow": {"seconds": 0.01, "steps": 2},
    "count": {"to": 2, "interval": 0},
    "burst": {"count": 5},
    "big": {"megabytes": 0.01},
    "delete-everything": {"sure": True},
    "noisy": {"lines": 1},
    **{name: {"seconds": 0, "steps": 1} for name in ("task-slow", "task-only", "task-fail", "task-error")},
    "task-give-up": {"seconds": 0, "steps": 1},
}  # fmt: skip
REFUSED = {"need-link", "task-only"}  # answered with a JSON-RPC error at the newest revision
REFUSING = {"protocol-error", "task-error"}  # and at every revision
FAILING = {"fail", "task-fail", "task-give-up"}  # with a result that says so
ENDLESS = {"crash", "forget", "task-endless"}  # they give no answer, and have tests of their own
ANSWERS: dict[str, Any] = {
    "roots/list": {"roots": [{"uri": "file:///home/bo", "name": "home"}]},
    "sampling/createMessage": {"role": "assistant", "model": "m", "content": {"type": "text", "text": "x"}},
    "elicitation/create": {"action": "accept", "content": {"name": "Bo", "email": "bo@example.com"}},
}


class Talk:
    """A session at one revision, in which every result is checked."""

    def __init__(self, peer: Peer, revision: str) -> None:
        self.peer = peer
        self.revision = revision
        for method, answer in ANSWERS.items():
            peer.answers[method] = lambda params, answer=answer: {"result": answer}  # type: ignore[misc]
        check(revision, "InitializeResult", peer.open(revision, EVERYTHING))

    def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        result = self.peer.ask(method, params)
        check(self.revision, RESULTS[method], result)
        return result


@pytest.fixture(scope="module", params=REVISIONS)
def talk(request: pytest.FixtureRequest) -> Iterator[Talk]:
    peer = StdioPeer("--items", "120", "--tick", "0.01")
    yield Talk(peer, request.param)
    peer.close()


@pytest.fixture
def talk_over_http(http_server: HttpServer) -> Iterator[Talk]:
    peer = HttpPeer(http_server.url)
    yield Talk(peer, REVISIONS[-1])
    peer.finish()


@pytest.mark.slow
def test_every_tool_answers_validly(talk: Talk) -> None:  # BASE-14, TOOL-11
    call_every_tool(talk)


def test_every_tool_answers_validly_over_http(talk_over_http: Talk) -> None:
    call_every_tool(talk_over_http, besides=("hang-up",))


def call_every_tool(talk: Talk, besides: tuple[str, ...] = ()) -> None:
    revision, peer, ask = talk.revision, talk.peer, talk.ask
    tools = {tool["name"]: tool for tool in ask("tools/list")["tools"]}
    assert set(ARGUMENTS) | REFUSED | REFUSING | FAILING | ENDLESS <= set(tools) | {"task-only"}
    assert ("task-only" in tools) == ("execution" in tools["task-slow"]) == (revision >= "2025-11-25")
    assert ("annotations" in tools["echo"]) == (revision >= "2025-03-26")
    assert ("title" in tools["echo"]) == ("outputSchema" in tools["add"]) == (revision >= "2025-06-18")
    assert ("icons" in tools["draw-picture"]) == (revision >= "2025-11-25")
    newest = revision == "2025-11-25"
    for name, tool in tools.items():
        params = {"name": name, "arguments": ARGUMENTS.get(name, {}), "_meta": {"progressToken": name}}
        if name in ENDLESS or name in besides:
            continue
        if name in REFUSING or (name in REFUSED and newest):
            message = peer.response(peer.start("tools/call", params))
            error = "URLElicitationRequiredError" if name == "need-link" else "JSONRPCError"
            check(revision, error + ("Response" if newest and name != "need-link" else ""), message)
            continue
        result = ask("tools/call", params)
        if "outputSchema" in tool:
            valid = jsonschema_rs.is_valid(tool["outputSchema"], result["structuredContent"])
            assert valid is (name != "bad-structured"), name  # TOOL-09
            assert json.loads(result["content"][0]["text"]) == result["structuredContent"]  # TOOL-10
        asks_newer = name in ("ask-user", "ask-several", "ask-twice", "task-ask") and revision < "2025-06-18"
        asks_newest = name in ("ask-link", "need-link", "ask-model-with-tools") and not newest
        assert result.get("isError", False) is (name in FAILING or asks_newer or asks_newest), (name, result)


def test_schemas_of_tools_are_schemas(talk: Talk) -> None:  # BASE-27
    ask = talk.ask
    for tool in ask("tools/list")["tools"]:
        for key in ("inputSchema", "outputSchema"):
            jsonschema_rs.meta.validate(tool.get(key, {}) | {"$schema": "https://json-schema.org/draft/2020-12/schema"})


def test_the_servers_own_validator_agrees_with_a_full_one() -> None:
    values = [*ARGUMENTS.values(), {}, {"root": 1}, {"nickname": 3}, {"points": [[1]]}, {"data": []}, {"sides": 6.0}]
    for tool in all_tools():
        schema = tool.definition["inputSchema"]
        full = jsonschema_rs.validator_for(schema, validate_formats=True)
        for value in values:
            assert (problems(value, schema) == []) == full.is_valid(value), (tool.name, value)


def test_resources_and_prompts_are_valid(talk: Talk) -> None:
    revision, ask = talk.revision, talk.ask
    listed = ask("resources/list")
    ask("resources/list", {"cursor": listed["nextCursor"]})
    for resource in listed["resources"][:12]:
        ask("resources/read", {"uri": resource["uri"]})
    assert ("title" in listed["resources"][0]) == (revision >= "2025-06-18")
    assert ("icons" in listed["resources"][0]) == (revision >= "2025-11-25")
    for template in ask("resources/templates/list")["resourceTemplates"]:
        assert template["name"]
    for prompt in ask("prompts/list")["prompts"]:
        given = {argument["name"]: "demo://readme" for argument in prompt.get("arguments", ())}
        messages = ask("prompts/get", {"name": prompt["name"], "arguments": given})["messages"]
        kinds = {message["content"]["type"] for message in messages}
        assert ("audio" in kinds) <= (revision >= "2025-03-26")
        assert ("resource_link" in kinds) <= (revision >= "2025-06-18")
    ref = {"type": "ref/resource", "uri": "demo://items/{id}"}
    assert ask("completion/complete", {"ref": ref, "argument": {"name": "id", "value": "1"}})["completion"]["values"]


def test_what_comes_unasked_is_valid(talk: Talk) -> None:
    revision, peer, ask = talk.revision, talk.peer, talk.ask
    ask("logging/setLevel", {"level": "debug"})
    ask("resources/subscribe", {"uri": "demo://clock"})
    peer.notification("notifications/resources/updated")
    ask("resources/unsubscribe", {"uri": "demo://clock"})
    for topic in ("tools", "resources", "prompts"):
        peer.call("change-list", list=topic)
    peer.call("count", to=1)
    for name in ("ask-user", "ask-model", "ask-link", "where-am-i", "ping-client"):
        peer.call(name)
    slow = {"name": "slow", "arguments": {"seconds": 0, "steps": 1}, "_meta": {"progressToken": "slow"}}
    ask("tools/call", slow)
    ask("ping")
    seen = set()
    for message in peer.received:
        if "method" in message:
            seen.add(message["method"])
            check(revision, "ServerRequest" if "id" in message else "ServerNotification", message)
            check(revision, "JSONRPCMessage", message)
    assert {"notifications/progress", "notifications/message", "notifications/tools/list_changed"} <= seen
    assert {"sampling/createMessage", "roots/list", "ping"} <= seen
    assert ("elicitation/create" in seen) == (revision >= "2025-06-18")
    assert ("notifications/elicitation/complete" in seen) == (revision >= "2025-11-25")
    progress = peer.all_of("notifications/progress")
    assert all(("message" in params) == (revision >= "2025-03-26") for params in progress)

"""Whatever a client sends, the demo server answers with an orderly error, and goes on."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.demo.core import HANDLERS
from inspector.demo.resources import UriTemplate
from inspector.demo.tools import all_tools
from tests.demo.demo_client import EVERYTHING, PREFIX, MemoryPeer, about_client

SESSION = ["ping", "initialize", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"]
# protocol-error answers with whatever error it is asked for
UNFIT = ("crash", "noisy", "protocol-error")
NAMES = [tool.name for tool in all_tools() if tool.name not in UNFIT and not tool.slow]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
MODERN = ["server/discover", "subscriptions/listen", "tasks/get", "tasks/update", "tasks/cancel", *HANDLERS]
ASKING = [
    ("tools/call", "ask-user"),
    ("tools/call", "ask-twice"),
    ("tools/call", "ask-link"),
    ("tools/call", "ask-model"),
    ("tools/call", "ask-model-with-tools"),
    ("tools/call", "ask-several"),
    ("tools/call", "where-am-i"),
    ("tools/call", "task-ask"),
    ("prompts/get", "introduce-me"),
    ("resources/read", "demo://guarded/x"),
]
WORDS = [
    "notifications",
    "resourceSubscriptions",
    "taskIds",
    "taskId",
    "inputResponses",
    "requestState",
    "name",
    "arguments",
    "uri",
    "cursor",
    "level",
    "ref",
    "argument",
    "context",
    "_meta",
    "type",
    "value",
    "method",
]
OBJECT = st.dictionaries(st.sampled_from(WORDS), JSON | st.sampled_from(["ref/prompt", "demo://readme", *NAMES]))


def outcome(peer: MemoryPeer, method: Any, params: Any) -> dict[str, Any]:
    peer.received.clear()
    peer.send({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    (answer,) = [message for message in peer.received if "method" not in message]
    return answer


@pytest.mark.slow
@settings(max_examples=4 * settings.default.max_examples, deadline=None)
@given(method=st.sampled_from([*HANDLERS, *SESSION]), params=JSON | OBJECT)
def test_no_params_make_it_fail_inside(method: str, params: Any) -> None:
    peer = MemoryPeer(items=5)
    peer.open()
    problem = outcome(peer, method, params).get("error", {})
    assert problem.get("code") in (None, -32600, -32602, -32002, -32042)


@pytest.mark.slow
@settings(max_examples=4 * settings.default.max_examples, deadline=None)
@given(
    method=st.sampled_from(MODERN),
    params=OBJECT,
    meta=JSON | st.dictionaries(st.sampled_from(["clientCapabilities", "clientInfo", "logLevel", "extra"]), JSON),
)
def test_no_params_make_the_other_era_fail_inside(method: str, params: dict[str, Any], meta: Any) -> None:
    peer = MemoryPeer(items=5, era="modern")
    members = about_client() | {PREFIX + key: value for key, value in meta.items()} if isinstance(meta, dict) else meta
    peer.send({"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": members}})
    for message in peer.received:
        assert message.get("error", {}).get("code") in (None, -32600, -32602, -32021)
    peer.close()


@settings(max_examples=3 * settings.default.max_examples, deadline=None)
@given(which=st.sampled_from(ASKING), answers=st.dictionaries(st.sampled_from(["action", "content", "roots"]), JSON))
def test_no_answer_makes_a_question_fail_inside(which: tuple[str, str], answers: dict[str, Any]) -> None:
    method, name = which
    named: dict[str, Any] = {"uri": name} if method == "resources/read" else {"name": name}
    peer = MemoryPeer(items=5, tick=0.0)
    peer.open("2025-11-25", EVERYTHING)
    for question in ("sampling/createMessage", "elicitation/create", "roots/list"):
        peer.answers[question] = lambda params: {"result": {"action": "accept", **answers}}
    responses = [peer.response(peer.start(method, named))]
    peer.meta = about_client()
    keys = ("elicitation-1", "sampling-1", "sampling-2", "roots-1", "roots-3")
    given = {key: {"action": "accept", "role": "user", "model": "m", "content": {}, "roots": []} for key in keys}
    responses.append(peer.response(peer.start(method, named | {"inputResponses": given})))
    given = {key: value | answers for key, value in given.items()}
    responses.append(peer.response(peer.start(method, named | {"inputResponses": given})))
    for response in responses:
        assert "Internal" not in response.get("error", {}).get("message", "")
    peer.close()


@settings(max_examples=4 * settings.default.max_examples, deadline=None)
@given(name=st.sampled_from(NAMES), arguments=st.data())
def test_no_arguments_make_a_tool_fail_inside(name: str, arguments: st.DataObject) -> None:
    peer = MemoryPeer(items=5)
    peer.open()
    (tool,) = [candidate for candidate in all_tools() if candidate.name == name]
    known = list(tool.definition["inputSchema"].get("properties", {})) or ["x"]
    drawn = arguments.draw(st.dictionaries(st.sampled_from(known), JSON))
    problem = outcome(peer, "tools/call", {"name": name, "arguments": drawn}).get("error", {})
    assert "Internal" not in problem.get("message", "")


@settings(max_examples=3 * settings.default.max_examples, deadline=None)
@given(JSON)
def test_no_message_ends_the_session(message: Any) -> None:
    peer = MemoryPeer(items=5)
    peer.send(message)
    peer.open(revision="2025-03-26")
    peer.send(message)
    peer.send([message, message])
    assert peer.ask("ping") == {}


@settings(max_examples=5 * settings.default.max_examples, deadline=None)
@given(
    template=st.sampled_from(["x:{a}", "x:{+a}", "x:{#a}", "x:{.a,b}", "x:{/a*}", "x:{;a,b}", "x:{?a*}", "x:{&a,b}"]),
    rest=st.text(alphabet="ab01%=&;/?#.,", max_size=30),
)
def test_any_uri_can_be_matched_against_any_template(template: str, rest: str) -> None:
    values = UriTemplate(template).match("x:" + rest)
    assert values is None or set(values) <= {"a", "b"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [["--http", "nowhere"], ["--http", "99999"], ["--items", "-1"], ["--slow", "nan"], ["--revision", "1"], ["extra"]],
)
def test_bad_words_of_the_command_line_are_explained(words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "inspector.demo", *words], capture_output=True, check=False, timeout=60
    )
    assert done.returncode == 2
    assert b"error:" in done.stderr
    assert b"Traceback" not in done.stderr

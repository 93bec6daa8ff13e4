"""Addons in a tap, in a mock server, and on the command line."""

import asyncio
import json

import pytest

from inspector.client.options import Options
from inspector.config.targets import StdioTarget
from inspector.journal.journal import Journal
from inspector.protocol import jsonrpc
from inspector.serving.base import RequestHead
from inspector.tap.bridge import Bridge, passed_on
from inspector.transports.memory import MemoryTransport
from tests.addons.conftest import altered, lines
from tests.client.conftest import Server, until
from tests.replay.scripted_mock import KeptClient, Written, mocked
from tests.tap.test_across import Client

RESULT = {"content": [{"type": "text", "text": "fine"}]}
GUARD = """
def on_request(m, ctx):
    if m["method"] == "tools/call" and m["params"]["name"] == "drop": ctx.refuse(-32000, "no")
    if m["method"] == "tools/call" and m["params"]["name"] == "old": m["params"]["name"] = "new"; return m
def on_response(m, ctx):
    if ctx.request and ctx.request.get("params", {}).get("name") == "new": m["result"]["x"] = 1; return m
    if ctx.request and ctx.request.get("params", {}).get("name") == "late": ctx.delay(0.02)
def on_question(q, ctx): ctx.answer({"from": "addon"})
"""


def call(id, name):
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name}}


# A tap


@pytest.fixture
async def tapped(stage):
    """A tap with an addon: the client's end, the server, and the recording."""
    stage.load(GUARD)
    journal = Journal.unnamed({})
    server = Server(tools__call=RESULT)
    bridge = Bridge(
        StdioTarget(("test",)),
        lambda: journal,
        Options(filter=stage.filter),
        connect=lambda _t, sink, o: o.filter.transport(sink, lambda inner: MemoryTransport(inner, server)),
    )
    client = Client("stdio", bridge.opens)
    yield client, server, journal
    await client.handler.close(gone=True)


async def test_a_tap_changes_refuses_and_passes_exact_bytes(tapped):
    client, server, journal = tapped
    exact = b'{"jsonrpc":"2.0",  "id":1,"method":"tools/call","params":{"name":"other","n":1.50}}'
    client.say(exact)
    client.say(call(2, "old"))
    client.say(call(3, "drop"))
    await until(lambda: len(client.pushed) == 3)
    answers = {json.loads(data)["id"]: json.loads(data) for data in client.pushed}
    assert answers[1]["result"] == RESULT
    assert answers[2]["result"] == RESULT | {"x": 1}
    assert answers[3]["error"] == {"code": -32000, "message": "no"}
    assert [asked["params"]["name"] for asked in server.asked("tools/call")] == ["other", "new"]
    assert lines(journal)[0]["raw"].encode() == exact
    assert [line["addon"][0]["did"] for line in altered(journal)] == ["changed", "refused", "changed", "refused"]


async def test_a_question_of_the_server_is_answered_behind_the_client(tapped):
    client, server, _ = tapped
    server.methods["tools/call"] = lambda asked, reply: reply({"jsonrpc": "2.0", "id": "q", "method": "roots/list"})
    client.say(call(1, "other"))
    await until(lambda: server.seen[-1:] and server.seen[-1].get("result") == {"from": "addon"})
    assert client.pushed == []


def test_the_server_of_an_http_client_gets_its_credentials_and_no_header_of_the_connection():
    fields = [
        ("Host", "127.0.0.1:1"), ("Authorization", "Bearer x"), ("X-Tenant", "acme"), ("Mcp-Session-Id", "1"),
        ("Content-Length", "3"), ("Accept", "*/*"), ("Origin", "http://localhost"),
    ]  # fmt: skip
    assert passed_on(RequestHead("POST", "/", fields)) == [("Authorization", "Bearer x"), ("X-Tenant", "acme")]
    assert passed_on(None) == []


# A mock server


@pytest.fixture
async def mock(stage):
    """A client of a mock server with an addon."""
    stage.load(GUARD)
    written = Written()
    written.handshake()
    for id, name in enumerate(("new", "late"), 1):
        written.exchange(id, "tools/call", {"name": name}, RESULT)
    made = await mocked(written, filter=stage.filter)
    client = KeptClient(made, "stdio")
    yield client
    await client.handler.close(gone=True)
    await made.close()
    written.journal.release()


async def test_a_mock_sees_changed_requests_and_its_responses_are_changed(mock):
    assert (await mock.call("tools/call", {"name": "old"}))["result"] == RESULT | {"x": 1}
    assert (await mock.call("tools/call", {"name": "drop"}))["error"]["message"] == "no"
    assert (await mock.call("tools/call", {"name": "late"}))["result"] == RESULT
    steps = [line["addon"][0]["did"] for line in altered(mock.handler.journal)]
    assert steps == ["changed", "changed", "refused", "refused", "delayed by 0.02 s"]


async def test_a_question_of_a_mock_is_answered_by_the_addon(mock):
    id, answered = mock.handler.questions.ask("q")
    mock.handler.send(jsonrpc.encode(jsonrpc.request(id, "roots/list")))
    await asyncio.wait_for(answered, 5)
    question, answer = altered(mock.handler.journal)
    assert (question["dir"], json.loads(answer["raw"])["result"]) == ("recv", {"from": "addon"})
    assert mock.pushed == []

"""The HTTP behaviour that a mock server takes from a recording, and its requirements for requests."""

import pytest

from inspector.journal.format import Dir
from inspector.protocol import jsonrpc
from inspector.replay.mock.http import status_of
from tests.replay.scripted_mock import KeptClient, Written, mocked, until

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
TOOL = {"name": "region", "inputSchema": {"properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}}


@pytest.fixture
async def serve():
    """Serve a written recording to one client over HTTP; close everything afterwards."""
    clients, journals = [], []

    async def serve(written, transport="http", **options):
        journals.append(written.journal)
        clients.append(KeptClient(await mocked(written, **options), transport))
        return clients[-1]

    yield serve
    for client in clients:
        await client.handler.close(gone=True)
    for journal in journals:
        journal.release()


def legacy(*, session=True, listens=None):
    written = Written("post-1")
    written.ask(0, "initialize", {"protocolVersion": "2025-11-25"})
    written.head(200, "application/json", "post-1", **({"Mcp_Session_Id": "‹redacted›"} if session else {}))
    written.answer(0, {"protocolVersion": "2025-11-25"})
    written.send(jsonrpc.notification("notifications/initialized"), "post-2")
    if listens is not None:
        written.journal.record_life("get-1", "listening" if listens else "not-listening")
    return written


def modern(channel="stdio"):
    written = Written(channel)
    written.exchange(
        0, "server/discover", {"_meta": META}, {"supportedVersions": ["2026-07-28"], "serverInfo": {"name": "then"}}
    )
    written.exchange(1, "tools/list", {"_meta": META}, {"tools": [TOOL, 5, {"name": []}]})
    written.exchange(2, "tools/call", {"name": "region", "arguments": {"region": "x"}, "_meta": META}, "A")
    return written


def fields(method, name=None, version="2026-07-28", **more):
    headers = {"MCP_Protocol_Version": version, "Mcp_Method": method, "Mcp_Name": name, **more}
    return {key: value for key, value in headers.items() if value is not None}


# The endpoint


@pytest.mark.parametrize(
    ("how", "sessions", "listening"),
    [
        ({}, True, True),
        ({"session": False}, False, False),
        ({"listens": False}, True, False),
        ({"session": False, "listens": True}, False, True),
    ],
)
async def test_sessions_and_listening_are_as_they_were(serve, how, sessions, listening):
    binding = (await serve(legacy(**how))).handler.mock.binding
    assert (binding.sessions, binding.listening, binding.resumable) == (sessions, listening, False)


async def test_events_have_ids_where_they_had(serve):
    written = legacy()
    written.journal.record_sse("post-3", "", id="1.1")
    assert (await serve(written)).handler.mock.binding.resumable


async def test_what_stdio_cannot_say_is_as_the_era_has_it(serve):
    written = Written()
    written.handshake()
    binding = (await serve(written)).handler.mock.binding
    assert (binding.sessions, binding.listening) == (True, True)
    binding = (await serve(modern())).handler.mock.binding
    assert (binding.sessions, binding.listening) == (False, False)


async def test_answers_over_http_sse_are_answers_to_posts(serve):
    written = Written("post-1")
    written.ask(0, "initialize", {})
    written.head(202, "text/plain", "post-1")
    written.answer(0, {"protocolVersion": "2024-11-05"}, "get-1")
    written.ask(1, "tools/call", {"name": "a", "_meta": {"progressToken": 1}}, "post-2")
    written.receive(jsonrpc.notification("notifications/progress", {"progressToken": 1, "progress": 1}), "get-1")
    written.answer(1, "A", "get-1")
    client = await serve(written)
    assert client.handler.mock.binding.sessions
    reply = client.ask(1, "tools/call", {"name": "a", "_meta": {"progressToken": 1}})
    await until(lambda: reply.ended)
    assert (len(reply.sent), client.pushed) == (2, [])


# The body of a response


async def test_json_and_events_are_what_they_were(serve):
    written = legacy()
    written.ask(1, "a", None, "post-3")
    written.head(200, "application/json; charset=utf-8", "post-3")
    written.answer(1, "A", "post-3")
    written.ask(2, "b", None, "post-4")
    written.head(401, "text/plain", "post-4")
    written.head(200, "text/event-stream", "post-4")
    written.answer(2, "B", "post-4")
    client = await serve(written)
    for method, begun in (("a", ("json", 200)), ("b", ("sse", 200))):
        reply = client.ask(1, method)
        await until(lambda reply=reply: reply.ended)
        assert reply.begun == begun


async def test_what_came_on_the_standing_stream_comes_there_again(serve):
    written = legacy()
    written.ask(1, "tools/call", {"name": "a"}, "post-3")
    written.receive(jsonrpc.notification("aside"), "get-1")
    written.head(200, "application/json", "post-3")
    written.answer(1, "A", "post-3")
    client = await serve(written)
    reply = client.ask(1, "tools/call", {"name": "a"})
    await until(lambda: reply.ended)
    assert [jsonrpc.parse(raw)["method"] for raw in client.pushed] == ["aside"]
    assert len(reply.sent) == 1


async def test_a_refusal_by_status_is_one_again(serve):
    written = legacy()
    n = written.ask(1, "a", None, "post-3")
    written.head(500, "text/html", "post-3")
    written.receive(b"<h1>Down</h1>", "post-3")
    written.journal.record_life("post-3", "error", **{"for": n})
    written.ask(2, "b", None, "post-4")
    written.head(404, "application/json", "post-4")
    written.receive(jsonrpc.error(None, -32601, "what?"), "post-4")
    client = await serve(written)
    down, unknown = client.ask(5, "a"), client.ask(6, "b")
    await until(lambda: down.ended and unknown.ended)
    assert (down.begun, down.sent) == (("json", 500), [b"<h1>Down</h1>"])
    assert unknown.begun == ("json", 404)
    assert unknown.messages[0]["error"]["message"] == "what?"
    stdio = await serve(written, "stdio")
    answer = await stdio.call("a", id=7)
    assert (answer["id"], "HTTP 500" in answer["error"]["message"]) == (7, True)
    assert (await stdio.call("b", id=8))["error"]["message"] == "what?"


async def test_a_stream_that_broke_off_and_was_resumed_breaks_off_again(serve):
    written = legacy()
    n = written.ask(1, "a", None, "post-3")
    written.head(200, "text/event-stream", "post-3")
    written.journal.record_sse("post-3", "", id="1.1")
    written.journal.record_sse("post-3", "", retry=70)
    written.journal.record_life("post-3", "stream-end", **{"for": n})
    written.answer(1, "A", "post-3")
    client = await serve(written)
    reply = client.ask(1, "a")
    await until(lambda: reply.ended)
    assert reply.cuts == [(b"", 70)]
    assert len(reply.sent) == 1
    reply = (stdio := await serve(written, "stdio")).ask(1, "a")
    await until(lambda: reply.ended)
    assert (reply.cuts, len(stdio.all)) == ([], 1)


@pytest.mark.parametrize(
    ("message", "modern", "status"),
    [
        (jsonrpc.error(1, -32601, ""), True, 404),
        (jsonrpc.error(1, -32601, ""), False, 200),
        (jsonrpc.error(1, -32022, ""), True, 400),
        (jsonrpc.error(1, -32000, ""), True, 200),
        ({"error": {"code": {}}}, True, 200),
        ({"error": 5}, True, 200),
        (jsonrpc.result(1, {}), True, 200),
        ([], True, 200),
    ],
)
def test_errors_have_a_status_in_the_modern_era(message, modern, status):
    assert status_of(message, modern=modern) == status


# Required headers of the modern era


CALL = {"name": "region", "arguments": {"region": "x"}, "_meta": META}


async def test_a_request_that_says_the_same_twice_is_answered(serve):
    client = await serve(modern())
    given = fields("tools/call", "region", Mcp_Param_Region="=?base64?eA==?=")
    assert (await client.call("tools/call", CALL, **given))["result"] == "A"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "MCP-Protocol-Version is missing"),
        (fields("tools/call", "region", "2025-11-25", Mcp_Param_Region="x"), "not the version"),
        (fields("tools/list", "region", Mcp_Param_Region="x"), "Mcp-Method does not match"),
        (fields("tools/call", Mcp_Param_Region="x"), "Mcp-Name is missing"),
        (fields("tools/call", "Region", Mcp_Param_Region="x"), "Mcp-Name does not match"),
        (fields("tools/call", "region"), "Mcp-Param-Region is missing"),
        (fields("tools/call", "region", Mcp_Param_Region="=?base64?!?="), "Mcp-Param-Region does not match"),
    ],
)
async def test_one_that_does_not_is_refused(serve, given, message):
    client = await serve(modern())
    reply = client.ask(1, "tools/call", CALL, **given)
    await until(lambda: reply.ended)
    assert reply.begun == ("json", 400)
    assert reply.messages[0]["error"]["code"] == jsonrpc.HEADER_MISMATCH
    assert message in reply.messages[0]["error"]["message"]
    assert client.handler.mock.statistics.counts == {"refused": 1}


async def test_a_revision_that_the_server_did_not_have_is_refused_over_any_transport(serve):
    client = await serve(modern(), "stdio")
    params = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2099-01-01"}}
    answer = await client.call("tools/list", params)
    assert answer["error"]["code"] == jsonrpc.UNSUPPORTED_VERSION
    assert answer["error"]["data"] == {"supported": ["2026-07-28"], "requested": "2099-01-01"}


async def test_a_handshake_is_refused_by_a_server_of_the_modern_era(serve):
    client = await serve(modern())
    reply = client.ask(1, "initialize", {"protocolVersion": "2025-11-25"})
    await until(lambda: reply.ended)
    assert reply.begun == ("json", 400)
    assert reply.messages[0]["error"]["code"] == jsonrpc.UNSUPPORTED_VERSION
    assert "of 2026-07-28, without initialize" in reply.messages[0]["error"]["message"]


async def test_a_modern_client_can_tell_that_a_server_is_of_the_legacy_era(serve):
    client = await serve(legacy())
    reply = client.ask(1, "server/discover", {"_meta": META}, **fields("server/discover"))
    await until(lambda: reply.ended)
    assert reply.begun == ("json", 400)
    assert reply.messages[0]["error"]["code"] == jsonrpc.METHOD_NOT_FOUND


async def test_closing_the_stream_cancels_in_the_modern_era_only(serve):
    for written, cancelled in ((modern(), 1), (legacy(), 0)):
        n = written.ask(9, "tools/call", {"name": "slow", "_meta": META})
        written.journal.record_life("", "cancel", **{"for": n})
        client = await serve(written)
        given = fields("tools/call", "slow") if cancelled else {}
        reply = client.ask(1, "tools/call", {"name": "slow", "_meta": META} if cancelled else {"name": "slow"}, **given)
        await until(lambda used=client.handler.mock.statistics.used, n=n: n in used)
        client.handler.left(reply)
        assert client.handler.mock.statistics.counts["cancelled"] == cancelled


async def test_heads_are_recorded_without_their_secrets(serve):
    client = await serve(legacy())
    await client.call("ping", Host="h", Mcp_Session_Id="secret-id", X_Other="shown")
    client.say(jsonrpc.notification("notifications/initialized"))
    asked, answered, accepted = [
        event.fields | {"dir": event.dir}
        for event in client.handler.journal.events()
        if event.kind_name == "http" and (event.dir == Dir.RECV or event.ch == "post-1")
    ]
    assert (asked["dir"], asked["url"]) == (Dir.SEND, "http://h/mcp")
    assert dict(asked["headers"])["X-Other"] == "shown"
    assert "secret-id" not in str(asked)
    assert (answered["status"], accepted["status"]) == (200, 202)
    assert "a-session" not in str(answered)


async def test_what_was_served_over_http_can_be_served_over_http_again(serve):
    first = await serve(legacy())
    await first.call("initialize", {})
    assert first.handler.mock.binding.sessions
    again = await mocked(type("W", (), {"journal": first.handler.journal})())
    assert again.behaviour.over_http
    assert again.binding.sessions

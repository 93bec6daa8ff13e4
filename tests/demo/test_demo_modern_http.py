"""The demo server at 2026-07-28 over HTTP: header fields, statuses, streams, and streams that are closed."""

from __future__ import annotations

import base64
import http.client
import json
import threading
from collections.abc import Iterator
from typing import Any, NoReturn

import pytest

from inspector.demo.call import ClientRequest
from inspector.demo.http import DemoServer
from tests.demo.demo_client import (
    MODERN,
    PATIENCE,
    PREFIX,
    HttpPeer,
    HttpServer,
    ModernHttpPeer,
    Stream,
    about_client,
    modern_params,
    serving,
    text_of,
)
from tests.demo.schemas import check

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
ECHO = {"name": "echo", "arguments": {"message": "x"}}


@pytest.fixture
def client(http_server: HttpServer) -> Iterator[ModernHttpPeer]:
    peer = ModernHttpPeer(http_server.url)
    yield peer
    peer.finish_posts()


@pytest.fixture(scope="module")
def modern_only() -> Iterator[HttpServer]:
    """A server that does not know a handshake."""
    server = HttpServer("--era", "modern")
    yield server
    server.close()


def encoded(text: str) -> str:
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


# --- header fields ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "params", "headers"),
    [
        ("tools/call", ECHO, {"MCP_Protocol_Version": None}),  # HTTP-60
        ("tools/call", ECHO, {"MCP_Protocol_Version": "2025-11-25"}),  # HTTP-61
        ("tools/call", ECHO, {"Mcp_Method": None}),  # HTTP-62
        ("tools/call", ECHO, {"Mcp_Method": "tools/list"}),
        ("tools/call", ECHO, {"Mcp_Method": "Tools/Call"}),
        ("tools/call", ECHO, {"Mcp_Name": None}),  # HTTP-63
        ("tools/call", ECHO, {"Mcp_Name": "add"}),
        ("tools/call", ECHO, {"Mcp_Name": "ECHO"}),
        ("tools/call", ECHO, {"Mcp_Name": encoded("add")}),
        ("tools/call", ECHO, {"Mcp_Name": "=?base64?ZWNobw=?="}),  # HTTP-65: padding is missing
        ("tools/call", ECHO, {"Mcp_Name": "=?base64?/w==?="}),
        ("tools/call", ECHO, {"Mcp_Name": "=?BASE64?ZWNobw==?="}),
        ("tools/call", ECHO, {"Mcp_Name": "=?base64?="}),
        ("tools/call", ECHO, {"Mcp_Name": "\xe9cho"}),
        ("prompts/get", {"name": "greet"}, {"Mcp_Name": "demo"}),
        ("resources/read", {"uri": "demo://readme"}, {"Mcp_Name": None}),
        ("server/discover", {}, {"Mcp_Method": "ping"}),
    ],
)
def test_headers_that_do_not_fit_the_request_are_refused(
    client: ModernHttpPeer, method: str, params: dict[str, Any], headers: dict[str, str | None]
) -> None:
    refused = client.request_with(method, params, **headers)
    assert refused.status == 400
    check(MODERN, "HeaderMismatchError", refused.json)
    assert refused.json["id"] == 1


def test_a_header_that_is_there_twice_is_refused(client: ModernHttpPeer) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": modern_params(ECHO, about_client())}
    connection = http.client.HTTPConnection(str(client.address.hostname), client.address.port, timeout=PATIENCE)
    body = json.dumps(message).encode()
    connection.putrequest("POST", "/mcp")
    repeated = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Content-Length": str(len(body))}
    for name, value in (client.headers | repeated).items():
        connection.putheader(name, value)
    for value in ("echo", "add"):
        connection.putheader("Mcp-Name", value)
    connection.endheaders(body)
    refused = connection.getresponse()
    assert refused.status == 400
    assert json.loads(refused.read())["error"]["code"] == -32020
    connection.close()


@pytest.mark.parametrize(
    "headers", [{"Mcp_Name": encoded("echo")}, {"Mcp_Name": "  echo \t"}, {"Mcp_Method": " tools/call "}]
)
def test_headers_may_be_encoded_or_padded(client: ModernHttpPeer, headers: dict[str, str]) -> None:
    answered = client.request_with("tools/call", ECHO, **headers)  # HTTP-64, HTTP-68
    assert (answered.status, text_of(answered.json["result"])) == (200, "x")


def test_a_name_that_is_not_a_plain_text_is_encoded(client: ModernHttpPeer) -> None:
    for uri in ("demo://weather/norway/tromsø", "=?base64?x?="):
        params = {"uri": uri}
        assert client.request_with("resources/read", params, Mcp_Name=encoded("demo://readme")).status == 400
        answered = client.request_with("resources/read", params, Mcp_Name=encoded(uri))
        assert answered.status == 200


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({"region": "north", "limit": 42, "dry_run": False}, {"Region": "north", "Limit": "42", "Dry_Run": "false"}),
        ({"region": "süd"}, {"Region": encoded("süd")}),
        ({"region": " a "}, {"Region": encoded(" a ")}),
        ({"region": ""}, {"Region": ""}),
        ({"limit": 42}, {"Limit": "42.0"}),  # HTTP-67
        ({"limit": 42.0}, {"Limit": "42"}),
        ({"limit": -7}, {"Limit": "-7"}),
        ({"options": {"tenant": "t"}}, {"Tenant": "t"}),
        ({"options": {}}, {}),
        ({}, {}),
        ({"query": "q"}, {"Unknown": "is ignored"}),
    ],
)
def test_arguments_that_are_repeated_in_headers_are_accepted(
    client: ModernHttpPeer, arguments: dict[str, Any], headers: dict[str, str]
) -> None:
    repeated = {f"Mcp_Param_{name}": value for name, value in headers.items()}
    answered = client.request_with("tools/call", {"name": "route-query", "arguments": arguments}, **repeated)
    assert answered.status == 200
    assert answered.json["result"]["structuredContent"] == {"received": arguments}


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({"region": "north"}, {}),  # HTTP-66
        ({"region": "north"}, {"Region": "south"}),
        ({}, {"Region": "north"}),
        ({"region": None}, {"Region": "null"}),
        ({"limit": 42}, {"Limit": "43"}),
        ({"limit": 42}, {"Limit": "42.5"}),
        ({"limit": 42}, {"Limit": "4e1"}),
        ({"limit": 42}, {"Limit": "9" * 5000}),
        ({"limit": 2**60}, {"Limit": str(2**60)}),
        ({"limit": True}, {"Limit": "1"}),
        ({"dry_run": True}, {"Dry_Run": "True"}),
        ({"options": {"tenant": "t"}}, {}),
        ({"options": []}, {"Tenant": "t"}),
    ],
)
def test_arguments_that_are_repeated_wrongly_are_refused(
    client: ModernHttpPeer, arguments: dict[str, Any], headers: dict[str, str]
) -> None:
    repeated = {f"Mcp_Param_{name}": value for name, value in headers.items()}
    refused = client.request_with("tools/call", {"name": "route-query", "arguments": arguments}, **repeated)
    assert refused.status == 400
    check(MODERN, "HeaderMismatchError", refused.json)


def test_a_badly_annotated_tool_expects_no_headers(client: ModernHttpPeer) -> None:
    arguments = {"ratio": 0.5, "words": ["a"]}
    assert client.request_with("tools/call", {"name": "bad-header", "arguments": arguments}).status == 200


# --- statuses --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "params", "meta", "status", "code"),
    [
        ("tools/list", {}, {}, 400, -32602),
        ("tools/list", {"_meta": []}, None, 400, -32602),
        ("tools/list", {}, about_client(logLevel="loud"), 400, -32602),
        ("tools/list", {}, about_client(protocolVersion="1900-01-01"), 400, -32022),
        ("no/such", {}, about_client(), 404, -32601),
        ("ping", {}, about_client(), 404, -32601),
        ("tools/call", {"name": "ask-user"}, about_client({}), 400, -32021),
        ("tools/call", {"name": "where-am-i"}, about_client({}), 400, -32021),
        ("tools/call", {"name": "no-such-tool"}, about_client(), 200, -32602),
        ("tools/call", {"name": "protocol-error"}, about_client(), 200, -32603),
        ("resources/read", {"uri": "demo://nowhere"}, about_client(), 200, -32602),
    ],
)
def test_errors_have_the_status_that_their_kind_demands(
    client: ModernHttpPeer, method: str, params: dict[str, Any], meta: Any, status: int, code: int
) -> None:  # HTTP-69
    client.meta = meta if meta is not None else {}
    message = {"jsonrpc": "2.0", "id": "x", "method": method, "params": {"_meta": meta, **params}}
    version = (meta or {}).get(PREFIX + "protocolVersion", MODERN)
    name = params.get("name", params.get("uri"))
    refused = client.request("POST", message, MCP_Protocol_Version=version, Mcp_Method=method, Mcp_Name=name)
    assert (refused.status, refused.json["error"]["code"]) == (status, code)
    assert refused.headers["Content-Type"] == "application/json"
    assert refused.json["id"] == "x"


def test_notifications_are_taken_and_everything_else_is_refused(client: ModernHttpPeer) -> None:  # HTTP-73
    for body, status in (
        ({"jsonrpc": "2.0", "method": "notifications/x"}, 202),
        ({"jsonrpc": "2.0", "id": 1, "result": {}}, 400),
        ([{"jsonrpc": "2.0", "id": 1, "method": "server/discover"}], 400),
        ({"jsonrpc": "2.0", "id": None, "method": "server/discover"}, 400),
        (b"{", 400),
    ):
        assert client.request("POST", body, MCP_Protocol_Version=MODERN).status == status


def test_there_are_no_sessions(client: ModernHttpPeer) -> None:  # HTTP-71
    answered = client.request_with("tools/call", ECHO, Mcp_Session_Id="guess", Last_Event_ID="1.1")
    assert answered.status == 200
    assert "Mcp-Session-Id" not in answered.headers
    for verb in ("GET", "DELETE"):
        assert client.request(verb, MCP_Protocol_Version=MODERN).status == 405  # HTTP-70


def test_the_same_endpoint_serves_sessions(client: ModernHttpPeer, http_server: HttpServer) -> None:
    session = HttpPeer(http_server.url)
    session.open()
    assert text_of(session.call("echo", message="old")) == "old"
    assert text_of(client.call("echo", message="new")) == "new"
    session.finish()


@pytest.mark.slow
def test_a_server_without_a_handshake_says_so(modern_only: HttpServer) -> None:
    client = ModernHttpPeer(modern_only.url)
    refused = client.request("POST", INITIALIZE)
    assert refused.status == 400
    check(MODERN, "UnsupportedProtocolVersionError", refused.json)
    assert "Mcp-Session-Id" not in refused.headers
    for verb in ("GET", "DELETE"):
        answer = client.request(verb)
        assert (answer.status, answer.headers["Allow"]) == (405, "POST, OPTIONS")
    assert client.request_with("server/discover").status == 200


@pytest.mark.slow
def test_a_server_of_the_handshake_alone_knows_nothing_of_the_rest() -> None:
    server = HttpServer("--era", "legacy")
    refused = ModernHttpPeer(server.url).request_with("server/discover")
    assert refused.status == 400
    assert refused.json["error"]["code"] == -32600
    server.close()


# --- streams ---------------------------------------------------------------------------------------------------------


def test_quick_answers_are_json_and_others_streams_without_ids(client: ModernHttpPeer) -> None:  # HTTP-18, HTTP-74
    assert client.request_with("tools/call", ECHO).headers["Content-Type"] == "application/json"
    slow = {"name": "slow", "arguments": {"seconds": 0.02, "steps": 2}, "_meta": {"progressToken": 1}}
    streamed = client.request_with("tools/call", slow)
    assert streamed.headers["Content-Type"] == "text/event-stream"
    assert streamed.headers["X-Accel-Buffering"] == "no"
    assert [list(event) for event in streamed.events] == [["data"]] * 3
    assert ["progress" in event["data"] for event in streamed.events] == [True, True, False]


def test_questions_are_answers_of_their_own(client: ModernHttpPeer) -> None:
    asked = client.request_with("tools/call", {"name": "ask-user"})
    assert asked.headers["Content-Type"] == "application/json"
    assert asked.json["result"]["resultType"] == "input_required"


def test_a_burst_arrives_whole(client: ModernHttpPeer) -> None:
    client.meta = about_client(logLevel="debug")
    streamed = client.request_with("tools/call", {"name": "burst", "arguments": {"count": 5000}})
    assert sum("notifications/message" in event["data"] for event in streamed.events) == 5000
    assert '"result"' in streamed.events[-1]["data"]


def test_a_stream_that_hangs_up_has_no_answer(client: ModernHttpPeer) -> None:
    client.meta = about_client(logLevel="debug")
    streamed = client.request_with("tools/call", {"name": "hang-up"})
    assert streamed.status == 200
    assert ["notifications/message" in event["data"] for event in streamed.events] == [True]


@pytest.fixture
def inside() -> Iterator[DemoServer]:
    """A server in this process, to see what it does."""
    with serving() as server:
        yield server


def posted(url: str, method: str, params: dict[str, Any]) -> http.client.HTTPConnection:
    """A connection on which a request has just been sent."""
    client = ModernHttpPeer(url)
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": modern_params(params, about_client())}
    connection = http.client.HTTPConnection(str(client.address.hostname), client.address.port, timeout=PATIENCE)
    connection.request("POST", "/mcp", json.dumps(message).encode(), client.headers | client._headers_for(message))
    return connection


@pytest.mark.parametrize("begun", [True, False], ids=["while it streams", "before it streams"])
def test_closing_the_stream_cancels_the_request(
    inside: DemoServer, monkeypatch: pytest.MonkeyPatch, begun: bool
) -> None:  # HTTP-72
    started, cancelled = threading.Event(), threading.Event()

    def run(call: ClientRequest) -> NoReturn:
        started.set()
        if begun:
            call.log("info", "begun")
        try:
            call.wait_for_ever()
        finally:
            cancelled.set()

    tool = inside.state.find_tool("forget")
    assert tool
    monkeypatch.setattr(tool, "run", run)
    meta = {"_meta": about_client(logLevel="info")}
    connection = posted(inside.url, "tools/call", {"name": "forget"} | meta)
    assert started.wait(PATIENCE)
    if begun:
        connection.getresponse().close()
    connection.close()
    assert cancelled.wait(PATIENCE)


def test_closing_the_stream_of_a_subscription_ends_it(inside: DemoServer) -> None:
    connection = posted(inside.url, "subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    response = connection.getresponse()
    assert b"acknowledged" in response.readline()
    (subscription,) = inside.state.subscriptions
    ended = threading.Event()
    subscription.when_cancelled(ended.set)
    response.close()
    connection.close()
    assert ended.wait(PATIENCE)


def test_an_unread_subscription_does_not_block_others(inside: DemoServer) -> None:
    connection = posted(inside.url, "subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    response = connection.getresponse()
    client = ModernHttpPeer(inside.url)
    assert "20000" in text_of(client.call("burst", kind="list_changed", count=20_000))
    response.close()
    connection.close()


@pytest.mark.slow
def test_streams_of_subscriptions_end_with_the_server() -> None:  # SUB-07
    server = HttpServer()
    client = ModernHttpPeer(server.url)
    message = {
        "jsonrpc": "2.0",
        "id": "s",
        "method": "subscriptions/listen",
        "params": modern_params({"notifications": {"promptsListChanged": True}}, about_client()),
    }
    stream = Stream(client, "POST", json.dumps(message).encode(), client.headers | client._headers_for(message))
    client.notification("notifications/subscriptions/acknowledged")
    server.close()
    assert client.response("s")["result"]["resultType"] == "complete"
    stream.thread.join()

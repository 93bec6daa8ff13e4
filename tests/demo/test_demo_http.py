"""The demo server over Streamable HTTP: statuses, sessions, streams, resumption, and who is turned away."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.demo.demo_client import PATIENCE, HttpPeer, HttpServer, text_of

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
PING = {"jsonrpc": "2.0", "id": 9, "method": "ping"}
Connect = Callable[..., HttpPeer]


@pytest.fixture
def connect(http_server: HttpServer) -> Iterator[Connect]:
    peers: list[HttpPeer] = []

    def make(**how: Any) -> HttpPeer:
        peers.append(HttpPeer(http_server.url))
        peers[-1].open(**how)
        return peers[-1]

    yield make
    for peer in peers:
        peer.finish()


@pytest.fixture
def stranger(http_server: HttpServer) -> HttpPeer:
    """A client without a session."""
    return HttpPeer(http_server.url)


def tool(name: str, request_id: Any = 50, **arguments: Any) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments, "_meta": {"progressToken": f"p-{request_id}"}}
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}


# --- sessions and statuses -------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_session_begins_with_initialize_and_ends_with_delete(stranger: HttpPeer) -> None:
    begun = stranger.request("POST", INITIALIZE)  # HTTP-30 to HTTP-35
    assert (begun.status, begun.headers["Content-Type"]) == (200, "application/json")
    session = begun.headers["Mcp-Session-Id"]
    assert len(session) == 32
    assert stranger.request("POST", INITIALIZE).headers["Mcp-Session-Id"] != session
    pong = stranger.request("POST", PING, mcp_session_id=session)
    assert pong.json == {"jsonrpc": "2.0", "id": 9, "result": {}}
    assert "Mcp-Session-Id" not in pong.headers
    assert stranger.request("DELETE", Mcp_Session_Id=session).status == 204
    for verb in ("POST", "GET", "DELETE"):
        assert stranger.request(verb, PING if verb == "POST" else None, Mcp_Session_Id=session).status == 404


def test_without_a_session_only_initialize_is_served(stranger: HttpPeer) -> None:
    for verb, body in (("POST", PING), ("GET", None), ("DELETE", None), ("POST", [INITIALIZE])):
        refused = stranger.request(verb, body)  # HTTP-32, HTTP-46
        assert refused.status == 400
        assert refused.json["error"]["code"] == -32600
        assert "Mcp-Session-Id" not in refused.headers


def test_a_refused_initialize_makes_no_session(stranger: HttpPeer) -> None:  # HTTP-46
    refused = stranger.request("POST", INITIALIZE | {"params": {}})
    assert refused.json["error"]["code"] == -32602
    assert "Mcp-Session-Id" not in refused.headers


@pytest.mark.parametrize(
    ("verb", "body", "headers", "status", "code"),
    [
        ("POST", b"{not json", {}, 400, -32700),
        ("POST", b"\xff", {}, 400, -32700),
        ("POST", b"", {}, 400, -32700),
        ("POST", {"jsonrpc": "2.0", "id": None, "method": "ping"}, {}, 400, -32600),
        ("POST", "ping", {}, 400, -32600),
        ("POST", [PING], {}, 400, -32600),
        ("POST", PING, {"Accept": "application/json"}, 406, -32600),
        ("POST", PING, {"Accept": None}, 406, -32600),
        ("GET", None, {"Accept": "application/json"}, 406, -32600),
        ("POST", PING, {"Content_Type": "text/plain"}, 415, -32600),
        ("POST", PING, {"Content_Type": None}, 415, -32600),
        ("POST", PING, {"MCP_Protocol_Version": "1999-01-01"}, 400, -32600),
        ("POST", PING, {"MCP_Protocol_Version": ""}, 400, -32600),
        ("POST", PING, {"Mcp_Session_Id": "guess"}, 404, -32600),
        ("PUT", PING, {}, 405, -32600),
        ("POST", PING, {"Origin": "http://evil.example"}, 403, -32600),
        ("POST", PING, {"Origin": "null"}, 403, -32600),
        ("POST", PING, {"Origin": "http://[bad"}, 403, -32600),
        ("GET", None, {"Origin": "http://evil.example"}, 403, -32600),
        ("POST", PING, {"Host": "evil.example"}, 403, -32600),
        ("POST", PING, {"Host": "127.0.0.1.evil.example:80"}, 403, -32600),
    ],
)
def test_what_is_wrong_is_refused_with_the_right_status_and_a_json_rpc_error(
    connect: Connect, verb: str, body: Any, headers: dict[str, str | None], status: int, code: int
) -> None:  # BASE-05 to BASE-09, HTTP-05, HTTP-06, HTTP-10, HTTP-11, HTTP-13, HTTP-14, HTTP-43
    peer = connect()
    refused = peer.request(verb, body, **headers)
    assert refused.status == status
    assert refused.json["error"]["code"] == code
    assert "id" not in refused.json
    if status == 405:
        assert refused.headers["Allow"] == "GET, POST, DELETE, OPTIONS"
    assert peer.ask("ping") == {}


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://localhost:6274"},
        {"Origin": "http://127.0.0.1"},
        {"Host": "localhost:1"},
        {"Host": "[::1]:1"},
        {"Accept": "*/*"},
        {"Accept": "application/*;q=0.5, text/event-stream"},
        {"Content_Type": "application/json; charset=utf-8"},
        {"MCP_Protocol_Version": None},
    ],
)
def test_what_is_unusual_but_right_is_served(connect: Connect, headers: dict[str, str | None]) -> None:
    assert connect().request("POST", PING, **headers).status == 200  # HTTP-07, HTTP-12, HTTP-44


def test_other_paths_are_not_found_and_heads_have_no_body(stranger: HttpPeer) -> None:
    assert stranger.request("POST", PING, path="/elsewhere").status == 404
    assert stranger.request("GET", path="/").status == 404
    assert stranger.request("HEAD").body == b""


def test_one_connection_serves_many_requests_also_after_refusals(connect: Connect) -> None:
    peer = connect()
    connection = http.client.HTTPConnection(str(peer.address.hostname), peer.address.port, timeout=PATIENCE)
    for path, status in (("/mcp", 200), ("/elsewhere", 404), ("/mcp", 200)):
        connection.request("POST", path, b'{"jsonrpc":"2.0","id":1,"method":"ping"}', peer.headers)
        response = connection.getresponse()
        assert response.status == status
        response.read()
    connection.close()


def test_notifications_and_responses_are_accepted_without_a_body(connect: Connect) -> None:  # HTTP-03
    peer = connect()
    for message in ({"jsonrpc": "2.0", "method": "notifications/x"}, {"jsonrpc": "2.0", "id": 77, "result": {}}):
        accepted = peer.request("POST", message)
        assert (accepted.status, accepted.body) == (202, b"")


def test_batches_are_served_at_2025_03_26(connect: Connect) -> None:  # BASE-12
    peer = connect(revision="2025-03-26")
    answered = peer.request("POST", [PING, PING | {"id": "b"}, {"jsonrpc": "2.0", "method": "notifications/x"}])
    assert [answer["id"] for answer in answered.json] == [9, "b"]
    assert peer.request("POST", [{"jsonrpc": "2.0", "method": "notifications/x"}]).status == 202
    streamed = peer.request("POST", [PING, tool("slow", seconds=0.01, steps=1)])
    assert streamed.headers["Content-Type"] == "text/event-stream"
    assert streamed.events[-1]["data"].startswith("[")
    assert peer.request("POST", []).status == 400


# --- streams ---------------------------------------------------------------------------------------------------------


def test_quick_answers_are_json_and_slow_ones_are_streams_that_end(connect: Connect) -> None:  # HTTP-02, HTTP-15
    peer = connect()
    assert peer.request("POST", tool("echo", message="x")).headers["Content-Type"] == "application/json"
    streamed = peer.request("POST", tool("slow", seconds=0.02, steps=2))
    assert streamed.headers["Content-Type"] == "text/event-stream"
    assert streamed.headers["X-Accel-Buffering"] == "no"  # HTTP-18
    events = streamed.events
    assert events[0]["data"] == ""  # HTTP-41
    assert ["progress" in event["data"] for event in events[1:]] == [False, True, True, False]
    assert '"result"' in events[-1]["data"]
    assert len({event["id"] for event in events}) == len(events)  # HTTP-39


def test_streams_of_older_revisions_are_not_primed(connect: Connect) -> None:
    streamed = connect(revision="2025-06-18").request("POST", tool("slow", seconds=0.01, steps=1))
    assert all(event["data"] for event in streamed.events)


def test_a_burst_arrives_whole(connect: Connect) -> None:
    streamed = connect().request("POST", tool("burst", count=5000))
    data = [event["data"] for event in streamed.events]
    assert sum("notifications/message" in event for event in data) == 5000
    assert '"result"' in data[-1]


def test_questions_come_on_the_stream_of_their_call_and_are_answered_by_post(connect: Connect) -> None:  # HTTP-48
    peer = connect()
    peer.answers["roots/list"] = lambda params: {"result": {"roots": [{"uri": "file:///x"}]}}
    assert "file:///x" in text_of(peer.call("where-am-i"))


def test_calls_run_side_by_side_and_are_cancelled_by_notification(connect: Connect) -> None:  # HTTP-22, UTIL-18
    peer = connect()
    forgotten = [peer.start("tools/call", {"name": "forget"}) for _ in range(3)]
    assert peer.ask("ping") == {}
    peer.wait_for_streams(3)  # A server cannot cancel what has not arrived.
    for request_id in forgotten:
        peer.notify("notifications/cancelled", {"requestId": request_id})
    peer.finish_posts()
    assert not any(message.get("id") in forgotten for message in peer.received)


def test_what_belongs_to_no_call_comes_on_the_newest_get_stream_only(connect: Connect) -> None:  # HTTP-36 to HTTP-38
    peer = connect()
    peer.call("change-list", list="prompts")  # without a listener: it waits for the first one
    first = peer.listen()
    peer.notification("notifications/prompts/list_changed")
    second = peer.listen()
    peer.call("change-list", list="tools")
    peer.notification("notifications/tools/list_changed")
    peer.call("change-list", list="tools", action="remove")
    peer.call("change-list", list="prompts", action="remove")
    peer.wait(lambda m: sum("list_changed" in str(message.get("method")) for message in peer.received) == 4)
    peer.end_session()
    first.thread.join()
    second.thread.join()
    assert (len(first.ids), len(second.ids)) == (2, 4)  # each with its priming event
    assert not set(first.ids) & set(second.ids)


def test_subscriptions_of_one_session_are_not_those_of_another(connect: Connect) -> None:
    peer, other = connect(), connect()
    streams = [peer.listen(), other.listen()]
    peer.ask("resources/subscribe", {"uri": "demo://clock"})
    peer.notification("notifications/resources/updated")
    assert other.all_of("notifications/resources/updated") == []
    peer.end_session()
    other.end_session()
    for stream in streams:
        stream.thread.join()


def drop_after_first_event(peer: HttpPeer, message: dict[str, Any]) -> str:
    """Posts a request, reads the id of the first event and hangs up."""
    connection = http.client.HTTPConnection(str(peer.address.hostname), peer.address.port, timeout=PATIENCE)
    connection.request("POST", "/mcp", json.dumps(message).encode(), peer.headers)
    response = connection.getresponse()
    event_id = response.readline().decode().removeprefix("id: ").strip()
    response.close()
    connection.close()
    return event_id


def test_a_dropped_stream_cancels_nothing_and_can_be_resumed(connect: Connect) -> None:  # HTTP-40, HTTP-45
    peer = connect()
    event_id = drop_after_first_event(peer, tool("slow", 60, seconds=0.1, steps=5))
    resumed = peer.listen(**{"Last-Event-ID": event_id})
    assert peer.response(60)["result"]["content"]
    resumed.thread.join()
    assert [progress["progress"] for progress in peer.all_of("notifications/progress")] == [1, 2, 3, 4, 5]
    again = peer.listen(**{"Last-Event-ID": resumed.ids[-2]})
    again.thread.join()
    assert again.ids == resumed.ids[-1:]


def test_a_stream_that_hangs_up_says_when_to_come_back_and_then_answers(connect: Connect) -> None:  # HTTP-42
    peer = connect()
    request_id = peer.start("tools/call", {"name": "hang-up", "arguments": {"retry": 30}})
    peer.finish_posts()
    assert not any(message.get("id") == request_id for message in peer.received)
    (broken,) = [stream for stream in peer.streams if stream.ids]
    assert broken.retry == 30
    resumed = peer.listen(**{"Last-Event-ID": broken.ids[-1]})
    assert "resumed the stream" in text_of(peer.response(request_id)["result"])
    resumed.thread.join()


def test_an_unknown_event_id_opens_a_new_stream(connect: Connect) -> None:
    peer = connect()
    for event_id in ("99.1", "x", "1.", "²._", "9" * 100):
        stream = peer.listen(**{"Last-Event-ID": event_id.encode().decode("latin-1")})
        assert stream.status == 200
    peer.end_session()


def test_ending_a_session_ends_its_calls_and_streams(connect: Connect) -> None:
    peer = connect()
    peer.answers.clear()
    listening = peer.listen()
    peer.start("tools/call", {"name": "ask-user"})
    peer.wait(lambda m: m.get("method") == "elicitation/create")
    peer.end_session()
    listening.thread.join()
    peer.finish_posts()


def test_a_stream_is_never_told_to_two_readers_at_once(connect: Connect) -> None:
    peer = connect()
    peer.answers.clear()
    request_id = peer.start("tools/call", {"name": "where-am-i"})
    question = peer.wait(lambda m: m.get("method") == "roots/list")
    (posted,) = [stream for stream in peer.streams if stream.ids]
    resumed = peer.listen(**{"Last-Event-ID": posted.ids[0]})
    posted.thread.join()
    peer.send({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": []}})
    assert "no roots" in text_of(peer.response(request_id)["result"])
    resumed.thread.join()
    assert len(posted.ids) == 2
    assert len(resumed.ids) == 2  # the question again, which the first reader may have missed, and the answer

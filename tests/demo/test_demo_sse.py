"""The demo server over HTTP+SSE, the transport of 2024-11-05."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.demo.demo_client import PATIENCE, HttpPeer, HttpServer, SsePeer, serving, text_of
from tests.demo.schemas import check

PING = {"jsonrpc": "2.0", "id": 9, "method": "ping"}


@pytest.fixture
def url(http_server: HttpServer) -> str:
    return http_server.url.replace("/mcp", "/sse")


@pytest.fixture
def peer(url: str) -> Iterator[SsePeer]:
    client = SsePeer(url)
    yield client
    client.close()


def test_the_first_event_says_where_to_post_relative_to_the_stream(peer: SsePeer) -> None:  # SSE-01
    assert peer.status == 200
    assert peer.kinds == ["endpoint"]
    assert re.fullmatch(r"/messages\?session_id=[0-9a-f]{32}", peer.messages)


def test_a_whole_session_goes_over_one_stream(peer: SsePeer) -> None:
    opened = peer.open("2024-11-05")
    check("2024-11-05", "InitializeResult", opened)
    assert opened["protocolVersion"] == "2024-11-05"
    assert text_of(peer.call("echo", message="x")) == "x"
    peer.answers["roots/list"] = lambda params: {"result": {"roots": [{"uri": "file:///x"}]}}
    assert "file:///x" in text_of(peer.call("where-am-i"))
    slow = {"name": "slow", "arguments": {"seconds": 0.01, "steps": 2}, "_meta": {"progressToken": "p"}}
    peer.ask("tools/call", slow)
    assert [report["progress"] for report in peer.all_of("notifications/progress")] == [1, 2]
    peer.ask("resources/subscribe", {"uri": "demo://clock"})
    peer.notification("notifications/resources/updated")
    assert peer.call("about-client")["content"]
    assert set(peer.kinds[1:]) == {"message"}


def test_later_revisions_may_be_spoken_too(peer: SsePeer) -> None:
    assert peer.open("2025-11-25")["protocolVersion"] == "2025-11-25"
    assert peer.call("about-client")["structuredContent"]["transport"] == "sse"


def test_sessions_are_reported_apart(peer: SsePeer, url: str) -> None:
    other = SsePeer(url)
    for client in (peer, other):
        client.open()
    assert peer.messages != other.messages
    other.call("echo", message="mine")
    assert not any("mine" in str(message) for message in peer.received)
    other.close()
    assert peer.ask("ping") == {}


@pytest.mark.parametrize(
    ("verb", "path", "body", "headers", "status"),
    [
        ("POST", "/sse", PING, {}, 405),
        ("DELETE", "/sse", None, {}, 405),
        ("GET", "/messages", None, {}, 405),
        ("POST", "/messages", PING, {}, 400),
        ("POST", "/messages?session_id=", PING, {}, 404),
        ("POST", "/messages?session_id=guess", PING, {}, 404),
        ("POST", "/messages?other=1", PING, {}, 400),
        ("GET", "/sse", None, {"Accept": "application/json"}, 406),
        ("GET", "/sse", None, {"Origin": "http://evil.example"}, 403),
        ("GET", "/sse", None, {"Host": "evil.example"}, 403),
    ],
)
def test_what_is_wrong_is_refused(
    http_server: HttpServer, verb: str, path: str, body: Any, headers: dict[str, str], status: int
) -> None:
    refused = HttpPeer(http_server.url).request(verb, body, path=path, **headers)
    assert refused.status == status
    if status == 405:
        assert refused.headers["Allow"] == ("GET" if path == "/sse" else "POST")


@pytest.mark.parametrize(("body", "headers"), [(b"{", {}), (b"\xff", {}), (PING, {"Content_Type": "text/plain"})])
def test_a_message_that_cannot_be_read_is_refused_at_once(peer: SsePeer, body: Any, headers: dict[str, str]) -> None:
    refused = peer.request("POST", body, path=peer.messages, **headers)
    assert refused.status in (400, 415)
    assert peer.ask("ping") == {}


def test_a_closed_stream_ends_the_session() -> None:
    with serving() as server:
        peer = SsePeer(server.origin + "/sse")
        peer.open()
        (session,) = server.sse_sessions.values()
        peer.start("tools/call", {"name": "forget"})
        peer.close()
        for _ in range(int(PATIENCE / 0.01)):
            if session.session.closed:
                break
            time.sleep(0.01)
        assert session.session.closed
        assert peer.request("POST", PING, path=peer.messages).status == 404


@pytest.mark.slow
def test_there_is_no_such_transport_without_a_handshake() -> None:
    server = HttpServer("--era", "modern")
    for path in ("/sse", "/messages"):
        assert HttpPeer(server.url).request("GET", path=path, Accept="text/event-stream").status == 404
    server.close()

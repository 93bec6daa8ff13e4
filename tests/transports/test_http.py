"""Streamable HTTP: requests, header fields, sessions, and answers that are a whole body."""

import asyncio
import gzip
import json
import subprocess
import sys

import pytest

from inspector.config.secret_values import MAX_COOKIE_SECRETS
from inspector.errors import (
    AuthorizationNeeded,
    HttpError,
    LimitReached,
    ServerError,
    SessionLost,
    TargetError,
    UsageError,
)
from inspector.journal.format import Dir, Kind
from inspector.journal.index import State
from inspector.protocol import jsonrpc
from inspector.transports import http_client
from inspector.transports.base import HttpOptions, Outgoing
from inspector.transports.http import HttpTransport
from inspector.transports.http_requests import Cookies
from tests.test_addresses import BECOMES, DISGUISED, LOOKALIKE, MIXES
from tests.transports.scripted_http import JSON, SSE, answer_to

SESSION = "session-0123456789"


def echo(request, reply):
    """Answer every request with its method, everything else with 202."""
    if request.method != "POST":
        reply.body(405)
    elif request.message.get("id") is None or "method" not in request.message:
        reply.body(202)
    else:
        reply.result(request, {"method": request.rpc_method})


def with_session(request, reply):
    """A server with a session."""
    if request.rpc_method == "initialize":
        reply.result(request, {"protocolVersion": "2025-11-25"}, ("mcp-session-ID", SESSION))
    else:
        echo(request, reply)


# Requests


async def test_each_message_is_a_post_of_its_own(serve, peer):
    """C-HTTP-01, C-HTTP-02, C-HTTP-03."""
    web = await serve(echo)
    client = await peer(web.url)
    answer = await client.call("tools/list", {"cursor": "é"})
    assert answer["result"] == {"method": "tools/list"}
    request = web.requests[0]
    assert (request.method, request.target) == ("POST", "/mcp")
    assert request.field("accept") == "application/json, text/event-stream"
    assert request.field("content-type") == "application/json"
    assert request.field("host") == f"127.0.0.1:{web.port}"
    assert request.body == '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"é"}}'.encode()


async def test_everything_is_recorded_in_the_order_in_which_it_happened(serve, peer):
    web = await serve(echo)
    client = await peer(web.url)
    outgoing = client.post({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert (outgoing.n, client.sink.journal.event(1).dir) == (1, Dir.SEND)
    assert web.requests == []
    await client.sink.until(lambda: client.sink.frames)
    events = client.sink.events()
    assert [(event.kind, event.dir) for event in events] == [
        (Kind.RPC, Dir.SEND),
        (Kind.HTTP, Dir.SEND),
        (Kind.LIFE, Dir.LOCAL),
        (Kind.HTTP, Dir.RECV),
        (Kind.RPC, Dir.RECV),
    ]
    assert {event.ch for event in events} == {"post-1"}
    sent, connected, received = events[1].fields, events[2].fields, events[3].fields
    assert (sent["method"], sent["url"]) == ("POST", web.url)
    assert ["Accept", "application/json, text/event-stream"] in sent["headers"]
    assert (connected["event"], connected["address"], connected["port"]) == ("connect", "127.0.0.1", web.port)
    assert (received["status"], received["reason"], received["version"]) == (200, "Because", "HTTP/1.1")
    assert received["headers"][0] == ["Content-Type", "application/json"]
    assert received["ms"] > 0
    assert client.sink.journal.index.state(1) == State.DONE


async def test_a_notification_is_accepted_without_an_answer(serve, peer):
    web = await serve(echo)
    client = await peer(web.url)
    client.notify("notifications/initialized")
    await client.sink.until(lambda: len(client.sink.events(Kind.HTTP)) == 2)
    await client.call("ping")
    assert client.sink.failures == []
    assert [event.ch for event in client.sink.events(Kind.RPC)] == ["post-1", "post-2", "post-2"]


async def test_what_follows_a_notification_can_wait_until_it_was_accepted(serve, peer):
    go_on = asyncio.Event()

    async def slow(request, reply):
        await go_on.wait()
        reply.body(202)

    web = await serve(slow)
    client = await peer(web.url)
    await client.transport.settled()
    client.notify("notifications/initialized")
    waiting = asyncio.create_task(client.transport.settled())
    await client.sink.until(lambda: web.requests)
    assert not waiting.done()
    go_on.set()
    await asyncio.wait_for(waiting, 60)
    assert len(client.sink.events(Kind.HTTP)) == 2


async def test_bytes_that_are_not_json_are_sent_as_they_are(serve, peer):
    web = await serve(lambda request, reply: reply.body(400, "what?"))
    client = await peer(web.url)
    client.transport.send(Outgoing(b"\xff{", None))
    await client.sink.until(lambda: client.sink.failures)
    assert web.requests[0].body == b"\xff{"
    assert "what?" in client.sink.failures[0][1].message


async def test_connections_are_used_again(serve, peer):
    web = await serve(echo)
    client = await peer(web.url)
    for _ in range(5):
        await client.call("ping")
    assert {request.connection for request in web.requests} == {1}
    assert len(client.sink.lives("connect")) == 1


async def test_a_connection_that_the_server_closed_while_idle_is_not_used_again(serve, peer):
    def once(request, reply):
        reply.result(request)
        reply.hang_up()

    web = await serve(once)
    client = await peer(web.url)
    for _ in range(3):
        await client.call("ping")
        await asyncio.sleep(0.01)
    assert [request.connection for request in web.requests] == [1, 2, 3]


async def test_slow_answers_block_no_other_request(serve, peer):
    """A hundred calls that are not answered yet, and one more that is answered at once."""
    waiting = asyncio.Event()

    async def slow(request, reply):
        if request.rpc_method == "tools/call":
            await waiting.wait()
        reply.result(request, {"method": request.rpc_method})

    web = await serve(slow)
    client = await peer(web.url)
    calls = [client.request("tools/call") for _ in range(100)]
    assert (await client.call("ping"))["result"] == {"method": "ping"}
    assert not any(call.done() for call in calls)
    waiting.set()
    answers = await asyncio.wait_for(asyncio.gather(*calls), 60)
    assert [answer["id"] for answer in answers] == list(range(1, 101))


async def test_requests_share_a_few_connections_as_long_as_none_has_to_wait(serve, peer, monkeypatch):
    monkeypatch.setattr(http_client, "PATIENCE", 60)
    web = await serve(echo)
    client = await peer(web.url)
    await asyncio.wait_for(asyncio.gather(*(client.request("ping") for _ in range(60))), 60)
    assert web.connections == http_client.FEW
    assert len(web.requests) == 60


async def test_a_request_that_waits_for_a_connection_can_be_given_up(serve, peer):
    web = await serve(lambda request, reply: asyncio.sleep(60))
    client = await peer(web.url)
    for _ in range(40):
        client.request("tools/call")
    await asyncio.sleep(0)
    for id in range(20, 41):
        client.transport.close_stream(id)
    await client.sink.until(lambda: len(web.requests) == 19)
    await asyncio.sleep(0.03)
    assert len(web.requests) == 19


# Header fields


async def test_the_session_id_of_a_good_initialize_goes_with_everything_after_it(serve, peer):
    """C-HTTP-10, C-HTTP-04: also with what is sent while the answer is still being taken in."""
    web = await serve(with_session)
    client = await peer(web.url)

    def initialized(frame):
        if frame.shape is jsonrpc.Shape.RESULT and frame.message["id"] == 1:
            client.transport.agreed("2025-11-25", version_header=True, resumable=True, listen=False)
            client.notify("notifications/initialized")

    client.sink.on_frame = initialized
    await client.call("initialize")
    await client.call("tools/list")
    first, *others = web.requests
    assert (first.field("mcp-session-id"), first.field("mcp-protocol-version")) == (None, None)
    assert len(others) == 2
    for request in others:
        assert request.field("mcp-session-id") == SESSION
        assert request.field("mcp-protocol-version") == "2025-11-25"


async def test_the_session_id_is_never_recorded(serve, peer):
    """C-HTTP-20."""

    def tells(request, reply):
        if request.rpc_method == "initialize":
            with_session(request, reply)
        else:
            reply.result(request, {"session": SESSION})

    web = await serve(tells)
    client = await peer(web.url)
    await client.call("initialize")
    await client.call("tools/list")
    assert SESSION not in client.sink.text()
    assert client.sink.lives("session")[0].fields["id"].startswith("‹redacted ")


@pytest.mark.parametrize("status", [200, 400])
async def test_no_session_id_is_taken_from_an_error(serve, peer, status):
    """C-HTTP-10: servers send one with the 400 to a probe."""

    def refuses(request, reply):
        if request.rpc_method == "initialize":
            error = {"jsonrpc": "2.0", "id": request.id, "error": {"code": -32600, "message": "no"}}
            reply.json(error, status, ("Mcp-Session-Id", SESSION))
        else:
            echo(request, reply)

    web = await serve(refuses)
    client = await peer(web.url)
    assert "error" in await client.call("initialize")
    await client.call("ping")
    assert web.requests[1].field("mcp-session-id") is None


async def test_an_empty_session_id_is_none(serve, peer):
    web = await serve(lambda request, reply: reply.result(request, {}, ("Mcp-Session-Id", "")))
    client = await peer(web.url)
    await client.call("initialize")
    await client.call("ping")
    assert web.requests[1].field("mcp-session-id") is None


async def test_a_new_initialize_carries_neither_session_nor_revision(serve, peer):
    """C-HTTP-12; a server that names no session now has none."""
    named = [("Mcp-Session-Id", SESSION)]

    def forgetful(request, reply):
        reply.result(request, {}, *(named if request.rpc_method == "initialize" else ()))

    web = await serve(forgetful)
    client = await peer(web.url)
    await client.call("initialize")
    client.transport.agreed("2025-06-18", version_header=True, resumable=True, listen=False)
    named.clear()
    await client.call("initialize")
    await client.call("ping")
    assert [request.field("mcp-session-id") for request in web.requests] == [None, None, None]
    assert [request.field("mcp-protocol-version") for request in web.requests] == [None, None, "2025-06-18"]


async def test_a_revision_without_the_version_field_sends_none(serve, peer):
    """C-HTTP-11 begins with 2025-06-18."""
    web = await serve(echo)
    client = await peer(web.url)
    client.transport.agreed("2025-03-26", version_header=False, resumable=True, listen=False)
    await client.call("ping")
    assert web.requests[0].field("mcp-protocol-version") is None


async def test_the_eras_fields_go_over_ours_and_the_users_over_all(serve, peer):
    """C-HTTP-30, C-HTTP-31 are given with the message."""
    web = await serve(echo)
    mine = (("ACCEPT", "text/x"), ("X-Twice", "a"), ("X-Twice", "b"), ("Mcp-Name", "user's"))
    client = await peer(web.url, headers=mine)
    client.transport.agreed("2025-11-25", version_header=True, resumable=False, listen=False)
    era_headers = (("mcp-protocol-version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "ours"))
    await client.call("tools/call", headers=era_headers)
    fields = [(name.lower(), value) for name, value in web.requests[0].fields]
    values = {name: [value for key, value in fields if key == name] for name, _ in fields}
    assert values["accept"] == ["text/x"]
    assert values["x-twice"] == ["a", "b"]
    assert values["mcp-protocol-version"] == ["2026-07-28"]
    assert values["mcp-method"] == ["tools/call"]
    assert values["mcp-name"] == ["user's"]


async def test_user_and_password_of_the_url_become_a_header_field_and_no_record(serve, peer):
    web = await serve(echo)
    client = await peer(web.url.replace("http://", "http://me:pass-word@"))
    await client.call("ping")
    assert web.requests[0].field("authorization") == "Basic bWU6cGFzcy13b3Jk"
    assert "pass-word" not in client.sink.text()
    assert "bWU6cGFzcy13b3Jk" not in client.sink.text()


@pytest.mark.parametrize("field", [("A b", "c"), ("", "c"), ("X", "a\r\nY: b"), ("X:", "b"), ("X", "\0"), ("Ü", "x"),
                                   ("Content-Length", "5"), ("transfer-encoding", "chunked"), ("X", "a\x01b")])  # fmt: skip
def test_header_fields_that_cannot_be_sent_are_refused_at_once(field):
    with pytest.raises(UsageError, match="header"):
        HttpTransport("http://localhost/", None, HttpOptions(headers=(field,)))


async def test_header_values_beyond_ascii_are_sent(serve, peer):
    web = await serve(echo)
    client = await peer(web.url, headers=(("X-Name", "é"), ("X-Other", "日本")))
    await client.call("ping")
    assert web.requests[0].field("x-name") == "é"
    assert web.requests[0].field("x-other").encode("latin-1") == "日本".encode()


@pytest.mark.parametrize("url", ["", "localhost:3000/mcp", "ftp://x/", "http://", "http://a:b/"])
def test_what_is_not_an_url_is_refused(url):
    with pytest.raises(TargetError, match="cannot be used as a URL"):
        HttpTransport(url, None)


@pytest.mark.slow
def test_importing_the_transport_loads_no_http_library():
    code = (
        "import sys, inspector.transports.http; "
        "print([name for name in ('httpx', 'httpcore', 'h11', 'anyio', 'certifi') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


# Whole bodies


def answering(body, *fields, status=200):
    def handler(request, reply):
        reply.body(status, body, *fields)

    return handler


async def test_a_body_is_recorded_byte_for_byte(serve, peer):
    raw = b' {"jsonrpc" : "2.0", "id":1,\r\n"result":{"n":1E400,"n":12345678901234567890,"s":"\\ud800"}}\n'
    web = await serve(answering(raw, JSON))
    client = await peer(web.url)
    await client.call("ping")
    assert client.sink.events(Kind.RPC)[1].bytes == raw


@pytest.mark.parametrize("kind", ["text/plain", "text/html", "text/event-stream", "application/x+json", "", "nonsense"])
async def test_a_json_answer_is_taken_whatever_its_content_type_says(serve, peer, kind):
    raw = b'{"jsonrpc":"2.0","id":1,"result":{"ok":true}}'
    web = await serve(answering(raw, *([("Content-Type", kind)] if kind else [])))
    client = await peer(web.url)
    assert (await client.call("ping"))["result"] == {"ok": True}


@pytest.mark.parametrize("kind", ["text/plain", "application/json", "application/octet-stream"])
async def test_an_event_stream_is_taken_whatever_its_content_type_says(serve, peer, kind):
    raw = b'event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{"ok":true}}\n\n'
    web = await serve(answering(raw, ("Content-Type", kind)))
    client = await peer(web.url)
    assert (await client.call("ping"))["result"] == {"ok": True}
    assert [frame.message["id"] for frame in client.sink.frames] == [1]


@pytest.mark.parametrize("kind", ["text/plain", "application/json"])
async def test_an_event_stream_in_small_pieces_is_taken_whatever_its_content_type_says(serve, peer, kind):
    async def pieces(request, reply):
        reply.head(200, ("Content-Type", kind), ("Transfer-Encoding", "chunked"))
        for byte in f"data: {json.dumps(answer_to(request))}\n\n".encode():
            reply.chunk(bytes([byte]))
            await reply.writer.drain()
            await asyncio.sleep(0)
        reply.end()

    web = await serve(pieces)
    client = await peer(web.url)
    assert (await client.call("ping"))["result"] == {}
    assert client.sink.events(Kind.INVALID) == []


async def test_a_batch_in_a_body_is_an_answer(serve, peer):
    """C-BASE-07."""
    raw = b'[{"jsonrpc":"2.0","method":"notifications/message"},{"jsonrpc":"2.0","id":1,"result":{}}]'
    web = await serve(answering(raw, JSON))
    client = await peer(web.url)
    assert (await client.call("ping"))["result"] == {}
    assert client.sink.failures == []


@pytest.mark.parametrize("coding", ["gzip", "x-gzip", "GZIP"])
async def test_a_compressed_answer_is_unpacked(serve, peer, coding):
    raw = b'{"jsonrpc":"2.0","id":1,"result":{"ok":true}}'
    web = await serve(answering(gzip.compress(raw), JSON, ("Content-Encoding", coding)))
    client = await peer(web.url)
    assert (await client.call("ping"))["result"] == {"ok": True}
    assert web.requests[0].field("accept-encoding") == "identity"


async def test_an_answer_in_an_unknown_coding_is_named(serve, peer):
    web = await serve(answering(b"\x00", JSON, ("Content-Encoding", "br")))
    client = await peer(web.url)
    error = await client.error()
    assert "“br”" in error.message


async def test_a_coding_that_is_a_lie_is_named(serve, peer):
    web = await serve(answering(b'{"jsonrpc":"2.0"}', JSON, ("Content-Encoding", "gzip")))
    client = await peer(web.url)
    assert "not valid gzip" in (await client.error()).message


@pytest.mark.parametrize("status", [200, 202, 204])
async def test_an_empty_body_to_a_request_is_an_error(serve, peer, status):
    def empty(request, reply):
        if status == 204:
            reply.head(204)
        else:
            reply.body(status)

    web = await serve(empty)
    client = await peer(web.url)
    error = await client.error("tools/list")
    assert isinstance(error, HttpError)
    assert error.status == status
    assert f"{status} Because with an empty body to tools/list" in error.message


async def test_a_web_page_is_no_answer_and_its_words_are_shown(serve, peer):
    head = "<head><style>p{}</style><title>Hi &amp; welcome</title></head>"
    page = f"<html>{head}<script>x<1</script><p>to\x1b[31m us</html>"
    web = await serve(answering(page, ("Content-Type", "text/html; charset=utf-8")))
    client = await peer(web.url)
    error = await client.error()
    assert "cannot be read as JSON: Hi & welcome to␛[31m us" in error.message
    assert "web page" in error.hint
    recorded = client.sink.events(Kind.INVALID)[0]
    assert recorded.bytes == page.encode()


async def test_a_body_that_answers_something_else_is_shown_and_the_request_fails(serve, peer):
    web = await serve(answering(b'{"jsonrpc":"2.0","id":"1","result":{}}', JSON))
    client = await peer(web.url)
    error = await client.error()
    assert "has no response to request 1" in error.message
    assert client.sink.frames[0].message["id"] == "1"


async def test_a_body_that_breaks_off_is_recorded_as_cut(serve, peer):
    def breaks(request, reply):
        reply.head(200, JSON, ("Content-Length", 1000))
        reply.raw(b'{"jsonrpc":"2.0","id":1,"result":{"te')
        reply.hang_up()

    web = await serve(breaks)
    client = await peer(web.url)
    error = await client.error()
    assert f"The response from 127.0.0.1:{web.port} is incomplete" in error.message
    recorded = client.sink.events(Kind.INVALID)[0]
    assert recorded.raw == '{"jsonrpc":"2.0","id":1,"result":{"te'
    assert recorded.fields["cut"] is True


async def test_a_whole_message_in_a_body_that_breaks_off_is_an_answer(serve, peer):
    def breaks(request, reply):
        reply.head(200, JSON, ("Transfer-Encoding", "chunked"))
        reply.chunk(json.dumps(answer_to(request, {"ok": 1})))
        reply.hang_up()

    web = await serve(breaks)
    client = await peer(web.url)
    assert (await client.call("ping"))["result"] == {"ok": 1}
    assert "cut" not in client.sink.events(Kind.RPC)[1].fields


# Statuses


@pytest.mark.parametrize("status", [400, 404, 422, 500])
@pytest.mark.parametrize("id", [{"id": None}, {"id": "server-error"}, {}])
async def test_an_rpc_error_answers_the_request_of_its_exchange_whatever_its_id(serve, peer, status, id):
    """C-HTTP-38."""
    body = {"jsonrpc": "2.0", **id, "error": {"code": -32022, "message": "nope", "data": {"supported": ["x"]}}}
    web = await serve(lambda request, reply: reply.json(body, status))
    client = await peer(web.url)
    error = await client.error("server/discover")
    assert isinstance(error, ServerError)
    assert (error.rpc_code, error.rpc_message, error.data) == (-32022, "nope", {"supported": ["x"]})
    recorded = client.sink.events(Kind.RPC)[1]
    assert recorded.message == body
    assert recorded.fields["status"] == status


async def test_an_rpc_error_with_the_right_id_is_delivered_and_nothing_failed(serve, peer):
    def refuses(request, reply):
        reply.json({"jsonrpc": "2.0", "id": request.id, "error": {"code": -32601, "message": "no"}}, 404)

    web = await serve(refuses)
    client = await peer(web.url)
    assert (await client.call("x"))["error"]["code"] == -32601
    assert client.sink.failures == []


async def test_an_rpc_error_to_a_notification_is_reported(serve, peer):
    web = await serve(lambda request, reply: reply.json({"jsonrpc": "2.0", "error": {"code": 1, "message": "no"}}, 400))
    client = await peer(web.url)
    outgoing = client.notify("notifications/x")
    await client.sink.until(lambda: client.sink.failures)
    assert client.sink.failures[0][0] is outgoing
    assert isinstance(client.sink.failures[0][1], ServerError)


async def test_a_status_with_a_page_is_named_with_its_words(serve, peer):
    web = await serve(answering("<h1>Bad\nGateway</h1>nginx", ("Content-Type", "text/html"), status=502))
    client = await peer(web.url)
    error = await client.error("tools/list")
    assert isinstance(error, HttpError)
    assert error.status == 502
    assert error.message == f"127.0.0.1:{web.port} answered 502 Because to tools/list: Bad Gateway nginx"
    assert "proxy" in error.hint


@pytest.mark.parametrize(
    ("status", "after", "hint"), [(429, "30", "30 s"), (503, "Fri, 01 Jan 2027", "until Fri"), (429, None, "later")]
)
async def test_the_time_to_wait_is_reported(serve, peer, status, after, hint):
    fields = [("Retry-After", after)] if after else []
    web = await serve(lambda request, reply: reply.body(status, "", *fields))
    client = await peer(web.url)
    error = await client.error()
    assert error.status == status
    assert hint in error.hint


@pytest.mark.parametrize("status", [401, 403])
async def test_authorization_is_requested_even_if_the_body_is_an_rpc_error(serve, peer, status):
    challenge = ("WWW-Authenticate", 'Bearer error="invalid_token", resource_metadata="https://x/y"')

    def wants(request, reply):
        body = {"jsonrpc": "2.0", "id": request.id, "error": {"code": -32001, "message": "who are you?"}}
        reply.json(body, status, challenge, ("www-authenticate", "Basic"))

    web = await serve(wants)
    client = await peer(web.url)
    error = await client.error()
    assert isinstance(error, AuthorizationNeeded)
    assert (error.status, error.challenge) == (status, (challenge[1], "Basic"))
    assert "invalid_token" in error.message
    assert len(client.sink.frames) == 1
    assert len(client.sink.failures) == 1


async def test_a_session_that_the_server_forgot_is_lost_and_can_be_started_again(serve, peer):
    """C-HTTP-12: the error in the body does not hide it."""

    def forgets(request, reply):
        if request.rpc_method == "initialize" or request.field("mcp-session-id") is None:
            with_session(request, reply)
        else:
            reply.json({"jsonrpc": "2.0", "id": request.id, "error": {"code": -32600, "message": "gone"}}, 404)

    web = await serve(forgets)
    client = await peer(web.url)
    await client.call("initialize")
    assert isinstance(await client.error(), SessionLost)
    await client.call("initialize")
    assert web.requests[-1].field("mcp-session-id") is None
    await client.sink.until(lambda: client.transport.requester.session_id == SESSION)


@pytest.mark.parametrize(("message", "has_hint"), [("No valid session ID provided", True), ("Unknown tool", False)])
async def test_a_restarted_server_may_answer_400_instead_of_404(serve, peer, message, has_hint):
    def forgets(request, reply):
        if request.rpc_method == "initialize":
            with_session(request, reply)
        else:
            reply.json({"jsonrpc": "2.0", "error": {"code": -32000, "message": message}}, 400)

    web = await serve(forgets)
    client = await peer(web.url)
    await client.call("initialize")
    error = await client.error("tools/list")
    assert isinstance(error, ServerError)
    assert ("Connect again" in error.hint) == has_hint


async def test_what_is_sent_after_the_loss_has_no_session_and_an_old_loss_takes_no_new_session(serve, peer):
    go_on = asyncio.Event()
    ids = iter(["session-1", "session-2"])

    async def forgets(request, reply):
        if request.rpc_method == "initialize":
            reply.result(request, {}, ("Mcp-Session-Id", next(ids)))
        elif request.rpc_method == "slow":
            await go_on.wait()
            reply.body(404)
        elif request.field("mcp-session-id") == "session-1":
            reply.body(404)
        else:
            reply.result(request)

    web = await serve(forgets)
    client = await peer(web.url)
    await client.call("initialize")
    slow = client.request("slow")
    assert isinstance(await client.error("tools/list"), SessionLost)
    await client.call("ping")
    assert web.requests[-1].field("mcp-session-id") is None
    await client.call("initialize")
    go_on.set()
    with pytest.raises(SessionLost):
        await asyncio.wait_for(slow, 60)
    await client.call("ping")
    assert web.requests[-1].field("mcp-session-id") == "session-2"


async def test_an_unknown_method_in_a_404_loses_no_session(serve, peer):
    def refuses(request, reply):
        if request.rpc_method == "initialize":
            with_session(request, reply)
        else:
            reply.json({"jsonrpc": "2.0", "id": request.id, "error": {"code": -32601, "message": "no"}}, 404)

    web = await serve(refuses)
    client = await peer(web.url)
    await client.call("initialize")
    assert (await client.call("x"))["error"]["code"] == -32601
    assert client.transport.requester.session_id == SESSION


async def test_a_404_without_a_session_is_a_wrong_path(serve, peer):
    web = await serve(answering("Cannot POST /mcp", status=404))
    client = await peer(web.url)
    error = await client.error()
    assert isinstance(error, HttpError)
    assert error.status == 404
    assert "path" in error.hint


# Redirects


async def test_a_redirect_within_the_origin_is_followed_and_remembered(serve, peer):
    def moved(request, reply):
        if request.target == "/mcp":
            reply.body(307, "", ("Location", "/mcp/"))
        else:
            echo(request, reply)

    web = await serve(moved)
    client = await peer(web.url, headers=(("Authorization", "Bearer token"),))
    await client.call("ping")
    await client.call("ping")
    assert [request.target for request in web.requests] == ["/mcp", "/mcp/", "/mcp/"]
    assert all(request.field("authorization") == "Bearer token" for request in web.requests)
    assert web.requests[1].body == web.requests[0].body
    assert client.sink.lives("redirect")[0].fields["status"] == 307


async def test_no_redirect_goes_to_another_origin(serve, peer):
    other = await serve(echo)
    web = await serve(lambda request, reply: reply.body(308, "", ("Location", other.url)))
    client = await peer(web.url, headers=(("Authorization", "Bearer token"),))
    error = await client.error()
    assert isinstance(error, HttpError)
    assert f"http://127.0.0.1:{web.port} redirects to another origin, http://127.0.0.1:{other.port}" in error.message
    assert other.requests == []


async def test_another_origin_is_named_as_it_would_be_requested(serve, peer):
    location = [LOOKALIKE]
    web = await serve(lambda request, reply: reply.body(307, "", ("Location", location[0].encode().decode("latin-1"))))
    client = await peer(web.url)
    assert (
        f"redirects to another origin, https://xn--pi-6kc.github.com {MIXES} (status 307)"
        in (await client.error()).message
    )
    location[0] = DISGUISED
    error = await client.error()
    assert error.message.endswith(f"which is not a valid URL: {BECOMES}.")
    assert error.message.isascii() or "\u2215" not in error.message


@pytest.mark.parametrize("status", [301, 302, 303])
async def test_a_redirect_that_would_lose_the_message_is_refused(serve, peer, status):
    web = await serve(lambda request, reply: reply.body(status, "", ("Location", "/mcp/")))
    client = await peer(web.url)
    error = await client.error()
    assert "would become a GET" in error.message
    assert error.hint == f"Connect to {web.url}/"


async def test_redirects_in_a_circle_end(serve, peer):
    web = await serve(lambda request, reply: reply.body(307, "", ("Location", "/mcp")))
    client = await peer(web.url)
    assert "more than 5 times" in (await client.error()).message
    assert len(web.requests) == 6


@pytest.mark.parametrize("location", ["file:///etc/passwd", "javascript:1", "http://[", "http://h:0/"])
async def test_a_redirect_to_no_url_is_refused(serve, peer, location):
    web = await serve(lambda request, reply: reply.body(307, "", ("Location", location)))
    client = await peer(web.url)
    error = await client.error()
    assert isinstance(error, HttpError)
    assert "not a valid URL" in error.message or "another origin" in error.message


async def test_a_location_beyond_ascii_is_followed(serve, peer):
    def moved(request, reply):
        if request.target == "/mcp":
            reply.body(307, "", ("Location", "/ü".encode().decode("latin-1")))
        else:
            echo(request, reply)

    web = await serve(moved)
    client = await peer(web.url)
    await client.call("ping")
    assert web.requests[1].target == "/%C3%BC"


async def test_a_redirect_without_a_location_is_an_error(serve, peer):
    web = await serve(answering("", status=302))
    client = await peer(web.url)
    assert (await client.error()).status == 302


def bomb(amount):
    """An event stream that compresses to a thousandth of its size: `amount` bytes of comments, then the answer."""
    answer = b'data: {"jsonrpc":"2.0","id":1,"result":{"ok":true}}\n\n'
    return gzip.compress(b":" + b"x" * amount + b"\n\n" + answer, 9)


async def test_a_body_that_unpacks_to_far_more_than_its_size_is_given_up(serve, peer, monkeypatch):
    monkeypatch.setattr(http_client, "UNPACKED_ANYWAY", 100_000)
    web = await serve(answering(bomb(2_000_000), SSE, ("Content-Encoding", "gzip")))
    client = await peer(web.url)
    error = await client.error()
    assert isinstance(error, LimitReached)
    assert "decompresses to more than 100 times its size" in error.message
    assert sum(map(client.sink.journal.index.size, range(1, len(client.sink.journal) + 1))) < 300_000


async def test_what_is_small_enough_unpacked_may_be_packed_as_tightly_as_it_likes(serve, peer):
    web = await serve(answering(bomb(2_000_000), SSE, ("Content-Encoding", "gzip")))
    client = await peer(web.url)
    assert (await client.call("ping"))["result"] == {"ok": True}


@pytest.mark.slow
async def test_8_mib_are_unpacked_from_any_size_and_no_more(serve, peer):
    web = await serve(answering(bomb(8_300_000), SSE, ("Content-Encoding", "gzip")))
    client = await peer(web.url)
    assert (await client.call("ping"))["result"] == {"ok": True}
    web = await serve(answering(bomb(8_500_000), SSE, ("Content-Encoding", "gzip")))
    client = await peer(web.url)
    assert isinstance(await client.error(), LimitReached)


async def test_a_packed_body_is_delivered_in_pieces_and_others_have_their_turn_between(serve, peer, monkeypatch):
    monkeypatch.setattr(http_client, "PIECE", 1000)
    turns = []
    events = b"".join(b'data: {"jsonrpc":"2.0","method":"notifications/%d"}\n\n' % n for n in range(1000))
    answer = b'data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n'
    web = await serve(answering(gzip.compress(events + answer), SSE, ("Content-Encoding", "gzip")))
    client = await peer(web.url)

    async def turn():
        while True:
            turns.append(len(client.sink.frames))
            await asyncio.sleep(0)

    others = asyncio.create_task(turn())
    await client.call("ping")
    others.cancel()
    assert len({count for count in turns if count}) > 20


# Cookies


def behind_a_balancer(request, reply):
    """A server whose balancer finds the node of a session by a cookie."""
    if request.rpc_method == "initialize":
        reply.result(request, {"protocolVersion": "2025-11-25"}, ("Set-Cookie", "NODE=7; Path=/; HttpOnly"))
    elif "NODE=7" not in (request.field("cookie") or ""):
        reply.body(404)
    else:
        echo(request, reply)


async def test_a_cookie_of_the_endpoint_is_sent_back(serve, peer):
    web = await serve(behind_a_balancer)
    client = await peer(web.url)
    await client.call("initialize")
    assert (await client.call("tools/list"))["result"] == {"method": "tools/list"}
    heads = [event for event in client.sink.journal.events() if event.kind == Kind.HTTP and event.dir == Dir.SEND]
    assert "NODE=7" not in str([event.fields for event in heads]), "a recording has no cookies"


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ([], ""),
        (["a=1", "b=2; Path=/mcp"], "a=1; b=2"),
        (["a=1", "a=2"], "a=2"),
        (["a=1", "a=; Max-Age=0"], ""),
        (["a=1; Path=/other"], ""),
        (["a=1; Domain=other.example"], ""),
        (["a=1; Domain=host.example"], "a=1"),
        (["no cookie", "=x", "a=b\x00c"], ""),
        ([f"a={'x' * 5000}"], ""),
    ],
)
def test_which_cookies_are_sent(given, sent):
    cookies = Cookies()
    for header in given:
        cookies.keep(header, "host.example")
    assert cookies.header("/mcp") == sent


async def test_a_cookie_that_is_a_secret_is_in_no_recording_although_the_server_repeats_it(serve, peer):
    def repeats(request, reply):
        reply.result(request, {"got": [request.field("cookie"), "k7fq2x9d"]}, ("Set-Cookie", "NODE=k7fq2x9d; Path=/"))

    client = await peer((await serve(repeats)).url)
    await client.call("initialize")
    await client.call("tools/list")
    events = [f"{event.fields} {event.text}" for event in client.sink.journal.events()]
    assert "NODE=‹redacted " in str(events)
    assert "k7fq2x9d" not in str(events)


def test_cookies_that_are_secrets():
    cookies = Cookies()
    assert cookies.keep("theme=dark; Path=/", "h") == []
    assert cookies.keep("a=k7fq2x9d; Path=/", "h") == ["k7fq2x9d"]
    assert cookies.keep("a=k7fq2x9d", "h") == [], "it is held already"
    assert sum(len(cookies.keep(f"a=k7fq2x9d{n}", "h")) for n in range(100)) == MAX_COOKIE_SECRETS - 1


def test_the_users_own_cookie_wins_and_many_are_not_kept():
    cookies = Cookies()
    for n in range(200):
        cookies.keep(f"c{n}=1", "host.example")
    assert cookies.header("/mcp", "c1=mine; d=2").startswith("c1=mine; d=2; c0=1; c2=1")
    assert cookies.header("/mcp").count("=") == 50

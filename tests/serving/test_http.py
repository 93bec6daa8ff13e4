"""The HTTP endpoint: requests become messages of sessions, answers go to the right client."""

import asyncio
import json
import os

import pytest

from inspector.errors import RecordingError, UsageError
from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import Shape
from inspector.serving.http import MAX_SESSIONS, HttpServer
from inspector.serving.http_connection import ConnectionLimits
from inspector.serving.http_session import event
from tests.serving.scripted_handler import PATIENCE, Web, initialize, parse, request, until

MODERN = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}


@pytest.fixture
async def web():
    made = []

    async def start(**how):
        made.append(await Web(**how).start())
        return made[-1]

    yield start
    for server in made:
        await server.aclose()


async def begun(web, revision="2025-11-25"):
    """The id of a new session."""
    status, fields, _ = await web.ask(body=initialize(revision))
    assert status == 200
    return fields["mcp-session-id"]


# Answers


async def test_initialize_begins_a_session_whose_id_leads_back_to_it(web):
    web = await web()
    status, fields, body = await web.ask(body=initialize())
    assert (status, fields["content-type"]) == (200, "application/json")
    assert json.loads(body)["result"] == {"protocolVersion": "2025-11-25"}
    id = fields["mcp-session-id"]
    assert len(id) == 32
    status, fields, body = await web.ask(body=jsonrpc.request(7, "json", {"a": 1}), Mcp_Session_Id=id)
    assert json.loads(body) == {"jsonrpc": "2.0", "id": 7, "result": {"a": 1}}
    assert "mcp-session-id" not in fields
    (handler,) = web.handlers
    assert [reply.channel for reply in handler.replies] == ["post-1", "post-2"]
    assert handler.arrived[1].head.field("MCP-session-ID") == id


async def test_several_messages_are_events_of_a_stream_that_ends_with_the_answer(web):
    web = await web()
    id = await begun(web)
    status, fields, body = await web.ask(body=jsonrpc.request(1, "stream", {"count": 2}), Mcp_Session_Id=id)
    assert (status, fields["content-type"]) == (200, "text/event-stream")
    assert fields["x-accel-buffering"] == "no"
    events = [json.loads(line.removeprefix(b"data: ")) for line in body.strip().split(b"\n\n")]
    assert [event.get("method", event.get("id")) for event in events] == ["n", "n", 1]


async def test_what_wants_no_answer_is_accepted(web):
    web = await web()
    id = await begun(web)
    for message in ({"jsonrpc": "2.0", "method": "n"}, {"jsonrpc": "2.0", "id": 1, "result": {}}):
        assert (await web.ask(body=message, Mcp_Session_Id=id))[::2] == (202, b"")


def test_an_event_has_a_field_for_each_line_of_its_data():
    assert event(b"a") == b"data: a\n\n"
    assert event(b"a\r\nb\rc\n", "1.2") == b"id: 1.2\ndata: a\ndata: b\ndata: c\ndata: \n\n"


async def test_the_handler_chooses_status_and_fields(web):
    web = await web()
    asking = asyncio.ensure_future(web.ask(body=jsonrpc.request(1, "later", MODERN)))
    await until(lambda: web.handlers and web.handlers[0].replies)
    (reply,) = web.handlers[0].replies
    reply.begin("json", 404, (("Content-Type", "text/plain"), ("X-More", "ä")))
    reply.begin("sse")
    reply.send(b"not ")
    reply.send(b"here")
    reply.end()
    reply.end()
    reply.send(b"nor here")
    status, fields, body = await asking
    assert (status, fields["content-type"], body) == (404, "text/plain", b"not here")


async def test_large_bodies_pass_in_both_directions(web):
    web = await web()
    params = {"text": "x" * (20 << 20), **MODERN}
    _, _, body = await web.ask(body=jsonrpc.request(1, "json", params))
    assert json.loads(body)["result"] == params


# Sessions


async def test_a_session_that_is_not_known_is_reported_so_and_one_that_is_missing_too(web):
    web = await web()
    ask = jsonrpc.request(1, "json")
    assert (await web.ask(body=ask))[0] == 400
    status, _, body = await web.ask(body=ask, Mcp_Session_Id="unknown")
    assert status == 404
    assert "id" not in json.loads(body)
    assert (await web.ask("GET", Mcp_Session_Id="unknown"))[0] == 404
    assert (await web.ask("GET"))[0] == 400
    assert web.handlers == []


async def test_delete_ends_a_session_and_what_it_still_has_open(web):
    web = await web()
    id = await begun(web)
    asking = asyncio.ensure_future(web.ask(body=jsonrpc.request(1, "later"), Mcp_Session_Id=id))
    await until(lambda: len(web.handlers[0].replies) == 2)
    assert (await web.ask("DELETE", Mcp_Session_Id=id))[0] == 204
    with pytest.raises(IndexError):  # The connection is closed without a response.
        await asking
    assert web.handlers[0].gone is True
    assert (await web.ask(body=jsonrpc.request(1, "json"), Mcp_Session_Id=id))[0] == 404


async def test_requests_of_an_era_without_sessions_share_a_handler_for_each_query(web):
    web = await web()
    for path in ("/mcp", "/mcp?client=a", "/mcp", "/mcp?client=b"):
        status, fields, _ = await web.ask(body=jsonrpc.request(1, "json", MODERN), path=path)
        assert status == 200
        assert "mcp-session-id" not in fields
    assert [len(handler.arrived) for handler in web.handlers] == [2, 1, 1]


async def test_a_client_that_starts_again_has_a_new_handler_unless_the_old_one_is_busy(web):
    web = await web()
    discover = jsonrpc.request(1, "server/discover", MODERN)
    await web.ask(body=discover)
    await web.ask(body=discover)
    assert [handler.gone for handler in web.handlers] == [True, None]
    _, writer = await web.connect()
    writer.write(request(body=jsonrpc.request(2, "later", MODERN)))
    await until(lambda: len(web.handlers[1].replies) == 2)
    await web.ask(body=discover)
    assert len(web.handlers) == 2


async def test_without_sessions_no_client_gets_an_id(web):
    web = await web(sessions=False, listening=False)
    status, fields, _ = await web.ask(body=initialize())
    assert status == 200
    assert "mcp-session-id" not in fields
    assert (await web.ask(body=jsonrpc.request(1, "json")))[0] == 200
    assert (await web.ask("GET"))[0] == 405
    assert (await web.ask("DELETE"))[0] == 405
    assert len(web.handlers) == 1


async def test_sessions_are_not_kept_without_end(web):
    web = await web()
    first = await begun(web)
    for number in range(MAX_SESSIONS):
        web.end._new_session(jsonrpc.request(number, "initialize", {}), type("R", (), {"always": ()})())
    assert len(web.end) == MAX_SESSIONS
    assert (await web.ask(body=jsonrpc.request(1, "json"), Mcp_Session_Id=first))[0] == 404
    await until(lambda: web.handlers[0].gone)


# Listening


async def listening(web, id, **fields):
    """A GET stream: its reader, behind the head."""
    reader, writer = await web.connect()
    writer.write(request("GET", Accept="text/event-stream", Mcp_Session_Id=id, **fields))
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)
    assert head.startswith(b"HTTP/1.1 200")
    return reader, writer


async def next_event(reader):
    """The next event of a stream."""
    size = int(await asyncio.wait_for(reader.readline(), PATIENCE), 16)
    data = await reader.readexactly(size)
    await reader.readline()
    return data


async def test_what_belongs_to_no_request_waits_for_a_listener_and_goes_to_the_newest(web):
    web = await web()
    id = await begun(web)
    client = web.handlers[0].client
    assert client.channel == "get-0"
    client.push(b"early")
    first, writer = await listening(web, id)
    assert await next_event(first) == b"data: early\n\n"
    second, _ = await listening(web, id)
    client.push(b"for the second")
    assert await next_event(second) == b"data: for the second\n\n"
    assert client.channel != "get-0"
    writer.close()
    await client.drain()


async def test_a_listener_that_leaves_is_followed_by_the_one_before(web):
    web = await web()
    id = await begun(web)
    client = web.handlers[0].client
    first, _ = await listening(web, id)
    _, writer = await listening(web, id)
    writer.close()
    await until(lambda: len(web.end._sessions[id]._listening) == 1)
    client.push(b"again")
    assert await next_event(first) == b"data: again\n\n"


async def test_a_stream_that_breaks_off_can_be_resumed_where_it_was(web):
    web = await web(resumable=True)
    id = await begun(web)
    reader, writer = await web.connect()
    writer.write(request(body=jsonrpc.request(1, "later"), Mcp_Session_Id=id))
    await until(lambda: len(web.handlers[0].replies) == 2)
    reply = web.handlers[0].replies[1]
    reply.send(b"one")
    reply.send(b"two")
    await reader.readuntil(b"\r\n\r\n")
    assert await next_event(reader) == b"id: 1.1\ndata: \n\n"
    assert await next_event(reader) == b"id: 1.2\ndata: one\n\n"
    reply.cut(retry=50)
    rest = await reader.read()
    assert b"retry: 50\n\n" in rest
    assert not rest.endswith(b"0\r\n\r\n")
    assert reply.open
    reply.send(b"three")
    resumed, _ = await listening(web, id, Last_Event_Id="1.2")
    reply.send(b"four")
    reply.end()
    parts = [await next_event(resumed) for _ in range(3)]
    assert b"".join(parts) == b"id: 1.3\ndata: two\n\nid: 1.4\ndata: three\n\nid: 1.5\ndata: four\n\n"
    late, _ = await listening(web, id, Last_Event_Id="1.4")
    assert await next_event(late) == b"id: 1.5\ndata: four\n\n"
    assert await late.readline() == b"0\r\n"


@pytest.mark.parametrize("last", ["1", "x.y", "9.9", "1.99999999999999999999", ".", ""])
async def test_an_unknown_event_id_begins_a_new_stream(web, last):
    web = await web(resumable=True)
    id = await begun(web, "2025-06-18")
    reader, _ = await listening(web, id, Last_Event_Id=last)
    web.handlers[0].client.push(b"new")
    assert (await next_event(reader)).endswith(b"data: new\n\n")


async def test_the_handler_is_reported_when_the_client_leaves_an_answer(web):
    web = await web()
    _, writer = await web.connect()
    writer.write(request(body=jsonrpc.request(1, "later", MODERN)))
    await until(lambda: web.handlers and web.handlers[0].replies)
    (reply,) = web.handlers[0].replies
    reply.send(b"first")
    writer.close()
    await until(lambda: web.handlers[0].lost == [reply])
    assert not reply.open
    reply.send(b"without a listener")
    reply.end()


async def test_a_handler_can_drop_its_client(web):
    web = await web()
    id = await begun(web)
    reader, _ = await listening(web, id)
    web.handlers[0].client.drop()
    assert await asyncio.wait_for(reader.read(), PATIENCE) == b""
    await until(lambda: web.handlers[0].gone)
    assert len(web.end) == 0


@pytest.mark.parametrize("begin", ["json", "sse", None])
async def test_an_answer_that_is_cut_has_no_end(web, begin):
    web = await web()
    asking = asyncio.ensure_future(web.raw(request(body=jsonrpc.request(1, "later", MODERN))))
    await until(lambda: web.handlers and web.handlers[0].replies)
    (reply,) = web.handlers[0].replies
    if begin:
        reply.begin(begin)
    reply.cut(b'{"half' if begin else b"")
    answer = await asking
    assert answer.endswith(b'{"half\r\n') if begin else answer == b""
    assert not reply.open


# Allowed hosts and origins


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "localhost:99", "[::1]:8000", "127.9.9.9"])
async def test_names_of_this_machine_may_be_asked_for(web, host):
    web = await web()
    assert (await web.ask(body=initialize(), host=host))[0] == 200


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "10.0.0.1", "", "127.0.0.1.nip.io"])
async def test_other_names_may_not(web, host):
    web = await web()
    status, _, body = await web.ask(body=initialize(), host=host)
    assert status == 403
    assert json.loads(body)["error"]["code"] == jsonrpc.INVALID_REQUEST
    assert web.handlers == []


async def test_a_name_that_was_allowed_may_be_asked_for(web):
    web = await web(names=("mock.example",))
    assert (await web.ask(body=initialize(), host="mock.example:80"))[0] == 200


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost:6274", 200),
        ("https://127.0.0.1", 200),
        ("http://evil.example", 403),
        ("null", 403),
        ("x", 403),
    ],
)
async def test_pages_of_this_machine_may_ask_and_are_reported_so(web, origin, status):
    web = await web()
    answered, fields, _ = await web.ask(body=initialize(), Origin=origin)
    assert answered == status
    assert fields.get("access-control-allow-origin") == (origin if status == 200 else None)


async def test_a_browser_is_reported_beforehand_what_it_may_send(web):
    web = await web()
    requested = "content-type, mcp-session-id, mcp-param-x"
    status, fields, body = await web.ask(
        "OPTIONS", Origin="http://localhost:1", Access_Control_Request_Headers=requested, Content_Length=None
    )
    assert (status, body) == (204, b"")
    assert fields["access-control-allow-headers"] == requested
    assert "POST" in fields["access-control-allow-methods"]
    _, fields, _ = await web.ask("OPTIONS", Access_Control_Request_Headers="bad\x0bname")
    assert "access-control-allow-headers" not in fields


@pytest.mark.parametrize(
    ("method", "path", "fields", "status"),
    [
        ("GET", "/", {}, 404),
        ("POST", "/mcp/", {}, 404),
        ("PUT", "/mcp", {}, 405),
        ("HEAD", "/mcp", {}, 405),
        ("CONNECT", "/mcp", {}, 405),
        ("GET", "/mcp", {"MCP_Protocol_Version": "2026-07-28"}, 405),
        ("POST", "/mcp", {"Content_Type": "text/plain"}, 415),
        ("POST", "/mcp", {"Accept": "text/html"}, 406),
        ("GET", "/mcp", {"Accept": "application/json"}, 406),
        ("POST", "http://localhost/mcp", {"Accept": "*/*"}, 200),
    ],
)
async def test_what_is_requested_must_be_there(web, method, path, fields, status):
    web = await web()
    answered, head, body = await web.ask(
        method, jsonrpc.encode(initialize()) if method == "POST" else b"", path, **fields
    )
    assert answered == status
    if status == 405:
        assert "POST" in head["allow"]
    if method == "HEAD":
        assert body == b""


# Connections


async def test_a_connection_serves_one_request_after_the_other_also_sent_at_once(web):
    web = await web()
    asks = [request(body=jsonrpc.request(n, "json", MODERN)) for n in range(3)]
    last = request("PUT", Connection="close")
    answer = await web.raw(b"".join(asks) + last)
    assert answer.count(b"HTTP/1.1 200 OK") == 3
    assert answer.count(b"HTTP/1.1 405") == 1
    assert answer.index(b'"id":0') < answer.index(b'"id":1') < answer.index(b'"id":2')


async def test_who_asks_on_without_listening_is_read_no_further(web):
    web = await web(limits=ConnectionLimits(head=4096))
    reader, writer = await web.connect()
    writer.write(request(body=jsonrpc.request(1, "later", MODERN)))
    await until(lambda: web.handlers and web.handlers[0].replies)
    for number in range(16):
        writer.write(request(body=jsonrpc.request(number, "later", {"text": "x" * (1 << 20), **MODERN})))
    await asyncio.sleep(0.1)
    assert writer.transport.get_write_buffer_size() > 0
    for number in range(17):
        await until(lambda number=number: len(web.handlers[0].replies) > number)
        web.handlers[0].replies[number].end()
        await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)


async def test_leave_to_send_a_body_is_given_or_refused(web):
    web = await web()
    body = jsonrpc.encode(initialize())
    whole = request(body=body, Expect="100-continue", Connection="close")
    reader, writer = await web.connect()
    writer.write(whole[: -len(body)])
    assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
    writer.write(body)
    assert b'"result"' in await reader.read()
    refused = request(path="/elsewhere", body=body, Expect="100-continue")[: -len(body)]
    assert parse(await web.raw(refused))[0] == 404


async def test_a_body_that_is_too_large_is_refused_before_it_comes_and_while_it_comes(web):
    web = await web(limits=ConnectionLimits(body=1000))
    status, fields, _ = parse(await web.raw(request(Content_Length="1001")))
    assert (status, fields["connection"]) == (413, "close")
    assert (await web.ask(Content_Length="9" * 16))[0] == 413
    chunk = b"400\r\n" + b"x" * 1024 + b"\r\n"
    chunked = request(Content_Length=None, Transfer_Encoding="chunked") + chunk * 2
    assert parse(await web.raw(chunked))[0] == 413
    assert web.handlers == []


async def test_a_body_in_chunks_is_a_body(web):
    web = await web()
    body = jsonrpc.encode(initialize())
    chunked = request(Content_Length=None, Transfer_Encoding="chunked", Connection="close")
    chunked += b"".join(b"1\r\n%c\r\n" % octet for octet in body) + b"0\r\n\r\n"
    assert parse(await web.raw(chunked))[0] == 200


@pytest.mark.parametrize(
    ("bytes_", "status"),
    [
        (b"GARBAGE\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        (b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", 400),
        (
            b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            400,
        ),
        (b"POST /mcp HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        (b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
        (b"GET /mcp HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * (1 << 17) + b"\r\n\r\n", 431),
        (b"GET /mcp HTTP/1.1\r\nHost: a\r\nHost: localhost\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + os.urandom(200) + b"\r\n\r\n", 400),
    ],
    ids=("word", "no-host", "lengths", "negative", "both", "old", "gzip", "long-head", "hosts", "tls"),  # one is random
)
async def test_what_is_not_a_request_is_answered_as_such_and_the_connection_closed(web, bytes_, status):
    web = await web()
    answer = await web.raw(bytes_)
    assert parse(answer)[0] == status
    assert b"bytearray" not in answer


async def test_an_old_client_is_answered_until_the_connection_closes(web):
    web = await web()
    body = jsonrpc.encode(jsonrpc.request(1, "stream", {"count": 1, **MODERN}))
    head = b"POST /mcp HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    answer = await web.raw(head % len(body) + body)
    assert b"Transfer-Encoding" not in answer
    assert answer.count(b"data: ") == 2


async def test_half_a_body_is_handed_on_as_what_it_is(web):
    web = await web()
    _, writer = await web.connect()
    writer.write(request(body=initialize())[:-5])
    await writer.drain()
    await until(lambda: any(connection.waits and connection.waits[0] for connection in web.end.connections))
    writer.close()
    await until(lambda: web.handlers and web.handlers[0].arrived)
    (arrived,) = web.handlers[0].arrived
    assert (arrived.cut, arrived.shape) == (True, Shape.NONE)


async def test_who_takes_too_long_is_reported_and_who_only_waits_is_let_go(web):
    web = await web(limits=ConnectionLimits(patience=0.05, idle=0.05))
    assert await web.raw(b"") == b""
    assert parse(await web.raw(b"POST /mcp HTT"))[0] == 408
    assert parse(await web.raw(request(Content_Length="10") + b"12345"))[0] == 408
    kept = await web.raw(request(body=jsonrpc.request(1, "json", MODERN)))
    assert kept.startswith(b"HTTP/1.1 200")


async def test_more_requests_at_a_time_than_connections_are_refused(web):
    web = await web(limits=ConnectionLimits(connections=2))
    for number in range(2):
        _, writer = await web.connect()
        writer.write(request(body=jsonrpc.request(number, "later", MODERN)))
    await until(lambda: sum(len(handler.replies) for handler in web.handlers) == 2)
    assert parse(await web.raw(b""))[0] == 503


async def test_a_connection_without_a_request_gives_way_to_a_new_one(web):
    """One without any byte goes first, then one whose request does not end."""
    web = await web(limits=ConnectionLimits(connections=3))

    async def begin():
        reader, writer = await web.connect()
        writer.write(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        return reader

    def begun():
        return sum(connection.waits is not None and connection.waits[0] for connection in web.end.connections)

    _, writer = await web.connect()
    writer.write(request(body=jsonrpc.request(1, "later", MODERN)))
    await until(lambda: web.handlers and web.handlers[0].replies)
    slow, (idle, _) = await begin(), await web.connect()
    await until(lambda: begun() == 1)
    assert (await web.ask(body=jsonrpc.request(2, "json", MODERN)))[0] == 200
    assert await asyncio.wait_for(idle.read(), PATIENCE) == b""
    await begin()
    await until(lambda: begun() == 2)
    assert (await web.ask(body=jsonrpc.request(3, "json", MODERN)))[0] == 200
    assert await asyncio.wait_for(slow.read(), PATIENCE) == b""
    assert web.handlers[0].replies[0].open


async def test_a_client_that_takes_nothing_is_given_up(web):
    web = await web(limits=ConnectionLimits(unsent=1 << 20))
    _, writer = await web.connect()
    writer.transport.pause_reading()
    writer.write(request(body=jsonrpc.request(1, "later", MODERN)))
    await until(lambda: web.handlers and web.handlers[0].replies)
    (reply,) = web.handlers[0].replies
    for _ in range(60):
        reply.send(b"x" * (1 << 20))
    await until(lambda: not web.end.connections)
    await reply.drain()


async def test_a_handler_can_wait_until_a_client_has_read(web):
    web = await web()
    reader, writer = await web.connect()
    writer.transport.pause_reading()
    writer.write(request(body=jsonrpc.request(1, "later", MODERN), Connection="close"))
    await until(lambda: web.handlers and web.handlers[0].replies)
    (reply,) = web.handlers[0].replies
    reply.send(b"x" * (32 << 20))
    waiting = asyncio.ensure_future(reply.drain())
    await asyncio.sleep(0)
    assert not waiting.done()
    writer.transport.resume_reading()
    reply.end()
    await asyncio.wait_for(asyncio.gather(waiting, reader.read()), PATIENCE)


async def test_a_client_that_stalls_is_given_up_after_a_while(web):
    web = await web(limits=ConnectionLimits(stall=0.05))
    _, writer = await web.connect()
    writer.transport.pause_reading()
    writer.write(request(body=jsonrpc.request(1, "later", MODERN)))
    await until(lambda: web.handlers and web.handlers[0].replies)
    web.handlers[0].replies[0].send(b"x" * (32 << 20))
    await until(lambda: not web.end.connections)


async def test_quiet_streams_say_that_they_are_there(web):
    web = await web(limits=ConnectionLimits(keep_alive=0.01))
    id = await begun(web)
    reader, _ = await listening(web, id)
    assert (await next_event(reader)).startswith(b":")


async def test_closing_lets_answers_go_out_and_ends_everything(web):
    web = await web()
    id = await begun(web)
    reader, _ = await listening(web, id)
    handler = web.handlers[0]
    handler.client.push(b"last words")
    await web.end.close()
    await web.end.close()
    assert b"last words" in await asyncio.wait_for(reader.read(), PATIENCE)
    assert handler.gone is True
    assert not web.end.connections
    with pytest.raises(OSError):
        await web.connect()


async def test_an_address_that_is_taken_is_reported_so(web):
    web = await web()
    with pytest.raises(UsageError, match="another process"):
        await HttpServer(lambda client: None, "127.0.0.1", web.port).start()
    with pytest.raises(UsageError):
        await HttpServer(lambda client: None, "no-such-host.invalid", 0).start()


@pytest.mark.parametrize(
    ("error", "reason"),
    [(RecordingError("The disk is full."), b"The disk is full."), (OSError(28, "x", "/a"), b"no space left on device")],
)
async def test_a_client_that_cannot_be_taken_is_reported(web, error, reason):
    web = await web()

    def full(client):
        raise error

    web.end._new_handler = full
    status, _, body = await web.ask(body=initialize())
    assert (status, b"Cannot open a session: " + reason in body) == (503, True)


async def test_a_name_with_several_addresses_has_one_port_on_all_of_them():
    end = HttpServer(lambda client: None, "localhost", 0)
    await end.start()
    assert {socket.getsockname()[1] for socket in end._server.sockets} == {int(end.url.split(":")[2].partition("/")[0])}
    await end.close()

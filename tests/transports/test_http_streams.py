"""Streamable HTTP: answers that are event streams, their resumption, and the standing stream."""

import asyncio
import json

import pytest

from inspector.errors import AuthorizationNeeded, HttpError, ServerError, SessionLost
from inspector.journal.format import Kind
from inspector.transports import http, http_exchange, http_stream, http_tasks, reading_pause
from inspector.transports.http_stream import EventStream
from tests.transports.scripted_http import JSON, SSE, answer_to


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Reconnect after milliseconds instead of seconds."""
    monkeypatch.setattr(http_stream, "DEFAULT_RETRY", 2)
    monkeypatch.setattr(http_stream, "MIN_RETRY", 1)
    monkeypatch.setattr(http, "STANDING", http_stream.STANDING._replace(longest=0.02))


def note(text):
    return {"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": text}}


async def connected(peer, url, *, listen=False, resumable=True, **options):
    client = await peer(url, **options)
    client.transport.agreed("2025-11-25", version_header=True, resumable=resumable, listen=listen)
    return client


class Deaf:
    """A sink that keeps nothing."""

    def sse(self, *_, **__): ...


def notes(sink):
    return [frame.message["params"]["data"] for frame in sink.frames if "method" in frame.message]


# The answer's own stream


async def test_messages_of_one_read_arrive_in_one_call_and_belong_to_the_request(serve, peer):
    def streams(request, reply):
        events = [note(1), note(2), answer_to(request, {"ok": True})]
        reply.stream()
        for message in events:
            reply.event(message)
        reply.end()

    web = await serve(streams)
    client = await peer(web.url)
    assert (await client.call("tools/call"))["result"] == {"ok": True}
    assert [len(messages) for _, messages, _, _ in client.sink.batches] == [3]
    index = client.sink.journal.index
    first = client.sink.frames[0].n
    assert (index.channel(first), index.parent(first)) == ("post-1", 1)
    await client.sink.until(lambda: client.sink.lives("stream-end"))
    assert client.sink.lives("stream-end")[0].fields["events"] == 3


@pytest.mark.parametrize("eol", ["\n", "\r", "\r\n"])
async def test_each_event_is_there_before_the_next_one_comes(serve, peer, eol):
    go_on = asyncio.Event()

    async def streams(request, reply):
        reply.stream()
        reply.chunk(f"event: message{eol}data: {json.dumps(note('first'))}{eol}{eol}")
        await go_on.wait()
        reply.chunk(f"data: {json.dumps(answer_to(request))}{eol}{eol}")
        reply.end()

    web = await serve(streams)
    client = await peer(web.url)
    call = client.request("tools/call")
    await client.sink.until(lambda: client.sink.frames)
    assert not call.done()
    go_on.set()
    await asyncio.wait_for(call, 60)


async def test_a_stream_cut_into_single_bytes(serve, peer):
    text = "\ufeff: hello\r\nid: 1\r\ndata: {json}\r\ndata: \r\nunknown: x\r\n\r\n"

    async def streams(request, reply):
        reply.head(200, SSE)
        for byte in text.replace("{json}", json.dumps(answer_to(request))).encode():
            reply.raw(bytes([byte]))
            await reply.writer.drain()
        reply.hang_up()

    web = await serve(streams)
    client = await peer(web.url)
    assert (await client.call("tools/call"))["id"] == 1
    assert client.sink.events(Kind.RPC)[1].raw.endswith("}\n")
    lines = "\n".join(event.raw for event in client.sink.events(Kind.SSE))  # the comments of one read are one event
    assert lines == ": hello\nunknown: x"


async def test_what_is_not_a_message_is_recorded_and_not_delivered(serve, peer):
    """C-HTTP-05, C-HTTP-17: priming, retry, comments, events of another type."""

    def streams(request, reply):
        reply.stream()
        reply.chunk(": keep-alive\n\n")
        reply.chunk("id: e-0\ndata:\n\n")
        reply.chunk("retry: 1500\n\n")
        reply.chunk('event: ping\ndata: {"type":"ping"}\n\n')
        reply.event(answer_to(request), id="e-1", event="message")
        reply.end()

    web = await serve(streams)
    client = await peer(web.url)
    await client.call("tools/call")
    assert len(client.sink.frames) == 1
    events = [(event.raw, event.fields) for event in client.sink.events(Kind.SSE)]
    assert events == [
        (": keep-alive", {}), ("", {"id": "e-0"}), ("", {"retry": 1500}), ('{"type":"ping"}', {"event": "ping"}),
    ]  # fmt: skip
    assert client.sink.events(Kind.RPC)[1].fields["sse"] == {"event": "message", "id": "e-1"}


async def test_a_message_under_a_foreign_event_type_is_delivered(serve, peer):
    def streams(request, reply):
        reply.stream()
        reply.event(answer_to(request), event="response")
        reply.end()

    web = await serve(streams)
    client = await peer(web.url)
    assert (await client.call("ping"))["id"] == 1


async def test_data_that_is_not_json_is_recorded_and_the_stream_goes_on(serve, peer):
    def streams(request, reply):
        reply.stream()
        reply.chunk(b"data: not json\n\ndata: \xff\xfe\n\n")
        reply.event(answer_to(request))
        reply.end()

    web = await serve(streams)
    client = await peer(web.url)
    await client.call("ping")
    assert [event.bytes for event in client.sink.events(Kind.INVALID)] == [b"not json", b"\xff\xfe"]


@pytest.mark.parametrize(
    ("id", "recorded"), [(b"\xe9\xff", "\ufffd\ufffd"), ("é-日".encode(), "é-日"), (b"a b", "a b")]
)
async def test_ids_are_sent_back_byte_for_byte(serve, peer, id, recorded):
    def streams(request, reply):
        reply.stream()
        if request.method == "POST":
            reply.chunk(b"id: " + id + b"\ndata: " + json.dumps(note("x")).encode() + b"\n\n")
        else:
            reply.event({"jsonrpc": "2.0", "id": 1, "result": {}})
        reply.end()

    web = await serve(streams)
    client = await connected(peer, web.url)
    await client.call("tools/call")
    assert web.requests[1].field("last-event-id").encode("latin-1") == id
    assert client.sink.events(Kind.RPC)[1].fields["sse"] == {"id": recorded}


async def test_an_error_stream_with_an_answer_of_another_id_is_an_error(serve, peer):
    def streams(request, reply):
        reply.stream(status=400)
        reply.event({"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "no"}})
        reply.end()

    web = await serve(streams)
    client = await peer(web.url)
    error = await client.error()
    assert isinstance(error, HttpError)
    assert error.status == 400


async def test_messages_after_the_answer_are_still_read(serve, peer):
    go_on = asyncio.Event()

    async def streams(request, reply):
        reply.stream()
        reply.event(answer_to(request))
        await go_on.wait()
        reply.event(note("late"))
        reply.hang_up()

    web = await serve(streams)
    client = await connected(peer, web.url)
    await client.call("tools/call")
    go_on.set()
    await client.sink.until(lambda: client.sink.lives("stream-end"))
    assert notes(client.sink) == ["late"]
    assert client.sink.failures == []
    assert len(web.requests) == 1


# Streams that end too soon


async def test_a_stream_that_ends_without_ids_before_the_answer_fails_the_request(serve, peer):
    def streams(request, reply):
        reply.stream()
        reply.event(note("x"))
        reply.end()

    web = await serve(streams)
    client = await connected(peer, web.url)
    error = await client.error("tools/call")
    assert "ended before the answer to tools/call" in error.message
    assert "No event had an id" in error.hint


async def test_what_an_unfinished_event_had_brought_is_recorded_as_cut(serve, peer):
    def breaks(request, reply):
        reply.stream()
        reply.chunk('data: {"jsonrpc":"2.0","id":1,"res')
        reply.hang_up()

    web = await serve(breaks)
    client = await connected(peer, web.url)
    error = await client.error("tools/call")
    assert "is incomplete" in error.message
    cut = client.sink.events(Kind.INVALID)[0]
    assert (cut.raw, cut.fields["cut"]) == ('{"jsonrpc":"2.0","id":1,"res', True)


async def test_an_answer_whose_last_line_end_is_missing_is_taken(serve, peer):
    def forgets(request, reply):
        reply.body(200, "data: " + json.dumps(answer_to(request)), SSE)

    web = await serve(forgets)
    client = await connected(peer, web.url)
    assert (await client.call("tools/call"))["result"] == {}
    assert client.sink.events(Kind.RPC)[1].fields["cut"] is True
    await client.sink.until(lambda: client.sink.lives("stream-end"))
    assert client.sink.failures == []


@pytest.mark.parametrize("end", ["clean", "broken"])
async def test_a_stream_that_ends_after_an_id_is_resumed_by_get(serve, peer, end):
    """C-HTTP-15, C-HTTP-16, C-HTTP-17."""

    def polls(request, reply):
        reply.stream()
        if request.method == "POST":
            reply.chunk("id: e-0\nretry: 30\ndata:\n\n")
            reply.event(note("one"), id="e-1")
        elif request.field("last-event-id") == "e-1":
            reply.event(note("two"), id="e-2")
        else:
            reply.event({"jsonrpc": "2.0", "id": 1, "result": {"ok": 1}}, id="e-3")
        if end == "clean":
            reply.end()
        else:
            reply.hang_up()

    web = await serve(polls)
    client = await connected(peer, web.url)
    assert (await client.call("tools/call"))["result"] == {"ok": 1}
    assert notes(client.sink) == ["one", "two"]
    asked = [(request.method, request.field("last-event-id")) for request in web.requests]
    assert asked == [("POST", None), ("GET", "e-1"), ("GET", "e-2")]
    assert web.requests[1].field("accept") == "text/event-stream"
    assert web.requests[1].field("mcp-protocol-version") == "2025-11-25"
    reconnects = client.sink.lives("reconnect")
    assert [event.fields["after"] for event in reconnects] == ["e-1", "e-2"]
    assert [event.fields["waited_ms"] for event in reconnects] == [30, 30]
    assert {event.ch for event in client.sink.events()} == {"post-1"}


async def test_polling_goes_on_as_long_as_it_brings_something(serve, peer):
    count = http_exchange.RESUME_ATTEMPTS + 3

    def polls(request, reply):
        seen = int(request.field("last-event-id") or 0)
        reply.stream()
        if seen < count:
            reply.chunk(f"id: {seen + 1}\nretry: 1\ndata:\n\n")
        else:
            reply.event({"jsonrpc": "2.0", "id": 1, "result": {}})
        reply.end()

    web = await serve(polls)
    client = await connected(peer, web.url)
    assert (await client.call("tools/call"))["result"] == {}
    assert len(web.requests) == count + 1


@pytest.mark.parametrize("how", ["empty stream", "same id", "error 500", "reset"])
async def test_resuming_in_vain_is_given_up(serve, peer, how):
    def vain(request, reply):
        if request.method == "GET" and how == "error 500":
            reply.body(500)
        elif request.method == "GET" and how == "reset":
            reply.reset()
        else:
            reply.stream()
            if request.method == "POST" or how == "same id":
                reply.chunk("id: 1\nretry: 1\ndata:\n\n")
            reply.end()

    web = await serve(vain)
    client = await connected(peer, web.url)
    error = await client.error("tools/call")
    assert isinstance(error, HttpError)
    assert "5 attempts" in error.hint
    assert len(web.requests) == 1 + http_exchange.RESUME_ATTEMPTS


async def test_an_abandoned_request_is_not_resumed(serve, peer):
    go_on = asyncio.Event()

    async def streams(request, reply):
        reply.stream()
        reply.event(note("x"), id="1")
        await go_on.wait()
        reply.end()

    web = await serve(streams)
    client = await connected(peer, web.url)
    client.request("tools/call")
    await client.sink.until(lambda: client.sink.frames)
    client.transport.abandon(1)
    go_on.set()
    await client.sink.until(lambda: not client.transport._tasks)
    assert len(web.requests) == 1


async def test_a_server_that_cannot_resume_says_so_once(serve, peer):
    def refuses(request, reply):
        if request.method == "GET":
            reply.body(405)
        else:
            reply.stream()
            reply.event(note("x"), id="1")
            reply.end()

    web = await serve(refuses)
    client = await connected(peer, web.url)
    error = await client.error("tools/call")
    assert "cannot be resumed: the server answered 405" in error.message
    assert len(web.requests) == 2


@pytest.mark.parametrize(("status", "kind"), [(404, SessionLost), (401, AuthorizationNeeded)])
async def test_what_a_resumption_says_about_session_and_authorization_is_heard(serve, peer, status, kind):
    def refuses(request, reply):
        if request.method == "GET":
            reply.body(status)
        elif request.rpc_method == "initialize":
            reply.result(request, {}, ("Mcp-Session-Id", "session-1"))
        else:
            reply.stream()
            reply.event(note("x"), id="1")
            reply.end()

    web = await serve(refuses)
    client = await connected(peer, web.url)
    await client.call("initialize")
    assert isinstance(await client.error("tools/call"), kind)


async def test_no_stream_is_resumed_where_the_revision_has_no_resumption(serve, peer):
    """C-HTTP-37, C-MOD-12."""

    def streams(request, reply):
        reply.stream()
        reply.event(note("x"), id="1")
        reply.end()

    web = await serve(streams)
    client = await connected(peer, web.url, resumable=False)
    error = await client.error("tools/call")
    assert "cannot resume a stream" in error.hint
    assert len(web.requests) == 1


@pytest.mark.parametrize(
    ("asked", "waits"),
    [(None, 2), ("0", 1), ("250", 250), ("60000", 60000), ("999999999999", 60000), ("-5", 2), ("x", 2)],
)
def test_what_a_server_asks_us_to_wait_is_bounded(asked, waits):
    stream = EventStream(Deaf(), "x", "host", 1000)
    stream.feed(f"retry: {asked}\n\n".encode() if asked else b"\n")
    assert stream.retry == waits


@pytest.mark.parametrize("id", ["a\x01b", "a\tb", "x" * 5000, "  ", ""])
def test_an_id_that_no_header_can_carry_resumes_nothing(id):
    class Sink:
        def sse(self, *_, **__): ...

    stream = EventStream(Sink(), "x", "host", 1000)
    stream.feed(f"id: {id}\n\n".encode())
    assert stream.resume_id == (id if id == "a\tb" else "")


async def test_a_request_that_was_only_accepted_may_be_answered_on_the_standing_stream(serve, peer):
    standing = asyncio.Event()
    asked = asyncio.Event()

    async def elsewhere(request, reply):
        if request.method == "POST":
            reply.body(202)
            asked.set()
            return
        reply.stream()
        standing.set()
        await asked.wait()
        reply.event({"jsonrpc": "2.0", "id": 1, "result": {}})
        await asyncio.sleep(60)

    web = await serve(elsewhere)
    client = await connected(peer, web.url, listen=True)
    await standing.wait()
    await client.sink.until(lambda: client.transport.listening)
    assert (await client.call("tools/list"))["result"] == {}
    assert client.sink.lives("accepted")


# The standing stream


async def test_the_standing_stream_brings_what_belongs_to_no_request(serve, peer):
    """C-HTTP-14, C-HTTP-19."""

    async def pushes(request, reply):
        reply.stream()
        reply.chunk(": ok\n\n")
        reply.event(note("pushed"))
        await asyncio.sleep(60)

    web = await serve(pushes)
    client = await connected(peer, web.url, listen=True)
    await client.sink.until(lambda: client.sink.frames)
    assert (web.requests[0].method, web.requests[0].field("accept")) == ("GET", "text/event-stream")
    assert web.requests[0].field("content-type") is None
    assert client.sink.frames[0].channel == "get-1"
    assert client.transport.listening


@pytest.mark.parametrize("status", [405, 404, 400, 401, 501])
async def test_a_server_without_a_standing_stream_is_asked_once(serve, peer, status, monkeypatch):
    """C-HTTP-14: never an error."""

    def refuses(request, reply):
        if request.method == "GET":
            reply.json({"error": {"message": "\x1b[2Jno"}}, status)
        else:
            reply.result(request)

    web = await serve(refuses)
    client = await connected(peer, web.url, listen=True)
    expected = "listen-failed" if status >= 500 else "not-listening"
    await client.sink.until(lambda: client.sink.lives(expected))
    fields = client.sink.lives(expected)[0].fields
    assert fields["status"] == status
    assert "\x1b" not in fields["body"]
    assert client.sink.failures == []
    assert (await client.call("ping"))["id"] == 1


async def test_a_get_that_answers_something_else_than_a_stream_is_no_standing_stream(serve, peer):
    web = await serve(lambda request, reply: reply.body(200, "<html>", ("Content-Type", "text/html")))
    client = await connected(peer, web.url, listen=True)
    await client.sink.until(lambda: client.sink.lives("not-listening"))
    assert len(web.requests) == 1


@pytest.mark.parametrize("resumable", [True, False])
async def test_a_standing_stream_that_ends_is_opened_again_after_what_it_brought(serve, peer, resumable):
    async def ends(request, reply):
        reply.stream()
        if len(web.requests) < 3:
            reply.event(note(len(web.requests)), id=f"g-{len(web.requests)}")
            reply.hang_up()
        else:
            await asyncio.sleep(60)

    web = await serve(ends)
    client = await connected(peer, web.url, listen=True, resumable=resumable)
    await client.sink.until(lambda: len(web.requests) == 3)
    ids = [request.field("last-event-id") for request in web.requests]
    assert ids == ([None, "g-1", "g-2"] if resumable else [None, None, None])
    assert notes(client.sink) == [1, 2]
    assert len(client.sink.lives("reconnect")) == 2
    assert client.sink.losses == client.sink.failures == []


async def test_a_standing_stream_waits_longer_and_longer_for_a_server_that_is_gone(serve, peer):
    web = await serve(lambda request, reply: reply.hang_up())
    client = await connected(peer, web.url, listen=True)
    await client.sink.until(lambda: len(client.sink.lives("stream-end")) >= 4)
    waits = [event.fields["wait_ms"] for event in client.sink.lives("stream-end")]
    assert waits[:4] == [4, 8, 16, 20]
    assert "closed the connection" in client.sink.lives("stream-end")[0].fields["error"]


async def test_a_lost_session_ends_the_standing_stream_and_a_new_one_opens_another(serve, peer):
    lose = []

    async def forgets(request, reply):
        if request.method == "GET":
            reply.stream()
            reply.event(note(request.field("mcp-session-id")))
            await asyncio.sleep(60)
        elif request.rpc_method == "initialize":
            reply.result(request, {}, ("Mcp-Session-Id", "session-2" if lose else "session-1"))
        elif lose:
            reply.body(404)

    web = await serve(forgets)
    client = await peer(web.url)
    await client.call("initialize")
    client.transport.agreed("2025-11-25", version_header=True, resumable=True, listen=True)
    await client.sink.until(lambda: client.sink.frames[1:])
    lose.append(True)
    assert isinstance(await client.error("tools/list"), SessionLost)
    assert not client.transport.listening
    await client.call("initialize")
    client.transport.agreed("2025-11-25", version_header=True, resumable=True, listen=True)
    await client.sink.until(lambda: any(event.ch == "get-2" for event in client.sink.events(Kind.RPC)))
    assert [r.field("mcp-session-id") for r in web.requests if r.method == "GET"] == ["session-1", "session-2"]


async def test_a_standing_stream_may_be_redirected_without_moving_the_endpoint(serve, peer):
    async def moved(request, reply):
        if request.method == "POST":
            reply.result(request)
        elif request.target == "/mcp":
            reply.body(302, "", ("Location", "/events"))
        else:
            reply.stream()
            reply.event(note("x"))
            await asyncio.sleep(60)

    web = await serve(moved)
    client = await connected(peer, web.url, listen=True)
    await client.sink.until(lambda: client.sink.frames)
    await client.call("ping")
    assert web.requests[-1].target == "/mcp"


async def test_a_standing_stream_that_is_redirected_elsewhere_is_none(serve, peer):
    other = await serve(lambda request, reply: reply.body(200))
    web = await serve(lambda request, reply: reply.body(302, "", ("Location", other.url)))
    client = await connected(peer, web.url, listen=True)
    await client.sink.until(lambda: client.sink.lives("not-listening"))
    assert other.requests == []
    assert len(web.requests) == 1


async def test_an_rpc_error_alone_on_a_stream_does_not_hang_the_request(serve, peer):
    def streams(request, reply):
        reply.body(400, json.dumps({"jsonrpc": "2.0", "error": {"code": -32600, "message": "bad"}}), JSON)

    web = await serve(streams)
    client = await connected(peer, web.url)
    assert isinstance(await client.error(), ServerError)


# A server that sends requests faster than it accepts our replies


async def test_a_flood_of_requests_is_not_read_on_while_the_replies_wait(serve, peer, monkeypatch):
    monkeypatch.setattr(http_tasks, "MAX_SENDING", 5)
    monkeypatch.setattr(http_tasks, "REPLIES_AT_ONCE", 2)
    taken, total = asyncio.Event(), 400
    at_once = most_at_once = 0

    async def serves(request, reply):
        nonlocal at_once, most_at_once
        if request.method == "GET":
            reply.stream()
            for n in range(total):
                reply.event({"jsonrpc": "2.0", "id": f"p{n}", "method": "ping"})
                await reply.writer.drain()
                await asyncio.sleep(0)
            await asyncio.Event().wait()
        elif request.message is not None and "result" in request.message:
            at_once += 1
            most_at_once = max(most_at_once, at_once)
            await taken.wait()
            at_once -= 1
            reply.body(202)

    web = await serve(serves)
    client = await peer(web.url)
    limit = 0

    def answer(frame):
        nonlocal limit
        client.post({"jsonrpc": "2.0", "id": frame.message["id"], "result": {}})
        limit = max(limit, len(client.transport._tasks))

    client.sink.on_frame = answer
    client.transport.agreed("2025-11-25", version_header=True, resumable=False, listen=True)
    gate = client.transport._tasks
    await client.sink.until(lambda: gate.crowded and gate._relief is not None)
    waiting = len(client.sink.frames)
    for _ in range(50):
        await asyncio.sleep(0)
    assert len(client.sink.frames) == waiting < total
    taken.set()
    await client.sink.until(lambda: len(client.sink.frames) == total)
    assert limit < total
    await client.sink.until(lambda: not gate._sending)
    assert most_at_once <= http_tasks.REPLIES_AT_ONCE


@pytest.mark.slow
async def test_a_flood_in_one_read_is_handled_in_pieces(serve, peer):
    """Each piece of 16 KiB has about 300 requests; all of them at once would be 1,500 tasks."""
    total = 1500

    async def serves(request, reply):
        if request.method == "GET":
            reply.stream()
            pings = [{"jsonrpc": "2.0", "id": f"p{n}", "method": "ping"} for n in range(total)]
            reply.chunk("".join(f"data: {json.dumps(ping)}\n\n" for ping in pings).encode())
            await asyncio.Event().wait()
        else:
            reply.body(202)

    web = await serve(serves)
    client = await peer(web.url)
    most = 0

    def answer(frame):
        nonlocal most
        client.post({"jsonrpc": "2.0", "id": frame.message["id"], "result": {}})
        most = max(most, len(client.transport._tasks))

    client.sink.on_frame = answer
    client.transport.agreed("2025-11-25", version_header=True, resumable=False, listen=True)
    await client.sink.until(lambda: len(client.sink.frames) == total)
    assert most < 600


async def test_a_pause_of_reading_that_lasts_is_recorded(serve, peer, monkeypatch):
    monkeypatch.setattr(http_tasks, "MAX_SENDING", 2)
    monkeypatch.setattr(reading_pause, "TOLD_AFTER", 0.01)
    taken = asyncio.Event()

    async def serves(request, reply):
        if request.method == "GET":
            reply.stream()
            for n in range(10):
                reply.event({"jsonrpc": "2.0", "id": f"p{n}", "method": "ping"})
            await asyncio.Event().wait()
        await taken.wait()
        reply.body(202)

    web = await serve(serves)
    client = await peer(web.url)
    client.sink.on_frame = lambda frame: client.post({"jsonrpc": "2.0", "id": frame.message["id"], "result": {}})
    client.transport.agreed("2025-11-25", version_header=True, resumable=False, listen=True)
    await client.sink.until(lambda: client.sink.lives("reading-paused"))
    assert not client.sink.lives("reading-resumed")
    taken.set()
    await client.sink.until(lambda: client.sink.lives("reading-resumed"))


async def test_the_answer_of_a_request_does_not_wait_for_the_replies_to_a_flood(serve, peer, monkeypatch):
    monkeypatch.setattr(http_tasks, "MAX_SENDING", 2)

    async def serves(request, reply):
        if request.method == "GET":
            reply.stream()
            for n in range(50):
                reply.event({"jsonrpc": "2.0", "id": f"p{n}", "method": "ping"})
            await asyncio.Event().wait()
        elif request.message is not None and "result" in request.message:
            await asyncio.Event().wait()
        else:
            reply.result(request, {"ok": True})

    web = await serve(serves)
    client = await peer(web.url)
    client.sink.on_frame = lambda frame: (
        "method" in frame.message and client.post({"jsonrpc": "2.0", "id": frame.message["id"], "result": {}})
    )
    client.transport.agreed("2025-11-25", version_header=True, resumable=False, listen=True)
    await client.sink.until(lambda: client.transport._tasks.crowded)
    assert (await asyncio.wait_for(client.call("tools/list"), 10))["result"] == {"ok": True}


async def test_a_reply_does_not_wait_for_itself(serve, peer, monkeypatch):
    """Its own POST may be answered by a stream, which is read although the gate is crowded."""
    monkeypatch.setattr(http_tasks, "MAX_SENDING", 0)

    def streams(request, reply):
        reply.stream()
        reply.event(note("after the reply"))
        reply.end()

    web = await serve(streams)
    client = await peer(web.url)
    client.post({"jsonrpc": "2.0", "id": "p", "result": {}})
    await client.sink.until(lambda: notes(client.sink) == ["after the reply"])


@pytest.mark.parametrize(
    ("pauses", "asked", "waits"),
    [
        (http_stream.RESUMING, 1000, [1.0, 1.5, 2.25, 60.0]),
        (http_stream.STANDING, 1000, [1.0, 2.0, 4.0, 30.0]),
        (http_stream.STANDING, 45_000, [45.0, 45.0, 45.0, 45.0]),
    ],
)
def test_pauses_grow_up_to_a_limit_that_the_server_may_exceed(pauses, asked, waits):
    stream = EventStream(Deaf(), "x", "host", 1000)
    stream.feed(f"retry: {asked}\n\n".encode())
    assert [stream.pause(attempt, pauses) for attempt in (0, 1, 2, 40)] == waits

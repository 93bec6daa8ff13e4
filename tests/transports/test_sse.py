"""HTTP+SSE: the stream names where to post, brings every message, and ends the connection with itself."""

import asyncio
import contextlib
import gzip
import json
import traceback
from urllib.parse import unquote

import pytest

from inspector.client.options import Options
from inspector.client.session import Session
from inspector.config.target_arguments import parse_target
from inspector.errors import AuthorizationNeeded, HttpError, LimitReached, NoSseEndpoint, ServerError
from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal
from inspector.transports.base import HttpOptions
from inspector.transports.http_stream import EventStream
from inspector.transports.sse import MAX_ENDPOINTS, SseTransport
from tests.test_addresses import MIXES
from tests.transports.scripted_http import answer_to
from tests.transports.sinks import Peer, RecordingSink
from tests.transports.test_http_failures import tls

SESSION = "0a1b2c3d-4e5f-6789-abcd-ef0123456789"
MESSAGES = f"/messages?sessionId={SESSION}"


class Server:
    """An HTTP+SSE server: `posted(request, reply)` answers POSTs, `say` writes to the stream."""

    def __init__(self, posted=None, *, endpoint=MESSAGES, opening=None):
        self.posted = posted or self.echo
        self.opening = f"event: endpoint\ndata: {endpoint}\n\n" if opening is None else opening
        self.stream = None
        self.over = asyncio.Event()

    async def __call__(self, request, reply):
        if request.method == "GET":
            reply.stream()
            reply.chunk(self.opening) if self.opening else None
            self.stream = reply
            await self.over.wait()
            reply.done = True
        else:
            made = self.posted(request, reply)
            if asyncio.iscoroutine(made):
                await made

    def echo(self, request, reply):
        """Accept the message, and answer a request on the stream."""
        reply.body(202, "Accepted")
        if "id" in request.message:
            self.answer(request)

    def say(self, message, **fields):
        self.stream.event(message, **fields)

    def answer(self, request, result=None):
        self.say(answer_to(request, result), event="message")

    def end(self):
        """The stream ends as it should."""
        self.stream.end()
        self.over.set()

    def cut(self):
        """The stream ends in the middle."""
        self.stream.writer.transport.abort()
        self.over.set()


@pytest.fixture
async def sse():
    """`await sse(url, **options)` connects with a started transport."""
    made = []

    async def connect(url, **options):
        client = Peer(lambda sink: SseTransport(url, sink, HttpOptions(**options)))
        made.append(client)
        await client.transport.start()
        return client

    connect.made = made
    yield connect
    for client in made:
        await client.transport.close()
        assert not client.transport._tasks
        client.sink.journal.release()


def posts(web):
    return [request for request in web.requests if request.method == "POST"]


async def refused(sse, url, **options):
    """The error with which a connection cannot be made."""
    with pytest.raises((HttpError, AuthorizationNeeded)) as error:
        await sse(url, **options)
    return error.value


# The endpoint


@pytest.mark.parametrize(
    ("endpoint", "target"),
    [
        ("/messages", "/messages"),
        ("/messages/?session_id=abc123", "/messages/?session_id=abc123"),
        ("messages?s=1", "/a/messages?s=1"),
        ("?s=1", "/a/sse?s=1"),
        ("../up", "/up"),
        ("{origin}/whole?x=%2F", "/whole?x=%2F"),
        ("//127.0.0.1:{port}/scheme", "/scheme"),
        ("HTTP://127.0.0.1:{port}/upper", "/upper"),
        (" /spaces ", "/spaces"),
        ("/frag#ment", "/frag"),
        ("/ü?q=ü", "/%C3%BC?q=%C3%BC"),
    ],
)
async def test_messages_are_posted_where_the_endpoint_leads(serve, sse, endpoint, target):
    """C-SSE-01."""
    server = Server(opening="")
    web = await serve(server)
    origin = f"http://127.0.0.1:{web.port}"
    server.opening = f"event: endpoint\ndata: {endpoint.format(origin=origin, port=web.port)}\n\n"
    client = await sse(f"{origin}/a/sse")
    assert (await client.call("ping"))["result"] == {}
    first, post = web.requests
    assert (first.method, first.target, first.field("Accept")) == ("GET", "/a/sse", "text/event-stream")
    assert (post.method, post.target) == ("POST", target)
    assert post.field("Content-Type") == "application/json"
    assert post.message == {"jsonrpc": "2.0", "id": 1, "method": "ping"}


async def test_the_endpoint_is_relative_to_where_redirects_led(serve, sse):
    server = Server(endpoint="messages")

    def moved(request, reply):
        if request.target == "/mcp":
            return reply.body(307, "", ("Location", "/deep/sse"))
        return server(request, reply)

    web = await serve(moved)
    client = await sse(web.url)
    await client.call("ping")
    assert [request.target for request in web.requests] == ["/mcp", "/deep/sse", "/deep/messages"]


@pytest.mark.parametrize(
    ("endpoint", "words"),
    [
        ("http://127.0.0.2:{port}/messages", "another origin, http://127.0.0.2:{port}"),
        ("http://127.0.0.1:1/messages", "another origin, http://127.0.0.1:1"),
        ("https://127.0.0.1:{port}/messages", "another origin, https://127.0.0.1:{port}"),
        ("//evil.example/messages", "another origin, http://evil.example"),
        ("//\u0430pi.github.com/m", f"another origin, http://xn--pi-6kc.github.com {MIXES}"),
        ("http://①②⑦.0.0.1:{port}/messages", "would become 127.0.0.1 in the request"),
        ("http://127.0.0.1:{port}@evil.example/", "another origin, http://evil.example"),
        ("/\\evil.example", None),
        ("javascript:alert(1)", "does not start with http:// or https://"),
        ("file:///etc/passwd", "does not start with http:// or https://"),
        ("data:,x", "does not start with http:// or https://"),
        ("http://[::1/", "its IPv6 address is not valid"),
        ("http://a b/", "is not a host name"),
        ("http://127.0.0.1:99999/", "its port is above 65535"),
        ("/" + "x" * 1_000_000, "1,000,001 characters"),
    ],
)
async def test_an_endpoint_that_must_not_be_used(serve, sse, endpoint, words):
    """C-SSE-04."""
    server = Server(opening="")
    web = await serve(server)
    server.opening = f"event: endpoint\ndata: {endpoint.format(port=web.port)}\n\n"
    if words is None:
        await (await sse(web.url)).call("ping")
        assert posts(web)[0].target == "/%5Cevil.example"
        return
    error = await refused(sse, web.url)
    assert words.format(port=web.port) in error.message
    assert len(error.message) < 600
    assert error.hint
    assert not isinstance(error, NoSseEndpoint)
    assert posts(web) == []
    (event,) = sse.made[0].sink.events(Kind.SSE)
    assert event.text == endpoint.format(port=web.port)


async def test_the_last_endpoint_counts(serve, sse):
    server = Server(endpoint="/first")
    web = await serve(server)
    client = await sse(web.url)
    await client.call("ping")
    server.say("/second", event="endpoint")
    await client.sink.until(lambda: len(client.sink.events(Kind.SSE)) == 2)
    await client.call("ping")
    assert [request.target for request in posts(web)] == ["/first", "/second"]


async def test_an_endpoint_that_moves_to_another_origin_ends_the_connection(serve, sse):
    """C-SSE-04."""
    server = Server()
    web = await serve(server)
    client = await sse(web.url)
    server.say("http://127.0.0.2/messages", event="endpoint")
    await client.sink.until(lambda: client.sink.losses)
    assert "another origin, http://127.0.0.2" in client.sink.losses[0].message
    with pytest.raises(HttpError, match="another origin"):
        client.notify("notifications/x")
    assert posts(web) == []


async def test_endpoints_without_end_end_the_connection(serve, sse):
    server = Server()
    web = await serve(server)
    client = await sse(web.url)
    for number in range(10 * MAX_ENDPOINTS):
        server.say(f"/messages?sessionId=session-{number}", event="endpoint")
    await client.sink.until(lambda: client.sink.losses)
    assert f"more than {MAX_ENDPOINTS} times" in client.sink.losses[0].message


async def test_an_endpoint_is_no_message_even_if_it_looks_like_one(serve, sse):
    server = Server(opening='event: endpoint\ndata: /m?x={"jsonrpc":"2.0"}\n\n')
    web = await serve(server)
    client = await sse(web.url)
    assert client.sink.frames == []
    await client.call("ping")
    assert posts(web)[0].target.startswith("/m?x=%7B")


async def test_messages_before_the_endpoint_are_handed_on(serve, sse):
    note = '{"jsonrpc":"2.0","method":"notifications/early"}'
    web = await serve(Server(opening=f"data: {note}\n\nevent: endpoint\n\nevent: endpoint\ndata: /m\n\n"))
    client = await sse(web.url)
    assert [frame.message["method"] for frame in client.sink.frames] == ["notifications/early"]


# An invalid URL


@pytest.mark.parametrize(
    ("status", "body", "kind", "words"),
    [
        (404, "<h1>Not here</h1>", "text/html", "answered 404 Because to GET: Not here"),
        (405, "", "text/plain", "answered 405 Because to GET."),
        (400, '{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"no session"}}', "application/json",
         "answered 400 Because to GET: no session"),
        (406, "x" * 100_000, "text/plain", "answered 406 Because to GET: xxx"),
        (200, "<p>Welcome</p>", "text/html; charset=utf-8", "answered 200 Because to GET (text/html): Welcome"),
        (200, "", "application/json", "answered 200 Because to GET (application/json)."),
        (204, "", "text/event-stream", "answered 204 Because to GET (text/event-stream)."),
        (302, "", "text/html", "answered 302 Because to GET."),
    ],
)  # fmt: skip
async def test_a_url_without_an_event_stream(serve, sse, status, body, kind, words):
    web = await serve(lambda request, reply: reply.body(status, body, ("Content-Type", kind)))
    error = await refused(sse, web.url)
    assert type(error) is NoSseEndpoint
    assert error.status == status
    assert error.message.startswith(f"127.0.0.1:{web.port} ")
    assert words in error.message
    assert "--transport" in error.hint.command_line
    assert len(error.message) < 400
    (event,) = sse.made[0].sink.lives("not-listening")
    assert event.fields["status"] == status


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_server_in_trouble_is_no_verdict_on_its_transport(serve, sse, status):
    web = await serve(lambda request, reply: reply.body(status, "try later"))
    error = await refused(sse, web.url)
    assert type(error) is HttpError
    assert error.status == status
    assert "try later" in error.message


async def test_a_stream_that_wants_authorization(serve, sse):
    web = await serve(lambda request, reply: reply.body(401, "", ("WWW-Authenticate", 'Bearer realm="x"')))
    error = await refused(sse, web.url)
    assert isinstance(error, AuthorizationNeeded)
    assert error.challenge == ('Bearer realm="x"',)


async def test_a_redirect_to_another_origin_is_not_followed(serve, sse):
    web = await serve(lambda request, reply: reply.body(307, "", ("Location", "http://127.0.0.2:9/sse")))
    error = await refused(sse, web.url)
    assert "redirects to another origin, http://127.0.0.2:9 (status 307)" in error.message


async def test_a_port_without_a_listener(serve, sse):
    web = await serve(Server())
    await web.__aexit__()
    error = await refused(sse, web.url)
    assert (type(error), error.status) == (HttpError, None)
    assert "Nothing listens on" in error.message


async def test_a_stream_that_ends_without_an_endpoint(serve, sse):
    def ends(request, reply):
        reply.stream()
        reply.event({"jsonrpc": "2.0", "method": "notifications/x"})
        reply.end()

    web = await serve(ends)
    error = await refused(sse, web.url)
    assert type(error) is NoSseEndpoint
    assert "without naming an endpoint" in error.message


@pytest.fixture
def hasty(monkeypatch):
    monkeypatch.setattr("inspector.transports.sse.ENDPOINT_SECONDS", 0.1)


async def test_a_stream_that_never_names_an_endpoint(serve, sse, hasty):
    web = await serve(Server(opening=": welcome\n\nretry: 0\n\n"))
    error = await refused(sse, web.url)
    assert type(error) is NoSseEndpoint
    assert "names no endpoint" in error.message
    await sse.made[0].sink.until(lambda: not sse.made[0].transport._tasks)


async def test_comments_without_end_do_not_hold_up_the_verdict(serve, sse, hasty):
    async def floods(request, reply):
        reply.stream()
        while True:
            reply.chunk(": la\n" * 1000)
            await reply.writer.drain()

    web = await serve(floods)
    error = await refused(sse, web.url)
    assert type(error) is NoSseEndpoint


async def test_a_server_that_takes_the_request_and_says_nothing(serve, sse, monkeypatch):
    monkeypatch.setattr("inspector.transports.sse.HEAD_SECONDS", 0.2 - HttpOptions().connect_timeout)
    web = await serve(lambda request, reply: asyncio.sleep(60))
    error = await refused(sse, web.url)
    assert type(error) is HttpError
    assert error.message == f"127.0.0.1:{web.port} did not answer the GET within 0.2 s."


async def test_a_page_that_never_ends_does_not_hold_up_the_verdict(serve, sse, hasty):
    async def page(request, reply):
        reply.head(200, ("Content-Type", "text/html"), ("Content-Length", 1000))
        reply.raw(b"<p>wait")
        await reply.writer.drain()
        await asyncio.Event().wait()

    web = await serve(page)
    error = await refused(sse, web.url)
    assert type(error) is NoSseEndpoint
    assert "answered 200 Because to GET (text/html)" in error.message


class Login:
    """A credential that the user gives when asked, or does not."""

    def __init__(self, given):
        self.given = given
        self.token = ""

    async def fields(self, method, url):
        return [("Authorization", f"Bearer {self.token}")] if self.token else []

    async def refused(self, refusal, sent):
        if not self.given:
            raise AuthorizationNeeded("Nobody logged in.", status=refusal.status)
        self.token = "a-token"
        return True


def wants_login(server, at):
    def handler(request, reply):
        if request.method == at and request.field("Authorization") is None:
            return reply.body(401, "", ("WWW-Authenticate", "Bearer"))
        return server(request, reply)

    return handler


@pytest.mark.parametrize("at", ["GET", "POST"])
async def test_a_request_is_sent_again_with_the_credential_of_a_login(serve, sse, at):
    web = await serve(wants_login(Server(), at))
    client = await sse(web.url, credential=Login(given=True))
    assert (await client.call("ping"))["result"] == {}
    assert posts(web)[-1].field("Authorization") == "Bearer a-token"


async def test_a_login_that_fails_is_reported(serve, sse):
    web = await serve(wants_login(Server(), "POST"))
    client = await sse(web.url, credential=Login(given=False))
    assert (await client.error("ping")).message == "Nobody logged in."
    web = await serve(wants_login(Server(), "GET"))
    assert (await refused(sse, web.url, credential=Login(given=False))).message == "Nobody logged in."


@pytest.mark.parametrize("token", ["a-token", ""])
async def test_a_server_that_fails_at_a_token_may_want_another(serve, sse, token):
    server = Server()
    web = await serve(lambda request, reply: reply.body(500) if request.method == "POST" else server(request, reply))
    login = Login(given=True)
    login.token = token
    client = await sse(web.url, credential=login)
    assert ("inspector logout" in (await client.error("ping")).hint) is bool(token)


async def test_a_start_that_is_given_up_leaves_nothing(serve):
    web = await serve(Server(opening=": wait\n\n"))
    client = Peer(lambda sink: SseTransport(web.url, sink))
    starting = asyncio.create_task(client.transport.start())
    await client.sink.until(lambda: client.sink.events(Kind.SSE))
    starting.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await starting
    await client.transport.close()
    assert not client.transport._tasks
    assert client.sink.losses == []
    with pytest.raises(HttpError, match="closed"):
        client.notify("notifications/x")
    client.sink.journal.release()


# The stream

NOTE = '{"jsonrpc":"2.0","method":"notifications/x"}'
HALF, OTHER_HALF = '{"jsonrpc":"2.0",', '"method":"notifications/x"}'
OPENING = "event: endpoint\ndata: /m\n\n"
STREAMS = {
    "named": f"{OPENING}event: message\ndata: {NOTE}\n\n",
    "without a name": f"{OPENING}data: {NOTE}\n\n",
    "without a space": f"event:endpoint\ndata:/m\n\ndata:{NOTE}\n\n",
    "CR only": f"{OPENING}data: {NOTE}\n\n".replace("\n", "\r"),
    "CR LF": f"{OPENING}data: {NOTE}\n\n".replace("\n", "\r\n"),
    "mixed line ends": f"event: endpoint\rdata: /m\r\n\rdata: {NOTE}\n\r\n",
    "a byte order mark": f"\ufeff{OPENING}data: {NOTE}\n\n",
    "two data lines": f"{OPENING}data: {HALF}\ndata: {OTHER_HALF}\n\n",
    "two data lines and CR": f"{OPENING}data: {HALF}\ndata: {OTHER_HALF}\n\n".replace("\n", "\r"),
    "retry of 0": f"retry: 0\n{OPENING}retry: 0\ndata: {NOTE}\n\n",
    "an absurd retry": f"retry: {'9' * 50}\n\n{OPENING}retry: -1\nretry: soon\ndata: {NOTE}\n\n",
    "comments and unknown fields": f": hi\n{OPENING}:\nfoo: bar\nbaz\ndata: {NOTE}\n:\n\n",
    "an id": f"{OPENING}id: 7\nevent: message\ndata: {NOTE}\n\n",
}


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
@pytest.mark.parametrize("stream", STREAMS)
async def test_events_are_read_however_they_are_written(serve, sse, stream, size):
    whole = STREAMS[stream].encode()

    async def streams(request, reply):
        if request.method == "POST":
            reply.body(202)
            return
        reply.stream()
        for start in range(0, len(whole), size):
            reply.chunk(whole[start : start + size])
            await reply.writer.drain()
        await asyncio.Event().wait()

    web = await serve(streams)
    client = await sse(web.url)
    await client.sink.until(lambda: client.sink.frames)
    assert [frame.message for frame in client.sink.frames] == [json.loads(NOTE)]
    client.notify("notifications/y")
    await client.transport.settled()
    assert posts(web)[0].target == "/m"


async def test_other_events_are_recorded_only(serve, sse):
    server = Server()
    web = await serve(server)
    client = await sse(web.url)
    server.say("tick", event="ping")
    server.say("", event="message")
    assert (await client.call("ping"))["result"] == {}
    assert [(event.fields["event"], event.text) for event in client.sink.events(Kind.SSE)[1:]] == [
        ("ping", "tick"),
        ("message", ""),
    ]


def test_comments_that_come_together_are_one_record_in_its_place():
    sink = RecordingSink()
    stream = EventStream(sink, "get-1", "here:80", 1 << 20)
    stream.feed(f": a\nb\n:\ndata: {NOTE}\n\n:\n:\ndata: {NOTE}\n\n: end\n".encode())
    assert [event.text for event in sink.events()] == [": a\nb\n:", NOTE, ":\n:", NOTE, ": end"]
    sink.journal.release()


async def test_a_compressed_stream(serve, sse):
    def streams(request, reply):
        reply.stream(("Content-Encoding", "gzip"))
        reply.chunk(gzip.compress(f"{OPENING}data: {NOTE}\n\n".encode()))
        return asyncio.sleep(60)

    web = await serve(streams)
    client = await sse(web.url)
    await client.sink.until(lambda: client.sink.frames)
    assert web.requests[0].field("Accept-Encoding") == "identity"


async def test_a_large_message(serve, sse):
    server = Server()
    server.posted = lambda request, reply: (reply.body(202), server.answer(request, {"text": "x" * 5_000_000}))
    web = await serve(server)
    client = await sse(web.url)
    assert len((await client.call("tools/call"))["result"]["text"]) == 5_000_000


async def test_a_message_beyond_the_limit_ends_the_connection(serve, sse):
    server = Server()
    server.posted = lambda request, reply: (reply.body(202), server.answer(request, {"text": "x" * 50_000}))
    web = await serve(server)
    client = await sse(web.url, max_body=20_000)
    error = await client.error("tools/call")
    assert isinstance(error, LimitReached)
    assert "larger than 20.0 kB" in error.message
    assert client.sink.losses == [error]
    (_, (beginning,), _, cut) = client.sink.batches[-1]
    assert cut
    assert len(beginning) <= 20_000


@pytest.mark.parametrize(("how", "words"), [("end", "closed its event stream"), ("cut", "is incomplete")])
async def test_the_connection_ends_with_its_stream(serve, sse, how, words):
    server = Server(lambda request, reply: reply.body(202))
    web = await serve(server)
    client = await sse(web.url)
    waiting = client.request("tools/call")
    await client.transport.settled()
    getattr(server, how)()
    await client.sink.until(lambda: client.sink.losses)
    assert words in client.sink.losses[0].message
    assert waiting.exception() is client.sink.losses[0]
    with pytest.raises(HttpError, match=words):
        client.notify("notifications/x")
    await client.transport.close()
    assert len(client.sink.losses) == 1
    (event,) = client.sink.lives("stream-end")
    assert event.fields["events"] == 1


async def test_a_stream_that_ends_with_its_endpoint_is_noticed(serve, sse):
    def ends(request, reply):
        reply.stream()
        reply.event("/m", event="endpoint")
        reply.end()

    web = await serve(ends)
    client = await sse(web.url)
    await client.sink.until(lambda: client.sink.losses)
    with pytest.raises(HttpError, match="closed its event stream"):
        client.notify("notifications/x")


async def test_a_message_that_breaks_off_is_recorded(serve, sse):
    server = Server()
    web = await serve(server)
    client = await sse(web.url)
    server.stream.chunk('event: message\ndata: {"jsonrpc":"2.0","id":1,"res')
    await server.stream.writer.drain()
    server.end()
    await client.sink.until(lambda: client.sink.losses)
    (event,) = client.sink.events(Kind.INVALID)
    assert event.text == '{"jsonrpc":"2.0","id":1,"res'
    assert event.fields["cut"] is True


async def test_what_the_server_asks_within_a_call_belongs_to_it(serve, sse):
    server = Server()
    answered = asyncio.Event()

    async def posted(request, reply):
        if request.rpc_method == "tools/call":
            server.say({"jsonrpc": "2.0", "id": "q", "method": "roots/list"})
            await answered.wait()  # There are servers whose POST takes as long as the call.
            server.answer(request)
        else:
            answered.set()
        reply.body(202)

    server.posted = posted
    web = await serve(server)
    client = await sse(web.url)

    def answer(frame):
        if frame.message.get("method") == "roots/list":
            client.post({"jsonrpc": "2.0", "id": "q", "result": {"roots": []}})

    client.sink.on_frame = answer
    assert (await client.call("tools/call"))["result"] == {}
    call, question = (event.n for event in client.sink.events(Kind.RPC) if "method" in event.message)
    assert client.sink.journal.index.parent(question) == call


# Posting


@pytest.mark.parametrize("status", [200, 201, 202, 204])
@pytest.mark.parametrize("body", ["", "Accepted", "ok\n", "<p>Thanks</p>", "\xff\xfe", "x" * 200_000])
async def test_any_success_means_that_the_message_was_taken(serve, sse, status, body):
    """C-SSE-02."""
    server = Server()
    body = "" if status == 204 else body
    server.posted = lambda request, reply: (reply.body(status, body), server.answer(request, {"ok": True}))
    web = await serve(server)
    client = await sse(web.url)
    assert (await client.call("ping"))["result"] == {"ok": True}
    assert (await client.call("ping"))["result"] == {"ok": True}
    assert client.sink.failures == []
    assert client.sink.journal.index.invalid == 0
    assert {channel for channel, *_ in client.sink.batches} == {"get-1"}
    await client.sink.until(lambda: not client.transport._posting)
    assert bool(client.sink.lives("accepted")) is (body not in ("", "Accepted", "ok\n"))


async def test_an_answer_in_the_body_as_well_is_recorded_and_not_handed_on_twice(serve, sse):
    """C-SSE-02."""
    server = Server()
    server.posted = lambda request, reply: (reply.result(request, {"ok": True}), server.answer(request, {"ok": True}))
    web = await serve(server)
    client = await sse(web.url)
    assert (await client.call("ping"))["result"] == {"ok": True}
    await client.sink.until(lambda: client.sink.lives("accepted"))
    (event,) = client.sink.lives("accepted")
    assert event.fields["status"] == 200
    assert json.loads(event.fields["body"])["result"] == {"ok": True}
    assert len(client.sink.frames) == 1


async def test_a_stream_in_answer_to_a_post_is_not_read(serve, sse):
    server = Server()

    async def posted(request, reply):
        reply.stream()
        reply.event(answer_to(request, "from the POST"))
        await reply.writer.drain()
        server.answer(request, "from the stream")
        await asyncio.Event().wait()

    server.posted = posted
    web = await serve(server)
    client = await sse(web.url)
    assert (await client.call("ping"))["result"] == "from the stream"
    await client.sink.until(lambda: not client.transport._posting)


async def test_an_error_status_fails_the_request_and_nothing_else(serve, sse):
    server = Server()

    def posted(request, reply):
        if request.rpc_method == "tools/list":
            return reply.body(500, "<h1>Out of order</h1>", ("Content-Type", "text/html"))
        return server.echo(request, reply)

    server.posted = posted
    web = await serve(server)
    client = await sse(web.url)
    error = await client.error("tools/list")
    assert error.message == f"127.0.0.1:{web.port} answered 500 Because to tools/list: Out of order"
    assert error.status == 500
    assert (await client.call("ping"))["result"] == {}
    assert client.sink.losses == []
    (event,) = client.sink.events(Kind.INVALID)
    assert event.text == "<h1>Out of order</h1>"


@pytest.mark.parametrize("id", [1, None, "server-error"])
async def test_a_json_rpc_error_in_the_body_answers_the_request(serve, sse, id):
    error = {"code": -32600, "message": "Not like this"}
    web = await serve(Server(lambda request, reply: reply.json({"jsonrpc": "2.0", "id": id, "error": error}, 400)))
    client = await sse(web.url)
    try:
        answered = (await client.call("tools/list"))["error"]
    except ServerError as raised:
        answered = {"code": raised.rpc_code, "message": raised.rpc_message}
        assert id != 1
    assert answered == error
    (event,) = client.sink.events(Kind.RPC, "post-1")[1:]
    assert event.fields["status"] == 400


@pytest.mark.parametrize("status", [404, 405, 410])
async def test_an_endpoint_that_is_gone_advises_to_reconnect(serve, sse, status):
    web = await serve(Server(lambda request, reply: reply.body(status, "Session not found")))
    client = await sse(web.url)
    error = await client.error("tools/list")
    assert type(error) is HttpError
    assert "Session not found" in error.message
    assert "Connect again" in error.hint


async def test_a_post_that_wants_authorization(serve, sse):
    body = {"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "Who are you?"}}
    web = await serve(Server(lambda request, reply: reply.json(body, 401)))
    client = await sse(web.url)
    error = await client.error("tools/list")
    assert isinstance(error, AuthorizationNeeded)
    assert "Who are you?" in error.message
    assert len(client.sink.failures) == 1


async def test_a_post_whose_connection_breaks(serve, sse):
    web = await serve(Server(lambda request, reply: reply.hang_up()))
    client = await sse(web.url)
    error = await client.error("tools/list")
    assert "closed the connection without an answer" in error.message
    assert client.sink.losses == []


async def test_a_post_that_is_never_answered_needs_no_answer(serve, sse):
    server = Server()

    async def posted(request, reply):
        server.answer(request)
        await server.stream.writer.drain()
        await asyncio.Event().wait()

    server.posted = posted
    web = await serve(server)
    client = await sse(web.url)
    for _ in range(20):
        assert (await client.call("ping"))["result"] == {}
    async with asyncio.timeout(60):
        await client.transport.close()
    assert client.sink.failures == []


async def test_the_post_of_an_abandoned_request_is_ended(serve, sse):
    server = Server(lambda request, reply: asyncio.Event().wait())
    web = await serve(server)
    client = await sse(web.url)
    client.request("tools/call")
    await client.sink.until(lambda: posts(web))
    client.transport.abandon(1)
    client.transport.abandon(2)
    await client.sink.until(lambda: not client.transport._posting)
    server.say(answer_to(posts(web)[0], "late"))
    await client.sink.until(lambda: client.sink.frames)
    assert client.sink.failures == []


async def test_a_notification_is_there_when_it_has_settled(serve, sse):
    taken = []

    async def posted(request, reply):
        await asyncio.sleep(0)
        taken.append(request.rpc_method)
        reply.body(202)

    web = await serve(Server(posted))
    client = await sse(web.url)
    for number in range(5):
        client.notify(f"notifications/{number}")
        await client.transport.settled()
        assert taken[-1] == f"notifications/{number}"


async def test_the_last_notifications_leave_while_the_stream_is_open(serve, sse):
    server = Server()
    open_then = []
    server.posted = lambda request, reply: (open_then.append(not server.stream.writer.is_closing()), reply.body(202))
    web = await serve(server)
    client = await sse(web.url)
    client.notify("notifications/cancelled")
    await client.transport.close()
    await client.transport.close()
    assert open_then == [True]
    assert client.sink.losses == []


async def test_a_stream_that_ends_while_we_close_is_no_loss(serve, sse):
    server = Server()
    server.posted = lambda request, reply: (server.end(), reply.body(202))
    web = await serve(server)
    client = await sse(web.url)
    client.notify("notifications/cancelled")
    await client.transport.close()
    assert client.sink.losses == []


async def test_a_redirected_post_is_followed_within_the_origin_and_remembered(serve, sse):
    server = Server()

    def posted(request, reply):
        if request.target == MESSAGES:
            return reply.body(307, "", ("Location", "/elsewhere"))
        return server.echo(request, reply)

    server.posted = posted
    web = await serve(server)
    client = await sse(web.url)
    await client.call("ping")
    await client.call("ping")
    assert [request.target for request in posts(web)] == [MESSAGES, "/elsewhere", "/elsewhere"]


async def test_a_post_redirected_to_another_origin_fails(serve, sse):
    web = await serve(Server(lambda request, reply: reply.body(307, "", ("Location", "http://127.0.0.2:9/"))))
    client = await sse(web.url)
    error = await client.error("ping")
    assert "another origin, http://127.0.0.2:9" in error.message


# Header fields and secrets


async def test_header_fields_go_with_every_request(serve, sse):
    server = Server()
    web = await serve(server)
    client = await sse(web.url.replace("//", "//me:pass-word@"), headers=(("X-Mine", "yes"), ("Accept", "*/*")))
    await client.call("ping")
    for request in web.requests:
        assert request.field("X-Mine") == "yes"
        assert request.field("Accept") == "*/*"
        assert request.field("Authorization") == "Basic bWU6cGFzcy13b3Jk"
    assert "pass-word" not in client.sink.text()


async def test_certificates_are_checked_unless_it_is_switched_off(serve, sse):
    web = await serve(Server(), ssl=tls("localhost"))
    error = await refused(sse, web.url)
    assert (type(error), error.status) == (HttpError, None)
    assert "certificate" in error.message
    client = await sse(web.url, verify=False)
    assert (await client.call("ping"))["result"] == {}


async def test_the_agreed_revision_is_named_where_it_has_a_field_for_it(serve, sse):
    web = await serve(Server())
    client = await sse(web.url)
    await client.call("initialize")
    client.transport.agreed("2025-11-25", version_header=True, resumable=True, listen=True)
    await client.call("ping")
    client.transport.agreed("2024-11-05", version_header=False, resumable=False, listen=True)
    await client.call("ping")
    assert [request.field("MCP-Protocol-Version") for request in posts(web)] == [None, "2025-11-25", None]
    assert len(web.requests) == 4
    assert client.transport.close_stream(1) is False
    assert client.transport.unread() is None


@pytest.mark.parametrize(
    ("endpoint", "secret"),
    [
        (MESSAGES, SESSION),
        ("/messages/?session_id=abc123", "abc123"),
        ("/messages?Session-ID=my%2Fsession%20one", "my%2Fsession%20one"),
        ("/messages?a=1&sid=s3cret;b=2", "s3cret"),
        (f"/messages/{SESSION}", SESSION),
        ("/messages?x=0123456789abcdef0123456789abcdef", "0123456789abcdef0123456789abcdef"),
    ],
)
async def test_a_session_id_is_never_recorded(serve, sse, endpoint, secret):
    server = Server(endpoint=endpoint)

    def posted(request, reply):
        server.echo(request, reply)
        server.say({"jsonrpc": "2.0", "method": "notifications/x", "params": {"you": secret, "plain": unquote(secret)}})

    server.posted = posted
    web = await serve(server)
    client = await sse(web.url)
    await client.call("ping")
    await client.sink.until(lambda: len(client.sink.frames) == 2)
    assert client.sink.frames[1].message["params"]["you"].startswith("‹redacted ")
    assert posts(web)[0].target.replace(";", "%3B") == endpoint.replace(";", "%3B")
    assert secret not in client.sink.text()
    assert unquote(secret) not in client.sink.text()
    assert "‹redacted " in client.sink.events(Kind.SSE)[0].text


async def test_what_is_not_a_secret_stays_in_the_recording(serve, sse):
    server = Server(endpoint="/api/v1/messages?user=0123456789abcdef&lang=en")
    web = await serve(server)
    client = await sse(f"{web.url}?user=0123456789abcdef")
    await client.call("ping")
    assert client.sink.events(Kind.SSE)[0].text == "/api/v1/messages?user=0123456789abcdef&lang=en"
    (head,) = [event for event in client.sink.events(Kind.HTTP, "post-1") if event.dir is Dir.SEND]
    assert head.fields["url"].endswith("/api/v1/messages?user=0123456789abcdef&lang=en")


async def test_messages_after_the_end_leave_nothing_behind(serve, sse):
    """The reason is one kept error: a raise must not add frames to it."""
    server = Server()
    web = await serve(server)
    client = await sse(web.url)
    server.end()
    await client.sink.until(lambda: client.sink.losses)
    for _ in range(3):
        with pytest.raises(HttpError) as raised:
            client.post({"jsonrpc": "2.0", "id": 1, "result": {}})
    assert len(traceback.extract_tb(raised.value.__traceback__)) == 3


# A whole session


async def test_a_session(serve):
    server = Server()

    def posted(request, reply):
        reply.body(202)
        if request.rpc_method == "initialize":
            result = {
                "protocolVersion": "2024-11-05", "capabilities": {"tools": {}},
                "serverInfo": {"name": "old", "version": "1"},
            }  # fmt: skip
            server.answer(request, result)
        elif request.rpc_method == "tools/list":
            server.answer(request, {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]})
        elif request.rpc_method == "tools/call":
            server.answer(request, {"content": []})
        elif "id" in request.message:
            error = {"code": -32601, "message": "Method not found"}
            server.say({"jsonrpc": "2.0", "id": request.id, "error": error})

    server.posted = posted
    web = await serve(server)
    journal = Journal.unnamed({})
    target = parse_target([web.url])
    session = Session(target, journal, Options(), connect=lambda _, sink, __: SseTransport(web.url, sink))
    await session.open()
    assert (session.server.revision, session.transport.name) == ("2024-11-05", "sse")
    await session.load("tools")
    assert [tool["name"] for tool in session.catalog["tools"].items] == ["echo"]
    call = session.call_tool("echo")
    await call.result()
    server.end()
    async with asyncio.timeout(60):
        while session.phase == "ready":
            await asyncio.sleep(0.002)
    assert session.phase == "lost"
    assert "closed its event stream" in session.error.message
    methods = [request.rpc_method for request in posts(web)]
    assert methods[-4:] == ["initialize", "notifications/initialized", "tools/list", "tools/call"]
    await session.close()
    journal.release()

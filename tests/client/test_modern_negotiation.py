"""Which era a server speaks is found out by asking, whatever it answers, and remembered until it is wrong."""

import asyncio
import json
import sys
from threading import Thread

import pytest

from inspector.client.engine import negotiation
from inspector.client.engine.era_memory import EXPIRES, Verdicts
from inspector.client.inbox import StandingAnswers
from inspector.client.options import Options
from inspector.client.session import Session
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import HandshakeError, HttpError, RequestTimeout, ServerError, ServerExited
from inspector.journal.journal import Journal
from inspector.transports.memory import MemoryTransport
from tests.client.conftest import Server
from tests.client.modern import DISCOVERED, complete, modern, tell
from tests.transports.scripted_http import SSE, Web, answer_to

HELLO = Server().initialize


class Starts:
    """Starts a server of its own for each connection; `servers` are all that were started."""

    def __init__(self, make):
        self.make = make
        self.servers = []

    def __call__(self, target, sink, options):
        self.servers.append(self.make())
        return MemoryTransport(sink, self.servers[-1])

    @property
    def asked(self):
        """The methods that each of them was asked."""
        return [[message["method"] for message in server.seen if "id" in message] for server in self.servers]


@pytest.fixture
async def begin():
    """`session, starts = await begin(make)`: open a session in `auto` on servers that `make` makes."""
    made = []

    async def opened(make, **options):
        starts = Starts(make)
        options.setdefault("standing", StandingAnswers())
        session = Session(StdioTarget(("test",)), Journal.unnamed({}), Options(**options), connect=starts)
        made.append(session)
        await session.open()
        return session, starts

    yield opened
    for session in made:
        await session.close()
        session.journal.release()


@pytest.fixture
def hasty(monkeypatch):
    """Silence is noticed at once."""
    monkeypatch.setattr(negotiation, "SILENT_AFTER", 0.01)


def legacy(discover):
    """A server of the handshake's era that answers `server/discover` in its own way."""
    return Server(server__discover=discover)


def refuses(**error):
    return lambda message, reply: reply({"jsonrpc": "2.0", "id": message["id"], "error": error})


# stdio


async def test_a_modern_server_is_asked_one_thing_first(begin):
    """C-MOD-04."""
    session, starts = await begin(modern)
    assert starts.asked == [["server/discover"]]
    assert (session.server.era, session.server.revision) == ("modern", "2026-07-28")
    assert session.server.name == "modern"


@pytest.mark.parametrize(
    "error",
    [
        *({"code": code, "message": "no"} for code in (-32601, -32602, -32600, -32603, -32002, -32000, 0, 7)),
        {"code": -32022, "message": "unsupported", "data": {"supported": ["2025-11-25"], "requested": "x"}},
        {"code": -32022, "message": "unsupported"},
        {"code": -32022, "message": "unsupported", "data": {"supported": {"a": 1}}},
        {"code": "-32601", "message": {"a": 1}},
        {},
    ],
    ids=json.dumps,
)
async def test_any_error_of_another_era_leads_to_the_handshake_on_the_same_connection(begin, error):
    """C-MOD-05: none is looked for in particular."""
    session, starts = await begin(lambda: legacy(refuses(**error)))
    assert starts.asked == [["server/discover", "initialize"]]
    assert (session.server.era, session.server.revision) == ("legacy", "2025-11-25")


@pytest.mark.parametrize(
    "result", [None, [], "x", {}, {"supportedVersions": []}, {"supportedVersions": "2026-07-28"}, complete(tools=[])]
)
async def test_an_answer_that_is_none_leads_to_the_handshake(begin, result):
    """C-MOD-05."""
    session, _ = await begin(lambda: legacy(lambda message, reply: reply({"id": message["id"], "result": result})))
    assert session.server.era == "legacy"


@pytest.mark.parametrize(
    "noise", [[], [tell("notifications/message", level="info", data="x")], [{"id": "other", "result": {}}], [b"Hello!"]]
)
async def test_silence_leads_to_the_handshake_on_a_fresh_start(begin, hasty, noise):
    """C-MOD-05: the first one may be in a state that no handshake gets it out of."""
    session, starts = await begin(lambda: legacy(lambda message, reply: [reply(item) for item in noise]))
    assert starts.asked == [["server/discover"], ["initialize"]]
    assert session.server.era == "legacy"


@pytest.mark.parametrize("reads_at_last", [True, False])
async def test_a_probe_that_the_process_has_not_read_is_waited_for(begin, hasty, monkeypatch, reads_at_last):
    """A first `npx` downloads for longer than any server thinks; a restart would only interrupt it."""
    unread = 100

    def discover(message, reply):
        async def later():
            nonlocal unread
            await asyncio.sleep(0.2)
            unread = 0
            reply({"jsonrpc": "2.0", "id": message["id"], "result": DISCOVERED})

        return later() if reads_at_last else None

    monkeypatch.setattr(MemoryTransport, "unread", lambda self: unread)
    made = []
    if reads_at_last:
        session, starts = await begin(lambda: Server(server__discover=discover))
        assert starts.asked == [["server/discover"]]
        assert session.server.era == "modern"
    else:
        with pytest.raises(RequestTimeout, match="No response to server/discover"):
            await begin(lambda: made.append(Server(server__discover=discover)) or made[-1], timeout=0.2)
        assert len(made) == 1, "not started a second time"


async def test_an_exit_leads_to_the_handshake_on_a_fresh_start(begin):
    """C-MOD-05."""

    def dies(message, reply):
        raise ServerExited("The server ended.", status=1)

    session, starts = await begin(lambda: legacy(dies))
    assert starts.asked == [["server/discover"], ["initialize"]]
    assert session.server.era == "legacy"


async def test_a_server_that_the_probe_broke_is_restarted(begin):
    """C-MOD-05: it answers the question with an error and dies of the handshake after it."""

    def make():
        server = legacy(refuses(code=-32602, message="no"))

        def hello(message, reply):
            if len(server.seen) > 1:
                raise ServerExited("The server ended.", status=1)
            reply({"id": message["id"], "result": HELLO})

        server.initialize = hello
        return server

    session, starts = await begin(make)
    assert starts.asked == [["server/discover", "initialize"], ["initialize"]]
    assert session.server.era == "legacy"


async def test_a_handshake_that_is_refused_in_the_modern_way_means_a_modern_server(begin, hasty):
    """C-MOD-03, C-LIFE-06: one that was too slow for the question."""
    answers = iter([lambda message, reply: None])

    def make():
        server = modern()
        server.methods["server/discover"] = next(answers, DISCOVERED)
        data = {"supported": ["2026-07-28"], "requested": "2025-11-25"}
        server.initialize = refuses(code=-32022, message="unsupported", data=data)
        return server

    session, starts = await begin(make)
    assert starts.asked == [["server/discover"], ["initialize", "server/discover"]]
    assert session.server.era == "modern"


async def test_a_server_of_neither_era_is_reported_with_its_words(begin):
    """C-MOD-03."""
    data = {"supported": ["2031-01-01"], "requested": "2026-07-28"}
    with pytest.raises(HandshakeError, match="2031-01-01"):
        await begin(lambda: legacy(refuses(code=-32022, message="unsupported", data=data)))


@pytest.mark.slow
async def test_one_process_serves_every_call_of_a_session():
    """C-MOD-09: also after one was cancelled and one timed out."""
    code = (
        "import json, os, sys\n"
        "for line in sys.stdin:\n"
        "    m = json.loads(line)\n"
        "    if m.get('method') == 'server/discover':\n"
        "        r = {'supportedVersions': ['2026-07-28'], 'capabilities': {}}\n"
        "    elif m.get('method') == 'pid': r = {'pid': os.getpid()}\n"
        "    else: continue\n"
        "    print(json.dumps({'jsonrpc': '2.0', 'id': m['id'], 'result': {'resultType': 'complete', **r}}), flush=True)\n"
    )
    session = Session(StdioTarget((sys.executable, "-S", "-c", code)), Journal.unnamed({}), Options())
    await session.open()
    try:
        pids = [(await session.request("pid"))["pid"]]
        session.start("nothing").cancel()
        session.pending.expire(session.start("nothing"))
        pids.append((await session.request("pid"))["pid"])
        assert len(set(pids)) == 1
        assert session.server.era == "modern"
    finally:
        await session.close()
        session.journal.release()


# What is remembered


@pytest.fixture
def verdicts(tmp_path):
    verdicts = Verdicts(tmp_path / "eras.json", clock=lambda: verdicts.now)
    verdicts.now = 1e9
    return verdicts


async def test_a_server_that_made_the_handshake_is_not_asked_again(begin, verdicts):
    """C-MOD-07."""
    make = lambda: legacy(refuses(code=-32601, message="no"))  # noqa: E731
    await begin(make, verdicts=verdicts)
    session, starts = await begin(make, verdicts=verdicts)
    assert starts.asked == [["initialize"]]
    assert session.server.era == "legacy"


def test_two_verdicts_at_one_time_are_both_kept(verdicts, monkeypatch):
    one, other = StdioTarget(("one",)), StdioTarget(("other",))
    written, threads = verdicts._write, []

    def writes(known):
        if not threads:
            threads.append(Thread(target=verdicts.put, args=(other, "modern", "2026-07-28", "stdio", "b")))
            threads[0].start()
            threads[0].join(0.3)  # It must wait for the lock, so this times out.
        written(known)

    monkeypatch.setattr(verdicts, "_write", writes)
    verdicts.put(one, "legacy", "2025-11-25", "stdio", "a")
    threads[0].join()
    assert [verdicts.get(target).era for target in (one, other)] == ["legacy", "modern"]


async def test_any_name_of_a_server_is_remembered_with_escapes(begin, verdicts):
    def named():
        server = legacy(refuses(code=-32601, message="no"))
        server.initialize |= {"serverInfo": {"name": "\u202eshop\ud800", "version": "\x9b1"}}
        return server

    session, _ = await begin(named, verdicts=verdicts)
    assert b"\\u202eshop\\ud800 \\u009b1" in verdicts.path.read_bytes()
    assert verdicts.get(session.target).server == "\u202eshop\ud800 \x9b1"


async def test_a_wrong_verdict_is_negotiated_again(begin, verdicts):
    """C-MOD-07."""
    await begin(lambda: legacy(refuses(code=-32601, message="no")), verdicts=verdicts)
    session, starts = await begin(modern, verdicts=verdicts)
    assert session.server.era == "modern"
    assert starts.asked == [["initialize"], ["server/discover"]]
    _, starts = await begin(modern, verdicts=verdicts)
    assert starts.asked == [["server/discover"]]


async def test_what_was_remembered_wrongly_is_forgotten_though_nothing_else_works_either(begin, verdicts):
    """C-MOD-07."""

    def dies(message, reply):
        raise ServerExited("The server ended.", status=1)

    def broken():
        server = legacy(dies)
        server.initialize = dies
        return server

    session, _ = await begin(lambda: legacy(refuses(code=-32601, message="no")), verdicts=verdicts)
    assert verdicts.get(session.target) is not None
    with pytest.raises(ServerExited):
        await begin(broken, verdicts=verdicts)
    assert verdicts.get(session.target) is None


async def test_what_is_remembered_expires(begin, verdicts):
    """C-MOD-07."""
    make = lambda: legacy(refuses(code=-32601, message="no"))  # noqa: E731
    await begin(make, verdicts=verdicts)
    verdicts.now += EXPIRES
    _, starts = await begin(make, verdicts=verdicts)
    assert starts.asked == [["server/discover", "initialize"]]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"a":1}', b"\xff\xfe", b"[" * 100_000])
async def test_a_memory_that_cannot_be_read_is_none(begin, verdicts, content):
    verdicts.path.write_bytes(content)
    _, starts = await begin(modern, verdicts=verdicts)
    assert starts.asked == [["server/discover"]]


# HTTP


@pytest.fixture
async def visit():
    """`web, session = await visit(handler)`: open a session in `auto` at a scripted HTTP server."""
    made = []

    async def opened(handler, path="", **options):
        web = await Web(handler).__aenter__()
        options.setdefault("standing", StandingAnswers())
        url = web.url.removesuffix("/mcp") + path if path else web.url
        session = Session(HttpTarget(url), Journal.unnamed({}), Options(**options))
        made.append((web, session))
        await session.open()
        return web, session

    opened.made = made
    yield opened
    for web, session in made:
        await session.close()
        session.journal.release()
        await web.__aexit__()


def posted(web):
    return [request.rpc_method for request in web.requests if request.method == "POST"]


def rpc_error(request, code, **data):
    return {"jsonrpc": "2.0", "id": request.id, "error": {"code": code, "message": "no", "data": data}}


@pytest.mark.parametrize("code", [-32020, -32021])
async def test_an_error_of_the_modern_era_is_no_reason_for_a_handshake(visit, code):
    """C-MOD-06."""
    with pytest.raises(ServerError) as caught:
        await visit(lambda request, reply: reply.json(rpc_error(request, code), 400))
    assert caught.value.rpc_code == code
    assert set(posted(visit.made[0][0])) == {"server/discover"}


async def test_a_revision_that_the_server_names_is_tried_in_its_era(visit):
    """C-MOD-06, C-MOD-03."""
    left = [1]

    def picky(request, reply):
        if left:
            left.pop()
            reply.json(rpc_error(request, -32022, supported=["2026-07-28", "2025-11-25"]), 400)
        else:
            reply.json(answer_to(request, DISCOVERED))

    web, session = await visit(picky)
    assert posted(web) == ["server/discover", "server/discover"]
    assert session.server.era == "modern"


def handshake(request, reply):
    if request.rpc_method == "initialize":
        reply.json(answer_to(request, HELLO), 200, ("Mcp-Session-Id", "good"))
    elif "id" in (request.message or {}):
        reply.json(answer_to(request))
    else:
        reply.body(202)


@pytest.mark.parametrize(
    ("status", "body"),
    [(400, ""), (400, "<html>"), (400, "[1]"), (404, "<html>"), (405, ""), (406, "no"), (200, "<html>"), (202, "")],
)
async def test_a_refusal_without_such_an_error_leads_to_the_handshake(visit, status, body):
    """C-MOD-06, C-HTTP-10: and a session named in the refusal is none."""

    def handler(request, reply):
        if request.rpc_method == "server/discover":
            reply.body(status, body, ("Mcp-Session-Id", "bad"), ("Content-Type", "text/html"))
        else:
            handshake(request, reply)

    web, session = await visit(handler)
    assert session.server.era == "legacy"
    assert posted(web)[:2] == ["server/discover", "initialize"]
    assert web.requests[1].field("mcp-session-id") is None
    await session.ping()
    assert web.requests[-1].field("mcp-session-id") == "good"


@pytest.mark.parametrize("code", [-32601, -32600, -32000])
@pytest.mark.parametrize("status", [200, 400, 404])
async def test_an_rpc_error_of_another_era_leads_to_the_handshake(visit, status, code):
    """C-MOD-06."""

    def handler(request, reply):
        if request.rpc_method == "server/discover":
            reply.json(rpc_error(request, code), status)
        else:
            handshake(request, reply)

    web, session = await visit(handler)
    assert session.server.era == "legacy"
    assert posted(web)[:2] == ["server/discover", "initialize"]


class OldServer:
    """HTTP+SSE at one URL: a GET opens the stream, messages go to another path."""

    def __init__(self, status, path):
        self.status = status
        self.path = path
        self.stream = None

    async def __call__(self, request, reply):
        if request.method == "GET" and request.target == self.path:
            self.stream = reply
            reply.stream()
            reply.event("/messages?s=1", event="endpoint")
            await asyncio.Event().wait()
        elif request.target == self.path:
            reply.body(self.status, "Cannot POST", ("Content-Type", "text/html"))
        else:
            reply.body(202, "Accepted")
            if "id" in request.message:
                result = HELLO if request.rpc_method == "initialize" else {}
                self.stream.event(answer_to(request, result), event="message")


@pytest.mark.parametrize("path", ["/mcp", "/sse"])
@pytest.mark.parametrize("status", [400, 404, 405])
async def test_a_url_that_takes_no_post_may_be_that_of_an_event_stream(visit, status, path):
    """C-SSE-03, C-SSE-01, C-SSE-02."""
    web, session = await visit(OldServer(status, path), path)
    assert (session.server.era, session.transport.name) == ("legacy", "sse")
    await session.ping()
    assert [request.method for request in web.requests if request.target == path].count("GET") == 1
    assert web.requests[-1].target == "/messages?s=1"


@pytest.mark.parametrize("code", [-32020, -32021, -32022])
async def test_a_modern_refusal_never_leads_to_an_event_stream(visit, code):
    """C-SSE-03, C-MOD-06."""
    with pytest.raises((ServerError, HandshakeError)):
        await visit(lambda request, reply: reply.json(rpc_error(request, code, supported=["2031-01-01"]), 400))
    assert {request.method for request in visit.made[0][0].requests} == {"POST"}


@pytest.mark.parametrize("status", [404, 405])
async def test_what_is_not_a_server_at_all_is_reported_by_what_it_said_first(visit, status):
    """C-SSE-03."""
    with pytest.raises(HttpError) as caught:
        await visit(lambda request, reply: reply.body(status, "nothing here"))
    assert caught.value.status == status


async def test_a_page_at_sse_that_takes_no_post_advises_to_check_the_path(visit):
    """No transport was chosen that could be removed."""

    def handler(request, reply):
        reply.body(404 if request.method == "POST" else 200, "<html>a page", ("Content-Type", "text/html"))

    with pytest.raises(HttpError, match=r"answered 200 .* to GET") as caught:
        await visit(handler, "/sse")
    assert "check the path" in caught.value.hint


async def test_an_event_stream_without_an_endpoint_is_no_server(visit):
    """C-SSE-01, C-SSE-03."""

    def handler(request, reply):
        if request.method == "GET":
            reply.body(200, "event: hello\ndata: x\n\n", SSE)
        else:
            reply.body(405, "")

    with pytest.raises(HttpError):
        await visit(handler)

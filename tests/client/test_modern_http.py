"""The modern era over Streamable HTTP: headers, cancellation, and removed features."""

import asyncio

import pytest

from inspector.client.inbox import StandingAnswers
from inspector.client.options import Options
from inspector.client.session import Session
from inspector.config.targets import HttpTarget
from inspector.errors import (
    ConnectionProblem,
    HandshakeError,
    NotOffered,
    RequestCancelled,
    RequestTimeout,
    ServerError,
)
from inspector.journal.format import Kind
from inspector.journal.journal import Journal
from tests.client.conftest import until
from tests.client.modern import DISCOVERED, VERSION, complete, form, wanting
from tests.transports.scripted_http import Web, answer_to

GOOD = {"type": "string", "x-mcp-header": "Region"}
TOOLS = [
    {
        "name": "mirrors",
        "inputSchema": {
            "type": "object",
            "properties": {
                "region": GOOD,
                "count": {"type": "integer", "x-mcp-header": "Count"},
                "flag": {"type": "boolean", "x-mcp-header": "Flag"},
                "where": {"type": "object", "properties": {"city": {"type": "string", "x-mcp-header": "City"}}},
                "query": {"type": "string"},
            },
        },
    },
    {"name": "empty", "inputSchema": {"properties": {"a": {"type": "string", "x-mcp-header": ""}}}},
    {"name": "number", "inputSchema": {"properties": {"a": {"type": "number", "x-mcp-header": "A"}}}},
    {"name": "items", "inputSchema": {"properties": {"a": {"type": "array", "items": GOOD}}}},
    {"name": "plain", "inputSchema": {"type": "object"}},
]


class Modern:
    """Answers by method, as JSON; a callable of `methods` gets (request, reply) and may be a coroutine function."""

    def __init__(self, **methods):
        self.methods = {"server/discover": DISCOVERED, "tools/list": complete(tools=TOOLS)}
        self.methods |= {name.replace("__", "/"): answer for name, answer in methods.items()}

    async def __call__(self, request, reply):
        answer = self.methods.get(request.rpc_method)
        if callable(answer):
            made = answer(request, reply)
            if asyncio.iscoroutine(made):
                await made
        elif answer is None:
            reply.json(error_to(request, -32601, "Method not found"), 404)
        else:
            reply.json(answer_to(request, answer), 200, ("Mcp-Session-Id", "never-to-be-used"))


def error_to(request, code, message, **data):
    error = {"code": code, "message": message}
    return {"jsonrpc": "2.0", "id": request.id, "error": error | ({"data": data} if data else {})}


@pytest.fixture
async def visit():
    """`web, session = await visit(handler, **options)`: an open session with a scripted server."""
    made = []

    async def opened(handler, *, start=True, **options):
        web = await Web(handler).__aenter__()
        options.setdefault("era", "modern")
        session = Session(HttpTarget(web.url), Journal.unnamed({}), Options(**options))
        made.append((web, session))
        if start:
            await session.open()
        return web, session

    yield opened
    for web, session in made:
        await session.close()
        session.journal.release()
        await web.__aexit__()


def requests_of(web, method):
    return [request for request in web.requests if request.rpc_method == method]


def mirrored(request):
    """The parameters in the header of a request."""
    return {name.lower(): value for name, value in request.fields if name.lower().startswith("mcp-param-")}


# Header fields


async def test_every_post_says_revision_and_method_and_what_it_names(visit):
    """C-HTTP-30, C-HTTP-31, C-HTTP-01, C-HTTP-02, C-MOD-04."""
    web, session = await visit(
        Modern(tools__call=complete(), prompts__get=complete(), resources__read=complete(), tasks__get=complete())
    )
    await session.call_tool("plain").result()
    await session.get_prompt("Grüße").result()
    await session.read_resource("file:///a%20b").result()
    await session.request("tasks/get", {"taskId": " t"})
    await session.load("tools")
    for request in web.requests:
        assert request.method == "POST"
        assert request.field("mcp-protocol-version") == "2026-07-28" == request.message["params"]["_meta"][VERSION]
        assert request.field("mcp-method") == request.rpc_method
        assert request.field("accept") == "application/json, text/event-stream"
    names = [(request.rpc_method, request.field("mcp-name")) for request in web.requests]
    assert names == [
        ("server/discover", None),
        ("tools/call", "plain"),
        ("prompts/get", "=?base64?R3LDvMOfZQ==?="),
        ("resources/read", "file:///a%20b"),
        ("tasks/get", "=?base64?IHQ=?="),
        ("tools/list", None),
    ]


async def test_a_notification_says_revision_and_method_too(visit):
    """C-HTTP-30."""
    web, session = await visit(Modern())
    session.notify("notifications/x", {})
    session.send_raw(b'{"jsonrpc":"2.0","method":"notifications/y"}')
    await until(lambda: len(web.requests) == 3)
    for request in web.requests:
        assert request.field("mcp-protocol-version") == "2026-07-28"
        assert request.field("mcp-method") == request.rpc_method


async def test_a_revision_put_into_meta_by_hand_is_that_of_the_header(visit):
    """C-HTTP-30."""
    web, session = await visit(Modern(x=complete()))
    await session.request("x", {"_meta": {VERSION: "1999-01-01"}})
    assert web.requests[-1].field("mcp-protocol-version") == "1999-01-01"


async def test_annotated_arguments_stand_in_the_header(visit):
    """C-HTTP-33, C-HTTP-32."""
    web, session = await visit(Modern(tools__call=complete()))
    await session.load("tools")
    arguments = {"region": " eu", "count": 42, "flag": False, "where": {"city": ""}, "query": "no"}
    await session.call_tool("mirrors", arguments).result()
    await session.call_tool("mirrors", {"region": None, "where": {}}).result()
    first, second = requests_of(web, "tools/call")
    assert mirrored(first) == {
        "mcp-param-region": "=?base64?IGV1?=",
        "mcp-param-count": "42",
        "mcp-param-flag": "false",
        "mcp-param-city": "",
    }
    assert first.message["params"]["arguments"] == arguments
    assert mirrored(second) == {}
    assert second.message["params"]["arguments"] == {"region": None, "where": {}}


@pytest.mark.parametrize("name", ["empty", "number", "items"])
async def test_a_tool_that_breaks_the_rules_is_listed_with_the_reason_and_not_called(visit, name):
    """C-HTTP-34."""
    web, session = await visit(Modern(tools__call=complete()))
    await session.load("tools")
    assert session.catalog.tools.get(name) is not None
    assert set(session.refused_tools) == {"empty", "number", "items"}
    with pytest.raises(NotOffered) as caught:
        session.call_tool(name, {"a": "x"})
    assert session.refused_tools[name][0] in caught.value.message
    assert requests_of(web, "tools/call") == []
    await session.call_tool("mirrors").result()


async def test_a_tool_that_was_put_right_can_be_called_again(visit):
    """C-HTTP-34."""
    handler = Modern(tools__call=complete())
    web, session = await visit(handler)
    await session.load("tools")
    handler.methods["tools/list"] = complete(tools=[{"name": "empty", "inputSchema": {"properties": {"a": GOOD}}}])
    await session.load("tools")
    assert session.refused_tools == {}
    await session.call_tool("empty", {"a": "x"}).result()
    assert mirrored(requests_of(web, "tools/call")[0]) == {"mcp-param-region": "x"}


def wants_header(request, reply):
    """Refuses a call without the field `Mcp-Param-Region`."""
    if request.field("mcp-param-region") is None:
        reply.json(error_to(request, -32020, "Header mismatch"), 400)
    else:
        reply.json(answer_to(request, complete(ok=True)))


async def test_after_a_header_mismatch_the_tools_are_listed_and_the_call_is_made_once_more(visit):
    """C-HTTP-35: with an id of its own."""
    web, session = await visit(Modern(tools__call=wants_header))
    assert await session.call_tool("mirrors", {"region": "eu"}).result() == complete(ok=True)
    assert [request.rpc_method for request in web.requests] == [
        "server/discover",
        "tools/call",
        "tools/list",
        "tools/call",
    ]
    first, second = requests_of(web, "tools/call")
    assert first.id != second.id
    assert mirrored(second) == {"mcp-param-region": "eu"}


async def test_a_header_mismatch_that_stays_is_reported(visit):
    """C-HTTP-35: once."""
    refuse = lambda request, reply: reply.json(error_to(request, -32020, "Header mismatch"), 400)  # noqa: E731
    web, session = await visit(Modern(tools__call=refuse))
    with pytest.raises(ServerError, match="Header mismatch") as caught:
        await session.call_tool("mirrors", {"region": "eu"}).result()
    assert caught.value.rpc_code == -32020
    assert len(requests_of(web, "tools/call")) == 2
    assert len(requests_of(web, "tools/list")) == 1


@pytest.mark.slow
async def test_a_call_that_was_corrected_may_want_input_and_become_a_task(visit):
    """C-HTTP-35, C-MRTR-01, C-TASK-02: what carries a call on can follow each other, each with a request of its own."""
    result = {"content": [{"type": "text", "text": "done"}]}

    def call(request, reply):
        params = request.message["params"]
        if request.field("mcp-param-region") is None:
            reply.json(error_to(request, -32020, "Header mismatch"), 400)
        elif "requestState" not in params:
            reply.json(answer_to(request, wanting({"q": form()}, state="s")))
        else:
            reply.json(answer_to(request, {"resultType": "task", "taskId": "t-1", "status": "working"}))

    state = complete(taskId="t-1", status="completed", result=result)
    web, session = await visit(
        Modern(tools__call=call, tasks__get=state), standing=StandingAnswers(elicitation={"name": "Ann"})
    )
    sent = session.call_tool("mirrors", {"region": "eu"})
    assert await sent.result() == result
    first, second, third = requests_of(web, "tools/call")
    assert len({first.id, second.id, third.id}) == 3
    assert third.message["params"]["inputResponses"] == {"q": {"action": "accept", "content": {"name": "Ann"}}}
    assert session.tasks.of_call(sent.n).id == "t-1"
    assert session.tasks.of_call(sent.n).call_n == sent.n


# Answers


@pytest.mark.parametrize(("status", "code"), [(400, -32602), (404, -32601), (422, -32603), (500, -32603)])
async def test_an_error_in_the_body_of_a_refusal_is_the_answer(visit, status, code):
    """C-HTTP-38."""
    refuse = lambda request, reply: reply.json(error_to(request, code, "told why"), status)  # noqa: E731
    _, session = await visit(Modern(x=refuse))
    with pytest.raises(ServerError, match="told why") as caught:
        await session.request("x")
    assert caught.value.rpc_code == code
    assert session.phase == "ready"


async def test_an_unsupported_revision_in_the_middle_is_corrected_once(visit):
    """C-MOD-03."""
    left = [1]

    def picky(request, reply):
        if left:
            left.pop()
            reply.json(error_to(request, -32022, "unsupported", supported=["2026-07-28"], requested="x"), 400)
        else:
            reply.json(answer_to(request, complete(ok=True)))

    web, session = await visit(Modern(x=picky))
    assert await session.request("x") == complete(ok=True)
    assert len({request.id for request in requests_of(web, "x")}) == 2


async def test_input_is_given_over_http_too(visit):
    """C-MRTR-01, C-MRTR-02."""

    def call(request, reply):
        again = "inputResponses" in request.message["params"]
        reply.json(answer_to(request, complete(ok=True) if again else wanting({"a": form()}, "é")))

    web, session = await visit(Modern(tools__call=call), standing=StandingAnswers(elicitation="decline"))
    await session.load("tools")
    assert await session.call_tool("mirrors", {"region": "eu"}).result() == complete(ok=True)
    first, second = requests_of(web, "tools/call")
    assert mirrored(first) == mirrored(second) == {"mcp-param-region": "eu"}
    assert first.id != second.id
    assert second.message["params"]["requestState"] == "é"
    assert second.message["params"]["inputResponses"] == {"a": {"action": "decline"}}


# Cancellation, and removed features


async def stream_for_ever(request, reply):
    reply.stream()
    reply.event({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "begun"}})
    try:
        while True:
            await reply.writer.drain()
            reply.chunk(": still here\n\n")
            await asyncio.sleep(0.002)
    finally:
        stream_for_ever.closed.set()


@pytest.mark.parametrize("way", ["cancel", "timeout"])
async def test_a_call_is_cancelled_by_closing_its_stream_and_nothing_is_sent(visit, way):
    """C-HTTP-36, C-CANC-01, C-LIFE-09."""
    stream_for_ever.closed = asyncio.Event()
    web, session = await visit(Modern(tools__call=stream_for_ever, x=complete()))
    call = session.call_tool("plain")
    await until(lambda: any(event.kind is Kind.SSE or "begun" in event.text for event in session.journal.events()))
    if way == "cancel":
        call.cancel()
    else:
        session.pending.expire(call)
    with pytest.raises(RequestCancelled if way == "cancel" else RequestTimeout):
        await call.result()
    async with asyncio.timeout(5):
        await stream_for_ever.closed.wait()
    await session.request("x")
    assert [request.rpc_method for request in web.requests] == ["server/discover", "tools/call", "x"]


async def test_a_call_cancelled_while_input_is_wanted_sends_nothing(visit):
    """C-HTTP-36, C-CANC-01."""
    handler = Modern(tools__call=lambda request, reply: reply.json(answer_to(request, wanting({"a": form()}))))
    web, session = await visit(handler, standing=StandingAnswers(elicitation="ask"))
    call = session.call_tool("plain")
    await until(session.inbox.open)
    call.cancel()
    with pytest.raises(RequestCancelled):
        await call.result()
    handler.methods["x"] = complete()
    await session.request("x")
    assert [request.rpc_method for request in web.requests] == ["server/discover", "tools/call", "x"]


async def test_there_are_no_sessions_no_streams_of_their_own_and_no_goodbye(visit):
    """C-HTTP-37: though the server names a session."""
    web, session = await visit(Modern(tools__call=complete()))
    await session.call_tool("plain").result()
    await session.load("tools")
    await session.close()
    assert {request.method for request in web.requests} == {"POST"}
    for request in web.requests:
        assert request.field("mcp-session-id") is None
        assert request.field("last-event-id") is None


async def test_a_request_lost_with_its_stream_is_lost_and_not_resumed(visit):
    """C-MOD-12, C-HTTP-37: a retry would be another request."""

    def breaks(request, reply):
        reply.stream()
        reply.event({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info"}}, id="e-1")
        reply.reset()

    handler = Modern(tools__call=breaks)
    web, session = await visit(handler)
    lost = session.call_tool("plain")
    with pytest.raises(ConnectionProblem):
        await lost.result()
    assert session.phase == "ready"
    assert session.exchange_lost
    handler.methods["tools/call"] = complete(ok=True)
    again = session.call_tool("plain")
    assert await again.result() == complete(ok=True)
    assert not session.exchange_lost
    assert again.id != lost.id
    assert [request.rpc_method for request in web.requests] == ["server/discover", "tools/call", "tools/call"]
    assert all(request.field("last-event-id") is None for request in web.requests)


# Subscriptions


def listen(request, reply):
    """Agree to everything on a stream that stays open."""
    requested = request.message["params"]["notifications"]
    params = {"notifications": requested, "_meta": {"io.modelcontextprotocol/subscriptionId": request.id}}
    reply.stream()
    reply.event({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params})
    over = asyncio.Event()
    listen.streams.append((request, reply, over))
    return over.wait()


async def test_a_listening_stream_that_broke_is_opened_again_and_one_that_ended_is_not(visit, monkeypatch):
    """C-SUB-03, C-SUB-02, C-CANC-03."""
    monkeypatch.setattr("inspector.client.engine.subscription_stream.FIRST_PAUSE", 0.0)
    listen.streams = streams = []
    web, session = await visit(Modern(subscriptions__listen=listen, x=complete()))
    await session.listen()
    streams[0][1].reset()
    await until(lambda: len(streams) == 2)
    await until(lambda: session.driver.listening.stream is not None)
    request, reply, over = streams[1]
    assert request.id != streams[0][0].id
    assert request.message["params"]["notifications"] == streams[0][0].message["params"]["notifications"]
    assert request.field("last-event-id") is None
    reply.event(answer_to(request, complete()))
    reply.end()
    over.set()
    await until(lambda: session.subscriptions.refused)
    await session.request("x")
    assert len(requests_of(web, "subscriptions/listen")) == 2


# Which era


async def test_a_pinned_era_that_the_server_does_not_speak_is_reported_with_its_words(visit):
    """C-MOD-03, C-MOD-06."""

    def legacy(request, reply):
        reply.json(error_to(request, -32022, "Unsupported", supported=["2025-11-25"], requested="2026-07-28"), 400)

    web, session = await visit(legacy, start=False)
    with pytest.raises(HandshakeError, match="2025-11-25") as caught:
        await session.open()
    assert "--era legacy" in caught.value.hint.command_line
    assert all(request.rpc_method == "server/discover" for request in web.requests)

"""Rules of the handshake's era that hold for everything that is sent, whatever the server does."""

import asyncio

import pytest

from inspector.client.inbox import StandingAnswers
from inspector.errors import NotOffered, RequestTimeout, ServerError
from inspector.journal.format import Dir, Kind
from inspector.protocol.revisions import LEGACY
from tests.client.conftest import Server, make_session, until

FORM = {"message": "?", "requestedSchema": {"type": "object", "properties": {}}}


def ask(id, method, params=None):
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}}


def tell(method, **params):
    return {"jsonrpc": "2.0", "method": method, "params": params}


def sent(session):
    """Every message that went to the server, as it went."""
    events = [session.journal.event(n) for n in range(1, len(session.journal) + 1)]
    return [event.message for event in events if event.dir is Dir.SEND and event.kind is not Kind.LIFE]


def busy_server(revision):
    """A server that lists, asks, tells, forgets requests and takes its own back."""

    async def call(message, reply):
        reply(ask("q", "elicitation/create", FORM))
        reply(ask(7, "roots/list"))
        reply(ask("w", "sampling/createMessage", {"maxTokens": 5}))
        reply(ask("u", "no/such"))
        reply(tell("notifications/progress", progressToken=message["params"]["_meta"]["progressToken"], progress=1))
        reply(tell("notifications/cancelled", requestId="w"))
        reply({"id": message["id"], "result": {"content": []}})

    server = Server(
        tools__call=call,
        tools__list={"tools": [{"name": "t"}], "nextCursor": "t"},
        resources__read={"contents": []},
        completion__complete={"completion": {"values": []}},
        logging__setLevel={},
        resources__subscribe={},
        ping={},
        forgotten=lambda message, reply: None,
    )
    server.initialize = server.initialize | {"protocolVersion": revision}
    return server


async def everything(session):
    """Use all that a session can do."""
    await session.load("tools")
    await session.call_tool("t", {"a": 1}).result()
    for question in session.inbox.open():
        question.decline()
    await session.read_resource("a:b").result()
    await session.complete({"type": "ref/prompt", "name": "p"}, "a", "b", {"c": "d"})
    await session.set_log_level("info")
    await session.subscribe("a:b")
    await session.ping()
    with pytest.raises(RequestTimeout):
        await session.start("forgotten", timeout=0.01).result()
    session.start("forgotten").cancel()
    session.start("tools/list", {"_meta": {"example.com/mine": 1}}).cancel()
    session.driver.roots_changed()


@pytest.mark.parametrize("revision", LEGACY)
async def test_all_that_is_sent_is_one_lawful_message_each(connect, revision):
    """C-BASE-01, C-BASE-02, C-BASE-05, C-BASE-06, C-BASE-08, C-LIFE-03."""
    async with connect(busy_server(revision), era="legacy") as session:
        await everything(session)
        messages = sent(session)
    assert len(messages) >= 17
    for message in messages:
        assert isinstance(message, dict), "never an array"
        assert message["jsonrpc"] == "2.0"
        if message.get("method", "").startswith("notifications/"):
            assert "id" not in message
        elif "method" in message:
            assert type(message["id"]) in (int, str)
        else:
            assert ("result" in message) + ("error" in message) == 1
            assert message["id"] in ("q", 7, "u")
            assert type(message.get("error", {"code": 0})["code"]) is int


async def test_what_we_put_into_meta_is_a_progress_token_and_nothing_else(connect):
    """C-BASE-11, C-BASE-12: no key of ours, and no trace unless requested."""
    async with connect(busy_server("2025-11-25"), era="legacy") as session:
        await everything(session)
        keys = {key for message in sent(session) for key in message.get("params", {}).get("_meta", {})}
    assert keys == {"progressToken", "example.com/mine"}


async def test_progress_tokens_of_running_requests_differ(connect):
    """C-PROG-01."""
    server = Server(x=lambda message, reply: None)
    async with connect(server, era="legacy") as session:
        for _ in range(50):
            session.start("x")
        await until(lambda: len(server.asked("x")) == 50)
        tokens = [message["params"]["_meta"]["progressToken"] for message in server.asked("x")]
        assert len({(type(token), token) for token in tokens}) == 50
        assert {type(token) for token in tokens} <= {int, str}


async def test_progress_of_an_unknown_token_is_dropped(connect):
    """C-PROG-02: a token of the other type is another one, and that of a finished call is none any more."""
    calls, finished = [], []

    def answer(message, reply):
        token = message["params"]["_meta"]["progressToken"]
        for wrong in (str(token), token + 1000, None, True, {"a": token}, *finished):
            reply(tell("notifications/progress", progressToken=wrong, progress=1))
        reply({"id": message["id"], "result": {}})

    async with connect(Server(x=answer), era="legacy") as session:
        for _ in range(2):
            calls.append(session.start("x"))
            await calls[-1].result()
            finished.append(calls[-1].token)
        assert [call.progress for call in calls] == [None, None]


@pytest.mark.parametrize(
    "notification",
    [
        tell("notifications/no/such"),
        tell("notifications/elicitation/complete", elicitationId="unknown"),
        tell("notifications/cancelled", requestId=99),
        tell("notifications/tools/list_changed"),
        tell("ping"),
        tell("elicitation/create", **FORM),
        {"jsonrpc": "2.0", "id": None, "method": "roots/list"},
        {"jsonrpc": "2.0", "method": "notifications/message", "params": "nonsense"},
    ],
    ids=lambda notification: notification["method"],
)
async def test_no_notification_is_answered(connect, notification):
    """C-BASE-05, C-ELIC-05: whatever its method, even without a receiver."""

    def answer(message, reply):
        reply(notification)
        reply({"id": message["id"], "result": {}})

    server = Server(x=answer, ping={})
    async with connect(server, era="legacy") as session:
        await session.request("x")
        await session.ping()
        assert [message.get("method") for message in server.seen] == [
            "initialize",
            "notifications/initialized",
            "x",
            "ping",
        ]
        assert session.inbox.questions == []


async def test_before_the_answer_to_initialize_only_a_ping_is_answered_and_nothing_else_is_sent():
    """C-LIFE-05, C-PING-01."""
    server = Server()
    hello, ready = server.initialize, asyncio.Event()

    async def slow(message, reply):
        reply(ask("early", "ping"))
        await ready.wait()
        reply({"id": message["id"], "result": hello})

    server.initialize = slow
    session = make_session(server, era="legacy", log_level="debug")
    opening = asyncio.create_task(session.open())
    await until(lambda: len(server.seen) == 2)
    assert server.seen[1] == {"jsonrpc": "2.0", "id": "early", "result": {}}
    ready.set()
    await opening
    assert server.seen[2]["method"] == "notifications/initialized"
    await session.close()
    session.journal.release()


@pytest.mark.parametrize("info", [None, "x", {}, {"name": "mcp-hub", "version": "0"}, {"name": 5, "version": ["9"]}])
async def test_what_a_server_says_of_itself_changes_nothing(connect, info):
    """C-MOD-08, which holds in every era."""
    plain, server = busy_server("2025-11-25"), busy_server("2025-11-25")
    server.initialize = server.initialize | {"serverInfo": info}
    async with connect(plain, era="legacy") as one, connect(server, era="legacy") as other:
        await everything(one)
        await everything(other)
        assert sent(one) == sent(other)


@pytest.mark.parametrize("code", [-32602, -32002, -32001, -32019])
async def test_a_resource_that_is_not_there_is_the_servers_error_whatever_its_code(connect, code):
    """C-RES-01, C-BASE-10: the code is shown and nothing is read into it."""

    def missing(message, reply):
        reply({"id": message["id"], "error": {"code": code, "message": "no such resource", "data": {"uri": "a:b"}}})

    async with connect(Server(resources__read=missing), era="legacy") as session:
        with pytest.raises(ServerError, match="no such resource") as caught:
            await session.read_resource("a:b").result()
        assert (caught.value.rpc_code, caught.value.data) == (code, {"uri": "a:b"})
        assert session.phase == "ready"


async def test_prompts_come_in_pages_too(connect):
    """C-PROM-01, C-PAG-02."""

    def pages(message, reply):
        if "cursor" in message.get("params", {}):
            reply({"id": message["id"], "result": {"prompts": [{"name": "b"}, {"name": "c"}]}})
        else:
            reply({"id": message["id"], "result": {"prompts": [{"name": "a"}], "nextCursor": "2"}})

    async with connect(Server(prompts__list=pages), era="legacy") as session:
        await session.load("prompts")
        assert [prompt["name"] for prompt in session.catalog.prompts.items] == ["a", "b", "c"]


async def test_a_call_and_its_response_are_recorded_before_they_are_reported(connect):
    """C-TOOL-03."""
    async with connect(Server(tools__call={"content": []}), era="legacy") as session:
        call = session.call_tool("t", {"amount": 7})
        assert session.journal.event(call.n).message["params"]["arguments"] == {"amount": 7}
        await call.result()
        assert session.journal.event(call.answer_n).message["result"] == {"content": []}


@pytest.mark.parametrize("roots", [("file:///a",), "ask", None])
async def test_roots_are_reported_of_only_where_they_were_declared(connect, roots):
    """C-ROOT-01, C-LIFE-07."""
    server = Server(ping={})
    async with connect(server, era="legacy", standing=StandingAnswers(roots=roots)) as session:
        session.driver.roots_changed()
        await session.ping()
        declared = "roots" in server.seen[0]["params"]["capabilities"]
        assert declared == (roots is not None)
        assert len(server.asked("notifications/roots/list_changed")) == declared


async def test_a_revision_that_was_agreed_on_stays(connect):
    """C-LIFE-07: what only other revisions have is not sent."""
    server = Server(completion__complete={"completion": {"values": []}}, tools__call={"content": []})
    server.initialize = server.initialize | {"protocolVersion": "2025-03-26", "capabilities": {"tools": {}}}
    async with connect(server, era="legacy") as session:
        with pytest.raises(NotOffered):
            await session.complete({"type": "ref/prompt", "name": "p"}, "a", "b")
        await session.call_tool("t").result()
        assert session.server.revision == "2025-03-26"
        assert not server.asked("completion/complete")


RESULT = {"type": "tool_result", "toolUseId": "1", "content": []}


async def answer_of(session, server, method, params):
    """Return the response that the server gets to this request."""
    server.methods["x"] = lambda message, reply: [
        reply(ask("asked", method, params)),
        reply({"id": message["id"], "result": {}}),
    ]
    await session.request("x")
    await until(lambda: any(message.get("id") == "asked" for message in server.seen))
    return next(message for message in server.seen if message.get("id") == "asked")


@pytest.mark.parametrize("mode", ["no-such", 7, None, ["form"], {"form": {}}])
async def test_a_mode_of_any_kind_that_was_not_declared_is_refused(connect, mode):
    """C-ELIC-06."""
    server = Server()
    async with connect(server, era="legacy") as session:
        answer = await answer_of(session, server, "elicitation/create", {"mode": mode, "message": "?"})
        assert answer["error"]["code"] == -32602
        assert session.inbox.questions == []


@pytest.mark.parametrize(
    ("revision", "more"),
    [
        ("2025-06-18", {"tools": []}),
        ("2025-11-25", {"messages": [{"role": "user", "content": [RESULT, {"type": "text", "text": "x"}]}]}),
        ("2025-11-25", {"messages": [{"role": "assistant", "content": {"type": "tool_use", "id": "1"}}]}),
    ],
)
async def test_a_sampling_request_that_may_not_be_answered_is_refused(connect, revision, more):
    """C-SAMP-03."""
    server = Server()
    server.initialize = server.initialize | {"protocolVersion": revision}
    async with connect(server, era="legacy") as session:
        params = {"messages": [], "maxTokens": 5, **more}
        answer = await answer_of(session, server, "sampling/createMessage", params)
        assert answer["error"]["code"] == -32602
        assert session.inbox.questions == []

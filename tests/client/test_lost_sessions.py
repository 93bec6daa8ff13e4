"""Sessions over HTTP that the server forgets before they are used (C-HTTP-12)."""

import asyncio

import pytest

from inspector.client.options import Options
from inspector.client.session import Session
from inspector.config.targets import HttpTarget
from inspector.errors import SessionLost
from inspector.journal.journal import Journal
from tests.client.conftest import until
from tests.transports.scripted_http import Web

INITIALIZED = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "s", "version": "1"},
}


class Forgetful:
    """Forgets the session `session-N` as soon as it gets `forgets[N]`; a request of a session that it forgot gets 404."""

    def __init__(self, **forgets):
        self.forgets = forgets
        self.live = set()
        self.begun = 0
        self.answered = []

    def __call__(self, request, reply):
        method, name = request.rpc_method, request.field("mcp-session-id")
        if method == "initialize":
            self.begun += 1
            self.live.add(f"session-{self.begun}")
            reply.result(request, INITIALIZED, ("Mcp-Session-Id", f"session-{self.begun}"))
            return
        number = (name or "").rpartition("-")[2]
        if method == self.forgets.get(f"of_{number}", self.forgets.get("of_each", "never")):
            self.live.discard(name)
        if name not in self.live:
            error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32001, "message": "Session not found"}}
            reply.json(error, 404 if name else 400)
        elif method is None or "id" not in request.message:
            reply.body(202 if request.method == "POST" else 405)
        else:
            self.answered.append((name, method))
            reply.result(request, {"tools": []})


@pytest.fixture
async def opened():
    """`session = await opened(handler)`: a session over Streamable HTTP."""
    made = []

    async def opened(handler):
        web = await Web(handler).__aenter__()
        session = Session(HttpTarget(web.url), Journal.unnamed({}), Options(era="legacy"))
        made.append((web, session))
        await session.open()
        return session

    yield opened
    for web, session in made:
        await session.close()
        session.journal.release()
        await web.__aexit__()


@pytest.mark.parametrize("method", ["notifications/initialized", "tools/list"])
async def test_a_session_lost_before_it_was_used_is_begun_again(opened, method):
    server = Forgetful(of_1=method)
    session = await opened(server)
    await session.load("tools")
    assert server.answered == [("session-2", "tools/list")]
    assert server.begun == 2


async def test_a_request_between_two_sessions_is_sent_in_the_next_one(opened):
    server = Forgetful(of_1="a")
    refused = asyncio.Event()

    async def slow_to_begin(request, reply):
        if request.rpc_method == "initialize" and server.begun:
            await refused.wait()
        server(request, reply)
        if request.rpc_method == "b":
            refused.set()

    session = await opened(slow_to_begin)
    lost = session.start("a")
    await until(lambda: session.transport.between_sessions)
    between = session.start("b")
    await lost.result()
    await between.result()
    assert sorted(server.answered) == [("session-2", "a"), ("session-2", "b")]
    assert server.begun == 2


async def test_a_late_loss_of_an_earlier_session_begins_none(opened):
    server = Forgetful(of_1="a")
    renewed = asyncio.Event()

    async def late(request, reply):
        session = request.field("mcp-session-id")
        if (request.rpc_method, session) == ("b", "session-1"):
            await renewed.wait()
        server(request, reply)
        if (request.rpc_method, session) == ("a", "session-2"):
            renewed.set()

    session = await opened(late)
    calls = [session.start("b"), session.start("a")]
    for call in calls:
        await call.result()
    assert sorted(server.answered) == [("session-2", "a"), ("session-2", "b")]
    assert server.begun == 2


async def test_each_session_that_is_lost_is_begun_again(opened):
    server = Forgetful(of_1="a", of_2="b", of_3="c")
    session = await opened(server)
    for method in "abc":
        await session.request(method)
    assert server.answered == [("session-2", "a"), ("session-3", "b"), ("session-4", "c")]


async def test_a_request_that_loses_each_session_fails_after_the_second(opened):
    server = Forgetful(of_each="tools/list")
    session = await opened(server)
    with pytest.raises(SessionLost):
        await session.request("tools/list")
    assert server.begun <= 3

"""Error -32042: URLs that a person must visit before a call is retried (revision 2025-11-25)."""

import pytest

from inspector.client.inbox import StandingAnswers
from inspector.errors import RequestCancelled, ServerError
from tests.client.conftest import Server, until

URL = "https://example.com/connect?id="


def tell(method, **params):
    return {"jsonrpc": "2.0", "method": method, "params": params}


def link(id):
    return {"mode": "url", "elicitationId": id, "url": URL + str(id), "message": "please"}


def wants_visits(*elicitations, times=1, **data):
    """A server whose tool wants these URLs visited so many times, and can say that they were."""
    left = [times]
    replies = []

    def call(message, reply):
        replies.append(reply)
        if left[0]:
            left[0] -= 1
            error = {"code": -32042, "message": "visit", "data": {"elicitations": list(elicitations), **data}}
            reply({"id": message["id"], "error": error})
        else:
            reply({"id": message["id"], "result": {"content": []}})

    server = Server(tools__call=call)
    server.complete = lambda id: replies[-1](tell("notifications/elicitation/complete", elicitationId=id))
    return server


async def test_a_call_is_made_again_when_every_url_was_agreed_to_and_completed(connect):
    """C-ELIC-05: once more, with a new id; what is completed twice or unknown means nothing."""
    server = wants_visits(link("a"), link("b"))
    async with connect(server, era="legacy") as session:
        call = session.call_tool("t", {"x": 1})
        await until(lambda: len(session.inbox.open()) == 2)
        assert [question.params["url"] for question in session.inbox.open()] == [URL + "a", URL + "b"]
        assert {question.mode for question in session.inbox.open()} == {"url"}
        for id in ("unknown", 7, None, {"a": 1}, "a", "a"):
            server.complete(id)
        for question in session.inbox.open():
            question.accept(None)
        assert call.fate == "pending"
        assert len(server.asked("tools/call")) == 1
        server.complete("b")
        assert await call.result() == {"content": []}
        first, second = server.asked("tools/call")
        assert first["id"] != second["id"]
        assert first["params"]["arguments"] == second["params"]["arguments"] == {"x": 1}


@pytest.mark.parametrize("act", ["decline", "cancel"])
async def test_a_url_that_is_not_agreed_to_ends_the_call_with_the_servers_error(connect, act):
    """C-ELIC-05, C-ELIC-02."""
    server = wants_visits(link("a"), link("b"))
    async with connect(server, era="legacy") as session:
        call = session.call_tool("t")
        await until(lambda: len(session.inbox.open()) == 2)
        getattr(session.inbox.open()[0], act)()
        session.inbox.open()[0].accept(None)
        with pytest.raises(ServerError) as caught:
            await call.result()
        assert caught.value.rpc_code == -32042
        assert "not accepted" in caught.value.hint
        assert len(server.asked("tools/call")) == 1


async def test_a_server_that_wants_it_again_and_again_is_reported_to_the_user(connect):
    """C-ELIC-05: one retry is made by itself; the next is the user's."""
    server = wants_visits(link("a"), times=9)
    async with connect(server, era="legacy") as session:
        call = session.call_tool("t")
        await until(session.inbox.open)
        session.inbox.open()[0].accept(None)
        server.complete("a")
        with pytest.raises(ServerError) as caught:
            await call.result()
        assert caught.value.rpc_code == -32042
        assert len(server.asked("tools/call")) == 2


async def test_a_call_that_is_cancelled_meanwhile_is_not_made_again(connect):
    """C-CANC-01, C-ELIC-05."""
    server = wants_visits(link("a"))
    async with connect(server, era="legacy") as session:
        call = session.call_tool("t")
        await until(session.inbox.open)
        question = session.inbox.open()[0]
        call.cancel()
        with pytest.raises(RequestCancelled):
            await call.result()
        assert question.state == "withdrawn"
        server.complete("a")
        server.methods["x"] = {}
        await session.request("x")
        assert len(server.asked("tools/call")) == 1


@pytest.mark.parametrize(
    "elicitations", [[], None, "x", {"a": 1}, [None, 7, "x"], [{"elicitationId": "a"}], [{"url": ["https://e/"]}]]
)
async def test_without_a_url_it_is_an_error_like_any_other(connect, elicitations):
    server = wants_visits()
    server.methods["tools/call"] = lambda message, reply: reply(
        {"id": message["id"], "error": {"code": -32042, "message": "visit", "data": {"elicitations": elicitations}}}
    )
    async with connect(server, era="legacy") as session:
        with pytest.raises(ServerError, match="visit"):
            await session.call_tool("t").result()
        assert session.inbox.questions == []


async def test_without_the_url_capability_no_question_is_asked(connect):
    """C-ELIC-05, C-ELIC-01, C-LIFE-07."""
    for how in ({"standing": StandingAnswers(elicitation="decline")}, {"protocol": "2025-06-18"}):
        server = wants_visits(link("a"))
        if "protocol" in how:
            server.initialize = server.initialize | {"protocolVersion": "2025-06-18"}
        async with connect(server, era="legacy", **how) as session:
            with pytest.raises(ServerError):
                await session.call_tool("t").result()
            assert session.inbox.open() == []
            assert len(server.asked("tools/call")) == 1


async def test_a_call_that_is_made_again_may_become_a_task(connect):
    """C-ELIC-05, C-TASK-01: it ends with the result of the task."""
    working = {"taskId": "t-1", "status": "working", "pollInterval": 0}
    server = Server(
        tools__list={"tools": [{"name": "t", "execution": {"taskSupport": "required"}}]},
        tasks__get={**working, "status": "completed"}, tasks__result={"content": ["made"]},
    )  # fmt: skip
    refused = []

    def call(message, reply):
        if not refused:
            refused.append(message)
            reply({"id": message["id"], "error": {"code": -32042, "message": "", "data": {"elicitations": [link(7)]}}})
        else:
            reply({"id": message["id"], "result": {"task": working}})

    server.methods["tools/call"] = call
    server.initialize = server.initialize | {
        "capabilities": {"tools": {}, "tasks": {"requests": {"tools": {"call": {}}}}}
    }
    async with connect(server, era="legacy") as session:
        await session.load("tools")
        call = session.call_tool("t")
        await until(session.inbox.open)
        session.inbox.open()[0].accept(None)
        assert await call.result() == {"content": ["made"]}
        assert session.tasks.of_call(call.n).answer_n == call.answer_n

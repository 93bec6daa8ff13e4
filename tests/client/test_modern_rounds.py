"""The modern era: a request that requires input is resent with the input, and nothing else."""

import asyncio

import pytest

from inspector.client.inbox import StandingAnswers
from inspector.errors import InputRefused, RequestCancelled, RequestTimeout
from tests.client.conftest import until
from tests.client.modern import complete, form, modern, wanting

ODD_STATES = ["s", "", " spaces ", '{"a":1}', "é\u2028\x00", "x" * 10_000]


def again(input_required, result=None, rounds=1):
    """A server method that wants this so many times and then answers."""
    left = [rounds]

    def answer(message, reply):
        if left[0]:
            left[0] -= 1
            reply({"id": message["id"], "result": input_required})
        else:
            reply({"id": message["id"], "result": result or complete(done=True)})

    return answer


def without_meta(message):
    return {key: value for key, value in message["params"].items() if key != "_meta"}


@pytest.mark.parametrize("method", ["tools/call", "prompts/get", "resources/read", "no/such"])
async def test_a_request_is_made_again_with_the_answers_under_their_keys(connect, method):
    """C-MRTR-01: for any method; the same parameters, a new id."""
    server = modern()
    requests = {
        "form": form("who?", name={"type": "string"}),
        "model": {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 5}},
        "roots": {"method": "roots/list"},
    }
    server.methods[method] = again(wanting(requests, "state"))
    async with connect(server, era="modern") as session:
        call = session.start(method, {"name": "n", "arguments": {"a": [1]}, "_meta": {"example.com/mine": 1}})
        await until(lambda: len(session.inbox.open()) == 3)
        assert len(server.asked(method)) == 1
        by_topic = {question.topic: question for question in session.inbox.open()}
        by_topic["sampling"].reply_text("hello")
        by_topic["roots"].accept([{"uri": "file:///r"}])
        by_topic["elicitation"].accept({"name": "Ada"})
        assert await call.result() == complete(done=True)
        first, second = server.asked(method)
        assert first["id"] != second["id"]
        assert without_meta(first) == {"name": "n", "arguments": {"a": [1]}}
        assert without_meta(second) == {
            "name": "n",
            "arguments": {"a": [1]},
            "inputResponses": {
                "form": {"action": "accept", "content": {"name": "Ada"}},
                "model": {
                    "role": "assistant",
                    "content": {"type": "text", "text": "hello"},
                    "model": "human",
                    "stopReason": "endTurn",
                },
                "roots": {"roots": [{"uri": "file:///r"}]},
            },
            "requestState": "state",
        }
        assert second["params"]["_meta"]["example.com/mine"] == 1


@pytest.mark.parametrize("state", ODD_STATES)
async def test_the_state_goes_back_as_it_came(connect, state):
    """C-MRTR-02."""
    server = modern(x=again(wanting({"a": form()}, state)))
    async with connect(server, era="modern", standing=StandingAnswers(elicitation="decline")) as session:
        await session.request("x")
        assert server.asked("x")[1]["params"]["requestState"] == state
        assert "requestState" not in server.asked("x")[0]["params"]


async def test_a_state_that_was_not_given_is_not_made_up_nor_kept(connect):
    """C-MRTR-02: each round has the state of the answer before it, or none."""
    results = iter([wanting({"a": form()}, "one"), wanting({"b": form()}), complete()])
    server = modern(x=lambda message, reply: reply({"id": message["id"], "result": next(results)}))
    async with connect(server, era="modern", standing=StandingAnswers(elicitation="decline")) as session:
        await session.request("x")
        seen = [without_meta(message) for message in server.asked("x")]
        assert [message.get("requestState") for message in seen] == [None, "one", None]
        assert [list(message.get("inputResponses", {})) for message in seen] == [[], ["a"], ["b"]]


async def test_requests_side_by_side_keep_their_inputs_and_states_apart(connect):
    """C-MRTR-03: also under the same keys, answered in another order."""

    def answer(message, reply):
        params = message["params"]
        if "inputResponses" in params:
            reply({"id": message["id"], "result": complete(got=params["inputResponses"], state=params["requestState"])})
        else:
            reply({"id": message["id"], "result": wanting({"k": form(params["name"])}, f"state of {params['name']}")})

    async with connect(modern(tools__call=answer), era="modern") as session:
        calls = [session.call_tool(f"t{number}") for number in range(20)]
        await until(lambda: len(session.inbox.open()) == 20)
        for question in reversed(session.inbox.open()):
            question.accept({"for": question.message})
        for number, call in enumerate(calls):
            result = await call.result()
            assert result["got"] == {"k": {"action": "accept", "content": {"for": f"t{number}"}}}
            assert result["state"] == f"state of t{number}"


async def test_a_state_alone_is_sent_back_at_once(connect):
    """C-MRTR-04."""
    server = modern(x=again(wanting(state="s")))
    async with connect(server, era="modern") as session:
        assert await session.request("x") == complete(done=True)
        assert "inputResponses" not in server.asked("x")[1]["params"]
        assert session.inbox.questions == []


@pytest.mark.parametrize("input_required", [wanting(state="s"), wanting({"a": form()}, "s")])
async def test_rounds_without_a_person_end(connect, input_required, monkeypatch):
    """C-MRTR-04."""
    monkeypatch.setattr("inspector.client.engine.modern.FIRST_PAUSE", 0.0)
    server = modern(x=again(input_required, rounds=1000))
    async with connect(server, era="modern", standing=StandingAnswers(elicitation="decline")) as session:
        with pytest.raises(InputRefused, match="without a result"):
            await session.request("x")
        assert 5 <= len(server.asked("x")) <= 20
        assert session.phase == "ready"


async def test_the_pauses_between_rounds_are_no_silence_of_the_server(connect, monkeypatch):
    """C-MRTR-04: a timeout that is shorter than a pause does not expire in it."""
    monkeypatch.setattr("inspector.client.engine.modern.FIRST_PAUSE", 1000.0)
    monkeypatch.setattr("inspector.client.engine.modern.MAX_PAUSE_SECONDS", 1000.0)
    server = modern(x=again(wanting(state="s"), rounds=4))
    async with connect(server, era="modern", timeout=0.2) as session:
        assert await session.request("x") == complete(done=True)


async def test_a_timeout_after_a_response_says_that_none_was_final(connect):
    def answer(message, reply):
        if "requestState" not in message["params"]:
            reply({"id": message["id"], "result": wanting(state="s")})

    server = modern(x=answer)
    async with connect(server, era="modern", timeout=0.1) as session:
        with pytest.raises(RequestTimeout, match="No final response to x within"):
            await session.request("x")


async def test_rounds_by_hand_end_too(connect):
    """C-MRTR-04."""
    server = modern(x=again(wanting({"a": form()}), rounds=1000))
    async with connect(server, era="modern") as session:
        call = session.start("x")
        session.inbox.on_open = lambda question: asyncio.get_running_loop().call_soon(question.decline)
        with pytest.raises(InputRefused, match="limit"):
            await call.result()
        assert 20 <= len(server.asked("x")) <= 200


@pytest.mark.parametrize(
    ("requests", "words"),
    [
        ({"a": {"method": "no/such"}}, "has the unknown method"),
        ({"a": {"method": "ping"}}, "has the unknown method"),
        ({"a": None}, "has the unknown method"),
        ({"a": {"method": {"b": 1}}}, "has the unknown method"),
        ([form()], "not an object"),
        ("a", "not an object"),
        ({str(number): form() for number in range(1000)}, "at once"),
        ({"a": form(), "b": {"method": "sampling/createMessage", "params": {}}}, "was not declared"),
        (
            {"a": {"method": "elicitation/create", "params": {"mode": "url", "url": "https://e/"}}},
            "elicitation mode that was not declared",
        ),
        ({"a": {"method": "elicitation/create", "params": {"mode": ["form"]}}}, "elicitation mode"),
    ],
)
async def test_what_cannot_be_given_is_reported_and_ends_the_call(connect, requests, words):
    """C-MRTR-01, C-ELIC-01."""
    server = modern(x=again(wanting(requests)))
    async with connect(server, era="modern", standing=StandingAnswers(elicitation="defaults")) as session:
        with pytest.raises(InputRefused) as caught:
            await session.request("x")
        assert words in caught.value.message
        assert len(server.asked("x")) == 1
        assert session.inbox.open() == []


async def test_a_wish_for_nothing_is_no_answer(connect):
    async with connect(modern(x=again(wanting())), era="modern") as session:
        with pytest.raises(InputRefused, match="neither"):
            await session.request("x")


@pytest.mark.parametrize("method", ["sampling/createMessage", "roots/list"])
async def test_a_refusal_is_not_answered_the_request_is_not_made_again(connect, method):
    """C-SAMP-01, C-ROOT-02, C-MOD-11."""
    server = modern(x=again(wanting({"a": {"method": method, "params": {"maxTokens": 3}}, "b": form()})))
    async with connect(server, era="modern") as session:
        call = session.start("x")
        await until(lambda: len(session.inbox.open()) == 2)
        session.inbox.open()[0].decline()
        with pytest.raises(InputRefused, match="refused"):
            await call.result()
        assert session.inbox.open() == []
        assert [message["method"] for message in server.seen] == ["server/discover", "x"]


@pytest.mark.parametrize(("act", "action"), [("decline", "decline"), ("cancel", "cancel")])
async def test_an_elicitation_that_is_declined_is_an_answer(connect, act, action):
    """C-ELIC-02."""
    server = modern(x=again(wanting({"a": form()})))
    async with connect(server, era="modern") as session:
        call = session.start("x")
        await until(session.inbox.open)
        getattr(session.inbox.open()[0], act)()
        await call.result()
        assert server.asked("x")[1]["params"]["inputResponses"] == {"a": {"action": action}}


async def test_a_cancelled_call_withdraws_its_questions_without_a_message(connect):
    """C-CANC-01: nothing is in flight while the server waits for input."""
    server = modern(x=again(wanting({"a": form()})))
    async with connect(server, era="modern") as session:
        call = session.start("x")
        await until(session.inbox.open)
        question = session.inbox.open()[0]
        call.cancel()
        with pytest.raises(RequestCancelled):
            await call.result()
        assert question.state == "withdrawn"
        question.accept({})
        assert len(server.asked("x")) == 1
        assert not server.asked("notifications/cancelled")


async def test_the_timeout_of_a_call_is_paused_while_a_person_is_asked(connect):
    """C-LIFE-09."""
    server = modern(x=again(wanting({"a": form()})))
    async with connect(server, era="modern") as session:
        call = session.start("x")
        await until(session.inbox.open)
        due = call.deadline.due
        await until(lambda: call.deadline.due > due)
        server.methods["x"] = lambda message, reply: None
        session.inbox.open()[0].decline()
        await until(lambda: len(server.asked("x")) == 2)
        due = call.deadline.due
        await asyncio.sleep(0.01)
        assert call.deadline.due == due
        session.pending.expire(call)
        with pytest.raises(RequestTimeout):
            await call.result()


async def test_a_sampling_request_that_may_not_be_answered_is_reported(connect):
    """C-SAMP-03."""
    params = {"messages": [{"role": "assistant", "content": {"type": "tool_use", "id": "1"}}], "maxTokens": 5}
    server = modern(x=again(wanting({"a": {"method": "sampling/createMessage", "params": params}})))
    async with connect(server, era="modern") as session:
        with pytest.raises(InputRefused, match="the tool use 1 is missing"):
            await session.request("x")
        assert session.inbox.questions == []

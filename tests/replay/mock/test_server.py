"""A mock server: matching, further messages, their order, and missed requests."""

import asyncio

import pytest

from inspector.client.recorded_session import RecordedSession
from inspector.errors import RecordingError
from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal
from inspector.protocol import jsonrpc
from inspector.replay.mock.server import RESPONSE_PAUSE
from tests.processes import ROOT
from tests.replay.scripted_mock import PATIENCE, KeptClient, Written, mocked, until


@pytest.fixture
async def written():
    made = Written()
    yield made
    made.journal.release()


@pytest.fixture
async def serve():
    """Serve a written recording to one client; close everything afterwards."""
    clients, mocks = [], []

    async def serve(written, transport="stdio", **options):
        mocks.append(await mocked(written, **options))
        clients.append(KeptClient(mocks[-1], transport))
        return clients[-1]

    serve.clients = clients
    yield serve
    for client in clients:
        await client.handler.close(gone=True)
    for mock in mocks:
        await mock.close()


def echo(text, **more):
    return {"name": "echo", "arguments": {"text": text}, **more}


def error(message):
    return message["error"]["code"]


# Handshake


async def test_every_client_gets_a_handshake_response(written, serve):
    written.handshake()
    client = await serve(written)
    answer = await client.call("initialize", {"protocolVersion": "2024-11-05", "clientInfo": {"name": "another"}})
    assert answer["result"]["serverInfo"] == {"name": "then"}
    client.say(jsonrpc.notification("notifications/initialized"))
    assert (await client.call("ping"))["result"] == {}
    assert client.handler.mock.statistics.counts["missed"] == 0


DECLARED = {
    "capabilities": {
        "logging": {}, "tools": {}, "resources": {"subscribe": True}, "prompts": {}, "completions": {},
    }
}  # fmt: skip


@pytest.mark.parametrize(
    ("method", "result"),
    [
        ("logging/setLevel", {}),
        ("tools/list", {"tools": []}),
        ("resources/list", {"resources": []}),
        ("resources/templates/list", {"resourceTemplates": []}),
        ("prompts/list", {"prompts": []}),
        ("resources/subscribe", {}),
        ("resources/unsubscribe", {}),
        ("completion/complete", {"completion": {"values": []}}),
    ],
)
async def test_what_the_server_declared_has_a_default_answer(written, serve, method, result):
    written.handshake(**DECLARED)
    client = await serve(written)
    assert (await client.call(method, {"uri": "a", "level": "debug"}))["result"] == result
    assert client.handler.mock.statistics.counts["missed"] == 0
    assert client.handler.mock.statistics.counts["empty"] == method.endswith("/list")


async def test_what_the_server_did_not_declare_is_missed(written, serve):
    written.handshake(capabilities={"resources": {}, "tools": 7})
    client = await serve(written)
    for method in ("logging/setLevel", "resources/subscribe", "tools/list"):
        assert error(await client.call(method)) == jsonrpc.METHOD_NOT_FOUND


async def test_a_recorded_list_has_only_its_own_pages(written, serve):
    written.handshake(**DECLARED)
    written.exchange(1, "tools/list", {}, {"tools": [{"name": "a"}], "nextCursor": "2"})
    client = await serve(written)
    assert error(await client.call("tools/list", {"cursor": "3"})) == -32000


async def test_the_opening_that_came_off_is_the_one_that_is_repeated(written, serve):
    written.ask("a", "initialize", {"protocolVersion": "2025-03-26"})
    written.receive(jsonrpc.error("a", -32602, "not that one"))
    written.handshake(1)
    written.handshake(2, protocolVersion="2025-06-18")
    client = await serve(written)
    answer = await client.call("initialize", {"protocolVersion": "2025-03-26"})
    assert answer["result"]["protocolVersion"] == "2025-06-18"


async def test_which_era_is_requested_in_vain_is_no_miss(written, serve):
    written.handshake()
    client = await serve(written)
    assert error(await client.call("server/discover")) == jsonrpc.METHOD_NOT_FOUND
    assert client.handler.mock.statistics.counts == {"refused": 1}


# Matching


async def test_equal_requests_have_their_answers_in_order_and_then_the_last_again(written, serve):
    for value in ("first", "second"):
        written.exchange(value, "tools/call", echo("x"), value)
    client = await serve(written)
    assert [(await client.call("tools/call", echo("x")))["result"] for _ in range(3)] == ["first", "second", "second"]


async def test_each_client_has_an_order_of_its_own(written, serve):
    for value in ("first", "second"):
        written.exchange(value, "tools/call", echo("x"), value)
    client = await serve(written)
    other = KeptClient(client.handler.mock)
    serve.clients.append(other)
    for kept in (client, other, client, other):
        await kept.call("tools/call", echo("x"))
    for kept in (client, other):
        assert [message["result"] for message in kept.messages] == ["first", "second"]


@pytest.mark.parametrize(
    ("match", "asked", "result"),
    [
        ("params", echo("a", _meta={"traceparent": "00-1"}), "A"),
        ("params", {"arguments": {"text": "a"}, "name": "echo"}, "A"),
        ("params", echo("c"), None),
        ("exact", echo("a", _meta={"progressToken": 1}), "A"),
        ("exact", echo("a", _meta={"traceparent": "00-1"}), None),
        ("method", echo("c"), "A"),
        ("method", {"name": "other"}, "A"),
        ("sequence", echo("b"), "A"),
    ],
)
async def test_what_must_be_equal_is_chosen(written, serve, match, asked, result):
    written.exchange(1, "tools/call", echo("a"), "A")
    written.exchange(2, "tools/call", echo("b"), "B")
    client = await serve(written, match=match)
    answer = await client.call("tools/call", asked)
    assert answer.get("result") == result
    assert ("error" in answer) == (result is None)


async def test_exact_answers_each_only_once(written, serve):
    written.exchange(1, "tools/call", echo("a"), "A")
    client = await serve(written, match="exact")
    assert (await client.call("tools/call", echo("a")))["result"] == "A"
    assert error(await client.call("tools/call", echo("a"))) == -32000


async def test_sequence_goes_forward_only(written, serve):
    written.handshake()
    written.exchange(1, "tools/list", None, {"tools": [1]})
    written.exchange(2, "tools/call", echo("a"), "A")
    written.exchange(3, "tools/list", None, {"tools": [2]})
    client = await serve(written, match="sequence")
    await client.call("initialize", {})
    assert (await client.call("tools/call", {"name": "?"}))["result"] == "A"
    assert (await client.call("tools/list"))["result"] == {"tools": [2]}
    assert "error" in await client.call("tools/list")
    assert "error" in await client.call("tools/call", echo("a"))


async def test_numbers_that_are_equal_are_equal_however_they_are_written(written, serve):
    written.exchange(1, "tools/call", {"name": "add", "arguments": {"a": 2.0, "b": [1]}}, "sum")
    client = await serve(written)
    assert (await client.call("tools/call", {"name": "add", "arguments": {"a": 2, "b": [1.0]}}))["result"] == "sum"
    assert "error" in await client.call("tools/call", {"name": "add", "arguments": {"a": True, "b": [1]}})


async def test_the_round_after_a_question_is_found_whatever_the_answer_was(written, serve):
    required = {"resultType": "input_required", "inputRequests": {"it": {}}, "requestState": "s"}
    written.exchange(1, "tools/call", echo("a"), required)
    again = echo("a", requestState="s", inputResponses={"it": {"action": "accept"}})
    written.exchange(2, "tools/call", again, "done")
    client = await serve(written)
    for _ in range(2):
        assert (await client.call("tools/call", echo("a")))["result"] == required
        answered = echo("a", requestState="s", inputResponses={"it": {"action": "decline"}})
        assert (await client.call("tools/call", answered))["result"] == "done"
    assert "error" in await client.call("tools/call", echo("a", requestState="another", inputResponses={"it": 1}))


# Messages around an answer


async def test_progress_messages_and_the_answer_carry_the_names_of_now(written, serve):
    written.ask(1, "tools/call", echo("a", _meta={"progressToken": 1}))
    written.notify("notifications/progress", {"progressToken": 1, "progress": 1})
    written.notify("notifications/message", {"data": "x"})
    written.answer(1, "A")
    client = await serve(written)
    reply = client.ask("now", "tools/call", echo("a", _meta={"progressToken": "mine"}))
    await until(lambda: reply.ended)
    progress, message, answer = reply.messages
    assert progress["params"] == {"progressToken": "mine", "progress": 1}
    assert message["params"] == {"data": "x"}
    assert answer == {"jsonrpc": "2.0", "id": "now", "result": "A"}
    assert reply.begun == ("sse", 200)


async def test_a_question_is_asked_and_the_answer_waits_for_the_clients(written, serve):
    written.ask(1, "tools/call", echo("a"))
    written.receive(jsonrpc.request(5, "sampling/createMessage", {"messages": []}))
    written.send(jsonrpc.result(5, {"role": "assistant"}))
    written.receive(jsonrpc.request(6, "elicitation/create", {}))
    written.send(jsonrpc.result(6, {"action": "accept"}))
    written.answer(1, "A")
    client = await serve(written)
    reply = client.ask(9, "tools/call", echo("a"))
    await until(lambda: len(reply.sent) == 1)
    other = client.ask(10, "tools/call", echo("a"))
    await until(lambda: len(other.sent) == 1)
    first, second = reply.messages[0]["id"], other.messages[0]["id"]
    assert first != second
    client.say(jsonrpc.error(first, -1, "no"))
    await until(lambda: len(reply.sent) == 2)
    client.say(jsonrpc.result(reply.messages[1]["id"], {}))
    await until(lambda: reply.ended)
    assert reply.messages[-1]["result"] == "A"
    assert not other.ended


async def test_what_belongs_to_no_request_comes_after_the_same_words(written, serve):
    written.notify("notifications/tools/list_changed")
    written.handshake()
    written.notify("after/initialized")
    written.exchange(1, "tools/list", None, {"tools": []})
    written.notify("after/the-list")
    client = await serve(written)
    await until(lambda: client.methods == ["notifications/tools/list_changed"])
    await client.call("initialize", {}, id="i")
    client.say(jsonrpc.notification("notifications/initialized"))
    await until(lambda: len(client.all) == 3)
    await client.call("tools/list", id="l")
    await client.call("tools/list", id="again")
    await until(lambda: len(client.all) == 6)
    assert client.methods[1:4] == ["i", "after/initialized", "l"]
    assert sorted(client.methods[4:]) == ["after/the-list", "again"]


async def test_a_question_that_belongs_to_no_request_is_followed_by_what_came_after_its_answer(written, serve):
    written.handshake()
    written.receive(jsonrpc.request("r", "roots/list"))
    written.send(jsonrpc.result("r", {"roots": []}))
    written.notify("after/the-roots")
    client = await serve(written)
    client.say(jsonrpc.notification("notifications/initialized"))
    await until(lambda: client.methods == ["roots/list"])
    client.say(jsonrpc.result(client.messages[0]["id"], {"roots": []}))
    await until(lambda: client.methods == ["roots/list", "after/the-roots"])


async def test_stderr_is_reported_and_recorded_before_the_answer_it_came_before(written, serve):
    lines = []
    written.ask(1, "tools/call", echo("a"))
    written.journal.record_stderr("stderr", [b"one", b"two \xff"])
    written.answer(1, "A")
    client = await serve(written, on_stderr=lines.append)
    await client.call("tools/call", echo("a"))
    assert lines == [b"one", b"two \xff"]
    own = client.handler.journal
    kinds = [own.index.kind(n) for n in range(1, len(own) + 1)]
    assert kinds.index(Kind.STDERR) < len(kinds) - 1 - kinds[::-1].index(Kind.RPC)


async def test_the_recorded_pace_is_kept_on_request(serve):
    written = Written(step=1_000_000)
    written.ask(1, "tools/call", echo("a"))
    written.notify("notifications/message")
    written.answer(1, "A")
    written.notify("later")
    for speed, waits in ((1.0, [1.0, 1.0, 1.0]), (4.0, [0.25, 0.25, 0.25]), (None, [RESPONSE_PAUSE])):
        client = await serve(written, speed=speed)
        await client.call("tools/call", echo("a"))
        await until(lambda client=client: len(client.all) == 3)
        assert client.handler.mock.sleep.seconds == waits
    written.journal.release()


async def test_a_task_is_polled_until_it_is_done(written, serve):
    written.exchange(1, "tools/call", echo("a", task={}), {"task": {"taskId": "t", "status": "working"}})
    for id, status in ((2, "working"), (3, "completed")):
        written.exchange(id, "tasks/get", {"taskId": "t"}, {"taskId": "t", "status": status})
    written.exchange(4, "tasks/result", {"taskId": "t"}, "A")
    client = await serve(written)
    assert "error" in await client.call("tools/call", echo("a"))
    task = (await client.call("tools/call", echo("a", task={"ttl": 9})))["result"]["task"]["taskId"]
    states = [(await client.call("tasks/get", {"taskId": task}))["result"]["status"] for _ in range(3)]
    assert states == ["working", "completed", "completed"]
    assert (await client.call("tasks/result", {"taskId": task}))["result"] == "A"


@pytest.mark.parametrize("ending", ["notification", "result", "error", "given up", None])
async def test_a_task_is_known_to_have_ended_also_where_the_recorded_client_did_not_ask(written, serve, ending):
    working = {"taskId": "t", "status": "working", "pollInterval": 5}
    written.exchange(1, "tools/call", echo("a", task={}), {"task": working})
    written.exchange(2, "tasks/get", {"taskId": "t"}, working)
    if ending == "notification":
        written.notify("notifications/tasks/status", {**working, "status": "completed"})
    elif ending == "result":
        written.exchange(3, "tasks/result", {"taskId": "t"}, {"content": []})
    elif ending == "error":
        written.ask(3, "tasks/result", {"taskId": "t"})
        written.receive(jsonrpc.error(3, -32603, "no"))
    elif ending == "given up":
        n = written.ask(3, "tasks/get", {"taskId": "t"})
        written.journal.record_life("", "cancel", **{"for": n})
        written.exchange(4, "tasks/result", {"taskId": "t"}, {"content": []})
    client = await serve(written)
    states = [(await client.call("tasks/get", {"taskId": "t"}))["result"] for _ in range(3)]
    last = {"error": "failed", None: "working"}.get(ending, "completed")
    assert [state["status"] for state in states] == ["working", last, last]
    assert states[1]["pollInterval"] == 5
    assert "error" in await client.call("tasks/get", {"taskId": []})


# Subscriptions


LISTEN = {"notifications": {"toolsListChanged": True}}


def of(id):
    return {"_meta": {"io.modelcontextprotocol/subscriptionId": id}}


async def test_a_subscription_is_reported_what_it_was_reported_after_the_same_words(written, serve):
    written.ask(7, "subscriptions/listen", LISTEN)
    written.notify("notifications/subscriptions/acknowledged", of(7))
    written.ask(8, "tools/call", echo("change"))
    written.notify("notifications/tools/list_changed", of(7))
    written.answer(8, "changed")
    written.receive(jsonrpc.result(7, of(7)))
    written.exchange(9, "tools/list", None, {"tools": []})
    client = await serve(written)
    listen = client.ask("mine", "subscriptions/listen", LISTEN)
    await until(lambda: listen.sent)
    assert listen.begun == ("sse", 200)
    assert [message["params"]["_meta"] for message in listen.messages] == [of("mine")["_meta"]]
    reply = client.ask(2, "tools/call", echo("change"))
    await until(lambda: reply.ended and listen.ended)
    assert [message["result"] for message in reply.messages] == ["changed"]
    _, changed, ended = listen.messages
    assert (changed["method"], changed["params"]) == ("notifications/tools/list_changed", of("mine"))
    assert (ended["id"], ended["result"]) == ("mine", {"_meta": of(7)["_meta"]})


async def test_who_subscribes_twice_is_acknowledged_and_told_twice(written, serve):
    written.ask(7, "subscriptions/listen", LISTEN)
    written.notify("notifications/subscriptions/acknowledged", of(7))
    written.ask(8, "tools/call", echo("change"))
    written.notify("notifications/tools/list_changed", of(7))
    written.answer(8, "changed")
    client = await serve(written)
    first = client.ask("a", "subscriptions/listen", LISTEN)
    await until(lambda: first.sent)
    second = client.ask("b", "subscriptions/listen", LISTEN)
    await client.call("tools/call", echo("change"))
    assert [message["params"] for message in second.messages] == [of("b")] * 2
    assert [message["params"] for message in first.messages] == [of("a")] * 2


async def test_who_subscribes_late_is_told_after_its_own_call(written, serve):
    """Over HTTP without sessions, two programs are one client."""
    written.ask(7, "subscriptions/listen", LISTEN)
    written.notify("notifications/subscriptions/acknowledged", of(7))
    written.ask(8, "tools/call", echo("change"))
    written.answer(8, "changed")
    written.notify("notifications/tools/list_changed", of(7))
    client = await serve(written)
    first = client.ask("a", "subscriptions/listen", LISTEN)
    await until(lambda: first.sent)
    await client.call("tools/call", echo("change"))
    await until(lambda: len(first.messages) == 2)
    second = client.ask("b", "subscriptions/listen", LISTEN)
    await until(lambda: second.sent)
    await client.call("tools/call", echo("change"))
    await until(lambda: len(second.messages) == 2)
    assert [message["params"] for message in second.messages] == [of("b")] * 2
    assert len(first.messages) == 2


async def test_who_has_not_subscribed_is_reported_nothing_of_it(written, serve):
    written.ask(7, "subscriptions/listen", LISTEN)
    written.ask(8, "tools/call", echo("change"))
    written.notify("notifications/tools/list_changed", of(7))
    written.answer(8, "changed")
    client = await serve(written)
    await client.call("tools/call", echo("change"), id=1)
    assert client.methods == [1]


async def test_a_subscription_that_ended_with_the_recording_goes_on(written, serve):
    written.ask(7, "subscriptions/listen", LISTEN)
    written.notify("notifications/subscriptions/acknowledged", of(7))
    written.receive(jsonrpc.error(7, -32000, "Connection closed"))
    client = await serve(written)
    listen = client.ask(1, "subscriptions/listen", LISTEN)
    await until(lambda: listen.sent)
    client.say(jsonrpc.notification("notifications/cancelled", {"requestId": 1}))
    await until(lambda: not client.handler._tasks)
    assert len(listen.sent) == 1
    assert listen.ended


async def test_a_subscription_that_was_refused_is_refused(written, serve):
    written.ask(7, "subscriptions/listen", LISTEN)
    written.receive(jsonrpc.error(7, -32601, "what?"))
    client = await serve(written)
    assert error(await client.call("subscriptions/listen", LISTEN)) == -32601


# Missing requests


async def test_a_miss_is_an_error_that_names_the_nearest_and_is_recorded(written, serve):
    far, _ = written.exchange(1, "tools/call", {"name": "other", "arguments": {"a": 1}}, "x")
    near, _ = written.exchange(2, "tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}}, "x")
    client = await serve(written)
    answer = await client.call("tools/call", {"name": "add", "arguments": {"a": 1, "b": 3}})
    assert answer["error"]["data"] == {"nearest": near}
    assert near != far
    assert error(await client.call("no/such/method")) == jsonrpc.METHOD_NOT_FOUND
    notes = [event for event in client.handler.journal.events() if event.kind == Kind.NOTE]
    assert [note.fields["missed"] for note in notes] == ["tools/call", "no/such/method"]
    report = client.handler.mock.report()
    assert [(miss.method, miss.nearest) for miss in report.missed] == [("tools/call", near), ("no/such/method", 0)]
    assert report.missed[0].params == '{"name":"add","arguments":{"a":1,"b":3}}'
    assert [n for n, _, _ in report.never_asked] == [far, near]
    assert report.as_json()["misses"][1]["nearest"] is None


async def test_the_last_answer_can_stand_in(written, serve):
    written.exchange(1, "tools/call", {"name": "add", "arguments": {"a": 1}}, "one")
    written.exchange(2, "tools/call", {"name": "add", "arguments": {"a": 2}}, "two")
    written.exchange(3, "tools/call", {"name": "other"}, "other")
    client = await serve(written, on_miss="last")
    await client.call("tools/call", {"name": "add", "arguments": {"a": 1}})
    assert (await client.call("tools/call", {"name": "add", "arguments": {"a": 9}}))["result"] == "one"
    assert (await client.call("tools/call", {"name": "new"}))["result"] == "one"
    assert "error" in await client.call("prompts/list")
    assert [miss.became for miss in client.handler.mock.statistics.missed] == ["last", "last", "error"]


@pytest.mark.parametrize(("event", "silent"), [("cancel", True), ("timeout", True), ("lost", False), (None, False)])
async def test_a_request_without_an_answer_has_none_or_says_why(written, serve, event, silent):
    n = written.ask(1, "tools/call", echo("a"))
    if event:
        written.journal.record_life("", event, **{"for": n})
    written.exchange(2, "ping", None, {})
    client = await serve(written)
    reply = client.ask(1, "tools/call", echo("a"))
    await client.call("ping")
    if silent:
        assert reply.sent == []
        client.say(jsonrpc.notification("notifications/cancelled", {"requestId": 1}))
        await until(lambda: reply.ended)
        assert client.handler.mock.statistics.counts["cancelled"] == 1
    else:
        await until(lambda: reply.ended)
        assert error(reply.messages[0]) == -32000
        assert client.handler.mock.statistics.counts["unanswered"] == 1


async def test_a_call_that_is_cancelled_at_once_counts_as_used_up(written, serve):
    for value in ("first", "second"):
        written.exchange(value, "tools/call", echo("x"), value)
    client = await serve(written)
    reply = client.ask(1, "tools/call", echo("x"))
    client.say(jsonrpc.notification("notifications/cancelled", {"requestId": 1}))
    assert (await client.call("tools/call", echo("x")))["result"] == "second"
    assert (reply.sent, reply.ended) == ([], True)


async def test_a_cancelled_call_plays_no_further(written, serve):
    written.ask(1, "tools/call", echo("a"))
    written.receive(jsonrpc.request("q", "roots/list"))
    written.send(jsonrpc.result("q", {}))
    written.answer(1, "A")
    client = await serve(written)
    reply = client.ask(5, "tools/call", echo("a"))
    await until(lambda: reply.sent)
    client.say(jsonrpc.notification("notifications/cancelled", {"requestId": 5}))
    client.say(jsonrpc.result("q", {}))
    await until(lambda: not client.handler._tasks)
    assert len(reply.sent) == 1
    assert len(client.handler.questions) == 0


async def test_the_end_waits_for_answers_and_not_for_silence(written, serve):
    n = written.ask(1, "tools/call", echo("silent"))
    written.journal.record_life("", "cancel", **{"for": n})
    written.exchange(2, "tools/call", echo("a"), "A")
    written.ask(3, "subscriptions/listen", LISTEN)
    client = await serve(written)
    silent, listen = client.ask(1, "tools/call", echo("silent")), client.ask(2, "subscriptions/listen", LISTEN)
    await until(lambda: len(client.handler._silent) == 2)
    answered = client.ask(3, "tools/call", echo("a"))
    async with asyncio.timeout(PATIENCE):
        await client.handler._finished()
    assert answered.ended
    assert (silent.ended, listen.ended) == (False, False)


# Hostile clients


@pytest.mark.parametrize(
    "data",
    [
        b"garbage",
        b"{}",
        b"[]",
        b"17",
        b'"x"',
        b"null",
        b"\xff\xfe",
        b'{"method":5}',
        b"[" * 100_000,
        b'{"id":1,"result"',
    ],
)
async def test_what_is_not_a_message_is_answered_as_such(written, serve, data):
    written.handshake()
    client = await serve(written)
    reply = client.say(data)
    assert reply.ended
    assert error(reply.messages[0]) in (jsonrpc.PARSE_ERROR, jsonrpc.INVALID_REQUEST)
    assert (await client.call("ping"))["result"] == {}
    assert client.handler.mock.statistics.counts["invalid"] == 1


@pytest.mark.parametrize(
    "id",
    [b"{}", b"[]", b"true", b"1" * 5000, b'"%b"' % (b"x" * 100_000), b"-1", b"0.5", b'""'],
    ids=["object", "array", "true", "digits", "long", "negative", "fraction", "empty"],
)
@pytest.mark.parametrize("params", [b"null", b"[]", b'"x"', b'{"_meta":5}', b'{"_meta":{"progressToken":{}}}'])
async def test_strange_requests_are_answered(written, serve, id, params):
    written.handshake()
    client = await serve(written)
    reply = client.say(b'{"jsonrpc":"2.0","method":"ping","id":%b,"params":%b}' % (id, params))
    await until(lambda: reply.ended)
    assert len(reply.sent) == 1


@pytest.mark.parametrize("method", ["notifications/cancelled", "notifications/progress", "x" * 1000])
@pytest.mark.parametrize("params", [None, [], 5, {"requestId": {}}, {"requestId": "unknown"}])
async def test_strange_notifications_do_no_harm(written, serve, method, params):
    written.handshake()
    client = await serve(written)
    client.say({"jsonrpc": "2.0", "method": method, "params": params})
    client.say({"jsonrpc": "2.0", "id": {"a": 1}, "result": {}})
    client.say({"jsonrpc": "2.0", "id": "unknown", "result": {}})
    assert (await client.call("ping"))["result"] == {}


async def test_a_batch_is_answered_message_by_message(written, serve):
    written.exchange(1, "tools/call", echo("a"), "A")
    client = await serve(written, "http")
    items = [
        jsonrpc.request(1, "tools/call", echo("a")), 5, jsonrpc.notification("n"), jsonrpc.request(2, "ping"),
    ]  # fmt: skip
    reply = client.say(items)
    await until(lambda: reply.ended)
    assert reply.begun == ("sse", 200)
    assert sorted(message.get("id") or 0 for message in reply.messages) == [0, 1, 2]
    assert client.say([jsonrpc.notification("n")]).ended


async def test_a_flood_is_answered_to_the_last(written, serve):
    written.exchange(1, "tools/call", echo("a"), "A")
    client = await serve(written)
    replies = [client.ask(n, "tools/call", echo("a" if n % 2 else "b")) for n in range(2000)]
    await until(lambda: all(reply.ended for reply in replies))
    assert client.handler.mock.statistics.counts == {"answered": 1000, "missed": 1000}
    assert len(client.handler.mock.statistics.missed) == 1000


# Recordings


async def test_what_was_hostile_then_is_hostile_now(written, serve):
    written.send(b"not json")
    written.receive(jsonrpc.error(None, -32700, "what?"))
    written.ask(1, "tools/call", echo("a"))
    written.receive(b"garbage")
    written.answer(1, "A")
    written.answer(1, "twice")
    written.answer("unknown", "asked")
    client = await serve(written)
    reply = client.say(b"no json either")
    await until(lambda: client.all)
    assert client.messages[0]["error"]["message"] == "what?"
    assert reply.ended
    reply = client.ask("now", "tools/call", echo("a"))
    await until(lambda: len(client.all) == 5)
    assert client.all[1] == b"garbage"
    assert [jsonrpc.parse(raw)["id"] for raw in client.all[2:]] == ["now", "now", "unknown"]


async def test_nothing_can_be_served_of_a_recording_without_a_request(written):
    written.notify("n")
    with pytest.raises(RecordingError, match="no request"):
        await mocked(written)


async def test_a_recording_of_a_newer_format_is_refused(tmp_path):
    path = tmp_path / "newer.mcp.jsonl"
    path.write_text('{"format":"mcp-recording","version":99}\n{"n":1}\n')
    journal = Journal.open(path)
    with pytest.raises(RecordingError, match="newer format"):
        await mocked(type("W", (), {"journal": journal})())
    journal.release()


async def test_a_torn_recording_with_kinds_of_tomorrow_is_served_as_far_as_it_goes(tmp_path, serve):
    path = tmp_path / "torn.mcp.jsonl"
    made = Journal.create(path, {})
    made.record_sent("stdio", b'{"id":1,"method":"a"}', {"id": 1, "method": "a"})
    made.record_received("stdio", [b'{"id":1,"result":"A"}'])
    made.flush()
    made.release()
    with path.open("ab") as file:
        file.write(b'{"n":3,"t":-5,"dir":"up","kind":"tomorrow","ch":5}\nnot a line\n{"n":5,"kind":"rpc","raw":"{\xc3')
    journal = Journal.open(path)
    client = await serve(type("W", (), {"journal": journal})())
    assert (await client.call("a"))["result"] == "A"
    journal.release()


async def test_what_is_recorded_of_a_client_is_a_recording_that_can_be_served_again(written, serve, tmp_path):
    written.handshake()
    written.exchange(1, "tools/list", None, {"tools": [{"name": "a"}]})
    client = await serve(written, new_journal=lambda number: Journal.create(tmp_path / f"{number}.mcp.jsonl", {}))
    await client.call("initialize", {"protocolVersion": "2025-11-25"}, id=0)
    client.say(jsonrpc.notification("notifications/initialized"))
    await client.call("tools/list", id=1)
    await client.handler.close(gone=False)
    path = tmp_path / "1.mcp.jsonl"
    assert client.handler.mock.report().recordings == [str(path)]
    journal = Journal.open(path)
    while journal.refresh():
        pass
    assert journal.ended is not None
    session = RecordedSession(journal, path)
    while session.advance():
        pass
    assert session.server.name == "then"
    assert [tool["name"] for tool in session.catalog.tools.items] == ["a"]
    again = await serve(type("W", (), {"journal": journal})())
    assert (await again.call("tools/list"))["result"] == {"tools": [{"name": "a"}]}
    await asyncio.sleep(0)


@pytest.mark.parametrize("match", ["params", "exact", "method", "sequence"])
@pytest.mark.parametrize("name", ["demo-tour", "demo-http", "hostile"])
async def test_who_says_what_was_reported_is_answered_as_was_answered(serve, name, match):
    journal = Journal.open(ROOT / "recordings" / f"{name}.mcp.jsonl")
    client = await serve(type("W", (), {"journal": journal})(), match=match)
    index = journal.index
    for n in range(1, len(journal) + 1):
        if index.dir(n) != Dir.SEND or index.kind(n) not in (Kind.RPC, Kind.INVALID):
            continue
        reply = client.say(journal.event(n).bytes)
        if index.shape(n) is jsonrpc.Shape.REQUEST:
            asked = any(
                index.parent(m) == n and index.shape(m) is jsonrpc.Shape.REQUEST for m in range(n, len(journal))
            )
            answered = index.pair(n)
            if answered and not asked:
                await until(lambda reply=reply: reply.ended)
                assert any(jsonrpc.id_key(m.get("id")) == index.id(n) for m in parsed(reply.sent))
    report = client.handler.mock.report()
    assert report.missed == []
    assert not [
        event for event in client.handler.journal.events() if str(event.fields.get("text")).startswith("failed")
    ]
    journal.release()


def parsed(sent):
    """Return the JSON objects in a message, which may be a batch."""
    for raw in sent:
        try:
            message = jsonrpc.parse(raw)
        except jsonrpc.NotJson:
            continue
        yield from (item for item in (message if type(message) is list else [message]) if type(item) is dict)

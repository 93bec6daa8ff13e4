"""A recording as a transport: matching of requests, their answers, and the messages around them."""

import asyncio

import pytest

from inspector.errors import ConnectionProblem, RecordingError
from inspector.journal.format import Kind
from inspector.journal.journal import Journal
from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import Shape
from inspector.transports.recorded import RecordedTransport
from tests.transports.sinks import Peer, RecordingSink


class Tape:
    """Writes a recording, line by line."""

    def __init__(self, channel="stdio"):
        self.journal = Journal.unnamed({})
        self.channel = channel

    def send(self, message, channel=None):
        return self.journal.record_sent(channel or self.channel, jsonrpc.encode(message), message)

    def receive(self, message, channel=None):
        raw = message if isinstance(message, bytes) else jsonrpc.encode(message)
        self.journal.record_received(channel or self.channel, [raw])
        return raw

    def ask(self, id, method, params=None):
        return self.send(jsonrpc.request(id, method, params))

    def answer(self, id, result):
        return self.receive(jsonrpc.result(id, result))


@pytest.fixture
def tape():
    tape = Tape()
    yield tape
    tape.journal.release()


@pytest.fixture
async def replay():
    made = []

    async def start(tape, **how):
        peer = Peer(lambda sink: RecordedTransport(sink, tape.journal, **how))
        peer._next = 100
        made.append(peer)
        await peer.transport.start()
        return peer

    yield start
    for peer in made:
        await peer.transport.close()
        peer.sink.journal.release()


def echo(text, **more):
    return {"name": "echo", "arguments": {"text": text}, **more}


# Matching


async def test_a_request_is_answered_as_it_was(tape, replay):
    tape.ask(0, "initialize", {"protocolVersion": "2025-11-25"})
    tape.answer(0, {"serverInfo": {"name": "then"}})
    tape.ask(1, "tools/call", echo("a"))
    tape.answer(1, {"content": ["A"]})
    tape.ask(2, "tools/call", echo("b"))
    tape.answer(2, {"content": ["B"]})
    client = await replay(tape)
    client.notify("notifications/initialized")
    await client.transport.settled()
    assert (await client.call("tools/call", echo("b")))["result"] == {"content": ["B"]}
    assert (await client.call("tools/call", echo("a")))["result"] == {"content": ["A"]}
    assert (await client.call("initialize", {"protocolVersion": "2025-06-18"}))["result"]["serverInfo"][
        "name"
    ] == "then"


async def test_equal_requests_are_answered_in_their_order_and_the_last_one_again(tape, replay):
    for id, result in enumerate(["first", "second"]):
        tape.ask(id, "tools/call", echo("x"))
        tape.answer(id, result)
    client = await replay(tape)
    assert [(await client.call("tools/call", echo("x")))["result"] for _ in range(4)] == [
        "first",
        "second",
        "second",
        "second",
    ]


async def test_tokens_ids_and_order_of_keys_make_no_difference(tape, replay):
    tape.ask("a", "tools/call", {"name": "x", "arguments": {"b": 1, "a": 2}, "_meta": {"progressToken": "t"}})
    tape.answer("a", "exact")
    tape.ask("b", "tools/call", {"name": "x", "arguments": {"a": 2, "b": 1}, "_meta": {"mine": 1}})
    tape.answer("b", "other meta")
    client = await replay(tape)
    params = {"arguments": {"a": 2, "b": 1}, "name": "x"}
    stamped = {"progressToken": 5, "io.modelcontextprotocol/clientInfo": {}, "mine": 1}
    assert (await client.call("tools/call", {**params, "_meta": stamped}))["result"] == "other meta"
    assert (await client.call("tools/call", params))["result"] == "exact"


@pytest.mark.parametrize(
    ("method", "recorded", "asked"),
    [
        ("tools/call", {"name": "x", "arguments": {"a": 1}}, {"name": "x", "arguments": {"a": 2}}),
        ("tools/call", {"name": "x", "arguments": {"a": 1}}, {"name": "x"}),
        ("resources/read", {"uri": "x:1", "_meta": {"a": 1}}, {"uri": "x:1"}),
        (
            "completion/complete",
            {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": "x"}},
            {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": "y"}},
        ),
        ("tools/list", {"x": 1}, None),
        ("logging/setLevel", {"level": "info"}, {"level": "debug"}),
    ],
)
async def test_a_request_about_the_same_thing_will_do(tape, replay, method, recorded, asked):
    tape.ask(1, method, recorded)
    tape.answer(1, "similar")
    client = await replay(tape)
    assert (await client.call(method, asked))["result"] == "similar"


@pytest.mark.parametrize(
    ("method", "recorded", "asked"),
    [
        ("tools/call", {"name": "x"}, {"name": "y"}),
        ("resources/read", {"uri": "x:1"}, {"uri": "x:2"}),
        ("tools/list", {"cursor": "1"}, {"cursor": "2"}),
        ("tools/list", None, {"cursor": "2"}),
        (
            "completion/complete",
            {"ref": {"name": "p"}, "argument": {"name": "a"}},
            {"ref": {"name": "q"}, "argument": "a"},
        ),
        ("completion/complete", {"ref": "p"}, {"ref": {"name": "q"}}),
        ("tools/call", [1], {"name": "y"}),
    ],
)
async def test_a_request_about_something_else_is_not_in_the_recording(tape, replay, method, recorded, asked):
    tape.ask(1, method, recorded)
    tape.answer(1, "wrong")
    client = await replay(tape)
    error = (await client.call(method, asked))["error"]
    assert error["code"] == -32000
    assert "not with these parameters" in error["message"]


async def test_a_method_that_was_never_asked_is_unknown(tape, replay):
    tape.ask(1, "ping")
    tape.answer(1, {})
    client = await replay(tape)
    error = (await client.call("server/discover"))["error"]
    assert (error["code"], error["message"]) == (-32601, "server/discover is not in the recording.")


async def test_a_new_request_takes_an_unused_one_of_the_same_name_first(tape, replay):
    for id in (1, 2):
        tape.ask(id, "tools/call", echo(str(id)))
        tape.answer(id, id)
    client = await replay(tape)
    assert (await client.call("tools/call", echo("1")))["result"] == 1
    assert (await client.call("tools/call", echo("new")))["result"] == 2


async def test_parameters_too_deep_to_compare_are_no_crash(tape, replay):
    deep = "x"
    for _ in range(150):
        deep = [deep]
    tape.ask(1, "tools/call", {"name": "x", "arguments": {"a": deep}})
    tape.answer(1, "deep")
    client = await replay(tape)
    assert (await client.call("tools/call", {"name": "x", "arguments": {"a": deep}}))["result"] == "deep"


# Messages around the answer


async def test_progress_and_messages_come_first_with_the_token_of_now(tape, replay):
    tape.ask(1, "tools/call", echo("x", _meta={"progressToken": "then"}))
    tape.receive(
        b'{"jsonrpc":"2.0", "method":"notifications/progress","params":{"progressToken":"then","progress":1E400}}'
    )
    tape.receive(jsonrpc.notification("notifications/message", {"data": "log"}))
    tape.receive(jsonrpc.notification("notifications/progress", {"progressToken": "another client's", "progress": 1}))
    tape.answer(1, "done")
    client = await replay(tape)
    assert (await client.call("tools/call", echo("x", _meta={"progressToken": 7})))["result"] == "done"
    raws = [event.raw for event in client.sink.events(Kind.RPC)[1:]]
    assert (
        raws[0] == '{"jsonrpc":"2.0", "method":"notifications/progress","params":{"progressToken":7,"progress":1E400}}'
    )
    assert [frame.message.get("method") for frame in client.sink.frames] == [
        "notifications/progress", "notifications/message", "notifications/progress", None,
    ]  # fmt: skip
    assert client.sink.frames[2].message["params"]["progressToken"] == "another client's"


async def test_no_progress_for_a_request_that_wants_none(tape, replay):
    tape.ask(1, "tools/call", echo("x", _meta={"progressToken": 1}))
    tape.receive(jsonrpc.notification("notifications/progress", {"progressToken": 1, "progress": 1}))
    tape.answer(1, "done")
    client = await replay(tape)
    await client.call("tools/call", echo("x"))
    assert len(client.sink.frames) == 1


async def test_a_token_that_stands_twice_is_replaced_by_encoding(tape, replay):
    tape.ask(1, "tools/call", echo("x", _meta={"progressToken": 1}))
    params = {"progressToken": 1, "progress": 1, "x": {"progressToken": 1}}
    tape.receive(jsonrpc.notification("notifications/progress", params))
    tape.answer(1, "done")
    client = await replay(tape)
    await client.call("tools/call", echo("x", _meta={"progressToken": "new"}))
    assert client.sink.frames[0].message["params"] == {**params, "progressToken": "new"}


@pytest.mark.parametrize(
    ("recorded", "played"),
    [
        (
            b'{"jsonrpc":"2.0","id":1 ,"result":{"id":1,"n":1E400}}',
            b'{"jsonrpc":"2.0","id":101 ,"result":{"id":1,"n":1E400}}',
        ),
        (b'{"result":{"a" : NaN},"jsonrpc":"2.0","id":1}', b'{"result":{"a" : NaN},"jsonrpc":"2.0","id":101}'),
        (b'{"error":{"code":1,"message":"\\ud800"},"id":1}', b'{"error":{"code":1,"message":"\\ud800"},"id":101}'),
        (b'{"x":1,"id":1,"result":{}}', b'{"x":1,"id":101,"result":{}}'),
        (b'[{"id":1,"result":{}},{"method":"m"}]', b'[{"id":101,"result":{}},{"method":"m"}]'),
        (b'{"jsonrpc":"2.0","id":9,"result":{},"id":1}', b'{"jsonrpc":"2.0","id":101,"result":{}}'),
    ],
)
async def test_the_text_of_an_answer_is_kept_but_for_its_id(tape, replay, recorded, played):
    tape.ask(1, "ping")
    tape.receive(recorded)
    client = await replay(tape)
    await client.call("ping")
    assert client.sink.batches[0][1] == [played]


async def test_an_answer_with_the_same_id_is_kept_byte_for_byte(tape, replay):
    tape.ask(1, "ping")
    raw = tape.receive(b' {"id":1, "result" : {"a":1,"a":2} } ')
    client = await replay(tape)
    await client.call("ping", id=1)
    assert client.sink.batches[0][1] == [raw]


async def test_the_servers_question_comes_and_the_rest_waits_for_its_answer(tape, replay):
    tape.ask(1, "tools/call", echo("x"))
    tape.receive(jsonrpc.request("q", "sampling/createMessage", {}))
    tape.send(jsonrpc.result("q", {"role": "assistant"}))
    tape.answer(1, "done")
    client = await replay(tape)
    call = client.request("tools/call", echo("x"))
    await client.sink.until(lambda: client.sink.frames)
    await asyncio.sleep(0.01)
    assert client.sink.frames[0].message["method"] == "sampling/createMessage"
    assert len(client.sink.frames) == 1
    client.post(jsonrpc.result("other", {}))
    await asyncio.sleep(0.01)
    assert not call.done()
    client.post(jsonrpc.error("q", -1, "no"))
    assert (await asyncio.wait_for(call, 60))["result"] == "done"


async def test_the_same_question_twice_at_once_has_two_ids(tape, replay):
    tape.ask(1, "tools/call", echo("x"))
    tape.receive(jsonrpc.request("q", "roots/list"))
    tape.send(jsonrpc.result("q", {"roots": []}))
    tape.answer(1, "done")
    client = await replay(tape)
    calls = [client.request("tools/call", echo("x")) for _ in range(2)]
    await client.sink.until(lambda: len(client.sink.frames) == 2)
    ids = [frame.message["id"] for frame in client.sink.frames]
    assert ids == ["q", "q#2"]
    for id in ids:
        client.post(jsonrpc.result(id, {"roots": []}))
    assert [answer["result"] for answer in await asyncio.wait_for(asyncio.gather(*calls), 60)] == ["done", "done"]


async def test_a_question_that_was_never_answered_holds_nothing_up(tape, replay):
    tape.ask(1, "tools/call", echo("x"))
    tape.receive(jsonrpc.request("q", "ping"))
    tape.answer(1, "done")
    client = await replay(tape)
    assert (await client.call("tools/call", echo("x")))["result"] == "done"
    assert len(client.transport.questions) == 0


async def test_messages_of_a_subscription_carry_the_id_of_now(tape, replay):
    key = "io.modelcontextprotocol/subscriptionId"
    tape.channel = "post-1"
    tape.ask("s", "subscriptions/listen", {})
    tape.receive(jsonrpc.notification("notifications/tools/list_changed", {"_meta": {key: "s", "x": 1}}))
    tape.answer("s", {})
    client = await replay(tape)
    await client.call("subscriptions/listen", {})
    assert client.sink.frames[0].message["params"]["_meta"] == {key: 101, "x": 1}


async def test_exchanges_at_the_same_time_stay_apart(replay):
    tape = Tape()
    for number in (1, 2):
        tape.send(jsonrpc.request(number, "tools/call", echo(str(number))), f"post-{number}")
    for number in (2, 1):
        tape.receive(jsonrpc.notification("notifications/message", {"data": number}), f"post-{number}")
        tape.receive(jsonrpc.result(number, number), f"post-{number}")
    client = await replay(tape)
    calls = [client.request("tools/call", echo(text)) for text in ("1", "2", "1")]
    assert [answer["result"] for answer in await asyncio.wait_for(asyncio.gather(*calls), 60)] == [1, 2, 1]
    index = client.sink.journal.index
    for frame in client.sink.frames:
        if frame.shape is Shape.NOTIFICATION:
            parent = client.sink.journal.event(index.parent(frame.n)).message
            assert parent["params"]["arguments"]["text"] == str(frame.message["params"]["data"])
    tape.journal.release()


async def test_broken_lines_are_played_as_they_were(replay):
    tape = Tape("post-1")
    tape.ask(1, "tools/call", echo("x"))
    tape.receive(b"\xff not json")
    tape.answer(1, "done")
    client = await replay(tape)
    await client.call("tools/call", echo("x"))
    assert client.sink.events(Kind.INVALID)[0].bytes == b"\xff not json"
    tape.journal.release()


async def test_each_event_names_the_one_it_was_played_from(tape, replay):
    tape.ask(1, "ping")
    tape.answer(1, {})
    client = await replay(tape)
    await client.call("ping")
    assert client.sink.events(Kind.RPC)[1].fields["recorded"] == 2


# Requests without an answer


@pytest.mark.parametrize(
    ("event", "problem"),
    [("cancel", "was cancelled"), ("timeout", "timed out"), ("lost", "was lost"), (None, "ends before")],
)
async def test_a_request_without_an_answer_fails_with_what_became_of_it(tape, replay, event, problem):
    n = tape.ask(1, "tools/call", echo("x"))
    tape.receive(jsonrpc.notification("notifications/message", {"data": "so far"}))
    if event:
        tape.journal.record_life("", event, **{"for": n})
    client = await replay(tape)
    error = await client.error("tools/call", echo("x"))
    assert isinstance(error, ConnectionProblem)
    assert problem in error.message
    assert len(client.sink.frames) == 1


async def test_a_recording_without_requests_is_refused(tape, replay):
    tape.send(jsonrpc.notification("notifications/initialized"))
    with pytest.raises(RecordingError, match="no request of a client"):
        await replay(tape)


async def test_a_recording_of_a_newer_format_is_refused(tmp_path):
    path = tmp_path / "new.mcp.jsonl"
    path.write_text('{"format":"mcp-recording","version":9}\n{"n":1}\n')
    journal = Journal.open(path)
    with pytest.raises(RecordingError, match="newer format"):
        await RecordedTransport(RecordingSink(), journal).start()
    journal.release()


# Pace, cancellation, closing


async def test_the_recorded_pace_can_be_kept(tape, replay, monkeypatch):
    waits = []
    times = iter([0, 1_000_000, 3_000_000])
    monkeypatch.setattr(tape.journal, "now", lambda: next(times))
    tape.ask(1, "tools/call", echo("x"))
    tape.receive(jsonrpc.notification("notifications/message", {"data": 1}))
    tape.answer(1, "done")
    sleep = asyncio.sleep

    async def noted(seconds):
        waits.append(seconds)
        await sleep(0)

    monkeypatch.setattr("inspector.transports.recorded.asyncio.sleep", noted)
    client = await replay(tape, speed=2.0)
    await client.call("tools/call", echo("x"))
    assert [seconds for seconds in waits if seconds > 0.01] == [0.5, 1.0]


async def test_an_abandoned_exchange_plays_no_further(tape, replay):
    tape.ask(1, "tools/call", echo("x"))
    tape.receive(jsonrpc.request("q", "roots/list"))
    tape.send(jsonrpc.result("q", {"roots": []}))
    tape.answer(1, "done")
    client = await replay(tape)
    call = client.request("tools/call", echo("x"))
    await client.sink.until(lambda: client.sink.frames)
    client.transport.abandon(101)
    client.transport.abandon(5)
    await client.sink.until(lambda: not client.transport._tasks)
    assert len(client.transport.questions) == 0
    assert not call.done()


async def test_closing_stops_everything_and_nothing_can_be_sent_after_it(tape, replay):
    tape.ask(1, "tools/call", echo("x"))
    tape.receive(jsonrpc.request("q", "roots/list"))
    tape.send(jsonrpc.result("q", {"roots": []}))
    tape.answer(1, "done")
    client = await replay(tape)
    client.request("tools/call", echo("x"))
    await client.sink.until(lambda: client.sink.frames)
    await client.transport.close()
    await client.transport.close()
    assert client.transport._tasks == set()
    with pytest.raises(ConnectionProblem):
        client.notify("x")


async def test_a_recording_file_is_played(tmp_path):
    path = tmp_path / "one.mcp.jsonl"
    written = Journal.create(path, {})
    written.record_sent(
        "stdio", b'{"jsonrpc":"2.0","id":1,"method":"ping"}', {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    )
    written.record_received("stdio", [b'{"jsonrpc":"2.0","id":1,"result":{"from":"file"}}'])
    written.close()
    written.release()
    journal = Journal.open(path)
    client = Peer(lambda sink: RecordedTransport(sink, journal))
    await client.transport.start()
    assert (await client.call("ping"))["result"] == {"from": "file"}
    await client.transport.close()
    journal.release()

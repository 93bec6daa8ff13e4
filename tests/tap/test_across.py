"""A tap across transports: messages pass as they were written, to those they belong to."""

import asyncio
import json

import pytest

from inspector.config.targets import StdioTarget
from inspector.errors import ConnectionProblem, InspectorError
from inspector.journal.journal import Journal
from inspector.serving.base import ClientMessage
from inspector.tap import bridge as bridges
from inspector.tap.bridge import Bridge
from inspector.transports.memory import MemoryTransport
from tests.client.modern import CLIENT, SUBSCRIPTION, VERSION
from tests.tap.https import until

META = {VERSION: "2026-07-28", CLIENT: {"name": "test", "version": "1"}}


class Reply:
    """Where the answers to one message go."""

    def __init__(self):
        self.sent = []
        self.form = ""
        self.ended = False

    def begin(self, form, status=200, fields=()):
        self.form = self.form or form

    def send(self, data):
        assert not self.ended
        self.sent.append(data)

    def end(self):
        self.ended = True


class Client:
    """A client session as the bridge sees it, and what it says."""

    session, channel = "", "test"

    def __init__(self, transport, opens):
        self.transport = transport
        self.pushed = []
        self.dropped = False
        self.handler = opens(self)

    def push(self, data):
        self.pushed.append(data)

    def drop(self):
        self.dropped = True

    def say(self, message):
        """Send a message, an object or bytes; returns its reply."""
        reply = Reply()
        self.handler.received(
            ClientMessage.read(message if isinstance(message, bytes) else json.dumps(message).encode()), reply
        )
        return reply

    def ask(self, id, token=None, method="tools/call", **params):
        """Send a request of the modern era."""
        meta = META | ({"progressToken": token} if token is not None else {})
        return self.say({"jsonrpc": "2.0", "id": id, "method": method, "params": params | {"_meta": meta}})


class Server:
    """Keeps the messages it receives, and sends those of the test."""

    def __init__(self):
        self.seen = []
        self.fails = False
        self.say = None

    async def __call__(self, message, reply):
        self.seen.append(message)
        self.say = reply
        if self.fails:
            raise ConnectionProblem("The server is gone.")

    async def had(self, count):
        """Wait until so many messages have come."""
        await until(lambda: len(self.seen) >= count)
        return self.seen[-1]


def answer(id, **result):
    return json.dumps({"jsonrpc": "2.0", "id": id, "result": result}).encode()


@pytest.fixture
async def across():
    """`client, server = across("http")`; `client.journal` is the recording."""
    made = []

    def on(transport, connect=None):
        server, journal = Server(), Journal.unnamed({})
        bridge = Bridge(
            StdioTarget(("false",)),
            lambda: journal,
            connect=connect or (lambda _t, sink, _o: MemoryTransport(sink, server)),
        )
        client = Client(transport, bridge.opens)
        client.journal, client.bridge = journal, bridge
        made.append(client)
        return client, server

    yield on
    for client in made:
        await client.handler.close(gone=True)


async def test_messages_pass_as_they_were_written(across):
    client, server = across("stdio")
    asked = b'{"id":  1, "params":{"a":1.0,"b":"\\u00e9"},"method":"x","jsonrpc":"2.0"}'
    client.say(asked)
    client.say(b"no json at all \xff")
    await server.had(2)
    response = b'{"result" : {"a":1e0} ,"id":1,"jsonrpc":"2.0"}'
    server.say(response)
    server.say(b"banner \xff")
    assert client.pushed == [response, b"banner \xff"]
    assert client.journal.event(1).bytes == asked
    assert server.seen[1] == b"no json at all \xff"


async def test_an_answer_ends_the_reply_to_its_request_and_no_other(across):
    client, server = across("http")
    first, second = client.ask(1), client.ask(2)
    await server.had(2)
    server.say(answer(2))
    assert (second.sent, second.ended, first.ended) == ([answer(2)], True, False)
    server.say(answer(1))
    assert (first.sent, first.ended) == ([answer(1)], True)
    assert client.pushed == []


async def test_secrets_pass_and_what_is_no_json_does_not_over_http(across):
    client, server = across("http")
    client.journal.redactor.add("a-secret-token")
    reply = client.ask(1)
    await server.had(1)
    response = answer(1, text="a-secret-token")
    client.handler.on_received([b"banner", response], client.journal.record_received("stdio", [b"banner", response]))
    assert (reply.sent, reply.ended, client.pushed) == ([response], True, [])
    assert b"a-secret-token" not in client.journal.storage.pread(0, client.journal.storage.size)


async def test_notifications_need_no_answer(across):
    client, server = across("http")
    assert client.say({"jsonrpc": "2.0", "method": "notifications/initialized"}).ended is False
    await server.had(1)
    assert client.say({"jsonrpc": "2.0", "method": "notifications/initialized"}).ended


async def test_progress_and_questions_go_with_the_call_they_belong_to(across):
    client, server = across("http")
    first, second = client.ask(1, token="one"), client.ask(2, token="two")
    await server.had(2)
    progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "one", "progress": 1}}
    server.say(progress)
    server.say(answer(2))
    question = {"jsonrpc": "2.0", "id": "q", "method": "sampling/createMessage", "params": {}}
    server.say(question)
    assert [json.loads(data) for data in first.sent] == [progress, question]
    assert client.say({"jsonrpc": "2.0", "id": "q", "result": {}}).ended
    assert await server.had(3) == {"jsonrpc": "2.0", "id": "q", "result": {}}
    changed = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
    server.say(answer(1))
    server.say(changed)
    assert [json.loads(data) for data in client.pushed] == [changed]
    assert second.sent == [answer(2)]


async def test_clients_that_share_a_connection_may_choose_the_same_ids_and_tokens(across):
    client, server = across("http")
    replies = [client.ask(1, token=1, name=name) for name in ("a", "b", "c")]
    await server.had(3)
    ids = [message["id"] for message in server.seen]
    assert ids[0] == 1
    assert len(set(ids)) == 3
    assert [message["params"]["_meta"]["progressToken"] for message in server.seen] == ids
    for id in reversed(ids):
        params = {"progressToken": id, "progress": 1}
        server.say({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
        server.say(answer(id, of=ids.index(id)))
    for at, reply in enumerate(replies):
        progress, result = map(json.loads, reply.sent)
        assert progress["params"]["progressToken"] == 1
        assert (result["id"], result["result"]) == (1, {"of": at})
        assert reply.ended
    client.ask(1)
    assert (await server.had(4))["id"] == 1


async def test_events_of_subscriptions_with_the_same_id_go_to_their_own_clients(across):
    client, server = across("http")
    replies = [client.ask(1, method="subscriptions/listen") for _ in range(2)]
    await server.had(2)
    for at, message in enumerate(server.seen):
        meta = {"_meta": {SUBSCRIPTION: message["id"]}, "uri": f"test://{at}"}
        server.say({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": meta})
    for at, reply in enumerate(replies):
        (event,) = map(json.loads, reply.sent)
        assert event["params"] == {"_meta": {SUBSCRIPTION: 1}, "uri": f"test://{at}"}


async def test_a_stream_that_a_modern_client_closes_is_a_cancellation(across):
    client, server = across("http")
    first, second = client.ask(1), client.ask(1)
    await server.had(2)
    client.handler.left(second)
    cancelled = await server.had(3)
    assert cancelled["method"] == "notifications/cancelled"
    assert cancelled["params"]["requestId"] == server.seen[1]["id"] != 1
    server.say(answer(server.seen[1]["id"]))
    server.say(answer(1))
    assert (first.sent, second.sent) == ([answer(1)], [])


async def test_a_stream_that_a_legacy_client_loses_cancels_nothing(across):
    client, server = across("http")
    reply = client.say({"jsonrpc": "2.0", "id": 1, "method": "tools/call"})
    await server.had(1)
    client.handler.left(reply)
    server.say(answer(1))
    assert len(server.seen) == 1
    assert reply.ended


@pytest.mark.parametrize("transport", ["http", "stdio"])
async def test_a_server_that_dies_is_an_error_for_everything_under_way(across, transport):
    client, server = across(transport)
    first, second = client.ask(5), client.ask(5 if transport == "http" else 6)
    await server.had(2)
    server.fails = True
    client.say({"jsonrpc": "2.0", "method": "x"})
    await until(lambda: client.dropped)
    for reply, id in ((first, 5), (second, 5 if transport == "http" else 6)):
        (error,) = map(json.loads, reply.sent)
        assert (error["id"], "The server is gone." in error["error"]["message"]) == (id, True)
        assert reply.ended
    assert client.bridge.failed is not None
    assert b"instead of the server" in client.journal.storage.pread(0, client.journal.storage.size)


@pytest.mark.slow
async def test_a_server_that_cannot_be_reached_is_an_error_for_what_was_asked(across):
    client, _ = across("http", bridges.transport_for)
    reply = client.say({"jsonrpc": "2.0", "id": 1, "method": "initialize"})
    notified = client.say({"jsonrpc": "2.0", "method": "x"})
    await until(lambda: client.dropped)
    assert "The tap got no answer: The server" in json.loads(reply.sent[0])["error"]["message"]
    assert reply.ended
    assert notified.ended


async def test_what_was_asked_before_the_client_s_end_is_still_answered(across):
    client, server = across("stdio")
    reply = client.ask(1)
    await server.had(1)
    closing = asyncio.ensure_future(client.handler.close(gone=False))
    await asyncio.sleep(0)
    server.say(answer(1))
    await closing
    assert client.pushed == [answer(1)]
    assert reply.sent == []


async def test_what_is_never_answered_does_not_keep_the_tap(across, monkeypatch):
    monkeypatch.setattr(bridges, "_FINISH", 0.01)
    client, server = across("stdio")
    client.ask(1)
    await server.had(1)
    await client.handler.close(gone=False)
    with pytest.raises(InspectorError):
        client.handler._connection.send(b"{}")

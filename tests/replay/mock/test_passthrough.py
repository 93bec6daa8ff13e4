"""Unrecorded requests are sent to a live server, and its response to the client."""

import pytest

from inspector.client.bare_connection import BareConnection
from inspector.config.targets import StdioTarget
from inspector.errors import ServerExited
from inspector.journal.format import Kind
from inspector.protocol import jsonrpc
from inspector.transports.memory import MemoryTransport
from tests.client.conftest import Server
from tests.replay.scripted_mock import KeptClient, Written, mocked, until


@pytest.fixture
async def serve():
    """A client of a recording that holds a handshake and one call; a live server is behind it."""
    clients, written, upstreams = [], Written(), []
    written.handshake()
    written.exchange(1, "tools/call", {"name": "recorded"}, "from the recording")

    async def serve(server):
        def upstream(journal, listener):
            connection = BareConnection(
                StdioTarget(("live",)), journal, listener, connect=lambda _t, sink, _o: MemoryTransport(sink, server)
            )
            upstreams.append(connection)
            return connection

        mock = await mocked(written, on_miss="passthrough", upstream=upstream)
        clients.append(KeptClient(mock))
        return clients[-1]

    serve.upstreams = upstreams
    yield serve
    for client in clients:
        await client.handler.close(gone=True)
    written.journal.release()


async def opened(client):
    await client.call("initialize", {"protocolVersion": "2025-11-25", "clientInfo": {"name": "me"}})
    client.say(jsonrpc.notification("notifications/initialized"))


async def test_the_live_server_is_asked_only_what_is_missed_after_the_same_handshake(serve):
    server = Server(tools__call={"content": ["live"]})
    client = await serve(server)
    await opened(client)
    assert (await client.call("tools/call", {"name": "recorded"}))["result"] == "from the recording"
    assert server.seen == []
    answer = await client.call("tools/call", {"name": "new", "_meta": {"progressToken": 5}}, id="mine")
    assert (answer["id"], answer["result"]) == ("mine", {"content": ["live"]})
    opening, ready, call = server.seen
    assert (opening["method"], opening["params"]["clientInfo"]) == ("initialize", {"name": "me"})
    assert ready["method"] == "notifications/initialized"
    assert call["params"] == {"name": "new", "_meta": {"progressToken": 5}}
    await client.call("tools/call", {"name": "newer"})
    assert len(server.asked("initialize")) == 1
    assert [miss.became for miss in client.handler.mock.statistics.missed] == ["passthrough"] * 2


async def test_an_answer_that_was_passed_on_is_recorded_with_a_note(serve):
    client = await serve(Server(tools__call={"content": []}))
    await opened(client)
    await client.call("tools/call", {"name": "new"}, id=9)
    own = client.handler.journal
    assert [event.fields["became"] for event in own.events() if event.kind == Kind.NOTE] == ["passthrough"]
    assert own.index.pair(max(n for n in range(1, len(own) + 1) if own.index.method(n) == "tools/call"))


async def test_what_the_live_server_says_and_asks_meanwhile_is_passed_on(serve):
    def call(message, reply):
        reply(jsonrpc.notification("notifications/progress", {"progressToken": 5, "progress": 1}))
        reply(jsonrpc.request(1, "roots/list"))

    server = Server(tools__call=call)
    client = await serve(server)
    await opened(client)
    reply = client.ask(7, "tools/call", {"name": "new"})
    await until(lambda: len(reply.sent) == 2)
    progress, question = reply.messages
    assert progress["params"] == {"progressToken": 5, "progress": 1}
    client.say(jsonrpc.result(question["id"], {"roots": []}))
    await until(lambda: any("result" in message for message in server.seen))
    assert server.seen[-1] == {"jsonrpc": "2.0", "id": 1, "result": {"roots": []}}
    await until(lambda: client.handler._passthrough._waiting)
    client.say(jsonrpc.notification("notifications/cancelled", {"requestId": 7}))
    await until(lambda: server.asked("notifications/cancelled"))
    assert server.asked("notifications/cancelled")[0]["params"]["requestId"] == server.asked("tools/call")[0]["id"]


async def test_messages_without_a_request_are_pushed(serve):
    client = await serve(Server(tools__call={"content": []}))
    await opened(client)
    await client.call("tools/call", {"name": "new"})
    serve.upstreams[0].transport.reply(jsonrpc.notification("notifications/tools/list_changed"))
    assert [jsonrpc.parse(raw)["method"] for raw in client.pushed] == ["notifications/tools/list_changed"]


async def test_a_live_server_that_refuses_or_dies_is_an_error_of_the_one_request(serve):
    def die(message, reply):
        raise ServerExited("The server is gone.")

    server = Server(tools__call=die)
    client = await serve(server)
    await opened(client)
    answer = await client.call("tools/call", {"name": "new"})
    assert answer["error"]["message"] == "The server is gone."
    assert "error" in await client.call("tools/call", {"name": "newer"})
    assert len(server.asked("initialize")) == 2
    assert (await client.call("tools/call", {"name": "recorded"}))["result"] == "from the recording"


async def test_an_error_without_an_id_is_about_the_one_request_that_waits(serve):
    server = Server(tools__call=lambda message, reply: reply(jsonrpc.error(None, -32600, "what?")))
    client = await serve(server)
    await opened(client)
    answer = await client.call("tools/call", {"name": "new"}, id=3)
    assert (answer["id"], answer["error"]["message"]) == (3, "what?")


async def test_a_handshake_that_is_refused_is_reported(serve):
    server = Server(initialize=None)
    server.initialize = None
    client = await serve(server)
    await opened(client)
    assert "refused the handshake" in (await client.call("tools/call", {"name": "new"}))["error"]["message"]

"""A server in the same process."""

import asyncio

import pytest

from inspector.errors import ConnectionProblem, ServerExited
from inspector.journal.format import Kind
from inspector.protocol import jsonrpc
from inspector.transports.base import Outgoing
from inspector.transports.memory import MemoryTransport
from tests.transports.sinks import Peer


@pytest.fixture
async def connect():
    made = []

    async def start(server):
        client = Peer(lambda sink: MemoryTransport(sink, server))
        made.append(client)
        await client.transport.start()
        return client

    yield start
    for client in made:
        await client.transport.close()
        client.sink.journal.release()


async def test_a_request_and_its_answer(connect):
    async def server(message, reply):
        reply(jsonrpc.result(message["id"], message["params"]))

    client = await connect(server)
    assert (await client.call("echo", {"a": 1}))["result"] == {"a": 1}
    assert [event.ch for event in client.sink.events(Kind.RPC)] == ["stdio", "stdio"]


async def test_messages_reach_the_server_in_their_order_and_never_inside_send(connect):
    seen = []

    async def server(message, reply):
        seen.append(message["method"])

    client = await connect(server)
    for name in ("a", "b", "c"):
        client.notify(name)
    assert seen == []
    await client.sink.until(lambda: seen == ["a", "b", "c"])


async def test_hostile_bytes_arrive_as_they_are(connect):
    async def server(message, reply):
        reply(b"\xff\xfe")
        reply(b'{"jsonrpc":"2.0","id":1,"result":NaN}')

    client = await connect(server)
    await client.call("x")
    assert client.sink.events(Kind.INVALID)[0].bytes == b"\xff\xfe"


async def test_bytes_that_are_not_json_reach_the_server_as_bytes(connect):
    seen = []

    async def server(message, reply):
        seen.append(message)

    client = await connect(server)
    client.transport.send(Outgoing(b"{nonsense", None))
    await client.sink.until(lambda: seen == [b"{nonsense"])


async def test_a_server_that_drops_the_connection(connect):
    async def server(message, reply):
        raise ConnectionProblem("gone")

    client = await connect(server)
    assert (await client.error()).message == "gone"
    with pytest.raises(ConnectionProblem, match="gone"):
        client.notify("x")
    client.transport.reply({"late": True})
    client.transport.drop(ConnectionProblem("again"))
    assert client.sink.frames == []
    assert len(client.sink.losses) == 1


async def test_a_server_that_crashes(connect):
    async def server(message, reply):
        raise KeyError("oops")

    client = await connect(server)
    error = await client.error()
    assert isinstance(error, ServerExited)
    assert "KeyError('oops')" in error.message


async def test_what_a_test_may_ask_afterwards(connect):
    async def server(message, reply):
        await asyncio.sleep(60)

    client = await connect(server)
    client.transport.agreed("2025-11-25", version_header=True, resumable=True, listen=False)
    client.request("slow")
    client.transport.abandon(1)
    assert client.transport.agreed_on["revision"] == "2025-11-25"
    assert client.transport.abandoned == [1]
    await client.transport.close()
    assert client.transport._tasks == set()
    with pytest.raises(ConnectionProblem, match="closed"):
        client.notify("x")

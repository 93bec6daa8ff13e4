"""A connection that sends what others wrote: exact bytes, and only what the transport must know is read."""

import asyncio
import json
import sys

import pytest

from inspector.client.bare_connection import BareConnection
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import ConnectionProblem
from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import Shape
from tests.client.conftest import until
from tests.client.modern import VERSION, complete
from tests.client.test_modern_http import TOOLS, Modern, mirrored, requests_of
from tests.transports.scripted_http import Web

DEMO = StdioTarget((sys.executable, "-m", "inspector.demo"))


class Heard:
    def __init__(self):
        self.messages = []
        self.frames = []
        self.stderr = []
        self.failed = []
        self.lost = []

    def on_received(self, messages, frames):
        self.messages += messages
        self.frames += frames

    def on_stderr(self, lines):
        self.stderr += lines

    def on_failed(self, outgoing, error):
        self.failed.append((outgoing, error))

    def on_lost(self, error):
        self.lost.append(error)


@pytest.fixture
async def opened():
    """`connection, listener = await opened(target)`."""
    made = []

    async def open(target):
        listener = Heard()
        journal = Journal.unnamed({})
        connection = BareConnection(target, journal, listener)
        made.append(connection)
        await connection.open()
        return connection, listener

    yield open
    for connection in made:
        await connection.close()
        connection.journal.release()


def modern(method, id=1, **params):
    return json.dumps(
        {"jsonrpc": "2.0", "id": id, "method": method, "params": {**params, "_meta": {VERSION: "2026-07-28"}}}
    ).encode()


@pytest.mark.slow
async def test_bytes_go_out_as_they_are_and_come_back_as_they_are(opened):
    connection, listener = await opened(DEMO)
    asked = b'{ "id":1,\t"jsonrpc":"2.0", "method":"ping","method":"ping" }'
    n = connection.send(asked)
    await until(lambda: listener.frames)
    event = connection.journal.event(n)
    assert (event.bytes, event.dir, event.kind) == (asked, Dir.SEND, Kind.RPC)
    assert listener.messages == [connection.journal.event(listener.frames[0].n).bytes]
    assert connection.journal.index.pair(n) == listener.frames[0].n


@pytest.mark.slow
async def test_what_is_not_json_is_sent_and_recorded_too(opened):
    connection, listener = await opened(DEMO)
    n = connection.send(b"{half")
    assert connection.journal.event(n).kind is Kind.INVALID
    await until(lambda: listener.messages)  # the demo answers a parse error


@pytest.mark.slow
async def test_a_server_that_leaves_is_reported_of(opened):
    connection, listener = await opened(
        StdioTarget((sys.executable, "-c", "import sys; print('off', file=sys.stderr)"))
    )
    await until(lambda: listener.lost)
    assert listener.stderr == [b"off"]
    with pytest.raises(ConnectionProblem):
        connection.send(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')


async def test_after_the_handshake_requests_name_the_revision_and_the_session(opened):
    """C-HTTP-10, C-HTTP-11."""
    answer = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "x", "version": "1"}}

    def serve(request, reply):
        if request.method == "GET":
            reply.body(405)
        elif request.rpc_method == "initialize":
            reply.result(request, answer, ("Mcp-Session-Id", "abc"))
        else:
            reply.result(request)

    async with Web(serve) as web:
        connection, listener = await opened(HttpTarget(web.url))
        connection.send(b'{"jsonrpc":"2.0","id":"i","method":"initialize","params":{}}')
        await until(lambda: len(listener.frames) == 1)
        assert connection.revision == "2025-11-25"
        connection.send(b'{"jsonrpc":"2.0","id":2,"method":"tools/list"}')
        await until(lambda: len(listener.frames) == 2)
        (request,) = requests_of(web, "tools/list")
        assert (request.field("mcp-protocol-version"), request.field("mcp-session-id")) == ("2025-11-25", "abc")


async def test_a_call_of_the_modern_era_repeats_in_its_header_what_the_list_asked_for(opened):
    """C-HTTP-30, C-HTTP-31, C-HTTP-33."""
    async with Web(Modern(tools__call=complete())) as web:
        connection, listener = await opened(HttpTarget(web.url))
        connection.send(modern("tools/list"))
        await until(lambda: len(listener.frames) == 1)
        connection.send(modern("tools/call", 2, name="mirrors", arguments={"region": "eu"}))
        await until(lambda: len(listener.frames) == 2)
        (call,) = requests_of(web, "tools/call")
        assert call.field("mcp-protocol-version") == "2026-07-28"
        assert (call.field("mcp-method"), call.field("mcp-name")) == ("tools/call", "mirrors")
        assert mirrored(call) == {"mcp-param-region": "eu"}
        assert len(TOOLS) > 1


async def test_a_notification_has_the_header_fields_of_the_requests_before_it(opened):
    """C-HTTP-30."""
    async with Web(Modern()) as web:
        connection, listener = await opened(HttpTarget(web.url))
        connection.send(modern("tools/list"))
        await until(lambda: listener.frames)
        connection.send(b'{"jsonrpc":"2.0","method":"notifications/x"}')
        await until(lambda: len(web.requests) == 2)
        assert web.requests[1].field("mcp-protocol-version") == "2026-07-28"
        assert web.requests[1].field("mcp-method") == "notifications/x"


async def test_a_cancellation_closes_the_stream_where_that_is_how_it_is_reported(opened):
    """C-HTTP-36."""
    begun, ended = asyncio.Event(), asyncio.Event()

    async def never(request, reply):
        reply.stream()
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    async with Web(Modern(tools__call=never)) as web:
        connection, _ = await opened(HttpTarget(web.url))
        n = connection.send(modern("tools/call", 7, name="plain"))
        await asyncio.wait_for(begun.wait(), 10)
        cancel = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}'
        assert connection.send(cancel) == 0
        journal = connection.journal
        last = journal.event(len(journal))
        assert (last.fields["event"], last.fields["for"]) == ("stream-closed", n)
        assert [request.rpc_method for request in web.requests] == ["tools/call"]


async def test_one_exchange_that_breaks_is_reported_of_and_the_connection_goes_on(opened):
    async with Web(lambda _request, reply: reply.body(500, "no")) as web:
        connection, listener = await opened(HttpTarget(web.url))
        connection.send(modern("tools/list"))
        await until(lambda: listener.failed)
        outgoing, error = listener.failed[0]
        assert (outgoing.id, "500" in error.message) == (1, True)
        connection.send(modern("tools/list", 2))
        await until(lambda: len(listener.failed) == 2)
        assert listener.lost == []


@pytest.mark.slow
async def test_messages_of_one_read_are_heard_together_with_what_is_no_json(opened):
    script = 'import sys,time; sys.stdout.write("nonsense\\n{\\"jsonrpc\\":\\"2.0\\",\\"method\\":\\"x\\"}\\n"); sys.stdout.flush(); time.sleep(60)'
    _, listener = await opened(StdioTarget((sys.executable, "-c", script)))
    await until(lambda: len(listener.messages) == 2)
    assert listener.messages[0] == b"nonsense"
    assert [frame.shape for frame in listener.frames] == [Shape.NOTIFICATION]

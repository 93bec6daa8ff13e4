"""For any bytes in any pieces: no exception, one answer for each request, and the connection ends."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol import jsonrpc
from inspector.serving.http import Binding, HttpServer
from inspector.serving.http_connection import ConnectionLimits, ServedConnection
from tests.serving.scripted_handler import Scripted, request

ASK = request(body=jsonrpc.request(1, "json", {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}))
REFUSED = request("PUT", b"x" * 20)
PIECES = st.sampled_from(
    [ASK, ASK[:-1], REFUSED, b"\r\n", b"GET ", b"HTTP/1.1\r\n", b": ", b"Content-Length: 5\r\n", b"\x00", b"0\r\n\r\n",
     request("GET", b"", Accept="text/event-stream"), request(Content_Length=None, Transfer_Encoding="chunked"),
     request(Expect="100-continue", Content_Length="3")],
)  # fmt: skip


class Wire(asyncio.Transport):
    """A transport that appends everything to a list."""

    def __init__(self):
        super().__init__()
        self.written = []
        self.closed = False

    def write(self, data):
        assert not self.closed
        self.written.append(bytes(data))

    def close(self):
        self.closed = True

    abort = close

    def is_closing(self):
        return self.closed

    def get_write_buffer_size(self):
        return 0

    def set_write_buffer_limits(self, high=None, low=None):
        pass

    def can_write_eof(self):
        return False

    def pause_reading(self):
        pass

    def resume_reading(self):
        pass


async def fed(chunks):
    """Return the bytes written in answer to chunks, and whether the connection was closed."""
    end = HttpServer(lambda client: Scripted(client, []))
    connection, wire = ServedConnection(end), Wire()
    connection.connection_made(wire)
    for chunk in chunks:
        if not wire.closed:
            connection.data_received(chunk)
        for _ in range(8):
            await asyncio.sleep(0)
    connection.eof_received()
    connection.connection_lost(None)
    await end.close()
    return b"".join(wire.written)


async def test_a_body_that_keeps_coming_has_more_time():
    """A second for each 64 KiB."""
    end = HttpServer(lambda client: Scripted(client, []), binding=Binding(limits=ConnectionLimits(patience=0.001)))
    connection, wire = ServedConnection(end), Wire()
    connection.connection_made(wire)
    connection.data_received(request(Content_Length="200000") + b" " * 100_000)
    await asyncio.sleep(0.05)
    assert wire.written == []
    connection.kill()
    connection.connection_lost(None)
    await end.close()


@given(st.lists(PIECES | st.binary(min_size=1, max_size=30), max_size=8))
def test_no_bytes_raise(chunks):
    asyncio.run(fed(chunks))


@given(st.lists(st.sampled_from([ASK, REFUSED]), max_size=4), st.lists(st.integers(1, 60), max_size=20))
def test_answers_do_not_depend_on_how_requests_are_read(requests, sizes):
    whole = b"".join(requests)
    chunks, at = [], 0
    for size in [*sizes, len(whole)]:
        chunks.append(whole[at : at + size])
        at += size
    answer = asyncio.run(fed([chunk for chunk in chunks if chunk]))
    assert answer.count(b"HTTP/1.1 200") == requests.count(ASK)
    assert answer.count(b"HTTP/1.1 405") == requests.count(REFUSED)

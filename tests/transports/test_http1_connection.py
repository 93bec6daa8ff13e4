"""Reused connections: no byte of one exchange gets into the next one."""

import asyncio
import gzip
import itertools
import zlib

import pytest

from inspector.errors import HttpError
from inspector.transports.base import HttpOptions
from inspector.transports.http_client import FEW, MAX_MEMBERS, Endpoint
from inspector.transports.http_url import parse_url
from inspector.transports.network import NetworkResponse

OK = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b"
LARGE = 30 << 20
"""More than the system's buffers hold of a request that is not read."""


async def request(reader):
    """The head of the next request; its body is read."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = next((line[15:] for line in head.split(b"\r\n") if line.startswith(b"Content-Length:")), b"0")
    await reader.readexactly(int(length))
    return head


@pytest.fixture
async def endpoint():
    """`await endpoint(serve)`: an endpoint of a server with this handler of connections."""
    opened = []

    async def made(serve):
        async def connected(reader, writer):
            try:
                await serve(reader, writer)
            except (asyncio.IncompleteReadError, ConnectionError):
                pass
            finally:
                writer.close()

        server = await asyncio.start_server(connected, "127.0.0.1", 0)
        client = Endpoint(parse_url(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"), HttpOptions())
        opened.extend((client, server))
        return client

    yield made
    for client, server in zip(opened[::2], opened[1::2], strict=True):
        await client.aclose()
        server.close()


async def exchange(endpoint, body=b"", headers=()):
    """Status, body, and whether the body was complete."""
    given = [("Host", "here"), ("Content-Length", str(len(body))), *headers]
    async with asyncio.timeout(10):
        answer = await endpoint.exchange("POST", endpoint.url, given, body)
        return answer.status, *await answer.body(1 << 20)


async def test_a_connection_that_brings_something_unasked_is_closed(endpoint):
    opened = []
    closed = asyncio.Event()

    async def serve(reader, writer):
        opened.append(await request(reader))
        writer.write(OK % (2, b"ok"))
        await asyncio.sleep(0.1)
        writer.write(OK % (4, b"evil"))
        await reader.read()
        closed.set()

    connection = await endpoint(serve)
    assert await exchange(connection) == (200, b"ok", True)
    await asyncio.wait_for(closed.wait(), 10)
    assert await exchange(connection) == (200, b"ok", True)
    assert len(opened) == 2


@pytest.mark.parametrize("announced", [b"Content-Length: 42", b"Transfer-Encoding: chunked"])
async def test_a_late_body_of_a_response_that_has_none_is_no_answer(endpoint, announced):
    async def serve(reader, writer):
        await request(reader)
        writer.write(b"HTTP/1.1 204 No Content\r\n%b\r\n\r\n" % announced)
        await asyncio.sleep(0.1)
        writer.write(OK % (4, b"late"))
        await request(reader)

    connection = await endpoint(serve)
    assert await exchange(connection) == (204, b"", True)
    assert (await exchange(connection))[0] == 204, "the second request went out on a connection of its own"


@pytest.mark.parametrize("announced", [b"", b"Content-Length: 0\r\n"])
async def test_a_connection_without_an_announced_body_is_kept(endpoint, announced):
    async def serve(reader, writer):
        for n in itertools.count(1):
            await request(reader)
            writer.write(b"HTTP/1.1 %d Because\r\n%b\r\n" % (204 if n == 1 else 304, announced))

    connection = await endpoint(serve)
    assert [(await exchange(connection))[0] for _ in range(3)] == [204, 304, 304]


async def test_the_rest_of_a_request_that_was_answered_early_is_not_followed_by_another(endpoint):
    heads = []

    async def serve(reader, writer):
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
        await reader.read()

    connection = await endpoint(serve)
    assert await exchange(connection, b"GET /evil HTTP/1.1\r\n\r\n" * (LARGE // 22)) == (413, b"", True)
    assert await exchange(connection) == (413, b"", True)
    assert [head.split(b"\r\n")[0] for head in heads] == [b"POST / HTTP/1.1"] * 2


async def test_interim_responses_of_any_size_are_followed_by_the_response(endpoint):
    async def serve(reader, writer):
        await request(reader)
        writer.write(b"HTTP/1.1 103 Early Hints\r\nLink: %b\r\n\r\n" % (b"x" * 90_000) * 20 + OK % (2, b"ok"))
        await reader.read()

    assert await exchange(await endpoint(serve)) == (200, b"ok", True)


async def test_a_body_that_is_not_read_is_not_received_either(endpoint):
    sent = [0]

    async def serve(reader, writer):
        await request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % LARGE)
        while sent[0] < LARGE:
            writer.write(b"x" * (1 << 16))
            sent[0] += 1 << 16
            await writer.drain()

    connection = await endpoint(serve)
    async with asyncio.timeout(10):
        answer = await connection.exchange("GET", connection.url, [("Host", "here")])
        before = -1
        while before != sent[0]:
            before = sent[0]
            await asyncio.sleep(0.02)
        assert sent[0] < LARGE
        body, whole = await answer.body(LARGE)
    assert (len(body), whole) == (LARGE, True)


class Connections:
    """A network whose connections answer at once, and are closed by the server as soon as they have."""

    failures = ()

    def __init__(self):
        self.used = []
        self.free = asyncio.Event()

    def serves(self, _url):
        return True

    def create_connection(self):
        return Closing(self)


class Closing:
    def __init__(self, network):
        self.network = network
        self.answered = False

    async def exchange(self, _request, _opened=None):
        assert not self.answered, "a request was sent on a connection that the server has closed"
        self.network.used.append(self)
        await self.network.free.wait()
        self.answered = True
        return NetworkResponse(200, "", "HTTP/1.1", [], self)

    def __aiter__(self):
        return self

    async def __anext__(self):
        raise StopAsyncIteration

    async def aclose(self):
        pass

    close = aclose
    idle = True

    @property
    def expired(self):
        return self.answered


async def test_a_waiting_request_gets_no_connection_that_the_server_has_closed():
    network = Connections()
    endpoint = Endpoint(parse_url("http://127.0.0.1:1/"), HttpOptions(network=network))
    running = [asyncio.create_task(exchange(endpoint)) for _ in range(FEW + 1)]
    await asyncio.sleep(0)
    network.free.set()
    assert await asyncio.gather(*running) == [(200, b"", True)] * (FEW + 1)
    assert len(network.used) == FEW + 1
    await endpoint.aclose()


async def test_a_header_that_no_encoding_has_is_refused(endpoint):
    async def serve(reader, writer):
        await request(reader)

    connection = await endpoint(serve)
    with pytest.raises(HttpError, match="cannot be sent: the value of a header is not valid"):
        await exchange(connection, headers=[("X-Name", "\ud800")])


# Compressed bodies


def gzipped(endpoint, *parts, coding="gzip"):
    """An endpoint whose server sends these parts of a compressed body, one after the other."""

    async def serve(reader, writer):
        await request(reader)
        head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode())
        for part in parts:
            writer.write(part)
            await writer.drain()

    return endpoint(serve)


async def read(connection):
    async with asyncio.timeout(10):
        answer = await connection.exchange("POST", connection.url, [("Host", "here")])
        parts = []
        await answer.pump(parts.append)
        return b"".join(parts)


async def test_members_of_a_gzip_body_are_all_read(endpoint):
    connection = await gzipped(endpoint, gzip.compress(b"one, "), gzip.compress(b"two, ") + gzip.compress(b"three"))
    assert await read(connection) == b"one, two, three"


@pytest.mark.parametrize(
    ("coding", "parts"),
    [
        ("gzip", [gzip.compress(b"whole"), *[b"\x00" * 65536] * 400]),
        ("deflate", [zlib.compress(b"whole"), *[zlib.compress(b"")] * 100_000]),
        ("gzip", [gzip.compress(b"")] * (MAX_MEMBERS + 1)),
    ],
)
async def test_what_follows_a_compressed_body_is_not_kept(endpoint, coding, parts):
    connection = await gzipped(endpoint, *parts, coding=coding)
    with pytest.raises(HttpError, match=f"(sent data behind the end of its {coding} response|is not valid gzip)"):
        await read(connection)


@pytest.mark.parametrize(("coding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
async def test_a_compressed_body_that_ends_early_is_an_error(endpoint, coding, pack):
    connection = await gzipped(endpoint, pack(b"whole")[:-3], coding=coding)
    with pytest.raises(HttpError, match=f"ended its {coding} response before the compressed data was complete"):
        await read(connection)

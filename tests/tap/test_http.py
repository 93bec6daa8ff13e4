"""A tap on HTTP: the bytes that pass, the recording, and the allowed clients."""

import asyncio
import gzip
import socket
import ssl
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.config.secret_values import MAX_COOKIE_SECRETS
from inspector.config.targets import HttpTarget
from inspector.journal.journal import Journal
from inspector.tap.http import HttpTap, _Heads
from inspector.tap.http_recorder import RequestWatch
from tests.tap.https import until

CERTIFICATES = Path(__file__).parents[1] / "transports" / "certificates"
ASK = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
ANSWER = b'{"jsonrpc":"2.0","id":1,"result":{}}'
HOST = b"Host: localhost\r\n"
REQUESTS = (
    b"GET /mcp HTTP/1.1\r\n" + HOST + b"\r\n",
    b"POST /mcp HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\n\r\na\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n3\r\nGET\r\n1\r\n \r\n0\r\n\r\n",
)
OTHER = b'{"jsonrpc":"2.0","id":2,"result":{}}'


def answer(body=ANSWER, *fields, status=b"200 OK"):
    """A response with a length."""
    head = [b"HTTP/1.1 " + status, b"content-type: application/json", b"Content-Length: %d" % len(body), *fields]
    return b"\r\n".join(head) + b"\r\n\r\n" + body


def answering(*responses):
    """A server that answers one request after the other."""

    async def serve(connection):
        for response in responses:
            await connection.request()
            connection.write(response)
        await connection.rest()

    return serve


async def test_requests_and_responses_pass_as_they_were_written(stage):
    odd = answer(ANSWER, b"X-Odd:   \xff spaced  ", b"x-odd: twice")
    here = await stage(answering(odd, answer(OTHER)))
    client = await here.client()
    first, second = here.post(ASK, b"aCCept:*/*"), here.post(ASK.replace(b"1}", b"2}"), b"Accept: \xe9")
    client.write(first)
    assert await client.exactly(len(odd)) == odd
    client.write(second)
    assert await client.exactly(len(answer(OTHER))) == answer(OTHER)
    (server,) = here.upstream.connections
    assert server.seen == here.passed(first + second)
    assert here.sent == [ASK, ASK.replace(b"1}", b"2}")]
    assert here.received == [ANSWER, OTHER]
    assert here.statuses == [200, 200]


async def test_pipelined_requests_have_the_answers_of_their_own(stage):
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n"
    here = await stage(answering(answer(), head, answer(OTHER)))
    client = await here.client()
    asked = here.post(ASK) + b"HEAD /mcp HTTP/1.1\r\nHost: " + here.host + b"\r\n\r\n" + here.post(b"[]")
    client.write(asked)
    expected = answer() + head + answer(OTHER)
    assert await client.exactly(len(expected)) == expected
    assert here.upstream.connections[0].seen == here.passed(asked)
    assert here.received == [ANSWER, OTHER]
    assert here.notes == ""


async def test_a_request_may_come_byte_by_byte(stage):
    here = await stage(answering(answer()))
    client = await here.client()
    client.writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for byte in here.post(ASK):
        client.write(bytes([byte]))
        await asyncio.sleep(0)
    assert await client.exactly(len(answer())) == answer()
    assert here.upstream.connections[0].seen == here.passed(here.post(ASK))


async def test_a_head_may_end_its_lines_with_line_feeds_alone(stage):
    async def serve(connection):
        await connection.exactly(len(ASK))
        connection.write(answer())

    here = await stage(serve)
    client = await here.client()
    client.write(here.post(ASK).replace(b"\r\n", b"\n"))
    assert await client.exactly(len(answer())) == answer()
    assert here.sent == [ASK]


async def test_chunked_bodies_pass_as_chunks_and_are_recorded_whole(stage):
    chunked = b"10\r\n" + ASK[:16] + b"\r\n" + b"%x;a=b\r\n" % len(ASK[16:]) + ASK[16:] + b"\r\n0\r\nX-T: 1\r\n\r\n"
    reply = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    reply += b"%x\r\n" % len(ANSWER) + ANSWER + b"\r\n0\r\n\r\n"

    async def serve(connection):
        await connection.head()
        await connection.exactly(len(chunked))
        connection.write(reply)

    here = await stage(serve)
    client = await here.client()
    client.write(b"POST /mcp HTTP/1.1\r\nHost: " + here.host + b"\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked)
    assert await client.exactly(len(reply)) == reply
    assert here.upstream.connections[0].seen.endswith(chunked)
    assert (here.sent, here.received) == ([ASK], [ANSWER])


async def test_a_client_may_wait_for_leave_to_send_its_body(stage):
    go_on = b"HTTP/1.1 100 Continue\r\n\r\n"

    async def serve(connection):
        await connection.head()
        connection.write(go_on)
        await connection.exactly(len(ASK))
        connection.write(answer())

    here = await stage(serve)
    client = await here.client()
    client.write(here.post(ASK, b"Expect: 100-continue")[: -len(ASK)])
    assert await client.exactly(len(go_on)) == go_on
    client.write(ASK)
    assert await client.exactly(len(answer())) == answer()
    assert (here.sent, here.received, here.statuses) == ([ASK], [ANSWER], [100, 200])


async def test_a_compressed_answer_passes_compressed_and_is_recorded_plain(stage):
    packed = answer(gzip.compress(ANSWER), b"Content-Encoding: gzip")
    here = await stage(answering(packed))
    client = await here.client()
    client.write(here.post(ASK, b"Accept-Encoding: gzip"))
    assert await client.exactly(len(packed)) == packed
    assert here.received == [ANSWER]


@pytest.mark.parametrize("kind", [b"application/json", b"text/event-stream"])
async def test_an_answer_that_unpacks_to_far_more_than_its_size_passes_and_is_not_unpacked(stage, kind):
    bomb = gzip.compress(b"data: " + b"x" * (20 << 20) + b"\n\n")
    packed = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%b"
    packed %= (kind, len(bomb), bomb)
    here = await stage(answering(packed))
    client = await here.client()
    client.write(here.post(ASK))
    assert await client.exactly(len(packed)) == packed
    assert sum(map(len, here.received)) < 9 << 20


async def test_events_pass_one_by_one(stage):
    seen = asyncio.Event()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    first, second = (b"data: " + body + b"\n\n" for body in (ANSWER, OTHER))

    async def serve(connection):
        await connection.request()
        connection.write(head + first[:9])
        await seen.wait()
        connection.write(first[9:] + second + b": bye\n\n")

    here = await stage(serve)
    client = await here.client()
    client.write(here.post(ASK))
    assert await client.exactly(len(head) + 9) == head + first[:9]
    seen.set()
    assert await client.rest() == first[9:] + second + b": bye\n\n"
    assert here.received == [ANSWER, OTHER]


async def test_what_both_sides_agree_to_speak_instead_passes(stage):
    switch = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n"

    async def serve(connection):
        await connection.head()
        connection.write(switch)
        connection.write((await connection.exactly(3))[::-1])

    here = await stage(serve)
    client = await here.client()
    client.write(b"GET /mcp HTTP/1.1\r\nHost: " + here.host + b"\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n")
    assert await client.head() == switch
    client.write(b"\x00\x01\x02")
    assert await client.exactly(3) == b"\x02\x01\x00"
    assert "no longer use HTTP" in here.notes


@pytest.mark.parametrize(
    "garbage",
    [
        b"ICY 200 OK\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc",
        b"\x00\xff\x16\x03",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
    ],
)
async def test_a_response_that_is_none_passes_all_the_same(stage, garbage):
    async def serve(connection):
        await connection.request()
        connection.write(garbage)

    here = await stage(serve)
    client = await here.client()
    client.write(here.post(ASK))
    assert await client.rest() == garbage
    assert "does not send valid HTTP/1.1" in here.notes or here.received == [b"abc"]


async def test_an_answer_to_nothing_passes(stage):
    async def serve(connection):
        await connection.request()
        connection.write(answer() + answer(OTHER))

    here = await stage(serve)
    client = await here.client()
    client.write(here.post(ASK))
    assert await client.rest() == answer() + answer(OTHER)
    assert "it answers without a request" in here.notes


@pytest.mark.parametrize(
    "rest",
    [
        b"X: xyz\0\r\nContent-Length: 0\r\n\r\n",
        b"Content-Length: a\r\n\r\n",
        b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
        b"Content-Length: 3, 3\r\n\r\nabc",
        b"X: a\r\n Content-Length: 3\r\nContent-Length: 0\r\n\r\n",
        b"X: a\rTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n",
        b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    ],
)
async def test_a_request_whose_end_is_unclear_is_refused(stage, rest):
    here = await stage(answering(answer()))
    client = await here.client()
    client.write(b"POST /mcp HTTP/1.1\r\nHost: " + here.host + b"\r\n" + rest)
    assert (await client.rest()).startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert here.upstream.connections == []
    assert "xyz" not in here.notes


@pytest.mark.parametrize("chunk", [b"3 x\r\nabc\r\n", b"0x3\r\nabc\r\n", b"3\nabc\r\n", b"3\r\nabcXX"])
async def test_a_chunk_that_is_none_ends_both_connections(stage, chunk):
    async def serve(connection):
        await connection.rest()

    here = await stage(serve)
    client = await here.client()
    client.write(b"POST /mcp HTTP/1.1\r\nHost: " + here.host + b"\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
    client.write(chunk + b"0\r\n\r\nGET /other HTTP/1.1\r\n\r\n")
    assert (await client.rest()).startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert not any(b"/other" in connection.seen for connection in here.upstream.connections)


async def test_a_beginning_of_a_head_never_passes(stage):
    here = await stage(answering(answer()))
    client = await here.client()
    client.write(b"GET /mcp HTTP/1.1\r\nHost: evil.example\r\n")
    client.writer.write_eof()
    await client.rest()
    assert here.upstream.connections == []


async def test_a_whole_url_passes_as_its_path(stage):
    here = await stage(answering(answer()))
    client = await here.client()
    client.write(b"GET http://" + here.host + b"/mcp HTTP/1.1\r\nHost: " + here.host + b"\r\n\r\n")
    await client.exactly(len(answer()))
    assert here.upstream.connections[0].seen.startswith(b"GET /mcp HTTP/1.1\r\n")


@pytest.mark.parametrize(
    "fields",
    [
        b"Host: evil.example\r\n",
        b"Host: evil.example\r\nX: \x01\r\n",
        b"Host: localhost\r\nHost: evil.example\r\n",
        b"",
        b"Host: localhost\r\nOrigin: https://evil.example\r\n",
        b"Host: localhost\r\norigin: null\r\n",
    ],
)
async def test_pages_of_others_are_not_let_in(stage, fields):
    here = await stage(answering(answer()))
    client = await here.client()
    client.write(b"POST /mcp HTTP/1.1\r\n" + fields + b"Content-Length: 0\r\n\r\n")
    assert (await client.rest()).startswith(b"HTTP/1.1 403 Forbidden\r\n")
    assert here.upstream.connections == []
    assert "403" in here.notes


async def test_what_the_server_is_called_by_keeps_its_spelling(stage):
    here = await stage(answering(answer()))
    client = await here.client()
    client.write(
        b"POST /mcp HTTP/1.1\r\nhost:"
        + here.host
        + b"\r\nORIGIN:  http://localhost:1\r\nContent-Length: 40\r\n\r\n"
        + ASK
    )
    await client.exactly(len(answer()))
    head = here.upstream.connections[0].seen.partition(b"\r\n\r\n")[0].split(b"\r\n")
    assert head[1:3] == [b"host:" + here.server_host, b"ORIGIN:  http://" + here.server_host]


async def test_an_origin_of_this_machine_becomes_the_server_s_and_fields_are_added(stage):
    here = await stage(answering(answer()), headers=(("X-Key", "from-the-tap"), ("Accept", "never")))
    client = await here.client()
    client.write(here.post(ASK, b"Origin: http://localhost:5173", b"accept: */*"))
    await client.exactly(len(answer()))
    head = here.upstream.connections[0].seen.partition(b"\r\n\r\n")[0].split(b"\r\n")
    assert b"Origin: http://" + here.server_host in head
    assert b"X-Key: from-the-tap" in head
    assert b"accept: */*" in head
    assert not any(b"never" in line for line in head)


async def test_a_head_without_an_end_is_refused(stage):
    here = await stage(answering(answer()))
    client = await here.client()
    client.write(b"GET /mcp HTTP/1.1\r\nX: " + b"x" * (2 << 20))
    assert (await client.head()).startswith(b"HTTP/1.1 431 ")


async def test_a_connection_without_a_request_gives_way_to_a_new_one(stage, monkeypatch):
    """One without any byte goes first, then one whose request does not end; none is closed in a request."""
    monkeypatch.setattr("inspector.tap.http.MAX_CONNECTIONS", 3)
    answers = asyncio.Event()

    async def serve(connection):
        await connection.head()
        await answers.wait()
        connection.write(answer())
        await connection.rest()

    here = await stage(serve)
    used = [await here.client()]
    used[0].write(REQUESTS[0])
    await until(lambda: here.upstream.connections)
    slow, silent = await here.client(), await here.client()
    slow.write(b"GET ")
    await until(lambda: sum(pair.used for pair in here.tap._pairs) == 2)
    for number, closed in enumerate((silent, slow), 2):
        used.append(await here.client())
        used[-1].write(REQUESTS[0])
        assert await closed.rest() == b""
        await until(lambda count=number: len(here.upstream.connections) == count)
    late = await here.client()
    late.write(REQUESTS[0])
    assert b" 503 " in await late.head()
    answers.set()
    for client in used:
        assert b" 200 OK" in await client.head()


async def test_a_server_that_cannot_be_reached_is_reported_in_words_even_to_a_client_that_still_sends(stage):
    here = await stage(answering(), port=1)
    client = await here.client()
    client.write(here.post(b"x" * (4 << 20)))
    assert (await client.head()).startswith(b"HTTP/1.1 502 Bad Gateway\r\n")
    assert b"127.0.0.1:1" in await client.rest()
    assert "502" in here.notes


async def test_secrets_pass_and_are_not_recorded(stage):
    reply = answer(
        b'{"echo":"tok-secret-1 and sess-secret-2, key-secret-8, tok-7, cookvalue3b, cookvalue6b"}',
        b"Mcp-Session-Id: sess-secret-2",
        b"Set-Cookie: cook-3=cookvalue3b; Path=/",
    )
    here = await stage(answering(reply), headers=(("X-Api-Key", "key-secret-5"),))
    client = await here.client()
    client.write(
        here.post(
            ASK, b"Authorization: Bearer tok-secret-1", b"Cookie: a=1; cook-6=cookvalue6b", b"Api-Key: key-secret-8"
        ).replace(b"/mcp", b"/mcp?token=tok-7")
    )
    assert await client.exactly(len(reply)) == reply
    assert b"tok-secret-1" in here.upstream.connections[0].seen
    recorded = here.whole()
    assert b"echo" in recorded
    for secret in (b"tok-secret-1", b"sess-secret-2", b"cook-3", b"cook-6", b"key-secret-5", b"tok-7", b"key-secret-8"):
        assert secret not in recorded
    assert b"cookvalue" not in recorded


async def test_only_the_first_cookies_of_a_tap_are_searched(stage):
    """A balancer may set a new one each time, and each value costs a search in every message."""
    heads = [f"Set-Cookie: a=k7fq2x9d{n:04}".encode() for n in range(2 * MAX_COOKIE_SECRETS)]
    reply = answer(b'{"echo":"k7fq2x9d0000 k7fq2x9d0039"}', *heads)
    here = await stage(answering(reply))
    client = await here.client()
    client.write(here.post(ASK))
    assert await client.exactly(len(reply)) == reply
    recorded = here.whole()
    assert b"k7fq2x9d0000" not in recorded
    assert recorded.count(b"k7fq2x9d0039") == 1


async def test_a_login_that_passes_is_recorded_without_its_secrets(stage):
    """The server may be its own authorization server: its token endpoint is behind the tap, too."""
    reply = answer(b'{"access_token":"acc-secret-1","refresh_token":"ref-secret-2","token_type":"Bearer"}')
    here = await stage(answering(reply))
    client = await here.client()
    form = b"grant_type=authorization_code&code=cod-secret-3&code_verifier=ver-secret-4"
    client.write(here.post(form, b"Content-Type: application/x-www-form-urlencoded"))
    assert await client.exactly(len(reply)) == reply
    assert b"cod-secret-3" in here.upstream.connections[0].seen
    recorded = here.whole()
    assert b"grant_type=authorization_code" in recorded
    assert b"token_type" in recorded
    for secret in (b"acc-secret-1", b"ref-secret-2", b"cod-secret-3", b"ver-secret-4"):
        assert secret not in recorded


async def test_a_server_that_dies_in_its_answer_breaks_it_off(stage):
    async def serve(connection):
        await connection.request()
        connection.write(answer()[:-5])

    here = await stage(serve)
    client = await here.client()
    client.write(here.post(ASK))
    assert await client.rest() == answer()[:-5]
    await until(lambda: here.received)
    assert here.received == [ANSWER[:-5]]
    assert here.journal.index.invalid == 1


async def test_a_client_that_leaves_ends_the_connection_to_the_server(stage):
    async def serve(connection):
        await connection.request()
        await connection.rest()

    here = await stage(serve)
    client = await here.client()
    client.write(here.post(ASK)[:-4])
    await until(lambda: here.upstream.connections)
    client.writer.transport.abort()
    await until(lambda: here.upstream.ended)
    assert here.sent == [ASK[:-4]]


async def test_a_client_may_end_its_side_first(stage):
    async def serve(connection):
        assert (await connection.rest()).endswith(ASK)
        connection.write(answer())

    here = await stage(serve)
    client = await here.client()
    client.write(here.post(ASK))
    client.writer.write_eof()
    assert await client.rest() == answer()
    assert here.received == [ANSWER]


@pytest.mark.slow
async def test_a_client_that_does_not_read_makes_the_server_wait(stage):
    size = 32 << 20
    waits = asyncio.Event()

    async def serve(connection):
        await connection.request()
        connection.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        for _ in range(size >> 20):
            connection.write(b"x" * (1 << 20))
            try:
                await asyncio.wait_for(connection.writer.drain(), None if waits.is_set() else 0.3)
            except TimeoutError:
                waits.set()
                await connection.writer.drain()

    here = await stage(serve)
    client = await here.client()
    client.reader._limit = 1 << 14  # its own buffer
    client.write(here.post(ASK))
    await asyncio.wait_for(waits.wait(), 20)
    (pair,) = here.tap._pairs
    assert pair.client.transport.get_write_buffer_size() < 1 << 20
    await client.head()
    assert len(await client.exactly(size)) == size


def certified():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATES / "localhost.pem", CERTIFICATES / "key.pem")
    return context


async def test_a_server_may_speak_tls(stage):
    here = await stage(answering(answer()), certified(), verify=False)
    client = await here.client()
    client.write(here.post(ASK, b"Origin: http://localhost"))
    assert await client.exactly(len(answer())) == answer()
    assert b"Origin: https://" + here.server_host in here.upstream.connections[0].seen
    assert (here.sent, here.received) == ([ASK], [ANSWER])


async def test_an_untrusted_certificate_is_reported(stage):
    here = await stage(answering(), certified())
    client = await here.client()
    client.write(here.post(ASK))
    assert (await client.head()).startswith(b"HTTP/1.1 502 ")
    assert b"self-signed" in await client.rest()


async def test_each_connection_of_a_client_is_one_to_the_server(stage):
    here = await stage(answering(answer()))
    clients = [await here.client() for _ in range(20)]
    for client in clients:
        client.write(here.post(ASK))
    for client in clients:
        assert await client.exactly(len(answer())) == answer()
    assert len(here.upstream.connections) == 20
    assert here.received == [ANSWER] * 20


@given(st.lists(st.integers(1, 60), max_size=40), st.lists(st.sampled_from(REQUESTS), min_size=1, max_size=4))
def test_what_passes_does_not_depend_on_how_it_came(sizes, requests):
    journal = Journal.unnamed({})
    try:
        tap = HttpTap(HttpTarget("http://server.example/mcp"), journal)
        watch = RequestWatch(tap.channels)
        heads = _Heads(tap, watch)
        data, passed = b"".join(requests), []
        for size in sizes:
            passed += heads.feed(data[:size])
            data = data[size:]
        passed += heads.feed(data)
        assert b"".join(passed) == b"".join(requests).replace(b"Host: localhost", b"Host: server.example")
        assert len(watch.waiting) == len(requests)
        assert not watch.blind
    finally:
        journal.close()
        journal.release()

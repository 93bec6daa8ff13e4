"""Streamable HTTP: connections that cannot be made, TLS, proxies, limits. Each error says what happened, and where."""

import asyncio
import json
import os
import socket
import ssl
from pathlib import Path

import httpcore
import pytest

from inspector.errors import HttpError, LimitReached, UsageError
from inspector.journal.format import Kind
from inspector.transports import http_exchange
from inspector.transports.base import HttpOptions
from inspector.transports.http import HttpTransport
from inspector.transports.http_client import Endpoint
from inspector.transports.http_problems import explain
from inspector.transports.http_url import parse_url
from tests.transports.scripted_http import JSON, SSE, answer_to

CERTIFICATES = Path(__file__).parent / "certificates"


def tls(name):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATES / f"{name}.pem", CERTIFICATES / "key.pem")
    return context


def result(request, reply):
    reply.result(request, {"ok": True})


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


async def raw_server(stack, answer):
    """A server that writes `answer` after the first bytes it reads, and hangs up. Returns its port."""

    async def connected(reader, writer):
        await reader.read(1)
        writer.write(answer)
        writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    stack.append(server)
    return server.sockets[0].getsockname()[1]


@pytest.fixture
async def servers():
    running = []
    yield running
    for server in running:
        server.close()


async def test_a_port_without_a_listener(peer):
    port = free_port()
    client = await peer(f"http://127.0.0.1:{port}/mcp")
    error = await client.error()
    assert isinstance(error, HttpError)
    assert error.message == f"Nothing listens on 127.0.0.1:{port}: the connection was refused."
    assert error.as_event()["arrived"] is False
    assert "running" in error.hint
    assert client.sink.losses == []


async def test_a_server_that_is_started_later_is_reached(peer, serve):
    web = await serve(result)
    await web.__aexit__()
    client = await peer(web.url)
    assert isinstance(await client.error(), HttpError)
    web.server = await asyncio.start_server(web._connected, "127.0.0.1", web.port)
    assert (await client.call("ping"))["result"] == {"ok": True}


async def test_a_name_that_does_not_exist(peer, monkeypatch):
    def lookup(*_, **__):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    client = await peer("http://nowhere.invalid/mcp")
    error = await client.error()
    assert error.message == "The name nowhere.invalid cannot be resolved: the name does not exist."


async def test_a_connection_that_is_never_taken(peer):
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen(0)
        address = sock.getsockname()
        fillers = [socket.socket() for _ in range(4)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(address)
        client = await peer(f"http://127.0.0.1:{address[1]}/", connect_timeout=0.05)
        error = await client.error()
        for filler in fillers:
            filler.close()
    assert f"127.0.0.1:{address[1]} did not accept the connection in time" in error.message


@pytest.mark.parametrize("how", ["hang up", "reset"])
async def test_a_connection_that_ends_without_an_answer(serve, peer, how):
    web = await serve(lambda request, reply: reply.hang_up() if how == "hang up" else reply.reset())
    client = await peer(web.url)
    error = await client.error()
    assert isinstance(error, HttpError)
    assert f"127.0.0.1:{web.port}" in error.message
    assert "may have executed the request" in error.hint
    assert len(web.requests) == 1


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"\0\xff" * 100,
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nbad\r\n\r\n",
    ],
)
async def test_a_server_that_does_not_speak_http(servers, peer, answer):
    port = await raw_server(servers, answer)
    client = await peer(f"http://127.0.0.1:{port}/mcp")
    error = await client.error()
    assert isinstance(error, HttpError)
    assert f"127.0.0.1:{port} does not answer in HTTP" in error.message
    assert error.message.isprintable()


async def test_a_head_without_end_is_refused(servers, peer):
    port = await raw_server(servers, b"HTTP/1.1 200 OK\r\nX: " + b"x" * 2_000_000)
    client = await peer(f"http://127.0.0.1:{port}/mcp")
    assert isinstance(await client.error(), HttpError)


@pytest.mark.parametrize("chunk", [b"zz\r\nx\r\n", b"-1\r\n", b"ffffffffffffffffffffffff\r\n"])
async def test_a_garbled_body_is_an_error(serve, peer, chunk):
    def garbles(request, reply):
        reply.head(200, JSON, ("Transfer-Encoding", "chunked"))
        reply.raw(chunk)
        reply.hang_up()

    web = await serve(garbles)
    client = await peer(web.url)
    assert f"The response from 127.0.0.1:{web.port} is incomplete" in (await client.error()).message


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (b"HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n", "a line of its header is not valid: “X: a"),
        (b"HTTP/1.1 101 Switching Protocols\r\n\r\n", "it switches to a protocol that was not requested"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" * 40, "it begins with more than 32 interim responses (1xx)"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000, "its header is too long"),
        (b"HTTP/1.1 200 OK\r\nX: ", "the connection was closed within its header"),
    ],
)
async def test_a_hostile_head_is_named(servers, peer, answer, problem):
    port = await raw_server(servers, answer)
    client = await peer(f"http://127.0.0.1:{port}/mcp")
    error = await client.error()
    assert f"127.0.0.1:{port} does not answer in HTTP: " in error.message
    assert problem in error.message
    assert error.message.isprintable()


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"zz\r\n", "a chunk of the body is not valid: “zz”"),
        (b"2\r\n{}}\r\n", "a chunk of the body is longer than its size: “}"),
        (b"1;" + b"x" * 20_000, "the line before a chunk of the body is too long"),
        (b"1\r\n{\r\n0\r\n" + b"X: 1\r\n" * 20_000, "the trailers of its body are too long"),
        (b"5\r\n{", "the connection was closed"),
    ],
)
async def test_a_hostile_body_is_named(servers, peer, body, problem):
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    port = await raw_server(servers, head + body)
    client = await peer(f"http://127.0.0.1:{port}/mcp")
    error = await client.error()
    assert f"The response from 127.0.0.1:{port} is incomplete: {problem}" in error.message


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        (b"Content-Length: 1\r\nContent-Length: 2", "it has two different Content-Length headers"),
        (b"Content-Length: many", "its Content-Length is not a number: “many”"),
        (b"Transfer-Encoding: gzip", "its Transfer-Encoding is not “chunked”: “gzip”"),
        (b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "it has several Transfer-Encoding headers"),
    ],
)
async def test_headers_that_do_not_tell_where_the_body_ends_are_named_and_recorded(servers, peer, fields, problem):
    port = await raw_server(servers, b"HTTP/1.1 200 OK\r\n" + fields + b"\r\n\r\n{}")
    client = await peer(f"http://127.0.0.1:{port}/mcp")
    error = await client.error()
    assert error.message == f"The response from 127.0.0.1:{port} violates HTTP: {problem}."
    head = client.sink.events(Kind.HTTP)[1].fields["headers"]
    assert len(head) == fields.count(b":")


async def test_bytes_behind_a_response_never_answer_the_next_request(serve, peer):
    def smuggles(request, reply):
        reply.result(request, {"ok": True})
        reply.raw(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\nevil")

    web = await serve(smuggles)
    client = await peer(web.url)
    for _ in range(3):
        assert (await client.call("ping"))["result"] == {"ok": True}
    assert web.connections == 3


async def test_two_framings_of_one_body_end_the_connection(serve, peer):
    def both(request, reply):
        body = json.dumps(answer_to(request)).encode()
        reply.head(200, JSON, ("Content-Length", 3), ("Transfer-Encoding", "chunked"))
        reply.chunk(body)
        reply.end()

    web = await serve(both)
    client = await peer(web.url)
    for _ in range(2):
        assert (await client.call("ping"))["result"] == {}
    assert web.connections == 2
    names = [name for name, _ in client.sink.events(Kind.HTTP)[1].fields["headers"]]
    assert names == ["Content-Type", "Content-Length", "Transfer-Encoding"]


async def test_a_response_in_single_bytes_is_read(serve, peer):
    async def drips(request, reply):
        body = json.dumps(answer_to(request)).encode()
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        for byte in head + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body):
            reply.raw(bytes([byte]))
            await reply.writer.drain()
            await asyncio.sleep(0)

    web = await serve(drips)
    client = await peer(web.url)
    for _ in range(2):
        assert (await client.call("ping"))["result"] == {}
    assert web.connections == 1


async def test_an_error_before_the_request_is_read_is_still_the_answer(servers, peer):
    port = await raw_server(servers, b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
    client = await peer(f"http://127.0.0.1:{port}/mcp")
    with pytest.raises(HttpError, match="answered 413 Too Large"):
        await client.request("tools/call", {"data": "x" * 8_000_000})


async def test_a_connection_that_the_server_closed_while_idle_is_replaced(serve, peer):
    def once(request, reply):
        reply.result(request)
        reply.hang_up()

    web = await serve(once)
    client = await peer(web.url)
    for _ in range(3):
        assert (await client.call("ping"))["result"] == {}
        await client.sink.until(lambda: not web._tasks)
    assert web.connections == 3


async def test_a_header_of_the_server_cannot_add_a_line_to_the_next_request(peer, serve):
    web = await serve(result)
    client = await peer(web.url)
    client.transport.requester.session_id = "a\r\nX-Evil: 1"
    error = await client.error()
    assert f"The request to 127.0.0.1:{web.port} cannot be sent: the value of a header is not valid" in error.message
    assert web.requests == []


async def test_the_next_address_of_a_name_is_tried(serve, peer, monkeypatch):
    web = await serve(result)
    unused = free_port()
    infos = [(socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", port)) for port in (unused, web.port)]

    def lookup(host, *_, flags=0, **__):
        if flags:
            raise socket.gaierror(socket.EAI_NONAME, "not an address")
        return infos

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    client = await peer("http://server.test/mcp")
    assert (await client.call("ping"))["result"] == {"ok": True}
    infos[1:] = infos[:1]
    other = await peer("http://server.test/mcp")
    assert "Nothing listens on server.test:80" in (await other.error()).message


# TLS


@pytest.fixture
def trusted(monkeypatch):
    """Trust one certificate, as a user would."""
    return lambda name: monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / f"{name}.pem"))


async def test_tls_with_a_trusted_certificate(serve, peer, trusted):
    trusted("localhost")
    web = await serve(result, ssl=tls("localhost"))
    client = await peer(web.url)
    assert (await client.call("ping"))["result"] == {"ok": True}
    assert client.sink.lives("connect")[0].fields["tls"] == "TLSv1.3"


@pytest.mark.parametrize(
    ("certificate", "trust", "problem"),
    [("localhost", None, "is self-signed"), ("expired", "expired", "has expired"), ("other", "other", "another")],
)
async def test_a_certificate_that_does_not_hold(serve, peer, trusted, certificate, trust, problem):
    if trust:
        trusted(trust)
    web = await serve(result, ssl=tls(certificate))
    client = await peer(web.url)
    error = await client.error()
    assert error.message.startswith(f"The certificate of 127.0.0.1:{web.port}")
    assert problem in error.message
    assert "SSL_CERT_FILE" in error.hint


async def test_the_check_can_be_switched_off(serve, peer):
    web = await serve(result, ssl=tls("expired"))
    client = await peer(web.url, verify=False)
    assert (await client.call("ping"))["result"] == {"ok": True}


async def test_tls_to_a_server_that_speaks_plain_http(serve, peer):
    web = await serve(result)
    client = await peer(web.url.replace("http://", "https://"), connect_timeout=0.3)
    error = await client.error()
    assert (
        f"127.0.0.1:{web.port} accepted the connection, but did not answer the TLS handshake in time" in error.message
    )
    assert web.url in error.hint


async def test_tls_to_a_server_that_answers_in_plain_http(servers, peer):
    port = await raw_server(servers, b"HTTP/1.1 400 Bad Request\r\n\r\n")
    client = await peer(f"https://127.0.0.1:{port}/mcp")
    error = await client.error()
    assert f"127.0.0.1:{port} does not use TLS" in error.message
    assert f"http://127.0.0.1:{port}/mcp" in error.hint


async def test_plain_http_to_a_server_that_speaks_tls(servers, peer):
    port = await raw_server(servers, b"\x15\x03\x03\x00\x02\x02\x46")
    client = await peer(f"http://127.0.0.1:{port}/mcp")
    error = await client.error()
    assert f"https://127.0.0.1:{port}/mcp" in error.hint


async def test_a_connection_that_ends_during_the_handshake(peer, servers):
    port = await raw_server(servers, b"")
    client = await peer(f"https://127.0.0.1:{port}/mcp")
    error = await client.error()
    assert (
        f"127.0.0.1:{port} accepted the connection, but closed the connection during the TLS handshake" in error.message
    )


# Proxies


async def test_a_proxy_is_given_the_whole_url_and_its_password_is_not_recorded(serve, peer):
    web = await serve(result)
    client = await peer("http://server.example/mcp", proxy=f"http://me:pass-word@127.0.0.1:{web.port}")
    assert (await client.call("ping"))["result"] == {"ok": True}
    request = web.requests[0]
    assert request.target == "http://server.example/mcp"
    assert request.field("host") == "server.example"
    assert request.field("proxy-authorization") == "Basic bWU6cGFzcy13b3Jk"
    assert "pass-word" not in client.sink.text()
    assert client.sink.lives("connect")[0].fields["proxy"] == f"127.0.0.1:{web.port}"


async def test_a_proxy_that_refuses_the_tunnel(serve, peer):
    web = await serve(lambda request, reply: reply.body(407))
    client = await peer("https://server.example/mcp", proxy=f"http://127.0.0.1:{web.port}")
    error = await client.error()
    assert f"The proxy 127.0.0.1:{web.port} refused to connect to server.example:443: 407" in error.message
    assert (web.requests[0].method, web.requests[0].target) == ("CONNECT", "server.example:443")


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("Invalid username/password", "the user or the password is wrong"),
        (
            "Requested USERNAME/PASSWORD from proxy server, but got NO ACCEPTABLE METHODS.",
            "it wants another kind of login",
        ),
        ("Proxy Server could not connect: Connection refused.", "the host refused the connection"),
        ("Proxy Server could not connect: UNKOWN.", "it could not connect"),
    ],
)
def test_a_socks_proxy_that_refuses_is_said_in_our_words(sentence, reason):
    error = explain(httpcore.ProxyError(sentence), parse_url("https://server.example/mcp"), "p:1080")
    assert error.message == f"The proxy p:1080 refused to connect to server.example:443: {reason}."


async def test_a_proxy_that_is_not_there(peer):
    port = free_port()
    client = await peer("http://server.example/mcp", proxy=f"http://127.0.0.1:{port}")
    assert f"Nothing listens on the proxy 127.0.0.1:{port}" in (await client.error()).message


@pytest.mark.parametrize("proxy", ["nonsense", "ftp://x", "http://", "socks5://127.0.0.1:1"])
async def test_a_proxy_that_cannot_be_used_is_refused_at_the_start(proxy):
    transport = HttpTransport("http://server.example/", None, HttpOptions(proxy=proxy))
    with pytest.raises(UsageError, match="proxy"):
        await transport.start()


async def test_the_proxy_of_the_environment_is_used_but_not_for_this_machine(serve, peer, monkeypatch):
    proxy = await serve(lambda request, reply: reply.result(request, {"by": "proxy"}))
    web = await serve(result)
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
    away = await peer("http://server.example/")
    assert (await away.call("ping"))["result"] == {"by": "proxy"}
    near = await peer(web.url)
    assert (await near.call("ping"))["result"] == {"ok": True}


# Limits, and answers to abandoned requests


@pytest.mark.parametrize("kind", ["json", "stream", "one long line"])
async def test_a_limit_that_strikes_names_itself(serve, peer, kind):
    def big(request, reply):
        body = json.dumps(answer_to(request, {"text": "x" * 5000}))
        if kind == "json":
            reply.body(200, body, JSON)
        else:
            reply.body(200, f"data: {body}" + ("\n\n" if kind == "stream" else ""), SSE)

    web = await serve(big)
    client = await peer(web.url, max_body=4000)
    error = await client.error()
    assert isinstance(error, LimitReached)
    assert "max_body_bytes" in error.hint
    assert f"127.0.0.1:{web.port}" in error.message


async def test_a_stream_of_many_small_messages_is_within_the_limit(serve, peer):
    def many(request, reply):
        reply.stream()
        for _ in range(50):
            reply.event({"jsonrpc": "2.0", "method": "notifications/x", "params": {"text": "x" * 100}})
        reply.event(answer_to(request))
        reply.end()

    web = await serve(many)
    client = await peer(web.url, max_body=400)
    assert (await client.call("ping"))["id"] == 1


@pytest.mark.parametrize("kind", ["json", "stream"])
async def test_a_large_answer_arrives_whole(serve, peer, kind):
    text = "0123456789" * 800_000

    def big(request, reply):
        body = json.dumps(answer_to(request, {"text": text}))
        reply.body(200, body if kind == "json" else f"data: {body}\n\n", JSON if kind == "json" else SSE)

    web = await serve(big)
    client = await peer(web.url)
    assert (await client.call("ping"))["result"] == {"text": text}


async def test_a_late_answer_is_still_recorded(serve, peer):
    go_on = asyncio.Event()

    async def slow(request, reply):
        await go_on.wait()
        reply.result(request)

    web = await serve(slow)
    client = await peer(web.url)
    client.request("tools/call")
    await client.sink.until(lambda: web.requests)
    client.transport.abandon(1)
    client.transport.abandon(1)
    go_on.set()
    await client.sink.until(lambda: client.sink.frames)
    await client.sink.until(lambda: not client.transport._tasks)
    assert client.transport._timers == {}


async def test_the_answer_to_an_abandoned_request_is_cut_off_in_the_end(serve, peer, monkeypatch):
    monkeypatch.setattr("inspector.transports.http.LATE_SECONDS", 0.01)

    async def never(request, reply):
        reply.head(200, JSON, ("Content-Length", 100))
        reply.raw(b'{"jsonrpc":')
        await reply.writer.drain()
        await asyncio.sleep(60)

    web = await serve(never)
    client = await peer(web.url)
    client.request("tools/call")
    await client.sink.until(lambda: len(client.sink.events(Kind.HTTP)) == 2)
    await asyncio.sleep(0.01)
    client.transport.abandon(1)
    await client.sink.until(lambda: not client.transport._tasks)
    assert client.sink.lives("stream-closed")[0].fields["for"] == 1
    assert client.sink.events(Kind.INVALID)[0].raw == '{"jsonrpc":'
    assert client.sink.failures == []


@pytest.mark.parametrize("kind", [JSON, SSE])
async def test_an_endless_answer_to_an_abandoned_request_is_cut_off_by_its_size(serve, peer, monkeypatch, kind):
    monkeypatch.setattr(http_exchange, "LATE_BYTES", 100_000)

    async def endless(request, reply):
        reply.head(200, kind)
        while True:
            reply.raw(b": " + b"x" * 5000 + b"\n")
            await reply.writer.drain()
            await asyncio.sleep(0)

    web = await serve(endless)
    client = await peer(web.url)
    client.request("tools/call")
    await client.sink.until(lambda: len(client.sink.events(Kind.HTTP)) == 2)
    client.transport.abandon(1)
    await client.sink.until(lambda: not client.transport._tasks)


async def test_a_stream_is_closed_at_once_when_the_era_cancels_that_way(serve, peer):
    """C-HTTP-36."""
    gone = asyncio.Event()

    async def streams(request, reply):
        reply.stream()
        reply.chunk(": ok\n\n")
        try:
            while True:
                reply.chunk(": still\n\n")
                await reply.writer.drain()
                await asyncio.sleep(0.002)
        finally:
            gone.set()

    web = await serve(streams)
    client = await peer(web.url)
    call = client.request("tools/call")
    await client.sink.until(lambda: client.sink.events(Kind.SSE))
    client.transport.close_stream(1)
    client.transport.close_stream(99)
    await asyncio.wait_for(gone.wait(), 60)
    assert not call.done()
    assert client.sink.failures == []


async def test_a_fault_of_our_own_neither_hangs_the_request_nor_vanishes(serve, peer, monkeypatch):
    reported = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: reported.append(context["exception"]))
    web = await serve(result)
    client = await peer(web.url)

    def stumble(*_, **__):
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(client.sink, "received", stumble)
    error = await client.error()
    assert "ZeroDivisionError" in error.message
    assert isinstance(reported[0], ZeroDivisionError)


# Closing


async def test_closing_ends_the_session_with_a_delete(serve, peer):
    """C-HTTP-13: any answer to it is fine."""

    def with_session(request, reply):
        if request.method == "DELETE":
            reply.body(405)
        else:
            reply.result(request, {}, ("Mcp-Session-Id", "session-1"))

    web = await serve(with_session)
    client = await peer(web.url)
    await client.call("initialize")
    client.transport.agreed("2025-11-25", version_header=True, resumable=True, listen=False)
    await client.transport.close()
    await client.transport.close()
    assert [request.method for request in web.requests] == ["POST", "DELETE"]
    assert web.requests[1].field("mcp-session-id") == "session-1"
    assert web.requests[1].field("mcp-protocol-version") == "2025-11-25"
    with pytest.raises(HttpError, match="closed"):
        client.notify("x")
    assert client.sink.events()[-1].kind == Kind.HTTP


async def test_closing_without_a_session_sends_nothing(serve, peer):
    web = await serve(result)
    client = await peer(web.url)
    await client.call("initialize")
    await client.transport.close()
    assert len(web.requests) == 1


async def test_closing_before_anything_was_sent():
    transport = HttpTransport("http://127.0.0.1:1/", None)
    await transport.close()


async def test_closing_waits_for_no_server(serve, peer, monkeypatch):
    monkeypatch.setattr("inspector.transports.http.DELETE_GRACE", 0.02)
    monkeypatch.setattr("inspector.transports.http.SEND_GRACE", 0.02)

    async def stubborn(request, reply):
        if request.rpc_method == "initialize":
            reply.result(request, {}, ("Mcp-Session-Id", "session-1"))
            return
        if request.method == "GET":
            reply.stream()
        await asyncio.sleep(60)

    web = await serve(stubborn)
    client = await peer(web.url)
    await client.call("initialize")
    client.transport.agreed("2025-11-25", version_header=True, resumable=True, listen=True)
    client.request("tools/call")
    client.notify("notifications/x")
    await client.sink.until(lambda: len(web.requests) == 4)
    await asyncio.wait_for(client.transport.close(), 60)
    assert web.requests[-1].method == "DELETE"
    assert not client.transport._tasks
    assert client.sink.failures == []


async def test_a_cancellation_that_was_just_sent_still_leaves(serve, peer):
    """C-HTTP-18."""

    async def slow(request, reply):
        if request.rpc_method == "tools/call":
            await asyncio.sleep(60)
        reply.body(202)

    web = await serve(slow)
    client = await peer(web.url)
    client.request("tools/call")
    await client.sink.until(lambda: web.requests)
    client.notify("notifications/cancelled", {"requestId": 1})
    await client.transport.close()
    assert [request.rpc_method for request in web.requests] == ["tools/call", "notifications/cancelled"]


async def test_closing_while_a_server_is_gone_is_recorded_and_no_error(serve, peer):
    web = await serve(lambda request, reply: reply.result(request, {}, ("Mcp-Session-Id", "session-1")))
    client = await peer(web.url)
    await client.call("initialize")
    await web.__aexit__()
    await client.transport.close()
    assert len(client.sink.lives("delete-failed")) <= 1


async def test_no_connection_stays_open(serve, peer):
    web = await serve(result)
    client = await peer(web.url)
    await asyncio.gather(*(client.request("ping") for _ in range(10)))
    await client.transport.close()
    endpoint = client.transport.requester._endpoint
    assert isinstance(endpoint, Endpoint)
    assert endpoint._open == set()
    await client.sink.until(lambda: not web._tasks)

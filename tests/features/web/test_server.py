"""The server of `inspector web` answers its own page only."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import resources

import aiohttp
import pytest

from inspector.errors import UsageError
from inspector.features.web.server import FILES, WebServer

# Says that it is ready, writes what it gets to stdout as a frame, and ends with its input.
ECHO = """
import os, sys
os.write(1, b"__GANGLION__\\n")
while data := os.read(0, 4096):
    os.write(1, b"D" + len(data).to_bytes(4, "big") + data)
    if b"quit" in data: break
"""


@pytest.fixture
async def server() -> AsyncIterator[WebServer]:
    started = WebServer([sys.executable, "-c", ECHO], {}, print)
    await started.start()
    try:
        yield started
    finally:
        await started.close()


async def get(url: str, **headers: str) -> aiohttp.ClientResponse:
    async with aiohttp.ClientSession() as client, client.get(url, headers=headers, allow_redirects=False) as response:
        await response.read()
        return response


async def handshake(url: str, **headers: str) -> int:
    """The status of a WebSocket's handshake."""
    async with aiohttp.ClientSession() as client:
        try:
            async with client.ws_connect(url, headers=headers):
                return 101
        except aiohttp.WSServerHandshakeError as error:
            return error.status


@asynccontextmanager
async def paged(server: WebServer) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    """The connection of a page."""
    headers = {"Origin": origin(server)}
    async with aiohttp.ClientSession() as client, client.ws_connect(server.url + "session", headers=headers) as socket:
        yield socket


def origin(server: WebServer) -> str:
    return server.url.rsplit("/", 2)[0]


async def test_the_page_and_all_that_it_loads_is_served(server: WebServer) -> None:
    for name in FILES:
        response = await get(server.url + name)
        assert response.status == 200
    page = resources.files("inspector.features.web").joinpath("page.html").read_text(encoding="utf-8")
    assert {*re.findall(r'(?:src|href)="([^"]+)"', page)} == {*FILES, "data:,"} - {""}


async def test_each_answer_forbids_everything_from_elsewhere(server: WebServer) -> None:
    for url in (server.url, server.url + "page.js", server.url + "missing", origin(server)):
        headers = (await get(url)).headers
        policy = headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; ")
        assert "http:" not in policy
        assert "*" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert "Access-Control-Allow-Origin" not in headers


async def test_the_policy_lets_the_page_connect_only_to_its_own_server(server: WebServer) -> None:
    here = origin(server).removeprefix("http://")
    assert f"connect-src 'self' ws://{here};" in (await get(server.url)).headers["Content-Security-Policy"]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "LOCALHOST", "127.0.0.1:9999", "app.localhost:1"])
async def test_names_of_this_machine_are_accepted_with_any_port(server: WebServer, host: str) -> None:
    assert (await get(server.url, Host=host)).status == 200
    assert (await get(server.url, Host=host, Origin=f"http://{host}")).status == 200


@pytest.mark.parametrize(
    "host",
    ["", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "192.168.0.1", "0.0.0.0", "[::1",
     "127.0.0.1:80; script-src *", "127.0.0.1@evil.example", "evil.example:127", "127.0.0.1:x"],
)  # fmt: skip
async def test_other_names_are_refused(server: WebServer, host: str) -> None:
    assert (await get(server.url, Host=host)).status in (400, 403)


@pytest.mark.parametrize(
    "other", ["null", "http://evil.example", "http://127.0.0.1", "http://127.0.0.1:1", "https://HERE", "http://HERE/",
              "http://HERE.evil.example", "file://", ""],
)  # fmt: skip
async def test_other_origins_are_refused(server: WebServer, other: str) -> None:
    other = other.replace("HERE", origin(server).removeprefix("http://"))
    for url in (server.url, server.url + "page.js"):
        assert (await get(url, Origin=other)).status == 403
    assert await handshake(server.url + "session", Origin=other) == 403


@pytest.mark.parametrize(
    ("target", "fields", "status"),
    [
        ("PATH", "Host: HERE\r\n", 200),
        ("PATH", "Host: HERE\r\nOrigin: http://HERE\r\nOrigin: http://evil.example\r\n", 403),
        ("PATH", "Host: HERE\r\nHost: evil.example\r\n", 400),
        ("http://evil.examplePATH", "Host: HERE\r\n", 403),
        ("PATH", "Host: HERE\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n", 400),
    ],
)
async def test_a_request_that_no_browser_sends_is_refused_in_silence(
    server: WebServer, caplog: pytest.LogCaptureFixture, target: str, fields: str, status: int
) -> None:
    here, path = server.url.removeprefix("http://").split("/", 1)
    reader, writer = await asyncio.open_connection(*here.split(":"))
    head = f"GET {target} HTTP/1.1\r\n{fields}\r\n".replace("PATH", f"/{path}").replace("HERE", here)
    writer.write(head.encode())
    assert int((await reader.readline()).split()[1]) == status
    writer.close()
    assert not caplog.records


async def test_a_connection_without_an_origin_is_refused(server: WebServer) -> None:
    assert await handshake(server.url + "session") == 403


@pytest.mark.parametrize("path", ["", "/", "//", "/x/", "/%00/", "/ü/", "/x/session", "/../", "/favicon.ico"])
async def test_without_the_token_nothing_is_served(server: WebServer, path: str) -> None:
    response = await get(origin(server) + path)
    assert response.status in (400, 403)


async def test_a_part_of_the_token_or_more_than_it_is_wrong(server: WebServer) -> None:
    token = server.url.rsplit("/", 2)[1]
    for wrong in (token[:-1], token + "x", token.swapcase(), "A" * len(token)):
        assert (await get(f"{origin(server)}/{wrong}/")).status == 403


async def test_files_beside_the_page_are_not_served(server: WebServer) -> None:
    for name in ("server.py", "../web/page.js", "%2e%2e/web/page.js", "static/js/textual.js", "page.html"):
        assert (await get(server.url + name)).status in (403, 404)
    assert (await get(server.url.rstrip("/"))).headers["Location"] == "/" + server.url.split("/")[3] + "/"


async def test_two_runs_have_two_tokens() -> None:
    urls = set()
    for _ in range(2):
        server = WebServer([], {}, print)
        await server.start()
        urls.add(server.url.split("/")[3])
        await server.close()
    assert len(urls) == 2
    assert all(len(token) >= 43 for token in urls)


async def test_a_port_that_is_taken_is_named(server: WebServer) -> None:
    taken = int(origin(server).rpartition(":")[2])
    with pytest.raises(UsageError, match=f"Cannot listen on 127.0.0.1:{taken}"):
        await WebServer([], {}, print).start(taken)


@pytest.mark.slow
async def test_what_a_page_sends_arrives_and_what_is_malformed_is_ignored(server: WebServer) -> None:
    async with paged(server) as socket:
        for malformed in (
            "{",
            "[]",
            "5",
            '["stdin"]',
            '["stdin", 5]',
            '["resize", 7]',
            '[["x"], 1]',
            '["unknown"]',
        ):
            await socket.send_str(malformed)
        await socket.send_json(["stdin", "é"])
        await socket.send_json(["resize", {"width": 61, "height": 20}])
        got = b""
        while b"20}" not in got:
            got += (await socket.receive()).data
    assert got == (b"D\0\0\0\2" + "é".encode() + b'M\0\0\0\x2d{"type": "resize", "width": 61, "height": 20}')


@pytest.mark.slow
async def test_a_connection_without_a_request_gives_way_to_a_new_one(
    server: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page keeps its own."""
    monkeypatch.setattr("inspector.features.web.server.MAX_CONNECTIONS", 3)
    port = int(origin(server).rpartition(":")[2])
    async with paged(server) as page:
        idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(4)]
        for reader, writer in idle[:2]:
            assert await asyncio.wait_for(reader.read(), 10) == b""
            writer.close()
        assert (await get(server.url)).status == 200
        await page.send_json(["stdin", "still here"])
        assert await page.receive_bytes(timeout=10)
        for _, writer in idle[2:]:
            writer.close()


@pytest.mark.slow
async def test_a_page_is_told_that_its_program_ended(server: WebServer) -> None:
    async with paged(server) as socket:
        await socket.send_json(["stdin", "quit"])
        received = [await socket.receive() for _ in range(3)]
    assert received[1].json() == ["ended", ""]
    assert received[2].type is aiohttp.WSMsgType.CLOSE


@pytest.mark.slow
async def test_closing_the_server_ends_all_pages(server: WebServer) -> None:
    async with paged(server) as one, paged(server) as two:
        for socket in (one, two):
            await socket.send_json(["stdin", "x"])
            await socket.receive()
        await server.close()
        for socket in (one, two):
            kinds = [(await socket.receive()).type for _ in range(3)]
            assert kinds[-1] in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED)

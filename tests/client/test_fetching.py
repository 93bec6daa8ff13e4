"""The HTTP of authorization, on real connections of this machine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from inspector.auth.actions import Fetched, FetchFailed
from inspector.client.fetching import EndpointSender
from inspector.config.targets import HttpTarget
from inspector.errors import HttpError


@asynccontextmanager
async def answering(*parts: bytes) -> AsyncIterator[tuple[str, list[bytes]]]:
    """A server that sends these bytes to every client, and the requests that it received."""
    asked: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        for part in parts:
            writer.write(part)
            try:
                await writer.drain()
            except ConnectionError:
                break
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", asked


async def send(url: str, *, admits: bool = True, limit: int = 1000) -> Fetched:
    web = EndpointSender(HttpTarget(url))
    try:
        async with asyncio.timeout(20):
            return await web.send(
                "GET", url, [("X-Ours", "1")], b"", limit=limit, admit=lambda address: admits and address == "127.0.0.1"
            )
    finally:
        await web.aclose()


async def test_an_answer_comes_with_status_fields_and_body() -> None:
    head = b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 4\r\n\r\n"
    async with answering(head, b"{..}") as (url, asked):
        answer = await send(f"{url}/a?b=c")
    assert (answer.status, answer.body, answer.values("LOCATION")) == (302, b"{..}", ["/elsewhere"])
    assert asked[0].startswith(b"GET /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:")
    assert b"X-Ours: 1" in asked[0]


async def test_an_address_that_is_not_admitted_is_not_connected_to() -> None:
    async with answering(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") as (url, asked):
        with pytest.raises(FetchFailed, match="private"):
            await send(url, admits=False)
        with pytest.raises(FetchFailed, match="private"):
            await send(url.replace("127.0.0.1", "localhost"), admits=False)
    assert asked == []


async def test_no_more_is_read_than_is_wanted() -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunk = b"1000\r\n" + b" " * 4096 + b"\r\n"
    async with answering(head, *[chunk] * 10_000) as (url, _):
        answer = await send(url)
    assert len(answer.body) == 1001


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{",
        b"SSH-2.0-server\r\n",
        b"",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 300_000,
    ],
)
async def test_an_answer_that_is_none_is_an_error(answer: bytes) -> None:
    async with answering(answer) as (url, _):
        with pytest.raises(HttpError):
            await send(url)


async def test_an_unreachable_server_is_an_error() -> None:
    async with answering() as (url, _):
        pass
    with pytest.raises(HttpError):
        await send(url)
    with pytest.raises(HttpError, match="Cannot fetch"):
        await send("ftp://127.0.0.1/")


async def test_names_are_looked_up() -> None:
    web = EndpointSender(HttpTarget("http://127.0.0.1/"))
    assert "127.0.0.1" in await web.addresses("localhost")
    assert await web.addresses("..") == []

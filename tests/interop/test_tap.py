"""The tap between real clients and servers: they finish the same calls with the same bytes."""

from __future__ import annotations

import asyncio
import shlex
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal
from tests.interop.peers import STDIO, Peer
from tests.interop.test_serve import SERVERS, WORDS, Task, alike, did, recorded
from tests.processes import INSPECTOR, environment

TAP = [sys.executable, "-m", "inspector", "tap"]


@asynccontextmanager
async def listening(home: Path, words: list[str]) -> AsyncIterator[str]:
    """A tap at an address; its URL."""
    process = await asyncio.create_subprocess_exec(
        *INSPECTOR, "tap", *words, env=environment(home), stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stderr is not None
    try:
        while "http://" not in (line := (await process.stderr.readline()).decode()):
            assert line
        yield line.split()[0]
    finally:
        process.send_signal(signal.SIGTERM)
        await process.communicate()


def methods(path: Path) -> set[str]:
    """The requests of the clients of a recording."""
    journal = Journal.open(path)
    try:
        journal.refresh()
        index = journal.index
        sent = (n for n in range(1, len(journal) + 1) if index.dir(n) == Dir.SEND and index.kind(n) == Kind.RPC)
        return {index.method(n) for n in sent}
    finally:
        journal.release()


async def outcomes(where: dict[str, list[str]], peer: Peer, tasks: list[Task], home: Path) -> list[Any]:
    """The results of the same tasks that each client prints at its own address."""
    printed = await asyncio.gather(*(did(client, peer.era, tasks, where[client], home) for client in WORDS))
    return [[without_roots(alike(outcome)) for outcome in results] for results in printed]


def without_roots(outcome: Any) -> Any:
    """Drop requests for roots: server-everything sends them by its own timer."""
    if not isinstance(outcome, dict):
        return outcome
    return outcome | {"asked": [topic for topic in outcome["asked"] if topic != "roots"]}


@pytest.mark.parametrize("name", SERVERS)
async def test_real_clients_finish_the_same_calls_through_a_tap_and_across_transports(
    name: str, tmp_path: Path, home: Path, request: pytest.FixtureRequest
) -> None:
    peer: Peer = STDIO.get(name) or request.getfixturevalue("listeners")[name]
    tasks = await recorded(peer, tmp_path / "direct.mcp.jsonl")
    own = list(peer.words[1:]) if name in STDIO else list(peer.words)
    expected = await outcomes({client: own for client in WORDS}, peer, tasks, home)
    path, across = tmp_path / "tapped.mcp.jsonl", tmp_path / "across.mcp.jsonl"
    at_an_address = ["--record", str(across if name in STDIO else path), "--listen", "0", *peer.words]
    async with listening(home, at_an_address) as url:
        assert await outcomes({client: [url] for client in WORDS}, peer, tasks, home) == expected
    if name in STDIO:
        where = {client: teed(tmp_path, client, own) for client in WORDS}
        path = tmp_path / "sdk.mcp.jsonl"
    else:
        where = {client: [*TAP, "--record", str(across), *peer.words] for client in WORDS}
    assert await outcomes(where, peer, tasks, home) == expected
    if name in STDIO:
        for client in WORDS:
            for end in ("asked", "answered"):
                outside, inside = ((tmp_path / f"{client}.{end}.{side}").read_bytes() for side in ("out", "in"))
                assert outside == inside != b""
    for stem in (path.name.partition(".")[0], "across"):
        asked = set[str]().union(*map(methods, tmp_path.glob(f"{stem}.*jsonl")))
        assert {"tools/list", "tools/call", "prompts/get", "resources/read"} <= asked


class Wire:
    """Passes connections on to an address and keeps their bytes: requests and responses of each."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._to = (parts.hostname, parts.port)
        self.authority, self.passed = "", list[tuple[bytearray, bytearray]]()
        self._path = parts.path

    @property
    def url(self) -> str:
        return f"http://{self.authority}{self._path}"

    @asynccontextmanager
    async def laid(self) -> AsyncIterator[Wire]:
        server = await asyncio.start_server(self._pass, "127.0.0.1", 0)
        self.authority = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            server.close()

    def bytes_as_of(self, other: Wire) -> list[tuple[bytes, bytes]]:
        """The messages as they would be under the other address, without unused connections."""
        mine, theirs = self.authority.encode(), other.authority.encode()
        return sorted((bytes(asked).replace(mine, theirs), bytes(answered)) for asked, answered in self.passed if asked)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked, answered = bytearray(), bytearray()
        self.passed.append((asked, answered))
        beyond, to = await asyncio.open_connection(*self._to)
        await asyncio.gather(self._copy(reader, to, asked), self._copy(beyond, writer, answered))

    @staticmethod
    async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, kept: bytearray) -> None:
        with suppress(OSError):
            while block := await reader.read(1 << 16):
                kept += block
                writer.write(block)
                await writer.drain()
        with suppress(OSError):
            writer.close()


@pytest.mark.parametrize("name", [name for name in SERVERS if name not in STDIO])
async def test_the_same_bytes_pass_on_either_side_of_a_tap_over_http(
    name: str, tmp_path: Path, home: Path, request: pytest.FixtureRequest
) -> None:
    """Only the address in a request's head differs: it must be the server's."""
    peer: Peer = request.getfixturevalue("listeners")[name]
    tasks = await recorded(peer, tmp_path / "direct.mcp.jsonl")
    (url,) = peer.words
    async with Wire(url).laid() as inside:
        words = ["--record", str(tmp_path / "tapped.mcp.jsonl"), "--listen", "0", inside.url]
        async with listening(home, words) as tapped, Wire(tapped).laid() as outside:
            await outcomes({client: [outside.url] for client in WORDS}, peer, tasks, home)
    assert len(inside.passed) >= len(WORDS)
    for (asked, answered), (asked_inside, answered_inside) in zip(
        outside.bytes_as_of(inside), inside.bytes_as_of(inside), strict=True
    ):
        assert asked == asked_inside
        assert answered_inside.startswith(answered), "a client may leave while it is answered"
        assert answered


def teed(folder: Path, client: str, server: list[str]) -> list[str]:
    """A command that keeps what passes outside the tap, and inside of it; signals reach the tap and the server."""

    def kept(command: list[str], side: str) -> list[str]:
        asked, answered = (shlex.quote(str(folder / f"{client}.{end}.{side}")) for end in ("asked", "answered"))
        return ["bash", "-c", f"exec {shlex.join(command)} < <(tee {asked}) > >(tee {answered})"]

    tap = [*TAP, "--record", str(folder / f"{client}.mcp.jsonl"), "--", *kept(server, "in")]
    return kept(tap, "out")

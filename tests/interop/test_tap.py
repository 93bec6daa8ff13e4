"""The tap between real clients and real servers: they finish the same calls, and the same bytes pass on either side."""

from __future__ import annotations

import asyncio
import shlex
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

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
    """What the clients of a recording have asked for."""
    journal = Journal.open(path)
    try:
        journal.refresh()
        index = journal.index
        sent = (n for n in range(1, len(journal) + 1) if index.dir(n) == Dir.SEND and index.kind(n) == Kind.RPC)
        return {index.method(n) for n in sent}
    finally:
        journal.release()


async def outcomes(where: dict[str, list[str]], peer: Peer, tasks: list[Task], home: Path) -> list[Any]:
    """What each client says came of the same tasks at its own address."""
    said = await asyncio.gather(*(did(client, peer.era, tasks, where[client], home) for client in WORDS))
    return [[without_roots(alike(outcome)) for outcome in each] for each in said]


def without_roots(outcome: Any) -> Any:
    """server-everything asks for roots when a timer of its own says so, whatever it is doing."""
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


def teed(folder: Path, client: str, server: list[str]) -> list[str]:
    """A command that keeps what passes outside the tap, and inside of it; signals reach the tap and the server."""

    def kept(command: list[str], side: str) -> list[str]:
        asked, answered = (shlex.quote(str(folder / f"{client}.{end}.{side}")) for end in ("asked", "answered"))
        return ["bash", "-c", f"exec {shlex.join(command)} < <(tee {asked}) > >(tee {answered})"]

    tap = [*TAP, "--record", str(folder / f"{client}.mcp.jsonl"), "--", *kept(server, "in")]
    return kept(tap, "out")

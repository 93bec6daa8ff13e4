"""Each server of the corpus, over each transport: opened without a given era, listed, called, closed."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from inspector.client.options import Options
from inspector.client.session import Session
from inspector.client.state.catalog import KINDS
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import ServerError
from inspector.journal.journal import Journal
from tests.interop.corpus import ENTRIES, OVER, Entry
from tests.interop.listening_servers import free_port, listening
from tests.interop.peers import CACHE, NODE
from tests.interop.session_checks import look_at
from tests.processes import run, spawned

PATIENCE = 30
PLACES = {
    "node": NODE,
    "npm": str(CACHE / "npm"),
    "bin": str(CACHE / "npm/node_modules/.bin"),
    "python": str(CACHE / "python"),
    "interpreter": sys.executable,
    "uvx": str(CACHE.parent / "uv/bin/uvx"),
    "uv_cache": str(CACHE / "uv-cache"),
    "servers": str(Path(__file__).parent / "servers"),
}


class Filled:
    """An entry's texts, filled in."""

    def __init__(self, folder: Path, port: int) -> None:
        self.places: dict[str, Any] = PLACES | {"folder": str(folder), "port": port}

    def text(self, text: str) -> str:
        """One text."""
        return text.format(**self.places)

    def words(self, command: str) -> list[str]:
        """The words of a command."""
        npx = os.environ.get("INSPECTOR_INTEROP_NPX", "npx")
        return [self.text(word) for word in shlex.split(command.replace("{npx}", npx))]

    def values(self, given: Any) -> dict[str, Any]:
        """The values of a mapping, of which the texts are filled in."""
        return {key: self.text(value) if isinstance(value, str) else value for key, value in given.items()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder: the server's home, and the one it may work in."""
    empty = tmp_path / "work"
    empty.mkdir()
    return empty


@pytest.fixture
def running(entry: Entry, folder: Path, tmp_path: Path) -> Iterator[tuple[Filled, StdioTarget | HttpTarget]]:
    """The target of an entry, whose server is running if it is one that listens."""
    port = free_port()
    filled = Filled(folder, port)
    env = {"HOME": str(folder)} | filled.values(entry.env)
    if entry.prepare:
        subprocess.run(filled.words(entry.prepare), check=True)
    words = filled.words(entry.command)
    with ExitStack() as stack:
        if entry.over == "stdio":
            yield filled, StdioTarget(tuple(words), env=env, cwd=str(folder))
        else:
            stack.enter_context(listening(words, port, tmp_path / "log", env=os.environ | env, up=entry.up))
            yield filled, HttpTarget(f"http://127.0.0.1:{port}{entry.path}")


async def listed(session: Session) -> dict[str, Any]:
    """Loads every list that the server offers, whole; returns what went wrong."""
    wrong = {}
    for name, kind in KINDS.items():
        if session.server.can(kind.capability):
            await session.load(name)
            # Looked at now: a server that reports a change makes the list load again, beside the next one.
            if not session.catalog[name].complete:
                wrong[name] = session.catalog[name].error
    return wrong


async def called(session: Session, entry: Entry, arguments: dict[str, Any]) -> tuple[bool, str]:
    """Whether the entry's call fails, and the text of its answer."""
    try:
        result = await session.call_tool(entry.tool, arguments).result()
    except ServerError as error:
        return True, error.rpc_message
    texts = [block["text"] for block in result["content"] if block["type"] == "text"]
    return bool(result.get("isError")), "\n".join(texts)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
async def test_a_server_is_opened_listed_called_and_closed(
    entry: Entry,
    running: tuple[Filled, StdioTarget | HttpTarget],
    tmp_path: Path,
    record_property: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("INSPECTOR_STATE_HOME", str(tmp_path / "state"))
    filled, target = running
    recording = tmp_path / f"{entry.id}.mcp.jsonl"
    journal = Journal.create(recording, target.as_header())
    session = Session(target, journal, Options(timeout=PATIENCE))
    begun = time.monotonic()
    try:
        await session.open()
        ready = time.monotonic() - begun
        unlisted = await listed(session)
        tools = set(session.catalog.tools.by_id())
        failed, answer = await called(session, entry, filled.values(entry.arguments))
    finally:
        await session.close()
        journal.release()
    server = session.server
    starts = len(spawned(recording))
    cells = [entry.name, entry.made_with, OVER[entry.over], server.era, server.revision, str(starts or "-")]
    record_property("row", [entry.id, *cells, server.how, f"{ready:.2f} s"])
    assert cells == entry.facts()
    assert server.how
    assert unlisted == {}
    assert entry.tool in tools
    assert (failed, filled.text(entry.answer) in answer) == (entry.fails, True), answer
    look_at(recording)


PINNED = [
    ("typescript-sdk-2.4-modern-only-stdio", "legacy", "modern"),
    ("typescript-sdk-2.4-modern-only-http", "legacy", "modern"),
    ("server-everything-2026.8.31-stdio", "modern", "legacy"),
    ("server-everything-2026.8.31-http", "modern", "legacy"),
    ("python-sdk-1.26-http", "modern", "legacy"),
]


@pytest.mark.parametrize(
    ("entry", "asked", "spoken"),
    [(entry, asked, spoken) for id, asked, spoken in PINNED for entry in ENTRIES if entry.id == id],
    ids=lambda value: value.id if isinstance(value, Entry) else None,
)
def test_an_era_that_the_server_does_not_speak_is_refused_in_its_words_with_the_option_that_works(
    entry: Entry,
    asked: str,
    spoken: str,
    running: tuple[Filled, StdioTarget | HttpTarget],
    tmp_path: Path,
) -> None:
    _, target = running
    words = ["--", *target.command] if isinstance(target, StdioTarget) else [target.url]
    ran = run(tmp_path, ["info", "--era", asked, *words])
    assert ran.code == 4
    assert f"--era {spoken}" in ran.err
    assert ("Unsupported protocol version" if spoken == "modern" else "server/discover") in ran.err

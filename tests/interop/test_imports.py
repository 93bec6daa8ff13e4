"""Files written by other recorders, imported as recordings."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

import inspector
from inspector.formats import import_file
from inspector.journal.format import Dir, Kind
from inspector.journal.index import State
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import Shape
from tests.formats.journals import RECORDINGS, exported, opened
from tests.interop.listening_servers import free_port, listening
from tests.interop.peers import CACHE
from tests.interop.test_exports import CONSUMERS, DEMO, PYTHON, SCRIPTS, stdout_of

pytestmark = pytest.mark.interop


def values(journal: Journal) -> list[tuple[Dir, object]]:
    """Direction and value of each message that is an object."""
    return [(event.dir, event.message) for event in journal.events() if type(event.message) is dict]


def test_a_recording_that_mcporter_made(tmp_path: Path) -> None:
    node = next(CONSUMERS.glob("node_modules/node-linux-*/bin/node"))
    config = tmp_path / "mcporter.json"
    config.write_text(json.dumps({"mcpServers": {"demo": {"command": DEMO[0], "args": DEMO[1:]}}}))
    mcporter = [str(node), str(CONSUMERS / "node_modules/mcporter/dist/cli.js"), "--config", str(config)]
    asked = [*mcporter, "call", "demo.echo", "message=hello"]
    stdout_of([*mcporter, "record", "theirs", "--server", "demo", "--", *asked], tmp_path)
    out = tmp_path / "ours.mcp.jsonl"
    made = import_file(tmp_path / ".mcporter" / "recordings" / "theirs.ndjson", out)
    journal = opened(out)
    index = journal.index
    asked_for = [n for n in range(1, len(journal) + 1) if index.shape(n) is Shape.REQUEST]
    assert made.format == "mcporter"
    assert {index.method(n) for n in asked_for} >= {"initialize", "tools/call"}
    assert all(index.state(n) is State.DONE for n in asked_for)
    assert all("_meta" not in message for _, message in values(journal) if isinstance(message, dict))


@pytest.mark.parametrize("name", ["demo-tour", "demo-http"])
def test_a_cassette_that_mcp_cassette_wrote(name: str, tmp_path: Path) -> None:
    journal = opened(RECORDINGS / f"{name}.mcp.jsonl")
    file, out = tmp_path / "session.json", tmp_path / "ours.mcp.jsonl"
    file.write_text(exported(journal, "mcp-cassette"), encoding="utf-8")
    before = file.read_bytes()
    stdout_of([PYTHON, str(SCRIPTS / "mcp_cassette_tool.py"), str(CACHE / "unpacked"), "save", str(file)], tmp_path)
    assert file.read_bytes() != before
    assert import_file(file, out).format == "mcp-cassette"
    assert values(opened(out)) == values(journal)
    assert all("\n" not in event.text for event in opened(out).events() if event.kind is Kind.RPC)


def test_a_cassette_that_mcp_recorder_made(tmp_path: Path) -> None:
    """It stands between our client and our demo, and writes when it is ended."""
    file, out, (port, behind) = tmp_path / "theirs.json", tmp_path / "ours.mcp.jsonl", (free_port(), free_port())
    demo = [*DEMO, "--http", str(behind), "--era", "legacy"]
    words = [PYTHON, str(SCRIPTS / "mcp_recorder_here.py"), "record", "--port", str(port), "--output", str(file)]
    target = ["--target", f"http://127.0.0.1:{behind}"]

    async def play() -> None:
        async with inspector.open(f"http://127.0.0.1:{port}/mcp", era="legacy") as session:
            assert (await session.call_tool("echo", {"message": "hello"})).text == "hello"
            assert (await session.call_tool("fail", {"message": "no"})).is_error

    with (
        listening(demo, behind, tmp_path / "log-demo", env=dict(os.environ)),
        listening([*words, *target], port, tmp_path / "log", env=dict(os.environ)),
    ):
        asyncio.run(play())
    made = import_file(file, out)
    index = opened(out).index
    asked_for = [n for n in range(1, len(index) + 1) if index.shape(n) is Shape.REQUEST]
    states = [(index.method(n), index.state(n)) for n in asked_for]
    assert made.format == "mcp-recorder"
    assert states[0] == ("initialize", State.DONE)
    assert [state for method, state in states if method == "tools/call"] == [State.DONE, State.ERROR]
    assert all(state in (State.DONE, State.ERROR) for _, state in states)

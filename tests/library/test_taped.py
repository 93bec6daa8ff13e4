"""Sessions that are recorded the first time and replayed afterwards."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import inspector
from inspector.compare.rules import DEFAULT
from inspector.library.taped import Mode, Taped

DEMO = [sys.executable, "-m", "inspector.demo"]


def taped(path: Path, mode: Mode, target: Any = DEMO, **options: Any) -> Taped:
    return Taped(target, path, mode, {"era": "legacy", **options}, DEFAULT)


async def say(made: Taped, *words: str) -> list[str]:
    """Have words said back."""
    async with made as session:
        return [(await session.call_tool("echo", {"message": word})).text for word in words]


async def say_wrong(made: Taped, then: Exception | None = None) -> None:
    """Ask what was not recorded."""
    async with made as session:
        with pytest.raises(inspector.ServerError):
            await session.call_tool("echo", {"message": "b"})
        with pytest.raises(inspector.ServerError):
            await session.request("never/asked")
        assert len(made.missing()) > 3
        if then is not None:
            raise then


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "s.mcp.jsonl"


async def test_once_records_and_then_replays(path: Path) -> None:
    assert await say(taped(path, "once"), "a", "b") == ["a", "b"]
    before = path.read_bytes()
    assert await say(taped(path, "once", ["/no/such/program"], env={"X": "1"}), "b", "a") == ["b", "a"]
    assert await say(taped(path, "none", ["/no/such/program"]), "a") == ["a"]
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["s.mcp.jsonl"]


async def test_live_and_rewrite_ask_the_server(path: Path) -> None:
    assert await say(taped(path, "live"), "a") == ["a"]
    assert not path.exists()
    for word in ("a", "b"):
        assert await say(taped(path, "rewrite"), word) == [word]
        (exchange,) = inspector.recording(path).exchanges("method:tools/call")
        assert exchange.params["arguments"] == {"message": word}


@pytest.mark.parametrize("mode", ["none", "check"])
async def test_without_a_recording_what_needs_one_fails(path: Path, mode: Mode) -> None:
    with pytest.raises(inspector.RecordingError, match="There is no recording at"):
        await say(taped(path, mode), "a")


async def test_check_compares_and_keeps_nothing(path: Path) -> None:
    await say(taped(path, "once"), "a")
    before = path.read_bytes()
    assert await say(taped(path, "check"), "a") == ["a"]
    with pytest.raises(AssertionError) as caught:
        await say(taped(path, "check"), "b", "c")
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("The server does something else than in the recording")
    assert '    answer $.result.content[0].text: expected "a", got "b"' in lines
    assert "tools/call echo was not recorded" in lines
    with pytest.raises(AssertionError, match=r"tools/call echo \(event \d+\) was recorded, and did not come again"):
        await say(taped(path, "check"))
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["s.mcp.jsonl"]


async def test_what_is_not_in_the_recording_is_told_with_what_is_nearest(path: Path) -> None:
    await say(taped(path, "once"), "a")
    made = taped(path, "once")
    with pytest.raises(inspector.RecordingError) as caught:
        await say_wrong(made)
    text = str(caught.value)
    assert '  tools/call {"name":"echo","arguments":{"message":"b"}}' in text
    assert '    $.arguments.message: expected "a", got "b"' in text
    assert "  never/asked" in text
    assert "\n".join(made.missing()) in text


async def test_where_something_else_failed_nothing_is_kept_or_added(path: Path) -> None:
    with pytest.raises(LookupError):
        async with taped(path, "once"):
            raise LookupError
    assert list(path.parent.iterdir()) == []
    made = taped(path, "once")
    async with made as session:
        await session.call_tool("echo", {"message": "a"})
        made.keeps = False
    assert list(path.parent.iterdir()) == []
    await say(taped(path, "once"), "a")
    with pytest.raises(LookupError):
        await say_wrong(taped(path, "once"), LookupError())


async def test_a_server_that_cannot_be_opened_leaves_nothing(path: Path) -> None:
    with pytest.raises(inspector.SpawnError):
        await say(taped(path, "once", ["/no/such/program"]))
    assert list(path.parent.iterdir()) == []

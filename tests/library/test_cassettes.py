"""Sessions that are recorded the first time and replayed afterwards."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

import inspector
from inspector.compare.rules import DEFAULT
from inspector.library.cassettes import CassetteServer, CassetteSession, Mode
from tests.library.test_apps import App

DEMO = [sys.executable, "-m", "inspector.demo"]


def taped(path: Path, mode: Mode, target: Any = DEMO, **options: Any) -> CassetteSession:
    return CassetteSession(target, path, mode, {"era": "legacy", **options}, DEFAULT)


async def say(made: CassetteSession, *words: str) -> list[str]:
    """Call `echo` with each word, and return the answers."""
    async with made as session:
        return [(await session.call_tool("echo", {"message": word})).text for word in words]


async def say_wrong(made: CassetteSession, then: Exception | None = None) -> None:
    """Send a request that was not recorded."""
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


@pytest.mark.slow
async def test_once_records_and_then_replays(path: Path) -> None:
    assert await say(taped(path, "once"), "a", "b") == ["a", "b"]
    before = path.read_bytes()
    assert await say(taped(path, "once", ["/no/such/program"], env={"X": "1"}), "b", "a") == ["b", "a"]
    assert await say(taped(path, "none", ["/no/such/program"]), "a") == ["a"]
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["s.mcp.jsonl"]


@pytest.mark.slow
async def test_live_and_rewrite_ask_the_server(path: Path) -> None:
    assert await say(taped(path, "live"), "a") == ["a"]
    assert not path.exists()
    for word in ("a", "b"):
        assert await say(taped(path, "rewrite"), word) == [word]
        (exchange,) = inspector.recording(path).exchanges("method:tools/call")
        assert exchange.params["arguments"] == {"message": word}


@pytest.mark.parametrize("mode", ["none", "check"])
async def test_without_a_recording_what_needs_one_fails(path: Path, mode: Mode) -> None:
    with pytest.raises(inspector.RecordingError, match="No recording exists at"):
        await say(taped(path, mode), "a")


@pytest.mark.slow
async def test_check_compares_and_keeps_nothing(path: Path) -> None:
    await say(taped(path, "once"), "a")
    before = path.read_bytes()
    assert await say(taped(path, "check"), "a") == ["a"]
    with pytest.raises(AssertionError) as caught:
        await say(taped(path, "check"), "b", "c")
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("The server's behaviour differs from the recording")
    assert '    answer $.result.content[0].text: expected "a", got "b"' in lines
    assert "tools/call echo was not recorded" in lines
    with pytest.raises(AssertionError, match=r"tools/call echo \(event \d+\) was recorded, but did not occur again"):
        await say(taped(path, "check"))
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["s.mcp.jsonl"]


@pytest.mark.slow
async def test_what_is_not_in_the_recording_is_reported_with_what_is_nearest(path: Path) -> None:
    await say(taped(path, "once"), "a")
    made = taped(path, "once")
    with pytest.raises(inspector.RecordingError) as caught:
        await say_wrong(made)
    text = str(caught.value)
    assert '  tools/call {"name":"echo","arguments":{"message":"b"}}' in text
    assert '    $.arguments.message: expected "a", got "b"' in text
    assert "  never/asked" in text
    assert "\n".join(made.missing()) in text


@pytest.mark.slow
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


@pytest.mark.slow
async def test_a_server_that_cannot_be_opened_leaves_nothing(path: Path) -> None:
    with pytest.raises(inspector.SpawnError):
        await say(taped(path, "once", ["/no/such/program"]))
    assert list(path.parent.iterdir()) == []


def words_of(path: Path) -> list[str]:
    with inspector.recording(path) as recording:
        return [exchange.params["arguments"]["message"] for exchange in recording.exchanges("method:tools/call")]


@pytest.mark.slow
@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_new_episodes_are_asked_of_the_server_and_appended(path: Path, era: str) -> None:
    assert await say(taped(path, "new-episodes", era=era), "a") == ["a"]
    assert await say(taped(path, "new-episodes", ["/no/such/program"], era=era), "a") == ["a"]
    assert await say(taped(path, "new-episodes", era=era), "b", "a", "c") == ["b", "a", "c"]
    assert words_of(path) == ["a", "b", "c"]
    with inspector.recording(path) as recording:
        assert recording.is_complete
        assert [event.n for event in recording] == list(range(1, len(recording) + 1))
        times = [event.t for event in recording]
        assert times == sorted(times)
        assert not recording.findings()
    assert await say(taped(path, "none", ["/no/such/program"], era=era), "c", "b", "a") == ["c", "b", "a"]
    report = await inspector.rerun(path, DEMO)
    assert report.clean, report.as_json()
    assert [file.name for file in path.parent.iterdir()] == ["s.mcp.jsonl"]


@pytest.mark.slow
async def test_a_link_under_the_name_of_a_temporary_file_is_not_followed(path: Path) -> None:
    await say(taped(path, "once"), "a")
    mine = path.with_name("mine")
    mine.write_text("mine")
    path.with_name(f".{os.getpid()}-appended-{path.name}").symlink_to(mine)
    await say(taped(path, "new-episodes"), "b")
    assert words_of(path) == ["a", "b"]
    assert mine.read_text() == "mine"


@pytest.mark.slow
async def test_what_fails_appends_nothing(path: Path) -> None:
    await say(taped(path, "once"), "a")
    before = path.read_bytes()
    with pytest.raises(LookupError):  # noqa: PT012 - what is raised inside is what is tested
        async with taped(path, "new-episodes") as session:
            await session.call_tool("echo", {"message": "b"})
            raise LookupError
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["s.mcp.jsonl"]


@pytest.mark.slow
def test_a_taped_session_needs_no_await(path: Path) -> None:
    for mode in ("once", "none"):
        with taped(path, mode) as session:
            assert session.call_tool("echo", {"message": "a"}).text == "a"
    with (
        pytest.raises(inspector.RecordingError, match="mode “rewrite”"),
        taped(path, "none") as session,
        pytest.raises(inspector.ServerError),
    ):
        session.call_tool("echo", {"message": "b"})


def server(path: Path, mode: Mode, target: Any = DEMO) -> CassetteServer:
    return CassetteServer(target, path, mode, {}, DEFAULT, accept="pytest --mcp-record=rewrite test_it.py::test")


async def through(made: CassetteServer, over: str, *words: str) -> list[str]:
    """Have a client that is not ours say words; here it is one of ours, in the legacy era."""
    async with made as running, inspector.open(getattr(running, over), era="legacy") as session:
        return [(await session.call_tool("echo", {"message": word})).text for word in words]


@pytest.mark.slow
@pytest.mark.parametrize("over", ["url", "command"])
async def test_a_foreign_client_is_recorded_and_then_answered(path: Path, over: str) -> None:
    gone = ["/no/such/program"]
    assert await through(server(path, "once"), over, "a", "b") == ["a", "b"]
    assert words_of(path) == ["a", "b"]
    assert await through(server(path, "once", gone), over, "b") == ["b"]
    assert await through(server(path, "new-episodes"), over, "c", "a") == ["c", "a"]
    assert words_of(path) == ["a", "b", "c"]
    assert await through(server(path, "none", gone), over, "c") == ["c"]
    with pytest.raises(inspector.RecordingError, match="To accept the change, run: pytest --mcp"):  # noqa: PT012
        async with server(path, "none") as running, inspector.open(getattr(running, over), era="legacy") as session:
            with pytest.raises(inspector.ServerError):
                await session.call_tool("echo", {"message": "d"})
    with pytest.raises(AssertionError, match="To accept the change, run"):
        await through(server(path, "check"), over, "a")
    assert await through(server(path, "live"), over, "z") == ["z"]
    assert await through(server(path, "rewrite"), over, "x") == ["x"]
    assert words_of(path) == ["x"]
    assert [file.name for file in path.parent.iterdir()] == ["s.mcp.jsonl"]


async def test_several_clients_of_a_server_are_one_recording(path: Path) -> None:
    async with server(path, "once", App()) as running:
        for word in ("a", "b"):
            async with inspector.open(running.url, era="legacy") as session:
                await session.call_tool("echo", {"message": word})
    assert words_of(path) == ["a", "b"]
    async with server(path, "new-episodes", App()) as running, inspector.open(running.url, era="legacy") as session:
        assert (await session.call_tool("echo", {"message": "c"})).structured == {"message": "c"}
    assert words_of(path) == ["a", "b", "c"]


async def test_a_server_that_is_not_open_or_has_no_recording_says_so(path: Path) -> None:
    with pytest.raises(inspector.UsageError, match="not open"):
        _ = server(path, "once").command
    with pytest.raises(inspector.RecordingError, match="No recording exists"):
        await server(path, "none").__aenter__()


def test_what_needs_asyncio_says_so_elsewhere(path: Path) -> None:
    with pytest.raises(inspector.UsageError, match="needs asyncio"):
        server(path, "once").__aenter__().send(None)
    with pytest.raises(inspector.UsageError, match="needs asyncio") as caught:
        inspector.open(DEMO).connect().send(None)
    assert "inspector.open_sync" in caught.value.hint

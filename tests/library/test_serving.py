"""Recordings that answer: in this process, over HTTP, over stdio."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import inspector

DEMO = [sys.executable, "-m", "inspector.demo"]


def person(_asked: inspector.Elicitation) -> dict[str, str]:
    return {"name": "Ada", "email": "ada@example.org"}


async def everything(session: inspector.Session) -> list[Any]:
    """Send one request of each kind, and return the results."""
    steps: list[Any] = []
    tools = [tool.raw for tool in await session.tools()]
    asked = await session.call_tool("ask-user")
    slow = await session.call_tool(
        "slow", {"seconds": 0.01, "steps": 3}, progress=lambda step: steps.append(step.value)
    )
    read = await session.read_resource("demo://readme")
    with pytest.raises(inspector.ServerError) as caught:
        await session.call_tool("protocol-error")
    return [tools, asked, slow, steps, read, caught.value.rpc_code, session.server.name, session.server.era]


@pytest.fixture(params=["legacy", "modern"])
async def recorded(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, list[Any]]:
    """A recording of one request of each kind, and their results."""
    path = tmp_path / "s.mcp.jsonl"
    async with inspector.open(DEMO, era=request.param, elicit=person, record=path) as session:
        return path, await everything(session)


@pytest.mark.slow
async def test_a_recording_is_opened_like_a_server(recorded: tuple[Path, list[Any]]) -> None:
    path, seen = recorded
    async with inspector.open(str(path), elicit=person) as session:
        assert isinstance(session, inspector.ReplayedSession)
        assert await everything(session) == seen
        assert session.report.missed == []
        with pytest.raises(inspector.ServerError, match="not with these parameters"):
            await session.call_tool("echo", {"message": "never"})
        assert [(missed.method, missed.became) for missed in session.report.missed] == [("tools/call", "error")]
    assert session.report.never_asked == []
    await session.close()


@pytest.mark.slow
async def test_a_recording_is_served_over_http_and_over_stdio(recorded: tuple[Path, list[Any]]) -> None:
    path, seen = recorded
    async with inspector.serve(path) as server:
        for target in (server.url, server.command):
            async with inspector.open(target, elicit=person) as session:
                assert await everything(session) == seen
        assert server.report.missed == []
    assert server.report.clients > 0
    assert server.report.counts["answered"] >= 5


async def test_what_cannot_be_served_is_reported(tmp_path: Path) -> None:
    (tmp_path / "x.mcp.jsonl").write_text("{}\n")
    for name in ("x.mcp.jsonl", "none.mcp.jsonl"):
        server = inspector.serve(tmp_path / name)
        with pytest.raises(inspector.RecordingError):
            async with server:
                pass
        with pytest.raises(inspector.UsageError, match="not served"):
            _ = server.url
    with pytest.raises(inspector.UsageError, match="not served"):
        _ = inspector.serve("x").report
    with pytest.raises(inspector.RecordingError):
        await inspector.open(str(tmp_path / "x.mcp.jsonl")).connect()


@pytest.mark.slow
async def test_what_was_never_answered_is_reported_to_be(tmp_path: Path) -> None:
    path = tmp_path / "s.mcp.jsonl"
    async with inspector.open(DEMO, era="legacy", record=path) as session:
        with pytest.raises(inspector.ConnectionProblem):
            await session.call_tool("crash")
    async with inspector.open(str(path)) as session:
        with pytest.raises(inspector.ServerError, match="the connection was lost"):
            await session.call_tool("crash")

"""Recordings of real servers, rerun against the same servers: nothing differs, and a change is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.client.options import Options
from inspector.client.session import Session
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.journal.journal import Journal
from inspector.replay.report import RerunReport
from inspector.replay.rerun import Rerun
from tests.interop.peers import NAMES, SDK, STDIO, Peer
from tests.interop.test_serve import recorded
from tests.interop.test_session import PATIENCE

PLANTED = 'given["a"] + given["b"]'


async def again(path: Path, target: StdioTarget | HttpTarget) -> RerunReport:
    """The result of a rerun against a live server."""
    recording, journal = Journal.open(path), Journal.unnamed({})
    try:
        recording.refresh()
        return await Rerun(recording, target, journal, options=Options(timeout=PATIENCE)).run()
    finally:
        recording.release()
        journal.release()


def differences(report: RerunReport) -> list[str]:
    """The differences as text."""
    return [
        f"{outcome.recorded} {outcome.method} {outcome.name}: {outcome.verdict}, {outcome.note} {list(outcome.differences)[:3]}"
        for outcome in report.outcomes
        if outcome.differs
    ]


@pytest.mark.parametrize("name", NAMES)
async def test_the_same_server_does_the_same(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    peer: Peer = STDIO.get(name) or request.getfixturevalue("listeners")[name]
    path = tmp_path / "recorded.mcp.jsonl"
    tasks = await recorded(peer, path)
    report = await again(path, peer.target)
    assert differences(report) == []
    assert report.clean, report.error
    assert len(report.outcomes) > len(tasks)


async def test_the_same_task_comes_to_the_same_end(tmp_path: Path) -> None:
    path, target = tmp_path / "recorded.mcp.jsonl", STDIO["everything"].target
    journal = Journal.create(path, target.as_header())
    session = Session(target, journal, Options(timeout=PATIENCE, era="legacy"))
    await session.open()
    await session.load("tools")
    await session.call_tool("simulate-research-query", {"topic": "tea"}).result()
    await session.close()
    journal.close()
    journal.release()
    report = await again(path, target)
    assert differences(report) == []
    assert {"tasks/get", "tasks/result"} <= {outcome.method for outcome in report.outcomes}


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_change_is_found_at_its_message(tmp_path: Path, era: str) -> None:
    path = tmp_path / "recorded.mcp.jsonl"
    await recorded(STDIO["sdk" if era == "legacy" else "sdk-modern"], path)
    script = Path(SDK[1]).read_text()
    assert script.count(PLANTED) == 1
    changed = tmp_path / "changed.py"
    changed.write_text(script.replace(PLANTED, f"{PLANTED} + 1"))
    report = await again(path, StdioTarget((SDK[0], str(changed))))
    assert [(outcome.method, outcome.name, outcome.verdict) for outcome in report.outcomes if outcome.differs] == [
        ("tools/call", "add", "different")
    ]
    assert report.first is not None
    assert report.first.recorded

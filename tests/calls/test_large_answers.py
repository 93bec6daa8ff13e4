"""A large answer is compared beside the event loop, and a run that is stopped stops comparing."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

from inspector.calls import observation, runner
from inspector.calls.collection import Flow, read_flow
from inspector.calls.matching import JudgingStopped
from inspector.calls.progress import FlowProgress
from inspector.calls.runner import FlowContext, FlowRun
from inspector.calls.variables import Variables
from inspector.client.options import Options
from inspector.client.session import Session
from inspector.config.targets import StdioTarget
from inspector.journal.journal import Journal
from tests.cli.conftest import script

pytestmark = pytest.mark.slow

__all__ = ["script"]
ROWS = 20_000
FLOW = """inspector: 1
steps:
  - call: rows
    capture: {none: $..nothing}
    expect: {result: {$..v: {type: integer}}}
"""


class CancellingProgress(FlowProgress):
    """Keeps what a run tells; the judge cancels the task `cancels`."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.cancels: asyncio.Task[Any] | None = None

    def answer_compared(self, flow: Flow, number: int, size: int) -> None:
        self.sizes.append(size)


@pytest.fixture
def command(script: Any) -> tuple[str, ...]:
    rows = {"result": {"content": [], "structuredContent": {"rows": [{"v": n} for n in range(ROWS)]}}}
    tools = {"result": {"tools": [{"name": "rows", "inputSchema": {"type": "object"}}]}}
    return tuple(script(tools__list=tools, tools__call=rows)[1:])


def flow_of(tmp_path: Path) -> Flow:
    path = tmp_path / "rows.yaml"
    path.write_text(FLOW)
    return read_flow(path)


async def test_a_large_answer_is_compared_in_a_thread(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flow, progress = flow_of(tmp_path), CancellingProgress()
    ended: list[str] = []
    loop = asyncio.get_running_loop()
    real = runner.judge

    def judge(*words: Any, **more: Any) -> Any:
        with pytest.raises(RuntimeError, match="no running event loop"):
            asyncio.get_running_loop()
        if progress.cancels is not None:
            loop.call_soon_threadsafe(progress.cancels.cancel)
            while not more["stopped"]():
                time.sleep(0.001)
        try:
            made = real(*words, **more)
        except JudgingStopped:
            ended.append("stopped")
            raise
        ended.append("done")
        return made

    monkeypatch.setattr(runner, "judge", judge)
    monkeypatch.setattr(runner, "LARGE", 64 * 1024)
    session = Session(StdioTarget(command), Journal.unnamed({}), Options())
    await session.open()
    run = FlowRun(FlowContext(flow, session, Variables.for_flow(flow), progress))
    await run.run()
    (step,) = run.steps
    assert progress.sizes[0] > len(json.dumps([{"v": n} for n in range(ROWS)]))
    assert [expectation.ok for expectation in step.expectations] == [True, True, False], (
        "the default checks, $..v, the capture"
    )
    stopped = FlowRun(FlowContext(flow, session, Variables.for_flow(flow), progress))
    progress.cancels = asyncio.create_task(stopped.run())
    with pytest.raises(asyncio.CancelledError):
        await progress.cancels
    assert [step.outcome for step in stopped.steps] == ["not_run"]
    await asyncio.get_running_loop().shutdown_default_executor()
    assert ended == ["done", "stopped"]
    await session.close("closed")


async def test_a_flood_is_judged_in_pieces_and_a_run_that_is_stopped_stops_judging(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    session = Session(StdioTarget(command), Journal.unnamed({}), Options())
    await session.open()
    session.journal.record_stderr("stderr", [b"a line"] * 5000)

    class Judge:
        journal, judged, most = session.journal, 0, 0
        stops: asyncio.Task[Any] | None = None

        def run_to(self, last: int) -> None:
            self.most = max(self.most, last - self.judged)
            self.judged = last
            if self.stops is not None:
                self.stops.cancel()

    judge, flow = Judge(), flow_of(tmp_path)
    await FlowRun(FlowContext(flow, session, Variables.for_flow(flow), CancellingProgress(), findings=judge)).run()
    assert judge.judged > 5000
    assert judge.most <= observation.JUDGED_AT_ONCE
    stopped = Judge()
    stopped.stops = asyncio.create_task(
        FlowRun(FlowContext(flow, session, Variables.for_flow(flow), CancellingProgress(), findings=stopped)).run()
    )
    with pytest.raises(asyncio.CancelledError):
        await stopped.stops
    assert 0 < stopped.judged <= observation.JUDGED_AT_ONCE
    await session.close("closed")

"""`inspector.check`, `diff`, `rerun` and `doctor` as functions."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

import inspector
from tests.library.test_apps import App
from tests.processes import ROOT, environment

DEMO = [sys.executable, "-m", "inspector.demo"]


async def record(path: Path, *words: str) -> Path:
    async with inspector.open(App(), record=path) as session:
        for word in words:
            await session.call_tool("echo", {"message": word})
    return path


async def test_a_server_is_checked_and_its_report_is_a_baseline(tmp_path: Path) -> None:
    selection = {"only": ["tools"], "revisions": "2025-06-18"}
    report = await inspector.check(App(), **selection)
    assert not report.ok
    assert report.counts["fail"] == len([result for result in report.results if result.verdict == "fail"]) > 0
    assert report.score is not None
    assert report.problem == ""
    (first, *_) = report.results
    assert first.check.id in report.faults
    alone = await inspector.check(App(), only=first.check.id, revisions="2025-06-18")
    assert ": 1 finding (score " in alone.faults
    document = json.loads(json.dumps(report.as_json()))
    assert (document["format"], document["score"]) == ("mcp-check", report.score)
    again = await inspector.check(App(), baseline=document, **selection)
    assert again.ok
    seen = await inspector.check(str(await record(tmp_path / "a.mcp.jsonl", "x")))
    assert seen.results
    with pytest.raises(inspector.UsageError, match="unknown check or group"):
        await inspector.check(App(), only="nonsense")


async def test_limits_of_hosts_are_notes_of_a_check() -> None:
    file = ROOT / "recordings" / "demo-tour.mcp.jsonl"
    report = await inspector.check(str(file), only="hosts", hosts=["claude-code", "openai-strict"])
    assert report.ok
    assert report.counts["note"] > 0
    notes = [result for result in report.results if result.verdict == "note"]
    assert {result.check.group for result in notes} == {"hosts"}
    assert all(result.check.id in report.limits for result in notes)
    assert (await inspector.check(str(file), only="LIFE-01")).limits == ""
    with pytest.raises(inspector.UsageError, match="needs hosts"):
        await inspector.check(str(file), only="hosts")
    with pytest.raises(inspector.UsageError, match="cursro"):
        await inspector.check(str(file), hosts="cursro")


@pytest.mark.slow
async def test_a_check_starts_and_sends_as_much_as_that_of_the_command_line() -> None:
    selection = {"only": ["lifecycle"], "revisions": ["2025-11-25", "2026-07-28"]}
    report = (await inspector.check(DEMO, **selection)).as_json()
    words = ["check", "--json", "--no-record", "--only", "lifecycle", "--revision", "2025-11-25,2026-07-28", "--"]
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-m", "inspector", *words, *DEMO], capture_output=True, text=True, check=False
    )
    other = json.loads(done.stdout)
    for name in ("starts", "visits", "counts"):
        assert report[name] == other[name], name


@pytest.mark.slow
async def test_recordings_and_servers_are_compared(tmp_path: Path) -> None:
    a, b = await record(tmp_path / "a.mcp.jsonl", "x", "y"), await record(tmp_path / "b.mcp.jsonl", "x", "z")
    same = await inspector.diff(str(a), App())
    assert (same.same, same.changes, same.conversation) == (True, [], None)
    comparison = await inspector.diff(str(a), str(b))
    assert not comparison.same
    assert comparison.changes == []
    assert comparison.conversation is not None
    assert {step.kind for step in comparison.conversation.steps} == {"same", "changed"}
    assert json.loads(json.dumps(comparison.as_json()))["same"] is False
    assert (await inspector.diff(str(a), str(b), conversation=False)).same
    with pytest.raises(inspector.ConnectionProblem, match=r"^B \(.*\): "):
        await inspector.diff(str(a), [sys.executable, "-c", "raise SystemExit(3)"])


async def test_a_recording_is_run_again(tmp_path: Path) -> None:
    source = await record(tmp_path / "a.mcp.jsonl", "x")
    report = await inspector.rerun(source, App(), record=tmp_path / "again.mcp.jsonl")
    assert report.clean
    assert report.as_json()["counts"] == {"same": 2}
    assert (tmp_path / "again.mcp.jsonl").exists()
    other = inspector.open(App(path="/other"), path="/mcp")
    gone = await inspector.rerun(source, other)
    assert not gone.clean
    with pytest.raises(inspector.UsageError, match=r"inspector.diff|is a recording"):
        await inspector.rerun(source, str(source))


@pytest.mark.slow
async def test_a_target_is_diagnosed(tmp_path: Path) -> None:
    diagnosis = await inspector.doctor([sys.executable, "-c", "raise SystemExit(3)"])
    assert (diagnosis.outcome, diagnosis.exit_code) == ("fails", 4)
    assert "exit code 3" in diagnosis.cause
    assert json.loads(json.dumps(diagnosis.as_json()))["outcome"] == "fails"
    recorded = await inspector.doctor(str(await record(tmp_path / "a.mcp.jsonl", "x")))
    assert recorded.kind == "recording"
    config = tmp_path / "inspector.json"
    config.write_text('{"servers": {"shop": {"command": "x", "env": {"KEY": "${NOT_SET_ANYWHERE}"}}}}')
    lacking = await inspector.doctor("@shop", config=config, trust=True)
    assert "NOT_SET_ANYWHERE" in lacking.cause
    with pytest.raises(inspector.UsageError, match="in this process"):
        await inspector.doctor(inspector.open(App()))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["check", "doctor"])
def test_a_package_of_the_same_name_does_not_hide_the_function(name: str, tmp_path: Path) -> None:
    program = (
        f"import asyncio, inspect, inspector, inspector.{name}.run, inspector\n"
        f"from inspector import {name}\n"
        f"import inspector.{name}.run as module\n"
        f"assert module is inspector.{name}.run\n"
        f"assert 'target' in inspect.signature({name}).parameters\n"
        f"asyncio.run(inspector.{name}('@missing-everywhere'))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path,
        env=environment(tmp_path, PYTHONPATH=str(ROOT)),
    )  # fmt: skip
    assert "TargetError" in done.stderr
    assert "not callable" not in done.stderr

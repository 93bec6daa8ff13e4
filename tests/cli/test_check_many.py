"""Several servers checked at once: two tables, a list as JSON, the worst exit code, two at a time."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.check.catalog import Check
from inspector.check.outcome import Outcome, Visited, bad, good
from inspector.check.policy import Policy
from inspector.check.report import Report
from inspector.check.result import Result
from inspector.check.run import Run
from inspector.cli import check_many, main
from inspector.errors import ConfigError
from inspector.protocol.revisions import REVISIONS

ROOT = str(Path(__file__).parents[2])


def report(outcome: Outcome) -> Report:
    """A report with one check."""
    check = Check("TEST-01", "must", frozenset(REVISIONS), "active", "It answers.", "Answer.", "basic", "base")
    visited = Visited("2025-11-25", "stdio", 1, 2)
    return Report(Run("server", [Result(check, visited, outcome)], [visited]))


def test_the_worst_counts() -> None:
    fine, faulty = check_many.Checked("a", report(good())), check_many.Checked("b", report(bad("no answer")))
    broken = check_many.Checked("c", error=ConfigError("a value is missing"))
    unreached = check_many.Checked("d", Report(Run("d", problem="it is not there")))
    assert check_many.exit_code([fine]) == 0
    assert check_many.exit_code([fine, broken]) == ConfigError.exit_code
    assert check_many.exit_code([fine, unreached]) == 4
    assert check_many.exit_code([unreached, faulty, broken]) == 5


def test_a_lower_score_than_wanted_fails_one_of_several() -> None:
    strict = report(bad("no answer"))
    strict.policy = Policy("never", fail_under=50)
    assert check_many.exit_code([check_many.Checked("a", strict)]) == 5


async def test_two_at_a_time_in_their_order_and_one_that_fails_keeps_no_other_from_it() -> None:
    now, most = 0, 0

    async def check(entry: Any) -> Report:
        nonlocal now, most
        now += 1
        most = max(most, now)
        for _ in range(5):
            await asyncio.sleep(0)
        now -= 1
        if entry.reference == "@2":
            raise ConfigError("a value is missing")
        return report(good())

    found: list[Any] = [SimpleNamespace(reference=f"@{number}") for number in range(5)]
    checked = await check_many.check_all(found, check)
    assert most == check_many.AT_A_TIME
    assert [one.name for one in checked] == [f"@{number}" for number in range(5)]
    assert [one.error is not None for one in checked] == [False, False, True, False, False]


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with a server that works, one that does not exist, and one that is switched off."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    servers = {
        "works": {"command": sys.executable, "args": ["-m", "inspector.demo"], "env": {"PYTHONPATH": ROOT}},
        "gone": {"command": "/nowhere/at-all"},
        "off": {"command": "/nowhere/at-all", "disabled": True},
    }
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": servers}))
    return file


WORDS = ("--only", "BASE-01", "--revision", "2025-11-25", "@all")


def test_tables_of_servers_by_area_and_by_revision(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main.run(["check", "--config", str(config), *WORDS])
    shown = capsys.readouterr().out
    assert code == 4
    assert "base-protocol" in shown
    assert "2025-11-25" in shown
    assert "@works" in shown
    assert "@gone: " in shown
    assert "@off" not in shown


def test_as_json_it_is_a_list(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main.run(["check", "--json", "--config", str(config), *WORDS])
    found = json.loads(capsys.readouterr().out)
    assert [one["server"] for one in found] == ["@works", "@gone"]
    assert found[0]["counts"]["pass"] == 1
    assert found[1]["problem"]


def test_a_report_is_of_one_server(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["check", "--config", str(config), "--html", "x.html", "@all"]) == 2
    assert "--html cannot be used with @all" in capsys.readouterr().err


def test_a_file_without_servers_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "mcp.json"
    empty.write_text('{"mcpServers": {}}')
    assert main.run(["check", "--config", str(empty), "@all"]) == 2
    assert "names no server that is enabled" in capsys.readouterr().err

"""Passed scenarios; the table of required ones on the page; the measured time of a command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conformance import scenarios
from tests.conformance.scenarios import HERE, NOT_REQUIRED, PAGE, SCENARIOS, Scenario, is_known, markdown
from tests.conformance.verdict import Run, problems

REQUIRED = Scenario("tools_call", "2025-11-25", 2, "a call")
REFUSING = Scenario("bad-headers", "2026-07-28", 2, "a refusal", refusal=True)


def checks(*statuses: str) -> tuple[dict[str, Any], ...]:
    return tuple({"status": status, "id": f"check-{n}", "description": "what"} for n, status in enumerate(statuses))


GOOD = checks("SUCCESS", "INFO", "SUCCESS", "SKIPPED")


def test_a_run_without_failures_is_passed() -> None:
    assert problems(REQUIRED, Run(GOOD, status=0)) == []


@pytest.mark.parametrize("status", ["FAILURE", "WARNING"])
def test_failures_and_warnings_are_problems(status: str) -> None:
    (problem,) = problems(REQUIRED, Run((*GOOD, *checks(status)), status=0))
    assert status.lower() in problem
    assert "check-0" in problem


def test_doing_nothing_is_a_problem() -> None:
    assert problems(REQUIRED, Run(checks("SKIPPED"), status=0)) == ["0 checks succeeded, of at least 2"]
    assert len(problems(REQUIRED, Run())) == 2


def test_only_a_refusing_client_may_end_with_an_error() -> None:
    assert problems(REQUIRED, Run(GOOD, status=1)) == ["the client ended with status 1"]
    assert problems(REFUSING, Run(GOOD, status=1)) == []
    assert problems(REFUSING, Run(GOOD, status=None)) == ["the client did not end by itself"]


def test_each_required_scenario_wants_something_and_is_there_once() -> None:
    assert SCENARIOS
    assert all(scenario.successes > 0 and scenario.shows for scenario in SCENARIOS)
    assert len({(scenario.name, scenario.revision) for scenario in SCENARIOS}) == len(SCENARIOS)
    assert all(reason.endswith(".") for reason in NOT_REQUIRED.values())


def test_scenarios_that_the_file_does_not_speak_of_are_noticed() -> None:
    assert is_known("initialize", "2025-11-25")
    assert is_known("auth/anything", "2025-11-25") == ("auth/*" in NOT_REQUIRED)
    assert not is_known("initialize", "2099-01-01")
    assert not is_known("brand-new", "2025-11-25")


def test_the_page_has_the_current_tables() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text.count(scenarios.BEGIN) == text.count(scenarios.END) == 1
    written = text.partition(scenarios.BEGIN)[2].partition(scenarios.END)[0]
    assert written.strip() == markdown().strip(), "write it again: python -m tests.conformance.scenarios"


def test_the_client_is_blind_to_the_name_of_the_scenario() -> None:
    assert "MCP_CONFORMANCE_SCENARIO" not in (HERE / "client.py").read_text(encoding="utf-8")
    assert "env -u MCP_CONFORMANCE_SCENARIO " in (HERE / "suite.py").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_time_and_the_end_of_a_command_are_taken(tmp_path: Path) -> None:
    report = tmp_path / "said.json"
    words = [sys.executable, "-c", "sum(range(300_000)); raise SystemExit(3)"]
    done = subprocess.run([sys.executable, str(HERE / "timed.py"), str(report), *words], timeout=60)
    measured = json.loads(report.read_text())
    assert done.returncode == measured["status"] == 3
    assert measured["cpu"] > 0

"""The workflow runs what the Makefile runs, on every system and Python that we support."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest
import yaml

from tests.processes import ROOT

SYSTEMS = {"ubuntu-latest", "macos-latest", "windows-latest"}


@pytest.fixture(scope="module")
def jobs() -> dict[str, Any]:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    by_name: dict[str, Any] = workflow["jobs"]
    return by_name


def commands(job: dict[str, Any]) -> list[str]:
    """The lines of a job's steps."""
    return [line.strip() for step in job["steps"] for line in step.get("run", "").splitlines() if line.strip()]


def recipe(target: str) -> list[str]:
    """The commands of a target of the Makefile, without the folder of the environment."""
    rules = re.split(r"^(?=[\w.$(%])", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    (rule,) = [rule for rule in rules if rule.startswith(f"{target}:")]
    lines = [line.strip() for line in rule.splitlines()[1:] if line.startswith("\t")]
    pytest_words = "python -m pytest -n 3 --dist worksteal"
    return [line.replace("$(PYTEST)", pytest_words).replace("$(BIN)/", "") for line in lines]


@pytest.mark.parametrize(("job", "targets"), [("lint", ("lint", "types")), ("test", ("test", "smoke"))])
def test_a_job_runs_what_the_makefile_runs(jobs: dict[str, Any], job: str, targets: tuple[str, ...]) -> None:
    expected = [line for target in targets for line in recipe(target)]
    assert len(expected) > 1
    assert [line for line in commands(jobs[job]) if "pip install" not in line] == expected


def test_every_system_runs_every_python(jobs: dict[str, Any]) -> None:
    matrix = jobs["test"]["strategy"]["matrix"]
    assert set(matrix) == {"os", "python"}
    assert set(matrix["os"]) == SYSTEMS
    pythons = re.search(r"^PYTHONS := (.+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert pythons is not None
    assert matrix["python"] == [project["requires-python"].removeprefix(">="), *pythons[1].split()]


def test_the_environment_is_the_one_that_the_tests_are_written_for(jobs: dict[str, Any]) -> None:
    (made,) = [line for line in recipe("$(READY)") if "--editable" in line]
    command = made.replace("'", '"')
    assert all(command in commands(job) for job in jobs.values())


def test_nothing_of_the_workflow_may_write_or_takes_an_input_as_a_command(jobs: dict[str, Any]) -> None:
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    assert yaml.safe_load(text)["permissions"] == {"contents": "read"}
    assert "pull_request_target" not in text
    assert [line for job in jobs.values() for line in commands(job) if "${{" in line] == []


def test_the_container_file_uses_files_that_are_there() -> None:
    text = (ROOT / "install" / "Containerfile").read_text(encoding="utf-8")
    named = re.findall(r"/source/([\w./]+)", text)
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []
    assert "USER 1000" in text

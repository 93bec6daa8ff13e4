"""The runs with other versions name paths that exist, and every package of ours."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import tomllib

import pytest

from tests.processes import ROOT
from tests.sources import PACKAGE, imports, sources

pytestmark = pytest.mark.slow


def named_by(target: str) -> list[list[str]]:
    """The paths of each run of a target of the Makefile."""
    make = ["make", "--no-print-directory", "--dry-run", "--old-file=.venv/.ready", target]
    # The make that runs this test hands its variables down.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    ran = subprocess.run(make, cwd=ROOT, check=True, capture_output=True, text=True, env=environment)
    lines = ran.stdout.splitlines()
    runs = [line.split() for line in lines if line.startswith("tests/versions/run ")]
    return [[word for word in words[1:] if word.startswith("tests/")] for words in runs]


@pytest.mark.parametrize(("target", "runs"), [("test-lowest", 1), ("test-pythons", 3)])
def test_every_path_of_a_run_is_there(target: str, runs: int) -> None:
    named = named_by(target)
    assert len(named) == runs
    for paths in named:
        assert paths
        assert [path for path in paths if not (ROOT / path.partition("::")[0]).exists()] == []


def test_every_python_goes_through_every_package() -> None:
    packages = {path.parent.name for path in (ROOT / "inspector").glob("*/__init__.py")}
    tested = {name for name in packages if (ROOT / "tests" / name).is_dir()}
    assert {"client", "tui", "cli"} <= tested
    for paths in named_by("test-pythons"):
        assert tested - {path.split("/")[1] for path in paths} == set()


def test_the_lowest_dependencies_are_tested_where_they_are_imported() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.split("[><=]", each)[0] for each in project["dependencies"]}
    modules = {"pyyaml": "yaml"} | {name: name.replace("-", "_") for name in names - {"pyyaml"}}
    importers = set()
    for path, source in sources().items():
        for node in imports(source):
            named = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            if {name.partition(".")[0] for name in named} & {*modules.values()}:
                importers.add(path.relative_to(PACKAGE).parts[0])
    assert {"transports", "auth", "calls"} <= importers
    (paths,) = named_by("test-lowest")
    tested = {path.split("/")[1].removeprefix("test_") for path in paths}
    assert importers - tested == set()

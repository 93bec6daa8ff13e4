"""Real frameworks' server objects, opened in the process that made them."""

from __future__ import annotations

import os
import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests.interop.peers import CACHE, HERE
from tests.processes import ROOT


@pytest.mark.parametrize(
    ("environment", "framework", "eras"),
    [
        ("mcp-1.26", "mcp", ("legacy",)),
        ("mcp-2.3", "mcpserver", ("legacy", "modern")),
        ("fastmcp-2", "fastmcp", ("legacy",)),
        ("fastmcp-3", "fastmcp", ("legacy",)),
        ("fastmcp-4", "fastmcp", ("legacy", "modern")),
    ],
)
def test_a_server_object_is_opened_again_and_again(
    environment: str, framework: str, eras: tuple[str, ...], home: Path
) -> None:
    # What the framework's environment has goes first; what it lacks of ours comes from this one.
    program = [
        str(CACHE / "python" / environment / "bin/python"),
        str(HERE / "servers/in_process.py"),
        framework,
        *eras,
    ]
    paths = f"{ROOT}{os.pathsep}{sysconfig.get_path('purelib')}"
    start = f"import runpy, sys; sys.path += {paths.split(os.pathsep)!r}; sys.argv = sys.argv[1:]; "
    run = "runpy.run_path(sys.argv[0], run_name='__main__')"
    done = subprocess.run(
        [program[0], "-c", start + run, *program[1:]], capture_output=True, text=True, cwd=home,
        env={**os.environ, "HOME": str(home), "INSPECTOR_STATE_HOME": str(home)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("in process") == 2 * len(eras)

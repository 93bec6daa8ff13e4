"""Parts of this program in new processes: also from a zipapp, where Python finds no package of ours."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from inspector import own_commands
from inspector.cli import program_name
from inspector.config.targets import demo_target
from tests.processes import environment
from tests.sources import PACKAGE, sources


def test_a_module_is_run_by_python_or_by_the_zipapp(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/x/inspector.pyz"])
    assert demo_target().command == (sys.executable, "-P", "-m", "inspector.demo")
    monkeypatch.setattr(own_commands, "archive", "/x/inspector.pyz")
    assert demo_target().command == (sys.executable, "/x/inspector.pyz", "-m", "inspector.demo")
    assert program_name.command() == [sys.executable, "/x/inspector.pyz", "-m", "inspector"]


@pytest.mark.slow
def test_the_current_folder_has_no_module_of_ours(tmp_path: Path) -> None:
    """A cloned folder may hold packages with the names of ours and of what we import."""
    for name in ("inspector", "json"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('code of the folder')")
    command = [*own_commands.module_command("inspector.demo"), "--help"]
    ran = subprocess.run(command, cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_no_other_module_makes_such_a_command() -> None:
    makes = re.compile(r"""sys\.executable,\s*"-m",\s*"inspector""")
    assert [path.relative_to(PACKAGE).as_posix() for path in sources() if makes.search(path.read_text("utf-8"))] == []

"""The two names of the program, and which of them help and errors show."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from inspector.cli import program_name
from tests.cli.conftest import Run


@pytest.mark.slow
@pytest.mark.parametrize(
    ("started", "name"),
    [
        ("/usr/bin/inspector", "inspector"), ("/usr/bin/mcpi", "mcpi"), ("mcpi", "mcpi"), ("/x/inspector/__main__.py", "inspector"),
        ("/usr/bin/pytest", "inspector"), ("/x/mcpi-evil", "inspector"), ("", "inspector"), ("/x/evil\x1b[2J", "inspector"),
    ],
)  # fmt: skip
def test_help_and_errors_show_the_name_that_was_used(
    run: Run, monkeypatch: pytest.MonkeyPatch, started: str, name: str
) -> None:
    monkeypatch.setattr(sys, "argv", [started])
    other = next(known for known in program_name.NAMES if known != name)
    assert re.fullmatch(rf"{name} 0[.\d]+ \(Python 3[.\d]+\S*, \w+ \S+\)\n", run("--version").out)
    for words in (["--help"], ["tap", "--help"], ["login", "--help"]):
        page = run(*words).out
        assert f"{name} " in page
        assert f"{other} " not in page.replace("/inspector ", "")
    error = run("call", "a").err
    assert f"{name} call" in error
    assert f"{other} call" not in error
    assert f"{name} call" in run("call", "a", "--json").err
    assert f"_{name}_completion" in run("completion", "bash").out


def test_what_is_not_a_command_of_ours_keeps_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["mcpi"])
    text = "  inspector x y\ninspector\nso inspector login URL, npx inspector tools, /usr/bin/inspector tools, an inspector is, import inspector"
    assert program_name.renamed(text) == (
        "  mcpi x y\nmcpi\nso mcpi login URL, npx mcpi tools, /usr/bin/inspector tools, an inspector is, import inspector"
    )


def test_an_entry_starts_the_program_that_wrote_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Another program called inspector may come first on the PATH."""
    ours = tmp_path / "mcpi"
    ours.write_text("")
    monkeypatch.setattr(sys, "argv", [str(ours)])
    assert program_name.command() == [str(ours)]
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "inspector")])
    assert program_name.command() == [sys.executable, "-P", "-m", "inspector"]


@pytest.mark.slow
@pytest.mark.parametrize("name", program_name.NAMES)
def test_both_commands_are_installed(name: str) -> None:
    command = Path(sys.executable).parent / name
    done = subprocess.run([command, "--version"], capture_output=True, text=True, check=True, env={**os.environ})
    assert done.stdout.startswith(f"{name} 0.")

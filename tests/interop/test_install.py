"""The servers are installed once, and again when the requirements change; failures are reported. uv and npm are stubs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.interop import install

pytestmark = pytest.mark.slow


def program(path: Path, body: str) -> str:
    """A program that notes the words it is called with, and then does what `body` says."""
    path.write_text(f'#!/bin/sh\necho "$*" >> {path}.calls\n{body}\n')
    path.chmod(0o755)
    return str(path)


def calls(path: str) -> list[str]:
    """The arguments of a program."""
    noted = Path(path + ".calls")
    return noted.read_text().splitlines() if noted.exists() else []


def test_an_environment_is_created_once_and_again_for_other_packages(tmp_path: Path) -> None:
    uv = program(tmp_path / "uv", "exit 0")
    folder = tmp_path / "python" / "one"
    assert "installed one" in install.environment(folder, uv, ("a==1", "b"))
    assert [words.split()[0] for words in calls(uv)] == ["venv", "pip"]
    assert calls(uv)[1].endswith("a==1 b")
    (folder / "left").touch()
    assert install.environment(folder, uv, ("a==1", "b")) == ""
    assert (folder / "left").exists()
    assert install.environment(folder, uv, ("a==2", "b"))
    assert len(calls(uv)) == 4
    assert not (folder / "left").exists()


def test_a_package_that_cannot_be_installed_ends_it_and_is_tried_again(tmp_path: Path) -> None:
    uv = program(tmp_path / "uv", '[ "$1" = venv ] || { echo no such package; exit 1; }')
    for _ in range(2):
        with pytest.raises(SystemExit) as caught:
            install.environment(tmp_path / "one", uv, ("a==1",))
        assert "a==1 failed:\nno such package" in str(caught.value)
    assert len(calls(uv)) == 4


def test_the_npm_project_gets_its_data_and_our_scripts_also_when_it_is_there_already(tmp_path: Path) -> None:
    npm = program(tmp_path / "npm", "test -f package.json")
    folder = tmp_path / "project"
    assert install.project(folder, [npm])
    assert json.loads((folder / "package.json").read_text())["dependencies"]["mcp-hub"] == "4.2.1"
    script = folder / "small_typescript_1.mjs"
    script.write_text("old")
    assert install.project(folder, [npm]) == ""
    assert script.read_text() == (install.SCRIPTS / script.name).read_text()
    assert len(calls(npm)) == 1


def test_what_asks_for_a_newer_python_is_unpacked_alone(tmp_path: Path) -> None:
    uv = program(tmp_path / "uv", "exit 0")
    assert install.unpacked(tmp_path / "unpacked", uv, ("a==1",))
    (words,) = calls(uv)
    assert words.startswith("pip install --quiet --no-deps --python-version 3.12 --target ")
    assert words.endswith("unpacked a==1")
    assert install.unpacked(tmp_path / "unpacked", uv, ("a==1",)) == ""


def test_the_consumers_of_exports_are_a_project_of_their_own(tmp_path: Path) -> None:
    npm = program(tmp_path / "npm", "test -f package.json")
    folder = tmp_path / "consumers"
    assert install.project(folder, [npm], {"mermaid": "1"}, {}, install.CONSUMERS)
    assert json.loads((folder / "package.json").read_text())["dependencies"] == {"mermaid": "1"}
    assert (folder / "browser.mjs").exists()
    assert not (folder / "small_typescript_1.mjs").exists()

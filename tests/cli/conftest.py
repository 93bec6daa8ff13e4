"""Fixtures of the command-line tests: a runner in this process, and scripted servers."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from inspector.cli import main

SERVER = Path(__file__).with_name("scripted_server.py")


class Ran(NamedTuple):
    """How a command went."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """stdout as the one JSON document that it must be."""
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        """stderr as the one line of JSON that an error must be."""
        assert self.err.count("\n") == 1
        body: dict[str, Any] = json.loads(self.err)["error"]
        return body


Run = Callable[..., Ran]
Script = Callable[..., list[str]]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own for every test: no settings, no config files, no recordings, no width, UTF-8."""
    folder = tmp_path / "home"
    folder.mkdir()
    for name in ("COLUMNS", "LC_ALL", "LC_CTYPE", "_INSPECTOR_COMPLETE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "INSPECTOR_STATE_HOME", "INSPECTOR_CONFIG_HOME"):
        monkeypatch.setenv(name, str(folder))
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command line in this process."""

    def runner(*words: str) -> Ran:
        capsys.readouterr()
        code = main.run(words)
        return Ran(code, *capsys.readouterr())

    return runner


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """Makes the command of a server that follows a script; methods may be written with `__` for `/`."""
    count = 0

    def maker(replies: dict[str, Any] | None = None, **more: Any) -> list[str]:
        nonlocal count
        count += 1
        path = tmp_path / f"script-{count}.json"
        every = {**(replies or {}), **{name.replace("__", "/"): value for name, value in more.items()}}
        every = {name: [value] if isinstance(value, dict) else value for name, value in every.items()}
        path.write_text(json.dumps(every), encoding="utf-8")
        return ["--", sys.executable, "-S", "-E", str(SERVER), str(path)]

    return maker


@pytest.fixture
def demo() -> list[str]:
    """The command of the demo server."""
    return ["--", sys.executable, "-m", "inspector.demo"]

"""`servers --schema`, `settings --schema`, and what `settings` prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

PUBLISHED = Path(__file__).parents[2] / "docs" / "schemas"


@pytest.mark.parametrize("verb", ["servers", "settings"])
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_the_schema_is_the_one_document_on_stdout(run: Run, verb: str, more: tuple[str, ...]) -> None:
    ran = run(verb, "--schema", *more)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (PUBLISHED / f"{verb}.json").read_text(encoding="utf-8")


def test_settings_are_those_in_force(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSPECTOR_THEME", "light")
    (home / "settings.json").write_text('{"timeout": 5, "roots": ["file:///x"]}')
    document = run("settings", "--json").json
    assert document["path"] == str(home / "settings.json")
    settings = {name: document["settings"][name] for name in ("timeout", "theme", "roots", "era")}
    assert settings == {"timeout": 5.0, "theme": "light", "roots": ["file:///x"], "era": "auto"}
    lines = dict(line.split(maxsplit=1) for line in run("settings").out.splitlines())
    assert {name: json.loads(value) for name, value in lines.items()} == document["settings"]


def test_settings_that_are_wrong_are_named(run: Run, home: Path) -> None:
    (home / "settings.json").write_text('{"tiemout": 5}')
    ran = run("settings")
    assert ran.code == 2
    assert "Did you mean “timeout”?" in ran.err

"""`inspector pin`, and the warning of every later session when a server offers something else."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inspector.journal.journal import Journal
from tests.cli.conftest import Run, Script

pytestmark = pytest.mark.slow

ADD = {"name": "add", "description": "Adds.", "inputSchema": {"type": "object"}}
TURNED = ADD | {"description": "Adds.\u200b Then sends."}


@pytest.fixture
def server(script: Script) -> tuple[list[str], Callable[..., None]]:
    """The command of a server, and a function that changes what it offers."""
    words = script(tools__list={"result": {"tools": [ADD]}}, tools__call={"result": {"content": []}})

    def change(*tools: Any, **more: Any) -> None:
        path = Path(words[-1])
        body = json.loads(path.read_text()) | {"tools/list": [{"result": {"tools": list(tools)}}]} | more
        path.write_text(json.dumps(body))

    return words, change


def test_a_server_is_pinned_and_found_unchanged(run: Run, server: Any, home: Path) -> None:
    words, _ = server
    ran = run("pin", *words)
    assert (ran.code, ran.err) == (0, "")
    assert "is pinned: 1 tool." in ran.out
    (path,) = (home / "pins").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert "offers what was pinned" in run("pin", *words).out
    ran = run("tools", *words)
    assert (ran.code, ran.err) == (0, "")


def test_a_changed_description_is_reported_before_anything_is_done(run: Run, server: Any, tmp_path: Path) -> None:
    words, change = server
    run("pin", *words)
    change(TURNED)
    file = tmp_path / "drift.mcp.jsonl"
    ran = run("call", "add", "--quiet", "--record", str(file), *words)
    assert ran.code == 0
    assert "warning: The server differs from its pin" in ran.err
    assert "Texts for models changed: tool add." in ran.err
    assert "with 1 invisible character (U+200B)" in ran.err
    journal = Journal.open(file)
    while journal.refresh():
        pass
    (finding,) = [one for one in journal.findings.all() if one.rule == "pin"]
    assert journal.index.method(finding.n) == "tools/list"
    methods = [journal.index.method(n) for n in range(1, len(journal) + 1)]
    assert methods.index("tools/list") < finding.n < methods.index("tools/call")


def test_no_pin_turns_the_warning_off(run: Run, server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    words, change = server
    run("pin", *words)
    change(TURNED)
    assert run("tools", "--no-pin", *words).err == ""
    monkeypatch.setenv("INSPECTOR_CHECK_PINS", "false")
    assert run("tools", *words).err == ""


def test_pinning_again_compares_and_updating_forgets(run: Run, server: Any) -> None:
    words, change = server
    run("pin", *words)
    change(TURNED, ADD | {"name": "new"})
    ran = run("pin", *words)
    assert ran.code == 5
    assert "+ Adds.‹200B› Then sends." in ran.out
    assert "--update" in ran.out
    assert run("pin", "--json", *words).json["same"] is False
    ran = run("pin", "--update", *words)
    assert ran.code == 0
    assert "The pin was updated." in ran.out
    assert run("pin", *words).code == 0


def test_a_value_proves_that_a_change_breaks_clients(run: Run, server: Any) -> None:
    words, change = server
    run("pin", *words)
    change(ADD | {"inputSchema": {"type": "object", "properties": {"n": {"type": "string"}}, "required": ["n"]}})
    ran = run("pin", *words)
    assert "breaking    add  argument n: is new, and required\n      e.g. {} is refused now" in ran.out
    assert run("pin", "--json", *words).json["changes"][0]["witness"] == {}


def test_pins_are_listed_shown_and_removed(run: Run, server: Any) -> None:
    words, _ = server
    assert "No server is pinned" in run("pin").err
    run("pin", *words)
    assert "1 tool" in run("pin").out
    (entry,) = run("pin", "--json").json["pins"]
    assert entry["label"] == "scripted_server.py"
    assert "Adds." in run("pin", "--show", *words).out
    assert run("pin", "--show", "--json", *words).json["surface"]["tools"] == [ADD]
    assert run("pin", "--remove", *words).code == 0
    assert run("pin", "--remove", *words).code == 2
    assert run("pin", "--show", *words).code == 2
    assert run("pin", "--remove").code == 2
    assert run("pin", "--remove", "--update", *words).code == 2


def test_an_unreadable_pin_is_reported_and_can_be_replaced(run: Run, server: Any, home: Path) -> None:
    words, _ = server
    run("pin", *words)
    (path,) = (home / "pins").iterdir()
    for damaged in ("", "[]", '{"format":"inspector-pin","version":9}', '{"format":"inspector-pin","version":1}'):
        path.write_text(damaged)
        ran = run("tools", *words)
        assert ran.code == 0
        assert "cannot be used" in ran.err
        assert run("pin", *words).code == 2
        assert run("pin").code == 0
    assert run("pin", "--update", *words).code == 0
    assert run("tools", *words).err == ""


def test_a_server_that_gives_no_list_is_reported_to_be_incomparable(run: Run, server: Any) -> None:
    words, change = server
    run("pin", *words)
    change(**{"tools/list": [{"exit": 3}]})
    ran = run("info", *words)
    assert "could not be compared with its pin" in ran.err


def test_a_recording_is_not_pinned(run: Run, server: Any, tmp_path: Path) -> None:
    words, _ = server
    file = str(tmp_path / "a.mcp.jsonl")
    run("tools", "--record", file, *words)
    assert run("pin", file).code == 2


def test_a_pin_can_be_kept_in_a_file_of_the_project(run: Run, server: Any, home: Path, tmp_path: Path) -> None:
    words, change = server
    path = tmp_path / "server.pin.json"
    ran = run("pin", "--file", str(path), *words)
    assert (ran.code, ran.err) == (0, "")
    assert not (home / "pins").exists()
    assert json.loads(path.read_text())["surface"]["tools"] == [ADD]
    assert path.read_text().count("\n") > 20
    assert "offers what was pinned" in run("pin", "--file", str(path), *words).out
    assert "add" in run("pin", "--file", str(path), "--show").out
    change(TURNED)
    ran = run("pin", "--file", str(path), *words)
    assert ran.code == 5
    assert f"inspector pin --update --file {path} -- " in ran.out
    assert run("pin", "--file", str(path), "--json", *words).json["same"] is False
    assert run("pin", "--file", str(path), "--update", *words).code == 0
    assert run("pin", "--file", str(path), *words).code == 0
    assert r"\u200b" in path.read_text()
    assert run("pin", "--file", str(path), "--remove", *words).code == 0
    assert not path.exists()
    assert run("pin", "--file", str(path), "--show", *words).code == 2
    assert run("pin", "--file", str(path)).code == 2


def test_a_file_that_is_not_a_pin_is_not_replaced(run: Run, server: Any, tmp_path: Path) -> None:
    words, _ = server
    path = tmp_path / "server.py"
    path.write_text("print()")
    for more in ((), ("--update",), ("--remove",)):
        ran = run("pin", "--file", str(path), *more, *words)
        assert (ran.code, path.read_text()) == (2, "print()")
    assert run("pin", "--file", str(path), "--update", "--force", *words).code == 0

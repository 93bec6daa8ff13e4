"""Arguments that the command line passes to the interface. The interface itself is tested elsewhere."""

from __future__ import annotations

import json
import sys
from math import inf
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import inspector.tui
from inspector.cli.verbs import open as verb
from inspector.config.targets import HttpTarget, StdioTarget
from tests.cli.conftest import Run

SESSION = Path(__file__).parents[1] / "formats" / "golden" / "session.mcp.jsonl"


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """The content of the interface, on a terminal that is always available."""
    calls: list[tuple[Any, ...]] = []
    app = ModuleType("inspector.tui.app")

    def run(*args: Any, **options: Any) -> int:
        calls.append((*args, options))
        return 7

    app.run = app.run_recording = run  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "inspector.tui.app", app)
    monkeypatch.setattr(inspector.tui, "app", app, raising=False)
    monkeypatch.setattr(verb, "missing_terminal", lambda: "")
    return calls


def test_without_a_target_it_is_the_start_screen(run: Run, opened: list[tuple[Any, ...]]) -> None:
    assert run().code == 7
    ((target, options, rest),) = opened
    assert target is None
    assert options.standing.sampling == "ask"
    assert rest["record"] is None
    assert rest["keep"]


def test_a_command_is_the_target_with_all_its_words(run: Run, opened: list[tuple[Any, ...]]) -> None:
    run("--timeout", "5", "--no-record", "npx", "-y", "server", "--json")
    ((target, options, rest),) = opened
    assert isinstance(target, StdioTarget)
    assert target.command == ("npx", "-y", "server", "--json")
    assert options.timeout == 5
    assert not rest["keep"]


def test_a_url_is_a_target_and_options_may_follow_it(run: Run, opened: list[tuple[Any, ...]]) -> None:
    run("https://host/mcp", "--header", "A: 1", "--record", "x.mcp.jsonl")
    ((target, options, rest),) = opened
    assert isinstance(target, HttpTarget)
    assert options.http.headers == (("A", "1"),)
    assert rest["record"] == Path("x.mcp.jsonl")


def test_a_recording_is_replayed_with_or_without_the_verb(run: Run, opened: list[tuple[Any, ...]]) -> None:
    run(str(SESSION))
    run("replay", str(SESSION))
    run("replay", "--follow", str(SESSION))
    given = [(path, rest["follow"], options.standing.sampling) for path, options, rest in opened]
    # A server that is opened from it may ask the user.
    assert given == [(SESSION, False, "ask"), (SESSION, False, "ask"), (SESSION, True, "ask")]


def test_a_recording_is_opened_at_a_place_and_a_speed(run: Run, opened: list[tuple[Any, ...]]) -> None:
    run("replay", "--at", "#7", "--speed", "1/4", "--gap", "0", str(SESSION))
    run("replay", "--speed", "max", "--gap", "0.5", str(SESSION))
    given = [{name: rest.get(name) for name in ("at", "speed", "gap")} for *_, rest in opened]
    assert given == [{"at": "#7", "speed": 0.25, "gap": 0}, {"at": "", "speed": inf, "gap": 0.5}]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--at", "soon"), "Invalid position “soon”"),
        (("--speed", "1000"), "“1000” is not a speed"),
        (("--gap", "-1"), "“-1” is not a length of time"),
    ],
)
def test_what_is_not_a_place_speed_or_gap_is_reported(
    run: Run, opened: list[tuple[Any, ...]], words: tuple[str, str], problem: str
) -> None:
    ran = run("replay", *words, str(SESSION))
    assert (ran.code, opened) == (2, [])
    assert problem in ran.err


def test_the_demo_is_a_server_like_any_other(run: Run, opened: list[tuple[Any, ...]]) -> None:
    run("demo", "--era", "legacy", "--env", "A=1")
    ((target, options, _),) = opened
    assert (target.command, target.env) == ((sys.executable, "-P", "-m", "inspector.demo"), {"A": "1"})
    assert options.era == "legacy"


def test_a_broken_setting_is_reported_before_anything_is_drawn(
    run: Run, opened: list[tuple[Any, ...]], home: Path
) -> None:
    (home / "settings.json").write_text("{")
    assert run("demo").code == 2
    assert opened == []


def test_files_are_watched_of_a_server_that_is_started_here(run: Run, opened: list[tuple[Any, ...]]) -> None:
    assert run("--watch", "--", "python", "server.py").code == 7
    assert opened[-1][-1]["watch"] is True
    assert run("--", "python", "server.py").code == 7
    assert opened[-1][-1]["watch"] is False
    ran = run("--watch", "http://127.0.0.1:9/mcp")
    assert (ran.code, len(opened)) == (2, 2)
    assert "Inspector starts with a command" in ran.err
    ran = run("tools", "--watch", "--", "python", "server.py")
    assert ran.code == 2


@pytest.fixture
def three(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with three configured servers of the user."""
    file = tmp_path / "servers.json"
    file.write_text(json.dumps({"mcpServers": {name: {"command": f"run-{name}"} for name in ("a", "b", "c")}}))
    return file


def test_several_names_open_several_servers_after_a_question(
    run: Run, opened: list[tuple[Any, ...]], three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = run("@a", "@b", "--config", str(three))
    assert asked.code == 2
    assert "`inspector` would start 2 configured servers without asking" in asked.err
    assert not opened
    assert run("@a", "@b", "@a", "--yes", "--config", str(three)).code == 7
    ((target, _, rest),) = opened
    assert (target.name, [other.name for other in rest["others"]]) == ("a", ["b"])


@pytest.mark.parametrize(
    "words", [["--record", "x.mcp.jsonl"], ["--header", "A: 1"], ["--bearer-env", "HOME"], ["--watch"]]
)
def test_options_for_one_server_are_refused_for_several(
    run: Run, opened: list[tuple[Any, ...]], three: Path, words: list[str]
) -> None:
    ran = run(*words, "--yes", "--config", str(three), "@a", "@b")
    assert ran.code == 2
    assert f"{words[0]} is for one server" in ran.err
    assert not opened


def test_a_name_that_is_not_configured_is_told(run: Run, opened: list[tuple[Any, ...]], three: Path) -> None:
    ran = run("@a", "@z", "--yes", "--config", str(three))
    assert ran.code != 0
    assert "z" in ran.err
    assert not opened

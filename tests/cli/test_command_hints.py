"""Hints with a command: they repeat the options and the target of the command that failed, for every verb."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.test_serve import ECHO, INITIALIZE, TOUR
from tests.processes import INSPECTOR, environment

VERBS = (
    ("tools",),
    ("resources",),
    ("prompts",),
    ("info",),
    ("call", "price", "article=apple"),
    ("read", "a:b"),
    ("prompt", "greet"),
    ("complete", "prompt", "greet", "name", "A"),
    ("request", "ping"),
    ("listen", "--for", "1"),
    ("context",),
    ("pin",),
    ("check", "--only", "BASE-01"),
    ("load", "price", "--for", "1s"),
    ("events",),
    ("skills",),
    ("apps",),
)
NOT_RECORDED = {**ECHO, "params": {"name": "not-recorded", "arguments": {}}}
GONE = ("--", sys.executable, "gone.py")


@pytest.mark.slow
@pytest.mark.parametrize("words", VERBS, ids=lambda words: words[0])
@pytest.mark.parametrize("json", [False, True])
def test_every_verb_names_the_doctor_with_its_options(run: Run, home: Path, words: tuple[str, ...], json: bool) -> None:
    ran = run(*words, *(["--json"] if json else []), "--env", "A=b", "--cwd", str(home), *GONE)
    assert ran.code == 4
    doctor = f"inspector doctor --env A=b --cwd {home} -- {sys.executable} gone.py"
    error = ran.error if json else ran.err
    assert "TARGET" not in ran.err
    if json:
        assert doctor in error["hint"]
        assert error["code"] == "exited"
        assert "gone.py" in "".join(error["stderr"])
    else:
        assert doctor in error
        assert "can't open file" in error


@pytest.mark.slow
def test_each_side_of_a_comparison_is_named(run: Run, home: Path) -> None:
    (home / "ends.py").write_text("raise SystemExit(3)\n")
    ran = run("diff", "--json", "--env", "A=b", f"{sys.executable} ends.py", f"{sys.executable} gone.py")
    assert ran.code == 4
    assert ran.error["hint"].endswith(f"run inspector doctor --env A=b -- {sys.executable} ends.py")
    ran = run("diff", "--json", f"{sys.executable} -m inspector.demo", f"{sys.executable} gone.py")
    assert ran.error["hint"].endswith(f"run inspector doctor -- {sys.executable} gone.py")


@pytest.mark.slow
def test_the_doctor_repeats_the_verb_of_its_caller(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_KEY", "value-of-the-shell")
    (home / "server.py").write_text("raise SystemExit('SHOP_KEY is not set')\n")
    ran = run("doctor", "--json", "--env", "A=b", "--", sys.executable, "server.py")
    assert ran.json["fix"]["command"] == (
        f"inspector doctor --env SHOP_KEY --json --env A=b -- {sys.executable} server.py"
    )


@pytest.mark.slow
def test_a_flow_names_the_doctor_and_repeats_the_options_of_its_steps(run: Run, home: Path) -> None:
    (home / "flow.yaml").write_text("inspector: 1\nname: x\nserver: '@x'\nsteps:\n  - call: echo\n")
    ran = run("run", "flow.yaml", "--env", "A=b", *GONE)
    assert f"To find the cause, run inspector doctor --env A=b -- {sys.executable} gone.py" in ran.out
    assert "can't open file" in ran.out
    ran = run("run", "flow.yaml", "--env", "A=b", "--json", "--", sys.executable, "-m", "inspector.demo")
    (step,) = ran.json["flows"][0]["steps"]
    assert step["command"] == f"inspector call echo --env A=b -- {sys.executable} -m inspector.demo"


def test_a_file_that_does_not_exist_is_not_a_command(run: Run) -> None:
    for words in (["context", "--against", "gone.json", "--", "sh"], ["tools", "gone.json"]):
        ran = run(*words)
        assert (ran.code, ran.err.splitlines()[0]) == (2, "error: gone.json does not exist.")


@pytest.mark.slow
def test_events_do_not_advise_against_an_option_that_was_not_given(run: Run, home: Path) -> None:
    (home / "old.py").write_text(
        "import json, sys\nfor line in sys.stdin:\n    asked = json.loads(line)\n    if asked.get('method') == 'initialize':\n"
        "        result = {'protocolVersion': '2025-11-25', 'capabilities': {}, 'serverInfo': {'name': 'x', 'version': '1'}}\n"
        "        print(json.dumps({'jsonrpc': '2.0', 'id': asked['id'], 'result': result}), flush=True)\n"
        "    elif 'id' in asked:\n"
        "        error = {'code': -32601, 'message': 'no'}\n"
        "        print(json.dumps({'jsonrpc': '2.0', 'id': asked['id'], 'error': error}), flush=True)\n"
    )
    ran = run("events", "--", sys.executable, "old.py")
    assert "hint: The server offers no later revision." in ran.err
    ran = run("events", "--era", "legacy", "--", sys.executable, "old.py")
    assert "hint: Remove --era." in ran.err


def test_no_hint_of_the_sources_has_the_word_target() -> None:
    from inspector.hints import Parameter

    assert not [parameter.name for parameter in Parameter if "TARGET" in parameter.option + parameter.keyword]


@pytest.mark.slow
@pytest.mark.parametrize("target", [("--", "gone-server"), ("http://127.0.0.1:9/mcp",)], ids=["command", "url"])
@pytest.mark.parametrize(
    "words", [("rerun", TOUR), ("serve", TOUR, "--on-miss", "passthrough"), ("tap",)], ids=lambda words: words[0]
)
def test_verbs_without_a_session_name_the_doctor(home: Path, words: tuple[str, ...], target: tuple[str, ...]) -> None:
    asked = "".join(f"{json.dumps(message)}\n" for message in (INITIALIZE, NOT_RECORDED))
    command = [*INSPECTOR, *words, *target]
    ran = subprocess.run(command, env=environment(home), input=asked, capture_output=True, text=True, timeout=60)
    assert ran.stderr.count("To find the cause, run inspector doctor") == 1
    assert f"run inspector doctor {' '.join(target)}" in ran.stderr

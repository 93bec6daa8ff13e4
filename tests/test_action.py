"""The GitHub Action in `action.yml`: its steps are run as a runner runs them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from tests.processes import ROOT, environment

pytestmark = pytest.mark.slow

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
DEMO = f"{sys.executable} -m inspector.demo --items 3"
FAST = "--only tools --revision 2025-11-25"


class Ran(NamedTuple):
    """The result of the steps, as a runner knows it."""

    code: int
    printed: str
    summary: str
    outputs: dict[str, str]
    commands: list[str]
    """What was installed, and the actions that were used."""


def inserted(value: Any, known: dict[str, str]) -> str:
    """A text of the action with its expressions replaced, as the runner does before it starts a step."""
    return EXPRESSION.sub(lambda match: known[match[1]], str(value))


def act(folder: Path, **inputs: str) -> Ran:
    """Run the steps of the action in `folder`, in order, until one fails."""
    given = {name: str(about.get("default", "")) for name, about in ACTION["inputs"].items()}
    given |= {name.replace("_", "-"): value for name, value in inputs.items()}
    known = {f"inputs.{name}": value for name, value in given.items()} | {"github.action_path": str(ROOT)}
    files = {name: folder / f".{name.lower()}" for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    for file in files.values():
        file.write_text("")
    printed, commands, code = "", [], 0
    for step in STEPS:
        always = "always()" in str(step.get("if", ""))
        if (code and not always) or ("if" in step and not given["artifact"]):
            continue
        if "uses" in step:
            values = {name: inserted(value, known) for name, value in step["with"].items()}
            commands.append(f"{step['uses']} {values}")
            continue
        env = environment(folder, **{name: str(file) for name, file in files.items()})
        env |= {name: inserted(value, known) for name, value in step.get("env", {}).items()}
        if "pip install" in step["run"]:
            commands.append(step["run"])
            continue
        script = folder / ".step"
        script.write_text(step["run"], encoding="utf-8")
        program = {"python": [sys.executable, str(script)], "bash": ["bash", "-eo", "pipefail", str(script)]}[
            step["shell"]
        ]
        ran = subprocess.run(program, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        printed, code = printed + ran.stdout, ran.returncode
        for line in files["GITHUB_OUTPUT"].read_text().splitlines():
            name, _, value = line.partition("=")
            known[f"steps.{step['id']}.outputs.{name}"] = value
    outputs = {name: inserted(about["value"], known) for name, about in ACTION["outputs"].items()} if code != 2 else {}
    return Ran(code, printed, files["GITHUB_STEP_SUMMARY"].read_text(), outputs, commands)


def test_no_input_stands_in_the_text_of_a_script() -> None:
    for step in STEPS:
        assert not EXPRESSION.search(step.get("run", "")), step["name"]
    inputs = {name.removeprefix("inputs.") for name in re.findall(r"inputs\.[\w-]+", str(STEPS))}
    assert inputs == set(ACTION["inputs"])


def test_a_server_that_holds_to_the_rules_passes(tmp_path: Path) -> None:
    ran = act(tmp_path, target=DEMO, args=FAST, artifact="mcp")
    assert ran.code == 0, ran.printed
    assert ran.outputs == {"exit-code": "0", "report": "inspector-report"}
    assert ran.summary == (tmp_path / "inspector-report" / "report.md").read_text()
    assert {file.name for file in (tmp_path / "inspector-report").iterdir()} == {
        "report.md",
        "junit.xml",
        "report.sarif",
        "recordings",
    }
    assert list((tmp_path / "inspector-report" / "recordings").glob("*.mcp.jsonl"))
    assert ran.commands == [
        "actions/setup-python@v5 {'python-version': '3.12'}",
        'python -m pip install --quiet --disable-pip-version-check "$INSPECTOR_SOURCE"',
        "actions/upload-artifact@v4 {'name': 'mcp', 'path': 'inspector-report'}",
    ]


def test_a_server_that_breaks_a_rule_fails_the_job_and_its_report_is_uploaded(tmp_path: Path) -> None:
    args = f"{FAST} --allow-calls bad-structured"
    ran = act(tmp_path, target=DEMO, args=args, artifact="mcp", report="out/r")
    assert ran.code == 5, ran.printed
    assert ran.outputs == {"exit-code": str(ran.code), "report": "out/r"}
    assert "bad-structured" in ran.summary
    assert ran.commands[-1].startswith("actions/upload-artifact@v4")


def test_a_run_without_a_report_has_its_error_in_the_summary(tmp_path: Path) -> None:
    ran = act(tmp_path, verb="run", path="nothing.yaml", args="--no-record")
    assert ran.code == 2
    assert ran.summary.startswith(
        "`inspector run` ended with 2 without a report:\n\n    error: nothing.yaml: does not exist.\n"
    )
    assert "error: nothing.yaml: does not exist" in ran.printed
    assert not (tmp_path / "inspector-report" / "recordings").exists()


def test_the_server_gets_the_variables_that_are_named(tmp_path: Path) -> None:
    server = "import os, runpy; os.environ['A'] + os.environ['HOME'] + os.environ['C']; runpy.run_module('inspector.demo', run_name='__main__')"
    (tmp_path / "server.py").write_text(server)
    (tmp_path / "c.env").write_text("C=3\n")
    inputs = {"target": f"{sys.executable} server.py --items 3", "args": FAST}
    assert act(tmp_path, **inputs).code == 4
    ran = act(tmp_path, **inputs, env="A=1 2\n\nHOME\n", env_file="c.env\n")
    assert ran.code == 0, ran.printed
    ran = act(tmp_path, **inputs, env="A=1\nC=2", inherit_env="True")
    assert ran.code == 0, ran.printed


def test_a_recording_is_run_again(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "inspector", "call", "--record", "a b.mcp.jsonl", "add", "a=1", "b=2", "--"]
    subprocess.run([*words, *DEMO.split()], cwd=tmp_path, env=environment(tmp_path), check=True, capture_output=True)
    same = act(tmp_path, verb="rerun", path="a b.mcp.jsonl", target=DEMO)
    assert same.code == 0, same.printed
    assert "add" in (tmp_path / "inspector-report" / "junit.xml").read_text()
    recording = tmp_path / "a b.mcp.jsonl"
    recording.write_text(recording.read_text().replace("sum", "total"))
    other = act(tmp_path, verb="rerun", path="a b.mcp.jsonl", target=DEMO)
    assert other.code == 5, other.printed
    assert "total" in other.summary


def test_saved_calls_are_run_on_the_server_that_they_name_and_on_another(tmp_path: Path) -> None:
    flow = f"inspector: 1\nserver: {DEMO}\nsteps:\n  - call: add\n    args: {{a: 1, b: 2}}\n"
    for name, total in (("right", 3), ("wrong one", 4)):
        (tmp_path / f"{name}.yaml").write_text(flow + f"    expect: {{result: {{$.structuredContent.sum: {total}}}}}\n")
    assert act(tmp_path, verb="run", path="right.yaml").code == 0
    assert act(tmp_path, verb="run", path="right.yaml", target=DEMO, args="--set x=1 --bail").code == 0
    both = act(tmp_path, verb="run", path="right.yaml\nwrong one.yaml\n", artifact="mcp")
    assert (both.code, both.outputs["exit-code"]) == (5, "5")
    assert "wrong one" in both.summary
    assert "right" in (tmp_path / "inspector-report" / "junit.xml").read_text()
    assert both.commands[-1].startswith("actions/upload-artifact@v4")


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"verb": "check; touch pwned", "target": "x"}, "It is check, run or rerun."),
        ({"verb": "check\n::warning::x", "target": "x"}, '::error::The input "verb" is "check%0A::warning::x".'),
        ({"verb": "check"}, 'The input "target" is missing.'),
        ({"verb": "rerun", "target": "x"}, 'The input "path" is the one recording'),
        ({"target": "python 'x"}, 'The input "target" is not a list of words: No closing quotation.'),
        ({"target": "x", "inherit_env": "perhaps"}, 'The input "inherit-env" is true or false.'),
        ({"target": "x", "env": "NOT_THERE_1"}, "NOT_THERE_1 is not set in this shell"),
        ({"target": "x", "report": "a\nexit-code=0"}, 'The input "report" is one folder.'),
    ],
)
def test_inputs_that_cannot_be_used_are_refused(tmp_path: Path, inputs: dict[str, str], message: str) -> None:
    ran = act(tmp_path, **inputs)
    assert ran.code == 2
    assert message in ran.printed


def test_nothing_in_an_input_is_run_by_a_shell(tmp_path: Path) -> None:
    attack = "$(touch pwned) `touch pwned` ; touch pwned && touch pwned | touch pwned\ntouch pwned"
    ran = act(tmp_path, target=f"{sys.executable} -c pass {attack}", args="--max-time 3", report="$(touch pwned)")
    assert ran.code != 0
    assert not list(tmp_path.rglob("pwned"))
    assert (tmp_path / "$(touch pwned)").is_dir()

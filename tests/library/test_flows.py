"""`inspector.run_flow`, and the flows that pytest collects."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import inspector
from tests.processes import environment
from tests.pytest_runs import pytest_here
from tests.test_docs import ROOT, blocks

pytestmark = pytest.mark.slow

DEMO = [sys.executable, "-m", "inspector.demo"]
GOOD = """inspector: 1
name: Weather
vars: {city: Lima}
steps:
  - call: weather
    args: {city: "{{city}}"}
    capture: {found: $.structuredContent.city}
    expect: {result: {$.structuredContent.city: Lima}}
"""


@pytest.fixture
def flow(tmp_path: Path) -> Path:
    path = tmp_path / "calls" / "weather.yaml"
    path.parent.mkdir()
    path.write_text(GOOD)
    return path


async def test_a_flow_is_run_and_nothing_is_raised(flow: Path) -> None:
    result = await inspector.run_flow(flow, DEMO)
    assert (result.outcome, result.failure, result.recording) == ("passed", "", None)
    assert result.steps[0].captured == {"found": "Lima"}
    failed = await inspector.run_flow(flow, DEMO, set={"city": "Kyoto"}, record=flow.parent / "kept", era="legacy")
    assert failed.outcome == "failed"
    assert 'expected   "Lima"\n    found      "Kyoto"' in failed.failure
    assert failed.recording is not None
    assert failed.recording.is_file()
    file = flow.parent / "one.mcp.jsonl"
    assert (await inspector.run_flow(flow, DEMO, dry_run=True, record=file)).recording == file
    with pytest.raises(inspector.UsageError, match="already exists"):
        await inspector.run_flow(flow, DEMO, dry_run=True, record=file)


async def test_what_is_wrong_with_the_files_is_raised(flow: Path) -> None:
    with pytest.raises(inspector.UsageError, match="The saved call does not name a server"):
        await inspector.run_flow(flow)
    with pytest.raises(inspector.UsageError, match="is a folder"):
        await inspector.run_flow(flow.parent, DEMO)
    with pytest.raises(inspector.UsageError, match="The environment “x” does not exist"):
        await inspector.run_flow(flow, DEMO, environment="x")
    result = await inspector.run_flow(flow, ["/nothing/there"])
    assert (result.outcome, result.exit_code) == ("failed", 4)
    assert "was not found" in result.failure


async def test_an_environment_of_a_cloned_folder_needs_trust(
    flow: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[..., tuple[int, str]]
) -> None:
    monkeypatch.setenv("SHOP_CITY", "Oslo-by-secret")
    (flow.parents[1] / ".git").mkdir()
    (flow.parent / "env").mkdir()
    (flow.parent / "env" / "ci.yaml").write_text("city: env:SHOP_CITY\n")
    with pytest.raises(inspector.TrustNeeded, match=r"Environment ci in .* was not opened") as caught:
        await inspector.run_flow(flow, DEMO, environment="ci")
    assert "add trust=True" in caught.value.hint
    result = await inspector.run_flow(flow, DEMO, environment="ci", trust=True)
    assert result.outcome == "failed"
    assert "by-secret" not in result.failure
    assert "city=***" in result.failure
    # pytest runs the code of the folder anyway.
    _, output = run("--inspector-calls", "calls", "--inspector-environment", "ci")
    assert "was not opened" not in output
    assert "city=***" in output


def test_the_example_of_the_page_runs(flow: Path) -> None:
    page = ROOT / "docs" / "reference" / "calls.md"
    flow.write_text(next(iter(blocks(page, "yaml"))))
    script = next(block for block in blocks(page, "python") if "run_flow" in block)
    home = flow.parent.parent
    (home / "script.py").write_text(script)
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    subprocess.run([sys.executable, "script.py"], cwd=home, check=True, env=environment(home, PATH=path), timeout=60)


def configured(folder: Path) -> Path:
    """The folder, in which pytest uses the demo server."""
    (folder / "pytest.ini").write_text(
        f"[pytest]\nasyncio_default_fixture_loop_scope = function\nmcp_target = {sys.executable} -m inspector.demo\n"
    )
    return folder


def pytest_process(folder: Path, *words: str) -> tuple[int, str]:
    """Run pytest as its user does, with the plugins of all packages: the exit code, and stdout."""
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *words],
        cwd=folder, env=environment(folder), capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    return ran.returncode, ran.stdout


@pytest.fixture
def run(flow: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Runs pytest in this process: the exit code, and the output."""
    folder = configured(flow.parent.parent)
    plugins = ("-q", "-p", "no:cacheprovider", "-p", "inspector.pytest_plugin", "-p", "pytest_asyncio.plugin")
    return lambda *words: pytest_here(folder, [*plugins, *words], environment(folder), capfd)


def test_pytest_collects_flows(flow: Path, run: Callable[..., tuple[int, str]]) -> None:
    home = flow.parent.parent
    (flow.parent / "bad.yaml").write_text(
        GOOD.replace("Weather", "Bad").replace("city: Lima}\nsteps", "city: Kyoto}\nsteps")
    )
    (flow.parent / "other.yaml").write_text("a: 1\n")
    (home / "test_one.py").write_text("def test_one(): pass\n")
    code, output = pytest_process(home, "--inspector-calls", "calls", "-vv")
    assert code == 1
    assert re.search(r"calls/weather.yaml(::Weather)? .*PASSED", output)
    assert re.search(r"calls/bad.yaml(::Bad)? .*FAILED", output)
    assert 'found      "Kyoto"' in output
    assert "Traceback" not in output
    assert "1 failed, 2 passed" in output
    assert "1 passed" in run()[1]
    (flow.parent / "bad.yaml").write_text("inspector: 1\nstepz: []\n")
    _, output = run("--inspector-calls", "calls/bad.yaml", "test_one.py")
    assert "bad.yaml:2:1: Unknown key “stepz”. Did you mean “steps”?" in output
    assert run("--inspector-calls", "nothing")[0] == 4


def test_the_fixture_runs_a_flow(flow: Path, run: Callable[..., tuple[int, str]]) -> None:
    home = flow.parent.parent
    page = next(
        block for block in blocks(ROOT / "docs" / "reference" / "calls.md", "python") if "inspector_flow" in block
    )
    flow.write_text(GOOD.replace("Lima}}", "'{{city}}'}}"))
    (home / "test_page.py").write_text(
        page + "\n\ndef test_fails(inspector_flow):\n    inspector_flow('calls/weather.yaml', set={'city': 'Rome'})\n"
    )
    _, output = run("test_page.py")
    assert "1 failed, 1 passed" in output
    assert "FlowFailed" in output

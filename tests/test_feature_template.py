"""The template of a feature in docs/examples/feature, installed as its wheel would be: used, and broken on purpose.

`tests/wheel/run` builds the wheel itself and installs it beside ours in an empty environment.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.processes import ROOT, environment
from tests.tui.terminal import Terminal

pytestmark = pytest.mark.slow

TEMPLATE = ROOT / "docs/examples/feature"
PACKAGE = "inspector_lengths"
DEMO = ("--", sys.executable, "-m", "inspector.demo")
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder of the import path with the package and its entry points."""
    site = tmp_path / "site"
    shutil.copytree(TEMPLATE / PACKAGE, site / PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))
    project = tomllib.loads((TEMPLATE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    entries = project["entry-points"]["inspector.features"]
    info = site / f"{PACKAGE}-{project['version']}.dist-info"
    info.mkdir()
    lines = "".join(f"{name} = {place}\n" for name, place in entries.items())
    (info / "entry_points.txt").write_text(f"[inspector.features]\n{lines}")
    return site


@pytest.fixture
def run(tmp_path: Path, site: Path) -> Run:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        env = environment(tmp_path, PYTHONPATH=f"{site}:{ROOT}")
        command = [sys.executable, "-m", "inspector", *words]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=env, timeout=120)

    return run


@pytest.fixture
def screen(tmp_path: Path, site: Path) -> Callable[[], Terminal]:
    return lambda: Terminal(tmp_path, list(DEMO), PYTHONPATH=f"{site}:{ROOT}")


def test_its_verb_check_and_name_are_there(run: Run) -> None:
    assert "lengths" in run("--help").stdout
    assert "inspector lengths -- python shop.py" in run("lengths", "--help").stdout
    assert json.loads(run("lengths", "--json", "--no-record", *DEMO).stdout)["echo"] == 20
    assert json.loads(run("settings", "--json").stdout)["features"] == {"lengths": PACKAGE}
    checked = run("check", "--only", "LENGTHS-01", "--revision", "2025-11-25", "--no-record", *DEMO)
    assert "0 failures, 0 warnings, 0 notes, 0 skipped, 1 passed" in checked.stdout


def opens_its_tab(terminal: Terminal) -> None:
    terminal.shows("Demo server", "Lengths", "roll-dice")
    terminal.press("\x10")
    terminal.shows("Palette")
    terminal.press("lengths")
    terminal.shows("Show the lengths of descriptions.")
    terminal.press("\r")


def test_its_tab_is_shown(screen: Callable[[], Terminal]) -> None:
    with screen() as terminal:
        opens_its_tab(terminal)
        terminal.shows("20  echo", "Lengths 62")
        terminal.press("q")
        assert terminal.ends() == 0


BROKEN = [
    ("__init__.py", "raise RuntimeError('no luck')", ("--help",), 0, "RuntimeError: no luck"),
    ("__init__.py", "raise SystemExit(3)", ("--help",), 0, "SystemExit: 3"),
    ("__init__.py", "FEATURE = 3", ("--help",), 0, "inspector_lengths:FEATURE is not a Feature"),
    ("verb.py", "import missing_library", ("lengths", *DEMO), 2, "No module named 'missing_library'"),
    ("checks.toml", "group =", ("check", "--plan", *DEMO), 0, "TOMLDecodeError"),
    ("checks.py", "CHECKS = {}", ("check", "--plan", *DEMO), 0, "checks:CHECKS is not of the type CheckTable"),
]


@pytest.mark.parametrize(("file", "text", "words", "code", "says"), BROKEN)
def test_broken_it_is_one_sentence(
    file: str, text: str, words: tuple[str, ...], code: int, says: str, site: Path, run: Run
) -> None:
    (site / PACKAGE / file).write_text(text)
    ran = run(*words)
    assert ran.returncode == code
    assert ran.stderr.count(says) == 1
    assert len(re.findall("Feature inspector_lengths", ran.stderr)) == 1
    assert "Traceback" not in ran.stderr
    assert (code != 0) or ran.stdout
    tools = run("tools", "--json", "--no-record", *DEMO)
    assert (tools.returncode, len(json.loads(tools.stdout)["tools"]) > 10) == (0, True)


def test_a_check_and_a_rule_that_raise_leave_the_other_checks(site: Path, run: Run) -> None:
    (site / PACKAGE / "__init__.py").write_text(
        "from inspector.feature import Feature\n"
        "FEATURE = Feature('lengths', checks='checks:CHECKS', judge='checks:RULES')"
    )
    (site / PACKAGE / "checks.py").write_text(
        "from pathlib import Path\n"
        "from inspector.check.check_table import CheckTable\n"
        "from inspector.check.judge.feature_rules import FeatureRules\n"
        "CHECKS = CheckTable(Path(__file__).with_suffix('.toml'))\n"
        "@CHECKS.active('LENGTHS-01')\n"
        "async def long_enough(visit): raise RuntimeError('bad check')\n"
        "def rule(message): raise RuntimeError('bad rule')\n"
        "async def warm_up(visit): raise RuntimeError('bad request')\n"
        "RULES = FeatureRules(message=rule, warm_up=warm_up)\n"
    )
    options = ("--only", "LENGTHS-01,LIFE-01", "--revision", "2025-11-25", "--no-record")
    checked = run("check", *options, *DEMO)
    assert "1 skipped, 1 passed" in checked.stdout
    for problem in ("bad check", "bad rule", "bad request"):
        assert checked.stderr.count(f"note: Feature {PACKAGE} failed: RuntimeError: {problem}") == 1
    assert "Traceback" not in checked.stderr


TAB_FAILS = [
    ("raise RuntimeError('no luck')", ""),
    ("return len(self.rows)", "raise RuntimeError('no luck')"),
    ("self.session = session", "raise RuntimeError('no luck')"),
    ("self.state = state", "raise RuntimeError('no luck')"),
    ("self._table.update(", "raise RuntimeError('no luck'); ("),
]


@pytest.mark.parametrize(("old", "new"), TAB_FAILS)
def test_a_tab_that_raises_leaves_the_interface(old: str, new: str, site: Path, screen: Callable[[], Terminal]) -> None:
    pane = site / PACKAGE / "pane.py"
    pane.write_text(pane.read_text().replace(old, new) if new else old)
    with screen() as terminal:
        opens_its_tab(terminal)
        terminal.shows("RuntimeError: no luck", "Lengths")
        terminal.press("1")
        terminal.shows("roll-dice")
        terminal.press("q")
        assert terminal.ends() == 0


def test_a_broken_table_of_keys_leaves_the_interface(site: Path, screen: Callable[[], Terminal]) -> None:
    (site / PACKAGE / "keys.py").write_text("KEYS = None")
    with screen() as terminal:
        terminal.shows("Demo server", "roll-dice", "keys:KEYS is not of the type Keys")
        terminal.press("q")
        assert terminal.ends() == 0


def test_the_page_shows_the_files_of_the_template() -> None:
    page = (ROOT / "docs/how-to/extend.md").read_text(encoding="utf-8")
    for name in ("__init__.py", "verb.py", "checks.py", "checks.toml", "keys.py", "pane.py", "lengths.py"):
        text = (TEMPLATE / PACKAGE / name).read_text(encoding="utf-8").strip()
        assert name == "pane.py" or text in page, f"{name} differs from docs/how-to/extend.md"
        assert f"(../examples/feature/{PACKAGE}/{name})" in page

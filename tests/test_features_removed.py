"""The program without one of its features: the folder and its line in the list are removed, in a copy."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from inspector.check.registry import checks
from inspector.cli.verb import load
from inspector.feature import OURS, Feature, our_features
from inspector.tui import feature_verbs
from tests.processes import ROOT

pytestmark = pytest.mark.slow

QUICK = (
    "tests/cli/test_parser.py", "tests/cli/test_completion.py", "tests/tui/test_keymap.py", "tests/tui/model",
    "tests/check/test_check_table.py", "tests/demo/test_demo_modern.py",
    "tests/doctor/test_urls.py::test_nothing_at_all_at_the_path",
)  # fmt: skip
"""Tests of the rest, of each layer that features extend."""

_REPORT = """
import asyncio, inspector, json
from pathlib import Path
from inspector.check.registry import checks
from inspector.cli.verb import load
from inspector.client.options import Options
from inspector.config.settings import Settings
from inspector.config.targets import RecordingTarget
from inspector.tui.app import InspectorApp
from inspector.tui.model.tabs import TABS
from inspector.tui.palette import Palette
from inspector.tui.verbs import CONTEXTS, VERBS

assert all(getattr(inspector, name) is not None for name in inspector.__all__)

async def palette():
    app = InspectorApp(RecordingTarget(Path({recording!r})), Options(), Settings(), keep=False)
    async with app.run_test(size=(160, 45)) as pilot:
        while not app.screen.query("#catalog, #messages"):
            await pilot.pause(0.01)
        await pilot.press("ctrl+p")
        while not isinstance(app.screen, Palette):
            await pilot.pause(0.01)
        return [entry.about for entry in app.screen._rows.entries]

async def start():
    app = InspectorApp(None, Options(), Settings(registry="x"), keep=False)
    async with app.run_test(size=(160, 45)):
        return [hint.verb for hint in app.screen.hints()]

print(json.dumps({{
    "flags": {{name: [flag for option in load(name).options for flag in option.flags] for name in {extended!r}}},
    "start": asyncio.run(start()),
    "checks": list(checks()), "tabs": [tab.id for tab in TABS], "contexts": list(CONTEXTS),
    "verbs": [verb.id for verb in VERBS], "palette": asyncio.run(palette()),
}}))
"""


def without(feature: Feature, folder: Path) -> None:
    """Copy the project without a feature, with links."""
    for name in ("docs", "pyproject.toml", "themes", "recordings"):
        (folder / name).symlink_to(ROOT / name)
    skip = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "inspector", folder / "inspector", copy_function=os.link, ignore=skip)
    shutil.rmtree(folder / "inspector" / "features" / feature.name)
    (folder / "tests" / "features").mkdir(parents=True)
    for path in (ROOT / "tests").iterdir():
        if path.name not in ("features", "__pycache__"):
            (folder / "tests" / path.name).symlink_to(path)
    for path in (ROOT / "tests" / "features").iterdir():
        if path.name not in (feature.name, "__pycache__"):
            (folder / "tests" / "features" / path.name).symlink_to(path)
    listed = folder / "inspector" / "feature.py"
    source = listed.read_text(encoding="utf-8")
    listed.unlink()  # The link to the file of the project.
    rest = tuple(name for name in OURS if name != feature.name)
    listed.write_text(re.sub(r"(?m)^OURS = .*$", f"OURS = {rest!r}", source), encoding="utf-8")


@pytest.mark.parametrize("feature", our_features(), ids=lambda feature: feature.name)
def test_the_program_works_without_a_feature_and_has_no_trace_of_it(feature: Feature, tmp_path: Path) -> None:
    import json

    without(feature, tmp_path)
    home = tmp_path / "home"
    home.mkdir()
    environment = os.environ | {
        "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1",
        "INSPECTOR_STATE_HOME": str(home), "INSPECTOR_CONFIG_HOME": str(home),
    }  # fmt: skip

    def python(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]
        return done.stdout

    text = python("-m", "inspector", "--help-all")
    assert str(tmp_path) in python("-c", "import inspector; print(inspector.__file__)")
    assert not [verb.name for verb in feature.verbs if re.search(rf"(?m)^  {verb.name} ", text)]
    recording = ROOT / "tests" / "formats" / "golden" / "session.mcp.jsonl"
    report = json.loads(python("-c", _REPORT.format(recording=str(recording), extended=list(feature.options))))
    keys = dict((item.name, of_feature) for item, of_feature in feature_verbs.all_keys()).get(feature.name)
    if keys is not None:
        assert not {tab.id for tab in keys.tabs} & set(report["tabs"])
        assert not {context.name for context in keys.contexts} & set(report["contexts"])
        assert not {verb.id for verb in keys.verbs} & {*report["verbs"], *report["start"]}
        assert not {verb.description for verb in keys.verbs} & set(report["palette"])
    for name, place in feature.options.items():
        flags = {flag for option in feature.load(place).options for flag in option.flags}
        assert flags <= {flag for option in load(name).options for flag in option.flags}
        assert not flags & set(report["flags"][name])
    table = feature.load(feature.checks).rows if feature.checks else {}
    assert set(report["checks"]) == checks().keys() - table.keys()
    python("-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "-m", "not slow", *QUICK)

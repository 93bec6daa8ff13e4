"""Modules that must not be imported by the help, by a result without the interface, and by the engine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from inspector.feature import OURS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
SERVER = ROOT / "tests" / "cli" / "scripted_server.py"
HEAVY = (
    "textual", "rich", "httpx", "httpcore", "h11", "anyio", "keyring", "pydantic", "pydantic_core", "yaml",
    "jsonschema_rs", "typing_extensions", "idna", "aiohttp", "textual_serve",
)  # fmt: skip

LISTEN = ("listen", "--for", "0.01")

_PRELUDE = """
import sys, os
def loaded(code=0):
    sys.stderr.write("LOADED " + " ".join(sorted(name for name in sys.modules if "." not in name)))
    sys.stderr.flush()
os._exit, leave = lambda code: loaded(), os._exit
"""


def loaded_by(code: str, tmp_path: Path) -> set[str]:
    """The top level modules that a fresh interpreter has loaded after running `code`."""
    environment = os.environ | {
        "PYTHONPATH": str(ROOT), "INSPECTOR_STATE_HOME": str(tmp_path), "INSPECTOR_CONFIG_HOME": str(tmp_path),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", f"{_PRELUDE}\n{code}\n"], capture_output=True, text=True, timeout=60, env=environment
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.rpartition("LOADED ")[2].split())


def command(*words: str) -> str:
    return f"import sys; sys.argv = {['inspector', *words]!r}\nfrom inspector.cli.main import main; main()"


def headless(tmp_path: Path, *words: str) -> str:
    script = tmp_path / "script.json"
    script.write_text('{"tools/list": [{"result": {"tools": [{"name": "t"}]}}]}')
    return command(*words, "--", sys.executable, "-S", str(SERVER), str(script))


@pytest.mark.parametrize("module", ["inspector.client.session", "inspector.journal.journal", "inspector.cli.main"])
def test_the_engine_alone_loads_nothing_heavy(module: str, tmp_path: Path) -> None:
    assert not loaded_by(f"import {module}; loaded()", tmp_path) & {*HEAVY, "click"}


def test_the_help_loads_nothing_heavy(tmp_path: Path) -> None:
    loaded = loaded_by(command("--help"), tmp_path)
    assert "click" in loaded
    assert not loaded & {*HEAVY, "asyncio"}


@pytest.mark.parametrize("words", [("tools",), ("tools", "--json"), ("info",), ("request", "ping", "--quiet"), LISTEN])
def test_a_result_without_an_interface_loads_nothing_heavy(words: tuple[str, ...], tmp_path: Path) -> None:
    loaded = loaded_by(headless(tmp_path, *words), tmp_path)
    assert "asyncio" in loaded
    assert not loaded & {*HEAVY, "click", "platformdirs"}


@pytest.mark.parametrize("verb", ["servers", "settings"])
def test_the_config_files_are_read_and_described_without_pydantic(verb: str, tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text('{"timeout": 5}')
    (tmp_path / "inspector.json").write_text('{"servers": {"a": {"command": "x"}}}')
    for words in ((verb,), (verb, "--json"), (verb, "--schema")):
        assert not loaded_by(command(*words), tmp_path) & {*HEAVY, "click"}


@pytest.mark.parametrize("module", ["inspector.library.opening", "inspector.pytest_plugin", "inspector.config.servers"])
def test_programs_and_tests_load_no_models(module: str, tmp_path: Path) -> None:
    assert "pydantic" not in loaded_by(f"import inspector, {module}; loaded()", tmp_path)


def test_json_loads_nothing_that_draws(tmp_path: Path) -> None:
    code = headless(tmp_path, "tools", "--json") + "\nsys.stderr.write(' '.join(sys.modules))"
    environment = os.environ | {"PYTHONPATH": str(ROOT), "INSPECTOR_STATE_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", f"{_PRELUDE}\n{code}"], capture_output=True, text=True, timeout=60, env=environment
    )
    assert "inspector.cli.parser" in done.stderr
    assert "inspector.cli.item_text" not in done.stderr
    assert "inspector.protocol.views" not in done.stderr


def test_a_command_loads_nothing_of_logins_and_timelines(tmp_path: Path) -> None:
    code = headless(tmp_path, "tools") + "\nsys.stderr.write(' '.join(sys.modules))"
    environment = os.environ | {"PYTHONPATH": str(ROOT), "INSPECTOR_STATE_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", f"{_PRELUDE}\n{code}"], capture_output=True, text=True, timeout=60, env=environment
    )
    assert "inspector.client.session" in done.stderr
    assert "inspector.auth" not in done.stderr
    assert "joserfc" not in done.stderr
    assert "inspector.journal.lanes" not in done.stderr


def modules_of(code: str, tmp_path: Path) -> set[str]:
    """The modules of features that a fresh interpreter has loaded after running `code`."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "INSPECTOR_STATE_HOME": str(tmp_path)}
    code = f"{_PRELUDE}\n{code}\nsys.stderr.write(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env=environment)
    assert "inspector.feature" in done.stderr
    return {name for name in done.stderr.split() if name.startswith("inspector.features")}


def test_the_list_of_features_imports_only_their_rows(tmp_path: Path) -> None:
    loaded = modules_of("import inspector.feature; inspector.feature.features()", tmp_path)
    assert loaded == {"inspector.features", *(f"inspector.features.{name}" for name in OURS)}


def test_a_verb_of_the_core_loads_no_feature(tmp_path: Path) -> None:
    assert modules_of(headless(tmp_path, "tools"), tmp_path) == set()


def test_the_help_loads_no_module_of_a_feature(tmp_path: Path) -> None:
    assert all(name.count(".") < 3 for name in modules_of(command("--help"), tmp_path))


_SHOWN = """
import asyncio, sys
from pathlib import Path
from inspector.client.options import Options
from inspector.config.settings import Settings
from inspector.config.targets import RecordingTarget
from inspector.tui.app import InspectorApp

async def show(path):
    app = InspectorApp(RecordingTarget(Path(path)), Options(), Settings(), keep=False)
    async with app.run_test(size=(160, 45)) as pilot:
        while not app.screen.query("#catalog, #messages"):
            await pilot.pause(0.01)
        await pilot.pause()
        sys.stdout.write(" ".join(name for name in sys.modules if name.startswith("inspector.")))

asyncio.run(show(sys.argv[1]))
"""


def test_a_recording_loads_neither_what_is_not_shown_nor_what_connects(tmp_path: Path) -> None:
    environment = os.environ | {
        "PYTHONPATH": str(ROOT), "INSPECTOR_STATE_HOME": str(tmp_path), "INSPECTOR_CONFIG_HOME": str(tmp_path),
    }  # fmt: skip
    recording = ROOT / "tests" / "formats" / "golden" / "session.mcp.jsonl"
    done = subprocess.run(
        [sys.executable, "-c", _SHOWN, str(recording)], capture_output=True, text=True, timeout=120, env=environment
    )
    assert done.returncode == 0, done.stderr
    hidden = ("ask.inbox", "check.pane", "server.failed", "server.pane", "work.tasks", "work.task", "log.compose",
              "login.screen", "diff.screen", "replay.serve", "start.screen", "help", "calls.pane", "calls.part",
              "calls.saved_calls")  # fmt: skip
    loaded = set(done.stdout.split())
    assert "inspector.tui.work.pane" in loaded
    assert not loaded & {
        *(f"inspector.tui.{name}" for name in hidden),
        "inspector.check.run",
        "inspector.doctor",
        "inspector.calls",
        "inspector.formats.recording_builder",
        "inspector.client.session",
        "inspector.transports.http_client",
    }


_COMPILED = """
import re, sys
compiled, made = re.compile, []
def compile(pattern, flags=0):
    caller = sys._getframe(1)
    if "inspector" in caller.f_globals["__name__"] and caller.f_code.co_name == "<module>":
        made.append(f"{caller.f_globals['__name__']}:{caller.f_lineno}")
    return compiled(pattern, flags)
re.compile = compile
"""


@pytest.mark.parametrize(
    "module", ["inspector.cli.session_setup", "inspector.cli.headless", "inspector.tui.main.screen"]
)
def test_a_start_compiles_no_pattern_that_it_may_not_use(module: str) -> None:
    """Such modules use `lazy_pattern`."""
    code = f"{_COMPILED}\nimport {module}\nprint(*made)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, [], "")

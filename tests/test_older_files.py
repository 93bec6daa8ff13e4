"""Files that Inspector 0.1 wrote are read: recordings, saved calls, settings, and what it kept about servers.

`tests/data/version_0.1` was made by that version; the names of folders, programs and variables were replaced.
"""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import pytest

from inspector.auth.store import Store
from inspector.calls.collection import read_flow
from inspector.client.engine.era_memory import Verdicts
from inspector.client.pins import Pins
from inspector.config.server_memory import ServerMemory
from inspector.config.settings import load_settings
from inspector.config.targets import RecordingTarget, StdioTarget, demo_target
from inspector.formats import WRITABLE, export
from inspector.journal.journal import Journal
from inspector.tui.calls.drafts import names_server
from inspector.tui.keymap import REMOVED, Keymap
from inspector.tui.verbs import BY_ID
from tests.tui.live_app import running, shows

OLD = Path(__file__).parent / "data" / "version_0.1"
RECORDINGS = ("plain", "crash", "login")


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A copy of the state folder, which its readers may lock."""
    return Path(shutil.copytree(OLD / "state", tmp_path / "state"))


@pytest.mark.parametrize("name", RECORDINGS)
@pytest.mark.parametrize("format", WRITABLE)
def test_a_recording_is_read_and_exported(name: str, format: str) -> None:
    journal = Journal.open(OLD / f"{name}.mcp.jsonl")
    while journal.refresh():
        pass
    assert journal.header["tool"] == "inspector/0.1.0"
    assert not journal.notices
    assert not journal.dropped[0]
    out = io.StringIO()
    export(journal, format, out)
    assert out.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "text"), [("plain", "echo"), ("crash", "crash"), ("login", "ping")])
async def test_a_recording_is_replayed(name: str, text: str) -> None:
    async with running(RecordingTarget(OLD / f"{name}.mcp.jsonl"), until=text) as (app, pilot):
        await shows(app, pilot, "read-only")


def test_a_saved_call_is_read() -> None:
    flow = read_flow(OLD / "calls" / "echo.yaml")
    assert flow.model.server == "python3 server.py"
    assert flow.raw_step(1) == {"call": "echo", "args": {"message": "hi"}}


def test_a_saved_call_of_the_demo_still_belongs_to_the_demo() -> None:
    server = read_flow(OLD / "calls" / "demo.yaml").model.server
    assert names_server(server, demo_target())
    assert not names_server(server, StdioTarget(("python3", "server.py")))
    assert not names_server("python3 -m weather", demo_target())


def test_settings_are_read_and_a_removed_key_is_explained() -> None:
    text = json.loads((OLD / "settings.json").read_text())
    settings = load_settings(OLD / "settings.json", {})
    assert {name: getattr(settings, name) for name in ("theme", "timeout", "client", "log_level")} == {
        name: text[name] for name in ("theme", "timeout", "client", "log_level")
    }
    assert not REMOVED.keys() & BY_ID.keys()
    assert {now for now in REMOVED.values() if now} <= BY_ID.keys()
    keymap = Keymap(settings.keymap)
    assert text["keymap"].keys() == REMOVED.keys() | keymap.overrides.keys()
    problems = [f"{problem.message}. {problem.hint}" for problem in keymap.problems if "was removed" in problem.message]
    assert len(problems) == len(REMOVED)
    assert "The verb `form.older-call` in the keymap was removed. Use `form.past-calls` instead." in problems


def test_what_was_kept_about_servers_is_read(state: Path) -> None:
    small = StdioTarget(("python3", "server.py"))
    pin = Pins(state / "pins").get(small)
    assert pin is not None
    assert [tool["name"] for tool in pin.surface["tools"]] == ["echo", "crash"]

    verdict = Verdicts(state / "verdicts.json", lambda: 1795943115.0).get(small)
    assert verdict is not None
    assert (verdict.era, verdict.revision) == ("legacy", "2025-06-18")

    memory = ServerMemory(demo_target(), state / "memory")
    assert [call.arguments for call in memory.past_calls("echo")] == [{"message": "second"}, {"message": "first"}]
    assert memory.last_open() is not None

    class NoKeyring:
        def get(self, name: str) -> str | None:
            return None

        def set(self, name: str, secret: str) -> None:
            raise AssertionError

        def delete(self, name: str) -> None:
            return None

    grant = Store(state / "logins.json", NoKeyring()).grant("http://127.0.0.1:47812/mcp")
    assert grant is not None
    assert grant.access_token

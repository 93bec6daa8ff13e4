"""A server is started again when one of its files changes: on request, and only then."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from inspector.client.state.steps import connection_steps
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.journal.format import Kind
from inspector.tui.app import InspectorApp
from inspector.tui.server import watches
from tests.tui.live_app import on_recording, running, shows
from tests.tui.small_server import small_server
from tests.tui.tui_screens import press, screen_lines, screen_text

pytestmark = pytest.mark.slow


def source(*tools: str) -> str:
    """A server with these tools."""
    return small_server({"tools/list": repr({"tools": [{"name": name, "inputSchema": {}} for name in tools]})})


class Project:
    """A folder with a server in it."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "server.py"
        self.target = StdioTarget((sys.executable, "server.py"), cwd=str(folder), name="weather")

    def offers(self, *tools: str) -> None:
        self.file.write_text(source(*tools))

    def is_broken(self) -> None:
        self.file.write_text("import no_such_module_of_ours\n")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "weather").mkdir()
    return Project(tmp_path / "weather")


def notes(app: InspectorApp) -> list[str]:
    return [event.fields["text"] for event in app.session.journal.events() if event.kind is Kind.NOTE]


async def test_w_where_it_failed_starts_it_again_once_it_is_fixed(project: Project) -> None:
    project.is_broken()
    async with running(project.target, until="not connected") as (app, pilot):
        await pilot.press("w")
        await pilot.pause(0.4)
        project.offers("hello")
        await shows(app, pilot, "Tools 1")
        assert notes(app) == ["server.py changed: the server is restarted."]
        project.offers("hello", "bye")
        await shows(app, pilot, "Tools 2", "1 change in what the server offers")
        await press(pilot, "6", shows="watching its files")
        await press(pilot, "w", shows="topped watching files")
        assert "watching its files" not in screen_text(app)
        project.offers()
        await pilot.pause(1)
        assert len(notes(app)) == 2


async def test_the_steps_after_a_restart_count_from_the_restart(project: Project) -> None:
    project.offers("hello")
    async with running(project.target, until="Tools 1", watch=True) as (app, pilot):
        await pilot.pause(2.5)
        project.offers("hello", "bye")
        await shows(app, pilot, "Tools 2")
        await press(pilot, "6", shows="handshake")
        steps = connection_steps(app.session.journal)
        index = app.session.journal.index
        assert index.time(index.count) > 2_500_000, "since the beginning"
        assert steps
        assert max(step.t for step in steps) < 2_500_000, "since the restart"
        rows = [line for line in screen_lines(app) if re.search("[✓↻] (start|handshake|ready)", line)]
        assert rows
        assert not any(re.search(r" ([2-9]|\d\d)\.\d s ", line) for line in rows), rows


async def test_a_server_that_changes_its_own_files_is_not_started_for_ever(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watches, "WITHIN", 60.0)
    project.file.write_text(f"import os\nopen('built.js', 'a').write(str(os.getpid()))\n{source()}")
    async with running(project.target, until="● connected", watch=True) as (app, pilot):
        await pilot.pause(0.4)
        (project.file.parent / "built.js").write_text("x")
        await shows(app, pilot, "built.js changes each time the server starts")
        assert len(notes(app)) == watches.MAX_COUNT


async def test_it_is_offered_only_where_we_have_started_the_server(project: Project) -> None:
    async with running(HttpTarget("http://127.0.0.1:9/mcp"), until="not connected") as (app, pilot):
        await shows(app, pilot, "connect again")
        assert "watch files" not in screen_text(app)
    async with on_recording() as (app, pilot):
        await press(pilot, "6", shows="Connection")
        await pilot.press("w")
        assert "watch files" not in screen_text(app)


async def test_too_large_a_folder_is_refused(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(project.file.parent))
    project.offers("hello")
    async with running(project.target, until="too many files to watch", watch=True) as (app, pilot):
        await shows(app, pilot, "Tools 1")

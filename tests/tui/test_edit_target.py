"""Another command instead of one that does not connect."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from inspector.config.targets import HttpTarget, StdioTarget
from inspector.tui.main.screen import MainScreen
from inspector.tui.server.failed import EditTarget
from inspector.tui.widgets.editor import Editor
from tests.tui.live_app import NARROW, ROOT, running, shows
from tests.tui.tui_screens import press, screen_text

MISSPELT = StdioTarget((sys.executable, "-m", "inspector.demmo", "--items", "3"), env={"PYTHONPATH": ROOT}, name="demo")


@pytest.mark.slow
async def test_e_opens_what_is_written_instead(tmp_path: Path) -> None:
    first = tmp_path / "first.mcp.jsonl"
    async with running(MISSPELT, until="not connected", record=first, keep=True, size=NARROW) as (app, pilot):
        await shows(app, pilot, "e edit the command")
        await press(pilot, "e", until=lambda: isinstance(app.screen, EditTarget), what="the dialog")
        editor = app.screen.query_one(Editor)
        editor.value = editor.value.replace("demmo", "demo")
        await press(pilot, "enter", shows="● connected")
        await shows(app, pilot, "Tools ")
        assert isinstance(app.screen, MainScreen)
        assert [type(screen).__name__ for screen in app.screen_stack].count("MainScreen") == 1
        assert app.session.journal.storage.path not in (None, first)
        assert '"event":"exit"' in first.read_text()
        assert first.read_text().splitlines()[-1].count('"end"') == 1, "the first session has ended well"


@pytest.mark.slow
@pytest.mark.parametrize("typed", [False, True])
async def test_a_server_gets_a_variable_without_leaving_the_interface(typed: bool) -> None:
    """Typed on the start list, or before the command of a connected session."""
    command = StdioTarget((sys.executable, "-m", "inspector.demo"), env={"PYTHONPATH": ROOT})
    async with running(command, size=NARROW) as (app, pilot):
        before = app.session
        if typed:
            await press(pilot, "b", shows="a command, a URL")
            line = f"--env COLOUR=blue --env PYTHONPATH={ROOT} {sys.executable} -m inspector.demo"
            await press(pilot, *line, shows="Open as typed")
        else:
            await press(pilot, "6", shows="e edit the command")
            await press(pilot, "e", shows=("--env NAME=VALUE may stand before it.", "PYTHONPATH stays"))
            await press(pilot, "home", *"--env COLOUR=blue ")
        await press(pilot, "enter", until=lambda: app.session is not before and app.session.phase == "ready")
        assert isinstance(app.session.target, StdioTarget)
        assert app.session.target.env == {"COLOUR": "blue", "PYTHONPATH": ROOT}


async def test_what_is_none_is_reported_and_escape_leaves_it() -> None:
    async with running(HttpTarget("http://127.0.0.1:9/mcp"), until="not connected") as (app, pilot):
        await shows(app, pilot, "e edit the URL")
        await press(pilot, "e", "home", "delete", "enter", shows="The text is not an http or https URL")
        await press(pilot, "escape", until=lambda: isinstance(app.screen, MainScreen), what="the screen")
        assert "Connection failed" in screen_text(app)

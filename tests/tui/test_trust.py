"""The interface in a cloned folder: what needs consent, the dialog, and a way on which others can read."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from inspector.config.targets import HttpTarget
from inspector.tui.main.screen import MainScreen
from inspector.tui.start.screen import StartScreen
from inspector.tui.start.trust import AskTrust
from inspector.tui.widgets.editor import Editor
from tests.recording_server import at, noting
from tests.tui.live_app import NARROW, ROOT, becomes, main_screen, running, shows
from tests.tui.tui_screens import assert_in, press, screen_lines, screen_text

pytestmark = pytest.mark.slow

SECRET = "s3cr3t-of-the-user"


@pytest.fixture
def clone(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cloned folder with an entry that uses a variable of the user's."""
    folder = home / "clone"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    env = {"PYTHONPATH": ROOT, "KEY": "${AWS_SECRET_ACCESS_KEY}"}
    entry = {"command": sys.executable, "args": ["-m", "inspector.demo"], "env": env}
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"docs": entry}}))
    return folder


@pytest.mark.parametrize("typed", [False, True])
async def test_an_entry_of_a_cloned_folder_is_opened_after_a_question(clone: Path, typed: bool) -> None:
    async with running(None, size=NARROW, until="@docs") as (app, pilot):
        assert any("@docs" in line and "needs consent" in line for line in screen_lines(app))

        async def choose() -> None:
            if typed:
                app.screen.query_one("#target", Editor).value = "@docs"
                app.screen.query_one("#target").focus()
            else:
                app.screen.query_one(Editor).value = ""
            await press(pilot, "enter", shows="Allow @docs?")

        await choose()
        text = " ".join(screen_text(app).split())
        assert "environment variable AWS_SECRET_ACCESS_KEY in variable KEY" in text
        assert "-minspector.demo" in text.replace("│", "").replace(" ", ""), "whole, on as many lines as it needs"
        assert "allow once" in text
        assert SECRET not in screen_text(app)
        await pilot.press("enter", "y", "space")
        assert isinstance(app.screen, AskTrust), "no key that is pressed in passing allows it"
        await press(pilot, "escape", until=lambda: isinstance(app.screen, StartScreen))
        assert not (clone.parent / "trust.json").exists()
        await choose()
        await press(pilot, "o" if typed else "a", until=lambda: isinstance(app.screen, MainScreen), what="opened")
        assert app.session is not None
    assert (clone.parent / "trust.json").exists() is not typed


async def test_what_was_allowed_for_always_is_not_asked_again(clone: Path) -> None:
    for first in (True, False):
        async with running(None, size=NARROW, until="@docs") as (app, pilot):
            assert ("needs consent" in screen_text(app)) is first
            await pilot.press("enter")
            if first:
                await shows(app, pilot, "Allow @docs?")
                await pilot.press("a")
            await becomes(app, pilot, lambda: isinstance(app.screen, MainScreen), "opened")


async def test_a_connection_without_verification_says_so_all_the_time() -> None:
    with noting(certificate=True) as server:
        target = HttpTarget(at(server, "https"), verify=False, proxy=None, owned=False, source="/clone/inspector.json")
        async with running(target, until="certificate not checked") as (app, pilot):
            main_screen(app)
            await press(pilot, "6", shows="stored login not sent")
            assert_in(screen_text(app), "not verified: others", "127.0.0.1  certificate not checked")
        async with running(target, size=NARROW, until="certificate not checked"):
            pass

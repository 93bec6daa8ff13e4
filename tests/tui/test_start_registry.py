"""Servers of a registry in the start list: searched on demand, described in full, opened after a question."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from inspector.config.settings import Settings
from inspector.config.targets import StdioTarget
from inspector.tui.main.screen import MainScreen
from inspector.tui.start.registry import AskStart, AskValue
from tests.tui.live_app import running, shows
from tests.tui.tui_screens import assert_in, press, screen_text

SERVER = {
    "name": "example.demo/tides", "description": "Tide times \x1b[31m", "version": "1.0.0",
    "packages": [{
        "registryType": "pypi", "identifier": "inspector.demo", "version": "1.0.0", "runtimeHint": sys.executable,
        "transport": {"type": "stdio"},
        "environmentVariables": [{"name": "TIDES_KEY", "isRequired": True, "isSecret": True}, {"name": "MODE", "value": "x"}],
    }],
}  # fmt: skip


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings that name a registry file with one server that the demo stands for."""
    file = tmp_path / "registry.json"
    server = json.loads(json.dumps(SERVER))
    server["packages"][0]["runtimeHint"] = "python3"
    file.write_text(json.dumps({"servers": [{"server": server}]}))
    return Settings(registry=str(file))


@pytest.mark.slow
async def test_a_server_is_found_and_asked_for_and_its_secret_is_hidden(settings: Settings) -> None:
    """C-REG-02, C-REG-05."""
    async with running(None, settings=settings, until="Start") as (app, pilot):
        await press(pilot, *"tide", "f6", shows="example.demo/tides")
        await press(pilot, "enter", until=lambda: isinstance(app.screen, AskStart), what="the question")
        await shows(app, pilot, "runs python3 -m inspector.demo")
        assert_in(screen_text(app), "variable TIDES_KEY", 'variable MODE is "x"')
        await pilot.press("enter", "space")
        assert isinstance(app.screen, AskStart), "no key that is pressed in passing starts it"
        await press(pilot, "y", until=lambda: isinstance(app.screen, AskValue), what="the value")
        await pilot.press(*"s3cret")
        assert "s3cret" not in screen_text(app)
        await press(pilot, "enter", until=lambda: isinstance(app.screen, MainScreen), what="the session")
        target = app.screen.session.target  # type: ignore[attr-defined]
        assert isinstance(target, StdioTarget)
        assert target.env == {"TIDES_KEY": "s3cret", "MODE": "x"}
        assert "s3cret" in target.secrets


async def test_a_refusal_opens_nothing(settings: Settings) -> None:
    async with running(None, settings=settings, until="Start") as (app, pilot):
        await press(pilot, *"tide", "f6", shows="example.demo/tides")
        await press(pilot, "enter", until=lambda: isinstance(app.screen, AskStart), what="the question")
        await press(pilot, "escape", shows="Registry")
        assert not isinstance(app.screen, MainScreen)


async def test_without_a_registry_nothing_is_searched() -> None:
    async with running(None, until="Start") as (_app, pilot):
        await press(pilot, *"tide", "f6", shows="No registry is set.")

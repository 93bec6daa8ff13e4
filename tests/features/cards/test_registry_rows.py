"""Servers of a registry in the start list: found on demand, described in full, opened after a question."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector.config.settings import Settings
from inspector.config.targets import StdioTarget
from inspector.features.cards.registry_rows import AskStart, AskValue
from inspector.tui.main.screen import MainScreen
from tests.tui.live_app import running, shows
from tests.tui.tui_screens import assert_in, press, screen_lines, screen_text

TIDES = {
    "name": "example.demo/tides", "description": "Tide times \x1b[31m", "version": "1.0.0",
    "packages": [{
        "registryType": "pypi", "identifier": "inspector.demo", "version": "1.0.0", "runtimeHint": "python3",
        "transport": {"type": "stdio"},
        "environmentVariables": [{"name": "TIDES_KEY", "isRequired": True, "isSecret": True}, {"name": "MODE", "value": "x"}],
    }],
}  # fmt: skip


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings that name a registry file with one server that the demo stands for."""
    file = tmp_path / "registry.json"
    file.write_text(json.dumps({"servers": [{"server": TIDES}]}))
    return Settings(registry=str(file))


@pytest.mark.slow
async def test_a_server_is_found_and_asked_for_and_its_secret_is_hidden(settings: Settings) -> None:
    """C-REG-02, C-REG-05."""
    async with running(None, settings=settings, until="Start") as (app, pilot):
        await pilot.press(*"tide")
        assert "f6 registry" in screen_lines(app)[-1]
        await press(pilot, "f6", shows="example.demo/tides")
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


async def test_a_refusal_opens_nothing_and_without_a_registry_nothing_is_searched(settings: Settings) -> None:
    async with running(None, settings=settings, until="Start") as (app, pilot):
        await press(pilot, *"tide", "f6", shows="example.demo/tides")
        await press(pilot, "enter", until=lambda: isinstance(app.screen, AskStart), what="the question")
        await press(pilot, "escape", shows="Registry")
        assert not isinstance(app.screen, MainScreen)
    async with running(None, until="Start") as (app, pilot):
        assert "registry" not in screen_lines(app)[-1]
        await press(pilot, *"tide", "f6", shows="No registry is set.")

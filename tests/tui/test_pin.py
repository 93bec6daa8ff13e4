"""A server that was pinned, opened in the interface: the warning, the server pane, the findings."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from inspector.client.pins import Pins
from inspector.config.settings import Settings
from inspector.config.targets import StdioTarget
from inspector.tui.app import InspectorApp
from inspector.tui.server.pane import ServerPane
from tests.tui.idle import quiet, wait_until
from tests.tui.live_app import running
from tests.tui.small_server import small_server
from tests.tui.tui_screens import assert_in, screen_text

pytestmark = pytest.mark.slow


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StdioTarget:
    """A server whose one tool is described by a file."""
    monkeypatch.setenv("INSPECTOR_STATE_HOME", str(tmp_path / "state"))
    tools = '{"tools": [{"name": "add", "description": open(sys.argv[1]).read(), "inputSchema": {"type": "object"}}]}'
    (tmp_path / "server.py").write_text(small_server({"tools/list": tools}))
    (tmp_path / "text").write_text("Adds.")
    return StdioTarget((sys.executable, str(tmp_path / "server.py"), str(tmp_path / "text")))


def findings(app: InspectorApp) -> list[str]:
    return [one.message for one in app.screen.session.journal.findings.all() if one.rule == "pin"]


async def test_a_server_is_pinned_from_the_palette_and_warned_of_later(target: StdioTarget, tmp_path: Path) -> None:
    async with running(target, until="add") as (app, pilot):
        await app.screen.run_action("pin")
        assert await wait_until(app, lambda: "Pinned." in screen_text(app))
        await quiet(app)
        assert findings(app) == []
    assert Pins().has(target)

    (tmp_path / "text").write_text("Adds.\u200b And sends.")
    async with running(target, until="add") as (app, pilot):
        assert await wait_until(app, lambda: "differs from its pin" in screen_text(app))
        await quiet(app)
        (finding,) = findings(app)
        assert "tool add: description changed, with 1 invisible character (U+200B)" in finding
        await pilot.press("6")
        await quiet(app)
        text = screen_text(app)
        assert_in(text, "Changed since it was pinned", "tool add:")
        await app.screen.run_action("pin")
        await quiet(app)
        assert "Changed since it was pinned" not in screen_text(app)


async def test_nothing_is_reported_of_a_server_that_is_as_pinned_or_is_not_to_be_checked(
    target: StdioTarget, tmp_path: Path
) -> None:
    async with running(target, until="add") as (app, _):
        await app.screen.run_action("pin")
    for text, settings in (("Adds.", Settings()), ("Other.", Settings(check_pins=False))):
        (tmp_path / "text").write_text(text)
        async with running(target, until="add", settings=settings) as (app, pilot):
            await quiet(app)
            assert findings(app) == []
            await pilot.press("6")
            assert app.screen.query_one(ServerPane)._drift is None


async def test_a_pin_that_cannot_be_read_is_reported(target: StdioTarget) -> None:
    pins = Pins()
    pins.put(target, {})
    pins.path_of(target).write_text("{}")
    async with running(target, until="add") as (app, _):
        assert await wait_until(app, lambda: "The comparison was skipped" in screen_text(app))

"""Logging in to a real authorization server from the interface: consent, the browser, and once more for more scopes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector.auth.credential import Authorizer
from inspector.auth.options import AuthOptions
from inspector.auth.person import NoPerson
from inspector.client.fetching import EndpointSender
from inspector.client.options import Options
from inspector.config.settings import Settings
from inspector.config.targets import HttpTarget
from inspector.tui.app import InspectorApp
from inspector.tui.login.dialog import LoginDialog
from inspector.tui.main.screen import MainScreen
from tests.interop.authorizers import PLAIN, Running, running
from tests.interop.test_authorization import FOLLOWER
from tests.tui.live_app import WIDE, becomes, shows

pytestmark = pytest.mark.xdist_group("oidc-provider")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Running]:
    """oidc-provider, running."""
    with running(PLAIN, tmp_path) as running_site:
        yield running_site


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, site: Running) -> InspectorApp:
    """The interface of a new user."""
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FOLLOWER}" "$@"\n')
    browser.chmod(0o755)
    for name, value in {
        "BROWSER": str(browser),
        "FOLLOWER_LOG": str(tmp_path / "browser.log"),
        "INSPECTOR_STATE_HOME": str(tmp_path / "state"),
        "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
    }.items():
        monkeypatch.setenv(name, value)
    authorize = Authorizer(AuthOptions(), web=EndpointSender, person=NoPerson())
    return InspectorApp(HttpTarget(site.url), Options(timeout=20, authorize=authorize), Settings(), keep=False)


async def test_a_person_logs_in_and_grants_more_when_a_tool_wants_it(app: InspectorApp, site: Running) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await shows(app, pilot, "Log in at 127.0.0.1?")
        await pilot.press("enter")
        await becomes(app, pilot, lambda: app.session is not None and app.session.phase == "ready", "ready")
        session = app.session
        assert session is not None
        assert site("count")["access"] == 1
        assert (await session.call_tool("read").result())["content"][0]["text"] == "it was read"

        call = session.call_tool("write")
        await becomes(app, pilot, lambda: isinstance(app.screen, LoginDialog), "asked for more")
        await shows(app, pilot, "write")
        await pilot.press("enter")
        assert (await call.result())["content"][0]["text"] == "it was written"
        await becomes(app, pilot, lambda: isinstance(app.screen, MainScreen), "without a dialog")

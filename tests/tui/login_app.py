"""The interface on a server that wants a login, with a browser that follows where it is sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from inspector.auth.credential import Authorizer
from inspector.auth.options import AuthOptions
from inspector.auth.person import NoPerson
from inspector.client.fetching import EndpointSender
from inspector.client.options import Options
from inspector.client.state.login import Authorizations, AuthStep
from inspector.config.settings import Settings
from inspector.config.targets import HttpTarget
from inspector.tui.app import InspectorApp
from inspector.tui.main.screen import MainScreen
from tests.auth.demo_login import browser
from tests.tui.live_app import becomes


def own_state(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """State of its own, no keyring of who runs the tests, and a browser."""
    monkeypatch.setenv("INSPECTOR_STATE_HOME", str(folder))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    monkeypatch.setenv("BROWSER", browser(folder))


def app_on(server: str | None, **options: Any) -> InspectorApp:
    """The app on a server's URL, or on the start list; `options` of `AuthOptions`."""
    authorize = Authorizer(AuthOptions(**options), web=EndpointSender, person=NoPerson())
    target = HttpTarget(server) if server is not None else None
    return InspectorApp(target, Options(timeout=20, authorize=authorize), Settings(), keep=False)


async def connects(app: InspectorApp, pilot: Pilot[Any]) -> None:
    """Wait until the login is done and its dialog is gone."""
    await becomes(app, pilot, lambda: app.session is not None and app.session.phase == "ready", "ready")
    await becomes(app, pilot, lambda: isinstance(app.screen, MainScreen), "without a dialog")


def steps_of(app: InspectorApp) -> list[AuthStep]:
    """The steps of its newest login."""
    assert app.session is not None
    authorizations = Authorizations(app.session.journal)
    authorizations.advance()
    return authorizations.steps()

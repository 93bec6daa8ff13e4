"""The interface on a server that wants a login, with a browser that follows where it is sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.auth.credential import Authorizer
from inspector.auth.options import AuthOptions
from inspector.auth.person import NoPerson
from inspector.client.fetching import Fetching
from inspector.client.options import Options
from inspector.client.state.login import Authorizations, AuthStep
from inspector.config.settings import Settings
from inspector.config.targets import HttpTarget
from inspector.tui.app import InspectorApp
from tests.auth.demo_login import browser


def own_state(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """State of its own, no keyring of who runs the tests, and a browser."""
    monkeypatch.setenv("INSPECTOR_STATE_HOME", str(folder))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    monkeypatch.setenv("BROWSER", browser(folder))


def app_on(server: str, *, opens: bool | None = True) -> InspectorApp:
    """The app on a server's URL; `opens` as `AuthOptions.open_browser`."""
    authorize = Authorizer(AuthOptions(open_browser=opens), web=Fetching, person=NoPerson())
    return InspectorApp(HttpTarget(server), Options(timeout=20, authorize=authorize), Settings(), keep=False)


def steps_of(app: InspectorApp) -> list[AuthStep]:
    """The steps of its newest login."""
    assert app.session is not None
    found = Authorizations(app.session.journal)
    found.advance()
    return found.steps()

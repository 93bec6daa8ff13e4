"""Logging in from the interface: consent, the browser, pasting, ending it, and the view of its steps."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from inspector.auth.credential import Authorizer
from inspector.config.targets import HttpTarget
from inspector.tui.app import InspectorApp
from inspector.tui.login.actions import LoginWork
from inspector.tui.login.dialog import LoginDialog, LoginOptions
from inspector.tui.main.screen import MainScreen
from inspector.tui.start.screen import StartScreen
from inspector.tui.widgets.editor import Editor
from tests.auth.demo_login import protected_server
from tests.cli.test_login import location_of
from tests.tui.live_app import NARROW, WIDE, becomes, shows
from tests.tui.login_app import app_on, connects, own_state, steps_of
from tests.tui.tui_screens import assert_in, press, screen_lines, screen_text

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with protected_server("--items", "30") as url:
        yield url


@pytest.fixture(autouse=True)
def _state_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    own_state(monkeypatch, tmp_path)


def dialog_of(app: InspectorApp) -> LoginDialog:
    assert isinstance(app.screen, LoginDialog)
    return app.screen


async def test_a_login_that_asks_before_its_screen_is_loaded_is_not_hidden_by_it(server: str) -> None:
    target = HttpTarget(server)
    app = app_on(None)
    async with app.run_test(size=WIDE) as pilot:
        await becomes(app, pilot, lambda: isinstance(app.screen, StartScreen), "the start list")
        begun = app.navigator.begin(target)
        events = begun.session.journal.events
        await becomes(app, pilot, lambda: any(event.fields.get("step") == "authorize" for event in events()), "asked")
        await pilot.pause()
        assert isinstance(app.screen, StartScreen), "the screen of the session is not there yet"
        app.navigator.open_target(target, begun=begun)
        await shows(app, pilot, "Log in at 127.0.0.1?")
        await press(pilot, "enter", until=lambda: begun.session.phase == "ready", what="ready")
        await becomes(app, pilot, lambda: isinstance(app.screen, MainScreen), "without a dialog")


async def test_who_does_not_consent_sees_why_it_is_not_connected_and_may_try_again(server: str) -> None:
    app = app_on(server)
    async with app.run_test(size=WIDE) as pilot:
        await shows(app, pilot, "Log in at 127.0.0.1?", "/authorize?response_type=code")
        await press(pilot, "escape", shows="Connection failed")
        await shows(app, pilot, "The login was cancelled.", "starts another login")
        assert isinstance(app.screen, MainScreen)
        assert app.session.phase == "failed"
        await press(pilot, "a", shows="stopped at step 9 of 10")
        assert_in(screen_text(app), "redirect", "log in again")
        await press(pilot, "escape", until=lambda: isinstance(app.screen, MainScreen), what="back")
        await press(pilot, "r", until=lambda: isinstance(app.screen, LoginDialog), what="asked again")
        await pilot.press("enter")
        await connects(app, pilot)  # The browser is opened after consent, and the dialog goes.


async def test_without_a_browser_the_address_is_pasted(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSER", "")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    app = app_on(server)
    async with app.run_test(size=WIDE) as pilot:
        await shows(app, pilot, "Log in at")
        await press(pilot, "enter", shows="paste a URL here")
        match = re.search(r"http://127\S+", dialog_of(app).question.text)
        came = await asyncio.to_thread(location_of, match.group())
        dialog_of(app).query_one(Editor).value = came
        await pilot.press("enter")
        await connects(app, pilot)
        assert "code=" not in screen_text(app)


async def test_who_has_a_browser_elsewhere_copies_the_address_and_pastes_the_answer(server: str) -> None:
    app = app_on(server)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await shows(app, pilot, "Log in at 127.0.0.1?", " min left")
        await press(pilot, "ctrl+l", shows="Copied the address.")
        await press(pilot, "ctrl+w", shows="Waiting for the login")
        assert app.clipboard in dialog_of(app).question.text
        assert "10 min left" in screen_text(app)
        came = await asyncio.to_thread(location_of, app.clipboard)
        dialog_of(app).query_one(Editor).value = came
        await pilot.press("enter")
        await connects(app, pilot)


@pytest.mark.parametrize("size", [WIDE, (80, 24)])
async def test_a_rejected_redirect_stays_in_the_dialog_and_three_wrong_pastes_end_the_login(size: Any) -> None:
    with protected_server("--items", "30", "--auth-fault", "state-wrong") as url:
        app = app_on(url)
        async with app.run_test(size=size) as pilot:
            await shows(app, pilot, "Log in at")
            await press(pilot, "enter", shows="Rejected a redirect with code, state, iss=http://127.0.0.1")
            await shows(app, pilot, "Waiting for the login")
            assert "it has a “state” of another login" in " ".join(screen_text(app).replace("│", " ").split())
            for count in (1, 2):
                await press(pilot, *"no", "enter", shows=f"Rejected the pasted URL (try {count} of 3)")
                assert dialog_of(app).query_one(Editor).value == ""
            await press(pilot, *"no", "enter", shows="3 pasted URLs were rejected")
            assert isinstance(app.screen, MainScreen)


async def test_who_never_returns_is_not_waited_for_for_ever(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    app = app_on(server, login_timeout=3)
    async with app.run_test(size=WIDE) as pilot:
        await shows(app, pilot, "Log in at")
        await shows(app, pilot, "The login was not completed within 3 s")
        assert isinstance(app.screen, MainScreen), "the dialog is gone"
        await press(pilot, "a", shows="stopped at step 9 of 10")
        await shows(app, pilot, "Log in again, or allow more time with")
    monkeypatch.setenv("BROWSER", "true")
    app = app_on(server)
    async with app.run_test(size=WIDE) as pilot:
        await shows(app, pilot, "Log in at")
        await press(pilot, "enter", shows="Waiting for the login")
        await press(pilot, "escape", shows="The login was cancelled.")  # The waiting ends with one key.
        assert isinstance(app.screen, MainScreen)


async def test_a_login_of_a_session_behind_waits_as_a_mark_until_one_goes_there(server: str) -> None:
    app = app_on(server)
    async with app.run_test(size=WIDE) as pilot:
        await shows(app, pilot, "Log in at 127.0.0.1?")
        await pilot.press("enter")
        behind = app.sessions.opened[0]
        await becomes(app, pilot, lambda: behind.session.phase == "ready" and isinstance(app.screen, MainScreen))
        await press(pilot, "b", until=lambda: isinstance(app.screen, StartScreen), what="the start list")
        authorizer = behind.session.options.authorize
        assert isinstance(authorizer, Authorizer)
        assert isinstance(behind.session.target, HttpTarget)
        login = authorizer.login(behind.session.target)
        again = asyncio.create_task(login.run(login.authorization.log_in, behind.session.recorder()))
        await becomes(app, pilot, lambda: any("connected" in line and "login" in line for line in screen_lines(app)))
        assert isinstance(app.screen, StartScreen)
        await press(pilot, "f5", until=lambda: isinstance(app.screen, MainScreen), what="another session")
        await becomes(
            app, pilot, lambda: bool(re.search(r"login in 127\.0\.0\.1:\d+", screen_lines(app)[0])), "the mark"
        )
        assert not any(isinstance(screen, LoginDialog) for screen in app.screen_stack)
        await press(pilot, "f3", until=lambda: isinstance(app.screen, StartScreen), what="the start reload list")
        await press(pilot, "enter", until=lambda: isinstance(app.screen, LoginDialog), what="the dialog")
        assert app.sessions.front is behind
        await shows(app, pilot, "Log in at 127.0.0.1?")
        await pilot.press("enter")
        await again
        await becomes(app, pilot, lambda: app.screen is behind.screen, "without a dialog")
        assert not behind.waits


# The view of a login: a step again, other credentials, the token


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_a_step_is_run_again_and_stands_beside_the_earlier_answer(size: tuple[int, int]) -> None:
    with protected_server("--items", "30", "--auth-fault", "no-pkce") as url:
        app = app_on(url, open_browser=True)
        async with app.run_test(size=size, notifications=True) as pilot:
            await shows(app, pilot, "a login")
            await press(pilot, "a", shows="stopped at step")
            await press(pilot, "r", shows="only by a full login")
            await press(pilot, "home", "down", "down", "down", shows="4 server metadata")
            await press(pilot, "r", shows="again, at ")
            (again,) = steps_of(app)[3].again
            assert again.outcome == "ok"
            assert "stopped at step" in screen_text(app)
            await press(pilot, "r", shows="again, 2 times, at ")


async def test_a_spent_code_is_not_sent_again_the_token_is_renewed_and_shown_by_its_key_alone(server: str) -> None:
    app = app_on(server, open_browser=True)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await connects(app, pilot)
        await press(pilot, "6", shows="a login")
        await press(pilot, "a", shows="10 token")
        await shows(app, pilot, "issued by")
        token = app.screen._work.token
        assert len(token) > 20
        assert token[:30] not in screen_text(app)
        await press(pilot, "T", shows=token[:30])
        await press(pilot, "T", until=lambda: token[:30] not in screen_text(app), what="hidden again")
        await press(pilot, "end", "r", shows="again, at ")
        assert steps_of(app)[-1].again[0].name == "refresh"
        await press(pilot, "up", "r", shows="The browser's redirect is valid once")
        # A tab leads back to the main screen.
        await press(pilot, "4", until=lambda: isinstance(app.screen, MainScreen), what="back")
        assert app.screen.pane_layout.place == "prompts"


async def test_who_logs_in_otherwise_is_asked_with_what_and_a_secret_that_is_typed_is_not_shown() -> None:
    with protected_server("--items", "30", "--auth-fault", "no-registration") as url:
        app = app_on(url)
        async with app.run_test(size=WIDE, notifications=True) as pilot:
            await shows(app, pilot, "Client for this server")
            await press(pilot, "escape", shows="o other login")
            await press(pilot, "r", shows="Client for this server")
            await press(pilot, *"demo-service", "enter", shows="client secret")
            await press(pilot, *"demo-service-secret", shows="*" * len("demo-service-secret"), hides="service-secret")
            await press(pilot, "enter", shows="Log in at 127.0.0.1?")
            await press(pilot, "escape", shows="o other login")
            assert not any("--client-id" in line[:95] for line in screen_lines(app))
            await press(pilot, "o", until=lambda: isinstance(app.screen, LoginOptions), what="asked")
            await pilot.press(*"demo-service", "enter", *"secret-1234")
            assert "secret-1234" not in screen_text(app)
            app.screen.query_one("#login-grant", Editor).value = "nonsense"
            await press(pilot, "ctrl+r", shows="unknown grant")
            app.screen.query_one("#login-grant", Editor).value = ""
            app.screen.query_one("#login-client_secret", Editor).value = "demo-service-secret"
            await press(pilot, "ctrl+r", shows="Log in at 127.0.0.1?")
            await pilot.press("enter")
            await connects(app, pilot)


async def test_a_token_that_is_given_is_sent_unchanged(
    server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = app_on(server, open_browser=True)
    async with first.run_test(size=WIDE) as pilot:
        await connects(first, pilot)
        assert first.session is not None
        token = LoginWork(first.screen, first.session).token
    (tmp_path / "another").mkdir()
    own_state(monkeypatch, tmp_path / "another")
    app = app_on(server, open_browser=None)
    async with app.run_test(size=WIDE) as pilot:
        await shows(app, pilot, "Log in at")
        await press(pilot, "escape", shows="o other login")
        await press(pilot, "o", until=lambda: isinstance(app.screen, LoginOptions), what="asked")
        editor = app.screen.query_one("#login-bearer", Editor)
        editor.value = f"Bearer {token}"
        await press(pilot, "ctrl+r", shows="a token is ASCII without spaces")
        editor.value = token
        assert token[:20] not in screen_text(app)
        await pilot.press("ctrl+r")
        await connects(app, pilot)
        assert token not in app.session.journal.storage.pread(0, app.session.journal.storage.size).decode()

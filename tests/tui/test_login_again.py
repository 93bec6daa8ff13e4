"""The login view: rerun a step, other credentials, the token, tabs, a step that cannot run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector.tui.login.actions import LoginWork
from inspector.tui.login.options import LoginOptions
from inspector.tui.main.screen import MainScreen
from inspector.tui.widgets.editor import Editor
from tests.auth.demo_login import protected_server
from tests.tui.live_app import NARROW, WIDE, shows
from tests.tui.login_app import app_on, connects, own_state, steps_of
from tests.tui.tui_screens import press, screen_lines, screen_text

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _state_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    own_state(monkeypatch, tmp_path)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with protected_server("--items", "30") as url:
        yield url


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


async def test_a_spent_code_is_not_sent_again_but_the_token_is_renewed(server: str) -> None:
    app = app_on(server, open_browser=True)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await connects(app, pilot)
        await press(pilot, "6", shows="a login")
        await press(pilot, "a", shows="10 token")
        await press(pilot, "end", "r", shows="again, at ")
        assert steps_of(app)[-1].again[0].name == "refresh"
        await press(pilot, "up", "r", shows="The browser's redirect is valid once")


async def test_the_token_itself_is_shown_by_its_key_alone(server: str) -> None:
    app = app_on(server, open_browser=True)
    async with app.run_test(size=WIDE) as pilot:
        await connects(app, pilot)
        await press(pilot, "6", shows="a login")
        await press(pilot, "a", shows="issued by")
        screen = app.screen
        token = screen._work.token
        assert len(token) > 20
        assert token[:30] not in screen_text(app)
        await pilot.press("T")
        await shows(app, pilot, token[:30])
        await press(pilot, "T", until=lambda: token[:30] not in screen_text(app), what="hidden again")


async def test_who_logs_in_otherwise_is_asked_with_what_and_goes_on_with_it() -> None:
    with protected_server("--items", "30", "--auth-fault", "no-registration") as url:
        app = app_on(url, open_browser=True)
        async with app.run_test(size=WIDE, notifications=True) as pilot:
            await shows(app, pilot, "Client for this server")
            await press(pilot, "escape", shows="o other login")
            assert not any("--client-id" in line[:95] for line in screen_lines(app))
            await press(pilot, "o", until=lambda: isinstance(app.screen, LoginOptions), what="asked")
            await pilot.press(*"demo-service", "enter", *"secret-1234")
            assert "secret-1234" not in screen_text(app)
            app.screen.query_one("#login-grant", Editor).value = "nonsense"
            await press(pilot, "ctrl+r", shows="unknown grant")
            app.screen.query_one("#login-grant", Editor).value = ""
            app.screen.query_one("#login-client_secret", Editor).value = "demo-service-secret"
            await pilot.press("ctrl+r")
            await connects(app, pilot)


async def test_a_tab_leads_back_to_the_main_screen(server: str) -> None:
    app = app_on(server, open_browser=True)
    async with app.run_test(size=WIDE) as pilot:
        await connects(app, pilot)
        await press(pilot, "6", shows="a login")
        await press(pilot, "a", shows="issued by")
        await press(pilot, "4", until=lambda: isinstance(app.screen, MainScreen), what="back")
        screen = app.screen
        assert screen.pane_layout.place == "prompts"


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

"""Earlier calls in a form: of this session and of others, with date, outcome and duration."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest

from inspector.client.recordings_folder import list_recordings
from inspector.config.paths import state_folder
from inspector.tui.diff.answers import AnswersScreen
from inspector.tui.work import history
from inspector.tui.work.history import EarlierCalls
from tests.tui.live_app import (
    NARROW,
    WIDE,
    back_to_form,
    call,
    demo,
    main_screen,
    on_demo,
    running,
    shows,
    to_tool,
)
from tests.tui.tui_screens import press, screen_lines, screen_text, settle

pytestmark = pytest.mark.slow


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INSPECTOR_STATE_HOME", str(tmp_path / "state"))
    assert state_folder().is_relative_to(tmp_path)
    return tmp_path


async def test_calls_of_an_earlier_session_fill_the_form_and_are_compared(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(demo(), keep=True) as live:
        await call(live, "echo", {"message": "yesterday"})
    assert len(list_recordings()) == 1
    async with running(demo(), keep=True, size=NARROW) as live:
        app, pilot = live
        await call(live, "echo", {"message": "now"})
        await back_to_form(live)
        await press(pilot, "up", shows='{"message": "yesterday"}')
        lines = [line for line in screen_text(app).splitlines() if '{"message"' in line]
        assert '"now"' in lines[0], "the newest first"
        assert "today" in lines[1]
        await press(pilot, "d", "down", "d", until=lambda: isinstance(app.screen, AnswersScreen))
        await shows(app, pilot, '"now" → "yesterday"')
        await press(pilot, "escape", until=lambda: isinstance(app.screen, EarlierCalls))
        await pilot.press("end", "enter")
        form = main_screen(app).panes.work.request.form
        await settle(pilot, lambda: form.value == {"message": "yesterday"})
        assert main_screen(app).panes.work.request.has_focus_within
        # A large recording is not searched, and that is said.
        monkeypatch.setattr(history, "MAX_SIZE", 10)
        await press(pilot, "up", shows="1 large recording not searched")
        assert isinstance(app.screen, EarlierCalls)
        assert [row.arguments for row in app.screen._rows.rows if row.n] == [{"message": "now"}]


async def test_an_earlier_call_is_summarised_as_in_the_log_and_without_its_secrets(state: Path) -> None:
    async with running(demo(), keep=True) as live:
        app, pilot = live
        await call(live, "weather", {"city": "Lima"})
        line = next(line for line in screen_lines(app) if "city Lima, temp" in line)
        words = line.partition("city Lima")[2].partition("…")[0]
        await back_to_form(live)
        await press(pilot, "up", shows="Earlier calls")
        row = next(line for line in screen_lines(app) if '{"city": "Lima"}' in line and "today" in line)
        assert f"city Lima{words}" in row
        assert "hours" not in row
        await press(pilot, "escape", until=lambda: app.screen is main_screen(app))
        await call(live, "echo", {"message": "m", "password": "hunter2"})
        await back_to_form(live)
        await press(pilot, "up", shows='{"message": "m"}')
        assert isinstance(app.screen, EarlierCalls)
        assert not any("password" in row.arguments for row in app.screen._rows.rows)


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_a_call_is_marked_at_once_and_has_seconds_and_the_first_line_of_its_result(
    state: Path, size: tuple[int, int]
) -> None:
    async with running(demo(), size=size, keep=True) as live:
        app, pilot = live
        for message in ("one", "two"):
            await call(live, "echo", {"message": message})
        await back_to_form(live)
        await press(pilot, "up", shows='{"message": "one"}')
        row = next(line for line in screen_lines(app) if '{"message": "one"}' in line)
        assert re.search(r"today \d\d:\d\d:\d\d .*one.*one", row)
        await press(pilot, "d", shows="A is marked")
        assert any("A today" in line for line in screen_lines(app)), "without another key"


async def test_a_tool_without_earlier_calls_says_so(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = history.of_other_sessions

    drawn = threading.Event()

    def late(*given: object) -> object:
        drawn.wait(10)
        return original(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(history, "of_other_sessions", late)
    async with on_demo() as live:
        app, pilot = live
        await to_tool(app, pilot, "echo")
        await press(pilot, "up", shows="Reading recordings")
        drawn.set()
        await shows(app, pilot, "It was not called before.")
        await press(pilot, "escape", until=lambda: not isinstance(app.screen, EarlierCalls))

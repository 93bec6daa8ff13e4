"""Several sessions in one window: the start list over them, going back, questions behind, closing and leaving."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from inspector.client.session import Session
from inspector.journal.journal import whole_journal
from inspector.tui.app import InspectorApp
from inspector.tui.main.screen import MainScreen
from inspector.tui.start.screen import StartScreen
from inspector.tui.verbs import BY_ID
from inspector.tui.widgets.editor import Editor
from tests.tui.live_app import MEDIUM, NARROW, ROOT, becomes, demo, on_recording, running, shows
from tests.tui.terminal import Terminal, recordings
from tests.tui.tui_screens import press, screen_lines, screen_text

pytestmark = pytest.mark.slow


@pytest.fixture
def configured(home: Path) -> Path:
    """A home with two servers that work."""
    command = {"command": sys.executable, "env": {"PYTHONPATH": ROOT}}
    servers = {name: {**command, "args": ["-m", "inspector.demo", "--items", "5"]} for name in ("alpha", "beta")}
    (home / "inspector.json").write_text(json.dumps({"servers": servers}))
    return home


def ready(app: InspectorApp, number: int) -> bool:
    """Whether so many sessions are open and connected."""
    return [opened.session.phase for opened in app.sessions.opened] == ["ready"] * number


async def test_a_session_stays_open_behind_the_start_list(configured: Path) -> None:
    async with running(None, size=MEDIUM, until="@alpha") as (app, pilot):
        await press(pilot, "enter", until=lambda: ready(app, 1) and "connected" in screen_lines(app)[0])
        await press(pilot, "b", shows="Open now")
        assert isinstance(app.screen, StartScreen)
        assert any("● Demo server" in line and "connected" in line for line in screen_lines(app))
        assert "recording now" not in screen_text(app), "the session stands above"
        await shows(app, pilot, "open now")
        await press(pilot, "down", "enter", until=lambda: isinstance(app.screen, MainScreen))
        assert len(app.sessions.opened) == 1
        await press(pilot, "b", until=lambda: isinstance(app.screen, StartScreen), what="the list again")
        await press(pilot, "down", "down", "enter", until=lambda: ready(app, 2) and isinstance(app.screen, MainScreen))
        first, second = app.sessions.opened
        assert app.session is second.session
        await press(pilot, "b", until=lambda: isinstance(app.screen, StartScreen), what="the reload list")
        await press(pilot, "enter", until=lambda: app.screen is first.screen, what="the first again")
        assert app.session is first.session
        assert first.session.phase == second.session.phase == "ready"
        # Servers with one name are told apart by their labels.
        assert [opened.name for opened in app.sessions.opened] == ["@alpha", "@beta"]


async def test_the_time_of_a_session_counts_from_connecting() -> None:
    async with running(demo(), size=MEDIUM, until="connected") as (app, pilot):
        opened = app.sessions.opened[0]
        assert isinstance(opened.session, Session)
        await becomes(app, pilot, lambda: ready(app, 1), "connected")
        opened.session.phase_since -= 12 * 60
        await press(pilot, "f3", shows="connected 12 min")
        await opened.session.reopen()
        assert opened.state[0].endswith(" s"), "from the new connection"


async def test_f3_works_while_one_types_and_goes_back_too_as_esc_does() -> None:
    async with running(demo(), size=MEDIUM, until="connected") as (app, pilot):
        main = app.screen
        await pilot.press("slash", "b")
        assert app.screen is main, "a letter is text in the filter"
        await press(pilot, "f3", until=lambda: isinstance(app.screen, StartScreen), what="the start list")
        assert isinstance(app.focused, Editor)
        await press(pilot, "x", "f3", until=lambda: app.screen is main, what="back")
        assert BY_ID["app.start-list"].description.startswith("Go to the start list; a key that is not a letter leads")
        for keys in ([], ["tab"], ["x", "escape"], ["x", "tab", "escape"]):
            await press(pilot, "f3", shows="esc back to Demo server", until=lambda: isinstance(app.screen, StartScreen))
            assert app.screen.query_one(Editor).value == "", "what was typed before is over"
            await pilot.press(*keys)
            assert isinstance(app.screen, StartScreen)
            await press(pilot, "escape", until=lambda: app.screen is main, what="back")


async def test_a_session_behind_is_not_drawn_but_its_question_is_marked(configured: Path) -> None:
    async with running(None, size=MEDIUM, until="@alpha") as (app, pilot):
        await press(pilot, "enter", until=lambda: ready(app, 1), what="connected")
        behind = app.sessions.opened[0]
        assert isinstance(behind.session, Session)
        await press(pilot, "b", shows="Open now")
        ticks: list[None] = []
        behind.screen._tick_state = lambda: ticks.append(None)  # type: ignore[method-assign]
        before = len(behind.session.journal)
        await behind.session.request("tools/list")
        await pilot.pause()
        assert len(behind.session.journal) > before, "its journal goes on"
        assert not ticks
        await press(pilot, "enter", until=lambda: bool(ticks), what="drawn again")
        del behind.screen._tick_state
        await press(pilot, "b", shows="Open now")
        await pilot.press("down", "down", "enter")
        await becomes(app, pilot, lambda: ready(app, 2) and isinstance(app.screen, MainScreen), "the second")
        behind.session.call_tool("ask-user", {"message": "Who?"})
        await becomes(app, pilot, lambda: "1 question in @alpha" in screen_lines(app)[0], "the mark")
        await press(pilot, "b", shows="1 question")


async def test_a_session_is_closed_from_the_list_after_asking_for_its_call() -> None:
    async with running(demo(), size=MEDIUM, until="connected") as (app, pilot):
        session = app.session
        call = session.call_tool("slow", {"seconds": 60, "steps": 2})
        await becomes(app, pilot, lambda: call.n > 0, "sent")
        await press(pilot, "b", shows="Open now")
        await press(pilot, "tab", "delete", shows="Close this session with a call in flight?")
        await press(pilot, "escape", hides="in flight?")
        assert app.sessions.opened
        await press(pilot, "q", shows="Quit with a call in flight?")
        await press(pilot, "escape", hides="in flight?")
        await press(pilot, "delete", shows="Close this session")
        await press(pilot, "y", until=lambda: not app.sessions.opened, what="closed")
        await press(pilot, hides="Open now")
        assert session.phase == "closed"


async def test_an_open_recording_is_listed_too(configured: Path) -> None:
    async with on_recording(size=NARROW, until="read-only") as (app, pilot):
        await press(pilot, "b", shows="Open now")
        assert any("session" in line and "recording" in line for line in screen_lines(app))
        await press(pilot, "enter", shows="read-only")


@pytest.mark.parametrize("way", ["q", "signal"])
def test_leaving_ends_all_sessions_at_once_and_their_recordings(configured: Path, way: str) -> None:
    with Terminal(configured, []) as terminal:
        terminal.shows("@alpha")
        terminal.press("\r")
        terminal.shows("connected")
        terminal.press("b")
        terminal.shows("Open now")
        terminal.press("\x1b[B\x1b[B\r")
        terminal.until(
            lambda: terminal.grid.text.startswith(" Demo server   ● connected") and len([*recordings(configured)]) == 2,
            "both connected",
        )
        if way == "q":
            terminal.press("q")
            assert terminal.ends() == 0
        else:
            os.kill(terminal.pid, signal.SIGTERM)
            assert terminal.ends() == 128 + 15
        assert terminal.is_restored
    kept = list(recordings(configured))
    assert len(kept) == 2
    for path in kept:
        with whole_journal(path) as journal:
            assert not journal.end_is_missing


async def test_several_targets_are_open_at_once_and_a_text_found_in_another_leads_there() -> None:
    other = demo("--tick", "60")
    async with running(demo(), size=MEDIUM, others=[other], keep=True) as (app, pilot):
        await becomes(app, pilot, lambda: ready(app, 2), "both connected")
        first, second = app.sessions.opened
        assert app.screen is first.screen
        assert second.session.target == other
        for session in (second, first):  # The one that was in front before is marked.
            await press(pilot, "b", shows="Open now")
            await press(pilot, "enter", until=lambda session=session: app.screen is session.screen)
        await second.session.request("tools/call", {"name": "echo", "arguments": {"message": "needle-behind"}})
        await press(pilot, "ctrl+f", *"needle-behind", shows="Other open sessions", hides="Earlier sessions")
        await press(pilot, "enter", until=lambda: app.screen is second.screen)  # Not a copy of its recording.
        await shows(app, pilot, '"needle-behind"')
        assert len(app.screen_stack) == 2
        assert first in app.sessions.opened


async def test_a_server_has_the_name_of_its_header_in_every_row_and_the_rows_are_counted() -> None:
    async with running(demo(), size=MEDIUM, until="connected", keep=True):
        pass
    async with running(demo(), size=MEDIUM, until="connected", keep=True) as (app, pilot):
        assert "Demo server" in screen_lines(app)[0]
        await press(pilot, "b", shows="1 recording ")
        lines = screen_lines(app)
        assert "● Demo server" in lines[0]
        for word in ("connected", "today"):
            row = next(line for line in lines[3:] if word in line)
            assert row.strip("│ ●").startswith("Demo server ")

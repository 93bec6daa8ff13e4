"""Attention: questions, failures and long calls of a session out of sight; the bell and desktop notifications."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot

from inspector.client.session import Session
from inspector.config.settings import Settings
from inspector.tui import notifications
from inspector.tui.app import InspectorApp
from inspector.tui.notifications import signal_for, signal_sequence
from tests.tui.live_app import MEDIUM, NARROW, WIDE, becomes, demo, on_demo, running, shows
from tests.tui.terminal import Terminal
from tests.tui.tui_screens import press, screen_lines, screen_text

BELL = Settings(attention="always-bell")


@pytest.fixture
def rings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sequences that are written to the terminal besides the screen."""
    written: list[str] = []
    monkeypatch.setattr(InspectorApp, "write_to_terminal", lambda _, text: written.append(text))
    return written


@asynccontextmanager
async def behind() -> AsyncIterator[tuple[InspectorApp, Pilot[int], Session]]:
    """The session of the demo server, which is connected, and behind the start list."""
    async with running(demo(), size=NARROW, until="connected", settings=BELL) as (app, pilot):
        session = app.session
        await becomes(app, pilot, lambda: session.phase == "ready", "connected")
        await press(pilot, "b", shows="Open now")
        yield app, pilot, session


@pytest.mark.slow
async def test_a_question_behind_is_told_with_the_name_and_rings_once(rings: list[str]) -> None:
    async with behind() as (app, pilot, session):
        session.call_tool("ask-user", {"message": "Who?"})
        await shows(app, pilot, "Demo server: 1 new question")
        assert rings == ["\a"]
        await press(pilot, "enter", until=lambda: app.screen is app.sessions.opened[0].screen, what="in front")
        await press(pilot, "b", shows="Open now")
        app.attention._report_news()
        assert rings == ["\a"], "the user has seen it"


@pytest.mark.slow
async def test_a_question_in_front_is_told_only_while_the_terminal_has_no_focus(rings: list[str]) -> None:
    async with running(demo(), size=NARROW, until="connected", settings=BELL) as (app, pilot):
        session = app.session
        await becomes(app, pilot, lambda: session.phase == "ready", "connected")
        session.call_tool("ask-user", {"message": "Who?"})
        await becomes(app, pilot, lambda: len(session.inbox.open()) == 1, "asked")
        app.attention._report_news()
        assert not rings
        assert "new question" not in screen_text(app)
        app.post_message(events.AppBlur())
        await becomes(app, pilot, lambda: not app.app_focus, "without focus")
        session.call_tool("ask-user", {"message": "Where?"})
        await shows(app, pilot, "Demo server: 1 new question")
        assert rings == ["\a"]


@pytest.mark.slow
async def test_a_server_that_asks_on_and_on_is_told_once_in_five_seconds(rings: list[str]) -> None:
    async with behind() as (app, pilot, session):
        session.call_tool("ask-user", {"message": "Who?"})
        await shows(app, pilot, "1 new question")
        for number in range(2, 5):
            session.call_tool("ask-user", {"message": "Again?"})
            await becomes(app, pilot, lambda number=number: len(session.inbox.open()) == number, "asked")
            app.attention._report_news()
        assert rings == ["\a"]
        assert screen_text(app).count("new question") == 1
        app.attention._reported[app.sessions.opened[0]].at -= notifications.SHOWN
        app.attention._report_news()
        await shows(app, pilot, "3 new questions")
        assert rings == ["\a"], "less than a second after the first"


@pytest.mark.slow
async def test_a_long_call_and_a_failed_one_are_told(rings: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    async with behind() as (app, pilot, session):
        await session.call_tool("echo", {"message": "x"}).result()
        assert not app.attention._reported.get(app.sessions.opened[0], notifications._ReportedNews()).ended
        monkeypatch.setattr(notifications, "LONG_CALL", 0.0)
        await session.call_tool("echo", {"message": "x"}).result()
        await shows(app, pilot, "Demo server: echo finished after ")
        monkeypatch.setattr(notifications, "LONG_CALL", 10.0)
        app.attention._reported[app.sessions.opened[0]].at -= notifications.SHOWN
        session.call_tool("no\x1b[2J-such", {}, anyway=True)
        session.call_tool("no\x1b[2J-such", {}, anyway=True).cancel()
        await shows(app, pilot, "[2J-such failed after ")
        assert len(rings) == 1, "one ring a second"


@pytest.mark.slow
async def test_a_lost_connection_behind_is_told_without_its_calls(rings: list[str]) -> None:
    async with behind() as (app, pilot, session):
        session.call_tool("slow", {"seconds": 60, "steps": 2})
        session.call_tool("crash")
        await shows(app, pilot, "Demo server: connection lost")
        assert "failed after" not in screen_text(app)
        assert rings == ["\a"]


@pytest.mark.slow
async def test_a_session_that_cannot_connect_behind_another_is_told(rings: list[str]) -> None:
    missing = demo()
    missing = type(missing)(("/no/such/server",), name="missing")
    async with running(demo(), size=MEDIUM, others=[missing]) as (app, pilot):
        await shows(app, pilot, "missing: connection failed")
        assert rings == [""], "the setting is off: the notice only"


@pytest.mark.slow
def test_a_desktop_notification_reaches_the_terminal(home: Path) -> None:
    (home / "settings.json").write_text(json.dumps({"attention": "always-desktop"}))
    command = {"command": sys.executable, "args": ["-c", "import time; time.sleep(0.8)"]}
    (home / "inspector.json").write_text(json.dumps({"servers": {"brief": command}}))
    with Terminal(home, [], TERM="xterm-kitty") as terminal:
        terminal.shows("@brief")
        terminal.press("\r")
        terminal.shows("connecting")
        terminal.press("b")
        terminal.shows("@brief: connection failed")
        sequence = b"\x1b]9;Inspector: @brief: connection failed\x1b\\"
        terminal.until(lambda: terminal.raw.count(sequence) == 1, "told")
        terminal.press("\x11")
        assert terminal.ends() == 0


@pytest.mark.parametrize(
    ("mode", "environ", "signal"),
    [
        ("off", {"TERM": "foot"}, ""),
        ("bell", {"TERM": "foot"}, "bell"),
        ("bell", {"TERM": "foot", "SSH_CONNECTION": "1 2 3 4"}, ""),
        ("always-bell", {"SSH_TTY": "/dev/pts/1"}, "bell"),
        ("desktop", {"TERM": "foot"}, "osc777"),
        ("desktop", {"TERM": "xterm-256color", "VTE_VERSION": "7000"}, "osc777"),
        ("desktop", {"TERM": "xterm-kitty"}, "osc9"),
        ("desktop", {"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, "osc9"),
        ("desktop", {"TERM": "xterm-kitty", "TMUX": "/tmp/x"}, "bell"),
        ("desktop", {"TERM": "linux"}, "bell"),
        ("desktop", {"TERM": "xterm-kitty", "SSH_CONNECTION": "1 2 3 4"}, ""),
        ("always-desktop", {"TERM": "xterm-kitty", "SSH_CONNECTION": "1 2 3 4"}, "osc9"),
    ],
)
def test_the_signal_of_a_terminal(mode: notifications.AttentionMode, environ: dict[str, str], signal: str) -> None:
    assert signal_for(mode, environ) == signal


def test_a_desktop_notification_holds_no_control_characters_of_a_server() -> None:
    hostile = "a\x1b\\\x07\x9c\x1b]52;c;eA==\x07" + "b" * 1000
    for signal in ("osc9", "osc777"):
        written = signal_sequence(signal, hostile)  # type: ignore[arg-type]
        assert written.startswith("\x1b]")
        assert written.endswith("\x1b\\")
        inside = written[2:-2]
        assert inside.isprintable()
        assert len(inside) < 400
    assert signal_sequence("", hostile) == ""


@pytest.mark.slow
async def test_a_notice_covers_the_lower_edge_of_panes() -> None:
    async with on_demo() as (app, pilot):
        for size in (WIDE, (100, 30), NARROW, (50, 12)):
            app.clear_notifications()
            await pilot.resize_terminal(*size)
            await press(pilot, "down", "down", hides="Free some space")
            before = screen_lines(app)
            app.notify("Copied the result.")
            await shows(app, pilot, "Copied the result.")
            (line,) = (line for line, now in zip(before, screen_lines(app), strict=True) if line != now)
            assert line.startswith("╰")
            app.notify("The file could not be written: the disk is full. Free some space on it, and press x again.")
            await shows(app, pilot, "Free some space")
            after, footer = screen_lines(app), 2 if size[0] < 100 else 1
            assert (after[:2], after[-footer:]) == (before[:2], before[-footer:]), "header, tabs and keys are seen"

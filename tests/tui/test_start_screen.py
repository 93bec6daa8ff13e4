"""The start screen: what was configured, what was recorded, what can be typed."""

from __future__ import annotations

import json
import sys
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from inspector.config.remember import ServerMemory
from inspector.config.servers import find_servers
from inspector.tui.screens.main import MainScreen
from inspector.tui.screens.start import when
from inspector.tui.widgets.editor import Editor
from tests.tui.live_app import NARROW, ROOT, SESSION, becomes, click, running, shows
from tests.tui.tui_screens import screen_lines, screen_text

SIZE = (100, 30)


@pytest.fixture
def configured(home: Path) -> Path:
    """A home with three servers in a file and two recordings."""
    demo = {"command": sys.executable, "args": ["-m", "inspector.demo"], "env": {"PYTHONPATH": ROOT}}
    servers = {
        "shop": {"url": "https://shop.example/mcp"},
        "weather": {"command": "uv", "args": ["run", "weather"]},
        "ours": demo,
    }
    (home / "inspector.json").write_text(json.dumps({"servers": servers}))
    recordings = home / "recordings"
    recordings.mkdir(mode=0o700)
    (recordings / "2026-01-02T03-04-05Z-everything-ab12.mcp.jsonl").write_bytes(SESSION.read_bytes())
    (recordings / "2026-01-01T03-04-05Z-torn-ab12.mcp.jsonl").write_bytes(
        b"".join(SESSION.read_bytes().splitlines(keepends=True)[:5]).replace(b'"everything"', b'"torn-one"', 1)
    )
    (recordings / "2025-01-01T03-04-05Z-broken-ab12.mcp.jsonl").write_bytes(b"nothing\n")
    return home


async def test_it_lists_servers_and_recordings_with_how_they_went(configured: Path) -> None:
    for entry in find_servers().entries:
        if entry.name in ("ours", "weather"):
            ServerMemory(entry).remember_open(entry.name == "ours", "")
    async with running(None, size=SIZE, until="@shop") as (app, _):
        text = screen_text(app)
        assert "3 from 1 file" in text
        assert any(
            "@shop" in line and "https://shop.example/mcp" in line and "this folder" in line
            for line in text.splitlines()
        )
        assert any("✓ @ours" in line for line in screen_lines(app))
        assert any("✗ @weather" in line for line in screen_lines(app))
        assert any("everything" in line and "2025-11-25" in line and "2 errors" in line for line in screen_lines(app))
        assert any("torn-one" in line and "end is missing" in line for line in screen_lines(app))
        assert any("is no recording" in line for line in screen_lines(app))
        assert "3 kept" in text


async def test_without_anything_it_says_what_would_be_here() -> None:
    async with running(None, size=SIZE, until="No config file of this folder") as (app, _):
        assert "the newest will be listed here" in screen_text(app)
        assert "open the demo" in screen_text(app)


async def test_what_is_typed_narrows_the_lists(configured: Path) -> None:
    async with running(None, size=SIZE, until="@shop") as (app, pilot):
        await pilot.press(*"weather")
        await becomes(app, pilot, lambda: "@shop" not in screen_text(app))
        assert "@weather" in screen_text(app)
        assert "Nothing here matches what was typed." in screen_text(app)
        await pilot.press("ctrl+u")
        await shows(app, pilot, "@shop")


async def test_a_recording_is_opened_from_the_list(configured: Path) -> None:
    async with running(None, size=SIZE, until="torn-one") as (app, pilot):
        app.screen.query_one("#recording-rows").focus()
        await pilot.press("enter")
        await shows(app, pilot, "nothing is sent")
        assert isinstance(app.screen, MainScreen)


async def test_a_server_of_a_file_is_opened_by_a_double_click(configured: Path) -> None:
    async with running(None, size=SIZE, until="@ours") as (app, pilot):
        await click(app, pilot, "@ours", times=2)
        await shows(app, pilot, "connected")


@pytest.mark.parametrize("typed", ["demo", "{python} -m inspector.demo", "@ours", "{session}"])
async def test_what_is_typed_is_opened(configured: Path, typed: str) -> None:
    text = typed.format(python=sys.executable, session=SESSION)
    async with running(None, size=SIZE, until="@ours") as (app, pilot):
        app.screen.query_one("#target", Editor).value = text
        await pilot.press("enter")
        await becomes(app, pilot, lambda: isinstance(app.screen, MainScreen), "opened")


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("@shpo", "Did you mean @shop?"),
        ("'half", "No closing quotation"),
        ("missing.mcp.jsonl", "missing.mcp.jsonl"),
        ("http://", "http"),
    ],
)
async def test_what_cannot_be_opened_is_said_where_it_was_typed(configured: Path, typed: str, words: str) -> None:
    async with running(None, size=(160, 30), until="@shop") as (app, pilot):
        await pilot.press(*typed, "enter")
        await becomes(app, pilot, lambda: words in screen_lines(app)[1], words)
        await pilot.press("backspace")
        await becomes(app, pilot, lambda: words not in screen_lines(app)[1], "taken back")


async def test_letters_are_letters_while_a_target_is_typed(configured: Path) -> None:
    async with running(None, size=SIZE, until="@shop") as (app, pilot):
        assert screen_lines(app)[-1].split("   ")[0] == " enter open"
        assert "q quit" not in screen_lines(app)[-1].replace("^q quit", "")
        await pilot.press("q", "D", "question_mark")
        assert "qD?" in screen_lines(app)[2]
        await pilot.press("ctrl+u", "tab")
        await becomes(app, pilot, lambda: "q quit" in screen_lines(app)[-1])
        await pilot.press("D")
        await shows(app, pilot, "Demo server")


async def test_a_recording_is_deleted_only_after_asking(configured: Path) -> None:
    async with running(None, size=SIZE, until="torn-one") as (app, pilot):
        app.screen.query_one("#recording-rows").focus()
        await pilot.press("down", "delete")
        await shows(app, pilot, "Delete this recording?")
        await pilot.press("escape")
        await becomes(app, pilot, lambda: "Delete this" not in screen_text(app))
        assert len(list((configured / "recordings").iterdir())) == 3
        await pilot.press("delete")
        await shows(app, pilot, "Delete this recording?")
        await pilot.press("y")
        await becomes(app, pilot, lambda: "torn-one" not in screen_text(app), "gone")
        assert len(list((configured / "recordings").iterdir())) == 2


async def test_a_broken_file_is_named_and_hides_nothing(configured: Path) -> None:
    (configured / ".mcp.json").write_text("{")
    async with running(None, size=SIZE, until="@shop") as (app, _):
        assert ".mcp.json" in screen_text(app)
        assert "1 problem" in screen_text(app)


async def test_it_fits_eighty_columns(configured: Path) -> None:
    async with running(None, size=NARROW, until="@shop") as (app, _):
        assert all(len(line) <= NARROW[0] for line in screen_lines(app))
        assert "Recordings" in screen_text(app)
        assert "Try it" not in screen_text(app)


async def test_it_is_left_without_asking() -> None:
    async with running(None, size=SIZE, until="Recordings") as (app, pilot):
        await pilot.press("tab", "q")
        await becomes(app, pilot, lambda: not app._running, "left")


def test_dates_are_said_as_people_do() -> None:
    now = datetime.now().astimezone().replace(hour=12, minute=5)
    assert when(now) == "today 12:05"
    assert when(now - timedelta(days=1)) == "yesterday 12:05"
    assert when(datetime(2024, 3, 4, tzinfo=now.tzinfo)) == "4 Mar 2024"
    assert when(None) == ""

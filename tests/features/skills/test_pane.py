"""The tab of skills: the list, files that are read when asked for, verification, saving, a recording."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from inspector.config.targets import RecordingTarget, StdioTarget
from inspector.tui.app import InspectorApp
from tests.tui.live_app import NARROW, ROOT, Live, becomes, demo, main_screen, running, shows
from tests.tui.tui_screens import assert_in, press, screen_text

pytestmark = pytest.mark.slow

SERVER = str(Path(__file__).parents[2] / "servers" / "skills.py")


def hostile() -> StdioTarget:
    """A server of skills with faults."""
    return StdioTarget((sys.executable, SERVER), name="bad", env={"PYTHONPATH": ROOT})


def reads(app: InspectorApp) -> list[str]:
    """The files that were asked for."""
    journal = main_screen(app).session.journal
    events = (journal.event(n) for n in range(1, len(journal) + 1))
    sent = (event.message for event in events if event.dir.name == "SEND" and isinstance(event.message, dict))
    return [message["params"]["uri"] for message in sent if message.get("method") == "resources/read"]


@asynccontextmanager
async def on_list(target: StdioTarget | None = None, **more: Any) -> AsyncIterator[Live]:
    """The app on the list of skills."""
    async with running(target or demo(), era="modern", **more) as (app, pilot):
        await shows(app, pilot, "0 Sk")
        await press(pilot, "0", shows="tide-table")
        yield app, pilot


async def test_the_list_reads_no_file_and_enter_reads_skill_md() -> None:
    """C-SKILL-16."""
    async with on_list() as (app, pilot):
        assert_in(screen_text(app), "Finds an order", "SKILL.md was not read")
        assert reads(app) == []
        await press(pilot, "enter", shows="Order lookup")
        assert reads(app) == ["skill://shop/order-lookup/SKILL.md"]
        assert "references/STATUS.md" in screen_text(app)
        await press(pilot, "down", "down", "enter", shows="Status words")
        assert len(reads(app)) == 2
        await press(pilot, "right_curly_bracket", shows="allowed-tools: list-orders export-orders")
        assert "## Status" not in screen_text(app)
        await pilot.press("escape", "slash", *"tide")
        await becomes(app, pilot, lambda: "order-lookup" not in screen_text(app).split("╭─ SKILL.md")[0], "filtered")
        await shows(app, pilot, "leave")


async def test_verify_asks_first_and_failures_hide_the_content() -> None:
    """C-SKILL-17, C-SKILL-23."""
    async with on_list(hostile()) as (app, pilot):
        await press(pilot, "v", shows="Read and verify tide-table?")
        assert "2 files, 198 B" in screen_text(app)
        assert reads(app) == []
        await press(pilot, "y", shows="1 failed")
        assert "1 not listed" in screen_text(app)
        await press(pilot, "enter", "right_square_bracket", shows="✗ digest differs ─")
        text = screen_text(app)
        assert "expected" in text
        assert "Leave at once" not in text
        await press(pilot, "right_square_bracket", shows="its entry does not list it")


async def test_entries_that_cannot_be_used_say_why() -> None:
    async with on_list(hostile()) as (app, pilot):
        await press(pilot, "down", shows="its resources are null")
        assert "\x1b" not in screen_text(app)
        assert "verify all" not in screen_text(app).splitlines()[-1]
        await press(pilot, "down", shows="1,073,741,824 bytes")
        assert reads(app) == []


async def test_one_column_shows_the_files_above_one_of_them() -> None:
    async with on_list(size=NARROW) as (app, pilot):
        await press(pilot, "enter", shows="allowed-tools: list-orders")
        assert "scripts/total.py" in screen_text(app)
        await press(pilot, "escape", shows="tide-table")


async def test_a_skill_is_saved_into_a_new_folder_and_a_recording_shows_what_was_read(tmp_path: Path) -> None:
    kept = tmp_path / "kept.mcp.jsonl"
    async with on_list(record=kept) as (app, pilot):
        await press(pilot, "enter", shows="Order lookup")
        await press(pilot, "w", shows="Write the skill")
        await press(pilot, "ctrl+u", *str(tmp_path / "out"), "enter", shows="Wrote 1 file")
    written = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert [path.name for path in written] == ["SKILL.md"]
    async with running(RecordingTarget(kept)) as (app, pilot):
        await becomes(app, pilot, lambda: "0 Skills" in screen_text(app), "skills")
        await press(pilot, "0", shows="Order lookup")
        assert "verify all" not in screen_text(app)


async def test_a_server_without_skills_has_no_tab() -> None:
    async with running(demo(), era="legacy", until="connected") as (app, pilot):
        assert "0 Skills" not in screen_text(app)
        await press(pilot, "0", shows="does not declare skills")


async def test_an_extension_that_a_server_demands_can_be_offered() -> None:
    """C-EXT-05, C-EXT-09."""
    server = StdioTarget((sys.executable, str(Path(SERVER).with_name("demanding.py"))), name="demanding")
    async with running(server, era="modern") as (app, pilot):
        await shows(app, pilot, "pay")
        await press(pilot, "enter", "ctrl+r", shows="The server needs the extension")
        await press(pilot, "6", "ctrl+p", *"extensions", "enter", shows="demanded by an error of the server")
        await press(pilot, "enter", shows="com.example/pay  used")
        await becomes(app, pilot, lambda: app.session is not None and app.session.phase == "ready", "connected again")
        await press(pilot, "1", "enter", "ctrl+r", shows="It is paid.")

"""Dialogs: names of files, formats, and the files that are written."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from textual.pilot import Pilot

from inspector.formats import WRITABLE, html
from inspector.tui import pane_messages
from inspector.tui.dialogs import AskPath, Choose, Confirm, ConfirmLeaving
from inspector.tui.widgets.pane import Pane
from tests.tui.live_app import NARROW, SESSION, becomes, main_screen, on_recording, running, shows
from tests.tui.tui_screens import Stage, assert_in, press, screen_lines, screen_text, settle


@pytest.mark.slow
async def test_every_format_is_offered_and_a_new_file_is_written_with_what_it_can_hold(home: Path) -> None:
    async with on_recording(until="echo") as (app, pilot):
        before = screen_lines(app)[-1]
        await press(pilot, "x", shows="Export the recording")
        assert not screen_lines(app)[-1].strip(), "the keys of the footer do not work now"
        await press(pilot, "escape", until=lambda: app.screen is main_screen(app) and screen_lines(app)[-1] == before)
        await press(pilot, "x", shows="Export the recording")
        assert_in(screen_text(app), "a transcript to read", *WRITABLE)
        await press(pilot, "down", "enter", shows="Export the recording as json")
        assert str(home)[-20:] in screen_text(app)
        await press(pilot, "ctrl+u", *"out.json", "enter", shows="Written to out.json")
        await press(pilot, "x", shows="Export the recording")
        await press(pilot, "end", "enter", shows="session.ndjson")
        await press(pilot, "enter", shows="other events")
        # Escape leaves without writing, here too.
        await press(pilot, "x", "enter", shows="as md")
        await press(pilot, "escape", until=lambda: app.screen is main_screen(app))
    assert (home / "out.json").stat().st_mode & 0o777 == 0o600
    assert json.loads((home / "out.json").read_text())
    assert "$transport/start" in (home / "session.ndjson").read_text()
    assert not list(home.glob("*.md"))


async def test_a_question_about_calls_in_flight_stays_true_while_it_is_shown() -> None:
    calls: list[Any] = [SimpleNamespace(method="tools/call", name=name) for name in ("slow", "forget")]
    async with running(None) as (app, pilot):
        app.push_screen(ConfirmLeaving("Quit", lambda: calls, "leave"))
        await press(
            pilot, shows=("Quit with a call in flight?", "tools/call slow has no answer yet. 1 other call too.")
        )
        calls.pop(0)
        await press(pilot, shows="tools/call forget has no answer yet.", hides="other call")
        calls.clear()
        await press(pilot, shows=("Quit?", "No call is in flight any more."), hides="with a call")


async def test_a_page_that_would_be_too_large_is_not_begun(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "MAX_COUNT", 3)
    async with on_recording(until="echo") as (_app, pilot):
        await press(pilot, "x", "down", "down", "enter", shows="as html")
        await press(pilot, "enter", shows="20 events")
    assert not list(home.glob("*.html"))


@pytest.mark.slow
async def test_an_existing_file_is_never_overwritten(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "there.md").write_text("mine")
    (home / "nowhere").symlink_to(home / "missing")
    (home / "locked").mkdir(mode=0o500)
    monkeypatch.setattr(os, "access", lambda path, mode: path.name != "locked")  # root may write anywhere
    async with on_recording(until="echo") as (app, pilot):
        await press(pilot, "x", "enter", shows="as md")
        for name, problem in (
            ("there.md", "this file exists already"), ("~/there.md", "this file exists already"),
            ("nowhere", "this file exists already"),
            ("no/such/folder.md", "this folder does not exist"),
            ("locked/x.md", "this folder is not writable"),
            ("x" * 300, "file name too long"), ("", "enter a file name"), ("/", "enter a file name"),
        ):  # fmt: skip
            await pilot.press("ctrl+u")
            app.screen.query_one("#path").value = name  # type: ignore[attr-defined]
            await press(pilot, "enter", shows=problem)
    assert (home / "there.md").read_text() == "mine"
    assert not (home / "missing").exists()


async def test_what_a_filter_leaves_is_exported_and_in_one_column_a_notice_takes_the_whole_line(home: Path) -> None:
    async with on_recording(size=NARROW, until="echo") as (app, pilot):
        main_screen(app).post_message(pane_messages.Export([2, 3]))
        await shows(app, pilot, "Export 2 messages")
        await press(pilot, "enter", shows="Export 2 messages as md")
        await pilot.press("ctrl+u", *"out.md", "enter")
        await becomes(app, pilot, lambda: " Written to out.md." in screen_lines(app), "nothing of the line below it")
    text = (home / "out.md").read_text()
    assert "initialize" in text
    assert "tools/call" not in text


async def test_data_is_saved_under_the_suggested_name_unless_another_is_given(home: Path) -> None:
    async with on_recording(until="echo") as (app, pilot):
        main_screen(app).post_message(pane_messages.Save(b"\x89PNG\x00", "picture.png", "the picture"))
        await shows(app, pilot, "Write the picture to a file")
        await press(pilot, "enter", shows="Written to picture.png")
        # A copy goes to the clipboard of the terminal, whatever is in it.
        main_screen(app).post_message(pane_messages.Copy("half \ud83d of \x1b[31m it", "what happened"))
        await shows(app, pilot, "Copied what happened.")
        assert base64.b64encode(app.clipboard.encode())
        assert app.clipboard == "half ? of \x1b[31m it"
    assert (home / "picture.png").read_bytes() == b"\x89PNG\x00"


@asynccontextmanager
async def asking(dialog: Any, **more: Any) -> AsyncIterator[tuple[Stage, Pilot[None], list[Any]]]:
    """A screen with a dialog, and the answers that it gives."""
    app = Stage()
    async with app.run_test(**more) as pilot:
        answers: list[Any] = []
        app.push_screen(dialog, answers.append)
        await pilot.pause()
        yield app, pilot, answers


async def test_a_question_is_answered_by_keys() -> None:
    for keys, answer in ((["y"], True), (["enter"], True), (["n"], False), (["escape"], False), (["q", "n"], False)):
        async with asking(Confirm("Delete it?", "/a/path", "delete", "keep")) as (app, pilot, answers):
            assert_in(screen_text(app), "Delete it?", "y enter delete   n esc keep")
            await press(pilot, *keys, until=lambda answers=answers: bool(answers))
            assert answers == [answer]


async def test_a_menu_begins_at_what_is_in_force_and_fits_a_small_screen() -> None:
    words = [(f"word-{n}", "about it") for n in range(30)]
    async with asking(Choose("Choose one", words, "word-20"), size=(40, 10)) as (app, pilot, answers):
        assert_in(screen_text(app), "word-20", "enter choose")
        await press(pilot, "down", "enter", until=lambda: answers == ["word-21"])


async def test_the_proposed_name_is_one_that_no_file_has(home: Path) -> None:
    (home / "talk.mcp.jsonl").touch()
    (home / "talk-2.mcp.jsonl").symlink_to("nowhere")
    async with asking(AskPath("Save it", "talk.mcp.jsonl")) as (_app, pilot, answers):
        await press(pilot, "enter", until=lambda: answers == [Path("talk-3.mcp.jsonl")])


async def test_typed_text_narrows_a_long_menu() -> None:
    words = [*((f"word-{n}", "about it") for n in range(9)), ("reworded", "other"), ("last", "with a word")]
    for keys, names, answer in (
        (["r", "e"], ["reworded"], "reworded"),
        ([*"word"], ["word-0", "reworded", "last"], "word-0"),
        ([*"word", "end", "home", "backspace", "down", "up", "down"], ["word-1"], "word-1"),
        ([*"with"], ["last"], "last"),
        ([*"j", "backspace", "pagedown"], ["last"], "last"),
    ):
        async with asking(Choose("Choose one", words), size=(60, 24)) as (app, pilot, answers):
            assert "type to narrow" in screen_text(app)
            await press(pilot, *keys)
            text = screen_text(app)
            assert sorted(names, key=text.index) == names
            await press(pilot, "enter", until=lambda answers=answers, answer=answer: answers == [answer])


async def test_a_menu_says_that_nothing_matches_and_esc_clears_first() -> None:
    words = [(f"word-{n}", "") for n in range(9)]
    async with asking(Choose("Choose one", words), size=(60, 24)) as (_app, pilot, answers):
        await press(pilot, *"jk", "enter", shows="No choice matches.")
        assert answers == []
        await press(pilot, "escape", shows="word-8")
        assert answers == []
        await press(pilot, "escape", until=lambda: answers == [None])


async def test_a_folder_that_is_gone_is_not_named() -> None:
    gone = Path("gone")
    gone.mkdir()
    os.chdir(gone)
    Path.cwd().rmdir()
    async with asking(AskPath("Save it", "x.txt")) as (app, _pilot, _answers):
        assert "Save it" in screen_text(app)
        assert " in " not in screen_text(app)


async def test_start_exports_a_recording(home: Path) -> None:
    (home / "recordings").mkdir()
    (home / "recordings" / "2026-01-02T03-04-05Z-shop-ab12.mcp.jsonl").write_bytes(SESSION.read_bytes())
    async with running(None, until="everything") as (_app, pilot):
        await press(pilot, "tab", "down", "x", shows="Export the recording")
        await press(pilot, "enter", shows="Export as md")
        await press(pilot, "enter", shows="Written to")
    (written,) = home.glob("*.md")
    assert "tools/call" in written.read_text()


@pytest.mark.parametrize(("detail", "lines"), [("It has no answer yet.", 5), ("Two lines.\nThe second.", 6)])
async def test_a_question_is_as_high_as_its_text(detail: str, lines: int) -> None:
    app = Stage()
    async with app.run_test(size=(80, 24)) as pilot:
        app.push_screen(Confirm("Quit?", detail, "quit", "stay"))
        await settle(pilot, lambda: [pane.outer_size.height for pane in app.screen.query(Pane)] == [lines])

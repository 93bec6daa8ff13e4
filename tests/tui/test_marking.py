"""Marks and notes as they are made in the log, and exported."""

from __future__ import annotations

import pytest

from inspector.tui.log.detail import AskNote, DetailPane
from inspector.tui.log.pane import MessagesPane
from tests.tui.live_app import NARROW, WIDE, becomes, main_screen, on_demo
from tests.tui.live_demo import Ticking, on_pane
from tests.tui.recorded_conversation import example
from tests.tui.tui_screens import assert_in, press, screen_lines, screen_text, settle


def marked_rows(app: Ticking) -> list[str]:
    return [line.strip("│ ").rstrip() for line in screen_lines(app)[1:-2] if line.rstrip("│ ").endswith("*")]


async def test_one_key_marks_a_message_a_second_removes_the_mark_and_the_letters_of_a_note_are_text() -> None:
    talk = example()
    async with on_pane(MessagesPane(talk.session), (100, 16)) as (app, pilot, pane):
        await pilot.press("home", "down", "asterisk")
        assert talk.journal.marks.events() == [2]
        assert ["tools/list" in line for line in marked_rows(app)] == [True]
        assert "1 mark" in screen_text(app)
        await pilot.press("end", "left_curly_bracket")
        assert pane.current == 2
        await pilot.press("asterisk")
        assert not talk.journal.marks.events()
        assert not marked_rows(app)
        # A note is typed, and its letters are text.
        await press(pilot, "home", "down", "w", until=lambda: isinstance(app.screen, AskNote))
        assert "Note on → " in screen_text(app)
        assert "tools/list" in next(line for line in screen_lines(app) if "Note on" in line)
        await pilot.press(*"wrong*q", "enter")
        mark = talk.journal.marks.of(2)
        assert mark.note == "wrong*q"
        await pilot.press("w")
        assert isinstance(app.screen, AskNote)
        assert "wrong*q" in screen_text(app)
        await pilot.press("x", "escape")
        assert talk.journal.marks.of(2) == mark
        await pilot.press("slash", *"mark:wrong", "enter")
        assert_in(screen_text(app), "tools/list", "1 row  ")


async def test_the_detail_shows_the_note() -> None:
    talk = example()
    talk.journal.mark(2, "the second page\nis \x1b[31mmissing")
    async with on_pane(DetailPane(talk.session), (100, 16), focus=False) as (app, pilot, pane):
        pane.show(2)
        await pilot.pause()
        assert "* the second page is ␛[31mmissing" in screen_text(app)
        pane.tab_row.choose("note")
        await pilot.pause()
        assert screen_lines(app)[3].strip("│ ") == "the second page"


@pytest.mark.slow
@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_an_open_message_is_marked_by_the_same_key(size: tuple[int, int]) -> None:
    async with on_demo(size=size) as (app, pilot):
        await press(pilot, "m", "up", "enter", shows="* mark")
        await press(pilot, "asterisk", shows="* remove mark")
        (marked,) = app.session.journal.marks.events()
        assert marked == main_screen(app).panes.detail.n
        await pilot.press("escape")
        await becomes(app, pilot, lambda: any(line.rstrip("│ ").endswith("*") for line in screen_lines(app)), "marked")
        await pilot.press("enter", "asterisk")
        await becomes(app, pilot, lambda: not app.session or not app.session.journal.marks.events(), "not marked")


async def test_a_recording_that_cannot_be_changed_says_so() -> None:
    talk = example()
    async with on_pane(MessagesPane(talk.session), (100, 16), notifications=True) as (app, pilot, _pane):
        talk.journal.close()
        await pilot.press("home", "asterisk")
        notifications = app._notifications
        await settle(pilot, lambda: any("cannot be marked: it has no file" in one.message for one in notifications))

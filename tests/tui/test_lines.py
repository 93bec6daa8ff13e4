"""Lines go to content: a bigger terminal never shows less of a result."""

from __future__ import annotations

import re

import pytest

from inspector.tui.work.history import EarlierCalls
from tests.tui.live_app import becomes, main_screen, on_demo, to_tool
from tests.tui.tui_screens import press, screen_text

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("size", "least"), [((160, 45), 12), ((120, 35), 12), ((100, 30), 8), ((80, 24), 6), ((50, 12), 1)]
)
async def test_a_result_has_its_rows_and_earlier_calls_open_beside_it(size: tuple[int, int], least: int) -> None:
    async with on_demo(size=size) as (app, pilot):
        await press(pilot, *"/list-orders", "enter", "ctrl+r", shows="rows  6 columns")
        work = main_screen(app).panes.work
        await becomes(app, pilot, lambda: "1000" in screen_text(app) and work.result.has_focus_within, "drawn")
        await press(pilot, "alt+r", until=lambda: work.request.has_focus_within, what="the form")
        text = screen_text(app)
        assert len(re.findall(r"│ 1\d{3}  ", text)) >= least, text
        if size == (50, 12):  # On the smallest screen a field and a row are shown.
            assert "▌ ▏500" in text, "the field comes before the description"
            assert "Returns a list" not in text
        if size in ((120, 35), (100, 30), (80, 24)):
            await press(pilot, "up", until=lambda: isinstance(app.screen, EarlierCalls), what="listed")
            await pilot.press("escape")


async def test_the_field_is_shown_again_when_one_comes_back_to_a_form_with_a_result() -> None:
    async with on_demo(size=(50, 12)) as (app, pilot):
        work = main_screen(app).panes.work
        for tool in ("list-orders", "mixed"):
            await to_tool(app, pilot, tool)
            await press(pilot, "ctrl+r", until=lambda: work.result.answer is not None and not work.request.room.about)
        await to_tool(app, pilot, "list-orders")
        await becomes(app, pilot, lambda: "rows  6 columns" in screen_text(app), "its result")
        await becomes(app, pilot, lambda: "▌ ▏500" in screen_text(app), "the field")
        assert "Returns a list" not in screen_text(app)


@pytest.mark.parametrize("size", [(100, 30), (120, 35), (139, 45)])
async def test_the_log_gets_its_lines_when_it_is_used_and_zoomed_has_all(size: tuple[int, int]) -> None:
    async with on_demo(size=size) as (app, pilot):
        log = main_screen(app).panes.log
        if size == (100, 30):  # The start of the session is one row.
            await becomes(app, pilot, lambda: log.size.height == 3, "as low as its row")
            await press(pilot, "m", until=lambda: log.size.height > 10, what="entered")
            await press(pilot, "m", until=lambda: log.size.height == 3, what="left")
        await press(pilot, "m", "z", until=lambda: log.size.height >= size[1] - 4, what="alone")
        await press(pilot, "v", until=lambda: log.size.height >= size[1] - 4, what="as a timeline")
        await press(pilot, "escape", "z", "m", until=lambda: log.size.height == 3, what="below again")


async def test_a_short_result_leaves_the_form_its_lines() -> None:
    async with on_demo(size=(120, 35)) as (app, pilot):
        await pilot.press(*"/add", "enter", "1", "tab", "2", "ctrl+r")
        screen = main_screen(app)
        await becomes(app, pilot, lambda: screen.panes.work.result.answer is not None, "answered")
        form = screen.panes.work.request.form
        await becomes(app, pilot, lambda: form.max_scroll_y == 0, "no field is scrolled away")
        await pilot.press("escape", *"/list-orders", "enter", "ctrl+r")
        await becomes(app, pilot, lambda: len(re.findall(r"│ 1\d{3}  ", screen_text(app))) >= 12, "twelve rows")

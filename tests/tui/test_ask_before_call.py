"""The question before a call of a tool that may destroy something."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.config.settings import Settings
from tests.tui.live_app import main_screen, on_demo, shows, to_tool
from tests.tui.live_demo import sent
from tests.tui.tui_screens import press, settle

pytestmark = pytest.mark.slow

DELETE = "delete-everything"
"""A tool of the demo server that is annotated as destructive."""


def calls(app: Any) -> list[Any]:
    return [params["name"] for params in sent(main_screen(app).session, "tools/call")]


async def test_the_question_names_the_tool_and_its_arguments_and_each_answer_does_what_it_says() -> None:
    settings = Settings(ask_before_call="annotated")
    async with on_demo(settings=settings) as (app, pilot):
        await to_tool(app, pilot, DELETE)
        work = main_screen(app).panes.work
        await work.request.form.load({"sure": True})
        await press(pilot, "ctrl+r", shows=f"Call {DELETE}?")
        await shows(app, pilot, '"sure"')
        await press(pilot, "escape", until=lambda: app.screen is main_screen(app))
        assert calls(app) == []
        await press(pilot, "ctrl+r", shows=f"Call {DELETE}?")
        await press(pilot, "y", until=lambda: calls(app) == [DELETE])
        await settle(pilot, lambda: not work.work.is_running)
        await pilot.press("m", "end")
        await press(pilot, "ctrl+r", shows=f"Call {DELETE}?")
        await press(pilot, "escape", "m", until=lambda: app.screen is main_screen(app))
        assert calls(app) == [DELETE], "what the log sends again is asked for too"
        await press(pilot, "ctrl+r", shows=f"Call {DELETE}?")
        await press(pilot, "a", until=lambda: calls(app) == [DELETE] * 2)
        await settle(pilot, lambda: not work.work.is_running)
        await press(pilot, "ctrl+r", until=lambda: calls(app) == [DELETE] * 3)


async def test_tools_that_say_they_destroy_nothing_are_called_at_once() -> None:
    async with on_demo(settings=Settings(ask_before_call="unannotated")) as (app, pilot):
        await to_tool(app, pilot, "what-time")
        await press(pilot, "ctrl+r", until=lambda: calls(app) == ["what-time"])

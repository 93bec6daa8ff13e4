"""A notice covers no line of keys."""

from __future__ import annotations

import pytest
from textual.widgets._toast import Toast, ToastHolder

from inspector.tui.log.compose import ComposeScreen
from inspector.tui.notice_place import NoticesAboveKeys
from tests.tui.live_app import MEDIUM, NARROW, WIDE, on_demo
from tests.tui.tui_screens import press

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("size", [WIDE, MEDIUM, NARROW, (60, 20)])
async def test_a_notice_of_any_length_leaves_the_keys_of_the_screen_and_of_the_message_editor(
    size: tuple[int, int],
) -> None:
    async with on_demo(size=size) as (app, pilot):
        await press(pilot, "slash", *"echo", "enter", "enter", shows="^r send")
        for where in ("the form", "the message editor"):
            for notice in ("A short notice (end)", "A long notice. " * 20 + "(end)"):
                app.notify(notice, timeout=60)
                await press(pilot, shows=("(end)", "^r send"))
                app.clear_notifications()
                await press(pilot, hides="(end)")
            if where == "the form":
                await press(pilot, "escape", "escape", "m", "S", until=lambda: isinstance(app.screen, ComposeScreen))


async def test_a_notice_that_is_over_as_another_one_comes_leaves_no_holder() -> None:
    app = NoticesAboveKeys()
    async with app.run_test(notifications=True) as pilot:
        app.notify("the first", timeout=60)
        await pilot.pause()
        app.screen.query_one(Toast)._notification.timeout = 0.0
        app.notify("the second", timeout=60)
        await pilot.pause()
        assert [toast._notification.message for toast in app.screen.query(Toast)] == ["the second"]
        assert len(app.screen.query(ToastHolder)) == 1
        app.clear_notifications()
        await pilot.pause()
        assert len(app.screen.query(ToastHolder)) == 0

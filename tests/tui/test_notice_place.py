"""A notice covers no line of keys."""

from __future__ import annotations

import pytest

from inspector.tui.log.compose import ComposeScreen
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

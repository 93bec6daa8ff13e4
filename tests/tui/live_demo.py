"""A real session on the demo server, for tests of panes."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from textual.widget import Widget
from tui_screens import Stage

from inspector.client.answers import Standing
from inspector.client.options import Options
from inspector.client.session import Session
from inspector.config.targets import StdioTarget
from inspector.journal.journal import Journal

ASK = Standing(sampling="ask", elicitation="ask", roots="ask")


@asynccontextmanager
async def demo(*lists: Any, seconds: float = 60.0, standing: Standing = ASK) -> AsyncIterator[Session]:
    """A session on the demo server with some of its lists read."""
    target = StdioTarget(command=(sys.executable, "-m", "inspector.demo", "--items", "30"))
    session = Session(target, Journal.unnamed({}), Options(timeout=seconds, standing=standing))
    await session.open()
    for name in lists:
        await session.load(name)
    try:
        yield session
    finally:
        await session.close()


class Ticking(Stage):
    """A stage whose panes are told that something may have changed, as the main screen does."""

    def __init__(self, *widgets: Widget, **more: Any) -> None:
        super().__init__(*widgets, **more)
        self.panes = [widget for widget in widgets if hasattr(widget, "tick")]

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(0.05, self.tick)

    def tick(self) -> None:
        for pane in self.panes:
            pane.tick()

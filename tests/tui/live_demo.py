"""A real session on the demo server, for tests of panes."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

from textual.events import Paste
from textual.pilot import Pilot
from textual.widget import Widget

from inspector.client.inbox import StandingAnswers
from inspector.client.options import Options
from inspector.client.session import Session
from inspector.config.server_memory import ServerMemory
from inspector.config.settings import Settings
from inspector.config.targets import StdioTarget
from inspector.journal.journal import Journal
from inspector.tui.ask.inbox import InboxPane
from inspector.tui.pane_messages import ItemHighlighted, ItemOpened, OpenResource
from inspector.tui.work.catalog import CatalogPane
from inspector.tui.work.pane import WorkPane
from inspector.tui.work.work_items import WorkItem
from tests.processes import ROOT
from tests.tui.tui_screens import Stage, W, settle, standing

ASK = StandingAnswers(sampling="ask", elicitation="ask", roots="ask")


@asynccontextmanager
async def demo(
    *lists: Any,
    seconds: float = 60.0,
    standing: StandingAnswers = ASK,
    journal: Journal | None = None,
    era: Literal["legacy", "modern"] = "legacy",
) -> AsyncIterator[Session]:
    """A session on the demo server with some of its lists read."""
    command = (sys.executable, "-m", "inspector.demo", "--items", "30")
    target = StdioTarget(command, env={"PYTHONPATH": str(ROOT)})
    session = Session(
        target,
        Journal.unnamed({}) if journal is None else journal,
        Options(timeout=seconds, era=era, standing=standing),
    )
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
            if pane.is_attached:  # The app is taken down while its timer runs.
                pane.tick()


@asynccontextmanager
async def on_pane(
    pane: W, size: tuple[int, int], *, notifications: bool = False, focus: bool = True, **more: Any
) -> AsyncIterator[tuple[Ticking, Pilot[None], W]]:
    """A screen of this size with one pane, which is told of changes and has the focus."""
    async with standing(Ticking(pane, **more), size, pane if focus else None, notifications) as (app, pilot):
        yield app, pilot, pane


class Desk(Ticking):
    """A catalogue, the work beside it and the inbox, wired as on the main screen."""

    def __init__(self, session: Any, folder: Path) -> None:
        self.catalog = CatalogPane(session, id="catalog")
        self.inbox = InboxPane(session, id="inbox")
        self.work = WorkPane(session, memory=ServerMemory(session.target, folder), id="work")
        css = """
        Screen { layout: horizontal; }
        #catalog { width: 34; } #inbox { width: 20; display: none; } #work { width: 1fr; }
        """
        super().__init__(self.catalog, self.inbox, self.work, css=css)
        self.settings = Settings()

    def on_item_highlighted(self, event: ItemHighlighted) -> None:
        self.work.show_item(event.list_name, event.item)

    def on_item_opened(self, event: ItemOpened) -> None:
        self.work.show_item(event.list_name, event.item)
        self.work.focus_work()

    def on_catalog_pane_call_requested(self) -> None:
        self.work.send()

    def on_leave_work(self) -> None:
        self.catalog.focus_inside()

    def on_inbox_pane_highlighted(self, event: InboxPane.Highlighted) -> None:
        if event.question is not None and self.inbox.has_focus_within:
            self.work.show_question(event.question)

    def on_inbox_pane_opened(self, event: InboxPane.Opened) -> None:
        self.work.show_question(event.question)
        self.work.focus_question()

    def on_open_resource(self, event: OpenResource) -> None:
        self.work.open_resource(event.uri)


Live = tuple[Session, Desk, Pilot[None]]


@asynccontextmanager
async def desk(folder: Path, *lists: Any, size: tuple[int, int] = (110, 34), **more: Any) -> AsyncIterator[Live]:
    async with demo(*lists, **more) as session:
        app = Desk(session, folder)
        async with app.run_test(size=size, message_hook=app.hear) as pilot:
            app.catalog.focus_inside()
            yield session, app, pilot


async def go(app: Desk, pilot: Pilot[None], list_name: Any, address: str) -> WorkItem:
    """Put the cursor of the catalogue on an item, and wait for its form."""
    app.catalog.show(list_name)
    assert app.catalog.select(list_name, address)
    app.catalog.focus_inside()
    await settle(pilot, lambda: is_item_shown(app, address))
    return app.work.work


def is_item_shown(app: Desk, address: str) -> bool:
    work = app.work.work
    return work.catalog_item.address == address and app.work.request.form.form is work.form


def sent(session: Session, method: str) -> list[Any]:
    """The params of every request of a method, oldest first."""
    requests = []
    for n in range(1, session.journal.index.count + 1):
        message = session.journal.event(n).message
        if isinstance(message, dict) and message.get("method") == method and session.journal.index.dir(n) == 1:
            params = dict(message.get("params") or {})
            params.pop("_meta", None)
            requests.append(params)
    return requests


@asynccontextmanager
async def at_item(folder: Path, list_name: str, address: str, **more: Any) -> AsyncIterator[Live]:
    """A desk with the cursor on an item."""
    async with desk(folder, list_name, **more) as (session, app, pilot):
        await go(app, pilot, list_name, address)
        yield session, app, pilot


@asynccontextmanager
async def in_form(folder: Path, list_name: str, address: str, **more: Any) -> AsyncIterator[Live]:
    """A desk with the focus in the form of an item."""
    async with at_item(folder, list_name, address, **more) as (session, app, pilot):
        await enter_form(app, pilot)
        yield session, app, pilot


@asynccontextmanager
async def asked_by(folder: Path, tool: str, **more: Any) -> AsyncIterator[Live]:
    """A desk with the focus in the question that a call of a tool caused."""
    async with at_item(folder, "tools", tool, **more) as (session, app, pilot):
        await call_that_asks(app, pilot)
        yield session, app, pilot


async def enter_form(app: Desk, pilot: Pilot[None]) -> None:
    """Go from the list to the form of its item."""
    await pilot.press("enter")
    await settle(pilot, lambda: app.work.request.has_focus_within)


async def call_that_asks(app: Desk, pilot: Pilot[None]) -> None:
    """Send the call, and wait until its question has the focus."""
    await pilot.press("ctrl+r")
    await settle(pilot, lambda: app.work.asking.has_focus_within)


async def write(app: Desk, pilot: Pilot[None], text: str) -> None:
    """Put a text into the field that has the focus, as if pasted: quicker than key by key."""
    assert app.focused is not None
    app.focused.post_message(Paste(text))
    await pilot.pause()

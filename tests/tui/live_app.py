"""The whole interface, as a test drives it: on the demo server, on a hostile one, on a recording."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

from textual.pilot import Pilot

from inspector.client.inbox import StandingAnswers
from inspector.client.options import Options
from inspector.config.settings import Settings
from inspector.config.targets import RecordingTarget, StdioTarget, Target
from inspector.demo.prompts import all_prompts
from inspector.demo.revisions import HANDSHAKE, DemoFeatures
from inspector.demo.server_state import DemoState
from inspector.demo.tools import all_tools
from inspector.tui.app import InspectorApp
from inspector.tui.main.screen import MainScreen, Panes
from inspector.tui.widgets.status_lines import TabLine
from tests.tui.tui_screens import press, screen_lines, screen_text, settle

TESTS = Path(__file__).parents[1]
ROOT = str(TESTS.parent)
SESSION = TESTS / "formats" / "golden" / "session.mcp.jsonl"
"""A recording of everything that a recording can hold."""
WIDE, MEDIUM, NARROW = (160, 45), (120, 35), (80, 24)

TOOLS = len(DemoState(all_tools(), all_prompts()).tools(DemoFeatures(HANDSHAKE[-1])))
PROMPTS = len(DemoState(all_tools(), all_prompts()).prompts())
"""How many the demo server has."""

Live = tuple[InspectorApp, Pilot[int]]


def demo(*words: str) -> StdioTarget:
    """The demo server with short lists."""
    command = (sys.executable, "-m", "inspector.demo", "--items", "30", *words)
    return StdioTarget(command, name="demo", env={"PYTHONPATH": ROOT})


def hostile(case: str, *words: str) -> StdioTarget:
    """A hostile server of tests/servers."""
    return StdioTarget((sys.executable, str(TESTS / "servers" / "hostile.py"), "--case", case, *words), name=case)


@asynccontextmanager
async def running(
    target: Target | None,
    *,
    size: tuple[int, int] = WIDE,
    until: str = "",
    settings: Settings | None = None,
    era: Literal["legacy", "modern"] = "legacy",
    extensions: dict[str, dict[str, Any]] | None = None,
    **more: Any,
) -> AsyncIterator[Live]:
    """The app on a target, when its screen shows `until`."""
    answers = StandingAnswers(sampling="ask", elicitation="ask", roots="ask")
    options = Options(timeout=600, era=era, standing=answers, extensions=extensions or {})
    more.setdefault("keep", False)
    app = InspectorApp(target, options, settings or Settings(), **more)
    async with app.run_test(size=size, notifications=True) as pilot:
        if until:
            await shows(app, pilot, until)
        yield app, pilot


@asynccontextmanager
async def on_demo(*, size: tuple[int, int] = WIDE, **more: Any) -> AsyncIterator[Live]:
    """The app on the demo server, all its lists read."""
    async with running(demo(), size=size, **more) as (app, pilot):
        await becomes(app, pilot, lambda: has_all_lists(app), "all lists")
        yield app, pilot


@asynccontextmanager
async def on_recording(path: Path = SESSION, **more: Any) -> AsyncIterator[Live]:
    """The app on a recording."""
    async with running(RecordingTarget(path), **more) as (app, pilot):
        yield app, pilot


def has_all_lists(app: InspectorApp) -> bool:
    """Whether every list of the demo server is there and drawn."""
    numbers = {tab.id: tab.number for line in app.screen.query(TabLine) for tab in line.tabs}
    return numbers.get("tools") == str(TOOLS) and numbers.get("prompts") == str(PROMPTS)


def main_screen(app: InspectorApp) -> MainScreen:
    """The main screen, also while a dialog stands over it."""
    return next(screen for screen in app.screen_stack if isinstance(screen, MainScreen))


def panes(app: InspectorApp) -> Panes:
    """The panes of the main screen."""
    return main_screen(app).panes


async def shows(app: InspectorApp, pilot: Pilot[Any], *words: str, without: str | tuple[str, ...] = ()) -> None:
    """Wait until the screen shows all of these words, and none of those."""
    await press(pilot, shows=words, hides=without)


async def becomes(app: InspectorApp, pilot: Pilot[Any], so: Callable[[], bool], what: str = "so") -> None:
    """Wait until something is so; the screen is told where it never is."""
    await settle(pilot, so, what)


async def click(app: InspectorApp, pilot: Pilot[Any], words: str, *, times: int = 1) -> None:
    """Click on words of the screen."""
    for y, line in enumerate(screen_lines(app)):
        if words in line:
            await pilot.click(offset=(line.index(words) + 1, y), times=times)
            return
    raise AssertionError(f"{words!r} is not on the screen:\n{screen_text(app)}")


async def to_tool(app: InspectorApp, pilot: Pilot[Any], name: str) -> None:
    """Show a tool with the focus in its form."""
    main_screen(app).show_address("tools", name)
    await becomes(app, pilot, lambda: form_shows(app, name), "the form")


async def call(live: Live, tool: str, arguments: dict[str, Any]) -> None:
    """Call a tool from its form, and wait for the focus in its result."""
    app, pilot = live
    await becomes(app, pilot, lambda: has_all_lists(app), "all lists")
    await to_tool(app, pilot, tool)
    work = main_screen(app).panes.work
    await work.request.form.load(arguments)
    before = len(work.work.past or ())
    await press(pilot, "ctrl+r", until=lambda: len(work.work.past or ()) > before and work.result.has_focus_within)


async def back_to_form(live: Live) -> None:
    """Go from a result back to its form."""
    app, pilot = live
    await press(pilot, "shift+tab", until=lambda: panes(app).work.request.has_focus_within)


def form_shows(app: InspectorApp, name: str) -> bool:
    """Whether the form of a tool is shown and has the focus."""
    panes = main_screen(app).panes.work
    work = panes.work
    is_shown = work.catalog_item.address == name and panes.request.form.form is work.form
    return is_shown and panes.request.has_focus_within

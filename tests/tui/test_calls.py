"""Saved calls in the interface: the tab of flows, saving a call, expectations from results, runs after a restart."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from inspector.tui.app import InspectorApp
from tests.tui.live_app import NARROW, WIDE, Live, becomes, demo, main_screen, running, shows
from tests.tui.quiet import quiet
from tests.tui.tui_screens import screen_lines, screen_text

ORDERS = """\
inspector: 1
name: Echo and add
vars: {word: hello, number: 4711}
steps:
  - name: greet
    call: echo
    args: {message: "{{word}} {{number}}"}
    capture: {said: "$.content[0].text"}
    expect:
      within: 1 min
      result:
        $.content[0].text: {contains: "{{word}}"}
  - name: sum
    call: add
    args: {a: 1, b: 2}
    expect:
      result:
        $.structuredContent.sum: 4
  - name: again
    call: echo
    args: {message: "{{said}}"}
"""
WRONG = """\
inspector: 1
steps:
  - cal: echo
"""
LOCAL = """\
word: hi
token: env:DEMO_TOKEN
"""


@asynccontextmanager
async def on_calls(
    files: dict[str, str], *, size: tuple[int, int] = WIDE, tab: bool = True, **more: Any
) -> AsyncIterator[Live]:
    """The app on the demo server in a folder with these files, with the tab of saved calls."""
    for name, text in files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    async with running(demo(), size=size, until="connected" if size[0] >= 120 else "Tools", **more) as live:
        if tab:
            await live[1].press("9")
        yield live


FILES = {"calls/echo.yaml": ORDERS, "calls/bad.yaml": WRONG, "calls/env/local.yaml": LOCAL}


async def test_the_tab_lists_flows_steps_errors_and_environments() -> None:
    async with on_calls(FILES) as (app, pilot):
        await shows(app, pilot, "calls/echo.yaml")
        text = screen_text(app)
        assert "9 Calls" in screen_lines(app)[1]
        assert "1 flow  1 error" in text
        assert "✗ calls/bad.yaml:3" in text
        assert "· greet" in text
        assert "calls/env" in text
        assert "2 variables" in text
        assert "Unknown key “cal”." in text, "the file under the cursor says what is wrong with it"
        assert "Did you mean “call”?" in text
        print(text)


async def to_tool(app: InspectorApp, pilot: Pilot[Any], name: str) -> None:
    """Show a tool with the focus in its form."""
    main_screen(app).show_address("tools", name)
    await becomes(app, pilot, lambda: form_shows(app, name), "the form")


def form_shows(app: InspectorApp, name: str) -> bool:
    work = main_screen(app).panes.work
    item = work.work.catalog_item.address if work.work is not None else ""
    return item == name and work.request.form.form is work.work.form and work.request.has_focus_within  # type: ignore[union-attr]


async def test_saving_a_call_writes_a_new_flow_and_then_appends_to_it() -> None:
    async with on_calls({}, tab=False) as (app, pilot):
        await to_tool(app, pilot, "echo")
        await pilot.press(*"hello", "ctrl+s")
        await shows(app, pilot, "Save echo")
        await shows(app, pilot, "message: hello")
        print(screen_text(app))
        await pilot.press("enter")
        await shows(app, pilot, "Saved to calls/echo.yaml:")
        first = Path("calls/echo.yaml").read_text()
        assert "call: echo" in first
        await becomes(app, pilot, lambda: "saved" in screen_text(app), "its saved calls")
        print(screen_text(app))
        await pilot.press("backspace", "ctrl+s")
        await shows(app, pilot, "after 1 step")
        await pilot.press("enter")
        await becomes(app, pilot, lambda: Path("calls/echo.yaml").read_text() != first, "appended")
        second = Path("calls/echo.yaml").read_text()
        assert second.startswith(first)
        assert "message: hell" in second
        print(second)


async def test_an_expectation_from_a_result_is_saved_with_its_call() -> None:
    async with on_calls({}, tab=False) as (app, pilot):
        await to_tool(app, pilot, "add")
        await pilot.press("2", "tab", "3", "ctrl+r")
        await becomes(app, pilot, lambda: main_screen(app).panes.work.result.answer is not None, "the result")
        main_screen(app).panes.work.result.focus_inside()
        await shows(app, pilot, "E expect")
        await pilot.press("d", "E")
        await shows(app, pilot, "Expect of this result")
        print(screen_text(app))
        await pilot.press("enter")
        await shows(app, pilot, "Save add")
        print(screen_text(app))
        await pilot.press("enter")
        await shows(app, pilot, "Saved to calls/add.yaml:")
        print(Path("calls/add.yaml").read_text())

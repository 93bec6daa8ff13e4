"""The model view, and the cost of a result: what is shown, and the keys."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector.config.targets import RecordingTarget
from inspector.features.context.cost import cost_of
from inspector.features.context.screen import ModelScreen, ToolCostRows
from inspector.journal.journal import Journal
from inspector.tui.main.screen import MainScreen
from tests.tui.live_app import NARROW, WIDE, Live, becomes, running
from tests.tui.tui_screens import assert_in, press, screen_text

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "shop", "version": "1"}}
TOOLS: list[dict[str, Any]] = [
    {"name": "list_orders", "description": "List orders.", "inputSchema": {"type": "object", "properties": {}}},
    {
        "name": "create_order",
        "title": "Create",
        "description": "Create an order for a customer. " * 40,
        "inputSchema": {"type": "object", "properties": {"sku": {"type": "string", "minLength": 3}}},
    },
    {"name": "\x1b[31mred", "description": "\x1b[2J", "inputSchema": {"type": "object", "properties": {"$a": {}}}},
]
RESULT = {"content": [{"type": "text", "text": "x" * 400}], "structuredContent": {"a": 1}}


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "shop.mcp.jsonl"
    journal = Journal.create(path, {"kind": "stdio", "label": "shop"})
    exchanges: list[tuple[str, Any, Any]] = [
        ("initialize", {}, HELLO),
        ("tools/list", {}, {"tools": TOOLS}),
        ("tools/call", {"name": "list_orders", "arguments": {}}, RESULT),
    ]
    for id, (method, params, result) in enumerate(exchanges):
        request = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
        journal.record_sent("stdio", json.dumps(request).encode(), request)
        journal.record_received("stdio", [json.dumps({"jsonrpc": "2.0", "id": id, "result": result}).encode()])
    journal.close()
    journal.release()
    return path


async def opened(live: Live) -> ModelScreen:
    """The model view, counted."""
    app, pilot = live
    await becomes(
        app, pilot, lambda: isinstance(app.screen, MainScreen) and "create_order" in screen_text(app), "tools"
    )
    await pilot.press("v")
    await becomes(app, pilot, lambda: isinstance(app.screen, ModelScreen) and "~" in screen_text(app), "model view")
    screen = app.screen
    assert isinstance(screen, ModelScreen)
    return screen


@pytest.mark.slow
async def test_the_tools_stand_by_cost_with_the_text_of_one_and_its_limits(recording: Path) -> None:
    async with running(RecordingTarget(recording), size=WIDE) as (app, pilot):
        await becomes(app, pilot, lambda: "~100 tokens, structured ~2" in screen_text(app), "the cost of the result")
        screen = await opened((app, pilot))
        assert [tool.name for tool in screen.rows.rows] == ["create_order", "list_orders", "\x1b[31mred"]
        assert screen.tool.name == "list_orders"  # The cursor was on it.
        await press(pilot, "g", shows="▲ 1280")
        text = screen_text(app)
        assert_in(text, "1,280 characters; at most 1,024 characters", "Claude connectors directory")
        assert_in(text, "Sources", "mcp__shop__create_order")
        assert "\x1b" not in text
        await pilot.press("o")
        assert screen.rows.rows[0].name == "\x1b[31mred"
        await press(pilot, "slash", shows="esc leave", hides="budget")
        await press(pilot, *"create", "enter", shows="esc clear filter")
        assert [tool.name for tool in screen.rows.rows] == ["create_order"]
        await press(pilot, "escape", "escape", until=lambda: isinstance(app.screen, MainScreen), what="back")
        # A list that is read again is counted again.
        screen = await opened((app, pilot))
        screen.session.catalog["tools"].items.append({"name": "new_tool", "inputSchema": {}})
        screen.session.changes.bump("tools")
        await becomes(app, pilot, lambda: screen.rows.find("new_tool") is not None, "counted again")
        assert screen.tool.name == "list_orders"
        await press(pilot, "q", until=lambda: not app.is_running or app.return_code is not None, what="ended")


@pytest.mark.slow
async def test_a_narrow_screen_shows_one_pane_and_a_tool_is_opened(recording: Path) -> None:
    async with running(RecordingTarget(recording), size=NARROW) as (app, pilot):
        await opened((app, pilot))
        await press(pilot, "tab", shows="Model input")
        await press(pilot, "tab", shows="limits as of")
        await pilot.press("tab", "g", "enter")
        await becomes(
            app,
            pilot,
            lambda: isinstance(app.screen, MainScreen) and "create_order  Create" in screen_text(app),
            "the tool",
        )


@pytest.mark.slow
async def test_the_checks_have_the_limits_of_chosen_hosts(recording: Path) -> None:
    async with running(RecordingTarget(recording), size=WIDE) as (app, pilot):
        await becomes(app, pilot, lambda: "create_order" in screen_text(app), "tools")
        await press(pilot, "8", shows="runs the checks")
        await press(pilot, "h", shows="Limits of which hosts?")
        await pilot.press("down", "enter")
        await becomes(app, pilot, lambda: "hosts all" in screen_text(app) and "HOST-" in screen_text(app), "the notes")


def test_a_row_fits_its_width() -> None:
    rows = ToolCostRows()
    rows.refresh(cost_of(TOOLS))
    for width in (10, 30, 44, 120):
        for index in range(len(rows)):
            line = rows.render(index, width, False, False)
            assert "\x1b" not in "".join(segment.text for segment in line)
            if width >= 30:
                assert sum(segment.cell_length for segment in line) == width


def test_a_filtered_row_is_found_by_its_key() -> None:
    rows = ToolCostRows()
    rows.refresh(cost_of(TOOLS))
    rows.narrow("list_orders")
    assert [rows.index_of(rows.key_at(row)) for row in range(len(rows))] == [0]

"""Two recordings side by side: what is listed, what stands below, how one moves and where one can go."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from inspector.client.options import Options
from inspector.compare.rules import DEFAULT, ComparisonRules
from inspector.config.settings import Settings
from inspector.config.targets import RecordingTarget
from inspector.journal.journal import Journal
from inspector.tui.app import InspectorApp
from inspector.tui.diff.screen import DiffScreen, SideView
from inspector.tui.main.screen import MainScreen
from inspector.tui.widgets.virtual_list import VirtualList
from tests.tui.idle import quiet, wait_until
from tests.tui.live_app import NARROW, SESSION, WIDE, running
from tests.tui.tui_screens import assert_in, press, screen_text

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}


def recording(
    path: Path, version: str, description: str, answer: str, *, more: bool = False, schema: Any = None
) -> Path:
    """A short session: introduction, one tool, one call that is always the same and one that is not."""
    journal = Journal.create(path, {"kind": "stdio", "label": "s"})
    tools = [{"name": "add", "description": description, "inputSchema": schema or {"type": "object"}}]
    exchanges: list[tuple[str, Any, Any]] = [
        ("initialize", {}, HELLO | {"serverInfo": {"name": "s", "version": version}}),
        ("tools/list", {}, {"tools": tools}),
        ("tools/call", {"name": "same", "arguments": {}}, {"content": []}),
        ("tools/call", {"name": "add", "arguments": {}}, {"content": [{"type": "text", "text": answer}]}),
    ]
    if more:
        exchanges.append(("ping", {}, {}))
    for id, (method, params, result) in enumerate(exchanges):
        request = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
        journal.record_sent("stdio", json.dumps(request).encode(), request)
        journal.record_received("stdio", [json.dumps({"jsonrpc": "2.0", "id": id, "result": result}).encode()])
    journal.close()
    journal.release()
    return path


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    """Two recordings that differ in a description, an answer, and a ping."""
    return (
        recording(tmp_path / "old.mcp.jsonl", "1", "Adds.\nTwo numbers.", "three"),
        recording(tmp_path / "new.mcp.jsonl", "1", "Adds.\u200b\nTwo numbers.", "four", more=True),
    )


@asynccontextmanager
async def comparing(
    a: Path, b: Path, size: tuple[int, int] = WIDE, rules: ComparisonRules = DEFAULT
) -> AsyncIterator[tuple[InspectorApp, Pilot[int]]]:
    """The app on two recordings, when they have been compared."""
    app = InspectorApp(None, Options(), Settings(), comparing=(a, b, rules))
    async with app.run_test(size=size) as pilot:
        assert await wait_until(app, lambda: isinstance(app.screen, DiffScreen) and "Comparing" not in screen_text(app))
        await quiet(app)
        yield app, pilot


async def test_the_surface_stands_before_the_conversation_and_two_keys_go_through_the_differences(
    pair: tuple[Path, Path],
) -> None:
    async with comparing(*pair) as (app, pilot):
        await pilot.press("a")
        assert isinstance(app.screen, DiffScreen), "a change of the surface has no message"
        text = screen_text(app)
        rows = [line for line in text.splitlines() if line[2:4] in ("▲ ", "~ ", "+ ")]
        assert "description changed  hidden text" in rows[0]
        assert "tools/call  1 difference" in rows[1]
        assert "ping" in rows[2]
        assert_in(text, "text that a model reads has changed: tool add", "Adds.‹200B›")
        assert text.count("Two numbers.") >= 2
        # What is the same can be shown.
        assert "✓ same" not in text
        before = app.screen.query_one("#diff-rows", VirtualList).cursor
        await press(pilot, "s", shows="✓ same")
        assert app.screen.query_one("#diff-rows", VirtualList).cursor == before
        await press(pilot, "s", until=lambda: "✓ same" not in screen_text(app))
        await press(pilot, "right_square_bracket", shows='"text": "three"')
        assert '"text": "four"' in screen_text(app)
        for name, word in (("a", "three"), ("b", "four")):  # The lines that differ are marked.
            view = app.screen.query_one(f"#view-{name}", SideView)
            (line,) = view.marked
            section, at = view.section_at(line)
            assert word in section.text(at)
        await press(pilot, "right_square_bracket", shows="missing in A")
        await press(pilot, "right_square_bracket", "left_square_bracket", shows='"text": "three"')
        # One can go to the message and back.
        await pilot.press("b")
        assert await wait_until(app, lambda: isinstance(app.screen, MainScreen) and "four" in screen_text(app))
        await quiet(app)
        assert_in(screen_text(app), "event 8 of 10", "the comparison")
        await pilot.press("backspace")
        await quiet(app)
        assert isinstance(app.screen, DiffScreen)
        assert '"text": "four"' in screen_text(app)
        await pilot.press("escape")
        await quiet(app)
    assert app.return_code == 0


async def test_a_value_proves_that_a_change_breaks_clients(tmp_path: Path) -> None:
    old = recording(tmp_path / "old.mcp.jsonl", "1", "Adds.", "3")
    new = recording(tmp_path / "new.mcp.jsonl", "1", "Adds.", "3", schema={"type": "object", "required": ["n"]})
    async with comparing(old, new) as (app, _):
        text = screen_text(app)
        assert "argument n: is required now" in text
        assert text.count("e.g. {} is refused now") == 2


async def test_it_fits_a_small_terminal_and_names_one_that_is_too_small(pair: tuple[Path, Path]) -> None:
    async with comparing(*pair, size=NARROW) as (app, pilot):
        await pilot.press("right_square_bracket")
        assert_in(screen_text(app), "1 differs", '"three"', '"four"')
    async with comparing(*pair, size=(44, 14)) as (app, _):
        assert "Inspector needs 50 columns" in screen_text(app)


async def test_what_does_not_differ_is_ignored_hostile_or_cannot_be_read_is_reported(
    pair: tuple[Path, Path], tmp_path: Path
) -> None:
    async with comparing(pair[0], pair[0]) as (app, _):
        assert_in(screen_text(app), "The two recordings have the same surface and the same conversation.", "old (s 1)")
    async with comparing(*pair, rules=DEFAULT.plus(ignore=["tools/call:$.result"])) as (app, _):
        assert "1 difference" not in screen_text(app)
        assert "1 ignored" in screen_text(app)
    empty = tmp_path / "empty.mcp.jsonl"
    empty.write_text("")
    async with comparing(pair[0], empty) as (app, _):
        assert "is empty" in screen_text(app)
    hostile = Path(__file__).parents[2] / "recordings" / "hostile.mcp.jsonl"
    async with comparing(pair[0], hostile) as (app, pilot):
        view = app.screen.query_one("#diff-rows", VirtualList)
        await pilot.press(*["right_square_bracket"] * min(view.count, 12))
        assert "\x1b" not in screen_text(app)


async def test_the_sides_scroll_together(tmp_path: Path) -> None:
    long = "\n".join(f"line {n}" for n in range(200))
    a, b = (recording(tmp_path / f"{name}.mcp.jsonl", "1", long + name, "x") for name in "ab")
    async with comparing(a, b) as (app, pilot):
        await pilot.press("tab", "home", "pagedown")
        await quiet(app)
        one, other = (app.screen.query_one(f"#view-{name}", SideView) for name in "ab")
        assert one.scroll_offset.y == other.scroll_offset.y > 0


async def test_the_recording_in_view_is_compared_with_another_one_if_there_is_one(
    tmp_path: Path, pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(RecordingTarget(pair[1]), until="add") as (app, pilot):
        await app.screen.run_action("compare_with")
        assert await wait_until(app, lambda: "Compare with" in screen_text(app))
        assert "old.mcp.jsonl" in screen_text(app)
        await press(pilot, "enter", shows="text that a model reads has changed")
        await press(pilot, "escape", until=lambda: not isinstance(app.screen, DiffScreen))
    monkeypatch.setenv("INSPECTOR_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "alone").mkdir()
    alone = tmp_path / "alone" / "alone.mcp.jsonl"
    alone.write_bytes(SESSION.read_bytes())
    async with running(RecordingTarget(alone)) as (app, _):
        await app.screen.run_action("compare_with")
        assert await wait_until(app, lambda: "No other recording" in screen_text(app))

"""The table: columns, order, filter, rows, marks, CSV; on the keys that a person presses."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from textual.pilot import Pilot

from inspector.protocol.tables import Table, table_of, table_of_text
from inspector.tui.widgets.clipboard import Copied
from inspector.tui.widgets.table_view import AT_ONCE, TableHead, TableView
from tests.tui.tui_screens import Stage, on_stage, press, screen_lines, screen_text, settle

ROWS: list[dict[str, Any]] = [
    {"id": 3492, "customer": "Red Brick Books", "total": 1984.2, "tags": {"a": [1]}},
    {"id": 12345678901234567890123, "customer": "大阪紙業", "total": 7, "paid": True},
    {"id": -1, "customer": "Café du Port\nFrance", "total": 10.25, "paid": None},
]


def table(rows: Any = ROWS) -> Table:
    parsed = table_of(json.dumps(rows, ensure_ascii=False))
    assert parsed is not None
    return parsed


@asynccontextmanager
async def on_table(
    parsed: Table, width: int = 110, *, marks: Any = None, **more: Any
) -> AsyncIterator[tuple[Stage, Pilot[None], TableView]]:
    """A screen with a table, and the focus on its rows."""
    async with on_stage(TableView(), (width, 10), **more) as (app, pilot, view):
        view.load(parsed, marks)
        view.list.focus()
        await pilot.pause()
        yield app, pilot, view


async def test_numbers_are_exact_and_right_text_is_left_and_cells_are_copied_as_the_server_wrote_them() -> None:
    async with on_table(table()) as (app, pilot, view):
        lines = screen_lines(app)
        for number in ("                   3492  ", "12345678901234567890123  ", "                     -1  "):
            assert any(line.startswith(f" {number}") for line in lines), number
        at = lines[0].index("total")
        assert [line[at - 4 : at + 6].rstrip() for line in (lines[1], lines[3])] == ["  1984.2", "    10.25"]
        assert '{"a": [1]}' in lines[1]
        assert "大阪紙業" in lines[2]
        assert "null" in lines[3]
        await pilot.press("down", "c", "C", "enter")
        assert [message.text for message in app.messages_of(Copied)] == ["12345678901234567890123", view.table.json(1)]  # type: ignore[attr-defined]
        assert json.loads(app.messages_of(TableView.Opened)[0].json) == ROWS[1]  # type: ignore[attr-defined]


async def test_a_null_far_below_is_not_cut() -> None:
    rows = [{"n": at % 10, "t": "x"} for at in range(5000)]
    rows[3001] = {"n": None, "t": None}  # type: ignore[dict-item]
    async with on_table(table(rows), 60) as (app, pilot, view):
        await settle(pilot, lambda: "row 1 of" in screen_text(app) or " 0 " in screen_text(app))
        view.list.cursor = 3001
        await settle(pilot, lambda: screen_text(app).count("null") == 2)


async def test_a_column_is_sorted_up_down_and_not_at_all() -> None:
    async with on_table(table()) as (app, pilot, view):
        await pilot.press("right", "right")
        for rows, sign in (([1, 2, 0], "total ↑"), ([0, 2, 1], "total ↓"), ([0, 1, 2], "total")):
            await pilot.press("o")
            assert list(view.rows) == rows
            assert sign in screen_lines(app)[0]
        await pilot.press("down", "left", "left", "o")
        assert view.row == 1, "the cursor stays on the row it was on"
        await pilot.click(offset=(screen_lines(app)[0].index("customer") + 1, 0))
        assert view.column_name == "customer"
        assert view.columns.sorted_by == 1
        # Columns move, hide and come back.
        await pilot.press("left", "left", "shift+right", "minus")
        assert [view.table.columns[at].name for at in view.columns.order] == ["customer", "total", "tags", "paid"]
        assert screen_lines(app)[0].split()[0] == "customer"
        await pilot.press("equals_sign")
        names = [word for word in screen_lines(app)[0].split() if word.isalpha()]
        assert names == ["id", "customer", "total", "tags", "paid"]


async def test_letters_are_text_in_the_filter_and_matches_are_underlined() -> None:
    async with on_table(table()) as (app, pilot, view):
        await press(pilot, "slash", *"books", until=lambda: list(view.rows) == [0])
        assert view.note == "row 1 of 1 (3)"
        underlined = [
            segment.text
            for strip in app.screen._compositor.render_strips()
            for segment in strip
            if segment.style is not None and segment.style.underline
        ]
        assert underlined == ["Books"]
        await pilot.press("enter", "escape")
        assert len(view.rows) == 3
        await press(pilot, "slash", *"zzz", shows="No rows match")
        await press(pilot, "escape", "escape", until=lambda: len(view.rows) == 3)


async def test_what_is_saved_is_what_is_shown() -> None:
    parsed = table_of_text("name,total\n=cmd,1\nb,2\nc,3\n")
    assert parsed is not None
    async with on_table(parsed, 60) as (app, pilot, _view):
        await pilot.press("right", "o", "o", "shift+left", "slash", *"total:<3", "enter", "w")
        await settle(pilot, lambda: bool(app.messages_of(TableView.SaveRequested)))
        saved = app.messages_of(TableView.SaveRequested)[0]
        assert saved.data == b"total,name\r\n2,b\r\n1,=cmd\r\n"  # type: ignore[attr-defined]
        assert (saved.rows, saved.formulas) == (2, 1)  # type: ignore[attr-defined]


async def test_marks_stand_in_their_cell_with_the_reason_below() -> None:
    async with on_table(table(), marks={2: {2: "expected string, got 10.25"}}) as (app, pilot, view):
        assert "▲" in screen_lines(app)[3]
        assert "expected string" not in screen_text(app)
        view.go_to(2, 2)
        await settle(pilot, lambda: "▲ total expected string, got 10.25" in screen_text(app))
        await pilot.press("slash", *"red", "enter")
        assert list(view.rows) == [0]
        view.go_to(2, 2)
        assert view.row == 2, "the filter does not hide what is gone to"


async def test_a_thousand_columns_scroll_sideways() -> None:
    async with on_table(table([{f"k{at:03}": at for at in range(1_000)}, {"k999": "last"}]), 60) as (app, pilot, view):
        await pilot.press(*["right"] * 12)
        assert "k012" in screen_lines(app)[0]
        assert "k000" not in screen_lines(app)[0]
        view.columns.step(1_000)
        view.columns_changed()
        await pilot.pause()
        assert "k999" in screen_lines(app)[0]
        assert "last" in screen_text(app)


async def test_a_long_cell_takes_the_room_that_the_columns_leave() -> None:
    rows = [{"name": "Arrow", "in": ["Accounts & access", "Arrows", "People", "Text formatting"]}]
    async with on_table(table(rows), 80) as (app, _, _):
        assert '"Text formatting"]' in screen_lines(app)[1]
    async with on_table(table(rows), 60) as (app, _, _):
        assert screen_lines(app)[1].rstrip().endswith("…")


async def test_it_says_how_many_columns_do_not_fit() -> None:
    async with on_table(table(), 42) as (_app, pilot, view):
        assert view.note == "row 1 of 3  4 columns →"
        await pilot.press(*["right"] * 4)
        assert view.note == "row 1 of 3  ← 2 columns"
        await pilot.resize_terminal(110, 10)
        await settle(pilot, lambda: view.note == "row 1 of 3")


async def test_the_sign_of_hidden_columns_has_a_colour_at_every_width() -> None:
    async with on_table(table([{f"k{at:03}": at for at in range(100)}]), 40) as (app, pilot, _view):
        for width in range(40, 52):
            await pilot.resize_terminal(width, 10)
            inked = [segment for segment in app.query_one(TableHead).render_line(0) if segment.text.strip()]
            assert len(inked) > 1, width
            assert all(segment.style is not None and segment.style.color is not None for segment in inked), width


@pytest.mark.slow
async def test_many_rows_are_sorted_and_filtered_in_a_thread() -> None:
    rows = AT_ONCE * 3
    async with on_table(table([{"n": (at * 7919) % rows} for at in range(rows)]), 60) as (app, pilot, view):
        await press(pilot, "o", until=lambda: not view.busy)
        assert [line.split()[0] for line in screen_lines(app)[1:5]] == ["0", "1", "2", "3"]
        await press(pilot, "slash", *"n:>=5998", "enter", "end", until=lambda: view.note == f"row 2 of 2 ({rows:,})")


async def test_ascii_terminals_and_hostile_values() -> None:
    hostile = table([{"a\x1b[31m": "\x1b]0;x\x07", "b": "[red]x[/red]"}])
    async with on_table(hostile, 60, ascii_only=True) as (app, _pilot, _view):
        assert "\x1b" not in screen_text(app)
        assert "[red]x[/red]" in screen_text(app)

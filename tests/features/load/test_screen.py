"""The load test in the interface: the plan is asked for, the run is shown, stopped, saved; its recording opens."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from inspector.config.targets import StdioTarget
from inspector.errors import UsageError
from inspector.features.load import echo_server
from inspector.features.load.plan import LoadPlan, PlannedCall
from inspector.features.load.rows import error_rows, latency_rows, now_rows, plan_rows, process_rows, series_rows
from inspector.features.load.screen import LoadDialog, LoadScreen, planned, report_text
from inspector.tui.widgets.fact_rows import FactsView, Row, RowSection, plain
from tests.features.load.simulated import stalls
from tests.features.load.test_report import run
from tests.tui.live_app import NARROW, WIDE, running, shows
from tests.tui.tui_screens import assert_in, press, screen_text

ECHO = StdioTarget((sys.executable, "-I", echo_server.__file__, "stdio"))
PLAN = LoadPlan((PlannedCall("get", {"k": "v"}),))


@pytest.fixture(autouse=True)
def short_floor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspector.features.load.floor.SECONDS", 0.25)


def test_the_fields_of_the_dialog_make_a_plan() -> None:
    plan = planned(PLAN, {"rate": "50/s", "seconds": "2 min", "warm_up": "500ms", "max_waiting": "2,000"})
    assert (plan.rate, plan.seconds, plan.warm_up, plan.max_waiting) == (50, 120, 0.5, 2000)
    assert planned(plan, {"users": "3", "rate": "", "seconds": "5"}).warm_up == 1
    for wrong in ({"rate": "x"}, {"users": "1.5"}, {"rate": "1", "users": "1"}, {"rate": "0"}, {"seconds": "-1"}):
        with pytest.raises(UsageError):
            planned(PLAN, wrong)


@pytest.mark.parametrize("cells", [30, 60])
def test_no_row_is_wider_than_its_pane(cells: int) -> None:
    load_report = run(0.025, stalls)
    for rows in (
        now_rows(load_report, 5.0, 16, 300, cells), latency_rows(load_report, max(cells, 40))[:-1], series_rows(load_report, cells, 4),
        process_rows(load_report, cells, 3), error_rows(load_report, cells),
    ):  # fmt: skip
        assert max(len(line) for line in plain(rows[:-1]).split("\n")) <= max(cells, 40)


def test_what_stands_beside_a_count_has_room_or_is_left_out() -> None:
    for most, suffix in ((1000, " of 1,000"), (1_000_000, "")):
        load_report = run(0.025, max_waiting=most)
        (line,) = [
            line for line in plain(now_rows(load_report, 5.0, 16, 300, 32)).split("\n") if line.startswith("waiting")
        ]
        assert line.removeprefix("waiting").strip().removeprefix("316") == suffix


def test_a_json_report_has_escapes_for_characters_that_move_text() -> None:
    load_report = run(0.025, stalls)
    load_report.target = "\u202eshop\x9b31m\ud800"
    text = report_text(load_report, "json")
    assert "\\u202eshop\\u009b31m\\ud800" in text
    assert json.loads(text)["target"] == load_report.target


def test_rows_show_the_figures_and_the_last_lines_of_a_server_that_ended() -> None:
    load_report = run(0.025, stalls)
    assert_in(plain(latency_rows(load_report, 60)), "from the planned start", "p99")
    assert "closed, 3 users" in plain(plan_rows(run(0.02, users=3).plan))
    assert "/s" in plain(series_rows(load_report, 60, 4)).split("\n")[0]
    assert "k=" in plain(plan_rows(PLAN))
    ended = plain(error_rows(run(0.025, more={"lost": 1, "stderr": ("fatal: \x1b[31mno memory",)}), 40))
    assert "fatal: " in ended
    assert "\x1b" not in ended


@pytest.mark.slow
async def test_a_tool_is_loaded_and_the_run_is_stopped_and_saved(home: Path) -> None:
    async with running(ECHO, size=WIDE, until="Returns at once", keep=True) as (app, pilot):
        await press(pilot, "enter", shows="^s save call")
        await press(pilot, "f12", until=lambda: isinstance(app.screen, LoadDialog), what="the dialog")
        await press(pilot, "ctrl+r", until=lambda: isinstance(app.screen, LoadScreen), what="the screen")
        screen = app.screen
        assert isinstance(screen, LoadScreen)
        await shows(app, pilot, "space pause")
        await press(pilot, "plus", "space", shows="open, 12.5/s")
        await shows(app, pilot, "space go on")
        await press(pilot, "space", "escape", shows="incomplete")
        await shows(app, pilot, "esc back")
        assert screen._report is not None
        assert '"model": "open"' in report_text(screen._report, "json")
        await press(pilot, "x", shows="a web page with plots")
        await press(pilot, "enter", shows="Save the report")
        await press(pilot, "enter", until=lambda: bool(list(home.glob("*-load.html"))), what="a file")
        await press(pilot, "e", until=lambda: isinstance(app.screen, LoadDialog), what="the dialog")
        await press(pilot, "escape", "m", shows="read-only")
        await shows(app, pilot, "tools/call")
        await press(pilot, "backspace", until=lambda: app.screen is screen, what="the report")
        await press(pilot, "escape", until=lambda: not isinstance(app.screen, LoadScreen), what="the session")


@pytest.mark.slow
async def test_a_narrow_screen_shows_one_column_beside_the_counts() -> None:
    async with running(ECHO, size=NARROW, until="Returns at once") as (app, pilot):
        await press(pilot, "enter", shows="^s save call")
        await press(pilot, "f12", until=lambda: isinstance(app.screen, LoadDialog), what="the dialog")
        await press(pilot, "ctrl+r", shows="Latency")
        assert "Over time" not in screen_text(app)
        await press(pilot, "right_curly_bracket", shows="Over time")
        assert "Latency" not in screen_text(app)
        # A long verdict is shown whole. While the run goes on, its own would replace it.
        await press(pilot, "escape", shows="esc back")
        verdict = " ".join(f"word{at}" for at in range(60))
        app.screen.query_one("#load-verdict-text", FactsView).show(RowSection([Row([verdict], 2)]))
        await shows(app, pilot, "word59")
        assert "word0 " in screen_text(app)
        await pilot.press("escape")

"""Which panes are visible, and where the focus rests, by tab, width, zoom and connection."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from inspector.tui.model.arrangement import Arrangement, ConnectionView, FocusIn, Front, LogPlace, Zoom
from inspector.tui.model.tabs import TABS, shown_tabs
from inspector.tui.model.widths import LIST_CELLS

WIDE, MEDIUM, NARROW = 160, 110, 80
PACKAGE = Path(__file__).parents[3] / "inspector"
MISSING, AWAY = ConnectionView.MISSING, ConnectionView.LOOKED_AWAY


@pytest.mark.parametrize(
    ("arrangement", "visible", "log"),
    [
        # The log is beside the form, without its detail, until the user goes there.
        (Arrangement("tools", WIDE), "catalog work log messages", LogPlace.BESIDE_FORM),
        (Arrangement("tools", WIDE, in_log=True), "catalog work log messages detail", LogPlace.COLUMN),
        (Arrangement("tools", WIDE, form_shown=False), "catalog work log messages", LogPlace.COLUMN),
        (Arrangement("inbox", WIDE), "inbox work log messages", LogPlace.BESIDE_FORM),
        (Arrangement("tasks", WIDE), "tasks task log messages", LogPlace.COLUMN),
        (Arrangement("server", WIDE), "server log messages", LogPlace.COLUMN),
        (Arrangement("tools", MEDIUM), "catalog work log messages", LogPlace.BELOW),
        (Arrangement("tools", MEDIUM, in_log=True), "catalog work log messages", LogPlace.BELOW),
        (Arrangement("tools", MEDIUM, Front.DETAIL, in_log=True), "catalog work log messages detail", LogPlace.BELOW),
        (Arrangement("tools", MEDIUM, Front.DETAIL), "catalog work log messages", LogPlace.BELOW),
        (Arrangement("tools", NARROW), "catalog", LogPlace.NONE),
        (Arrangement("tools", NARROW, Front.BESIDE), "work", LogPlace.NONE),
        (Arrangement("tools", NARROW, Front.MESSAGES), "log messages", LogPlace.ALONE),
        (Arrangement("tools", NARROW, Front.DETAIL), "log detail", LogPlace.ALONE),
        (Arrangement("calls", NARROW, Front.BESIDE), "flow", LogPlace.NONE),
        (Arrangement("server", NARROW, Front.BESIDE), "server", LogPlace.NONE),
        # The checks have the width of the log, until the user goes there.
        (Arrangement("check", WIDE), "check", LogPlace.NONE),
        (Arrangement("check", WIDE, Front.MESSAGES, in_log=True), "check log messages detail", LogPlace.COLUMN),
        (Arrangement("tools", WIDE, log_hidden=True), "catalog work", LogPlace.NONE),
        (Arrangement("tools", NARROW, Front.MESSAGES, log_hidden=True), "log messages", LogPlace.ALONE),
        # Zoom
        (Arrangement("tools", WIDE, zoom=Zoom.LOG), "log messages detail", LogPlace.ALONE),
        (Arrangement("check", MEDIUM, zoom=Zoom.LOG), "log messages detail", LogPlace.ALONE),
        (Arrangement("tools", NARROW, Front.MESSAGES, Zoom.LOG), "log messages", LogPlace.ALONE),
        (Arrangement("tools", NARROW, Front.DETAIL, Zoom.LOG), "log detail", LogPlace.ALONE),
        (Arrangement("tools", WIDE, Front.MESSAGES, Zoom.TIMELINE), "log timeline", LogPlace.ALONE),
        (Arrangement("tools", WIDE, Front.DETAIL, Zoom.TIMELINE), "log timeline detail", LogPlace.ALONE),
        (Arrangement("tools", NARROW, Front.DETAIL, Zoom.TIMELINE), "log detail", LogPlace.ALONE),
        # Without a connection
        (Arrangement("tools", WIDE, connection=MISSING), "failed log messages", LogPlace.COLUMN),
        (Arrangement("tools", WIDE, connection=AWAY), "catalog work log messages", LogPlace.BESIDE_FORM),
        (Arrangement("server", WIDE, connection=AWAY), "failed log messages", LogPlace.COLUMN),
        (Arrangement("check", WIDE, connection=MISSING), "check", LogPlace.NONE),
        (Arrangement("tools", NARROW, Front.BESIDE, connection=MISSING), "failed", LogPlace.NONE),
        (Arrangement("tools", NARROW, Front.DETAIL, connection=MISSING), "log detail", LogPlace.ALONE),
    ],
)
def test_which_panes_are_visible(arrangement: Arrangement, visible: str, log: LogPlace) -> None:
    assert arrangement.visible() == set(visible.split())
    assert arrangement.log_place is log


def test_the_log_has_its_column_while_the_user_works_in_it() -> None:
    beside = Arrangement("tools", WIDE)
    for way_in in (
        beside.with_log(Front.DETAIL),
        beside.with_focus(FocusIn.MESSAGES),
        beside.with_focus(FocusIn.DETAIL),
    ):
        assert way_in.log_place is LogPlace.COLUMN
        for way_out in (
            way_in.with_front(way_in.before_log),
            way_in.with_focus(FocusIn.BESIDE),
            way_in.with_tab("prompts", has_lists=True),
        ):
            assert way_out.log_place is LogPlace.BESIDE_FORM


def every_arrangement() -> list[Arrangement]:
    parts = ([tab.id for tab in TABS], (WIDE, MEDIUM, NARROW), Front, Zoom, (False, True), ConnectionView)
    return [Arrangement(*values) for values in itertools.product(*parts)]


def test_in_every_arrangement_the_focus_rests_on_a_visible_pane_and_one_column_shows_one() -> None:
    for arrangement in every_arrangement():
        visible = arrangement.visible()
        assert arrangement.resting_pane in visible, arrangement
        assert not arrangement.narrow or len(visible - {"log"}) == 1, arrangement
        after = arrangement.with_tab("prompts", has_lists=True)
        assert (after.zoom, after.front, after.shows_failure) == (Zoom.NONE, Front.MAIN, False)


@pytest.mark.parametrize(
    ("tab", "connection", "shows_failure"),
    [
        ("tools", MISSING, True),
        ("tools", AWAY, False),
        ("server", AWAY, True),
        ("check", MISSING, False),
        ("server", ConnectionView.FINE, False),
    ],
)
def test_a_tab_shows_the_failure_until_the_user_looks_at_another(
    tab: str, connection: ConnectionView, shows_failure: bool
) -> None:
    assert Arrangement(tab, WIDE, connection=connection).shows_failure is shows_failure


def test_without_lists_a_tab_goes_on_showing_the_failure() -> None:
    missing = Arrangement("tools", WIDE).with_connection(missing=True)
    assert missing.with_tab("prompts", has_lists=False).connection is MISSING
    away = missing.with_tab("prompts", has_lists=True)
    assert away.connection is AWAY
    assert away.with_connection(missing=True) == away
    assert away.with_connection(missing=False).with_connection(missing=True).connection is MISSING
    narrow = Arrangement("tools", NARROW, Front.BESIDE)
    assert narrow.with_connection(missing=True).with_connection(missing=False).visible() == {"catalog"}
    assert narrow.with_connection(missing=False).visible() == {"work"}


@pytest.mark.parametrize(
    ("arrangement", "focus", "live", "front"),
    [
        (Arrangement("tools", WIDE), FocusIn.DETAIL, True, Front.MESSAGES),
        (Arrangement("tools", WIDE, before_log=Front.BESIDE), FocusIn.MESSAGES, True, Front.BESIDE),
        (Arrangement("tools", MEDIUM, Front.DETAIL), FocusIn.MESSAGES, True, Front.MESSAGES),
        (Arrangement("tools", MEDIUM, Front.DETAIL, Zoom.LOG), FocusIn.MESSAGES, True, None),
        (Arrangement("tools", NARROW, Front.MESSAGES), FocusIn.MESSAGES, True, Front.MAIN),
        (Arrangement("check", WIDE, Front.MESSAGES), FocusIn.MESSAGES, True, Front.MAIN),
        (Arrangement("tools", NARROW, Front.MESSAGES, Zoom.LOG), FocusIn.MESSAGES, True, None),
        (Arrangement("tools", NARROW, Front.BESIDE), FocusIn.ELSEWHERE, False, Front.MAIN),
        (Arrangement("tools", NARROW, Front.BESIDE), FocusIn.BESIDE, True, None),
    ],
)
def test_where_back_leads(arrangement: Arrangement, focus: FocusIn, live: bool, front: Front | None) -> None:
    assert arrangement.back(focus, live=live) is front


@pytest.mark.parametrize(("focus", "front"), [(FocusIn.BESIDE, Front.BESIDE), (FocusIn.ELSEWHERE, Front.MAIN)])
def test_back_from_the_log_leads_to_the_pane_that_had_the_focus(focus: FocusIn, front: Front) -> None:
    before = Front.MAIN if front is Front.BESIDE else Front.BESIDE
    in_log = Arrangement("tools", WIDE, before_log=before).with_focus(focus).with_focus(FocusIn.MESSAGES)
    assert in_log.back(FocusIn.MESSAGES, live=True) is front


def test_a_screen_that_becomes_narrow_shows_the_pane_with_the_focus() -> None:
    wide = Arrangement("tools", WIDE)
    assert wide.with_width(NARROW, FocusIn.BESIDE).front is Front.BESIDE
    assert wide.with_width(NARROW, FocusIn.MESSAGES).visible() == {"log", "messages"}
    narrow = wide.with_width(NARROW, FocusIn.BESIDE)
    assert narrow.with_width(70, FocusIn.ELSEWHERE).front is Front.BESIDE
    assert wide.with_width(MEDIUM, FocusIn.DETAIL).front is Front.DETAIL


def test_the_log_is_shown_again_by_each_way_to_it() -> None:
    hidden = Arrangement("tools", WIDE).with_log_toggled()
    assert "log" not in hidden.visible()
    assert "log" in hidden.with_log(Front.MESSAGES).visible()
    assert "log" in hidden.with_log_zoomed(True).with_log_zoomed(False).visible()
    assert "log" in hidden.with_log_toggled().visible()
    assert not Arrangement("tools", WIDE, zoom=Zoom.LOG).with_log_toggled().is_zoomed


def test_the_zoom_of_a_pane_ends_with_any_other_pane() -> None:
    zoomed = Arrangement("tools", WIDE).with_pane_zoomed(True)
    assert zoomed.screen_classes()["-zoomed"]
    assert not zoomed.with_front(Front.DETAIL).is_zoomed
    assert not zoomed.with_log(Front.MESSAGES).is_zoomed
    in_log = Arrangement("tools", WIDE).with_log_zoomed(True)
    assert in_log.with_front(Front.DETAIL).log_zoomed
    assert not in_log.without_log_zoom().is_zoomed


@pytest.mark.parametrize("width", [WIDE, MEDIUM, NARROW])
def test_a_zoomed_log_survives_every_width(width: int) -> None:
    zoomed = Arrangement("tools", WIDE).with_log_zoomed(True).with_width(width, FocusIn.MESSAGES)
    assert {"log", "messages"} <= zoomed.visible() <= {"log", "messages", "detail"}


def test_list_form_and_log_fill_the_width() -> None:
    for width in range(140, 400):
        beside = Arrangement("tools", width)
        assert LIST_CELLS + beside.form_cells + beside.log_cells == width
        assert beside.form_cells >= 40
        assert Arrangement("tools", width, in_log=True).form_cells == 0


def test_the_columns_of_every_screen_change_at_the_named_widths() -> None:
    of_its_own = re.compile(
        r"size\.width (?:<|<=|>|>=) \d|^_?(?:WIDE|NARROW|MEDIUM)\b|BREAKPOINTS = .*\([1-9]\d*,", re.M
    )
    files = [*(PACKAGE / "tui").rglob("*.py"), *(PACKAGE / "features").rglob("*.py")]
    assert [file.name for file in files if of_its_own.search(file.read_text(encoding="utf-8"))] == []


def test_a_tab_for_which_there_is_nothing_is_shown_while_it_is_in_front() -> None:
    always = {tab.id for tab in shown_tabs("tools", frozenset())}
    assert {tab.id for tab in shown_tabs("inbox", frozenset())} - always == {"inbox"}
    assert {tab.id for tab in shown_tabs("tools", frozenset({"inbox", "tasks"}))} - always == {"inbox", "tasks"}

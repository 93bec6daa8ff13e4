"""The timeline: its window and cursor, what its lanes draw, and its keys."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector.client.recorded_session import RecordedSession
from inspector.config.targets import RecordingTarget
from inspector.journal.filters import parse
from inspector.journal.journal import Journal
from inspector.tui.pane_messages import HintsChanged, Save, ShowEvent
from inspector.tui.timeline.drawing import LaneDrawing, axis, clock_line, strip, tick_of, tick_text
from inspector.tui.timeline.pane import TimelinePane
from inspector.tui.timeline.view import MAX_ITEMS, TimelineView, TimeWindow, time_text
from tests.tui.live_app import MEDIUM, NARROW, WIDE, demo, running
from tests.tui.live_demo import on_pane
from tests.tui.recorded_conversation import Talk, read
from tests.tui.tui_screens import assert_in, press, screen_lines, screen_text, settle

KINDS = Path(__file__).parents[2] / "recordings" / "kinds"


def orders() -> Talk:
    """Ten seconds: overlapping calls, one that fails, one that waits for a person, notifications, one in flight."""
    talk = Talk()
    talk.journal.record_life("stdio", "spawn", argv=["server"], pid=7)
    talk.at(1000).call(1, "search")  # 2
    talk.at(1500).call(2, "create")  # 3
    talk.at(1800).say(1, "x")  # 4
    talk.at(2000).receive({"jsonrpc": "2.0", "id": 9, "method": "elicitation/create", "params": {"message": "Sure?"}})
    talk.at(4000).send({"jsonrpc": "2.0", "id": 9, "result": {"action": "accept", "content": {}}})
    talk.at(4500).notice("message", level="info", data="half way")  # 7
    talk.at(5000).say(2, "x")  # 8
    talk.at(6000).call(3, "pay")  # 9
    talk.at(7000).say(3, "declined", failed=True)  # 10
    talk.at(8000).call(4, "report")  # 11
    talk.at(10_000)
    talk.journal.record_stderr("stderr", [b"slow \x1b[31mdisk"])  # 12
    return talk


def view_of(session: RecordedSession, cells: int = 100) -> TimelineView:
    view = TimelineView(session)
    view.advance()
    view.fit(cells)
    return view


def later(talk: Talk, view: TimelineView, ms: int) -> None:
    """Another message comes, and is read."""
    talk.at(ms).notice("message", level="info", data="x")
    view.advance()


def show(view: TimelineView, begin: int, end: int) -> None:
    """Show a period."""
    view.is_whole = False
    view.window = TimeWindow(begin, -(-(end - begin) // view.window.cells), view.window.cells).within(view.latest)


def drawn(view: TimelineView, height: int = 12) -> dict[str, list[str]]:
    """The lines of each lane, without spaces at the end."""
    names = {2: "search", 3: "create", 5: "Sure?", 7: "half way", 9: "pay", 11: "report", 12: "slow", 1: "spawn"}
    lines_by_name: dict[str, list[str]] = {}
    name = ""
    for line in LaneDrawing(view, lambda n: names.get(n, str(n))).lines(height):
        name = line.name or name
        lines_by_name.setdefault(name, []).append(line.cells.text.rstrip())
    return lines_by_name


# The window


@pytest.mark.parametrize(
    ("part", "at", "expected"),
    [(0.5, 50_000, (25_000, 500)), (0.5, 0, (0, 500)), (2, 50_000, (0, 1000)), (0.5, 99_999, (50_000, 500))],
)
def test_zoom_keeps_the_time_at_the_cursor_and_stays_in_the_session(
    part: float, at: int, expected: tuple[int, int]
) -> None:
    zoomed = TimeWindow(0, 1000, 100).zoomed(part, at).within(99_999)
    assert (zoomed.begin, zoomed.step) == expected


def test_zoom_ends_at_a_microsecond() -> None:
    window = TimeWindow(0, 1, 100).zoomed(0.5, 50)
    assert (window.step, window.zoomed(2, 50).step) == (1, 2)


def test_the_whole_session_grows_and_follows_until_the_cursor_moves() -> None:
    talk = orders()
    view = view_of(talk.session)
    assert (view.window.begin, view.window.length >= 10_000_001, view.cursor) == (0, True, 10_000_000)
    later(talk, view, 20_000)
    assert (view.window.length >= 20_000_001, view.cursor) == (True, 20_000_000)
    view.move(-50)
    later(talk, view, 30_000)
    assert view.window.length >= 30_000_001
    assert 9_000_000 < view.cursor < 11_000_000
    view.follow()
    later(talk, view, 40_000)
    assert view.cursor == 40_000_000


def test_the_cursor_goes_to_a_time_that_is_not_read_yet_and_a_window_at_the_end_follows_it() -> None:
    talk = orders()
    view = TimelineView(talk.session)
    view.start_at(5_000_000)
    view.advance()
    assert view.cursor == 5_000_000
    later(talk, view, 30_000)
    assert view.cursor == 5_000_000
    view = view_of(talk.session)
    view.zoom(0.5)
    later(talk, view, 40_000)
    assert view.window.end == 40_000_001
    view.pan(-1)
    before = view.window
    later(talk, view, 50_000)
    assert view.window == before


def test_pan_and_cursor_move_the_window() -> None:
    view = view_of(orders().session)
    view.go_to(0)
    for _ in range(2):
        view.zoom(0.5)
    assert view.window.begin == 0
    quarter = view.window.length // 4
    view.pan(1)
    assert view.window.begin == quarter
    assert view.cursor == view.window.begin
    view.move(-1)
    assert view.window.begin == view.cursor == quarter - view.window.step
    view.pan(-1)
    view.pan(-1)
    assert view.window.begin == 0
    view.zoom(2)
    view.zoom(2)
    assert view.is_whole


def test_a_range_becomes_a_filter_that_finds_its_messages() -> None:
    for us, text in ((0, "0s"), (24_200_000, "24.2s"), (1500, "0.0015s"), (1, "0.000001s")):
        assert time_text(us) == text
    talk = orders()
    view = view_of(talk.session)
    view.go_to(4_400_000)
    view.toggle_mark()
    view.go_to(7_100_000)
    assert view.filter == "time:4.4s-7.2s"
    assert list(parse(view.filter).numbers(talk.journal)) == [7, 8, 9, 10]
    view.toggle_mark()
    assert list(parse(view.filter).numbers(talk.journal)) == list(range(1, 13))
    # It keeps the filter of the log.
    view.narrow(parse("dir:send | status:error"))
    show(view, 5_000_000, 7_500_000)
    assert view.filter == "(dir:send | status:error) time:5s-7.5s"
    assert list(parse(view.filter).numbers(talk.journal)) == [9, 10]
    view.narrow(parse(view.filter))
    show(view, 0, 2_000_000)
    assert view.filter == "(dir:send | status:error) time:0s-2s"
    view.narrow(parse("time:0s-2s"))
    assert view.filter == "time:0s-2s"


# What is at the cursor


@pytest.mark.parametrize(
    ("ms", "expected"),
    [(500, []), (1200, [2]), (1600, [2, 3]), (2500, [3, 5]), (4500, [3, 7]), (9000, [11]), (10_000, [11, 12])],
)
def test_messages_at_the_cursor(ms: int, expected: list[int]) -> None:
    view = view_of(orders().session)
    view.go_to(ms * 1000)
    assert view.items() == expected
    assert view.nearest() == (expected[0] if expected else 1)


def test_another_message_at_the_cursor_is_chosen() -> None:
    view = view_of(orders().session)
    view.go_to(2_500_000)
    for by, expected in ((1, 5), (1, 5), (-1, 3), (-5, 3), (1, 5)):
        view.choose(by)
        assert view.chosen(view.items()) == expected
    view.move(1)
    assert view.chosen(view.items()) == 3


def test_very_many_messages_at_the_cursor_cost_only_those_that_can_be_selected() -> None:
    talk = Talk()
    for n in range(1, 400):
        talk.at(n).call(n, "search")
        talk.say(n, "x")
        talk.notice("message", level="info", data="x")
    items = view_of(talk.session, cells=1).items()
    assert len(items) == len(set(items)) == MAX_ITEMS


# The lanes


def test_lanes_show_bars_in_rows_names_and_signs() -> None:
    lanes = drawn(view_of(orders().session))
    assert {name: [line for line in lines if line] for name, lines in lanes.items()} == {
        "requests": [
            "         █search██                                         █✗ pay█████         █report██████████████",
            "              █create█████████████████████████████",
        ],
        "in flight": ["              ████"],
        "at most 2": [
            "         █████████████████████████████████████████         ███████████         █████████████████████"
        ],
        "server asks": ["                   █Sure?███████████████"],
        "notifications": ["                                            ↯ half way"],
        "process": [f"▪ spawn{' ' * 92}▪"],
    }


def test_a_gap_is_a_fold_that_says_how_long_it_was_and_a_filter_has_real_times() -> None:
    talk = Talk()
    for id, ms in ((1, 0), (2, 3_600_000)):
        talk.at(ms).call(id, "search")
        talk.at(ms + 1000).say(id, "x")
    view = view_of(talk.session)
    lanes = drawn(view)
    cells = view.window.cell(view.lanes.time(2)), view.window.cell(view.lanes.time(3))
    assert (view.latest, cells) == (2_200_000, (45, 54))
    fold = view.window.cell(1_100_000)
    assert cells[0] < fold < cells[1]
    assert {lines[0][fold] for lines in lanes.values()} == {"┊"}
    assert clock_line(view).text[fold:].startswith("┊ 59 m 59 s gap")
    view.go_to(view.lanes.time(3))
    assert "1:00:00.000" in clock_line(view).text
    show(view, view.lanes.time(3), view.latest + 1)
    assert list(parse(view.filter).numbers(talk.journal)) == [3, 4]
    assert view.events(*view.range) == (3, 4)


def test_a_bar_has_the_colour_of_its_outcome_and_of_the_person() -> None:
    view = view_of(orders().session)
    drawing = LaneDrawing(view, lambda n: "")
    assert [drawing.role(n) for n in (2, 5, 9, 11)] == ["chart", "chart-ask", "chart-error", "chart-dim"]
    requests = drawing.lines(12)[:3]
    cells = {role: sum(len(text) for line in requests for text, own in line.cells.roles() if own.startswith(role))
             for role in ("chart-ask", "chart-error")}  # fmt: skip
    assert cells == {"chart-ask": 21, "chart-error": 11}


def test_more_requests_than_rows_are_counted() -> None:
    talk = Talk()
    for id in range(1, 301):
        talk.at(id).call(id, "a")
    for id in range(1, 301):
        talk.at(1000 + id).say(id, "x")
    lines = drawn(view_of(talk.session), height=8)["requests"]
    assert len(lines) == 7
    assert lines[-1] == "+294 more, at most 300 in flight"


def test_what_comes_after_the_moment_of_a_replay_is_faint() -> None:
    talk = orders()
    session = talk.session
    session.at(5, 2_000_000)
    view = view_of(session)
    lines = {line.name: line.cells.roles() for line in LaneDrawing(view, lambda n: "name").lines(12)}
    assert {role for _, role in lines["notifications"] if role} == {"faint"}
    asks = [role for text, role in lines["server asks"] if text.strip()]
    assert "chart-dim" in {role.partition("/")[0] for role in asks}


def roles_of(view: TimelineView, lane: str, height: int = 16) -> list[tuple[str, str]]:
    """The texts of a lane's first line with their roles, without what is empty."""
    lines = {line.name: line.cells.roles() for line in LaneDrawing(view, lambda n: f"name-{n}").lines(height)}
    return [(text, role) for text, role in lines[lane] if role]


def test_a_login_is_drawn_in_its_parts_and_that_of_the_person_as_a_question() -> None:
    view = view_of(read(KINDS / "auth.mcp.jsonl"), 120)
    show(view, 80_000, 175_000)
    drawn = roles_of(view, "login")
    assert "browser" in "".join(text for text, role in drawn if role.startswith("chart-ask"))
    assert "discovery" in "".join(text for text, role in drawn if role.startswith("chart/"))
    assert "token" in "".join(text for text, _ in drawn)
    asked = sum(len(text) for text, role in drawn if role.startswith("chart-ask"))
    assert asked == pytest.approx((165_584 - 96_910) / view.window.step, abs=2)


def test_what_does_not_match_the_filter_of_the_log_is_faint() -> None:
    view = view_of(orders().session)

    def narrow(words: str) -> set[str]:
        """Narrow the log; returns the roles of the notifications."""
        view.narrow(parse(words) if words else None)
        view.advance()
        return {role.partition("/")[0] for _, role in roles_of(view, "notifications")}

    assert narrow("name:pay") == {"faint"}
    requests = [line for line in LaneDrawing(view, lambda n: f"name-{n}").lines(16)][:2]
    roles = {role.partition("/")[0] for line in requests for text, role in line.cells.roles() if role}
    assert roles == {"faint", "chart-error"}
    assert "notification" in narrow("half")
    assert "faint" not in narrow("")


def test_a_hostile_name_is_harmless_and_wide_characters_keep_the_width() -> None:
    view = view_of(orders().session)
    drawing = LaneDrawing(view, lambda n: "注文\x1b[31m" * 50)
    for line in drawing.lines(12):
        assert "\x1b" not in line.cells.text
        assert sum(len(text) for text, _ in line.cells.roles()) <= 100


@pytest.mark.parametrize(("step", "tick", "texts"), [
    (1, 10, ["0", "0.01 ms"]), (150, 2000, ["0", "2 ms"]), (17_600, 200_000, ["0", "0.2 s"]),
    (560_000, 10_000_000, ["0", "10 s"]), (5_000_000, 50_000_000, ["0", "50 s"]),
    (30_000_000, 300_000_000, ["0", "5 m"]),
    (1_000_000_000, 14_400_000_000, ["0", "4 h 00 m"]),
    (10**12, 112 * 86_400_000_000 + 0, ["0"]),
])  # fmt: skip
def test_the_axis_has_round_ticks(step: int, tick: int, texts: list[str]) -> None:
    actual = tick_of(step)
    if step < 10**12:
        assert actual == tick
    assert actual >= step * 10
    assert [tick_text(at * actual, actual) for at in range(len(texts))] == texts


def test_axis_and_strip_have_the_length_of_the_line() -> None:
    view = view_of(orders().session, 80)
    assert len(axis(view).text) == 80
    line = strip(view, 60)
    assert len(line.text) == 60
    assert "error" in {role for _, role in line.roles()}


# The pane


async def test_the_pane_zooms_marks_and_filters_by_keys() -> None:
    async with on_pane(TimelinePane(orders().session), (150, 40)) as (app, pilot, pane):
        await settle(pilot, lambda: "total" in screen_text(app))
        words = ("Session", "12 events", "whole session", "By method", "person", "1 in flight", "elicitation/create")
        assert_in(screen_text(app), *words)
        await pilot.press("home", "plus", "plus")
        assert not pane.view.is_whole
        await pilot.press("right", "right", "space", "right", "right")
        assert "marked" in screen_text(app)
        await pilot.press("slash")
        assert [message.filter[:5] for message in app.messages_of(TimelinePane.Left)] == ["time:"]  # type: ignore[attr-defined]
        await pilot.press("escape")
        assert pane.view.mark is None
        await pilot.press("escape")
        assert pane.view.is_whole
        await pilot.press("escape")
        assert len(app.messages_of(TimelinePane.Left)) == 2
        # Enter opens the chosen message, and the figures are sorted and saved.
        pane.view.go_to(2_500_000)
        await pilot.press("down", "enter")
        assert [message.n for message in app.messages_of(ShowEvent)] == [5]  # type: ignore[attr-defined]
        await settle(pilot, lambda: "max ↓" in screen_text(app))
        await pilot.press("o")
        assert "count ↓" in screen_text(app)
        await pilot.press("w")
        assert json.loads(app.messages_of(Save)[0].data)["total"]["errors"] == 1  # type: ignore[attr-defined]


async def test_saved_figures_have_escapes_for_characters_that_move_text() -> None:
    talk = Talk()
    talk.at(1000).receive({"jsonrpc": "2.0", "id": 9, "method": "\u202eevil\x9b\ud800"})
    async with on_pane(TimelinePane(talk.session), (150, 40)) as (app, pilot, _pane):
        await settle(pilot, lambda: "max ↓" in screen_text(app))
        await pilot.press("w")
        assert b"\\u202eevil\\u009b\\ud800" in app.messages_of(Save)[0].data  # type: ignore[attr-defined]


@pytest.mark.slow
@pytest.mark.parametrize("size", [WIDE, MEDIUM, NARROW, (50, 12)])
async def test_the_maximised_log_shows_the_timeline_and_the_rows_again(size: tuple[int, int], tmp_path: Path) -> None:
    path = tmp_path / "orders.mcp.jsonl"
    talk = Talk()
    talk.journal = Journal.create(path, {"kind": "stdio", "argv": ["server"]})
    for id in range(1, 9):
        talk.call(id, "pay")
        talk.say(id, "x")
    talk.journal.close()
    async with running(RecordingTarget(path), size=size, until="") as (app, pilot):
        await press(pilot, "m", "v", shows="Timeline")
        assert isinstance(app.focused.parent.parent, TimelinePane)  # type: ignore[union-attr]
        assert "space play" not in screen_lines(app)[-1]
        await press(pilot, "enter", shows="parsed")
        await pilot.press("escape")
        await settle(pilot, lambda: isinstance(app.focused.parent.parent, TimelinePane))  # type: ignore[union-attr]
        await press(pilot, "slash", shows="time:0s-")
        assert "Timeline" not in screen_text(app)
        await press(pilot, "v", shows="Timeline")
        if size != (50, 12):
            assert "the rest is faint" in screen_text(app)
        await press(pilot, "z", until=lambda: "Timeline" not in screen_text(app))


@pytest.mark.slow
@pytest.mark.parametrize(("way", "keys"), [("m", ("up", "down")), ("mz", ("up", "down")), ("mzv", ("left", "right"))])
async def test_a_key_that_moves_the_cursor_lays_nothing_out(way: str, keys: tuple[str, str], tmp_path: Path) -> None:
    """Neither does a pane that announces other keys: a layout draws the whole screen."""
    path = tmp_path / "orders.mcp.jsonl"
    talk = Talk()
    talk.journal = Journal.create(path, {"kind": "stdio", "argv": ["server"]})
    for id in range(1, 9):
        talk.at(id * 1000).call(id, "pay")
        talk.say(id, "x")
    talk.journal.close()
    async with running(RecordingTarget(path), until="") as (app, pilot):
        await press(pilot, *way, shows="whole session" if "v" in way else "pay")
        await pilot.pause()
        laid_out: list[object] = []
        app.screen.screen_layout_refresh_signal.subscribe(app.screen, laid_out.append, immediate=True)
        for key in keys * 3:
            await pilot.press(key)
            app.screen.post_message(HintsChanged())
            await pilot.pause()
        assert laid_out == []


@pytest.mark.slow
async def test_a_live_timeline_grows() -> None:
    async with running(demo(), size=WIDE, until="echo") as (app, pilot):
        await press(pilot, "m", "z", "v", shows="Timeline")
        pane = app.screen.query_one(TimelinePane)
        before = pane.view.lanes.seen
        session = pane.session.commands
        session.start("ping", {})
        await settle(pilot, lambda: pane.view.lanes.seen >= before + 2)
        await settle(pilot, lambda: "ping" in screen_text(app))


def test_lanes_are_drawn_again_only_when_more_than_the_cursor_has_changed() -> None:
    view = view_of(orders().session)
    drawing = LaneDrawing(view, str)
    lines = drawing.lines(20)
    view.move(-1)
    assert drawing.lines(20) is lines
    view.zoom(0.5)
    assert drawing.lines(20) is not lines

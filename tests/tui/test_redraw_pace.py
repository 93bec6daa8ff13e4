"""How often the screen is drawn: by clock and keys that the test gives, without waiting."""

from __future__ import annotations

from time import monotonic

import pytest

from inspector.tui.main.redraw_pace import CALM_TICK, FLOOD, JUDGED_SHARE, KEYS_REST, MAX_LONGER, TICK, DrawingPace
from tests.tui.live_app import main_screen, on_demo


def flooded(now: float = 100.0) -> DrawingPace:
    """A pace after a second with more events than can be read."""
    pace = DrawingPace()
    pace.drawn(now - 1, 0, live=True)
    pace.drawn(now, FLOOD * 2, live=True)
    return pace


def test_in_a_flood_it_draws_less_often_until_a_key_comes_or_the_flood_ends() -> None:
    pace = flooded()
    assert pace.pause(100.0, key_came=0.0) == CALM_TICK
    assert not pace.hurries(99.0)
    assert pace.hurries(100.05)
    assert pace.pause(100.05, key_came=100.05) == TICK
    assert not pace.hurries(100.05)
    pace = flooded()
    assert pace.pause(100.0, key_came=100.0 - KEYS_REST / 2) == TICK, "a recent key keeps the usual pace"
    assert not pace.hurries(100.0)
    pace.drawn(101.0, FLOOD * 2 + 10, live=True)
    assert pace.pause(101.0, key_came=0.0) == TICK


def test_in_a_flood_the_log_waits_while_the_keys_go_elsewhere() -> None:
    pace = flooded()
    assert pace.draws_log(100.0, focused=False)
    assert not pace.draws_log(100.0 + TICK, focused=False)
    assert pace.draws_log(100.0 + TICK, focused=True)
    assert not pace.draws_log(100.0 + CALM_TICK, focused=False), "drawn a moment ago"
    assert pace.draws_log(100.0 + 2 * CALM_TICK, focused=False)
    calm = DrawingPace()
    calm.drawn(100.0, 0, live=True)
    calm.drawn(101.0, 10, live=True)
    assert calm.draws_log(101.0, focused=False)
    assert calm.draws_log(101.0 + TICK, focused=False)


def test_in_a_flood_drawings_that_come_late_leave_more_time_for_keys() -> None:
    pace = DrawingPace()
    flood = [FLOOD * 2 * second for second in range(20)]
    pace.drawn(100.0, flood[0], live=True)
    assert pace.pause(100.0, key_came=100.0) == TICK
    pace.drawn(100.0 + TICK, flood[1], live=True)
    assert pace.pause(101.0, key_came=101.0) == TICK, "in time"
    pace.drawn(101.0 + TICK + 0.1, flood[4], live=True)
    assert pace.pause(102.0, key_came=102.0) == pytest.approx(TICK + 0.2)
    pace.drawn(102.0 + TICK + 0.2, flood[7], live=True)
    assert pace.pause(103.0, key_came=103.0) == pytest.approx(TICK + 0.1), "it comes back step by step"
    pace.drawn(105.0, flood[12], live=True)
    assert pace.pause(106.0, key_came=106.0) == pytest.approx(TICK + MAX_LONGER)
    pace.drawn(107.0, flood[12], live=True)
    assert pace.pause(107.0, key_came=107.0) == TICK, "without a flood what happens is shown at once"


def test_a_recording_that_is_read_is_no_flood() -> None:
    pace = DrawingPace()
    pace.drawn(100.0, 0, live=False)
    pace.drawn(100.05, 20_000, live=False)
    assert pace.pause(100.05, key_came=0.0) == TICK


@pytest.mark.parametrize(("pause", "share"), [(TICK, TICK), (CALM_TICK, CALM_TICK), (0.001, TICK), (60.0, CALM_TICK)])
def test_the_judge_has_its_share_of_the_time(pause: float, share: float) -> None:
    """Also in a flood, so that its findings keep up; never so much that a key waits for it."""
    pace = DrawingPace()
    pace.drawn(100.0, 0, live=True)
    assert pace.drawn(100.0 + pause, 0, live=True) == pytest.approx(JUDGED_SHARE * share)


@pytest.mark.slow
async def test_a_key_ends_the_slow_drawing_of_the_screen() -> None:
    async with on_demo() as (app, _):
        screen = main_screen(app)
        if screen._next_tick is not None:
            screen._next_tick.stop()
            screen._next_tick = None
        app.key_came = 0.0
        screen._pace = flooded(monotonic())
        screen.wake()
        calm = screen._next_tick
        assert calm is not None
        screen.wake()
        assert screen._next_tick is calm
        app.key_came = monotonic()
        screen.wake()
        assert screen._next_tick is not calm

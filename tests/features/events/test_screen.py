"""The events view: types, a form, polls and streams, a flood, and what is not possible."""

from __future__ import annotations

import sys

import pytest

from inspector.config.targets import RecordingTarget, StdioTarget
from inspector.features.events import subscription as timing
from inspector.features.events.screen import EventsScreen, SubscriptionRows
from inspector.journal.journal import Journal
from inspector.protocol.extensions import EVENTS
from inspector.tui.main.screen import MainScreen
from tests.features.events.test_subscription import happened, tide
from tests.tui.live_app import NARROW, ROOT, SESSION, WIDE, Live, becomes, running, shows
from tests.tui.tui_screens import assert_in, press, screen_text, settle

OFFERED = {EVENTS: {}}


def demo(*words: str) -> StdioTarget:
    command = (sys.executable, "-m", "inspector.demo", "--items", "3", *words)
    return StdioTarget(command, name="demo", env={"PYTHONPATH": ROOT})


async def opened(live: Live) -> EventsScreen:
    """The events view, with its types."""
    app, pilot = live
    await becomes(app, pilot, lambda: isinstance(app.screen, MainScreen) and "connected" in screen_text(app), "ready")
    await press(pilot, "f6", shows="order.placed")
    assert isinstance(app.screen, EventsScreen)
    return app.screen


@pytest.mark.slow
@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_a_type_is_chosen_followed_stopped_and_its_message_opened(size: tuple[int, int]) -> None:
    """C-EVENT-16, C-EVENT-27."""
    async with running(demo("--tick", "0.05"), size=size, era="modern", extensions=OFFERED) as (app, pilot):
        screen = await opened((app, pilot))
        await shows(app, pilot, "payloadSchema")
        await press(pilot, "enter", shows="integer 1-60")
        await pilot.press("2", "ctrl+r")
        await settle(pilot, lambda: screen.followed is not None and screen.followed.state == "active")
        subscription = screen.followed.subscription
        assert subscription.arguments in ({"every": 2}, {"every": 12}, {"every": 21})
        await becomes(app, pilot, lambda: subscription.counts.events > 1, "events")
        await shows(app, pilot, '{"tick":')
        await press(pilot, "escape", shows="ended")
        assert isinstance(app.screen, EventsScreen)
        await press(pilot, "enter", until=lambda: isinstance(app.screen, MainScreen), what="the session")
        await shows(app, pilot, "notifications/events/")


@pytest.mark.slow
async def test_one_poll_and_then_the_next_from_its_cursor(monkeypatch: pytest.MonkeyPatch) -> None:
    """C-EVENT-07."""
    monkeypatch.setattr(timing, "FLOOR", 0.01)
    async with running(demo("--tick", "0.02"), era="modern", extensions=OFFERED) as (app, pilot):
        screen = await opened((app, pilot))
        await pilot.press("f5")
        await settle(pilot, lambda: screen.rows.subscription is not None and bool(screen.rows.subscription.cursor))
        first = screen.rows.subscription
        for _ in range(50):  # A poll before the next tick has no event.
            await pilot.press("f5")
            await pilot.pause(0.05)
            if len(screen.rows):
                break
        await becomes(app, pilot, lambda: len(screen.rows) > 0, "events of a later poll")
        assert screen.rows.subscription is first


@pytest.mark.slow
async def test_wrong_arguments_and_what_cannot_be_followed_are_not_sent_and_a_changed_list_is_read_again() -> None:
    """C-EVENT-06, C-EVENT-18, C-EVENT-20."""
    async with running(demo(), era="modern", extensions=OFFERED) as (app, pilot):
        screen = await opened((app, pilot))
        before = len(screen.session.journal)
        screen.feed.must_list_again = True
        await shows(app, pilot, "is read again")
        await becomes(app, pilot, lambda: len(screen.session.journal) >= before + 2, "a new list")
        assert not screen.feed.must_list_again
        await press(pilot, "down", shows="only by webhook".capitalize())
        await press(pilot, "ctrl+r", shows="is not delivered by poll or push")
        assert screen.followed is None
        await press(pilot, "up", "enter", shows="integer 1-60")
        await press(pilot, "9", "9", "9", "ctrl+r", shows="Correct the arguments first.")
        assert screen.followed is None


@pytest.mark.slow
async def test_events_are_shown_only_if_the_extension_is_offered() -> None:
    async with running(demo(), era="modern") as (app, pilot):
        await becomes(app, pilot, lambda: "connected" in screen_text(app), "ready")
        await press(pilot, "f6", shows="Events are a draft.")
        assert isinstance(app.screen, MainScreen)


async def test_a_recording_sends_nothing() -> None:
    async with running(RecordingTarget(SESSION)) as (app, pilot):
        await becomes(app, pilot, lambda: isinstance(app.screen, MainScreen), "open")
        await press(pilot, "f6", shows="A recording sends no requests")


@pytest.mark.slow
async def test_leaving_the_view_ends_the_stream() -> None:
    """C-EVENT-27."""
    async with running(demo("--tick", "0.05"), era="modern", extensions=OFFERED) as (app, pilot):
        screen = await opened((app, pilot))
        await press(pilot, "ctrl+r", until=lambda: screen.followed is not None and screen.followed.state == "active")
        await app.pop_screen()
        assert screen.followed.over.is_set()


def test_rows_keep_their_keys_while_older_ones_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "MAX_ROWS", 5)
    subscription = tide()
    subscription.rows = type(subscription.rows)(maxlen=5)
    rows = SubscriptionRows(Journal.unnamed({}))
    rows.subscription = subscription
    for at in range(4):
        subscription.notified("event", happened(f"e{at}", cursor=f"c{at}"), at + 1, float(at))
    key = rows.key_at(3)
    for at in range(4, 7):
        subscription.notified("event", happened(f"e{at}"), at + 1, float(at))
    assert subscription.dropped == 2
    at = rows.index_of(key)
    assert at is not None
    assert rows.row(at).event_id == "e3"
    assert rows.index_of(rows.key_at(0)) == 0
    assert rows.index_of(0) is None
    text = "".join(segment.text for segment in rows.render(at, 140, False, False))
    assert_in(text, "e3", "c3")

"""Filters that the program set end with a call, and no filter hides what must be seen."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.config.settings import Settings
from tests.tui.drawn_log import DrawnLog
from tests.tui.live_app import Live, main_screen, on_demo, shows, to_tool
from tests.tui.live_demo import sent
from tests.tui.recorded_conversation import Talk, caught_up
from tests.tui.tui_screens import assert_in, press, screen_lines, settle


def edge(live: Live) -> str:
    """The upper edge of the log."""
    return next(line for line in screen_lines(live[0]) if "─ Messages ─" in line)


async def call(live: Live, name: str, *keys: str, says: str) -> None:
    """Call a tool with the keys typed into its form."""
    app, pilot = live
    await to_tool(app, pilot, name)
    await pilot.press(*keys, "ctrl+r")
    await shows(app, pilot, says)


@pytest.mark.slow
async def test_the_filter_of_an_exchange_ends_with_the_next_call_or_one_that_is_sent_again() -> None:
    async with on_demo() as live:
        app, pilot = live
        log = main_screen(app).panes.messages
        await call(live, "add", "1", "tab", "2", says="sum 3")
        main_screen(app).pane_layout.focus_in(main_screen(app).panes.work.result)
        await press(pilot, "m", shows="/ exchange:")
        assert_in(edge(live), "2 rows of this call", "hidden by the filter")
        await press(pilot, "m", until=lambda: log.filter is None and not log.has_focus_within)
        await press(pilot, "m", shows="/ exchange:")
        await call(live, "echo", *"hi", says="hi")
        await shows(app, pilot, "tools/call echo", without="/ exchange:")
        assert "hidden" not in edge(live)
        log.focus_inside()
        await press(pilot, "end", "g", shows="/ exchange:")
        await press(pilot, "s", "ctrl+r", until=lambda: log.filter is None)
        await settle(pilot, lambda: len(sent(main_screen(app).session, "tools/call")) == 3, what="sent once, by ^r")


@pytest.mark.slow
async def test_the_smallest_screen_counts_hidden_rows_too() -> None:
    async with on_demo(size=(50, 12)) as live:
        app, pilot = live
        await call(live, "add", "1", "tab", "2", says="sum")
        main_screen(app).pane_layout.focus_in(main_screen(app).panes.work.result)
        await press(pilot, "m", shows="/ exchange:")
        assert_in(edge(live), "2 rows of this call", "hidden")


@pytest.mark.slow
@pytest.mark.parametrize("wishes", [True, False])
async def test_a_log_that_was_looked_at_follows_its_end_again(wishes: bool) -> None:
    async with on_demo(settings=Settings(follow=wishes)) as live:
        _, pilot = live
        await press(pilot, "m", "minus", "home", until=lambda: "follow" not in edge(live))
        await press(pilot, "m", until=lambda: ("follow" in edge(live)) is wishes, what="the list")
        await press(pilot, "m", "f", until=lambda: ("follow" in edge(live)) is not wishes)
        await press(pilot, "home", "m", until=lambda: ("follow" in edge(live)) is not wishes)


def test_a_filter_shows_what_must_be_seen_since_it_was_typed() -> None:
    talk = Talk()
    talk.call(1, "fail")
    talk.say(1, "it failed", failed=True)
    session: Any = talk.session
    session.commands = session  # as of a session that goes on
    log = DrawnLog(session, "method:ping")
    assert log.lines == [], "what is past stays hidden"
    talk.call(2, "echo")
    talk.say(2, "hi")
    assert log.lines == []
    assert "hidden by the filter" in log.facts
    talk.call(3, "protocol-error")
    talk.fail(3, -32603)
    assert ["-32603 " in line for line in log.lines] == [True]
    asked = talk.receive({"jsonrpc": "2.0", "id": 9, "method": "elicitation/create", "params": {"message": "Size?"}})
    caught_up(session)
    assert [question.n for question in session.inbox.questions] == [asked]
    assert ["Size?" in line for line in log.lines] == [False, True]
    talk.journal.record_life("stdio", "exit", status=1)
    assert "the server exited: status 1" in log.lines[2]
    log.draw("method:ping")
    assert log.lines == [], "all of it is past for another filter"

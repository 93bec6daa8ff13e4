"""The message log as it is seen and gone through."""

from __future__ import annotations

import re
from typing import Any

import pytest

from inspector.journal.findings import Finding
from inspector.text import cell_len
from inspector.tui.log import reader
from inspector.tui.log.copy_as import send_again
from inspector.tui.log.filter import highlight
from inspector.tui.log.last_message import LastMessageLine
from inspector.tui.log.message_list import MessageList
from inspector.tui.log.pane import MessagesPane
from inspector.tui.log.rows import LogColumns, MessageRows, since
from inspector.tui.model.log import LogCursor
from inspector.tui.pane_messages import Copy, EditMessage, EventHighlighted, Export, SendAgain, ShowEvent
from inspector.tui.widgets.filter_input import FilterInput
from tests.tui.drawn_log import DrawnLog
from tests.tui.live_app import TOOLS, on_demo
from tests.tui.live_demo import Ticking, demo, on_pane
from tests.tui.recorded_conversation import Talk, example, order
from tests.tui.tui_screens import press, screen_lines, screen_text, settle


def log_rows(app: Any) -> list[str]:
    """The rows of the log, without the edge."""
    return [line.strip("│ ").rstrip() for line in screen_lines(app)[1:-2] if line.strip("│ ")]


def facts(app: Any) -> str:
    return screen_lines(app)[0]


def test_shows_each_event_with_direction_id_summary_duration_and_size() -> None:
    talk = example()
    talk.journal.findings.add(Finding(9, "TOOL-1", "must", "odd"))
    log = DrawnLog(talk.session)
    lines = log.lines
    clock = talk.journal.clock(0).strftime("%H:%M:%S")
    assert lines[0] == f"{clock}.0 ▪      started server --fast"
    assert lines[1].split() == [".211", "→", "1", "tools/list", "51", "B"]
    assert lines[2].split() == [".225", "←", "1", "2", "tools", "14", "ms", "85", "B"]
    assert lines[3].split()[1:] == ["→", "2", "tools/call", "echo", "145", "B"]
    assert lines[4].split()[1:6] == ["↻", "2", "progress", "1", "of"]
    assert lines[5].split()[1:5] == ["↯", "log", "info", "half"]
    assert lines[8].split()[1:8] == ["←", "3", "isError:", "card", "declined", "612", "ms"]
    assert lines[8].endswith("▲")
    assert "warming up" in lines[9]
    assert "not JSON: Server running" in lines[10]
    assert log.facts == "11 rows"


def test_the_exchange_view_has_a_row_for_each_exchange_and_bars() -> None:
    log = DrawnLog(example().session, by_exchange=True, width=120)
    lines = log.lines
    assert log.facts == "8 rows  1 error  p50 14 ms  p95 612 ms"
    assert lines[1].split()[1:4] == ["→←", "1", "tools/list"]
    assert lines[1].split()[-4:] == ["14", "ms", "85", "B"], "of the answer"
    assert lines[2].split()[1:5] == ["→←", "2", "tools/call", "echo"]
    assert lines[3].split()[1:4] == ["↻", "2", "progress"]
    assert lines[5].split()[1:6] == ["→✗", "3", "tools/call", "pay", "isError:"]
    bars = [line.find("█") for line in (lines[1], lines[2], lines[5])]
    assert 0 < bars[0] < bars[1] < bars[2]
    assert log.look_at(4)
    log.place = LogCursor()
    assert (log.current, log.event_to_show) == (4, 7)
    log.draw("")
    assert log.current == 4
    assert not any("█" in line for line in log.lines)


def drawn(rows: Any, count: int, width: int) -> list[str]:
    """Rows as text."""
    return ["".join(segment.text for segment in rows.render(at, width, False, False)) for at in range(count)]


def test_rows_and_exchanges_end_on_the_same_cell_at_every_width() -> None:
    exchanges = DrawnLog(example().session, by_exchange=True).rows
    rows = MessageRows(example().journal)
    rows.everything.count = 11
    for width in range(10, 161):
        assert LogColumns(width, rows.id_cells).what >= 1
        assert all(cell_len(line) <= width for line in drawn(rows, 11, width)), width
        assert all(cell_len(line) <= max(width, 16) for line in drawn(exchanges, len(exchanges), width)), width
    assert [LogColumns(width, 3).size > 0 for width in (30, 55, 61)] == [False, False, True]
    assert [LogColumns(width, 3).duration > 0 for width in (30, 45, 60)] == [False, True, True]
    assert [LogColumns(width, 3).time > 0 for width in (20, 45)] == [False, True]


def test_a_text_that_would_be_cut_takes_the_empty_column_of_the_duration() -> None:
    talk = Talk()
    talk.notice("message", level="info", data="a line of the server: 4711")
    talk.ask(1, "tools/list")
    talk.at(14).answer(1, {"tools": [{"name": "a"}]})
    rows = MessageRows(talk.journal)
    rows.everything.count = 3
    lines = drawn(rows, 3, 58)
    assert "server: 4711" in lines[0]
    assert [len(line) for line in lines] == [58, 58, 58]
    assert lines[2].split()[-2:] == ["14", "ms"], "the column is kept where it has a duration"


@pytest.mark.slow
async def test_a_long_method_name_leaves_the_size_column_of_the_widest_screen() -> None:
    talk = Talk()
    talk.notice("subscriptions/acknowledged", subscriptionId="1")
    talk.call(1, "trigger-long-running-operation")
    talk.at(14).answer(1, {"content": [{"type": "text", "text": "a result of more words than its column has cells"}]})
    async with on_demo(size=(160, 45)) as (app, pilot):
        await pilot.press("m")  # The log has its column then.
        await settle(pilot, lambda: re.search(rf"connected: {TOOLS}.* ms +[\d.]+ kB", screen_text(app)) is not None)
        width = app.screen.query_one(MessageList).content_region.width
    rows = MessageRows(talk.journal)
    rows.everything.count = 3
    lines = drawn(rows, 3, width)
    assert "subscriptions/acknowledged" in lines[0]
    assert all(re.search(r" \d+ B *$", line) for line in lines), lines


@pytest.mark.slow
async def test_follows_the_end_until_the_user_leaves_it_and_counts_newer_rows_then() -> None:
    async with demo() as session, on_pane(MessagesPane(session), (78, 9), focus=False) as (app, pilot, pane):
        journal = session.journal
        pane.focus_inside()
        await settle(pilot, lambda: "1 row " in facts(app))
        await press(pilot, "minus", until=lambda: pane.current == len(journal))
        assert "follow" in facts(app)
        await pilot.press("up")
        at = pane.current
        assert "follow" not in facts(app)
        await session.call_tool("echo", {"message": "hi"}).result()
        await settle(pilot, lambda: f"{len(journal)} rows" in facts(app))
        assert pane.current == at
        await press(pilot, "f", until=lambda: pane.current == len(journal))
        assert "follow" in facts(app)
        assert app.messages_of(EventHighlighted)
        await pilot.press("home")
        before = len(journal)
        await session.request("ping")
        await settle(pilot, lambda: f"▾ {len(journal) - before} newer rows below" in facts(app))
        await press(pilot, "end", until=lambda: "newer" not in facts(app))
        call = session.call_tool("slow", {"seconds": 30, "steps": 2})
        await press(pilot, "end")
        waits = lambda words: any("tools/call slow" in line and words in line for line in log_rows(app))  # noqa: E731
        await settle(pilot, lambda: waits("1.2 s"))
        call.cancel()
        await settle(pilot, lambda: waits("cancelled"))


async def test_a_filter_narrows_while_it_is_typed_and_esc_brings_all_back() -> None:
    async with on_pane(MessagesPane(example().session), (78, 16)) as (app, pilot, pane):
        await pilot.press("end", "up", "up", "up", "up", "slash", *"hello")
        assert [line.split()[1:3] for line in log_rows(app)] == [["→", "2"], ["←", "2"]]
        assert "2 rows  9 hidden by the filter" in facts(app)
        assert pane.current == 7
        await pilot.press("enter")
        assert isinstance(app.focused, MessageList)
        assert "all messages" in screen_text(app)
        await pilot.press("escape")
        assert "11 rows" in facts(app)
        assert pane.current == 7
        # While it is empty and has the focus it shows some of its terms.
        await press(pilot, "slash", shows="text, or kind:stderr  status:error  name:…  -method:ping")
        await press(pilot, "k", "i", shows="kind of event or message")
        await press(pilot, "escape", "escape", shows="/ filter")
        pane.show_exchange(4)
        await pilot.press("slash", *"pay")
        assert app.query_one(FilterInput).value == "pay", "what is typed replaces a filter of the program"


async def test_a_long_recording_is_filtered_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "AT_ONCE", 10)
    monkeypatch.setattr(reader, "STEP", 16)
    talk = Talk()
    for id in range(200):
        talk.call(id, "a" if id % 2 else "b")
        talk.say(id, "x")
    async with on_pane(MessagesPane(talk.session), (78, 16)) as (app, pilot, pane):
        pane.show_filtered("dir:send")
        await settle(pilot, lambda: "200 rows  200 hidden by the filter" in facts(app) and "so far" not in facts(app))
        pane.maximised = True
        await settle(pilot, lambda: "200 of 400 events match" in facts(app) and "p50" in facts(app))
        assert len(app.query_one(MessageList).rows) == 200


async def test_goes_to_partners_exchanges_and_findings() -> None:
    talk = example()
    talk.journal.findings.add(Finding(5, "A", "must", "odd"))
    talk.journal.findings.add(Finding(9, "B", "note", "odd"))
    async with on_pane(MessagesPane(talk.session), (78, 16)) as (app, pilot, pane):
        await pilot.press("right_square_bracket")
        assert pane.current == 5
        await pilot.press("p")
        assert pane.current == 4
        await pilot.press("p")
        assert pane.current == 7
        await pilot.press("g")
        assert "4 rows of this call" in facts(app)
        assert "exchange:2" in screen_text(app)
        assert [line.split()[0] for line in log_rows(app)[1:]] == ["+5.0", "+6.0", "+12"]
        await pilot.press("right_square_bracket")
        assert pane.current == 7
        await pilot.press("g", "right_square_bracket")
        assert pane.current == 9
        await pilot.press("left_square_bracket", "enter")
        assert pane.current == 5
        assert [message.n for message in app.messages_of(ShowEvent)] == [5]


async def test_goes_to_the_next_hit_though_the_filter_was_dropped() -> None:
    async with on_pane(MessagesPane(example().session), (78, 16), notifications=True) as (app, pilot, pane):
        await pilot.press("home", "slash", *"hello", "enter", "escape", "home")
        assert "11 rows" in facts(app)
        await press(pilot, "n", until=lambda: pane.current == 4)
        await press(pilot, "n", until=lambda: pane.current == 7)
        await press(pilot, "n", shows="No later")
        await press(pilot, "N", until=lambda: pane.current == 4)


async def test_times_are_absolute_since_the_start_or_since_the_previous() -> None:
    async with on_pane(MessagesPane(example().session), (78, 16)) as (app, pilot, _pane):
        await press(pilot, "t", shows="since start")
        assert [line.split()[0] for line in log_rows(app)[:4]] == ["0.000", "0.211", "0.225", "8.700"]
        await pilot.press("t")
        assert [" ".join(line.split()[:2]) for line in log_rows(app)[1:4]] == ["+211 ms", "+14 ms", "+8.5 s"]
        await pilot.press("t")
        assert log_rows(app)[1].startswith(".211")
        # The first visible row tells the whole time.
        await pilot.resize_terminal(78, 8)
        for keys, colons in (
            (["home", *["down"] * 6], [2, 2, 0, 0, 0]),
            (["down"], [2, 0, 0, 0, 2]),
            (["home"], [2, 0, 0, 2, 0]),
        ):
            await pilot.press(*keys)
            assert [line.split()[0].count(":") for line in log_rows(app)] == colons


def test_times_since_the_start_are_written_for_people() -> None:
    assert [since(us) for us in (0, 1_500_000, 62_345_000, 3_662_345_000, -5_000)] == [
        "0.000", "1.500", "1:02.345", "1:01:02.345", "-0.005",
    ]  # fmt: skip


def signed(app: Ticking, sign: str) -> list[int]:
    """Return the rows that end in a sign."""
    return [at for at, line in enumerate(screen_lines(app)[1:-2]) if line.rstrip("│ ").endswith(f" {sign}")]


async def test_what_is_shown_is_exported_a_row_copied_and_two_compared() -> None:
    talk = example()
    async with on_pane(MessagesPane(talk.session), (78, 16), notifications=True) as (app, pilot, pane):
        await pilot.press("home", "d", "down")
        assert "comparing" in facts(app)
        assert signed(app, "A") == [0], "the first row has a sign, wherever the cursor is"
        await pilot.press("escape")
        assert not signed(app, "A")
        await pilot.press("home", "d", "down", "d")
        assert [(message.one, message.other) for message in app.messages_of(MessagesPane.Compared)] == [(1, 2)]
        assert "comparing" not in facts(app)
        assert not signed(app, "A")
        pane.select(7)
        await pilot.press("c", "C")
        assert [message.text for message in app.messages_of(Copy)] == [talk.journal.event(7).text]
        assert "HTTP" in screen_text(app), "over stdio it says why it cannot"
        await pilot.press("x", "slash", *"status:error", "enter", "x")
        assert [message.numbers for message in app.messages_of(Export)] == [None, [8, 9]]


@pytest.mark.slow
async def test_sends_again_and_edits_what_was_sent() -> None:
    async with demo() as session:
        await session.call_tool("echo", {"message": "hi"}).result()
        async with on_pane(MessagesPane(session), (78, 16)) as (app, pilot, pane):
            await settle(pilot, lambda: pane.current == len(session.journal))
            before = len(session.journal)
            await press(pilot, "ctrl+r", until=lambda: app.messages_of(SendAgain))
            assert send_again(session, app.messages_of(SendAgain)[0].n) == ""
            await settle(pilot, lambda: len(session.journal) >= before + 2)
            again = session.journal.event(before + 1).message
            assert again["params"]["arguments"] == {"message": "hi"}
            assert again["id"] == again["params"]["_meta"]["progressToken"]
            await pilot.press("S")
            texts = [message.text for message in app.messages_of(EditMessage)]
            assert f'"id": {session.next_id}' in texts[0]
            assert "progressToken" not in texts[0]


async def test_a_row_that_changes_outside_of_the_view_is_drawn_as_it_is() -> None:
    talk = example()
    request = talk.call(9, "pay")
    talk.journal.record_stderr("stderr", [b"more"] * 20)
    pane = MessagesPane(talk.session)
    app = Ticking(pane)
    async with app.run_test(size=(78, 10)) as pilot:
        pane.focus_inside()
        pane.select(request)
        await pilot.pause()
        await press(pilot, "up", "up", until=lambda: any("→   9  tools/call pay" in line for line in log_rows(app)))
        await press(pilot, "end", hides="tools/call pay")
        talk.journal.record_life("", "lost", **{"for": request})
        await press(pilot, shows="lost its connection")
        pane.select(request - 2)
        await settle(pilot, lambda: any("tools/call pay" in line and " lost " in line for line in log_rows(app)))


async def test_select_drops_a_filter_that_hides_the_event() -> None:
    async with on_pane(MessagesPane(example().session), (78, 16), focus=False) as (app, pilot, pane):
        pane.show_exchange(4)
        await pilot.pause()
        assert pane.select(5)
        assert "exchange:2" in screen_text(app)
        assert pane.select(10)
        assert pane.current == 10
        assert app.query_one(FilterInput).value == ""
        assert not pane.select(99)


def test_a_filter_is_coloured_as_far_as_it_can_be_read() -> None:
    assert highlight("method:x -dir:recv | a") == [
        (0, 7, "json-key"), (9, 10, "error"), (10, 14, "json-key"), (19, 20, "muted"),
    ]  # fmt: skip
    assert highlight('id:1 "open') == [(0, 3, "json-key")]


async def test_the_last_message_in_one_line_with_the_time_of_a_person_apart() -> None:
    talk = example()
    line = LastMessageLine(talk.session, MessagesPane(talk.session).fold)
    async with on_pane(line, (80, 3), focus=False) as (_app, pilot, _line):
        await press(pilot, shows="not JSON")
        talk.say(3, "late")
        talk.notice("message", level="info", data="half way")
        await press(pilot, shows="↯ log info half way")
        talk.call(8, "get-structured-content")
        talk.at(9721).say(8, "x")
        await press(pilot, shows="← 8 get-structured-content 9.0 ms")
        order(talk.at(20_000))
        await press(pilot, shows="← 21 order-pizza 1.7 s +14.0 s yours")


async def test_the_last_message_in_one_line_says_that_a_call_was_lost_and_is_cut_with_a_sign() -> None:
    talk = Talk()
    line = LastMessageLine(talk.session, MessagesPane(talk.session).fold)
    async with on_pane(line, (30, 3), focus=False) as (_app, pilot, _line):
        request = talk.call(1, "pay")
        await press(pilot, shows="→ 1 pay")
        talk.journal.record_life("", "lost", **{"for": request})
        await press(pilot, shows="→ 1 pay lost")
        talk.notice("message", level="info", data="a text that is longer than the line")
        await press(pilot, shows="↯ log info a text that is l…")


async def test_ascii_screens_have_ascii_signs() -> None:
    async with on_pane(MessagesPane(example().session), (78, 16), ascii_only=True) as (app, _, _pane):
        assert screen_text(app).isascii()

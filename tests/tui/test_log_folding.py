"""One row a message: what the log folds, counts and says, and what its filter offers."""

from __future__ import annotations

from typing import Any

from inspector.client.recorded_session import RecordedSession
from inspector.journal.format import Dir
from inspector.tui.log.detail import DetailPane
from inspector.tui.log.last_message import LastMessageLine
from inspector.tui.log.pane import MessagesPane
from inspector.tui.log.rows import fitted
from inspector.tui.pane_messages import EventHighlighted
from inspector.tui.widgets.completing_filter import CompletingFilter
from tests.processes import ROOT
from tests.tui.drawn_log import DrawnLog
from tests.tui.live_demo import Ticking, on_pane
from tests.tui.recorded_conversation import Talk, caught_up, example, order, read
from tests.tui.test_messages import facts, log_rows
from tests.tui.tui_screens import assert_in, press, screen_lines, screen_text, settle


def recorded(name: str) -> RecordedSession:
    return read(ROOT / "recordings" / f"{name}.mcp.jsonl")


def web() -> Talk:
    """A call over HTTP that succeeds (1-4), one that a 404 answers (5-7)."""
    talk = Talk({"kind": "http", "url": "http://x/"})
    journal = talk.journal
    kinds: dict[int, Any] = {200: [["Content-Type", "text/event-stream"]], 404: [["Content-Type", "text/html"]]}
    for id, status in ((1, 200), (2, 404)):
        channel = f"post-{id}"
        message = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "pay", "arguments": {}}}
        talk.send(message, channel)
        journal.record_http(channel, Dir.SEND, method="POST", url="http://x/", headers=[])
        journal.record_http(channel, Dir.RECV, status=status, reason="", headers=kinds[status])
        if status == 200:
            result = {"content": [{"type": "text", "text": "paid"}]}
            talk.receive({"jsonrpc": "2.0", "id": id, "result": result}, channel)
    return talk


def paged() -> Talk:
    talk = Talk()
    for id, cursor in enumerate(("", "a", "b"), 1):
        talk.at(id * 10).ask(id, "tools/list", {"cursor": cursor} if cursor else None)
        talk.at(id * 10 + 4).answer(id, {"tools": [{"name": f"t{id}-{n}"} for n in range(104)]})
    talk.at(50).call(9, "t1-1")
    return talk


async def test_http_heads_stand_in_the_rows_of_their_messages() -> None:
    async with on_pane(MessagesPane(recorded("demo-http")), (100, 20), focus=False) as (app, pilot, pane):
        assert "19 rows  48 folded" in facts(app), "together they are the events"
        pane.focus_inside()
        await press(pilot, "minus", until=lambda: "25 rows" in facts(app))
        assert [line.split()[2:] for line in log_rows(app)[6:9:2]] == [
            ["1", "48", "tools", "200", "json", "1.7", "ms", "24.8", "kB"],
            ["2", "hello", "200", "json", "1.0", "ms", "78", "B"],
        ]
        await pilot.press("minus")
        assert "67 events" in facts(app)
        assert "folded" not in facts(app)
        assert "POST http://127.0.0.1:8000/mcp" in screen_text(app)
        await pilot.press("minus")
        assert "19 rows" in facts(app)


def test_a_match_on_a_folded_event_shows_its_row_and_what_failed_says_so() -> None:
    log = DrawnLog(web().session)
    assert len(log.lines) == 3
    log.draw("kind:http status:404")
    (line,) = log.lines
    assert log.facts == "1 row  2 hidden by the filter  4 folded"
    assert_in(line, "tools/call pay", "404 html")
    log.draw("kind:http dir:recv")
    assert ["paid  200 sse" in line for line in log.lines] == [True, False]


def test_the_pages_of_a_list_are_one_row() -> None:
    log = DrawnLog(paged().session, width=90)
    assert log.lines[0].split()[1:-2] == ["→←", "tools/list", "3", "pages", "312", "tools", "24", "ms"]
    assert log.facts == "2 rows  5 folded"
    assert log.look_at(4)
    assert (log.current, log.event_to_show) == (1, 4)
    log.cursor += 1
    assert log.event_to_show == 7
    log.draw("", by_exchange=True)
    assert "tools/list" in log.lines[0]
    assert log.facts.startswith("2 rows  p50")


async def test_a_row_becomes_that_of_its_list_when_the_next_page_is_requested() -> None:
    talk = Talk()
    talk.ask(1, "tools/list")
    talk.answer(1, {"tools": [{"name": "a"}], "nextCursor": "x"})
    async with on_pane(MessagesPane(talk.session), (78, 12)) as (app, pilot, pane):
        pane.select(2)
        assert len(log_rows(app)) == 2
        talk.ask(2, "tools/list", {"cursor": "x"})
        talk.answer(2, {"tools": [{"name": "b"}]})
        await press(pilot, shows="2 pages  2 tools")
        assert pane.current == 1


async def test_the_line_of_one_column_shows_the_last_row_and_not_a_message_folded_into_it() -> None:
    session = paged().session
    line = LastMessageLine(session, MessagesPane(session).fold)
    async with on_pane(line, (80, 3), focus=False) as (_app, pilot, _line):
        await press(pilot, shows="→ 9 t1-1")
        session.at(6, 40_000)
        await press(pilot, shows="→←tools/list  3 pages  312 tools 24 ms")
        session.at(3, 30_000)
        await press(pilot, shows="→←tools/list  2 pages  104 tools")
    session = recorded("demo-http")
    line = LastMessageLine(session, MessagesPane(session).fold)
    async with on_pane(line, (80, 3), focus=False) as (_app, pilot, _line):
        session.at(19, 1)
        await press(pilot, shows="▪ connected: 48 tools")


async def test_the_http_view_has_what_is_folded_and_counts_it() -> None:
    session = recorded("kinds/http-resumed")
    messages = MessagesPane(session)
    detail = DetailPane(session, folding=messages.folding)

    class Both(Ticking):
        def on_event_highlighted(self, event: EventHighlighted) -> None:
            detail.show(event.n)

    app = Both(messages, detail, css="MessagesPane, DetailPane { height: 20; }")
    async with app.run_test(size=(100, 40)) as pilot:
        messages.focus_inside()
        messages.select(26)
        await press(pilot, shows="http 7")
        detail.tab_row.choose("http")
        await press(pilot, shows="200 OK")
        detail.focus_inside()
        await pilot.press("end")
        await press(pilot, shows=("These 7 events are folded into the row in the log.", "server-sent event  id 3.3"))


def test_a_long_name_keeps_its_end() -> None:
    assert fitted(["tools/call", (" trigger-long-running-operation", "bright")], 30) == [
        "tools/call", (" trigger-…-operation", "bright"),
    ]  # fmt: skip
    assert fitted(["tools/call", (" trigger-long-running-operation", "bright")], 20) == [
        "call", (" trigge…peration", "bright"),
    ]  # fmt: skip
    asked = ["sampling/createMessage", (" Write a haiku about terminals", "bright")]
    assert fitted(asked, 30) == asked
    assert fitted(["log info ", ("x" * 40, "bright")], 20) == ["log info ", ("x" * 40, "bright")]


def test_the_time_of_a_person_stands_apart_from_the_servers() -> None:
    log = DrawnLog(order(Talk()).session, width=110)
    assert_in(next(line for line in log.lines if "ordered" in line), "+14.0 s yours", "1.7 s")
    assert "+14.0 s yours" in next(line for line in log.lines if "accept" in line)
    log.draw("", by_exchange=True)
    assert "p50 1.7 s  p95 1.7 s  +14.0 s yours" in log.facts


def lost(ms: float) -> RecordedSession:
    """A call whose connection is lost after `ms`."""
    talk = Talk()
    request = talk.call(1, "slow")
    talk.at(10).notice("message", level="info", data="half way")
    talk.at(ms).journal.record_life("", "lost", **{"for": request})
    return caught_up(talk.session)


def test_a_request_is_not_lost_and_no_error_counted_before_it_was() -> None:
    session = lost(20)
    log = DrawnLog(session)
    assert "lost" in log.lines[0]
    session.at(2, 10_000)
    log.moment_changed(go=False)
    assert "tools/call slow" in log.lines[0]
    assert "lost" not in log.lines[0]
    assert log.facts.startswith("2 of 3 rows so far")
    session.at(None, 20_000)
    log.moment_changed(go=False)
    assert "lost" in log.lines[0]
    session = lost(20_000)
    log = DrawnLog(session, by_exchange=True, width=120)
    assert log.lines[0].count("█") > 10, "the bar of a request that was in flight until it was lost"
    assert "1 error" in log.facts
    session.at(2, 10_000)
    log.moment_changed(go=False)
    assert "1 error" not in log.facts


def test_the_edge_of_the_exchange_view_counts_the_rows_below_it() -> None:
    log = DrawnLog(example().session, "method:tools/call dir:send id:2", by_exchange=True)
    assert len(log.lines) == 3
    assert log.facts.startswith("3 rows  1 of 11 events match")


async def test_the_scale_of_the_bars_is_that_of_the_rows_that_are_shown() -> None:
    talk = Talk()
    for id in range(1, 41):
        talk.at(id * 10).ask(id, "ping", {})
        talk.at(id * 10 + 2).answer(id, {})
    talk.at(1_000).ask(41, "slow", {})
    talk.at(9_000).answer(41, {})
    async with on_pane(MessagesPane(talk.session), (120, 18), focus=False) as (app, pilot, pane):
        pane.maximised = True
        pane.focus_inside()
        scale = lambda: screen_lines(app)[2].split("duration")[0]  # noqa: E731
        for key, unit, other in (("end", " s ", " ms "), ("home", " ms ", " s "), ("end", " s ", " ms ")):
            await press(pilot, key, until=lambda unit=unit, other=other: unit in scale() and other not in scale())
        await pilot.press("slash", *"id:1", "enter")
        await settle(pilot, lambda: " ms" in scale() and " s " not in scale())


async def test_the_filter_offers_terms_and_values_and_keeps_the_rows_until_a_term_is_complete() -> None:
    async with on_pane(MessagesPane(example().session), (90, 24)) as (app, pilot, _pane):
        await pilot.press("slash", *"met")
        assert "method; * stands for any text" in screen_text(app)
        assert "11 rows" in facts(app)
        assert "enter searches for “met”" in facts(app)
        await pilot.press("tab", *"tools/c")
        field = app.query_one(CompletingFilter)
        assert field.value == "method:tools/c"
        assert "method:tools/c is not complete" in facts(app)
        assert "6 rows  5 hidden" in facts(app)
        await pilot.press("down", "enter")
        assert field.value == "method:tools/call"
        assert "4 rows  7 hidden by the filter" in facts(app)
        assert "complete" not in facts(app)
        await pilot.press("end", *" kind:re")
        assert field.size.height > 1
        await pilot.press("ctrl+u", *"method:tools", "enter")
        assert not field.has_focus
        await settle(pilot, lambda: field.size.height == 1)
        # Enter takes a filter as it stands.
        nothing = "0 rows  11 hidden by the filter"
        await press(pilot, "slash", "ctrl+u", *"method:nothing/x", until=lambda: nothing in facts(app))
        await pilot.press("ctrl+u", *"id", "enter")
        await settle(pilot, lambda: "hidden by the filter" in facts(app) and "searches" not in facts(app))


def test_the_start_of_a_session_is_not_lost_with_the_request_that_an_older_server_refused() -> None:
    talk = Talk()
    talk.ask("d1", "server/discover")
    talk.journal.record_life("", "lost", **{"for": 1})
    talk.ask(0, "initialize")
    talk.answer(0, {"serverInfo": {"name": "x"}, "capabilities": {}})
    talk.journal.record_life("stdio", "ready")
    lines = DrawnLog(talk.session).lines
    assert len(lines) == 1
    assert "connected" in lines[0]
    assert "lost" not in lines[0]

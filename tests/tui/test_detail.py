"""The detail of a message: parsed, raw, its HTTP exchange, its findings."""

from __future__ import annotations

from typing import Any

from inspector.journal.findings import Finding
from inspector.journal.format import Dir
from inspector.tui.log import detail_view
from inspector.tui.log.detail import DetailPane
from inspector.tui.pane_messages import Copy, Save, ShowEvent
from inspector.tui.widgets.sections import Section
from tests.tui.live_demo import Ticking
from tests.tui.recorded_conversation import Talk, example
from tests.tui.tui_screens import assert_in, press, screen_lines, screen_text


def on(talk: Talk, n: int) -> tuple[Any, DetailPane]:
    pane = DetailPane(talk.session)
    pane.show(n)
    return Ticking(pane), pane


async def test_a_message_is_shown_parsed_with_what_it_answers() -> None:
    talk = example()
    app, pane = on(talk, 7)
    async with app.run_test(size=(66, 20), message_hook=app.hear) as pilot:
        await press(pilot, shows=("Echo: hello", '"result"'))
        lines = screen_lines(app)
        assert_in(lines[0], "← 2  tools/call echo", talk.journal.clock(8_712_000).strftime("%H:%M:%S.712"))
        assert lines[1].startswith("│ parsed  raw  process  findings")
        assert lines[1].endswith("in answer to → 2 │")
        await pilot.click(DetailPane, offset=(60, 1))
        assert [message.n for message in app.messages_of(ShowEvent)] == [4]
        pane.show(4)
        await press(pilot, shows="answered by ← 2")
        pane.focus_inside()
        await press(pilot, "r", until=lambda: [message.n for message in app.messages_of(ShowEvent)] == [4, 7])
        pane.show(0)
        await press(pilot, shows="is shown here")
        pane.show(talk.call(11, "echo"))
        await press(pilot, shows="no answer yet")
        talk.say(11, "x")
        await press(pilot, shows="answered by ← 11")


async def test_the_raw_text_is_exact() -> None:
    talk = Talk()
    raw = '{"jsonrpc" : "2.0","method":"a","params":{"n":1.50,"n":1e400}}'
    app, pane = on(talk, talk.receive_raw(raw.encode()))
    async with app.run_test(size=(90, 20)) as pilot:
        pane.focus_inside()
        await press(pilot, "right_curly_bracket", shows=raw)
        await press(pilot, "left_curly_bracket", shows='"n": 1e400')


def lines(sections: list[Section]) -> list[str]:
    """The lines of some sections."""
    return [section.text(line).strip() for section in sections for line in range(len(section))]


def test_what_is_not_json_says_why_and_bytes_are_shown_as_bytes() -> None:
    talk = example()
    texts = lines(detail_view.plain_sections(talk.journal.event(11)))
    assert texts[0] == "not read as JSON: a value is missing at character 1"
    assert texts[-1] == "Server running on port 3000"
    event = talk.journal.event(talk.receive_raw(b"\x00\xff Hello, world of bytes"))
    assert lines(detail_view.plain_sections(event))[0].startswith("not read as JSON")
    texts = lines(detail_view.raw_sections(event))
    assert "00000000  00 ff 20 48 65 6c 6c 6f  2c 20 77 6f 72 6c 64 20  .. Hello, world" in texts
    assert texts[-1].startswith("00000010  6f 66 20 62 79 74 65 73")


def test_over_stdio_the_http_tab_tells_of_the_process() -> None:
    texts = lines(detail_view.http_sections(example().journal, 7))
    assert "This connection is stdio" in texts[0]
    assert any("started server --fast" in line for line in texts)
    assert any(line.split() == ["pid", "7"] for line in texts)


def test_the_http_tab_has_the_heads_of_the_exchange() -> None:
    talk = Talk({"kind": "http"})
    journal = talk.journal
    fields = [("Accept", "application/json"), ("accept", "text/event-stream"), ("Authorization", "Bearer abcdefgh")]
    n = talk.send({"jsonrpc": "2.0", "id": 1, "method": "ping"}, "post-1")
    journal.record_http("post-1", Dir.SEND, method="POST", url="https://x.example/mcp", headers=fields)
    journal.record_http("post-2", Dir.SEND, method="POST", url="https://other.example", headers=[])
    talk.at(40)
    journal.record_http("post-1", Dir.RECV, status=200, reason="OK", version="HTTP/2", headers=[("X", "y")], ms=38.2)
    journal.record_received("post-1", [b'{"jsonrpc":"2.0","id":1,"result":{}}'], ',"event":"message","id":"e-7"')
    texts = lines(detail_view.http_sections(journal, n))
    at = texts.index("→ POST https://x.example/mcp")
    assert texts[at + 1 : at + 3] == ["Accept: application/json", "accept: text/event-stream"]
    assert "‹redacted" in texts[at + 3]
    assert "← 200 OK  HTTP/2  38 ms" in texts
    assert not any("other.example" in line for line in texts)
    texts = lines(detail_view.http_sections(journal, len(journal)))
    assert any("server-sent event" in line and "id e-7" in line for line in texts)


async def test_findings_stand_beside_the_message_and_nothing_moves_the_cursor() -> None:
    talk = example()
    app, pane = on(talk, 9)
    async with app.run_test(size=(66, 26)) as pilot:
        pane.focus_inside()
        await pilot.pause()
        talk.journal.findings.add(
            Finding(9, "TOOL-21", "must", "\x1b[2Jit does not match", ("/amount 12.5",), "2026-07-28 server/tools")
        )
        await press(pilot, shows="findings 1")
        expected = ("▲ TOOL-21  MUST", "␛[2Jit does not match", "/amount 12.5", "2026-07-28 server/tools")
        await press(pilot, "question_mark", shows=(*expected, '"isError": true'))
        talk.journal.findings.add(Finding(9, "B-1", "note", "another"))
        await press(pilot, shows="another")
        pane.show(10)
        pane.tab_row.choose("parsed")
        await press(pilot, shows="warming ␛[31mup")
        pane.tab_row.choose("http")
        await press(pilot, shows="This connection is stdio")


async def test_a_view_without_anything_for_a_message_gives_way_to_parsed_until_one_has_it_again() -> None:
    talk = example()
    talk.journal.findings.add(Finding(9, "TOOL-21", "must", "it does not match"))
    talk.journal.record_life("", "ready", revision="2025-11-25")
    last = len(talk.journal)
    app, pane = on(talk, 9)
    async with app.run_test(size=(66, 26)) as pilot:
        views = []
        for chosen in ("findings", "raw", "http", "note"):
            pane.show(9)
            await pilot.pause()
            pane.tab_row.choose(chosen)
            for n in (last, 7, 9):
                await pilot.pause()
                pane.show(n)
                await pilot.pause()
                views.append(pane.tab)
        assert views == ["parsed", "parsed", "findings", "parsed", "raw", "raw", *["parsed"] * 6]


async def test_copies_saves_and_compares_two_messages() -> None:
    talk = example()
    app, pane = on(talk, 7)
    async with app.run_test(size=(90, 30), message_hook=app.hear, notifications=True) as pilot:
        await press(pilot, shows="Echo")
        pane.action_copy()
        pane.action_copy_command()
        pane.action_copy_python()
        pane.action_copy_curl()
        pane.action_save()
        await press(pilot, shows="not sent over HTTP")
        copied = [message.text for message in app.messages_of(Copy)]
        assert copied[0] == talk.journal.event(7).text
        assert copied[1] == "inspector call echo message=hello -- server"
        assert copied[2].startswith("import json")
        saved = app.messages_of(Save)[0]
        assert (saved.data, saved.suggested) == (talk.journal.event(7).bytes, "tools-call-7.json")
        pane.compare(7, 9)
        await press(pilot, shows=("+", "card declined", "Echo: hello"))
        assert "← 2  and  ← 3  compared" in screen_lines(app)[0]
        pane.show(7)
        await press(pilot, shows="in answer to")
        assert "compared" not in screen_lines(app)[0]


async def test_every_kind_of_event_has_every_tab() -> None:
    app, pane = on(example(), 1)
    async with app.run_test(size=(60, 16)) as pilot:
        for n in range(1, 12):
            pane.show(n)
            for tab in ("raw", "http", "findings", "parsed"):
                pane.tab_row.choose(tab)
                await pilot.pause()
                assert screen_text(app).count("\n") == 15


async def test_the_rest_of_a_long_text_is_shown_on_demand() -> None:
    talk = Talk()
    app, pane = on(talk, talk.receive_raw(b"line\n" * 60_000 + b"the end"))
    async with app.run_test(size=(60, 16)) as pilot:
        pane.focus_inside()
        await press(pilot, "end", shows="more:")
        await press(pilot, "a", "end", shows="the end")

"""The filter language: matches, a growing journal, and errors in filters."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.errors import UsageError
from inspector.journal.filters import FilteredView, FilterError, parse
from inspector.journal.filters.values import BadValue, NamePattern, NumberSpan, microseconds, moment, octets, span
from inspector.journal.findings import Finding
from inspector.journal.format import Dir, header_line
from inspector.journal.journal import Journal


@pytest.fixture
def journal() -> Iterator[Journal]:
    made = Journal.unnamed({"kind": "stdio"})
    yield made
    made.release()


def send(journal: Journal, message: Any, channel: str = "stdio") -> int:
    return journal.record_sent(channel, json.dumps(message).encode(), message)


def receive(journal: Journal, message: Any, channel: str = "stdio") -> int:
    journal.record_received(channel, [json.dumps(message).encode()])
    return len(journal)


def call(journal: Journal, id: Any, name: str = "echo", **arguments: Any) -> int:
    params = {"name": name, "arguments": arguments, "_meta": {"progressToken": id}}
    return send(journal, {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})


def answer(journal: Journal, id: Any, **result: Any) -> int:
    return receive(journal, {"jsonrpc": "2.0", "id": id, "result": result})


def fail(journal: Journal, id: Any, code: int = -32602) -> int:
    return receive(journal, {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": "no"}})


def progress(journal: Journal, token: Any) -> int:
    return receive(journal, {"method": "notifications/progress", "params": {"progressToken": token, "progress": 1}})


def matching(journal: Journal, text: str) -> list[int]:
    return parse(text).numbers(journal)


@pytest.fixture
def talk(journal: Journal) -> Journal:
    """1 spawn, 2-3 tools/list, 4-6 echo with progress, 7-8 get-sum that fails, 9 stderr, 10 no JSON, 11 pending."""
    journal.record_life("stdio", "spawn", argv=["server", "--flag"])
    send(journal, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    answer(journal, 1, tools=[])
    call(journal, 2, "echo", message="hello")
    progress(journal, 2)
    answer(journal, 2, content=[{"type": "text", "text": "Echo: hello"}])
    call(journal, "2", "get-sum", a=1)
    fail(journal, "2")
    journal.record_stderr("stderr", [b"warming up"])
    journal.record_received("stdio", [b"oops, hello"])
    call(journal, 3, "echo-twice")
    return journal


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("", list(range(1, 12))),
        ("method:tools/*", [2, 3, 4, 6, 7, 8, 11]),
        ("method:tools/call", [4, 6, 7, 8, 11]),
        ("method:TOOLS", [2, 3, 4, 6, 7, 8, 11]),
        ("method:progress", [5]),
        ("method:*", [2, 3, 4, 5, 6, 7, 8, 11]),
        ("dir:recv", [3, 5, 6, 8, 9, 10]),
        ("dir:sent", [2, 4, 7, 11]),
        ("dir:local", [1]),
        ("kind:stderr", [9]),
        ("kind:life", [1]),
        ("kind:invalid", [10]),
        ("kind:request", [2, 4, 7, 11]),
        ("kind:notification", [5]),
        ("kind:answer", [3, 6, 8]),
        ("id:1", [2, 3]),
        ("id:2", [4, 5, 6, 7, 8]),
        ("id:*", [2, 3, 4, 5, 6, 7, 8, 11]),
        ("id:99", []),
        ("status:error", [7, 8]),
        ("status:pending", [11]),
        ("status:done", [2, 3, 4, 6]),
        ("status:invalid", [10]),
        ("ch:stderr", [9]),
        ("ch:std*", list(range(1, 12))),
        ("n:3-5", [3, 4, 5]),
        ("n:>9", [10, 11]),
        ("n:#7", [7]),
        ("name:echo", [4, 5, 6]),
        ("name:echo*", [4, 5, 6, 11]),
        ("name:get-sum", [7, 8]),
        ("exchange:1", [2, 3]),
        ("exchange:#5", [4, 5, 6]),
        ("exchange:#9", [9]),
        ("exchange:#999", []),
        ("hello", [4, 6, 10]),
        ("HELLO", [4, 6, 10]),
        ('"Echo: hello"', [6]),
        ("-32602", [8]),
        ("--flag", [1]),
        ('"--flag"', [1]),
        ("hello -kind:invalid", [4, 6]),
        ("kind:stderr | kind:life", [1, 9]),
        ("kind:stderr or status:pending", [9, 11]),
        ("-(dir:recv | dir:send)", [1]),
        ("--kind:life", [1]),
        ("method:tools/* (status:error | status:pending) dir:send", [7, 11]),
        ("-method:* -kind:life", [9, 10]),
        ("https://nowhere.example/x", []),
        ("oops, -nothing", [10]),
    ],
)
def test_finds(talk: Journal, text: str, numbers: list[int]) -> None:
    assert matching(talk, text) == numbers


def test_evaluates_a_part(talk: Journal) -> None:
    assert parse("dir:recv").numbers(talk, 4, 8) == [5, 6, 8]
    assert parse("name:echo").numbers(talk, 5, 6) == [5, 6]
    assert parse("exchange:#4").numbers(talk, 6) == [6]
    assert parse("hello").numbers(talk, 10, 500) == [10]


def test_goes_to_the_next_and_the_previous(talk: Journal) -> None:
    hello = parse("hello")
    assert [hello.next(talk, n) for n in (0, 4, 6, 10)] == [4, 6, 10, 0]
    assert [hello.next(talk, n, -1) for n in (99, 10, 6, 4)] == [10, 6, 4, 0]
    assert hello.matches(talk, 6)
    assert not hello.matches(talk, 5)


def test_duration_counts_for_request_and_answer(journal: Journal) -> None:
    ticks = iter((100, 600_100, 700_000, 700_040))
    journal.now = lambda: next(ticks)  # type: ignore[method-assign]
    call(journal, 1)
    answer(journal, 1)
    call(journal, 2)
    answer(journal, 2)
    assert matching(journal, "duration:>500ms") == [1, 2]
    assert matching(journal, "duration:<0.1ms") == [3, 4]
    assert matching(journal, "duration:600ms") == [1, 2]
    assert matching(journal, "duration:0.5s-0.6s") == [1, 2]
    assert matching(journal, "duration:>=600000us") == [1, 2]
    assert matching(journal, "time:>0.65s") == [3, 4]


def test_size_is_that_of_the_message(journal: Journal) -> None:
    journal.record_received("stdio", [b'"%s"' % (b"x" * 998), b'"%s"' % (b"x" * 999)])
    assert matching(journal, "size:>1k") == [2]
    assert matching(journal, "size:1000") == [1]
    assert matching(journal, "size:1.0k") == [1, 2]


def test_time_by_the_clock(tmp_path: Path) -> None:
    path = tmp_path / "x.mcp.jsonl"
    lines = [f'{{"n":{n},"t":{n * 1_000_000},"dir":"recv","kind":"note","ch":""}}\n'.encode() for n in (1, 2, 3)]
    path.write_bytes(header_line({"started": "2026-03-04T10:20:30Z"}) + b"".join(lines))
    journal = Journal.open(path)
    journal.refresh()
    second = journal.clock(2_000_000).strftime("%H:%M:%S")
    assert matching(journal, f"time:{second}") == [2]
    assert matching(journal, f"time:>{second}") == [3]
    journal.release()


def test_exchange_takes_in_what_the_server_asks_within_it(journal: Journal) -> None:
    call(journal, 9)
    receive(journal, {"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": {"message": "?"}})
    receive(journal, {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}})
    send(journal, {"jsonrpc": "2.0", "id": 1, "result": {"action": "decline"}})
    answer(journal, 9)
    send(journal, {"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert matching(journal, "exchange:9") == [1, 2, 3, 4, 5]
    assert matching(journal, "exchange:#4") == [1, 2, 3, 4, 5]
    assert matching(journal, "exchange:1") == [6]


def test_finding_by_rule_and_level(talk: Journal) -> None:
    talk.findings.add(Finding(6, "TOOL-21", "must", "wrong"))
    talk.findings.add(Finding(8, "HTTP-18", "should", "odd"))
    assert matching(talk, "finding:*") == [6, 8]
    assert matching(talk, "finding:tool-*") == [6]
    assert matching(talk, "finding:should") == [8]
    assert matching(talk, "-finding:* method:tools/call") == [4, 7, 11]


# Text, however it is escaped


@pytest.mark.parametrize(
    "raw",
    [
        '{"jsonrpc":"2.0","method":"m","params":{"t":"São/Paulo \\"x\\""}}',
        '{"jsonrpc":"2.0","method":"m","params":{"t":"S\\u00E3o\\/Paulo \\u0022x\\u0022"}}',
        '{"jsonrpc":"2.0","method":"m","params":{"t":"S\\u00c3O/paulo \\"X\\""}}',
        '{"jsonrpc":"2.0","method":"m","params":{"t":"{\\"t\\": \\"S\\\\u00e3o/Paulo \\\\\\"x\\\\\\"\\"}"}}',
        'not JSON: são/paulo "x"',
    ],
)
def test_text_is_found_through_its_escapes(journal: Journal, raw: str) -> None:
    journal.record_received("stdio", [raw.encode()])
    assert matching(journal, '"são/paulo \\"X\\""') == [1]
    assert matching(journal, '"são/paulo \\"y\\""') == []


@given(st.text(max_size=12), st.booleans())
def test_text_finds_any_text_in_any_message(text: str, ascii: bool) -> None:
    journal = Journal.unnamed({})
    message = json.dumps({"jsonrpc": "2.0", "method": "m", "params": {"t": f"<{text}>"}}, ensure_ascii=ascii)
    journal.record_received("stdio", [message.encode("utf-8", "surrogatepass")])
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    assert matching(journal, f'"<{quoted}>"') == [1]
    journal.release()


@given(st.text('ab\\"/é\n{}:,', min_size=1, max_size=4), st.text('ab\\"/é\n', max_size=8))
def test_text_finds_nothing_else(needle: str, text: str) -> None:
    journal = Journal.unnamed({})
    journal.record_stderr("", [text.encode()])
    quoted = needle.replace("\\", "\\\\").replace('"', '\\"')
    if not set('\\"/\n') & set(needle + text):
        assert matching(journal, f'"{quoted}"') == ([1] if needle in text else [])
    elif needle in text:
        assert matching(journal, f'"{quoted}"') == [1]
    journal.release()


@pytest.mark.parametrize("word", ["kind", "recv", "stderr", "raw", "}", '"', "dir", "123"])
def test_text_does_not_find_the_envelope(journal: Journal, word: str) -> None:
    journal.now = lambda: 123  # type: ignore[method-assign]
    journal.record_stderr("stderr", [b"x"])
    journal.record_received("stdio", [b"[]"])
    quoted = word.replace('"', '\\"')
    assert matching(journal, f'"{quoted}"') == []


def test_text_is_found_in_the_facts_of_other_events(journal: Journal) -> None:
    journal.record_http("post-1", Dir.SEND, method="POST", url="https://shop.example/mcp", headers=[("Accept", "x/y")])
    journal.record_life("stdio", "exit", status=3)
    assert matching(journal, "shop.example") == [1]
    assert matching(journal, "accept") == [1]
    assert matching(journal, "exit") == [2]


def test_text_is_found_in_bytes_that_are_not_utf8(journal: Journal) -> None:
    journal.record_received("stdio", [b'{"jsonrpc":"2.0","method":"\xff caf","params":{}}'])
    assert matching(journal, "caf") == [1]


def test_text_is_found_in_lines_that_another_tool_wrote(tmp_path: Path) -> None:
    path = tmp_path / "x.mcp.jsonl"
    line = {"raw": '{"jsonrpc": "2.0", "method": "grüße"}', "kind": "rpc", "n": 1, "t": 5, "dir": "recv", "ch": "a"}
    path.write_bytes(header_line({}) + json.dumps(line).encode() + b"\n" + json.dumps(line | {"n": 2}).encode() + b"\n")
    journal = Journal.open(path)
    journal.refresh()
    assert matching(journal, "GRÜSSE | grüße") == [1, 2]
    assert matching(journal, "recv") == []
    journal.release()


def test_text_is_found_across_the_blocks_of_a_long_line(journal: Journal) -> None:
    body = "x" * ((1 << 20) - 60)
    for filler in range(0, 120, 7):
        journal.record_stderr("", [(body + "y" * filler + "Needle" + body).encode()])
    assert matching(journal, "needle") == list(range(1, len(journal) + 1))
    assert matching(journal, "needles") == []


def test_sparse_events_are_read_without_the_rest(journal: Journal) -> None:
    for n in range(1, 400):
        journal.record_stderr("", [b"needle " + b"x" * (3000 if n % 50 else 10)])
    assert matching(journal, "needle size:<100") == list(range(50, 400, 50))


def test_exchange_takes_in_what_is_about_a_nested_request(journal: Journal) -> None:
    call(journal, 9)
    receive(journal, {"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": {"message": "?"}})
    receive(journal, {"method": "notifications/cancelled", "params": {"requestId": 1}})
    assert matching(journal, "exchange:9") == [1, 2, 3]
    assert parse("exchange:9").numbers(journal, 3) == [3]


# A journal that grows


def test_a_view_grows_with_its_journal(journal: Journal) -> None:
    view = FilteredView(journal, parse("dir:recv"))
    call(journal, 1)
    assert not view.extend()
    assert list(view.numbers) == []
    answer(journal, 1)
    view.extend()
    assert list(view.numbers) == [2]
    assert view.position(2) == 0
    assert view.position(1) is None


def test_a_view_takes_in_what_answers_change(journal: Journal) -> None:
    pending = FilteredView(journal, parse("status:pending"))
    done = FilteredView(journal, parse("status:done"))
    for id in (1, 2, 3):
        call(journal, id)
    pending.extend()
    done.extend()
    assert (list(pending.numbers), list(done.numbers)) == ([1, 2, 3], [])
    answer(journal, 2)
    pending.extend()
    done.extend()
    assert (list(pending.numbers), list(done.numbers)) == ([1, 3], [2, 4])
    journal.record_life("", "cancel", **{"for": 1})
    cancelled = FilteredView(journal, parse("status:cancelled"))
    cancelled.extend()
    assert list(cancelled.numbers) == [1]


def test_a_view_takes_in_new_findings(talk: Journal) -> None:
    view = FilteredView(talk, parse("finding:must"))
    view.extend()
    talk.findings.add(Finding(6, "A", "should", "odd"))
    view.extend()
    assert list(view.numbers) == []
    talk.findings.add(Finding(6, "B", "must", "wrong"))
    view.extend()
    assert list(view.numbers) == [6]


def test_a_limited_extend_says_that_there_is_more(talk: Journal) -> None:
    view = FilteredView(talk, parse("dir:recv"))
    assert view.extend(4)
    assert (view.seen, list(view.numbers)) == (4, [3])
    assert not view.extend(100)
    assert list(view.numbers) == parse("dir:recv").numbers(talk)


@pytest.mark.parametrize("text", ["status:done | status:cancelled", "duration:>=0ms -dir:recv", "exchange:3", "name:b"])
def test_a_view_ends_as_a_fresh_evaluation_would(journal: Journal, text: str) -> None:
    chance = random.Random(4)
    view = FilteredView(journal, parse(text))
    asked: list[int] = []
    for step in range(300):
        choice = chance.random()
        if choice < 0.4 or not asked:
            call(journal, step, chance.choice("abc"))
            asked.append(step)
        elif choice < 0.7:
            answer(journal, asked.pop(chance.randrange(len(asked))))
        elif choice < 0.8:
            send(journal, {"method": "notifications/cancelled", "params": {"requestId": chance.choice(asked)}})
        else:
            progress(journal, chance.choice(asked))
        if chance.random() < 0.2:
            view.extend()
    view.extend()
    assert list(view.numbers) == parse(text).numbers(journal)


def test_very_many_open_requests_are_looked_at_in_turns(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspector.journal.filters.view._RECHECKED", 3)
    view = FilteredView(journal, parse("status:pending"))
    for id in range(10):
        call(journal, id)
    view.extend()
    for id in range(0, 10, 2):
        answer(journal, id)
    for _ in range(4):
        view.extend()
    assert list(view.numbers) == parse("status:pending").numbers(journal)


# Errors


@pytest.mark.parametrize(
    ("text", "position", "says"),
    [
        ("methd:x", 1, "methd:"),
        ("a kind:wrong", 3, "kind:wrong"),
        ("duration:>fast", 1, "500ms"),
        ("size:>1parsec", 1, "1k"),
        ("dir:up", 1, "send"),
        ("status:eror", 1, "`error`"),
        ("n:x", 1, "100-200"),
        ("time:25:99", 1, "time of day"),
        ("exchange:#x", 1, "#1204"),
        ("a method:", 3, "method:tools/*"),
        ('a "b c', 3, "not closed"),
        ("(a b", 1, "not closed"),
        ("a |", 3, "needs an operand"),
        ("| a", 1, "needs an operand"),
        ("a () b", 4, "needs an operand"),
        ("(" * 30 + "a" + ")" * 30, 21, "deep"),
        ("-(" * 30 + "a" + ")" * 30, 21, "deep"),
        ("a " * 200, 201, "more than 100 terms"),
        ("a" * 3000, 2001, "characters; at most"),
        ("a" * 300, 1, "longer than 200"),
    ],
)
def test_names_what_is_wrong_and_where(text: str, position: int, says: str) -> None:
    with pytest.raises(FilterError) as caught:
        parse(text)
    assert caught.value.position == position
    assert says in caught.value.message
    assert isinstance(caught.value, UsageError)
    assert caught.value.exit_code == 2


def test_the_reason_alone_is_short() -> None:
    with pytest.raises(FilterError) as caught:
        parse("a dir:sendx")
    assert caught.value.reason == "did you mean `send`? directions are local, send, recv"
    assert caught.value.message == "`dir:sendx` at character 3: " + caught.value.reason + "."


def test_suggests_the_term_that_was_meant() -> None:
    with pytest.raises(FilterError) as caught:
        parse("methd:x")
    assert "`method:`" in caught.value.hint
    assert '"methd:x"' in caught.value.hint


@given(st.text('ab:"-|()>< \\#1or*é', max_size=30))
def test_reads_anything_or_says_why_not(text: str) -> None:
    journal = Journal.unnamed({})
    journal.record_stderr("", [b"ab"])
    try:
        numbers, position = parse(text).numbers(journal), 1
    except FilterError as error:
        numbers, position = [], error.position
    journal.release()
    assert numbers in ([], [1])
    assert 1 <= position <= max(len(text), 1)


# Values


@pytest.mark.parametrize(
    ("text", "read", "expected"),
    [
        (">500ms", microseconds, NumberSpan(500_001, (1 << 63) - 1)),
        ("<=1.5s", microseconds, NumberSpan(-(1 << 63), 1_500_000)),
        ("10-50ms", microseconds, NumberSpan(10_000, 50_000)),
        ("1s..2m", microseconds, NumberSpan(1_000_000, 120_000_000)),
        ("12 ms", microseconds, NumberSpan(11_500, 12_499)),
        ("=7", octets, NumberSpan(7, 7)),
        ("1.2kB", octets, NumberSpan(1150, 1249)),
        (">1kib", octets, NumberSpan(1025, (1 << 63) - 1)),
        ("10:20-10:21", moment, NumberSpan(37_200_000_000, 37_260_000_000, True)),
    ],
)
def test_reads_comparisons_and_ranges(text: str, read: Any, expected: NumberSpan) -> None:
    assert span(text, read) == expected


def test_a_range_is_of_one_kind() -> None:
    with pytest.raises(BadValue):
        span("1s-10:20", moment)


@pytest.mark.parametrize(
    ("pattern", "name", "fits"),
    [
        ("tools/*", "tools/call", True),
        ("tools/*", "tools", False),
        ("*list*", "notifications/tools/list_changed", True),
        ("list", "tools/list", True),
        ("list", "listing", False),
        ("tool?/call", "tools/call", True),
        ("a[b]", "a[b]", True),
        ("a[b]", "ab", False),
        ("Tools/Call", "tools/call", True),
        ("*" * 40 + "x", "a" * 20_000, False),
        ("*a" * 40 + "b", "a" * 20_000, False),
    ],
)
def test_patterns(pattern: str, name: str, fits: bool) -> None:
    assert NamePattern(pattern).matches(name) is fits


def test_the_runs_of_a_flow(journal: Journal) -> None:
    def run(path: str, ends: bool = True) -> tuple[int, int]:
        first = journal.record_note(f"run {path}", run=path)
        call(journal, first)
        last = answer(journal, first)
        return first, journal.record_note(f"ran {path}: passed", run_ended=path) if ends else last

    call(journal, "before")
    one = run("calls/orders.yaml")
    answer(journal, "before")
    run("calls/stock.yaml")
    two = run("calls/orders.yaml", ends=False)
    run("calls/a b.yaml")
    journal.record_note("a note", run=5)
    view = FilteredView(journal, parse("run:orders"))
    view.extend()
    all_of_it = [*range(one[0], one[1] + 1), *range(two[0], two[1] + 1)]
    assert list(view.numbers) == all_of_it
    for name in ("calls/orders.yaml", "orders.yaml", "ord*", "calls/*rs.yaml"):
        assert matching(journal, f"run:{name}") == all_of_it
    assert matching(journal, "run:orders.yaml#1") == list(range(one[0], one[1] + 1))
    assert matching(journal, "run:orders.yaml#2 dir:recv") == [two[1]]
    assert matching(journal, "run:orders.yaml#3") == matching(journal, "run:other") == []
    assert len(matching(journal, 'run:"a b.yaml"')) == 4
    again = run("calls/orders.yaml")
    view.extend()
    assert list(view.numbers) == [*all_of_it, *range(again[0], again[1] + 1)]
    assert parse("run:orders.yaml").matches(journal, one[0] + 1)

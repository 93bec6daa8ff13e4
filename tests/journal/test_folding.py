"""Which events share the row of a message."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inspector.journal.filters import FilteredView, parse
from inspector.journal.folding import FoldedMatches, Folding
from inspector.journal.format import Dir
from inspector.journal.journal import Journal
from inspector.journal.name_tables import MAX_POLLS
from inspector.journal.session_start import StartFolding
from tests.processes import ROOT
from tests.tui.recorded_conversation import Talk

KINDS = ROOT / "recordings" / "kinds"

Rows = Folding | StartFolding


def read(name: str) -> Journal:
    journal = Journal.open(KINDS / f"{name}.mcp.jsonl")
    while journal.refresh():
        pass
    return journal


def folding(journal: Journal) -> Folding:
    fold = Folding(journal)
    fold.advance(len(journal))
    return fold


def with_starts(journal: Journal) -> StartFolding:
    fold = StartFolding(Folding(journal))
    fold.advance(len(journal))
    return fold


def messages(fold: Folding) -> Folding:
    return fold


def rows(fold: Rows) -> list[int]:
    return [fold[position] for position in range(len(fold))]


def page(talk: Talk, id: int, cursor: str = "", next: str = "") -> None:
    talk.ask(id, "tools/list", {"cursor": cursor} if cursor else None)
    talk.answer(id, {"tools": [{"name": f"t{id}"}], **({"nextCursor": next} if next else {})})


def matches(fold: Folding, text: str) -> list[int]:
    view = FoldedMatches(fold, FilteredView(fold.journal, parse(text)))
    while view.filtered.seen < fold.seen:
        view.apply(view.filtered.scan(fold.seen))
    return list(view.numbers)


def test_heads_and_stream_ends_stand_in_the_rows_of_their_messages() -> None:
    fold = folding(read("http-resumed"))
    assert rows(fold) == [1, 6, 7, 8, 15, 16, 20, 26, 28]
    assert fold.folded(16) == [17, 24]
    assert fold.folded(26) == [18, 19, 21, 22, 23, 25, 27]
    assert fold.folded(7) == [9, 13, 14], "a notification that was posted"
    assert fold.folded(8) == [10, 11, 12], "a GET that carries no message"


def failed_page() -> Talk:
    """Return a connection whose second page of a list fails."""
    talk = Talk()
    talk.journal.record_life("stdio", "spawn", argv=["x"])
    talk.ask(0, "initialize")
    talk.answer(0, {"serverInfo": {"name": "x"}})
    talk.journal.record_life("stdio", "ready")
    page(talk, 1, next="b")
    talk.ask(2, "tools/list", {"cursor": "b"})
    talk.receive({"jsonrpc": "2.0", "id": 2, "error": {"code": -1, "message": "no"}})
    return talk


def reconnected() -> Talk:
    """Return a connection that is ready three times, each with a list of two pages and a call with progress."""
    talk = Talk()
    for id in (10, 20, 30):
        talk.journal.record_life("stdio", "reopen" if id > 10 else "spawn", argv=["x"])
        talk.ask(id, "initialize")
        talk.answer(id, {"serverInfo": {"name": "x"}})
        talk.journal.record_life("stdio", "ready")
        page(talk, id + 1, next="b")
        page(talk, id + 2, "b")
        talk.ask(id + 3, "tools/call", {"_meta": {"progressToken": id}})
        for _ in range(3):
            talk.notice("progress", progressToken=id, progress=1)
        talk.say(id + 3, "x")
    return talk


def posted() -> Talk:
    """Return a connection over HTTP whose first head was recorded before its message, and that is ready."""
    talk = Talk({"kind": "http", "url": "http://x/"})
    talk.journal.record_http("post-1", Dir.SEND, method="POST", url="http://x/", headers=[])
    talk.send({"jsonrpc": "2.0", "id": 1, "method": "initialize"}, "post-1")
    talk.journal.record_http("post-1", Dir.RECV, status=200, headers=[])
    talk.receive({"jsonrpc": "2.0", "id": 1, "result": {"serverInfo": {"name": "x"}}}, "post-1")
    talk.journal.record_life("http", "ready")
    talk.call(2, "a")
    return talk


MADE = {"failed": failed_page, "reconnected": reconnected, "posted": posted}
"""Recordings that are made here."""


def recording(name: str) -> Journal:
    return MADE[name]().journal if name in MADE else read(name)


@pytest.mark.parametrize("layer", [messages, StartFolding])
@pytest.mark.parametrize(
    "name", [*MADE, "http-json", "http-legacy", "http-modern", "http-sse", "stdio-legacy", "hostile"]
)
def test_every_event_has_a_row_or_stands_in_one(name: str, layer: Callable[[Folding], Rows]) -> None:
    journal = recording(name)
    fold = layer(Folding(journal))
    fold.advance(len(journal))
    visible, every = rows(fold), range(1, len(journal) + 1)
    hidden = [n for n in every if fold.is_folded(n)]
    assert sorted([*visible, *hidden]) == list(every)
    assert {fold.row(n) for n in hidden} <= set(visible)
    assert sorted(m for n in visible for m in fold.folded(n)) == hidden
    assert [fold.position(n) for n in visible] == list(range(len(visible)))
    assert [fold.until(n) for n in every] == [sum(row <= n for row in visible) for n in every]
    assert (fold.position(0), fold.position(len(journal) + 1), fold.until(len(journal) + 1)) == (None, None, len(fold))


@pytest.mark.parametrize("layer", [messages, StartFolding])
@pytest.mark.parametrize("name", [*MADE, "http-resumed", "http-json", "http-legacy", "http-modern", "stdio-legacy"])
def test_the_same_is_folded_event_by_event_as_at_once(name: str, layer: Callable[[Folding], Rows]) -> None:
    journal = recording(name)
    slowly = layer(Folding(journal))
    for last in range(1, len(journal) + 1):
        slowly.advance(last)
        for n in range(1, last + 1):
            slowly.folded(n)
    at_once = layer(Folding(journal))
    at_once.advance(len(journal))
    assert rows(slowly) == rows(at_once)
    every = range(1, len(journal) + 1)
    assert [slowly.row(n) for n in every] == [at_once.row(n) for n in every]
    assert [sorted(slowly.group(n)) for n in rows(slowly)] == [sorted(at_once.group(n)) for n in rows(at_once)]
    assert [slowly.folded(n) for n in every] == [at_once.folded(n) for n in every]


def started() -> Talk:
    """Return a connection that is ready (1-4), with a list of two pages, and one that fails (5-13)."""
    talk = Talk()
    talk.journal.record_life("stdio", "spawn", argv=["x"])
    talk.ask(0, "initialize")
    talk.answer(0, {"serverInfo": {"name": "x"}})
    talk.journal.record_life("stdio", "ready")
    page(talk, 1, next="b")
    talk.ask(2, "prompts/list")
    page(talk, 3, "b")
    talk.journal.record_stderr("stderr", [b"hello"])
    talk.receive({"jsonrpc": "2.0", "id": 2, "error": {"code": -1, "message": "no"}})
    talk.ask(4, "subscriptions/listen")
    talk.notice("subscriptions/acknowledged")
    return talk


@pytest.mark.parametrize(("after", "row"), [
    # The start ends with a call, a list that is requested again, or a notification of the server.
    ([("ask", 9, "tools/call")], 14),
    ([("ask", 9, "tools/list")], 14),
    ([("notice", "tools/list_changed"), ("ask", 9, "tools/list")], 14),
    # It does not end with another list, a question of the server, or a line of stderr.
    ([("ask", 9, "resources/list")], 1),
])  # fmt: skip
def test_the_start_of_a_session_is_one_row(after: list[Any], row: int) -> None:
    talk = started()
    for name, *rest in after:
        getattr(talk, name)(*rest)
    fold = with_starts(talk.journal)
    assert [n for n in rows(fold) if n < 14] == [1, 10, 11], "stderr and a list that failed are shown"
    assert (fold.is_start(1), list(fold.group(1))[:7]) == (True, [1, 2, 3, 4, 5, 7, 12])
    assert [fold.row(n) for n in (6, 8, 9, 13)] == [1] * 4
    assert fold.row(14) == row
    assert rows(folding(talk.journal))[:5] == [1, 2, 3, 4, 5], "only where it is wanted"


def test_a_connection_that_fails_keeps_its_rows() -> None:
    talk = Talk()
    talk.journal.record_life("stdio", "spawn", argv=["x"])
    talk.ask(0, "initialize")
    talk.journal.record_life("stdio", "failed", reason="no")
    assert rows(with_starts(talk.journal)) == [1, 2, 3]


def test_the_progress_of_one_call_is_one_row() -> None:
    talk = Talk()
    for id in (1, 2):
        talk.ask(id, "tools/call", {"_meta": {"progressToken": id}})
    for id in (1, 1, 2, 1):
        talk.notice("progress", progressToken=id, progress=1)
    fold = folding(talk.journal)
    assert rows(fold) == [1, 2, 3, 5]
    assert [list(fold.group(n)) for n in (3, 5)] == [[3, 4, 6], []]
    assert fold.folded(3) == [4, 6]


def test_progress_after_many_other_folded_events_has_another_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """The events of a row must all be near it."""
    monkeypatch.setattr("inspector.journal.folding.MAX_BETWEEN", 4)
    talk = Talk()
    for id in (1, 2):
        talk.ask(id, "tools/call", {"_meta": {"progressToken": id}})
    for id in (1, 2, *[2] * 5, 1):
        talk.notice("progress", progressToken=id, progress=1)
    fold = folding(talk.journal)
    assert rows(fold) == [1, 2, 3, 4, 9, 10]
    assert [fold.folded(n) for n in rows(fold)] == [[], [], [], [5, 6, 7, 8], [], []]


def test_progress_of_any_number_of_calls_fills_no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspector.journal.folding._MAX_FOLLOWED", 3)
    talk = Talk()
    for id in range(20):
        talk.ask(id, "tools/call", {"_meta": {"progressToken": id}})
        for _ in range(3):
            talk.notice("progress", progressToken=id, progress=1)
        talk.say(id, "x")
    fold = with_starts(talk.journal)
    assert [fold.folded(n) for n in rows(fold)].count([]) == 40
    tables = {**vars(fold), **vars(fold.messages)}
    assert {name: len(table) for name, table in tables.items() if isinstance(table, dict) and len(table) > 3} == {}


def test_the_events_of_a_row_are_looked_for_once_until_they_change(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[int] = []
    find_members = Folding._members
    monkeypatch.setattr(Folding, "_members", lambda self, n: (searched.append(n), find_members(self, n))[1])
    talk = Talk()
    for id in (1, 2):
        talk.ask(id, "tools/call", {"_meta": {"progressToken": id}})
    talk.notice("progress", progressToken=1, progress=1)
    talk.notice("progress", progressToken=1, progress=2)
    fold = folding(talk.journal)
    assert [fold.folded(n) for n in (1, 2, 3)] == [[], [], [4]]
    searched.clear()
    for _ in range(3):
        assert [fold.folded(n) for n in (1, 2, 3)] == [[], [], [4]]
    talk.notice("progress", progressToken=1, progress=3)
    fold.advance(5)
    assert fold.folded(1) == []
    assert searched == []
    assert fold.folded(3) == [4, 5]
    assert set(searched) == {3, 4, 5}


def test_a_response_head_stands_with_the_request_until_the_answer_is_there() -> None:
    journal = read("http-json")
    fold = Folding(journal)
    fold.advance(18)
    assert fold.row(18) == 16
    assert fold.advance(19) >= {16, 18}
    assert fold.row(18) == 19


def test_a_head_that_was_recorded_before_its_message_is_folded_when_that_comes() -> None:
    talk = Talk({"kind": "http", "url": "http://x/"})
    head = talk.journal.record_http("post-1", Dir.SEND, method="POST", url="http://x/", headers=[])
    fold = folding(talk.journal)
    assert rows(fold) == [head]
    request = talk.ask(1, "ping")
    talk.send({"jsonrpc": "2.0", "id": 1, "method": "ping"}, "post-1")
    assert fold.advance(len(talk.journal)) >= {head}
    assert rows(fold) == [request, request + 1]
    assert fold.row(head) == request + 1


def test_the_pages_of_a_list_are_one_row() -> None:
    talk = Talk()
    page(talk, 1, next="a")
    fold = folding(talk.journal)
    assert rows(fold) == [1, 2]
    page(talk, 2, cursor="a", next="b")
    page(talk, 3, cursor="b")
    page(talk, 4)
    fold.advance(len(talk.journal))
    assert rows(fold) == [1, 7, 8]
    assert fold.list_messages(1) == [1, 2, 3, 4, 5, 6]
    assert fold.folded(1) == [2, 3, 4, 5, 6]
    assert fold.list_messages(7) == []


def test_the_polls_of_a_task_are_one_row_and_those_of_an_endless_one_several() -> None:
    talk = Talk()
    for id, task in enumerate(("a", "a", "b", "a")):
        talk.ask(id, "tasks/get", {"taskId": task})
        talk.answer(id, {"taskId": task, "status": "working"})
    fold = folding(talk.journal)
    assert rows(fold) == [1, 5, 6]
    assert fold.list_messages(1) == [1, 2, 3, 4, 7, 8]
    assert fold.folded(1) == [2, 3, 4, 7, 8]
    for id in range(10, 10 + MAX_POLLS):
        talk.ask(id, "tasks/get", {"taskId": "a"})
        talk.answer(id, {"taskId": "a", "status": "completed"})
    fold.advance(len(talk.journal))
    assert rows(fold) == [1, 5, 6, 9 + 2 * (MAX_POLLS - 3)]


def test_a_page_that_is_requested_before_the_one_before_it_came_is_folded_too() -> None:
    talk = Talk()
    talk.ask(1, "tools/list")
    talk.ask(2, "tools/list", {"cursor": "guessed"})
    fold = folding(talk.journal)
    assert rows(fold) == [1]
    talk.answer(2, {"tools": []})
    talk.answer(1, {"tools": []})
    fold.advance(len(talk.journal))
    assert rows(fold) == [1]


def test_a_match_on_a_folded_event_shows_its_row() -> None:
    fold = folding(read("http-resumed"))
    assert matches(fold, "kind:http dir:recv") == [6, 7, 8, 26, 28]
    assert matches(fold, "kind:life stream-end") == [26]


def test_a_match_goes_with_its_event_to_another_row() -> None:
    journal = read("http-json")
    fold = Folding(journal)
    fold.advance(18)
    view = FoldedMatches(fold, FilteredView(journal, parse("kind:http dir:recv n:18")))
    view.apply(view.filtered.scan(18))
    assert list(view.numbers) == [16]
    changed = fold.advance(19)
    view.look_again({*changed, *map(fold.row, changed)})
    assert list(view.numbers) == [19]
    view.apply(view.filtered.scan(19))
    assert list(view.numbers) == [19]


def test_a_million_messages_over_stdio_cost_no_memory(tmp_path: Path) -> None:
    talk = Talk()
    for id in range(50):
        talk.call(id, "a")
        talk.say(id, "x")
    fold = folding(talk.journal)
    assert len(fold.hidden) == 0
    assert len(fold) == 100


def test_any_number_of_heads_without_a_message_is_shown(tmp_path: Path) -> None:
    talk = Talk({"kind": "http", "url": "http://x/"})
    for _ in range(5):
        talk.journal.record_http("http", Dir.SEND, method="GET", url="http://x/", headers=[])
        talk.journal.record_http("http", Dir.RECV, status=404, headers=[])
    fold = folding(talk.journal)
    assert rows(fold) == [1, 3, 5, 7, 9]
    folded: Any = [fold.folded(n) for n in rows(fold)]
    assert folded == [[2], [4], [6], [8], [10]]

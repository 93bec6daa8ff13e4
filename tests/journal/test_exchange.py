"""An exchange knows its answer and what came inside it, and learns of what comes later."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator
from typing import Any

import pytest

from inspector.journal.exchange import Exchange, add_roots, around, given_up_at, is_answer, is_open
from inspector.journal.failures import failures, problems
from inspector.journal.format import Dir
from inspector.journal.journal import Journal
from inspector.journal.query import picked


@pytest.fixture
def journal() -> Iterator[Journal]:
    journal = Journal.unnamed({})
    yield journal
    journal.close()


def send(journal: Journal, **message: Any) -> int:
    whole = {"jsonrpc": "2.0", **message}
    return journal.record_sent("stdio", json.dumps(whole).encode(), whole)


def receive(journal: Journal, **message: Any) -> int:
    journal.record_received("stdio", [json.dumps({"jsonrpc": "2.0", **message}).encode()])
    return len(journal)


def call(journal: Journal, id: int, name: str = "slow") -> int:
    params = {"name": name, "_meta": {"progressToken": id}}
    return send(journal, id=id, method="tools/call", params=params)


def test_what_belongs_to_a_call(journal: Journal) -> None:
    n = call(journal, 1)
    progress = receive(journal, method="notifications/progress", params={"progressToken": 1, "progress": 1})
    log = receive(journal, method="notifications/message", params={"level": "info", "data": "x"})
    question = receive(journal, id=1, method="sampling/createMessage", params={})
    exchange = Exchange(journal, n)
    assert (exchange.answer_n, exchange.answer, exchange.state, exchange.seconds) == (0, None, "pending", None)
    assert [nested.n for nested in exchange.nested] == [question]
    reply = send(journal, id=1, result={"role": "assistant"})
    answer = receive(journal, id=1, result={"content": []})
    receive(journal, method="notifications/message", params={"level": "info", "data": "later"})
    assert exchange.answer_n == answer
    assert (exchange.name, exchange.method, exchange.dir, exchange.state) == ("slow", "tools/call", "send", "done")
    assert exchange.result == {"content": []}
    assert exchange.progress == [progress]
    assert exchange.notifications == [progress, log]
    (asked,) = exchange.nested
    assert (asked.n, asked.answer_n, asked.dir, asked.result) == (question, reply, "recv", {"role": "assistant"})
    assert exchange.events == [n, progress, log, question, reply, answer]


def test_which_answer_counts_and_what_a_message_is_around(journal: Journal) -> None:
    n = call(journal, 1)
    progress = receive(journal, method="notifications/progress", params={"progressToken": 1, "progress": 1})
    first = receive(journal, id=1, result={})
    second = receive(journal, id=1, result={})
    assert [is_answer(journal.index, m) for m in (n, progress, first, second)] == [False, False, True, False]
    assert [around(journal.index, m) for m in (n, progress, first)] == [0, n, 0]


def test_the_outermost_requests_in_slices(journal: Journal) -> None:
    for id in (1, 2):
        call(journal, id)
        receive(journal, id=id, method="roots/list")
        send(journal, id=id, result={"roots": []})
        receive(journal, id=id, result={})
    index = journal.index
    roots = array("I")
    for upto in (3, 3, 5, len(journal)):
        add_roots(index, roots, upto)
    assert list(roots) == [index.root_of(n) or n for n in range(1, len(journal) + 1)] == [1] * 4 + [5] * 4


def test_when_a_request_was_given_up(journal: Journal) -> None:
    cancelled, waiting = call(journal, 1), call(journal, 2)
    gone = send(journal, method="notifications/cancelled", params={"requestId": 1})
    lost = journal.record_life("stdio", "lost", **{"for": waiting})
    index = journal.index
    assert (given_up_at(index, cancelled), given_up_at(index, waiting)) == (gone, lost)
    assert [is_open(index, cancelled, n) for n in (cancelled, gone - 1, gone)] == [True, True, False]
    assert [is_open(index, waiting, n) for n in (cancelled, waiting, lost - 1, lost)] == [False, True, True, False]


def test_what_shows_a_failure(journal: Journal) -> None:
    call(journal, 1)
    call(journal, 2)
    error = receive(journal, id=1, error={"code": -1, "message": "no"})
    journal.record_received("stdio", [b"no JSON"])
    lost = journal.record_life("stdio", "lost", **{"for": 2})
    journal.record_life("stdio", "exit", status=0)
    flags = failures(journal.index, 0, len(journal))
    assert [n for n, failed in enumerate(flags, 1) if failed] == [error, error + 1, lost]
    assert failures(journal.index, lost - 1, lost) == b"\1"


def test_an_error_is_counted_once(journal: Journal) -> None:
    """The end of a stream is not a second error of its request, as its answer or its loss counts."""
    failed = []
    for id, answer in enumerate(({"result": {"isError": True}}, {"error": {"code": -1}}, {"result": {}}, {}, {}), 1):
        request = {"jsonrpc": "2.0", "id": id, "method": "tools/call"}
        channel, about = f"post-{id}", {"for": journal.record_sent(f"post-{id}", json.dumps(request).encode(), request)}
        journal.record_http(channel, Dir.RECV, status=502 if id == 4 else 200)
        if answer:
            raw = json.dumps({"jsonrpc": "2.0", "id": id, **answer}).encode()
            journal.record_received(channel, [raw])
            failed += [len(journal)] if id < 3 else []
        if id != 4:
            journal.record_life(channel, "stream-end", **about)
        if not answer:
            failed.append(journal.record_life("", "error" if id == 4 else "lost", **about))
    index = journal.index
    assert list(picked(1, failures(index, 0, len(journal)))) == problems(index, journal.findings) == failed
    assert len(failed) == 4

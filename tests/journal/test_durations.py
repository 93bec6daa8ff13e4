"""The duration of a call, without the time of the person who answers its questions."""

from __future__ import annotations

import pytest

from inspector.journal.durations import CallParts, CallTimes, divided, overlap, took
from inspector.journal.format import Dir
from inspector.journal.index import State
from tests.tui.recorded_conversation import Talk


def ask(talk: Talk, ms: float, id: int, method: str = "elicitation/create") -> None:
    talk.at(ms).receive({"jsonrpc": "2.0", "id": id, "method": method, "params": {}})


def reply(talk: Talk, ms: float, id: int) -> None:
    talk.at(ms).send({"jsonrpc": "2.0", "id": id, "result": {}})


def test_questions_that_overlap_count_once() -> None:
    talk = Talk()
    request = talk.call(1, "order")
    ask(talk, 100, 7)
    ask(talk, 200, 8, "sampling/createMessage")
    reply(talk, 400, 7)
    reply(talk, 600, 8)
    ask(talk, 650, 9, "roots/list")
    reply(talk, 700, 9)
    answer = talk.at(1000).say(1, "done")
    assert took(talk.journal.index, answer) == took(talk.journal.index, request) == CallTimes(450_000, 550_000)


def test_a_call_that_waits_for_a_person_does_not_count_that_so_far() -> None:
    talk = Talk()
    request = talk.call(1, "order")
    ask(talk, 100, 7)
    index = talk.journal.index
    assert took(index, request) is None
    assert took(index, request, until=900_000) == CallTimes(100_000, 800_000)


def test_at_a_moment_only_what_had_happened_counts() -> None:
    talk = Talk()
    request = talk.call(1, "order")
    ask(talk, 100, 7)
    reply(talk, 400, 7)
    talk.at(1000).say(1, "done")
    assert took(talk.journal.index, request, until=300_000, upto=2) == CallTimes(100_000, 200_000)
    assert took(talk.journal.index, 2, upto=3) == CallTimes(0, 300_000), "the time of an answer of ours is ours"


@pytest.mark.parametrize(
    ("intervals", "covered"),
    [([], 0), ([(0, 5)], 0), ([(5, 12), (11, 14), (30, 40)], 4), ([(0, 100)], 10), ([(12, 14), (10, 11)], 3)],
)
def test_overlap(intervals: list[tuple[int, int]], covered: int) -> None:
    assert overlap(intervals, 10, 20) == covered


def test_how_a_request_stood_at_a_moment() -> None:
    talk = Talk()
    answered, lost, cancelled = (talk.call(id, "slow") for id in (1, 2, 3))
    talk.say(1, "done")
    talk.journal.record_life("post-2", "stream-end", **{"for": lost})
    talk.journal.record_life("", "lost", **{"for": lost})
    talk.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}})
    index = talk.journal.index
    stood = [[index.state_at(n, upto).name for n in (answered, lost, cancelled)] for upto in range(3, 8)]
    assert [row[0] for row in stood] == ["PENDING", "DONE", "DONE", "DONE", "DONE"]
    assert [row[1] for row in stood] == ["PENDING", "PENDING", "PENDING", "LOST", "LOST"]
    assert [row[2] for row in stood] == ["PENDING", "PENDING", "PENDING", "PENDING", "CANCELLED"]
    assert index.state(cancelled) is State.CANCELLED


def test_the_time_of_a_request_over_http_is_divided() -> None:
    talk = Talk({"kind": "http", "url": "http://x/"})
    journal = talk.journal
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "pay", "arguments": {}}}
    request = talk.send(message, "post-1")
    journal.record_http("post-1", Dir.SEND, method="POST", url="http://x/", headers=[])
    talk.at(60)
    journal.record_life("post-1", "connect", host="x", ms=50.0)
    talk.at(200)
    journal.record_http("post-2", Dir.RECV, status=200, headers=[])
    journal.record_http("post-1", Dir.RECV, status=200, headers=[])
    assert divided(journal, request, 300_000) == CallParts(0, 0, 50_000, 150_000, 100_000, 0)
    talk.at(300).receive({"jsonrpc": "2.0", "id": 7, "method": "elicitation/create", "params": {}}, "post-1")
    talk.at(700).send({"jsonrpc": "2.0", "id": 7, "result": {}}, "post-3")
    talk.at(1000).receive({"jsonrpc": "2.0", "id": 1, "result": {}}, "post-1")
    assert divided(journal, request, 2_000_000) == CallParts(0, 0, 50_000, 150_000, 400_000, 400_000)


def test_the_time_before_an_http_request_begins_is_its_queue() -> None:
    talk = Talk({"kind": "http", "url": "http://x/"})
    request = talk.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "pay"}}, "post-1")
    talk.at(30)
    talk.journal.record_http("post-1", Dir.SEND, method="POST", url="http://x/", headers=[])
    assert divided(talk.journal, request, 100_000) == CallParts(30_000, 0, 0, 70_000, 0, 0)


def test_a_login_inside_a_request_is_a_part_of_its_own() -> None:
    talk = Talk({"kind": "http", "url": "http://x/"})
    journal = talk.journal
    request = talk.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "pay"}}, "post-1")
    journal.record_http("post-1", Dir.SEND, method="POST", url="http://x/", headers=[])
    talk.at(20)
    journal.record_http("post-1", Dir.RECV, status=401, headers=[])
    talk.at(3000)
    journal.record_auth("token", True, "")
    journal.record_http("post-1", Dir.SEND, method="POST", url="http://x/", headers=[])
    talk.at(3040)
    journal.record_http("post-1", Dir.RECV, status=200, headers=[])
    talk.at(3100).receive({"jsonrpc": "2.0", "id": 1, "result": {}}, "post-1")
    assert divided(journal, request, 9_000_000) == CallParts(0, 2_980_000, 0, 60_000, 60_000, 0)


def test_the_browser_is_the_persons_time_and_an_open_login_lasts_until_now() -> None:
    talk = Talk({"kind": "http", "url": "http://x/"})
    journal = talk.journal
    request = talk.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "pay"}}, "post-1")
    journal.record_http("post-1", Dir.SEND, method="POST", url="http://x/", headers=[])
    talk.at(20)
    journal.record_http("post-1", Dir.RECV, status=401, headers=[])
    talk.at(100)
    journal.record_auth("authorize", True, "")
    assert divided(journal, request, 600_000) == CallParts(0, 80_000, 0, 20_000, 0, 500_000)
    talk.at(2100)
    journal.record_auth("callback", True, "")
    talk.at(2200)
    journal.record_http("post-1", Dir.SEND, method="POST", url="http://x/", headers=[])
    talk.at(2250)
    journal.record_http("post-1", Dir.RECV, status=200, headers=[])
    talk.at(2300).receive({"jsonrpc": "2.0", "id": 1, "result": {}}, "post-1")
    assert divided(journal, request, 9_000_000) == CallParts(0, 180_000, 0, 70_000, 50_000, 2_000_000)


def test_over_stdio_only_the_time_of_the_person_is_known() -> None:
    talk = Talk()
    request = talk.call(1, "order")
    assert divided(talk.journal, request, 900_000) is None
    ask(talk, 100, 7)
    assert divided(talk.journal, request, 900_000) == CallParts(0, 0, 0, 0, 0, 800_000)

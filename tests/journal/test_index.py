"""Messages are paired into exchanges while they are indexed."""

import json

import pytest

from inspector.journal import index as index_module
from inspector.journal.findings import OTHER_RULES, WITHOUT_TEXT, Finding, Findings
from inspector.journal.format import Dir
from inspector.journal.index import Index, State
from inspector.journal.journal import Journal
from inspector.journal.name_tables import NameTable
from inspector.protocol.jsonrpc import Shape


class Wire:
    """A journal to which both sides write messages."""

    def __init__(self):
        self.journal = Journal.unnamed({})
        self.index = self.journal.index

    def send(self, message, channel="stdio"):
        return self.journal.record_sent(channel, json.dumps(message).encode(), message)

    def receive(self, message, channel="stdio"):
        self.journal.record_received(channel, [json.dumps(message).encode()])
        return len(self.journal)

    def call(self, id, token=None, channel="stdio", method="tools/call"):
        params = {"name": "x"} | ({"_meta": {"progressToken": token}} if token is not None else {})
        return self.send({"id": id, "method": method, "params": params}, channel)


@pytest.fixture
def wire():
    made = Wire()
    yield made
    made.journal.release()


def test_a_response_finds_its_request(wire):
    request = wire.call(1)
    answer = wire.receive({"id": 1, "result": {}})
    assert wire.index.pair(request) == answer
    assert wire.index.pair(answer) == request
    assert wire.index.state(request) is wire.index.state(answer) is State.DONE
    assert wire.index.method(answer) == "tools/call"
    assert wire.index.duration(answer) == wire.index.time(answer) - wire.index.time(request)


def test_one_and_quoted_one_are_different_ids(wire):
    wire.call(1)
    answer = wire.receive({"id": "1", "result": {}})
    assert wire.index.state(answer) is State.UNKNOWN
    assert wire.index.id(answer) == "1"
    assert wire.index.id(1) == 1


def test_the_widest_ids_are_known(wire):
    assert (wire.index.ids.largest, len(wire.index.ids)) == (-1, 0)
    for id in (7, "a", 4711, "a", 12):
        wire.call(id)
        wire.receive({"id": id, "result": {}})
    assert (wire.index.ids.largest, len(wire.index.ids)) == (4711, 1)


def test_ids_of_the_two_directions_do_not_meet(wire):
    ours = wire.call(1)
    theirs = wire.receive({"id": 1, "method": "roots/list"})
    reply = wire.send({"id": 1, "result": {"roots": []}})
    assert wire.index.pair(theirs) == reply
    assert wire.index.state(ours) is State.PENDING


def test_errors_and_tool_errors(wire):
    first, second = wire.call(1), wire.call(2)
    wire.receive({"id": 1, "error": {"code": -1, "message": "no"}})
    wire.receive({"id": 2, "result": {"isError": True}})
    assert wire.index.state(first) is wire.index.state(second) is State.ERROR
    assert wire.index.errors == 2


def test_an_answer_to_nothing_and_a_second_answer(wire):
    request = wire.call(1)
    wire.receive({"id": 1, "result": {}})
    again = wire.receive({"id": 1, "result": {}})
    nothing = wire.receive({"id": 99, "result": {}})
    assert wire.index.state(again) is State.DOUBLED
    assert wire.index.pair(again) == request
    assert wire.index.state(nothing) is State.UNKNOWN


@pytest.mark.parametrize(("event", "state"), [("timeout", State.TIMED_OUT), ("cancel", State.CANCELLED)])
def test_a_late_answer_is_shown_as_late(wire, event, state):
    request = wire.call(1)
    wire.journal.record_life("", event, **{"for": request})
    assert wire.index.state(request) is state
    answer = wire.receive({"id": 1, "result": {}})
    assert wire.index.state(answer) is State.LATE
    assert wire.index.state(request) is state
    assert wire.index.pair(answer) == request


def test_a_cancellation_on_the_wire_settles_the_request(wire):
    request = wire.call(1)
    notice = wire.send({"method": "notifications/cancelled", "params": {"requestId": 1}})
    assert wire.index.state(request) is State.CANCELLED
    assert wire.index.pair(notice) == request


def test_progress_finds_its_request_by_token_also_after_cancellation(wire):
    request = wire.call(1, token="abc")
    first = wire.receive({"method": "notifications/progress", "params": {"progressToken": "abc", "progress": 1}})
    wire.send({"method": "notifications/cancelled", "params": {"requestId": 1}})
    second = wire.receive({"method": "notifications/progress", "params": {"progressToken": "abc", "progress": 2}})
    other = wire.receive({"method": "notifications/progress", "params": {"progressToken": "zzz", "progress": 2}})
    assert wire.index.pair(first) == wire.index.pair(second) == request
    assert wire.index.pair(other) == 0


def test_on_stdio_what_comes_belongs_to_the_only_call_in_flight(wire):
    first = wire.call(1)
    alone = wire.receive({"method": "notifications/message", "params": {}})
    nested = wire.receive({"id": 7, "method": "sampling/createMessage"})
    wire.call(2)
    unclear = wire.receive({"method": "notifications/message", "params": {}})
    assert wire.index.parent(alone) == wire.index.parent(nested) == first
    assert wire.index.parent(unclear) == 0


@pytest.mark.parametrize("begins", ["reopen", "spawn"])
def test_what_comes_does_not_belong_to_a_call_of_an_earlier_process(wire, begins):
    wire.call(1)
    wire.journal.record_life("stdio", begins)
    later = wire.receive({"method": "notifications/message", "params": {}})
    assert wire.index.parent(later) == 0


def test_the_start_of_another_connection_leaves_the_calls_of_this_one(wire):
    first = wire.call(1)
    wire.journal.record_life("stdio", "spawn", conn=3)
    assert wire.index.parent(wire.receive({"method": "notifications/message", "params": {}})) == first


def test_over_http_the_channel_tells_the_request(wire):
    first = wire.call(1, channel="post-1")
    second = wire.call(2, channel="post-2")
    one = wire.receive({"method": "notifications/message", "params": {}}, "post-1")
    two = wire.receive({"method": "notifications/message", "params": {}}, "post-2")
    free = wire.receive({"method": "notifications/message", "params": {}}, "get-1")
    assert [wire.index.parent(n) for n in (one, two, free)] == [first, second, 0]


def test_an_exchange_is_everything_that_belongs_together(wire):
    wire.call(5, method="tools/list")
    request = wire.call(1, token=1)
    progress = wire.receive({"method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}})
    asked = wire.receive({"id": 1, "method": "elicitation/create"})
    replied = wire.send({"id": 1, "result": {"action": "accept"}})
    wire.receive({"id": 5, "result": {}})
    answer = wire.receive({"id": 1, "result": {}})
    wire.receive({"method": "notifications/message"})
    whole = [request, progress, asked, replied, answer]
    for n in whole:
        assert wire.index.exchange(n) == whole
    assert wire.index.root_of(replied) == request


def test_an_event_alone_is_its_own_exchange(wire):
    n = wire.receive({"method": "notifications/message"})
    assert wire.index.exchange(n) == [n]
    assert wire.index.request_of(n) == 0


def test_a_batch_answers_several_requests(wire):
    first, second = wire.call(1), wire.call(2)
    batch = wire.receive([{"id": 1, "result": {}}, {"id": 2, "error": {"code": 1}}, 7, {"id": 3, "method": "ping"}])
    assert wire.index.shape(batch) is Shape.BATCH
    assert wire.index.state(first) is State.DONE
    assert wire.index.state(second) is State.ERROR
    assert wire.index.pair(first) == wire.index.pair(second) == batch


@pytest.mark.parametrize("id", [{"a": 1}, [1], True, 1.5, "x" * 1000, 10**30, -5])
def test_odd_ids_are_kept_apart_and_break_nothing(wire, id):
    n = wire.receive({"id": id, "method": "ping"})
    answer = wire.receive({"id": id, "result": {}})
    assert wire.index.shape(n) is Shape.REQUEST
    assert wire.index.state(answer) is State.UNKNOWN


def test_ids_can_be_looked_up(wire):
    wire.call(3)
    wire.call("abc")
    assert wire.index.ids.find(3) == 3
    assert wire.index.ids.find("abc") == wire.index.views.ids[1]
    assert wire.index.ids.find("never") is None


def test_an_endless_stream_of_new_names_ends_in_one_number():
    names = NameTable()
    numbers = {names.number(f"method-{i}") for i in range(70_000)}
    assert len(numbers) == 0xFFFF - 1
    assert names.number("one more") == names.number("and more")
    assert names.find("method-1") == 2


def test_an_event_has_a_bounded_number_of_findings():
    findings = Findings()
    for number in range(100):
        findings.add(Finding(7, "BASE-02", "must", f"It is wrong in place {number}."))
    assert len(findings.of(7)) == len(findings.all()) == Findings.LIMIT_PER_EVENT == 20
    assert findings.total == 100


def test_a_flood_of_findings_keeps_the_texts_of_the_first_and_all_events():
    findings = Findings()
    for n in range(1, 5001):
        findings.add(Finding(n, "BASE-02", "must", f"Its id is {n}."))
    findings.add(Finding(7, "BASE-03", "note", "Another rule."))
    assert len(findings.all()) == Findings.LIMIT_PER_RULE + 1
    assert findings.total == 5001
    assert findings.left_out == "4,000 more findings"
    assert findings.events() == list(range(1, 5001))
    assert [finding.message for finding in findings.of(7)] == ["Its id is 7.", "Another rule."]
    (last,) = findings.of(5000)
    assert (last.rule, last.level, last.message) == ("BASE-02", "must", WITHOUT_TEXT)


def test_a_flood_on_one_connection_leaves_the_findings_of_another():
    findings = Findings()
    for n in range(1, 3001):
        findings.add(Finding(n, "BASE-02", "note", "Its id is unknown."), "one")
    findings.add(Finding(3001, "BASE-02", "must", "Its id is null."), "one")
    findings.add(Finding(3002, "BASE-02", "note", "Its id is 2."), "another")
    assert [finding.message for finding in findings.all()[-2:]] == ["Its id is null.", "Its id is 2."]


def test_a_recording_that_names_many_rules_takes_bounded_memory():
    findings = Findings()
    for n in range(1, 10_001):
        findings.add(Finding(n, f"RULE-{n}", "must", "It is wrong."))
    assert len(findings.all()) < 5000
    assert findings.events() == list(range(1, 10_001))
    assert findings.of(10_000)[0].rule == OTHER_RULES


def test_answered_ids_are_remembered_in_a_bounded_number():
    index = Index()
    for i in range(10_000):
        index.add(0, Dir.SEND, _rpc(), "stdio", 0, 0, {"id": i, "method": "ping"})
        index.add(0, Dir.RECV, _rpc(), "stdio", 0, 0, {"id": i, "result": {}})
    known = index.requests.saved()
    assert (len(known["answered"]), known["pending"]) == (4096, [])


def test_requests_that_are_never_answered_are_known_in_a_bounded_number(monkeypatch):
    monkeypatch.setattr(index_module, "_KEPT_WAITING", 10)
    index = Index()
    for i in range(100):
        params = {"name": "t", "_meta": {"progressToken": f"t{i}"}}
        index.add(0, Dir.SEND, _rpc(), "stdio", 0, 0, {"id": i, "method": "tools/call", "params": params})
        index.add(0, Dir.RECV, _rpc(), "stdio", 0, 0, {"id": i, "method": "ping"})
        index.add(0, Dir.SEND, _rpc(), "stdio", 0, 0, {"id": "same", "method": "tools/call", "params": params})
    known = index.requests.saved()
    waiting = [dir for dir, *_ in known["pending"]]
    sent, received = waiting.count(Dir.SEND), waiting.count(Dir.RECV)
    assert 5 <= sent <= 10
    assert 5 <= received <= 10
    assert sent + received == len(waiting)
    [(conn, calls)] = known["calls"]
    assert (conn, len(calls)) == (0, sent)
    assert len(known["tokens_of"]) == sent
    assert len(known["tokens"]) <= 20
    for n, id in ((298, 99), (299, 99)):
        dir = Dir.RECV if index.dir(n) is Dir.SEND else Dir.SEND
        answer = index.add(0, dir, _rpc(), "stdio", 0, 0, {"id": id, "result": {}})
        assert index.pair(answer) == n
    assert index.state(1) is State.PENDING


def _rpc():
    from inspector.journal.format import Kind

    return Kind.RPC

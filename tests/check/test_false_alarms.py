"""Answers of right servers that a check once took for faults, and one fault that it missed."""

import json
import re
from dataclasses import replace

import pytest

from inspector.check.judge.judge import Judge
from inspector.check.outcome import Skip
from inspector.check.reports.policy import Policy
from inspector.check.reports.summary import report_of
from inspector.check.run import of_recording
from inspector.check.selection import CheckSelection
from inspector.check.visit.visit import Allowed
from inspector.errors import ServerExited
from inspector.journal.format import Dir
from inspector.journal.journal import Journal
from inspector.protocol import jsonrpc
from tests.check.faults import R4, R5, Both, capability, gives, method, notice, params, refuses
from tests.check.faulty_servers import Answers, Bodies, Case, Fault, Planted, Takes, checked, refusal, result, run_on
from tests.check.test_judge import INIT, WELCOME, Court


def answers_what_is_no_request(message, say):
    """JSON-RPC 2.0 demands -32600 with the id of an object that is not a request."""
    if isinstance(message, dict) and message.get("id") == "odd-2":
        say(refusal(message, -32600))
        return True
    return False


async def seen(id, revision, fault, **more):
    result, journal = await checked(Case(id, revision, None, **more), fault, {})
    journal.release()
    return result


async def test_an_error_for_a_response_to_nothing_is_no_response_without_a_request():
    fault = Takes(answers_what_is_no_request)
    async with Planted(fault) as server:
        selection = CheckSelection(revisions=(R4,), only=frozenset(("BASE-02", "STDIO-06")))
        run, journal = await run_on(server, selection)
    journal.release()
    assert {(result.check.id, result.verdict) for result in run.results} == {("BASE-02", "pass"), ("STDIO-06", "pass")}


class StopsServing(Fault):
    """Sends its list, and refuses all later requests for it, as a server does that limits requests or failures."""

    sent = False

    def response(self, message, say):
        if method(message) != "tools/list":
            return False
        if self.sent:
            say(refusal(message, -32603))
        before, self.sent = self.sent, True
        return before


async def test_a_list_that_came_and_is_refused_later_is_implemented():
    async with Planted(StopsServing()) as server:
        selection = CheckSelection(revisions=(R4,), only=frozenset(("TOOL-01", "TOOL-02")))
        run, journal = await run_on(server, selection)
    journal.release()
    assert {result.check.id: result.verdict for result in run.results} == {"TOOL-01": "pass", "TOOL-02": "pass"}


@pytest.mark.parametrize(("served", "verdict"), [(1, "skip"), (99, "warn")])
async def test_a_server_that_takes_no_more_sessions_does_not_refuse_the_revision(served, verdict):
    """A server of one session too many answers every `initialize` with an error."""
    clients = []

    def limits(message, say):
        if method(message) != "initialize":
            return False
        clients.append(1)
        if len(clients) <= served and params(message)["protocolVersion"] != "2099-01-01":
            return False
        say(refusal(message, -32603))
        return True

    judged = await seen("LIFE-03", R4, Takes(limits))
    assert judged.verdict == verdict, judged


def test_a_log_message_about_a_probe_is_not_about_a_call_of_an_earlier_process():
    """A call without a response, then a restart: an SDK logs an error for the invalid line of a check."""
    court = Court()
    court.call(1)
    court.journal.record_life("stdio", "spawn")
    court.send(INIT)
    court.receive(WELCOME | {"result": WELCOME["result"] | {"capabilities": {}}})
    with court.journal.probing("BASE-07"):
        court.journal.record_sent("stdio", b"{not json", None)
    n = court.receive({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "error", "data": "x"}})
    assert "UTIL-08" not in court.rules(n)
    court.journal.release()


@pytest.mark.parametrize("answered", [False, True])
def test_a_log_message_about_a_probe_may_come_after_the_status_of_a_later_post(answered):
    """Over HTTP+SSE, the stream carries it before the response of the next request."""
    court = Court()
    with court.journal.probing("BASE-07"):
        court.journal.record_sent("post-5", b"{not json", None)
    later = court.send({"jsonrpc": "2.0", "id": 7, "method": "logging/setLevel", "params": {"level": "info"}})
    court.journal.record_life("post-6", "accepted", **{"for": later}, status=202)
    if answered:
        court.receive({"jsonrpc": "2.0", "id": 7, "result": {}})
    n = court.receive({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "loud", "data": "x"}})
    assert ("UTIL-13" in court.rules(n)) == answered
    court.journal.release()


@pytest.mark.parametrize("answer", [{"result": None}, {"error": {"code": -32601, "message": "x"}}])
def test_an_answer_to_a_notification_fails_no_client(answer):
    """The SDKs drop it: BASE-10 is the rule that it breaks. A tool that is wrong still counts."""
    court = Court("2024-11-05")
    n = court.receive({"jsonrpc": "2.0"} | answer)
    assert "BASE-14" not in court.rules(n)
    court.journal.release()


class RefusesTheFirst(Fault):
    """Subscriptions work for every resource but the first."""

    first = None

    def response(self, message, say):
        if method(message) != "resources/subscribe":
            return False
        self.first = self.first or params(message)["uri"]
        if params(message)["uri"] == self.first:
            say(refusal(message, -32603))
            return True
        return False


async def test_a_resource_that_cannot_be_subscribed_to_is_not_every_resource():
    assert (await seen("RES-13", R4, RefusesTheFirst())).verdict == "pass"


@pytest.mark.parametrize("code", [-32602, -32603, -32002])
async def test_an_undeclared_subscription_may_be_refused_with_any_code(code):
    fault = Both(capability("resources", {}), refuses("resources/subscribe", code))
    assert (await seen("RES-13", R4, fault)).verdict == "pass"


async def test_an_sdk_that_accepts_a_log_level_of_itself_need_not_declare_logging():
    fault = Both(capability("logging", ...), gives("logging/setLevel"))
    assert (await seen("LIFE-05", R4, fault)).verdict == "pass"


async def test_an_internal_error_of_a_list_is_not_a_missing_method():
    result = await seen("TOOL-01", R4, refuses("tools/list", -32603))
    assert (result.outcome.seen, "-32603" in result.outcome.text) == ("doubtful", True)


async def test_a_list_that_always_fails_says_nothing_about_client_info():
    assert (await seen("BASE-19", R5, refuses("tools/list", -32603))).verdict == "skip"


def test_a_body_where_none_belongs_is_one_fault():
    journal = Journal.unnamed({})
    message = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    journal.record_sent("post-1", json.dumps(message).encode(), message)
    journal.record_http("post-1", Dir.SEND, method="POST", url="http://127.0.0.1:1/mcp", headers=[])
    journal.record_http("post-1", Dir.RECV, status=202, headers=[("Content-Type", "application/json")])
    journal.record_received("post-1", [b"null"])
    judge = Judge(journal)
    judge.run_all()
    assert [finding.rule for finding in journal.findings.all()] == ["HTTP-03"]
    journal.release()


def test_a_line_that_is_not_a_message_is_quoted():
    court = Court()
    n = court.receive(b"Transport: stdio")
    court.judge.run_all()
    (finding,) = court.journal.findings.of(n)
    assert finding.rule == "STDIO-01"
    assert finding.message == "Text on stdout: “Transport: stdio”."


def test_a_message_that_is_not_parsed_for_its_size_is_not_called_text(monkeypatch):
    monkeypatch.setattr(jsonrpc, "MAX_VALUES", 100)
    court = Court()
    n = court.receive(b"[" + b"0," * 200 + b"0]")
    court.judge.run_all()
    assert [finding.rule for finding in court.journal.findings.of(n)] == ["size"]


@pytest.mark.parametrize("event", ["timeout", "unanswered", "lost"])
def test_a_message_that_is_not_parsed_for_its_size_may_be_the_missing_response(event, monkeypatch):
    monkeypatch.setattr(jsonrpc, "MAX_VALUES", 100)
    jsonrpc.warm_up()
    court = Court()
    court.send({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    court.receive({"jsonrpc": "2.0", "id": 1, "result": {}})
    n = court.send({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
    court.receive(b'{"jsonrpc":"2.0","id":2,"result":[' + b"0," * 200 + b"0]}")
    court.send({"jsonrpc": "2.0", "id": 3, "method": "ping"})
    court.receive({"jsonrpc": "2.0", "id": 3, "result": {}})
    court.journal.record_life("stdio", event, why="It ended.", **{"for": n, "after_ms": 60_000})
    court.judge.run_all()
    assert court.journal.findings.of(n) == []


SHORT = replace(Case("", R4, None).limits, request=0.2)
LONG_LIST = {"tools": [], "more": [0] * 30_000}


def with_a_long_list(message, _request):
    return result(message, **LONG_LIST)


def with_a_long_body(request, data):
    if b'"tools/list"' not in (request.body or b""):
        return data
    return re.sub(rb"\{.*\}", lambda found: json.dumps(with_a_long_list(json.loads(found[0]), None)).encode(), data)


@pytest.mark.parametrize("web", [False, True])
@pytest.mark.parametrize("id", ["BASE-02", "LIFE-05", "TOOL-01"])
async def test_a_response_that_is_too_big_to_be_judged_is_not_called_missing(id, web, monkeypatch):
    monkeypatch.setattr(jsonrpc, "MAX_VALUES", 20_000)
    jsonrpc.warm_up()
    fault = Bodies(with_a_long_body) if web else Answers("tools/list", with_a_long_list)
    found = await seen(id, R4, fault, web=web, limits=SHORT)
    assert found.outcome.skip is Skip.UNREAD or (web and found.verdict == "pass"), found.outcome


def test_a_log_message_about_broken_json_does_not_count():
    court = Court()
    with court.journal.probing("BASE-07"):
        court.journal.record_sent("stdio", b"{not json", None)
    court.call(1)  # It is sent before the server has read the probe.
    about_probe = court.receive(notice("notifications/message", level="error", data="Parse error"))
    court.receive({"jsonrpc": "2.0", "id": 1, "result": {"content": []}})
    later = court.receive({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "a:b"}})
    court.judge.run_all()
    assert court.judge.was_provoked(about_probe)
    assert not court.judge.was_provoked(later)


@pytest.mark.parametrize("probed", [True, False])
def test_a_server_that_a_probe_has_ended_owes_no_response(probed):
    """Also where a request of the session, such as a subscription, is open all the time."""
    court = Court()
    listens = court.send({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen"})
    court.send({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
    court.receive({"jsonrpc": "2.0", "id": 2, "result": {}})
    if probed:
        with court.journal.probing("BASE-07"):
            court.journal.record_sent("stdio", b"{not json", None)
    n = court.send({"jsonrpc": "2.0", "id": 3, "method": "server/discover"})
    court.journal.record_life("", "lost", why="The server ended.", **{"for": listens})
    court.judge.run_all()
    assert [finding.rule for finding in court.journal.findings.of(n)] == ([] if probed else ["BASE-02"])


@pytest.mark.parametrize(("error", "found"), [({}, ["BASE-02"]), ({"arrived": False}, [])])
def test_a_request_after_the_end_of_the_server_is_not_its_fault(error, found):
    """Over HTTP: nothing listens any more when the request is sent."""
    court = Court()
    court.send({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    court.receive({"jsonrpc": "2.0", "id": 1, "result": {}})
    n = court.send({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
    court.journal.record_life("", "lost", error={"code": "http", "message": "Gone."} | error, **{"for": n})
    court.judge.run_all()
    assert [finding.rule for finding in court.journal.findings.of(n)] == found


class StopsReading(Fault):
    """After an unknown notification the connection answers nothing; a new one does."""

    deaf = False

    def response(self, message, say):
        if method(message) == "initialize":
            self.deaf = False
        self.deaf |= method(message) == "notifications/inspector/no-such-thing"
        return self.deaf


async def test_one_dead_connection_serves_one_check():
    async with Planted(StopsReading()) as server:
        only = frozenset(("BASE-10", "LIFE-05", "TOOL-01"))
        run, journal = await run_on(server, CheckSelection(revisions=(R4,), only=only, limits=SHORT), 0.4)
    journal.release()
    outcomes = {result.check.id: result.outcome.seen for result in run.results}
    assert outcomes.pop("BASE-10") in ("bad", "doubtful")
    assert set(outcomes.values()) == {"good"}, outcomes


def hangs(message, _say):
    return method(message) == "tools/call" and params(message).get("name") == "echo"


@pytest.mark.parametrize(
    ("only", "check", "timeout"),
    [((), 10.0, 0.4), (("CASE-01", "TOOL-30", "BASE-02"), 10.0, 0.4), (("CASE-01", "BASE-02", "LIFE-03"), 0.3, 1.0)],
)
async def test_a_tool_that_never_answers_fails_the_run_and_its_recording(only, check, timeout):
    """Also where the timeout of a request is longer than the time limit of a check."""
    async with Planted(Takes(hangs)) as server:
        selection = CheckSelection(
            revisions=(R4,),
            only=frozenset(only),
            limits=replace(SHORT, check=check),
            allowed=Allowed(calls=("echo", "add")),
        )
        run, journal = await run_on(server, selection, timeout)
    for one in (run, of_recording(journal, "the run", CheckSelection())):
        report = report_of(one, journal, Policy())
        assert report.exit_code == 5
        texts = [result.outcome.text for result in report.failing]
        assert any('tools/call of "echo" got no response within ' in text for text in texts), texts
        assert any("--timeout" in text for text in texts), texts
    journal.release()


def test_a_recorded_call_that_timed_out_while_others_were_answered_is_a_warning():
    court = Court()
    n = court.call(1, "slow")
    court.call(2, "t")
    court.receive({"jsonrpc": "2.0", "id": 2, "result": {"content": []}})
    court.journal.record_life("stdio", "timeout", **{"for": n, "after_ms": 60_000})
    court.judge.run_all()
    findings = [finding for finding in court.journal.findings.of(n) if finding.rule == "BASE-02"]
    assert [(finding.level, finding.message) for finding in findings] == [
        ("should", 'tools/call of "slow" got no response within 60.0 s, but 1 later request did.')
    ]


def test_a_list_that_is_answered_during_a_long_call_says_nothing_about_the_call():
    court = Court()
    n = court.call(1, "slow")
    court.send({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
    court.receive({"jsonrpc": "2.0", "id": 2, "result": {"tools": []}})
    court.journal.record_life("stdio", "timeout", **{"for": n, "after_ms": 500})
    court.judge.run_all()
    assert [finding for finding in court.journal.findings.of(n) if finding.rule == "BASE-02"] == []


@pytest.mark.parametrize("what", ["timeout", "unanswered"])
def test_a_list_that_is_slow_while_nothing_else_is_answered_is_no_fault(what):
    court = Court()
    n = court.send({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    court.journal.record_life("stdio", what, **{"for": n, "after_ms": 10_100})
    assert court.rules() == []


@pytest.mark.parametrize("request_of_server", ["roots/list", "ping"])
def test_a_request_that_the_first_handshake_allows_is_right_after_a_check_repeated_the_handshake(request_of_server):
    court = Court()
    bare = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": INIT["params"]["clientInfo"]}
    with court.journal.probing("LIFE-09"):
        court.send({"jsonrpc": "2.0", "id": 5, "method": "initialize", "params": bare})
    n = court.receive({"jsonrpc": "2.0", "id": 0, "method": request_of_server})
    sampling = court.receive({"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": {}})
    assert court.rules(n) == []
    assert "LIFE-08" in court.rules(sampling)
    court.journal.release()


DISCOVER = {
    "jsonrpc": "2.0",
    "id": "d1",
    "method": "server/discover",
    "params": {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}},
}


@pytest.mark.parametrize("first", [DISCOVER, INIT])
@pytest.mark.parametrize("welcomed", [False, True])
def test_a_post_to_the_url_of_an_old_event_stream_is_refused_in_any_way(first, welcomed):
    """No JSON-RPC error is due before the server has shown that it speaks Streamable HTTP there."""
    journal = Journal.unnamed({})

    def post(channel, message, status, body):
        url = "http://127.0.0.1:1/sse"
        journal.record_sent(channel, json.dumps(message).encode(), message)
        journal.record_http(channel, Dir.SEND, method="POST", url=url, headers=[])
        kind = "application/json" if body.startswith(b"{") else "text/html"
        journal.record_http(channel, Dir.RECV, status=status, headers=[("Content-Type", kind)])
        journal.record_received(channel, [body])

    if welcomed:
        post("post-1", INIT, 200, json.dumps(WELCOME).encode())
    post("post-2", {"jsonrpc": "2.0", "id": 9, "method": "ping"} if welcomed else first, 404, b"<pre>Cannot POST</pre>")
    Judge(journal).run_all()
    assert ("HTTP-14" in {finding.rule for finding in journal.findings.all()}) == welcomed
    journal.release()


class EndsLate(Fault):
    """Python SDK 1 until 1.8: an unknown method ends the server, but only when it reads the next message."""

    def __init__(self):
        self.broken = False

    def response(self, message, say):
        if self.broken:
            self.broken = False
            raise ServerExited("The server ended with exit code 1.")
        self.broken = method(message) == "inspector/no-such-method"
        return self.broken


async def test_a_request_after_the_one_that_broke_the_server_is_not_to_blame():
    async with Planted(EndsLate()) as server:
        only = frozenset(("BASE-02", "BASE-06", "PROM-04"))
        run, journal = await run_on(server, CheckSelection(revisions=(R4,), only=only, limits=SHORT), 0.4)
    journal.release()
    outcomes = {result.check.id: result.outcome for result in run.results}
    assert 'before the response to "inspector/no-such-method"' in outcomes["BASE-02"].text
    assert outcomes["BASE-06"].seen == "bad"
    assert outcomes["PROM-04"].seen == "good"

"""A finding outweighs a probe: what a run shows anywhere counts, live and in its recording, except what probes provoke."""

import json
import re
from pathlib import Path

import pytest

import inspector.check
from inspector.check import cross_server
from inspector.check.judge.judge import Judge
from inspector.check.outcome import Skip
from inspector.check.passive import COUNTS_AS, VisitEvents
from inspector.check.registry import checks
from inspector.check.reports import sdks
from inspector.check.run import of_recording
from inspector.check.selection import CheckSelection
from inspector.check.visit.visit import Allowed
from inspector.errors import ServerExited
from inspector.journal.findings import Finding
from inspector.journal.journal import Journal
from tests.check.faults import R1, R3, R4, method, params
from tests.check.faulty_servers import Answers, Bodies, Planted, PlantedWeb, RewritesRequest, Takes, WebFault
from tests.check.stability import busy
from tests.check.test_run import run_of
from tests.check.test_transport_http import without_origin

ECHO = Allowed(calls=("echo",))
ONLY = frozenset(("BASE-01", "BASE-02", "BASE-03", "BASE-14", "TOOL-30", "TOOL-13", "LIFE-10"))


def first(change):
    """Changes the first answer to a call of `echo`."""
    changed = []

    def once(message, request):
        if changed or params(request).get("name") != "echo":
            return message
        changed.append(message)
        return change(message)

    return Answers("tools/call", once)


def dies(message, _say):
    if method(message) == "tools/call" and params(message).get("name") == "echo":
        raise ServerExited("The server ended with exit code 3.")
    return False


def calls_echo(request):
    return b'"name":"echo"' in (request.body or b"")


def with_another_id(request, data):
    return re.sub(rb'"id": ?\d+', b'"id":99999', data) if calls_echo(request) else data


class Resets(WebFault):
    """The connection breaks at each call."""

    async def response(self, request, reply):
        if calls_echo(request):
            reply.reset()
        return calls_echo(request)


FAULTS = {
    "another id": (Planted, first(lambda message: message | {"id": 99999}), "BASE-02"),
    "the id as text": (Planted, first(lambda message: message | {"id": str(message["id"])}), "BASE-02"),
    "two answers": (Planted, first(lambda message: [message, message]), "BASE-02"),
    "no answer": (Planted, first(lambda message: []), "BASE-02"),
    "the server ends": (Planted, Takes(dies), "TOOL-30"),
    "another id over HTTP": (PlantedWeb, Bodies(with_another_id), "BASE-02"),
    "the connection breaks over HTTP": (PlantedWeb, Resets(), "TOOL-30"),
}


def failed(run):
    return {result.check.id for result in run.results if result.verdict == "fail"}


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
async def test_one_wrong_answer_fails_the_run_and_its_recording(name):
    server, fault, id = FAULTS[name]
    async with server(fault) as made:
        run, journal = await run_of(made, only=ONLY, allowed=ECHO)
    assert failed(run) == {id}
    (result,) = (result for result in run.results if result.check.id == id)
    assert result.outcome.text
    assert all(0 < n <= len(journal) for n in result.outcome.evidence)
    assert failed(of_recording(journal, "the run", CheckSelection(only=ONLY))) == {id}
    journal.release()


async def test_the_recording_of_a_check_says_what_its_probes_found():
    only = frozenset(("HTTP-05", "HTTP-06", "BASE-06", "BASE-08"))
    async with PlantedWeb(RewritesRequest(without_origin)) as server:
        run, journal = await run_of(server, only=only)
    again = of_recording(journal, "the run", CheckSelection(only=only))
    assert failed(run) == failed(again) == {"HTTP-05"}
    live, recorded = ({one.check.id: one.outcome for one in checked.results} for checked in (run, again))
    assert recorded == live
    journal.release()


@pytest.mark.parametrize("rows", [
    None, 7, [7], [{}], [{"id": "BASE-06", "revision": R4, "transport": "http", "seen": ["bad"]}],
    [{"id": ["BASE-06"], "revision": R4, "transport": "http", "seen": "bad"}],
    [{"id": "BASE-06", "revision": R4, "transport": "stdio", "seen": "bad"}],
])  # fmt: skip
async def test_outcomes_of_another_shape_say_nothing(rows):
    only = frozenset(("BASE-01", "BASE-06"))
    async with PlantedWeb() as server:
        _, journal = await run_of(server, only=frozenset(("BASE-01",)))
    journal.record_note("x", outcomes=rows)
    checked = of_recording(journal, "the run", CheckSelection(only=only))
    assert {one.check.id: one.verdict for one in checked.results} == {"BASE-01": "pass", "BASE-06": "skip"}
    journal.release()


@pytest.mark.slow
async def test_a_call_that_is_only_slow_is_not_failed():
    held = []

    def late(message, say):
        """The answer to `echo` comes after two more requests."""
        if params(message).get("name") == "echo" and not held:
            held.append(message["id"])
            return True
        if held and method(message) is not None and "id" in message:
            held.append(None)
            if len(held) == 3:
                say({"jsonrpc": "2.0", "id": held[0], "result": {"content": []}})
        return False

    async with Planted(Takes(late)) as server:
        run, journal = await run_of(server, only=ONLY, allowed=ECHO)
    assert failed(run) == set(), [result.outcome for result in run.results if result.verdict == "fail"]
    assert len(held) >= 3
    journal.release()


class Refuses(WebFault):
    """A call is answered by a status and a word, without JSON-RPC."""

    def __init__(self, status):
        self.status = status

    async def response(self, request, reply):
        if calls_echo(request):
            reply.body(self.status, b"No.", ("Content-Type", "text/plain"))
        return calls_echo(request)


@pytest.mark.parametrize(("status", "ids"), [(400, set()), (429, set()), (500, {"BASE-02"})])
async def test_a_status_is_no_broken_connection(status, ids):
    """A 4xx refuses; a 5xx is a failure to answer, and says so."""
    async with PlantedWeb(Refuses(status)) as made:
        run, journal = await run_of(made, only=frozenset(("BASE-02", "TOOL-30")), allowed=ECHO)
    assert failed(run) == ids
    assert failed(of_recording(journal, "the run", CheckSelection(only=ONLY))) == ids
    texts = [result.outcome.text for result in run.results if result.verdict == "fail"]
    assert all("got status 500" in text for text in texts)
    journal.release()


class Limits(WebFault):
    """Answers so many requests, and 429 to the others."""

    def __init__(self, requests):
        self.left = requests

    async def response(self, request, reply):
        self.left -= 1
        if self.left < 0:
            reply.json({"jsonrpc": "2.0", "id": None, "error": {"code": -32029, "message": "Too many requests"}}, 429)
        return self.left < 0


@pytest.mark.slow
async def test_a_rate_limit_is_not_a_response_to_the_request():
    ids = frozenset(("BASE-05", "BASE-06", "BASE-09", "TOOL-13", "UTIL-03"))
    async with PlantedWeb(Limits(6)) as made:
        run, journal = await run_of(made, only=ids)
    journal.release()
    outcomes = {result.check.id: result.outcome for result in run.results}
    assert {result.verdict for result in run.results} <= {"pass", "skip"}
    assert outcomes["UTIL-03"].skip is Skip.RATE_LIMIT
    assert run.deaths == []


@pytest.mark.slow
@pytest.mark.parametrize("revision", [R1, R4])
async def test_a_right_server_is_not_blamed_for_the_probes_in_its_recording(revision):
    """The errors that answer broken JSON have no id, which the schema of the older revisions does not allow."""
    async with Planted() as server:
        run, journal = await run_of(server, revisions=(revision,))
    assert failed(run) == set()
    assert failed(of_recording(journal, "the run", CheckSelection())) == set()
    probes = {event.fields["probe"] for event in journal.events(1, len(journal)) if "probe" in event.fields}
    assert {"BASE-07", "BASE-08"} <= probes
    journal.release()


async def test_the_live_judge_and_the_export_except_the_same_events(tmp_path):
    file = tmp_path / "run.mcp.jsonl"
    async with Planted() as server:
        _, unnamed = await run_of(server, revisions=(R1,), only=frozenset(("BASE-07", "BASE-08")))
    lines = [unnamed.line(n) for n in range(1, len(unnamed) + 1)]
    header = {"format": "mcp-recording", "version": 1, "target": {"kind": "stdio"}}
    file.write_bytes(b"\n".join([json.dumps(header).encode(), *lines, b""]))
    findings = []
    journal = Journal.open(file)
    while journal.refresh():
        pass
    for recording in (unnamed, journal):
        Judge(recording).run_all()
        findings.append([(one.n, one.rule) for one in recording.findings.all() if one.level != "note"])
    assert findings == [[], []]
    unnamed.release()
    journal.release()


def test_an_error_without_an_id_may_answer_a_message_that_is_not_of_this_json_rpc():
    journal = Journal.unnamed({})
    journal.record_life("", "reopen", by="check", conn=1)
    message = {"jsonrpc": "1.0", "id": 72, "method": "tools/list"}
    with journal.probing("BASE-08"):
        journal.record_sent("stdio", json.dumps(message).encode(), message, conn=1)
    refused = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}'
    journal.record_received("stdio", [refused], conn=1)
    journal.record_received("stdio", [refused])
    Judge(journal).run_all()
    assert {finding.n for finding in journal.findings.all()} == {len(journal)}
    journal.release()


async def test_a_recording_decides_what_it_shows_and_skips_the_rest_with_a_reason():
    selection = CheckSelection(only=frozenset(("BASE-02", "TOOL-09", "BASE-07")))
    async with Planted() as server:
        _, journal = await run_of(server, only=frozenset(("LIFE-10",)))
    results = {result.check.id: result for result in of_recording(journal, "a session", selection).results}
    assert results["BASE-02"].verdict == "pass"
    assert results["TOOL-09"].outcome.text == "the recording does not show it: no structured content was seen"
    assert results["BASE-07"].outcome.text == "needs a live server, not a recording"
    journal.release()


def test_every_rule_that_the_judge_names_counts_to_a_check():
    """A finding whose rule has no check would count nowhere."""
    named = set()
    # `across` compares several servers after their runs: its findings are of no run.
    apart = {Path(sdks.__file__), Path(cross_server.__file__)}
    for file in {*Path(inspector.check.__file__).parent.glob("*.py")} - apart:
        named |= set(re.findall(r'"((?:C-)?[A-Z]{2,}(?:-[A-Z0-9]+)*-\d+)"', file.read_text(encoding="utf-8")))
    named |= {"C-PAG-03"}  # Found by the client, when it reads a list.
    named -= {"C-HINT-03"}  # A note: it fails no check.
    named -= {"HOST-CLAUDE-18"}  # A fact about a host, which a check reads.
    counted = {COUNTS_AS.get(rule, rule) for rule in named}
    assert counted - set(checks()) == set()
    # A run of one check makes the warm-up if the judge may find its fault there.
    assert {id for id in counted if not checks()[id].watches} == set()


def test_other_faults_of_a_kind_are_named():
    events = VisitEvents()
    kinds = ["tools", "prompts", "resources", "templates", "tasks", "tools"]
    events.findings["DEF-05"] = [
        Finding(n, "DEF-05", "should", f"2 {kind} have no title.") for n, kind in enumerate(kinds)
    ]
    outcome = events.outcome(checks()["DEF-05"])
    also = [f"2 {kind} have no title." for kind in kinds[:4]]
    assert outcome.text == f"{' Also: '.join(also)} The messages show 1 other fault of this kind."
    del events.findings["DEF-05"][2:]
    assert events.outcome(checks()["DEF-05"]).text == " Also: ".join(also[:2])


@pytest.mark.slow
async def test_the_verdicts_are_the_same_on_a_busy_machine():
    """`python -m tests.check.stability` does this for whole runs."""
    only = frozenset(("base-protocol", "UTIL-17", "UTIL-18", "UTIL-20", "LIFE-06", "LIFE-07", "ECO-09"))
    allowed = Allowed(calls=("echo", "slow"))
    verdicts = []
    for processes in (0, 4):
        async with Planted() as server:
            with busy(processes):
                run, journal = await run_of(server, only=only, allowed=allowed)
        verdicts.append({result.check.id: result.verdict for result in run.results})
        journal.release()
    assert verdicts[0] == verdicts[1]
    assert verdicts[0]["UTIL-18"] == "pass"


def asks_too_early(message, request):
    """Asks for the roots: in the older revision the session, in the newer one only the probe."""
    given = request["params"]
    if given["protocolVersion"] == R3 or "elicitation" not in given["capabilities"]:
        return [message, {"jsonrpc": "2.0", "id": 9, "method": "roots/list"}]
    return message


async def test_what_a_check_that_runs_once_has_found_is_not_repeated_for_other_revisions():
    only = frozenset(("LIFE-06", "BASE-14"))
    async with Planted(Answers("initialize", asks_too_early)) as server:
        run, journal = await run_of(server, only=only, revisions=(R4, R3))
    assert [visited.revision for visited in run.visits] == [R4, R3]
    for checked in (run, of_recording(journal, "the run", CheckSelection(only=only))):
        seen = [(one.visited.revision, one.outcome.seen) for one in checked.results if one.check.id == "LIFE-06"]
        assert seen == [(R4, "bad")]
    journal.release()

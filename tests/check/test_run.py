"""A whole run: what it reports of servers that die, that leave, and that require a login."""

import asyncio
import sys
from dataclasses import replace

import pytest

from inspector.addons.chain import Addons
from inspector.check.check_table import Stage
from inspector.check.outcome import Visited, bad, good
from inspector.check.registry import checks
from inspector.check.reports.policy import Policy, baseline_of
from inspector.check.reports.summary import report_of
from inspector.check.result import Result
from inspector.check.run import Runner, of_recording
from inspector.check.selection import CheckSelection
from inspector.check.visit.visit import Allowed
from inspector.client.options import Options
from inspector.config.targets import StdioTarget
from inspector.errors import ServerExited
from inspector.journal.alterations import Alteration
from inspector.journal.journal import Journal, altered
from inspector.protocol.revisions import REVISIONS
from tests.check import raw_server
from tests.check.faults import R1, R4, R5, method
from tests.check.faulty_servers import LIMITS, TIMEOUT, Planted, PlantedWeb, Takes, WebFault, run_on
from tests.check.login_server import Site


async def run_of(server, **selected):
    selected.setdefault("revisions", (R4,))
    return await run_on(server, CheckSelection(limits=LIMITS, **selected))


def _answers_before_the_handshake(message, say):
    """A fault on connections without a handshake only, which belong to no revision by themselves."""
    if method(message) == "tools/list" and message.get("params") == {}:
        say({"jsonrpc": "2.0", "id": message["id"], "result": {"tools": [], "serverInfo": 5}})
        return True
    return False


def verdicts(run):
    return {result.check.id: result.verdict for result in run.results}


ALTERING = """
def on_response(m, ctx):
    if ctx.sender == "server" and ctx.request and ctx.request["method"] not in ("initialize", "ping"):
        ctx.answer({"by": "addon"})
"""


@pytest.mark.parametrize("id", ["BASE-06", "TOOL-13", "UTIL-03", "LIFE-10"])
async def test_a_check_that_rests_on_a_message_of_an_addon_is_skipped_and_names_it(tmp_path, id):
    (tmp_path / "bad.py").write_text(ALTERING)
    filter = Addons([tmp_path / "bad.py"], print)
    async with Planted() as server:
        run = Runner(
            server.target,
            journal := Journal.unnamed({}),
            Options(filter=filter),
            CheckSelection(limits=LIMITS, revisions=(R4,), only=frozenset((id,))),
            connect=lambda *words: filter.transport(words[1], lambda sink: server.connect(words[0], sink, words[2])),
        )
        [result] = (await run.go()).results
        if id == "LIFE-10":  # No message of the addon is its evidence.
            assert result.verdict == "pass"
        else:
            assert (result.verdict, result.outcome.text.partition(" (event")[0]) == (
                "skip",
                "the addon bad.py altered its messages",
            )
    journal.release()


def test_a_fault_without_evidence_rests_on_every_message():
    journal = Journal.unnamed({})
    steps = [Alteration("a.py", "changed", b"{}")]
    journal.record_received("stdio", [b'{"jsonrpc":"2.0","id":1,"result":{}}'], altered(journal, steps))
    run = Runner(StdioTarget(("x",)), journal, Options(filter=Addons([], print)), CheckSelection())
    check = checks()["TOOL-13"]
    for outcome, verdict in (
        (bad("wrong"), "skip"),
        (good(), "pass"),
        (bad("wrong", 1), "skip"),
        (good("", 1), "skip"),
    ):
        run._tell(Result(check, Visited(R4, "stdio"), outcome))
        assert run.run.results[-1].verdict == verdict
    journal.release()


async def test_a_server_that_dies_of_a_check_is_started_again_and_the_check_is_named():
    response = []

    def dies(message, _say):
        if method(message) == "inspector/no-such-method":
            response.append(message)
            if len(response) == 1:
                raise ServerExited("The server ended with exit code 1.")
        return False

    async with Planted(Takes(dies)) as server:
        run, journal = await run_of(server, only=frozenset(("BASE-06", "LIFE-10", "TOOL-13")))
    assert run.deaths
    assert run.deaths[0].startswith("BASE-06")
    assert verdicts(run)["BASE-06"] == "warn"
    assert verdicts(run)["TOOL-13"] == "pass"
    journal.release()


async def test_a_server_that_leaves_is_not_blamed_for_what_could_not_be_asked():
    class Leaves(WebFault):
        async def response(self, request, reply):
            if request.method == "PUT":
                self.server.web.server.close()
                await asyncio.sleep(0)
                reply.reset()
                return True
            return False

    fault = Leaves()
    async with PlantedWeb(fault) as server:
        fault.server = server
        run, journal = await run_of(server, only=frozenset(("HTTP-13", "HTTP-21", "HTTP-22", "ECO-05")))
    by_id = verdicts(run)
    assert by_id["HTTP-13"] == "note"
    assert {by_id[id] for id in ("HTTP-21", "HTTP-22")} == {"skip"}
    assert "HTTP-13" in run.deaths[0]
    journal.release()


@pytest.mark.parametrize("revision", [R4, R5])
@pytest.mark.parametrize("answer", [(b"no json", 400), (b"Internal Server Error", 500)])
async def test_the_check_is_named_that_broke_a_server_for_everybody(answer, revision):
    """Not the next one, which meets a server that returns 500 for everything (Python SDK 1.9, after an early DELETE)."""
    body, status = answer
    broken = []

    class Breaks(WebFault):
        async def response(self, request, reply):
            if broken:
                reply.body(500, b"Internal Server Error", ("Content-Type", "text/plain"))
            elif b"inspector/no-such-method" in (request.body or b""):
                broken.append(request)
                reply.body(status, body, ("Content-Type", "text/plain"))
            return bool(broken)

    only = frozenset(("BASE-06", "PROM-04", "TOOL-13", "HTTP-13"))
    async with PlantedWeb(Breaks()) as server:
        run, journal = await run_of(server, revisions=(revision,), only=only)
    assert [words.split(" ")[0] for words in run.deaths] == ["BASE-06"], run.deaths
    assert "500" in run.deaths[0]
    by_id = verdicts(run)
    assert by_id["BASE-06"] == "note"
    assert {verdict for id, verdict in by_id.items() if id != "BASE-06"} == {"skip"}
    assert len(by_id) > 2
    journal.release()


async def test_a_server_that_takes_one_session_only_is_reported_to_do_so():
    class Once(WebFault):
        sessions = 0

        async def response(self, request, reply):
            self.sessions += b'"initialize"' in (request.body or b"")
            if self.sessions > 1:
                reply.reset()
            return self.sessions > 1

    async with PlantedWeb(Once(), era="legacy") as server:
        run, journal = await run_of(server)
    assert run.problem.startswith("The server answered one client, but no later one:"), run.problem
    assert run.results == []
    journal.release()


@pytest.mark.slow
async def test_nothing_that_was_not_allowed_is_called():
    called = []

    def sees(message, _say):
        if method(message) == "tools/call":
            called.append(message["params"]["name"])
        return False

    async with Planted(Takes(sees)) as server:
        run, journal = await run_of(server)
    assert all(name.startswith("inspector-check-no-such-") for name in called)
    skipped = [result for result in run.results if result.check.mode == "tool"]
    assert skipped
    assert {result.verdict for result in skipped} == {"skip"}
    journal.release()


async def test_authorization_of_a_closed_server_is_checked_only_if_wanted():
    async with Site() as site:
        closed, first = await run_of(site)
        outside, second = await run_of(site, allowed=Allowed(auth=True))
    assert (closed.results, bool(closed.problem)) == ([], True)
    assert {result.check.group for result in outside.results} == {"auth-resource", "auth-server"}
    first.release()
    second.release()


class WithoutQuery(WebFault):
    async def response(self, request, reply):
        request.target = request.target.partition("?")[0]
        return False


async def test_a_secret_of_the_url_is_in_no_outcome():
    secret = "e7b1c04d9f3a"
    async with PlantedWeb(WithoutQuery()) as server:
        server.target = replace(server.target, url=f"{server.target.url}?api_key={secret}")
        journal = Journal.unnamed({}, [secret])
        selection = CheckSelection(limits=LIMITS, revisions=(R4,), only=frozenset(("HTTP-21",)))
        run = await Runner(server.target, journal, Options(timeout=TIMEOUT), selection).go()
        journal.release()
    (outcome,) = [result.outcome for result in run.results if result.check.id == "HTTP-21"]
    assert outcome.text.startswith("/mcp/?api_key=‹redacted")
    assert secret not in outcome.text


async def test_a_fault_before_the_handshake_counts_for_the_visit_that_opened_the_connection():
    """Such a connection belongs to no revision by itself."""
    only = frozenset(("LIFE-07", "BASE-06"))
    async with Planted(Takes(_answers_before_the_handshake)) as server:
        run, journal = await run_of(server, revisions=(R1, R4, R5), only=only)
    results = [(result.check.id, result.visited.revision, result.verdict) for result in run.results]
    assert ("LIFE-07", R4, "note") in results
    assert [revision for id, revision, _ in results if id == "BASE-06"] == [R5, R4, R1]
    journal.release()


@pytest.mark.slow
async def test_a_server_that_allows_one_connection_is_checked_one_after_the_other(tmp_path):
    """Its second process exits as long as the first one runs."""
    script = tmp_path / "one.py"
    script.write_text(_ONE, encoding="utf-8")
    target = StdioTarget((sys.executable, str(script), str(tmp_path / "lock")))
    only = frozenset(("BASE-02", "LIFE-03", "LIFE-07", "STDIO-04", "STDIO-05"))
    journal = Journal.unnamed({})
    run = await Runner(target, journal, Options(), CheckSelection(revisions=(R4, R5), only=only)).go()
    assert {result.verdict for result in run.results} == {"pass"}, verdicts(run)
    assert len(run.results) == 6
    journal.release()


_ONE = """
import fcntl, runpy, sys
lock = open(sys.argv.pop(), "w")
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except OSError:
    sys.exit("already running")
runpy.run_module("inspector.demo", run_name="__main__")
"""


async def test_a_finished_recording_is_judged_for_what_passed():
    async with Planted() as server:
        _, journal = await run_of(server, revisions=(R4, R5), only=frozenset(("BASE-06",)))
    run = of_recording(journal, "a recording", CheckSelection())
    assert {visited.revision for visited in run.visits} == {R4, R5}
    by_id = verdicts(run)
    assert by_id["BASE-01"] == "pass"
    assert by_id["BASE-06"] == "pass", "the run has recorded what its probe found"
    assert by_id["BASE-08"] == "skip"
    journal.release()


async def test_an_empty_recording_is_no_pass():
    journal = Journal.unnamed({})
    run = of_recording(journal, "empty", CheckSelection())
    report = report_of(run, journal)
    assert (report.score, report.checked) == (None, [])
    assert run.problem
    journal.release()


async def test_only_what_is_new_since_a_baseline_counts():
    def breaks(message, say):
        if method(message) == "inspector/no-such-method":
            say({"jsonrpc": "2.0", "id": message["id"], "result": {}})
            return True
        return False

    async with Planted(Takes(breaks)) as server:
        run, journal = await run_of(server, only=frozenset(("BASE-06", "TOOL-13")))
    report = report_of(run, journal, Policy(strict=True))
    assert [result.check.id for result in report.failing] == ["BASE-06"]
    again = report_of(run, journal, Policy("warn", baseline=baseline_of(report.as_json())))
    assert (report.exit_code, again.exit_code, again.failing) == (5, 0, [])
    journal.release()


@pytest.mark.slow
@pytest.mark.parametrize(("revisions", "most"), [((R4,), 4), (REVISIONS, 8)])
async def test_a_server_is_started_a_few_times_only_and_the_report_says_why(revisions, most):
    target = StdioTarget((sys.executable, raw_server.__file__, "none"))
    journal = Journal.unnamed({})
    run = await Runner(target, journal, Options(), CheckSelection(revisions=revisions)).go()
    starts = report_of(run, journal).starts
    spawned = [event for event in journal.events() if event.fields.get("event") == "spawn"]
    assert len(starts) == len(spawned) <= most
    assert starts[0].startswith("session of")
    assert "STDIO-05, to end it" in starts
    journal.release()


async def test_the_process_of_a_session_is_replaced_after_a_check_that_ended_it():
    """The next check gets a new process, and the reason is in the recording."""

    def dies(message, _say):
        if message == b"{not json":
            raise ServerExited("The server ended with exit code 1.")
        return False

    async with Planted(Takes(dies)) as server:
        run, journal = await run_of(server, only=frozenset(("BASE-07", "BASE-10")))
    assert verdicts(run) == {"BASE-07": "warn", "BASE-10": "pass"}
    reasons = [event.fields["why"] for event in journal.events() if event.fields.get("event") == "reopen"]
    assert reasons == [f"session of {R4}", "BASE-10, because the connection before stopped"]
    journal.release()


@pytest.mark.slow
async def test_the_time_of_the_whole_run_holds_for_its_first_connection_too():
    deaf = StdioTarget((sys.executable, "-S", "-c", "import time; time.sleep(60)"))
    journal = Journal.unnamed({})
    selection = CheckSelection(limits=replace(LIMITS, run=0.3))
    async with asyncio.timeout(10):
        run = await Runner(deaf, journal, Options(timeout=60.0), selection).go()
    assert run.problem == "No connection within 0.3 s, the time limit of the run."
    journal.release()


STARTS_SLOWLY = """
import runpy, sys, time
until = time.process_time() + 2.0
while time.process_time() < until:
    pass
sys.argv = [sys.argv[1], "none"]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def test_a_check_that_takes_a_process_of_its_own_runs_once():
    """In each revision, it would start the server up to five times."""
    spoiling = [check for check in checks().values() if check.stage is Stage.SPOILING]
    assert [check.id for check in spoiling if len(check.revisions) > 1 and not check.once] == []


@pytest.mark.slow
async def test_a_server_that_uses_the_processor_and_has_written_nothing_is_waited_for():
    """Longer than for a response; one that only sleeps is not."""
    selection = CheckSelection(revisions=(R4,), only=frozenset(("BASE-06",)), limits=LIMITS)
    outcomes = {}
    for name, script in (("works", STARTS_SLOWLY), ("sleeps", "import time; time.sleep(60)")):
        journal = Journal.unnamed({})
        target = StdioTarget((sys.executable, "-S", "-c", script, raw_server.__file__))
        run = await Runner(target, journal, Options(timeout=1.0), selection).go()
        outcomes[name] = run.problem.partition(" within")[0], verdicts(run)
        journal.release()
    assert outcomes == {"works": ("", {"BASE-06": "pass"}), "sleeps": ("No response to initialize", {})}

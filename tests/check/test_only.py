"""A run of one check does less than a run of all of them, and comes to the same verdict."""

import pytest

from inspector.check.registry import checks
from inspector.check.selection import CheckSelection
from inspector.check.visit.visit import Allowed
from tests.check.faults import R2, R4, R5, method
from tests.check.faulty_servers import CALLS, LIMITS, LONG_TIMEOUT, Planted, PlantedWeb, Takes, of_the_demo, run_on

ALLOWED = Allowed(calls=CALLS, auth=True)
SEEN_BY_OTHERS = {("HTTP-37", R4), ("HTTP-03", R5)}
"""Checks that only see what other checks provoke, streams and notifications: alone they are skipped, and say so."""
LEFT_OUT = {"BASE-12", "AS-13", "STDIO-08", "HTTP-72"}
"""Checks of 2025-03-26 alone, for which no run of all checks is made; and those that need a tool that lasts."""


def ids(transport, *, judged, but=()):
    return [
        id
        for id, check in checks().items()
        if transport in check.transports
        and not check.transports & {*but}
        and (check.probe is None) == judged
        and id not in LEFT_OUT
        and not check.draft
    ]


async def verdicts(only, revision, make):
    """The verdicts of a run of a few checks."""
    selection = CheckSelection(revisions=(revision,), only=frozenset(only), limits=LIMITS, allowed=ALLOWED)
    async with make() as server:
        run, journal = await run_on(server, selection, LONG_TIMEOUT)
    journal.release()
    return {result.check.id: result.verdict for result in run.results}


async def same_verdict(id, *, web):
    revision = R4 if R4 in checks()[id].revisions else R5
    full = await of_the_demo(revision, web=web)
    assert await verdicts((id,), revision, PlantedWeb if web else Planted) == {id: full[id][0]}, full[id]


@pytest.mark.slow
@pytest.mark.parametrize("id", ids("stdio", judged=False))
async def test_one_check_over_a_pipe(id):
    await same_verdict(id, web=False)


@pytest.mark.slow
@pytest.mark.parametrize("id", ids("http", judged=False, but=("stdio",)))
async def test_one_check_over_http(id):
    await same_verdict(id, web=True)


@pytest.mark.slow
@pytest.mark.parametrize("revision", [R4, R5])
@pytest.mark.parametrize("web", [False, True])
async def test_the_checks_that_watch(revision, web):
    """They have no code of their own: alone they see the warm-up, as they do together."""
    full = await of_the_demo(revision, web=web)
    mine = [
        id for id in ids("http" if web else "stdio", judged=True) if id in full and (id, revision) not in SEEN_BY_OTHERS
    ]
    alone = await verdicts(mine, revision, PlantedWeb if web else Planted)
    assert alone == {id: full[id][0] for id in mine}
    assert len(alone) > 30


class DeliveryCounts(Takes):
    """Counts the connections and the methods that are asked."""

    def __init__(self):
        self.methods = []
        super().__init__(lambda message, _say: self.methods.append(method(message)))


@pytest.mark.parametrize(("id", "revisions", "connections"), [
    ("BASE-06", (R4,), 1),  # The session, which shows that the server supports the revision.
    ("BASE-06", (R4, R5), 2),
    ("BASE-02", (R4,), 1),  # It sends its requests on the process of the session.
    ("BASE-10", (R4,), 1),
    ("LIFE-10", (R2, R4), 1),  # One visit is enough.
    ("LIFE-02", (R2, R4), 2),  # It compares the answers to all handshakes.
    ("LIFE-03", (R4,), 2),  # It needs a process before its handshake too.
])  # fmt: skip
async def test_what_a_check_does_not_need_is_not_done(id, revisions, connections):
    fault = DeliveryCounts()
    made = []
    async with Planted(fault) as server:
        connect = server.connect
        server.connect = lambda *given: made.append(given) or connect(*given)
        selection = CheckSelection(revisions=revisions, only=frozenset((id,)), limits=LIMITS, allowed=ALLOWED)
        run, journal = await run_on(server, selection, LONG_TIMEOUT)
    journal.release()
    assert {result.verdict for result in run.results} <= {"pass", "note"}
    assert len(made) == connections
    warmed_up = "resources/read" in fault.methods
    assert warmed_up == (id == "BASE-02")
    assert "tools/call" not in fault.methods or warmed_up


async def test_tools_are_called_for_a_check_of_calls_and_not_for_another():
    called = {}
    for id in ("UTIL-17", "STDIO-07"):
        fault = DeliveryCounts()
        async with Planted(fault) as server:
            selection = CheckSelection(
                revisions=(R4,), only=frozenset((id,)), limits=LIMITS, allowed=Allowed(calls=("echo",))
            )
            _, journal = await run_on(server, selection, LONG_TIMEOUT)
        journal.release()
        called[id] = fault.methods.count("tools/call")
    assert called == {"UTIL-17": 1, "STDIO-07": 0}


async def test_a_server_that_speaks_no_revision_of_the_check_is_reached_all_the_same():
    async with Planted(era="legacy") as server:
        selection = CheckSelection(revisions=(R4, R5), only=frozenset(("BASE-18",)), limits=LIMITS)
        run, journal = await run_on(server, selection, LONG_TIMEOUT)
    journal.release()
    assert (run.problem, run.results) == ("", [])
    assert [visited.revision for visited in run.visits] == [R4]

"""The beginning of a connection: for each check a server that breaks it, and one in order."""

import pytest

from inspector.check.selection import CheckSelection
from inspector.check.visit.visit import Allowed
from inspector.errors import ServerExited
from inspector.protocol.revisions import LEGACY, REVISIONS
from tests.check.faults import R1, R4, R5, in_result, refuses
from tests.check.faulty_servers import (
    LIMITS,
    Adds,
    Answers,
    Case,
    Fault,
    Planted,
    Takes,
    case_tests,
    checked,
    refusal,
    result,
    run_on,
)

ALONE = {"era": "modern"}
VERSION = "io.modelcontextprotocol/protocolVersion"


def asks_who_can_be_asked(message, request):
    """Asks for the roots at once if the client has some; not the session, whose client has elicitation too."""
    able = "roots" in (has := request["params"]["capabilities"]) and "elicitation" not in has
    return [message, {"jsonrpc": "2.0", "id": 9, "method": "roots/list"}] if able else message


def in_info(**members):
    def change(message, _request):
        message["result"]["serverInfo"] |= members
        return message

    return change


def others_later(message, request):
    """Names other revisions than the one that is spoken, but for those who must agree on one first."""
    if type(request["id"]) is int:
        message["result"]["supportedVersions"] = ["2099-01-01"]
    return message


def without_capabilities_later(message, request):
    if type(request["id"]) is int:
        message["result"]["capabilities"] = None
    return message


def capability(name, value):
    def change(message, _request):
        message["result"]["capabilities"][name] = value
        if value is ...:
            del message["result"]["capabilities"][name]
        return message

    return change


def method(message):
    return message.get("method") if isinstance(message, dict) else None


def older(message, request):
    """Supports the oldest revision, and yet answers with another one when that is offered."""
    response = request["params"]["protocolVersion"]
    message["result"]["protocolVersion"] = R4 if response == R1 else R1 if response == "2025-03-26" else response
    return message


def invented(message, request):
    """Answers one of the revisions with an unknown one."""
    if request["params"]["protocolVersion"] == R1:
        message["result"]["protocolVersion"] = "2024-11-06"
    return message


def agrees_to_anything(message, request):
    message["result"]["protocolVersion"] = request["params"]["protocolVersion"]
    return message


class Eager:
    """Serves before the handshake."""

    def __init__(self):
        self.begun = False

    def __call__(self, message, say):
        if method(message) == "tools/list" and "_meta" not in message.get("params", {}):
            say(result(message, tools=[]))
            return True
        return False


def dies_of_a_second_handshake():
    seen = []

    def handle(message, _say):
        if method(message) == "initialize":
            seen.append(1)
            # One for the survey, then those of the check.
            if len(seen) > 2:
                raise ServerExited("The server ended with exit code 1.")
        return False

    return handle


def asks_for_roots(message, say):
    if method(message) == "tools/call":
        say({"jsonrpc": "2.0", "id": 900, "method": "roots/list"})
    return False


def knows(name):
    def handle(message, say):
        if method(message) == name:
            say(result(message, resultType="complete"))
            return True
        return False

    return handle


def takes_any_revision(name, refused=0):
    def handle(message, say):
        meta = message.get("params", {}).get("_meta", {}) if isinstance(message, dict) else {}
        if method(message) == name and meta.get(VERSION) == "1900-01-01":
            say(refusal(message, refused) if refused else result(message, resultType="complete"))
            return True
        return False

    return handle


class KeptToTheFirstRevision(Fault):
    """Refuses another revision than the one of the first request of a process with an error of its own."""

    def __init__(self):
        self.served = set()

    def response(self, message, say):
        meta = message.get("params", {}).get("_meta", {}) if isinstance(message, dict) else {}
        if say in self.served and meta.get(VERSION) == "1900-01-01":
            say(refusal(message, -32600, "The negotiated protocol version cannot change within a session."))
            return True
        self.served.add(say)
        return False


def refuses_handshakes_without_a_word(message, say):
    if method(message) == "initialize":
        say(refusal(message, -32600))
        return True
    return False


CASES = [
    Case("LIFE-01", R4, Answers("initialize", in_info(version=1))),
    Case("LIFE-02", R4, Answers("initialize", older), survey=LEGACY),
    Case("LIFE-03", R4, Answers("initialize", agrees_to_anything)),
    Case("LIFE-04", R4, Answers("initialize", invented), survey=LEGACY),
    Case("LIFE-05", R4, Answers("initialize", capability("prompts", ...))),
    Case("LIFE-06", R4, Adds("initialize", {"jsonrpc": "2.0", "id": 9, "method": "roots/list"})),
    Case("LIFE-06", R4, Answers("initialize", asks_who_can_be_asked)),
    Case("LIFE-07", R4, Takes(Eager())),
    Case("LIFE-08", R4, Takes(asks_for_roots), allowed=Allowed(calls=("echo",))),
    Case("LIFE-09", R4, Takes(dies_of_a_second_handshake())),
    Case("LIFE-10", R4, Answers("initialize", in_result(instructions=...))),
    Case("LIFE-11", R4, Answers("initialize", in_info(icons=[{"src": "file:///etc/passwd"}]))),
    Case("LIFE-20", R5, Takes(lambda message, say: _after_the_first(message, say))),
    Case("LIFE-21", R5, Answers("server/discover", without_capabilities_later)),
    Case("LIFE-22", R5, Answers("server/discover", others_later)),
    Case("LIFE-23", R5, Takes(takes_any_revision("server/discover"))),
    Case("LIFE-24", R5, Takes(takes_any_revision("tools/list"))),
    Case("LIFE-25", R5, Answers("server/discover", capability("prompts", ...))),
    Case("LIFE-25", R5, Answers("tools/call", lambda _, asked: refusal(asked, -32600, "initialize is required"))),
    Case("LIFE-26", R5, Takes(refuses_handshakes_without_a_word), world=ALONE, right_world=ALONE),
    Case("LIFE-27", R5, Takes(knows("ping")), right=refuses("resources/subscribe", -32020)),
    Case("LIFE-28", R5, Answers("server/discover", capability("extensions", {"tasks": {}}))),
    Case("LIFE-29", R5, None, world=ALONE, survey=REVISIONS),
    Case("LIFE-30", R5, None, right=Answers("server/discover", capability("logging", ...))),
]  # fmt: skip


def _after_the_first(message, say):
    """Answers the discovery with which clients open, and no other."""
    if method(message) == "server/discover" and type(message["id"]) is int:
        say(refusal(message, -32601))
        return True
    return False


test_a_planted_fault_is_found, test_a_server_in_order_is_not_blamed = case_tests(CASES)


@pytest.mark.parametrize("id", ["LIFE-26", "LIFE-29"])
async def test_a_server_of_both_eras_is_known_where_only_the_newest_revision_is_asked_for(id):
    judged, journal = await checked(Case(id, R5, None), None, {})
    assert judged.verdict in ("skip", "pass"), judged
    journal.release()


@pytest.mark.parametrize("id", ["LIFE-23", "LIFE-24"])
async def test_an_unknown_revision_is_judged_as_the_first_of_a_process_too(id):
    judged, journal = await checked(Case(id, R5, None), KeptToTheFirstRevision(), {})
    journal.release()
    assert judged.verdict == "pass", judged


@pytest.mark.parametrize("id", ["LIFE-23", "LIFE-24"])
async def test_a_server_that_never_names_its_revisions_is_blamed(id):
    """Its process is asked first, and its error is the one that is reported."""
    refuses_it = Takes(takes_any_revision("server/discover" if id == "LIFE-23" else "tools/list", refused=-32600))
    judged, journal = await checked(Case(id, R5, None), refuses_it, {})
    journal.release()
    assert judged.verdict == "warn", judged
    assert "got error -32600" in judged.outcome.text


async def test_a_server_that_leaves_an_unknown_revision_without_a_response_breaks_one_rule_only():
    """The request before initialize is followed by one that the server answers."""

    def ignores(message, _say):
        params = message.get("params") if isinstance(message, dict) else None
        return method(message) == "initialize" and params["protocolVersion"] == "2099-01-01"

    async with Planted(Takes(ignores)) as server:
        selection = CheckSelection(revisions=(R4,), only=frozenset(("LIFE-03", "LIFE-07")), limits=LIMITS)
        run, journal = await run_on(server, selection)
    journal.release()
    outcomes = {result.check.id: (result.outcome.seen, result.outcome.text) for result in run.results}
    assert outcomes["LIFE-03"][0] in ("bad", "doubtful")
    assert "2099-01-01 got no response" in outcomes["LIFE-03"][1]
    assert "initialize got no response" not in outcomes["LIFE-07"][1]

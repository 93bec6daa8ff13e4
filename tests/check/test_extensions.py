"""Extensions: for each check a server that breaks it, and one in order."""

import pytest

from inspector.check.visit.visit import Allowed
from tests.check.faults import R3, R4, R5, Both, capability, method, notice, params
from tests.check.faulty_servers import Adds, Answers, Case, Fault, Says, Takes, is_found, is_not_blamed, refusal

OURS = "com.example/search"
RIGHT = capability("extensions", {OURS: {"depth": [None, False, 0]}})
SKILLS, UI = "io.modelcontextprotocol/skills", "io.modelcontextprotocol/ui"
ADD = Allowed(calls=("add",))


def declares(value, name="extensions"):
    return capability(name, value)


def picky(message, say):
    """Works only for clients with an extension, and does not say so."""
    meta = params(message).get("_meta", {})
    offered = meta.get("io.modelcontextprotocol/clientCapabilities", {}).get("extensions", {})
    if method(message) == "tools/call" and params(message).get("name") == "add" and not offered:
        say(refusal(message, -32603))
        return True
    return False


def wants_name(request):
    return request.rpc_method == "skills/get"


def refuses_name(request, reply):
    reply.json(refusal(request.message, -32020), status=400)


CASES = [
    Case("EXT-01", R4, declares({OURS: True}), right=RIGHT),
    Case("EXT-02", R3, declares({"/x": {}}), right=RIGHT),
    Case("EXT-03", R4, declares({"io.modelcontextprotocol/skillz": {}}), right=RIGHT),
    Case("EXT-03", R5, declares({"example/x": {}}), right=RIGHT),
    Case("EXT-04", R5, declares({OURS: {"id": OURS, "config": {}}}), right=RIGHT),
    Case("EXT-05", R4, declares({OURS: {}}, OURS), right=RIGHT),
    Case("EXT-05", R5, declares({UI: {}}, "experimental"), right=RIGHT),
    Case("EXT-06", R5, Answers("initialize", RIGHT.change), survey=(R4, R5), right=RIGHT),
    Case("EXT-07", R4, declares({SKILLS: {}}), right=Fault(), ),
    Case("EXT-08", R5, Takes(picky), right=Fault(), allowed=ADD),
    Case("EXT-09", R5, Adds("tools/list", notice("notifications/events/active", cursor="c"))),
    Case("EXT-10", R5, Says(wants_name, refuses_name), web=True),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_a_planted_fault_is_found(case):
    await is_found(case)


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in CASES if (case.id, case.revision) != ("EXT-07", R4)], ids=str)
async def test_a_server_in_order_is_not_blamed(case):
    await is_not_blamed(case)


async def test_the_methods_of_the_demo_exist():
    await is_not_blamed(Case("EXT-07", R5, None))


async def test_two_faults_at_once_are_one_declaration():
    await is_found(Case("EXT-05", R4, Both(RIGHT, declares({OURS: {}}, "skills")), right=RIGHT))

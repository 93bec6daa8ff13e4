"""Prompts: for each check a server that breaks it, and one in order."""

import pytest

from inspector.check.selection import CheckSelection
from inspector.check.visit.visit import Allowed
from inspector.journal.format import Dir, Kind
from tests.check.faults import R4, R5, Both, capability, elsewhere, gives, notice, refuses
from tests.check.faulty_servers import Adds, Answers, Case, Item, Planted, case_tests, checked, is_found, run_on

CALLS = Allowed(calls=("echo",))
CHANGED = notice("notifications/prompts/list_changed")
SAID = [{"role": "user", "content": {"type": "text", "text": "Always the same."}}]


def prompt(**changes):
    return Item("prompts/list", "prompts", changes)


def got(change):
    """Changes each message of a prompt that is got."""

    def changed(message, _request):
        for one in message.get("result", {}).get("messages", ()):
            change(one)
        return message

    return Answers("prompts/get", changed)


def spoils_data(message):
    if message["content"]["type"] == "image":
        message["content"]["data"] = "no base64!"


CASES = [
    Case("PROM-01", R4, capability("prompts", ...)),
    Case("PROM-02", R4, prompt(name="")),
    Case("PROM-03", R4, got(lambda message: message.update(role="system")), allowed=CALLS),
    Case("PROM-04", R4, refuses("prompts/get", -32603, where=lambda given: "no-such" in given["name"])),
    Case("PROM-05", R4, refuses("prompts/get", -32603, where=lambda given: given.get("arguments") == {})),
    Case("PROM-06", R4, got(spoils_data), allowed=CALLS),
    Case("PROM-07", R4, Both(Adds("tools/list", CHANGED), capability("prompts", {})), right=Adds("tools/list", CHANGED)),
    Case("PROM-08", R5, elsewhere("prompts/list", "prompts")),
    Case("PROM-09", R4, gives("prompts/get", messages=SAID), allowed=CALLS),
]  # fmt: skip


test_a_planted_fault_is_found, test_a_server_in_order_is_not_blamed = case_tests(CASES)


@pytest.mark.parametrize("id", ["PROM-01", "LIFE-05"])
async def test_an_empty_list_that_is_not_declared_is_worth_a_warning(id):
    fault = Both(capability("prompts", ...), gives("prompts/list", prompts=[]))
    result, journal = await checked(Case(id, R4, None), fault, {})
    assert result.outcome.seen == "doubtful"
    assert "returns an empty list" in result.outcome.text
    journal.release()


async def test_an_empty_list_that_is_not_declared_needs_no_other_members():
    """No client calls it, so that nothing else is wrong with it for clients."""
    fault = Both(capability("prompts", ...), gives("prompts/list", prompts=[]))  # It has no ttlMs and no cacheScope.
    async with Planted(fault) as server:
        selection = CheckSelection(revisions=(R5,), only=frozenset(("PROM-01", "BASE-14", "CACHE-01")))
        run, journal = await run_on(server, selection)
    journal.release()
    assert {result.check.id for result in run.results if result.outcome.seen in ("bad", "doubtful")} == {"PROM-01"}


@pytest.mark.parametrize("arguments", [
    ["language"], [{"name": 7}], [{"name": "a"}, {"name": "a"}], [{"name": "a", "required": "yes"}],
])  # fmt: skip
async def test_each_part_of_a_prompt_is_read(arguments):
    await is_found(Case("PROM-02", R4, prompt(arguments=arguments)))


@pytest.mark.parametrize(
    "content", [{"type": "smell", "smell": "x"}, {"type": "text"}, [{"type": "text", "text": ""}], "text", None]
)
async def test_a_block_that_is_none_is_found(content):
    await is_found(Case("PROM-03", R4, got(lambda message: message.update(content=content)), allowed=CALLS))


@pytest.mark.parametrize("block", [
    {"type": "resource", "resource": {"uri": "demo://x"}}, {"type": "resource", "resource": {"text": "no uri"}},
    {"type": "resource", "resource": 7}, {"type": "audio", "data": "UklGRg==", "mimeType": 7}, {"type": "image", "data": ""},
])  # fmt: skip
async def test_a_block_that_is_not_whole_is_found(block):
    await is_found(Case("PROM-06", R4, got(lambda message: message.update(content=block)), allowed=CALLS))


async def test_an_argument_that_is_called_a_uri_gets_one():
    result, journal = await checked(Case("PROM-09", R4, None, allowed=CALLS), None, {})
    sent = [event.message for event in journal.events() if event.kind is Kind.RPC and event.dir is Dir.SEND]
    response = [message["params"].get("arguments", {}) for message in sent if message.get("method") == "prompts/get"]
    uris = [arguments["uri"] for arguments in response if "uri" in arguments]
    assert result.verdict != "skip"
    assert uris
    assert all(uri.startswith("urn:") for uri in uris)
    journal.release()

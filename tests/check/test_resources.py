"""Resources: for each check a server that breaks it, and one in order."""

import pytest

from inspector.check.visit.visit import Allowed
from tests.check.faults import R4, R5, Both, capability, elsewhere, gives, notice, refuses, says_first
from tests.check.faulty_servers import Answers, Case, Fault, Item, case_tests, is_found, is_not_blamed, result

CALLS = Allowed(calls=("echo",))
HARSH = Allowed(intrusive=True)


def resource(*, new=False, **changes):
    return Item("resources/list", "resources", changes, new=new)


def read(change):
    """Changes each of the contents that are read."""

    def changed(message, _request):
        for item in message.get("result", {}).get("contents", ()):
            change(item)
        return message

    return Answers("resources/read", changed)


def spoils_data(item):
    if "blob" in item:
        item["blob"] = "no base64!"


def nowhere(given):
    return "no-such-thing" in given.get("uri", "")


def beyond(given):
    return given.get("uri", "").endswith("/etc/passwd")


FILES = resource(uri="file:///demo/readme")
PASSWORDS = gives(
    "resources/read", where=beyond, contents=[{"uri": "file:///etc/passwd", "text": "root:x:0:0:root:/root:/bin/sh"}]
)

CASES = [
    Case("RES-01", R4, capability("resources", ...)),
    Case("RES-02", R4, resource(size=-1)),
    Case("RES-03", R4, resource(name="another", new=True)),
    Case("RES-04", R4, read(lambda item: item.update(text="", blob=""))),
    Case("RES-05", R4, read(spoils_data)),
    Case("RES-06", R4, resource(mimeType="text/html")),
    Case("RES-07", R4, refuses("resources/read", -32602, where=nowhere)),
    Case("RES-08", R5, refuses("resources/read", -32002, where=nowhere)),
    Case("RES-09", R5, gives("resources/read", where=nowhere, resultType="complete", contents=[])),
    Case("RES-10", R4, Both(FILES, PASSWORDS), right=FILES, allowed=HARSH),
    Case("RES-11", R4, Item("resources/templates/list", "resourceTemplates", {"uriTemplate": "demo://{"})),
    Case("RES-12", R4, refuses("resources/read", -32602, where=lambda given: "/items/" in given["uri"]), allowed=CALLS),
    Case("RES-13", R4, refuses("resources/subscribe", -32603)),
    Case("RES-14", R4, says_first("tools/call", notice("notifications/resources/updated", uri="demo://readme")), allowed=CALLS),
    Case("RES-15", R4, resource(uri="https://example.com/readme"), allowed=HARSH),
    Case("RES-16", R4, resource(annotations={"priority": 7})),
    Case("RES-17", R5, elsewhere("resources/list", "resources")),
    Case("RES-18", R5, refuses("resources/read", -32000, where=nowhere)),
    Case("RES-19", R5, refuses("resources/read", -32602, where=nowhere)),
]  # fmt: skip


test_a_planted_fault_is_found, test_a_server_in_order_is_not_blamed = case_tests(CASES)


@pytest.mark.parametrize("changes", [
    {"uri": "readme"}, {"uri": "1st://readme"}, {"uri": 7}, {"name": ...}, {"name": []}, {"size": "large"}, {"mimeType": "text"}, {"mimeType": 7},
])  # fmt: skip
async def test_each_part_of_a_resource_is_read(changes):
    await is_found(Case("RES-02", R4, resource(**changes)))


@pytest.mark.parametrize("annotations", [
    {"audience": "user"}, {"audience": ["everybody"]}, {"priority": True}, {"priority": -0.1}, {"lastModified": "today"},
])  # fmt: skip
async def test_each_annotation_is_read(annotations):
    await is_found(Case("RES-16", R4, resource(annotations=annotations)))


async def test_a_subscription_that_is_not_declared_is_found_where_it_is_taken():
    await is_found(Case("RES-13", R4, capability("resources", {"listChanged": True})))


async def test_an_empty_answer_for_an_unknown_resource_is_a_doubt_in_older_revisions():
    await is_found(Case("RES-09", R4, gives("resources/read", where=nowhere, contents=[])))


class AsksFirst(Fault):
    """Requests sampling when a client subscribes, and answers when that is answered: as server-everything did."""

    def __init__(self):
        self.waiting = None

    def response(self, message, say):
        if message.get("method") in ("resources/subscribe", "resources/unsubscribe"):
            self.waiting = message
            say({"jsonrpc": "2.0", "id": "first", "method": "sampling/createMessage", "params": {}})
            return True
        if message.get("id") == "first":
            say(result(self.waiting))
            return True
        return False


async def test_a_server_that_asks_before_it_takes_a_subscription_is_answered():
    await is_not_blamed(Case("RES-13", R4, None, right=AsksFirst()))

"""Subscriptions: for each check a server that breaks it, and one in order."""

import pytest

from inspector.check.visit.visit import Allowed
from tests.check.faults import R5, Notices, capability, in_params, method, notice, params, refuses
from tests.check.faulty_servers import Case, Fault, Process, Takes, case_tests, is_found, refusal

CHANGES = Allowed(calls=("change-list",))
LOGS = Allowed(calls=("count",))
HARSH = Allowed(intrusive=True)
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
CHANGED = "notifications/tools/list_changed"
ID = "io.modelcontextprotocol/subscriptionId"


def as_text(message):
    """A subscription id that has become text."""
    message["params"]["_meta"][ID] = str(message["params"]["_meta"][ID])
    return message


def more(message):
    message["params"]["notifications"]["promptsListChanged"] = True
    return message


class TellsEverybody(Fault):
    """Tells of changes by all subscriptions, whatever they ask for."""

    def __init__(self):
        self.ids = []

    def response(self, message, say):
        if method(message) == "subscriptions/listen":
            self.ids.append(message["id"])
        return False

    def sends(self, message, request):
        if message.get("method") != CHANGED:
            return [message]
        return [notice(CHANGED, _meta={ID: id}) for id in dict.fromkeys(self.ids)]


class LogsBySubscription(Fault):
    """Sends log messages by the newest subscription."""

    def __init__(self):
        self.id = None

    def response(self, message, say):
        if method(message) == "subscriptions/listen":
            self.id = message["id"]
        return False

    def sends(self, message, request):
        if message.get("method") == "notifications/message" and self.id is not None:
            message["params"]["_meta"] = {ID: self.id}
        return [message]


def ends_all(message, say):
    """Ending one subscription ends them all."""
    if method(message) == "notifications/cancelled" and params(message).get("requestId") == "goes":
        say({"jsonrpc": "2.0", "id": "stays", "result": {"resultType": "complete", "_meta": {ID: "stays"}}})
    return False


SILENT = """
from inspector.demo.listen import ListenRequest
ListenRequest.end = lambda self, how="result": self._finish(None)
"""

CASES = [
    Case("SUB-01", R5, Notices(ACKNOWLEDGED, as_text)),
    Case("SUB-02", R5, Notices(ACKNOWLEDGED, more)),
    Case("SUB-03", R5, TellsEverybody(), allowed=CHANGES),
    Case("SUB-04", R5, Notices(CHANGED, in_params(_meta=...)), allowed=CHANGES),
    Case("SUB-05", R5, Notices(CHANGED, lambda _message: None), allowed=CHANGES),
    Case("SUB-06", R5, LogsBySubscription(), allowed=LOGS),
    Case("SUB-07", R5, SILENT, server=Process, allowed=HARSH),
    Case("SUB-08", R5, Takes(ends_all)),
]  # fmt: skip


test_a_planted_fault_is_found, test_a_server_in_order_is_not_blamed = case_tests(
    CASES, slow_faults=True, slow_right=True
)


@pytest.mark.slow
@pytest.mark.parametrize("fault", [
    refuses("subscriptions/listen", -32601), Notices(ACKNOWLEDGED, lambda _message: None),
    Notices(ACKNOWLEDGED, lambda message: [notice(CHANGED, _meta=message["params"]["_meta"]), message]),
])  # fmt: skip
async def test_a_subscription_that_is_not_acknowledged_first_is_found(fault):
    await is_found(Case("SUB-01", R5, fault))


async def test_an_acknowledgement_of_what_is_not_declared_is_found():
    await is_found(Case("SUB-02", R5, capability("prompts", {})))


async def test_a_second_subscription_that_is_refused_is_found():
    def refuses_the_second(message, say):
        if method(message) == "subscriptions/listen" and message["id"] == "goes":
            say(refusal(message, -32602))
            return True
        return False

    await is_found(Case("SUB-08", R5, Takes(refuses_the_second)))

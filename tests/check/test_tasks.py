"""Tasks of both designs: for each check a server that breaks it, and one in order."""

import pytest

from inspector.check.visit.visit import Allowed
from tests.check.faults import R4, R5, Both, Notices, defaults, gives, in_result, method, params, refuses
from tests.check.faulty_servers import (
    Answers,
    Case,
    Takes,
    WebFault,
    case_tests,
    is_found,
    refusal,
    result,
)

SLOW = Allowed(calls=("task-slow",))
FAILS = Allowed(calls=("task-fail",))
ASKS = Allowed(calls=("task-ask",))
QUICK = defaults("task-slow", seconds=0.01, steps=1)
FAILED = defaults("task-fail", seconds=0.01, steps=1)
EXTENSION = "io.modelcontextprotocol/tasks"


def quick(fault, name="task-slow"):
    """A fault in a task that does not take long."""
    return Both(defaults(name, seconds=0.01, steps=1), fault)


def in_task(**members):
    """Changes members of the task that a call has become (2025-11-25)."""

    def change(message, _request):
        task = message.get("result", {}).get("task")
        if task:
            message["result"]["task"] = {key: value for key, value in (task | members).items() if value is not ...}
        return message

    return Answers("tools/call", change)


def knows_tasks(message):
    capabilities = params(message).get("_meta", {}).get("io.modelcontextprotocol/clientCapabilities", {})
    return EXTENSION in capabilities.get("extensions", {})


def always_a_task(message, say):
    if method(message) == "tools/call" and not knows_tasks(message):
        task = {
            "taskId": "1",
            "status": "working",
            "createdAt": "2026-07-28T00:00:00Z",
            "lastUpdatedAt": "2026-07-28T00:00:00Z",
        }
        say(result(message, resultType="task", ttlMs=None, **task))
        return True
    return False


def fails_with_a_result(message, _request):
    if message["result"].get("status") == "completed":
        message["result"]["status"] = "failed"
    return message


def listens_for_everybody(message, say):
    """Acknowledges tasks to those who do not know them."""
    if (
        method(message) == "subscriptions/listen"
        and "taskIds" in params(message)["notifications"]
        and not knows_tasks(message)
    ):
        meta = {"io.modelcontextprotocol/subscriptionId": message["id"]}
        agreed = {"_meta": meta, "notifications": params(message)["notifications"]}
        say({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": agreed})
        return True
    return False


class AnyName(WebFault):
    """Looks at the body alone."""

    async def response(self, request, reply):
        if request.rpc_method == "tasks/get" and request.field("Mcp-Name") != request.message["params"]["taskId"]:
            reply.json(refusal(request.message, -32602))
            return True
        return False


CASES = [
    Case("TASK-01", R4, quick(in_task(createdAt="today")), right=QUICK, allowed=SLOW),
    Case("TASK-02", R4, quick(Answers("tasks/result", in_result(_meta={}))), right=QUICK, allowed=SLOW),
    Case("TASK-03", R4, quick(gives("tasks/list", tasks=[])), right=QUICK, allowed=SLOW),
    Case("TASK-04", R5, quick(Takes(always_a_task)), right=QUICK, allowed=SLOW),
    Case("TASK-05", R5, quick(refuses("tasks/get", -32602)), right=QUICK, allowed=SLOW),
    Case("TASK-06", R5, refuses("tasks/get", -32603)),
    Case("TASK-06", R5, AnyName(), web=True),
    Case("TASK-07", R5, quick(Answers("tasks/get", fails_with_a_result), "task-fail"), right=FAILED, allowed=FAILS),
    Case("TASK-08", R5, quick(Takes(listens_for_everybody)), right=QUICK, allowed=SLOW),
]  # fmt: skip


test_a_planted_fault_is_found, test_a_server_in_order_is_not_blamed = case_tests(CASES)


@pytest.mark.parametrize(
    "changes", [{"status": "completed"}, {"status": "resting"}, {"ttl": ...}, {"ttl": "long"}, {"lastUpdatedAt": 7}]
)
async def test_each_part_of_a_task_is_read(changes):
    await is_found(Case("TASK-01", R4, quick(in_task(**changes)), allowed=SLOW))


async def test_a_result_before_the_end_is_found():
    early = gives("tasks/result", content=[], where=lambda given: "no-such" not in given["taskId"])
    await is_found(Case("TASK-02", R4, Both(defaults("task-slow", seconds=600, steps=1), early), allowed=SLOW))


@pytest.mark.parametrize("name", ["tasks/get", "tasks/result"])
async def test_an_unknown_task_that_is_answered_otherwise_is_found(name):
    unknown = refuses(name, -32603, where=lambda given: "no-such" in given["taskId"])
    await is_found(Case("TASK-02", R4, quick(unknown), allowed=SLOW))


@pytest.mark.slow
async def test_a_key_that_is_used_twice_is_found():
    def one_key(message, _request):
        requests = message["result"].get("inputRequests")
        if requests:
            message["result"]["inputRequests"] = {"question": next(iter(requests.values()))}
        return message

    class Renames(Answers):
        """The client's answers go to the keys that the demo knows."""

        def response(self, message, say):
            given = params(message).get("inputResponses")
            if method(message) == "tasks/update":
                number = self.number = getattr(self, "number", 0) + 1
                given[f"elicitation-{number}"] = given.pop("question")
            return False

    await is_found(Case("TASK-07", R5, Renames("tasks/get", one_key), allowed=ASKS))


async def test_a_subscription_that_forgets_the_tasks_is_found():
    def forgets(message):
        message["params"]["notifications"].pop("taskIds", None)
        return message

    fault = quick(Notices("notifications/subscriptions/acknowledged", forgets))
    await is_found(Case("TASK-08", R5, fault, allowed=SLOW))

"""Caching hints: for each check a server that breaks it, and one in order."""

import json

from inspector.check.visit.visit import Allowed
from tests.check.faults import R5, in_result
from tests.check.faulty_servers import Answers, Case, WebFault, case_tests

ASKS = Allowed(calls=("ask-user",))
LOGIN = Allowed(auth=True)
MANY = {"items": 120}


class LoggedIn(WebFault):
    """A client with a login; the server may look at it."""

    headers = (("Authorization", "Bearer inspector-check-token"),)


class KnowsWhoAsks(LoggedIn):
    """Lists more tools for those who have logged in, and calls the list public."""

    def body(self, request, data):
        known = any(name.lower() == "authorization" for name, _ in request.fields)
        message = json.loads(data) if data.startswith(b"{") else {}
        tools = message.get("result", {}).get("tools")
        if known or not tools:
            return data
        message["result"]["tools"] = tools[:1]
        return json.dumps(message).encode()


class Refuses(LoggedIn):
    """Rejects clients without a login."""

    def head(self, request, status, fields):
        known = any(name.lower() == "authorization" for name, _ in request.fields)
        return (status if known else 401), fields


def private_later(message, request):
    if "cursor" in request.get("params", {}):
        message["result"]["cacheScope"] = "private"
    return message


def kept_all_the_same(message, _request):
    if message.get("result", {}).get("resultType") == "input_required":
        message["result"] |= {"ttlMs": 5, "cacheScope": "public"}
    return message


CASES = [
    Case("CACHE-01", R5, Answers("tools/list", in_result(ttlMs=...))),
    Case("CACHE-02", R5, Answers("prompts/list", in_result(ttlMs=-1))),
    Case("CACHE-03", R5, Answers("resources/read", in_result(cacheScope="everybody"))),
    Case("CACHE-04", R5, Answers("resources/list", private_later), world=MANY, right_world=MANY),
    Case("CACHE-05", R5, KnowsWhoAsks(), right=LoggedIn(), web=True, allowed=LOGIN),
    Case("CACHE-06", R5, Answers("tools/call", kept_all_the_same), allowed=ASKS),
]  # fmt: skip


test_a_planted_fault_is_found, test_a_server_in_order_is_not_blamed = case_tests(CASES, slow_right=True)

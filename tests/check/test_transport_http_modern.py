"""Streamable HTTP without a handshake: for each check a server that breaks it, and one in order."""

import asyncio

import pytest

from inspector.check.visit.visit import Allowed
from tests.check.faulty_servers import (
    Heads,
    RewritesRequest,
    Says,
    WebFault,
    case_tests,
    checked,
    put,
    refusal,
)
from tests.check.faulty_servers import WebCase as Case

R4, R5 = "2025-11-25", "2026-07-28"
ALONE = {"era": "modern"}
VERSION = "MCP-Protocol-Version"
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
PROMPTS = {"resultType": "complete", "prompts": [], "ttlMs": 0, "cacheScope": "private"}


def method(name):
    return lambda request: request.rpc_method == name


def says(status, body=b"", *fields):
    return lambda request, reply: reply.body(status, body, *fields)


def mismatch(request, reply):
    reply.json(refusal(request.message, -32020), 400)


def is_modern(request):
    return request.message is not None and "_meta" in request.body.decode()


def right_version(request):
    if is_modern(request):
        put(request, VERSION, R5)


def right_method(request):
    if is_modern(request):
        put(request, "Mcp-Method", request.rpc_method)


def right_name(request):
    params = request.message.get("params", {}) if is_modern(request) and request.rpc_method else {}
    name = params.get("name", params.get("uri"))
    if name is not None:
        put(request, "Mcp-Name", name)


def is_encoded(request):
    return (request.field("Mcp-Name") or "").startswith("=?base64?")


def is_a_fraction(request):
    return any(name.startswith("Mcp-Param-") and value.endswith(".0") for name, value in request.fields)


def serves_calls(request, reply):
    reply.result(request, {"resultType": "complete", "content": []})


def is_by_hand(request):
    return request.field("Connection") == "close"


def is_no_request(request):
    return request.method == "POST" and request.rpc_method is None


def found_at_200(request, status, fields):
    return 200 if request.rpc_method == "inspector/no-such-method" else status, fields


def names_a_session(request, status, fields):
    return status, [*fields, ("Mcp-Session-Id", "0123456789abcdef")]


def streamed(**about):
    def say(request, reply):
        reply.stream()
        reply.event({"jsonrpc": "2.0", "id": request.id, "result": PROMPTS}, **about)
        reply.end()

    return Says(method("prompts/list"), say)


class GoesOn(WebFault):
    """Tells the progress of a call whose stream is closed on the stream of a subscription, unless it is `silent`."""

    def __init__(self, *, silent):
        self.silent = silent
        self.called = False
        self.subscription = None

    async def response(self, request, reply):
        progress = {"jsonrpc": "2.0", "method": "notifications/progress",
                    "params": {"progressToken": "closed-0", "progress": 1 + self.called}}  # fmt: skip
        if request.rpc_method == "subscriptions/listen":
            reply.stream()
            meta = {SUBSCRIPTION: request.id}
            reply.event({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
                         "params": {"_meta": meta, "notifications": {}}})  # fmt: skip
            await reply.writer.drain()
            self.subscription = reply
            await asyncio.Event().wait()
        if request.rpc_method == "tools/call" and request.id == "closed-0":
            self.called = True
            reply.stream()
            reply.event(progress)
            await reply.writer.drain()
            await asyncio.Event().wait()
        if self.called and not self.silent and request.rpc_method == "server/discover":
            self.subscription.event(progress)
        return False


CASES = [
    Case("HTTP-60", R5, RewritesRequest(right_version), world=ALONE, right_world=ALONE),
    Case("HTTP-61", R5, RewritesRequest(right_version)),
    Case("HTTP-62", R5, RewritesRequest(right_method)),
    Case("HTTP-63", R5, RewritesRequest(right_name)),
    Case("HTTP-64", R5, Says(is_encoded, mismatch)),
    Case("HTTP-65", R5, RewritesRequest(right_name)),
    Case("HTTP-66", R5, Says(method("tools/call"), serves_calls), allowed=Allowed(calls=("route-query",))),
    Case("HTTP-67", R5, Says(is_a_fraction, mismatch), allowed=Allowed(calls=("route-query",))),
    Case("HTTP-68", R5, Says(is_by_hand, mismatch)),
    Case("HTTP-69", R5, Heads(found_at_200)),
    Case("HTTP-70", R5, Says(lambda request: request.method != "POST", says(404)), world=ALONE, right_world=ALONE),
    Case("HTTP-71", R5, Heads(names_a_session)),
    Case("HTTP-72", R5, lambda: GoesOn(silent=False), right=lambda: GoesOn(silent=True), allowed=Allowed(calls=("slow",))),
    Case("HTTP-73", R5, Says(is_no_request, says(202))),
    Case("HTTP-74", R5, streamed(id="1"), right=streamed()),
]  # fmt: skip


test_a_planted_fault_is_found, test_a_server_in_order_is_not_blamed = case_tests(CASES, slow_right=True)


@pytest.mark.parametrize("id", ["HTTP-60", "HTTP-70"])
async def test_a_server_of_both_eras_is_known_where_only_the_newest_revision_is_asked_for(id):
    result, journal = await checked(Case(id, R5, None), None, {})
    assert result.verdict in ("skip", "pass"), result
    journal.release()

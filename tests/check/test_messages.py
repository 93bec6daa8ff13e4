"""Messages: for each check a server that breaks it and is found out, and one in order that passes."""

import asyncio

import pytest

from inspector.check.visit.visit import Allowed
from tests.check.faults import R2, R4, R5, in_result, method
from tests.check.faulty_servers import (
    Adds,
    Answers,
    Bodies,
    Case,
    Fault,
    Item,
    Redirects,
    Says,
    Takes,
    WebCase,
    case_tests,
    checked,
    is_not_blamed,
    refusal,
    result,
)


def changed(**members):
    """Changes members of an answer; ... takes one away."""

    def change(message, _request):
        message |= members
        return {key: value for key, value in message.items() if value is not ...}

    return change


def in_meta(key, value):
    def change(message, _request):
        if "result" in message:
            meta = message["result"].setdefault("_meta", {})
            meta[key] = value
            if value is ...:
                del meta[key]
        return message

    return change


def error(code, **more):
    return lambda message, _request: (
        {"jsonrpc": "2.0", "id": message["id"], "error": {"code": code, "message": "No."}} | more
    )


def serves_unknown(message, say):
    if isinstance(message, dict) and message.get("method") == "inspector/no-such-method":
        say(result(message))
        return True
    return False


def dies_of_bytes(message, say):
    from inspector.errors import ServerExited

    if isinstance(message, bytes):
        raise ServerExited("The server ended with exit code 1.")
    return False


def serves_anything(message, say):
    """A result for every request that is none."""
    if isinstance(message, dict) and "id" in message and (message.get("jsonrpc") != "2.0" or "method" not in message):
        say(result(message))
        return True
    return False


def serves_lists_of_params(message, say):
    if isinstance(message, dict) and isinstance(message.get("params"), list):
        say(result(message, content=[]))
        return True
    return False


def answers_notifications(message, say):
    if isinstance(message, dict) and "no-such-thing" in message.get("method", ""):
        say({"jsonrpc": "2.0", "id": None, "error": {"code": -32601, "message": "?"}})
    return False


def ignores_batches(message, say):
    return isinstance(message, list)


def serves_batches(message, say):
    if isinstance(message, list):
        for item in message:
            say(result(item, tools=[]))
        return True
    return False


def serves_without_meta(message, say):
    if isinstance(message, dict) and message.get("method") == "tools/list" and "_meta" not in message.get("params", {}):
        say(result(message, tools=[]))
        return True
    return False


def wants_a_name(message, say):
    if isinstance(message, dict) and "id" in message:
        meta = message.get("params", {}).get("_meta", {})
        if meta and "io.modelcontextprotocol/clientInfo" not in meta:
            say(refusal(message, -32602))
            return True
    return False


def sends_a_request(message, say):
    if isinstance(message, dict) and message.get("method") == "tools/call":
        say(result(message, resultType="input_required", requestState="x"))
        return True
    return False


def remembers():
    known = [False]

    def change(message, request):
        meta = request["params"]["_meta"]
        capabilities = meta.get("io.modelcontextprotocol/clientCapabilities", {})
        known[0] = known[0] or ("elicitation" in capabilities and len(capabilities) == 3)
        if known[0] and "elicitation" not in capabilities:
            message["result"]["tools"] = []
        return message

    return change


CASES = [
    Case("BASE-01", R4, Answers("tools/list", changed(jsonrpc="1.0"))),
    Case("BASE-02", R4, Answers("tools/list", lambda message, _: message | {"id": str(message["id"])})),
    Case("BASE-03", R4, Answers("tools/list", changed(error={"code": 1, "message": "and"}))),
    Case("BASE-04", R4, Answers("inspector/no-such-method", changed(error={"code": "-32601", "message": "No."}))),
    WebCase("BASE-05", R4, Bodies(lambda _, data: data.replace(b'{"jsonrpc":"2.0","error"', b'{"jsonrpc":"2.0","id":null,"error"'))),
    Case("BASE-06", R4, Takes(serves_unknown)),
    Case("BASE-07", R4, Takes(dies_of_bytes)),
    Case("BASE-08", R4, Takes(serves_anything)),
    Case("BASE-09", R4, Takes(serves_lists_of_params)),
    Case("BASE-10", R4, Takes(answers_notifications)),
    Case("BASE-11", R4, Adds("tools/list", {"jsonrpc": "2.0", "id": 4, "method": "ping"}, {"jsonrpc": "2.0", "id": 4, "method": "ping"}),
         right=Adds("tools/list", {"jsonrpc": "2.0", "id": 4, "method": "ping"})),
    Case("BASE-12", R2, Takes(ignores_batches)),
    Case("BASE-13", R4, Takes(serves_batches), remark=True),
    Case("BASE-14", R4, Answers("tools/list", in_result(tools="none"))),
    Case("BASE-15", R5, Answers("tools/list", in_result(resultType=...))),
    Case("BASE-16", R5, Answers("tools/list", in_result(resultType="partly"))),
    Case("BASE-17", R5, Answers("tools/list", in_meta("io.modelcontextprotocol/serverInfo", ...))),
    Case("BASE-18", R5, Takes(serves_without_meta)),
    Case("BASE-19", R5, Takes(wants_a_name)),
    Case("BASE-20", R5, Answers("inspector/no-such-method", error(-32050))),
    Case("BASE-21", R5, Answers("inspector/no-such-method", error(-32002))),
    Case("BASE-22", R5, Answers("inspector/no-such-method", error(-32005))),
    Case("BASE-23", R5, Takes(sends_a_request), allowed=Allowed(calls=("ask-user",))),
    Case("BASE-24", R5, Answers("tools/list", remembers())),
    Case("BASE-25", R4, Answers("tools/list", in_meta("not a key", 1))),
    Case("BASE-26", R5, Answers("tools/list", in_meta("traceparent", "00-x"))),
    Case("BASE-27", R4, Item("tools/list", "tools", {"inputSchema": {"type": "object", "properties": {"a": {"type": "strin"}}}})),
    Case("BASE-28", R5, Item("tools/list", "tools", {"inputSchema": {"type": "object", "properties": {"a": {"$ref": "https://evil.example/s.json"}}}})),
    Case("BASE-29", R4, Item("tools/list", "tools", {"icons": [{"src": "javascript:alert(1)"}]}),
         right=Item("tools/list", "tools", {"icons": [{"src": "data:image/png;base64,iVBORw0KGgo=", "mimeType": "image/png", "sizes": ["any"]}]})),
    Case("BASE-30", R4, Answers("tools/list", lambda message, _: b"\xef\xbb\xbf" + __import__("json").dumps(message).encode())),
    Case("BASE-31", R5, Adds("tools/list", {"jsonrpc": "2.0", "id": 4, "method": "roots/list"})),
]  # fmt: skip


test_a_planted_fault_is_found, test_a_server_in_order_is_not_blamed = case_tests(CASES, slow_faults=True)


def refuses_without_id(request, reply):
    reply.json({"jsonrpc": "2.0", "error": {"code": -32600, "message": "No."}}, 400)


async def test_a_notification_that_is_refused_has_not_been_answered():
    unknown = Says(lambda request: request.rpc_method.startswith("notifications/inspector/"), refuses_without_id)
    await is_not_blamed(WebCase("BASE-10", R4, None, right=unknown))


@pytest.mark.parametrize("id", ["BASE-07", "BASE-08", "BASE-18"])
async def test_what_counts_is_reported_behind_the_redirect(id):
    await is_not_blamed(WebCase(id, R5 if id == "BASE-18" else R4, None, right=Redirects()))


async def test_the_error_of_another_request_does_not_answer_an_invalid_one():
    """A server without tools that ignores objects which are not requests."""

    def handle(message, say):
        if not isinstance(message, dict) or message.get("method") != "tools/list":
            return isinstance(message, dict) and "method" not in message
        if message["jsonrpc"] == "2.0":
            say(refusal(message, -32601))
        return True

    found, journal = await checked(Case("BASE-08", R4, None), Takes(handle), {})
    journal.release()
    assert found.outcome.text == "A request without a method got no response."


async def test_a_batch_may_be_refused_as_a_whole():
    def handle(message, say):
        if isinstance(message, list):
            say(refusal({}, -32600))
        return isinstance(message, list)

    found, journal = await checked(Case("BASE-12", R2, None), Takes(handle), {})
    journal.release()
    assert found.outcome.text == "A batch of two requests got error -32600."


class AnswersLate(Fault):
    """Answers one message after the other; each takes 0.3 s."""

    def __init__(self, answers):
        self.answers = answers
        self.free = 0.0

    def response(self, message, say):
        if method(message) not in (*self.answers, "ping"):
            return False
        loop = asyncio.get_running_loop()
        self.free = max(self.free, loop.time()) + 0.3
        answer = refusal(message, -32601) if method(message) in self.answers else result(message)
        loop.call_at(self.free, say, answer)
        return True


async def test_an_answer_to_a_notification_is_found_when_the_server_is_slow():
    late = AnswersLate(("notifications/inspector/no-such-thing",))
    found, journal = await checked(Case("BASE-10", R4, None), late, {})
    journal.release()
    assert found.outcome.text == "An unknown notification was answered."


def lacks_fields(request):
    named = request.field("Mcp-Method")
    return request.method == "POST" and (not named or (named == "tools/call" and not request.field("Mcp-Name")))


def refuses_missing_fields(request, reply):
    reply.json({"jsonrpc": "2.0", "id": None, "error": {"code": -32020, "message": "No."}}, 400)


@pytest.mark.parametrize("id", ["BASE-07", "BASE-08", "BASE-09"])
async def test_a_server_may_look_at_the_header_fields_before_it_reads_the_body(id):
    await is_not_blamed(WebCase(id, R5, None, right=Says(lacks_fields, refuses_missing_fields)))

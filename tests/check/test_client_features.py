"""Requests to the client: for each check a server that breaks it, and a correct one."""

import pytest

from inspector.check.checks import client_request_rules
from inspector.check.visit.visit import Allowed
from inspector.errors import ServerExited
from inspector.protocol.revisions import features
from tests.check.faults import R3, R4, R5, Notices, in_params, method
from tests.check.faulty_servers import Answers, Case, Takes, case_tests, is_found, is_not_blamed, result

USER = Allowed(calls=("ask-user",))
LINK = Allowed(calls=("ask-link",))
NEEDS = Allowed(calls=("need-link",))
MODEL = Allowed(calls=("ask-model",))
TOOLS = Allowed(calls=("ask-model-with-tools",))
ROOTS = Allowed(calls=("where-am-i",))


def asks(name, **members):
    """Changes the questions of one kind."""
    return Notices(name, in_params(**members))


def form(**fields):
    return {"type": "object", "properties": fields}


def wants(**members):
    """Changes questions of the modern era."""

    def change(message, _request):
        for request in message.get("result", {}).get("inputRequests", {}).values():
            request["params"] |= members
        return message

    return Answers("tools/call", change)


def asks_for_ever():
    """Asks once more whatever is answered (thirty times, so that the test ends)."""
    response = []

    def handle(message, say):
        if method(message) == "tools/call":
            response.clear()
        elif not (isinstance(message, dict) and "result" in message):
            return False
        response.append(len(response))
        if len(response) < 30:
            question = {"message": "Please!", "requestedSchema": form(name={"type": "string"})}
            say({"jsonrpc": "2.0", "id": 900 + len(response), "method": "elicitation/create", "params": question})
        return True

    return handle


def wants_for_ever(message, say):
    if method(message) == "tools/call":
        question = {"method": "elicitation/create", "params": {"message": "Please!", "requestedSchema": form()}}
        say(result(message, resultType="input_required", inputRequests={"name": question}))
        return True
    return False


def dies_of_refusals(message, _say):
    if isinstance(message, dict) and message.get("error", {}).get("code") == -1:
        raise ServerExited("The server ended with exit code 1.")
    return False


def asks_everybody_for_roots(message, say):
    if method(message) == "tools/call":
        say({"jsonrpc": "2.0", "id": 900, "method": "roots/list"})
    return False


def names_no_link(message, _request):
    if message.get("error", {}).get("code") == -32042:
        del message["error"]["data"]["elicitations"][0]["elicitationId"]
    return message


USE = {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "x", "input": {}}]}
WITH_TOOLS = {"messages": [USE, {"role": "user", "content": {"type": "text", "text": "And?"}}]}

CASES = [
    Case("CLI-01", R4, asks("elicitation/create", requestedSchema=form(key={"type": "string", "title": "Your API key"})), allowed=USER),
    Case("CLI-02", R4, asks("elicitation/create", requestedSchema=form(home={"type": "object"})), allowed=USER),
    Case("CLI-03", R4, asks("elicitation/create", url="example.com/connect"), allowed=LINK),
    Case("CLI-04", R4, Answers("tools/call", names_no_link), allowed=NEEDS),
    Case("CLI-05", R4, Takes(asks_for_ever()), allowed=USER),
    Case("CLI-06", R4, asks("sampling/createMessage", maxTokens=...), allowed=MODEL),
    Case("CLI-07", R4, asks("sampling/createMessage", **WITH_TOOLS), allowed=TOOLS),
    Case("CLI-08", R4, Takes(dies_of_refusals), allowed=MODEL),
    Case("CLI-09", R4, Takes(asks_everybody_for_roots), allowed=ROOTS),
    Case("CLI-01", R5, wants(requestedSchema=form(pin={"type": "string"})), allowed=USER),
    Case("CLI-02", R5, wants(requestedSchema={"type": "array"}), allowed=USER),
    Case("CLI-03", R5, wants(url="https://user:password@example.com/"), allowed=LINK),
    Case("CLI-05", R5, Takes(wants_for_ever), allowed=USER),
    Case("CLI-06", R5, wants(messages=[]), allowed=MODEL),
    Case("CLI-07", R5, wants(**WITH_TOOLS), allowed=TOOLS),
]  # fmt: skip


test_a_planted_fault_is_found, test_a_server_in_order_is_not_blamed = case_tests(
    CASES, slow_faults=True, slow_right=True
)


async def test_tools_for_a_model_that_is_not_said_to_use_any_are_found():
    await is_found(Case("CLI-07", R4, asks("sampling/createMessage", tools=[]), allowed=MODEL))


@pytest.mark.slow
async def test_a_model_that_is_refused_in_the_modern_era_does_no_harm():
    await is_not_blamed(Case("CLI-08", R5, None, allowed=MODEL))


@pytest.mark.slow
async def test_unavailable_roots_in_the_modern_era_do_no_harm():
    await is_not_blamed(Case("CLI-09", R5, None, allowed=ROOTS))


@pytest.mark.parametrize("field", [
    {"type": "string", "format": "phone"}, {"type": "string", "enum": "red"}, {"type": "string", "enum": ["red"], "enumNames": []},
    {"type": "array", "items": {"type": "string"}}, {"type": "array", "items": {"enum": ["a"]}, "default": ["b"]}, {"type": ["string"]},
    {"type": "string", "oneOf": ["a"]}, {"type": "integer", "default": True}, {"type": "string", "enum": ["a"], "default": "b"}, 7, {},
])  # fmt: skip
def test_a_field_that_no_form_can_show_is_found(field):
    asks_ = {"message": "Please.", "requestedSchema": form(name=field)}
    assert [level for level, _ in client_request_rules.form_problems(asks_, features(R4))] == ["bad"]


def test_several_choices_came_later_than_forms():
    several = {"message": "Please.", "requestedSchema": form(days={"type": "array", "items": {"enum": ["sat"]}})}
    assert list(client_request_rules.form_problems(several, features(R3)))
    assert not list(client_request_rules.form_problems(several, features(R4)))


@pytest.mark.parametrize("name", ["password", "PIN", "Credit card number", "api_key", "GitHub access token", "CVV"])
def test_a_field_for_a_secret_is_found(name):
    assert list(client_request_rules.secrets_asked({"requestedSchema": form(**{name: {"type": "string"}})}))


@pytest.mark.parametrize(
    "name", ["name", "opinion", "spinach", "max_tokens", "business card", "compass", "secretary name"]
)
def test_a_field_for_something_else_is_not_blamed(name):
    assert not list(client_request_rules.secrets_asked({"requestedSchema": form(**{name: {"type": "string"}})}))


@pytest.mark.parametrize(
    "url", ["http://example.com/", "https://example.com/?access_token=1", "https://a:b@example.com/"]
)
def test_a_link_that_gives_something_away_is_doubtful(url):
    connection = {"message": "Open it.", "url": url}
    assert [level for level, _ in client_request_rules.link_problems(connection, features(R5))] == ["doubtful"]


@pytest.mark.parametrize(
    "url", ["", "example.com", "javascript:alert(1)", "https://", "https://[", 7, None, ["https://example.com"]]
)
def test_what_is_not_a_link_is_found(url):
    assert [
        level for level, _ in client_request_rules.link_problems({"message": "Open it.", "url": url}, features(R5))
    ] == ["bad"]


@pytest.mark.parametrize("hostile", [
    {}, {"requestedSchema": 7}, {"requestedSchema": {"properties": []}}, {"messages": {}}, {"messages": [7, None]}, {"url": {}},
    {"modelPreferences": {"costPriority": "high"}, "messages": [{"content": [[]]}], "maxTokens": {}},
])  # fmt: skip
def test_values_of_any_type_are_looked_at(hostile):
    for row in (features(R3), features(R5)):
        list(client_request_rules.secrets_asked(hostile))
        list(client_request_rules.form_problems(hostile, row))
        list(client_request_rules.link_problems(hostile, row))
        list(client_request_rules.links_in_form(hostile))
        list(client_request_rules.sampling_problems(hostile, row))
        assert isinstance(client_request_rules.unbalanced(hostile), str)

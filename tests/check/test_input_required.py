"""Rounds of input: for each check a server that breaks it, and one in order."""

from inspector.check.visit.visit import Allowed
from tests.check.faults import R5, method, params
from tests.check.faulty_servers import Answers, Case, Takes, WebFault, case_tests, refusal, result

ASKS = Allowed(calls=("ask-user",))
SEVERAL = Allowed(calls=("ask-user", "ask-several", "come-back"))
TWICE = Allowed(calls=("ask-twice", "ask-user"))
QUESTION = {
    "method": "elicitation/create",
    "params": {"message": "Name?", "requestedSchema": {"type": "object", "properties": {}}},
}


def changes_result(**members):
    """Changes results that want input; ... takes a member away."""

    def change(message, _request):
        given = message.get("result", {})
        if given.get("resultType") == "input_required":
            message["result"] = {key: value for key, value in (given | members).items() if value is not ...}
        return message

    return Answers("tools/call", change)


def second(then, *, where=lambda _given: True):
    """Answers the second round of a call instead of the server."""

    def handle(message, say):
        given = params(message)
        again = "inputResponses" in given or "requestState" in given
        if method(message) == "tools/call" and again and where(given):
            say(then(message))
            return True
        return False

    return Takes(handle)


def done(message):
    return result(message, resultType="complete", content=[{"type": "text", "text": "Done."}])


def wants(message):
    return result(message, resultType="input_required", inputRequests={"name": QUESTION})


def no(message):
    return refusal(message, -32602)


def wants_it_of_everybody(message, say):
    if method(message) == "tools/call":
        say(wants(message))
        return True
    return False


class TakesAnyState(Takes):
    """Asks by a state that means nothing, and takes whatever comes back."""

    def __init__(self):
        super().__init__(self.handle)

    def handle(self, message, say):
        if method(message) != "tools/call":
            return False
        if "inputResponses" in params(message):
            say(done(message))
        else:
            response = wants(message)
            response["result"]["requestState"] = f"state of {params(message)['name']}"
            say(response)
        return True


class OneConnection(WebFault):
    """Serves the second round on a connection on which a first one was, and on no other."""

    def __init__(self):
        self.begun = set()

    async def response(self, request, reply):
        if request.rpc_method != "tools/call":
            return False
        if "inputResponses" not in request.message["params"]:
            self.begun.add(request.connection)
        elif request.connection not in self.begun:
            reply.json(refusal(request.message, -32602))
            return True
        return False


def extra(given):
    return any("nothing" in key for key in given.get("inputResponses", ()))


CASES = [
    Case("MRTR-01", R5, Answers("tools/list", lambda message, _: wants(message)), allowed=ASKS),
    Case("MRTR-02", R5, changes_result(inputRequests=..., requestState=...), allowed=ASKS),
    Case("MRTR-03", R5, changes_result(inputRequests={"name": {"method": "tools/call", "params": {}}}), allowed=ASKS),
    Case("MRTR-04", R5, Takes(wants_it_of_everybody), allowed=ASKS),
    Case("MRTR-05", R5, second(no, where=lambda given: not given.get("inputResponses")), allowed=ASKS),
    Case("MRTR-06", R5, second(no, where=extra), allowed=SEVERAL),
    Case("MRTR-07", R5, second(done), allowed=ASKS),
    Case("MRTR-07", R5, second(done), right=second(wants), allowed=ASKS),
    Case("MRTR-08", R5, TakesAnyState(), allowed=ASKS),
    Case("MRTR-09", R5, TakesAnyState(), allowed=TWICE),
    Case("MRTR-10", R5, OneConnection(), web=True, allowed=ASKS),
]  # fmt: skip


test_a_planted_fault_is_found, test_a_server_in_order_is_not_blamed = case_tests(CASES)

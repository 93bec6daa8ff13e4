"""Small faults, to be planted by the tables of the groups."""

import copy

from tests.check.faulty_servers import Answers, Fault, Takes, refusal, result

R1, R2, R3, R4, R5 = "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"


def method(message):
    """The method of a message of the client; None for what is none."""
    return message.get("method") if isinstance(message, dict) else None


def params(message):
    given = message.get("params") if isinstance(message, dict) else None
    return given if isinstance(given, dict) else {}


def in_result(**members):
    """Changes members of a result; ... takes one away."""

    def change(message, _request):
        if "result" in message:
            message["result"] = {key: value for key, value in (message["result"] | members).items() if value is not ...}
        return message

    return change


def capability(name, value):
    """Changes a declared capability of the handshake and of the discovery; ... takes it away."""

    def change(message, request):
        if request["method"] in ("initialize", "server/discover"):
            message["result"]["capabilities"][name] = value
            if value is ...:
                del message["result"]["capabilities"][name]
        return message

    return Answers(None, change)


def gives(name, *, where=lambda _params: True, **members):
    """Answers a method by a result of its own; `where` looks at the parameters."""

    def handle(message, say):
        if method(message) == name and "id" in message and where(params(message)):
            say(result(message, **members))
            return True
        return False

    return Takes(handle)


def refuses(name, code, *, where=lambda _params: True):
    """Answers a method by an error."""

    def handle(message, say):
        if method(message) == name and "id" in message and where(params(message)):
            say(refusal(message, code))
            return True
        return False

    return Takes(handle)


def says_first(name, *messages):
    """Says something whenever it is asked, before it answers."""

    def handle(message, say):
        if method(message) == name:
            for one in messages:
                say(one)
        return False

    return Takes(handle)


def notice(name, **parameters):
    """A notification of the server's."""
    return {"jsonrpc": "2.0", "method": name, **({"params": parameters} if parameters else {})}


def every_other(change):
    """Changes the answers to a request on every other occasion."""
    count = [0]

    def changed(message, request):
        count[0] += 1
        return change(message, request) if count[0] % 2 else message

    return changed


class Both(Fault):
    """Two faults at once; the second one hears first what the client says."""

    def __init__(self, first, second):
        self.first = first
        self.second = second

    def response(self, message, say):
        return self.second.response(message, say) or self.first.response(message, say)

    def sends(self, message, request):
        outgoing = self.second.sends(message, request)
        return [out for one in outgoing for out in self.first.sends(one, request)]


def elsewhere(name, key):
    """A shorter list for the client of a check's own connections."""

    def change(message, request):
        info = request.get("params", {}).get("_meta", {}).get("io.modelcontextprotocol/clientInfo", {})
        if info.get("name") == "inspector-check":
            message["result"][key] = message["result"][key][:3]
        return message

    return Answers(name, change)


class Notices(Fault):
    """Changes what the server tells by notifications of one kind; None drops it, a list of messages goes out."""

    def __init__(self, name, change):
        self.name = name
        self.change = change

    def sends(self, message, request):
        if not isinstance(message, dict) or message.get("method") != self.name:
            return [message]
        changed = self.change(copy.deepcopy(message))
        return changed if isinstance(changed, list) else [] if changed is None else [changed]


def in_params(**members):
    """Changes members of the parameters of a message; ... takes one away."""

    def change(message):
        given = message.get("params", {}) | members
        return message | {"params": {key: value for key, value in given.items() if value is not ...}}

    return change


def defaults(name, **values):
    """Other values for the arguments of one tool, with which a run calls it."""

    def change(message, _request):
        for tool in message.get("result", {}).get("tools", ()):
            if tool["name"] == name:
                for key, value in values.items():
                    tool["inputSchema"]["properties"][key]["default"] = value
                tool["inputSchema"]["required"] = list(values)
        return message

    return Answers("tools/list", change)

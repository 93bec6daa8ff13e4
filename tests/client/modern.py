"""Scripted servers of the era without a handshake."""

from tests.client.conftest import Server

VERSION = "io.modelcontextprotocol/protocolVersion"
CLIENT = "io.modelcontextprotocol/clientInfo"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
LOG_LEVEL = "io.modelcontextprotocol/logLevel"
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
SERVER = "io.modelcontextprotocol/serverInfo"
TASKS = "io.modelcontextprotocol/tasks"

OFFERED = {
    "tools": {"listChanged": True},
    "resources": {"listChanged": True, "subscribe": True},
    "prompts": {"listChanged": True},
    "logging": {},
    "completions": {},
    "extensions": {TASKS: {}},
}
DISCOVERED = {
    "resultType": "complete",
    "supportedVersions": ["2026-07-28"],
    "capabilities": OFFERED,
    "_meta": {SERVER: {"name": "modern", "version": "1"}},
}


def modern(discovered=None, **methods):
    """A server that knows `server/discover` and no `initialize`; `methods` as for `Server`."""
    server = Server(server__discover=DISCOVERED if discovered is None else discovered, **methods)
    server.initialize = None
    return server


def complete(**members):
    """A result that ends a request."""
    return {"resultType": "complete", **members}


def wanting(requests=None, state=None):
    """A result that wants input before it ends anything."""
    result = {"resultType": "input_required"}
    if requests is not None:
        result["inputRequests"] = requests
    if state is not None:
        result["requestState"] = state
    return result


def form(message="?", **properties):
    """An input request for a form."""
    return {
        "method": "elicitation/create",
        "params": {
            "mode": "form",
            "message": message,
            "requestedSchema": {"type": "object", "properties": properties},
        },
    }


def tell(method, **params):
    """A notification."""
    return {"jsonrpc": "2.0", "method": method, "params": params}

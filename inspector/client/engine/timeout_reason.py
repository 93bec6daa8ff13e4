"""The reason for a timeout: messages that may have been meant as the response."""

from __future__ import annotations

from inspector.client.engine.pending_requests import Call
from inspector.journal.channels import is_stdio
from inspector.journal.format import Dir
from inspector.journal.index import State
from inspector.journal.journal import Journal
from inspector.protocol import jsonrpc
from inspector.text import safe

LOOKED_AT = 2000
"""Maximum events after a request that are searched for the reason of a timeout."""
ID_SHOWN = 60
"""Maximum characters of an id in a sentence."""
TEXT_SHOWN = 80
"""Maximum characters of a printed line in a sentence."""


def explain_timeout(journal: Journal, call: Call) -> str:
    """Describe what arrived after the request and may have been meant as its response; empty if nothing."""
    index = journal.index
    for n in range(call.n + 1, min(len(journal), call.n + LOOKED_AT) + 1):
        if index.dir(n) != Dir.RECV:
            continue
        if index.state(n) is State.INVALID and index.size(n):
            event = journal.event(n)
            if is_stdio(index.channel(n)) and event.text.strip()[:1] not in ("{", "["):
                # Text and no broken message: most often a program that logs to stdout.
                shown = safe(event.text.strip(), TEXT_SHOWN)
                return f"The server printed “{shown}” to stdout, which must contain only messages. Print it to stderr."
            reason = event.fields.get("why", "not a JSON-RPC message")
            return f"Message {n} arrived meanwhile but cannot be read: {reason}."
        if index.state(n) is State.UNKNOWN:
            message = journal.event(n).message
            id = jsonrpc.excerpt(message.get("id") if type(message) is dict else None, ID_SHOWN)
            return f"Message {n} arrived meanwhile but responds to an unknown id: {id}."
    return ""

"""Why there was no answer: what arrived instead and could have been meant as one."""

from __future__ import annotations

from inspector.client.engine.pending_requests import Call
from inspector.journal.format import Dir
from inspector.journal.index import State
from inspector.journal.journal import Journal
from inspector.protocol import jsonrpc

LOOKED_AT = 2000
"""Events after a request that are looked at for the reason of a timeout."""
ID_SHOWN = 60
"""Characters of an id in a sentence."""


def explain_timeout(journal: Journal, call: Call) -> str:
    """What arrived since the request and might have been meant as its answer; empty where there was nothing."""
    index = journal.index
    for n in range(call.n + 1, min(len(journal), call.n + LOOKED_AT) + 1):
        if index.dir(n) != Dir.RECV:
            continue
        if index.state(n) is State.INVALID and index.size(n):
            why = journal.event(n).fields.get("why", "no JSON-RPC message")
            return f"Message {n} arrived meanwhile and cannot be read: {why}."
        if index.state(n) is State.UNKNOWN:
            message = journal.event(n).message
            id = jsonrpc.excerpt(message.get("id") if type(message) is dict else None, ID_SHOWN)
            return f"Message {n} arrived meanwhile and answers an id that was not asked: {id}."
    return ""

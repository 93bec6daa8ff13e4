"""The reason for a timeout: messages that may have been meant as the response."""

from __future__ import annotations

from itertools import islice

from inspector.client.engine.pending_requests import Call
from inspector.journal.channels import is_stdio
from inspector.journal.format import Dir, Event, Kind
from inspector.journal.index import State
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol import jsonrpc
from inspector.protocol.members import value_at
from inspector.text import safe

LOOKED_AT = 2000
"""Maximum events after a request that are searched for the reason of a timeout."""
LIFE_LOOKED_AT = 200
"""Latest events of the connection that are searched for a pause of reading."""
ID_SHOWN = 60
"""Maximum characters of an id in a sentence."""
TEXT_SHOWN = 80
"""Maximum characters of a printed line in a sentence."""

_EVENTS = Query(kind=Kind.LIFE)


def explain_timeout(journal: Journal, call: Call) -> str:
    """Describe why no response came: reading has paused, or something that may have been meant as one arrived.

    Empty if nothing explains it.
    """
    index = journal.index
    for n in islice(_EVENTS.backwards(index), LIFE_LOOKED_AT):
        event = journal.event(n).fields.get("event")
        if event == "reading-paused":
            return (
                "The server sends requests, but does not read the responses to them. Inspector reads on when it does."
            )
        if event == "reading-resumed":
            break
    for n in range(call.n + 1, min(len(journal), call.n + LOOKED_AT) + 1):
        if index.dir(n) != Dir.RECV:
            continue
        if index.state(n) is State.INVALID and index.size(n):
            event = journal.event(n)
            if printed := printed_text(event):
                return f"{printed} Print it to stderr."
            reason = event.fields.get("why", "not a JSON-RPC message")
            return f"Message {n} arrived meanwhile but cannot be read: {reason}."
        if index.state(n) is State.UNKNOWN:
            id = jsonrpc.excerpt(value_at(journal.event(n).message, "id"), ID_SHOWN)
            return f"Message {n} arrived meanwhile but responds to an unknown id: {id}."
    return ""


def printed_text(event: Event) -> str:
    """Describe text on a server's stdout, most often of a program that logs there; empty for a broken message."""
    text = event.text.strip()
    if event.kind is not Kind.INVALID or not is_stdio(event.ch) or text[:1] in ("{", "["):
        return ""
    return f"The server printed “{safe(text, TEXT_SHOWN)}” to stdout, which must contain only messages."

"""Results exactly as the server wrote them, from the journal, with unchanged numbers and keys."""

from __future__ import annotations

from inspector.formats.json_edits import member
from inspector.journal.format import Dir
from inspector.journal.journal import Journal
from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import Shape

_WAYS = {"tasks/get": ("result", "result"), "notifications/tasks": ("params", "result")}
"""The location of a call's result in its message, if that is a notification of a task."""


def result_text(journal: Journal, n: int, result: object) -> str:
    """The exact text of `result` in the response at event `n`; serialized again if the text is not available."""
    if 0 < n <= len(journal):
        event = journal.event(n)
        text = event.raw
        for name in _WAYS.get(journal.index.method(n), ("result",)):
            text = member(text, name) if text is not None else None
        if text is not None:
            return text
    return jsonrpc.encode(result).decode()


def last_result(journal: Journal, method: str) -> int:
    """The number of the newest result for `method`; 0 if there is none."""
    index = journal.index
    for n in range(len(journal), 0, -1):
        if index.shape(n) is Shape.RESULT and index.dir(n) is Dir.RECV and index.method(n) == method:
            return n
    return 0

"""Results as the server wrote them, found in the journal: no number and no key is spelled anew."""

from __future__ import annotations

from inspector.export.exact import member
from inspector.journal.format import Dir
from inspector.journal.journal import Journal
from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import Shape

_WAYS = {"tasks/get": ("result", "result"), "notifications/tasks": ("params", "result")}
"""Where the result of a call stands in the message that brought it, if that was the news of a task."""


def result_text(journal: Journal, n: int, result: object) -> str:
    """The `result` of the answer that is event `n`, as the server wrote it; written anew where that cannot be."""
    if 0 < n <= len(journal):
        event = journal.event(n)
        text = event.raw
        for name in _WAYS.get(journal.index.method(n), ("result",)):
            text = member(text, name) if text is not None else None
        if text is not None:
            return text
    return jsonrpc.encode(result).decode()


def last_result(journal: Journal, method: str) -> int:
    """The number of the newest result that the server gave to `method`; 0 if it gave none."""
    index = journal.index
    for n in range(len(journal), 0, -1):
        if index.shape(n) is Shape.RESULT and index.dir(n) is Dir.RECV and index.method(n) == method:
            return n
    return 0

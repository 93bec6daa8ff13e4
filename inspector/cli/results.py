"""Results as the server wrote them, found in the journal: no number and no key is spelled anew."""

from __future__ import annotations

from inspector.export.exact import member
from inspector.journal.format import Dir
from inspector.journal.journal import Journal
from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import Shape


def result_text(journal: Journal, n: int, result: object) -> str:
    """The `result` of the answer that is event `n`, as the server wrote it; written anew where that cannot be."""
    if 0 < n <= len(journal):
        event = journal.event(n)
        text = member(event.raw, "result") if event.raw is not None else None
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

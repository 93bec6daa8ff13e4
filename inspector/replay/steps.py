"""Steps through a recording: to the end of an exchange, or to a finding."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from inspector.journal.exchange import SENT_REQUESTS
from inspector.journal.format import Dir
from inspector.journal.journal import Journal
from inspector.journal.select import Query
from inspector.protocol.jsonrpc import Shape

_MOST_NESTED = 20_000
"""Maximum nested responses that are skipped in one step."""

_ANSWERS = Query(dir=(Dir.SEND, Dir.RECV), shape=(Shape.RESULT, Shape.ERROR))


def next_exchange(journal: Journal, n: int, step: int) -> int:
    """Return the nearest event after `n` (before it with -1) that ends an outermost exchange, or 0.

    This is its response, or its request if it has none.
    """
    index = journal.index
    answer = 0
    for passed, m in enumerate(_ANSWERS.each(index, n) if step > 0 else _ANSWERS.backwards(index, upto=n - 1), 1):
        request = index.pair(m)
        if (request and not index.parent(request)) or passed == _MOST_NESTED:
            answer = m
            break
    if step > 0:
        asked = SENT_REQUESTS.each(index, n, answer - 1 if answer else None)
    else:
        asked = SENT_REQUESTS.backwards(index, answer, n - 1)
    return next((m for m in asked if not index.pair(m)), answer)


def next_finding(journal: Journal, n: int, step: int) -> int:
    """Return the nearest event after `n` (before it with -1) that has a finding, or 0."""
    found = journal.findings.events()
    if step > 0:
        at = bisect_right(found, n)
        return found[at] if at < len(found) else 0
    at = bisect_left(found, n)
    return max(found[at - 1], 0) if at else 0

"""From one event of a recording to the next that matters: the end of an exchange, a finding."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from inspector.journal.codes import next_code
from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import Shape

_MOST_NESTED = 20_000
"""Answers inside other exchanges that are passed over in one step."""

_ANSWERS = tuple(Kind.RPC | dir << 4 | shape << 6 for dir in (1, 2) for shape in (Shape.RESULT, Shape.ERROR))
_ASKED = (Kind.RPC | Dir.SEND << 4 | Shape.REQUEST << 6,)


def next_exchange(journal: Journal, n: int, step: int) -> int:
    """The nearest event after `n` (before it with -1) that ends an outermost exchange: its answer, or its request where
    that has none. 0 where there is none."""
    index = journal.index
    last = index.count + 1 if step > 0 else 0
    answer = n
    for _ in range(_MOST_NESTED):
        answer = next_code(index, _ANSWERS, answer, step, last)
        request = index.pair(answer) if answer else 0
        if not answer or (request and not index.parent(request)):
            break
    bound = answer or last
    asked = n
    while True:
        asked = next_code(index, _ASKED, asked, step, bound)
        if not asked or not index.pair(asked):
            return asked or answer


def next_finding(journal: Journal, n: int, step: int) -> int:
    """The nearest event after `n` (before it with -1) that has a finding; 0 where none has."""
    found = journal.findings.events()
    if step > 0:
        at = bisect_right(found, n)
        return found[at] if at < len(found) else 0
    at = bisect_left(found, n)
    return max(found[at - 1], 0) if at else 0

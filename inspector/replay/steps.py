"""From one event of a recording to the next that matters: the end of an exchange, a finding.

A million events are looked through by searching their codes as bytes, so that a key does not wait.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from inspector.journal.format import Dir, Kind
from inspector.journal.index import Index
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import Shape

_CHUNK = 1 << 16
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
        answer = _next_code(index, _ANSWERS, answer, step, last)
        request = index.pairs[answer - 1] if answer else 0
        if not answer or (request and not index.parents[request - 1]):
            break
    bound = answer or last
    asked = n
    while True:
        asked = _next_code(index, _ASKED, asked, step, bound)
        if not asked or not index.pairs[asked - 1]:
            return asked or answer


def _next_code(index: Index, wanted: Sequence[int], n: int, step: int, bound: int) -> int:
    """The nearest event beyond `n`, and not at or beyond `bound`, that has one of some codes; 0 where none has."""
    needles = [array("H", [code]).tobytes() for code in wanted]
    if step > 0:
        low = n
        while low < bound - 1:
            high = min(low + _CHUNK, bound - 1)
            block = index.codes[low:high].tobytes()
            hits = [at for at in (_find(block, needle) for needle in needles) if at >= 0]
            if hits:
                return low + min(hits) // 2 + 1
            low = high
        return 0
    high = n - 1
    while high > bound:
        low = max(high - _CHUNK, bound)
        block = index.codes[low:high].tobytes()
        hits = [at for at in (_rfind(block, needle) for needle in needles) if at >= 0]
        if hits:
            return low + max(hits) // 2 + 1
        high = low
    return 0


def _find(block: bytes, needle: bytes) -> int:
    """Where a code of two bytes stands first."""
    at = block.find(needle)
    while at >= 0 and at % 2:
        at = block.find(needle, at + 1)
    return at


def _rfind(block: bytes, needle: bytes) -> int:
    """Where a code of two bytes stands last."""
    at = block.rfind(needle)
    while at >= 0 and at % 2:
        at = block.rfind(needle, 0, at + 1)
    return at


def next_finding(journal: Journal, n: int, step: int) -> int:
    """The nearest event after `n` (before it with -1) that has a finding; 0 where none has."""
    found = journal.findings.events()
    if step > 0:
        at = bisect_right(found, n)
        return found[at] if at < len(found) else 0
    at = bisect_left(found, n)
    return max(found[at - 1], 0) if at else 0

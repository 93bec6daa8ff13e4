"""The other events on the channel of an event: HTTP heads, start and end of the process or stream."""

from __future__ import annotations

from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal
from inspector.journal.query import Query

REACH = 200_000
"""Events before and after one that are searched."""
MAX_COUNT = 60
"""Most events that are shown."""


def facts_around(journal: Journal, n: int) -> list[int]:
    """Return the HTTP and life events of the channel of event `n`, ascending.

    The channel of one POST is shown whole. On a long-lived channel, an exchange starts with a request head: the result
    has the last one before `n`, or the first one after it, and the events up to the next.
    """
    index = journal.index
    facts = Query(kind=(Kind.HTTP, Kind.LIFE), channel=index.channel(n))
    found = facts.numbers(index, n - REACH - 1, n + REACH)
    if len(found) <= MAX_COUNT:
        return found
    heads = [m for m in found if is_request_head(journal, m)]
    begin = max((m for m in heads if m <= n), default=0)
    end = min((m for m in heads if m > n), default=index.count + 1)
    near = [m for m in found if begin <= m < end]
    before = sum(m <= n for m in near)
    start = max(before - MAX_COUNT // 2, 0)
    return near[start : start + MAX_COUNT]


def is_request_head(journal: Journal, n: int) -> bool:
    """Whether event `n` is the head of an HTTP request."""
    index = journal.index
    return index.kind(n) == Kind.HTTP and index.dir(n) == Dir.SEND


def request_head(journal: Journal, n: int) -> int:
    """Return the head of the HTTP request for event `n`, or for its stream; 0 if there is none."""
    heads = [m for m in facts_around(journal, n) if is_request_head(journal, m)]
    earlier = [m for m in heads if m <= n]
    # The head of a POST is recorded next to its message, and a redirected POST has several.
    return earlier[-1] if earlier else heads[0] if heads else 0

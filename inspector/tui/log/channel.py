"""What else happened on the channel of an event: the HTTP heads around it, the life of the process or stream."""

from __future__ import annotations

from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal
from inspector.journal.select import Query

REACH = 200_000
"""Events before and after one that are looked through."""
MOST = 60
"""Events that are shown at most."""


def facts_around(journal: Journal, n: int) -> list[int]:
    """The HTTP and life events of the channel of event `n`, ascending; of a long-lived channel those about its time.

    A channel of one POST is shown whole. On one that lives on, an exchange begins with a request head: shown is the
    one that was last before `n`, or the first after it, up to the next.
    """
    index = journal.index
    facts = Query(kind=(Kind.HTTP, Kind.LIFE), channel=index.channel(n))
    found = facts.numbers(index, n - REACH - 1, n + REACH)
    if len(found) <= MOST:
        return found
    heads = [m for m in found if is_request_head(journal, m)]
    begin = max((m for m in heads if m <= n), default=0)
    end = min((m for m in heads if m > n), default=index.count + 1)
    near = [m for m in found if begin <= m < end]
    before = sum(m <= n for m in near)
    start = max(before - MOST // 2, 0)
    return near[start : start + MOST]


def is_request_head(journal: Journal, n: int) -> bool:
    """Whether event `n` is the head of an HTTP request."""
    index = journal.index
    return index.kind(n) == Kind.HTTP and index.dir(n) == Dir.SEND


def request_head(journal: Journal, n: int) -> int:
    """The head of the HTTP request that carried event `n`, or on whose stream it came; 0 where there is none."""
    heads = [m for m in facts_around(journal, n) if is_request_head(journal, m)]
    earlier = [m for m in heads if m <= n]
    # A POST's head is recorded right after or before its message, and a redirected one has several.
    return earlier[-1] if earlier else heads[0] if heads else 0

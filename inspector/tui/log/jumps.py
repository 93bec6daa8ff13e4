"""Jumps from one message to the next: hits of a filter, findings, marks."""

from __future__ import annotations

import asyncio
from bisect import bisect_left, bisect_right

from inspector.journal.filters import Filter
from inspector.tui.log.rows import MessageRows

_MAX_TRIES = 1000
"""Most hits that are skipped because they have no row."""


async def next_hit(searched: Filter, rows: MessageRows, n: int, step: int) -> int:
    """The nearest event after `n` (before it, with -1) that matches and has another row; 0 for none. Run in a
    thread."""
    row = rows.index_of(n)
    for _ in range(_MAX_TRIES):
        n = await asyncio.to_thread(searched.next, rows.journal, n, step)
        found = rows.index_of(n)
        if not n or (found is not None and found != row):
            return n
    return 0


def next_of(found: list[int], rows: MessageRows, n: int, step: int) -> int:
    """Return the nearest event after `n` (before it, with -1) of those in `found` with another row; 0 for none."""
    ahead = found[bisect_right(found, n) :] if step > 0 else found[: bisect_left(found, n)][::-1]
    at = rows.index_of(n)
    row = -1 if at is None else at
    pairs = ((m, rows.index_of(m)) for m in ahead)
    return next((m for m, to in pairs if to is not None and (to - row) * step > 0), 0)

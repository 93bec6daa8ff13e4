"""Decides what no filter of a live log hides, and when a filter that the program set ends."""

from __future__ import annotations

from collections.abc import Callable, Collection

from inspector.journal.filters.conditions import Scan
from inspector.journal.format import Dir, Kind
from inspector.journal.index import State
from inspector.journal.journal import Journal
from inspector.journal.query import Query, picked
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.views import View
from inspector.tui.log.filter import exchange_filter
from inspector.tui.log.summaries import life

CALLS = ("tools/call", "resources/read", "prompts/get")
"""Requests that the user sends; others are sent automatically."""
_CALLS = Query(dir=Dir.SEND, shape=Shape.REQUEST, method=CALLS)
_FAILURES = Query(shape=(Shape.RESULT, Shape.ERROR), dir=Dir.RECV, state=State.ERROR, method=CALLS)
_LIFE = Query(kind=Kind.LIFE)


class AlwaysShown:
    """Matches what happened after event `after` and must be seen: failed calls, questions, a lost connection.

    `questions` returns the events that asked the user something.
    """

    cost = 1
    """Of the bodies it reads only those of life events, which are few."""

    def __init__(self, after: int, questions: Callable[[], Collection[int]]) -> None:
        self._after = after
        self._questions = questions

    def mask(self, scan: Scan, first: int, last: int, wanted: bytes | None) -> bytes:
        """Return one byte for each of the events `first` to `last`: 1 for what must be seen."""
        found = bytearray(last - first + 1)
        low = max(first, self._after + 1)
        if low > last:
            return bytes(found)
        found[low - first :] = _FAILURES.mask(scan.index, low, last)
        for n in self._questions():
            if low <= n <= last:
                found[n - first] = 1
        for n in picked(low, _LIFE.mask(scan.index, low, last)):
            found[n - first] = is_alarm(scan.journal, n)
        return bytes(found)


def is_alarm(journal: Journal, n: int) -> bool:
    """Whether a life event reports a failure, such as a crash or a lost connection."""
    pieces = life(View(journal.event(n).fields))
    return any(not isinstance(piece, str) and piece[1] == "error" for piece in pieces)


def filter_after_calls(journal: Journal, source: str, matches: Callable[[int], bool], after: int) -> str:
    """Return a filter that the program set as it is after the calls that follow event `after`.

    It moves with a call that continues its exchange, and ends with another one.
    """
    for n in _CALLS.each(journal.index, after):
        if not matches(n):
            moved = exchange_filter(journal, n)
            source = moved if set(source.split("|")) < set(moved.split("|")) else ""
    return source

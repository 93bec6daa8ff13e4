"""The filter field of the message log: its colours, and the names that it offers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from inspector.client.state.catalog import KINDS, Catalog
from inspector.journal.filters import FilterError
from inspector.journal.filters.conditions import Scan
from inspector.journal.filters.syntax import tokens
from inspector.journal.format import Dir, Kind
from inspector.journal.index import State
from inspector.journal.journal import Journal
from inspector.journal.query import Query, picked
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.views import View
from inspector.tui.log.summaries import life
from inspector.tui.model.log import CALLS

_MAX_NAMES = 2000


def highlight(text: str) -> list[tuple[int, int, str]]:
    """Return the coloured parts of a filter: names of terms, `-`, `|` and parentheses."""
    spans: list[tuple[int, int, str]] = []
    try:
        for token in tokens(text):
            start = token.position - 1
            if token.kind == "-":
                spans.append((start, start + 1, "error"))
            elif token.kind != "term":
                spans.append((start, start + len(token.word), "muted"))
            elif token.key:
                spans.append((start, start + len(token.key) + 1, "json-key"))
    except FilterError:
        pass  # The parsed part is coloured; the input shows the error.
    return spans


def known_names(catalog: Catalog) -> Iterator[str]:
    """Yield names that requests use: tools, prompts, URIs of resources; of very many only the first."""
    for kind in KINDS.values():
        for item in catalog[kind.name].items[:_MAX_NAMES]:
            name = item.get(kind.id_field)
            # A name that cannot be typed is not offered.
            if isinstance(name, str) and name.isprintable():
                yield name


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

    def mask(self, scan: Scan, first: int, last: int, candidates: bytes | None) -> bytes:
        """Return one byte for each of the events `first` to `last`: 1 for what must be seen."""
        mask = bytearray(last - first + 1)
        low = max(first, self._after + 1)
        if low > last:
            return bytes(mask)
        mask[low - first :] = _FAILURES.mask(scan.index, low, last)
        for n in self._questions():
            if low <= n <= last:
                mask[n - first] = 1
        for n in picked(low, _LIFE.mask(scan.index, low, last)):
            mask[n - first] = is_alarm(scan.journal, n)
        return bytes(mask)


def is_alarm(journal: Journal, n: int) -> bool:
    """Whether a life event reports a failure, such as a crash or a lost connection."""
    pieces = life(View(journal.event(n).fields))
    return any(not isinstance(piece, str) and piece[1] == "error" for piece in pieces)

"""The edge of the detail: how it names a message, and what it tells about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from inspector.client.state.cache import freshness
from inspector.journal.exchange import rounds
from inspector.journal.index import Index
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.summaries import one_line
from inspector.text import count, safe
from inspector.tui.log.labels import id_text, pending, sign_of, times, title
from inspector.tui.model.log import CALLS
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.tab_row import Tab

_NOTE = 40
"""Characters of a note in the facts of a message."""


class Edge(NamedTuple):
    """The title, the facts, the tabs and the note beside them."""

    title: paint.Pieces = "Detail"
    facts: Sequence[paint.Pieces] = ()
    tabs: tuple[Tab, ...] = ()
    tab_note: paint.Pieces = ""


def of_event(journal: Journal, n: int, *, now: int, call_beside: int, folded: int) -> Edge:
    """Return the edge for event `n` at the moment `now`, with `folded` events in its row.

    `call_beside` is the request whose result is shown beside the log; 0 for none.
    """
    index = journal.index
    clock = journal.clock(index.time(n))
    facts: list[paint.Pieces] = [
        f"{clock:%H:%M:%S}.{clock.microsecond // 1000:03}",
        *([piece] for piece in times(index, n)),
    ]
    cached = freshness(journal, n)
    if cached is not None:
        at = journal.clock(now)
        facts.append([(cached.describe(at), "normal" if cached.is_fresh(at) else "muted")])
    if is_other_call(journal, n, call_beside):
        facts.append([("not the call of the result", "bright")])
    mark = journal.marks.of(n)
    if mark is not None:
        facts.append([(f"* {safe(one_line(mark.note), _NOTE)}" if mark.note else "* marked", "bright")])
    findings = len(journal.findings.of(n))
    tabs = (
        Tab("parsed", "parsed"),
        Tab("raw", "raw"),
        Tab("http", "http", count(folded) if folded else ""),
        Tab("findings", "findings", count(findings) if findings else ""),
        *((Tab("note", "note"),) if mark is not None and mark.note else ()),
    )
    return Edge(title(journal, n, signs_now()), facts, tabs, _relation(index, n))


def of_difference(index: Index, one: int, other: int) -> Edge:
    """Return the edge for the difference of two events."""
    return Edge([*_name(index, one), "  and  ", *_name(index, other), "  compared"])


def related(index: Index, n: int) -> tuple[int, str]:
    """Return the event to which event `n` belongs, 0 for none, and how."""
    pair, parent, shape = index.pair(n), index.parent(n), index.shape(n)
    if shape == Shape.REQUEST:
        if pair:
            return pair, "answered by"
        return 0, "no answer yet" if pending(index, n) else ""
    if shape in (Shape.RESULT, Shape.ERROR):
        return pair, "in answer to" if pair else "answers an unknown request"
    if pair:
        return pair, "about"
    return (parent, "within") if parent else (0, "")


def is_other_call(journal: Journal, n: int, shown: int) -> bool:
    """Whether event `n` is of another call than request `shown`, whose result stands beside it (0: none does)."""
    root = journal.index.root_of(n) if shown else 0
    return bool(root) and journal.index.method(root) in CALLS and root not in rounds(journal, shown)


def _relation(index: Index, n: int) -> paint.Pieces:
    """Return how the event belongs to another: `in answer to → 7`."""
    other, words = related(index, n)
    if not other:
        return [words] if words else []
    sign, name = _name(index, other)
    return [f"{words} ", sign, (name, "bright")]


def _name(index: Index, n: int) -> tuple[paint.Piece, str]:
    return sign_of(index, n, signs_now()), f" {id_text(index, n) or f'#{n}'}"

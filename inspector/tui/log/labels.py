"""Labels of an event: its sign, id, title and status."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.cache import LRUCache

from inspector.journal.durations import took
from inspector.journal.format import Dir, Kind
from inspector.journal.index import Index, State
from inspector.journal.journal import Journal
from inspector.journal.name_tables import LISTS, POLL
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.summaries import MAX_READ
from inspector.protocol.views import View
from inspector.text import Signs, duration, quantity, safe, yours
from inspector.tui.log.summaries import (
    counted_items,
    headers_of,
    items_of,
    request_summary,
    summary,
)
from inspector.tui.widgets.paint import Piece

_RESPONSE = Query(kind=Kind.HTTP, dir=Dir.RECV)
_MEDIA = {"text/event-stream": "sse", "application/json": "json", "text/html": "html", "text/plain": "text"}
_KEPT_HEADS = 1000
_MAX_COUNTED = 4 << 20
"""Bytes of a list's pages that are read to count its items."""

FAILED = (State.ERROR, State.TIMED_OUT, State.LOST)
"""The states of a request that failed."""
_WORDS: dict[State, Piece] = {
    State.CANCELLED: ("cancelled", "muted"),
    State.TIMED_OUT: ("timed out", "error"),
    State.LATE: ("late", "finding"),
    State.UNKNOWN: ("unasked", "finding"),
    State.DOUBLED: ("again", "finding"),
    State.LOST: ("lost", "error"),
}


def sign_of(index: Index, n: int, signs: Signs) -> Piece:
    """Return the sign of event `n`: its direction, or progress, notification, question, or an event of ours."""
    kind, dir, shape = index.kind(n), index.dir(n), index.shape(n)
    if kind == Kind.STDERR or dir == Dir.LOCAL:
        return (signs.local, "muted")
    if kind in (Kind.HTTP, Kind.SSE):
        return (signs.sent if dir == Dir.SEND else signs.received, "faint")
    if dir == Dir.SEND:
        return (signs.sent, "sent")
    if shape == Shape.NOTIFICATION:
        if index.method(n) == "notifications/progress":
            return (signs.progress, "progress")
        return (signs.notification, "notification")
    if shape == Shape.REQUEST:
        return (signs.asked, "ask")
    failed = shape == Shape.ERROR or index.state(n) in (State.ERROR, State.INVALID)
    return (signs.received, "error" if failed else "received")


def bar_role(index: Index, n: int, state: State, *, done: Sequence[State]) -> str:
    """Return the role of a request's bar. `done` are the states of an answered request."""
    if state in FAILED:
        return "chart-error"
    if index.dir(n) is Dir.RECV:
        return "chart-ask"
    return "chart" if state in done else "chart-dim"


def id_text(index: Index, n: int) -> str:
    """Return the id shown beside an event: its own, or that of its request; `""` for none."""
    own = index.id(n)
    if own is None and index.shape(n) == Shape.NOTIFICATION and index.pair(n):
        own = index.id(index.pair(n))
    return "" if own is None else safe(str(own), 40)


def standing(state: State) -> Piece | None:
    """Return the status of a message in a word, if it is worth showing."""
    return _WORDS.get(state)


def pending(index: Index, n: int) -> bool:
    """Whether event `n` is a request without an answer so far."""
    return index.state(n) == State.PENDING


def subject(journal: Journal, n: int) -> list[Piece]:
    """Return a request's method and subject; for another event those of its request, or its summary."""
    index = journal.index
    request = n if index.shape(n) == Shape.REQUEST else index.pair(n)
    if index.shape(n) == Shape.NOTIFICATION:
        begin, _, rest = index.method(n).partition("/")
        return [rest if begin == "notifications" and rest else index.method(n)]
    if not request or index.shape(request) != Shape.REQUEST:
        return summary(journal, n)
    method = index.method(request)
    if index.size(request) > MAX_READ:
        return [method]
    return [method, *request_summary(method, journal.event(request).message)]


def times(index: Index, n: int) -> list[Piece]:
    """Return how long the call that event `n` answers took: the server, and apart from it a person."""
    timing = took(index, n) if index.shape(n) in (Shape.RESULT, Shape.ERROR) else None
    if timing is None:
        return []
    server: list[Piece] = [(duration(timing.server), "muted")] if timing.server or not timing.person else []
    return [*server, *([(yours(duration(timing.person)), "ask")] if timing.person else [])]


def title(journal: Journal, n: int, signs: Signs) -> list[Piece]:
    """Return the title of a pane about event `n`: `← 7  tools/call echo`."""
    index = journal.index
    sign = sign_of(index, n, signs)
    if index.shape(n) in (Shape.RESULT, Shape.ERROR) and index.state(n) == State.ERROR:
        sign = (signs.failed, "error")
    id = id_text(index, n)
    return [sign, f" {id}  " if id else "  ", *subject(journal, n)]


# Folded rows


class HttpLabels:
    """The HTTP response folded into a row, in one or two words: `200 sse`. Bodies are read once."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._kept: LRUCache[int, tuple[str, bool]] = LRUCache(_KEPT_HEADS)

    def words(self, folded: Iterable[int]) -> tuple[str, bool]:
        """Return the label of the last response head of some events, and whether its status is an error."""
        n = max((m for m in folded if _RESPONSE.fits(self._journal.index, m)), default=0)
        if not n:
            return "", False
        label = self._kept.get(n)
        if label is None:
            label = self._read(n)
            self._kept.set(n, label)
        return label

    def _read(self, n: int) -> tuple[str, bool]:
        facts = View(self._journal.event(n).fields)
        status = facts.members.get("status")
        if type(status) is not int:
            return "", False
        media = next((value for name, value in headers_of(facts) if name.lower() == "content-type"), "")
        kind = _MEDIA.get(media.partition(";")[0].strip().lower(), "")
        return f"{status} {kind}".rstrip(), status >= 400


def list_words(journal: Journal, n: int, messages: Sequence[int]) -> list[Piece]:
    """Return the label of a list of several pages: method, number of pages, number of items.

    Of several polls of a task: method, number of polls, status.
    """
    index = journal.index
    pages = sum(index.shape(m) is Shape.REQUEST for m in messages)
    answers = [m for m in messages if index.shape(m) in (Shape.RESULT, Shape.ERROR)]
    polls = index.method(n) == POLL
    pieces: list[Piece] = [index.method(n), (f"  {quantity(pages, 'poll' if polls else 'page')}", "muted")]
    failed = next((m for m in answers if index.shape(m) is Shape.ERROR), 0)
    if failed:
        return [*pieces, "  ", *summary(journal, failed)]
    if polls:
        status = summary(journal, answers[-1]) if answers else []
        return [*pieces, ("  " + "".join(piece if isinstance(piece, str) else piece[0] for piece in status), "bright")]
    if sum(index.size(m) for m in answers) <= _MAX_COUNTED:
        items = sum(items_of(index.method(n), journal.event(m).message) for m in answers)
        pieces.append((f"  {counted_items(index.method(n), items)}", "bright"))
    return pieces


def start_words(journal: Journal, messages: Sequence[int]) -> list[Piece]:
    """Return the label of the start of a session: `connected: 62 tools, 3,009 resources`."""
    index = journal.index
    answers: dict[str, list[int]] = {}
    for m in messages:
        if index.shape(m) is Shape.RESULT and index.method(m) in LISTS:
            answers.setdefault(index.method(m), []).append(m)
    counted = [
        counted_items(method, sum(items_of(method, journal.event(m).message) for m in numbers))
        for method, numbers in answers.items()
        if sum(index.size(m) for m in numbers) <= _MAX_COUNTED
    ]
    return ["connected", (f": {', '.join(counted)}" if counted else "", "bright")]

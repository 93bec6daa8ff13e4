"""The conditions of a filter, each evaluated for a slice of events at once.

The result for a slice is a mask: one byte per event, 1 for a match. Masks come from the index's columns through C loops
(`bytes(map(table.__getitem__, …))`) and are combined as big integers, so that a million events take a fraction of a
second in plain Python. Conditions that need bodies read only those that the cheaper ones have left.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from inspector.journal.connections import KINDS
from inspector.journal.filters.text import Needle, search
from inspector.journal.filters.values import BadValue, NamePattern, NumberSpan, midnight
from inspector.journal.format import Dir, Kind
from inspector.journal.index import Index
from inspector.journal.journal import Journal
from inspector.journal.name_tables import NO_ID, NameTable
from inspector.journal.query import Query, both, either, inverted, picked
from inspector.protocol.jsonrpc import Shape

_KEPT_IDS = 20_000
_T = TypeVar("_T")


class Scan:
    """One evaluation of a filter over a journal: the state that its conditions keep from slice to slice."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.index: Index = journal.index
        self._memory: dict[int, Any] = {}

    def memory(self, owner: Condition, make: Callable[[], _T]) -> _T:
        """Return the state of `owner` in this scan, created at its first use."""
        key = id(owner)
        if key not in self._memory:
            self._memory[key] = make()
        kept: _T = self._memory[key]
        return kept


class Condition(Protocol):
    """One term, or several combined."""

    cost: int
    """0: the index's columns; 1: a loop in Python; 2: bodies."""

    def mask(self, scan: Scan, first: int, last: int, candidates: bytes | None) -> bytes:
        """Return one byte (0 or 1) for each of the events `first` to `last`.

        Where `candidates` is 0, either value is allowed: it is not used.
        """


# Combinations


class AllOf:
    """Matches all of several conditions; the cheap ones are evaluated first."""

    def __init__(self, parts: Sequence[Condition]) -> None:
        self.parts = sorted(parts, key=lambda part: part.cost)
        self.cost = max((part.cost for part in self.parts), default=0)

    def mask(self, scan: Scan, first: int, last: int, candidates: bytes | None) -> bytes:
        left = b"\1" * (last - first + 1) if candidates is None else candidates
        for part in self.parts:
            left = both(left, part.mask(scan, first, last, left))
            if 1 not in left:
                break
        return left


class AnyOf:
    """Matches at least one of several conditions; the cheap ones are evaluated first."""

    def __init__(self, parts: Sequence[Condition]) -> None:
        self.parts = sorted(parts, key=lambda part: part.cost)
        self.cost = max(part.cost for part in self.parts)

    def mask(self, scan: Scan, first: int, last: int, candidates: bytes | None) -> bytes:
        mask = bytes(last - first + 1)
        for part in self.parts:
            missing = inverted(mask) if candidates is None else both(candidates, inverted(mask))
            if 1 not in missing:
                break
            mask = either(mask, both(missing, part.mask(scan, first, last, missing)))
        return mask


class Not:
    """Matches the events that a condition does not match."""

    def __init__(self, part: Condition) -> None:
        self.part = part
        self.cost = part.cost

    def mask(self, scan: Scan, first: int, last: int, candidates: bytes | None) -> bytes:
        return inverted(self.part.mask(scan, first, last, candidates))


# Arrays of the index


class MatchesQuery:
    """Matches the result of a query: by kind, direction, shape or state."""

    cost = 0

    def __init__(self, query: Query) -> None:
        self._query = query

    def mask(self, scan: Scan, first: int, last: int, candidates: bytes | None) -> bytes:
        return self._query.mask(scan.index, first, last)


class HasName:
    """Matches a name that the index stores as a number: the method or the channel."""

    cost = 0

    def __init__(
        self, pattern: NamePattern, column: Callable[[Index], memoryview], names: Callable[[Index], NameTable]
    ) -> None:
        self._pattern = pattern
        self._column = column
        self._names = names

    def mask(self, scan: Scan, first: int, last: int, candidates: bytes | None) -> bytes:
        numbers = self._column(scan.index)[first - 1 : last]
        table = scan.memory(self, lambda: bytearray(1))
        texts = self._names(scan.index).texts
        # Number 0 means “no name”, which no pattern matches.
        for number in range(len(table), len(texts)):
            table.append(self._pattern.matches(texts[number]))
        return bytes(map(table.__getitem__, numbers))


class InSpan:
    """Matches a number of every event within a span: event number, time or size."""

    cost = 0

    def __init__(self, span: NumberSpan, column: Callable[[Index, int, int], Sequence[int]]) -> None:
        self._span = span
        self._column = column

    def mask(self, scan: Scan, first: int, last: int, candidates: bytes | None) -> bytes:
        span = self._span.since(midnight(scan.journal.clock(0)) if self._span.clock else 0)
        values = self._column(scan.index, first, last)
        return both(bytes(map(span.low.__le__, values)), bytes(map(span.high.__ge__, values)))


class InNegotiation:
    """Matches the negotiation of a connection: messages, HTTP heads and life events."""

    cost = 0

    def __init__(self) -> None:
        self._kinds = MatchesQuery(Query(kind=KINDS))

    def mask(self, scan: Scan, first: int, last: int, candidates: bytes | None) -> bytes:
        mask = bytearray(last - first + 1)
        for low, high in scan.index.connections.between(first, last):
            mask[low - first : high - first + 1] = self._kinds.mask(scan, low, high, None)
        return bytes(mask)


REQUESTS = MatchesQuery(Query(shape=Shape.REQUEST))
NOTICES = MatchesQuery(Query(shape=Shape.NOTIFICATION))
PAIRED = MatchesQuery(Query(shape=(Shape.REQUEST, Shape.RESULT, Shape.ERROR)))
"""Events that have a duration once their partner exists."""


class Duration:
    """Matches requests and answers by the time between them."""

    cost = 1

    def __init__(self, span: NumberSpan) -> None:
        self._span = span

    def mask(self, scan: Scan, first: int, last: int, candidates: bytes | None) -> bytes:
        index, (low, high, _) = scan.index, self._span
        pairs, times = index.views.pairs, index.views.times
        asked = both(PAIRED.mask(scan, first, last, None), bytes(map(bool, pairs[first - 1 : last])))
        if candidates is not None:
            asked = both(asked, candidates)
        mask = bytearray(last - first + 1)
        for n in picked(first, asked):
            mask[n - first] = low <= abs(times[pairs[n - 1] - 1] - times[n - 1]) <= high
        return bytes(mask)


class Id:
    """Matches the JSON-RPC id, as number or text; progress and cancellation have that of their request."""

    cost = 1

    def __init__(self, text: str) -> None:
        self._text = text
        self._pattern = NamePattern(text, path=False) if set("*?") & set(text) else None

    def codes(self, index: Index) -> set[int]:
        """Return the numbers of such ids in the index."""
        return {code for code in map(index.ids.find, _readings(self._text)) if code is not None}

    def mask(self, scan: Scan, first: int, last: int, candidates: bytes | None) -> bytes:
        index = scan.index
        ids, pairs = index.views.ids, index.views.pairs
        if self._pattern is not None:
            known = scan.memory(self, dict[int, bool])
            for n, code in enumerate(ids[first - 1 : last], first):
                self._learn(known, index, n, code)
            for n in pairs[first - 1 : last]:
                if n:
                    self._learn(known, index, n, ids[n - 1])
            fits: Callable[[int], Any] = known.get
            mask = bytes(map(bool, map(fits, ids[first - 1 : last])))
        else:
            codes = self.codes(index)
            if not codes:
                return bytes(last - first + 1)
            fits = codes.__contains__
            mask = bytes(map(fits, ids[first - 1 : last]))
        about = bytearray(last - first + 1)
        for n in picked(first, NOTICES.mask(scan, first, last, None)):
            pair = pairs[n - 1]
            about[n - first] = bool(pair and fits(ids[pair - 1]))
        return either(mask, bytes(about))

    def _learn(self, known: dict[int, bool], index: Index, n: int, code: int) -> None:
        if code not in known:
            assert self._pattern is not None
            if len(known) > _KEPT_IDS:
                known.clear()
            known[code] = code != NO_ID and self._pattern.matches(str(index.id(n)))


def _readings(text: str) -> list[Any]:
    """Return the ids with this notation: 7 is the number and the text, which are two ids."""
    readings: list[Any] = [text]
    try:
        readings.append(int(text) if text.lstrip("-").isdecimal() else float(text))
    except ValueError:
        pass
    return readings


class InExchange:
    """Matches everything of an exchange.

    The exchange is named by the id of its request or by the number of any of its events (`#n`).
    """

    cost = 1

    def __init__(self, text: str) -> None:
        if text.startswith("#") and not text[1:].isdecimal():
            raise BadValue("write exchange:9 for the request with id 9, or exchange:#1204 for event number 1204")
        self._n = int(text[1:]) if text.startswith("#") else 0
        self._id = Id(text)

    def mask(self, scan: Scan, first: int, last: int, candidates: bytes | None) -> bytes:
        index = scan.index
        known = scan.memory(self, _Requests)
        while known.seen < last:
            self._learn(known, scan, known.seen + 1, min(last, known.seen + (1 << 16)))
        slice_ = range(first, last + 1)
        if not known.requests:
            return bytes(map(self._n.__eq__, slice_)) if self._n else bytes(len(slice_))
        is_in = known.requests.__contains__
        return either(
            bytes(map(is_in, slice_)),
            either(
                bytes(map(is_in, index.views.pairs[first - 1 : last])),
                bytes(map(is_in, index.views.parents[first - 1 : last])),
            ),
        )

    def _learn(self, known: _Requests, scan: Scan, first: int, last: int) -> None:
        """Find the requests among some events that are roots of the exchange, or nested in it."""
        index = scan.index
        if self._n:
            root = index.root_of(self._n) if self._n <= index.count else 0
            if root:
                known.requests.add(root)
        else:
            codes = self._id.codes(index)
            asked = REQUESTS.mask(scan, first, last, None)
            for n in picked(first, both(asked, bytes(map(codes.__contains__, index.views.ids[first - 1 : last])))):
                # A request of the server may have the same id as one of ours, which takes precedence.
                if index.dir(n) == Dir.SEND:
                    if not known.ours:
                        known.requests.clear()
                    known.ours = True
                    known.requests.add(n)
                elif not known.ours:
                    known.requests.add(index.root_of(n))
        if known.requests:
            nested = both(
                REQUESTS.mask(scan, first, last, None),
                bytes(map(known.requests.__contains__, index.views.parents[first - 1 : last])),
            )
            known.requests.update(picked(first, nested))
        known.seen = last


class _Requests:
    """The requests that an `InExchange` has found up to event `seen`."""

    def __init__(self) -> None:
        self.requests: set[int] = set()
        self.seen = 0
        self.ours = False


class IsMarked:
    """Matches marked events: any (`*`), or those whose note contains a text."""

    cost = 1

    def __init__(self, text: str) -> None:
        self._text = "" if text == "*" else text.casefold()

    def mask(self, scan: Scan, first: int, last: int, candidates: bytes | None) -> bytes:
        marks = scan.journal.marks
        marked = marks.events()
        mask = bytearray(last - first + 1)
        for n in marked[bisect_left(marked, first) : bisect_right(marked, last)]:
            mark = marks.of(n)
            mask[n - first] = mark is not None and self._text in mark.note.casefold()
        return bytes(mask)


class HasFinding:
    """Matches events with a finding: any (`*`), of a rule, or of a level (`must`, `should`, `note`)."""

    cost = 1

    def __init__(self, text: str) -> None:
        self._any = text == "*"
        self._pattern = NamePattern(text, path=False)

    def mask(self, scan: Scan, first: int, last: int, candidates: bytes | None) -> bytes:
        findings = scan.journal.findings
        kept: dict[int, frozenset[int]] = scan.memory(self, dict)
        if findings.version not in kept:
            kept.clear()
            kept[findings.version] = frozenset(n for n in findings.events() if self._fits(scan, n))
        return bytes(map(kept[findings.version].__contains__, range(first, last + 1)))

    def _fits(self, scan: Scan, n: int) -> bool:
        if self._any:
            return True
        matches = self._pattern.matches
        return any(matches(finding.rule) or matches(finding.level) for finding in scan.journal.findings.of(n))


_KEPT_REQUESTS = 20_000
_RESPONSES = MatchesQuery(Query(kind=Kind.HTTP, dir=Dir.RECV))
_NOTES = MatchesQuery(Query(kind=Kind.NOTE))
_RELATED = MatchesQuery(Query(shape=(Shape.REQUEST, Shape.RESULT, Shape.ERROR, Shape.NOTIFICATION)))


class Text:
    """Matches a text in the event: in its message, plain or escaped, or in its other facts."""

    cost = 3

    def __init__(self, text: str) -> None:
        self.needle = Needle(text)

    def mask(self, scan: Scan, first: int, last: int, candidates: bytes | None) -> bytes:
        return search(scan.journal, self.needle, first, last, candidates)


class HasSubject:
    """Matches requests about a tool, prompt or resource, with their answers and progress."""

    cost = 2

    def __init__(self, text: str) -> None:
        self._pattern = NamePattern(text, path=False)
        literal = self._pattern.literal
        self._needle = Needle(literal) if literal else None

    def mask(self, scan: Scan, first: int, last: int, candidates: bytes | None) -> bytes:
        pairs = scan.index.views.pairs
        known = scan.memory(self, dict[int, bool])
        if len(known) > _KEPT_REQUESTS:
            known.clear()
        asked = _RELATED.mask(scan, first, last, None)
        if candidates is not None:
            asked = both(asked, candidates)
        requests = REQUESTS.mask(scan, first, last, None)
        subjects = {n: n if requests[n - first] else pairs[n - 1] for n in picked(first, asked)}
        unknown = {request for request in subjects.values() if request and request not in known}
        here = bytes(map(unknown.__contains__, range(first, last + 1)))
        likely = here
        if self._needle is not None and 1 in here:
            # Most requests do not contain the name at all, which needs no parsing.
            likely = both(here, search(scan.journal, self._needle, first, last, here))
        known.update(dict.fromkeys(unknown, False))
        for n in unknown:
            if not first <= n <= last or likely[n - first]:
                known[n] = self._fits(scan.journal, n)
        return bytes(bool(known.get(subjects.get(n, 0))) for n in range(first, last + 1))

    def _fits(self, journal: Journal, n: int) -> bool:
        event = next(journal.events(n, n))
        return event.shape == Shape.REQUEST and any(map(self._pattern.matches, subjects_of(event.message)))


class HttpStatus:
    """Matches the status in the head of an HTTP response: `404`, or `4xx` for a class."""

    cost = 2

    def __init__(self, text: str) -> None:
        self._low = int(text[0] + "00") if text[1:].lower() == "xx" else int(text)
        self._high = self._low + 99 if text[1:].lower() == "xx" else self._low

    def mask(self, scan: Scan, first: int, last: int, candidates: bytes | None) -> bytes:
        heads = _RESPONSES.mask(scan, first, last, None)
        if candidates is not None:
            heads = both(heads, candidates)
        mask = bytearray(last - first + 1)
        for n in picked(first, heads):
            status = next(scan.journal.events(n, n)).fields.get("status")
            mask[n - first] = type(status) is int and self._low <= status <= self._high
        return bytes(mask)


class InRun:
    """Matches everything of the runs of a flow of saved calls: `orders.yaml`, or `orders.yaml#2` for the second run."""

    cost = 2

    def __init__(self, text: str) -> None:
        name, mark, number = text.rpartition("#")
        self._number = int(number) if mark and number.isdecimal() else 0
        self._pattern = NamePattern(name if self._number else text, path=False)

    def mask(self, scan: Scan, first: int, last: int, candidates: bytes | None) -> bytes:
        known = scan.memory(self, _Runs)
        if known.seen < last:
            notes = _NOTES.mask(scan, known.seen + 1, last, None)
            for n in picked(known.seen + 1, notes):
                self._learn(known, scan.journal, n)
            known.seen = last
        mask = bytearray(last - first + 1)
        for low, high in known.spans:
            low, high = max(low, first), min(high or last, last)
            if low <= high:
                mask[low - first : high - first + 1] = b"\1" * (high - low + 1)
        return bytes(mask)

    def _learn(self, known: _Runs, journal: Journal, n: int) -> None:
        fields = next(journal.events(n, n)).fields
        path, ended = fields.get("run"), "run_ended" in fields
        if type(path) is not str and not ended:
            return
        if known.spans and not known.spans[-1][1]:
            known.spans[-1] = (known.spans[-1][0], n if ended else n - 1)
        if type(path) is str:
            known.counts[path] = number = known.counts.get(path, 0) + 1
            name = path.rpartition("/")[2]
            names = (path, name, name.rpartition(".")[0])
            if self._number in (0, number) and any(map(self._pattern.matches, names)):
                known.spans.append((n, 0))


class _Runs:
    """The runs that an `InRun` has found up to event `seen`.

    `spans` are their first and last events; the last one is 0 while the run goes on.
    """

    def __init__(self) -> None:
        self.spans: list[tuple[int, int]] = []
        self.counts: dict[str, int] = {}
        self.seen = 0


def subjects_of(message: Any) -> list[str]:
    """Return the subjects of a request: `name` and `uri` of its parameters, or of the reference in them."""
    params = message.get("params") if type(message) is dict else None
    if type(params) is not dict:
        return []
    ref = params.get("ref")
    places = (params, ref) if type(ref) is dict else (params,)
    return [place[key] for place in places for key in ("name", "uri") if type(place.get(key)) is str]

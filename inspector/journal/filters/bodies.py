"""Conditions on the bodies of events."""

from __future__ import annotations

from typing import Any

from inspector.journal.filters.conditions import REQUESTS, MatchesQuery, Scan
from inspector.journal.filters.text import Needle, search
from inspector.journal.filters.values import NamePattern
from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal
from inspector.journal.query import Query, both, picked
from inspector.protocol.jsonrpc import Shape

_KEPT_REQUESTS = 20_000
_RESPONSES = MatchesQuery(Query(kind=Kind.HTTP, dir=Dir.RECV))
_NOTES = MatchesQuery(Query(kind=Kind.NOTE))
_RELATED = MatchesQuery(Query(shape=(Shape.REQUEST, Shape.RESULT, Shape.ERROR, Shape.NOTIFICATION)))


class Text:
    """Matches a text in the event: in its message, plain or escaped, or in its other facts."""

    cost = 3

    def __init__(self, text: str) -> None:
        self.needle = Needle(text)

    def mask(self, scan: Scan, first: int, last: int, wanted: bytes | None) -> bytes:
        return search(scan.journal, self.needle, first, last, wanted)


class HasSubject:
    """Matches requests about a tool, prompt or resource, with their answers and progress."""

    cost = 2

    def __init__(self, text: str) -> None:
        self._pattern = NamePattern(text, path=False)
        literal = self._pattern.literal
        self._needle = Needle(literal) if literal else None

    def mask(self, scan: Scan, first: int, last: int, wanted: bytes | None) -> bytes:
        pairs = scan.index.views.pairs
        known = scan.memory(self, dict[int, bool])
        if len(known) > _KEPT_REQUESTS:
            known.clear()
        asked = _RELATED.mask(scan, first, last, None)
        if wanted is not None:
            asked = both(asked, wanted)
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

    def mask(self, scan: Scan, first: int, last: int, wanted: bytes | None) -> bytes:
        heads = _RESPONSES.mask(scan, first, last, None)
        if wanted is not None:
            heads = both(heads, wanted)
        found = bytearray(last - first + 1)
        for n in picked(first, heads):
            status = next(scan.journal.events(n, n)).fields.get("status")
            found[n - first] = type(status) is int and self._low <= status <= self._high
        return bytes(found)


class InRun:
    """Matches everything of the runs of a flow of saved calls: `orders.yaml`, or `orders.yaml#2` for the second run."""

    cost = 2

    def __init__(self, text: str) -> None:
        name, mark, number = text.rpartition("#")
        self._number = int(number) if mark and number.isdecimal() else 0
        self._pattern = NamePattern(name if self._number else text, path=False)

    def mask(self, scan: Scan, first: int, last: int, wanted: bytes | None) -> bytes:
        known = scan.memory(self, _Runs)
        if known.seen < last:
            notes = _NOTES.mask(scan, known.seen + 1, last, None)
            for n in picked(known.seen + 1, notes):
                self._learn(known, scan.journal, n)
            known.seen = last
        found = bytearray(last - first + 1)
        for low, high in known.spans:
            low, high = max(low, first), min(high or last, last)
            if low <= high:
                found[low - first : high - first + 1] = b"\1" * (high - low + 1)
        return bytes(found)

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

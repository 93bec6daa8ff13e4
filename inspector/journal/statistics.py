"""Statistics of a recording: for each method and tool the count, errors and durations; and where the time went.

Durations are those of the server: the time in which a person answered a question of the server is counted apart.
Network time is the time of connecting, TLS included: a client cannot tell the rest from the server's time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from inspector.journal.alterations import names_in, was_answered
from inspector.journal.durations import asks_people, took
from inspector.journal.exchange import RECEIVED_REQUESTS, SENT_REQUESTS
from inspector.journal.filters.conditions import subjects_of
from inspector.journal.format import Dir, Kind
from inspector.journal.index import State
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape

MAX_GROUPS = 1000
"""Methods and tools that have a row of their own; further ones share one."""
FURTHER = "…"

_NAMED = frozenset(("tools/call", "prompts/get", "completion/complete"))
"""Methods whose rows are divided by the name in their parameters; a URI would make a row for each resource."""
_NOTIFICATIONS = Query(shape=Shape.NOTIFICATION)
_LIFE = Query(kind=Kind.LIFE)
_FAILED = (State.ERROR, State.TIMED_OUT, State.LOST)


@dataclass(slots=True)
class GroupStats:
    """The figures of one method or tool in one direction. Times are in microseconds."""

    dir: str
    """`send`: of the client; `recv`: of the server."""
    method: str
    name: str = ""
    """The tool or prompt; empty for a method without one."""
    count: int = 0
    errors: int = 0
    """Error responses, results with `isError`, timeouts, and requests whose connection broke."""
    open: int = 0
    """Requests without an answer that were neither cancelled nor failed."""
    person: int = 0
    bytes: int = 0
    """Bytes of the requests and their answers, or of the notifications."""
    durations: list[int] = field(default_factory=list, repr=False)
    """The server's time for each answered request, ascending."""

    def percentile(self, part: float) -> int | None:
        """Return the duration that `part` percent do not exceed (nearest rank); None without an answer."""
        return percentile(self.durations, part)

    def as_json(self) -> dict[str, Any]:
        """Return the object of `--json`: times in seconds, null without an answer."""
        return {
            "dir": self.dir,
            "method": self.method,
            "name": self.name or None,
            "count": self.count,
            "errors": self.errors,
            "open": self.open,
            "bytes": self.bytes,
            "person": self.person / 1e6,
            **{name: _seconds(self.percentile(part)) for name, part in PERCENTILES.items()},
        }


PERCENTILES: dict[str, float] = {"p50": 50, "p95": 95, "max": 100}


@dataclass(slots=True)
class SessionStats:
    """The figures of a recording, or of a part of it. Times are in microseconds."""

    groups: list[GroupStats]
    """By time of the server, the longest first; notifications last."""
    lasted: int = 0
    server: int = 0
    """The time in which at least one request of ours waited for the server, without a person's time."""
    person: int = 0
    """The time in which a question of the server was open."""
    network: int = 0
    """The time of connecting."""
    by_addons: int = 0
    """Requests that an addon answered, or whose answer it delayed."""

    @property
    def total(self) -> GroupStats:
        """The sum of all rows."""
        whole = GroupStats("", "total")
        for group in self.groups:
            whole.count += group.count
            whole.errors += group.errors
            whole.open += group.open
            whole.bytes += group.bytes
        whole.person = self.person
        whole.durations = sorted(us for group in self.groups if group.dir == "send" for us in group.durations)
        return whole

    def as_json(self) -> dict[str, Any]:
        """Return the document of `--json`."""
        return {
            "seconds": self.lasted / 1e6,
            "time": {
                "server": self.server / 1e6,
                "person": self.person / 1e6,
                "network": self.network / 1e6,
            },
            "methods": [group.as_json() for group in self.groups],
            "total": self.total.as_json(),
            "by_addons": self.by_addons,
        }


def measure(journal: Journal, first: int = 1, last: int | None = None, *, by_name: bool = True) -> SessionStats:
    """Measure the requests and notifications among the events `first` to `last` (by default all that are indexed).

    Without `by_name`, a method has one row, whatever its requests name, and no body is read.
    """
    index = journal.index
    last = index.count if last is None else min(last, index.count)
    groups: dict[tuple[str, str, str], GroupStats] = {}
    waiting: list[tuple[int, int]] = []
    questions: list[tuple[int, int]] = []
    people = asks_people(index)
    has_addons = by_name and bool(names_in(journal.header))
    by_addons = 0
    for query, dir in ((SENT_REQUESTS, "send"), (RECEIVED_REQUESTS, "recv")):
        for n in query.forwards(index, first - 1, last):
            group = _group(groups, dir, *(_what(journal, n) if by_name else (index.method(n), "")))
            answer = index.pair(n) if index.pair(n) <= last else 0
            state = index.state_at(n, last)
            group.count += 1
            group.errors += state in _FAILED
            group.open += state is State.PENDING
            group.bytes += index.size(n) + (index.size(answer) if answer else 0)
            if not answer:
                continue
            by_addons += has_addons and was_answered(next(journal.events(answer, answer)).fields)
            spent = took(index, n) if people and dir == "send" else None
            group.durations.append(spent.server if spent is not None else abs(index.time(answer) - index.time(n)))
            group.person += spent.person if spent is not None else 0
            (waiting if dir == "send" else questions).append((index.time(n), index.time(answer)))
    notices: dict[tuple[str, str, str], GroupStats] = {}
    for n in _NOTIFICATIONS.forwards(index, first - 1, last):
        dir = "send" if index.dir(n) is Dir.SEND else "recv"
        group = _group(notices, dir, index.method(n), "")
        group.count += 1
        group.bytes += index.size(n)
    for group in groups.values():
        group.durations.sort()
    ordered = sorted(groups.values(), key=lambda group: (-sum(group.durations), -group.count, group.method))
    rest = sorted(notices.values(), key=lambda group: (-group.count, group.method))
    person = _covered(questions) if people else 0
    return SessionStats(
        [*ordered, *rest],
        lasted=max(0, index.time(last) - index.time(first)) if 0 < first <= last else 0,
        server=max(_covered(waiting) - person, 0),
        person=person,
        network=_connecting(journal, first, last),
        by_addons=by_addons,
    )


def percentile(ordered: list[int], part: float) -> int | None:
    """Return the smallest value that at least `part` percent do not exceed (nearest rank); None without values."""
    return ordered[max(-int(-len(ordered) * part // 100) - 1, 0)] if ordered else None


def _group(groups: dict[tuple[str, str, str], GroupStats], dir: str, method: str, name: str) -> GroupStats:
    key = dir, method, name
    group = groups.get(key)
    if group is None:
        if len(groups) >= MAX_GROUPS:
            key = dir, FURTHER, ""
        group = groups.setdefault(key, GroupStats(*key))
    return group


def _what(journal: Journal, n: int) -> tuple[str, str]:
    """Return method and name of a request; its body is read only if it has a name."""
    method = journal.index.method(n)
    if method not in _NAMED:
        return method, ""
    return method, next(iter(subjects_of(next(journal.events(n, n)).message)), "")


def _covered(intervals: Iterable[tuple[int, int]]) -> int:
    """Return how many microseconds are inside at least one interval."""
    ordered = sorted(intervals)
    covered, reached = 0, ordered[0][0] if ordered else 0
    for low, high in ordered:
        low = max(low, reached)
        if high > low:
            covered += high - low
            reached = high
    return covered


def _connecting(journal: Journal, first: int, last: int) -> int:
    """Return the microseconds of connecting, from the events `connect`."""
    total = 0.0
    for n in _LIFE.forwards(journal.index, first - 1, last):
        fields = next(journal.events(n, n)).fields
        spent = fields.get("ms")
        if fields.get("event") == "connect" and isinstance(spent, int | float) and 0 <= spent < 1e9:
            total += spent
    return int(total * 1000)


def _seconds(us: int | None) -> float | None:
    return None if us is None else us / 1e6

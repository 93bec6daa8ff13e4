"""The duration of a call: the server's time, and separately the time of the person whom it asked.

While a question of the server is open, the call waits for the person. That time is not counted as the server's.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from inspector.journal.channels import is_post
from inspector.journal.format import Dir, Event, Kind
from inspector.journal.index import Index
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape

OPEN = 1 << 62
"""The end of what has not ended: a request in flight, a person who has not acted."""
_DISCOVERY = "discovery"
_BROWSER = "browser"
_PARTS = {
    "challenge": _DISCOVERY,
    "resource": _DISCOVERY,
    "server": _DISCOVERY,
    "metadata": _DISCOVERY,
    "issuer": _DISCOVERY,
    "scope": _DISCOVERY,
    "stepup": _DISCOVERY,
    "registration": "registration",
    "authorize": _BROWSER,
    "callback": _BROWSER,
    "device": "device code",
    "exchange": "exchange",
    "token": "token",
    "refresh": "refresh",
    "revoke": "logout",
}
"""By step of a login (`client.state.login`), the part that it ends or belongs to."""
_WAITS = {"authorize": _BROWSER, "device": "device code"}
"""Steps after which a person acts, until the next step."""
_STARTS = frozenset(("challenge", "refresh", "revoke"))
"""Steps with which something new begins, however soon after another login."""
_STEPS = Query(kind=(Kind.AUTH, Kind.LIFE))
_LOGIN = Query(kind=Kind.AUTH)
_MAX_LIFE = 200
"""Events of the connection in which the end of a login that a person does not finish is looked for."""
MAX_PARTS = 10_000
"""Parts that are kept: a hostile recording may have any number."""


class LoginPart(NamedTuple):
    """A part of a login. Times are in microseconds since the recording began."""

    name: str
    first: int
    """Its first event."""
    last: int
    """Its last event so far."""
    begin: int
    end: int
    """`OPEN` while a person has not acted."""
    is_persons: bool
    """A person acts meanwhile."""
    failed: bool


class LoginParts:
    """The parts of all logins of a journal, in order and without overlap. Call `advance` as it grows."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._seen = 0
        self._looked = 0
        """Events of the connection since a person was asked."""
        self._fetched = 0.0
        """Milliseconds of the requests since the last step."""
        self._fetch = 0
        """The first of these requests."""
        self._ended = True
        """No login is under way."""
        self.parts: list[LoginPart] = []

    def __len__(self) -> int:
        return len(self.parts)

    def advance(self, last: int, after: int = 0) -> None:
        """Read the events up to `last`; the first time, those after event `after`."""
        self._seen = max(self._seen, after)
        index = self._journal.index
        while self._seen < last:
            # A person who does not come back leaves no step: the connection says then that it failed.
            query = _STEPS if self._is_open else _LOGIN
            n = query.first(index, self._seen, last)
            if not n:
                self._seen = last
                return
            self._seen = n
            event = self._journal.event(n)
            if event.kind is Kind.AUTH:
                self._add_step(event)
            else:
                self._looked += 1
                if event.fields.get("event") == "failed" or self._looked > _MAX_LIFE:
                    self._close(event.t, n, failed=True)

    @property
    def _is_open(self) -> bool:
        return bool(self.parts) and self.parts[-1].end == OPEN

    def _add_step(self, event: Event) -> None:
        fields = event.fields
        step, recorded = fields.get("step"), fields.get("facts")
        facts = recorded if type(recorded) is dict else {}
        if facts.get("again") is not None or len(self.parts) >= MAX_PARTS:
            return  # A single repeated step is not a login.
        if step == "fetch":
            spent = facts.get("ms")
            self._fetched += min(max(float(spent), 0), 1e9) if isinstance(spent, int | float) else 0
            self._fetch = self._fetch or event.n
            return
        name = _PARTS.get(step) if isinstance(step, str) else None
        if name is None:
            return
        ok = fields.get("ok") is True
        was_open = self._is_open
        if was_open:
            self._close(event.t, event.n)
        if self._ended or step in _STARTS or not self.parts:
            begin, first = event.t - round(self._fetched * 1000), self._fetch or event.n
        else:
            begin, first = self.parts[-1].end, self._fetch or event.n
        self._fetched = self._fetch = 0
        begin = max(begin, self.parts[-1].end if self.parts else 0)
        waits = ok and step in _WAITS
        before = self.parts[-1] if self.parts else None
        if step == "callback" and was_open and before is not None:
            self.parts[-1] = before._replace(failed=not ok)
        elif before is not None and before.name == name and not self._ended and step not in _STARTS and not waits:
            self.parts[-1] = before._replace(end=event.t, last=event.n, failed=not ok)
        elif waits:
            # What led to the question took no noticeable time.
            self.parts.append(LoginPart(_WAITS[str(step)], first, event.n, max(begin, event.t), OPEN, True, False))
            self._looked = 0
        else:
            self.parts.append(LoginPart(name, first, event.n, begin, max(event.t, begin), False, not ok))
        self._ended = step in ("token", "refresh", "revoke")

    def _close(self, t: int, n: int, *, failed: bool = False) -> None:
        part = self.parts[-1]
        self.parts[-1] = part._replace(end=max(t, part.begin), last=n, failed=failed)

    def within(self, begin: int, end: int) -> list[LoginPart]:
        """Return the parts that overlap a period."""
        at = bisect_left(self.parts, begin, key=lambda part: part.end)
        parts = []
        while at < len(self.parts) and self.parts[at].begin <= end:
            parts.append(self.parts[at])
            at += 1
        return parts


PERSON_METHODS = ("elicitation/create", "sampling/createMessage", "roots/list")
"""Requests of a server that a person answers, or a program in about a millisecond."""
_MAX_QUESTIONS = 1000
_MAX_NESTED = 10_000
_MAX_HEADS = 50
"""HTTP heads of one request that are looked at: each login and redirect has two."""
_LEAST_PERSON = 1000
"""Microseconds below which no person can have answered."""
_MIN_QUEUE = 1000
"""Microseconds that any request needs until it is begun."""

Interval = tuple[int, int]


class CallTimes(NamedTuple):
    """The duration of a call in microseconds."""

    server: int
    person: int = 0


class CallParts(NamedTuple):
    """The parts of the time of a request, in microseconds; 0 where a part is not known."""

    queue: int
    """Until its HTTP request was begun: other replies or a token came first. Less than a millisecond is not counted."""
    login: int
    """From the response that asked for a login to the next request, without the person's time in the browser."""
    connect: int
    """Connecting, with TLS."""
    waiting: int
    """From the request to the head of the HTTP response, without the parts above."""
    streaming: int
    """From the head of the last HTTP response to the answer, without the person's time."""
    person: int


def took(index: Index, n: int, *, until: int | None = None, upto: int | None = None) -> CallTimes | None:
    """Return the duration of the call of event `n`, its request or its answer; None without an answer.

    `until` is the present, in microseconds since the start, for a call without an answer then. `upto` is the last event
    that counts.
    """
    request = n if index.shape(n) is Shape.REQUEST else index.views.pairs[n - 1]
    if not request or index.shape(n) not in (Shape.REQUEST, Shape.RESULT, Shape.ERROR):
        return None
    answer = index.views.pairs[request - 1]
    if answer and (
        (upto is not None and answer > upto) or (until is not None and index.views.times[answer - 1] > until)
    ):
        answer = 0
    if answer:
        begin, end = sorted((index.views.times[request - 1], index.views.times[answer - 1]))
    elif until is not None:
        begin, end = index.views.times[request - 1], until
    else:
        return None
    if index.dir(request) is Dir.RECV:
        # The server asked: its own time is over, and the rest is the user's unless a program answered at once.
        asked = max(end - begin, 0)
        return CallTimes(0, asked) if asked >= _LEAST_PERSON else CallTimes(asked)
    last = min(answer or index.count, upto or index.count)
    person = overlap(questions(index, request, last, end), begin, end)
    return CallTimes(max(end - begin - person, 0), person)


def divided(journal: Journal, request: int, present: int) -> CallParts | None:
    """Return the parts of the time of a request as far as they are known; None if none is. An open one lasts until
    `present`."""
    index = journal.index
    answer = index.views.pairs[request - 1]
    begin, end = index.views.times[request - 1], index.views.times[answer - 1] if answer else present
    last = answer or index.count
    person = overlap(questions(index, request, last, end), begin, end)
    queue = login = connect = streaming = waiting = 0
    channel = index.channel(request)
    if is_post(channel):
        last = min(last, request + _MAX_NESTED)
        for n in Query(kind=Kind.LIFE, channel=channel).forwards(index, request, last):
            fields = journal.event(n).fields
            spent = fields.get("ms")
            if fields.get("event") == "connect" and isinstance(spent, int | float) and 0 <= spent * 1000 <= end - begin:
                connect += int(spent * 1000)
        heads = list(islice(Query(kind=Kind.HTTP, channel=channel).forwards(index, request, last), _MAX_HEADS))
        sent = next((n for n in heads if index.dir(n) is Dir.SEND), 0)
        queue = index.views.times[sent - 1] - begin if sent else 0
        queue = queue if queue >= _MIN_QUEUE else 0
        logins, waits = _logins(journal, request, last, heads, end)
        browser = sum(overlap(waits, *login) for login in logins)
        login = sum(high - low for low, high in logins) - browser
        head = next((n for n in reversed(heads) if index.dir(n) is Dir.RECV), 0)
        if head and not (logins and logins[-1][0] == index.views.times[head - 1]):
            streaming = max(end - index.views.times[head - 1], 0)
        waiting = max(end - begin - queue - login - browser - connect - streaming, 0)
        # While a person is asked, the stream is open.
        streaming, waiting = (max(streaming - person, 0), waiting) if head else (0, max(waiting - person, 0))
        person += browser
    parts = CallParts(queue, login, connect, waiting, streaming, person)
    return parts if any(parts) else None


def _logins(
    journal: Journal, request: int, last: int, heads: Sequence[int], present: int
) -> tuple[list[Interval], list[Interval]]:
    """Return when the logins of a request were, and when a person acted in them.

    A login begins with the response that asked for it, and ends with the next request, or at `present`.
    """
    index = journal.index
    if not _LOGIN.first(index, request, last):
        return [], []
    logins: list[Interval] = []
    for at, n in enumerate(heads):
        if index.dir(n) is not Dir.RECV:
            continue
        again = heads[at + 1] if at + 1 < len(heads) else 0
        if _LOGIN.first(index, n, again or last):
            begin = index.views.times[n - 1]
            logins.append((begin, max(index.views.times[again - 1] if again else present, begin)))
    parts = LoginParts(journal)
    parts.advance(last, request)
    return logins, [(part.begin, min(part.end, present)) for part in parts.parts if part.is_persons]


def response_times(index: Index, requests: Iterable[int]) -> list[int]:
    """Return the microseconds from each request to its answer, which it must have, including a person's time."""
    pairs, times = index.views.pairs, index.views.times
    return [abs(times[pairs[n - 1] - 1] - times[n - 1]) for n in requests]


def questions(index: Index, request: int, last: int, present: int) -> Iterator[Interval]:
    """Yield when questions of the server inside a request were open, up to event `last`; an open one until
    `present`."""
    if index.dir(request) is not Dir.SEND or not asks_people(index):
        return
    methods = {number for method in PERSON_METHODS if (number := index.methods.find(method)) is not None}
    at = request
    for _ in range(_MAX_NESTED):
        at = index.next_inside(request, at, last)
        if not at:
            return
        if index.views.methods[at - 1] in methods and index.shape(at) is Shape.REQUEST and index.dir(at) is Dir.RECV:
            reply = index.views.pairs[at - 1]
            yield index.views.times[at - 1], index.views.times[reply - 1] if 0 < reply <= last else present


def asks_people(index: Index) -> bool:
    """Whether a server has asked the user anything."""
    return any(index.methods.find(method) is not None for method in PERSON_METHODS)


def overlap(intervals: Iterable[Interval], begin: int, end: int) -> int:
    """Return how much of the time from `begin` to `end` is inside at least one interval."""
    covered, reached = 0, begin
    for low, high in sorted(intervals)[:_MAX_QUESTIONS]:
        low, high = max(low, reached), min(high, end)
        if high > low:
            covered += high - low
            reached = high
    return covered

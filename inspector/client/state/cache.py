"""The freshness of responses, for the session (`Cache`) and for a person: received at, fresh until, scope.

The cache holds only hints: the lists are in the catalogue. What a person is shown is read from the messages, live or
recorded. Source: specification 2026-07-28, "Caching" (C-CACHE-01 … C-CACHE-03, C-HINT-01 … C-HINT-05). One session is
one authorization context, so a `private` hint only requires that a cache is never shared between sessions. In older
revisions a hint is shown and not used.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from inspector.client.state.catalog import BY_METHOD, KINDS
from inspector.journal.format import Dir
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape, excerpt
from inspector.protocol.members import value_at

KEPT = 1000
"""Maximum hints; the oldest are dropped."""
MAX_TTL = 24 * 3600.0
"""Maximum seconds of freshness that we use, whatever the server says (C-HINT-04)."""

CACHEABLE = frozenset(("server/discover", "resources/read", *BY_METHOD))


class CacheHint(NamedTuple):
    """When a response arrived and until when it is fresh, in seconds of the cache's clock."""

    received: float
    until: float
    scope: str
    """`public`, `private`, or the server's other value; empty if missing."""

    @property
    def ttl(self) -> float:
        """The time to live in seconds, at arrival."""
        return self.until - self.received


class Cache:
    """Hints by method and the parameters that affect the result. `clock` is a monotonic clock in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._hints: OrderedDict[tuple[str, str], CacheHint] = OrderedDict()

    def took(self, method: str, params: dict[str, Any] | None, result: Any, *, fresh: bool = True) -> None:
        """Store the hint of a response. Not `fresh`: it depends on input outside the key, and is never reused."""
        if method not in CACHEABLE:
            return
        key = (method, subject_of(method, params))
        self._hints.pop(key, None)
        if not fresh or type(result) is not dict:
            return
        now = self._clock()
        scope = result.get("cacheScope")
        self._hints[key] = CacheHint(
            now, now + seconds_of(result.get("ttlMs")), scope if isinstance(scope, str) else ""
        )
        if len(self._hints) > KEPT:
            self._hints.popitem(last=False)

    def hint(self, method: str, params: dict[str, Any] | None = None) -> CacheHint | None:
        """Return the hint of the latest response to this request."""
        return self._hints.get((method, subject_of(method, params)))

    def is_fresh(self, method: str, params: dict[str, Any] | None = None) -> bool:
        """Whether the latest response to exactly this request may be reused (C-CACHE-01, C-CACHE-02)."""
        hint = self.hint(method, params)
        return hint is not None and self._clock() < hint.until

    def list_is_fresh(self, method: str) -> bool:
        """Whether every page of a list is fresh: each has its own time (C-CACHE-03)."""
        now = self._clock()
        pages = [hint for (name, _), hint in self._hints.items() if name == method]
        return bool(pages) and all(now < hint.until for hint in pages)

    def changed(self, notification: str) -> None:
        """Handle `list_changed`: the list is stale immediately (C-CACHE-03)."""
        for kind in KINDS.values():
            if kind.changed == notification:
                self.forget(kind.method)

    def updated(self, uri: Any) -> None:
        """Handle `resources/updated`: the resource's response is stale."""
        if isinstance(uri, str):
            self._hints.pop(("resources/read", uri), None)

    def forget(self, method: str = "") -> None:
        """Drop the hints of a method, or all."""
        for key in [key for key in self._hints if not method or key[0] == method]:
            del self._hints[key]


def subject_of(method: str, params: dict[str, Any] | None) -> str:
    """Return the part of the parameters that affects the result: the URI, or the cursor of a page."""
    value = (params or {}).get("uri" if method == "resources/read" else "cursor")
    return "" if value is None else f"={value}" if method in BY_METHOD else str(value)


def seconds_of(ttl: Any) -> float:
    """Return `ttlMs` in seconds; 0 if it is missing, negative or not a number (C-CACHE-02)."""
    if type(ttl) not in (int, float) or not ttl > 0:
        return 0.0
    return float(min(ttl, MAX_TTL * 1000)) / 1000


MAX_READ = 500
"""New answers that are read at once."""
MAX_KEPT = 100
"""Requests whose answers are kept; older ones are dropped."""
_ANSWERS = Query(method=tuple(sorted(CACHEABLE)), dir=Dir.RECV, shape=Shape.RESULT)
_EARLY = "C-HINT-03"


class AnswerFreshness(NamedTuple):
    """The cache hints of one answer."""

    n: int
    """The event of the answer."""
    method: str
    subject: str
    """The URI of a resource, or the cursor of a page after the first."""
    received: datetime
    seconds: float
    """The time to live; 0 without a usable `ttlMs`."""
    scope: str
    """`public` or `private`; everything else counts as private."""
    problem: str
    """What is wrong with the hints, as a clause."""
    changed_early: bool
    """Whether it differs from the previous answer, which was still fresh, and no notification came."""

    @property
    def until(self) -> datetime:
        """The end of the time to live. Longer than a day is shown as it is; we use a day."""
        return self.received + timedelta(seconds=min(self.seconds, 10_000 * MAX_TTL))

    def is_fresh(self, now: datetime) -> bool:
        """Whether it is fresh at a moment."""
        return self.seconds > 0 and now < self.until

    def describe(self, now: datetime) -> str:
        """Return `fresh until 08:05:00, public`, `stale since 08:05:00, private` or `stale at once`."""
        if self.seconds <= 0:
            return "stale at once" + (f", {self.scope}" if self.scope else "")
        clock = (
            f"{self.until:%H:%M:%S}" if self.until.date() == self.received.date() else f"{self.until:%Y-%m-%d %H:%M}"
        )
        capped = ", used for a day at most" if self.seconds > MAX_TTL else ""
        words = f"fresh until {clock}" if self.is_fresh(now) else f"stale since {clock}"
        return f"{words}{capped}, {self.scope}"


def freshness(journal: Journal, n: int) -> AnswerFreshness | None:
    """Return the freshness of the answer at event `n`; None if it is not a cacheable answer with a hint."""
    index = journal.index
    if index.shape(n) is not Shape.RESULT or index.method(n) not in CACHEABLE or not index.pair(n):
        return None
    result = value_at(journal.event(n).message, "result")
    if type(result) is not dict or not ("ttlMs" in result or "cacheScope" in result):
        return None
    params = value_at(journal.event(index.pair(n)).message, "params")
    method = index.method(n)
    life, scope = result.get("ttlMs"), result.get("cacheScope")
    problems = []
    given = float(life) if isinstance(life, (int, float)) and not isinstance(life, bool) else -1.0
    usable = given >= 0 and given.is_integer()
    if not usable:
        problems.append(f"ttlMs is {excerpt(life, 20)}" if "ttlMs" in result else "ttlMs is missing")
    if scope not in ("public", "private"):
        problems.append(f"cacheScope is {excerpt(scope, 20)}" if "cacheScope" in result else "cacheScope is missing")
    return AnswerFreshness(
        n,
        method,
        subject_of(method, params if type(params) is dict else None).removeprefix("="),
        journal.clock(index.time(n)),
        min(given, 1e15) / 1000 if usable else 0.0,
        scope if scope in ("public", "private") else "private",
        " and ".join(problems),
        any(finding.rule == _EARLY for finding in journal.findings.of(n)),
    )


class NewestAnswers:
    """The freshness of the newest answer to each request of a journal. Reads each answer once while it grows."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._seen = 0
        self._newest: dict[tuple[str, str], int] = {}
        """The event of the newest answer by method and subject, in the order of arrival."""
        self._answers: list[AnswerFreshness] = []
        self._findings = -1

    def advance(self, upto: int | None = None) -> list[AnswerFreshness]:
        """Return the freshness at an event (None: now), by method. Pages have clocks of their own.

        If the pages of a list differ in scope, all count as private (C-HINT-05).
        """
        last = len(self._journal) if upto is None else upto
        if last < self._seen:
            self._seen, self._newest, self._findings = 0, {}, -1
        new = _ANSWERS.numbers(self._journal.index, after=self._seen, upto=last)
        self._seen = last
        if not new and self._findings == self._journal.findings.version:
            return self._answers
        self._findings = self._journal.findings.version
        for n in new[-MAX_READ:]:
            answer = freshness(self._journal, n)
            if answer is not None:
                self._newest.pop((answer.method, answer.subject), None)
                self._newest[answer.method, answer.subject] = n
        while len(self._newest) > MAX_KEPT:
            del self._newest[next(iter(self._newest))]
        answers = [answer for n in self._newest.values() if (answer := freshness(self._journal, n)) is not None]
        scopes: dict[str, set[str]] = {}
        for answer in answers:
            scopes.setdefault(answer.method, set()).add(answer.scope)
        mixed = {name for name, method_scopes in scopes.items() if name.endswith("/list") and len(method_scopes) > 1}
        answers = [
            answer._replace(scope="private", problem=answer.problem or "the pages differ in scope")
            if answer.method in mixed
            else answer
            for answer in answers
        ]
        self._answers = sorted(answers, key=lambda answer: (answer.method.endswith("/read"), answer.method, answer.n))
        return self._answers


def folded(answers: Sequence[AnswerFreshness]) -> list[tuple[AnswerFreshness, int]]:
    """Return one answer for each list, that of the page which is stale first, and its number of pages."""
    groups: dict[tuple[str, str], list[AnswerFreshness]] = {}
    for answer in answers:
        subject = "" if answer.method.endswith("/list") else answer.subject
        groups.setdefault((answer.method, subject), []).append(answer)
    return [
        (
            min(pages, key=lambda page: page.until)._replace(changed_early=any(page.changed_early for page in pages)),
            len(pages),
        )
        for pages in groups.values()
    ]


def as_json(answer: AnswerFreshness) -> dict[str, Any]:
    """Return it as JSON values."""
    return {
        "method": answer.method,
        "subject": answer.subject or None,
        "received": answer.received.isoformat(),
        "fresh_until": answer.until.isoformat(),
        "seconds": answer.seconds,
        "scope": answer.scope,
        "problem": answer.problem or None,
        "changed_early": answer.changed_early,
    }

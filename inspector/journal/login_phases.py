"""The parts of each login of a session, with their times: discovery, registration, browser, token."""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

from inspector.journal.format import Event, Kind
from inspector.journal.journal import Journal
from inspector.journal.lanes import OPEN
from inspector.journal.query import Query

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
            wanted = _STEPS if self._is_open else _LOGIN
            n = wanted.first(index, self._seen, last)
            if not n:
                self._seen = last
                return
            self._seen = n
            event = self._journal.event(n)
            if event.kind is Kind.AUTH:
                self._take(event)
            else:
                self._looked += 1
                if event.fields.get("event") == "failed" or self._looked > _MAX_LIFE:
                    self._close(event.t, n, failed=True)

    @property
    def _is_open(self) -> bool:
        return bool(self.parts) and self.parts[-1].end == OPEN

    def _take(self, event: Event) -> None:
        fields = event.fields
        step, found = fields.get("step"), fields.get("facts")
        facts = found if type(found) is dict else {}
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
        found = []
        while at < len(self.parts) and self.parts[at].begin <= end:
            found.append(self.parts[at])
            at += 1
        return found

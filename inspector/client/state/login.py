"""The steps and result of a login: a reduction of `auth` events, live and recorded alike."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from inspector.hints import NO_HINT, Hint
from inspector.journal.format import Event, Kind
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.members import object_at

LoginStepState = Literal["ok", "note", "failed", "open"]

_BEGINS = ("challenge", "resource", "server", "metadata", "issuer", "scope")
ORDERS = {
    "code": (*_BEGINS, "registration", "authorize", "callback", "token"),
    "client-credentials": (*_BEGINS, "registration", "token"),
    "enterprise": (*_BEGINS, "registration", "exchange", "token"),
    "workload": (*_BEGINS, "token"),
    "device": (*_BEGINS, "registration", "device", "token"),
}
"""The steps of a login by grant, in order; used to name the steps not reached."""
_ENDS = ("token", "refresh", "request", "revoke")
_OWN = {"device": "device", "exchange": "enterprise"}
"""Steps that only one grant has, with that grant."""
MAX_STEPS = 200
"""Maximum events of one login: the latest."""
MAX_AT_ONCE = 50_000
"""Events that one call of `advance` reads."""
MAX_SCOPES = 100


@dataclass(frozen=True, slots=True)
class AuthStep:
    """One step. Its texts may contain a server's text: show them only through `inspector.text.safe`."""

    n: int
    """The step's event; 0 for a step that was not reached."""
    t: int
    """In microseconds since the recording started."""
    name: str
    outcome: LoginStepState
    """`note`: not as expected, but the login continued. `open`: not reached."""
    text: str = ""
    """The finding or decision."""
    rule: str = ""
    fix: Hint = NO_HINT
    """What the server should have sent, or what the user can do."""
    facts: dict[str, Any] = field(default_factory=dict)
    """Details; read from a recording, so their types are not guaranteed."""
    fetches: tuple[int, ...] = ()
    """The events of the step's requests, in order."""
    ms: float = 0
    """Duration of these requests, in milliseconds."""
    again: tuple[AuthStep, ...] = ()
    """The result of each repetition of the step alone: its last recorded step (see `auth/rerun_step.py`)."""


class LoggedIn(NamedTuple):
    """The latest token's properties, from the authorization server and the token itself. Never the token."""

    n: int
    t: int
    """Its arrival, in microseconds since the recording started."""
    issuer: str
    resource: str
    """The requested resource (RFC 8707)."""
    scope: tuple[str, ...]
    missing: tuple[str, ...]
    """Scopes that were requested and not granted."""
    ends: int
    """Its expiry, in microseconds since the recording started; 0 if unknown."""
    renewable: bool
    claims: dict[str, Any]
    """The claims of a token that is a JWT, with the signature unchecked; empty for any other."""

    @property
    def audience_fits(self) -> bool | None:
        """Whether `aud` equals the resource, character by character; None without `aud`."""
        audience = self.claims.get("aud")
        named = audience if type(audience) is list else [audience]
        named = [entry for entry in named if isinstance(entry, str)]
        return self.resource in named if named and self.resource else None


_STEPS = Query(kind=Kind.AUTH)


class Authorizations:
    """Reads a journal's authorization events, in small portions."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._seen = 0
        self.numbers = array("I")
        """The numbers of its `auth` events."""
        self.upto: int | None = None
        """The last event of a recording shown at some moment; None for all."""

    def advance(self) -> bool:
        """Process some of the new events; True if any was relevant."""
        first, seen = len(self.numbers), self._seen
        last = min(self._journal.index.count, seen + MAX_AT_ONCE)
        self.numbers.extend(_STEPS.numbers(self._journal.index, seen, last))
        self._seen = last
        return len(self.numbers) > first

    @property
    def behind(self) -> bool:
        """Whether more events are left than one call processes."""
        return self._seen < self._journal.index.count

    def steps(self) -> list[AuthStep]:
        """The steps of the latest login, and those that it did not reach."""
        steps = _settled(_newest(self._events()))
        if not steps or (steps[-1].name in _ENDS and steps[-1].outcome == "ok"):
            return steps
        last = steps[-1]
        if last.outcome != "failed" and (failure := self._failure(last.n)) is not None:
            steps.append(failure)
            last = failure
        if last.outcome != "failed" or last.name in _ENDS:
            return steps
        return steps + [AuthStep(0, last.t, name, "open") for name in _not_reached(steps)]

    def logged_in(self) -> LoggedIn | None:
        """The latest token's properties; None without a token, or after its revocation."""
        issuer = ""
        latest: LoggedIn | None = None
        for event in self._events():
            step, ok, facts = event.fields.get("step"), event.fields.get("ok") is True, _facts(event)
            if step == "server" and ok:
                issuer = _text(facts.get("issuer")) or issuer
            elif step == "token" and ok and "token_type" in facts:
                latest = _logged_in(event, issuer, facts)
            elif step == "revoke":
                latest = None
        return latest

    def _events(self) -> list[Event]:
        last = len(self.numbers) if self.upto is None else bisect_right(self.numbers, self.upto)
        return [self._journal.event(n) for n in self.numbers[max(last - MAX_STEPS, 0) : last]]

    def _failure(self, after: int) -> AuthStep | None:
        """Return why a login ended without a failed step: the person declined or did not return."""
        index = self._journal.index
        for n in range(after + 1, min(index.count, after + MAX_STEPS) + 1):
            if index.kind(n) == Kind.LIFE:
                event = self._journal.event(n)
                error = event.fields.get("error")
                if event.fields.get("event") == "failed" and type(error) is dict:
                    fix = Hint.from_json(error.get("hint_parts"), error.get("hint"))
                    return AuthStep(n, event.t, "end", "failed", _text(error.get("message")), fix=fix)
        return None


def authorization_steps(journal: Journal) -> list[AuthStep]:
    """Return the steps of the latest login of an indexed journal."""
    authorizations = Authorizations(journal)
    while authorizations.behind:
        authorizations.advance()
    return authorizations.steps()


def _newest(events: list[Event]) -> list[AuthStep]:
    """Return the steps since the latest login started, each with its requests."""
    steps: list[AuthStep] = []
    fetches: list[Event] = []
    repeated: dict[int, list[Event]] = {}
    for event in events:
        name = _text(event.fields.get("step"))
        if type(of := _facts(event).get("again")) is int:
            repeated.setdefault(of, []).append(event)
            continue
        if name == "fetch":
            fetches.append(event)
            continue
        if name == "challenge" or (name == "resource" and steps and steps[-1].name in _ENDS):
            # A login on request has no challenge: it starts with the metadata.
            steps = _given_up(steps) if name == "challenge" else []
        steps.append(_step(event, name, fetches))
        fetches = []
    if fetches:
        # A request within a step, or the last one before a failure.
        last = fetches[-1]
        steps.append(_step(last, "fetch", fetches))
    return [replace(step, again=_repeated(repeated[step.n])) if step.n in repeated else step for step in steps]


def _given_up(steps: list[AuthStep]) -> list[AuthStep]:
    """Return the last steps before a challenge that say why there was no token: the refresh failed."""
    first = len(steps)
    while first and steps[first - 1].name == "refresh" and steps[first - 1].outcome == "failed":
        first -= 1
    return steps[first:]


def _repeated(events: list[Event]) -> tuple[AuthStep, ...]:
    """Return the result of each repetition of a step: one step a run, with all its requests."""
    runs: dict[object, list[Event]] = {}
    for event in events:
        runs.setdefault(_number(_facts(event).get("run")), []).append(event)
    steps: list[AuthStep] = []
    for run in runs.values():
        outcomes = [event for event in run if event.fields.get("step") != "fetch"]
        last = (outcomes or run)[-1]
        steps.append(_step(last, _text(last.fields.get("step")), [fetch for fetch in run if fetch not in outcomes]))
    return tuple(steps)


def _step(event: Event, name: str, fetches: list[Event]) -> AuthStep:
    fields = event.fields
    return AuthStep(
        event.n,
        event.t,
        name,
        "ok" if fields.get("ok") is True else "failed",
        _text(fields.get("text")),
        _text(fields.get("rule")),
        Hint.from_json(fields.get("fix_parts"), fields.get("fix")),
        _facts(event),
        tuple(fetch.n for fetch in fetches),
        math.fsum(_number(_facts(fetch).get("ms")) for fetch in fetches),
    )


def _not_reached(steps: list[AuthStep]) -> list[str]:
    """Return the names of the steps that would have followed, by the requested grant."""
    # A step-up replaces the scope step: everything before it is known already.
    reached = {"scope" if step.name == "stepup" else step.name for step in steps}
    order = ORDERS[_grant(steps)]
    at = max((order.index(name) for name in reached if name in order), default=len(order))
    return list(order[at + 1 :])


def _grant(steps: list[AuthStep]) -> str:
    """Return the grant of a login according to its steps; by default the one in a browser."""
    for step in reversed(steps):
        grant = _text(step.facts.get("grant")) or _OWN.get(step.name, "")
        if grant in ORDERS:
            return grant
    return "code"


def _settled(steps: list[AuthStep]) -> list[AuthStep]:
    """Mark failed steps as notes if the login continued after them."""
    last = len(steps) - 1
    return [
        replace(step, outcome="note") if step.outcome == "failed" and at < last else step
        for at, step in enumerate(steps)
    ]


def _logged_in(event: Event, issuer: str, facts: dict[str, Any]) -> LoggedIn:
    claims = object_at(facts, "claims")
    lifetime = _number(facts.get("expires_in"))
    return LoggedIn(
        event.n,
        event.t,
        issuer or _text(claims.get("iss")),
        _text(facts.get("resource")),
        _scopes(facts.get("scope")),
        _scopes(facts.get("missing")),
        event.t + round(lifetime * 1_000_000) if lifetime > 0 else 0,
        facts.get("refresh") is True,
        claims,
    )


def _facts(event: Event) -> dict[str, Any]:
    return object_at(event.fields, "facts")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _scopes(value: object) -> tuple[str, ...]:
    return tuple(word for word in value[:MAX_SCOPES] if isinstance(word, str)) if type(value) is list else ()


def _number(value: object) -> float:
    """Return a finite number; 0 for anything else."""
    if type(value) not in (int, float):
        return 0
    assert isinstance(value, (int, float))
    return float(value) if abs(value) < 1e12 else 0

"""How a login went, step by step, and who is logged in: a reduction of `auth` events, live and recorded alike."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from inspector.hints import NO_HINT, Hint
from inspector.journal.format import Event, Kind
from inspector.journal.journal import Journal
from inspector.journal.select import Query

Outcome = Literal["ok", "note", "failed", "open"]

_BEGINS = ("challenge", "resource", "server", "metadata", "issuer", "scope")
ORDERS = {
    "code": (*_BEGINS, "registration", "authorize", "callback", "token"),
    "client-credentials": (*_BEGINS, "registration", "token"),
    "enterprise": (*_BEGINS, "registration", "exchange", "token"),
    "workload": (*_BEGINS, "token"),
    "device": (*_BEGINS, "registration", "device", "token"),
}
"""The steps of a login by each grant, as they come; what was not reached is named from here."""
_ENDS = ("token", "refresh", "request", "revoke")
_OWN = {"device": "device", "exchange": "enterprise"}
"""Steps that only one grant has, and which that is."""
MOST_STEPS = 200
"""Events of one login that are looked at: the newest."""
MOST_AT_ONCE = 50_000
MOST_WORDS = 100


@dataclass(frozen=True, slots=True)
class AuthStep:
    """One step. All its texts may hold a server's words: show them only through `inspector.text.safe`."""

    n: int
    """The event that tells it; 0 for a step that was not reached."""
    t: int
    """Microseconds since the recording began."""
    name: str
    outcome: Outcome
    """`note`: not as it should be, and the login went on all the same. `open`: not reached."""
    text: str = ""
    """What was found or decided."""
    rule: str = ""
    fix: Hint = NO_HINT
    """What the server should have sent, or what can be done."""
    facts: dict[str, Any] = field(default_factory=dict)
    """More to look at; of a recording, so that nothing is sure of their types."""
    fetches: tuple[int, ...] = ()
    """The events of the requests that were made for it, in order."""
    ms: float = 0
    """What these took, in milliseconds."""
    again: tuple[AuthStep, ...] = ()
    """What came of it each time it was run once more, alone: the last step told of each (see `auth/rerun_step.py`)."""


@dataclass(frozen=True, slots=True)
class LoggedIn:
    """What the newest token is for, as the authorization server and the token itself say it. Never the token."""

    n: int
    t: int
    """When it came, in microseconds since the recording began."""
    issuer: str
    resource: str
    """What it was asked for (RFC 8707)."""
    scope: tuple[str, ...]
    missing: tuple[str, ...]
    """Scopes that were asked for and not granted."""
    ends: int
    """When it ends, in microseconds since the recording began; 0 where that is not known."""
    renewable: bool
    claims: dict[str, Any]
    """What a token says that is a JWT, without anybody having checked its signature; empty for any other."""

    @property
    def audience_fits(self) -> bool | None:
        """Whether `aud` names the resource, character by character; None where it names nothing."""
        audience = self.claims.get("aud")
        named = audience if type(audience) is list else [audience]
        named = [each for each in named if isinstance(each, str)]
        return self.resource in named if named and self.resource else None


_STEPS = Query(kind=Kind.AUTH)


class Authorizations:
    """Takes in what a journal tells of authorization, some of it at a time."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._seen = 0
        self.numbers = array("I")
        """Its `auth` events."""
        self.upto: int | None = None
        """The last event that had happened, of a recording that is shown at some moment; None for all."""

    def advance(self) -> bool:
        """Take in some of what is new; whether there was anything of interest."""
        first, seen = len(self.numbers), self._seen
        last = min(self._journal.index.count, seen + MOST_AT_ONCE)
        self.numbers.extend(_STEPS.numbers(self._journal.index, seen, last))
        self._seen = last
        return len(self.numbers) > first

    @property
    def behind(self) -> bool:
        """There is more to take in than one turn allows."""
        return self._seen < self._journal.index.count

    def steps(self) -> list[AuthStep]:
        """The steps of the newest login, and those that it did not reach."""
        steps = _settled(_newest(self._told()))
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
        """What the newest token is for; None where there is none, or it was given back."""
        issuer = ""
        found: LoggedIn | None = None
        for event in self._told():
            step, ok, facts = event.fields.get("step"), event.fields.get("ok") is True, _facts(event)
            if step == "server" and ok:
                issuer = _text(facts.get("issuer")) or issuer
            elif step == "token" and ok and "token_type" in facts:
                found = _logged_in(event, issuer, facts)
            elif step == "revoke":
                found = None
        return found

    def _told(self) -> list[Event]:
        last = len(self.numbers) if self.upto is None else bisect_right(self.numbers, self.upto)
        return [self._journal.event(n) for n in self.numbers[max(last - MOST_STEPS, 0) : last]]

    def _failure(self, after: int) -> AuthStep | None:
        """Why it ended without a step that says so: somebody said no, or nobody came back."""
        index = self._journal.index
        for n in range(after + 1, min(index.count, after + MOST_STEPS) + 1):
            if index.kind(n) == Kind.LIFE:
                event = self._journal.event(n)
                error = event.fields.get("error")
                if event.fields.get("event") == "failed" and type(error) is dict:
                    fix = Hint.from_json(error.get("hint_parts"), error.get("hint"))
                    return AuthStep(n, event.t, "end", "failed", _text(error.get("message")), fix=fix)
        return None


def authorization_steps(journal: Journal) -> list[AuthStep]:
    """The steps of the newest login of a journal that is indexed already."""
    found = Authorizations(journal)
    while found.behind:
        found.advance()
    return found.steps()


def _newest(events: list[Event]) -> list[AuthStep]:
    """The steps since the newest login began, each with the requests that were made for it."""
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
            # Where somebody logs in unasked there is no challenge: the metadata come first.
            steps = _given_up(steps) if name == "challenge" else []
        steps.append(_step(event, name, fetches))
        fetches = []
    if fetches:
        # A request in the middle of something, or the last that was made before it failed.
        last = fetches[-1]
        steps.append(_step(last, "fetch", fetches))
    return [replace(step, again=_repeated(repeated[step.n])) if step.n in repeated else step for step in steps]


def _given_up(steps: list[AuthStep]) -> list[AuthStep]:
    """Of the steps before a challenge, the last ones that say why there was no token: it could not be renewed."""
    first = len(steps)
    while first and steps[first - 1].name == "refresh" and steps[first - 1].outcome == "failed":
        first -= 1
    return steps[first:]


def _repeated(events: list[Event]) -> tuple[AuthStep, ...]:
    """What came of a step each time that it was run again: one step for each run, with all its requests."""
    runs: dict[object, list[Event]] = {}
    for event in events:
        runs.setdefault(_number(_facts(event).get("run")), []).append(event)
    found: list[AuthStep] = []
    for run in runs.values():
        told = [event for event in run if event.fields.get("step") != "fetch"]
        last = (told or run)[-1]
        found.append(_step(last, _text(last.fields.get("step")), [each for each in run if each not in told]))
    return tuple(found)


def _step(event: Event, name: str, fetches: list[Event]) -> AuthStep:
    fields = event.fields
    return AuthStep(
        event.n, event.t, name, "ok" if fields.get("ok") is True else "failed", _text(fields.get("text")),
        _text(fields.get("rule")), Hint.from_json(fields.get("fix_parts"), fields.get("fix")), _facts(event),
        tuple(each.n for each in fetches),
        math.fsum(_number(_facts(each).get("ms")) for each in fetches),
    )  # fmt: skip


def _not_reached(steps: list[AuthStep]) -> list[str]:
    """What would have come after these steps, by the grant that was wanted."""
    # More scopes are asked for in the place of the first ones: all before that is known already.
    reached = {"scope" if step.name == "stepup" else step.name for step in steps}
    order = ORDERS[_grant(steps)]
    at = max((order.index(name) for name in reached if name in order), default=len(order))
    return list(order[at + 1 :])


def _grant(steps: list[AuthStep]) -> str:
    """The grant of a login, as its steps tell it; where none does, it is one in a browser."""
    for step in reversed(steps):
        told = _text(step.facts.get("grant")) or _OWN.get(step.name, "")
        if told in ORDERS:
            return told
    return "code"


def _settled(steps: list[AuthStep]) -> list[AuthStep]:
    """What was not in order is a note where the login went on after it."""
    last = len(steps) - 1
    return [
        replace(step, outcome="note") if step.outcome == "failed" and at < last else step
        for at, step in enumerate(steps)
    ]


def _logged_in(event: Event, issuer: str, facts: dict[str, Any]) -> LoggedIn:
    claims = facts.get("claims")
    claims = claims if type(claims) is dict else {}
    lifetime = _number(facts.get("expires_in"))
    return LoggedIn(
        event.n, event.t, issuer or _text(claims.get("iss")), _text(facts.get("resource")), _words(facts.get("scope")),
        _words(facts.get("missing")), event.t + round(lifetime * 1_000_000) if lifetime > 0 else 0,
        facts.get("refresh") is True, claims,
    )  # fmt: skip


def _facts(event: Event) -> dict[str, Any]:
    facts = event.fields.get("facts")
    return facts if type(facts) is dict else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _words(value: object) -> tuple[str, ...]:
    return tuple(each for each in value[:MOST_WORDS] if isinstance(each, str)) if type(value) is list else ()


def _number(value: object) -> float:
    """A number that can be reckoned with; 0 for anything else."""
    if type(value) not in (int, float):
        return 0
    assert isinstance(value, (int, float))
    return float(value) if abs(value) < 1e12 else 0

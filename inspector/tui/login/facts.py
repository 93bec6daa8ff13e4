"""What there is to say of a login: of each of its steps, and of who is logged in."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from inspector.auth.rules import rule_of
from inspector.client.state.login import AuthStep, LoggedIn
from inspector.journal.journal import Journal
from inspector.text import duration, safe
from inspector.tui.advice import advice
from inspector.tui.themes import signs_now
from inspector.tui.widgets.fact_rows import Row, fact, heading, paragraph

_TEXT, _FACTS, _CLAIMS = 1000, 40, 40
_FIX, _NOW = "What would fix it   ", "What you can do"
_SKEW = 60
"""Seconds by which two clocks may differ before anybody is told."""
_TIMES = ("exp", "iat", "nbf", "auth_time")
_ELSEWHERE = frozenset({
    "claims", "document", "request", "response", "headers", "ms", "bytes", "url", "status", "field", "again", "run",
    "expected", "found", "places", "challenge", "asked",
})  # fmt: skip
"""Facts that are shown in another place than among the others."""


def step_rows(step: AuthStep, told: bool = False) -> list[Row]:
    """All there is to say of a step: what was found, what was expected instead, what would fix it, why that counts.

    With `told`, its text stands above already.
    """
    if step.outcome == "open":
        return [Row([("It comes after the steps above.", "muted")])]
    rows = [] if told else paragraph(safe(step.text, _TEXT, multiline=True))
    if isinstance(step.facts.get("expected"), str) and isinstance(step.facts.get("found"), str):
        rows += [Row(), *_compared(step.facts["expected"], step.facts["found"])]
    rows += [*_places(step), *_looked_at(step)]
    if step.fix and step.outcome != "ok":
        first, *more = paragraph(safe(advice(step.fix), _TEXT, multiline=True))
        # Where no rule was broken, there is nothing to be mended.
        label = _FIX if step.rule else f"{_NOW:<{len(_FIX)}}"
        rows += [Row(), Row([(label, "bright bold"), *first.pieces], len(_FIX))]
        rows += [Row([" " * len(_FIX), *row.pieces], len(_FIX)) for row in more]
    rule = rule_of(step.rule)
    if step.rule:
        rows += [Row(), *(paragraph(rule.text, "muted") if rule is not None else ())]
        source = rule.source if rule is not None and step.rule not in rule.source else ""
        rows.append(Row([(", ".join(filter(None, (step.rule[:_TEXT], source))), "faint")]))
    for again in step.again:
        rows += _again(again)
    # What comes first has no empty row above it.
    return rows[1:] if rows and not rows[0].pieces else rows


def logged_in_rows(found: LoggedIn, journal: Journal, *, now: float | None = None) -> list[Row]:
    """Who issued the newest token, for what, until when; and what it says of itself. `now`: seconds since 1970."""
    now = time.time() if now is None else now
    rows = fact("issued by", found.issuer[:_TEXT] or "not known")
    rows += fact("for", found.resource[:_TEXT] or "no resource in particular")
    rows += fact("scopes", " ".join(found.scope)[:_TEXT] or "not told")
    if found.missing:
        rows += fact("not granted", " ".join(found.missing)[:_TEXT], "finding")
    holds = False
    if found.ends:
        ends = journal.clock(found.ends)
        holds = ends.timestamp() > now
        renewed = ", and can be renewed" if found.renewable else ""
        rows += fact("until", f"{ends:%Y-%m-%d %H:%M:%S}, {distance(ends.timestamp() - now)}{renewed}")
    else:
        rows += fact("until", "its end is not told", "muted")
    if not found.claims:
        return rows
    rows += heading("What the token says of itself (its signature is not checked)")
    for name, value in list(found.claims.items())[:_CLAIMS]:
        rows += fact(name[:_TEXT], _claim(name, value, now))
        if name == "aud" and found.audience_fits is not None:
            fits = found.audience_fits
            words = "names this server" if fits else f"does not name this server, which is {found.resource[:_TEXT]}"
            rows += fact("", words, "received" if fits else "error")
        elif name == "exp" and holds and type(value) in (int, float) and value < now - _SKEW:
            rows += fact(
                "", "has passed, although the authorization server says that it holds: is a clock wrong?", "finding"
            )
    return rows


def distance(seconds: float) -> str:
    """How far away a time is: `in 12 min`, `3 h ago`."""
    size = abs(seconds)
    for unit, length in (("d", 172_800), ("h", 7200), ("min", 60)):
        if size >= length:
            words = f"{size / {'d': 86_400, 'h': 3600, 'min': 60}[unit]:,.0f} {unit}"
            return f"in {words}" if seconds > 0 else f"{words} ago"
    return "in less than a minute" if seconds > 0 else "just now"


def plain_fact(value: Any) -> str:
    """A value of any type in a few words."""
    if isinstance(value, str):
        return value[:_TEXT]
    if isinstance(value, Sequence) and all(isinstance(each, str) for each in value[:_FACTS]):
        return "  ".join(value[:_FACTS])[:_TEXT]
    try:
        return json.dumps(value, ensure_ascii=False)[:_TEXT]
    except (ValueError, RecursionError):
        return "nested too deeply to be shown"


def _compared(expected: str, found: str) -> list[Row]:
    """What was expected and what was found, one below the other; from where they part, what was found stands out."""
    expected, found = safe(expected, _TEXT), safe(found, _TEXT)
    pairs = zip(expected, found, strict=False)
    same = next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(expected), len(found)))
    return [
        Row([("expected  ", "muted"), (expected, "bright")], 10),
        Row([("found     ", "muted"), (found[:same], "bright"), (found[same:] or " and no more", "error")], 10),
    ]


def _places(step: AuthStep) -> list[Row]:
    """Where it was looked for in vain, and what there was instead."""
    rows: list[Row] = []
    places = step.facts.get("places")
    for place in places[:_FACTS] if isinstance(places, list) else ():
        if isinstance(place, list) and len(place) == 2:
            url, found = plain_fact(place[0]), plain_fact(place[1])
            rows += [Row([url], 2), Row([("  ", "muted"), (found.removeprefix(url).lstrip(), "muted")], 2)]
    return [Row(), *rows] if rows else []


def _looked_at(step: AuthStep) -> list[Row]:
    """The facts of a step."""
    rows: list[Row] = []
    for name, value in list(step.facts.items())[:_FACTS]:
        if name not in _ELSEWHERE and value not in (None, "", [], {}):
            rows += fact(name.replace("_", " ")[:_TEXT], plain_fact(value))
    return [Row(), *rows] if rows else []


def _again(step: AuthStep) -> list[Row]:
    """What came of the step when it was run once more."""
    signs = signs_now()
    mark, role = (signs.done, "received") if step.outcome == "ok" else (signs.failed, "error")
    took = f"  {duration(round(step.ms * 1000))}" if step.ms else ""
    head = Row([("again  ", "bright bold"), (f"{mark} ", role), safe(step.text, _TEXT), (took, "muted")], 9)
    return [Row(), head]


def _claim(name: str, value: object, now: float) -> str:
    if name in _TIMES and type(value) in (int, float):
        assert isinstance(value, (int, float))
        try:
            when = datetime.fromtimestamp(value, UTC).astimezone()
        except (OverflowError, ValueError, OSError):
            return f"{plain_fact(value)}, which no calendar has"
        return f"{when:%Y-%m-%d %H:%M:%S}, {distance(value - now)}"
    return plain_fact(value)

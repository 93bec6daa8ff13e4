"""The rows about a login: about each step, and about the user who is logged in."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from inspector.auth.login_rules import rule_of
from inspector.client.state.login import AuthStep, LoggedIn
from inspector.journal.journal import Journal
from inspector.text import duration, safe
from inspector.tui.advice import advice
from inspector.tui.themes import signs_now
from inspector.tui.widgets.fact_rows import Row, fact, heading, paragraph

_TEXT, _FACTS, _CLAIMS = 1000, 40, 40
_FIX, _NOW = "Possible fix   ", "Next action"
_SKEW = 60
"""Seconds by which two clocks may differ without a warning."""
_TIMES = ("exp", "iat", "nbf", "auth_time")
_ELSEWHERE = frozenset(
    """
    claims document request response headers ms bytes url status field again run expected found places challenge asked
    """.split()
)
"""Facts that are shown elsewhere."""


def step_rows(step: AuthStep, told: bool = False) -> list[Row]:
    """Return the rows of a step: what was found, what was expected, a possible fix, and the reason.

    With `told`, its text is already shown above.
    """
    if step.outcome == "open":
        return [Row([("The steps above come first.", "muted")])]
    rows = [] if told else paragraph(safe(step.text, _TEXT, multiline=True))
    if isinstance(step.facts.get("expected"), str) and isinstance(step.facts.get("found"), str):
        rows += [Row(), *_compared(step.facts["expected"], step.facts["found"])]
    rows += [*_places(step), *_looked_at(step)]
    if step.fix and step.outcome != "ok":
        first, *more = paragraph(safe(advice(step.fix), _TEXT, multiline=True))
        # Without a broken rule there is nothing to fix.
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
    # The first part has no empty row above it.
    return rows[1:] if rows and not rows[0].pieces else rows


def logged_in_rows(found: LoggedIn, journal: Journal, *, now: float | None = None) -> list[Row]:
    """Return the issuer, scope and expiry of the newest token, and its claims. `now`: seconds since 1970."""
    now = time.time() if now is None else now
    rows = fact("issued by", found.issuer[:_TEXT] or "unknown")
    rows += fact("for", found.resource[:_TEXT] or "no specific resource")
    rows += fact("scopes", " ".join(found.scope)[:_TEXT] or "not given")
    if found.missing:
        rows += fact("not granted", " ".join(found.missing)[:_TEXT], "finding")
    holds = False
    if found.ends:
        ends = journal.clock(found.ends)
        holds = ends.timestamp() > now
        renewed = ", and can be renewed" if found.renewable else ""
        rows += fact("until", f"{ends:%Y-%m-%d %H:%M:%S}, {distance(ends.timestamp() - now)}{renewed}")
    else:
        rows += fact("until", "expiry not given", "muted")
    if not found.claims:
        return rows
    rows += heading("Claims of the token (its signature is not checked)")
    for name, value in list(found.claims.items())[:_CLAIMS]:
        rows += fact(name[:_TEXT], _claim(name, value, now))
        if name == "aud" and found.audience_fits is not None:
            fits = found.audience_fits
            words = "names this server" if fits else f"does not name this server, which is {found.resource[:_TEXT]}"
            rows += fact("", words, "received" if fits else "error")
        elif name == "exp" and holds and type(value) in (int, float) and value < now - _SKEW:
            rows += fact(
                "",
                ("has passed, although the authorization server says that the token is valid: is a clock wrong?"),
                "finding",
            )
    return rows


def distance(seconds: float) -> str:
    """Return how far away a time is: `in 12 min`, `3 h ago`."""
    size = abs(seconds)
    for unit, length in (("d", 172_800), ("h", 7200), ("min", 60)):
        if size >= length:
            words = f"{size / {'d': 86_400, 'h': 3600, 'min': 60}[unit]:,.0f} {unit}"
            return f"in {words}" if seconds > 0 else f"{words} ago"
    return "in less than a minute" if seconds > 0 else "just now"


def plain_fact(value: Any) -> str:
    """Format a value of any type in a few words."""
    if isinstance(value, str):
        return value[:_TEXT]
    if isinstance(value, Sequence) and all(isinstance(each, str) for each in value[:_FACTS]):
        return "  ".join(value[:_FACTS])[:_TEXT]
    try:
        return json.dumps(value, ensure_ascii=False)[:_TEXT]
    except (ValueError, RecursionError):
        return "nested too deeply to show"


def _compared(expected: str, found: str) -> list[Row]:
    """Return the expected and the found value on two lines, with the different part highlighted."""
    expected, found = safe(expected, _TEXT), safe(found, _TEXT)
    pairs = zip(expected, found, strict=False)
    same = next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(expected), len(found)))
    return [
        Row([("expected  ", "muted"), (expected, "bright")], 10),
        Row([("found     ", "muted"), (found[:same], "bright"), (found[same:] or " and ends here", "error")], 10),
    ]


def _places(step: AuthStep) -> list[Row]:
    """The places that were tried without success, and their responses."""
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
    """The result of running the step again."""
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
            return f"{plain_fact(value)}, not a valid date"
        return f"{when:%Y-%m-%d %H:%M:%S}, {distance(value - now)}"
    return plain_fact(value)

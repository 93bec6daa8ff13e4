"""The authorization view's rows: the ladder of steps, what there is to say of one, and who is logged in."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from rich.segment import Segment

from inspector.client.authorization import AuthStep, LoggedIn
from inspector.journal.journal import Journal
from inspector.text import duration, safe
from inspector.tui.rows import Row, fact, heading, paragraph
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint

TITLES = {
    "challenge": "challenge", "resource": "protected resource", "server": "authorization server",
    "metadata": "its metadata", "issuer": "its issuer", "scope": "scopes", "registration": "client",
    "authorize": "browser", "callback": "coming back", "device": "code to enter", "exchange": "identity provider",
    "token": "token", "refresh": "renewal", "stepup": "more scopes", "request": "request", "revoke": "log out",
    "fetch": "request", "end": "end",
}  # fmt: skip
"""What the steps are called on the screen."""
_TITLE, _TIME, _RULE = 21, 8, 9
_TEXT, _BODY, _FIELDS, _FACTS = 1000, 20_000, 60, 40
_LEAST_FOR_RULE = 80
"""Cells of a row that has room for its rule; the text of the step names it in any case."""
_TIMES = ("exp", "iat", "nbf", "auth_time")
_CLAIMS = 40


class Ladder:
    """The rows of a list of steps."""

    def __init__(self) -> None:
        self.steps: list[AuthStep] = []

    def __len__(self) -> int:
        return len(self.steps)

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Segment]:
        step = self.steps[index]
        signs = signs_now()
        mark, role = {
            "ok": (signs.done, "received"), "note": (signs.finding, "finding"), "failed": (signs.failed, "error"),
            "open": (signs.later, "faint"),
        }[step.outcome]  # fmt: skip
        quiet = step.outcome == "open"
        line = paint.segments([(f"{mark} ", role), (f"{index + 1:>2} ", "faint" if quiet else "normal")])
        line += paint.cell([(title(step), "faint" if quiet else "bright")], _TITLE)
        text = "not reached" if quiet else step.text
        said = paint.segments([" ", (text, "faint" if quiet else "normal")], room=width)
        took = duration(round(step.ms * 1000)) if step.ms else ""
        end = paint.cell([(took, "muted")], _TIME, right=True) if took else []
        if width >= _LEAST_FOR_RULE:
            end = paint.cell([(took, "muted")], _TIME, right=True)
            end += paint.segments([("  ", "muted")]) + paint.cell(
                [(step.rule.partition(" section")[0], "faint")], _RULE
            )
        return paint.spread([*line, *said], end, width)


def title(step: AuthStep) -> str:
    """What a step is called; a step of a later version of ours as it calls itself."""
    return TITLES.get(step.name) or step.name[:_TITLE]


def step_rows(step: AuthStep, journal: Journal) -> list[Row]:
    """All there is to say of a step: what was found, what would fix it, what was looked at, and its requests."""
    if step.outcome == "open":
        return [Row([("This step was not reached.", "muted")])]
    role = {"failed": "error", "note": "finding"}.get(step.outcome, "bright")
    rows = paragraph(safe(step.text, _TEXT, multiline=True), role)
    if step.fix:
        rows += [*heading("What would fix it"), *paragraph(safe(step.fix, _TEXT, multiline=True))]
    if step.rule:
        rows += [Row(), *fact("rule", step.rule, "muted")]
    rows += _looked_at(step)
    for n in step.fetches:
        rows += _fetch(journal, n)
    return rows


def logged_in_rows(found: LoggedIn, journal: Journal) -> list[Row]:
    """Who issued the newest token, for what, until when; and what it says of itself."""
    rows = fact("issued by", found.issuer[:_TEXT] or "not known")
    rows += fact("for", found.resource[:_TEXT] or "no resource in particular")
    rows += fact("scopes", " ".join(found.scope)[:_TEXT] or "not told")
    if found.missing:
        rows += fact("not granted", " ".join(found.missing)[:_TEXT], "finding")
    if found.ends:
        when = f"{journal.clock(found.ends):%Y-%m-%d %H:%M:%S}"
        rows += fact("until", f"{when}{', and can be renewed' if found.renewable else ''}")
    else:
        rows += fact("until", "its end is not told", "muted")
    if not found.claims:
        return rows
    rows += heading("What the token says of itself (its signature is not checked)")
    for name, value in list(found.claims.items())[:_CLAIMS]:
        rows += fact(name[:_TEXT], _claim(name, value))
        if name == "aud" and found.audience_fits is not None:
            fits = found.audience_fits
            words = "names this server" if fits else f"does not name this server, which is {found.resource[:_TEXT]}"
            rows += fact("", words, "received" if fits else "error")
    return rows


def _looked_at(step: AuthStep) -> list[Row]:
    """The facts of a step; where one was expected and another found, one below the other."""
    rows: list[Row] = []
    hidden = ("claims", "document", "request", "response", "headers", "ms")
    for name, value in list(step.facts.items())[:_FACTS]:
        if name not in hidden and value not in (None, "", [], {}):
            rows += fact(name[:_TEXT], _plain(value), "bright" if name in ("expected", "found") else "normal")
    return [Row(), *rows] if rows else []


def _fetch(journal: Journal, n: int) -> list[Row]:
    """One request of a login and its answer; both without their secrets, as the recording has them."""
    facts = journal.event(n).fields.get("facts")
    facts = facts if type(facts) is dict else {}
    rows = heading(f"{_plain(facts.get('method'))} {_plain(facts.get('url'))}")
    rows += _side(facts.get("request"))
    if facts.get("status") is None:
        return rows + paragraph(safe(_plain(journal.event(n).fields.get("text")), _TEXT), "error")
    rows += [Row(), Row([("answer  ", "muted"), (_plain(facts["status"]), "bright")])]
    return rows + _side(facts.get("response"))


def _side(side: object) -> list[Row]:
    if type(side) is not dict:
        return []
    headers = side.get("headers")
    rows = [
        Row([(f"{_plain(pair[0])}: ", "muted"), (_plain(pair[1]), "normal")], 2)
        for pair in (headers[:_FIELDS] if type(headers) is list else ())
        if type(pair) is list and len(pair) == 2
    ]
    body = side.get("body")
    if isinstance(body, str) and body:
        rows += [Row(), *paragraph(_indented(body))]
    return rows


def _indented(body: str) -> str:
    """JSON laid out; anything else as it is."""
    if len(body) > _BODY:
        return f"{body[:_BODY]}…"
    try:
        return json.dumps(json.loads(body), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return body


def _claim(name: str, value: object) -> str:
    if name in _TIMES and type(value) in (int, float):
        assert isinstance(value, (int, float))
        try:
            return f"{datetime.fromtimestamp(value, UTC).astimezone():%Y-%m-%d %H:%M:%S}"
        except (OverflowError, ValueError, OSError):
            return f"{_plain(value)}, which no calendar has"
    return _plain(value)


def _plain(value: Any) -> str:
    """A value of any type in a few words."""
    if isinstance(value, str):
        return value[:_TEXT]
    if isinstance(value, Sequence) and all(isinstance(each, str) for each in value[:_FACTS]):
        return "  ".join(value[:_FACTS])[:_TEXT]
    try:
        return json.dumps(value, ensure_ascii=False)[:_TEXT]
    except (ValueError, RecursionError):
        return "nested too deeply to be shown"

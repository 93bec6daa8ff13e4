"""The steps of a login as a list, the facts of each, and the user who is logged in."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Hashable, Sequence
from datetime import UTC, datetime
from typing import Any

from rich.segment import Segment
from textual.message import Message

from inspector.auth.login_rules import rule_of
from inspector.client.state.login import AuthStep, LoggedIn
from inspector.journal.journal import Journal
from inspector.text import duration, safe
from inspector.tui.advice import advice
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.fact_rows import Row, RowSection, fact, heading, paragraph
from inspector.tui.widgets.virtual_list import VirtualList
from inspector.tui.widgets.wrapping import wrap

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


def step_rows(step: AuthStep, has_text_above: bool = False) -> list[Row]:
    """Return the rows of a step: what was found, what was expected, a possible fix, and the reason.

    With `has_text_above`, its text is already shown above.
    """
    if step.outcome == "open":
        return [Row([("The steps above come first.", "muted")])]
    rows = [] if has_text_above else paragraph(safe(step.text, _TEXT, multiline=True))
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


def logged_in_rows(login: LoggedIn, journal: Journal, *, now: float | None = None) -> list[Row]:
    """Return the issuer, scope and expiry of the newest token, and its claims. `now`: seconds since 1970."""
    now = time.time() if now is None else now
    rows = fact("issued by", login.issuer[:_TEXT] or "unknown")
    rows += fact("for", login.resource[:_TEXT] or "no specific resource")
    rows += fact("scopes", " ".join(login.scope)[:_TEXT] or "not given")
    if login.missing:
        rows += fact("not granted", " ".join(login.missing)[:_TEXT], "finding")
    holds = False
    if login.ends:
        ends = journal.clock(login.ends)
        holds = ends.timestamp() > now
        renewed = ", and can be renewed" if login.renewable else ""
        rows += fact("until", f"{ends:%Y-%m-%d %H:%M:%S}, {distance(ends.timestamp() - now)}{renewed}")
    else:
        rows += fact("until", "expiry not given", "muted")
    if not login.claims:
        return rows
    rows += heading("Claims of the token (its signature is not checked)")
    for name, value in list(login.claims.items())[:_CLAIMS]:
        rows += fact(name[:_TEXT], _claim(name, value, now))
        if name == "aud" and login.audience_fits is not None:
            fits = login.audience_fits
            words = "names this server" if fits else f"does not name this server, which is {login.resource[:_TEXT]}"
            rows += fact("", words, "received" if fits else "error")
        elif name == "exp" and holds and type(value) in (int, float) and value < now - _SKEW:
            text = "has passed, although the authorization server says that the token is valid: is a clock wrong?"
            rows += fact("", text, "finding")
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
    if isinstance(value, Sequence) and all(isinstance(item, str) for item in value[:_FACTS]):
        return "  ".join(value[:_FACTS])[:_TEXT]
    try:
        return json.dumps(value, ensure_ascii=False)[:_TEXT]
    except (ValueError, RecursionError):
        return "nested too deeply to show"


def _compared(expected: str, actual: str) -> list[Row]:
    """Return the expected and the found value on two lines, with the different part highlighted."""
    expected, actual = safe(expected, _TEXT), safe(actual, _TEXT)
    pairs = zip(expected, actual, strict=False)
    same = next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(expected), len(actual)))
    return [
        Row([("expected  ", "muted"), (expected, "bright")], 10),
        Row([("found     ", "muted"), (actual[:same], "bright"), (actual[same:] or " and ends here", "error")], 10),
    ]


def _places(step: AuthStep) -> list[Row]:
    """Return the places that were tried without success, and their responses."""
    rows: list[Row] = []
    places = step.facts.get("places")
    for place in places[:_FACTS] if isinstance(places, list) else ():
        if isinstance(place, list) and len(place) == 2:
            url, response = plain_fact(place[0]), plain_fact(place[1])
            rows += [Row([url], 2), Row([("  ", "muted"), (response.removeprefix(url).lstrip(), "muted")], 2)]
    return [Row(), *rows] if rows else []


def _looked_at(step: AuthStep) -> list[Row]:
    """Return the facts of a step."""
    rows: list[Row] = []
    for name, value in list(step.facts.items())[:_FACTS]:
        if name not in _ELSEWHERE and value not in (None, "", [], {}):
            rows += fact(name.replace("_", " ")[:_TEXT], plain_fact(value))
    return [Row(), *rows] if rows else []


def _again(step: AuthStep) -> list[Row]:
    """Return the result of running the step again."""
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


TITLES = {
    "challenge": "challenge",
    "resource": "protected resource",
    "server": "authorization server",
    "metadata": "server metadata",
    "issuer": "issuer",
    "scope": "scopes",
    "registration": "client",
    "authorize": "browser",
    "callback": "redirect",
    "device": "device code",
    "exchange": "identity provider",
    "token": "token",
    "refresh": "renewal",
    "stepup": "more scopes",
    "request": "request",
    "revoke": "log out",
    "fetch": "request",
    "end": "end",
}
"""The titles of the steps on the screen."""
_TITLE, _TIME, _RULE = 21, 8, 9
_MIN_FOR_RULE = 80
"""Cells of a row from which it shows the rule; an unfolded step shows it always."""
INDENT = 5
"""Indentation of a step's text, in cells."""


def title(step: AuthStep) -> str:
    """Return the title of a step; an unknown step has its own name."""
    return TITLES.get(step.name) or step.name[:_TITLE]


Say = Callable[[AuthStep, bool], Sequence[Row]]
"""Returns the rows of a step; True: its whole text is already in its own row."""


class LoginStepRows:
    """The rows of the steps for one width: each step's own row, and the text of an unfolded one below."""

    def __init__(self, say: Say = step_rows) -> None:
        self.steps: Sequence[AuthStep] = ()
        self.open: set[int] = set()
        """The places of the unfolded steps."""
        self._say = say
        self._rows: list[tuple[int, int, list[paint.Piece] | None]] = []
        """For each row: the place of its step, its index within the step, and its text."""
        self._heads: list[int] = []

    def lay_out(self, width: int) -> None:
        """Lay out other steps, other unfolded ones or another width."""
        self._rows, self._heads = [], []
        for at, step in enumerate(self.steps):
            self._heads.append(len(self._rows))
            self._rows.append((at, 0, None))
            if at in self.open:
                fits = paint.width(paint.segments(step.text)) <= _room(step, width)
                lines: list[list[paint.Piece]] = [[], *_wrapped(self._say(step, fits), width - INDENT), []]
                self._rows += [(at, number, line) for number, line in enumerate(lines, 1)]

    def head(self, at: int) -> int:
        """Return the row of the step at a place."""
        return self._heads[at]

    def end(self, at: int) -> int:
        """Return the last row of the step at a place."""
        return (self._heads[at + 1] if at + 1 < len(self._heads) else len(self._rows)) - 1

    def place(self, row: int) -> int:
        """Return the place of the step of a row; -1 if the row does not exist."""
        return self._rows[row][0] if 0 <= row < len(self._rows) else -1

    def __len__(self) -> int:
        return len(self._rows)

    def key_at(self, index: int) -> Hashable:
        """Keys stay the same while other steps are folded and unfolded."""
        return self._rows[index][:2]

    def index_of(self, key: Hashable) -> int | None:
        """Return the row of a key; if it is folded now, the row of its step."""
        if not isinstance(key, tuple) or not 0 <= key[0] < len(self._heads):
            return None
        head = self._heads[key[0]]
        row = head + int(key[1])
        return row if self.place(row) == key[0] else head

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Segment]:
        at, _, pieces = self._rows[index]
        if pieces is None:
            return _head(self.steps[at], at + 1, width)
        return paint.segments([" " * INDENT, *pieces], room=width)


class LoginStepsView(VirtualList):
    """Shows a `LoginStepRows`. The cursor moves from step to step after a step's text has been scrolled through."""

    class Moved(Message):
        """The cursor is on another step, or the steps have changed."""

    def __init__(self, step_rows: LoginStepRows, *, empty: str = "", id: str | None = None) -> None:
        self.step_rows = step_rows
        super().__init__(step_rows, empty=empty, id=id)

    @property
    def step(self) -> AuthStep | None:
        """The step with the cursor."""
        at = self.step_rows.place(self.cursor)
        return self.step_rows.steps[at] if at >= 0 else None

    @property
    def place(self) -> int:
        """The place of the step with the cursor, -1 without steps."""
        return self.step_rows.place(self.cursor)

    def show(self, steps: Sequence[AuthStep], *, at: int = -1) -> None:
        """Show these steps; with `at`, put the cursor on the step there and unfold only that."""
        self.step_rows.steps = steps
        if at >= 0:
            self.step_rows.open = {at}
        self._lay_out()
        if 0 <= at < len(steps):
            self.cursor = self.step_rows.head(at)
            self._have_in_view(at)
        self.post_message(self.Moved())

    def on_resize(self) -> None:
        self._lay_out()
        super().on_resize()
        if self.place >= 0:
            self._have_in_view(self.place)

    def _lay_out(self) -> None:
        self.step_rows.lay_out(max(self.scrollable_content_region.width - 2 * self.pad, 20))
        self.source_changed()

    def _have_in_view(self, at: int) -> None:
        """Scroll until the step and its text are visible, as far as they fit."""
        self.scroll_to_row(self.step_rows.end(at))
        self.scroll_to_row(self.step_rows.head(at))

    def cursor_moved(self, before: int, after: int) -> None:
        super().cursor_moved(before, after)
        if self.is_mounted:
            self.post_message(self.Moved())

    def action_select(self) -> None:
        """Unfold the step, or fold it."""
        at = self.place
        if at < 0:
            return
        self.step_rows.open ^= {at}
        self._lay_out()
        self._have_in_view(at)

    def _move(self, rows: int) -> None:
        """Go to another step; scroll line by line through a long text."""
        at, count = self.place, len(self.step_rows.steps)
        if at < 0:
            return
        height = max(self.scrollable_content_region.height, 1)
        top, end = self.scroll_offset.y, self.step_rows.end(at)
        if rows > 0 and end >= top + height:
            self._scroll_top(min(top + rows, end - height + 1))
        elif rows < 0 and top > self.step_rows.head(at):
            self._scroll_top(max(top + rows, self.step_rows.head(at)))
        else:
            target = self.step_rows.place(min(max(self.step_rows.head(at) + rows, 0), len(self.step_rows) - 1))
            after = min(max(target, at + 1) if rows > 0 else min(target, at - 1), count - 1)
            self.cursor = self.step_rows.head(max(after, 0))

    def action_last(self) -> None:
        if self.step_rows.steps:
            self.cursor = self.step_rows.head(len(self.step_rows.steps) - 1)
            self._scroll_top(self.count)

    def row_at(self, y: int) -> int | None:
        """A click on the text of a step selects the step."""
        row = super().row_at(y)
        return None if row is None else self.step_rows.head(self.step_rows.place(row))


def _head(step: AuthStep, number: int, width: int) -> list[Segment]:
    signs = signs_now()
    mark, role = {
        "ok": (signs.done, "received"),
        "note": (signs.finding, "finding"),
        "failed": (signs.failed, "error"),
        "open": (signs.later, "faint"),
    }[step.outcome]
    quiet = step.outcome == "open"
    line = paint.segments([(f"{mark} ", role), (f"{number:>2} ", "faint" if quiet else "normal")])
    line += paint.cell([(title(step), "faint" if quiet else "bright")], _TITLE)
    text = "not reached" if quiet else step.text
    outcome_segments = paint.segments([" ", (text, "faint" if quiet else "normal")], room=width)
    return paint.spread([*line, *outcome_segments], _end(step, width), width)


def _end(step: AuthStep, width: int) -> list[Segment]:
    """Return the duration of its requests, and its rule if it fits."""
    took = duration(round(step.ms * 1000)) if step.ms else ""
    if width < _MIN_FOR_RULE:
        return paint.cell([(took, "muted")], _TIME, right=True) if took else []
    rule = paint.cell([(step.rule.partition(" section")[0], "faint")], _RULE)
    return [*paint.cell([(took, "muted")], _TIME, right=True), *paint.segments("  "), *rule]


def _room(step: AuthStep, width: int) -> int:
    """Cells for the text of a step in its own row."""
    end = paint.width(_end(step, width))
    return width - INDENT - _TITLE - 1 - (end + 2 if end else 0)


def _wrapped(rows: Sequence[Row], width: int) -> list[list[paint.Piece]]:
    """Wrap the rows to the width."""
    section = RowSection(rows)
    lines: list[list[paint.Piece]] = []
    for at in range(len(section)):
        text = section.text(at)
        spans, hang = section.spans(at, text), section.hang(at)
        for number, (start, end) in enumerate(wrap(text, width, hang)):
            lead: list[paint.Piece] = [" " * hang] if number else []
            inside = [(max(begin, start), min(stop, end), role) for begin, stop, role in spans]
            lines.append(lead + [(text[begin:stop], role) for begin, stop, role in inside if begin < stop])
    return lines

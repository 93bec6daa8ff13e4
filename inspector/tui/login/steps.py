"""The steps of a login as a list. An unfolded step has its text below it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from rich.segment import Segment
from textual.message import Message

from inspector.client.state.login import AuthStep
from inspector.text import duration
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.fact_rows import Row, RowSection
from inspector.tui.widgets.virtual_list import VirtualList
from inspector.tui.widgets.wrapping import wrap

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

Say = Callable[[AuthStep, bool], Sequence[Row]]
"""Returns the rows of a step; True: its whole text is already in its own row."""


def title(step: AuthStep) -> str:
    """Return the title of a step; an unknown step has its own name."""
    return TITLES.get(step.name) or step.name[:_TITLE]


class LoginStepRows:
    """The rows of the steps for one width: each step's own row, and the text of an unfolded one below."""

    def __init__(self, say: Say) -> None:
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
                told = paint.width(paint.segments(step.text)) <= _room(step, width)
                lines: list[list[paint.Piece]] = [[], *_wrapped(self._say(step, told), width - INDENT), []]
                self._rows += [(at, number, line) for number, line in enumerate(lines, 1)]

    def head(self, at: int) -> int:
        """The row of the step at a place."""
        return self._heads[at]

    def end(self, at: int) -> int:
        """The last row of the step at a place."""
        return (self._heads[at + 1] if at + 1 < len(self._heads) else len(self._rows)) - 1

    def place(self, row: int) -> int:
        """The place of the step of a row; -1 if the row does not exist."""
        return self._rows[row][0] if 0 <= row < len(self._rows) else -1

    def __len__(self) -> int:
        return len(self._rows)

    def key_at(self, index: int) -> Hashable:
        """Keys stay the same while other steps are folded and unfolded."""
        return self._rows[index][:2]

    def index_of(self, key: Hashable) -> int | None:
        """The row of a key; if it is folded now, the row of its step."""
        if not isinstance(key, tuple) or not 0 <= key[0] < len(self._heads):
            return None
        head = self._heads[key[0]]
        found = head + int(key[1])
        return found if self.place(found) == key[0] else head

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Segment]:
        at, _, said = self._rows[index]
        if said is None:
            return _head(self.steps[at], at + 1, width)
        return paint.segments([" " * INDENT, *said], room=width)


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
            wanted = self.step_rows.place(min(max(self.step_rows.head(at) + rows, 0), len(self.step_rows) - 1))
            after = min(max(wanted, at + 1) if rows > 0 else min(wanted, at - 1), count - 1)
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
    said = paint.segments([" ", (text, "faint" if quiet else "normal")], room=width)
    return paint.spread([*line, *said], _end(step, width), width)


def _end(step: AuthStep, width: int) -> list[Segment]:
    """The duration of its requests, and its rule if it fits."""
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
            lines.append(
                lead
                + [
                    (text[max(begin, start) : min(stop, end)], role)
                    for begin, stop, role in spans
                    if begin < end and stop > start
                ]
            )
    return lines

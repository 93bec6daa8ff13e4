"""The differences of two recordings as rows: first what the servers offer, then the conversation."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from rich.segment import Segment

from inspector.compare.conversation import ConversationStep, StepKind
from inspector.compare.schemas import ChangeSeverity
from inspector.compare.surface import Change, counts
from inspector.text import count
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.paint import Pieces
from inspector.tui.widgets.row_source import ListRows

if TYPE_CHECKING:
    from inspector.tui.diff.comparison import ComparedRecordings

ROLES: dict[ChangeSeverity, str] = {
    "breaking": "error",
    "unsure": "finding",
    "changed": "finding",
    "added": "received",
    "cosmetic": "muted",
}
WORDS: dict[ChangeSeverity, str] = {"unsure": "cannot tell"}
_WORD = 11
_SUBJECT = 34


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One row: a heading, a change of the surface, or a step of the conversation."""

    title: str = ""
    change: Change | None = None
    step: ConversationStep | None = None

    @property
    def differs(self) -> bool:
        """Whether the row has a difference to show."""
        return self.change is not None or (self.step is not None and self.step.kind != "same")


class DiffRows(ListRows[DiffRow]):
    """Draws the rows of a comparison; with `everything`, also exchanges that are equal."""

    def __init__(self, found: ComparedRecordings | None = None, *, everything: bool = False) -> None:
        super().__init__(_identity)
        self.rows = list(_entries(found, everything)) if found is not None else []

    def next_difference(self, at: int, step: int) -> int | None:
        """The next row after `at` (before it, with -1) that has a difference."""
        rows = range(at + 1, len(self)) if step > 0 else range(at - 1, -1, -1)
        return next((row for row in rows if self.rows[row].differs), None)

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Segment]:
        """One row in at most `width` cells."""
        entry = self.rows[index]
        if entry.change is not None:
            return _change(entry.change, width)
        if entry.step is not None:
            return _step(entry.step, width)
        return paint.cut(paint.segments(entry.title, "bright bold", room=width), width)


def _identity(row: DiffRow) -> Hashable:
    """Return the key of a row, which does not depend on the rows around it."""
    if row.step is not None:
        return "step", id(row.step)
    return ("change", id(row.change)) if row.change is not None else ("heading", row.title)


def _entries(found: ComparedRecordings, everything: bool) -> Iterator[DiffRow]:
    for area, group in groupby(found.changes, lambda change: change.area):
        yield DiffRow(f"server offers: {area}")
        yield from (DiffRow(change=change) for change in group)
    steps = [step for step in found.conversation.steps if everything or step.kind != "same"]
    for alone in (False, True):
        shown = [step for step in steps if step.alone is alone]
        if shown:
            yield DiffRow("notifications of the server" if alone else "conversation")
            yield from (DiffRow(step=step) for step in shown)


def _change(change: Change, width: int) -> list[Segment]:
    signs, role = signs_now(), ROLES[change.severity]
    sign = (signs.finding, "finding") if change.loud or change.hidden is not None else (" ", "muted")
    subject: Pieces = [(change.name or change.what, "bright")]
    told = change.what if change.name else ""
    what: Pieces = [(told, "normal"), *([("  hidden text", "error")] if change.hidden is not None else [])]
    left = paint.segments([sign, " ", (f"{WORDS.get(change.severity, change.severity):<{_WORD}} ", role)])
    return _row(left, subject, what, width)


def _step(step: ConversationStep, width: int) -> list[Segment]:
    signs = signs_now()
    drawn: dict[StepKind, tuple[str, str, str]] = {
        "same": (signs.done, "same", "faint"),
        "changed": ("~", "differs", "finding"),
        "only-a": ("-", "only in A", "error"),
        "only-b": ("+", "only in B", "received"),
    }
    sign, word, role = drawn[step.kind]
    left = paint.segments([(f"{sign} {word:<{_WORD}} ", role)])
    name = step.name or step.method
    told = "" if not step.name else f"{step.method}  "
    amount = len(step.findings)
    if amount:
        told += f"{count(amount)} difference{'' if amount == 1 else 's'}"
    place: Pieces = [(told.rstrip(), "muted"), *([("  moved", "muted")] if step.moved else [])]
    return _row(left, [(name, "faint" if step.kind == "same" else "bright")], place, width)


def _row(left: list[Segment], subject: Pieces, what: Pieces, width: int) -> list[Segment]:
    """Return the pieces of a row: kind, subject, change; the columns are aligned over all rows."""
    room = max(width - paint.width(left), 8)
    cells = min(_SUBJECT, max(room // 2 - 2, 4))
    return [
        *left,
        *paint.cell(subject, cells),
        *paint.segments("  "),
        *paint.cut(paint.segments(what, room=width), room - cells - 2),
    ]


def summary(found: ComparedRecordings) -> list[Pieces]:
    """Return the totals for the edge of the list."""
    parts: list[Pieces] = []
    for severity, amount in counts(found.changes).items():
        parts.append([(f"{count(amount)} {WORDS.get(severity, severity)}", ROLES[severity])])
    kinds: tuple[tuple[StepKind, str, str], ...] = (
        ("changed", "differ", "finding"),
        ("only-a", "only in A", "error"),
        ("only-b", "only in B", "received"),
        ("same", "the same", "muted"),
    )
    for kind, word, role in kinds:
        amount = found.conversation.count(kind)
        if amount:
            parts.append([(f"{count(amount)} {'differs' if kind == 'changed' and amount == 1 else word}", role)])
    return parts

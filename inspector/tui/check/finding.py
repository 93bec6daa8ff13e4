"""Shows one check: its sentence, what it saw, the messages that prove it, the fix, the page."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message

from inspector.check.reports.summary import CheckSummary
from inspector.check.result import Result
from inspector.journal.journal import Journal
from inspector.text import count, duration
from inspector.tui.check.rows import ROLES, level_word, seen
from inspector.tui.keymap import Keymap, bindings
from inspector.tui.log.labels import sign_of, standing
from inspector.tui.log.summaries import summary
from inspector.tui.themes import signs_now
from inspector.tui.widgets.fact_rows import Row, RowSection, paragraph, plain
from inspector.tui.widgets.lines_view import LinesView
from inspector.tui.widgets.paint import Piece

MAX_SEEN = 8
"""Most different observations that are shown."""
MAX_MESSAGES = 12
"""Most messages that are shown for one observation."""
_LABEL = 6


class FindingView(LinesView, inherit_bindings=False):
    """Shows one check. The user can go to the messages that it lists."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("list", without="check"),
        *bindings("text", without="check"),
    ]

    class Opened(Message):
        """Go to message `n` of the run's recording."""

        def __init__(self, n: int) -> None:
            super().__init__()
            self.n = n

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.messages: dict[int, int] = {}
        """The message of each line that is one."""

    def display_rows(self, rows: list[Row], messages: dict[int, int]) -> None:
        """Show these rows."""
        self.messages = messages
        self.set_sections([RowSection(rows)])

    @property
    def message(self) -> int:
        """The message under the cursor, else the first; 0 if there are none."""
        return self.messages.get(self.line) or next(iter(self.messages.values()), 0)

    def to_first(self) -> None:
        """Put the cursor on the first message."""
        if self.messages:
            self.show_line(next(iter(self.messages)))

    def action_select(self) -> None:
        if self.line in self.messages:
            self.post_message(self.Opened(self.messages[self.line]))


def rows_of(
    checked: CheckSummary, journal: Journal | None, keymap: Keymap | None = None
) -> tuple[list[Row], dict[int, int]]:
    """Return the rows of a check, and the message of each row that is one."""
    check, verdict = checked.check, checked.verdict
    rows = [Row([(check.says, "normal")])]
    messages: dict[int, int] = {}
    shown: dict[str, list[Result]] = {}
    for result in checked.telling:
        shown.setdefault(seen(result.outcome, keymap), []).append(result)
    heading = "Not checked" if verdict == "skip" else "Seen"
    rows += [Row(), Row([(heading, "bright bold")])]
    for text, results in list(shown.items())[:MAX_SEEN]:
        role = ROLES[verdict] if verdict in ("fail", "warn") else "normal"
        rows += paragraph(text, role, limit=20) if text else []
        rows.append(Row([(", ".join(_where(result) for result in results), "muted")]))
        evidence = results[0].outcome.evidence
        for n in evidence[:MAX_MESSAGES]:
            if journal is not None and 0 < n <= journal.index.count:
                messages[len(rows)] = n
                rows.append(Row(message_line(journal, n), 2))
        if len(evidence) > MAX_MESSAGES:
            rows.append(Row([(f"and {len(evidence) - MAX_MESSAGES} more", "muted")]))
    if len(shown) > MAX_SEEN:
        rows.append(Row([(f"and {len(shown) - MAX_SEEN} more, see the report", "muted")]))
    if check.breaks and verdict in ("fail", "warn"):
        rows += [Row(), Row([("Clients ", "bright bold"), (check.breaks, "normal")], _LABEL)]
    if verdict in ("fail", "warn", "note"):
        rows += [Row(), Row([(f"{'Fix':<{_LABEL}}", "bright bold"), (check.fix, "normal")], _LABEL)]
    origin = next((result.origin for result in checked.telling if result.origin is not None), None)
    if origin is not None:
        said = f"{origin.sdk} causes this. {origin.option}".rstrip()
        rows += [Row(), Row([(f"{'SDK':<{_LABEL}}", "bright bold"), (said, "normal")], _LABEL)]
    revisions = ", ".join(dict.fromkeys(result.visited.revision for result in checked.results))
    rows += [
        Row(),
        Row([(check.page, "muted")]),
        Row([(f"{check.check_class}   {level_word(check.level)}   {check.group}   {revisions}", "faint")]),
    ]
    return rows, messages


def message_line(journal: Journal, n: int) -> list[Piece]:
    """Return one message of the recording as a row: sign, title, status, number."""
    index, signs = journal.index, signs_now()
    words = summary(journal, n)
    stands = standing(index.state(n))
    tail: list[Piece] = ["  ", stands] if stands is not None else []
    took = index.duration(n)
    told = f"  #{count(n)}" + (f"  {duration(took)}" if took else "")
    return [sign_of(index, n, signs), " ", *words, *tail, (told, "faint")]


def as_text(checked: CheckSummary, journal: Journal | None, keymap: Keymap | None = None) -> str:
    """Return the rows of a check as text to copy."""
    head = Row(f"{checked.verdict.upper()} {checked.check.id} ({level_word(checked.check.level)})")
    return plain([head, Row(), *rows_of(checked, journal, keymap)[0]])


def _where(result: Result) -> str:
    return result.visited.name

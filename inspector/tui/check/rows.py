"""The list of checks: failures first, two lines each; passes and skips are folded into one row each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple

from textual.strip import Strip

from inspector.check.outcome import Outcome, Skip
from inspector.check.reports.summary import CheckSummary, Report
from inspector.check.result import VERDICTS, Verdict
from inspector.text import count
from inspector.tui.keymap import Keymap
from inspector.tui.themes import palette, signs_now
from inspector.tui.verbs import BY_ID
from inspector.tui.widgets import paint
from inspector.tui.widgets.fact_rows import Row
from inspector.tui.widgets.line_widget import LineWidget
from inspector.tui.widgets.paint import Piece

ROLES: dict[Verdict, str] = {"fail": "error", "warn": "finding", "note": "muted", "skip": "faint", "pass": "received"}
WORDS: dict[Verdict, str] = {"skip": "skipped"}
FOLDED: tuple[Verdict, ...] = ("pass", "skip")
_ID, _LEVEL = 10, 9
_ROOMY = 60
"""Width in cells from which the level has a column."""


class _Reason(NamedTuple):
    """The texts for checks that were skipped for one reason; `{}` is the verb that allows them."""

    several: str
    one: str
    verb: str = ""


_REASONS: dict[Skip, _Reason] = {
    Skip.CALLS: _Reason(
        "call tools that you did not allow ({})", "calls a tool: {} chooses the tools to allow", "check.allow"
    ),
    Skip.LOGIN: _Reason("check authorization ({})", "checks authorization: {} includes these checks", "check.login"),
    Skip.INTRUSIVE: _Reason("are intrusive ({})", "may do damage or take long: {} allows it", "check.intrusive"),
    Skip.SKILL_FILES: _Reason("read files of skills", "reads files of skills: only the command line allows it"),
    Skip.DELIVERIES: _Reason("need an address for deliveries", "only the command line takes an address for deliveries"),
    Skip.FOREIGN_TOKEN: _Reason("need a token for another server", "only the command line accepts a token for it"),
    Skip.RECORDING: _Reason("need a server", str(Skip.RECORDING)),
    Skip.NOT_SHOWN: _Reason("not in the recording", str(Skip.NOT_SHOWN)),
    Skip.NO_SESSION: _Reason("had no session", str(Skip.NO_SESSION)),
}


def seen(outcome: Outcome, keymap: Keymap | None = None) -> str:
    """Return what a check saw, in the interface's terms. `keymap`: the keys in force, by default the built-in ones."""
    if outcome.skip is None:
        return outcome.text
    reason = _REASONS[outcome.skip]
    verb = f"“{BY_ID[reason.verb].title}” ({_key(reason.verb, keymap)})" if reason.verb else ""
    words = reason.one.replace("{}", verb)
    return f"{words}: {outcome.more}" if outcome.more else words


def _key(verb: str, keymap: Keymap | None) -> str:
    return (keymap or Keymap()).hint(verb).label or "in the palette"


def sign(verdict: Verdict) -> Piece:
    """The sign of a verdict."""
    signs = signs_now()
    shown = {"fail": signs.failed, "warn": signs.finding, "note": signs.local, "skip": signs.later, "pass": signs.done}
    return shown[verdict], ROLES[verdict]


def level_word(level: str) -> str:
    """Return a level as the specification writes it."""
    return level.upper() if level in ("must", "should") else level


@dataclass(frozen=True, slots=True)
class CheckRow:
    """One row: a check, or a heading for all checks of a verdict, which can be folded below it."""

    checked: CheckSummary | None = None
    folded: Verdict | None = None


class CheckRows:
    """Draws a report. `only` selects verdicts, `level` one level; `open` has the unfolded groups."""

    def __init__(self) -> None:
        self.keymap: Keymap | None = None
        """The keys in force; by default the built-in ones."""
        self.only: tuple[Verdict, ...] = VERDICTS
        self.level = ""
        self.open: set[Verdict] = set()
        self.entries: list[CheckRow] = []
        self._of: dict[Verdict, list[CheckSummary]] = {}
        self._at: dict[Hashable, int] = {}

    def take(self, report: Report | None) -> None:
        """Set the report to show, or None."""
        found: dict[Verdict, list[CheckSummary]] = {}
        for checked in report.checked if report is not None else ():
            if checked.verdict in self.only and self.level in ("", checked.check.level):
                found.setdefault(checked.verdict, []).append(checked)
        self._of = found
        entries = [CheckRow(one) for verdict in VERDICTS if verdict not in FOLDED for one in found.get(verdict, ())]
        for verdict in FOLDED:
            if verdict in found:
                entries.append(CheckRow(folded=verdict))
                if verdict in self.open:
                    entries += [CheckRow(one) for one in found[verdict]]
        self.entries = entries
        self._at = {self.key_at(at): at for at in range(len(entries))}

    def __len__(self) -> int:
        return len(self.entries)

    def key_at(self, index: int) -> Hashable:
        """The key of a row."""
        entry = self.entries[index]
        return entry.checked.check.id if entry.checked is not None else ("folded", entry.folded)

    def index_of(self, key: Hashable) -> int | None:
        """The row of a key."""
        return self._at.get(key)

    def next_fault(self, at: int, step: int) -> int | None:
        """The next row after `at` (before it, with -1) that is a failure or a warning."""
        rows = range(at + 1, len(self)) if step > 0 else range(at - 1, -1, -1)
        for row in rows:
            checked = self.entries[row].checked
            if checked is not None and checked.verdict in ("fail", "warn"):
                return row
        return None

    def about(self, index: int) -> list[Row]:
        """Return the text of a folded row: how many checks of each group, or all reasons."""
        verdict = self.entries[index].folded
        if verdict is None:
            return []
        found = self._of[verdict]
        parts = _reasons(found, self.keymap) if verdict == "skip" else _groups(found)
        rows = [Row([(f"{count(len(found))} {WORDS.get(verdict, verdict)}", "bright bold")]), Row()]
        return [*rows, *(Row([(part, "normal")], 4) for part in parts)]

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Strip]:
        """Both lines of a row."""
        entry = self.entries[index]
        lines = (
            _check(entry.checked, width, self.keymap)
            if entry.checked is not None
            else self._fold(entry.folded or "pass", width)
        )
        return [Strip(paint.cut(paint.segments(line, room=width), width)) for line in lines]

    def _fold(self, verdict: Verdict, width: int) -> list[list[Piece]]:
        """Return the two lines of a folded row: how many checks of which groups, or the reasons."""
        found, signs = self._of[verdict], signs_now()
        fold = signs.unfolded if verdict in self.open else signs.folded
        head = f" {count(len(found))} {WORDS.get(verdict, verdict)}"
        parts = _reasons(found, self.keymap) if verdict == "skip" else _groups(found)
        lead = f"{head:<13}"
        lines: list[str] = []
        between = ", " if verdict == "skip" else "  "
        for part in parts:
            if lines and len(lines[-1]) + len(between) + len(part) <= width - len(lead) - 4:
                lines[-1] += between + part
            else:
                lines.append(part)
        first, *rest = lines or [""]
        role = ROLES[verdict] if verdict == "pass" else "muted"
        return [
            [sign(verdict), (lead, role), (f" {fold} ", "faint"), (first, "muted")],
            [(" " * (len(lead) + 4), "normal"), (between.join(rest), "faint")],
        ]


def _check(checked: CheckSummary, width: int, keymap: Keymap | None) -> list[list[Piece]]:
    check, verdict = checked.check, checked.verdict
    level = f"{level_word(check.level):<{_LEVEL}} " if width >= _ROOMY else ""
    lead = f" {check.id:<{_ID}} "
    words = seen(checked.telling[0].outcome, keymap)
    role = "error" if verdict == "fail" else "muted"
    places = len({result.visited.name for result in checked.telling})
    of = len({result.visited.name for result in checked.results})
    where = f"  in {places} of {of} visits" if of > 1 and verdict in ("fail", "warn") else ""
    return [
        [sign(verdict), (lead, "bright bold"), (level, "muted"), (check.says, "normal")],
        [(" " * (len(lead) + len(level) + 1), "normal"), (" ".join(words[:1000].split()), role), (where, "faint")],
    ]


def _groups(found: list[CheckSummary]) -> list[str]:
    """Return how many checks each family of ids has."""
    families = Counter(checked.check.id.rpartition("-")[0] for checked in found)
    return [f"{family} {number}" for family, number in families.most_common()]


def _reasons(found: list[CheckSummary], keymap: Keymap | None) -> list[str]:
    """Return why checks were skipped, most frequent first."""
    reasons: Counter[str] = Counter()
    for checked in found:
        outcome = checked.results[0].outcome
        if outcome.skip is None:
            reasons[outcome.text[:80]] += 1
        else:
            reason = _REASONS[outcome.skip]
            reasons[reason.several.replace("{}", _key(reason.verb, keymap)) if reason.verb else reason.several] += 1
    return [f"{number} {reason}" if reason else str(number) for reason, number in reasons.most_common()]


class CheckHead(LineWidget):
    """Score, counts and a bar above the list; while checks run, the progress and the current check."""

    DEFAULT_CSS = "CheckHead { height: 3; }"

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.report: Report | None = None
        self.progress: tuple[int, int, str] | None = None
        """How many of how many are done, and the current check."""

    def show(self, report: Report | None, progress: tuple[int, int, str] | None) -> None:
        """Draw these figures."""
        self.report, self.progress = report, progress
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = max(self.size.width - 2, 1)
        line: list[Piece] = []
        if y == 0:
            line = self._how_far() if self.progress is not None else self._counts()
        elif y == 1:
            line = self._bar(width)
        shown = paint.cut(paint.segments([" ", *line], room=width + 1), width + 1)
        return paint.strip(shown, self.size.width, look=palette())

    def _how_far(self) -> list[Piece]:
        assert self.progress is not None
        done, total, now = self.progress
        of = f" of {count(total)} checks" if total else f" check{'' if done == 1 else 's'} done"
        return [(count(done), "bright bold"), (f"{of}   ", "muted"), (now, "normal"), *self._faults("   ")]

    def _faults(self, lead: str) -> list[Piece]:
        """Return the number of failures and warnings so far."""
        counts = self.report.counts if self.report is not None else {}
        faults: tuple[Verdict, ...] = ("fail", "warn")
        return [
            (f"{lead}{count(counts[verdict])} {verdict}", ROLES[verdict]) for verdict in faults if counts.get(verdict)
        ]

    def _counts(self) -> list[Piece]:
        report = self.report
        if report is None or not report.checked:
            return []
        score = report.score
        head: list[Piece] = [("score ", "muted"), (str(score), "bright bold"), (" of 100", "muted")]
        if score is None:
            head = [("no score", "muted")]
        for verdict, role in (("fail", "error"), ("warn", "finding"), ("pass", "received"), ("note", "normal")):
            number = report.counts[verdict]  # type: ignore[index]
            head.append((f"   {count(number)} {verdict}", role if number else "faint"))
        return [*head, (f"   {count(report.counts['skip'])} skipped", "muted")]

    def _bar(self, width: int) -> list[Piece]:
        block, rest = signs_now().bars[-3], signs_now().bars[0]
        if self.progress is not None:
            done, total, _ = self.progress
            filled = min(done * width // total, width) if total else 0
            return [(block * filled, "progress"), (rest * (width - filled), "faint")]
        if self.report is None or not self.report.checked:
            return []
        order: tuple[Verdict, ...] = ("pass", "fail", "warn", "note", "skip")
        counts, whole = self.report.counts, len(self.report.checked)
        pieces: list[Piece] = []
        used = 0
        for verdict in order[:3]:
            number = counts[verdict]
            # Each count above zero gets at least one cell.
            cells = min(max(round(number * width / whole), 1), width - used) if number else 0
            pieces.append((block * cells, ROLES[verdict]))
            used += cells
        return [*pieces, (rest * (width - used), "faint")]

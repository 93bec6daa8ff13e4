"""The list of checks: failures first, two lines each; passes and skips are folded into one row each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from textual.binding import BindingType
from textual.message import Message
from textual.strip import Strip

from inspector.check.outcome import Outcome, Skip
from inspector.check.reports.summary import CheckSummary, Report
from inspector.check.result import VERDICTS, Result, Verdict
from inspector.journal.journal import Journal
from inspector.text import count, duration, safe
from inspector.tui.check.run import CheckRun
from inspector.tui.keymap import Keymap, bindings
from inspector.tui.log.labels import sign_of, standing
from inspector.tui.log.summaries import summary
from inspector.tui.themes import palette, signs_now
from inspector.tui.verbs import BY_ID
from inspector.tui.widgets import paint
from inspector.tui.widgets.fact_rows import Row, RowSection, paragraph, plain
from inspector.tui.widgets.line_widget import LineWidget
from inspector.tui.widgets.lines_view import LinesView
from inspector.tui.widgets.paint import Piece
from inspector.tui.widgets.row_source import ListRows

ROLES: dict[Verdict, str] = {"fail": "error", "warn": "finding", "note": "muted", "skip": "faint", "pass": "received"}
WORDS: dict[Verdict, str] = {"skip": "skipped"}
FOLDED: tuple[Verdict, ...] = ("pass", "skip")
_COUNTED: dict[Verdict, str] = {
    "fail": "error",
    "warn": "finding",
    "pass": "received",
    "note": "normal",
    "skip": "muted",
}
"""The verdicts of the headline, in its order, and their roles."""
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
    Skip.RATE_LIMIT: _Reason("met a rate limit", str(Skip.RATE_LIMIT)),
    Skip.UNREAD: _Reason("met a message that is too big", str(Skip.UNREAD)),
    Skip.NO_SESSION: _Reason("had no session", str(Skip.NO_SESSION)),
    Skip.NOT_RUN: _Reason("could not be run", str(Skip.NOT_RUN)),
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
    """Return the sign of a verdict."""
    signs = signs_now()
    by_verdict = {
        "fail": signs.failed,
        "warn": signs.finding,
        "note": signs.local,
        "skip": signs.later,
        "pass": signs.done,
    }
    return by_verdict[verdict], ROLES[verdict]


def level_word(level: str) -> str:
    """Return a level as the specification writes it."""
    return level.upper() if level in ("must", "should") else level


@dataclass(frozen=True, slots=True)
class CheckRow:
    """One row: a check, or a heading for all checks of a verdict, which can be folded below it."""

    checked: CheckSummary | None = None
    folded: Verdict | None = None


class CheckRows(ListRows[CheckRow]):
    """Draws a report. `only` selects verdicts, `level` one level; `open` has the unfolded groups."""

    def __init__(self) -> None:
        super().__init__(lambda row: row.checked.check.id if row.checked is not None else row.folded)
        self.keymap: Keymap | None = None
        """The keys in force; by default the built-in ones."""
        self.only: tuple[Verdict, ...] = VERDICTS
        self.level = ""
        self.open: set[Verdict] = set()
        self._of: dict[Verdict, list[CheckSummary]] = {}

    def set_report(self, report: Report | None) -> None:
        """Set the report to show, or None."""
        by_verdict: dict[Verdict, list[CheckSummary]] = {}
        for checked in report.checked if report is not None else ():
            if checked.verdict in self.only and self.level in ("", checked.check.level):
                by_verdict.setdefault(checked.verdict, []).append(checked)
        self._of = by_verdict
        entries = [
            CheckRow(one) for verdict in VERDICTS if verdict not in FOLDED for one in by_verdict.get(verdict, ())
        ]
        for verdict in FOLDED:
            if verdict in by_verdict:
                entries.append(CheckRow(folded=verdict))
                if verdict in self.open:
                    entries += [CheckRow(one) for one in by_verdict[verdict]]
        self.rows = entries

    def next_fault(self, at: int, step: int) -> int | None:
        """Return the next row after `at` (before it, with -1) that is a failure or a warning."""
        rows = range(at + 1, len(self)) if step > 0 else range(at - 1, -1, -1)
        for row in rows:
            checked = self.rows[row].checked
            if checked is not None and checked.verdict in ("fail", "warn"):
                return row
        return None

    def about(self, index: int) -> list[Row]:
        """Return the text of a folded row: how many checks of each group, or all reasons."""
        verdict = self.rows[index].folded
        if verdict is None:
            return []
        checks = self._of[verdict]
        parts = _reasons(checks, self.keymap) if verdict == "skip" else _groups(checks)
        rows = [Row([(f"{count(len(checks))} {WORDS.get(verdict, verdict)}", "bright bold")]), Row()]
        return [*rows, *(Row([(part, "normal")], 4) for part in parts)]

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Strip]:
        """Return both lines of a row."""
        entry = self.rows[index]
        lines = (
            _check(entry.checked, width, self.keymap)
            if entry.checked is not None
            else self._fold(entry.folded or "pass", width)
        )
        return [Strip(paint.cut(paint.segments(line, room=width), width)) for line in lines]

    def _fold(self, verdict: Verdict, width: int) -> list[list[Piece]]:
        """Return the two lines of a folded row: how many checks of which groups, or the reasons."""
        checks, signs = self._of[verdict], signs_now()
        fold = signs.unfolded if verdict in self.open else signs.folded
        head = f" {count(len(checks))} {WORDS.get(verdict, verdict)}"
        parts = _reasons(checks, self.keymap) if verdict == "skip" else _groups(checks)
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


def _groups(checks: list[CheckSummary]) -> list[str]:
    """Return how many checks each family of ids has."""
    families = Counter(checked.check.id.rpartition("-")[0] for checked in checks)
    return [f"{family} {number}" for family, number in families.most_common()]


def _reasons(checks: list[CheckSummary], keymap: Keymap | None) -> list[str]:
    """Return why checks were skipped, most frequent first."""
    reasons: Counter[str] = Counter()
    for checked in checks:
        outcome = checked.skipped
        if outcome.skip is None:
            reasons[outcome.text[:80]] += 1
        else:
            reason = _REASONS[outcome.skip]
            reasons[reason.several.replace("{}", _key(reason.verb, keymap)) if reason.verb else reason.several] += 1
    return [f"{number} {reason}" if reason else str(number) for reason, number in reasons.most_common()]


FAR_BEHIND = 2000
"""Messages by which the judge may lag before the list says so."""


def judging_facts(judged: int, events: int) -> list[str]:
    """Return how far the judge of the session's messages is, while it is far behind."""
    return [f"checking {count(judged)} of {count(events)} messages"] if events - judged > FAR_BEHIND else []


def list_facts(check_run: CheckRun, only: tuple[Verdict, ...], level: str) -> list[str]:
    """Return the filter, what the next run may do, and the size of the last run."""
    allowed, report = check_run.allowed, check_run.report
    facts = [] if only == VERDICTS else ["only fails"]
    if level:
        facts.append(f"only {level_word(level)}")
    if allowed.calls:
        facts.append(f"calls {allowed.calls if isinstance(allowed.calls, str) else ', '.join(allowed.calls)}")
    facts += [f"hosts {', '.join(check_run.hosts)}"] * bool(check_run.hosts)
    facts += ["with login"] * allowed.auth + ["intrusive"] * allowed.intrusive
    if report is not None and report.checked and not check_run.running:
        revisions = list(dict.fromkeys(visited.revision for visited in report.run.visits))
        facts.append(revisions[0] if len(revisions) == 1 else f"{len(revisions)} revisions")
        facts.append(f"{count(len(report.checked))} checks")
        if report.run.seconds:
            facts.append(f"{report.run.seconds:.1f} s")
    return facts


def empty_text(check_run: CheckRun, problem: str, key: str) -> str:
    """Return why the list is empty. `key` runs the checks; `problem` is why the recording could not be read."""
    report = check_run.report
    if check_run.running:
        return "Connecting …"
    if report is not None and report.checked:
        return "No check matches this filter."
    if problem := problem or (report.run.problem if report is not None else ""):
        return f"No check could run: {safe(problem, 500)}"
    if check_run.session.commands is None:
        return (
            f"Checks the messages of this recording against the specification.\n{key} runs the checks; nothing is sent."
        )
    return (
        "Checks the server against the specification: every revision that it supports, on separate "
        "connections and in a separate recording, with harmless requests. No tool is called unless "
        f"you allow it (a).\n\n{key} runs all checks."
    )


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
    by_text: dict[str, list[Result]] = {}
    for result in checked.telling:
        by_text.setdefault(seen(result.outcome, keymap), []).append(result)
    heading = "Not checked" if verdict == "skip" else "Seen"
    rows += [Row(), Row([(heading, "bright bold")])]
    for text, results in list(by_text.items())[:MAX_SEEN]:
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
    if len(by_text) > MAX_SEEN:
        rows.append(Row([(f"and {len(by_text) - MAX_SEEN} more, see the report", "muted")]))
    if check.breaks and verdict in ("fail", "warn"):
        rows += [Row(), Row([("Clients ", "bright bold"), (check.breaks, "normal")], _LABEL)]
    if verdict in ("fail", "warn", "note"):
        rows += [Row(), Row([(f"{'Fix':<{_LABEL}}", "bright bold"), (check.fix, "normal")], _LABEL)]
    origin = next((result.origin for result in checked.telling if result.origin is not None), None)
    if origin is not None:
        cause = f"{origin.sdk} causes this. {origin.option}".rstrip()
        rows += [Row(), Row([(f"{'SDK':<{_LABEL}}", "bright bold"), (cause, "normal")], _LABEL)]
    revisions = ", ".join(dict.fromkeys(result.visited.revision for result in checked.results))
    rows += [
        Row(),
        Row([(check.page, "muted")]),
        Row([(f"{checked.class_name}   {level_word(check.level)}   {check.group}   {revisions}", "faint")]),
    ]
    return rows, messages


def message_line(journal: Journal, n: int) -> list[Piece]:
    """Return one message of the recording as a row: sign, title, status, number."""
    index, signs = journal.index, signs_now()
    words = summary(journal, n)
    stands = standing(index.state(n))
    tail: list[Piece] = ["  ", stands] if stands is not None else []
    took = index.duration(n)
    number = f"  #{count(n)}" + (f"  {duration(took)}" if took else "")
    return [sign_of(index, n, signs), " ", *words, *tail, (number, "faint")]


def as_text(checked: CheckSummary, journal: Journal | None, keymap: Keymap | None = None) -> str:
    """Return the rows of a check as text to copy."""
    head = Row(f"{checked.verdict.upper()} {checked.check.id} ({level_word(checked.check.level)})")
    return plain([head, Row(), *rows_of(checked, journal, keymap)[0]])


def _where(result: Result) -> str:
    return result.visited.name


class CheckHead(LineWidget):
    """Score, counts and a bar above the list; while checks run, the progress and the current check."""

    DEFAULT_CSS = "CheckHead { height: 3; }"

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.report: Report | None = None
        self.progress: tuple[int, int, str] | None = None
        """How many of how many are done, and the current check."""
        self.stopped = False

    def show(self, report: Report | None, progress: tuple[int, int, str] | None, *, stopped: bool) -> None:
        """Draw these figures; `stopped`: they are of a run that was stopped."""
        self.report, self.progress, self.stopped = report, progress, stopped
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = max(self.size.width - 2, 1)
        lines = [*self._headline(width), self._bar(width)]
        segments = paint.cut(paint.segments([" ", *(lines[y] if y < len(lines) else ())], room=width + 1), width + 1)
        return paint.strip(segments, self.size.width, theme=palette())

    def _headline(self, width: int) -> list[list[Piece]]:
        """Return the figures on one line; the counts are on a second one where they do not fit."""
        state = self._how_far() if self.progress is not None else self._score()
        counts = self._counts()
        wide, narrow = ([piece for one in counts for piece in (gap, one)][1:] for gap in ("   ", "  "))
        line = [*state, "   ", *wide]
        if _cells(line) <= width:
            return [line]
        return [state, wide if _cells(wide) <= width else narrow]

    def _how_far(self) -> list[Piece]:
        assert self.progress is not None
        done, total, now = self.progress
        # A check has a result in each revision: the report counts fewer checks.
        of = f" of {count(total)} results" if total else f" result{'' if done == 1 else 's'}"
        return [(count(done), "bright bold"), (f"{of}   ", "muted"), (now, "normal")]

    def _score(self) -> list[Piece]:
        report = self.report
        if report is None or not report.checked:
            return []
        head: list[Piece] = [("score ", "muted"), (str(report.score), "bright bold"), (" of 100", "muted")]
        if report.score is None:
            head = [("no score", "muted")]
        return [*head, ("   stopped", "finding")] if self.stopped else head

    def _counts(self) -> list[Piece]:
        """Return the number of each verdict; while checks run, the faults so far."""
        report = self.report
        if report is None or not report.checked:
            return []
        numbers: list[Piece] = []
        for verdict, role in _COUNTED.items():
            number = report.counts[verdict]
            if self.progress is None or (number and verdict in ("fail", "warn")):
                words = f"{count(number)} {WORDS.get(verdict, verdict)}"
                numbers.append((words, role if number or verdict == "skip" else "faint"))
        return numbers

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


def _cells(pieces: Sequence[Piece]) -> int:
    return paint.width(paint.segments(pieces))

"""The report of a rerun: text, JUnit and Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from inspector.cli.comparison_options import told
from inspector.junit import Case, document

if TYPE_CHECKING:
    from inspector.cli.output import Output
    from inspector.replay.report import RerunOutcome, RerunReport

MAX_COUNT = 20
"""Differences listed for one exchange; the JSON report has all."""
_WORDS = {
    "same": "as recorded",
    "different": "differs",
    "no answer": "no answer",
    "not sent": "was not sent",
    "not recorded": "is new",
    "not asked": "was not requested",
}


def summary(report: RerunReport) -> str:
    """The number of exchanges of each verdict, in one line."""
    counts = Counter(outcome.verdict for outcome in report.outcomes)
    named = ", ".join(f"{count:,} {verdict}" for verdict, count in sorted(counts.items(), key=lambda item: -item[1]))
    return named or "no requests"


def what(out: Output, outcome: RerunOutcome) -> str:
    """The exchange in a few safe words."""
    name = f" {out.safe(outcome.name, 80)}" if outcome.name else ""
    return f"{out.safe(outcome.method, 80)}{name}"


def place(outcome: RerunOutcome) -> str:
    """Its position in both recordings."""
    then = f"message {outcome.recorded}" if outcome.recorded else "nothing then"
    return f"{then}, {f'message {outcome.live}' if outcome.live else 'nothing'} now"


def lines_of(out: Output, outcome: RerunOutcome) -> Iterator[str]:
    """An exchange that differs, with its differences."""
    asked = " (request of the server)" if outcome.question else ""
    yield f"✗ {what(out, outcome)}{asked}: {_WORDS[outcome.verdict]}  ({place(outcome)})"
    if outcome.note:
        yield f"    {out.safe(outcome.note, 500)}"
    for difference in outcome.differences[:MAX_COUNT]:
        yield f"    {told(out, difference)}"
    if len(outcome.differences) > MAX_COUNT:
        yield f"    and {len(outcome.differences) - MAX_COUNT:,} more; --json lists all"


def text(out: Output, report: RerunReport) -> Iterator[str]:
    """The first exchange that differs, then all of them, then the counts."""
    first = report.first
    differing = [outcome for outcome in report.outcomes if outcome.differs]
    if first is not None and len(differing) > 1:
        yield f"First difference: {place(first)}, {what(out, first)}"
        yield ""
    for outcome in differing:
        yield from lines_of(out, outcome)
    if differing:
        yield ""
    yield f"{summary(report)}"


def as_junit(out: Output, report: RerunReport, suite: str) -> str:
    """For CI: one test case for each exchange."""
    cases = [
        Case(
            f"{outcome.recorded or 'new'} {outcome.method} {outcome.name}".rstrip(),
            outcome.method,
            _WORDS[outcome.verdict] if outcome.differs else "",
            seconds=outcome.seconds,
            details="\n".join(lines_of(out, outcome)) if outcome.differs else "",
        )
        for outcome in report.outcomes
    ]
    if report.error is not None:
        cases.append(Case("connection", "connection", report.error.message, details=report.error.hint.command_line))
    return document(suite, cases)


def as_markdown(out: Output, report: RerunReport, title: str) -> str:
    """For a pull request or a bug report."""
    from inspector.markup import fence, span

    found = [f"# Rerun: {span(title)}", "", f"{summary(report)}.", ""]
    if report.error is not None:
        found += ["It ended early:", "", fence(report.error.message)]
    for outcome in report.outcomes:
        if outcome.differs:
            found += [f"## {_WORDS[outcome.verdict].capitalize()}: {place(outcome)}", ""]
            found.append(fence("\n".join(lines_of(out, outcome))))
    return "\n".join(found)

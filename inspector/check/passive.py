"""What the judge has found in a part of a recording, as results of checks.

A check without a fault has passed only where something that it is about was seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inspector.check.catalog import Check
from inspector.check.judge import Judge
from inspector.check.outcome import Outcome, Result, Visited, bad, doubtful, good, remark, skipped
from inspector.check.subjects import Subjects
from inspector.journal.findings import Finding, Findings
from inspector.journal.journal import Journal

_WORDS = {
    "told": "",
    "asked": "request ",
    "input": "result that wants input",
    "result": "result of ",
    "error": "error of ",
}
"""How a kind of subject is called in a sentence."""
MOST = 10
"""Events that are named as evidence of one fault."""


def judged(journal: Journal, checks: Sequence[Check], visited: Visited) -> Iterator[Result]:
    """The results of passive checks over the events of a visit; a judge of its own looks at them alone."""
    findings = Findings()
    judge = Judge(journal, findings, after=visited.first - 1, thorough=True)
    judge.run_to(visited.last)
    judge.end()
    subjects = Subjects()
    index = journal.index
    for event in journal.events(visited.first, visited.last):
        subjects.take(event, index.method(event.n))
    found: dict[str, list[Finding]] = {}
    for finding in findings.all():
        found.setdefault(finding.rule, []).append(finding)
    for check in checks:
        yield Result(check, visited, _outcome(check, found.get(check.id, []), subjects))


def _nothing(subject: str) -> str:
    """That nothing of a kind was seen, and of which kind."""
    kind, _, method = subject.partition(":")
    return f"no {_WORDS.get(kind, f'{kind} ')}{method}".rstrip() + " was seen"


def _outcome(check: Check, findings: list[Finding], subjects: Subjects) -> Outcome:
    if not findings:
        seen = subjects.any(check.subjects)
        if not seen:
            return skipped(_nothing(check.subjects[0]) if check.subjects else "")
        return good(f"{seen:,} looked at")
    worst = min(findings, key=lambda finding: ("must", "should", "note").index(finding.level))
    more = f" ({len(findings) - 1:,} more)" if len(findings) > 1 else ""
    evidence = tuple(finding.n for finding in findings[:MOST] if finding.n)
    milder = worst.level == "should" and check.level in ("must", "type")
    make = remark if worst.level == "note" else doubtful if milder else bad
    return make(f"{worst.message}{more}", *evidence)

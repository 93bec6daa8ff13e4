"""A case for each check in each visit."""

from __future__ import annotations

from inspector.check.report import Report
from inspector.junit import Case
from inspector.junit import document as junit


def document(report: Report) -> str:
    """The whole document. Only failures fail: warnings stand in the output of their case."""
    cases = [
        Case(
            f"{result.check.id} {result.check.says}",
            f"{result.check.group}.{result.visited.name}",
            result.outcome.text or result.check.says if result.verdict == "fail" else "",
            result.outcome.text if result.verdict in ("skip", "note", "warn") else "",
            result.seconds,
            f"{result.outcome.text}\n\nWhat to change: {result.check.fix}\nSpecification: {result.check.page}\n"
            f"Evidence: events {', '.join(map(str, result.outcome.evidence)) or 'none'} of {report.recording}",
        )
        for checked in report.checked
        for result in checked.results
    ]
    if report.run.problem:
        cases.append(Case("connection", "connection", report.run.problem))
    return junit(f"inspector check {report.run.target}", cases)

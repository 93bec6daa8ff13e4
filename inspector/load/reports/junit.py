"""The conditions of `--fail-on` as JUnit's XML: a case for each."""

from __future__ import annotations

from pathlib import Path

from inspector.config.paths import shown
from inspector.junit import Case, Suite, documents
from inspector.load.report import LoadReport
from inspector.load.reports.text import LoadText, plan_line


def as_junit(report: LoadReport) -> str:
    """The document. Without conditions, and for a run that ended early or broke off, it has the case “complete”."""
    details = "\n".join(LoadText(report).lines())
    cases = [
        Case(
            condition.text,
            "load",
            failure=f"{condition.text} holds: {condition.shown(report)}" if condition in report.failing else "",
            details=details if condition in report.failing else "",
        )
        for condition in report.conditions
    ]
    problem = report.incomplete or report.loss
    if problem or not cases:
        cases.append(Case("complete", "load", error=problem, details=details if problem else ""))
    properties = [("plan", plan_line(report.plan)), ("verdict", report.verdict)]
    if report.recording:
        properties.append(("recording", shown(Path(report.recording))))
    return documents([Suite(f"load of {', '.join(report.plan.tools)}", cases, properties, report.seconds)])

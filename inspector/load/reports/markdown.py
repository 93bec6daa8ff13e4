"""A report as Markdown: for a pull request, or the summary of a CI job."""

from __future__ import annotations

from inspector.load.report import LoadReport
from inspector.load.reports.text import LoadText
from inspector.markup import fence, span


def as_markdown(report: LoadReport) -> str:
    """The document: the result, the conditions that hold, and the figures as text."""
    lines = [f"# Load test of {span(', '.join(report.plan.tools))}", "", span(report.verdict), ""]
    lines += [f"- **failed**: {span(each.text)}, found {span(each.shown(report))}" for each in report.failing]
    lines += [""] if report.failing else []
    return "\n".join((*lines, fence("\n".join(LoadText(report).lines()))))

"""A run as Markdown: for a pull request, or the summary of a CI job."""

from __future__ import annotations

from inspector.flows.reports.text import TextReport, failure_text, steps_of
from inspector.flows.results import RunResult
from inspector.markup import fence, span
from inspector.text import duration

_WORDS = {"passed": "passed", "failed": "**failed**", "skipped": "skipped", "not_run": "not run"}


def as_markdown(run: RunResult) -> str:
    """The document: the counts, a table of flows, and what failed."""
    lines = ["# Saved calls", "", f"{TextReport({}).totals(run)}", ""]
    for note in TextReport({}).notes(run):
        lines += [note, ""]
    lines += ["| Outcome | File | Flow | Steps | Time |", "|---|---|---|---|---|"]
    for flow in run.flows:
        path = span(flow.display_path or str(flow.path)).replace("|", "\\|")
        name = span(flow.name).replace("|", "\\|")
        took = duration(flow.seconds * 1e6)
        lines.append(f"| {_WORDS[flow.outcome]} | {path} | {name} | {steps_of(flow)} | {took} |")
    for flow in run.flows:
        if flow.outcome == "failed":
            lines += ["", f"## {span(flow.display_path or str(flow.path))}", "", fence(failure_text(flow))]
    return "\n".join(lines) + "\n"

"""A run as JUnit's XML: a suite for each flow, a case for each step and each row of `each`."""

from __future__ import annotations

from inspector.config.paths import shown
from inspector.flows.reports.text import TextReport, place_of
from inspector.flows.results import FlowResult, RunResult, StepResult
from inspector.junit import Case, Suite, documents


def as_junit(run: RunResult) -> str:
    """The document. A flow that could not be run has one case more, with the error."""
    return documents([_suite(flow, run) for flow in run.flows])


def _suite(flow: FlowResult, run: RunResult) -> Suite:
    path = flow.display_path or str(flow.path)
    cases = [_case(flow, step, path) for step in flow.steps]
    if flow.error and flow.outcome == "failed" and not flow.failed_steps:
        cases.append(Case("connection", path, error=flow.error, details=flow.error, file=path, line=1))
    properties = [("path", path), ("outcome", flow.outcome)]
    if flow.target:
        properties.append(("target", flow.target))
    if flow.recording is not None:
        properties.append(("recording", shown(flow.recording)))
    if run.seed is not None:
        properties.append(("seed", str(run.seed)))
    if run.dry:
        properties.append(("dry_run", "true"))
    if run.interrupted:
        properties.append(("complete", "false"))
    return Suite(flow.name, cases, properties, max(flow.seconds, sum(case.seconds for case in cases)))


def _case(flow: FlowResult, step: StepResult, path: str) -> Case:
    number = f"{step.parent}.{step.number}" if step.parent else str(step.number)
    name = f"{number} {step.name}" + (f" row {step.row}" if step.row else "")
    file, line = str(step.path or path), int(place_of(step).partition(":")[0])
    seconds = 0.0 if step.label.startswith("use ") else step.seconds  # Its steps have the time.
    if step.outcome == "failed":
        first = next(iter(step.failures), None)
        message = step.error or (f"{first.text}: expected {first.expected}, found {first.found}" if first else "failed")
        details = "\n".join(TextReport({path: flow.name}).failure(flow, step)).strip("\n")
        return Case(name, path, failure=message, seconds=seconds, details=details, file=file, line=line)
    if step.outcome in ("skipped", "not_run"):
        return Case(name, path, skipped=step.error or step.outcome.replace("_", " "), file=file, line=line)
    return Case(name, path, seconds=seconds, file=file, line=line)

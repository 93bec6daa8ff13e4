"""One test case for each check in each visit. A case fails if and only if its result fails the run.

A warning or note passes, with its verdict, its class and its text as output. Only a skipped check is skipped.
"""

from __future__ import annotations

from inspector.check.reports.policy import Ruling
from inspector.check.reports.summary import Report
from inspector.check.result import Result
from inspector.junit import Case, Suite, junit_xml

_WHY: dict[Ruling, str] = {"known": "known from the baseline: ", "excluded": "excluded by the profile: "}
"""The prefix of the reason of a case that does not fail the run."""


def document(report: Report) -> str:
    """The whole document."""
    cases = [_case(report, result) for result in report.results]
    if report.problem:
        failed = report.problem if report.unreached or report.incomplete else ""
        skipped = "" if failed else report.problem
        cases.append(Case("connection", "connection", failed, skipped, details="\n".join(report.cause)))
    elif report.incomplete:
        cases.append(Case("connection", "connection", report.summary))
    if report.policy.fail_under:
        cases.append(Case("score", "score", report.summary if report.below else ""))
    name = f"inspector check {report.run.target}"
    return junit_xml([Suite(name, cases, (("headline", report.headline),), report.run.seconds)])


def _case(report: Report, result: Result) -> Case:
    check, ruling = result.check, report.policy.rule(result)
    seen = result.outcome.text or check.says
    fails = ruling == "failing"
    details = [
        result.outcome.text,
        "",
        *([f"Clients: {check.breaks}"] if check.breaks and result.is_fault else []),
        f"Fix: {check.fix}",
        f"Specification: {check.page}",
        f"Evidence: events {', '.join(map(str, result.outcome.evidence)) or 'none'} of {report.recording_path}",
    ]
    if result.origin is not None:
        details.append(f"Responsible: {result.origin.sdk}. {result.origin.option}".rstrip())
    text = "\n".join(details)
    has_output = not fails and result.verdict in ("fail", "warn", "note")
    return Case(
        f"{check.id} {check.says}",
        f"{check.group}.{result.visited.name}",
        failure=seen if fails else "",
        skipped=seen if result.verdict == "skip" and not fails else "",
        seconds=result.seconds,
        details=text if fails else "",
        output=f"{result.verdict} ({result.class_name}): {_WHY.get(ruling, '')}{text}" if has_output else "",
    )

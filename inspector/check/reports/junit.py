"""One test case for each check in each visit. A case fails if and only if its result fails the run."""

from __future__ import annotations

from inspector.check.reports.policy import Ruling
from inspector.check.reports.summary import Report
from inspector.check.result import Result
from inspector.junit import Case
from inspector.junit import document as junit

_WHY: dict[Ruling, str] = {"known": "known from the baseline: ", "excluded": "excluded by the profile: "}
"""The prefix of the reason of a case that does not fail the run."""


def document(report: Report) -> str:
    """The whole document. A known, excluded or only reported result is a skipped case with its reason."""
    cases = [_case(report, result) for result in report.results]
    if report.problem:
        failed = report.problem if report.unreached else ""
        cases.append(Case("connection", "connection", failed, "" if failed else report.problem))
    if report.policy.fail_under:
        cases.append(Case("score", "score", report.summary if report.below else ""))
    return junit(f"inspector check {report.run.target}", cases)


def _case(report: Report, result: Result) -> Case:
    ruling = report.policy.rule(result)
    seen = result.outcome.text or result.check.says
    fails = ruling == "failing"
    origin = f"\nResponsible: {result.origin.sdk}. {result.origin.option}".rstrip() if result.origin is not None else ""
    return Case(
        f"{result.check.id} {result.check.says}",
        f"{result.check.group}.{result.visited.name}",
        seen if fails else "",
        "" if fails or ruling == "passed" else f"{_WHY.get(ruling, '')}{seen}",
        result.seconds,
        f"{result.outcome.text}\n\nFix: {result.check.fix}\nSpecification: "
        f"{result.check.page}\nEvidence: events "
        f"{', '.join(map(str, result.outcome.evidence)) or 'none'} of {report.recording}{origin}",
    )

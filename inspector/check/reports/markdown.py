"""A report for a pull request or a bug report."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.check.outcome import events_named
from inspector.check.reports.summary import CheckSummary, Report, origin_of
from inspector.markup import fence, span
from inspector.version import __version__

_MAX_VISITS = 5
"""Visits of one check that are listed individually."""


def document(report: Report) -> str:
    """The whole document: score and counts, then faults, worst first; passed checks only as a number."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield f"# Check of {span(report.run.target)}"
    yield ""
    if report.headline:
        yield f"**{report.headline}**"
        yield ""
    score = "No score, because no check could decide" if report.score is None else f"Score **{report.score}** of 100"
    yield f"{score}; {', '.join(report.counted.values())}."
    yield ""
    yield span(report.summary, 1000)
    yield ""
    for visited in report.run.visits:
        yield f"- {span(visited.name)}{f': {span(visited.problem, 500)}' if visited.problem else ''}"
    if report.run.problem:
        yield f"- {span(report.run.problem, 1000)}"
    if report.cause:
        yield ""
        yield fence("\n".join(report.cause))
    for died in report.run.deaths:
        yield f"- during {span(died, 500)}"
    for verdict, heading in (("fail", "Failures"), ("warn", "Warnings"), ("note", "Notes")):
        of_verdict = [checked for checked in report.checked if checked.verdict == verdict]
        if of_verdict:
            yield ""
            yield f"## {heading}"
            for checked in of_verdict:
                yield from _checked(report, checked)
    yield from _listed("Gone since the baseline", [f"{key[0]} ({key[1]} over {key[2]})" for key, _ in report.gone])
    yield from _listed(
        "Faults of the SDK, not counted",
        [f"{one.check.id} {one.check.says} ({origin_of(one)})" for one in report.excluded],
    )
    skipped = [checked for checked in report.checked if checked.verdict == "skip"]
    if skipped:
        yield ""
        yield "## Skipped"
        yield ""
        for checked in skipped:
            yield f"- {checked.check.id}: {span(checked.skipped.text, 300)}"
    yield ""
    yield f"Written by inspector {__version__}."


def _listed(heading: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield ""
        yield f"## {heading}"
        yield ""
        yield from (f"- {span(line, 500)}" for line in lines)


def _checked(report: Report, checked: CheckSummary) -> Iterator[str]:
    check = checked.check
    yield ""
    yield f"### {check.id} {check.says}"
    yield ""
    for result in checked.telling[:_MAX_VISITS]:
        events = f" ({named})" if (named := events_named(result.outcome.evidence)) else ""
        marks = "".join(f" [{mark}]" for mark in report.marks(result))
        yield f"- {result.visited.name}: {span(result.outcome.text, 1000)}{events}{marks}"
    if len(checked.telling) > _MAX_VISITS:
        yield f"- and in {len(checked.telling) - _MAX_VISITS} more visits"
    yield ""
    option = next((result.origin.option for result in checked.telling if result.origin is not None), "")
    if check.breaks:
        yield f"Clients: {check.breaks}"
        yield ""
    about = f"Specification: {span(check.page)}; class: {checked.class_name}, level: {check.level}."
    yield f"{check.fix}{f' {option}' * bool(option)} {about}"

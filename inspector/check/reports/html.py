"""One web page without scripts or external resources; text of the server is escaped."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from inspector.check.outcome import events_named
from inspector.check.reports.summary import CheckSummary, Report
from inspector.html_page import page_head
from inspector.text import safe
from inspector.version import __version__

_HEADINGS = {"fail": "Failures", "warn": "Warnings", "note": "Notes", "skip": "Skipped", "pass": "Passed"}
_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#1b1f23;background:#fff}
h1{font-size:1.4em}h2{font-size:1.1em;margin-top:2em}code{font-family:ui-monospace,monospace;overflow-wrap:anywhere}
table{border-collapse:collapse}td,th{padding:.2em .8em;text-align:left;border-bottom:1px solid #ddd}
details{border-left:.3em solid #bbb;margin:.5em 0;padding:.2em .8em}summary{cursor:pointer}
.fail{border-color:#b3261e}.warn{border-color:#b35c00}.note{border-color:#5f6f80}.pass{border-color:#2e7d32}
.score{font-size:2em}.mark{border:1px solid #999;border-radius:.3em;padding:0 .3em;font-size:.85em}.fix{color:#444}
@media(prefers-color-scheme:dark){body{color:#e6e6e6;background:#15181c}td,th{border-color:#333}.fix{color:#aaa}}
"""


def document(report: Report) -> str:
    """The whole page."""
    return "\n".join(_lines(report)) + "\n"


def _text(value: object, limit: int = 2000) -> str:
    return escape(safe(value, limit))


def _lines(report: Report) -> Iterator[str]:
    title = f"Check of {safe(report.run.target, 200)}"
    yield page_head(title, _STYLE)
    yield f"<body><h1>{escape(title)}</h1>"
    score = "–" if report.score is None else str(report.score)
    yield f'<p>score <span class="score">{score}</span> of 100</p>'
    if report.headline:
        yield f"<p><strong>{escape(report.headline)}</strong></p>"
    yield f'<p class="summary" data-exit-code="{report.exit_code}">{_text(report.summary)}</p>'
    yield "<table><tr><th>area</th><th>fail</th><th>warn</th><th>note</th><th>skip</th><th>pass</th></tr>"
    for area, counts in report.areas.items():
        yield f"<tr><td>{escape(area)}</td>{''.join(f'<td>{number}</td>' for number in counts.values())}</tr>"
    yield "</table><ul>"
    for visited in report.run.visits:
        yield f"<li>{escape(visited.name)}{f': {_text(visited.problem)}' if visited.problem else ''}</li>"
    for problem in (report.run.problem, *report.run.deaths):
        if problem:
            yield f"<li>{_text(problem)}</li>"
    yield "</ul>"
    if report.cause:
        cause = "\n".join(map(_text, report.cause))
        yield f"<pre>{cause}</pre>"
    for verdict, heading in _HEADINGS.items():
        of_verdict = [checked for checked in report.checked if checked.verdict == verdict]
        if of_verdict:
            yield f"<h2>{heading} ({len(of_verdict)})</h2>"
            for checked in of_verdict:
                yield from _checked(report, checked)
    if report.gone:
        yield f"<h2>Gone since the baseline ({len(report.gone)})</h2><ul>"
        for (check, revision, transport), verdict in report.gone:
            yield f"<li><code>{_text(check)}</code> {_text(revision)} over {_text(transport)} ({verdict})</li>"
        yield "</ul>"
    if report.excluded:
        yield f"<h2>Findings of the SDK, not counted ({len(report.excluded)})</h2>"
        for checked in report.excluded:
            yield from _checked(report, checked)
    yield f"<p>Written by inspector {__version__}.</p></body></html>"


def _checked(report: Report, checked: CheckSummary) -> Iterator[str]:
    check, verdict = checked.check, checked.verdict
    opened = " open" if any(report.policy.rule(result) == "failing" for result in checked.results) else ""
    yield f'<details class="{verdict}"{opened}><summary><code>{check.id}</code> {escape(check.says)}</summary><ul>'
    for result in checked.telling:
        events = events_named(result.outcome.evidence)
        text = f" <code>{_text(result.outcome.text)}</code>" if result.outcome.text else ""
        marks = "".join(f' <span class="mark">{escape(mark)}</span>' for mark in report.marks(result))
        yield f"<li>{escape(result.visited.name)}{text}{f' ({events})' if events else ''}{marks}</li>"
    yield "</ul>"
    if check.breaks and verdict in ("fail", "warn"):
        yield f"<p>Clients: {escape(check.breaks)}</p>"
    about = f"Specification: {escape(check.page)}; class: {checked.class_name}, level: {check.level}."
    yield f'<p class="fix">{escape(check.fix)} {about}</p>'
    yield "</details>"

"""A report of `check` on a terminal: what a client meets, then faults, worst first, with evidence and fix."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from inspector.cli.colours import Colour, Colours
from inspector.text import quantity

if TYPE_CHECKING:
    from inspector.check.check_table import Check
    from inspector.check.outcome import Visited
    from inspector.check.reports.summary import CheckSummary, Report
    from inspector.check.result import Verdict
    from inspector.cli.output import Output

_COLOURS: dict[str, Colour] = {"fail": "red", "warn": "yellow", "note": "cyan", "skip": "faint", "pass": "green"}
_SIGNS: dict[str, str] = {"fail": "✗", "warn": "▲", "note": "●", "skip": "–", "pass": "✓"}
_ASCII_SIGNS: dict[str, str] = {"fail": "x", "warn": "!", "note": "*", "skip": "-", "pass": "+"}
MAX_VISITS = 3
"""Visits of one check that are listed individually."""
MAX_STARTS = 8
"""Starts of the server whose purpose is shown."""
MAX_REASONS = 8
"""Reasons of skipped checks that are shown."""
_WAITED = re.compile(r"\b\d+(?:\.\d+)? s\b")
"""A measured time: sentences that differ only in it are shown as one."""


class VerdictColours:
    """Colours, where the command line has them."""

    def __init__(self, out: Output) -> None:
        self._signs = _ASCII_SIGNS if out.ascii else _SIGNS
        self._paint = Colours()

    def sign(self, verdict: Verdict) -> str:
        """The sign of a verdict."""
        return self.colour(self._signs[verdict], verdict)

    def colour(self, text: str, verdict: str) -> str:
        """Text in the colour of a verdict."""
        return self._paint(text, _COLOURS[verdict])


def text(out: Output, report: Report, *, verbose: bool, durations: int = 0) -> Iterator[str]:
    """The whole report. `verbose` lists passed and skipped checks too, and fixes of notes; `durations` so many of the
    slowest checks."""
    paint = VerdictColours(out)
    if report.headline:
        worst: Verdict = "fail" if report.breaking else "skip" if report.incomplete else "pass"
        yield f"{paint.sign(worst)} {paint.colour(report.headline, worst)}"
        yield from (f"    {checked.check.id:9} {checked.check.breaks}" for checked in report.breaking)
        yield ""
    for checked in report.checked:
        if verbose or checked.verdict in ("fail", "warn", "note"):
            yield from _checked(out, paint, report, checked, verbose=verbose)
    if report.run.problem:
        yield f"{paint.sign('skip')} {out.safe(report.run.problem, 500)}"
    for died in report.run.deaths:
        yield f"{paint.sign('warn')} during {out.safe(died, 500)}"
    if report.gone:
        names = ", ".join(sorted({out.safe(key[0], 40) for key, _ in report.gone}))
        yield f"{paint.sign('pass')} fixed since the baseline: {names}"
    if report.excluded:
        names = ", ".join(checked.check.id for checked in report.excluded)
        yield f"{paint.sign('note')} not counted, because {out.safe(report.sdk, 80)} causes it: {names}"
    if not verbose:
        yield from _skipped(out, paint, report)
    if report.checked:
        yield ""
    yield from _areas(report, paint)
    yield ""
    if durations:
        yield f"slowest {durations} checks:"
        for result in report.slowest(durations):
            yield f"  {result.seconds:6.2f} s  {result.check.id:9} {result.visited.name}"
        yield ""
    counts = ", ".join(paint.colour(text, verdict) for verdict, text in report.counted.items())
    score = "no score" if report.score is None else f"score {report.score} of 100"
    visits = ", ".join(visited.name for visited in report.run.visits) or "nothing"
    yield f"{score}   {counts}   in {report.run.seconds:.1f} s"
    yield f"checked: {visits}"
    if report.starts:
        yield f"server started: {quantity(len(report.starts), 'time')}"
        yield from (f"    {out.safe(why, 100)}" for why in report.starts[:MAX_STARTS])
        if len(report.starts) > MAX_STARTS:
            yield f"    and {len(report.starts) - MAX_STARTS} more, see --json"
    yield out.safe(report.summary, 500)


def _skipped(out: Output, paint: VerdictColours, report: Report) -> Iterator[str]:
    """How many checks were skipped and why; those that the server or the time prevented by name, first."""
    reasons: dict[str, list[CheckSummary]] = {}
    for checked in report.checked:
        if checked.verdict == "skip":
            reasons.setdefault(checked.skipped.text, []).append(checked)
    if not reasons:
        return
    yield f"{paint.sign('skip')} {sum(map(len, reasons.values()))} skipped"
    rows = sorted(reasons.items(), key=lambda row: (not row[1][0].is_prevented, -len(row[1])))
    for reason, skipped in rows[:MAX_REASONS]:
        names = ", ".join(checked.check.id for checked in skipped if checked.is_prevented)
        yield f"    {len(skipped):3}  {out.safe(reason, 200)}{names and f': {out.safe(names, 200)}'}"
    if rest := rows[MAX_REASONS:]:
        count = sum(len(skipped) for _, skipped in rest)
        yield f"    {count:3}  for {quantity(len(rest), 'other reason')}, see --verbose"


def _checked(
    out: Output, paint: VerdictColours, report: Report, checked: CheckSummary, *, verbose: bool
) -> Iterator[str]:
    check = checked.check
    yield f"{paint.sign(checked.verdict)} {check.id:9} {check.says}"
    if checked.verdict in ("pass", "skip"):
        return
    marks = {mark: None for result in checked.telling for mark in report.marks(result)}
    if marks.keys() - {"failing"}:
        yield f"    {', '.join(marks)}"
    by_text: dict[str, tuple[str, list[str]]] = {}
    for result in checked.telling:
        seen = result.outcome.text
        _, places = by_text.setdefault(_WAITED.sub("", seen), (seen, []))
        places.append(_where(result.visited, result.outcome.evidence))
    for seen, places in list(by_text.values())[:MAX_VISITS]:
        yield f"    {out.safe(seen, 1_000)}"
        yield f"      {', '.join(places[:MAX_VISITS])}{f' and {len(places) - MAX_VISITS} more' * (len(places) > 3)}"
    if len(by_text) > MAX_VISITS:
        yield f"    and {len(by_text) - MAX_VISITS} more, see --json"
    if verbose or checked.verdict != "note":
        yield f"    {check.fix}"
        options = {result.origin.option for result in checked.telling if result.origin and result.origin.option}
        yield from (f"    {option}" for option in sorted(options))
    yield f"      {checked.class_name}, {check.level}, {check.page}"


def _where(visited: Visited, evidence: tuple[int, ...]) -> str:
    from inspector.check.outcome import events_named

    events = events_named(evidence[:4])
    return f"{visited.name} ({events})" if events else visited.name


def _areas(report: Report, paint: VerdictColours) -> Iterator[str]:
    """A line for each group of checks."""
    areas = report.areas
    width = max(map(len, areas), default=0)
    for area, counts in areas.items():
        cells = "  ".join(
            paint.colour(f"{number:3} {verdict}", verdict) if number else " " * (4 + len(verdict))
            for verdict, number in counts.items()
        )
        yield f"{area:{width}}  {cells}".rstrip()


def plan(rows: list[tuple[Check, str]]) -> Iterator[str]:
    """The plan: the checks that would run, and the others with reasons."""
    done = [check for check, reason in rows if not reason]
    yield f"{len(done)} checks would run:"
    for check in done:
        alone = ", on its own connection" if check.apart else ""
        how = {"passive": "reads messages", "active": f"asks{alone}", "tool": "calls tools"}.get(check.mode, check.mode)
        yield f"  {check.id:9} {how:38} {check.says}"
    left = [(check, reason) for check, reason in rows if reason]
    if left:
        yield f"{len(left)} would be skipped:"
        for check, reason in left:
            yield f"  {check.id:9} {reason}"

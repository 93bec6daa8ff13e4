"""Checks several servers, two at a time, and prints two tables and the findings about two of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from inspector.errors import ConfigError, InspectorError, UsageError

if TYPE_CHECKING:
    from inspector.check.cross_server import CrossServerFinding, KnownFindings
    from inspector.check.reports.policy import Policy, Ruling
    from inspector.check.reports.summary import Report
    from inspector.check.result import Verdict
    from inspector.cli.output import Output
    from inspector.config.servers import ServerEntry

AT_A_TIME = 2
"""Servers that are checked at the same time."""
_NAME = 40


class ServerCheck(NamedTuple):
    """One server of several: its report, or the error."""

    name: str
    report: Report | None = None
    error: InspectorError | None = None


class CrossServerFindings(NamedTuple):
    """The findings about two servers, and the effect of each on the run."""

    findings: Sequence[tuple[CrossServerFinding, Ruling]] = ()

    @classmethod
    def of(cls, findings: Sequence[CrossServerFinding], policy: Policy, known: KnownFindings) -> CrossServerFindings:
        """The findings under a policy; `known` has those of the baseline."""
        return cls([(finding, finding.ruling(policy, known)) for finding in findings])

    def as_json(self, server: str) -> list[dict[str, Any]]:
        """Those that are about this server."""
        return [
            {**finding.as_json(), "ruling": ruling} for finding, ruling in self.findings if server in finding.servers
        ]


_NONE = CrossServerFindings()


def entries(config: Path | None, words: Sequence[str] = ()) -> list[ServerEntry]:
    """The servers with these names; without names, the enabled ones of all config files, or of one.

    Raises `UsageError` if there are none, and `TargetError` for an unknown name.
    """
    from inspector.config.servers import find_servers

    if words:
        listed = find_servers(config=config)
        return list({entry.reference: entry for entry in map(listed.find, words)}.values())
    listed = find_servers(config=config)
    enabled = [entry for entry in listed.entries if not entry.disabled]
    if config is not None and not listed.entries and listed.problems:
        raise ConfigError(listed.problems[0].message, hint=listed.problems[0].hint)
    if not enabled:
        which = "No config file names a server" if config is None else f"{config} names no server"
        raise UsageError(f"{which} that is enabled.")
    return enabled


async def check_all(
    servers: Sequence[ServerEntry], check: Callable[[ServerEntry], Awaitable[Report]]
) -> list[ServerCheck]:
    """Check all of them, in order; a failure of one does not affect the others."""
    turn = asyncio.Semaphore(AT_A_TIME)

    async def one(entry: ServerEntry) -> ServerCheck:
        async with turn:
            try:
                return ServerCheck(entry.reference, await check(entry))
            except InspectorError as error:
                return ServerCheck(entry.reference, error=error)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(entry)) for entry in servers]
    return [task.result() for task in tasks]


def exit_code(checked: Sequence[ServerCheck], across: CrossServerFindings = _NONE) -> int:
    """The worst exit code: faults (5) rank before connection errors."""
    codes = [one.error.exit_code for one in checked if one.error is not None]
    codes += [one.report.exit_code for one in checked if one.report is not None]
    codes += [5 for _, ruling in across.findings if ruling == "failing"]
    return max(codes, default=0)


def as_json(checked: Sequence[ServerCheck], across: CrossServerFindings = _NONE) -> list[dict[str, Any]]:
    """A report for each server, with its name; `across` has the findings about it and another server."""
    return [
        {"server": one.name, **one.report.as_json(), "across": across.as_json(one.name)}
        if one.report is not None
        else {"server": one.name, "problem": one.error.message if one.error is not None else None}
        for one in checked
    ]


def tables(out: Output, checked: Sequence[ServerCheck]) -> None:
    """Both tables, then the servers that could not be checked, with reasons."""
    reports = [(one.name, one.report) for one in checked if one.report is not None]
    areas = sorted({area for _, report in reports for area in report.areas})
    out.table(
        [
            ("server", "score", *areas),
            *(
                (out.safe(name, _NAME), _score(report), *(_cell(report.areas.get(area, {})) for area in areas))
                for name, report in reports
            ),
        ]
    )
    revisions = sorted({visited.revision for _, report in reports for visited in report.run.visits})
    if revisions:
        out.line()
        out.table(
            [
                ("server", *revisions),
                *(
                    (out.safe(name, _NAME), *(_at(report, revision) for revision in revisions))
                    for name, report in reports
                ),
            ]
        )
    for one in checked:
        problem = one.error.message if one.error is not None else one.report.run.problem if one.report else ""
        invocation = problem or (one.report.summary if one.report is not None else "")
        out.line(f"{out.safe(one.name, _NAME)}: {out.safe(invocation, 500)}")
    out.note("fail/warn/pass of the checks in each area; - if no check could decide")


def between(out: Output, across: CrossServerFindings) -> None:
    """The findings about two servers, with the rule and a fix."""
    from inspector.cli.check_report import VerdictColours

    paint = VerdictColours(out)
    if across.findings:
        out.line()
    for finding, ruling in across.findings:
        verdict = finding.result.verdict
        out.line(f"{paint.sign(verdict)} {finding.check.id:9} {finding.check.says}")
        if ruling == "known":
            out.line("    known")
        out.line(f"    {out.safe(finding.seen, 800)}")
        if finding.apart:
            out.line(f"    kept apart by a prefix in: {', '.join(finding.apart)}")
        if finding.mixed:
            out.line(f"    not kept apart in: {', '.join(finding.mixed)}")
        if verdict != "note":
            out.line(f"    {finding.check.fix}")
        out.line(f"      {finding.result.class_name}, {finding.check.level}, {finding.check.page}")


def _score(report: Report) -> str:
    return "-" if report.score is None else str(report.score)


def _cell(counts: dict[Verdict, int]) -> str:
    """`fail/warn/pass`, or `-`."""
    verdicts: tuple[Verdict, ...] = ("fail", "warn", "pass")
    numbers = [counts.get(verdict, 0) for verdict in verdicts]
    return "/".join(map(str, numbers)) if any(numbers) else "-"


def _at(report: Report, revision: str) -> str:
    """The same for one revision."""
    counts: dict[Verdict, int] = {}
    for result in report.run.results:
        if result.visited.revision == revision:
            counts[result.verdict] = counts.get(result.verdict, 0) + 1
    return _cell(counts)

"""Checks several servers, two at a time, and prints a table by area and one by revision."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from inspector.errors import InspectorError, UsageError

if TYPE_CHECKING:
    from inspector.check.report import Report
    from inspector.check.result import Verdict
    from inspector.cli.output import Output
    from inspector.config.servers import ServerEntry

AT_A_TIME = 2
"""Servers that are checked at the same time."""
_NAME = 40


class Checked(NamedTuple):
    """One server of several: its report, or the error."""

    name: str
    report: Report | None = None
    error: InspectorError | None = None


def entries(config: Path | None) -> list[ServerEntry]:
    """The enabled servers of all config files, or of one; raises `UsageError` if there are none."""
    from inspector.config.servers import find_servers

    found = [entry for entry in find_servers(config=config).entries if not entry.disabled]
    if not found:
        which = "No config file names a server" if config is None else f"{config} names no server"
        raise UsageError(f"{which} that is enabled.")
    return found


async def check_all(found: Sequence[ServerEntry], check: Callable[[ServerEntry], Awaitable[Report]]) -> list[Checked]:
    """Check all of them, in order; a failure of one does not affect the others."""
    turn = asyncio.Semaphore(AT_A_TIME)

    async def one(entry: ServerEntry) -> Checked:
        async with turn:
            try:
                return Checked(entry.reference, await check(entry))
            except InspectorError as error:
                return Checked(entry.reference, error=error)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(entry)) for entry in found]
    return [task.result() for task in tasks]


def exit_code(checked: Sequence[Checked]) -> int:
    """The worst exit code: faults (5) rank before connection errors."""
    codes = [one.error.exit_code for one in checked if one.error is not None]
    codes += [one.report.exit_code for one in checked if one.report is not None]
    return max(codes, default=0)


def as_json(checked: Sequence[Checked]) -> list[dict[str, Any]]:
    """A report for each server, with its name."""
    return [
        {"server": one.name, **one.report.as_json()}
        if one.report is not None
        else {"server": one.name, "problem": one.error.message if one.error is not None else None}
        for one in checked
    ]


def tables(out: Output, checked: Sequence[Checked]) -> None:
    """Both tables, then the servers that could not be checked, with reasons."""
    reports = [(one.name, one.report) for one in checked if one.report is not None]
    areas = sorted({area for _, report in reports for area in report.areas})
    out.table([
        ("server", "score", *areas),
        *(
            (out.safe(name, _NAME), _score(report), *(_cell(report.areas.get(area, {})) for area in areas))
            for name, report in reports
        ),
    ])  # fmt: skip
    revisions = sorted({visited.revision for _, report in reports for visited in report.run.visits})
    if revisions:
        out.line()
        out.table([
            ("server", *revisions),
            *((out.safe(name, _NAME), *(_at(report, revision) for revision in revisions)) for name, report in reports),
        ])  # fmt: skip
    for one in checked:
        problem = one.error.message if one.error is not None else one.report.run.problem if one.report else ""
        said = problem or (one.report.summary if one.report is not None else "")
        out.line(f"{out.safe(one.name, _NAME)}: {out.safe(said, 500)}")
    out.note("fail/warn/pass of the checks in each area; - if no check could decide")


def _score(report: Report) -> str:
    return "-" if report.score is None else str(report.score)


def _cell(counts: dict[Verdict, int]) -> str:
    """`fail/warn/pass`, or `-`."""
    shown: tuple[Verdict, ...] = ("fail", "warn", "pass")
    numbers = [counts.get(verdict, 0) for verdict in shown]
    return "/".join(map(str, numbers)) if any(numbers) else "-"


def _at(report: Report, revision: str) -> str:
    """The same for one revision."""
    counts: dict[Verdict, int] = {}
    for result in report.run.results:
        if result.visited.revision == revision:
            counts[result.verdict] = counts.get(result.verdict, 0) + 1
    return _cell(counts)

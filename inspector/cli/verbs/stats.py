"""`inspector stats`: what a recording contains, in figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.cli.options import Option, recording
from inspector.cli.output import Output
from inspector.cli.verb import PositionalArgument, Verb

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspector.cli.verb import Invocation
    from inspector.journal.statistics import GroupStats, SessionStats

NAME = 120
SORTS: dict[str, Callable[[GroupStats], tuple[float, ...]]] = {
    "time": lambda group: (-sum(group.durations),),
    "count": lambda group: (-group.count,),
    "errors": lambda group: (-group.errors, -group.count),
    "p95": lambda group: (-(group.percentile(95) or 0),),
    "max": lambda group: (-(group.percentile(100) or 0),),
    "bytes": lambda group: (-group.bytes,),
}


def run(invocation: Invocation) -> int:
    """Measure the recording and print a row for each method and tool."""
    from inspector.journal.journal import whole_journal
    from inspector.journal.statistics import measure

    out = invocation.output
    order = invocation.option("sort", "time")
    with whole_journal(recording(invocation.arguments["file"])) as journal:
        stats = measure(journal)
        incomplete = journal.incomplete if journal.dropped[0] else ""
    stats.groups.sort(key=SORTS[order])
    if out.json:
        out.document(stats.as_json())
        return 0
    _print(out, stats)
    if incomplete:
        out.note(f"note: The recording is not complete: {incomplete}. Names of unrecorded calls are missing.")
    return 0


def _print(out: Output, stats: SessionStats) -> None:
    from inspector.text import duration, quantity

    head = ("", "count", "errors", "open", "p50", "p95", "max", "person", "bytes")
    groups = [_row(out, group) for group in stats.groups]
    rows = [head, *groups, _row(out, stats.total, whole=True)]
    out.table([(row[0], *aligned) for row, aligned in zip(rows, _right([row[1:] for row in rows]), strict=True)])
    times = [f"server {duration(stats.server)}", f"network {duration(stats.network)}"]
    if stats.person:
        times.append(f"person {duration(stats.person)}")
    out.line("")
    out.line(f"{duration(stats.lasted)} in all: {', '.join(times)}.")
    if stats.by_addons:
        out.note(
            f"Addons answered or delayed {quantity(stats.by_addons, 'request')}: these times are not the server's."
        )
    if stats.person:
        out.note("p50, p95 and max are without the time that a person took.")


def _row(out: Output, group: GroupStats, *, whole: bool = False) -> tuple[str, ...]:
    from inspector.text import count, duration, signs, size

    arrow = "" if whole else f"{signs(out.ascii).sent if group.dir == 'send' else signs(out.ascii).received} "
    name = f" {out.safe(group.name, NAME)}" if group.name else ""
    times = [group.percentile(part) for part in (50, 95, 100)]
    return (
        f"{arrow}{out.safe(group.method, NAME)}{name}",
        count(group.count),
        count(group.errors) if group.errors else "",
        count(group.open) if group.open else "",
        *("" if us is None else duration(us) for us in times),
        duration(group.person) if group.person else "",
        size(group.bytes),
    )


def _right(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Align the cells of each column at the right; a column that has only a head stays empty."""
    columns = []
    for head, *cells in zip(*rows, strict=True):
        width = max(map(len, (head, *cells)))
        column = (head, *cells) if any(cells) else ("",) * (len(cells) + 1)
        columns.append([cell.rjust(width) if any(cells) else "" for cell in column])
    return list(zip(*columns, strict=True))


STATS = Verb(
    "stats",
    run,
    slots=(PositionalArgument("file", completes="recording"),),
    target="none",
    options=(Option("--sort", "The order of the rows (default: time)", choices=tuple(SORTS)),),
)

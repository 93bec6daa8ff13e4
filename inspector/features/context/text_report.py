"""The text of `inspector context`: a table of tools, totals, and what hosts make of them."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from inspector.cli.colours import Colours
from inspector.hosts import host_facts
from inspector.text import cell_len, count, quantity, signs

if TYPE_CHECKING:
    from inspector.cli.output import Output
    from inspector.features.context.cost import ServerCost
    from inspector.features.context.report import ContextReport, CostGrowth
    from inspector.hosts import HostNote
    from inspector.protocol.token_costs import ToolCost

NAME = 64
"""Characters shown of a name."""
MAX_COUNT = 20
"""Lines of one section; `--json` has all."""
_GAP = "  "


def text(out: Output, report: ContextReport, *, budget: int | None = None) -> Iterator[str]:
    """Yield the whole report."""
    paint = Colours()
    cost = report.cost
    about = f"about {count(cost.tokens)} tokens" if cost.counter.is_estimate else quantity(cost.tokens, "token")
    yield paint(
        f"{out.safe(report.server, NAME)}: {quantity(len(cost.tools), 'tool')}, "
        f"{quantity(cost.characters, 'character')}, {about}",
        "bold",
    )
    if cost.counter.is_estimate:
        limit = -(-cost.characters // 3)
        yield f"Tokens are an estimate: characters / 4. Models may need up to characters / 3, {count(limit)} tokens."
    else:
        yield f"Tokens of {out.safe(cost.counter.method, 40)}."
    if budget is not None:
        above = cost.tokens - budget
        verdict = f"{quantity(above, 'token')} above" if above > 0 else "within"
        yield paint(f"Budget {quantity(budget, 'token')}: {verdict}", "red" if above > 0 else "green")
    if cost.tools or cost.instructions:
        yield ""
        yield from _table(out, cost)
        yield ""
        yield from _parts(cost)
    yield from _sharing(out, report)
    if report.against is not None:
        yield ""
        yield from _growth(out, report.against)
    yield from _results(out, report)
    yield from _hosts(out, paint, report)


def tool_text(out: Output, tool: ToolCost, *, estimated: bool) -> Iterator[str]:
    """Yield the exact text of one tool, part by part."""
    paint = Colours()
    for part, value in (("name", tool.name), ("description", tool.description), ("input schema", tool.schema)):
        yield paint(f"{part}: {quantity(len(value), 'character')}", "bold")
        yield from (out.safe(line) for line in value.split("\n"))
        yield ""
    about = "about " if estimated else ""
    yield f"total: {quantity(tool.characters, 'character')}, {about}{quantity(tool.tokens, 'token')}"
    if tool.not_included:
        yield f"not included: {', '.join(out.safe(name, 40) for name in tool.not_included[:MAX_COUNT])}"


def names_text(out: Output, names: dict[str, str]) -> Iterator[str]:
    """Yield the names of a tool for the model, by host."""
    labels = host_facts().labels
    for host, name in names.items():
        yield f"name in {labels[host]}: {out.safe(name, 300)} ({quantity(len(name), 'character')})"


def columns(rows: Iterable[tuple[str, ...]], left: int = 1) -> Iterator[str]:
    """Align cells in columns: the first `left` ones to the left, numbers to the right."""
    table = list(rows)
    widths = [max(map(cell_len, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = []
        for at, (cell, width) in enumerate(zip(row, widths, strict=True)):
            space = " " * (width - cell_len(cell))
            cells.append(cell + space if at < left else space + cell)
        yield _GAP.join(cells).rstrip()


def _table(out: Output, cost: ServerCost) -> Iterator[str]:
    about = "~" if cost.counter.is_estimate else ""
    rows = [("tool", "name", "description", "schema", "characters", "tokens", "share")]
    rows += [
        (
            out.safe(tool.name, NAME) or "(unnamed)",
            count(len(tool.name)),
            count(len(tool.description)),
            count(len(tool.schema)),
            count(tool.characters),
            f"{about}{count(tool.tokens)}",
            f"{cost.share(tool):.1%}",
        )
        for tool in cost.sorted()
    ]
    if cost.instructions:
        size = len(cost.instructions)
        rows.append(
            (
                "instructions",
                "",
                "",
                "",
                count(size),
                f"{about}{count(cost.instruction_tokens)}",
                f"{size / cost.characters:.1%}",
            )
        )
    return columns(rows)


def _parts(cost: ServerCost) -> Iterator[str]:
    schemas = sum(len(tool.schema) for tool in cost.tools)
    texts, choices = sum(tool.parameter_texts for tool in cost.tools), sum(tool.choices for tool in cost.tools)
    yield (
        f"Schemas: {quantity(schemas, 'character')}, of which {count(texts)} are descriptions and {count(choices)} "
        "are allowed or example values."
    )
    members = dict.fromkeys(name for tool in cost.tools for name in tool.not_included)
    passed = sum(tool.characters for tool in cost.tools)
    if members:
        yield (
            f"On the wire: {quantity(cost.wire, 'character')} for {count(passed)} that reach a model. "
            f"Most hosts keep back {_listed(list(members))}."
        )


def _listed(names: list[str], limit: int = 6) -> str:
    from inspector.text import safe

    listed = ", ".join(safe(name, 40) for name in names[:limit])
    return f"{listed} and {len(names) - limit:,} more" if len(names) > limit else listed


def _sharing(out: Output, report: ContextReport) -> Iterator[str]:
    if report.savings:
        total = sum(saving.characters for saving in report.savings)
        yield ""
        least = "at least " if any(saving.is_least for saving in report.savings) else ""
        yield f"$defs would save {least}{quantity(total, 'character')}:"
        for saving in report.savings[:MAX_COUNT]:
            yield (
                f"  {out.safe(saving.tool, NAME)}  {count(saving.characters)}: {out.safe(saving.largest, 120)} "
                f"occurs {quantity(saving.times, 'time')}"
            )
        yield from _rest(len(report.savings))
    if report.repeated:
        yield ""
        yield "The same text stands in several tools:"
        for entry in report.repeated[:MAX_COUNT]:
            yield f"  {entry.what}, {quantity(entry.characters, 'character')}: {_listed(list(entry.tools))}"


def _growth(out: Output, growth: CostGrowth) -> Iterator[str]:
    yield (
        f"Against {out.safe(growth.source, 200)}: {growth.characters:+,} characters, {growth.tokens:+,} tokens "
        f"(before: {quantity(growth.before, 'token')})"
    )
    rows = []
    for tool in growth.tools[:MAX_COUNT]:
        sign = "+" if tool.before is None else "-" if tool.after is None else "~"
        rows.append((f"  {sign} {out.safe(tool.name, NAME)}", f"{tool.characters:+,}", f"{tool.tokens:+,} tokens"))
    yield from columns(rows)
    yield from _rest(len(growth.tools))


def _results(out: Output, report: ContextReport) -> Iterator[str]:
    if not report.results:
        return
    yield ""
    yield "Largest result of each tool, in characters:"
    rows = [("  tool", "content", "structuredContent")]
    largest = sorted(report.results.items(), key=lambda item: -(item[1].content + (item[1].structured or 0)))
    for tool, result in largest[:MAX_COUNT]:
        structured = "" if result.structured is None else count(result.structured)
        rows.append((f"  {out.safe(tool, NAME)}", count(result.content), structured))
    yield from columns(rows)
    yield from _rest(len(report.results))


def _rest(number: int) -> Iterator[str]:
    if number > MAX_COUNT:
        yield f"  and {number - MAX_COUNT:,} more; --json lists all"


def _hosts(out: Output, paint: Colours, report: ContextReport) -> Iterator[str]:
    if not report.notes:
        return
    facts = host_facts()
    today = datetime.date.today()
    yield ""
    if report.loads:
        yield paint("Tokens by host, with its tool names", "bold")
        rows = [("  host", "parts that reach the model", "at the start", "all tools")]
        rows += [
            (
                f"  {facts.labels[load.host]}",
                ", ".join(load.parts),
                f"~{count(load.at_start_tokens)}",
                f"~{count(load.tokens)}",
            )
            for load in report.loads
        ]
        yield from columns(rows, left=2)
        yield ""
    faults = report.faults
    passed = {note.fact.id for note in report.notes} - {note.fact.id for note in faults}
    yield paint(
        f"Limits of hosts: {len({note.fact.id for note in faults})} exceeded, {len(passed)} kept",
        "bold",
    )
    for _, notes in groupby(sorted(faults, key=_order), key=lambda note: note.fact.id):
        yield from _limit(out, paint, list(notes), today)


def _order(note: HostNote) -> tuple[int, str, str]:
    return note.fact.severity, note.fact.host, note.fact.id


def _limit(out: Output, paint: Colours, notes: list[HostNote], today: datetime.date) -> Iterator[str]:
    fact = notes[0].fact
    scope = " (the whole request)" if fact.fails_request else ""
    age = fact.age(today)
    yield ""
    yield (
        f"{paint(signs(out.ascii).finding, 'yellow')} {host_facts().labels[fact.host]}: {notes[0].limit}; "
        f"otherwise {effect_words(fact.effect)}{scope}"
    )
    for note in notes[:3]:
        yield f"    {out.safe(note.subject, 100)}: {out.safe(note.actual, 300)}"
    if len(notes) > 3:
        yield f"    and {len(notes) - 3:,} more"
    yield f"    {fact.remedy}"
    confidence = "" if fact.confidence == "high" else f", confidence {fact.confidence}"
    yield paint(f"    {fact.id}  {fact.origin} ({fact.date}{f', {age}' if age else ''}{confidence})", "faint")


def effect_words(effect: str) -> str:
    """Return the effect of passing a limit, in words."""
    return {"—": "changed", "review rejects": "rejected in review", "left out": "omitted"}.get(effect, effect)

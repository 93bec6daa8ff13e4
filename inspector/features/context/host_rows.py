"""The limits of hosts on one tool: a table by part and host, what is exceeded, and the sources."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from inspector.hosts import Fact, HostNote, host_facts
from inspector.text import cell_len, count, quantity
from inspector.tui.themes import signs_now
from inspector.tui.widgets.fact_rows import Row
from inspector.tui.widgets.paint import Piece

_PARTS = (
    ("name", ("tool.name", "tool.full_name", "prefix")),
    ("description", ("tool.description",)),
    ("schema", ("schema", "schema.root", "schema.property_names")),
    ("title, hints", ("tool.title", "tool.annotations", "tool.outputSchema", "tool.design")),
    ("tools", ("tools.count",)),
    ("instructions", ("instructions",)),
)
_LABEL = 13
_COLUMN = 10
_DOUBT = {"low": "low confidence", "medium": "medium confidence"}


def host_rows(
    hosts: Sequence[str],
    notes: Sequence[HostNote],
    facts: dict[str, tuple[Fact, ...]],
    width: int,
    names: dict[str, str],
) -> list[Row]:
    """Return the rows about one tool.

    `facts` are those of each host, `notes` may be about any of them, `names` are the tool's full names by host.
    """
    by_fact: dict[str, list[HostNote]] = {}
    for note in notes:
        by_fact.setdefault(note.fact.id, []).append(note)
    columns = [host for host in hosts if any(fact.id in by_fact for fact in facts[host])]
    visible = columns[: max((width - _LABEL) // _COLUMN, 0)]
    rows = _table(visible, by_fact, facts) if visible else []
    faults = sorted((note for note in notes if not note.ok), key=lambda note: (note.fact.severity, note.fact.id))
    if len(visible) < len(columns):
        rows += [Row([(f"{quantity(len(columns) - len(visible), 'more host')} below", "muted")]), Row()]
    rows += _faults(faults)
    rows += _names(names)
    return rows + _sources(faults or notes)


def _names(names: dict[str, str]) -> list[Row]:
    labels = host_facts().labels
    rows = [Row([(f"{labels[host]}  ", "normal"), (name[:300], "muted")], 2) for host, name in names.items()]
    return [Row([("Names for the model", "bright bold")]), *rows, Row()] if rows else []


def _table(hosts: Sequence[str], by_fact: dict[str, list[HostNote]], facts: dict[str, tuple[Fact, ...]]) -> list[Row]:
    heads = [host.split("-", 1) for host in hosts]
    rows = []
    for line in range(max(map(len, heads))):
        names = (f"{head[line] if line < len(head) else '':>{_COLUMN}}" for head in heads)
        rows.append(Row([(" " * _LABEL + "".join(names), "muted")]))
    for label, fields in _PARTS:
        cells = []
        for host in hosts:
            notes = [note for fact in facts[host] if fact.field in fields for note in by_fact.get(fact.id, ())]
            cells.append(_cell(notes))
        if any(text.strip() != signs_now().later for text, _ in cells):
            rows.append(Row([(f"{label:<{_LABEL}}", "bright"), *cells]))
    return [*rows, Row([(f"{signs_now().later}  no known limit", "muted")]), Row()]


def _cell(notes: list[HostNote]) -> tuple[str, str]:
    """Return the worst of some notes in one cell: `✓ 840/1024`, `▲ no title`."""
    signs = signs_now()
    if not notes:
        return f"{signs.later:>{_COLUMN}}", "muted"
    worst = min(notes, key=lambda note: (note.ok, -(note.numbers[0] / note.numbers[1]) if note.numbers else 0.0))
    if worst.numbers is not None:
        words = "/".join(map(str, worst.numbers))
        if len(words) > _COLUMN - 3:
            words = str(worst.numbers[0])  # The limit stands below, if it is exceeded.
    else:
        words = "" if worst.ok else worst.actual.partition(" in ")[0]
    text = f"{signs.done if worst.ok else signs.finding} {words}".rstrip()
    if cell_len(text) > _COLUMN - 1:
        text = f"{text[: _COLUMN - 2]}{signs.cut}"
    return f"{text:>{_COLUMN}}", "received" if worst.ok else "finding"


def _faults(faults: list[HostNote]) -> list[Row]:
    labels = host_facts().labels
    rows: list[Row] = []
    for note in faults:
        fact = note.fact
        scope = ", the whole request" if fact.fails_request else ""
        head: list[Piece] = [(f"{signs_now().finding} ", "finding"), (labels[fact.host], "bright bold")]
        rows += [
            Row([*head, (f"  {fact.effect}{scope}", "muted")], 2),
            Row([("  ", "muted"), (note.actual, "normal"), (f"; {note.limit}", "muted")], 2),
            Row([("  ", "muted"), (fact.remedy, "normal")], 2),
            Row(),
        ]
    return rows


def _sources(notes: Sequence[HostNote]) -> list[Row]:
    labels = host_facts().labels
    today = datetime.date.today()
    sources = dict.fromkeys((labels[note.fact.host], note.fact.source[0], _dated(note.fact, today)) for note in notes)
    if not sources:
        return []
    rows = [Row([("Sources", "bright bold")])]
    for host, source, dated in list(sources)[:20]:
        rows.append(Row([(f"{host}  ", "normal"), (source, "muted"), (f"  {dated}", "muted")], 2))
    if len(sources) > 20:
        rows.append(Row([(f"and {count(len(sources) - 20)} more", "muted")]))
    return rows


def _dated(fact: Fact, today: datetime.date) -> str:
    return ", ".join(filter(None, (fact.date, fact.age(today), _DOUBT.get(fact.confidence, ""))))


USUAL = ("claude-code", "claude-directory", "openai-chat", "gemini-cli", "cursor")
"""The hosts of the model view before the user chooses others."""
ALL = ("all",)

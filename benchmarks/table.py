"""The tables of a run, from its JSON: printed by `bench.py`, and put into the documentation by

    python benchmarks/table.py benchmarks/results/RUN.json

which keeps the run as `benchmarks/published.json` and writes its tables into docs/explanation/benchmarks.md.
"""

from __future__ import annotations

import json
import sys
import textwrap
from itertools import groupby
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PUBLISHED = HERE / "published.json"
PAGE = HERE.parent / "docs" / "explanation" / "benchmarks.md"
LINE = 98
"""Characters of a line of prose."""
BEGIN, END = "<!-- begin: written by benchmarks/table.py -->", "<!-- end -->"

RAW, SDK, TYPESCRIPT = "raw", "python sdk", "typescript"
"""The contestants that have a column of their own; `raw` shares its column with others."""

_VERDICTS = {True: "ok", False: "**over**", None: ""}


def figure_text(value: Any, unit: str) -> str:
    """A figure for people."""
    if value is None:
        return ""
    if isinstance(value, str):
        return "fails"
    if unit == "ms":
        digits = 1 if value < 0.02 else 0
        return f"{value * 1000:,.{digits}f} ms"
    return f"{value:,.0f}{unit if unit == '/s' else f' {unit}'}".rstrip()


def budget_of(row: dict[str, Any]) -> str:
    """The limit, in words."""
    if row["budget"] is None:
        return ""
    sign = "≥" if row["more_is_better"] else "≤"
    if not row["against"]:
        return f"{sign} {figure_text(row['budget'], row['unit'])}"
    plus = f" + {figure_text(row['plus'], row['unit'])}" if row["plus"] else ""
    cpu = "CPU " if row["judged_on"] == "cpu_us" else ""
    elsewhere = row["against"] in (row["beside"], RAW, SDK, TYPESCRIPT)
    base = "" if elsewhere else f" ({figure_text(row['others'].get(row['against']), row['unit'])})"
    return f"{cpu}{sign} {row['budget']:.2f} × {row['against']}{base}{plus}"


def cells(row: dict[str, Any]) -> list[str]:
    """One line of a table."""
    others = row["others"]
    beside = figure_text(others.get(row["beside"]), row["unit"])
    if beside and row["beside"] not in (RAW, TYPESCRIPT):
        beside += f" ({row['beside']})"
    ratio, cpu_ratio = ("" if row[key] is None else f"{row[key]:.2f}" for key in ("ratio", "cpu_ratio"))
    return [
        row["title"], figure_text(row["inspector"], row["unit"]), beside,
        figure_text(others.get(SDK), row["unit"]), figure_text(others.get(TYPESCRIPT), row["unit"]),
        ratio, cpu_ratio, budget_of(row), _VERDICTS[row["ok"]],
    ]  # fmt: skip


def table(rows: list[dict[str, Any]], group: str) -> str:
    """One group of rows as Markdown; empty columns are omitted."""
    lines = [
        [group, "Inspector", "beside", "Python SDK", "TypeScript", "ratio", "in CPU", "budget", ""],
        *map(cells, rows),
    ]
    kept = [column for column in zip(*lines, strict=True) if any(column[1:])]
    widths = [max(map(len, column)) for column in kept]
    text = [
        f"| {' | '.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))} |"
        for line in zip(*kept, strict=True)
    ]
    text.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(text)


def tables(run: dict[str, Any]) -> str:
    """All tables of a run, and what was measured."""
    parts = [table(list(rows), group) for group, rows in groupby(run["rows"], key=lambda row: row["group"])]
    facts = ", ".join(f"{name} {version}" for name, version in run["versions"].items())
    rounds = f"{run['rounds']} round" + ("s" if run["rounds"] > 1 else "")
    measured = f"{run['started'][:10]}, {rounds}, {facts}."
    for later in run.get("later", ()):
        when = later["started"][:16].replace("T", " ")
        measured += f" {later['group']}: measured apart from the others, at {when} UTC."
    return "\n\n".join([*parts, textwrap.fill(measured, LINE, break_on_hyphens=False)])


def with_tables(page: str, run: dict[str, Any]) -> str:
    """The page with the tables of `run` between its markers. Raises `ValueError` where it has none."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"The page has no {BEGIN} … {END}.")
    return f"{before}{BEGIN}\n\n{tables(run)}\n\n{end}{after}"


if __name__ == "__main__":
    chosen = Path(sys.argv[1])
    PUBLISHED.write_text(chosen.read_text())
    PAGE.write_text(with_tables(PAGE.read_text(), json.loads(PUBLISHED.read_text())))

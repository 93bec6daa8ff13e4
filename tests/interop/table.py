"""The table of the corpus: printed after the tests, kept in docs/interop.md."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/interop.md"
BEGIN, END = "<!-- table: begin, made by `make interop-page` -->", "<!-- table: end -->"
HEADS = ("server", "made with", "over", "era", "revision", "starts", "found by", "ready")


def plain(rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of the table for a terminal."""
    lines = [HEADS, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADS))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]


def keep(rows: Iterable[Sequence[str]]) -> None:
    """Puts the table into the page."""
    table = "\n".join("| " + " | ".join(line) + " |" for line in (HEADS, ["---"] * len(HEADS), *rows))
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{after}", encoding="utf-8")


def on_the_page() -> list[list[str]]:
    """The cells of the rows that the page has."""
    text = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.split("\n") if line[:1] == "|"]
    return lines[2:]

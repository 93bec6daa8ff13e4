"""The tables of these tests: printed after them, kept in docs/explanation/interop.md."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/explanation/interop.md"


@dataclass(frozen=True)
class Table:
    """One table of the page, by the name in its comments."""

    name: str
    heads: Sequence[str]

    @property
    def _begin(self) -> str:
        return f"<!-- {self.name}: begin, made by `make interop-page` -->"

    @property
    def _end(self) -> str:
        return f"<!-- {self.name}: end -->"

    def plain(self, rows: Iterable[Sequence[str]]) -> list[str]:
        """Its lines for a terminal."""
        lines = [self.heads, *rows]
        widths = [max(len(line[column]) for line in lines) for column in range(len(self.heads))]
        return [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
        ]

    def keep(self, rows: Iterable[Sequence[str]]) -> None:
        """Puts it into the page."""
        table = "\n".join("| " + " | ".join(line) + " |" for line in (self.heads, ["---"] * len(self.heads), *rows))
        text = PAGE.read_text(encoding="utf-8")
        before, _, rest = text.partition(self._begin)
        after = rest.partition(self._end)[2]
        PAGE.write_text(f"{before}{self._begin}\n\n{table}\n\n{self._end}{after}", encoding="utf-8")

    def on_the_page(self) -> list[list[str]]:
        """The cells of the rows that the page has."""
        text = PAGE.read_text(encoding="utf-8").partition(self._begin)[2].partition(self._end)[0]
        lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.split("\n") if line[:1] == "|"]
        return lines[2:]


CORPUS = Table("table", ("server", "made with", "over", "era", "revision", "starts", "found by", "ready"))
AUTHORIZATION = Table(
    "authorization",
    (
        "server",
        "made with",
        "login",
        "next run",
        "its end",
        "refused",
        "logout",
        "taken back",
        "more scopes",
        "restarted",
    ),
)

"""Rows for panes that state facts: headings, labels and values, wrapped text. All of it passes the safe-text door."""

from __future__ import annotations

from collections.abc import Iterable

from inspector.text import lines
from inspector.tui.widgets.paint import Pieces

LABEL = 14


def heading(text: str) -> list[Pieces]:
    """A heading with an empty line above it."""
    return ["", [(text, "bright bold")]]


def fact(label: str, value: str, width: int, role: str = "normal") -> list[Pieces]:
    """A label at the left and its value beside it, over as many lines as it needs."""
    first, *rest = beside(value, width - LABEL, role)
    rows: list[Pieces] = [[(f"{label:<{LABEL}}", "muted"), first]]
    rows += [[" " * LABEL, line] for line in rest]
    return rows


def beside(text: str, width: int, role: str, *, limit: int = 200) -> list[tuple[str, str]]:
    """The lines of a text, to be put beside something; one at least."""
    return [(line, role) for line in lines(text, max(width, 20))[:limit]] or [("", role)]


def wrapped(text: str, width: int, role: str = "normal", *, indent: int = 0, limit: int = 200) -> list[Pieces]:
    """Server text over as many lines as it needs, up to `limit`."""
    pad = " " * indent
    shown = lines(text, max(width - indent, 20))
    rows: list[Pieces] = [[(f"{pad}{line}", role)] for line in shown[:limit]]
    if len(shown) > limit:
        rows.append([(f"{pad}… {len(shown) - limit} more lines", "muted")])
    return rows


def joined(names: Iterable[str], width: int, role: str = "normal") -> list[Pieces]:
    """Names separated by two spaces, over as many lines as needed."""
    rows: list[Pieces] = []
    line = ""
    for name in names:
        if line and len(line) + len(name) + 2 > width:
            rows.append([(line, role)])
            line = ""
        line = f"{line}  {name}" if line else name
    return [*rows, [(line, role)]] if line else rows

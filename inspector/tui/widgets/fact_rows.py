"""Rows for panes of facts: headings, labels with their values, text. They wrap when they are drawn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from inspector.text import safe
from inspector.tui.themes import ascii_only
from inspector.tui.widgets.clipboard import copy
from inspector.tui.widgets.lines_view import LinesView
from inspector.tui.widgets.paint import Pieces
from inspector.tui.widgets.sections import TEXT_LINE, Section, Span

MAX_LENGTH = 100_000
"""Characters of one text that are read."""
LABEL = 14
"""Cells of the labels of facts; long labels push their value to the right."""


class Row(NamedTuple):
    """One row; when it wraps, its further lines are indented by `hang` cells."""

    pieces: Pieces = ""
    hang: int = 0


def heading(text: str) -> list[Row]:
    """Return a heading with an empty row above it."""
    return [Row(), Row([(text, "bright bold")])]


def fact(label: str, value: str, role: str = "normal") -> list[Row]:
    """Return a label at the left and its value beside it. Further lines of the value are aligned with the first."""
    first, *rest = text_lines(value)
    padded = f"{label:<{LABEL - 2}}  "
    return [
        Row([(padded, "muted"), (first, role)], LABEL),
        *(Row([(" " * LABEL, "muted"), (line, role)], LABEL) for line in rest),
    ]


def paragraph(text: str, role: str = "normal", *, indent: int = 0, limit: int = 200) -> list[Row]:
    """Text of several lines, up to `limit` of them."""
    pad = " " * indent
    lines = text_lines(text)
    rows = [Row([(f"{pad}{line}", role)], indent) for line in lines[:limit]]
    if len(lines) > limit:
        rows.append(Row([(f"{pad}… {len(lines) - limit:,} more lines", "muted")]))
    return rows


def text_lines(text: str) -> list[str]:
    """Return the lines of a text, at least one, none longer than a view draws."""
    lines = text[:MAX_LENGTH].rstrip().replace("\r\n", "\n").split("\n")
    return [line[at : at + TEXT_LINE] for line in lines for at in range(0, len(line) or 1, TEXT_LINE)]


def plain(rows: Iterable[Row]) -> str:
    """Return rows as safe text to copy."""
    return "\n".join(text.rstrip() for text, _ in map(_line, rows))


class RowSection(Section):
    """Rows in a view of lines."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        self._lines = [_line(row) for row in rows]

    def __len__(self) -> int:
        return len(self.rows)

    def text(self, line: int) -> str:
        return self._lines[line][0]

    def spans(self, line: int, text: str) -> Sequence[Span]:
        return self._lines[line][1]

    def hang(self, line: int) -> int:
        return self.rows[line].hang

    def copy_text(self, line: int) -> str:
        return plain(self.rows)


def _line(row: Row) -> tuple[str, list[Span]]:
    """Return a row's safe text, and the roles in it."""
    text, spans = "", []
    for piece in (row.pieces,) if isinstance(row.pieces, str) else row.pieces:
        words, role = (piece, "normal") if isinstance(piece, str) else piece
        drawn = safe(words, TEXT_LINE, ascii=ascii_only())
        spans.append((len(text), len(text) + len(drawn), role or "normal"))
        text += drawn
    return text, spans


class FactsView(LinesView):
    """Shows sections; new ones keep the scroll position. `what` names a copy; empty: copying is off."""

    shows_cursor = False

    def __init__(self, *, empty: str = "", what: str = "the text", id: str | None = None) -> None:
        super().__init__(empty=empty, id=id)
        self._what = what

    def show(self, *sections: Section) -> None:
        """Show these sections one below the other."""
        top = self.scroll_offset.y
        self.set_sections(sections)
        if self.is_mounted:
            self._scroll_top(min(top, max(self.max_scroll_y, 0)))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return the key of copy goes to the pane if it is off here."""
        return bool(self._what) if action == "copy" else super().check_action(action, parameters)

    def action_copy(self) -> None:
        """Copy all of it."""
        copy(self, "\n\n".join(section.copy_text(0) for section in self.sections), self._what)

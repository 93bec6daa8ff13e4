"""Paragraphs of text in a pane: wrapped, limited in length, with a sign at a cut."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from textual.geometry import Size
from textual.strip import Strip

from inspector.text import lines
from inspector.tui.themes import ThemeStyles, ascii_only, palette
from inspector.tui.widgets import paint
from inspector.tui.widgets.line_widget import LineWidget
from inspector.tui.widgets.wrapping import wrap

Paragraph = tuple[str, str] | list[paint.Piece]
"""Text and its role, or pieces with roles; wrapped at spaces, a word longer than a line at its end."""

TEXT = 20_000
"""Characters of one paragraph that are shown."""


class Paragraphs(LineWidget):
    """Paragraphs below one another, as high as their text, but at most `max_lines` lines if set.

    `after` lines below stay empty. `whole` shows all lines all the same; `is_cut` tells whether some are hidden now.
    `more` is the hint after the sign of a cut.
    """

    DEFAULT_CSS = """
    Paragraphs { height: auto; width: 1fr; }
    """

    def __init__(
        self, paragraphs: Sequence[Paragraph] = (), *, max_lines: int = 0, after: int = 0, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self.paragraphs: Sequence[Paragraph] = tuple(paragraphs)
        self.max_lines = max_lines
        self.after = after
        self.whole = False
        self.more = ""
        self._drawn: tuple[tuple[object, ...], list[list[Segment]]] | None = None

    def show(self, paragraphs: Sequence[Paragraph]) -> None:
        """Show other paragraphs; does nothing if they are equal."""
        if tuple(paragraphs) != self.paragraphs:
            self.paragraphs = tuple(paragraphs)
            self._drawn = None
            self.display = bool(self.paragraphs)
            self.refresh(layout=True)

    def limit(self, max_lines: int, *, after: int) -> None:
        """Show at most so many lines from now on, and leave `after` lines below empty."""
        if (max_lines, after) != (self.max_lines, self.after):
            self.max_lines, self.after = max_lines, after
            self.refresh(layout=True)

    def show_all(self, whole: bool) -> None:
        """Show every line, or at most `max_lines` again."""
        if whole != self.whole:
            self.whole = whole
            self.refresh(layout=True)

    @property
    def is_cut(self) -> bool:
        """Some lines are not shown."""
        return bool(self.max_lines) and not self.whole and len(self._lines(self.size.width)) > self.max_lines

    def lines_needed(self, width: int, most: int) -> int:
        """Return the lines of text in a width: all while they are shown, else at most `most`."""
        count = len(self._lines(width))
        return count if self.whole else min(count, most)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        count = len(self._lines(width))
        visible = count if self.whole or not self.max_lines else min(count, self.max_lines)
        return visible + self.after if visible else 0

    def _lines(self, width: int) -> list[list[Segment]]:
        theme = palette()
        made_for = (theme, width, ascii_only(), self.paragraphs)
        if self._drawn is None or self._drawn[0][:3] != made_for[:3] or self._drawn[0][3] is not made_for[3]:
            room = max(width - 2, 1)
            self._drawn = (
                made_for,
                [line for paragraph in self.paragraphs for line in _wrapped(paragraph, room, theme)],
            )
        return self._drawn[1]

    def render_line(self, y: int) -> Strip:
        theme = palette()
        cells = self.size.width
        rows = self._lines(cells)
        room = max(cells - 2, 1)
        side = Segment(" ")
        if y >= len(rows) or (self.is_cut and y >= self.max_lines):
            return paint.blank(cells, theme=theme)
        line = rows[y]
        if self.is_cut and y == self.max_lines - 1:
            # One cell more than fits, so that the line ends in the sign of a cut even if it is short.
            tail = paint.segments([(f"  {self.more}", "faint")], theme=theme) if self.more else []
            line = [*paint.cut([*line, Segment(" " * room)], room - paint.width(tail)), *tail]
        return paint.strip([side, *line], cells, theme=theme)


def _wrapped(paragraph: Paragraph, room: int, theme: ThemeStyles) -> list[list[Segment]]:
    if isinstance(paragraph, tuple):
        text, role = paragraph
        style = theme.style(role)
        return [[Segment(line, style)] for line in lines(text[:TEXT], room, limit=TEXT, ascii=ascii_only())]
    segments = paint.segments(paragraph, room=TEXT, theme=theme)
    text = "".join(segment.text for segment in segments)
    return [_slice(segments, start, end) for start, end in wrap(text, room)]


def _slice(segments: Sequence[Segment], start: int, end: int) -> list[Segment]:
    """Return the characters of a line from `start` to `end`."""
    parts: list[Segment] = []
    at = 0
    for text, style, _ in segments:
        piece = text[max(start - at, 0) : max(end - at, 0)]
        if piece:
            parts.append(Segment(piece, style))
        at += len(text)
    return parts

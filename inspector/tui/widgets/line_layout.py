"""The lines of a view: sections one below the other, their folds and rows at a width, and their styles."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, islice

from rich.style import Style
from textual.cache import LRUCache

from inspector.tui.themes import ThemeStyles, palette
from inspector.tui.widgets.sections import Below, Section
from inspector.tui.widgets.wrapping import wrap


class LineRows:
    """Maps rows to (line, part of the line) and back.

    A folded range hides the lines after its first. A line whose rows are not set counts as one row, so that a view can
    be drawn before all of it is measured; `set_rows` must be called with ascending lines, until `forget_rows`.
    """

    def __init__(self, lines: int = 0) -> None:
        self.lines = lines
        self.folded: dict[int, int] = {}
        self._long = array("q")
        self._long_sum = array("q")
        self._first = array("q")
        self._last = array("q")
        self._hidden = array("q")
        self._hidden_more = array("q")
        self._stale = False

    # Folding

    def fold(self, first: int, last: int) -> None:
        """Hide the lines after `first` up to `last`."""
        if last > first:
            self.folded[first] = last
            self._stale = True

    def unfold(self, first: int) -> None:
        """Show the lines of a folded range again."""
        if self.folded.pop(first, None) is not None:
            self._stale = True

    def unfold_all(self) -> None:
        """Show every line."""
        self.folded.clear()
        self._stale = True

    def reveal(self, line: int) -> None:
        """Unfold whatever hides a line."""
        for first in [first for first, last in self.folded.items() if first < line <= last]:
            self.unfold(first)

    def opener(self, line: int) -> int:
        """Return the line itself if it is visible, else the first line of the fold that hides it."""
        self._build()
        at = bisect_left(self._first, line) - 1
        return self._first[at] if at >= 0 and line <= self._last[at] else line

    # Long lines

    def set_rows(self, line: int, rows: int) -> None:
        """Set the number of rows of a line."""
        if rows > 1:
            self._long.append(line)
            self._long_sum.append((self._long_sum[-1] if self._long_sum else 0) + rows - 1)
            self._stale = True

    def forget_rows(self) -> None:
        """Let every line have one row again."""
        del self._long[:]
        del self._long_sum[:]
        self._stale = True

    # Rows

    @property
    def count(self) -> int:
        """The number of rows."""
        self._build()
        more = self._long_sum[-1] if self._long_sum else 0
        hidden = self._hidden[-1] if self._hidden else 0
        hidden_more = self._hidden_more[-1] if self._hidden_more else 0
        return self.lines + more - hidden - hidden_more

    def row_of(self, line: int) -> int:
        """Return the first row of a line, or of the fold that hides it."""
        line = self.opener(line)
        at = bisect_left(self._first, line) - 1
        hidden = self._hidden[at] + self._hidden_more[at] if at >= 0 else 0
        return line + self._more_before(line) - hidden

    def locate(self, row: int) -> tuple[int, int]:
        """Return the line of a row, and which of the line's rows it is, from 0."""
        line = bisect_right(range(self.lines), row, key=self.row_of) - 1
        line = self.opener(max(line, 0))
        return line, row - self.row_of(line)

    def _more_before(self, line: int) -> int:
        at = bisect_left(self._long, line) - 1
        return self._long_sum[at] if at >= 0 else 0

    def _build(self) -> None:
        """Collect the outermost folds, and the number of rows hidden up to the end of each."""
        if not self._stale:
            return
        self._stale = False
        for column in (self._first, self._last, self._hidden, self._hidden_more):
            del column[:]
        hidden = more = 0
        reached = -1
        for first in sorted(self.folded):
            last = self.folded[first]
            if first <= reached:
                continue
            reached = last
            hidden += last - first
            more += self._more_before(last + 1) - self._more_before(first + 1)
            self._first.append(first)
            self._last.append(last)
            self._hidden.append(hidden)
            self._hidden_more.append(more)


CACHED_LINES = 300
HITS_SHOWN = 200

Notes = Mapping[int, Sequence[Below]]
"""The notes below each line."""


class JoinedSections:
    """Sections one below the other; their lines are counted through."""

    def __init__(self, sections: Sequence[Section] = ()) -> None:
        self.sections = list(sections)
        self.has_below = any(section.has_below for section in sections)
        self._starts = list(accumulate((len(section) for section in sections), initial=0))

    def __len__(self) -> int:
        return self._starts[-1]

    def index(self, line: int) -> int:
        """Return the index of the section of a line."""
        return bisect_right(self._starts, line) - 1

    def at(self, line: int) -> tuple[Section, int]:
        """Return the section of a line, and the line's number in it."""
        at = self.index(line)
        return self.sections[at], line - self._starts[at]

    def find(self, pattern: re.Pattern[str], start: int, *, backwards: bool) -> int | None:
        """Return the first line from `start` on (or backwards) in which the pattern is found."""
        if not 0 <= start < len(self):
            return None
        begin = self.index(start)
        for at in range(begin, -1, -1) if backwards else range(begin, len(self.sections)):
            section = self.sections[at]
            local = start - self._starts[at] if at == begin else len(section) - 1 if backwards else 0
            line = section.find(pattern, local, backwards) if len(section) else None
            if line is not None:
                return self._starts[at] + line
        return None


class LineLayout:
    """The rows of each line at a width, as far as they are measured; `rows` gets their numbers."""

    def __init__(self, lines: JoinedSections, rows: LineRows, *, width: int, wraps: bool, notes: Notes) -> None:
        self.rows = rows
        self.width = width
        self.notes = notes
        self.measured = 0
        """The lines before this one are measured."""
        self._lines = lines
        self._wraps = wraps
        self._has_below = bool(notes) or lines.has_below
        self._breaks: LRUCache[int, list[tuple[int, int]]] = LRUCache(CACHED_LINES)
        self._below: LRUCache[int, list[tuple[str, str]]] = LRUCache(CACHED_LINES)
        rows.forget_rows()

    @property
    def is_complete(self) -> bool:
        """Whether the number of rows of every line is known."""
        return self.measured >= len(self._lines) or not (self._wraps or self._has_below)

    def measure(self, count: int) -> None:
        """Measure more lines."""
        if self.is_complete:
            return
        end = min(self.measured + count, len(self._lines))
        for line in range(self.measured, end):
            section, at = self._lines.at(line)
            if section.picture(at) is None:
                rows = 1
                if self._wraps:
                    text = section.text(at)
                    if len(text) * 2 > self.width:
                        rows = len(wrap(text, self.width, section.hang(at)))
                if self._has_below and (line in self.notes or section.has_below):
                    rows += len(self.below(line))
                self.rows.set_rows(line, rows)
        self.measured = end

    def breaks(self, line: int, text: str) -> list[tuple[int, int]]:
        """Return the start and end of each row of a line's text. A line is one row until it is measured."""
        if not self._wraps or line >= self.measured:
            return [(0, len(text))]
        rows = self._breaks.get(line)
        if rows is None:
            section, at = self._lines.at(line)
            rows = wrap(text, self.width, section.hang(at))
            self._breaks.set(line, rows)
        return rows

    def below(self, line: int) -> list[tuple[str, str]]:
        """Return the rows below a line, each with its role: rows of its section, and its notes."""
        rows = self._below.get(line)
        if rows is None:
            section, at = self._lines.at(line)
            rows = []
            for text, role, indent in (*section.below(at), *self.notes.get(line, ())):
                lead = " " * min(indent, max(self.width - 12, 0))
                for start, end in wrap(text, max(self.width - len(lead), 8)):
                    rows.append((lead + text[start:end], role))
            self._below.set(line, rows)
        return rows


class StyledLines:
    """The text of each line with the style of each character; the matches of `pattern` are highlighted."""

    def __init__(self, lines: JoinedSections, pattern: re.Pattern[str] | None = None) -> None:
        self.pattern = pattern
        self._lines = lines
        self._drawn: LRUCache[int, tuple[str, list[Style]]] = LRUCache(CACHED_LINES)
        self._drawn_for: ThemeStyles | None = None

    def line(self, line: int) -> tuple[str, list[Style]]:
        """Return a line's text and the style of each of its characters."""
        theme = palette()
        if theme is not self._drawn_for:
            self._drawn.clear()
            self._drawn_for = theme
        styled = self._drawn.get(line)
        if styled is None:
            section, at = self._lines.at(line)
            text = section.text(at)
            styles = [theme.style(section.role)] * len(text)
            for start, end, role in section.spans(at, text):
                styles[start:end] = [theme.style(role)] * (min(end, len(text)) - start)
            hit = theme.style("ask bold reverse")
            for start, end in self._hits(text):
                styles[start:end] = [hit] * (end - start)
            styled = (text, styles)
            self._drawn.set(line, styled)
        return styled

    def _hits(self, text: str) -> Iterator[tuple[int, int]]:
        hits = self.pattern.finditer(text) if self.pattern is not None else ()
        return (match.span() for match in islice(hits, HITS_SHOWN))

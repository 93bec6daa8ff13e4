"""A text being edited: the effect of keys on it, without a screen."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from inspector.lazy_pattern import lazy_pattern
from inspector.tui.widgets.wrapping import wrap

UNDO_LIMIT = 200

_WORD_LEFT = lazy_pattern(r"\w+\W*$")
_WORD_RIGHT = lazy_pattern(r"\W*\w+")


class EditBuffer:
    """A text, a cursor, and the other end of the selection (`anchor`; without a selection, the cursor)."""

    def __init__(self, text: str = "", *, limit: int = 20_000) -> None:
        self.text = text
        self.cursor = self.anchor = len(text)
        self.limit = limit
        self._undo: list[tuple[str, int]] = []
        self._redo: list[tuple[str, int]] = []
        self._typing = False
        self.width: int | None = None
        """Cells after which a line is broken into several rows; None: a row is a line, however long."""
        self._rows_of: tuple[str, int | None] = ("", None)
        self._rows: list[str] = [""]
        self._starts: list[int] = [0]

    def set(self, text: str) -> None:
        """Set another text; earlier changes cannot be undone."""
        self.text = text
        self.cursor = self.anchor = len(text)
        self._undo.clear()
        self._redo.clear()
        self._typing = False

    # Selection

    @property
    def span(self) -> tuple[int, int]:
        """Start and end of the selection."""
        return (self.cursor, self.anchor) if self.cursor < self.anchor else (self.anchor, self.cursor)

    @property
    def selected(self) -> str:
        """The selected text."""
        start, end = self.span
        return self.text[start:end]

    def go(self, to: int, select: bool = False) -> None:
        """Move the cursor; with `select`, the selection grows or shrinks with it."""
        self.cursor = min(max(to, 0), len(self.text))
        if not select:
            self.anchor = self.cursor
        self._typing = False

    def select_all(self) -> None:
        """Select everything, with the cursor at the end."""
        self.anchor, self.cursor = 0, len(self.text)

    # Positions

    @property
    def rows(self) -> list[str]:
        """The rows of the text, at least one."""
        self._find_rows()
        return self._rows

    def _find_rows(self) -> None:
        if self._rows_of[0] is self.text and self._rows_of[1] == self.width:
            return
        self._rows_of = self.text, self.width
        lines = self.text.split("\n")
        starts = list(accumulate((len(line) + 1 for line in lines[:-1]), initial=0))
        if self.width is None:
            self._rows, self._starts = lines, starts
            return
        self._rows, self._starts = [], []
        for line, begin in zip(lines, starts, strict=True):
            for start, end in wrap(line, self.width):
                self._rows.append(line[start:end])
                self._starts.append(begin + start)

    def place(self, at: int | None = None) -> tuple[int, int]:
        """Return (row, column) of an offset, by default of the cursor."""
        at = self.cursor if at is None else at
        self._find_rows()
        row = bisect_right(self._starts, at) - 1
        return row, at - self._starts[row]

    def offset(self, row: int, column: int) -> int:
        """Return the offset of a row and column, or of the nearest place in that row."""
        rows = self.rows
        row = min(max(row, 0), len(rows) - 1)
        begin, length = self._starts[row], len(rows[row])
        if row + 1 < len(rows) and self._starts[row + 1] == begin + length:
            length -= 1  # broken inside a word: the place after its last character is in the next row
        return begin + min(max(column, 0), length)

    def line_start(self) -> int:
        """Return where the cursor's line begins."""
        return self.text.rfind("\n", 0, self.cursor) + 1

    def line_end(self) -> int:
        """Return where the cursor's line ends."""
        end = self.text.find("\n", self.cursor)
        return len(self.text) if end < 0 else end

    def word_left(self) -> int:
        """Return the start of the word at or before the cursor."""
        match = _WORD_LEFT.search(self.text, max(self.cursor - 1000, 0), self.cursor)
        return match.start() if match else max(self.cursor - 1000, 0)

    def word_right(self) -> int:
        """Return the end of the word at or after the cursor."""
        match = _WORD_RIGHT.match(self.text, self.cursor)
        return match.end() if match else len(self.text)

    # Changes

    def insert(self, text: str, *, typed: bool = False) -> bool:
        """Replace the selection with text. Returns False, without a change, if the text would become too long.

        Characters `typed` one after another are undone together.
        """
        start, end = self.span
        if len(self.text) - (end - start) + len(text) > self.limit:
            return False
        if not (typed and self._typing and start == end):
            self._remember()
        self.text = f"{self.text[:start]}{text}{self.text[end:]}"
        self.cursor = self.anchor = start + len(text)
        self._typing = typed
        return True

    def delete(self, start: int, end: int) -> bool:
        """Delete the selection, or without one from start to end; False if nothing was deleted."""
        if self.cursor != self.anchor:
            start, end = self.span
        start, end = max(start, 0), min(end, len(self.text))
        if start >= end:
            return False
        self._remember()
        self.text = self.text[:start] + self.text[end:]
        self.cursor = self.anchor = start
        return True

    def undo(self) -> bool:
        """Undo the last change; False if there is none."""
        return self._step(self._undo, self._redo)

    def redo(self) -> bool:
        """Redo what was undone; False if there is nothing."""
        return self._step(self._redo, self._undo)

    def _remember(self) -> None:
        self._typing = False
        self._redo.clear()
        self._undo.append((self.text, self.cursor))
        if len(self._undo) > UNDO_LIMIT:
            del self._undo[0]

    def _step(self, source: list[tuple[str, int]], target: list[tuple[str, int]]) -> bool:
        if not source:
            return False
        target.append((self.text, self.cursor))
        self.text, self.cursor = source.pop()
        self.anchor = self.cursor
        self._typing = False
        return True

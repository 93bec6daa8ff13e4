"""A text being edited: the effect of keys on it, without a screen."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

UNDO_LIMIT = 200

_WORD_LEFT = re.compile(r"\w+\W*$")
_WORD_RIGHT = re.compile(r"\W*\w+")


class EditBuffer:
    """A text, a cursor, and the other end of the selection (`anchor`; without a selection, the cursor)."""

    def __init__(self, text: str = "", *, limit: int = 20_000) -> None:
        self.text = text
        self.cursor = self.anchor = len(text)
        self.limit = limit
        self._undo: list[tuple[str, int]] = []
        self._redo: list[tuple[str, int]] = []
        self._typing = False
        self._rows_of: str | None = None
        self._rows: list[str] = []
        self._starts: list[int] = []

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
        """The lines of the text, at least one."""
        self._find_rows()
        return self._rows

    def _find_rows(self) -> None:
        if self._rows_of is not self.text:
            self._rows_of = self.text
            self._rows = self.text.split("\n")
            self._starts = list(accumulate((len(row) + 1 for row in self._rows[:-1]), initial=0))

    def place(self, at: int | None = None) -> tuple[int, int]:
        """Return (row, column) of an offset, by default of the cursor."""
        at = self.cursor if at is None else at
        self._find_rows()
        row = bisect_right(self._starts, at) - 1
        return row, at - self._starts[row]

    def offset(self, row: int, column: int) -> int:
        """Return the offset of a row and column, or of the nearest place that exists."""
        rows = self.rows
        row = min(max(row, 0), len(rows) - 1)
        return self._starts[row] + min(max(column, 0), len(rows[row]))

    def row_start(self) -> int:
        """Return where the cursor's row begins."""
        return self.text.rfind("\n", 0, self.cursor) + 1

    def row_end(self) -> int:
        """Return where the cursor's row ends."""
        end = self.text.find("\n", self.cursor)
        return len(self.text) if end < 0 else end

    def word_left(self) -> int:
        """Return the start of the word at or before the cursor."""
        found = _WORD_LEFT.search(self.text, max(self.cursor - 1000, 0), self.cursor)
        return found.start() if found else max(self.cursor - 1000, 0)

    def word_right(self) -> int:
        """Return the end of the word at or after the cursor."""
        found = _WORD_RIGHT.match(self.text, self.cursor)
        return found.end() if found else len(self.text)

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

"""Maps rows of a view to lines, if lines can be folded and long ones take several rows."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right


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

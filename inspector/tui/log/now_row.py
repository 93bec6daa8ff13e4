"""The moment at which a recording is shown, as a row of the log."""

from __future__ import annotations

from bisect import bisect_right

from rich.segment import Segment

from inspector.tui.log.rows import Numbers
from inspector.tui.themes import ascii_only, palette
from inspector.tui.widgets import paint

NOW = 0
"""The number of the row that is not an event."""


class RowsWithMoment:
    """Numbers of events, with a row for the moment after event `upto` if events follow it."""

    def __init__(self, numbers: Numbers, upto: int) -> None:
        self.numbers = numbers
        self.upto = upto
        self._at = (-1, 0)

    @property
    def at(self) -> int:
        """The row of the moment. If no event follows it, the length."""
        count = len(self.numbers)
        if self._at[0] != count:
            self._at = (count, bisect_right(self.numbers, self.upto))
        return self._at[1]

    def __len__(self) -> int:
        count = len(self.numbers)
        return count + (self.at < count)

    def __getitem__(self, position: int) -> int:
        at = self.at
        if position == at < len(self.numbers):
            return NOW
        return self.numbers[position if position < at else position - 1]

    def position(self, n: int) -> int | None:
        """The row of event `n`, or None."""
        if n == NOW:
            return self.at if self.at < len(self.numbers) else None
        found = self.numbers.position(n)
        return found if found is None or found < self.at else found + 1


def line(width: int) -> list[Segment]:
    """Draw the row: `── now ─────`."""
    dash = "-" if ascii_only() else "─"
    pieces = [(dash * 2, "chart"), (" now ", "chart bold"), (dash * max(width - 7, 0), "chart")]
    return paint.cut(paint.segments(pieces, room=width), width)


def faint(row: list[Segment]) -> list[Segment]:
    """Draw a row of an event after the moment."""
    style = palette().style("faint")
    return [Segment(segment.text, style) for segment in row]

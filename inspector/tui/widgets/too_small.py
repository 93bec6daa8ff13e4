"""Covers a terminal that is too small for the interface."""

from __future__ import annotations

from textual.geometry import Size
from textual.strip import Strip

from inspector.text import lines
from inspector.tui.widgets import paint
from inspector.tui.widgets.line_widget import LineWidget

NEEDED = Size(50, 12)
"""Columns and rows below which the interface cannot be used."""


class TooSmall(LineWidget):
    """Covers its screen while that is smaller than `NEEDED`; the screen calls `fit` when its size changes."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    TooSmall { layer: above; dock: top; width: 100%; height: 100%; display: none; }
    """

    def fit(self, size: Size) -> None:
        """Show or hide it for a screen of this size."""
        self.display = size.width < NEEDED.width or size.height < NEEDED.height

    def render_line(self, y: int) -> Strip:
        width, height = self.screen.size
        words = (
            f"Inspector needs {NEEDED.width} columns and {NEEDED.height} rows; the terminal has {width} and {height}."
        )
        rows = lines(words, max(width - 2, 1))
        pieces: list[paint.Piece] = [" ", (rows[y], "finding")] if y < len(rows) else []
        return paint.strip(paint.segments(pieces, room=width), width)

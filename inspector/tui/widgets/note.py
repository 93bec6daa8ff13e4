"""A note of one or two lines."""

from __future__ import annotations

from textual.geometry import Size
from textual.strip import Strip

from inspector.text import lines
from inspector.tui.themes import ascii_only
from inspector.tui.widgets import paint
from inspector.tui.widgets.line_widget import LineWidget

TEXT_LIMIT = 2_000


class Note(LineWidget):
    """A text in one role, wrapped."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    Note { height: auto; width: 1fr; }
    """

    def __init__(self, words: tuple[str, str], *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.words = words

    def say(self, words: tuple[str, str]) -> None:
        """Show another text with its role."""
        if words != self.words:
            self.words = words
            self.refresh(layout=True)

    def _lines(self, width: int) -> list[str]:
        return lines(self.words[0], max(width, 1), limit=TEXT_LIMIT, ascii=ascii_only())

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines(width))

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        found = self._lines(width)
        text = found[y] if y < len(found) else ""
        return paint.strip(paint.segments([(text, self.words[1])]), width)

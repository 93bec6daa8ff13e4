"""The view of one side of a comparison, and two of them that scroll together."""

from __future__ import annotations

from functools import partial

from textual.widget import Widget

from inspector.tui.diff.side import ShownSide
from inspector.tui.widgets.fact_rows import FactsView


class SideView(FactsView):
    """The text of one side. Both sides scroll together."""

    def __init__(self, *, id: str) -> None:
        super().__init__(what="this side", id=id)

    def display_side(self, shown: ShownSide) -> None:
        """Show this side, scrolled to the first line that differs."""
        self.set_sections(shown.sections)
        self.mark(shown.marked)
        if shown.marked:
            self.call_after_refresh(self._show_first, min(shown.marked))

    def _show_first(self, line: int) -> None:
        if line < self.rows.lines:
            self.show_line(line)


def scroll_together(owner: Widget, a: SideView, b: SideView) -> None:
    """Scroll each side with the other: the one with the focus leads. `owner` watches them."""
    for one, other in ((a, b), (b, a)):
        owner.watch(one, "scroll_y", partial(_scroll_along, one, other), init=False)


def _scroll_along(one: SideView, other: SideView) -> None:
    if one.has_focus:
        other.scroll_to(y=one.scroll_offset.y, animate=False, immediate=True, force=True)

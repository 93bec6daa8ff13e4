"""A view of facts: it scrolls, wraps, can be searched and copied; it has no selection."""

from __future__ import annotations

from inspector.tui.widgets.clipboard import copy
from inspector.tui.widgets.lines_view import LinesView
from inspector.tui.widgets.sections import Section


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
        """Leave keys without effect here to the pane: copy if it is off, sideways if all lines wrap."""
        if action in ("scroll_left", "scroll_right"):
            return not self.wrap
        return bool(self._what) if action == "copy" else True

    def action_copy(self) -> None:
        """Copy all of it."""
        copy(self, "\n\n".join(section.copy_text(0) for section in self.sections), self._what)

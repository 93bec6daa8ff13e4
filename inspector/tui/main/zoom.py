"""Zoom: shows one pane of the main screen alone, and restores the others."""

from __future__ import annotations

from textual.widget import Widget

from inspector.tui.widgets.pane import Pane
from inspector.tui.work.pane import WorkPane


class ZoomedPane:
    """Hides the panes beside a pane, up to `body`. The work pane hides its own parts, because they change meanwhile."""

    def __init__(self, body: Widget, work: WorkPane) -> None:
        self._body = body
        self._work = work
        self.pane: Widget | None = None
        """The zoomed pane, or None."""
        self._hidden: list[Widget] = []

    def pane_of(self, widget: Widget | None) -> Widget | None:
        """Return the pane around a widget that can be zoomed, or None."""
        pane: Widget | None = None
        node = widget
        while node is not None and node is not self._body:
            if pane is None and isinstance(node, Pane):
                pane = node
            parent = node.parent
            if parent is self._body:
                return pane or node
            node = parent if isinstance(parent, Widget) else None
        return None

    def is_useful(self, pane: Widget) -> bool:
        """Return whether other panes are visible."""
        node = pane
        while node is not self._body and isinstance(node.parent, Widget):
            if any(sibling is not node and sibling.display for sibling in node.parent.children):
                return True
            node = node.parent
        return False

    def show(self, pane: Widget) -> None:
        """Show a pane alone."""
        self.restore()
        self.pane = pane
        self.apply()

    def apply(self) -> None:
        """Hide the other panes again, after the panes were arranged."""
        node = self.pane
        if node is None:
            return
        if self._work in node.ancestors:
            self._work.zoom("request" if node is self._work.request else "lower")
            node = self._work
        while node is not self._body and isinstance(node.parent, Widget):
            for sibling in node.parent.children:
                if sibling is not node and sibling.display:
                    sibling.display = False
                    if node.parent is not self._body:
                        self._hidden.append(sibling)
            node = node.parent

    def restore(self) -> None:
        """Show what was hidden inside the columns; the screen arranges the columns."""
        self.pane = None
        self._work.zoom("")
        for widget in self._hidden:
            widget.display = True
        self._hidden = []

"""The place of notices: at the bottom right, above the lines of keys that they would cover."""

from __future__ import annotations

from typing import Any

from textual.app import App
from textual.screen import Screen
from textual.widgets._toast import Toast, ToastHolder, ToastRack

from inspector.tui.widgets.key_line import KeyLine


class NoticesAboveKeys(App[Any]):
    """An app whose notices cover no line of keys, however many lines they have and wherever the keys are."""

    # Textual has no other place that sees new notices and also those that go along to another screen.
    def _refresh_notifications(self) -> None:
        is_shown = self.is_running and bool(self.screen_stack)
        if is_shown:
            self._remove_outdated()
        super()._refresh_notifications()
        if is_shown:
            laid_out = self.screen.screen_layout_refresh_signal
            laid_out.unsubscribe(self)
            if len(self._notifications):
                laid_out.subscribe(self, _place)

    def _remove_outdated(self) -> None:
        """Remove notices that are over, with the holders, which Textual would leave for ever."""
        for toast in self.screen.query(Toast):
            notice = toast._notification
            is_over = notice.has_expired or notice not in self._notifications
            if is_over and isinstance(toast.parent, ToastHolder):
                toast.parent.remove()


def _place(screen: Screen[Any]) -> None:
    """Move the notices of a screen above its keys; by default they end on the edge of the lowest pane."""
    racks = screen.query_children(ToastRack)
    shown = [toast.region for toast in screen.query(Toast) if toast.region]
    if not racks or not shown:
        return
    left, height = min(region.x for region in shown), sum(region.height for region in shown)
    keys = {line.region.y for line in screen.query(KeyLine) if line.region and line.region.right > left}
    # A narrow screen has the last message above its keys.
    lowest = screen.size.height - (2 if screen.has_class("-narrow") else 1)
    bottom = next((row for row in range(lowest, height, -1) if keys.isdisjoint(range(row - height, row))), lowest)
    racks.first().styles.margin = (0, 0, screen.size.height - bottom, 0)

"""Remembers from where the focus went to a question or to a running call, and brings it back."""

from __future__ import annotations

import time

from textual.widget import Widget

from inspector.tui.widgets.editor import Editor
from inspector.tui.window import window_of


class FocusReturn:
    """The widgets of a pane to which the focus returns."""

    def __init__(self, pane: Widget) -> None:
        self._pane = pane
        self._asked_from: Widget | None = None
        self._sent_from: Widget | None = None
        self._called_from: Widget | None = None
        self._went_at = 0.0
        """When the focus went to the call."""

    def _can_focus(self, widget: Widget | None) -> bool:
        return widget is not None and widget.is_attached and widget.focusable

    # From a question

    def go_to_question(self, came_from: Widget | None) -> None:
        """Remember where the user was when they went to a question."""
        self._asked_from = came_from

    @property
    def can_return(self) -> bool:
        """Whether the user went to the question from a part of this pane."""
        back = self._asked_from
        return back is not None and self._can_focus(back) and self._pane in back.ancestors

    def from_question(self) -> None:
        """Return to the part of the pane from which the user went to the question."""
        back, self._asked_from = self._asked_from, None
        if back is None:
            return
        self._pane.screen.set_focus(back)
        if isinstance(back, Editor):
            # A field selects its text when it gets the focus; who was typing continues where they were.
            back.call_later(back.buffer.go, back.buffer.cursor)

    # From a call

    def sent(self) -> None:
        """Remember where the user sent a call."""
        self._sent_from = self._pane.screen.focused

    def go_to_call(self, form: Widget) -> bool:
        """Return whether a call may get the focus: it stayed in the form, or where the call was sent."""
        here = self._pane.screen.focused
        stayed = here is not None and (here is self._sent_from or form.has_focus_within)
        if stayed:
            self._called_from = here
            self._went_at = time.monotonic()
        return stayed

    def stay(self) -> None:
        """Do not return after the call."""
        self._called_from = None

    def from_call(self) -> bool:
        """Return to where the call was sent, if the user went to the call from there.

        Not to a field after a key for the call: the next one is for the call too, and would become text.
        """
        back, self._called_from = self._called_from, None
        if back is None or not self._can_focus(back):
            return False
        if isinstance(back, Editor) and window_of(self._pane).key_came > self._went_at:
            return False
        back.focus()
        return True

"""Remembers from where the focus went to a question or to a running call, and brings it back."""

from __future__ import annotations

from collections.abc import Callable

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
            back.go_on_typing()

    # From a call

    def sent(self) -> None:
        """Remember where the user sent a call."""
        self._sent_from = self._pane.screen.focused

    @property
    def is_where_it_sent(self) -> bool:
        """Whether the focus did not move to the form or to a call since the call was sent."""
        return self._sent_from is not None

    def moved(self) -> None:
        """The focus went to the form or to a call, which is not repeated."""
        self._sent_from = None

    def to_call(self, focus: Callable[[], object]) -> None:
        """Focus a call or its result. What is typed before the user can see that stays where they were."""
        window_of(self._pane).program_moves_focus()
        focus()
        self.moved()

    def go_to_call(self) -> bool:
        """Return whether a call may get the focus: it stayed where the call was sent."""
        here = self._pane.screen.focused
        self._called_from = here if here is self._sent_from else None
        return self._called_from is not None

    def stay(self) -> None:
        """Do not return after the call."""
        self._called_from = None

    def from_call(self) -> bool:
        """Return to where the call was sent, if the focus went to the call from there."""
        back, self._called_from = self._called_from, None
        if back is None or not self._can_focus(back):
            return False
        self._pane.screen.set_focus(back)
        return True

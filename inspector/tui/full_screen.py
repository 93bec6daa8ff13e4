"""A screen with a header and a footer has help, panes that tab goes through, and a smallest size."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual.binding import Binding, BindingType
from textual.screen import Screen

from inspector.tui.verbs import BY_ID
from inspector.tui.widgets.too_small import TooSmall
from inspector.tui.window import window_of

T = TypeVar("T")


def app_binding(verb: str, action: str) -> Binding:
    """Return the binding of a verb of the whole program, such as `help`, to an action of a screen."""
    return Binding(BY_ID[f"app.{verb}"].key, action, show=False, id=f"app.{verb}")


class FullScreen(Screen[T]):
    """A screen of its own beside those of sessions. Its keys are a footer's, `action_leave` goes back."""

    DEFAULT_CSS = """
    FullScreen { layout: vertical; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        app_binding("help", "help"),
        app_binding("next-pane", "app.focus_next"),
        app_binding("previous-pane", "app.focus_previous"),
    ]

    def on_resize(self) -> None:
        for small in self.query(TooSmall):
            small.fit(self.size)

    def action_help(self) -> None:
        """Show the keys."""
        window_of(self).navigator.show_help(self.focused or self)

    def action_leave(self) -> None:
        """Go back."""
        self.dismiss(None)

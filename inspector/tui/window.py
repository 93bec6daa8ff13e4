"""What panes and screens may ask of the app around them, so that none of them imports the app or another screen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

from textual.dom import DOMNode

from inspector.client.session_state import Commands, SessionState
from inspector.client.state.catalog import ListName
from inspector.config.settings import Settings
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.journal.journal import Journal
from inspector.tui.keymap import Keymap
from inspector.tui.sessions import Sessions
from inspector.tui.theme_switch import ThemeSwitch

if TYPE_CHECKING:
    from inspector.auth.options import AuthOptions
    from inspector.tui.replay.serve import MockServer


class Navigator(Protocol):
    """Opens screens by what they show. The screen in front stays as it is below, and is shown again afterwards."""

    def show_help(self, focused: DOMNode) -> None:
        """Show the keys that work where the focus is, then all others."""

    def compose_message(self, session: Commands, text: str) -> None:
        """Write a message by hand, beginning with `text`."""

    def show_login(self, session: SessionState, then: Callable[[int | str | None], None]) -> None:
        """Show how the newest login went. `then` is given what the user wants afterwards: an event, a tab, `again`,
        `quit`, or None."""

    def ask_login_options(self, options: AuthOptions, then: Callable[[AuthOptions | None], None]) -> None:
        """Ask with which client, scopes, issuer or grant to log in; `then` is given None where the user leaves."""

    async def ask_target(self, target: StdioTarget | HttpTarget) -> StdioTarget | HttpTarget | None:
        """Ask for another command or URL; None where the user leaves."""

    def compare(self, a: Path, b: Path) -> None:
        """Show two recordings side by side."""

    def show_recording(self, path: Path, n: int) -> None:
        """Show a recording at event `n`, or at its end for 0. Raises `RecordingError`."""

    def show_journal(self, journal: Journal, path: Path, n: int) -> None:
        """Show an open journal at event `n`. It stays open; `path` names it."""

    def serve(self, server: MockServer) -> None:
        """Show the server that answers from a recording."""

    def rerun(self, path: Path, suggested: str) -> None:
        """Ask for a target, `suggested` at first, and run a recording again on it."""


class Window(Protocol):
    """The app of the interface, as its panes see it."""

    settings: Settings
    keep: bool
    """Recordings are kept."""
    key_came: float
    """When the newest key came, on the monotonic clock."""
    verb_keys: Keymap
    theme_switch: ThemeSwitch
    sessions: Sessions
    navigator: Navigator


@runtime_checkable
class ShowsItems(Protocol):
    """A screen that can go to an item of a catalog."""

    session: SessionState

    def show_address(self, name: ListName, address: str) -> None:
        """Go to an item by its name or URI, ready to be used."""


def window_of(node: DOMNode) -> Window:
    """The app around a screen or widget."""
    return cast(Window, cast(Any, node.app))

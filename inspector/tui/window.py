"""The protocols of the app for its panes and screens, which must not import it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

from textual.dom import DOMNode

from inspector.client.session_state import Commands, SessionState
from inspector.client.state.catalog import ListName
from inspector.config.settings import Settings
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.journal.journal import Journal
from inspector.tui.custom_commands import CustomCommand, CustomCommands
from inspector.tui.keymap import Keymap
from inspector.tui.sessions import OpenSession, Sessions
from inspector.tui.theme_switch import ThemeSwitch

if TYPE_CHECKING:
    from inspector.auth.options import AuthOptions
    from inspector.tui.diff.side import AnswerSide
    from inspector.tui.replay.uses import LoopbackMock


class Navigator(Protocol):
    """Opens screens by their content. The screen in front stays below and is shown again afterwards."""

    def show_help(self, focused: DOMNode) -> None:
        """Show the keys that work at the focus, then all others."""

    def compose_message(self, session: Commands, text: str, *, whole: bool = False) -> None:
        """Write a message by hand, starting with `text`."""

    def show_session(self, opened: OpenSession) -> None:
        """Go to an open session."""

    def show_questions(self, opened: OpenSession) -> None:
        """Go to the inbox of an open session."""

    def pair_candidates(self, session: SessionState) -> list[OpenSession]:
        """Return the other open sessions that can be called beside a session."""

    async def show_pair(self, session: SessionState, other: OpenSession, tool: str, arguments: Any) -> None:
        """Show a session side by side with another one, with a tool and its arguments."""

    def show_login(self, session: SessionState, then: Callable[[int | str | None], None]) -> None:
        """Show the newest login.

        `then` gets the user's next action: an event, a tab, `again`, `quit`, or None.
        """

    def ask_login_options(self, options: AuthOptions, then: Callable[[AuthOptions | None], None]) -> None:
        """Ask for client, scopes, issuer or grant to log in with; `then` gets None if the user cancels."""

    async def ask_target(self, target: StdioTarget | HttpTarget) -> StdioTarget | HttpTarget | None:
        """Ask for another command or URL; None if the user cancels."""

    def compare(self, a: Path, b: Path) -> None:
        """Show two recordings side by side."""

    def compare_answers(self, a: AnswerSide, b: AnswerSide, method: str, name: str) -> None:
        """Show two answers side by side, and their differences by the rules for `method` and `name`."""

    def compare_messages(self, journal: Journal, one: int, other: int) -> None:
        """Show two JSON-RPC messages of a recording side by side."""

    def recorded_now(self) -> frozenset[Path]:
        """Return the recordings of the open sessions."""

    def show_found(self, path: Path, n: int, again: Callable[[], object]) -> None:
        """Show event `n` of a recording, in its session if that is open. Raises `RecordingError`.

        `again` is called when the recording is left: it returns to the search.
        """

    def show_recording(self, path: Path, n: int, origin: str) -> None:
        """Show a recording at event `n`, or at its end for 0.

        `origin` names the screen that a key returns to. Raises `RecordingError`.
        """

    def show_journal(self, journal: Journal, path: Path, n: int) -> None:
        """Show an open journal at event `n`. It stays open; `path` names it."""

    def serve(self, server: LoopbackMock) -> None:
        """Show the mock server of a recording."""

    def rerun(self, path: Path, suggested: str) -> None:
        """Ask for a target, initially `suggested`, and rerun a recording on it."""


class Window(Protocol):
    """The app, for its panes."""

    settings: Settings
    keep: bool
    """Whether recordings are kept."""
    key_came: float
    """Time of the newest key on the monotonic clock."""
    focus_is_unseen: bool
    """Whether the newest key came before the user saw that the program had moved the focus."""
    verb_keys: Keymap
    custom_commands: CustomCommands
    theme_switch: ThemeSwitch
    sessions: Sessions
    navigator: Navigator

    def program_moves_focus(self) -> None:
        """Called before the program moves the focus: a character that comes soon is for the old place."""


@runtime_checkable
class RunsCommands(Protocol):
    """A screen that runs the user's own commands."""

    def run_own_command(self, command: CustomCommand) -> None:
        """Run a command on what the screen shows."""


@runtime_checkable
class TellsWhyNot(Protocol):
    """A screen that knows why some of its verbs do not work now."""

    def why_not(self, verb: str) -> str:
        """Return why a verb does not work now; empty if it does, or if another part of the screen decides."""


@runtime_checkable
class ShowsItems(Protocol):
    """A screen that can go to an item of a catalog."""

    session: SessionState

    def show_address(self, name: ListName, address: str) -> None:
        """Select an item by its name or URI, and go to its form."""

    def show_in_list(self, name: ListName, address: str) -> None:
        """Select an item by its name or URI in its list."""

    def saved_calls(self) -> Iterable[tuple[str, str, Callable[[], object]]]:
        """Return the file of each saved call, what it has, and a function that goes to it."""


def window_of(node: DOMNode) -> Window:
    """Return the app around a screen or widget."""
    return cast(Window, cast(Any, node.app))

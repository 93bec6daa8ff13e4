"""The app: composes the interface, applies a theme, opens screens and exits in order."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import App, ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.notifications import SeverityLevel
from textual.screen import ModalScreen
from textual.widgets import Static

from inspector.client.options import Options
from inspector.client.session_state import SessionState
from inspector.config import paths
from inspector.config.settings import Settings
from inspector.config.targets import RecordingTarget, Target
from inspector.errors import ConfigError, InspectorError
from inspector.feature import skipped
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import warm_up
from inspector.system.terminal import ENDING, watch_signals
from inspector.text import safe, terminal_counts_parts, wants_ascii
from inspector.tui.advice import error_text
from inspector.tui.custom_commands import CustomCommands
from inspector.tui.driver import enduring
from inspector.tui.key_order import KeysInOrder
from inspector.tui.keymap import Keymap
from inspector.tui.memory import IdleCollector
from inspector.tui.navigator import Opening, ScreenNavigator
from inspector.tui.notice_place import NoticesAboveKeys
from inspector.tui.notifications import SessionNotifier
from inspector.tui.pane_messages import OpenInstead, OpenTarget, ShowStart
from inspector.tui.sessions import CloseSession, Sessions, ShowSession
from inspector.tui.theme_switch import ThemeSwitch
from inspector.tui.themes import DEFAULT, bundled, textual_theme
from inspector.tui.unexpected_errors import UnexpectedErrors, WatchedWorkers
from inspector.tui.verbs import BY_ID
from inspector.tui.widgets.clipboard import Copied
from inspector.tui.widgets.scrollbars import draw_scrollbars
from inspector.tui.widgets.status_lines import Footer

if TYPE_CHECKING:
    from inspector.compare.rules import ComparisonRules
    from inspector.tui.navigator import StartedSession
    from inspector.tui.replay.playback import PlaybackOptions

NOTIFIED = 1000
"""Characters of a notification that are shown."""
PROBLEM_SECONDS = 60
"""Seconds for which an internal error is shown."""
_MAIN_SCREEN = "inspector.tui.main.screen"
"""The module of the screen of a session."""
_REST = 0.3
"""Seconds without a key after which garbage is collected."""


class InspectorApp(KeysInOrder, NoticesAboveKeys, App[int]):
    """The interface. Without a `target` it opens the start screen."""

    TITLE = "inspector"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "screen.quit", show=False),
        # The binding has the table's id, so that a keymap can change it. It has no priority: the palette must not cover
        # a dialog.
        Binding(BY_ID["app.palette"].key, "palette", show=False, id="app.palette"),
        # In an editor the same key undoes.
        Binding(BY_ID["app.suspend"].key, "suspend", show=False, id="app.suspend"),
    ]
    CSS = """
    ToastRack { dock: bottom; align: right bottom; scrollbar-size-vertical: 0; }
    Toast { width: auto; max-width: 100%; padding: 0 1; margin: 0; background: $panel; }
    .-narrow Toast { width: 100%; }
    Toast.-information, Toast.-warning, Toast.-error { border-left: none; }
    Toast.-warning { color: $warning; }
    Toast.-error { color: $error; }
    """

    def __init__(
        self,
        target: Target | None,
        options: Options,
        settings: Settings,
        *,
        record: Path | None = None,
        keep: bool = True,
        follow: bool = False,
        playing: PlaybackOptions | None = None,
        config: Path | None = None,
        comparing: tuple[Path, Path, ComparisonRules] | None = None,
        watch: bool = False,
        others: Sequence[Target] = (),
    ) -> None:
        # None: the theme decides whether the terminal's own colours are used. NO_COLOR always uses them, never greys.
        super().__init__(ansi_color=True if "NO_COLOR" in os.environ else None)
        self.target = target
        self.others = others
        """Further targets, opened behind the first one."""
        self.options = options
        self.settings = settings
        self.keep = keep
        self.comparing = comparing
        """Two recordings to show side by side, instead of a target."""
        detected_ascii = settings.ascii == "auto" and wants_ascii(os.environ, getattr(sys.stdout, "encoding", None))
        self.ascii_only = detected_ascii or settings.ascii == "always"
        """Whether only ASCII signs are drawn; widgets read it here."""
        multiplexed = "TMUX" in os.environ or os.environ.get("TERM", "").startswith(("tmux", "screen"))
        terminal_counts_parts(of_emoji=multiplexed)
        draw_scrollbars(ascii_only=self.ascii_only)
        self.verb_keys = Keymap(dict(settings.keymap))
        self.custom_commands = CustomCommands(settings.commands, self.verb_keys.keys)
        self._was_mounted = False
        self._problems: list[ConfigError] = []
        """Problems of the theme that were found before anything could be shown."""
        self.theme_switch = ThemeSwitch(self, paths.config_folder() / "themes", self._theme_problem)
        self.garbage = IdleCollector()
        self.sessions = Sessions()
        opening = Opening(
            options, settings, record=record, keep=keep, follow=follow, playing=playing, config=config, watch=watch
        )
        self.navigator = ScreenNavigator(self, opening, self.sessions)
        self.attention = SessionNotifier(self, self.sessions, settings.attention, os.environ, self.write_to_terminal)
        self.crash: BaseException | None = None
        self.unexpected = UnexpectedErrors(self._tell_problem)
        self._workers = WatchedWorkers(self, self.unexpected)

    def get_driver_class(self) -> type[Driver]:
        return enduring(super().get_driver_class())

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Return the roles of the default theme, for style sheets that are parsed before a theme is set."""
        return textual_theme(bundled(DEFAULT)).variables

    def on_load(self) -> None:
        # Before a style sheet is parsed: a new theme has all of them parsed again.
        self.theme_switch.use(self.settings.theme)

    def on_mount(self) -> None:
        self._was_mounted = True
        self.unexpected.watch(asyncio.get_running_loop())
        if not self.is_headless:
            self._leave_on_signals()
        self.set_interval(_REST, self._collect_at_rest)
        self.set_keymap(self.verb_keys.overrides)
        for problem in (*self._problems, *self.verb_keys.problems, *self.custom_commands.problems, *skipped()):
            self._show_problem(problem)
        if self.comparing is not None:
            self.navigator.compare(*self.comparing)
        elif self.target is None:
            self.navigator.show_start()
        else:
            target = self.target
            begun = None if isinstance(target, RecordingTarget) else self.navigator.begin(target)
            self.screen_comes = True
            # In a thread: meanwhile the first frame is drawn, and the server starts and sends its lists.
            loading = asyncio.create_task(asyncio.to_thread(import_module, _MAIN_SCREEN))
            self.call_after_refresh(self._open_all, target, begun, loading)
        # Not before the first frame: the fast parser, which pays off with many messages.
        self.set_timer(1.0, lambda: self.run_worker(warm_up, thread=True, exit_on_error=False))

    def _collect_at_rest(self) -> None:
        seconds = monotonic() - self.key_came
        if seconds > _REST:
            self.garbage.rest(seconds)

    def compose(self) -> ComposeResult:
        """Yield the first frame: what is being opened, until its screen is loaded."""
        if self.target is not None:
            yield Static(safe(f" inspector  {self.target.label}", NOTIFIED, ascii=self.ascii_only), markup=False)

    async def _open_all(self, target: Target, begun: StartedSession | None, loading: asyncio.Task[Any]) -> None:
        """Open the targets when their screen is loaded; the first, which may have begun to connect, is in front."""
        await loading
        self.navigator.open_target(target, begun=begun)
        for other in self.others:
            self.navigator.open_target(other)
        if self.others:
            self.navigator.show_session(self.sessions.opened[0])
            self.sessions.before = None
        self.screen_comes = False

    def _leave_on_signals(self) -> None:
        """When a signal other than ^c ends us, quit like `q`: restore the terminal and stop the server."""
        others = [number for number in ENDING if number != signal.SIGINT]
        watch_signals(others, lambda number: self.exit(128 + number))

    def action_help_quit(self) -> None:
        """Tell how to quit: Textual binds ctrl+c to this, and would name its own keys in its own words."""
        leave = "Press esc, then ^q to quit." if isinstance(self.screen, ModalScreen) else "Press ^q to quit."
        self.notify(leave, timeout=5)

    def action_suspend(self) -> None:
        """Suspend the process, as the shell does with other programs. Servers go on, and what they write waits."""
        self.action_suspend_process()

    def action_palette(self) -> None:
        """Open the palette, which finds verbs, tools, resources, prompts, saved calls and themes by name."""
        if not isinstance(self.screen, ModalScreen):
            from inspector.tui.palette import Palette

            self.push_screen(Palette(self.screen))

    # A dialog leaves the footer below it on the screen, whose keys do not work now.

    def push_screen(self, *args: Any, **options: Any) -> Any:
        pushed = super().push_screen(*args, **options)
        self._mute_footers()
        return pushed

    def pop_screen(self) -> AwaitComplete:
        popped = super().pop_screen()
        self._mute_footers()
        return popped

    def _mute_footers(self) -> None:
        for screen in self.screen_stack:
            for footer in screen.query(Footer):
                footer.muted = screen is not self.screen

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """Show a notification. The message may come from a server: it is made safe and not read as markup."""
        text = safe(message, NOTIFIED, multiline=True, ascii=self.ascii_only)
        super().notify(text, title=title, severity=severity, timeout=timeout, markup=False)

    def copy_to_clipboard(self, text: str) -> None:
        """Copy a text by the terminal, and by the programs that users have for it."""
        super().copy_to_clipboard(text)
        if not self.is_headless:
            self.run_worker(partial(_give_to_programs, text), thread=True, group="clipboard", exit_on_error=False)

    def on_copied(self, event: Copied) -> None:
        self.notify(f"Copied {event.what}.", timeout=3)

    def _tell_problem(self, problem: InspectorError) -> bool:
        """Notify about an error that nothing else on the screen shows."""
        if not self.is_running or self._exit:
            return False
        self.notify(error_text(problem, self), severity="error", timeout=PROBLEM_SECONDS)
        return True

    def _theme_problem(self, problem: ConfigError) -> None:
        if self._was_mounted:
            self._show_problem(problem)
        else:
            self._problems.append(problem)

    def _show_problem(self, problem: InspectorError) -> None:
        self.notify(error_text(problem, self), severity="warning", timeout=10)

    @property
    def session(self) -> SessionState | None:
        """The session of the screen in front, or the last one that was there."""
        return self.sessions.front.session if self.sessions.front is not None else None

    def on_open_target(self, event: OpenTarget) -> None:
        try:
            if event.paired:
                self.navigator.open_paired(event.target)
            elif event.beside:
                self.navigator.open_beside(event.target)
            else:
                self.navigator.open_target(event.target, event.first)
        except InspectorError as error:
            self.notify(error_text(error, self), severity="error", timeout=10)

    async def on_open_instead(self, event: OpenInstead) -> None:
        """End the session in front and open another target instead."""
        try:
            await self.navigator.open_instead(event.target)
        except InspectorError as error:
            self.notify(error_text(error, self), severity="error", timeout=10)

    def on_show_start(self, event: ShowStart) -> None:
        self.navigator.show_start(event.text)

    def on_show_session(self, event: ShowSession) -> None:
        self.navigator.show_session(event.opened)

    async def on_close_session(self, event: CloseSession) -> None:
        await self.navigator.close_session(event.opened)

    def on_session_news(self) -> None:
        self.navigator.tell_news()
        self.attention.look_soon()

    def write_to_terminal(self, sequence: str) -> None:
        """Write a sequence that changes nothing on the screen."""
        # Private, as in `App.bell`: Textual has no public way to the driver.
        if not self.is_headless and self._driver is not None:
            self._driver.write(sequence)

    async def close_sessions(self) -> None:
        """End all sessions. Every exit path calls it."""
        await self.sessions.close_all()

    async def _shutdown(self) -> None:
        # Private: Textual has no public hook between the last message and the end of the loop.
        await super()._shutdown()
        await self.close_sessions()

    def _handle_exception(self, error: Exception) -> None:
        """Exit immediately; `run` raises the error again after the terminal is restored, and its caller writes the
        traceback."""
        # Private, like every attribute set here: Textual itself would print the traceback over the terminal.
        self.crash = self.crash or error
        self._return_code = 1
        if self._exception is None:
            self._exception = error
            self._exception_event.set()
        self._close_messages_no_wait()


def _give_to_programs(text: str) -> None:
    from inspector.tui import clipboard_programs

    clipboard_programs.give(text, os.environ)


def run(
    target: Target | None,
    options: Options,
    *,
    record: Path | None,
    keep: bool,
    settings: Settings,
    config: Path | None = None,
    watch: bool = False,
    others: Sequence[Target] = (),
) -> int:
    """Run the interface until the user quits. `others` are opened behind the target. Returns the exit code."""
    app = partial(
        InspectorApp, target, options, settings, record=record, keep=keep, config=config, watch=watch, others=others
    )
    return _run(app, settings)


def run_recording(
    path: Path,
    options: Options,
    *,
    follow: bool,
    settings: Settings,
    at: str = "",
    speed: float = 1.0,
    gap: float | None = None,
) -> int:
    """Run the interface on a recording. `options` are those of servers that are opened from it.

    `gap` is the most seconds of a pause that it plays.

    Raises `RecordingError` before anything is drawn if the recording cannot be read.
    """
    Journal.open(path).release()
    from inspector.tui.replay.playback import PlaybackOptions

    playing = PlaybackOptions(at=at, speed=speed) if gap is None else PlaybackOptions(at=at, speed=speed, fold=gap)
    app = partial(InspectorApp, RecordingTarget(path), options, settings, follow=follow, playing=playing)
    return _run(app, settings)


def run_diff(a: Path, b: Path, rules: ComparisonRules, *, settings: Settings) -> int:
    """Run the interface on two recordings side by side. Raises `RecordingError` before anything is drawn."""
    for path in (a, b):
        Journal.open(path).release()
    return _run(lambda: InspectorApp(None, Options(), settings, comparing=(a, b, rules)), settings)


def _run(make: Callable[[], InspectorApp], settings: Settings) -> int:
    # A thread that indexes or filters then yields to a key within half a millisecond instead of five.
    sys.setswitchinterval(0.0005)
    app = make()
    app.garbage.keep_start()  # The process has nothing but this app; in a test others would stay, too.
    code = app.run(mouse=settings.mouse)
    for loss in app.sessions.losses:
        print(f"warning: {loss}", file=sys.stderr)
    failure = app.crash or app.unexpected.untold
    if failure is not None:
        raise failure
    return code if code is not None else app.return_code or 0

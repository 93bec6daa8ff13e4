"""Opens targets and screens, keeps those of open sessions, and switches between them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from textual.app import App
from textual.dom import DOMNode
from textual.screen import Screen

from inspector.client.options import Options
from inspector.client.session_state import Commands, SessionState
from inspector.config.server_memory import ServerMemory
from inspector.config.settings import Settings
from inspector.config.targets import HttpTarget, RecordingTarget, StdioTarget, Target
from inspector.journal.journal import Journal
from inspector.protocol.forms.form import UNSET
from inspector.protocol.jsonrpc import Shape
from inspector.tui.key_order import LISTING, LISTS
from inspector.tui.pane_messages import First, ShowEvent
from inspector.tui.sessions import OpenSession, Sessions
from inspector.tui.window import window_of

if TYPE_CHECKING:
    from inspector.auth.options import AuthOptions
    from inspector.client.session import Session
    from inspector.compare.rules import ComparisonRules
    from inspector.formats.otlp_stream import OtlpStream
    from inspector.tui.diff.side import AnswerSide
    from inspector.tui.login.dialog import DialogPerson
    from inspector.tui.main.screen import MainScreen
    from inspector.tui.replay.playback import PlaybackOptions
    from inspector.tui.replay.uses import LoopbackMock
    from inspector.tui.side_by_side.screen import PairScreen
    from inspector.tui.start.screen import StartScreen

# Screens are imported when they are opened: the first one appears sooner, and most are never needed.


@dataclass
class Opening:
    """How to open targets. `record`, `follow` and `playing` apply only to the first one."""

    options: Options
    settings: Settings
    record: Path | None = None
    keep: bool = True
    follow: bool = False
    """Read a recording while another process writes it."""
    playing: PlaybackOptions | None = None
    config: Path | None = None
    watch: bool = False
    """Restart a server when one of its files changes."""


class StartedSession(NamedTuple):
    """A session without a screen yet. `connecting` is its `open_with_lists`, if it was started."""

    session: Session
    connecting: asyncio.Task[None] | None
    stream: OtlpStream | None
    person: DialogPerson | None


@runtime_checkable
class HasNews(Protocol):
    """A screen that shows the state of the open sessions."""

    def sessions_changed(self) -> None:
        """Draw their changes."""


class ScreenNavigator:
    """The screens of an app. The start list and open sessions stay mounted while another screen is in front."""

    def __init__(self, app: App[Any], opening: Opening, sessions: Sessions) -> None:
        self._app = app
        self._opening = opening
        self._sessions = sessions
        self._start: StartScreen | None = None
        self._pair: PairScreen | None = None
        """The newest two sessions side by side; it stays mounted while another screen is in front."""

    # Sessions

    def open_target(self, target: Target, first: First = "", *, begun: StartedSession | None = None) -> None:
        """Put a new session in front; it connects by itself. Others stay open. `first`: its first action.

        `begun` is its session if that exists already. Raises `InspectorError` if a recording cannot be read or written.
        """
        opening = self._opening
        if isinstance(target, RecordingTarget):
            from inspector.client.recorded_session import RecordedSession
            from inspector.tui.main.screen import MainScreen
            from inspector.tui.replay.playback import Playback

            recorded = RecordedSession(Journal.open(target.path), target.path)
            playback = Playback(recorded, opening.playing, follow_file=opening.follow)
            self.add(MainScreen(recorded, playback, follow_log=opening.follow, first=first))
            opening.playing, opening.follow = None, False
            return
        begun = begun or self.begin(target, connect=False)
        from inspector.tui.main.screen import MainScreen

        screen = MainScreen(
            begun.session,
            follow_log=opening.settings.follow,
            watch=opening.watch,
            first=first,
            connecting=begun.connecting,
        )
        opened = self.add(screen)
        opened.stream = begun.stream
        if begun.person is not None:
            begun.person.session_opened(opened)

    def begin(self, target: StdioTarget | HttpTarget, *, connect: bool = True) -> StartedSession:
        """Make the session of a server, and start to connect: before its screen is loaded, which takes longer.

        Raises `InspectorError` if a recording cannot be written.
        """
        from inspector.client.new_recording import new_journal
        from inspector.client.session import Session

        opening = self._opening
        stream, collector = None, ""
        if opening.settings.otlp:
            from inspector.formats.otlp_stream import endpoint

            collector = endpoint(opening.settings.otlp)
        journal = new_journal(target, record=opening.record, keep=opening.keep, settings=opening.settings)
        if opening.record is not None and not opening.record.is_dir():
            opening.record = None  # A file has one session.
        options, person = _with_kept_roots(opening.options, target), None
        if options.authorize is not None:
            from inspector.tui.login.dialog import DialogPerson

            person = DialogPerson(self._app)
            options = replace(options, authorize=options.authorize.for_session(person))
        if collector:
            from inspector.formats.otlp_stream import OtlpStream, headers_from_environment

            stream = OtlpStream(journal, collector, headers_from_environment())
        session = Session(target, journal, options)
        connecting = asyncio.create_task(session.open_with_lists()) if connect else None
        return StartedSession(session, connecting, stream, person)

    def open_beside(self, target: Target) -> None:
        """Open a session that connects in the background. The start list and the session in front stay there.

        Raises `InspectorError` if a recording cannot be read or written.
        """
        before = self._sessions.front
        self.open_target(target)
        self._sessions.front = before or self._sessions.front
        self.show_start()

    # Two sessions side by side

    def open_paired(self, target: Target) -> None:
        """Open a session and show it side by side with the one in front. Raises `InspectorError`."""
        before = self._sessions.front
        self.open_target(target)
        after = self._sessions.front
        if before is not None and after is not None and before.is_connected:
            self._sessions.front = before
            self._app.run_worker(self.show_pair(before.session, after, "", UNSET), group="pair", exclusive=True)

    def pair_candidates(self, session: SessionState) -> list[OpenSession]:
        candidates = [
            opened for opened in self._sessions.opened if opened.is_connected and opened.session is not session
        ]
        pair = self._pair
        # The one that was beside it before comes first.
        return sorted(candidates, key=lambda opened: not (pair is not None and pair.is_of(opened)))

    async def show_pair(self, session: SessionState, other: OpenSession, tool: str, arguments: Any) -> None:
        from inspector.tui.side_by_side.screen import PairScreen

        mine = next((opened for opened in self._sessions.opened if opened.session is session), None)
        if mine is None or mine is other:
            return
        pair = self._pair
        if pair is not None and pair.is_of(mine, other):
            self._show(pair)
            if tool and tool != pair.name_of_tool and not any(side.is_running for side in pair.sides):
                await pair.use(tool, arguments)
            return
        await self._forget_pair()
        self._pair = PairScreen(mine, other, tool or _first_tool(mine), arguments)
        self._show(self._pair)

    async def _forget_pair(self) -> None:
        pair, self._pair = self._pair, None
        if pair is not None:
            self._app.uninstall_screen(pair)
            await pair.remove()

    def show_questions(self, opened: OpenSession) -> None:
        self.show_session(opened)
        from inspector.tui.main.screen import MainScreen

        screen = opened.screen
        if isinstance(screen, MainScreen):
            screen.run_worker(screen.pane_layout.show_place("inbox"), exit_on_error=False)

    def add(self, screen: MainScreen) -> OpenSession:
        """Put the screen of a new session in front."""
        opened = self._sessions.add(screen.session, screen)
        self._show(screen)
        self._app.run_worker(_until_it_takes_keys(screen), group=LISTS)
        return opened

    async def open_instead(self, target: StdioTarget | HttpTarget) -> None:
        """End the session in front and open a target instead. Raises `InspectorError`."""
        before = self._sessions.front
        self.open_target(target)
        if before is not None:
            await self._end(before)

    def show_session(self, opened: OpenSession) -> None:
        """Go back to an open session."""
        if opened in self._sessions.opened:
            self._sessions.bring(opened)
            self._show(opened.screen)
            self._app.call_later(self._show_dialogs, opened)

    def _show_dialogs(self, opened: OpenSession) -> None:
        """Open the dialogs that waited for their session to be in front."""
        if opened.screen in self._app.screen_stack:
            waited, opened.dialogs = opened.dialogs, {}
            for dialog, on_result in waited.items():
                self._app.push_screen(dialog, on_result)

    async def close_session(self, opened: OpenSession) -> None:
        """End a session in the background."""
        await self._end(opened)
        self.tell_news()

    def show_start(self, text: str = "") -> None:
        """Show the start list, with `text` typed."""
        if self._start is None:
            from inspector.tui.start.screen import StartScreen

            self._start = StartScreen(self._opening.settings, self._opening.config, self._sessions)
        self._start.text = text
        self._show(self._start)

    def tell_news(self) -> None:
        """Tell the screen in front that other sessions have changed."""
        for screen in self._app.screen_stack:
            if isinstance(screen, HasNews):
                screen.sessions_changed()

    def _show(self, screen: Screen[Any]) -> None:
        """Put a screen in front; the previous one keeps its state."""
        app = self._app
        if not app.is_screen_installed(screen):
            app.install_screen(screen, f"kept-{id(screen)}")
        if len(app.screen_stack) == 1:
            app.push_screen(screen)
        else:
            app.switch_screen(screen)

    async def _end(self, opened: OpenSession) -> None:
        """End a session in the background, and close its screen."""
        if self._pair is not None and self._pair.is_of(opened):
            await self._forget_pair()
        self._app.uninstall_screen(opened.screen)
        await opened.screen.remove()
        await self._sessions.close(opened)

    # Screens above the one in front

    def show_help(self, focused: DOMNode) -> None:
        from inspector.tui.help import Help

        window = window_of(focused)
        self._app.push_screen(Help(window.verb_keys, focused, window.custom_commands))

    def compose_message(self, session: Commands, text: str, *, whole: bool = False) -> None:
        from inspector.tui.log.compose import ComposeScreen

        self._app.push_screen(ComposeScreen(session, text, whole=whole))

    def show_login(self, session: SessionState, then: Callable[[int | str | None], None]) -> None:
        from inspector.tui.login.screen import AuthorizationScreen

        self._app.push_screen(AuthorizationScreen(session), then)

    def ask_login_options(self, options: AuthOptions, then: Callable[[AuthOptions | None], None]) -> None:
        from inspector.tui.login.dialog import LoginOptions

        self._app.push_screen(LoginOptions(options), then)

    async def ask_target(self, target: StdioTarget | HttpTarget) -> StdioTarget | HttpTarget | None:
        from inspector.tui.server.failed import EditTarget

        return await self._app.push_screen_wait(EditTarget(target))

    def compare(self, a: Path, b: Path, rules: ComparisonRules | None = None) -> None:
        from inspector.compare.rules import DEFAULT
        from inspector.tui.diff.screen import DiffScreen

        self._app.push_screen(DiffScreen(a, b, rules or DEFAULT))

    def compare_answers(self, a: AnswerSide, b: AnswerSide, method: str, name: str) -> None:
        from inspector.tui.diff.answers import AnswersScreen

        self._app.push_screen(AnswersScreen(a, b, method, name))

    def compare_messages(self, journal: Journal, one: int, other: int) -> None:
        from inspector.journal.exchange import Exchange
        from inspector.tui.diff.answers import message_sides

        index = journal.index
        request = index.pair(one) if index.shape(one) in (Shape.RESULT, Shape.ERROR) else one
        name = Exchange(journal, request).name if index.shape(request) is Shape.REQUEST else ""
        self.compare_answers(*message_sides(journal, one, other), index.method(one), name)

    def recorded_now(self) -> frozenset[Path]:
        return frozenset(self._recorded())

    def _recorded(self) -> dict[Path, OpenSession]:
        return {path: opened for opened in self._sessions.opened if (path := opened.session.journal.path) is not None}

    def show_found(self, path: Path, n: int, again: Callable[[], object]) -> None:
        if (opened := self._recorded().get(path)) is not None:
            self.show_session(opened)
            opened.screen.post_message(ShowEvent(n))
        else:
            self._show_at(Journal.open(path), path, n, "the search", then=again)

    def show_recording(self, path: Path, n: int, origin: str) -> None:
        self._show_at(Journal.open(path), path, n, origin)

    def show_journal(self, journal: Journal, path: Path, n: int) -> None:
        self._show_at(journal, path, n, "the checks", lent=True)

    def _show_at(
        self, journal: Journal, path: Path, n: int, title: str, *, lent: bool = False, then: Callable[[], object] = bool
    ) -> None:
        from inspector.client.recorded_session import RecordedSession
        from inspector.tui.main.screen import MainScreen
        from inspector.tui.replay.playback import OpenedFrom, Playback

        session = RecordedSession(journal, path)
        origin = OpenedFrom(title, n, lent=lent)
        screen = MainScreen(session, Playback(session, opened_from=origin), follow_log=False)

        def left(_: None) -> None:
            then()

        self._app.push_screen(screen, left)

    def serve(self, server: LoopbackMock) -> None:
        from inspector.tui.replay.uses import ServeScreen

        self._app.push_screen(ServeScreen(server))

    def rerun(self, path: Path, suggested: str) -> None:
        from inspector.tui.replay.uses import RerunScreen

        self._app.push_screen(RerunScreen(path, suggested))


def _first_tool(opened: OpenSession) -> str:
    """Return the name of a session's first tool, or an empty text."""
    names = (tool.get("name") for tool in opened.session.catalog.tools.items)
    return next((name for name in names if isinstance(name, str)), "")


def _with_kept_roots(options: Options, target: StdioTarget | HttpTarget) -> Options:
    """Return options that answer requests for roots as stored for the server, unless other roots were given."""
    if options.standing.roots != "ask" or (kept := ServerMemory(target).roots()) is None:
        return options
    return replace(options, standing=options.standing._replace(roots=kept))


async def _until_it_takes_keys(screen: MainScreen) -> None:
    """Hold the keys that are typed ahead (`LISTS`) while the lists of a new session come."""
    with suppress(TimeoutError):
        await asyncio.wait_for(screen.takes_keys.wait(), LISTING)

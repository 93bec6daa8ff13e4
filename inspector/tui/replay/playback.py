"""Plays a recording: the moment that the panes of its screen show, and the keys that move it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.screen import Screen

from inspector.client.recorded_session import RecordedSession, recorded_target
from inspector.errors import UsageError
from inspector.journal.filters import Filter
from inspector.journal.gaps import FOLD
from inspector.journal.journal import Journal
from inspector.replay import positions
from inspector.replay.player import Player
from inspector.replay.positions import TypedPosition, Unit
from inspector.system.files import return_freed_memory
from inspector.text import count, safe
from inspector.tui.advice import advice, error_text
from inspector.tui.available_verbs import lend
from inspector.tui.keymap import KeyHint
from inspector.tui.log.reader import LONG
from inspector.tui.log.rows import moment
from inspector.tui.main.chrome import header_parts
from inspector.tui.main.screen import MainScreen
from inspector.tui.model.arrangement import Front
from inspector.tui.model.header import HeaderFacts, needs
from inspector.tui.model.log import CALLS_SENT
from inspector.tui.model.tabs import OF_LIST
from inspector.tui.pane_keys import hints
from inspector.tui.pane_messages import ShowEvent
from inspector.tui.replay.scrub import ScrubPane, playing
from inspector.tui.server.connection import state_of_file
from inspector.tui.widgets.dialog import LineDialog
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.paint import Pieces
from inspector.tui.widgets.status_lines import LinePart
from inspector.tui.window import window_of
from inspector.tui.work.recorded_calls import item_called

if TYPE_CHECKING:
    from inspector.tui.replay.uses import LoopbackMock

_EXAMPLES = "01:12.3   +30s   -2min   at 13:05   1204   start   end"


class AskPlace(LineDialog[TypedPosition]):
    """One line for a time or a number."""

    DEFAULT_CSS = """
    AskPlace { align: center bottom; }
    AskPlace > Pane { width: 92%; margin-bottom: 6; }
    """

    def __init__(self, journal: Journal) -> None:
        editor = Editor(placeholder=_EXAMPLES, lead=[("@ ", "key")], id="place")
        super().__init__("Go to a time or a number", editor, "go", leave="stay")
        self._journal = journal

    def on_editor_changed(self, event: Editor.Changed) -> None:
        event.stop()
        try:
            note = positions.beyond(positions.read(event.value, self._journal), self._journal)
        except UsageError:  # the text may be incomplete
            note = ""
        self.show_note(note, "muted")

    def action_take(self) -> None:
        """Go there if the text names a place."""
        try:
            place = positions.read(self.editor.value, self._journal)
        except UsageError as error:
            self.show_note(advice(error.hint) or error.message)
        else:
            self.dismiss(place)


LOW = 32
"""Terminal height below which the scrub pane has two lines and no edge."""


@dataclass(frozen=True, slots=True)
class PlaybackOptions:
    """How to open a recording: its place, speed, longest gap and clock.

    The place is as the user types it (empty: the end). The gap is in seconds (0: unlimited).
    """

    at: str = ""
    speed: float = 1.0
    fold: float = FOLD
    clock: Callable[[], float] = time.monotonic


@dataclass(frozen=True, slots=True)
class OpenedFrom:
    """The screen that opened a recording at event `n` (0: at its end), and whose title is `title`.

    One key returns to it. A journal that is `lent` stays open afterwards.
    """

    title: str
    n: int
    lent: bool = False


class Playback:
    """The additional part of a recording's screen: a player, its keys and its scrub pane.

    The player sets the moment that the panes show. The screen calls `before_tick` and `after_tick` around each drawing,
    and asks for the texts of its lines.
    """

    def __init__(
        self,
        session: RecordedSession,
        options: PlaybackOptions | None = None,
        *,
        follow_file: bool = False,
        opened_from: OpenedFrom | None = None,
    ) -> None:
        if opened_from is not None and opened_from.n:
            options = PlaybackOptions(at=f"#{opened_from.n}")
        opened = options or PlaybackOptions()
        self.session = session
        self.follow_file = follow_file
        """The file is read while another process writes it."""
        self.opened_from = opened_from
        self.player = Player(
            session.journal, clock=opened.clock, fold=opened.fold, speed=opened.speed, follow=follow_file
        )
        self.scrub = ScrubPane(self.player, self._sought, id="scrub")
        self._pending_place = opened.at
        self._opens = True
        """The place where it opens is not shown yet."""
        self._event = opened_from.n if opened_from is not None else 0
        """The event to select once it is read, or 0."""
        self._shown_root = 0
        self._moves = False
        self.behind = False
        """The panes do not show the current moment yet."""
        self._drawn_state: tuple[object, ...] = ()
        self.server: LoopbackMock | None = None
        """The mock server of this recording, once it was opened."""

    def join(self, screen: MainScreen) -> None:
        """Join a screen."""
        self._screen = screen
        lend(self, "replay", screen)
        if self.opened_from is not None:
            lend(self, "frame", screen)

    def compose(self) -> ComposeResult:
        """Yield the widgets below the panes."""
        yield self.scrub

    async def close(self) -> None:
        """End the player and the server with the screen."""
        if self.server is not None:
            await self.server.close()
        if self.opened_from is not None and not self.opened_from.lent:
            self.session.journal.release()

    def can(self, action: str) -> bool:
        """Whether an action of the screen is available: a recording closes into the screen that opened it."""
        return action != "start_list" or self.opened_from is None

    def resized(self) -> None:
        """The size of the screen has changed."""
        self.scrub.set_class(self._screen.size.height < LOW, "-low")

    # The tick

    def before_tick(self) -> None:
        """Advance the player, and show its moment."""
        player, screen = self.player, self._screen
        if player.profile.advance():
            screen.wake()
        if self._opens and not screen.connection.indexing:
            self._opens = False
            if len(self.session.journal) > LONG:
                return_freed_memory()  # What reading it took is free now.
            if self._pending_place:
                self.go_to_place(self._pending_place)
            else:
                screen.panes.messages.moment_changed(go=True)
                # The lists must have their rows.
                screen.call_after_refresh(self._follow_action)
        stood = screen.panes.messages.stands_now
        if player.tick():
            self._show_moment(go=stood)
        elif player.playing:
            self._stand()
        if player.playing:
            # Shown times change even if no event is due.
            screen.wake()
        if self._moves:
            self._moves = False
            self._follow_action()

    def after_tick(self) -> None:
        """Draw the changes of this tick."""
        self._draw(behind=self.session.catching_up)
        if self._event and len(self.session.journal) >= self._event:
            n, self._event = self._event, 0
            self._screen.post_message(ShowEvent(n))

    def _draw(self, *, behind: bool) -> None:
        """Draw the lines around the panes and the scrub pane; `behind`: the panes do not show the current moment
        yet."""
        player = self.player
        self.behind = behind
        in_flight = len(waited_for(self.session))
        state = (player.at_end, player.now, player.playing, player.speed, behind, in_flight)
        if state != self._drawn_state:
            self._drawn_state = state
            self._screen.draw_lines()
        self.scrub.draw()

    def _moved(self, *, go: bool = True) -> None:
        """The player has moved: draw its position now, and the session at that moment in the next tick."""
        self._show_moment(go=go)
        self._draw(behind=False)
        self._screen.wake()

    def _show_moment(self, *, go: bool) -> None:
        """Let the panes show the session at the player's position. With `go`, the log goes there too."""
        self._stand()
        self._screen.panes.messages.moment_changed(go=go)
        self._moves = True

    def _stand(self) -> None:
        self.session.at(None if self.player.at_end else self.player.position, self.player.now)

    def _follow_action(self) -> None:
        """In a list, select the item of the newest event; at the end, that of the last call."""
        session, player, screen = self.session, self.player, self._screen
        index = session.journal.index
        root = CALLS_SENT.last(index) if player.at_end else index.root_of(player.position) if player.position else 0
        if not root or root == self._shown_root or not screen.pane_layout.arrangement.tab.lists:
            return
        about = item_called(session.journal, root)
        if about is None:
            return
        self._shown_root = root
        list_name, address = about
        if session.catalog[list_name].get(address) is None:
            screen.panes.work.show_call(root)
            return
        screen.pane_layout.name_tab(OF_LIST[list_name].id)
        # The cursor decides what the middle shows: the newest request of that item, which is this one.
        screen.panes.catalog.select(list_name, address)

    # Lines around the panes

    def header(self) -> Sequence[LinePart]:
        """Describe the recording, and how it plays."""
        state = state_of_file(self.session.journal, self._screen.connection)
        return _header(self.session, self.player, state, self._screen.size.width)

    def tab_note(self) -> Pieces:
        """Describe the moment shown."""
        if self.player.at_end:
            return ""
        return moment_note(self.session, self.player, self._screen.size.width, behind=self.behind)

    def tab_hints(self) -> list[KeyHint]:
        """Return the keys at the right of the tabs."""
        return hints(self._screen, ("app.reconnect", "open server"), "app.palette") if self.player.at_end else []

    def footer_hints(self, pane_hints: list[KeyHint]) -> list[KeyHint]:
        """Return the keys of the player beside those of the panes. Text and a timeline need the same keys."""
        screen, origin = self._screen, self.opened_from
        if not isinstance(screen.focused, Editor) and not screen.panes.in_timeline:
            pane_hints = player_hints(screen, self.player, pane_hints)
        return pane_hints if origin is None else [*hints(screen, ("frame.leave", origin.title)), *pane_hints]

    def action_leave(self) -> None:
        """Return to the screen that opened the recording."""
        self._screen.dismiss(None)

    # Playing

    def action_play(self) -> None:
        """Play, or pause."""
        self.player.toggle()
        self._moved()

    def action_faster(self) -> None:
        self._change_speed(1)

    def action_slower(self) -> None:
        self._change_speed(-1)

    def _change_speed(self, by: int) -> None:
        self.player.change_speed(by)
        self._draw(behind=self.behind)

    # Go to a place

    def action_next_frame(self) -> None:
        self.player.step(1)
        self._moved()

    def action_previous_frame(self) -> None:
        self.player.step(-1)
        self._moved()

    def action_next_exchange(self) -> None:
        self.player.step_exchange(1)
        self._moved()

    def action_previous_exchange(self) -> None:
        self.player.step_exchange(-1)
        self._moved()

    def action_next_finding(self) -> None:
        self._go_to_finding(1)

    def action_previous_finding(self) -> None:
        self._go_to_finding(-1)

    def _go_to_finding(self, by: int) -> None:
        if self.player.go_to_problem(by):
            self._moved()
        else:
            self._say_none(by, "error or finding")

    def action_next_hit(self) -> None:
        self._look_for_hit(1)

    def action_previous_hit(self) -> None:
        self._look_for_hit(-1)

    def _look_for_hit(self, by: int) -> None:
        """Go to the next event that matches the last filter. A long recording is searched in a thread."""
        screen, searched = self._screen, self._screen.panes.messages.searched
        if searched is None:
            screen.pane_layout.show_log(Front.MESSAGES)
            screen.panes.messages.action_filter()
        else:
            screen.run_worker(self._go_to_hit(searched, by), exclusive=True, group="hit", exit_on_error=False)

    async def _go_to_hit(self, searched: Filter, by: int) -> None:
        # A distant one is searched in a thread.
        event = self.player.near_match(searched, by) or await asyncio.to_thread(self.player.next_match, searched, by)
        if event:
            self.go_to(event)
        else:
            self._say_none(by, f"message matches {searched.source}")

    def _say_none(self, by: int, what: str) -> None:
        self._screen.notify(f"No {'later' if by > 0 else 'earlier'} {what}.", timeout=3, markup=False)

    def go_to(self, n: int | None) -> None:
        self.player.go(n)
        self._moved()

    def action_to_start(self) -> None:
        self.go_to(0)

    def action_to_end(self) -> None:
        self.go_to(None)

    def action_seek(self) -> None:
        """Ask for a place and go there."""
        self._screen.app.push_screen(AskPlace(self.session.journal), self._went)

    def _went(self, place: positions.TypedPosition | None) -> None:
        if place is not None:
            began = self.player.position if place.unit == "number" else self.player.now
            self.player.go_to(place)
            self._moved()
            if note := elsewhere(place.value + began * place.relative, place.unit, self.player):
                self._screen.notify(note, timeout=6, markup=False)

    def go_to_place(self, words: str) -> None:
        try:
            self._went(positions.read(words, self.session.journal))
        except UsageError as error:
            self._screen.notify(error_text(error, self._screen), severity="warning", markup=False)

    def _sought(self, cell: int, cells: int) -> None:
        """The user clicked on the scrub line."""
        self.go_to(self.player.profile.number_in(cell, cells))

    def action_answer(self) -> None:
        """Go to the answer of the open question, else of the request at this moment."""
        session, question = self.session, self._screen.panes.work.asking.question
        n = session.reply_to(question)[0] if question is not None and question.state == "open" else 0
        if not n and self.player.position:
            root = session.journal.index.root_of(self.player.position)
            n = session.journal.index.pair(root) if root else 0
        if n:
            self.go_to(n)
        else:
            self._screen.notify("No answer to go to.", timeout=3)

    # Uses of the recording

    def action_serve(self) -> None:
        """Serve the recording here, or copy the command for it."""
        from inspector.tui.replay.uses import LoopbackMock

        self.server = self.server or LoopbackMock(self.session.target.path)
        window_of(self._screen).navigator.serve(self.server)

    def action_rerun(self) -> None:
        """Ask for a target, and rerun the recording on it."""
        window_of(self._screen).navigator.rerun(self.session.target.path, recorded_target(self.session.journal))


FLYING_FROM = 130
"""Width in cells from which the calls in flight fit before the moment."""
_MIN_NAME = 16
_MAX_LENGTH = 200


def _header(session: RecordedSession, player: Player, state: tuple[str, str], width: int) -> list[LinePart]:
    """Return the header: recording, state of the file or of the player, and what needs the user."""
    journal = session.journal
    word, role = state
    # The rest of the line shows a file in its usual state.
    odd = role in ("finding", "progress", "error") or word == "following"
    status = state if odd else (f"{playing(player)}  read-only", "muted")
    facts = HeaderFacts(findings=journal.findings.total, notices=tuple(journal.notices))
    name: Pieces = [("replay", "bright bold"), "  ", safe(session.target.path.name, max(width // 2, _MIN_NAME))]
    return header_parts(name, status, needs(facts))


def moment_note(session: RecordedSession, player: Player, width: int, *, behind: bool) -> Pieces:
    """Return the moment shown, and the calls in flight then; `behind`: the panes do not show it yet."""
    flying = len(waited_for(session)) if width >= FLYING_FROM else 0
    calls: Pieces = [(f"{flying} in flight   ", "progress")] if flying else []
    at = (moment(player.now), "progress" if behind else "bright")
    return [*calls, ("as it was at ", "muted"), at]


_APART = 1_000_000
"""Microseconds by which a moment may differ from the one that was typed."""


def elsewhere(typed_place: int, unit: Unit, player: Player) -> str:
    """Return why a typed place led elsewhere: it is beyond an end, or no event is near. Empty if it did not."""
    index, n = player.journal.index, player.position
    if unit == "number" and typed_place > player.count:
        return f"The last event is {count(player.count)}."
    if unit != "time" or abs(typed_place - player.now) < _APART:
        return ""
    if n >= player.count or not n:
        return f"The recording {'ends' if n else 'begins'} at {moment(player.now)}."
    then = moment(index.time(n + 1))
    return f"No event between {moment(player.now)} and {then}: this is the last one before {moment(typed_place)}."


def waited_for(session: RecordedSession) -> list[int]:
    """Return the requests in flight at the moment, except those that last as long as the session."""
    method = session.journal.index.method
    return [n for n in session.in_flight() if method(n) != "subscriptions/listen"]


def player_hints(screen: Screen[None], player: Player, pane_hints: Sequence[KeyHint]) -> list[KeyHint]:
    """Return the keys of the player, and then those of the pane: the same ones at each position."""
    play = hints(screen, ("replay.play", "pause" if player.playing else "play"))
    arrows = [
        *_pair(screen, "replay.previous-frame", "replay.next-frame", "event"),
        *_pair(screen, "replay.previous-exchange", "replay.next-exchange", "call"),
    ]
    if player.profile.errors or player.journal.findings.total:
        arrows += _pair(screen, "replay.previous-finding", "replay.next-finding", "error")
    return [*play, *arrows, *pane_hints, *hints(screen, "replay.seek")]


def _pair(screen: Screen[None], back: str, on: str, title: str) -> list[KeyHint]:
    """Join two keys for both directions into one hint; a click presses the second."""
    both = hints(screen, back, on)
    if len(both) < 2:
        return both
    first, second = both
    if first.label[:-1] == second.label[:-1] and len(first.label) > 1:
        return [KeyHint(f"{first.label}{second.label[-1]}", title, second.key, second.verb)]
    return [KeyHint(f"{first.label}{second.label}", title, second.key, second.verb)]

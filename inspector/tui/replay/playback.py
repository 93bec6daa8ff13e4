"""Playing a recording: the moment at which the panes of its screen show it, and the keys that move that moment."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.app import ComposeResult

from inspector.client.recorded import RecordedSession
from inspector.client.state.catalog import KINDS
from inspector.errors import UsageError
from inspector.journal.filters import Filter
from inspector.replay import places, speeds
from inspector.replay.player import FOLD, Player
from inspector.tui.advice import told
from inspector.tui.available_verbs import lend
from inspector.tui.dialogs import Choose
from inspector.tui.events import ShowEvent
from inspector.tui.keymap import Hint
from inspector.tui.main.screen import MainScreen
from inspector.tui.pane_keys import hints
from inspector.tui.replay import status
from inspector.tui.replay.go_to import AskPlace
from inspector.tui.replay.scrub import ScrubPane
from inspector.tui.server.connection import state_of_file
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.paint import Pieces
from inspector.tui.widgets.status import Part
from inspector.tui.window import window_of
from inspector.tui.work.recorded_calls import item_called

if TYPE_CHECKING:
    from inspector.tui.replay.serve import MockServer

LOW = 32
"""Lines of the terminal below which the scrub pane has two of them and no edge."""


@dataclass(frozen=True, slots=True)
class Playing:
    """How a recording is opened: at which place (as it is typed; empty: the end), how fast it plays, how long the
    longest gap is in seconds (0: as long as it was), and by which clock."""

    at: str = ""
    speed: float = 1.0
    fold: float = FOLD
    clock: Callable[[], float] = time.monotonic


@dataclass(frozen=True, slots=True)
class OpenedFrom:
    """A recording is opened at event `n` (0: at its end) from another screen, to which one key goes back; `title` names
    it. A journal that is `lent` stays open afterwards."""

    title: str
    n: int
    lent: bool = False


class Playback:
    """What the screen of a recording has beside that of a live session: a player, its keys and its scrub pane.

    The player says at which moment the panes show the session. The screen calls `before_tick` and `after_tick` around
    each drawing, and asks for what its lines say.
    """

    def __init__(
        self,
        session: RecordedSession,
        playing: Playing | None = None,
        *,
        follow_file: bool = False,
        opened_from: OpenedFrom | None = None,
    ) -> None:
        if opened_from is not None and opened_from.n:
            playing = Playing(at=f"#{opened_from.n}")
        opened = playing or Playing()
        self.session = session
        self.follow_file = follow_file
        """The file is read as another process writes it."""
        self.opened_from = opened_from
        self.player = Player(
            session.journal, clock=opened.clock, fold=opened.fold, speed=opened.speed, follow=follow_file
        )
        self.scrub = ScrubPane(self.player, self._sought, id="scrub")
        self._wanted = opened.at
        self._event = opened_from.n if opened_from is not None else 0
        """The event that is to be selected once it is read, or 0."""
        self._shown_root = 0
        self._moves = False
        self.behind = False
        """What the panes show is not yet that of the moment."""
        self._shown: tuple[object, ...] = ()
        self.server: MockServer | None = None
        """The server that answers from the recording, once it was asked for."""

    def join(self, screen: MainScreen) -> None:
        """Become part of a screen."""
        self._screen = screen
        lend(self, "replay", screen)
        if self.opened_from is not None:
            lend(self, "frame", screen)

    def compose(self) -> ComposeResult:
        """What stands below the panes."""
        yield self.scrub

    async def close(self) -> None:
        """End what was begun here, with the screen."""
        if self.server is not None:
            await self.server.close()
        if self.opened_from is not None and not self.opened_from.lent:
            self.session.journal.release()

    def can(self, action: str) -> bool:
        """Whether an action of the screen is offered: a recording is left to where it was opened from."""
        return action != "start_list" or self.opened_from is None

    def resized(self) -> None:
        """The screen has another size."""
        self.scrub.set_class(self._screen.size.height < LOW, "-low")

    # The tick

    def before_tick(self) -> None:
        """Let the player go on, and show what it has come to."""
        player, screen = self.player, self._screen
        if player.profile.advance():
            screen.wake()
        if self._wanted and not screen.connection.indexing:
            wanted, self._wanted = self._wanted, ""
            self.go_to_place(wanted)
        stood = screen.panes.messages.stands_now
        if player.tick():
            self._show_moment(go=stood)
        elif player.playing:
            self._stand()
        if player.playing:
            # What is shown of the time goes on, though nothing may be due for long.
            screen.wake()
        if self._moves:
            self._moves = False
            self._follow_action()

    def after_tick(self) -> None:
        """Draw what the tick has changed."""
        self._draw(behind=self.session.catching_up)
        if self._event and len(self.session.journal) >= self._event:
            n, self._event = self._event, 0
            self._screen.post_message(ShowEvent(n))

    def _draw(self, *, behind: bool) -> None:
        """Draw the lines around the panes and the scrub pane; `behind`: what is shown is not yet that of the moment."""
        player = self.player
        self.behind = behind
        shown = (
            player.at_end, player.now, player.playing, player.speed, behind, len(status.waited_for(self.session))
        )  # fmt: skip
        if shown != self._shown:
            self._shown = shown
            self._screen.draw_lines()
        self.scrub.draw()

    def _moved(self, *, go: bool = True) -> None:
        """The player was put elsewhere: show that at once, and what the session was there with the next tick."""
        self._show_moment(go=go)
        self._draw(behind=False)
        self._screen.wake()

    def _show_moment(self, *, go: bool) -> None:
        """The panes show the session as it was where the player stands. With `go`, the log goes there."""
        self._stand()
        self._screen.panes.messages.moment_changed(go=go)
        self._moves = True

    def _stand(self) -> None:
        self.session.at(None if self.player.at_end else self.player.position, self.player.now)

    def _follow_action(self) -> None:
        """Where a list is shown, show what the event was about that has come last."""
        session, player, screen = self.session, self.player, self._screen
        root = session.journal.index.root_of(player.position) if player.position and not player.at_end else 0
        if not root or root == self._shown_root or screen.pane_layout.place not in KINDS:
            return
        about = item_called(session.journal, root)
        if about is None:
            return
        self._shown_root = root
        list_name, address = about
        if session.catalog[list_name].get(address) is None:
            screen.panes.work.show_call(root)
            return
        screen.pane_layout.place = list_name
        # The cursor says what is shown in the middle: the newest request about it, which is this one.
        screen.panes.catalog.select(list_name, address)

    # What the lines around the panes say

    def header(self) -> Sequence[Part]:
        """Which recording it is, and how it plays."""
        state = state_of_file(self.session.journal, self._screen.connection)
        return status.header(self.session, self.player, state, self._screen.size.width)

    def tab_note(self) -> Pieces:
        """At which moment it is shown."""
        if self.player.at_end:
            return ""
        return status.note(self.session, self.player, self._screen.size.width, behind=self.behind)

    def tab_hints(self) -> list[Hint]:
        """What stands at the right of the tabs."""
        return status.tab_hints(self._screen) if self.player.at_end else []

    def footer_hints(self, shown: list[Hint]) -> list[Hint]:
        """The keys of the player beside those of the panes, but where letters are typed."""
        screen, origin = self._screen, self.opened_from
        if not isinstance(screen.focused, Editor):
            shown = status.footer(screen, self.player, shown)
        return shown if origin is None else [*hints(screen, ("frame.leave", origin.title)), *shown]

    def action_leave(self) -> None:
        """Go back to where the recording was opened from."""
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

    def action_speed(self) -> None:
        """Choose a speed."""
        self._screen.run_worker(self._choose_speed(), exclusive=True, group="dialog")

    async def _choose_speed(self) -> None:
        words = [speeds.words(speed) for speed in speeds.SPEEDS]
        chosen = await self._screen.app.push_screen_wait(
            Choose("Speed", [(word, "as fast as it goes" if word == "max" else "") for word in words],
                   speeds.words(self.player.speed))
        )  # fmt: skip
        speed = speeds.read(chosen) if chosen is not None else None
        if speed is not None:
            self.player.speed = speed
            self._draw(behind=self.behind)

    # Going to places

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
        if self.player.go_to_finding(by):
            self._moved()
        else:
            self._screen.notify(f"No {'further' if by > 0 else 'earlier'} finding", timeout=3, markup=False)

    def action_next_hit(self) -> None:
        self._look_for_hit(1)

    def action_previous_hit(self) -> None:
        self._look_for_hit(-1)

    def _look_for_hit(self, by: int) -> None:
        """Go to the next event that the filter last used leaves. A long recording is looked through in a thread."""
        screen, searched = self._screen, self._screen.panes.messages.searched
        if searched is None:
            screen.pane_layout.show_log("messages")
            screen.panes.messages.action_filter()
        else:
            screen.run_worker(self._go_to_hit(searched, by), exclusive=True, group="hit", exit_on_error=False)

    async def _go_to_hit(self, searched: Filter, by: int) -> None:
        found = await status.next_match(self.player, searched, by)
        if found:
            self.go_to(found)
        else:
            way = "further" if by > 0 else "earlier"
            self._screen.notify(f"No {way} message matches {searched.source}", timeout=3, markup=False)

    def go_to(self, n: int | None) -> None:
        self.player.go(n)
        self._moved()

    def action_to_start(self) -> None:
        self.go_to(0)

    def action_to_end(self) -> None:
        self.go_to(None)

    def action_seek(self) -> None:
        """Ask for a place, and go there."""
        self._screen.app.push_screen(AskPlace(self.session.journal), self._went)

    def _went(self, place: places.Position | None) -> None:
        if place is not None:
            self.player.go_to(place)
            self._moved()

    def go_to_place(self, words: str) -> None:
        try:
            self._went(places.read(words, self.session.journal))
        except UsageError as error:
            self._screen.notify(told(error, self._screen), severity="warning", markup=False)

    def _sought(self, cell: int, cells: int) -> None:
        """A place of the scrub line was pointed at."""
        self.go_to(self.player.profile.number_in(cell, cells))

    def action_answer(self) -> None:
        """Go to the answer of the open question that is shown, else of the request that the moment is about."""
        session, question = self.session, self._screen.panes.work.asking.question
        n = session.reply_to(question)[0] if question is not None and question.state == "open" else 0
        if not n and self.player.position:
            root = session.journal.index.root_of(self.player.position)
            n = session.journal.index.pair(root) if root else 0
        if n:
            self.go_to(n)
        else:
            self._screen.notify("There is no answer to go to.", timeout=3)

    # Making something of it

    def action_serve(self) -> None:
        """Serve the recording here, or copy the command that does."""
        from inspector.tui.replay.serve import MockServer

        self.server = self.server or MockServer(self.session.target.path)
        window_of(self._screen).navigator.serve(self.server)

    def action_rerun(self) -> None:
        """Ask for a target, and run the recording again on it."""
        window_of(self._screen).navigator.rerun(self.session.target.path, status.recorded_target(self.session))

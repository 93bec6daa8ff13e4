"""The main screen of a recording: it stands at the end, and can be played and gone through; nothing is sent."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import BindingType

from inspector.client.recorded import RecordedSession
from inspector.client.state.catalog import KINDS
from inspector.errors import UsageError
from inspector.replay import places, speeds
from inspector.replay.player import FOLD, Player
from inspector.tui import events
from inspector.tui.advice import told
from inspector.tui.dialogs import Choose
from inspector.tui.keymap import Hint, bindings
from inspector.tui.main.screen import MainScreen
from inspector.tui.replay import status
from inspector.tui.replay.go_to import AskPlace
from inspector.tui.replay.scrub import ScrubPane
from inspector.tui.replay.timeline import ScrubLine
from inspector.tui.server.connection import state_of_file
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.status import Part, TabLine
from inspector.tui.work.recorded_calls import subject_of

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


class ReplayScreen(MainScreen):
    """A recording. Its player says at which moment the panes show it."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("replay")]
    session: RecordedSession

    def __init__(
        self,
        session: RecordedSession,
        playing: Playing | None = None,
        *,
        follow_file: bool = False,
        first: events.First = "",
    ) -> None:
        super().__init__(session, follow_file=follow_file, follow_log=follow_file, first=first)
        opened = playing or Playing()
        self.player = Player(
            session.journal, clock=opened.clock, fold=opened.fold, speed=opened.speed, follow=follow_file
        )
        self._wanted = opened.at
        self._shown_root = 0
        self._moves = False
        self.behind = False
        """What the panes show is not yet that of the moment."""
        self._shown: tuple[object, ...] = ()
        self._server: MockServer | None = None

    def compose_below(self) -> ComposeResult:
        yield ScrubPane(self.player, id="scrub")

    def on_resize(self) -> None:
        self._scrub.set_class(self.size.height < LOW, "-low")

    @property
    def _scrub(self) -> ScrubPane:
        return self.query_one("#scrub", ScrubPane)

    # The tick

    def before_tick(self) -> None:
        """Let the player go on, and show what it has come to."""
        player = self.player
        if player.profile.advance():
            self._wake()
        if self._wanted and not self._connection.indexing:
            wanted, self._wanted = self._wanted, ""
            self._go_to_place(wanted)
        stood = self._messages.stands_now
        if player.tick():
            self._show_moment(go=stood)
        elif player.playing:
            self._stand()
        if player.playing:
            # What is shown of the time goes on, though nothing may be due for long.
            self._wake()
        if self._moves:
            self._moves = False
            self._follow_action()

    def _tick_state(self) -> None:
        super()._tick_state()
        self._draw(behind=self.session.catching_up)

    def _draw(self, *, behind: bool) -> None:
        """Draw the lines around the panes and the scrub pane; `behind`: what is shown is not yet that of the moment."""
        player = self.player
        self.behind = behind
        shown = (
            player.at_end, player.now, player.playing, player.speed, behind, len(status.waited_for(self.session))
        )  # fmt: skip
        if shown != self._shown:
            self._shown = shown
            self._show_lines()
        self._scrub.draw()

    def _moved(self, *, go: bool = True) -> None:
        """The player was put elsewhere: show that at once, and what the session was there with the next tick."""
        self._show_moment(go=go)
        self._draw(behind=False)
        self._wake()

    def _show_moment(self, *, go: bool) -> None:
        """The panes show the session as it was where the player stands. With `go`, the log goes there."""
        self._stand()
        self._messages.moment_changed(go=go)
        self._moves = True

    def _stand(self) -> None:
        self.session.at(None if self.player.at_end else self.player.position, self.player.now)

    def _follow_action(self) -> None:
        """Where a list is shown, show what the event was about that has come last."""
        session, player = self.session, self.player
        root = session.journal.index.root_of(player.position) if player.position and not player.at_end else 0
        if not root or root == self._shown_root or self.place not in KINDS:
            return
        about = subject_of(session.journal, root)
        if about is None:
            return
        self._shown_root = root
        list_name, address = about
        if session.catalog[list_name].get(address) is None:
            self._work.show_call(root)
            return
        self.place = list_name
        # The cursor says what is shown in the middle: the newest request about it, which is this one.
        self._catalog.select(list_name, address)

    def _show_lines(self) -> None:
        super()._show_lines()
        session, player = self.session, self.player
        line = self.query_one(TabLine)
        line.note = "" if player.at_end else status.note(session, player, self.size.width, behind=self.behind)
        line.hints = status.tab_hints(self) if player.at_end else []

    def header_parts(self) -> Sequence[Part]:
        """Which recording it is, and how it plays."""
        state = state_of_file(self.session.journal, self._connection)
        return status.header(self.session, self.player, state, self.size.width)

    def footer_hints(self) -> list[Hint]:
        """The keys of the player beside those of the panes, but where letters are typed."""
        shown = super().footer_hints()
        return shown if isinstance(self.focused, Editor) else status.footer(self, self.player, shown)

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

    @work(exclusive=True, group="dialog")
    async def action_speed(self) -> None:
        """Choose a speed."""
        words = [speeds.words(speed) for speed in speeds.SPEEDS]
        chosen = await self.app.push_screen_wait(
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
            self.notify(f"No {'further' if by > 0 else 'earlier'} finding", timeout=3, markup=False)

    def action_next_hit(self) -> None:
        self._go_to_hit(1)

    def action_previous_hit(self) -> None:
        self._go_to_hit(-1)

    @work(exclusive=True, group="hit", exit_on_error=False)
    async def _go_to_hit(self, by: int) -> None:
        """Go to the next event that the filter last used leaves. A long recording is looked through in a thread."""
        searched = self._messages.searched
        if searched is None:
            self._show_log("messages")
            self._messages.action_filter()
            return
        found = await status.next_match(self.player, searched, by)
        if found:
            self._go_to(found)
        else:
            way = "further" if by > 0 else "earlier"
            self.notify(f"No {way} message matches {searched.source}", timeout=3, markup=False)

    def _go_to(self, n: int | None) -> None:
        self.player.go(n)
        self._moved()

    def action_to_start(self) -> None:
        self._go_to(0)

    def action_to_end(self) -> None:
        self._go_to(None)

    def action_seek(self) -> None:
        """Ask for a place, and go there."""
        self.app.push_screen(AskPlace(self.session.journal), self._went)

    def _went(self, place: places.Place | None) -> None:
        if place is not None:
            self.player.go_to(place)
            self._moved()

    def _go_to_place(self, words: str) -> None:
        try:
            self._went(places.read(words, self.session.journal))
        except UsageError as error:
            self.notify(told(error, self), severity="warning", markup=False)

    def on_scrub_line_sought(self, event: ScrubLine.Sought) -> None:
        event.stop()
        self._go_to(self.player.profile.number_in(event.cell, event.cells))

    def on_show_event(self, event: events.ShowEvent) -> None:
        """A row of the log that was chosen is gone to."""
        if event.chosen:
            self._go_to(event.chosen)

    def action_answer(self) -> None:
        """Go to the answer of the open question that is shown, else of the request that the moment is about."""
        session, question = self.session, self._work.asking.question
        n = session.reply_to(question)[0] if question is not None and question.state == "open" else 0
        if not n and self.player.position:
            root = session.journal.index.root_of(self.player.position)
            n = session.journal.index.pair(root) if root else 0
        if n:
            self._go_to(n)
        else:
            self.notify("There is no answer to go to.", timeout=3)

    def action_back(self) -> None:
        """Also from what cannot have the focus, where there is one column only."""
        try:
            super().action_back()
        except SkipAction:
            if not self._narrow or self._narrow_place != "work":
                raise
            self.on_leave_work()

    # Making something of it

    def action_serve(self) -> None:
        """Serve the recording here, or copy the command that does."""
        from inspector.tui.replay.serve import MockServer, ServeScreen

        self._server = self._server or MockServer(self.session.target.path)
        self.app.push_screen(ServeScreen(self._server))

    def action_rerun(self) -> None:
        """Ask for a target, and run the recording again on it."""
        from inspector.tui.replay.rerun import RerunScreen

        self.app.push_screen(RerunScreen(self.session.target.path, status.recorded_target(self.session)))

    async def on_unmount(self) -> None:  # type: ignore[override]  # Textual calls that of the class above as well.
        if self._server is not None:
            await self._server.close()

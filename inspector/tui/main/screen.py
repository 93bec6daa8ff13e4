"""The main screen: lists, work, messages. It composes panes, passes messages between them, and draws on a tick."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any

from textual import work
from textual.app import ComposeResult
from textual.containers import Container, Vertical

from inspector.check.judge import Judge
from inspector.client.session_state import SessionState
from inspector.client.state.catalog import KINDS, ListName
from inspector.config.targets import RecordingTarget
from inspector.tui import events
from inspector.tui.ask.inbox import InboxPane
from inspector.tui.check.pane import CheckPane
from inspector.tui.dialogs import Choose, leave_calls
from inspector.tui.keymap import Hint
from inspector.tui.log.detail import DetailPane
from inspector.tui.log.pane import LastMessageLine, MessagesPane
from inspector.tui.main import chrome
from inspector.tui.main.layout import Layout
from inspector.tui.main.saving import Saving
from inspector.tui.pane_keys import hints
from inspector.tui.server.connection import Connection
from inspector.tui.server.failed import FailedPane
from inspector.tui.server.file_watch import FileWatch
from inspector.tui.server.pane import ServerPane
from inspector.tui.server.pin_watch import PinWatch
from inspector.tui.sessions import Sessions, calls_in_flight
from inspector.tui.widgets.clipboard import copy
from inspector.tui.widgets.status import Footer, HeaderLine, Part, TabLine
from inspector.tui.widgets.too_small import TooSmall
from inspector.tui.widgets.virtual_list import VirtualList
from inspector.tui.work.catalog import CatalogPane
from inspector.tui.work.pane import WorkPane
from inspector.tui.work.task import TaskPane
from inspector.tui.work.tasks import TaskActions, TasksPane

TICK = 1 / 20
SHOW_CONNECTING = 0.7
"""Seconds after which the steps of a connection take the place of the lists, which are still blank."""
LOOK_AT_CONNECTING = 0.25
JUDGE_SECONDS = 0.004
"""Time given to the judge in one tick; the rest of the tick belongs to the screen."""


class MainScreen(Layout):
    """One session, live or recorded."""

    def __init__(
        self,
        session: SessionState,
        *,
        follow_file: bool = False,
        follow_log: bool = True,
        watch: bool = False,
        first: events.First = "",
    ) -> None:
        """`first`: the session begins with a check, or with the doctor instead of a connection."""
        super().__init__(session)
        self._judge = Judge(session.journal)
        self._connection = Connection(self, session, self._wake, follow_file=follow_file)
        self._saving = Saving(self, session)
        self._pin = PinWatch(self, session)
        self._files = FileWatch(self, session, self._connection.reopen, self._show_watch)
        self._watch_at_once = watch
        self._follow_log = follow_log
        self._first = first
        self._ticking = False
        self._facts: tuple[Any, ...] = ()
        self._counts = False
        self._covered = False
        """Another session, or the start list, is in front."""
        self._news = (0, 0)

    def compose(self) -> ComposeResult:
        yield HeaderLine(id="header")
        yield TabLine(hints=hints(self, "app.palette", "app.help"), id="tabs")
        with Container(id="body"):
            yield CatalogPane(self.session, id="catalog")
            yield InboxPane(self.session, id="inbox")
            yield TasksPane(self.session, id="tasks")
            yield WorkPane(self.session, id="work")
            yield TaskPane(self.session, id="task")
            yield ServerPane(self.session, id="server")
            yield CheckPane(self.session, id="check")
            yield FailedPane(self.session, id="failed")
            with Vertical(id="log"):
                messages = MessagesPane(self.session, id="messages")
                yield messages
                yield DetailPane(self.session, folding=messages.folding, id="detail")
        yield from self.compose_below()
        yield LastMessageLine(self.session, id="last")
        yield Footer(id="footer")
        yield TooSmall()

    def compose_below(self) -> ComposeResult:
        """What stands below the panes."""
        yield from ()

    def on_mount(self) -> None:
        self.session.changes.listen(self._wake)
        self._catalog.show("tools")
        if not self._follow_log:
            self._messages.query_one(VirtualList).follow = False
        for notice in self.session.journal.notices:
            self.notify(notice, severity="warning", markup=False, timeout=10)
        self._arrange()
        if self._first == "doctor":
            self.query_one(FailedPane).action_doctor()
        else:
            self._connection.open()
        if self._watch_at_once:
            self._files.toggle()
        if self._first == "check":
            self.action_check()
        self.call_after_refresh(self._focus_list)

    def on_unmount(self) -> None:
        self.session.changes.listen(None)

    # The tick

    @property
    def _sessions(self) -> Sessions:
        """The sessions of this window."""
        found = getattr(self.app, "sessions", None)
        return found if isinstance(found, Sessions) else Sessions()

    def sessions_changed(self) -> None:
        """Draw what is new in the other sessions."""
        self._wake()

    def _wake(self) -> None:
        """Something is new: draw once, soon. Called any number of times, also from a flood."""
        if self._covered:
            changes = self.session.changes
            news = (changes["phase"], changes["inbox"])
            if news != self._news:
                self._news = news
                self.post_message(events.SessionNews())
        elif not self._ticking:
            self._ticking = True
            self.set_timer(TICK, self._tick)

    def arranged(self) -> None:
        self._wake()

    def on_screen_resume(self) -> None:
        self._covered = False
        self._wake()

    def on_screen_suspend(self) -> None:
        # Below a dialog it goes on; behind another screen nothing is drawn.
        self._covered = self not in self.app.screen_stack

    def _tick(self) -> None:
        self._ticking = False
        if not self.display or self._covered:
            return  # The screen is being taken down, some of its panes may be gone.
        self.before_tick()
        session = self.session
        if session.advance():
            self._wake()
        until = perf_counter() + JUDGE_SECONDS
        # Not while a dialog is open: Textual draws all of the screen anew whenever anything happens below one.
        more = self.app.screen is self or getattr(self.app.screen, "shows_findings", False)
        while more and perf_counter() < until:
            more = self._judge.run(20)
        if more:
            self._wake()
        check = self.query_one(CheckPane)
        if check.display:
            check.show_judged(self._judge.judged, len(session.journal))
        self._tick_state()
        if session.phase == "connecting" and not self._counts:
            # What is shown of the time goes on, though nothing may happen for long.
            self._counts = True
            self.set_timer(LOOK_AT_CONNECTING, self._look_again)
        self._pin.look()
        for pane in (self._catalog, self._work, self._messages, self._detail):
            if pane.is_on_screen:
                pane.tick()
        others = (
            self.query_one(ServerPane),
            self.query_one(FailedPane),
            self.query_one(InboxPane),
            self.query_one(TasksPane),
            self._task_pane,
            self.query_one(LastMessageLine),
        )
        for other in others:
            if other.display:
                other.tick()

    def before_tick(self) -> None:
        """Something is about to be drawn."""

    def _tick_state(self) -> None:
        session = self.session
        self.blocked = self._is_blocked()
        facts = (
            self.blocked,
            session.phase, session.server, len(session.journal), session.journal.incomplete, self.size.width,
            self.place, len(session.inbox.open()), session.latency, session.changes["calls"],
            self._connection.indexing, session.journal.ended is None,
            session.changes["tasks"], *map(tuple, self._sessions.marks(session)),
            *(len(session.catalog[name]) for name in KINDS),
        )  # fmt: skip
        if facts == self._facts:
            return
        phase_changed = not self._facts or facts[:2] != self._facts[:2]
        self._facts = facts
        self._show_lines()
        if phase_changed:
            self._arrange()

    def _is_blocked(self) -> bool:
        """Whether the pane about the connection is shown. One that is made quickly never shows it, nor a reconnect."""
        phase = self.session.phase
        if phase in ("failed", "lost") or self.query_one(FailedPane).examining:
            return True
        if phase != "connecting" or (not self.blocked and self._has_lists()):
            return False
        return self.blocked or self._connection.elapsed >= SHOW_CONNECTING

    def _has_lists(self) -> bool:
        return any(self.session.catalog[name].pages for name in KINDS)

    def _look_again(self) -> None:
        self._counts = False
        self._wake()

    def _show_lines(self) -> None:
        others = chrome.other_sessions(self._sessions, self.session)
        self.query_one(HeaderLine).parts = [*self.header_parts(), *others]
        line = self.query_one(TabLine)
        line.tabs = chrome.main_tabs(self.session, self.query_one(CheckPane).score)
        line.active = self.place
        self._show_footer()

    def header_parts(self) -> Sequence[Part]:
        """What the first line says."""
        return chrome.header(self.session, None, self.size.width)

    def footer_hints(self) -> list[Hint]:
        """The keys that the last line names."""
        return chrome.footer_hints(self)

    def _show_footer(self) -> None:
        footer = self.query_one(Footer)
        footer.hints = self.footer_hints()
        footer.note = chrome.footer_note(self.session)
        pins = self.has_class("-zoomed") or (self._narrow and not self.session.journal.notices)
        footer.pinned = chrome.footer_help(self) if pins else None

    def on_descendant_focus(self) -> None:
        self._show_footer()

    def on_hints_changed(self) -> None:
        self._show_footer()

    # What the panes say

    def on_tab_line_chosen(self, event: TabLine.Chosen) -> None:
        self._show_place(event.tab)

    def show_address(self, name: ListName, address: str) -> None:
        """Go to an item by its name or URI, ready to be used."""
        self._show_place(name)
        self._catalog.select(name, address)
        item = self.session.catalog[name].get(address)
        if item is not None:
            self.post_message(events.ItemOpened(name, item))

    def on_item_highlighted(self, event: events.ItemHighlighted) -> None:
        self._work.show_item(event.list_name, event.item)
        self._wake()

    def on_item_opened(self, event: events.ItemOpened) -> None:
        self._work.show_item(event.list_name, event.item)
        self._go("work")
        self._work.focus_work()

    def on_catalog_pane_call_requested(self) -> None:
        """Send what the form of the item under the cursor holds; where that is not enough, the form says so."""
        self._go("work")
        self._work.send()

    def on_inbox_pane_highlighted(self, event: InboxPane.Highlighted) -> None:
        if event.question is not None and self.place == "inbox":
            self._work.show_question(event.question)

    def on_inbox_pane_opened(self, event: InboxPane.Opened) -> None:
        self._go("work")
        self._work.show_question(event.question)
        self._work.focus_question()

    def on_inbox_pane_ask_again(self) -> None:
        self._work.keep_roots(None)

    def on_tasks_pane_highlighted(self, event: TasksPane.Highlighted) -> None:
        self._task_pane.show(event.task)

    def on_tasks_pane_opened(self) -> None:
        self._go("work")
        self._focus_work()

    def on_task_actions_open_call(self, event: TaskActions.OpenCall) -> None:
        self.show_address(event.list_name, event.address)

    def on_check_pane_scored(self) -> None:
        self._show_lines()

    def on_check_pane_evidence(self, event: CheckPane.Evidence) -> None:
        """Open the recording of the checks, which is still theirs, where the message is."""
        from inspector.tui.replay.recording_at import lent_frame

        found = self.query_one(CheckPane).found
        if found.journal is not None:
            self.app.push_screen(lent_frame(found.journal, found.path, event.n))

    def on_leave_work(self) -> None:
        self._go("list")
        self._focus_list()

    def on_messages_pane_compared(self, event: MessagesPane.Compared) -> None:
        self._detail.compare(event.one, event.other)
        self._go("detail")

    def on_event_highlighted(self, event: events.EventHighlighted) -> None:
        self._detail.show(event.n)
        self._wake()

    def on_show_event(self, event: events.ShowEvent) -> None:
        self._show_log("detail")
        self._messages.select(event.n)
        self._detail.show(event.n)
        self._focus_in(self._detail)

    def on_show_exchange(self, event: events.ShowExchange) -> None:
        self._show_log("messages")
        self._messages.show_exchange(event.n)
        self._focus_in(self._messages)

    def on_show_filtered(self, event: events.ShowFiltered) -> None:
        self._show_log("messages")
        self._messages.show_filtered(event.filter)
        self._focus_in(self._messages)

    def on_open_resource(self, event: events.OpenResource) -> None:
        self._show_place("resources")
        self._work.open_resource(event.uri)
        self._go("work")

    def on_copy(self, event: events.Copy) -> None:
        copy(self, event.text, event.what)

    def on_save(self, event: events.Save) -> None:
        self._saving.save(event.data, event.suggested, event.what, event.note)

    def on_export(self, event: events.Export) -> None:
        self._saving.export(event.numbers)

    def on_edit_message(self, event: events.EditMessage) -> None:
        session = self.session.commands
        if session is not None:
            from inspector.tui.log.compose import ComposeScreen

            self.app.push_screen(ComposeScreen(session, event.text))

    def on_failed_pane_again(self) -> None:
        self._connection.reopen()

    def on_failed_pane_stop(self) -> None:
        self._connection.stop()

    def on_server_pane_reconnect(self) -> None:
        self._connection.reopen()

    @work(exclusive=True, group="dialog")
    async def on_edit_target_wanted(self) -> None:
        """Ask for another command or URL, and open that in the place of this session."""
        from inspector.tui.server.edit_target import EditTarget

        target = self.session.target
        if not isinstance(target, RecordingTarget):
            other = await self.app.push_screen_wait(EditTarget(target))
            if other is not None:
                self.post_message(events.OpenInstead(other))

    def on_watch_files(self) -> None:
        self._files.toggle()

    def _show_watch(self) -> None:
        self.query_one(ServerPane).show_watch(self._files.on)
        self.query_one(FailedPane).show_watch(self._files.on)

    def on_server_pane_log_level(self) -> None:
        self._connection.choose_log_level()

    def on_show_authorization(self) -> None:
        from inspector.tui.login.screen import AuthorizationScreen

        self.app.push_screen(AuthorizationScreen(self.session), self._after_authorization)

    def _after_authorization(self, wanted: int | str | None) -> None:
        if isinstance(wanted, int):
            self.post_message(events.ShowEvent(wanted))
        elif wanted == "again":
            self._connection.reopen()
        elif wanted == "quit":
            self.action_quit()
        elif wanted is not None:
            self._show_place(wanted)

    # Keys that work everywhere

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What needs a live server is not offered on a recording, nor the start of a process where there is none."""
        if action in ("reconnect", "revision", "compose", "pin"):
            return self.session.commands is not None
        if action in ("restart", "watch"):
            return self.session.commands is not None and self.session.target.kind == "stdio"
        return True

    def action_reconnect(self) -> None:
        """Close the connection and open it again, on the same recording."""
        self._connection.reopen()

    action_restart = action_reconnect

    def action_revision(self) -> None:
        """Choose the revision and era, and connect again with them."""
        self._connection.choose_revision()

    def action_watch(self) -> None:
        """Start the server again when one of its files changes, or watch them no more."""
        self._files.toggle()

    def action_compose(self) -> None:
        self.post_message(events.EditMessage(""))

    def action_export(self) -> None:
        self._saving.export(None)

    def action_check(self) -> None:
        """Check the server, or what passed by in the recording."""
        self._show_place("check")
        self.query_one(CheckPane).action_run()

    def action_pin(self) -> None:
        """Keep what the server offers now, to be warned when it offers something else."""
        self._pin.pin()

    @work(exclusive=True, group="dialog")
    async def action_compare_with(self) -> None:
        """Choose another recording, and show both side by side."""
        from inspector.tui.diff.choose import compare_with

        await compare_with(self)

    @work(exclusive=True, group="dialog")
    async def action_theme(self) -> None:
        """Choose a theme."""
        switch = self.app.theme_switch  # type: ignore[attr-defined]
        name = await self.app.push_screen_wait(Choose("Theme", [(name, "") for name in switch.names()], switch.name))
        if name is not None:
            switch.use(name)

    @work(exclusive=True, group="dialog")
    async def action_quit(self) -> None:
        """Leave; asks only while a call is in flight, in any session."""
        calls = self._sessions.in_flight() or calls_in_flight(self.session)
        if await leave_calls(self.app, calls, "Leave with a call in flight?", "leave"):
            self.app.exit(0)

    def action_start_list(self) -> None:
        """Go to the start list; the session stays open behind it."""
        self.post_message(events.ShowStart())

    def action_help(self) -> None:
        from inspector.tui.help import Help

        self.app.push_screen(Help(self.app.verb_keys, self.focused or self))  # type: ignore[attr-defined]

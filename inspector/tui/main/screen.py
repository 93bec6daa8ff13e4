"""The main screen: composes the panes, passes messages between them, and draws on a tick."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.events import Key, ScreenResume
from textual.screen import Screen
from textual.timer import Timer

from inspector.client.inbox import Question
from inspector.client.session_state import SessionState
from inspector.client.state.catalog import KINDS, ListName
from inspector.config.targets import RecordingTarget
from inspector.journal.format import Kind
from inspector.text import quantity
from inspector.tui import pane_messages
from inspector.tui.available_verbs import contexts, lend, lend_features, run_of_feature
from inspector.tui.custom_commands import CustomCommand
from inspector.tui.keymap import KeyHint, bindings
from inspector.tui.main import chrome
from inspector.tui.main.judging import Judging
from inspector.tui.main.layout import CSS, PaneLayout
from inspector.tui.main.panes import Panes
from inspector.tui.main.redraw_pace import DrawingPace
from inspector.tui.main.saving import SavedFiles
from inspector.tui.main.session_verbs import SessionVerbs
from inspector.tui.model.arrangement import Front
from inspector.tui.model.tabs import OF_LIST, TABS
from inspector.tui.pane_keys import hints
from inspector.tui.server.connection import ScreenConnection
from inspector.tui.server.watches import FileWatch, PinWatch
from inspector.tui.sessions import Sessions, is_lost
from inspector.tui.verbs import BY_ID
from inspector.tui.widgets.clipboard import copy
from inspector.tui.widgets.paint import Pieces
from inspector.tui.widgets.status_lines import Footer, HeaderLine, LinePart, TabLine
from inspector.tui.widgets.too_small import TooSmall
from inspector.tui.widgets.virtual_list import VirtualList
from inspector.tui.window import window_of

if TYPE_CHECKING:
    from inspector.tui.ask.inbox import InboxPane
    from inspector.tui.calls.controller import CallsPart
    from inspector.tui.calls.flow_pane import FlowPane
    from inspector.tui.calls.pane import CallsPane
    from inspector.tui.check.pane import CheckPane
    from inspector.tui.log.pane import MessagesPane
    from inspector.tui.server.failed import FailedPane
    from inspector.tui.timeline.pane import TimelinePane
    from inspector.tui.work.result import ResultPane
    from inspector.tui.work.tasks import TaskActions, TasksPane

SHOW_CONNECTING = 2.0
"""Seconds after which the connection steps replace the lists, which are still empty."""
LOOK_AT_CONNECTING = 0.25


class RecordingPart(Protocol):
    """The additional part of a recording's screen: it sets the moment that the panes show.

    It is `replay.playback.Playback`, which is imported only when a recording is opened.
    """

    follow_file: bool

    def join(self, screen: MainScreen) -> None:
        """Join a screen."""

    def compose(self) -> ComposeResult:
        """Return the widgets below the panes."""

    async def close(self) -> None:
        """The screen has closed."""

    def can(self, action: str) -> bool:
        """Whether an action of the screen is available."""

    def resized(self) -> None:
        """The size of the screen has changed."""

    def before_tick(self) -> None:
        """Called before the panes are drawn."""

    def after_tick(self) -> None:
        """Called after the lines around the panes are drawn."""

    def go_to(self, n: int | None) -> None:
        """Show the recording as it was at event `n`; None: at its end."""

    def header(self) -> Sequence[LinePart]:
        """Return the first line."""

    def tab_note(self) -> Pieces:
        """Return the note beside the tabs."""

    def tab_hints(self) -> list[KeyHint]:
        """Return the keys beside the tabs."""

    def footer_hints(self, pane_hints: list[KeyHint]) -> list[KeyHint]:
        """Return the keys of the player, and then `pane_hints`, those of the pane."""


class MainScreen(Screen[None]):
    """One session, live or recorded; a recorded one has a `playback`."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("app")]
    DEFAULT_CSS = CSS

    def __init__(
        self,
        session: SessionState,
        playback: RecordingPart | None = None,
        *,
        follow_log: bool = True,
        watch: bool = False,
        first: pane_messages.First = "",
        connecting: asyncio.Task[None] | None = None,
    ) -> None:
        """`first`: the session starts with a check, a login, or the doctor instead of a connection.

        `connecting` is `session.open_with_lists()` if it was started before the screen existed.
        """
        super().__init__()
        self.session = session
        self.playback = playback
        self.panes = Panes(session, self._show_watches)
        self._footer = Footer(id="footer")
        self.pane_layout = PaneLayout(self, session, self.panes, self.wake)
        lend(self.pane_layout, "app", self)
        follow_file = playback is not None and playback.follow_file
        self.connection = ScreenConnection(self, session, self.wake, follow_file=follow_file, begun=connecting)
        self._judging = Judging(self, session.journal, self.wake)
        self._saving = SavedFiles(self, session)
        self._pin = PinWatch(self, session, self._show_watches)
        self._files = FileWatch(self, session, self.connection.reopen, self._show_watches)
        self._watch_at_once = watch
        self._follow_log = follow_log
        self._first = first
        self._pace = DrawingPace()
        self._next_tick: Timer | None = None
        self._facts: tuple[Any, ...] = ()
        self._counts = False
        self._is_new = True
        self._covered = False
        """Another session or the start list is in front."""
        self.takes_keys = asyncio.Event()
        """Set when keys can act on a list: it is drawn and has the focus, or does not come."""
        self._uncovered_at = 0.0
        """When this session came to the front again."""
        self._calls: CallsPart | None = None
        self._questions_shown: set[Question] = set()
        self._reported_notices: set[str] = set()
        self._call_again = False
        """The lost call is sent again when the session is connected."""
        self._news = (0, 0)
        self._verbs = SessionVerbs(
            self,
            session,
            self.panes,
            self.pane_layout,
            self.connection,
            self._saving,
            self._pin,
            self._files,
            show_address=self.show_address,
            collection=lambda: self._calls.saved.collection if self._calls is not None else None,
        )
        lend(self._verbs, "app", self)
        lend_features("app", self, lambda: ("", None))
        for tab in TABS:
            setattr(self, f"action_{BY_ID[tab.verb].action}", partial(self.pane_layout.show_tab, tab))
        if playback is not None:
            playback.join(self)

    def compose(self) -> ComposeResult:
        # Before there are widgets: each would be styled again when the first resize sets the class.
        self.pane_layout.begin(self.app.size.width)
        yield HeaderLine(id="header")
        yield TabLine(hints=hints(self, "app.palette"), id="tabs")
        yield from self.panes.compose()
        if self.playback is not None:
            yield from self.playback.compose()
        yield self.panes.last
        yield self._footer
        yield TooSmall()

    async def on_mount(self) -> None:
        self.session.changes.listen(self.wake)
        self.panes.catalog.show("tools")
        if not self._follow_log:
            self.panes.messages.stay()
        self._tell_notices()
        self.pane_layout.resized()
        if self._first == "doctor":
            await self.panes.make("failed")
            assert self.panes.failed is not None
            self.panes.failed.action_doctor()
        else:
            self.connection.open(log_in=self._first == "login")
        if self._watch_at_once:
            self._files.toggle()
        self.call_after_refresh(self._read_calls)
        if self._first == "check":
            await self._verbs.action_check()
        self.call_after_refresh(self._focus_first)

    def _tell_notices(self) -> None:
        """Tell what is unusual about the recording; some of it is known only after it was read."""
        for notice in self.session.journal.notices:
            if notice not in self._reported_notices:
                self._reported_notices.add(notice)
                self.notify(notice, severity="warning", markup=False, timeout=6)

    def _focus_first(self) -> None:
        # A recording that is opened at a message may show it by now: its pane is there only while it has the focus.
        if not self.pane_layout.arrangement.in_log:
            self.pane_layout.focus_list()

    def on_resize(self) -> None:
        self.query_one(TooSmall).fit(self.size)
        self.pane_layout.resized()
        if self.playback is not None:
            self.playback.resized()

    async def on_unmount(self) -> None:
        self.session.changes.listen(None)
        if self.playback is not None:
            await self.playback.close()

    @property
    def calls(self) -> CallsPart:
        """The saved calls of the screen. Their modules are loaded when a folder has some, or when one is saved."""
        if self._calls is None:
            from inspector.tui.calls.controller import CallsPart

            self._calls = CallsPart(self, self.panes, self._judging.made(), lambda: self._files.on)
        return self._calls

    @property
    def _saved_count(self) -> int:
        return len(self._calls.saved.flows) if self._calls is not None else 0

    def _read_calls(self) -> None:
        folder = window_of(self).settings.calls_folder or "calls"
        if self.session.commands is not None and Path(folder).expanduser().is_dir():
            self.calls.read()

    def on_calls_pane_highlighted(self, event: CallsPane.Highlighted) -> None:
        self.calls.show_row(event.row)

    def on_calls_pane_opened(self) -> None:
        self.pane_layout.open_work()

    def on_open_beside(self) -> None:
        self.pane_layout.open_work()

    def on_flow_pane_looked(self, event: FlowPane.Looked) -> None:
        self.calls.look_at(event.n)

    def on_flow_pane_failure_elsewhere(self, event: FlowPane.FailureElsewhere) -> None:
        if self.panes.calls is not None:
            self.panes.calls.go_to_failure(event.by)

    def on_result_pane_compare(self, event: ResultPane.Compare) -> None:
        """Compare the shown answer with that of the call before of the same item."""
        journal = self.session.journal
        answers = (journal.index.pair(request) for request in (event.before, event.request_n))
        window_of(self).navigator.compare_messages(journal, *answers)

    def on_new_from_call(self) -> None:
        self.calls.new_from_call()

    def on_save_call(self, event: pane_messages.SaveCall) -> None:
        self.calls.save(event.list_name, event.address, event.arguments, event.schema)

    @work(exclusive=True, group="dialog", exit_on_error=False)
    async def on_use_feature(self, event: pane_messages.UseFeature) -> None:
        """Run a verb of a feature."""
        await run_of_feature(self, event)

    def on_result_pane_expect(self, event: ResultPane.Expect) -> None:
        self.calls.expect(self.panes.work.work, event.pointer)

    def on_result_pane_pin_call(self) -> None:
        self.panes.work.pin_call()
        if self.panes.work.sending.pinned is not None and not self._files.on:
            self.notify("The server does not restart yet: choose “watch files” in the palette.", timeout=8)

    def on_reconnected(self) -> None:
        """Mark what is different, and run again what was chosen for it."""
        self.panes.catalog.mark_changed(self.session.surface_changes)
        lost = self.panes.work.sending.lost_work() if self._call_again else None
        self._call_again = False
        if lost is not None:
            item = lost.catalog_item
            # The server may exit again before a tick sees that it was there.
            self.pane_layout.block(False)
            self.pane_layout.show_made(OF_LIST[item.list_name].id)
            self.panes.catalog.select(item.list_name, item.address)
            self.panes.work.show_item(item.list_name, item.item)
            self.panes.work.sending.send_again(lost, lost.sent)
            self.pane_layout.go(Front.BESIDE)
            self.panes.work.focus_outcome()
        if self._files.on and (self._calls is not None or self.panes.work.sending.pinned is not None):
            self.calls.restarted()

    @property
    def _sessions(self) -> Sessions:
        """The sessions of this window."""
        return window_of(self).sessions

    def sessions_changed(self) -> None:
        """Draw what is new in the other sessions."""
        self.wake()

    def wake(self) -> None:
        """Schedule one drawing soon. It may be called any number of times."""
        changes = self.session.changes
        news = (changes["phase"], changes["inbox"])
        if news != self._news:
            self._news = news
            self.post_message(pane_messages.SessionNews())
        if self._covered:
            return
        key_came = window_of(self).key_came
        if self._next_tick is not None:
            if not self._pace.hurries(key_came):
                return
            self._next_tick.stop()
        self._next_tick = self.set_timer(self._pace.pause(monotonic(), key_came), self._tick)

    async def on_screen_resume(self, event: ScreenResume) -> None:
        if self._covered:
            self._uncovered_at = monotonic()
        self._covered = False
        if self._is_new:
            # The widgets were styled a moment ago, when they were mounted.
            self._is_new = event.refresh_styles = False
            await self._tick()  # The first frame has what the server has sent so far.
        self.wake()

    def on_screen_suspend(self) -> None:
        # Below a dialog it continues; behind another screen nothing is drawn.
        self._covered = self not in self.app.screen_stack
        self.takes_keys.set()  # No key is meant for this screen now.

    async def _tick(self) -> None:
        self._next_tick = None
        if not self.display or self._covered or not self.is_attached:
            return  # the screen is closing, and some of its panes may be gone
        if self.playback is not None:
            self.playback.before_tick()
        session = self.session
        if session.advance():
            self.wake()
        self._judge_drawn()
        check = self.panes.check
        if check is not None and check.display:
            check.show_judged(self._judging.judged, len(session.journal))
        self._show_stray_questions()
        blocked = self._is_blocked()
        if blocked:
            await self.panes.make("failed")
        self.pane_layout.block(blocked)
        self._tick_state()
        if (session.phase == "connecting" or not self._judging.loaded) and not self._counts:
            # Shown times change even if nothing happens, and a list may never come.
            self._counts = True
            self.set_timer(LOOK_AT_CONNECTING, self._look_again)
        self._pin.compare_if_new()
        self._tell_notices()
        with_log = self._pace.draws_log(monotonic(), focused=self.panes.in_log)
        self.panes.tick(with_log=with_log)
        if self._can_take_keys():
            self.takes_keys.set()
        if not with_log:
            self.wake()

    def _judge_drawn(self) -> None:
        """Judge some of what is drawn, once the lists are on the screen or do not come soon."""
        if self._is_settled():
            self._judging.load_soon()
        live, events = self.session.commands is not None, len(self.session.journal)
        seconds = self._pace.drawn(monotonic(), events, live=live)
        self._judging.run(seconds, reading=self.panes.work.result.is_reading)

    def _is_settled(self) -> bool:
        """Whether the lists are on the screen, or do not come soon."""
        return not self._lists_come() or self.connection.elapsed >= SHOW_CONNECTING

    def _can_take_keys(self) -> bool:
        """Whether `takes_keys` can be set now."""
        if self.session.inbox.open() or self._is_blocked():
            return True
        return not self._lists_come() and self.focused is not None

    def _lists_come(self) -> bool:
        session = self.session
        if session.commands is None:
            return False
        return session.phase in ("new", "closed", "connecting") or any(session.catalog[name].loading for name in KINDS)

    def _tick_state(self) -> None:
        session = self.session
        facts = (
            self.pane_layout.arrangement.blocked,
            session.phase,
            session.server,
            session.journal.incomplete,
            session.journal.findings.total,
            len(session.journal.notices),
            self.size.width,
            self.pane_layout.place,
            len(session.inbox.open()),
            len(session.inbox.questions),
            self._saved_count,
            session.changes["calls"],
            self.connection.indexing,
            session.journal.ended is None,
            session.changes["tasks"],
            *self.panes.counts().values(),
            *map(tuple, self._sessions.marks(session)),
            *((len(session.catalog[name]), session.catalog[name].pages > 0) for name in KINDS),
        )
        if facts != self._facts:
            phase_changed = not self._facts or facts[:2] != self._facts[:2]
            self._facts = facts
            self.draw_lines()
            if phase_changed:
                self.pane_layout.arrange()
        if self.playback is not None:
            self.playback.after_tick()

    def _is_blocked(self) -> bool:
        """Whether to show the pane about the connection. A quick connection or a reconnect does not show it."""
        phase, failed, blocked = self.session.phase, self.panes.failed, self.pane_layout.arrangement.blocked
        if phase in ("failed", "lost") or (failed is not None and failed.examining):
            return True
        if phase != "connecting" or self.session.inbox.open() or (not blocked and self._has_lists()):
            return False  # a question that arrives meanwhile is answered in the lists and the work pane
        return blocked or self.connection.elapsed >= SHOW_CONNECTING

    def _show_stray_questions(self) -> None:
        """Show questions that no call caused, for example the roots that a server wants while connecting."""
        session = self.session
        if session.commands is None or self.app.screen is not self:
            return
        fresh = [question for question in session.inbox.open() if question not in self._questions_shown]
        self._questions_shown.update(fresh)
        stray = next((question for question in fresh if not question.parent), None)
        if stray is not None:
            untouched = window_of(self).key_came < max(self.connection.began, self._uncovered_at)
            untouched = untouched and bool(self.pane_layout.arrangement.tab.lists)
            self.panes.work.show_unprompted(stray, untouched=untouched)
        if session.inbox.questions:
            self.panes.work.notice_questions()

    def _has_lists(self) -> bool:
        return any(self.session.catalog[name].pages for name in KINDS)

    def _look_again(self) -> None:
        self._counts = False
        self.wake()

    def draw_lines(self) -> None:
        """Draw the lines around the panes."""
        playback, check = self.playback, self.panes.check
        others = chrome.other_sessions(self._sessions, self.session)
        header = chrome.header(self.session, None, self.size.width) if playback is None else playback.header()
        self.query_one(HeaderLine).parts = [*header, *others]
        line = self.query_one(TabLine)
        line.active = self.pane_layout.place
        line.tabs = chrome.main_tabs(
            self.session,
            line.active,
            check.score if check is not None else "",
            saved=self._saved_count,
            of_features=self.panes.counts(),
        )
        if playback is not None:
            line.note, line.hints = playback.tab_note(), playback.tab_hints()
        self._show_footer()

    def _show_footer(self) -> None:
        if not self._footer.is_attached:  # The screen is being taken down, and a pane had told of other keys.
            return
        chrome.draw_footer(
            self._footer,
            self.pane_layout.arrangement,
            self.zoom_hint,
            first=self.playback.footer_hints if self.playback is not None else None,
            in_panes=self.panes.work.keys_below,
            asked=self.check_action("question", ()) is True,
            out_of_log=self.pane_layout.out_of_log,
            is_down=is_lost(self.session),
        )
        self.panes.last.show_asked(self.panes.work.waiting_out_of_sight())

    @property
    def zoom_hint(self) -> tuple[str, str] | None:
        """Return the verb of the zoom key with its title, or None if it has no effect now."""
        return self.pane_layout.zoom_hint

    def on_descendant_focus(self) -> None:
        self.pane_layout.focus_moved()
        self._show_footer()

    def on_hints_changed(self) -> None:
        # A pane may need more lines or fewer.
        self.pane_layout.fit()
        self._show_footer()

    def on_choice_field_list_shown(self) -> None:
        self._show_footer()

    async def on_tab_line_chosen(self, event: TabLine.Chosen) -> None:
        await self.pane_layout.show_place(event.tab)

    def show_address(self, name: ListName, address: str) -> None:
        """Select an item by its name or URI."""
        self.pane_layout.show_made(OF_LIST[name].id)
        self.panes.catalog.select(name, address)
        item = self.session.catalog[name].get(address)
        if item is not None:
            self.call_later(self._open_item, name, item)

    def show_in_list(self, name: ListName, address: str) -> None:
        """Select an item by its name or URI in its list."""
        self.pane_layout.show_made(OF_LIST[name].id)
        self.panes.catalog.select(name, address)
        self.pane_layout.focus_list()

    def saved_calls(self) -> list[tuple[str, str, Callable[[], object]]]:
        """Return the file of each saved call, its number of steps, and a function that goes to it."""
        return [
            (flow.path.name, quantity(len(flow.steps), "step"), partial(self._show_saved, flow.path))
            for flow in (self._calls.saved.flows if self._calls is not None else ())
        ]

    async def _show_saved(self, path: Path) -> None:
        await self.pane_layout.show_place("calls")
        if self.panes.calls is not None:
            self.panes.calls.select(path, 0)

    def on_item_highlighted(self, event: pane_messages.ItemHighlighted) -> None:
        self.panes.work.show_item(event.list_name, event.item)
        self.wake()

    def on_item_opened(self, event: pane_messages.ItemOpened) -> None:
        """Show an item of the list. A resource is read at once: that changes nothing."""
        self._open_item(event.list_name, event.item)
        work = self.panes.work.work
        if event.list_name == "resources" and self.session.phase == "ready" and not work.answer:
            self.panes.work.send()

    def _open_item(self, list_name: ListName, item: dict[str, Any]) -> None:
        self.panes.work.show_item(list_name, item)
        self.pane_layout.go(Front.BESIDE)
        self.panes.work.focus_work()

    def on_catalog_pane_call_requested(self) -> None:
        """Send the form of the selected item; if it is incomplete, the form shows that."""
        if self.panes.work.may_send():
            self.pane_layout.go(Front.BESIDE)
            self.panes.work.send()

    def on_catalog_pane_save_requested(self) -> None:
        self.panes.work.save_call()

    def on_catalog_pane_about_requested(self) -> None:
        self.panes.work.request.action_about()

    def on_result_pane_save_call(self) -> None:
        self.panes.work.save_shown_call()

    def on_inbox_pane_highlighted(self, event: InboxPane.Highlighted) -> None:
        if event.question is not None and self.pane_layout.place == "inbox":
            self.panes.work.show_question(event.question)

    def on_inbox_pane_opened(self, event: InboxPane.Opened) -> None:
        self.pane_layout.go(Front.BESIDE)
        self.panes.work.show_question(event.question)
        self.panes.work.focus_question()

    def on_inbox_pane_ask_again(self) -> None:
        self.panes.work.work_items.keep_roots(None)

    def on_tasks_pane_highlighted(self, event: TasksPane.Highlighted) -> None:
        if self.panes.task is not None:
            self.panes.task.show(event.task)

    def on_tasks_pane_opened(self) -> None:
        self.pane_layout.open_work()

    def on_task_actions_open_call(self, event: TaskActions.OpenCall) -> None:
        self.show_address(event.list_name, event.address)

    def on_check_pane_scored(self) -> None:
        self.draw_lines()

    def on_check_pane_evidence(self, event: CheckPane.Evidence) -> None:
        """Open the recording of the checks at the message; the checks keep owning it."""
        check_run = self.panes.check.check_run if self.panes.check is not None else None
        if check_run is not None and check_run.journal is not None:
            window_of(self).navigator.show_journal(check_run.journal, check_run.path, event.n)

    def on_leave_work(self) -> None:
        self.pane_layout.leave_work()

    def on_messages_pane_compared(self, event: MessagesPane.Compared) -> None:
        journal = self.session.journal
        if all(journal.index.kind(n) is Kind.RPC for n in (event.one, event.other)):
            window_of(self).navigator.compare_messages(journal, event.one, event.other)
            return
        self.panes.detail.compare(event.one, event.other)
        self.pane_layout.go(Front.DETAIL)

    async def on_messages_pane_show_timeline(self, event: MessagesPane.ShowTimeline) -> None:
        await self.pane_layout.show_timeline(event.n)

    def on_timeline_pane_left(self, event: TimelinePane.Left) -> None:
        self.pane_layout.leave_timeline(event.filter)

    def on_event_highlighted(self, event: pane_messages.EventHighlighted) -> None:
        self.panes.detail.show(event.n)
        self.wake()

    def on_show_event(self, event: pane_messages.ShowEvent) -> None:
        if event.chosen and self.playback is not None:
            self.playback.go_to(event.chosen)
        self.pane_layout.show_log(Front.DETAIL)
        self.panes.messages.select(event.n)
        self.panes.detail.show(event.n)
        self.pane_layout.focus_in(self.panes.detail)

    def on_marks_changed(self) -> None:
        self.panes.messages.marks_changed()

    def on_show_exchange(self, event: pane_messages.ShowExchange) -> None:
        self.pane_layout.show_log(Front.MESSAGES)
        self.panes.messages.show_exchange(event.n)
        self.pane_layout.focus_in(self.panes.messages)

    def on_show_filtered(self, event: pane_messages.ShowFiltered) -> None:
        self.pane_layout.show_log(Front.MESSAGES)
        self.panes.messages.show_filtered(event.filter)
        self.pane_layout.focus_in(self.panes.messages)

    def on_open_resource(self, event: pane_messages.OpenResource) -> None:
        # The item under the cursor of the list would replace a resource that the list does not have.
        with self.prevent(pane_messages.ItemHighlighted, VirtualList.Highlighted):
            self.pane_layout.show_made("resources")
            self.panes.catalog.select("resources", event.uri)
        self.panes.work.open_resource(event.uri)
        self.pane_layout.go(Front.BESIDE)
        self.panes.work.focus_work()

    def on_copy(self, event: pane_messages.Copy) -> None:
        copy(self, event.text, event.what)

    def on_save(self, event: pane_messages.Save) -> None:
        self._saving.save(event.data, event.suggested, event.what, event.note)

    def on_export(self, event: pane_messages.Export) -> None:
        self._saving.export(event.numbers)

    def on_edit_message(self, event: pane_messages.EditMessage) -> None:
        if self.session.commands is not None:
            window_of(self).navigator.compose_message(
                self.session.commands, event.text, whole=self.pane_layout.arrangement.log_zoomed
            )

    def on_send_again(self, event: pane_messages.SendAgain) -> None:
        self.panes.work.sending.repeat(event.n)

    def on_failed_pane_again(self, event: FailedPane.Again) -> None:
        self._call_again = event.and_call
        self.connection.reopen()

    def on_failed_pane_stop(self) -> None:
        self.connection.stop()

    def on_server_pane_reconnect(self) -> None:
        self.connection.reopen()

    @work(exclusive=True, group="dialog")
    async def on_edit_target_wanted(self) -> None:
        """Ask for another command or URL, and open it instead of this session."""
        target = self.session.target
        if not isinstance(target, RecordingTarget):
            other = await window_of(self).navigator.ask_target(target)
            if other is not None:
                self.post_message(pane_messages.OpenInstead(other))

    def on_watch_files(self) -> None:
        self._files.toggle()

    def _show_watches(self) -> None:
        """Tell the panes whether files are watched, and the difference from the pin."""
        server, failed = self.panes.server, self.panes.failed
        if server is not None:
            server.show_watch(self._files.on)
            server.show_drift(self._pin.drift)
        if failed is not None:
            failed.show_watch(self._files.on)

    def on_zoom_ended(self) -> None:
        self.pane_layout.restore_zoom()

    def on_server_pane_log_level(self) -> None:
        self.connection.choose_log_level()

    def on_show_authorization(self) -> None:
        window_of(self).navigator.show_login(self.session, self._after_authorization)

    def _after_authorization(self, choice: int | str | None) -> None:
        if isinstance(choice, int):
            self.post_message(pane_messages.ShowEvent(choice))
        elif choice == "again":
            self.connection.reopen()
        elif choice == "quit":
            self._verbs.action_quit()
        elif choice is not None:
            self.run_worker(self.pane_layout.show_place(choice))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A recording offers nothing that needs a live server; only a process can be started."""
        return (self.playback is None or self.playback.can(action)) and self._verbs.can(action)

    def why_not(self, verb: str) -> str:
        """Return why a verb does not work now; empty if it does, or if another part of the screen decides."""
        return self._verbs.why_not(verb)

    def on_key(self, event: Key) -> None:
        commands = window_of(self).custom_commands
        if commands.commands and (command := commands.at(event.key, contexts(self.focused or self))) is not None:
            event.stop()
            event.prevent_default()
            self.run_own_command(command)

    def run_own_command(self, command: CustomCommand) -> None:
        """Run a command on the message, the result or the recording."""
        text: str | None = None
        if command.where == "message":
            text = self.panes.detail.shown_text
        elif command.where == "result":
            text = self.panes.work.result.shown_text
        if text == "":
            self.notify(f"{command.title} needs a {command.where}. Choose one first.", timeout=5)
        else:
            self._saving.run_command(command, text)

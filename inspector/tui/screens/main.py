"""The main screen: lists, work, messages. It lays out panes, passes messages between them, and draws on a tick."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.css.query import NoMatches
from textual.screen import Screen
from textual.widget import Widget

from inspector.check.judge import Judge
from inspector.client.catalog import KINDS, ListName
from inspector.client.session import Session
from inspector.errors import InspectorError
from inspector.text import count, duration, safe
from inspector.tui import events
from inspector.tui.events import AnySession
from inspector.tui.files import export_new, write_new
from inspector.tui.keymap import Hint, bindings
from inspector.tui.panes.catalog import CatalogPane
from inspector.tui.panes.detail import DetailPane
from inspector.tui.panes.failed import FailedPane
from inspector.tui.panes.inbox import InboxPane
from inspector.tui.panes.keys import hints
from inspector.tui.panes.messages import LastMessageLine, MessagesPane
from inspector.tui.panes.server import ServerPane
from inspector.tui.panes.work import WorkPane
from inspector.tui.screens.dialogs import AskPath, Choose, Confirm
from inspector.tui.widgets.clipboard import copy
from inspector.tui.widgets.edge import Edge
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.status import Footer, HeaderLine, MainTab, TabLine, session_parts
from inspector.tui.widgets.too_small import TooSmall
from inspector.tui.widgets.virtual_list import VirtualList

TICK = 1 / 20
JUDGE_SECONDS = 0.004
"""Time given to the judge in one tick; the rest of the tick belongs to the screen."""
WIDE, MEDIUM = 140, 100

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")

_WORTH_ASKING = frozenset({"tools/call", "resources/read", "prompts/get"})
"""What is in flight because the user wanted it; lists, completions and the like come and go by themselves."""

_TABS: tuple[tuple[str, str, str, str], ...] = (
    ("tools", "1", "Tools", "Tools"),
    ("resources", "2", "Resources", "Res"),
    ("templates", "3", "Templates", "Tmpl"),
    ("prompts", "4", "Prompts", "Prompts"),
    ("server", "6", "Server", "Server"),
    ("inbox", "7", "Inbox", "Inbox"),
)
"""Id, key, title, short title. 5 is kept for tasks."""
_WORKS = {"tools", "resources", "templates", "prompts", "inbox"}


class MainScreen(Screen[None]):
    """One session, live or recorded."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("app")]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (MEDIUM, "-medium"), (WIDE, "-wide")]  # noqa: RUF012 - Textual declares it so
    DEFAULT_CSS = """
    MainScreen { layout: vertical; layers: base above; }
    #body { layout: horizontal; height: 1fr; }
    #catalog { width: 34; height: 1fr; }
    #inbox { width: 34; height: 1fr; }
    #work { width: 1fr; height: 1fr; }
    #server, #failed { width: 1fr; height: 1fr; }
    #log { width: 41%; height: 1fr; }
    #log > #messages { height: 60%; }
    #log > #detail { height: 1fr; }
    #last { height: 1; display: none; }

    MainScreen.-medium #body { layout: grid; grid-size: 2 2; grid-columns: 34 1fr; grid-rows: 5fr 4fr; }
    MainScreen.-medium #log { column-span: 2; width: 100%; }
    MainScreen.-medium #log > #messages { height: 1fr; }
    MainScreen.-medium #log > #detail { display: none; }
    MainScreen.-medium #catalog, MainScreen.-medium #inbox, MainScreen.-medium #work { width: 100%; }
    MainScreen.-medium #server, MainScreen.-medium #failed { column-span: 2; width: 100%; }
    MainScreen.-medium.-log-hidden #body { grid-rows: 1fr; grid-size: 2 1; }

    MainScreen.-narrow #catalog, MainScreen.-narrow #inbox { width: 1fr; }
    MainScreen.-narrow #log { width: 1fr; }
    MainScreen.-narrow #log > #messages { height: 1fr; }
    MainScreen.-narrow #last { display: block; }
    MainScreen.-log-hidden #log { display: none; }
    MainScreen.-maximised #body { layout: horizontal; }
    MainScreen.-maximised #log { width: 1fr; layout: horizontal; }
    MainScreen.-maximised #log > #messages { width: 1fr; height: 1fr; }
    MainScreen.-maximised #log > #detail { display: block; width: 52; height: 1fr; }
    MainScreen.-narrow.-maximised #log > #detail { display: none; }
    MainScreen.-narrow ServerPane { layout: vertical; }
    MainScreen.-narrow ServerPane #connection, MainScreen.-medium ServerPane #connection { height: 2fr; }
    """

    def __init__(self, session: AnySession, *, follow_file: bool = False, follow_log: bool = True) -> None:
        super().__init__()
        self.session = session
        self.judge = Judge(session.journal)
        self.place = "tools"
        """Which tab is shown."""
        self.narrow_place = "list"
        """In one column: `list`, `work`, `messages` or `detail`."""
        self._was_narrow = False
        self.follow_file = follow_file
        self._follow_log = follow_log
        self._ticking = False
        self._indexing = not session.can_send
        """The file of a recording is being read for the first time."""
        self._facts: tuple[Any, ...] = ()
        self._opened_lists = False

    def compose(self) -> ComposeResult:
        yield HeaderLine(id="header")
        yield TabLine(hints=hints(self, "app.palette", "app.help"), id="tabs")
        with Container(id="body"):
            yield CatalogPane(self.session, id="catalog")
            yield InboxPane(self.session, id="inbox")
            yield WorkPane(self.session, id="work")
            yield ServerPane(self.session, id="server")
            yield FailedPane(self.session, id="failed")
            with Vertical(id="log"):
                yield MessagesPane(self.session, id="messages")
                yield DetailPane(self.session, id="detail")
        yield LastMessageLine(self.session, id="last")
        yield Footer(id="footer")
        yield TooSmall()

    def on_mount(self) -> None:
        self.session.changes.listen(self._wake)
        self._catalog.show("tools")
        if not self._follow_log:
            self._messages.query_one(VirtualList).follow = False
        for notice in self.session.journal.notices:
            self.notify(notice, severity="warning", markup=False, timeout=10)
        self._arrange()
        self._wake()
        if isinstance(self.session, Session):
            self._connect()
        else:
            self._index()
        self.call_after_refresh(self._focus_list)

    def on_unmount(self) -> None:
        self.session.changes.listen(None)

    # The panes

    @property
    def _catalog(self) -> CatalogPane:
        return self.query_one("#catalog", CatalogPane)

    @property
    def _work(self) -> WorkPane:
        return self.query_one("#work", WorkPane)

    @property
    def _messages(self) -> MessagesPane:
        return self.query_one("#messages", MessagesPane)

    @property
    def _detail(self) -> DetailPane:
        return self.query_one("#detail", DetailPane)

    # Connecting, indexing

    @work(exclusive=True, group="connection", exit_on_error=False)
    async def _connect(self) -> None:
        session = self.session
        assert isinstance(session, Session)
        try:
            await session.open()
        except InspectorError:
            return  # `phase` and `error` say it; the failed pane shows it.
        self._load_lists()

    def _load_lists(self) -> None:
        if isinstance(self.session, Session):
            self._opened_lists = True
            self.session.load_all()

    @work(thread=True, exclusive=True, group="index", exit_on_error=False)
    def _index(self) -> None:
        """Take in the file in portions, in a thread; the rows appear as they come."""
        from textual.worker import get_current_worker

        worker, journal = get_current_worker(), self.session.journal
        while not worker.is_cancelled:
            more = journal.refresh(4000)
            self._indexing = more
            self.app.call_from_thread(self._wake)
            if more:
                continue
            if not self.follow_file or journal.ended is not None:
                return
            worker_sleep()

    # The tick

    def _wake(self) -> None:
        """Something is new: draw once, soon. Called any number of times, also from a flood."""
        if not self._ticking:
            self._ticking = True
            self.set_timer(TICK, self._tick)

    def _tick(self) -> None:
        self._ticking = False
        session = self.session
        if not isinstance(session, Session) and session.advance():
            self._wake()
        until = perf_counter() + JUDGE_SECONDS
        more = True
        while more and perf_counter() < until:
            more = self.judge.run(20)
        if more:
            self._wake()
        self._tick_state()
        for pane in (self._catalog, self._work, self._messages, self._detail):
            if pane.is_on_screen:
                pane.tick()
        others = (
            self.query_one(ServerPane),
            self.query_one(FailedPane),
            self.query_one(InboxPane),
            self.query_one(LastMessageLine),
        )
        for other in others:
            if other.display:
                other.tick()

    def _tick_state(self) -> None:
        session = self.session
        facts = (
            session.phase, session.server, len(session.journal), session.journal.storage.problem, self.size.width,
            self.place, len(session.inbox.open()), session.pending.latency, len(session.pending), self._indexing,
            session.journal.ended is None,
            *(self._count(name) for name in KINDS),
        )  # fmt: skip
        if facts == self._facts:
            return
        phase_changed = not self._facts or facts[0] != self._facts[0]
        self._facts = facts
        self._show_header()
        self._show_tabs()
        self._show_footer()
        if phase_changed:
            self._arrange()
            if session.phase in ("failed", "lost"):
                self.call_after_refresh(self._focus_failed)
            elif session.phase == "ready":
                self.call_after_refresh(self._focus_list)

    def _show_header(self) -> None:
        session = self.session
        target = session.target
        words = {
            "new": ("starting", "progress"), "connecting": ("connecting", "progress"),
            "ready": ("connected", "received"),
            "failed": ("not connected", "error"), "lost": ("connection lost", "error"), "closed": ("closed", "muted"),
        }  # fmt: skip
        state = words[session.phase] if session.can_send else self._state_of_file()
        problem = session.journal.storage.problem
        if problem:
            state = (f"not on disk: {problem}", "error")
        latency = session.pending.latency
        self.query_one(HeaderLine).parts = session_parts(
            # A long name must not take the place of the state.
            safe(session.server.title or target.label, max(self.size.width // 3, 16)),
            target.describe(),
            short_target=target.label,
            transport=target.kind,
            revision=session.server.revision,
            era=session.server.era if session.server.known else "",
            state=state,
            settled=session.phase not in ("failed", "lost") and not problem,
            recorded=len(session.journal),
            latency=duration(latency * 1_000_000) if latency else "",
        )

    def _state_of_file(self) -> tuple[str, str]:
        """What a recording's header says of its file."""
        journal = self.session.journal
        if journal.raw_only:
            return "recording of a newer version", "finding"
        if self._indexing and not self.follow_file:
            return "reading", "progress"
        if not journal.end_is_missing:
            return "recording", "muted"
        return ("following", "received") if self.follow_file else ("recording, end is missing", "finding")

    def _count(self, name: ListName) -> int:
        return len(self.session.catalog[name])

    def _show_tabs(self) -> None:
        waiting = len(self.session.inbox.open())
        tabs = []
        for id, key, title, short in _TABS:
            number = ""
            if id in KINDS:
                found = self.session.catalog[id]
                number = count(len(found)) if found.pages else ""
            elif id == "inbox" and waiting:
                number = str(waiting)
            tabs.append(MainTab(id, key, title, short, number, "ask" if id == "inbox" and waiting else ""))
        line = self.query_one(TabLine)
        line.tabs = tabs
        line.active = self.place

    # Layout

    @property
    def _narrow(self) -> bool:
        return self.size.width < MEDIUM

    def on_resize(self) -> None:
        self.query_one(TooSmall).fit(self.size)
        if self._narrow and not self._was_narrow:
            self.narrow_place = self._place_of_focus()
        self._was_narrow = self._narrow
        self._arrange()
        self._wake()

    def _place_of_focus(self) -> str:
        """What one column shows of several: where the focus is."""
        places = (("messages", self._messages), ("detail", self._detail), ("work", self._work))
        return next((place for place, pane in places if pane.has_focus_within), "list")

    def _arrange(self) -> None:
        """Which panes are shown, by tab, width and phase. Panes keep their state while they are not."""
        failed = self.session.phase in ("failed", "lost")
        narrow = self._narrow
        log_alone = self.has_class("-maximised")
        where = self.narrow_place
        in_list, in_work = not narrow or where == "list", not narrow or where == "work"
        shown = {
            "#failed": failed and (not narrow or where in ("list", "work")),
            "#server": not failed and self.place == "server" and (in_list or in_work),
            "#catalog": not failed and self.place in KINDS and in_list,
            "#inbox": not failed and self.place == "inbox" and in_list,
            "#work": not failed and self.place in _WORKS and in_work,
            "#log": log_alone or (where in ("messages", "detail") if narrow else not self.has_class("-log-hidden")),
        }
        for selector, display in shown.items():
            self.query_one(selector).display = display and (not log_alone or selector == "#log")
        if narrow:
            self._messages.display = where != "detail"
            self._detail.display = where == "detail"
        else:
            self._messages.display = True
            self._detail.styles.clear_rule("display")

    def _go(self, narrow_place: str) -> None:
        if self.narrow_place != narrow_place:
            self.narrow_place = narrow_place
            self._arrange()

    def _show_place(self, place: str) -> None:
        self._maximise(False)
        self.place = place
        if place in KINDS:
            self._catalog.show(place)
        self._go("list")
        self._arrange()
        self._wake()
        # At once: the next key may have been pressed already, and is meant for what is shown now.
        self._focus_list()

    def _focus_list(self) -> None:
        if self.session.phase in ("failed", "lost"):
            self._focus_failed()
            return
        selector = {"server": "#server", "inbox": "#inbox"}.get(self.place, "#catalog")
        self._focus_in(self.query_one(selector))

    def _focus_failed(self) -> None:
        self._focus_in(self.query_one("#failed"))

    def _focus_in(self, pane: Widget) -> None:
        if isinstance(pane, Edge):
            pane.focus_inside()
            return
        try:
            self.set_focus(pane.query_one(VirtualList))
        except NoMatches:
            pane.focus()

    # Tabs and panes by key

    def action_tab_1(self) -> None:
        self._show_place("tools")

    def action_tab_2(self) -> None:
        self._show_place("resources")

    def action_tab_3(self) -> None:
        self._show_place("templates")

    def action_tab_4(self) -> None:
        self._show_place("prompts")

    def action_tab_6(self) -> None:
        self._show_place("server")

    def action_tab_7(self) -> None:
        self._show_place("inbox")

    def on_tab_line_chosen(self, event: TabLine.Chosen) -> None:
        self._show_place(event.tab)

    def action_next_pane(self) -> None:
        self.focus_next()

    def action_previous_pane(self) -> None:
        self.focus_previous()

    def action_messages(self) -> None:
        """Go to the log; from the log, back to the list."""
        if self._messages.has_focus_within:
            self._go("list")
            self._focus_list()
            return
        self.remove_class("-log-hidden")
        self._go("messages")
        self._arrange()
        self._messages.tick()
        self._focus_in(self._messages)

    def action_toggle_messages(self) -> None:
        if self._narrow:
            self.action_messages()
            return
        self.toggle_class("-log-hidden")
        self._maximise(False)
        self._arrange()
        if self.has_class("-log-hidden"):
            self._focus_list()

    def action_maximise(self) -> None:
        maximised = not self.has_class("-maximised")
        self._maximise(maximised)
        self.remove_class("-log-hidden")
        if self._narrow:
            self.narrow_place = "messages" if maximised else "list"
        self._arrange()
        if maximised:
            self._focus_in(self._messages)
        else:
            self._focus_list()

    def _maximise(self, maximised: bool) -> None:
        self.set_class(maximised, "-maximised")
        self._messages.maximised = maximised

    def show_address(self, name: ListName, address: str) -> None:
        """Go to an item by its name or URI, ready to be used."""
        self._show_place(name)
        self._catalog.select(name, address)
        item = self.session.catalog[name].get(address)
        if item is not None:
            self.post_message(events.ItemOpened(name, item))

    # What the panes say

    def on_item_highlighted(self, event: events.ItemHighlighted) -> None:
        self._work.show_item(event.list_name, event.item)
        self._wake()

    def on_item_opened(self, event: events.ItemOpened) -> None:
        self._go("work")
        self._work.show_item(event.list_name, event.item)
        self.call_after_refresh(self._work.focus_work)

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

    def on_messages_pane_compared(self, event: MessagesPane.Compared) -> None:
        self._detail.compare(event.one, event.other)
        self._go("detail")

    def on_leave_work(self) -> None:
        self._go("list")
        self._focus_list()

    def on_event_highlighted(self, event: events.EventHighlighted) -> None:
        self._detail.show(event.n)
        self._wake()

    def on_show_event(self, event: events.ShowEvent) -> None:
        self.remove_class("-log-hidden")
        self._go("detail")
        self._arrange()
        self._messages.select(event.n)
        self._detail.show(event.n)
        self._wake()
        self._focus_in(self._detail)

    def on_show_exchange(self, event: events.ShowExchange) -> None:
        self.remove_class("-log-hidden")
        self._go("messages")
        self._arrange()
        self._messages.show_exchange(event.n)
        self._focus_in(self._messages)

    def on_open_resource(self, event: events.OpenResource) -> None:
        self._show_place("resources")
        self._work.open_resource(event.uri)
        self._go("work")

    def on_copy(self, event: events.Copy) -> None:
        copy(self, event.text, event.what)

    def on_save(self, event: events.Save) -> None:
        self._save(event.data, event.suggested, event.what)

    @work(exclusive=True, group="dialog")
    async def _save(self, data: bytes, suggested: str, what: str) -> None:
        path = await self.app.push_screen_wait(AskPath(f"Save {what}", suggested))
        if path is not None:
            self._write(partial(write_new, path, data), path)

    @work(thread=True, group="write", exit_on_error=False)
    def _write(self, write: Any, path: Path) -> None:
        try:
            write()
        except (OSError, InspectorError) as error:
            self.app.call_from_thread(self.notify, f"{path} was not written: {error}", severity="error", markup=False)
        else:
            self.app.call_from_thread(self.notify, f"Written to {path}.", markup=False)

    def on_export(self, event: events.Export) -> None:
        self._export(event.numbers)

    def action_export(self) -> None:
        self._export(None)

    @work(exclusive=True, group="dialog")
    async def _export(self, numbers: list[int] | None) -> None:
        from inspector.export import FORMATS

        which = f"{len(numbers):,} messages" if numbers is not None else "the recording"
        format = await self.app.push_screen_wait(
            Choose(f"Export {which}", [(name, found.summary) for name, found in FORMATS.items()])
        )
        if format is None:
            return
        label = "".join(char if char.isalnum() or char in "-_." else "-" for char in self.session.target.label)
        name = label.strip("-.")[:40] or "session"
        path = await self.app.push_screen_wait(AskPath(f"Export {which} as {format}", f"{name}.{format}"))
        if path is not None:
            self._write(partial(export_new, self.session.journal, format, path, numbers), path)

    # Connection

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What needs a live server is not offered on a recording, nor the start of a process where there is none."""
        if action in ("reconnect", "compose"):
            return self.session.can_send
        if action == "restart":
            return self.session.target.kind == "stdio"
        return True

    def action_reconnect(self) -> None:
        """Close the connection and open it again, on the same recording."""
        self._reopen()

    action_restart = action_reconnect

    @work(exclusive=True, group="connection", exit_on_error=False)
    async def _reopen(self) -> None:
        if not isinstance(self.session, Session):
            return
        try:
            await self.session.reopen()
        except InspectorError:
            return
        if not self._opened_lists:
            self._load_lists()
        changed = sum(len(c.added) + len(c.removed) + len(c.altered) for c in self.session.surface_changes)
        self.notify(
            f"Connected anew. {changed} changes in what it offers." if changed else "Connected anew.", timeout=4
        )

    def on_failed_pane_again(self) -> None:
        self._reopen()

    def on_server_pane_reconnect(self) -> None:
        self._reopen()

    def on_server_pane_log_level(self) -> None:
        self._choose_log_level()

    @work(exclusive=True, group="dialog")
    async def _choose_log_level(self) -> None:
        level = await self.app.push_screen_wait(Choose("Log messages from", [(name, "") for name in LEVELS]))
        if level is not None and isinstance(self.session, Session):
            try:
                await self.session.set_log_level(level)
            except InspectorError as error:
                self.notify(error.message, severity="error", markup=False)

    def action_compose(self) -> None:
        self.post_message(events.EditMessage(""))

    def on_edit_message(self, event: events.EditMessage) -> None:
        if isinstance(self.session, Session):
            from inspector.tui.screens.compose import ComposeScreen

            self.app.push_screen(ComposeScreen(self.session, event.text))

    # Theme, leaving, help

    @work(exclusive=True, group="dialog")
    async def action_theme(self) -> None:
        """Choose a theme."""
        switch = self.app.theme_switch  # type: ignore[attr-defined]
        name = await self.app.push_screen_wait(Choose("Theme", [(name, "") for name in switch.names()], switch.name))
        if name is not None:
            switch.use(name)

    @work(exclusive=True, group="dialog")
    async def action_quit(self) -> None:
        """Leave; asks only while a call is in flight."""
        flying = [call for call in self.session.pending.calls() if call.method in _WORTH_ASKING]
        if flying and not await self.app.push_screen_wait(
            Confirm(
                "Leave with a call in flight?",
                f"{flying[0].method} {flying[0].name} has no answer yet.",
                "leave",
                "stay",
            )
        ):
            return
        self.app.exit(0)

    def action_help(self) -> None:
        from inspector.tui.screens.help import Help

        self.app.push_screen(Help(self.app.verb_keys, self.focused or self))  # type: ignore[attr-defined]

    def on_descendant_focus(self) -> None:
        self._show_footer()

    def on_hints_changed(self) -> None:
        self._show_footer()

    def _show_footer(self) -> None:
        widget: Any = self.focused
        shown: list[Hint] = []
        while widget is not None and widget is not self:
            if hasattr(widget, "hints") and callable(widget.hints):
                shown = list(widget.hints())
                break
            widget = widget.parent
        common = hints(self, "app.messages", "app.export", "app.quit")
        if isinstance(self.focused, Editor):
            common = []  # Letters are typed there; the keys of the pane itself are no letters.
        footer = self.query_one(Footer)
        footer.hints = [*shown, *(hint for hint in common if hint.key not in {one.key for one in shown})]
        notices = self.session.journal.notices
        live = "everything is recorded" if self.session.can_send else "nothing is sent"
        footer.note = [(notices[0], "finding")] if notices else live


def worker_sleep() -> None:
    """Wait a little for the file to grow; in a worker's thread."""
    import time

    time.sleep(0.1)

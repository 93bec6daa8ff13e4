"""The start screen: one field above a list of targets. Typed text filters the list; Enter opens the selected row."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen

from inspector.client.recording_info import RecordingInfo, list_recordings
from inspector.client.retention import keep, kept
from inspector.config.paths import state_folder
from inspector.config.server_memory import ServerMemory
from inspector.config.servers import ServerEntry, ServerList, exposure_of, find_servers
from inspector.config.settings import Settings
from inspector.config.target_arguments import is_recording, parse_target, recording_path
from inspector.config.targets import RecordingTarget, Target, demo_target
from inspector.config.trust import Memory, standing
from inspector.errors import InspectorError
from inspector.protocol.forms.form import UNSET
from inspector.reasons import os_reason, split_reason
from inspector.text import quantity, safe, size
from inspector.tui.advice import advice, error_text
from inspector.tui.dialogs import AskPath, Choose, Confirm, leave_calls
from inspector.tui.keymap import KeyHint, bindings
from inspector.tui.matching import Typed
from inspector.tui.pane_keys import hints, keymap_of
from inspector.tui.pane_messages import First, OpenTarget
from inspector.tui.sessions import CloseSession, OpenSession, Sessions, ShowSession, calls_in_flight
from inspector.tui.start.row_details import about
from inspector.tui.start.rows import Configured, Demo, Group, RegistryRow, StartRows, Thing, TypedTarget
from inspector.tui.start.trust import opened
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.fact_rows import RowSection
from inspector.tui.widgets.facts_view import FactsView
from inspector.tui.widgets.paint import Piece, Pieces
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.status_lines import Footer, HeaderLine, LinePart
from inspector.tui.widgets.too_small import TooSmall
from inspector.tui.widgets.virtual_list import VirtualList
from inspector.tui.window import window_of
from inspector.version import __version__

if TYPE_CHECKING:
    from inspector.tui.search.sources import SearchHit

PLACEHOLDER = "a command, a URL, @name or a recording"
EXAMPLES = (
    ("npx -y @modelcontextprotocol/server-everything", "a command (stdio)"),
    ("https://shop.example/mcp", "a URL (HTTP)"),
    ("@shop", "a configured server"),
    ("session.mcp.jsonl", "a recording"),
)
"""A target of each kind, for a user who has none yet."""
NO_SERVER = "No server is configured in this folder or in a client's config file."
NO_RECORDING = "No recording yet. Every session is recorded and listed here."
_ROOM_BELOW = 33
"""Lines of the screen from which the details of the selected row are shown below the list."""
_CLOCK = 1.0
"""Seconds between two updates of how long sessions have been open."""


class ChoiceList(VirtualList):
    """The list of the start screen. Its cursor skips headings, and stays visible while the field has the focus."""

    @property
    def thing(self) -> Thing | None:
        """The target of the row with the cursor."""
        return self.source.thing_at(self.cursor) if isinstance(self.source, StartRows) else None

    def ground_of(self, index: int, selected: bool, focused: bool) -> str:
        return "selection" if selected and self.thing is not None else "ground"

    def go(self, rows: int) -> None:
        """Move the cursor by targets."""
        if isinstance(self.source, StartRows):
            self.cursor = self.source.step(self.cursor, rows)
            if self.source.step(self.cursor, -1) == self.cursor:
                self._scroll_top(0)  # the first target has its heading above it

    def _move(self, rows: int) -> None:
        self.go(rows)

    def page(self) -> int:
        """The number of rows in a page."""
        return self._page()

    def action_first(self) -> None:
        self.go(-self.count)

    def action_last(self) -> None:
        self.go(self.count)

    def action_select(self) -> None:
        if self.thing is not None:
            super().action_select()


class RowFacts(FactsView, can_focus=False):
    """The details of a row; the keys stay with the list."""


class StartScreen(Screen[None]):
    """The targets: open sessions, configured servers, recordings, and the typed text."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("app"), *bindings("start")]
    DEFAULT_CSS = """
    StartScreen { layout: vertical; layers: base above; }
    #start { height: 1fr; padding: 1; }
    #start > Editor { height: 1; margin: 0 1 1 1; }
    #choices { width: 100%; height: 1fr; }
    #about { height: 11; }
    """

    def __init__(self, settings: Settings, config: Path | None = None, sessions: Sessions | None = None) -> None:
        super().__init__()
        self.settings = settings
        self.config = config
        self.sessions = sessions or Sessions()
        self._configured: list[Configured] = []
        self._problems: list[str] = []
        self._recordings: list[RecordingInfo] = []
        self._in_registry: list[RegistryRow] = []
        self._registry_note = ""
        self._searched = False
        """A registry has been searched."""
        self._found = False
        self._left = False
        """A session was in front since the list was last shown."""
        self._kept: frozenset[str] = frozenset()
        """The names of the recordings that the user keeps."""
        self._phases: list[str] = []
        """The phases of the open sessions when they were last drawn."""
        self._beside = False
        """A session is being opened in the background: the list keeps its cursor and the focus."""

    def compose(self) -> ComposeResult:
        yield HeaderLine(id="header")
        with Pane(title="Start", id="start"):
            yield Editor(placeholder=PLACEHOLDER, lead=[("/ ", "key")], id="target")
            yield ChoiceList(id="choices")
        yield Pane(RowFacts(id="about-rows", what=""), id="about")
        yield Footer(id="footer")
        yield TooSmall()

    @property
    def _field(self) -> Editor:
        return self.query_one("#target", Editor)

    @property
    def _list(self) -> ChoiceList:
        return self.query_one("#choices", ChoiceList)

    def on_mount(self) -> None:
        self._field.focus()
        self._show_header()
        self._find()
        self.set_interval(_CLOCK, self._tell_time)

    def on_resize(self) -> None:
        self.query_one(TooSmall).fit(self.size)
        self._show_about()

    def _show_about(self) -> None:
        """Show the details of the row with the cursor, if there is room below the list."""
        edge, found = self.query_one("#about", Pane), about(self._list.thing, self._kept)
        edge.display = found is not None and self.size.height >= _ROOM_BELOW
        if found is not None:
            edge.title, edge.facts = found.title, found.facts
            self.query_one(RowFacts).show(RowSection(found.rows))

    def on_screen_suspend(self) -> None:
        self._left = self not in self.app.screen_stack

    def on_screen_resume(self) -> None:
        """Show what changed while a session was in front; after a dialog nothing changes."""
        if self._beside:
            self._beside = False
            self.sessions_changed()
        elif self._left and self._found:
            self._field.show_without_change("")
            self._show_rows(keep=False)
            self._field.focus()
            self._find()

    def sessions_changed(self) -> None:
        """Draw the changes of the open sessions. One that connected or failed changes the state of its entry."""
        phases: list[str] = [opened.session.phase for opened in self.sessions.opened]
        if phases != self._phases:
            self._phases = phases
            if self._found and self.is_current:
                self._find()
        if self._found:
            self._show_rows(keep=True)
        self._show_header()

    def _tell_time(self) -> None:
        if self.sessions.opened and self.is_current:
            self.sessions_changed()

    # Find targets

    @work(thread=True, exclusive=True, exit_on_error=False)
    def _find(self) -> None:
        """Read config files and the heads and tails of recordings, off the event loop."""
        servers = find_servers(config=self.config)
        memory = Memory()
        configured = [
            Configured(entry, ServerMemory(entry).last_open(), standing(exposure_of(entry), memory) == "asks")
            for entry in servers.entries
        ]
        recordings = list_recordings()
        names = kept(state_folder() / "recordings")
        self.app.call_from_thread(self._take, servers, configured, recordings, names)

    def _take(
        self,
        servers: ServerList,
        configured: list[Configured],
        recordings: list[RecordingInfo],
        names: frozenset[str],
    ) -> None:
        if not self.is_mounted:
            return
        self._kept = names
        again, self._found = self._found, True
        self._configured, self._recordings = configured, recordings
        self._problems = [f"{problem.path.name}: {problem.message}" for problem in servers.problems]
        self._show_rows(keep=again)

    def _groups(self) -> list[Group]:
        text = self._field.value.strip()
        groups: list[Group] = []
        typed = Group("typed", "", [TypedTarget(text, _kind_of(text))]) if text else None
        if typed is not None and _is_target(text):
            groups.append(typed)
        if self.sessions.opened:
            groups.append(Group("open", "Open now", self.sessions.opened, facts=str(len(self.sessions.opened))))
        fresh = self._found and not (self.sessions.opened or self._configured or self._recordings or text)
        if fresh:
            width = max(len(example) for example, _ in EXAMPLES) + 4
            lines: list[Pieces] = [["Type a target above and press ", ("enter", "key"), "."], ""]
            lines += [[("  " + f"{example:<{width}}", "bright"), (kind, "muted")] for example, kind in EXAMPLES]
            groups.append(Group("demo", "Examples", [Demo()], lines=[*lines, ""]))
        live = {_source(one): one for one in self.sessions.opened if one.session.commands is not None}
        configured = [replace(one, opened=live.get((one.entry.name, str(one.entry.path)))) for one in self._configured]
        files = len({thing.entry.path for thing in self._configured})
        where = f"{len(self._configured)} from {quantity(files, 'file')}" if files else "0"
        if self._problems:
            where += f"  {quantity(len(self._problems), 'problem')}"
        note = NO_SERVER if self.config is None else f"{self.config} has no servers."
        groups.append(Group("configured", "Configured", configured, note, where, self._problems))
        # Those of this window's sessions stand above, as sessions.
        own = {one.session.journal.path for one in self.sessions.opened if one.session.commands is not None}
        recordings = [info for info in self._recordings if info.path not in own]
        room = quantity(len(recordings), "recording") if self._recordings else "0"
        if self._recordings:
            octets = sum(info.size for info in self._recordings)
            room += f"  {size(octets)} of {size(self.settings.keep_recordings_bytes)}"
        if typed is not None and typed not in groups and self._can_start(text):
            groups.append(typed)  # Enter starts what was typed, and does not replay what it did before.
        groups.append(Group("recordings", "Recordings", recordings, "" if self._recordings else NO_RECORDING, room))
        if self._searched or self._registry_note:
            facts = f"{len(self._in_registry)} in {self.settings.registry}"
            groups.append(Group("registry", "Registry", self._in_registry, self._registry_note, facts))
        if typed is not None and typed not in groups:
            groups.append(typed)
        return groups

    def _can_start(self, text: str) -> bool:
        """Whether a text that may also be a filter names a program, or a target that was recorded."""
        return shutil.which(text) is not None or any(info.target == text for info in self._recordings)

    def _show_rows(self, *, keep: bool) -> None:
        """Show what matches the typed text; with `keep` the cursor stays on its row if it is still there."""
        text = self._field.value.strip()
        rows = StartRows(self._groups(), Typed(text), kept=self._kept)
        view = self._list
        key = view.row_key(view.cursor) if keep else None
        view.source = rows
        kept = rows.index_of(key) if key is not None else None
        view.cursor = self._best(rows, text) if kept is None else kept
        if kept is None:
            view.go(0)
        edge = self.query_one("#start", Pane)
        if edge.tone != "error":
            edge.facts = (f"{rows.shown} of {rows.total}",) if text else ()
        self._show_footer()

    def _best(self, rows: StartRows, text: str) -> int:
        """The row for Enter: what has this name, without a text the session to switch to, else the first."""
        other = self.sessions.other
        found = rows.find(lambda thing: _is_named(thing, text) if text else thing is other)
        first = rows.find(lambda thing: True)
        return found if found is not None else first if first is not None else 0

    def _show_header(self) -> None:
        marks: list[Piece] = []
        for mark in self.sessions.marks():
            marks += ["   ", *mark] if marks else mark
        self.query_one(HeaderLine).parts = [
            LinePart([[("inspector", "bright bold")]]),
            LinePart([marks, ""], (1,)),
            LinePart([[(__version__, "muted")]], right=True),
        ]

    # Keys

    def hints(self) -> list[KeyHint]:
        """Return the keys that work now. While the field has the focus, letters are text."""
        thing = self._list.thing
        front = self.sessions.front
        enter = {OpenSession: "switch", RecordingInfo: "replay"}.get(type(thing), "open") if thing is not None else ""
        opened = thing.opened if isinstance(thing, Configured) else thing
        if isinstance(opened, OpenSession):
            enter = "return" if opened is front else "switch"
        shown: list[str | tuple[str, str]] = [("start.open", enter)] if enter else []
        back = [("start.clear", f"back to {front.name[:20]}")] if front is not None and not self._field.value else []
        if isinstance(self.focused, Editor):
            shown += ["start.clear"] if self._field.value else []
            registry = ["start.registry"] if self.settings.registry else []
            named = [*hints(self, *shown, ("app.next-pane", "list"), "start.demo", *registry)]
            return [*named, *hints(self, *back), *hints(self, "app.palette"), KeyHint("^q", "quit", "ctrl+q")]
        if isinstance(thing, OpenSession):
            shown += [*self._pairs, ("start.delete", "close")]
        elif isinstance(thing, Configured):
            shown += ["start.beside", *self._pairs, "start.check", "start.doctor"]
            shown += ["start.log-in"] if thing.entry.kind == "http" else []
        elif isinstance(thing, RecordingInfo):
            keeps = [("start.keep", "release" if thing.path.name in self._kept else "keep")]
            shown += ["start.beside", "start.check", "start.export", *keeps, "start.delete"]
        return hints(self, *shown, *back, "start.filter", "start.demo", "app.help", "app.quit")

    @property
    def _pairs(self) -> list[str]:
        """The key for side by side, where another live session is in front."""
        front = self.sessions.front
        thing = self._list.thing
        can_pair = thing.is_connected if isinstance(thing, OpenSession) else isinstance(thing, Configured)
        live = front is not None and front.is_connected and thing is not front
        return ["start.side-by-side"] if live and can_pair else []

    def _show_footer(self) -> None:
        self.query_one(Footer).hints = self.hints()
        self._show_about()

    def on_descendant_focus(self) -> None:
        self._show_footer()

    def on_virtual_list_highlighted(self) -> None:
        self._show_footer()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only the actions of the row with the cursor."""
        if not self.is_mounted:
            return True
        thing = self._list.thing
        if action in ("doctor",):
            return isinstance(thing, Configured)
        if action == "log_in":
            return isinstance(thing, Configured) and thing.entry.kind == "http"
        if action in ("check", "beside"):
            return isinstance(thing, Configured | RecordingInfo)
        if action in ("export", "keep"):
            return isinstance(thing, RecordingInfo)
        if action == "delete":
            return isinstance(thing, OpenSession | RecordingInfo)
        if action == "side_by_side":
            return bool(self._pairs)
        if action == "start_list":
            return self.sessions.front is not None
        return True

    def on_editor_changed(self) -> None:
        edge = self.query_one("#start", Pane)
        edge.facts, edge.tone = (), ""
        self._show_rows(keep=False)

    def action_up(self) -> None:
        """Move the cursor of the list; the field keeps the focus."""
        self._list.go(-1)

    def action_down(self) -> None:
        """Move the cursor of the list; the field keeps the focus."""
        self._list.go(1)

    def action_page_up(self) -> None:
        self._list.go(-self._list.page())

    def action_page_down(self) -> None:
        self._list.go(self._list.page())

    def action_clear(self) -> None:
        """Clear the field; if it is empty, return to the session in front."""
        if not self._field.value and self.sessions.front is not None:
            self.action_start_list()
            return
        self._field.value = ""
        self._field.focus()

    def action_start_list(self) -> None:
        """Return to the session that was in front."""
        if self.sessions.front is not None:
            self.post_message(ShowSession(self.sessions.front))

    # Open

    def on_editor_submitted(self) -> None:
        self._list.action_select()

    def action_open(self) -> None:
        """Open the row with the cursor."""
        self._list.action_select()

    def on_virtual_list_selected(self) -> None:
        self._open(self._list.thing)

    def action_beside(self) -> None:
        """Open the row with the cursor in the background."""
        self._open(self._list.thing, beside=True)

    @work(exclusive=True, group="dialog")
    async def action_side_by_side(self) -> None:
        """Show the row with the cursor beside the session in front."""
        thing, front = self._list.thing, self.sessions.front
        if isinstance(thing, Configured):
            self._open_entry(thing.entry, "", False, paired=True)
        elif isinstance(thing, OpenSession) and front is not None and self._pairs:
            await window_of(self).navigator.show_pair(front.session, thing, "", UNSET)

    def _open(self, thing: Thing | None, first: First = "", *, beside: bool = False) -> None:
        if isinstance(thing, OpenSession):
            self.post_message(ShowSession(thing))
        elif isinstance(thing, Configured) and thing.opened is not None and not (first or beside):
            self.post_message(ShowSession(thing.opened))
        elif isinstance(thing, Configured):
            self._open_entry(thing.entry, first, beside)
        elif isinstance(thing, RecordingInfo):
            self._beside = beside
            self.post_message(OpenTarget(RecordingTarget(thing.path), first, beside=beside))
        elif isinstance(thing, Demo) or (isinstance(thing, TypedTarget) and thing.text == "demo"):
            self.action_demo()
        elif isinstance(thing, TypedTarget):
            self._open_typed(thing.text)
        elif isinstance(thing, RegistryRow):
            self._open_found(thing)

    @work(exclusive=True, group="dialog")
    async def _open_typed(self, text: str) -> None:
        try:
            words = shlex.split(text)
            target = await opened(self.app, lambda consent: parse_target(words, config=self.config, consent=consent))
        except (InspectorError, ValueError) as error:
            edge = self.query_one("#start", Pane)
            hint = [advice(error.hint, keymap_of(self))] if isinstance(error, InspectorError) and error.hint else []
            problem = error.message if isinstance(error, InspectorError) else split_reason(error)
            edge.facts = [[(said, "error")] for said in (problem, *hint)]
            edge.tone = "error"
            return
        if target is not None:
            self._tell_remark(target)
            self.post_message(OpenTarget(target))

    @work(exclusive=True, group="dialog")
    async def _open_entry(self, entry: ServerEntry, first: First, beside: bool, paired: bool = False) -> None:
        """Open a configured server, after asking for consent if its file is not the user's own."""
        from inspector.config.servers import resolve

        try:
            target = await opened(self.app, lambda consent: resolve(entry, consent=consent))
        except InspectorError as error:
            self.notify(error_text(error, self), severity="error", markup=False, timeout=10)
        else:
            if target is not None:
                self._tell_remark(target)
                self._beside = beside
                self.post_message(OpenTarget(target, first, beside=beside, paired=paired))

    def _tell_remark(self, target: Target) -> None:
        """Say that the host whose file has the target does not start it."""
        remark = "" if isinstance(target, RecordingTarget) else target.remark
        if remark:
            self.notify(safe(remark, 500), severity="warning", markup=False, timeout=10)

    @work(exclusive=True, group="dialog")
    async def _open_found(self, thing: RegistryRow) -> None:
        """Open a server of a registry, after the user has seen what it starts."""
        from inspector.tui.start.registry import opened_from

        try:
            target = await opened_from(self.app, thing)
        except InspectorError as error:
            self.notify(error_text(error, self), severity="error", markup=False, timeout=10)
        else:
            if target is not None:
                self.post_message(OpenTarget(target))

    @work(exclusive=True, group="registry")
    async def action_registry(self) -> None:
        """Search the registry of the settings for the typed words. Nothing else contacts it."""
        from inspector.cards.registries import search_source
        from inspector.tui.start.registry import found_in

        words, source = self._field.value.strip(), self.settings.registry
        if not source:
            text = "No registry is set. Name a file or an address in the setting “registry”."
            self.notify(text, severity="warning", markup=False, timeout=8)
            return
        self._registry_note = f"searching {source}"
        self._show_rows(keep=True)
        try:
            listing = await search_source(source, words)
        except InspectorError as error:
            self._registry_note = ""
            self.notify(error_text(error, self), severity="error", markup=False, timeout=10)
        else:
            self._in_registry = found_in(listing, words, source)
            self._registry_note = "" if self._in_registry else f"No server of {source} fits."
            self._searched = True
        self._show_rows(keep=True)
        rows = self._list.source
        first = rows.find(lambda thing: isinstance(thing, RegistryRow)) if isinstance(rows, StartRows) else None
        if first is not None:
            self._list.cursor = first  # Else Enter would open the words of the search as a command.
            self._show_footer()

    def action_demo(self) -> None:
        """Open the demo server."""
        self.post_message(OpenTarget(demo_target()))

    def action_check(self) -> None:
        """Open the row with the cursor and check it."""
        self._open(self._list.thing, "check")

    def action_log_in(self) -> None:
        """Open the server and log in."""
        self._open(self._list.thing, "login")

    def action_doctor(self) -> None:
        """Find out why the server does not connect."""
        self._open(self._list.thing, "doctor")

    # Actions on a row

    @work(exclusive=True, group="dialog")
    async def action_delete(self) -> None:
        """Close an open session, or delete a recording; asks first if something would be lost."""
        thing = self._list.thing
        if isinstance(thing, OpenSession):
            calls = calls_in_flight(thing.session)
            if await leave_calls(self.app, calls, "Close this session with a call in flight?", "close"):
                self.post_message(CloseSession(thing))
            return
        if not isinstance(thing, RecordingInfo):
            return
        if thing.growing:
            self.notify("This recording is still being written.", severity="warning", markup=False)
        elif await self.app.push_screen_wait(Confirm("Delete this recording?", str(thing.path), "delete", "keep")):
            try:
                thing.path.unlink()
            except OSError as error:
                self.notify(f"{thing.path} could not be deleted: {error.strerror}", severity="error", markup=False)
            self._find()

    async def action_keep(self) -> None:
        """Keep the selected recording, or let it be deleted again."""
        info = self._list.thing
        if not isinstance(info, RecordingInfo):
            return
        on = info.path.name not in self._kept
        try:
            await asyncio.to_thread(keep, [info.path], on=on)
        except OSError as error:
            reason = os_reason(error)
            self.notify(f"The list of kept recordings cannot be written: {reason}.", severity="error", markup=False)
            return
        self._kept = kept(info.path.parent)
        self._show_rows(keep=True)

    @work(exclusive=True, group="dialog")
    async def action_export(self) -> None:
        """Export the selected recording."""
        from inspector.export import FORMATS
        from inspector.tui.output_files import export_recording

        info = self._list.thing
        if not isinstance(info, RecordingInfo):
            return
        format = await self.app.push_screen_wait(
            Choose("Export the recording", [(name, found.summary) for name, found in FORMATS.items()])
        )
        path = (
            await self.app.push_screen_wait(
                AskPath(f"Export as {format}", f"{info.path.stem.removesuffix('.mcp')}{FORMATS[format].suffix}")
            )
            if format
            else None
        )
        if format and path is not None:
            try:
                notes = await asyncio.to_thread(export_recording, info.path, format, path)
            except (OSError, InspectorError) as error:
                self.notify(f"{path} could not be written: {error}", severity="error", markup=False)
            else:
                self.notify(" ".join((f"Written to {path}.", *notes)), markup=False)

    def action_filter(self) -> None:
        self._field.focus()

    def action_next_pane(self) -> None:
        self.focus_next()

    def action_previous_pane(self) -> None:
        self.focus_previous()

    def action_search(self) -> None:
        """Search earlier recordings."""
        self._search()

    @work(exclusive=True, group="dialog")
    async def _search(self, text: str = "", selected: SearchHit | None = None) -> None:
        from inspector.tui.search.screen import SearchScreen

        navigator = window_of(self).navigator
        search = SearchScreen(None, open_now=navigator.recorded_now(), text=text, selected=selected)
        hit = await self.app.push_screen_wait(search)
        if hit is not None:
            key: Any = hit.key
            try:
                path, n = key
                navigator.show_found(path, n, lambda: self._search(search.text, hit))
            except InspectorError as error:
                self.notify(error_text(error, self), severity="error", markup=False)

    def action_help(self) -> None:
        window_of(self).navigator.show_help(self.focused or self)

    @work(exclusive=True, group="dialog")
    async def action_quit(self) -> None:
        """Quit; asks first if any session has a call in flight."""
        if await leave_calls(self.app, self.sessions.in_flight(), "Quit with a call in flight?", "leave"):
            self.app.exit(0)


def _source(opened: OpenSession) -> tuple[str, str]:
    """Return the name and the config file of a session's target; both empty if it was typed."""
    target = opened.session.target
    return ("", "") if isinstance(target, RecordingTarget) else (target.name, target.source)


def _is_target(text: str) -> bool:
    """Whether a text is certainly a target, not a filter of the list."""
    if not text or text.startswith("@"):
        return False
    if text == "demo" or re.match(r"[A-Za-z][\w+.-]*://", text):
        return True
    first, *more = text.split()
    if not more:
        return is_recording(recording_path(text)) or ("/" in text and os.path.isfile(os.path.expanduser(text)))
    return shutil.which(first) is not None


def _is_named(thing: Thing, text: str) -> bool:
    """Whether a text is the whole name of a session or of a config entry."""
    if isinstance(thing, OpenSession):
        return text.casefold() == thing.name.casefold()
    if not isinstance(thing, Configured):
        return False
    name = thing.entry.name.casefold()
    return text.casefold() in (name, f"@{name}") or text == thing.entry.reference


def _kind_of(text: str) -> str:
    """Return the kind of target of a text."""
    if text == "demo":
        return "the demo server"
    if text.startswith("@"):
        return "a configured server"
    if re.match(r"https?://", text, re.IGNORECASE):
        return "a URL (HTTP)"
    return "a recording" if " " not in text and text.endswith(".jsonl") else "a command (stdio)"

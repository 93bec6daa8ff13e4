"""The start screen: one field above a list of targets. Typed text filters the list; Enter opens the selected row."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from textual import work
from textual.app import App, ComposeResult
from textual.binding import BindingType

from inspector import command_words
from inspector.client.recordings_folder import RecordingInfo, keep, kept
from inspector.config.edited_target import options_before
from inspector.config.servers import ServerEntry
from inspector.config.settings import Settings
from inspector.config.target_arguments import parse_target
from inspector.config.targets import RecordingTarget, Target, demo_target
from inspector.errors import InspectorError
from inspector.protocol.forms.form import UNSET
from inspector.reasons import os_reason, split_reason
from inspector.text import safe
from inspector.tui.advice import advice, error_text
from inspector.tui.available_verbs import lend_features, run_of_feature
from inspector.tui.dialogs import AskPath, Choose, Confirm, leave_calls
from inspector.tui.feature_verbs import verbs_in
from inspector.tui.full_screen import FullScreen
from inspector.tui.keymap import KeyHint, bindings, keymap_of
from inspector.tui.matching import Typed
from inspector.tui.pane_keys import hints
from inspector.tui.pane_messages import First, OpenTarget, UseFeature
from inspector.tui.sessions import CloseSession, OpenSession, Sessions, ShowSession, calls_in_flight
from inspector.tui.start.rows import Configured, Demo, Group, SourceServer, StartRows, Thing, TypedTarget, about
from inspector.tui.start.targets import (
    ROW_VERBS,
    Targets,
    groups,
    is_named,
    open_title,
    read_targets,
    row_verbs,
)
from inspector.tui.start.trust import opened
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.fact_rows import FactsView, RowSection
from inspector.tui.widgets.paint import Piece
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.status_lines import Footer, HeaderLine, LinePart
from inspector.tui.widgets.too_small import TooSmall
from inspector.tui.widgets.virtual_list import VirtualList
from inspector.tui.window import window_of
from inspector.version import __version__

if TYPE_CHECKING:
    from inspector.tui.search.sources import SearchHit

PLACEHOLDER = "a command, a URL, @name or a recording"
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
        """Return the number of rows in a page."""
        return self._page()

    def action_first(self) -> None:
        self.go(-self.count)

    def action_last(self) -> None:
        self.go(self.count)

    def action_select(self) -> None:
        if self.thing is not None:
            super().action_select()


class TargetFacts(FactsView, can_focus=False):
    """The details of a row; the keys stay with the list."""


class StartScreen(FullScreen[None]):
    """The targets: open sessions, configured servers, recordings, and the typed text."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("app"), *bindings("start")]
    DEFAULT_CSS = """
    StartScreen { layers: base above; }
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
        self._targets = Targets()
        self.feature_group: Group | None = None
        """The servers that a feature found."""
        self.text = ""
        """What the field has when the list is shown next."""
        self._phases: list[str] = []
        """The phases of the open sessions when they were last drawn."""
        self._away: Literal["", "dialog", "session", "beside"] = ""
        """What was in front since the list was last shown: a session, or one that is opened in the background."""

    def compose(self) -> ComposeResult:
        yield HeaderLine(id="header")
        with Pane(title="Start", id="start"):
            yield Editor(placeholder=PLACEHOLDER, lead=[("/ ", "key")], id="target")
            yield ChoiceList(id="choices")
        yield Pane(TargetFacts(id="about-rows", what=""), id="about")
        yield Footer(id="footer")
        yield TooSmall()

    @property
    def _field(self) -> Editor:
        return self.query_one("#target", Editor)

    @property
    def typed(self) -> str:
        """The text in the field."""
        return self._field.value.strip()

    @property
    def _list(self) -> ChoiceList:
        return self.query_one("#choices", ChoiceList)

    def on_mount(self) -> None:
        lend_features("start", self, lambda: ("", None))
        self._field.show_without_change(self.text)
        self._field.focus()
        self._show_header()
        self._find()
        self.set_interval(_CLOCK, self._tell_time)

    def on_resize(self) -> None:
        self._show_about()

    def _show_about(self) -> None:
        """Show the details of the row with the cursor, if there is room below the list."""
        edge, details = self.query_one("#about", Pane), about(self._list.thing, self._targets.kept)
        edge.display = details is not None and self.size.height >= _ROOM_BELOW
        if details is not None:
            edge.title, edge.facts = details.title, details.facts
            self.query_one(TargetFacts).show(RowSection(details.rows))

    def on_screen_suspend(self) -> None:
        if self._away != "beside":
            self._away = "dialog" if self in self.app.screen_stack else "session"

    def on_screen_resume(self) -> None:
        """Show what changed while a session was in front; after a dialog nothing changes."""
        away, self._away = self._away, ""
        if away == "beside":
            self.sessions_changed()
        elif away == "session" and self._targets.is_read:
            self._field.show_without_change(self.text)
            self._show_rows(keep=False)
            self._field.focus()
            self._find()

    def sessions_changed(self) -> None:
        """Draw the changes of the open sessions. One that connected or failed changes the state of its entry."""
        phases: list[str] = [opened.session.phase for opened in self.sessions.opened]
        if phases != self._phases:
            self._phases = phases
            if self._targets.is_read and self.is_current:
                self._find()
        if self._targets.is_read:
            self._show_rows(keep=True)
        self._show_header()

    def _tell_time(self) -> None:
        if self.sessions.opened and self.is_current:
            self.sessions_changed()

    @work(thread=True, exclusive=True, exit_on_error=False)
    def _find(self) -> None:
        """Read the targets off the event loop."""
        targets = read_targets(self.config)
        self.app.call_from_thread(self._show_targets, targets)

    def _show_targets(self, targets: Targets) -> None:
        if self.is_mounted:
            again, self._targets = self._targets.is_read, targets
            self._show_rows(keep=again)

    def _show_rows(self, *, keep: bool) -> None:
        """Show what matches the typed text; with `keep` the cursor stays on its row if it is still there."""
        text = self.typed
        targets, opened = self._targets, self.sessions.opened
        row_groups = groups(targets, self.feature_group, opened, text, settings=self.settings, config=self.config)
        rows = StartRows(row_groups, Typed(text), kept=targets.kept)
        view = self._list
        key = view.row_key(view.cursor) if keep else None
        view.source = rows
        kept = rows.index_of(key) if key is not None else None
        view.cursor = self._best(rows, text) if kept is None else kept
        if kept is None:
            view.go(0)
        edge = self.query_one("#start", Pane)
        if edge.tone != "error":
            edge.facts = (f"{rows.matching} of {rows.total}",) if text else ()
        self._show_footer()

    def _best(self, rows: StartRows, text: str) -> int:
        """Return the row for Enter: what has this name, without a text the session to switch to, else the first."""
        other = self.sessions.other
        match = rows.find(lambda thing: is_named(thing, text) if text else thing is other)
        first = rows.find(lambda thing: True)
        return match if match is not None else first if first is not None else 0

    def _show_header(self) -> None:
        marks: list[Piece] = []
        for mark in self.sessions.marks():
            marks += ["   ", *mark] if marks else mark
        self.query_one(HeaderLine).parts = [
            LinePart([[("inspector", "bright bold")]]),
            LinePart([marks, ""], (1,)),
            LinePart([[(__version__, "muted")]], right=True),
        ]

    def hints(self) -> list[KeyHint]:
        """Return the keys that work now. While the field has the focus, letters are text."""
        thing = self._list.thing
        front = self.sessions.front
        verbs: list[str | tuple[str, str]] = [("start.open", open_title(thing, front))] if thing is not None else []
        back = []
        if front is not None and not self._field.value:
            back.append(("start.clear", f"back to {safe(front.name, 20)}"))
        if isinstance(self.focused, Editor):
            verbs += ["start.clear"] if self._field.value else []
            named = [*hints(self, *verbs, ("app.next-pane", "list"), "start.demo", *self._offered())]
            return [*named, *hints(self, *back), KeyHint("^q", "quit", "ctrl+q")]
        titles = {"delete": "close"} if isinstance(thing, OpenSession) else {}
        if isinstance(thing, RecordingInfo):
            titles["keep"] = "release" if thing.path.name in self._targets.kept else "keep"
        verbs += [(f"start.{verb}", titles.get(verb, "")) for verb in row_verbs(thing, front)]
        return hints(self, *verbs, *back, "start.filter", "start.demo")

    def _offered(self) -> list[str]:
        """Return the verbs of features that the footer offers."""
        of_features = [verb for _, verb in verbs_in("start") if verb.is_offered]
        return [verb.id for verb in of_features if not verb.needs or getattr(self.settings, verb.needs)]

    def _show_footer(self) -> None:
        self.query_one(Footer).offer(self.hints(), "app.quit")
        self._show_about()

    def on_descendant_focus(self) -> None:
        self._show_footer()

    def on_virtual_list_highlighted(self) -> None:
        self._show_footer()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only the actions of the row with the cursor."""
        if not self.is_mounted:
            return True
        front, verb = self.sessions.front, action.replace("_", "-")
        if verb in ROW_VERBS:
            return verb in row_verbs(self._list.thing, front)
        return front is not None or action != "start_list"

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
        elif isinstance(thing, OpenSession) and front is not None:
            await window_of(self).navigator.show_pair(front.session, thing, "", UNSET)

    def _open(self, thing: Thing | None, first: First = "", *, beside: bool = False) -> None:
        if isinstance(thing, OpenSession):
            self.post_message(ShowSession(thing))
        elif isinstance(thing, Configured) and thing.opened is not None and not (first or beside):
            self.post_message(ShowSession(thing.opened))
        elif isinstance(thing, Configured):
            self._open_entry(thing.entry, first, beside)
        elif isinstance(thing, RecordingInfo):
            self._open_target(RecordingTarget(thing.path), first, beside=beside)
        elif isinstance(thing, Demo) or (isinstance(thing, TypedTarget) and thing.text == "demo"):
            self.action_demo()
        elif isinstance(thing, TypedTarget):
            self._open_typed(thing.text)
        elif isinstance(thing, SourceServer):
            self._open_resolved(lambda: thing.opened(self.app))

    def _open_target(self, target: Target, first: First = "", *, beside: bool = False, paired: bool = False) -> None:
        """Open a target; say if the host whose file has it does not start it."""
        remark = "" if isinstance(target, RecordingTarget) else target.remark
        if remark:
            self.notify(safe(remark, 500), severity="warning", markup=False, timeout=10)
        self._away = "beside" if beside else ""
        self.post_message(OpenTarget(target, first, beside=beside, paired=paired))

    @work(exclusive=True, group="dialog")
    async def _open_typed(self, text: str) -> None:
        try:
            options, text = options_before(text)
            words = command_words.split(text)
            parse = partial(parse_target, words, config=self.config, **options)
            target = await opened(self.app, lambda consent: parse(consent=consent))
        except (InspectorError, ValueError) as error:
            edge = self.query_one("#start", Pane)
            hint = [advice(error.hint, keymap_of(self))] if isinstance(error, InspectorError) and error.hint else []
            problem = error.message if isinstance(error, InspectorError) else split_reason(error)
            edge.facts = [[(line, "error")] for line in (problem, *hint)]
            edge.tone = "error"
            return
        if target is not None:
            self._open_target(target)

    def _open_entry(self, entry: ServerEntry, first: First, beside: bool, paired: bool = False) -> None:
        """Open a configured server, after asking for consent if its file is not the user's own."""
        from inspector.config.servers import resolve

        opening = partial(opened, self.app, lambda consent: resolve(entry, consent=consent))
        self._open_resolved(opening, first, beside=beside, paired=paired)

    @work(exclusive=True, group="dialog")
    async def _open_resolved(
        self,
        resolve: Callable[[], Awaitable[Target | None]],
        first: First = "",
        *,
        beside: bool = False,
        paired: bool = False,
    ) -> None:
        try:
            target = await resolve()
        except InspectorError as error:
            self.notify(error_text(error, self), severity="error", markup=False, timeout=10)
        else:
            if target is not None:
                self._open_target(target, first, beside=beside, paired=paired)

    @work(exclusive=True, group="feature", exit_on_error=False)
    async def on_use_feature(self, event: UseFeature) -> None:
        """Run a verb of a feature."""
        await run_of_feature(self, event)

    def show_found(self, group: Group | None, *, select: bool = False) -> None:
        """Show the servers that a feature found below the others; with `select` the cursor goes to the first one."""
        self.feature_group = group
        self._show_rows(keep=True)
        rows = self._list.source
        first = rows.find(lambda thing: isinstance(thing, SourceServer)) if isinstance(rows, StartRows) else None
        if select and first is not None:
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

    @work(exclusive=True, group="dialog")
    async def action_delete(self) -> None:
        """Close an open session, or delete a recording; asks first if something would be lost."""
        thing = self._list.thing
        if isinstance(thing, OpenSession):
            if await leave_calls(self.app, lambda: calls_in_flight(thing.session), "Close this session", "close"):
                self.post_message(CloseSession(thing))
        elif isinstance(thing, RecordingInfo):
            await delete_recording(self.app, thing)
            self._find()

    async def action_keep(self) -> None:
        """Keep the selected recording, or let it be deleted again."""
        info = self._list.thing
        if isinstance(info, RecordingInfo):
            await keep_recording(self.app, info, on=info.path.name not in self._targets.kept)
            self._targets = replace(self._targets, kept=kept(info.path.parent))
            self._show_rows(keep=True)

    @work(exclusive=True, group="dialog")
    async def action_export(self) -> None:
        """Export the selected recording."""
        info = self._list.thing
        if isinstance(info, RecordingInfo):
            await export_recording(self.app, info)

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

    @work(exclusive=True, group="dialog")
    async def action_quit(self) -> None:
        """Quit; asks first if any session has a call in flight."""
        if await leave_calls(self.app, self.sessions.in_flight, "Quit", "leave"):
            self.app.exit(0)


async def delete_recording(app: App[int], info: RecordingInfo) -> None:
    """Delete a recording, after the user has confirmed it."""
    if info.growing:
        app.notify("This recording is still being written.", severity="warning", markup=False)
    elif await app.push_screen_wait(Confirm("Delete this recording?", str(info.path), "delete", "keep")):
        try:
            info.path.unlink()
        except OSError as error:
            app.notify(f"{info.path} could not be deleted: {error.strerror}", severity="error", markup=False)


async def keep_recording(app: App[int], info: RecordingInfo, *, on: bool) -> None:
    """Keep a recording, or let it be deleted again."""
    try:
        await asyncio.to_thread(keep, [info.path], on=on)
    except OSError as error:
        reason = os_reason(error)
        app.notify(f"The list of kept recordings cannot be written: {reason}.", severity="error", markup=False)


async def export_recording(app: App[int], info: RecordingInfo) -> None:
    """Export a recording, after the user has chosen a format and a file name."""
    from inspector.formats import WRITABLE
    from inspector.tui import output_files

    formats = [(name, writer.summary) for name, writer in WRITABLE.items()]
    format = await app.push_screen_wait(Choose("Export the recording", formats))
    if format is None:
        return
    name = f"{info.path.stem.removesuffix('.mcp')}{WRITABLE[format].suffix}"
    path = await app.push_screen_wait(AskPath(f"Export as {format}", name))
    if path is None:
        return
    try:
        notes = await asyncio.to_thread(output_files.export_recording, info.path, format, path)
    except (OSError, InspectorError) as error:
        reason = os_reason(error) if isinstance(error, OSError) else error
        app.notify(f"{path} could not be written: {reason}", severity="error", markup=False)
    else:
        app.notify(" ".join((f"Written to {path}.", *notes)), markup=False)

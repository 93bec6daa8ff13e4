"""The start screen: type a target, pick a configured server, pick a recording, or try the demo. No reading needed."""

from __future__ import annotations

import asyncio
import shlex
from datetime import datetime
from pathlib import Path
from typing import ClassVar

from rich.segment import Segment
from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.screen import Screen

from inspector.client.recording import RecordingInfo, list_recordings
from inspector.config.remember import ServerMemory
from inspector.config.servers import ServerEntry, ServerList, exposure_of, find_servers
from inspector.config.settings import Settings
from inspector.config.targets import RecordingTarget, Target, parse_target
from inspector.config.trust import Memory, standing
from inspector.errors import InspectorError
from inspector.text import cell_len, count, duration, quantity, size
from inspector.tui.keymap import Hint, bindings
from inspector.tui.panes.keys import hints
from inspector.tui.screens.trusting import opened
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.edge import Edge
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.paint import Pieces
from inspector.tui.widgets.status import Footer, HeaderLine, Part
from inspector.tui.widgets.too_small import TooSmall
from inspector.tui.widgets.virtual_list import TextRows, VirtualList
from inspector.version import __version__

EMPTY = {
    "#server-rows": "No config file of this folder or of a client names a server.",
    "#recording-rows": "Every session is recorded; the newest will be listed here.",
}
"""What the lists say where there is nothing to list."""


class OpenTarget(Message):
    """Open this target."""

    def __init__(self, target: Target) -> None:
        super().__init__()
        self.target = target


class ServerRows:
    """One row an entry: how it went last, its name, what it runs, where the entry stands."""

    def __init__(self, entries: list[tuple[ServerEntry, bool | None]], asks: frozenset[int] = frozenset()) -> None:
        """`asks` are the ids of the entries that are opened only after a question."""
        self.entries = entries
        self._asks = asks
        self._name = min(max((len(entry.name) for entry, _ in entries), default=0) + 1, 24)
        self._source = min(max((len(entry.source_label) for entry, _ in entries), default=0), 18)

    def matching(self, words: list[str]) -> ServerRows:
        """The entries that have all of these words, which are case-folded."""
        return ServerRows([
            found for found in self.entries if _has(words, found[0].name, found[0].summary, found[0].source_label)
        ], self._asks)  # fmt: skip

    def __len__(self) -> int:
        return len(self.entries)

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Segment]:
        entry, ok = self.entries[index]
        signs = signs_now()
        mark = [(f"{signs.failed} ", "error")] if ok is False else [(f"{signs.done} ", "received")] if ok else "  "
        source = self._source if width > 50 else 0
        middle = max(width - 2 - self._name - 2 - source - 1, 8)
        line = paint.cell(mark, 2)
        line += paint.cell([(f"@{entry.name}", "muted" if entry.disabled else "bright")], self._name + 1)
        asks: Pieces = [(" asks first ", "finding")] if id(entry) in self._asks else ""
        line += paint.cell([*asks, (f" {entry.summary}", "normal")], middle)
        if source:
            line += paint.cell([(f" {entry.source_label}", "muted")], source + 1)
        return line


class RecordingRows:
    """One row a recording: when, what, revision, how many frames, how long, how it ended."""

    def __init__(self, recordings: list[RecordingInfo]) -> None:
        self.recordings = recordings
        self._label = min(max((cell_len(info.label) for info in recordings), default=0), 24) + 2

    def matching(self, words: list[str]) -> RecordingRows:
        """The recordings that have all of these words, which are case-folded."""
        return RecordingRows([
            info for info in self.recordings if _has(words, info.label, info.target, info.revision, when(info.started))
        ])  # fmt: skip

    def __len__(self) -> int:
        return len(self.recordings)

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Segment]:
        info = self.recordings[index]
        state: Pieces = [(quantity(info.errors, "error"), "error")] if info.errors else ""
        if info.problem:
            state = [(info.problem, "error")]
        elif info.growing:
            state = [("still open", "received")]
        elif not info.ended:
            state = [("end is missing", "finding")]
        middle = max(width - 17 - 12 - 10 - 10 - 16, 10)
        label = min(self._label, middle)
        line = paint.cell([(when(info.started), "muted")], 17)
        line += paint.cell([(info.label, "bright")], label)
        target = info.target if info.target != info.label else ""
        line += paint.cell([(target, "normal")], max(middle - label - 1, 0)) + paint.cell("", min(middle - label, 1))
        line += paint.cell([(info.revision, "muted")], 12)
        line += paint.cell(count(info.events) if info.events is not None else "", 10, right=True)
        line += paint.cell(
            [(duration(info.duration) if info.duration is not None else size(info.size), "muted")], 10, right=True
        )
        line += paint.cell(state, 16, right=True)
        return line


class StartScreen(Screen[None]):
    """What one does next."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("app"), *bindings("start")]
    DEFAULT_CSS = """
    StartScreen { layout: vertical; layers: base above; }
    #open { height: 3; }
    #choices { height: 2fr; min-height: 11; }
    #servers { width: 1fr; height: 1fr; }
    #try { width: 40; height: 1fr; }
    #recordings { height: 3fr; }
    StartScreen.-slim #try { display: none; }
    """
    HORIZONTAL_BREAKPOINTS = [(0, "-slim"), (96, "-roomy")]  # noqa: RUF012 - Textual declares it so

    def __init__(self, settings: Settings, config: Path | None = None) -> None:
        super().__init__()
        self.settings = settings
        self.config = config
        self._servers = ServerRows([])
        self._recordings = RecordingRows([])

    def compose(self) -> ComposeResult:
        yield HeaderLine(id="header")
        yield Edge(Editor(placeholder="a command, a URL, @name or a recording", id="target"), title="Open", id="open")
        with Horizontal(id="choices"):
            yield Edge(
                VirtualList(id="server-rows", empty=EMPTY["#server-rows"]),
                title="Servers", id="servers", keys=hints(self, "start.open"),
            )  # fmt: skip
            yield Edge(VirtualList(TextRows(self._try()), id="try-rows"), title="Try it", id="try")
        yield Edge(
            VirtualList(id="recording-rows", empty=EMPTY["#recording-rows"]),
            title="Recordings", id="recordings", keys=hints(self, "start.open", "start.export", "start.delete"),
        )  # fmt: skip
        yield Footer(id="footer")
        yield TooSmall()

    def _try(self) -> list[Pieces]:
        return [
            "The demo server shows every feature",
            "without a network.",
            "",
            [("D", "key"), "  open the demo"],
            "",
            [("in a shell", "muted")],
            "inspector demo",
            "inspector npx -y some-server",
            "inspector https://host/mcp",
        ]

    def hints(self) -> list[Hint]:
        """The footer: while a target is typed, letters are letters."""
        if isinstance(self.focused, Editor):
            return [*hints(self, "start.open", "app.next-pane", "app.palette"), Hint("^q", "quit", "ctrl+q")]
        at_recordings = ("start.export", "start.delete") if self._recording() is not None else ()
        return hints(
            self, "start.open", *at_recordings, "app.next-pane", "start.filter", "start.demo", "app.help", "app.quit"
        )

    def on_resize(self) -> None:
        self.query_one(TooSmall).fit(self.size)

    def on_descendant_focus(self) -> None:
        self.query_one(Footer).hints = self.hints()

    def on_mount(self) -> None:
        for view in self.query(VirtualList):
            view.shows_idle_cursor = False
        self.query_one(HeaderLine).parts = [
            Part([[("inspector", "bright bold")]]),
            Part([[(__version__, "muted")]], right=True),
        ]
        self.query_one("#target", Editor).focus()
        self._find()

    @work(thread=True, exclusive=True, exit_on_error=False)
    def _find(self) -> None:
        """Read config files and the recordings' heads and tails, off the event loop."""
        servers = find_servers(config=self.config)
        entries = []
        for entry in servers.entries:
            last = ServerMemory(entry).last_open()
            entries.append((entry, None if last is None else last.ok))
        memory = Memory()
        asks = frozenset(id(entry) for entry in servers.entries if standing(exposure_of(entry), memory) == "asks")
        recordings = list_recordings()
        self.app.call_from_thread(self._show, servers, ServerRows(entries, asks), recordings)

    def _show(self, servers: ServerList, rows: ServerRows, recordings: list[RecordingInfo]) -> None:
        if not self.is_mounted:
            return
        self._servers, self._recordings, entries = rows, RecordingRows(recordings), rows.entries
        self._narrow()
        files = len({entry.path for entry, _ in entries})
        facts: list[Pieces] = [f"{len(entries)} from {files} file{'s' if files != 1 else ''}"] if entries else []
        if servers.problems:
            facts.append([(quantity(len(servers.problems), "problem"), "error")])
            problem = servers.problems[0]
            self.query_one("#servers", Edge).note = [(f"{problem.path.name}: {problem.message}", "error")]
        self.query_one("#servers", Edge).facts = facts
        total = sum(info.size for info in recordings)
        limit = self.settings.keep_recordings_bytes
        self.query_one("#recordings", Edge).facts = (f"{len(recordings)} kept  {size(total)} of {size(limit)}",)

    def on_editor_submitted(self) -> None:
        """Open what was typed."""
        text = self.query_one("#target", Editor).value.strip()
        if not text:
            return
        if text == "demo":
            self.action_demo()
            return
        self._open_typed(text)

    @work(exclusive=True, group="dialog")
    async def _open_typed(self, text: str) -> None:
        try:
            words = shlex.split(text)
            target = await opened(self.app, lambda consent: parse_target(words, config=self.config, consent=consent))
        except (InspectorError, ValueError) as error:
            edge = self.query_one("#open", Edge)
            hint = [error.hint] if isinstance(error, InspectorError) and error.hint else []
            edge.facts = [[(words, "error")] for words in (str(error), *hint)]
            edge.tone = "error"
            return
        if target is not None:
            self.post_message(OpenTarget(target))

    def on_editor_changed(self) -> None:
        edge = self.query_one("#open", Edge)
        edge.facts, edge.tone = (), ""
        self._narrow()

    def _narrow(self) -> None:
        """Show the servers and recordings that match what was typed."""
        words = self.query_one("#target", Editor).value.casefold().split()
        for selector, rows in (("#server-rows", self._servers), ("#recording-rows", self._recordings)):
            view = self.query_one(selector, VirtualList)
            view.empty = "Nothing here matches what was typed." if words and len(rows) else EMPTY[selector]
            view.source = rows.matching(words) if words else rows
        self.query_one(Footer).hints = self.hints()

    def on_virtual_list_selected(self, event: VirtualList.Selected) -> None:
        source = event.list_view.source
        if isinstance(source, ServerRows):
            self._open_entry(source.entries[event.index][0])
        elif isinstance(source, RecordingRows):
            self.post_message(OpenTarget(RecordingTarget(source.recordings[event.index].path)))
        else:
            self.action_demo()

    @work(exclusive=True, group="dialog")
    async def _open_entry(self, entry: ServerEntry) -> None:
        """Open a server of the list, after asking where its file is not the user's own."""
        from inspector.config.servers import resolve

        try:
            target = await opened(self.app, lambda consent: resolve(entry, consent=consent))
        except InspectorError as error:
            self.notify(f"{error.message} {error.hint}", severity="error", markup=False, timeout=10)
        else:
            if target is not None:
                self.post_message(OpenTarget(target))

    def action_open(self) -> None:
        """Enter where no list has the focus."""
        self.on_editor_submitted()

    def action_demo(self) -> None:
        from inspector.tui.app import demo_target

        self.post_message(OpenTarget(demo_target()))

    def _recording(self) -> RecordingInfo | None:
        view = self.query_one("#recording-rows", VirtualList)
        if not view.has_focus or view.cursor < 0 or not isinstance(view.source, RecordingRows):
            return None
        return view.source.recordings[view.cursor]

    @work(exclusive=True, group="dialog")
    async def action_delete(self) -> None:
        """Delete the selected recording, after asking."""
        from inspector.tui.screens.dialogs import Confirm

        info = self._recording()
        if info is not None and info.growing:
            self.notify("It is still being written.", severity="warning", markup=False)
        elif info is not None and await self.app.push_screen_wait(
            Confirm("Delete this recording?", str(info.path), "delete", "keep")
        ):
            try:
                info.path.unlink()
            except OSError as error:
                self.notify(f"{info.path} was not deleted: {error.strerror}", severity="error", markup=False)
            self._find()

    @work(exclusive=True, group="dialog")
    async def action_export(self) -> None:
        """Export the selected recording."""
        from inspector.export import FORMATS
        from inspector.tui.files import export_recording
        from inspector.tui.screens.dialogs import AskPath, Choose

        info = self._recording()
        if info is None:
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
                self.notify(f"{path} was not written: {error}", severity="error", markup=False)
            else:
                self.notify(" ".join((f"Written to {path}.", *notes)), markup=False)

    def action_filter(self) -> None:
        self.query_one("#target", Editor).focus()

    def action_next_pane(self) -> None:
        self.focus_next()

    def action_previous_pane(self) -> None:
        self.focus_previous()

    def action_help(self) -> None:
        from inspector.tui.screens.help import Help

        self.app.push_screen(Help(self.app.verb_keys, self.focused or self))  # type: ignore[attr-defined]

    def action_quit(self) -> None:
        self.app.exit(0)


def _has(words: list[str], *texts: str) -> bool:
    text = " ".join(texts).casefold()
    return all(word in text for word in words)


def when(started: datetime | None) -> str:
    """A date as people say it: `today 12:58`, `yesterday`, `Mon 16 Nov`."""
    if started is None:
        return ""
    local = started.astimezone()
    days = (datetime.now().astimezone().date() - local.date()).days
    if days == 0:
        return f"today {local:%H:%M}"
    if days == 1:
        return f"yesterday {local:%H:%M}"
    return f"{local:%a %-d %b}" if days < 300 else f"{local:%-d %b %Y}"

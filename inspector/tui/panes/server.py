"""The server as far as it has introduced itself, how the connection came about, and what it writes to stderr."""

from __future__ import annotations

from array import array
from typing import Any, ClassVar

from rich.segment import Segment
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical

from inspector.client.steps import connection_steps
from inspector.journal.format import Kind
from inspector.protocol.revisions import features
from inspector.text import duration
from inspector.tui.events import AnySession
from inspector.tui.keymap import Hint, bindings
from inspector.tui.panes.keys import hints
from inspector.tui.panes.steps import step_rows
from inspector.tui.rows import fact, heading, joined, wrapped
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.edge import Edge
from inspector.tui.widgets.paint import Pieces
from inspector.tui.widgets.virtual_list import TextRows, VirtualList

_SHOWN_CHANGES = 20


class StderrRows:
    """The stderr lines of a journal: their numbers are kept, their text is read when it is drawn."""

    def __init__(self, session: AnySession) -> None:
        self.journal = session.journal
        self.numbers = array("I")
        self._seen = 0

    def __len__(self) -> int:
        return len(self.numbers)

    def advance(self) -> int | None:
        """Take in what is new. Returns the first new row, or None."""
        index = self.journal.index
        first = len(self.numbers)
        codes = index.codes
        for n in range(self._seen + 1, index.count + 1):
            if codes[n - 1] & 15 == Kind.STDERR:
                self.numbers.append(n)
        self._seen = index.count
        return first if len(self.numbers) > first else None

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Segment]:
        event = self.journal.event(self.numbers[index])
        time = f"{duration(event.t):>8}  "
        return paint.cut(paint.segments([(time, "faint"), event.text.rstrip()], room=width), width)


class ServerPane(Container):
    """Two columns, or one where it is narrow: who it is; connection and stderr."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("server")]
    DEFAULT_CSS = """
    ServerPane { layout: horizontal; }
    ServerPane > #identity { width: 1fr; height: 1fr; }
    ServerPane > #server-side { width: 1fr; height: 1fr; }
    ServerPane > #server-side > #connection { height: 14; }
    ServerPane > #server-side > #stderr { height: 1fr; }
    """

    def __init__(self, session: AnySession, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.session = session
        self._seen: tuple[Any, ...] = ()
        self._stderr = StderrRows(session)

    def compose(self) -> ComposeResult:
        yield Edge(
            VirtualList(id="identity-rows", empty="The server has not introduced itself yet."),
            title="Server",
            id="identity",
        )
        with Vertical(id="server-side"):
            yield Edge(
                VirtualList(id="connection-rows", empty="No connection was tried yet."),
                title="Connection",
                id="connection",
            )
            yield Edge(
                VirtualList(self._stderr, follow=True, id="stderr-rows", empty="Nothing was written to stderr."),
                title="stderr", id="stderr",
            )  # fmt: skip

    def on_mount(self) -> None:
        if self.session.can_send:
            self.query_one("#identity", Edge).keys = hints(
                self, "server.reconnect", "server.restart", "server.log-level"
            )
        self.tick()

    def on_resize(self) -> None:
        self._seen = ()
        self.tick()

    def hints(self) -> list[Hint]:
        """What the footer shows while the focus is here."""
        return hints(self, "server.reconnect", "server.restart", "server.log-level") if self.session.can_send else []

    def tick(self) -> None:
        """Look at what is new."""
        changes = self.session.changes
        seen = (
            changes["server"],
            changes["phase"],
            changes["subscriptions"],
            len(self.session.surface_changes),
            self.size,
        )
        if seen != self._seen and self.size.width:
            self._seen = seen
            self._show(self.query_one("#identity-rows", VirtualList), self._identity())
            self._show(
                self.query_one("#connection-rows", VirtualList),
                step_rows(connection_steps(self.session.journal), self._side_width),
            )
        first = self._stderr.advance()
        if first is not None:
            self.query_one("#stderr-rows", VirtualList).source_changed(first)
            self.query_one("#stderr", Edge).facts = (f"{len(self._stderr):,} lines",)

    @property
    def _side_width(self) -> int:
        return max(self.query_one("#connection").size.width - 4, 20)

    @staticmethod
    def _show(view: VirtualList, rows: list[Pieces]) -> None:
        view.source = TextRows(rows)

    def _identity(self) -> list[Pieces]:
        server, session = self.session.server, self.session
        if not server.known:
            return []
        width = max(self.query_one("#identity").size.width - 6, 20)
        rows: list[Pieces] = [
            *fact("name", f"{server.title}  {server.version}", width, "bright"),
            *fact("opened as", session.target.describe(), width),
            *fact(
                "revision", f"{server.revision}  ({server.era}){'' if server.revision_known else '  unknown'}", width
            ),
        ]
        for key in ("description", "websiteUrl"):
            if isinstance(server.info.get(key), str):
                rows += fact(key, server.info[key], width)
        rows += heading("Capabilities")
        rows += self._capabilities(width)
        if session.subscriptions.uris:
            rows += heading("Subscriptions")
            for uri in list(session.subscriptions.uris)[:100]:
                rows.append([("  ", ""), uri, (f"  {session.subscriptions.counts.get(uri, 0)} updates", "muted")])
        if session.surface_changes:
            rows += heading("Changed since the last connection")
            for change in session.surface_changes:
                for sign, names in (("+", change.added), ("-", change.removed), ("~", change.altered)):
                    rows += [[(f"  {sign} {change.list}  ", "muted"), name] for name in names[:_SHOWN_CHANGES]]
        if server.instructions:
            rows += heading("Instructions")
            rows += wrapped(server.instructions, width, limit=2000)
        return rows

    def _capabilities(self, width: int) -> list[Pieces]:
        server = self.session.server
        known = ("tools", "resources", "prompts", "completions", "logging", "tasks", "experimental", "extensions")
        names = [name for name in known if name in server.capabilities]
        names += [name for name in server.capabilities if name not in known]
        rows: list[Pieces] = []
        for name in names[:60]:
            value = server.capabilities[name]
            parts = (
                [part for part, on in value.items() if on or isinstance(on, dict)] if isinstance(value, dict) else []
            )
            rows.append([(f"  {signs_now().done} ", "received"), f"{name:<14}", ("  ".join(map(str, parts)), "muted")])
        absent = [name for name in ("tools", "resources", "prompts", "completions", "logging") if not server.can(name)]
        if not features(server.revision).completions_capability and "completions" in absent:
            absent.remove("completions")
        if absent:
            rows += joined([f"  not offered: {', '.join(absent)}"], width, "muted")
        return rows

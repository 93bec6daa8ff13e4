"""The server pane: identity, connection, stderr."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from typing import TYPE_CHECKING, Any, ClassVar

from rich.segment import Segment
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.message import Message

from inspector.addresses import shown_url
from inspector.client.extensions import client_in, extension_states, map_problem, offered_in
from inspector.client.session_state import SessionState
from inspector.client.state.cache import NewestAnswers, folded
from inspector.client.state.login import Authorizations
from inspector.client.state.steps import connection_steps
from inspector.config.secret_values import mask_url
from inspector.config.targets import HttpTarget
from inspector.journal.format import Kind
from inspector.journal.query import Query
from inspector.log_lines import readable
from inspector.protocol.extensions import title
from inspector.protocol.jsonrpc import excerpt
from inspector.protocol.revisions import features
from inspector.protocol.views import View
from inspector.text import count, duration, quantity, safe
from inspector.tui.keymap import bindings
from inspector.tui.login.steps import logged_in_rows
from inspector.tui.model.server import SERVER_VERBS, ServerTabFacts
from inspector.tui.pane_keys import VerbsByRules
from inspector.tui.pane_messages import EditTargetWanted, HintsChanged, ShowAuthorization, WatchFiles
from inspector.tui.server.steps import step_rows
from inspector.tui.source_location import open_source, source_locations
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.fact_rows import MAX_LENGTH, FactsView, Row, RowSection, fact, heading
from inspector.tui.widgets.markdown import MarkdownSection
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.sections import Section
from inspector.tui.widgets.text_view import beginning
from inspector.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from inspector.check.drift import Drift

_LOOKED_AT = 50_000
"""Events that one tick reads."""
_SHOWN_CHANGES = 20
_SHOWN_CAPABILITIES = 60
_SHOWN_SUBSCRIPTIONS = 100
_SHOWN_ANSWERS = 20
_SHOWN_EXTENSION, _SHOWN_SETTINGS = 80, 200
"""Characters of an extension's id, and of its settings."""
_SHOWN_TARGET, _SHOWN_TEXT = 300, 600
"""Characters of the command or URL, and of the server's own texts."""


_STDERR = Query(kind=Kind.STDERR)


class StderrRows:
    """The stderr lines of a journal: it keeps their numbers, and reads their text to draw them."""

    def __init__(self, session: SessionState) -> None:
        self._session = session
        self.journal = session.journal
        self.numbers = array("I")
        self._seen = 0

    def __len__(self) -> int:
        return bisect_right(self.numbers, self._session.upto)

    def advance(self) -> int | None:
        """Add some of the new lines. Returns the first new row, or None."""
        first, seen = len(self.numbers), self._seen
        last = min(self.journal.index.count, seen + _LOOKED_AT)
        self.numbers.extend(_STDERR.numbers(self.journal.index, seen, last))
        self._seen = last
        return first if len(self.numbers) > first else None

    @property
    def behind(self) -> bool:
        """More events are left than one tick reads."""
        return self._seen < self.journal.index.count

    def text(self, index: int) -> str:
        """Return the text of a row. Untrusted; empty for a row that is gone."""
        return self.journal.event(self.numbers[index]).text if index < len(self) else ""

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Segment]:
        event = self.journal.event(self.numbers[index])
        time = f"{duration(event.t):>8}  "
        return paint.cut(paint.segments([(time, "faint"), readable(event.text)], room=width), width)


class ServerPane(Container, VerbsByRules):
    """Two columns, or one on a narrow screen: identity; connection and stderr."""

    RULES = SERVER_VERBS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("server")]
    DEFAULT_CSS = """
    ServerPane { layout: horizontal; }
    ServerPane #identity { width: 1fr; height: 1fr; }
    ServerPane #server-side { width: 1fr; height: 1fr; }
    ServerPane #connection { height: 14; }
    ServerPane #stderr { height: 1fr; }
    ServerPane.-no-stderr #connection { height: 1fr; }
    """

    class Reconnect(Message):
        """Reconnect, or restart the process."""

    class LogLevel(Message):
        """Choose the log level of the server."""

    def __init__(self, session: SessionState, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.session = session
        self._seen: tuple[Any, ...] = ()
        self._drift: Drift | None = None
        self._watching = False
        self._stderr = StderrRows(session)
        self._stderr_shown = 0
        self._authorizations = Authorizations(session.journal)
        self._newest = NewestAnswers(session.journal)

    def compose(self) -> ComposeResult:
        yield Pane(
            FactsView(id="identity-rows", empty="The server has not introduced itself yet."),
            title="Server",
            id="identity",
        )
        with Vertical(id="server-side"):
            yield Pane(
                FactsView(id="connection-rows", empty="Not connected yet."),
                title="Connection",
                id="connection",
            )
            stderr = Pane(
                VirtualList(self._stderr, follow=True, id="stderr-rows", empty="No output on stderr."),
                title="stderr",
                id="stderr",
            )
            stderr.display = self.session.target.kind != "http"
            self.set_class(not stderr.display, "-no-stderr")
            yield stderr

    def on_mount(self) -> None:
        self.tick()

    def on_resize(self) -> None:
        self._seen = ()
        self.tick()

    def verb_facts(self) -> ServerTabFacts:
        """Return the facts on which the verbs depend."""
        return ServerTabFacts(
            live=self.session.commands is not None,
            stdio=self.session.target.kind == "stdio",
            can_log=self.session.server.can("logging"),
            names_file=bool(source_locations(self._stderr_line)),
            logins=bool(self._authorizations.numbers),
            watching=self._watching,
        )

    def action_reconnect(self) -> None:
        """Close the connection and open it again."""
        self.post_message(self.Reconnect())

    action_restart = action_reconnect

    def action_edit(self) -> None:
        """Change the command or URL, and open it instead."""
        self.post_message(EditTargetWanted())

    def action_watch(self) -> None:
        """Restart the server when one of its files changes, or stop watching them."""
        self.post_message(WatchFiles())

    def show_watch(self, on: bool) -> None:
        """Show whether its files are watched."""
        self._watching = on
        self.query_one("#identity", Pane).facts = ("watching its files",) if on else ()
        self.post_message(HintsChanged())

    def action_log_level(self) -> None:
        """Choose the log level of the server."""
        self.post_message(self.LogLevel())

    def action_authorization(self) -> None:
        """Show the newest login."""
        self.post_message(ShowAuthorization())

    @property
    def _stderr_line(self) -> str:
        """The row of stderr under the cursor; empty while the focus is elsewhere."""
        rows = self.query_one("#stderr-rows", VirtualList)
        return self._stderr.text(rows.cursor) if rows.has_focus and rows.cursor >= 0 else ""

    def action_open_source(self) -> None:
        """Open the file that the row of stderr names."""
        open_source(self, self.session, self._stderr_line)

    def on_virtual_list_highlighted(self, event: VirtualList.Highlighted) -> None:
        if event.list_view.id == "stderr-rows":
            self.post_message(HintsChanged())

    def tick(self) -> None:
        """Draw what is new."""
        changes = self.session.changes
        self._authorizations.advance()
        moment = None if self.session.at_end else self.session.upto
        self._authorizations.upto = moment
        now = self.session.journal.clock(self.session.now)
        cached = self._newest.advance(self.session.upto)
        seen = (
            [(answer.n, answer.is_fresh(now), answer.changed_early) for answer in cached],
            changes["server"],
            changes["phase"],
            changes["calls"],
            changes["subscriptions"],
            len(self.session.surface_changes),
            id(self._drift),
            len(self._authorizations.numbers),
            moment,
            self.size,
        )
        if seen != self._seen and self.size.width:
            self._seen = seen
            self.post_message(HintsChanged())
            self.query_one("#identity-rows", FactsView).show(*self._identity())
            steps = step_rows(connection_steps(self.session.journal, self.session.upto), self._side_width)
            self.query_one("#connection-rows", FactsView).show(RowSection(steps))
        first, line_count = self._stderr.advance(), len(self._stderr)
        if first is not None or line_count != self._stderr_shown:
            first = min(line_count, self._stderr_shown) if first is None else min(first, line_count, self._stderr_shown)
            self._stderr_shown = line_count
            self.query_one("#stderr").display = True
            self.set_class(False, "-no-stderr")
            self.query_one("#stderr-rows", VirtualList).source_changed(first)
            self.query_one("#stderr", Pane).facts = (quantity(len(self._stderr), "line"),)
        if self._stderr.behind or self._authorizations.behind:
            self.call_after_refresh(self.tick)

    @property
    def _side_width(self) -> int:
        return max(self.query_one("#connection").size.width - 4, 20)

    def _identity(self) -> list[Section]:
        server, session = self.session.server, self.session
        if not server.known:
            return [RowSection(self._recording())] if session.journal.notices else []
        unknown = "" if server.revision_known else "  unknown"
        rows = [
            *fact("name", f"{server.title}  {server.version}".strip() or "not given", "bright"),
            *fact("opened as", safe(session.target.describe_fully(), _SHOWN_TARGET)),
            *fact("revision", f"{server.revision}  ({server.era}){unknown}"),
        ]
        if isinstance(roots := session.inbox.standing.roots, tuple):
            always = f"always answered: {', '.join(safe(uri, _SHOWN_TARGET) for uri in roots[:5]) or 'none'}"
            rows += fact("roots", always)
        client = client_in(self.session.journal, self.session.upto)
        if client.get("name") not in (None, "inspector"):
            rows += fact("connected as", f"{client['name']}  {client.get('version', '')}".rstrip())
        rows += self._interception()
        latency = session.latency
        timed = f"  answers in {duration(latency * 1_000_000)}" if latency else ""
        rows += fact("transport", f"{session.transport_name}{timed}")
        rows += fact("events", count(len(session.journal)))
        if server.how:
            rows += fact("detected", safe(server.how, _SHOWN_TEXT), "muted")
        for key, label in (("description", "description"), ("websiteUrl", "website")):
            if isinstance(server.info.get(key), str):
                rows += fact(label, safe(server.info[key], _SHOWN_TEXT, multiline=True))
        rows += [*self._recording(), *self._drifted(), *self._changes()]
        if (login := self._authorizations.logged_in()) is not None:
            rows += [*heading("Logged in"), *logged_in_rows(login, session.journal)]
        rows += heading("Capabilities")
        rows += self._capabilities()
        rows += self._extensions()
        rows += self._subscriptions()
        rows += self._freshness()
        if not server.instructions:
            return [RowSection(rows)]
        rows += heading("Instructions")
        return [RowSection(rows), MarkdownSection(beginning(server.instructions, MAX_LENGTH))]

    def _extensions(self) -> list[Row]:
        """Return the extensions that either side has: our settings, the server's, and whether they are in effect."""
        server, rows = self.session.server, list[Row]()
        offered = offered_in(self.session.journal, self.session.upto)
        states = extension_states(server, offered)
        if problem := map_problem(server):
            rows.append(Row([(f"  {signs_now().finding} ", "finding"), (problem, "finding")], 4))
        for state in states[:_SHOWN_CAPABILITIES]:
            sign, role = (signs_now().done, "received") if state.in_effect else (" ", "muted")
            if state.problem:
                sign, role = signs_now().finding, "finding"
            name = title(state.id)
            about = f"  {name}" if name else ""
            rows.append(
                Row(
                    [
                        (f"  {sign} ", role),
                        safe(state.id, _SHOWN_EXTENSION),
                        (about, "muted"),
                        (f"  {state.standing}", "finding" if state.problem else "muted"),
                    ],
                    4,
                )
            )
            for who, settings in (("server", state.settings), ("client", state.offered)):
                if settings not in (None, {}):
                    rows.append(Row([(f"      {who}  ", "muted"), excerpt(settings, _SHOWN_SETTINGS)], 14))
            if state.problem:
                rows.append(Row([(f"      {state.problem}", "finding")], 6))
        rows += _more(len(states) - _SHOWN_CAPABILITIES)
        return [*heading("Extensions"), *rows] if rows else []

    def _subscriptions(self) -> list[Row]:
        """Return the subscriptions: the updates so far, the time of the last one, and those that the server refused."""
        journal, subscriptions = self.session.journal, self.session.subscriptions
        rows: list[Row] = []
        for uri, n in list(subscriptions.uris.items())[:_SHOWN_SUBSCRIPTIONS]:
            updates = subscriptions.counts.get(uri, 0)
            updates_text = f"  {updates:,} update{'' if updates == 1 else 's'}" if updates else "  no update yet"
            if 0 < n <= journal.index.count:
                updates_text += f", the last at {journal.clock(journal.index.time(n)):%H:%M:%S}"
            rows.append(Row([f"  {uri}", (updates_text, "muted")], 4))
        rows += _more(len(subscriptions.uris) - _SHOWN_SUBSCRIPTIONS)
        for name in subscriptions.refused[:_SHOWN_SUBSCRIPTIONS]:
            refused = "  requested, but the server refused"
            rows.append(Row([(f"  {signs_now().failed} ", "finding"), name, (refused, "finding")], 4))
        return [*heading("Subscriptions"), *rows] if rows else []

    def _freshness(self) -> list[Row]:
        """Return the cache hints of the newest answers: when each was received, and until when it is fresh."""
        session, rows = self.session, list[Row]()
        answers, now = folded(self._newest.advance(session.upto)), session.journal.clock(session.now)
        for answer, pages in answers[:_SHOWN_ANSWERS]:
            fresh = answer.is_fresh(now)
            sign, role = (signs_now().done, "received") if fresh else (" ", "muted")
            name = f"{answer.method}  {answer.subject if answer.method.endswith('/read') else ''}".rstrip()
            name += f", {pages} pages" if pages > 1 else ""
            freshness = f"  at {answer.received:%H:%M:%S}, {answer.describe(now)}"
            rows.append(Row([(f"  {sign} ", role), safe(name, _SHOWN_EXTENSION), (freshness, "muted")], 4))
            if answer.problem:
                rows.append(Row([(f"      {safe(answer.problem, _SHOWN_TEXT)}: not used", "finding")], 6))
            if answer.changed_early:
                rows.append(Row([("      changed inside its time to live, no notification", "finding")], 6))
        rows += _more(len(answers) - _SHOWN_ANSWERS)
        unused = "" if session.server.era == "modern" else "  (not used in this revision)"
        return [*heading(f"Cached answers{unused}"), *rows] if rows else []

    def _interception(self) -> list[Row]:
        """Parties that can read the messages: anyone on the path without verification, and a proxy."""
        target, rows = self.session.target, list[Row]()
        if not isinstance(target, HttpTarget):
            return rows
        if not target.verify:
            rows += fact("certificate", "not verified: others on the path can read and change everything", "error")
        if target.proxy:
            rows += fact(
                "proxy", shown_url(mask_url(target.proxy), _SHOWN_TARGET), "normal" if target.owned else "finding"
            )
        if target.withholds_login:
            rows += fact("login", f"stored login not sent: {safe(target.withholds_login, _SHOWN_TEXT)}", "finding")
        return rows

    def _recording(self) -> list[Row]:
        """Return the file of the recording, and what is unusual about it."""
        path = self.session.journal.storage.path
        rows = fact("recording", str(path) if path else "not saved")
        for notice in self.session.journal.notices:
            rows += fact("", notice, "finding")
        return [*rows, *self._bundle()]

    def _bundle(self) -> list[Row]:
        """Return the facts that `inspector bundle` added to the recording of a bug report."""
        bundle = View(self.session.journal.header.get("bundle"))
        if not bundle.members:
            return []
        made = ", ".join(filter(None, (bundle.text("by"), bundle.text("system"), bundle.text("made"))))
        rows = [*heading("Bug report"), *fact("made by", safe(made, _SHOWN_TEXT))]
        cause = View(bundle.members.get("doctor")).text("cause")
        return [*rows, *fact("doctor", safe(cause, _SHOWN_TEXT))] if cause else rows

    def show_drift(self, drift: Drift | None) -> None:
        """Show the changes since the server was pinned; None: no changes."""
        self._drift = drift
        self.tick()

    def _drifted(self) -> list[Row]:
        """Return the changes since the pin, worst first: at the top, in the colour of findings."""
        drift = self._drift
        if drift is None:
            return []
        from inspector.check.drift import phrase

        sign = signs_now().finding
        rows = [*heading("Changed since it was pinned")]
        for change in drift.changes[:_SHOWN_CHANGES]:
            stands_out = change.for_models or change.hidden is not None or change.severity == "breaking"
            mark = (f"  {sign} ", "finding") if stands_out else ("    ", "muted")
            word = "cannot tell" if change.severity == "unsure" else change.severity
            rows.append(
                Row([mark, (f"{word:<12}", "muted"), (phrase(change), "finding" if stands_out else "normal")], 16)
            )
        return [*rows, *_more(len(drift.changes) - _SHOWN_CHANGES, indent=4)]

    def _changes(self) -> list[Row]:
        """Return the items that the server added and removed since the last connection."""
        rows: list[Row] = []
        for change in self.session.surface_changes:
            for sign, role, names in (
                ("+", "received", change.added),
                ("-", "error", change.removed),
                ("~", "finding", change.altered),
            ):
                rows += [
                    Row([(f"  {sign} ", role), (f"{change.list:<11} ", "muted"), name], 4)
                    for name in names[:_SHOWN_CHANGES]
                ]
                if len(names) > _SHOWN_CHANGES:
                    rows.append(Row([(f"  {sign} {len(names) - _SHOWN_CHANGES:,} more {change.list}", "muted")]))
        return [*heading("Changed since the last connection"), *rows] if rows else []

    def _capabilities(self) -> list[Row]:
        server = self.session.server
        known = ("tools", "resources", "prompts", "completions", "logging", "tasks", "experimental", "extensions")
        names = [name for name in known if name in server.capabilities]
        names += [name for name in server.capabilities if name not in known]
        rows: list[Row] = []
        for name in names[:_SHOWN_CAPABILITIES]:
            value = server.capabilities[name]
            parts = [part for part, on in value.items() if on or isinstance(on, dict)] if type(value) is dict else []
            rows.append(Row([(f"  {signs_now().done} ", "received"), f"{name:<14}", ("  ".join(parts), "muted")], 18))
        absent = [name for name in ("tools", "resources", "prompts", "completions", "logging") if not server.can(name)]
        if not features(server.revision).completions_capability and "completions" in absent:
            absent.remove("completions")
        if absent:
            rows.append(Row([(f"  not offered: {', '.join(absent)}", "muted")], 4))
        return rows


def _more(number: int, *, indent: int = 2) -> list[Row]:
    """Return the row that says how many further ones are not shown; none for a number below 1."""
    return [Row([(f"{' ' * indent}{number:,} more", "muted")])] if number > 0 else []

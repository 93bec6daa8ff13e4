"""The detail of the message under the cursor: parsed, raw, its HTTP exchange, the judge's findings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ClassVar

from textual import work
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import BindingType

from inspector.client.session_state import SessionState
from inspector.client.state.freshness import freshness
from inspector.journal import channels
from inspector.journal.durations import took
from inspector.journal.folding import Folding
from inspector.journal.format import Event, Kind
from inspector.journal.journal import Journal
from inspector.journal.rounds import rounds, whole_exchange
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.summaries import one_line
from inspector.text import count, duration, safe, yours
from inspector.tui.advice import error_text
from inspector.tui.keymap import KeyHint, bindings
from inspector.tui.log import copy_as, detail_view
from inspector.tui.log.labels import id_text, pending, sign_of, title
from inspector.tui.log.marking import toggle_mark
from inspector.tui.model.log import CALLS
from inspector.tui.pane_keys import hints
from inspector.tui.pane_messages import Export, HintsChanged, MarksChanged, Save, ShowEvent
from inspector.tui.source_location import open_source, source_locations
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.json_view import JsonView
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.tab_row import Tab, TabRow

_NOT_LOADED = (-1, "")
_NOTE = 40
"""Characters of a note in the facts of a message."""
_NOTHING = "The message under the cursor is shown here."


class DetailLines(JsonView):
    """The lines of the current tab. A text that was cut is shown whole on demand."""

    is_patient = True

    def action_show_all(self) -> None:
        pane = self.parent
        if isinstance(pane, DetailPane):
            pane.show_all()


class DetailPane(Pane):
    """One event. `show` shows another; `compare` shows the difference of two."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("detail")]
    DEFAULT_CSS = """
    DetailPane > DetailLines { height: 1fr; }
    """

    def __init__(self, session: SessionState, *, folding: Folding | None = None, id: str | None = None) -> None:
        super().__init__(title="Detail", id=id)
        self.session = session
        self._folding = folding
        self.n = 0
        """The event that is shown; 0 for none."""
        self.call_beside: Callable[[], int] = lambda: 0
        """Returns the request whose result is shown beside the log; 0 for none."""
        self._compared = (0, 0)
        self._loaded = _NOT_LOADED
        self._described: tuple[object, ...] = ()
        self._lines = DetailLines(wrap=True, empty=_NOTHING)

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield self._lines

    def on_mount(self) -> None:
        self.tick()

    def on_show(self) -> None:
        # While hidden, it drew nothing.
        self.tick()

    # Show

    def show(self, n: int) -> None:
        """Show event `n`, or nothing (0). While the pane is hidden, nothing is read."""
        if n == self.n and not any(self._compared):
            return
        self.n = n if 0 < n <= self.session.journal.index.count else 0
        self._compared = (0, 0)
        if self.is_on_screen:
            self.tick()

    def compare(self, one: int, other: int) -> None:
        """Show the difference of two messages, until another one is shown."""
        self._compared = (one, other)
        self._loaded = _NOT_LOADED
        self._describe()
        self._compare(one, other)

    def tick(self) -> None:
        """Show what is new about the event: its answer, its findings."""
        if any(self._compared):
            return
        n, index = self.n, self.session.journal.index
        findings = len(self.session.journal.findings.of(n)) if n else 0
        folded = sum(self._folded()) if self.tab == "http" else len(self._folded())
        marks = self.session.journal.marks.version
        seen = (n, index.state(n), index.pair(n), marks, self.call_beside(), folded, findings) if n else (0,)
        if seen != self._described:
            fresh = not self._described or seen[0] != self._described[0] or seen[-2:] != self._described[-2:]
            self._described = seen
            self._describe()
            if fresh and (self.tab in ("findings", "http") or self._loaded[0] != n):
                same, self._loaded = self._loaded[0] == n, _NOT_LOADED
                top = self._lines.scroll_offset.y if same else 0
                self._load()
                # New facts about the same event do not scroll the text.
                self._lines.scroll_to(y=top, animate=False, immediate=True, force=True)
        self._load()

    def _folded(self) -> list[int]:
        """The events, other than marks, that are folded into the row of the event in the log."""
        kind = self.session.journal.index.kind
        folded = self._folding.folded(self.n) if self._folding is not None and self.n else []
        return [n for n in folded if kind(n) is not Kind.MARK]

    def _describe(self) -> None:
        """Title, facts, tabs and keys."""
        journal, n, signs = self.session.journal, self.n, signs_now()
        if any(self._compared):
            one, other = self._compared
            named = [
                [sign_of(journal.index, m, signs), f" {id_text(journal.index, m) or f'#{m}'}"] for m in (one, other)
            ]
            self.title = [*named[0], "  and  ", *named[1], "  compared"]
            self.facts, self.tabs, self.tab_note, self.keys = (), (), "", hints(self, "detail.copy")
            return
        if not n:
            self.title, self.facts, self.tabs, self.tab_note, self.keys = "Detail", (), (), "", ()
            return
        index = journal.index
        self.title = title(journal, n, signs)
        clock = journal.clock(index.time(n))
        facts: list[paint.Pieces] = [f"{clock:%H:%M:%S}.{clock.microsecond // 1000:03}"]
        time = took(index, n) if index.shape(n) in (Shape.RESULT, Shape.ERROR) else None
        if time is not None:
            if time.server or not time.person:
                facts.append(duration(time.server))
            if time.person:
                facts.append([(yours(duration(time.person)), "ask")])
        cached = freshness(journal, n)
        if cached is not None:
            now = journal.clock(self.session.now)
            facts.append([(cached.describe(now), "normal" if cached.is_fresh(now) else "muted")])
        if is_other_call(journal, n, self.call_beside()):
            facts.append([("not the call of the result", "bright")])
        mark = journal.marks.of(n)
        if mark is not None:
            facts.append([(f"* {safe(one_line(mark.note), _NOTE)}" if mark.note else "* marked", "bright")])
        self.facts = facts
        findings = len(journal.findings.of(n))
        self.tabs = (
            Tab("parsed", "parsed"),
            Tab("raw", "raw"),
            Tab("http", "http", count(len(self._folded())) if self._folded() else ""),
            Tab("findings", "findings", count(findings) if findings else ""),
            *((Tab("note", "note"),) if mark is not None and mark.note else ()),
        )
        self.tab_note = self._relation()
        self.keys = self._keys()
        self.post_message(HintsChanged())

    def _relation(self) -> list[paint.Piece]:
        """Return how the event belongs to another: `in answer to → 7`."""
        other, words = self._related()
        index = self.session.journal.index
        if not other:
            return [words] if words else []
        return [f"{words} ", sign_of(index, other, signs_now()), (f" {id_text(index, other) or f'#{other}'}", "bright")]

    def _related(self) -> tuple[int, str]:
        n, index = self.n, self.session.journal.index
        pair, parent, shape = index.pair(n), index.parent(n), index.shape(n)
        if shape == Shape.REQUEST:
            if pair:
                return pair, "answered by"
            return 0, "no answer yet" if pending(index, n) else ""
        if shape in (Shape.RESULT, Shape.ERROR):
            return pair, "in answer to" if pair else "answers an unknown request"
        if pair:
            return pair, "about"
        return (parent, "within") if parent else (0, "")

    def _load(self) -> None:
        """Fill the lines if they show another event or tab."""
        wanted = (self.n, self.tab)
        if wanted == self._loaded:
            return
        self._loaded = wanted
        self._fill()

    def _fill(self, *, all: bool = False) -> None:
        lines, n = self._lines, self.n
        if not n:
            lines.load("")
            return
        journal = self.session.journal
        event = journal.event(n)
        lines.shows_cursor = self.tab in ("parsed", "findings")
        if self.tab == "parsed":
            self._fill_parsed(event, all=all)
        elif self.tab == "raw":
            lines.set_sections(detail_view.raw_sections(event, all=all))
        elif self.tab == "note":
            mark = journal.marks.of(n)
            lines.load(mark.note if mark is not None else "")
        elif self.tab == "http":
            lines.set_sections(detail_view.http_sections(journal, n, self._folded()))
        else:
            lines.set_sections(detail_view.finding_sections(journal, n, event))

    def _fill_parsed(self, event: Event, *, all: bool) -> None:
        text = detail_view.json_text(event)
        if text:
            self._lines.load(text)
        else:
            self._lines.shows_cursor = False
            self._lines.set_sections(detail_view.plain_sections(event, all=all))

    def show_all(self) -> None:
        """Show the rest of a text that was cut."""
        if self.n and self.tab in ("parsed", "raw"):
            top = self._lines.scroll_offset.y
            self._fill(all=True)
            self._lines.scroll_to(y=top, animate=False, immediate=True, force=True)

    @work(exclusive=True, group="compare", exit_on_error=False)
    async def _compare(self, one: int, other: int) -> None:
        journal = self.session.journal
        texts = [detail_view.json_text(event) or event.text for event in map(journal.event, (one, other))]
        sections = await asyncio.to_thread(detail_view.difference, *texts)
        if self._compared == (one, other):
            self._lines.shows_cursor = False
            self._lines.set_sections(sections)

    # Tabs

    def on_tab_row_chosen(self, event: TabRow.Chosen) -> None:
        event.stop()
        self._load()
        self.keys = self._keys()

    def on_tab_row_note_pressed(self, event: TabRow.NotePressed) -> None:
        event.stop()
        self.action_related()

    def action_related(self) -> None:
        """Go to the related event; a comparison has none."""
        other = self._related()[0] if self.n and not any(self._compared) else 0
        if other:
            self.post_message(ShowEvent(other))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only a text of stderr may name a file."""
        return bool(source_locations(self._stderr_text)) if action == "open_source" else True

    @property
    def _stderr_text(self) -> str:
        journal = self.session.journal
        shown = self.n and not any(self._compared) and journal.index.kind(self.n) is Kind.STDERR
        return journal.event(self.n).text if shown else ""

    def action_open_source(self) -> None:
        """Open the file that the text of stderr names."""
        open_source(self, self.session, self._stderr_text)

    def action_next_tab(self) -> None:
        self.tab_row.step(1)

    def action_previous_tab(self) -> None:
        self.tab_row.step(-1)

    def action_why(self) -> None:
        """Show the findings; on their tab, `?` opens help."""
        if not self.n or self.tab == "findings" or not self.session.journal.findings.of(self.n):
            raise SkipAction
        self.tab_row.choose("findings")

    # Copy

    @property
    def shown_text(self) -> str:
        """The message as copy takes it; empty without one."""
        return copy_as.message_text(self.session.journal, self.n)

    def action_copy(self) -> None:
        copy_as.copy_message(self, self.session.journal, self.n)

    def action_copy_curl(self) -> None:
        self._copy_as("curl")

    def action_copy_command(self) -> None:
        self._copy_as("command")

    def action_copy_python(self) -> None:
        self._copy_as("Python")

    def _copy_as(self, form: str) -> None:
        copy_as.copy_request(self, self.session.journal, self.n, form)

    def action_save(self) -> None:
        if self.n:
            journal = self.session.journal
            event = journal.event(self.n)
            data = event.bytes or detail_view.json_text(event).encode("utf-8", "surrogatepass")
            self.post_message(Save(data, copy_as.suggested_name(journal, self.n), "the message"))

    def action_mark(self) -> None:
        """Mark the event, or remove its mark."""
        if not self.n:
            return
        problem = toggle_mark(self.session.journal, self.n)
        if problem is not None:
            self.notify(error_text(problem, self), severity="error", markup=False)
        self.tick()
        self.post_message(MarksChanged())

    def action_export(self) -> None:
        """Export the exchange of the event."""
        self.post_message(Export(whole_exchange(self.session.journal, self.n) if self.n else None))

    def hints(self) -> list[KeyHint]:
        """The keys for the event."""
        back = hints(self, ("app.back", "messages"))
        keys = self._keys()
        return [*keys[:1], *back, *keys[1:], *hints(self, ("detail.next-tab", "next view"))] if self.n else back

    def _keys(self) -> list[KeyHint]:
        if not self.n:
            return []
        wanted: list[str | tuple[str, str]] = ["detail.copy"]
        if copy_as.request_of(self.session.journal, self.n):
            wanted.append("detail.copy-curl" if self._is_http else "detail.copy-command")
        marked = self.session.journal.marks.of(self.n) is not None
        wanted += ["detail.save", ("detail.mark", "remove mark" if marked else "mark")]
        if self._related()[0]:
            wanted.append("detail.related")
        wanted.append("detail.export")
        if self.check_action("open_source", ()):
            wanted.append("detail.open-source")
        if self.session.journal.findings.of(self.n) and self.tab != "findings":
            wanted.append("detail.why")
        return hints(self, *wanted)

    @property
    def _is_http(self) -> bool:
        return not channels.is_stdio(self.session.journal.index.channel(self.n))


def is_other_call(journal: Journal, n: int, shown: int) -> bool:
    """Whether event `n` is of another call than request `shown`, whose result stands beside it (0: none does)."""
    root = journal.index.root_of(n) if shown else 0
    return bool(root) and journal.index.method(root) in CALLS and root not in rounds(journal, shown)

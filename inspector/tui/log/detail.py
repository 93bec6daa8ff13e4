"""The detail of the message under the cursor: parsed, raw, its HTTP exchange or process, the judge's findings."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType

from inspector.client.session_state import SessionState
from inspector.client.state.cache import freshness
from inspector.errors import InspectorError
from inspector.journal import channels
from inspector.journal.exchange import whole_exchange
from inspector.journal.format import Event, Kind
from inspector.journal.index import Index
from inspector.journal.journal import Journal
from inspector.journal.session_start import StartFolding
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.summaries import one_line
from inspector.text import count, safe
from inspector.tui.advice import error_text
from inspector.tui.keymap import bindings
from inspector.tui.log import copy_as, detail_view
from inspector.tui.log.copy_as import sent_by_us
from inspector.tui.log.labels import id_text, pending, sign_of, times, title
from inspector.tui.model.detail import DETAIL_VERBS, DetailFacts
from inspector.tui.pane_keys import VerbsByRules
from inspector.tui.pane_messages import Export, HintsChanged, MarksChanged, Save, ShowEvent
from inspector.tui.source_location import open_source, source_locations
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.dialog import LineDialog
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.json_view import JsonView
from inspector.tui.widgets.paint import Pieces
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.tab_row import TabLabel, TabRow

_NOTHING = "The message under the cursor is shown here."


_NOTE = 40
"""Characters of a note in the facts of a message."""


class AskNote(LineDialog[str]):
    """Asks for the note about a message. Returns None if the user leaves the dialog."""

    DEFAULT_CSS = """
    AskNote > Pane { max-width: 100; height: auto; }
    AskNote Vertical { height: auto; }
    """

    def __init__(self, title: Pieces, note: str) -> None:
        editor = Editor(note, placeholder="what you noticed", id="note", multiline=True)
        super().__init__(title, editor, "keep", facts=("in the recording",))

    def action_take(self) -> None:
        self.dismiss(self.editor.value.strip())


def toggle_mark(journal: Journal, n: int) -> InspectorError | None:
    """Mark event `n`, or remove its mark with its note. Returns why that is not possible."""
    return _try(journal, n, "", on=journal.marks.of(n) is None)


def write_note(journal: Journal, n: int, note: str) -> InspectorError | None:
    """Mark event `n` with a note; an empty one leaves the mark. Returns why that is not possible."""
    return _try(journal, n, note, on=True)


def _try(journal: Journal, n: int, note: str, *, on: bool) -> InspectorError | None:
    try:
        journal.mark(n, note, on=on)
    except InspectorError as error:
        return error
    return None


class Edge(NamedTuple):
    """The title, the facts, the tabs and the note beside them."""

    title: paint.Pieces = "Detail"
    facts: Sequence[paint.Pieces] = ()
    tabs: tuple[TabLabel, ...] = ()
    tab_note: paint.Pieces = ""


def edge_of_event(journal: Journal, n: int, *, now: int, folded: int) -> Edge:
    """Return the edge for event `n` at the moment `now`, with `folded` events in its row."""
    index = journal.index
    clock = journal.clock(index.time(n))
    facts: list[paint.Pieces] = [
        f"{clock:%H:%M:%S}.{clock.microsecond // 1000:03}",
        *([piece] for piece in times(index, n)),
    ]
    cached = freshness(journal, n)
    if cached is not None:
        at = journal.clock(now)
        facts.append([(cached.describe(at), "normal" if cached.is_fresh(at) else "muted")])
    mark = journal.marks.of(n)
    if mark is not None:
        facts.append([(f"* {safe(one_line(mark.note), _NOTE)}" if mark.note else "* marked", "bright")])
    findings = len(journal.findings.of(n))
    channel = index.channel(n)
    # Without a channel, it is an event of the connection as a whole: the tab has no HTTP of it.
    around = "process" if channels.is_of_process(channel) else "http" if channel else "events"
    tabs = (
        TabLabel("parsed", "parsed"),
        TabLabel("raw", "raw"),
        TabLabel("http", around, count(folded) if folded else ""),
        TabLabel("findings", "findings", count(findings) if findings else ""),
        *((TabLabel("note", "note"),) if mark is not None and mark.note else ()),
    )
    return Edge(title(journal, n, signs_now()), facts, tabs, _relation(index, n))


def edge_of_difference(index: Index, one: int, other: int) -> Edge:
    """Return the edge for the difference of two events."""
    return Edge([*_name(index, one), "  and  ", *_name(index, other), "  compared"])


def related(index: Index, n: int) -> tuple[int, str]:
    """Return the event to which event `n` belongs, 0 for none, and how."""
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


def _relation(index: Index, n: int) -> paint.Pieces:
    """Return how the event belongs to another: `in answer to → 7`."""
    other, words = related(index, n)
    if not other:
        return [words] if words else []
    sign, name = _name(index, other)
    return [f"{words} ", sign, (name, "bright")]


def _name(index: Index, n: int) -> tuple[paint.Piece, str]:
    return sign_of(index, n, signs_now()), f" {id_text(index, n) or f'#{n}'}"


class DetailLines(JsonView):
    """The lines of the current tab. A text that was cut is shown whole on demand."""

    is_patient = True

    def action_show_all(self) -> None:
        pane = self.parent
        if isinstance(pane, DetailPane):
            pane.show_all()


class _Subject(NamedTuple):
    """The event that is shown (0: none), or the two whose difference is."""

    n: int = 0
    compared: tuple[int, int] | None = None


class DetailPane(Pane, VerbsByRules):
    """One event. `show` shows another; `compare` shows the difference of two."""

    RULES = DETAIL_VERBS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("detail")]
    DEFAULT_CSS = """
    DetailPane > DetailLines { height: 1fr; }
    """

    def __init__(self, session: SessionState, *, folding: StartFolding | None = None, id: str | None = None) -> None:
        super().__init__(title="Detail", id=id)
        self.session = session
        self._folding = folding
        self._subject = _Subject()
        self._described: tuple[object, ...] = ()
        self._loaded: tuple[object, ...] = ()
        self._chosen_view = "parsed"
        """The view that the user chose; an event for which it has nothing is shown parsed."""
        self._lines = DetailLines(wrap=True, empty=_NOTHING)

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield self._lines

    def on_mount(self) -> None:
        self.tick()

    def on_show(self) -> None:
        # While hidden, it drew nothing.
        self.tick()

    @property
    def n(self) -> int:
        """The event that is shown, or was before a comparison; 0 for none."""
        return self._subject.n

    def show(self, n: int) -> None:
        """Show event `n`, or nothing (0). While the pane is hidden, nothing is read."""
        if _Subject(n) == self._subject:
            return
        self._subject = _Subject(n if 0 < n <= self.session.journal.index.count else 0)
        if self.is_on_screen:
            self.tick()

    def compare(self, one: int, other: int) -> None:
        """Show the difference of two messages, until another one is shown."""
        self._subject = _Subject(self.n, (one, other))
        self._described = self._loaded = ()
        self._describe()
        self._compare(one, other)

    def tick(self) -> None:
        """Show what is new about the event: its answer, its findings."""
        if self._subject.compared is not None:
            return
        n, index, journal = self.n, self.session.journal.index, self.session.journal
        known: tuple[object, ...] = (0,)
        if n:
            known = (n, index.state(n), index.pair(n), journal.marks.version, *self._counted())
        if known != self._described:
            another, self._described = known[:1] != self._described[:1], known
            self._describe()
            if another and n:
                view = self._chosen_view
                self.tab_row.active = view if detail_view.has_view(journal, n, view) else "parsed"
        self._load()

    def _counted(self) -> tuple[int, int]:
        """Return a sum over the events folded into the row, which changes with them, and the number of findings."""
        return sum(self._folded()), len(self.session.journal.findings.of(self.n))

    def _folded(self) -> list[int]:
        """Return the events, other than marks, that are folded into the row of the event in the log."""
        kind = self.session.journal.index.kind
        folded = self._folding.folded(self.n) if self._folding is not None and self.n else []
        return [n for n in folded if kind(n) is not Kind.MARK]

    def _describe(self) -> None:
        """Title, facts and tabs."""
        journal, compared, edge = self.session.journal, self._subject.compared, Edge()
        if compared is not None:
            edge = edge_of_difference(journal.index, *compared)
        elif self.n:
            edge = edge_of_event(journal, self.n, now=self.session.now, folded=len(self._folded()))
        self.title, self.facts, self.tabs, self.tab_note = edge
        self.post_message(HintsChanged())

    @property
    def _related(self) -> int:
        """The event to which the shown one belongs; 0 for none."""
        return related(self.session.journal.index, self.n)[0] if self.n else 0

    def _load(self) -> None:
        """Fill the lines if they show another event or tab. New facts about the same one do not scroll the text."""
        content_key = (self.n, self.tab, *(self._counted() if self.n and self.tab in ("http", "findings") else ()))
        if content_key == self._loaded:
            return
        top = self._lines.scroll_offset.y if content_key[:2] == self._loaded[:2] else 0
        self._loaded = content_key
        self._fill()
        self._lines.scroll_to(y=top, animate=False, immediate=True, force=True)

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
        if self._subject.compared == (one, other):
            self._lines.shows_cursor = False
            self._lines.set_sections(sections)

    def on_tab_row_chosen(self, event: TabRow.Chosen) -> None:
        event.stop()
        self._chosen_view = event.tab
        self._load()
        self.post_message(HintsChanged())

    def on_tab_row_note_pressed(self, event: TabRow.NotePressed) -> None:
        event.stop()
        self.action_related()

    def action_related(self) -> None:
        """Go to the related event; a comparison has none."""
        if self._related and self._subject.compared is None:
            self.post_message(ShowEvent(self._related))

    def verb_facts(self) -> DetailFacts:
        """Return the facts on which the verbs depend."""
        n, journal = self.n, self.session.journal
        if not n:
            return DetailFacts(has_event=False)
        return DetailFacts(
            sent=sent_by_us(journal.index, n) > 0,
            http=not channels.is_stdio(journal.index.channel(n)),
            marked=journal.marks.of(n) is not None,
            related=self._related > 0,
            names_file=bool(source_locations(self._stderr_text)),
            hides_findings=self.tab != "findings" and len(journal.findings.of(n)) > 0,
        )

    @property
    def _stderr_text(self) -> str:
        journal = self.session.journal
        has_stderr = self.n and self._subject.compared is None and journal.index.kind(self.n) is Kind.STDERR
        return journal.event(self.n).text if has_stderr else ""

    def action_open_source(self) -> None:
        """Open the file that the text of stderr names."""
        open_source(self, self.session, self._stderr_text)

    def action_next_tab(self) -> None:
        self.tab_row.step(1)

    def action_previous_tab(self) -> None:
        self.tab_row.step(-1)

    def action_why(self) -> None:
        """Show the findings."""
        self.tab_row.choose("findings")

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

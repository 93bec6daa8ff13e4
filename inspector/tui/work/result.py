"""The result of a request: content, structured result beside its schema, raw answer, or error."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.worker import get_current_worker

from inspector.client.session_state import SessionState
from inspector.errors import InspectorError, ServerError, ServerExited
from inspector.journal.rounds import whole_exchange
from inspector.protocol.jsonrpc import URL_ELICITATION_REQUIRED
from inspector.protocol.result_shape import text_blocks
from inspector.text import count, duration, quantity, size
from inspector.tui.advice import advice
from inspector.tui.keymap import KeyHint, bindings
from inspector.tui.memory import return_freed_memory
from inspector.tui.pane_keys import hints
from inspector.tui.pane_messages import Copy, Export, HintsChanged, LeaveWork, OpenResource, Save, ShowExchange
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.compact_pane import CompactPane
from inspector.tui.widgets.content import ContentView
from inspector.tui.widgets.content_blocks import json_text
from inspector.tui.widgets.fact_rows import RowSection
from inspector.tui.widgets.facts_view import FactsView
from inspector.tui.widgets.json_view import AT_ONCE, JsonView
from inspector.tui.widgets.links import Link, look_at, open_in_browser
from inspector.tui.widgets.messages_view import MessagesView
from inspector.tui.widgets.paragraphs import Paragraph, Paragraphs
from inspector.tui.widgets.sections import Below
from inspector.tui.widgets.tab_row import Tab, TabRow
from inspector.tui.widgets.table_columns import CellMarks
from inspector.tui.widgets.table_view import TableView
from inspector.tui.widgets.virtual_list import VirtualList
from inspector.tui.work.app_page import page_in
from inspector.tui.work.call_events import CallEvents
from inspector.tui.work.outcome import CODE_NAMES, CallOutcome, ShownOutcome
from inspector.tui.work.recorded_calls import answered_before

DIFFERENCES = 6
"""Differences from a schema that are listed below a view without places for them."""
LINKS = 20
STDERR_LINES = 5

DIRECT = ("content", "table", "structured", "json")
"""The verbs that show one view, in the order of the views."""

_VERBS = {"resources/read": "read", "prompts/get": "get"}
"""What is done again, by method."""


class CallAgain(Message):
    """Send the request of the current result again, with the values of its form."""


class ViewChosen(Message):
    """The user chose a view: later results of the same item open in it. `""` for the first view."""

    def __init__(self, answer: ShownOutcome, view: str) -> None:
        super().__init__()
        self.answer = answer
        self.view = view


MANY = 1_000_000
_HEADS = 4
"""Lines of the row of views with the empty one below it, and of the head of a table."""
LOW, VERY_LOW = 8, 4
"""Lines of content below which the row of views gives way."""


class ResultPane(CompactPane):
    """The result of the current item, or the text that replaces a missing one."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("result")]
    DEFAULT_CSS = """
    ResultPane > FoldView { height: 1fr; }
    ResultPane > VirtualList { height: 1fr; }
    ResultPane > FactsView { height: 1fr; }
    ResultPane > .-alone { margin-top: 1; }
    ResultPane > Paragraphs { max-height: 50%; }
    """

    def __init__(self, session: SessionState, *, id: str | None = None) -> None:
        super().__init__(title="Result", id=id)
        self.session = session
        self.answer: ShownOutcome | None = None
        self.can_call = False
        """Whether `^r` can send the request again from here."""
        self.stale = ""
        """Why the result does not belong to the arguments shown; it is muted then."""
        self.pinned = False
        """The call is sent again after each restart of a watched server."""
        self._promise = ""
        self._views: list[Tab] = []
        self._links: list[Link] = []
        self._opened: dict[int, str] = {}
        self._open_row: int | None = None
        self._before = (0, 0)
        """The request of an answer, and the one before it about the same item, or 0."""
        self._at_difference = False
        """The user went to a difference in this answer."""
        self._notice = Paragraphs(after=1)
        self._content = MessagesView(empty="The content is empty.")
        self._json = JsonView(wrap=True)
        self._table = TableView()
        self._happened = VirtualList()
        self._happened.muted = True
        self._differences = Paragraphs(max_lines=DIFFERENCES, after=1)
        self._page = FactsView(what="the facts of the page")

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield self._notice
        yield self._content
        yield self._json
        yield self._table
        yield self._page
        yield self._happened
        yield self._differences

    @property
    def lines(self) -> int:
        """The lines that its content fills, without the edge, if there is room; many while a large one is read."""
        if self.is_reading:
            return MANY
        beside = sum(part.size.height for part in (self._notice, self._differences) if part.display)
        return self._body.count + beside + _HEADS

    def on_resize(self) -> None:
        self._fit_tabs()

    def _fit_tabs(self) -> None:
        """Give the lines of the views to the rows in a low pane."""
        self.tab_row.styles.height = 2 if self.size.height >= LOW else 1
        self.tab_row.display = bool(self.tabs) and self.size.height >= VERY_LOW

    def on_mount(self) -> None:
        self._draw()

    # Show

    def show(self, answer: ShownOutcome | None, promise: str = "", *, stale: str = "") -> None:
        """Show an answer; without one, `promise` says how to get one. `stale` mutes it and says why."""
        self._promise = promise
        if answer is not self.answer:
            self.answer = answer
            self._opened = {}
            self._open_row = None
            self._at_difference = False
            self._links = _links(answer.outcome) if answer is not None else []
        elif stale == self.stale and answer is not None:
            return
        self.stale = stale
        for view in (self._content, self._json, self._table.list):
            view.mute(bool(stale))
        self._draw()

    def _draw(self) -> None:
        if not self.is_attached:
            return  # A call ended while the screen was being closed.
        answer = self.answer
        if answer is not None and not answer.is_prepared:
            self._prepare(answer)
        self._views = [] if answer is None or not answer.is_prepared else _tabs(answer)
        if answer is not None and answer.is_prepared and answer.tab not in [tab.id for tab in self._views]:
            answer.tab = answer.first if answer.first in [tab.id for tab in self._views] else ""
            answer.tab = answer.tab or (self._views[0].id if self._views else "")
        self._draw_edge()
        self._draw_tabs()
        self._draw_body()
        if answer is not None and answer.begin_check():
            self.run_worker(partial(self._check, answer), thread=True, group="check", exit_on_error=False)
        self.post_message(HintsChanged())

    def _prepare(self, answer: ShownOutcome) -> None:
        """Choose the first view, at once for a small result, in a thread for a large one."""
        n = answer.outcome.answer_n
        if self.session.journal.index.size(n) <= AT_ONCE:
            self._look_at(answer)
            return

        def prepare() -> None:
            return_freed_memory()  # What receiving the message took is free now.
            self._look_at(answer)
            if not get_current_worker().is_cancelled:
                self.app.call_from_thread(self._is_ready, answer)
                return_freed_memory()

        self.run_worker(prepare, thread=True, group="prepare", exclusive=True, exit_on_error=False)

    @property
    def is_reading(self) -> bool:
        """Whether a large result is being read for its first view."""
        return self.answer is not None and not self.answer.is_prepared

    def _look_at(self, answer: ShownOutcome) -> None:
        """Find the views of an answer. A page comes first."""
        answer.page = page_in(self.session, answer.outcome.request_n, answer.outcome.value)
        answer.prepare(self.session.journal.event(answer.outcome.answer_n).text)
        if answer.page is not None:
            answer.first = "page"

    def _is_ready(self, answer: ShownOutcome) -> None:
        answer.lighten()
        if answer is self.answer and self.is_attached:
            self._draw()

    @property
    def _shown_view(self) -> str:
        return self.answer.tab if self.answer is not None else ""

    def _draw_tabs(self) -> None:
        """Show the tabs, unless there is only plain content."""
        tab = self._shown_view
        plain = [view.id for view in self._views] == ["content", "raw"] and tab == "content"
        self.tabs = [] if plain else self._views
        self.tab_row.active = tab
        self._fit_tabs()
        self._content.set_class(plain and not self._notice.display, "-alone")
        self._draw_keys()

    def _draw_keys(self) -> None:
        self.state_keys = [hint for hint in self.hints() if hint.verb != "result.leave"]
        self.draw_state()
        in_table = self._shown_view == "table" and self.answer is not None and self.answer.is_prepared
        self.tab_note = self._table.note if in_table else ""

    def _draw_edge(self) -> None:
        answer = self.answer
        if answer is None:
            self.state_facts, self.tone = (), ""
            self.draw_state()
            self._notice.show([(self._promise, "muted")] if self._promise else ())
            return
        outcome = answer.outcome
        failed = outcome.kind not in ("result", "cancelled")
        self.tone = "error" if failed and not self.stale else ""
        facts: list[paint.Pieces] = [[(self.stale, "finding")]] if self.stale else []
        about: list[paint.Pieces] = []
        if answer.table is not None and answer.tab == "table":
            about = [counted(len(answer.table), "row"), counted(len(answer.table.columns), "column")]
        if self.pinned:
            facts.append([("runs on restart", "progress")])
        if answer.changes is not None:
            number = counted(len(answer.changes), "change")
            facts.append([(f"{number} since the restart", "finding")] if answer.changes else "same as before")
        verdict = _verdict(answer)
        # With little room the last facts are dropped: errors come first.
        facts += [verdict, *about] if answer.violations or answer.unchecked else [*about, verdict]
        facts.append(outcome.time)
        if outcome.answer_n and answer.table is None:
            facts.append(size(self.session.journal.index.size(outcome.answer_n)))
        facts.append(_model_cost(answer))
        self.state_facts = [fact for fact in facts if fact]
        self.draw_state()
        self._notice.show([*_notice(outcome), *self._link_lines(), *_changes(answer)])

    def _draw_body(self) -> None:
        answer = self.answer
        tab = self._shown_view
        views = {self._content, self._json, self._table, self._happened, self._page}
        focused = self.screen.focused
        within = focused is not None and not views.isdisjoint(focused.ancestors_with_self)
        shows_table = tab == "table" and self._open_row is None and bool(self._views)
        shows_json = tab in ("structured", "raw", "data") or (tab == "table" and self._open_row is not None)
        waits = answer is not None and not answer.is_prepared
        self._table.display = shows_table
        self._json.display = shows_json and bool(self._views)
        self._page.display = tab == "page" and bool(self._views)
        shows_other = shows_json or shows_table or self._page.display
        self._content.display = waits or (not shows_other and bool(self._views))
        self._happened.display = self._load_happened()
        self._differences.show(_differences(answer) if answer is not None and tab == "content" else ())
        if waits and answer is not None:
            self._content.load_plain(())
            self._content.empty = f"reading {size(self.session.journal.index.size(answer.outcome.answer_n))}…"
        elif answer is not None and shows_table and answer.table is not None:
            self._table.load(answer.table, _marks(answer))
        elif answer is not None and shows_json:
            self._load_json(answer)
        elif answer is not None and answer.page is not None and tab == "page":
            self._page.show(RowSection(answer.page.rows))
        elif answer is not None and answer.page is not None and tab == "text":
            self._content.nothing("The page has no text.")
            self._content.load_plain([{"type": "text", "text": answer.page.text}] if answer.page.text else ())
        elif answer is not None and self._views:
            self._load_content(answer)
        if within:
            # At once: a view that is hidden while it has the focus gives it to no other, and keys would be lost.
            self.screen.set_focus(self._body)

    @property
    def _body(self) -> VirtualList:
        """The view that gets keys."""
        if self._table.display:
            return self._table.list
        if self._json.display:
            return self._json
        if self._page.display:
            return self._page
        return self._happened if self._happened.display else self._content

    def focus_inside(self) -> bool:
        """Focus the current view; False if there is nothing to focus."""
        if self.has_focus_within:
            return True
        body = self._body
        if body.display:
            self.screen.set_focus(body)
        return body.display

    def _load_happened(self) -> bool:
        """Show the events inside a call that ended without an answer; False if there were none."""
        outcome = self.answer.outcome if self.answer is not None else None
        if outcome is None or outcome.has_answer or not outcome.request_n or isinstance(outcome.error, ServerError):
            return False
        source = self._happened.source
        if not isinstance(source, CallEvents) or source.n != outcome.request_n:
            source = CallEvents(self.session.journal, outcome.request_n)
            source.advance()
            self._happened.source = source
        return len(source) > 0

    def _load_content(self, answer: ShownOutcome) -> None:
        if not answer.is_light:
            self._show_content(answer, answer.value(self.session.journal))
            return
        self._content.load_plain(())
        self._content.empty = f"reading {size(self.session.journal.index.size(answer.outcome.answer_n))}…"

        def read() -> None:
            value = answer.value(self.session.journal)
            if not get_current_worker().is_cancelled:
                self.app.call_from_thread(self._show_content, answer, value)

        self.run_worker(read, thread=True, group="content", exclusive=True, exit_on_error=False)

    def _show_content(self, answer: ShownOutcome, value: dict[str, Any]) -> None:
        if answer is not self.answer or answer.tab != "content":
            return
        outcome = answer.outcome
        self._content.nothing("The content is empty.")
        if outcome.method == "prompts/get":
            self._content.load_messages(value.get("messages", []))
        elif outcome.method == "resources/read":
            contents = value.get("contents", [])
            found = contents if isinstance(contents, list) else [contents]
            self._content.load_plain([{"type": "resource", "resource": each} for each in found])
        else:
            self._content.load_plain(value.get("content", []))

    def _load_json(self, answer: ShownOutcome) -> None:
        outcome = answer.outcome
        if self._open_row is not None and answer.tab == "table" and answer.table is not None:
            self._json.load(answer.table.json(self._open_row))
            self._mark(answer)
        elif answer.tab == "data":
            data = outcome.error.data if isinstance(outcome.error, ServerError) else None
            self._json.load(json_text(data))
        elif answer.tab == "raw":
            self._json.load(self.session.journal.event(outcome.answer_n).text)
        elif answer.structured is not None:
            self._json.load(answer.structured)
            self._mark(answer)
        elif self.session.journal.index.size(outcome.answer_n) <= AT_ONCE:
            answer.cut_out(self.session.journal.event(outcome.answer_n).text)
            self._load_json(answer)
        else:
            self._json.load("")
            self.run_worker(partial(self._cut_out, answer), thread=True, group="cut", exit_on_error=False)

    def _cut_out(self, answer: ShownOutcome) -> None:
        answer.cut_out(self.session.journal.event(answer.outcome.answer_n).text)
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(self._prepared, answer)

    def _check(self, answer: ShownOutcome) -> None:
        answer.check()
        if self.session.journal.index.size(answer.outcome.answer_n) > AT_ONCE:
            answer.lighten()
            return_freed_memory()
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(self._checked, answer)

    def _prepared(self, answer: ShownOutcome) -> None:
        if answer is self.answer and self.is_attached and answer.tab == "structured":
            self._draw_body()

    def _checked(self, answer: ShownOutcome) -> None:
        """Show the differences from the schema, without scrolling."""
        if answer is not self.answer or not self.is_attached:
            return
        self._draw_edge()
        self._draw_keys()
        self.post_message(HintsChanged())
        if answer.tab == "content":
            self._differences.show(_differences(answer))
        self._mark(answer)
        self._table.mark(_marks(answer))

    def on_json_view_loaded(self, event: JsonView.Loaded) -> None:
        event.stop()
        if self.answer is not None:
            self._mark(self.answer)

    def _mark(self, answer: ShownOutcome) -> None:
        """Write each difference from the schema below its value."""
        document = self._json.document
        if document is None or not self._json.display or answer.tab not in ("structured", "table"):
            return
        notes: dict[int, list[Below]] = {}
        sign = signs_now().finding
        for pointer, message in self._differences_here(answer):
            line = document.line_of(pointer)
            if line is not None:
                indent = 2 * min(document.depth(line), 40) + 2
                notes.setdefault(line, []).append((f"{sign} {message}", "finding", indent))
        self._json.mark(frozenset(notes))
        self._json.annotate(notes)

    def _differences_here(self, answer: ShownOutcome) -> list[tuple[str, str]]:
        """Return (JSON pointer in the shown text, message) of each difference that has a place in it."""
        found = [(each.path, each.message) for each in answer.violations or () if answer.has_structured]
        if answer.tab == "structured":
            return found
        if self._open_row is None or answer.table is None or not answer.table_is_structured:
            return []
        row = f"{answer.table.pointer}/{self._open_row}"
        return [(path[len(row) :], message) for path, message in found if path == row or path.startswith(f"{row}/")]

    # Actions

    def hints(self) -> list[KeyHint]:
        """The keys for the result."""
        answer = self.answer
        if answer is None:
            return []
        if self._table.is_typing:
            return [KeyHint("enter", "rows", "enter"), KeyHint("esc", "all rows", "escape")]
        wanted: list[str | tuple[str, str]] = []
        found: list[KeyHint] = []
        if self._links:
            wanted.append("result.open")
        if self.can_call:
            method = answer.outcome.method
            wanted.append(("result.call", f"{_VERBS.get(method, 'call')} again"))
        if self._table.display and answer.is_prepared:
            found = self._table_hints()
            wanted = wanted[1 if self._links else 0 :]
        elif self._open_row is not None and self._shown_view == "table":
            wanted = [("result.leave", "table"), ("json.copy", "copy value"), "json.strings"]
        elif answer.outcome.answer_n:
            wanted += ["result.copy", *(["result.compare"] if self._call_before else []), "result.save"]
        if answer.violations and answer.has_structured:
            wanted.append("result.next-difference")
        view = pair(hints(self, "result.previous-tab", "result.next-tab"), "view") if len(self._views) > 2 else []
        zoom = None if self.screen.has_class("-zoomed") else getattr(self.screen, "zoom_hint", None)
        if self._table.display:
            found += [*view, *hints(self, *([zoom] if zoom else []), *wanted)]
        else:
            found += [*hints(self, *wanted), *view, *hints(self, *([zoom] if zoom else []))]
        shown = {view.id for view in self._views}
        direct = [verb for verb in DIRECT if _VIEW_OF.get(verb, verb) in shown - {self._shown_view}]
        found += hints(self, *(f"result.{verb}" for verb in direct))
        if answer.outcome.request_n:
            compared = self._call_before and "result.compare" not in wanted
            found += hints(self, "result.its-messages", "result.export", *(["result.compare"] if compared else []))
        if self.can_call:
            found += hints(
                self, "result.expect", ("result.pin-call", "not on restart" if self.pinned else "run on restart")
            )
        if self._open_row is None:
            # On a low screen the footer is short; a table needs all of it for its own keys.
            at = 1 if self.compact and self.can_call and not self._table.display else len(found)
            found[at:at] = hints(self, "result.leave")
        return found

    def _table_hints(self) -> list[KeyHint]:
        every = "table.all" if self._table.words else ""
        columns = pair(hints(self, "table.previous-column", "table.next-column"), "column")
        return [
            *hints(self, "table.sort"),
            *columns,
            *hints(self, "table.filter", *([every] if every else [])),
            *hints(self, ("list.select", "open row"), "table.save"),
        ]

    class Expect(Message):
        """Write an expectation from the result. `pointer` is the JSON Pointer in the result of the chosen value."""

        def __init__(self, pointer: str | None) -> None:
            super().__init__()
            self.pointer = pointer

    class Compare(Message):
        """Compare the answer to request `request_n` with that to request `before`."""

        def __init__(self, before: int, request_n: int) -> None:
            super().__init__()
            self.before = before
            self.request_n = request_n

    class PinCall(Message):
        """Send the call again after each restart, or stop doing so."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """An expectation and a run after a restart need a result of a live session."""
        if action in ("expect", "pin_call"):
            return self.can_call and self.answer is not None
        if action == "compare":
            return self._call_before > 0
        return True

    def action_compare(self) -> None:
        """Compare the result with that of the call before of the same item."""
        before = self._call_before
        if before and self.answer is not None:
            self.post_message(self.Compare(before, self.answer.outcome.request_n))

    @property
    def _call_before(self) -> int:
        """The request before that of the answer about the same item, if both were answered with a message; else 0."""
        outcome = self.answer.outcome if self.answer is not None else None
        if outcome is None or not (outcome.answer_n and outcome.request_n):
            return 0
        if self._before[0] != outcome.request_n:
            before = answered_before(self.session.journal, outcome.request_n, self.session.upto)
            self._before = (outcome.request_n, before)
        return self._before[1]

    def action_expect(self) -> None:
        """Write an expectation from the result."""
        self.post_message(self.Expect(self._pointer))

    def action_pin_call(self) -> None:
        """Send the call again after each restart of a watched server, or stop doing so."""
        self.post_message(self.PinCall())

    @property
    def _pointer(self) -> str | None:
        """The JSON Pointer, in the result, of the value under the cursor; None without one."""
        document = self._json.document
        if document is None or not self._json.display or self._json.line < 0 or document.error is not None:
            return None
        pointer = document.pointer(self._json.line)
        if self._shown_view == "structured":
            return f"/structuredContent{pointer}"
        if self._shown_view == "raw":
            return pointer.removeprefix("/result") if pointer.startswith("/result") else ""
        return None

    def redraw(self) -> None:
        """Show what has become known of the answer."""
        self._draw_edge()
        self._draw_keys()

    def on_tab_row_chosen(self, event: TabRow.Chosen) -> None:
        event.stop()
        self._choose(event.tab)

    def _choose(self, tab: str) -> None:
        """Show a view, and open later results of the item in it."""
        answer = self.answer
        if answer is None or tab not in [view.id for view in self._views]:
            return
        self._open_row = None
        if tab != answer.tab:
            answer.tab = tab
            if answer.outcome.has_answer:
                self.post_message(ViewChosen(answer, "" if tab == answer.first else tab))
        self._draw_body()
        self._draw_tabs()
        self._draw_edge()
        self.post_message(HintsChanged())

    def action_json(self) -> None:
        """Show the raw answer, or the first view again."""
        if self.answer is not None and self._views:
            self._choose(self.answer.first or self._views[0].id if self.answer.tab == "raw" else "raw")

    def action_content(self) -> None:
        self._choose(next((view.id for view in self._views if view.id == "content"), ""))

    def action_table(self) -> None:
        self._choose("table")

    def action_structured(self) -> None:
        self._choose("structured")

    def action_next_tab(self) -> None:
        self._step(1)

    def action_previous_tab(self) -> None:
        self._step(-1)

    def _step(self, by: int) -> None:
        ids = [view.id for view in self._views]
        if self.answer is not None and ids:
            self._choose(ids[(ids.index(self.answer.tab) + by) % len(ids)])

    def action_call(self) -> None:
        """Send the request again, with the values of its form."""
        if not self.can_call:
            raise SkipAction
        self.post_message(CallAgain())

    def action_copy(self) -> None:
        if self.answer is not None and self.answer.outcome.answer_n:
            self.post_message(Copy(self._whole(self.answer), "the result"))

    def action_save(self) -> None:
        if self.answer is not None and self.answer.outcome.answer_n:
            data = self._whole(self.answer).encode("utf-8", "surrogatepass")
            self.post_message(Save(data, f"{self._file_name}.json", "the result"))

    @property
    def shown_text(self) -> str:
        """The text that copy and save take; empty without a result."""
        shown = self.answer is not None and self.answer.outcome.answer_n
        return self._whole(self.answer) if self.answer is not None and shown else ""

    @property
    def _file_name(self) -> str:
        outcome = self.answer.outcome if self.answer is not None else None
        return f"{outcome.method.replace('/', '-')}-{outcome.request_n}" if outcome is not None else "result"

    def _whole(self, answer: ShownOutcome) -> str:
        if answer.tab == "structured" and answer.structured is not None:
            return answer.structured
        texts = text_blocks(answer.outcome.value) if answer.tab == "content" else []
        if len(texts) == 1 and answer.items == 1:
            return texts[0]
        return self.session.journal.event(answer.outcome.answer_n).text

    def action_its_messages(self) -> None:
        if self.answer is not None and self.answer.outcome.request_n:
            self.post_message(ShowExchange(self.answer.outcome.request_n))

    def action_export(self) -> None:
        n = self.answer.outcome.request_n if self.answer is not None else 0
        self.post_message(Export(whole_exchange(self.session.journal, n) if n else None))

    # The table

    def on_table_view_changed(self, event: TableView.Changed) -> None:
        event.stop()
        self._draw_keys()
        self.post_message(HintsChanged())

    def on_table_view_opened(self, event: TableView.Opened) -> None:
        event.stop()
        self._open_row = event.row
        self._draw_body()
        self._draw_keys()
        self.post_message(HintsChanged())

    def on_table_view_save_requested(self, event: TableView.SaveRequested) -> None:
        event.stop()
        what = counted(event.rows, "row") + " as CSV"
        self.post_message(Save(event.data, f"{self._file_name}.csv", what, note=_formula_note(event.formulas)))

    # Differences from the schema

    def action_next_difference(self) -> None:
        self._step_difference(1)

    def action_previous_difference(self) -> None:
        self._step_difference(-1)

    def _step_difference(self, by: int) -> None:
        """Go to the next value that differs, in the table or else in the structured JSON."""
        answer = self.answer
        if answer is None or not answer.violations or not answer.has_structured:
            raise SkipAction
        marks = _marks(answer)
        if answer.tab == "table" and self._open_row is None and marks:
            self._step_mark(marks, by)
            return
        if answer.tab != "structured":
            self._choose("structured")
        view = self._json
        lines = sorted(view.marked)
        if lines:
            now = view.line
            ahead = [line for line in lines if line > now] if by > 0 else [line for line in lines[::-1] if line < now]
            view.show_line((ahead or (lines if by > 0 else lines[::-1]))[0])

    def _step_mark(self, marks: CellMarks, by: int) -> None:
        """Go to the next marked cell, in the order of the visible rows and columns."""
        table = self._table
        places: list[tuple[int, int, int, int | None]] = []
        for row, found in marks.items():
            at = table.list.index_of(row)
            for column in found:
                across = table.columns.order.index(column) if column in table.columns.order else 0
                # A row that the filter hides comes after all others.
                places.append((len(table.rows) if at is None else at, across, row, column))
        places.sort(key=lambda place: place[:3])
        here = (table.list.cursor, table.columns.cursor)
        ahead = [place for place in places if place[:2] > here] if by > 0 else []
        if by < 0:
            ahead = [place for place in places[::-1] if place[:2] < here]
        elif not self._at_difference and (on := [place for place in places if place[:2] == here]):
            ahead = on
        _, _, row, mark = (ahead or (places if by > 0 else places[::-1]))[0]
        self._at_difference = True
        table.go_to(row, mark)

    # Messages of the views

    def on_content_view_open_resource(self, event: ContentView.OpenResource) -> None:
        event.stop()
        self.post_message(OpenResource(event.uri))

    def on_content_view_save_requested(self, event: ContentView.SaveRequested) -> None:
        event.stop()
        self.post_message(Save(event.data, event.suggested, "what the server sent"))

    def action_leave(self) -> None:
        """Close the open row, or return to the list."""
        if self._open_row is not None and self._shown_view == "table":
            self._open_row = None
            self._draw_body()
            self._draw_keys()
            self.post_message(HintsChanged())
        else:
            self.post_message(LeaveWork())

    # Links that must be opened first (C-ELIC-05)

    def _link_lines(self) -> list[Paragraph]:
        lines: list[Paragraph] = []
        for at, link in enumerate(self._links):
            lines.append([(f"{at + 1}. ", "muted"), *link.pieces])
            lines += [(warning, "finding") for warning in link.warnings]
            told = self._opened.get(at, link.refusal)
            if told:
                lines.append((told, "muted"))
        return lines

    def action_open(self) -> None:
        """Open the next link, which the screen shows in full, in the browser."""
        waiting = [at for at, link in enumerate(self._links) if at not in self._opened and not link.refusal]
        if waiting:
            at = waiting[0]
            self._opened[at] = "opening"
            self._draw_edge()
            self.run_worker(partial(self._open, at, self._links), thread=True, group="open", exit_on_error=False)

    def _open(self, at: int, links: list[Link]) -> None:
        problem = open_in_browser(look_at(self.session.journal.redactor.restored(links[at].url)))
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(self._told, at, links, problem)

    def _told(self, at: int, links: list[Link], problem: str) -> None:
        if links is self._links:
            self._opened[at] = problem or "opened in your browser; when you are done there, call again"
            self._draw_edge()


_VIEW_OF = {"json": "raw"}
"""The view of a verb, if it has another name."""


def pair(found: list[KeyHint], title: str) -> list[KeyHint]:
    """Join the hints for both directions into one; a click presses the second key."""
    if len(found) != 2:
        return found
    labels = "".join(hint.label for hint in found)
    return [KeyHint(" ".join(hint.label for hint in found) if labels == "{}" else labels, title, found[1].key)]


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 row`, `2,000 rows`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _tabs(answer: ShownOutcome) -> list[Tab]:
    outcome = answer.outcome
    if not outcome.has_answer:
        if isinstance(outcome.error, ServerError):
            data = [Tab("data", "data")] if outcome.error.data is not None else []
            # Some servers send an error without an id with HTTP 400: that message does not belong to the call.
            return [*data, *([Tab("raw", "raw")] if outcome.answer_n else [])]
        return []
    items = answer.items
    tabs: list[Tab] = []
    if answer.page is not None:
        tabs += [Tab("page", "page"), Tab("text", "text")]
    if items is not None or not answer.has_structured:
        name = "source" if answer.page is not None else answer.items_key
        tabs.append(Tab("content", name, f"{items:,}" if items not in (None, 1) else ""))
    if answer.table is not None:
        tabs.append(Tab("table", "table"))
    if answer.has_structured:
        tabs.append(Tab("structured", "structured"))
    return [*tabs, Tab("raw", "raw")]


def _marks(answer: ShownOutcome) -> CellMarks:
    """Return the differences from the schema that have a place in the table."""
    marks: dict[int, dict[int | None, str]] = {}
    table = answer.table
    if table is not None and answer.table_is_structured:
        for violation in answer.violations or ():
            place = table.place(violation.path)
            if place is not None:
                marks.setdefault(place[0], {}).setdefault(place[1], violation.message)
    return marks


def _formula_note(formulas: int) -> str:
    if not formulas:
        return ""
    cells = counted(formulas, "cell")
    verb = "begins" if formulas == 1 else "begin"
    return f"{cells} {verb} with =, +, - or @, which a spreadsheet may run as a formula; the values are unchanged."


def _model_cost(answer: ShownOutcome) -> paint.Pieces:
    """Return the estimated tokens that a model reads: those of the text, and of the structured content instead."""
    cost = answer.model_cost
    if cost is None or not (cost.content or cost.structured):
        return ""
    if cost.structured is None:
        return f"~{quantity(cost.content_tokens, 'token')}"
    return f"~{quantity(cost.content_tokens, 'token')}, structured ~{count(cost.structured_tokens)}"


def _verdict(answer: ShownOutcome) -> paint.Pieces:
    """Return the result in a few words for the edge: the kind of error, or whether it matches the schema."""
    signs, outcome = signs_now(), answer.outcome
    if isinstance(outcome.error, ServerError):
        return [(f"{signs.failed} protocol error", "error")]
    words = {
        "tool-error": (f"{signs.failed} tool error", "error"),
        "connection": (f"{signs.failed} no answer", "error"),
        "timeout": (f"{signs.failed} timed out", "error"),
        "cancelled": ("cancelled", "muted"),
    }.get(outcome.kind)
    if words is not None:
        return [words]
    if answer.unchecked:
        return [(f"{signs.finding} the schema cannot be used", "finding")]
    if answer.violations is None:
        return ""
    if not answer.violations:
        return [(f"{signs.done} matches schema", "received")]
    many = len(answer.violations)
    count = "1 difference" if many == 1 else f"{many} differences"
    return [(f"{signs.finding} {count} from schema", "finding")]


def _differences(answer: ShownOutcome) -> list[Paragraph]:
    sign = signs_now().finding
    if answer.unchecked:
        return [(f"{sign} {answer.unchecked}", "finding")]
    return [
        [(f"{sign} ", "finding"), (f"{violation.path} " if violation.path else "", "bright"), violation.message]
        for violation in answer.violations or ()
    ]


def _changes(answer: ShownOutcome) -> list[Paragraph]:
    """Return the differences since the restart of the server."""
    return [[(f"{signs_now().finding} ", "finding"), text] for text in answer.changes or ()]


def _notice(outcome: CallOutcome) -> list[Paragraph]:
    """Return the sentences about an error, by its kind, and what to do about it."""
    error = outcome.error
    lines: list[Paragraph] = []
    if isinstance(error, ServerError):
        code = str(error.rpc_code)[:20]
        name = CODE_NAMES.get(error.rpc_code, "") if isinstance(error.rpc_code, int) else ""
        lines += [[(code, "error"), (f"  {name}", "muted")], (error.rpc_message, "bright")]
    elif outcome.kind == "cancelled" and outcome.by_us:
        lines.append((f"You cancelled it after {duration(outcome.gave_up)}.", "normal"))
    elif isinstance(error, InspectorError):
        lines.append((error.message, "error"))
    if isinstance(error, ServerExited):
        lines += [(line, "muted") for line in error.stderr[-STDERR_LINES:]]
    if error is not None and error.hint:
        lines.append((advice(error.hint), "muted"))
    if outcome.lateness:
        lines.append((f"{outcome.lateness[0].upper()}{outcome.lateness[1:]}; the late answer follows.", "finding"))
    return lines


def _links(outcome: CallOutcome) -> list[Link]:
    error = outcome.error
    if not isinstance(error, ServerError) or error.rpc_code != URL_ELICITATION_REQUIRED:
        return []
    wanted: Any = error.data.get("elicitations") if isinstance(error.data, dict) else None
    found = wanted if isinstance(wanted, list) else []
    return [look_at(each.get("url")) for each in found[:LINKS] if isinstance(each, dict)]

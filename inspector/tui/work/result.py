"""The result of a request: content, structured result beside its schema, raw answer, or error."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message

from inspector.client.session_state import SessionState
from inspector.errors import InspectorError, ServerError, ServerExited
from inspector.journal.alterations import names_in
from inspector.journal.exchange import whole_exchange
from inspector.journal.journal import Journal
from inspector.protocol.result_shape import text_blocks
from inspector.text import count, duration, quantity, size
from inspector.tui.advice import advice
from inspector.tui.keymap import KeyHint, bindings
from inspector.tui.log.summaries import altered_by
from inspector.tui.model.result import RESULT_VERBS, ResultFacts, Showing
from inspector.tui.pane_keys import VerbsByRules
from inspector.tui.pane_messages import Copy, Export, HintsChanged, LeaveWork, OpenResource, Save, ShowExchange
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.content import ContentView
from inspector.tui.widgets.json_view import JsonView
from inspector.tui.widgets.pane import CompactPane
from inspector.tui.widgets.paragraphs import Paragraph, Paragraphs
from inspector.tui.widgets.tab_row import TabLabel, TabRow
from inspector.tui.widgets.table_view import TableView
from inspector.tui.work.links_to_open import LinksToOpen
from inspector.tui.work.outcome import CODE_NAMES, CallOutcome, Contents, ShownOutcome
from inspector.tui.work.recorded_calls import answered_before
from inspector.tui.work.result_body import ResultBody

STDERR_LINES = 5


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
LOW, VERY_LOW = 20, 4
"""Lines of content below which the empty line below the row of views gives way, and the row itself."""


class ResultPane(CompactPane, VerbsByRules):
    """The result of the current item, or the text that replaces a missing one."""

    RULES = RESULT_VERBS
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("result"),
        *(binding for binding in bindings("resource") if binding.action == "subscribe"),
    ]
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
        self.follow = ""
        """The title of the key for changes of the resource; `""` without such a key."""
        self.stale = ""
        """Why the result does not belong to the arguments shown; it is muted then."""
        self.pinned = False
        """The call is sent again after each restart of a watched server."""
        self._views: list[TabLabel] = []
        self._links: LinksToOpen | None = None
        self._before = (0, 0)
        """The request of an answer, and the one before it about the same item, or 0."""
        self._notice = Paragraphs(after=1)
        self.body = ResultBody(self, session, read=self._draw, checked=self._checked)

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield self._notice
        yield from self.body.widgets()

    @property
    def lines(self) -> int:
        """The lines that its content fills, without the edge, if there is room; many while a large one is read."""
        if self.is_reading:
            return MANY
        beside = sum(part.size.height for part in (self._notice, self.body.differences) if part.display)
        return self.body.main.count + beside + _HEADS

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
        if answer is not self.answer:
            self.answer = answer
            self.body.begin(answer)
            journal = self.session.journal
            self._links = None if answer is None else LinksToOpen(answer.outcome, self, journal, self._draw_edge)
        elif stale == self.stale and answer is not None:
            return
        if answer is None:
            self._notice.show([(promise, "muted")] if promise else ())
        # Beside no answer of the server, the sentences about it have the whole pane.
        self._notice.styles.max_height = None if answer is not None and answer.outcome.has_answer else "100%"
        self.stale = stale
        self.body.mute(bool(stale))
        self._draw()

    def _draw(self) -> None:
        if not self.is_attached:
            return  # A call ended while the screen was being closed.
        answer = self.answer
        if answer is not None and answer.contents is None:
            self.body.prepare(answer)
        self._views = [] if answer is None or answer.contents is None else _tabs(answer, answer.contents)
        if answer is not None and answer.contents is not None:
            ids = [tab.id for tab in self._views]
            answer.tab = next((tab for tab in (answer.tab, answer.contents.first, *ids) if tab in ids), "")
        self._draw_edge()
        self._draw_tabs()
        self.body.draw(has_views=bool(self._views))
        if answer is not None:
            self.body.check(answer)
        self.post_message(HintsChanged())

    @property
    def is_reading(self) -> bool:
        """Whether a large result is being read for its first view."""
        return self.answer is not None and self.answer.contents is None

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
        self.body.content.set_class(plain and not self._notice.display, "-alone")
        self._draw_keys()

    def _draw_keys(self) -> None:
        in_table = self._shown_view == "table" and not self.is_reading
        self.tab_note = self.body.table.note if in_table else ""

    def _draw_edge(self) -> None:
        answer = self.answer
        if answer is None:
            self.tone = ""
            self.show_facts(())
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
        about += _addons(self.session.journal, outcome)
        facts += [verdict, *about] if answer.violations or answer.validation.unusable else [*about, verdict]
        facts.append(outcome.time)
        if outcome.answer_n and answer.table is None:
            facts.append(size(self.session.journal.index.size(outcome.answer_n)))
        facts.append(_model_cost(answer))
        self.show_facts([fact for fact in facts if fact])
        links = self._links.lines() if self._links is not None else []
        self._notice.show([*_notice(outcome), *links, *_changes(answer)])

    def focus_inside(self) -> bool:
        """Focus the current view, or the pane itself where only sentences say what happened; False without a result."""
        if self.answer is None:
            return False
        if not self.has_focus_within:
            self.screen.set_focus(self.body.keys_go_to)
        return True

    def _checked(self) -> None:
        """Show what the comparison with the schema found."""
        self.redraw()
        self.post_message(HintsChanged())

    def on_json_view_loaded(self, event: JsonView.Loaded) -> None:
        event.stop()
        self.body.mark()

    # Actions

    def verb_facts(self) -> ResultFacts:
        """Return the facts on which the verbs depend."""
        answer, body = self.answer, self.body
        if answer is None:
            return ResultFacts(live=self.can_call, has_result=False)
        in_table = body.table.display and answer.contents is not None
        return ResultFacts(
            live=self.can_call,
            showing=Showing.TABLE if in_table else Showing.ROW if body.row_is_open else Showing.OTHER,
            views=tuple(view.id for view in self._views),
            links=bool(self._links),
            answered=answer.outcome.answer_n > 0,
            requested=answer.outcome.request_n > 0,
            called_before=self._call_before > 0,
            differs=bool(answer.violations) and answer.has_structured,
            cut=body.main.max_scroll_y > 0,
            filtered=bool(body.table.words),
            follow=self.follow,
        )

    def hints(self) -> list[KeyHint]:
        """Return the keys for the result."""
        if self.answer is not None and self.body.table.is_typing:
            return [KeyHint("enter", "rows", "enter"), KeyHint("esc", "all rows", "escape")]
        return super().hints()

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

    class Subscribe(Message):
        """Subscribe to changes of the resource, or unsubscribe."""

    class SaveCall(Message):
        """Save the call whose result is shown."""

    class PinCall(Message):
        """Send the call again after each restart, or stop doing so."""

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
        self.post_message(self.Expect(self.body.pointer))

    def action_save_call(self) -> None:
        """Save the call whose result is shown."""
        self.post_message(self.SaveCall())

    def action_subscribe(self) -> None:
        """Subscribe to changes of the resource, or unsubscribe."""
        self.post_message(self.Subscribe())

    def action_pin_call(self) -> None:
        """Send the call again after each restart of a watched server, or stop doing so."""
        self.post_message(self.PinCall())

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
        self.body.open_row = None
        if tab != answer.tab:
            answer.tab = tab
            first = answer.contents.first if answer.contents is not None else ""
            if answer.outcome.has_answer:
                self.post_message(ViewChosen(answer, "" if tab == first else tab))
        self.body.draw(has_views=True)
        self._draw_tabs()
        self._draw_edge()
        self.post_message(HintsChanged())

    def action_json(self) -> None:
        """Show the raw answer, or the first view again."""
        answer = self.answer
        if answer is not None and answer.contents is not None and self._views:
            self._choose(answer.contents.first or self._views[0].id if answer.tab == "raw" else "raw")

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
        has_answer = self.answer is not None and self.answer.outcome.answer_n
        return self._whole(self.answer) if self.answer is not None and has_answer else ""

    @property
    def _file_name(self) -> str:
        outcome = self.answer.outcome if self.answer is not None else None
        return f"{outcome.method.replace('/', '-')}-{outcome.request_n}" if outcome is not None else "result"

    def _whole(self, answer: ShownOutcome) -> str:
        if answer.tab == "structured" and answer.structured is not None:
            return answer.structured
        texts = text_blocks(answer.outcome.value) if answer.tab == "content" else []
        if len(texts) == 1 and answer.contents is not None and answer.contents.items == 1:
            return texts[0]
        return self.session.journal.event(answer.outcome.answer_n).text

    def action_its_messages(self) -> None:
        if self.answer is not None and self.answer.outcome.request_n:
            self.post_message(ShowExchange(self.answer.outcome.request_n))

    def action_export(self) -> None:
        n = self.answer.outcome.request_n if self.answer is not None else 0
        self.post_message(Export(whole_exchange(self.session.journal, n) if n else None))

    # The table

    def on_virtual_list_highlighted(self) -> None:
        """The key of the block with the cursor is shown."""
        self.post_message(HintsChanged())

    def on_table_view_changed(self, event: TableView.Changed) -> None:
        event.stop()
        self._draw_keys()
        self.post_message(HintsChanged())

    def on_table_view_opened(self, event: TableView.Opened) -> None:
        event.stop()
        self._show_row(event.row)

    def _show_row(self, row: int | None) -> None:
        """Show a row of the table as JSON, or the table again."""
        self.body.open_row = row
        self.body.draw(has_views=True)
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
        if not self.body.step_difference(by):
            self._choose("structured")
            self.body.step_difference(by)

    # Messages of the views

    def on_content_view_open_resource(self, event: ContentView.OpenResource) -> None:
        event.stop()
        self.post_message(OpenResource(event.uri))

    def on_content_view_save_requested(self, event: ContentView.SaveRequested) -> None:
        event.stop()
        self.post_message(Save(event.data, event.suggested, "what the server sent"))

    def action_leave(self) -> None:
        """Close the open row, or return to the list."""
        if self.body.row_is_open:
            self._show_row(None)
        else:
            self.post_message(LeaveWork())

    def action_open(self) -> None:
        """Open the next link, which the screen shows in full, in the browser."""
        if self._links is not None:
            self._links.open_next()


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 row`, `2,000 rows`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _tabs(answer: ShownOutcome, contents: Contents) -> list[TabLabel]:
    outcome = answer.outcome
    if not outcome.has_answer:
        if isinstance(outcome.error, ServerError):
            data = [TabLabel("data", "data")] if outcome.error.data is not None else []
            # Some servers send an error without an id with HTTP 400: that message does not belong to the call.
            return [*data, *([TabLabel("raw", "raw")] if outcome.answer_n else [])]
        return []
    items = contents.items
    tabs: list[TabLabel] = []
    if contents.page is not None:
        tabs += [TabLabel("page", "page"), TabLabel("text", "text")]
    if items is not None or not answer.has_structured:
        name = "source" if contents.page is not None else answer.items_key
        tabs.append(TabLabel("content", name, f"{items:,}" if items not in (None, 1) else ""))
    if contents.table is not None:
        tabs.append(TabLabel("table", "table"))
    if answer.has_structured:
        tabs.append(TabLabel("structured", "structured"))
    return [*tabs, TabLabel("raw", "raw")]


def _formula_note(formulas: int) -> str:
    if not formulas:
        return ""
    cells = counted(formulas, "cell")
    verb = "begins" if formulas == 1 else "begin"
    return f"{cells} {verb} with =, +, - or @, which a spreadsheet may run as a formula; the values are unchanged."


def _model_cost(answer: ShownOutcome) -> paint.Pieces:
    """Return the estimated tokens that a model reads: those of the text, and of the structured content instead."""
    cost = answer.contents.model_cost if answer.contents is not None else None
    if cost is None or not (cost.content or cost.structured):
        return ""
    if cost.structured is None:
        return f"~{quantity(cost.content_tokens, 'token')}"
    return f"~{quantity(cost.content_tokens, 'token')}, structured ~{count(cost.structured_tokens)}"


def _addons(journal: Journal, outcome: CallOutcome) -> list[paint.Pieces]:
    """Return what addons did to the request and to its answer: `refused by guard.py`."""
    if not names_in(journal.header):
        return []
    events = [journal.event(n) for n in (outcome.request_n, outcome.answer_n) if n]
    steps = dict.fromkeys(step for event in events for step in altered_by(event))
    return [[(text.strip(), role)] for text, role in steps]


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
    if answer.validation.unusable:
        return [(f"{signs.finding} the schema cannot be used", "finding")]
    if answer.validation.violations is None:
        return ""
    if not answer.violations:
        return [(f"{signs.done} matches schema", "received")]
    many = len(answer.violations)
    count = "1 difference" if many == 1 else f"{many} differences"
    return [(f"{signs.finding} {count} from schema", "finding")]


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

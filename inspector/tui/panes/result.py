"""What a request came to: its content, its structured result beside its schema, the exact answer, or its error."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.worker import get_current_worker

from inspector.errors import InspectorError, ServerError, ServerExited
from inspector.protocol.jsonrpc import URL_ELICITATION_REQUIRED
from inspector.text import duration, size
from inspector.tui.events import AnySession, Copy, HintsChanged, LeaveWork, OpenResource, Save, ShowExchange
from inspector.tui.keymap import Hint, bindings
from inspector.tui.panes.keys import hints
from inspector.tui.panes.links import Link, look_at, open_in_browser
from inspector.tui.panes.messages_view import MessagesView
from inspector.tui.panes.outcome import CODE_NAMES, Answer, Outcome
from inspector.tui.panes.paragraphs import Paragraph, Paragraphs
from inspector.tui.panes.snug import SnugEdge
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.content import ContentView
from inspector.tui.widgets.content_blocks import json_text
from inspector.tui.widgets.json_view import AT_ONCE, JsonView
from inspector.tui.widgets.tab_row import Tab, TabRow
from inspector.tui.wording import in_words

DIFFERENCES = 6
"""Differences from a schema that are listed under a result; all of them are marked in it."""
LINKS = 20
STDERR_LINES = 5


class ResultPane(SnugEdge):
    """The newest result of the item that is shown, or the place where it will be."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("result")]
    DEFAULT_CSS = """
    ResultPane > FoldView { height: 1fr; }
    ResultPane > .-alone { margin-top: 1; }
    ResultPane > Paragraphs { max-height: 50%; }
    """

    def __init__(self, session: AnySession, *, id: str | None = None) -> None:
        super().__init__(title="Result", id=id)
        self.session = session
        self.answer: Answer | None = None
        self._promise = ""
        self._views: list[Tab] = []
        self._links: list[Link] = []
        self._opened: dict[int, str] = {}
        self._notice = Paragraphs(after=1)
        self._content = MessagesView(empty="The result has no content.")
        self._json = JsonView(wrap=True)
        self._differences = Paragraphs(most=DIFFERENCES, after=1)

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield self._notice
        yield self._content
        yield self._json
        yield self._differences

    def on_mount(self) -> None:
        self._draw()

    # What is shown

    def show(self, answer: Answer | None, promise: str = "") -> None:
        """Show an answer; where there is none, `promise` says how one comes here."""
        self._promise = promise
        if answer is not self.answer:
            self.answer = answer
            self._opened = {}
            self._links = _links(answer.outcome) if answer is not None else []
        self._draw()

    def _draw(self) -> None:
        answer = self.answer
        self._views = [] if answer is None else _tabs(answer)
        if answer is not None and answer.tab not in [tab.id for tab in self._views]:
            answer.tab = self._views[0].id if self._views else ""
        self._draw_edge()
        self._draw_tabs()
        self._draw_body()
        if answer is not None and answer.wants_check:
            self.run_worker(partial(self._check, answer), thread=True, group="check", exit_on_error=False)
        self.post_message(HintsChanged())

    def _draw_tabs(self) -> None:
        """Show the tabs, unless there is nothing but plain content, which needs none."""
        tab = self.answer.tab if self.answer is not None else ""
        plain = [view.id for view in self._views] == ["content", "raw"] and tab == "content"
        self.tabs = [] if plain else self._views
        self.tab_row.active = tab
        self._content.set_class(plain and not self._notice.display, "-alone")
        self.state_keys = [hint for hint in self.hints() if hint.verb != "result.leave"]
        self.draw_state()

    def _draw_edge(self) -> None:
        answer = self.answer
        if answer is None:
            self.state_facts, self.tone = (), ""
            self.draw_state()
            self._notice.show([(self._promise, "muted")] if self._promise else ())
            return
        outcome = answer.outcome
        failed = outcome.kind not in ("result", "cancelled")
        self.tone = "error" if failed else ""
        facts: list[paint.Pieces] = [_verdict(answer), duration(outcome.took)]
        if outcome.answer_n:
            facts.append(size(self.session.journal.index.sizes[outcome.answer_n - 1]))
        self.state_facts = [fact for fact in facts if fact]
        self.draw_state()
        self._notice.show([*_notice(outcome), *self._link_lines()])

    def _draw_body(self) -> None:
        answer = self.answer
        tab = answer.tab if answer is not None else "content"
        shows_json = tab in ("structured", "raw", "data")
        within = self._content.has_focus or self._json.has_focus
        self._json.display = shows_json
        self._content.display = not shows_json and bool(self._views)
        self._differences.show(_differences(answer) if answer is not None and tab == "structured" else ())
        if answer is not None and shows_json:
            self._load_json(answer)
        elif answer is not None and self._views:
            self._load_content(answer.outcome)
        if within:
            (self._json if shows_json else self._content).focus()

    def _load_content(self, outcome: Outcome) -> None:
        value = outcome.value if isinstance(outcome.value, dict) else {}
        if outcome.method == "prompts/get":
            self._content.load_messages(value.get("messages", []))
        elif outcome.method == "resources/read":
            contents = value.get("contents", [])
            found = contents if isinstance(contents, list) else [contents]
            self._content.load_plain([{"type": "resource", "resource": each} for each in found])
        else:
            self._content.load_plain(value.get("content", []))

    def _load_json(self, answer: Answer) -> None:
        outcome = answer.outcome
        if answer.tab == "data":
            data = outcome.error.data if isinstance(outcome.error, ServerError) else None
            self._json.load(json_text(data))
        elif answer.tab == "raw":
            self._json.load(self.session.journal.event(outcome.answer_n).text)
        elif answer.structured is not None:
            self._json.load(answer.structured)
            self._mark(answer)
        else:
            text = self.session.journal.event(outcome.answer_n).text
            if len(text) <= AT_ONCE:
                answer.cut_out(text)
                self._load_json(answer)
            else:
                self._json.load("")
                self.run_worker(partial(self._cut_out, answer, text), thread=True, group="cut", exit_on_error=False)

    def _cut_out(self, answer: Answer, text: str) -> None:
        answer.cut_out(text)
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(self._prepared, answer)

    def _check(self, answer: Answer) -> None:
        answer.check()
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(self._prepared, answer)

    def _prepared(self, answer: Answer) -> None:
        if answer is self.answer and self.is_attached:
            self._draw_edge()
            if answer.tab == "structured":
                self._draw_body()

    def on_json_view_loaded(self, event: JsonView.Loaded) -> None:
        event.stop()
        if self.answer is not None and self.answer.tab == "structured":
            self._mark(self.answer)

    def _mark(self, answer: Answer) -> None:
        """Give the places that differ from the schema a ground of their own."""
        document = self._json.document
        if document is None or not answer.violations:
            return
        lines = [document.line_of(violation.path) for violation in answer.violations]
        self._json.mark(frozenset(line for line in lines if line is not None))

    # What the user does

    def hints(self) -> list[Hint]:
        """What can be done with the result."""
        answer = self.answer
        if answer is None:
            return []
        wanted: list[str | tuple[str, str]] = []
        if self._links:
            wanted.append("result.open")
        if answer.outcome.answer_n:
            wanted += ["result.copy", "result.save"]
            wanted.append(("result.json", "content" if answer.tab == "raw" else "json"))
        if answer.outcome.request_n:
            wanted.append("result.its-messages")
        wanted.append("result.leave")
        return hints(self, *wanted)

    def on_tab_row_chosen(self, event: TabRow.Chosen) -> None:
        event.stop()
        self._choose(event.tab)

    def _choose(self, tab: str) -> None:
        if self.answer is not None:
            self.answer.tab = tab
            self._draw_tabs()
            self._draw_body()
            self.post_message(HintsChanged())

    def action_json(self) -> None:
        """The exact answer as JSON, or back from it."""
        if self.answer is not None and self._views:
            self._choose(self._views[0].id if self.answer.tab == "raw" else "raw")

    def action_next_tab(self) -> None:
        self._step(1)

    def action_previous_tab(self) -> None:
        self._step(-1)

    def _step(self, by: int) -> None:
        ids = [view.id for view in self._views]
        if self.answer is not None and ids:
            self._choose(ids[(ids.index(self.answer.tab) + by) % len(ids)])

    def action_copy(self) -> None:
        if self.answer is not None and self.answer.outcome.answer_n:
            self.post_message(Copy(self._whole(self.answer), "the result"))

    def action_save(self) -> None:
        if self.answer is not None and self.answer.outcome.answer_n:
            data = self._whole(self.answer).encode("utf-8", "surrogatepass")
            name = self.answer.outcome.method.replace("/", "-")
            self.post_message(Save(data, f"{name}-{self.answer.outcome.request_n}.json", "the result"))

    def _whole(self, answer: Answer) -> str:
        if answer.tab == "structured" and answer.structured is not None:
            return answer.structured
        return self.session.journal.event(answer.outcome.answer_n).text

    def action_its_messages(self) -> None:
        if self.answer is not None and self.answer.outcome.request_n:
            self.post_message(ShowExchange(self.answer.outcome.request_n))

    def on_content_view_open_resource(self, event: ContentView.OpenResource) -> None:
        event.stop()
        self.post_message(OpenResource(event.uri))

    def on_content_view_save_requested(self, event: ContentView.SaveRequested) -> None:
        event.stop()
        self.post_message(Save(event.data, event.suggested, "what the server sent"))

    def action_leave(self) -> None:
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
        """Give the next link that was not opened yet to the browser; it stands whole on the screen."""
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


def _tabs(answer: Answer) -> list[Tab]:
    outcome = answer.outcome
    if not outcome.has_answer:
        if isinstance(outcome.error, ServerError):
            return [*([Tab("data", "data")] if outcome.error.data is not None else []), Tab("raw", "raw")]
        return []
    value = outcome.value if isinstance(outcome.value, dict) else {}
    key = {"prompts/get": "messages", "resources/read": "contents"}.get(outcome.method, "content")
    items = value.get(key)
    tabs = [Tab("structured", "structured")] if answer.has_structured else []
    if key in value or not tabs:
        tabs.append(Tab("content", key, str(len(items)) if isinstance(items, list) else ""))
    return [*tabs, Tab("raw", "raw")]


def _verdict(answer: Answer) -> paint.Pieces:
    """Say at the edge how it went: which kind of error, or whether the result is what the schema promised."""
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
        return [(f"{signs.finding} its schema cannot be used", "finding")]
    if answer.violations is None:
        return ""
    if not answer.violations:
        return [(f"{signs.done} matches its schema", "received")]
    many = len(answer.violations)
    count = "1 difference" if many == 1 else f"{many} differences"
    return [(f"{signs.finding} {count} from its schema", "finding")]


def _differences(answer: Answer) -> list[Paragraph]:
    sign = signs_now().finding
    if answer.unchecked:
        return [(f"{sign} {answer.unchecked}", "finding")]
    return [
        [(f"{sign} ", "finding"), (f"{violation.path} " if violation.path else "", "bright"), violation.message]
        for violation in answer.violations or ()
    ]


def _notice(outcome: Outcome) -> list[Paragraph]:
    """Say what went wrong, each kind of error in its own words, and what to do about it."""
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
        lines.append((in_words(error.hint), "muted"))
    if outcome.lateness:
        lines.append((f"{outcome.lateness[0].upper()}{outcome.lateness[1:]}; here is what it says.", "finding"))
    return lines


def _links(outcome: Outcome) -> list[Link]:
    error = outcome.error
    if not isinstance(error, ServerError) or error.rpc_code != URL_ELICITATION_REQUIRED:
        return []
    wanted: Any = error.data.get("elicitations") if isinstance(error.data, dict) else None
    found = wanted if isinstance(wanted, list) else []
    return [look_at(each.get("url")) for each in found[:LINKS] if isinstance(each, dict)]

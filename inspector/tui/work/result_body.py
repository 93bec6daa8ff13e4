"""The views of a result, of which one is shown: content, table, JSON, page, or what happened without an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from textual.widget import Widget
from textual.worker import get_current_worker

from inspector.client.session_state import SessionState
from inspector.errors import ServerError
from inspector.system.files import return_freed_memory
from inspector.text import size
from inspector.tui.themes import signs_now
from inspector.tui.widgets.content import MessagesView
from inspector.tui.widgets.content_blocks import json_text
from inspector.tui.widgets.fact_rows import FactsView, RowSection
from inspector.tui.widgets.json_view import AT_ONCE, JsonView
from inspector.tui.widgets.paragraphs import Paragraph, Paragraphs
from inspector.tui.widgets.sections import Below
from inspector.tui.widgets.table_columns import CellMarks
from inspector.tui.widgets.table_view import TableView
from inspector.tui.widgets.virtual_list import VirtualList
from inspector.tui.work.call_events import CallEvents
from inspector.tui.work.outcome import ShownOutcome
from inspector.tui.work.page_views import page_in

DIFFERENCES = 6
"""Differences from a schema that are listed below a view without places for them."""


class ResultBody:
    """The views of the answer that `pane` shows. `read` and `checked` are called after a thread has done its work."""

    def __init__(
        self, pane: Widget, session: SessionState, *, read: Callable[[], None], checked: Callable[[], None]
    ) -> None:
        self._pane = pane
        self._session = session
        self._read = read
        self._checked = checked
        self.answer: ShownOutcome | None = None
        self.open_row: int | None = None
        """The row of the table that is shown as JSON."""
        self._at_difference = False
        """The user went to a difference in this answer."""
        self.content = MessagesView(empty="The content is empty.")
        self.json = JsonView(wrap=True)
        self.table = TableView()
        self.page = FactsView(what="the facts of the page")
        self.happened = VirtualList()
        self.happened.muted = True
        self.differences = Paragraphs(max_lines=DIFFERENCES, after=1)

    def widgets(self) -> Iterator[Widget]:
        """Yield the views, in the order of the pane."""
        yield from (self.content, self.json, self.table, self.page, self.happened, self.differences)

    @property
    def main(self) -> VirtualList:
        """The view that gets keys."""
        if self.table.display:
            return self.table.list
        if self.json.display:
            return self.json
        if self.page.display:
            return self.page
        return self.happened if self.happened.display else self.content

    @property
    def keys_go_to(self) -> Widget:
        """Return what gets the focus: the view, or the pane if there are only sentences."""
        return self.main if self.main.display else self._pane

    @property
    def row_is_open(self) -> bool:
        """A row of the table is shown as JSON."""
        return self.open_row is not None and self.answer is not None and self.answer.tab == "table"

    def begin(self, answer: ShownOutcome | None) -> None:
        """Show another answer from now on."""
        self.answer, self.open_row, self._at_difference = answer, None, False

    def mute(self, muted: bool) -> None:
        """Show an answer that does not belong to the form."""
        for view in (self.content, self.json, self.table.list):
            view.mute(muted)

    # Reading

    def _text(self, answer: ShownOutcome) -> str:
        return self._session.journal.event(answer.outcome.answer_n).text

    def _is_large(self, answer: ShownOutcome) -> bool:
        return self._session.journal.index.size(answer.outcome.answer_n) > AT_ONCE

    def _in_thread(self, group: str, work: Callable[[], object], then: Callable[[], object]) -> None:
        """Do something in a thread, and then something here, unless it was cancelled."""

        def do() -> None:
            work()
            if not get_current_worker().is_cancelled:
                self._pane.app.call_from_thread(then)

        self._pane.run_worker(do, thread=True, group=group, exclusive=group != "check", exit_on_error=False)

    def prepare(self, answer: ShownOutcome) -> None:
        """Choose the first view, at once for a small result, in a thread for a large one."""
        if not self._is_large(answer):
            self._look_at(answer)
            return

        def prepare() -> None:
            return_freed_memory()  # What receiving the message took is free now.
            self._look_at(answer)
            if not get_current_worker().is_cancelled:
                self._pane.app.call_from_thread(self._prepared, answer)
                return_freed_memory()

        self._pane.run_worker(prepare, thread=True, group="prepare", exclusive=True, exit_on_error=False)

    def _prepared(self, answer: ShownOutcome) -> None:
        answer.lighten()
        if self._shows(answer):
            self._read()

    def _look_at(self, answer: ShownOutcome) -> None:
        page = page_in(self._session, answer.outcome.request_n, answer.outcome.value)
        answer.prepare(self._text(answer), page)

    def check(self, answer: ShownOutcome) -> None:
        """Compare the answer with its schema, in a thread, if that was not done."""
        if not answer.begin_check():
            return

        def check() -> None:
            answer.check()
            if self._is_large(answer):
                answer.lighten()
                return_freed_memory()

        def then() -> None:
            """Show the differences from the schema, without scrolling."""
            if self._shows(answer):
                self._checked()
                if answer.tab == "content":
                    self.differences.show(_differences(answer))
                self.mark()
                self.table.mark(_marks(answer))

        self._in_thread("check", check, then)

    def _shows(self, answer: ShownOutcome) -> bool:
        return answer is self.answer and self._pane.is_attached

    # Drawing

    def draw(self, *, has_views: bool) -> None:
        """Draw the view of the answer's tab. Without views, only what happened."""
        answer, focused = self.answer, self._pane.screen.focused
        tab = answer.tab if answer is not None else ""
        within = focused is self._pane or (
            focused is not None and not set(self.widgets()).isdisjoint(focused.ancestors_with_self)
        )
        waits = answer is not None and answer.contents is None
        shows_table = has_views and tab == "table" and self.open_row is None
        shows_json = has_views and (tab in ("structured", "raw", "data") or self.row_is_open)
        self.table.display, self.json.display = shows_table, shows_json
        self.page.display = has_views and tab == "page"
        self.content.display = waits or (has_views and not (shows_json or shows_table or self.page.display))
        self.happened.display = self._load_happened()
        self.differences.show(_differences(answer) if answer is not None and tab == "content" else ())
        if answer is not None:
            self._load(answer, waits=waits, has_views=has_views)
        self._pane.can_focus = answer is not None and self.keys_go_to is self._pane
        if within:
            # At once: a view that is hidden while it has the focus gives it to no other, and keys would be lost.
            self._pane.screen.set_focus(self.keys_go_to)

    def _load(self, answer: ShownOutcome, *, waits: bool, has_views: bool) -> None:
        page = answer.contents.page if answer.contents is not None else None
        if waits:
            self._say_reading(answer)
        elif self.table.display and answer.table is not None:
            self.table.load(answer.table, _marks(answer))
        elif self.json.display:
            self._load_json(answer)
        elif page is not None and answer.tab == "page":
            self.page.show(RowSection(page.rows))
        elif page is not None and answer.tab == "text":
            self.content.nothing("The page has no text.")
            self.content.load_plain([{"type": "text", "text": page.text}] if page.text else ())
        elif has_views:
            self._load_content(answer)

    def _say_reading(self, answer: ShownOutcome) -> None:
        self.content.nothing(f"reading {size(self._session.journal.index.size(answer.outcome.answer_n))}…")
        self.content.load_plain(())

    def _load_happened(self) -> bool:
        """Show the events inside a call that ended without an answer; False if there were none."""
        outcome = self.answer.outcome if self.answer is not None else None
        if outcome is None or outcome.has_answer or not outcome.request_n or isinstance(outcome.error, ServerError):
            return False
        source = self.happened.source
        if not isinstance(source, CallEvents) or source.n != outcome.request_n:
            source = CallEvents(self._session.journal, outcome.request_n)
            source.advance()
            self.happened.source = source
        return len(source) > 0

    def _load_content(self, answer: ShownOutcome) -> None:
        journal = self._session.journal
        if not answer.is_light:
            self._show_content(answer, answer.value(journal))
            return
        self._say_reading(answer)
        values: list[dict[str, Any]] = []
        self._in_thread(
            "content", lambda: values.append(answer.value(journal)), lambda: self._show_content(answer, values[0])
        )

    def _show_content(self, answer: ShownOutcome, value: dict[str, Any]) -> None:
        if answer is not self.answer or answer.tab != "content":
            return
        self.content.nothing("The content is empty.")
        if answer.outcome.method == "prompts/get":
            self.content.load_messages(value.get("messages", []))
        elif answer.outcome.method == "resources/read":
            contents = value.get("contents", [])
            items = contents if isinstance(contents, list) else [contents]
            self.content.load_plain([{"type": "resource", "resource": item} for item in items])
        else:
            self.content.load_plain(value.get("content", []))

    def _load_json(self, answer: ShownOutcome) -> None:
        error = answer.outcome.error
        if self.row_is_open and self.open_row is not None and answer.table is not None:
            self.json.load(answer.table.json(self.open_row))
            self.mark()
        elif answer.tab == "data":
            self.json.load(json_text(error.data if isinstance(error, ServerError) else None))
        elif answer.tab == "raw":
            self.json.load(self._text(answer))
        elif answer.structured is not None:
            self.json.load(answer.structured)
            self.mark()
        elif not self._is_large(answer):
            answer.cut_out(self._text(answer))
            self._load_json(answer)
        else:
            self.json.load("")
            self._in_thread("cut", lambda: answer.cut_out(self._text(answer)), partial(self._cut, answer))

    def _cut(self, answer: ShownOutcome) -> None:
        if self._shows(answer) and answer.tab == "structured":
            self.draw(has_views=True)

    # Differences from the schema

    def mark(self) -> None:
        """Write each difference from the schema below its value."""
        answer, document = self.answer, self.json.document
        if answer is None or document is None or not self.json.display or answer.tab not in ("structured", "table"):
            return
        notes: dict[int, list[Below]] = {}
        sign = signs_now().finding
        for pointer, message in self._differences_here(answer):
            line = document.line_of(pointer)
            if line is not None:
                indent = 2 * min(document.depth(line), 40) + 2
                notes.setdefault(line, []).append((f"{sign} {message}", "finding", indent))
        self.json.mark(frozenset(notes))
        self.json.annotate(notes)

    def _differences_here(self, answer: ShownOutcome) -> list[tuple[str, str]]:
        """Return (JSON pointer in the shown text, message) of each difference that has a place in it."""
        differences = [(violation.path, violation.message) for violation in answer.violations if answer.has_structured]
        if answer.tab == "structured":
            return differences
        structured = answer.contents is not None and answer.contents.structured_table
        if self.open_row is None or answer.table is None or not structured:
            return []
        row = f"{answer.table.pointer}/{self.open_row}"
        return [
            (path[len(row) :], message) for path, message in differences if path == row or path.startswith(f"{row}/")
        ]

    def step_difference(self, by: int) -> bool:
        """Go to the next value that differs, in the table or the structured JSON; False if another view has them."""
        answer = self.answer
        if answer is None:
            return False
        marks = _marks(answer)
        if answer.tab == "table" and self.open_row is None and marks:
            self._step_mark(marks, by)
            return True
        if answer.tab != "structured":
            return False
        view = self.json
        lines = sorted(view.marked)
        if lines:
            now = view.line
            ahead = [line for line in lines if line > now] if by > 0 else [line for line in lines[::-1] if line < now]
            view.show_line((ahead or (lines if by > 0 else lines[::-1]))[0])
        return True

    def _step_mark(self, marks: CellMarks, by: int) -> None:
        """Go to the next marked cell, in the order of the visible rows and columns."""
        table = self.table
        places: list[tuple[int, int, int, int | None]] = []
        for row, columns in marks.items():
            at = table.list.index_of(row)
            for column in columns:
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

    # What the user is at

    @property
    def pointer(self) -> str | None:
        """The JSON Pointer, in the result, of the value under the cursor; None without one."""
        document = self.json.document
        if document is None or not self.json.display or self.json.line < 0 or document.error is not None:
            return None
        pointer, tab = document.pointer(self.json.line), self.answer.tab if self.answer is not None else ""
        if tab == "structured":
            return f"/structuredContent{pointer}"
        if tab == "raw":
            return pointer.removeprefix("/result") if pointer.startswith("/result") else ""
        return None


def _marks(answer: ShownOutcome) -> CellMarks:
    """Return the differences from the schema that have a place in the table."""
    marks: dict[int, dict[int | None, str]] = {}
    if answer.table is not None and answer.contents is not None and answer.contents.structured_table:
        for violation in answer.violations:
            place = answer.table.place(violation.path)
            if place is not None:
                marks.setdefault(place[0], {}).setdefault(place[1], violation.message)
    return marks


def _differences(answer: ShownOutcome) -> list[Paragraph]:
    sign, unusable = signs_now().finding, answer.validation.unusable
    if unusable:
        return [(f"{sign} {unusable}", "finding")]
    return [
        [(f"{sign} ", "finding"), (f"{violation.path} " if violation.path else "", "bright"), violation.message]
        for violation in answer.violations
    ]

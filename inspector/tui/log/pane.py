"""The message log: the events of the session, one row per message, with filter, follow mode and"""

from __future__ import annotations

from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message

from inspector.client.session_state import SessionState
from inspector.errors import InspectorError
from inspector.journal.failures import problems
from inspector.journal.filters import Filter
from inspector.journal.filters.completion import Completions, complete
from inspector.journal.session_start import StartFolding
from inspector.tui.advice import error_text
from inspector.tui.keymap import bindings
from inspector.tui.log import copy_as, labels
from inspector.tui.log.copy_as import sent_by_us, text_to_edit
from inspector.tui.log.detail import AskNote, toggle_mark, write_note
from inspector.tui.log.filter import highlight, known_names
from inspector.tui.log.message_list import MessageList, empty_text, log_facts, next_hit, next_of, verb_facts
from inspector.tui.log.reader import LONG
from inspector.tui.log.rows import TIMES, TIMES_WORDS
from inspector.tui.model.log import (
    LOG_VERBS,
    LogFacts,
    LogQuery,
    exchange_filter,
)
from inspector.tui.pane_keys import VerbsByRules, hints
from inspector.tui.pane_messages import EditMessage, EventHighlighted, Export, HintsChanged, SendAgain, ShowEvent
from inspector.tui.themes import signs_now
from inspector.tui.timers import SingleTimer
from inspector.tui.widgets.completing_filter import CompletingFilter
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.filter_input import FilterInput
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.virtual_list import VirtualList

EXAMPLES = "text, or kind:stderr  status:error  name:…  -method:ping"
"""What the empty filter shows: some of its terms. A letter of a term shows those that begin with it."""
FILTER_DELAY = 0.15
"""Seconds without a key before a filter runs over a long recording."""


class MessagesPane(Pane, VerbsByRules):
    """The log. `maximised` turns it into the exchange view; other panes call `select` and `show_exchange`."""

    RULES = LOG_VERBS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("messages")]
    DEFAULT_CSS = """
    MessagesPane > MessageList { height: 1fr; }
    MessagesPane.-exchanges > FilterInput { dock: top; }
    """

    class Compared(Message):
        """Compare two messages."""

        def __init__(self, one: int, other: int) -> None:
            super().__init__()
            self.one = one
            self.other = other

    class ShowTimeline(Message):
        """Show the session as a timeline, with the cursor at event `n`."""

        def __init__(self, n: int) -> None:
            super().__init__()
            self.n = n

    def __init__(self, session: SessionState, *, id: str | None = None) -> None:
        super().__init__(title="Messages", id=id)
        self.session = session
        self.log_query = LogQuery()
        self._list = MessageList(session, self._describe)
        self.folding = self._list.reader.folding
        """Which events are folded into the row of another; other panes may read it."""
        self._filter = CompletingFilter(self._complete, highlight=highlight, examples=EXAMPLES)
        self._delay = SingleTimer(self, self._narrow)
        self._keeps_up = session.commands is not None
        """Whether the end is followed again when the user leaves the log, and after a run of saved calls."""

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield self._list.head
        yield self._list
        yield self._filter

    def on_mount(self) -> None:
        self._filter.idle_note = [
            piece for hint in hints(self, "messages.all") for piece in ((hint.label, "key"), f" {hint.title}")
        ]
        self.tick()

    def on_show(self) -> None:
        # While hidden, it drew nothing.
        self.tick()

    def fold(self) -> StartFolding:
        """Fold what is new, also while the log is hidden. Returns its rows without a filter."""
        return self._list.reader.fold()

    def focus_inside(self) -> bool:
        """Focus the rows, unless the focus is inside already."""
        if not self.has_focus_within:
            self.screen.set_focus(self._list)
        return True

    @property
    def current(self) -> int:
        """The number of the event under the cursor; 0 if there is none."""
        return self._list.current

    @property
    def event_to_show(self) -> int:
        """The event to show in the detail: for a row of an exchange its answer, once it has arrived."""
        return self._list.event_to_show

    @property
    def rows_have_focus(self) -> bool:
        """Whether keys go to the rows, and not to the filter or another pane."""
        return self._list.has_focus

    @property
    def rows_shown(self) -> int:
        """The number of its rows."""
        return self._list.count

    @property
    def filter(self) -> Filter | None:
        """The filter in force."""
        return self.log_query.filter

    @property
    def searched(self) -> Filter | None:
        """The filter that was used last, even if it was cleared since."""
        return self.log_query.searched

    def tick(self) -> None:
        """Add the new events of the journal, and redraw the visible rows that have changed."""
        if self.session.commands is not None:
            self._follow_program(self.log_query.after_calls(self.session.journal))
        self._list.tick()

    def _describe(self) -> None:
        """Draw the edge and the text for an empty log."""
        self._list.note_seen()
        self.facts = log_facts(self._list, self.log_query)
        self._list.empty = empty_text(self._list, self.log_query)
        self.post_message(HintsChanged())

    def verb_facts(self) -> LogFacts:
        """Return the facts on which the verbs depend."""
        return verb_facts(self._list, self.log_query, typed=bool(self._filter.value))

    @property
    def maximised(self) -> bool:
        """Whether the log has the whole screen, with a row for each exchange."""
        return self.log_query.by_exchange

    @maximised.setter
    def maximised(self, maximised: bool) -> None:
        if maximised == self.maximised:
            return
        self._filter.opens_down = maximised
        self.set_class(maximised, "-exchanges")
        self._show(self.log_query._replace(by_exchange=maximised))

    def _show(self, query: LogQuery) -> None:
        """Show what a query selects: the one place where it changes."""
        before, self.log_query = self.log_query, query
        if query.rows != before.rows:
            self._list.show(query)
            self._describe()
        elif query.problem != before.problem:
            self._describe()

    @property
    def stands_now(self) -> bool:
        """Whether the cursor is on the last row that had happened."""
        return self._list.stands_now

    def moment_changed(self, *, go: bool) -> None:
        """The recording is shown at another moment: move the line; with `go`, move the cursor too."""
        self._list.moment_changed(go=go)

    def select(self, n: int) -> bool:
        """Put the cursor on the row of event `n`; drop a filter that hides it. Returns False if there is none."""
        self._list.follow = False
        if self.look_at(n):
            return True
        if self.filter is not None:
            self._set_filter("")
        return self.look_at(n)

    def look_at(self, n: int) -> bool:
        """Put the cursor on the row of event `n`, if the filter shows it. Returns whether it does."""
        return self._list.look_at(n)

    def show_exchange(self, n: int) -> None:
        """Show only the messages of the exchange of event `n`."""
        self.show_filtered(exchange_filter(self.session.journal, n))

    def show_filtered(self, filter: str) -> None:
        """Show only the messages that match a filter, until the user sends another call or leaves the log."""
        self._follow_program(self.log_query.narrowed_by_program(filter, self._last))

    def end_shown(self) -> None:
        """End a filter of the program and follow the end again: the user leaves the log or sends a call."""
        self._follow_program(self.log_query.ended(self._last))
        self._list.follow = self._list.follow or self._keeps_up

    def stay(self) -> None:
        """Do not follow the end until the user asks for it."""
        self._keeps_up = self._list.follow = False

    def show_run(self, run_filter: str) -> None:
        """Show only the messages of a run of saved calls, by its filter; an empty one shows all messages again.

        A filter that the user typed stays.
        """
        ends = bool(self.log_query.run) and not run_filter
        self._follow_program(self.log_query.with_run(run_filter, self._last))
        if ends and self._keeps_up:
            self._list.follow = True

    def read_again(self) -> None:
        """Draw everything from the recording again, because events in it have changed."""
        self._list.read_again()
        self.post_message(EventHighlighted(0))
        self.post_message(EventHighlighted(self.event_to_show))

    @property
    def _last(self) -> int:
        return self.session.journal.index.count

    def _complete(self, text: str, cursor: int) -> Completions:
        return complete(text, cursor, self.session.journal, known_names(self.session.catalog))

    def on_descendant_focus(self) -> None:
        self._describe()

    def on_descendant_blur(self) -> None:
        if self.is_attached:
            self._describe()

    def action_filter(self) -> None:
        if self.log_query.set_after is not None:
            # What the program wrote is replaced by what is typed.
            self._filter.action_select_all()
        self.screen.set_focus(self._filter)

    def action_all(self) -> None:
        self._list.stop_comparing()
        self._set_filter("")
        self._describe()

    def action_fold(self) -> None:
        """Show more rows: those of the start of the session, then every event, then few again."""
        self._show(self.log_query.unfolded())

    def _set_filter(self, text: str) -> None:
        self._filter.show_without_change(text)
        self._show(self.log_query.narrowed(text, self._last).by_user())

    def _follow_program(self, query: LogQuery) -> None:
        """Show a query that the program changed, in the filter field too."""
        if query.source != self.log_query.source:
            self._filter.show_without_change(query.source)
        self._show(query)

    def on_editor_changed(self, event: Editor.Changed) -> None:
        event.stop()
        self._show(self.log_query.by_user())
        self._delay.stop()
        if len(self.session.journal) > LONG:
            self._delay.start(FILTER_DELAY)
        else:
            self._narrow()

    def _narrow(self) -> None:
        """Apply what the filter field says; while it is typed, not before its terms are complete."""
        self._show(self.log_query.narrowed(self._filter.value, self._last, self._filter.completions.incomplete))

    def on_filter_input_left(self, event: FilterInput.Left) -> None:
        event.stop()
        self.screen.set_focus(self._list)
        # When the input loses the focus, the filter applies, even if nothing matches.
        self.call_after_refresh(self._narrow)

    def action_next_hit(self) -> None:
        self._go_to_hit(1)

    def action_previous_hit(self) -> None:
        self._go_to_hit(-1)

    @work(exclusive=True, group="hit", exit_on_error=False)
    async def _go_to_hit(self, step: int) -> None:
        """Go to the nearest row that matches the last filter, even if it was dropped since."""
        searched = self.searched
        if searched is None:
            self.screen.set_focus(self._filter)
            return
        n = await next_hit(searched, self._list.rows, self.current, step)
        self._go(n, f"No {'later' if step > 0 else 'earlier'} message matches {searched.source}")

    def action_next_finding(self) -> None:
        self._go_among(self._problems, 1, "finding", "error or finding")

    def action_previous_finding(self) -> None:
        self._go_among(self._problems, -1, "finding", "error or finding")

    def action_next_mark(self) -> None:
        self._go_among(self.session.journal.marks.events(), 1, "mark", "mark")

    def action_previous_mark(self) -> None:
        self._go_among(self.session.journal.marks.events(), -1, "mark", "mark")

    @property
    def _problems(self) -> list[int]:
        return problems(self.session.journal.index, self.session.journal.findings)

    def _go_among(self, numbers: list[int], step: int, verb: str, what: str) -> None:
        """Go to the nearest of these messages. If there is only one the other way, name the key for it."""
        rows, n = self._list.rows, self.current
        event = next_of(numbers, rows, n, step)
        way, back, other = ("later", "previous", "an earlier") if step > 0 else ("earlier", "next", "a later")
        otherwise = f"No {way} {what} in the rows shown."
        if not event and next_of(numbers, rows, n, -step):
            keys = hints(self, f"messages.{back}-{verb}")
            otherwise += "".join(f" {hint.label} goes to {other} one." for hint in keys)
        self._go(event, otherwise)

    def _go(self, n: int, otherwise: str) -> None:
        if n:
            self.look_at(n)
        else:
            self.notify(otherwise, timeout=3, markup=False)

    def action_partner(self) -> None:
        pair = self.session.journal.index.pair(self.current) if self.current else 0
        if pair:
            self.select(pair)

    def action_exchange(self) -> None:
        if self.log_query.is_one_exchange:
            self.action_all()
        elif self.current:
            self.show_exchange(self.current)

    def action_follow(self) -> None:
        self._list.follow = self._keeps_up = not self._list.follow

    def action_times(self) -> None:
        rows = self._list.rows
        rows.times = TIMES[(TIMES.index(rows.times) + 1) % len(TIMES)]
        self._filter.note = TIMES_WORDS[rows.times]
        self._list.source_changed()

    def on_virtual_list_follow_changed(self, event: VirtualList.FollowChanged) -> None:
        event.stop()
        self._describe()

    def on_virtual_list_highlighted(self, event: VirtualList.Highlighted) -> None:
        event.stop()
        self.post_message(EventHighlighted(self.event_to_show))

    def on_virtual_list_selected(self, event: VirtualList.Selected) -> None:
        event.stop()
        if self.event_to_show:
            self.post_message(ShowEvent(self.event_to_show, chosen=self.current))

    def action_send_again(self) -> None:
        n = sent_by_us(self.session.journal.index, self.current)
        if n:
            self.end_shown()
            self.post_message(SendAgain(n))

    def action_edit_again(self) -> None:
        n = sent_by_us(self.session.journal.index, self.current) or self.current
        session = self.session.commands
        if n and session is not None:
            self.post_message(EditMessage(text_to_edit(session, n)))

    def action_copy(self) -> None:
        copy_as.copy_message(self, self.session.journal, self.event_to_show)

    def action_copy_curl(self) -> None:
        copy_as.copy_request(self, self.session.journal, self.event_to_show, "curl")

    def action_export(self) -> None:
        filtered = self._list.reader.view.filtered
        self.post_message(Export(None if filtered is None else filtered.numbers))

    def action_timeline(self) -> None:
        """Show the timeline instead of the rows."""
        self.post_message(self.ShowTimeline(self.event_to_show))

    def action_compare(self) -> None:
        pair = self._list.choose_to_compare()
        if pair is not None:
            self.post_message(self.Compared(*pair))
        self._describe()

    def action_mark(self) -> None:
        """Mark the message of the row under the cursor, or remove its mark."""
        if self.current:
            self._after_marking(toggle_mark(self.session.journal, self.event_to_show))

    @work(exclusive=True, group="dialog")
    async def action_note(self) -> None:
        """Write a note about the message of the row under the cursor, which marks it."""
        journal, n = self.session.journal, self.event_to_show
        if not n:
            return
        mark = journal.marks.of(n)
        title = ["Note on ", *labels.title(journal, n, signs_now())]
        note = await self.app.push_screen_wait(AskNote(title, mark.note if mark is not None else ""))
        if note is not None:
            self._after_marking(write_note(journal, n, note))

    def _after_marking(self, problem: InspectorError | None) -> None:
        if problem is not None:
            self.notify(error_text(problem, self), severity="error", markup=False)
        self.marks_changed()

    def marks_changed(self) -> None:
        """Draw the marks of the recording."""
        self.tick()
        self._list.refresh()

"""The message log: the events of the session, one row per message, with filter, follow mode and jumps."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import ClassVar

from textual import work
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.reactive import reactive
from textual.timer import Timer

from inspector.client.session_state import SessionState
from inspector.errors import InspectorError
from inspector.journal.filters import Filter, FilterError, parse
from inspector.journal.filters.completion import Completions, complete
from inspector.journal.folding import Folding
from inspector.tui.advice import error_text
from inspector.tui.keymap import KeyHint, bindings
from inspector.tui.log import border, copy_as, labels
from inspector.tui.log.always_shown import AlwaysShown, filter_after_calls
from inspector.tui.log.border import LogState
from inspector.tui.log.exchange_rows import PAUSE
from inspector.tui.log.filter import exchange_filter, folded, highlight, known_names
from inspector.tui.log.jumps import next_hit, next_of
from inspector.tui.log.last_message import LastMessageLine
from inspector.tui.log.marking import AskNote, toggle_mark, write_note
from inspector.tui.log.message_list import MessageList
from inspector.tui.log.moment import MomentLog
from inspector.tui.log.resend import send_again, sent_by_us, text_to_edit
from inspector.tui.log.rows import TIMES, TIMES_WORDS, MessageRows
from inspector.tui.log.view import LONG, MessageView
from inspector.tui.log.waterfall import WaterfallHead, WaterfallRows
from inspector.tui.pane_keys import hints
from inspector.tui.pane_messages import EditMessage, EventHighlighted, Export, HintsChanged, ShowEvent
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.completing_filter import CompletingFilter
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.filter_input import FilterInput
from inspector.tui.widgets.virtual_list import VirtualList

__all__ = ["LastMessageLine", "MessageList", "MessagesPane"]

CLOCKS = ((10, 0.1), (600, 1.0))
"""Ages in seconds of a waiting request, and the seconds between two updates of its time until then."""
RARELY = 10.0
"""Seconds between two updates of an older one: a subscription is open for hours, and its time is not news."""
PATIENCE = 0.15
"""Seconds without a key before a filter runs over a long recording."""
FOLD_TIME = 0.01
"""Seconds per tick that folding may take."""
FOLD_PAUSE = 0.02
"""Seconds until the next tick if there is more to fold."""
DRAWN = 0.05
"""Seconds between two drawings while a thread reads."""


def clock_period(age: float) -> float:
    """Seconds after which the time of a request that waits since `age` seconds is drawn again."""
    return next((period for limit, period in CLOCKS if age < limit), RARELY)


class MessagesPane(MomentLog):
    """The log. `maximised` turns it into the exchange view; other panes call `select` and `show_exchange`."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("messages")]
    DEFAULT_CSS = """
    MessagesPane > MessageList { height: 1fr; }
    MessagesPane.-exchanges > FilterInput { dock: top; }
    """

    maximised: reactive[bool] = reactive(False, repaint=False, init=False)

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
        self.filter: Filter | None = None
        """The filter in force."""
        self._searched: Filter | None = None
        self._problem = ""
        self._run_filter = ""
        """The filter of the run of saved calls that is shown; empty where none is."""
        self._set_after: int | None = None
        """The last event when the program set the filter; None for one that the user typed."""
        self._always = AlwaysShown(0, self._questions)
        self._compared = 0
        self.folding = Folding(session.journal)
        """Which events are folded into the row of another; other panes may read it."""
        self._folds = True
        self._flat = MessageRows(session.journal, self.folding)
        self._rows: MessageRows = self._flat
        self._view = MessageView(session.journal, None, by_exchange=False, folding=self.folding)
        self._flat.numbers = self._view.numbers
        self._catching_up: MessageView | None = None
        self._seen = (-1, -1, -1)
        self._drawn: dict[int, tuple[int, ...]] = {}
        self._delay: Timer | None = None
        self._clock: Timer | None = None
        self._again: Timer | None = None
        self._more: Timer | None = None
        self._meant = (0, 0)
        """The row that was selected, and the event in it that was meant."""
        self._read_to = 0
        """The last event that was on the screen since the user left the end."""
        self._head = WaterfallHead()
        self._head.display = False
        self._list = MessageList(self._rows, can_follow=True, follow=session.commands is not None)
        self._list.span_changed = self._head.refresh
        self._filter = CompletingFilter(self._complete, highlight=highlight)

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield self._head
        yield self._list
        yield self._filter

    def on_mount(self) -> None:
        self._filter.idle_note = [piece for hint in hints(self, "messages.all") for piece in _hint_words(hint)]
        self.tick()

    def on_show(self) -> None:
        # While hidden, it drew nothing.
        self.tick()

    def focus_inside(self) -> bool:
        """Focus the rows, unless the focus is inside already."""
        if not self.has_focus_within:
            self.screen.set_focus(self._list)
        return True

    @property
    def current(self) -> int:
        """The number of the event under the cursor; 0 if there is none."""
        key = self._list.row_key(self._list.cursor)
        return key if isinstance(key, int) else 0

    @property
    def shown(self) -> int:
        """The event to show in the detail: for a row of an exchange its answer, once it has arrived."""
        n = self.current
        if n and self._meant[0] == n:
            return self._meant[1]
        return (self._rows.answer(n) or n) if n and self.maximised else n

    @property
    def rows_have_focus(self) -> bool:
        """Whether keys go to the rows, and not to the filter or another pane."""
        return self._list.has_focus

    # New events

    def tick(self) -> None:
        """Add the new events of the journal, and redraw the visible rows that have changed."""
        journal = self.session.journal
        going_on = self.session.commands is not None and self.session.phase in ("connecting", "ready")
        self._rows.now = journal.now() if going_on else None
        self._fold_on()
        self._let_filter_end()
        seen = self._facts_seen()
        if seen != self._seen:
            self._seen = seen
            self._grow()
        self._go_to_now()
        self._refresh_changed()

    def _facts_seen(self) -> tuple[int, int, int]:
        """Return what new rows, and new matches of the filter, depend on."""
        journal = self.session.journal
        return self._view.last, journal.findings.version, journal.marks.version

    def _let_filter_end(self) -> None:
        """End a filter that the program set, or move it, when the user has sent another call."""
        if self.filter is None or self._set_after is None or self.session.commands is None:
            return
        journal, source = self.session.journal, self.filter.source
        after, self._set_after = self._set_after, journal.index.count
        filter = self.filter
        now = filter_after_calls(journal, source, lambda n: filter.matches(journal, n), after)
        if now != source:
            self._set_filter(now, by_program=True)

    def _questions(self) -> set[int]:
        return {question.n for question in self.session.inbox.questions}

    def _fold_on(self) -> None:
        """Fold new events for a few milliseconds; continue soon if there are more."""
        count = self.session.journal.index.count
        first = self._view.refold(self.folding.advance(count, FOLD_TIME))
        if first is not None:
            self._take_in(first)
        if self.folding.seen < count and self._more is None:
            self._more = self.set_timer(FOLD_PAUSE, self._fold_more)

    def _fold_more(self) -> None:
        self._more = None
        if self.is_on_screen:
            self.tick()

    def _grow(self) -> None:
        view = self._view
        if self._catching_up is view:
            return
        if view.quick:
            self._take_in(view.apply(view.scan(view.last)))
        else:
            self._catch_up(view)

    @work(exclusive=True, group="view", exit_on_error=False)
    async def _catch_up(self, view: MessageView) -> None:
        """Read a long recording in a thread, slice by slice; rows appear as they are found."""
        self._catching_up = view
        first: int | None = None
        drawn = 0.0
        try:
            more = True
            while more:
                step = await asyncio.to_thread(view.scan, view.last)
                if view is not self._view:
                    return
                found = view.apply(step)
                first = found if first is None else first if found is None else min(first, found)
                more = view.behind > 0
                if not more or monotonic() - drawn > DRAWN:
                    self._take_in(first)
                    first, drawn = None, monotonic()
        finally:
            if self._catching_up is view:
                self._catching_up = None
        self._describe()

    def _grow_again(self) -> None:
        self._again = None
        self._grow()

    def _take_in(self, first: int | None) -> None:
        if self._rows.measure_ids():
            first = 0
        if first is not None:
            self._list.source_changed(first)
            if isinstance(self._rows, WaterfallRows):
                # Another span changes every bar.
                self._list.refresh()
                self._head.refresh()
        self._describe()

    def _refresh_changed(self) -> None:
        """Redraw visible rows with a new state, finding or waiting time; schedule the next look if something is
        pending."""
        top = self._list.scroll_offset.y
        rows = range(top, min(top + self._list.size.height, len(self._rows)))
        now = {row: self._rows.look(self._rows.numbers[row]) for row in rows}
        changed = [row for row, look in now.items() if self._drawn.get(row, look) != look]
        self._drawn = now
        if changed:
            self._list.rows_changed(changed)
        waiting = [n for n in map(self._rows.numbers.__getitem__, rows) if n and self._rows.pending(n)]
        if waiting and self._rows.now is not None and self._clock is None:
            age = (self._rows.now - max(map(self.session.journal.index.time, waiting))) / 1_000_000
            self._clock = self.set_timer(clock_period(age), self._clock_ticks)

    def _clock_ticks(self) -> None:
        self._clock = None
        if self.is_on_screen:
            self.tick()

    @property
    def _state(self) -> LogState:
        return LogState(
            self.session,
            self._view,
            self.current,
            one_exchange=self._is_exchange,
            maximised=self.maximised,
            follow=self._list.follow,
            comparing=bool(self._compared),
            looking=self._catching_up is self._view,
            searched=self._searched is not None,
            happened=self.happened,
            newer=self._newer,
            problem=self._problem,
        )

    @property
    def _newer(self) -> int:
        """The number of new rows below the last one that was on the screen, if the end is not followed."""
        if self.session.commands is None or not self._list.count:
            return 0
        if self._list.follow:
            self._read_to = self._rows.numbers[self._list.count - 1]
            return 0
        last = self._rows.key_at(max(self._list.last_visible, 0))
        self._read_to = max(self._read_to, last if isinstance(last, int) else 0)
        position = self._rows.index_of(self._read_to)
        return self._list.count - 1 - position if position is not None else 0

    def _describe(self) -> None:
        """Draw the edge and the text for an empty log; schedule the next look if figures are not complete."""
        state = self._state
        self.facts = border.facts(state)
        self._list.empty = border.words_for_nothing(state)
        if self.maximised:
            # Letters go to the filter, so none of these keys works.
            self.keys = () if self._filter.has_focus else border.exchange_keys(self, state)
        exchanges = self._view.exchanges
        if exchanges is not None and exchanges.stale and self._again is None:
            self._again = self.set_timer(PAUSE, self._grow_again)
        self.post_message(HintsChanged())

    # Which rows

    def watch_maximised(self, maximised: bool) -> None:
        self._head.display = maximised
        self._filter.opens_down = maximised
        self.set_class(maximised, "-exchanges")
        self._renew()
        if not maximised:
            self.keys = ()

    def _renew(self) -> None:
        """Show other rows: another filter, or the exchange view. The cursor stays on its event if possible."""
        n = self.current
        shown = self.filter
        if shown is not None and self.session.commands is not None:
            shown = shown.widened(self._always)
        view = self._view = MessageView(
            self.session.journal, shown, by_exchange=self.maximised, folding=self.folding if self._folds else None
        )
        times, now = self._rows.times, self._rows.now
        if view.exchanges is not None:
            self._rows = WaterfallRows(self._flat, view.exchanges)
        else:
            self._rows = self._flat
            self._flat.numbers = self._with_now(view.numbers)
        self._rows.upto = self._upto
        self._rows.folds = self._folds
        self._rows.times, self._rows.now = times, now
        self._rows.from_first = self._is_exchange and not self.maximised
        self._rows.measure_ids()
        self._head.rows = self._rows if isinstance(self._rows, WaterfallRows) else None
        self._drawn = {}
        self._seen = self._facts_seen()
        if view.quick:
            view.apply(view.scan(view.last))
        follow = self._list.follow
        self._list.source = self._rows
        if n and not follow:
            self._list.move_to(n)
        self._grow()
        self._describe()

    @property
    def _is_exchange(self) -> bool:
        return self.filter is not None and self.filter.source.startswith("exchange:") and " " not in self.filter.source

    def select(self, n: int) -> bool:
        """Put the cursor on the row of event `n`; drop a filter that hides it. Returns False if there is none."""
        self._list.follow = False
        if self._move_to(n):
            return True
        if self.filter is not None:
            self._set_filter("")
        return self._move_to(n)

    def _move_to(self, n: int) -> bool:
        row = self._rows.index_of(n)
        if row is None:
            return False
        self._meant = (self._rows.numbers[row], n)
        self._list.cursor = row
        return True

    def show_exchange(self, n: int) -> None:
        """Show only the messages of the exchange of event `n`."""
        self.show_filtered(exchange_filter(self.session.journal, n))

    def show_filtered(self, filter: str) -> None:
        """Show only the messages that match a filter, until the user sends another call."""
        self._set_filter(filter, by_program=True)

    def show_run(self, wanted: str) -> None:
        """Show only the messages of a run of saved calls, by its filter; an empty one shows all messages again.

        A filter that the user typed stays.
        """
        shown = self.filter.source if self.filter is not None else ""
        before, self._run_filter = self._run_filter, wanted
        if wanted != before and shown in ("", before):
            self._set_filter(wanted, by_program=True)

    def read_again(self) -> None:
        """Draw everything from the recording again, because events in it have changed."""
        self._rows.forget()
        self._list.source_changed()
        self.post_message(EventHighlighted(0))
        self.post_message(EventHighlighted(self.shown))

    def look_at(self, n: int) -> None:
        """Put the cursor on the row of event `n`, if the filter shows it."""
        if self._rows.index_of(n) is not None:
            self._list.follow = False
            self._move_to(n)

    # The filter

    def _complete(self, text: str, cursor: int) -> Completions:
        return complete(text, cursor, self.session.journal, known_names(self.session.catalog))

    def on_descendant_focus(self) -> None:
        self._describe()

    def on_descendant_blur(self) -> None:
        if self.is_attached:
            self._describe()

    def action_filter(self) -> None:
        self.screen.set_focus(self._filter)

    def action_all(self) -> None:
        if self.filter is None and not self._filter.value and not self._compared:
            raise SkipAction
        self._compared = 0
        self._set_filter("")
        self._describe()

    def action_fold(self) -> None:
        """Show one row a message, or every event."""
        self._folds = not self._folds
        self._renew()

    def action_negotiation(self) -> None:
        """Hide the messages of the negotiation, or show them again."""
        self._set_filter(folded(self.filter.source if self.filter is not None else ""))

    def _set_filter(self, text: str, *, by_program: bool = False) -> None:
        self._filter.show_without_change(text)
        self._narrow(text)
        self._set_after = self.session.journal.index.count if by_program else None

    def on_editor_changed(self, event: Editor.Changed) -> None:
        event.stop()
        self._set_after = None
        if self._delay is not None:
            self._delay.stop()
            self._delay = None
        if len(self.session.journal) > LONG:
            self._delay = self.set_timer(PATIENCE, lambda: self._narrow(event.value))
        else:
            self._narrow(event.value)

    def _narrow(self, text: str) -> None:
        """Apply a filter. A wrong or incomplete one leaves the rows as they are."""
        offered = self._filter.completions
        if self._filter.has_focus and self._filter.value == text and offered.incomplete:
            self._say_problem(offered.incomplete)
            return
        try:
            filter = parse(text)
        except FilterError as error:
            self._say_problem(error.reason)
            return
        self._say_problem("")
        before = self.filter
        self.filter = filter if filter else None
        if self.filter is not None:
            self._searched = self.filter
        if (before.source if before else "") != filter.source:
            self._always = AlwaysShown(self.session.journal.index.count, self._questions)
            self._renew()

    def _say_problem(self, problem: str) -> None:
        if problem != self._problem:
            self._problem = problem
            self._describe()

    def on_filter_input_left(self, event: FilterInput.Left) -> None:
        event.stop()
        self.screen.set_focus(self._list)
        # When the input loses the focus, the filter applies, even if nothing matches.
        self.call_after_refresh(self._narrow, self._filter.value)

    # Jumps

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """At a moment of a recording, the playback keys move the moment; a recording sends nothing."""
        if action in ("send_again", "edit_again"):
            return self.session.commands is not None
        if action == "timeline":
            return self.maximised
        return self._upto is None or action not in ("next_hit", "previous_hit", "next_finding", "previous_finding")

    @property
    def searched(self) -> Filter | None:
        """The filter that was used last, even if it was dropped since."""
        return self._searched

    def action_next_hit(self) -> None:
        self._go_to_hit(1)

    def action_previous_hit(self) -> None:
        self._go_to_hit(-1)

    @work(exclusive=True, group="hit", exit_on_error=False)
    async def _go_to_hit(self, step: int) -> None:
        """Go to the nearest row that matches the last filter, even if it was dropped since."""
        if self._searched is None:
            self.screen.set_focus(self._filter)
            return
        n = await next_hit(self._searched, self._rows, self.current, step)
        self._go(n, f"No {'later' if step > 0 else 'earlier'} message matches {self._searched.source}")

    def action_next_finding(self) -> None:
        self._go_to_finding(1)

    def action_previous_finding(self) -> None:
        self._go_to_finding(-1)

    def _go_to_finding(self, step: int) -> None:
        self._go_among(self.session.journal.findings.events(), step, "finding")

    def _go_among(self, numbers: list[int], step: int, what: str) -> None:
        """Go to the nearest of these messages. If there is only one the other way, name the key for it."""
        n = next_of(numbers, self._rows, self.current, step)
        way, back, other = ("later", "previous", "an earlier") if step > 0 else ("earlier", "next", "a later")
        otherwise = f"No {way} {what} in the rows shown."
        if not n and next_of(numbers, self._rows, self.current, -step):
            keys = hints(self, f"messages.{back}-{what}")
            otherwise += "".join(f" {hint.label} goes to {other} one." for hint in keys)
        self._go(n, otherwise)

    def _go(self, n: int, otherwise: str) -> None:
        if not n:
            self.notify(otherwise, timeout=3, markup=False)
            return
        self._list.follow = False
        self._move_to(n)

    def action_partner(self) -> None:
        pair = self.session.journal.index.pair(self.current) if self.current else 0
        if pair:
            self.select(pair)

    def action_exchange(self) -> None:
        if self._is_exchange:
            self.action_all()
        elif self.current:
            self.show_exchange(self.current)

    def action_follow(self) -> None:
        self._list.follow = not self._list.follow

    def action_times(self) -> None:
        self._rows.times = TIMES[(TIMES.index(self._rows.times) + 1) % len(TIMES)]
        self._filter.note = TIMES_WORDS[self._rows.times]
        self._list.source_changed()

    def on_virtual_list_follow_changed(self, event: VirtualList.FollowChanged) -> None:
        event.stop()
        self._describe()

    def on_virtual_list_highlighted(self, event: VirtualList.Highlighted) -> None:
        event.stop()
        if self._meant[0] != self.current:
            self._meant = (0, 0)
        self.post_message(EventHighlighted(self.shown))

    def on_virtual_list_selected(self, event: VirtualList.Selected) -> None:
        event.stop()
        if self.shown:
            self.post_message(ShowEvent(self.shown, chosen=self.current))

    # Actions on a message

    def action_send_again(self) -> None:
        n = sent_by_us(self.session.journal.index, self.current)
        session = self.session.commands
        if n and session is not None:
            if self._set_after is not None:
                self._set_filter("")
            problem = send_again(session, n)
            if problem:
                self.notify(problem, severity="error", markup=False)

    def action_edit_again(self) -> None:
        n = sent_by_us(self.session.journal.index, self.current) or self.current
        session = self.session.commands
        if n and session is not None:
            self.post_message(EditMessage(text_to_edit(session, n)))

    def action_copy(self) -> None:
        copy_as.copy_message(self, self.session.journal, self.shown)

    def action_copy_curl(self) -> None:
        copy_as.copy_request(self, self.session.journal, self.shown, "curl")

    def action_export(self) -> None:
        if self.filter is None:
            self.post_message(Export())
        else:
            numbers = self._view.filtered.numbers if self._view.filtered is not None else ()
            self.post_message(Export(numbers))

    def action_timeline(self) -> None:
        """Show the timeline instead of the rows."""
        self.post_message(self.ShowTimeline(self.shown))

    def action_compare(self) -> None:
        if not self._compared:
            self._compared = self.current
        elif self.current and self.current != self._compared:
            one, self._compared = self._compared, 0
            self.post_message(self.Compared(one, self.current))
        else:
            self._compared = 0
        self._describe()

    def action_mark(self) -> None:
        """Mark the message of the row under the cursor, or remove its mark."""
        if self.current:
            self._after_marking(toggle_mark(self.session.journal, self.shown))

    @work(exclusive=True, group="dialog")
    async def action_note(self) -> None:
        """Write a note about the message of the row under the cursor, which marks it."""
        journal, n = self.session.journal, self.shown
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

    def action_next_mark(self) -> None:
        self._go_to_mark(1)

    def action_previous_mark(self) -> None:
        self._go_to_mark(-1)

    def _go_to_mark(self, step: int) -> None:
        self._go_among(self.session.journal.marks.events(), step, "mark")

    def hints(self) -> list[KeyHint]:
        """The keys for the row under the cursor."""
        return border.footer_hints(self, self._state)


def _hint_words(hint: KeyHint) -> list[paint.Piece]:
    return [(hint.label, "key"), f" {hint.title}"]

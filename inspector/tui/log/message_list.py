"""The list of the message log: the rows of a query, and the cursor among them."""

from __future__ import annotations

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import ClassVar

from rich.segment import Segment
from textual.binding import BindingType
from textual.cache import LRUCache
from textual.strip import Strip

from inspector.client.session_state import SessionState
from inspector.journal.filters import Filter
from inspector.text import count, duration, quantity, yours
from inspector.tui.keymap import bindings
from inspector.tui.log.copy_as import sent_by_us
from inspector.tui.log.filter import AlwaysShown
from inspector.tui.log.reader import LogReader
from inspector.tui.log.rows import NOW, MessageRows
from inspector.tui.log.waterfall import WaterfallHead, WaterfallRows
from inspector.tui.model.log import LogCursor, LogFacts, LogQuery
from inspector.tui.themes import ascii_only, palette, signs_now
from inspector.tui.timers import SingleTimer
from inspector.tui.widgets import paint
from inspector.tui.widgets.virtual_list import CACHED_ROWS, DrawnRow, VirtualList

_SHORT_BELOW = 60
"""Columns of the screen below which the edge says less, so that it still counts the hidden rows."""
CLOCKS = ((10, 0.1), (600, 1.0))
"""Ages in seconds of a waiting request, and the seconds between two updates of its time until then."""
RARELY = 10.0
"""Seconds between two updates of an older one: a subscription is open for hours, and its time is not news."""


def clock_period(age: float) -> float:
    """Seconds after which the time of a request that waits since `age` seconds is drawn again."""
    return next((period for limit, period in CLOCKS if age < limit), RARELY)


class MessageList(VirtualList, inherit_bindings=False):
    """The rows of the log. The first visible one shows the full time; bars, below `head`, span the visible rows.

    `tick` adds new rows and redraws changed ones. `on_change` is called when there are other rows or figures.
    """

    # Without the keys that the log uses otherwise.
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("list", without="messages")]

    def __init__(self, session: SessionState, on_change: Callable[[], object]) -> None:
        self.session = session
        self.reader = LogReader(self, session.journal, self._take_in, self._tick_if_visible)
        self._flat = self.rows = MessageRows(session.journal, self.reader.folding)
        self._flat.show(self.reader.view.numbers, None)
        super().__init__(self._flat, can_follow=True, follow=session.commands is not None)
        self.head = WaterfallHead()
        self.head.display = False
        self.place = LogCursor()
        self._on_change = on_change
        self._row_states: LRUCache[int, tuple[int, ...]] = LRUCache(CACHED_ROWS)
        """What each row that is kept was drawn with, by index: a row may change while it is not visible."""
        self._clock = SingleTimer(self, self._tick_if_visible)
        self._goes_to_now = False

    # Which rows

    def show(self, query: LogQuery) -> None:
        """Show the rows of a query. The cursor stays on its event if possible."""
        before, n, filter = self.rows, self.current, query.filter
        if filter is not None and self.session.commands is not None:
            filter = filter.widened(AlwaysShown(query.changed_after, self._questions))
        self.reader.show(filter, by_exchange=query.by_exchange, fold=query.fold)
        view = self.reader.view
        rows = self._flat if view.exchanges is None else WaterfallRows(self._flat, view.exchanges)
        rows.show(view.numbers, self._upto)
        rows.folding = view.folding
        rows.times, rows.now, rows.compared = before.times, before.now, before.compared
        rows.from_first = query.is_one_exchange and not query.by_exchange
        rows.measure_ids()
        self.head.rows = rows if isinstance(rows, WaterfallRows) else None
        self.head.display = query.by_exchange
        follow = self.follow
        self.rows = rows
        self._row_states.clear()
        self.source = rows
        if n and not follow:
            self.await_row(n)

    def _questions(self) -> set[int]:
        return {question.n for question in self.session.inbox.questions}

    def tick(self) -> None:
        """Add the new events of the journal, and redraw the visible rows that have changed."""
        going_on = self.session.commands is not None and self.session.phase in ("connecting", "ready")
        self.rows.now = self.session.journal.now() if going_on else None
        self.reader.tick()
        self._go_to_now()
        self._redraw_changed()

    def _tick_if_visible(self) -> None:
        if self.is_on_screen:
            self.tick()

    def _take_in(self, first: int | None) -> None:
        """Show the rows that the reader has found from row `first` on."""
        if self.rows.measure_ids():
            first = 0
        if first is not None:
            self.source_changed(first)
            if isinstance(self.rows, WaterfallRows):
                # Another span changes every bar.
                self.refresh()
                self.head.refresh()
        self._on_change()

    def _redraw_changed(self) -> None:
        """Redraw visible rows with a new state, finding or waiting time, and again soon if a request waits."""
        rows, top = self.rows, self.scroll_offset.y
        visible = range(top, min(top + self.size.height, len(rows)))
        states = ((at, rows.row_state(rows.numbers[at])) for at in visible)
        self.rows_changed([at for at, state in states if self._row_states.get(at, state) != state])
        if rows.now is None:
            return
        begins = [rows.journal.index.time(n) for n in map(rows.numbers.__getitem__, visible) if n and rows.pending(n)]
        if begins:
            self._clock.start(clock_period((rows.now - max(begins)) / 1_000_000))

    def read_again(self) -> None:
        """Draw everything from the recording again, because events in it have changed."""
        self.rows.forget()
        self.source_changed()

    # The cursor

    @property
    def current(self) -> int:
        """The number of the event under the cursor; 0 if there is none."""
        key = self.row_key(self.cursor)
        return key if isinstance(key, int) else 0

    @property
    def event_to_show(self) -> int:
        """The event to show for the row under the cursor: for an exchange its answer, once it has arrived."""
        n = self.current
        return self.place.event_to_show(n, self.rows.answer(n) if n and isinstance(self.rows, WaterfallRows) else 0)

    def choose_to_compare(self) -> tuple[int, int] | None:
        """Choose the event under the cursor to compare. The second choice returns both."""
        place, pair = self.place.chosen(self.current)
        self._compare(place)
        return pair

    def stop_comparing(self) -> None:
        """Drop the first of two messages to compare."""
        self._compare(self.place._replace(compared=0))

    def _compare(self, place: LogCursor) -> None:
        self.place, self.rows.compared = place, place.compared
        self._redraw_changed()

    def _go(self, row: int) -> None:
        # A jump that waits for rows would move what the user has chosen.
        self._goes_to_now = False
        super()._go(row)

    def look_at(self, n: int) -> bool:
        """Put the cursor on the row of event `n`. Returns False if it has none."""
        row = self.rows.index_of(n)
        if row is None:
            return False
        self.follow = False
        self.place = self.place.selected(self.rows.numbers[row], n)
        self.cursor = row
        return True

    def on_virtual_list_highlighted(self) -> None:
        self.place = self.place.moved(self.current)
        self.note_seen()

    def note_seen(self) -> None:
        """Note which rows are on the screen."""
        if self.count:
            end = self.scroll_offset.y + self.scrollable_content_region.height
            last = self.count if self.follow else min(end, self.count)
            self.place = self.place.seen(self.rows.numbers[max(last - 1, 0)], at_end=self.follow)

    @property
    def unseen(self) -> int:
        """The number of new rows below the last one that was on the screen, if the end is not followed."""
        if self.session.commands is None:
            return 0
        position = self.rows.index_of(self.place.read_to)
        return self.count - 1 - position if position is not None else 0

    # The moment shown of a recording

    @property
    def _upto(self) -> int | None:
        """The last event before the moment shown; None at the end."""
        return None if self.session.at_end else self.session.upto

    @property
    def stands_now(self) -> bool:
        """Whether the cursor is on the last row that had happened."""
        happened = self.rows.happened
        if happened is None:
            return self.cursor == self.count - 1
        # Before the first event, the cursor is on it, below the line.
        return self.cursor == (happened - 1 if happened else 1)

    def moment_changed(self, *, go: bool) -> None:
        """The recording is shown at another moment: move the line; with `go`, move the cursor too."""
        self.reader.tick()  # Where the recording was read since the last tick, its rows are missing.
        before = self.rows.happened
        self.rows.show(self.reader.view.numbers, self._upto)
        after = self.rows.happened
        # A row before the moment is drawn unlike one after it, and has another position.
        self.source_changed(0 if before is None or after is None else max(min(before, after) - 1, 0))
        self._goes_to_now = self._goes_to_now or go
        self._go_to_now()
        self._on_change()

    def _go_to_now(self) -> None:
        """Put the cursor on the last row that had happened, if wanted and if rows are visible."""
        if not self._goes_to_now or not self.is_on_screen or self.reader.is_behind or self.reader.is_folding:
            return
        self._goes_to_now = False
        rows, happened = self.rows, self.rows.happened
        if isinstance(rows, WaterfallRows):
            self.move_to(rows.journal.index.request_of(rows.upto) if rows.upto else 0)
            return
        self.follow = False
        self.cursor = (self.count if happened is None else happened) - 1
        if happened is not None:
            # With some rows after it, but itself visible.
            self.scroll_to_row(min(happened + self.size.height // 4, self.count - 1))
            self.scroll_to_row(self.cursor)

    def validate_cursor(self, cursor: int) -> int:
        """The cursor cannot be on the row of the moment."""
        cursor = super().validate_cursor(cursor)
        if cursor >= 0 and self.row_key(cursor) == NOW:
            return cursor + 1 if cursor > self.cursor or not cursor else cursor - 1
        return cursor

    def render_row(self, index: int, width: int, selected: bool, focused: bool) -> DrawnRow:
        """Draw a row; events after the moment shown are faint."""
        n = self.rows.numbers[index]
        if n == NOW:
            return _moment_line(width)
        row = self.rows.render(index, width, selected, focused)
        if self.rows.upto is None or n <= self.rows.upto:
            return row
        style = palette().style("faint")
        return [Segment(segment.text, style) for segment in row]

    def _row(self, index: int, cells: int) -> list[Strip]:
        rows, top = self.rows, self.scroll_offset.y
        if isinstance(rows, WaterfallRows) and rows.look_at(top, self.size.height):
            self._cache.clear()
            self.call_later(self.head.refresh)
        if rows.top != top:
            for changed in (rows.top, top):
                self._cache.discard_row(changed)
            rows.top = top
        state = rows.row_state(rows.numbers[index])
        if self._row_states.get(index) != state:
            self._cache.discard_row(index)
            self._row_states.discard(index)  # The cache of Textual keeps an earlier value.
            self._row_states.set(index, state)
        return super()._row(index, cells)


def _moment_line(width: int) -> list[Segment]:
    """Draw the row: `── now ─────`."""
    dash = "-" if ascii_only() else "─"
    pieces = [(dash * 2, "chart"), (" now ", "chart bold"), (dash * max(width - 7, 0), "chart")]
    return paint.cut(paint.segments(pieces, room=width), width)


def verb_facts(messages: MessageList, query: LogQuery, *, typed: bool) -> LogFacts:
    """Return what the verbs depend on; `typed`: the filter field has text."""
    session, view, current = messages.session, messages.reader.view, messages.current
    return LogFacts(
        rows=messages.count,
        live=session.commands is not None,
        at_end=session.at_end,
        filtered=query.filter is not None,
        can_clear=query.filter is not None or typed or messages.place.compared > 0,
        searched=query.searched is not None,
        fold=query.fold,
        by_exchange=query.by_exchange,
        is_one_exchange=query.is_one_exchange,
        matching=view.matching,
        hidden=view.folding.seen - len(view.folding) if view.folding is not None else 0,
        sent=sent_by_us(session.journal.index, current) > 0,
        comparing=messages.place.compared > 0,
    )


def log_facts(messages: MessageList, query: LogQuery) -> list[paint.Pieces]:
    """Return the facts at the top: rows, what is folded, hidden or new, results of exchanges, follow mode.

    Rows, folded and hidden ones together are the events.
    """
    session, view, signs = messages.session, messages.reader.view, signs_now()
    happened, newer = messages.rows.happened, messages.unseen
    rows = len(view.numbers)
    total = view.last
    thing = "row" if view.folding is not None or view.exchanges is not None else "event"
    facts: list[paint.Pieces] = [[(query.problem, "error")]] if query.problem else []
    if messages.reader.is_behind and view.behind:
        facts.append(f"{quantity(rows, thing)} so far {signs.cut}")
    elif happened is not None:
        facts.append(f"{count(happened)} of {quantity(rows, thing)} so far")
    elif view.exchanges is not None:
        facts.append(quantity(rows, thing))
        if view.filtered is not None:
            facts.append(f"{count(view.matching)} of {quantity(view.last, 'event')} match")
    elif view.filtered is not None:
        total = len(view.everything)
        facts.append(f"{quantity(rows, thing)}{' of this call' if query.is_one_exchange else ''}")
        if total > rows:
            hidden = f"{count(total - rows)} hidden"
            narrow = messages.is_attached and messages.app.size.width < _SHORT_BELOW
            facts.append([(hidden if query.problem or narrow else f"{hidden} by the filter", "bright")])
    else:
        total = rows
        facts.append(quantity(rows, thing))
    if view.last > total:
        facts.append(f"{count(view.last - total)} folded")
    if newer:
        facts.append([(f"{signs.unfolded} {quantity(newer, f'newer {thing}')} below", "bright")])
    if view.exchanges is not None and session.at_end:
        # Before the end of a recording, they would tell what had not happened yet.
        stats = view.exchanges.stats
        if stats.errors:
            facts.append([(quantity(stats.errors, "error"), "error")])
        facts += [f"{name} {duration(us)}" for name, us in (("p50", stats.p50), ("p95", stats.p95)) if us is not None]
        if stats.person:
            facts.append([(yours(duration(stats.person)), "ask")])
    if messages.place.compared:
        facts.append([("comparing: press d on the other", "ask")])
    marks = len(session.journal.marks)
    if marks:
        facts.append([(f"{quantity(marks, 'mark')}", "bright")])
    if messages.follow:
        facts.append("follow")
    return facts


def empty_text(messages: MessageList, query: LogQuery) -> str:
    """Return the text for a log without rows."""
    journal = messages.session.journal
    if query.filter is None and messages.session.commands is not None:
        return "No messages yet."
    if query.filter is None:
        reads = not journal.is_read or len(journal) > 0
        return f"Reading the recording {signs_now().cut}" if reads else "The recording has no messages."
    return f"Looking {signs_now().cut}" if messages.reader.is_behind else "No message matches the filter."


_MAX_TRIES = 1000
"""Most hits that are skipped because they have no row."""


async def next_hit(searched: Filter, rows: MessageRows, n: int, step: int) -> int:
    """Return the nearest event after `n` (before it, with -1) that matches and has another row; 0 for none. Run in a
    thread."""
    row = rows.index_of(n)
    for _ in range(_MAX_TRIES):
        n = await asyncio.to_thread(searched.next, rows.journal, n, step)
        hit_row = rows.index_of(n)
        if not n or (hit_row is not None and hit_row != row):
            return n
    return 0


def next_of(numbers: list[int], rows: MessageRows, n: int, step: int) -> int:
    """Return the nearest event after `n` (before it, with -1) of those in `numbers` with another row; 0 for none."""
    ahead = numbers[bisect_right(numbers, n) :] if step > 0 else numbers[: bisect_left(numbers, n)][::-1]
    at = rows.index_of(n)
    row = -1 if at is None else at
    pairs = ((m, rows.index_of(m)) for m in ahead)
    return next((m for m, to in pairs if to is not None and (to - row) * step > 0), 0)

"""The exchange view of the message log: a row per exchange, nested rows, bars over the visible span."""

from __future__ import annotations

import time
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable
from itertools import islice
from typing import NamedTuple

from rich.segment import Segment
from textual.strip import Strip

from inspector.journal.durations import asks_people, questions, response_times, took
from inspector.journal.exchange import add_roots, given_up_at, is_answer
from inspector.journal.folding import Folding
from inspector.journal.format import Dir, Kind
from inspector.journal.gaps import FOLD, gaps
from inspector.journal.index import State
from inspector.journal.journal import Journal
from inspector.journal.query import Query, both, picked
from inspector.protocol.jsonrpc import Shape
from inspector.text import duration, size
from inspector.tui.log.labels import FAILED, bar_role, id_text, sign_of
from inspector.tui.log.rows import MessageRows, Numbers, RowFacts, fitted
from inspector.tui.themes import ascii_only, palette, signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.line_widget import LineWidget
from inspector.tui.widgets.paint import Piece

_LOOKED_AHEAD = 300
_STANDING = "subscriptions/listen"


_LOW = 0xFFFFFFFF
_MANY = 20_000
PAUSE = 1.0
"""Seconds between two measurements of the durations in a journal of more than `_MANY` events."""
_FOLDED_PART = 20
"""A gap takes so little of the line of the bars: a twentieth of the time without gaps."""
_OUTERMOST = Query(shape=Shape.REQUEST, inside=0)
_FAILURES = Query(state=FAILED)


class Stats(NamedTuple):
    """Figures of the exchanges shown; percentiles in microseconds, None if no exchange has ended."""

    exchanges: int = 0
    errors: int = 0
    p50: int | None = None
    p95: int | None = None
    person: int = 0
    """Microseconds that a person took, which the percentiles exclude; of a sample if there are very many."""


class Growth(NamedTuple):
    """The result of a scan, for `ExchangeRows.apply`."""

    seen: int
    gone: list[int]
    """Exchanges that are no longer shown."""
    tail: array[int]
    """The last rows; they replace all rows from the first of them on."""
    stats: Stats


class ExchangeRows:
    """Rows as sorted keys: the number of the outermost request, and that of the event.

    With `folding`, folded events have no rows. With `filtered`, only exchanges with an event that matches a filter have
    rows; `scan` is given these. Scans may run in a thread, one at a time; call `apply` in the thread that draws.
    """

    def __init__(self, journal: Journal, *, filtered: bool, folding: Folding | None = None) -> None:
        self.journal = journal
        self.folding = folding
        self.keys: array[int] = array("Q")
        self.seen = 0
        self.stats = Stats()
        self._roots: array[int] = array("I")
        self._matching: bytearray | None = bytearray(1) if filtered else None
        self.stale = False
        """The figures do not cover all events yet: another scan will update them."""
        self._measured = 0.0

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, position: int) -> int:
        return self.keys[position] & _LOW

    def root(self, position: int) -> int:
        """Return the number of the outermost request of a row; the row's own event if it has none."""
        return self.keys[position] >> 32

    def position(self, n: int) -> int | None:
        """Return the row of an event, None if it has none; an answer is in the row of its request."""
        index = self.journal.index
        if self.folding is not None:
            n = self.folding.row(n)
        if 0 < n <= index.count and is_answer(index, n):
            n = index.pair(n)
        if not 0 < n <= len(self._roots):
            return None
        key = self._roots[n - 1] << 32 | n
        at = bisect_left(self.keys, key)
        return at if at < len(self.keys) and self.keys[at] == key else None

    # Add events

    def scan(
        self, last: int, added: Iterable[int] = (), left: Iterable[int] = (), fits: Callable[[int], bool] | None = None
    ) -> Growth:
        """Read the events up to `last`.

        With a filter: `added` now match, `left` no longer match, and `fits` tells whether any other event matches.
        """
        low = self.seen + 1
        add_roots(self.journal.index, self._roots, last)
        new = self._new_rows(low, last, added)
        gone = self._gone(left, fits) if fits is not None else []
        if new:
            new += self.keys[bisect_left(self.keys, min(new)) :]
            new.sort()
        return Growth(last, gone, array("Q", new), self._measure(last))

    def apply(self, growth: Growth) -> int | None:
        """Apply the result of a scan. Returns the first row that changed, or None."""
        keys, firsts = self.keys, []
        if growth.tail:
            firsts.append(bisect_left(keys, growth.tail[0]))
            del keys[firsts[0] :]
            keys.extend(growth.tail)
        for root in growth.gone:
            begin, end = bisect_left(keys, root << 32), bisect_left(keys, (root + 1) << 32)
            del keys[begin:end]
            firsts.append(begin)
        self.seen, self.stats = growth.seen, growth.stats
        return min(firsts, default=None)

    def drop(self, numbers: Iterable[int]) -> None:
        """Remove the rows of some events."""
        for n in numbers:
            key = self._roots[n - 1] << 32 | n if n <= len(self._roots) else 0
            at = bisect_left(self.keys, key)
            if at < len(self.keys) and self.keys[at] == key:
                del self.keys[at]

    def _new_rows(self, low: int, last: int, added: Iterable[int]) -> list[int]:
        roots = self._roots
        if self._matching is None:
            return [roots[n - 1] << 32 | n for n in range(low, last + 1) if self._has_row(n)]
        matching = self._matching
        matching.extend(bytes(last + 1 - len(matching)))
        joined = {root for n in added if not matching[root := roots[n - 1]]}
        for root in joined:
            matching[root] = 1
        begin = min(joined, default=low)
        return [
            root << 32 | n
            for n in range(min(begin, low), last + 1)
            if ((root := roots[n - 1]) in joined or (n >= low and matching[root])) and self._has_row(n)
        ]

    def _gone(self, left: Iterable[int], fits: Callable[[int], bool]) -> list[int]:
        """Return the exchanges without a matching event."""
        gone = []
        for root in {self._roots[n - 1] for n in left}:
            begin, end = bisect_left(self.keys, root << 32), bisect_left(self.keys, (root + 1) << 32)
            events = [key & _LOW for key in self.keys[begin:end]]
            events += [self.journal.index.pair(n) for n in events]
            if self._matching is not None and not any(n and fits(n) for n in events):
                self._matching[root] = 0
                gone.append(root)
        return gone

    def _has_row(self, n: int) -> bool:
        index = self.journal.index
        if self.folding is not None and self.folding.is_folded(n):
            return False
        if index.kind(n) in (Kind.HTTP, Kind.SSE):
            return self._roots[n - 1] == n
        return not is_answer(index, n)

    # Figures

    def _measure(self, last: int) -> Stats:
        """Measure counts, errors and percentiles of durations, at intervals; of a sample if there are very many."""
        now = time.monotonic()
        self.stale = last > _MANY and now - self._measured < PAUSE
        if self.stale:
            return self.stats
        self._measured = now
        index = self.journal.index
        exchanges = errors = 0
        durations: list[int] = []
        person = 0
        for low in range(1, last + 1, _MANY):
            high = min(low + _MANY - 1, last)
            chosen = _OUTERMOST.mask(index, low, high)
            if self._matching is not None:
                chosen = both(chosen, bytes(self._matching[low : high + 1]))
            exchanges += chosen.count(1)
            errors += both(chosen, _FAILURES.mask(index, low, high)).count(1)
            sample = islice(picked(low, chosen), 0, None, 1 + last // (_MANY * 10))
            # Without the server's requests: their time is the client's.
            answered = [n for n in sample if index.pair(n) and index.dir(n) is Dir.SEND]
            if asks_people(index):
                for n in answered:
                    timing = took(index, n)
                    if timing is not None:
                        durations.append(timing.server)
                        person += timing.person
            else:
                durations += response_times(index, answered)
        durations.sort()
        return Stats(exchanges, errors, _percentile(durations, 50), _percentile(durations, 95), person)


def _percentile(ordered: list[int], part: int) -> int | None:
    """Return the smallest value that at least `part` percent do not exceed (nearest rank)."""
    return ordered[max(-(-len(ordered) * part // 100) - 1, 0)] if ordered else None


class TimeSpan(NamedTuple):
    """A period in microseconds since the start. A gap in it is folded: it takes a small part of the line."""

    begin: int
    end: int
    gaps: tuple[tuple[int, int], ...] = ()

    @property
    def busy(self) -> int:
        """Its length without gaps."""
        return max(self.end - self.begin - sum(high - low for low, high in self.gaps), 1)

    def _place(self, t: int) -> int:
        """Return the microseconds that are drawn before a moment."""
        folded = max(self.busy // _FOLDED_PART, 1)
        place = t - self.begin
        for low, high in self.gaps:
            if t > low:
                passed = min(t, high) - low
                place += folded * passed // (high - low) - passed
        return place

    def cell(self, t: int, cells: int) -> int:
        """Return the cell of a moment."""
        length = max(self._place(self.end), 1)
        return min(max(self._place(t) * cells // length, 0), cells - 1)


class WaterfallColumns:
    """The columns of a row of some width. A narrow row drops size, then bars, duration, time."""

    def __init__(self, width: int, id_cells: int) -> None:
        self.id = id_cells + 1
        self.time = 12 if width >= 100 else 10
        self.duration = 9
        self.size = 8
        self.bars = 0
        rest = width - self.time - 1 - 3 - self.id - 2 - self.duration - self.size - 2
        if rest >= 40:
            self.bars = max(rest * 2 // 5, 16)
        if rest < 16:
            self.size, rest = 0, rest + self.size
        if rest < 16:
            self.duration, rest = 0, rest + self.duration
        if rest < 16:
            self.time, rest = -1, rest + self.time + 1
        self.what = max(rest - (self.bars + 1 if self.bars else 0), 1)


class WaterfallRows(MessageRows):
    """A `RowSource` over `ExchangeRows`. `look_at` sets the visible rows; the bars span their time."""

    def __init__(self, rows: MessageRows, exchanges: ExchangeRows) -> None:
        super().__init__(rows.journal, exchanges.folding)
        self.exchanges = exchanges
        self.numbers = exchanges
        self.span = TimeSpan(0, 1)
        self._looked: tuple[int, ...] = ()

    def show(self, numbers: Numbers, upto: int | None) -> None:
        """Show the exchanges at the moment after event `upto`, without a row for it; None for the end."""
        self.upto = upto

    def index_of(self, key: object) -> int | None:
        return self.exchanges.position(key) if isinstance(key, int) else None

    def look_at(self, top: int, height: int) -> bool:
        """Measure the span of the visible rows. Returns True if it changed."""
        count = len(self.exchanges)
        present = -1 if self.now is None else self.now // 100_000
        asked = (top, height, count, self.journal.index.count, present, self.upto or 0)
        if asked == self._looked:
            return False
        self._looked = asked
        visible = [self.exchanges[row] for row in range(min(top, count), min(top + height, count))]
        begins = [self.journal.index.time(n) for n in visible]
        busy = [(self.journal.index.time(n), self._end(n)) for n in visible if not self._is_standing(n)]
        ends = [end for _, end in busy] or [self._end(n) for n in visible]
        span = TimeSpan(min(begins, default=0), max([*begins, *ends], default=1), gaps(busy))
        changed = span != self.span
        self.span = span
        return changed

    def _is_standing(self, n: int) -> bool:
        """Whether a request lasts as long as the session. Beside such a bar all others would become points."""
        index = self.journal.index
        return index.shape(n) is Shape.REQUEST and index.method(n) == _STANDING

    def _end(self, n: int) -> int:
        """Return the time of the answer. Without one: now if the request is pending, else when it was given up."""
        index = self.journal.index
        if index.shape(n) != Shape.REQUEST:
            return index.time(n)
        answer = self._last_answer(n)
        if answer:
            return index.time(answer)
        if not self.pending(n):
            ended = given_up_at(index, n)
            return index.time(ended if ended <= (self.upto or index.count) else n)
        return self.now if self.now is not None else index.time(self.upto or index.count)

    def _last_answer(self, n: int) -> int:
        """Return the answer to request `n`; for a list of several pages the last answer. 0 if there is none yet."""
        listed = self.list_messages(n)
        if listed:
            n = max(m for m in listed if self.journal.index.shape(m) is Shape.REQUEST)
        return self.answer(n)

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Segment]:
        """Draw a row: time, directions, id, summary, bar, duration, size, findings."""
        n, root = self.numbers[index], self.exchanges.root(index)
        facts = self.journal.index
        row, columns = self.read(n), WaterfallColumns(width, self.id_cells)
        nested = n != root
        line: list[Segment] = []
        if columns.time > 0:
            line += [*paint.cell([(self._time(index, columns.time), "faint")], columns.time, right=True), Segment(" ")]
        line += paint.cell(self._signs(row, nested=nested), 3)
        line += [*paint.cell([(id_text(facts, n), "muted")], columns.id, right=True), Segment("  ")]
        line += self._subject(row, columns.what, nested=nested)
        if columns.bars:
            line += [Segment(" "), *self._bar(row, columns.bars)]
        if columns.duration:
            words, role = self.duration_text(row)
            line += paint.cell([(words, role if role != "muted" else "normal")], columns.duration, right=True)
        if columns.size:
            octets = sum(facts.size(m) for m in row.listed or (row.answer or n,))
            line += paint.cell([(size(octets) if octets else "", "muted")], columns.size, right=True)
        return [*line, *self.closing(row)]

    def folded(self, n: int) -> list[int]:
        """Return the events in the row of `n`: its answer, and the events folded into either."""
        answer = self.answer(n)
        return [*super().folded(n), *([answer, *super().folded(answer)] if answer else [])]

    def _timed(self, n: int, answer: int) -> int:
        return answer or n

    def row_state(self, n: int) -> tuple[int, ...]:
        return *super().row_state(n), self.answer(n)

    def _signs(self, row: RowFacts, *, nested: bool) -> list[Piece]:
        """Return the direction and the result: `→←` answered, `→✗` failed, `→?` asks us, `→…` pending."""
        n, index, signs = row.n, self.journal.index, signs_now()
        sign = sign_of(index, n, signs)
        if index.shape(n) != Shape.REQUEST:
            return [("  " if nested else ""), sign]
        if nested:
            return [" ", (signs.nested, "muted")]
        back = signs.received if index.dir(n) == Dir.SEND else signs.sent
        if row.state in FAILED:
            return [(sign[0], "error"), (signs.failed, "error")]
        if row.state == State.PENDING:
            how, role = (signs.asked, "ask") if self._asks(n) else (signs.cut, "muted")
            return [(sign[0], role), (how, role)]
        if row.state == State.CANCELLED:
            return [(sign[0], "muted"), (signs.times, "muted")]
        return [(sign[0], "received"), (back, "received")]

    def _asks(self, n: int) -> bool:
        """Whether a pending request of ours waits for our answer to a question of the server."""
        index = self.journal.index
        if self.now is None or index.dir(n) != Dir.SEND:
            return False
        last = min(index.count, n + _LOOKED_AHEAD)
        return any(
            index.parent(m) == n and self.pending(m) and index.dir(m) == Dir.RECV for m in range(n + 1, last + 1)
        )

    def _subject(self, row: RowFacts, cells: int, *, nested: bool) -> list[Segment]:
        pieces = fitted(self.summary(row), max(cells - nested, 1))
        if row.answer and row.state == State.ERROR and not row.listed:
            pieces = [*self.summary(row), "  ", *self.summary(self.read(row.answer))]
        pieces = [*([" "] if nested else []), *pieces, *self.ending(row, "  ")]
        kind = self.journal.index.kind(row.n)
        muted = row.state == State.PENDING or nested or kind not in (Kind.RPC, Kind.INVALID)
        return paint.cell(pieces, cells, "muted" if muted else "normal")

    def _bar(self, row: RowFacts, cells: int) -> list[Segment]:
        n, state, index, signs = row.n, row.state, self.journal.index, signs_now()
        begin = self.span.cell(index.time(n), cells)
        before = self._before_bar(index.time(n), begin, cells)
        if index.shape(n) != Shape.REQUEST:
            sign, role = signs.bars[5], sign_of(index, n, signs)[1]
            return paint.cell([*before, (sign, role if role != "faint" else "muted")], cells)
        end = max(self.span.cell(self._end(n), cells), begin)
        asks = state is State.PENDING and self._asks(n)
        role = "chart-ask" if asks else bar_role(index, n, state, done=(State.DONE,))
        bar = [role] * (end - begin + 1)
        for low, high in questions(index, n, self.answer(n) or self.upto or index.count, self._end(n)):
            first, last = (self.span.cell(t, cells) - begin for t in (low, high))
            bar[max(first, 0) : last + 1] = ["chart-ask"] * (min(last, len(bar) - 1) - max(first, 0) + 1)
        return paint.cell([*before, *((signs.bars[-1], role) for role in bar)], cells)

    def _before_bar(self, t: int, begin: int, cells: int) -> list[Piece]:
        """Draw the line up to a bar that begins at a time, with the gaps before it."""
        fold = ":" if ascii_only() else "┊"
        line = [" "] * begin
        for low, high in self.span.gaps:
            at = self.span.cell(low + (high - low) // 2, cells)
            if high <= t and at < begin:
                line[at] = fold
        length = next((high - low for low, high in self.span.gaps if high == t), 0)
        words = f"{duration(length)} gap " if length else ""
        if words and len(words) < begin:
            return [("".join(line[: begin - len(words)]), "faint"), (words, "muted")]
        return [("".join(line), "faint")]


class WaterfallHead(LineWidget):
    """The heads of the columns, with the scale of the bars."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    WaterfallHead { height: 1; width: 1fr; }
    """

    rows: WaterfallRows | None = None

    def render_line(self, y: int) -> Strip:
        cells = self.size.width
        rows = self.rows
        # The list below has one cell of padding at each side, and a scrollbar.
        inner = max(cells - 3, 1)
        if rows is None:
            return paint.blank(cells)
        columns = WaterfallColumns(inner, rows.id_cells)
        line: list[Segment] = [Segment(" ")]
        if columns.time > 0:
            line += [*paint.cell([("time", "muted")], columns.time, right=True), Segment(" ")]
        line += [Segment("   "), *paint.cell([("id", "muted")], columns.id, right=True), Segment("  ")]
        line += paint.cell([("method and name", "muted")], columns.what)
        if columns.bars:
            length = duration(max(rows.span.end - rows.span.begin, 0))
            folded = f"gaps over {FOLD:g} s folded  " if rows.span.gaps else ""
            if len(folded) + len(length) + 2 > columns.bars:
                folded = ""
            end = paint.segments([(folded, "faint"), (length, "muted")])
            scale = paint.spread(paint.segments([("0", "muted")]), end, columns.bars)
            line += [Segment(" "), *scale]
        if columns.duration:
            line += paint.cell([("duration", "muted")], columns.duration, right=True)
        if columns.size:
            line += paint.cell([("size", "muted")], columns.size, right=True)
        return paint.strip(line, cells, theme=palette())

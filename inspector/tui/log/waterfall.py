"""The exchange view of the message log: a row per exchange, nested rows, bars over the visible span."""

from __future__ import annotations

from typing import NamedTuple

from rich.segment import Segment
from textual.strip import Strip

from inspector.journal.durations import asks_people, questions
from inspector.journal.exchange import given_up_at
from inspector.journal.format import Dir, Kind
from inspector.journal.index import State
from inspector.protocol.jsonrpc import Shape
from inspector.text import duration, size
from inspector.tui.log.exchange_rows import ExchangeRows
from inspector.tui.log.labels import id_text, sign_of
from inspector.tui.log.rows import MessageRows, Numbers, RowFacts, fitted
from inspector.tui.themes import palette, signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.line_widget import LineWidget
from inspector.tui.widgets.paint import Piece

_FAILED = (State.ERROR, State.TIMED_OUT, State.LOST)
_LOOKED_AHEAD = 300
_STANDING = "subscriptions/listen"


class TimeSpan(NamedTuple):
    """A period in microseconds since the start."""

    begin: int
    end: int

    def cell(self, t: int, cells: int) -> int:
        """The cell of a moment."""
        length = max(self.end - self.begin, 1)
        return min(max((t - self.begin) * cells // length, 0), cells - 1)


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
        ends = [self._end(n) for n in visible if not self._is_standing(n)] or [self._end(n) for n in visible]
        span = TimeSpan(min(begins, default=0), max([*begins, *ends], default=1))
        changed = span != self.span
        self.span = span
        return changed

    def _is_standing(self, n: int) -> bool:
        """Whether a request lasts as long as the session. Beside such a bar all others would become points."""
        index = self.journal.index
        return index.shape(n) is Shape.REQUEST and index.method(n) == _STANDING

    def _end(self, n: int) -> int:
        """The time of the answer. Without one: now if the request is pending, else when it was given up."""
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
        """The answer to request `n`; for a list of several pages the last answer. 0 if there is none yet."""
        listed = self.list_messages(n)
        if listed:
            n = max(m for m in listed if self.journal.index.shape(m) is Shape.REQUEST)
        return self.answer(n)

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Segment]:
        """Draw a row: time, directions, id, summary, bar, duration, size, findings."""
        n, root = self.numbers[index], self.exchanges.root(index)
        facts, signs = self.journal.index, signs_now()
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
        return [*line, *paint.cell([(f" {signs.finding}", "finding")] if self._findings(n, row.folded) else " ", 2)]

    def folded(self, n: int) -> list[int]:
        """The events in the row of `n`: its answer, and the events folded into either."""
        answer = self.answer(n)
        return [*super().folded(n), *([answer, *super().folded(answer)] if answer else [])]

    def _timed(self, n: int, answer: int) -> int:
        return answer or n

    def look(self, n: int) -> tuple[int, ...]:
        return *super().look(n), self.answer(n)

    def _signs(self, row: RowFacts, *, nested: bool) -> list[Piece]:
        """The direction and the result: `→←` answered, `→✗` failed, `→?` asks us, `→…` pending."""
        n, index, signs = row.n, self.journal.index, signs_now()
        sign = sign_of(index, n, signs)
        if index.shape(n) != Shape.REQUEST:
            return [("  " if nested else ""), sign]
        if nested:
            return [" ", (signs.nested, "muted")]
        back = signs.received if index.dir(n) == Dir.SEND else signs.sent
        if row.state in _FAILED:
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
        if index.shape(n) != Shape.REQUEST:
            sign, role = signs.bars[5], sign_of(index, n, signs)[1]
            return paint.cell([" " * begin, (sign, role if role != "faint" else "muted")], cells)
        end = max(self.span.cell(self._end(n), cells), begin)
        role = "chart"
        if state in _FAILED:
            role = "chart-error"
        elif state == State.PENDING:
            role = "chart-ask" if index.dir(n) == Dir.RECV or self._asks(n) else "chart-dim"
        elif index.dir(n) == Dir.RECV:
            role = "chart-ask"
        elif state != State.DONE:
            role = "chart-dim"
        bar = [role] * (end - begin + 1)
        for low, high in self._questions(n):
            first, last = (self.span.cell(t, cells) - begin for t in (low, high))
            bar[max(first, 0) : last + 1] = ["chart-ask"] * (min(last, len(bar) - 1) - max(first, 0) + 1)
        return paint.cell([" " * begin, *((signs.bars[-1], role) for role in bar)], cells)

    def _questions(self, n: int) -> list[tuple[int, int]]:
        """The times at which a person was asked within an exchange."""
        index = self.journal.index
        if not asks_people(index):
            return []
        last = self.answer(n) or self.upto or index.count
        return list(questions(index, n, last, self._end(n)))


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
            scale = paint.spread(paint.segments([("0", "muted")]), paint.segments([(length, "muted")]), columns.bars)
            line += [Segment(" "), *scale]
        if columns.duration:
            line += paint.cell([("duration", "muted")], columns.duration, right=True)
        if columns.size:
            line += paint.cell([("size", "muted")], columns.size, right=True)
        return paint.strip(line, cells, look=palette())

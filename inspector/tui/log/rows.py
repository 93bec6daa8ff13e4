"""The rows of the message log: which events, in which columns. Bodies are read only for visible rows."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Sequence
from typing import Literal, NamedTuple, Protocol

from rich.cells import cell_len
from rich.segment import Segment
from textual.cache import LRUCache

from inspector.journal.durations import CallTimes, took
from inspector.journal.folding import Folding
from inspector.journal.format import Kind
from inspector.journal.index import State
from inspector.journal.journal import Journal
from inspector.journal.session_start import StartFolding
from inspector.protocol.jsonrpc import Shape
from inspector.text import duration, size, yours
from inspector.tui.log.labels import HttpLabels, id_text, list_words, sign_of, standing, start_words
from inspector.tui.log.summaries import summary
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.paint import Piece

Times = Literal["clock", "start", "previous"]
TIMES: tuple[Times, ...] = ("clock", "start", "previous")
TIMES_WORDS: dict[Times, str] = {"clock": "", "start": "since start", "previous": "since the previous"}

NOW = 0
"""The number of the row of the moment shown, which is not an event."""
_MARK = "*"
_COMPARED = "A"
_KEPT_SUMMARIES = 2000
_FIGURE = 8
_SIZE = 7
_ROOM_FOR_SIZE = 22
"""Cells that the summary keeps if the size is shown. A log beside two columns, 160 cells wide, then shows it."""
_MIN_NAME = 12
_MIN_WORDS = 8
_MIN_ID = 3
_MAX_ID = 9
_FEW_TEXT_IDS = 3
"""Text ids that do not widen the column, such as that of the first question."""


class Numbers(Protocol):
    """The events that have rows, ascending."""

    def __len__(self) -> int: ...

    def __getitem__(self, position: int) -> int: ...

    def position(self, n: int) -> int | None: ...


class AllEvents:
    """Every event up to `count`, which a tick sets."""

    def __init__(self) -> None:
        self.count = 0

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, position: int) -> int:
        return position + 1

    def position(self, n: int) -> int | None:
        """Return the row of event `n`, or None."""
        return n - 1 if 0 < n <= self.count else None


class RowsWithMoment:
    """Numbers of events, with a row for the moment after event `upto` if events follow it."""

    def __init__(self, numbers: Numbers, upto: int) -> None:
        self.numbers = numbers
        self.upto = upto
        self._at = (-1, 0)

    @property
    def at(self) -> int:
        """The row of the moment. If no event follows it, the length."""
        count = len(self.numbers)
        if self._at[0] != count:
            self._at = (count, bisect_right(self.numbers, self.upto))
        return self._at[1]

    def __len__(self) -> int:
        count = len(self.numbers)
        return count + (self.at < count)

    def __getitem__(self, position: int) -> int:
        at = self.at
        if position == at < len(self.numbers):
            return NOW
        return self.numbers[position if position < at else position - 1]

    def position(self, n: int) -> int | None:
        """Return the row of event `n`, or None."""
        if n == NOW:
            return self.at if self.at < len(self.numbers) else None
        row = self.numbers.position(n)
        return row if row is None or row < self.at else row + 1


class LogColumns:
    """The columns of a row of some width. A narrow row drops size, then duration, then time."""

    def __init__(self, width: int, id_cells: int) -> None:
        roomy = width >= 90
        self.id = id_cells if width >= 40 else min(id_cells, _MIN_ID)
        self.gap = 2 if width >= 48 else 1
        rest = width - 1 - 1 - self.id - self.gap - 2
        self.size = _SIZE if rest - (_FIGURE + 1) - (_SIZE + 1) - 11 >= _ROOM_FOR_SIZE else 0
        self.duration = _FIGURE if rest - (_FIGURE + 1) - 11 >= 14 else 0
        self.time = (12 if roomy else 10) if rest - 11 >= 14 else 0
        rest -= sum(cells + 1 for cells in (self.size, self.duration, self.time) if cells)
        self.what = max(rest, 1)


class RowFacts(NamedTuple):
    """The facts of a row, read once for a drawing; at a moment of a recording, those of then."""

    n: int
    answer: int
    """The answer to the request of the row; 0 for none."""
    listed: list[int]
    """The messages of a list of several pages."""
    folded: list[int]
    """The other events in the row."""
    group: list[int]
    """The rows that the row replaces: of the start of a session, or of the progress of a call."""
    state: State
    timed: int
    """The event whose duration is shown."""
    times: CallTimes | None
    """The duration of the call so far, if the row shows it."""

    @property
    def person(self) -> int:
        """Microseconds that a person took within the call."""
        return self.times.person if self.times is not None else 0


class MessageRows:
    """A `RowSource` over a journal's events. `numbers` selects them; `times` is the time format.

    With `from_first`, clock times are relative to the first row, which alone shows the clock. `now` is the present in
    microseconds since the start, for pending requests; None if the session is over. With `folding`, a row also shows
    what is folded into it.
    """

    def __init__(self, journal: Journal, folding: Folding | StartFolding | None = None) -> None:
        self.journal = journal
        self.folding = folding
        self.everything = AllEvents()
        self.numbers: Numbers = self.everything
        self.times: Times = "clock"
        self.from_first = False
        self.top = 0
        """The first visible row."""
        self.now: int | None = None
        self.upto: int | None = None
        """Of a recording: the last event before the moment shown; None at its end."""
        self.compared = 0
        """The first of two messages to compare; 0 for none."""
        self.id_cells = _MIN_ID
        self._summaries: LRUCache[tuple[int, int, State], list[Piece]] = LRUCache(_KEPT_SUMMARIES)
        self._http = HttpLabels(journal)

    def __len__(self) -> int:
        return len(self.numbers)

    def key_at(self, index: int) -> Hashable:
        """Return the number of a row's event."""
        return self.numbers[index]

    def index_of(self, key: Hashable) -> int | None:
        """Return the row of event `key`, or None."""
        return self.numbers.position(key) if isinstance(key, int) else None

    def show(self, numbers: Numbers, upto: int | None) -> None:
        """Show these events, with a row for the moment after event `upto`; None for the end."""
        self.upto = upto
        self.numbers = numbers if upto is None else RowsWithMoment(numbers, upto)

    @property
    def happened(self) -> int | None:
        """How many of the rows had happened at the moment shown; None at the end."""
        return self.numbers.at if isinstance(self.numbers, RowsWithMoment) else None

    def forget(self) -> None:
        """Read bodies again when they are drawn next."""
        self._summaries.clear()
        self._http = HttpLabels(self.journal)

    def measure_ids(self) -> bool:
        """Measure the ids of all events. Returns True if the column got wider."""
        index = self.journal.index
        widest = _MAX_ID if len(index.ids) > _FEW_TEXT_IDS else len(str(index.ids.largest))
        before = self.id_cells
        self.id_cells = min(max(before, widest), _MAX_ID)
        return self.id_cells != before

    def state(self, n: int) -> State:
        """Return the state of event `n`; at a moment of a recording, its state then."""
        index = self.journal.index
        if self.upto is None or n > self.upto:
            return State(index.state(n))
        return index.state_at(n, self.upto)

    def answer(self, n: int) -> int:
        """Return the answer to request `n`, or 0 if there is none at the moment shown."""
        index = self.journal.index
        answer = index.pair(n) if index.shape(n) is Shape.REQUEST else 0
        return 0 if answer and self.upto is not None and n <= self.upto < answer else answer

    def pending(self, n: int) -> bool:
        """Whether event `n` is a request that waits for its answer."""
        return self.state(n) is State.PENDING

    def folded(self, n: int) -> list[int]:
        """Return the events folded into the row of `n`; at a moment of a recording, those so far."""
        return self._so_far(n, self.folding.folded(n)) if self.folding is not None else []

    def list_messages(self, n: int) -> list[int]:
        """Return the messages of a list of several pages whose row is `n`; else empty. At a moment, those so far."""
        return self._so_far(n, self.folding.list_messages(n)) if self.folding is not None else []

    def group(self, n: int) -> list[int]:
        """Return the rows that the row of `n` replaces, itself first; else empty. At a moment, those so far."""
        return self._so_far(n, list(self.folding.group(n))) if self.folding is not None else []

    def _is_start(self, n: int) -> bool:
        return isinstance(self.folding, StartFolding) and self.folding.is_start(n)

    def _so_far(self, n: int, numbers: list[int]) -> list[int]:
        upto = self.upto
        return numbers if upto is None or n > upto else [m for m in numbers if m <= upto]

    def row_state(self, n: int) -> tuple[int, ...]:
        """Return all that can change about a drawn row: if it differs, the row must be drawn again."""
        if not n:
            return 0, 0, 0, 0, 0, 0
        state, folded = self.state(n), self.folded(n)
        waited = self.now // 100_000 if self.now is not None and state is State.PENDING else 0
        signs = self._findings(n, folded), self._is_marked(n, folded), self._is_compared(n, folded)
        return state, *signs, waited, sum(folded)

    def _findings(self, n: int, folded: list[int]) -> int:
        """Return the number of findings on the events of a row."""
        findings = self.journal.findings
        return sum(len(findings.of(m)) for m in (n, *folded)) if findings.total else 0

    def _is_marked(self, n: int, folded: list[int]) -> bool:
        """Whether the user marked an event of a row."""
        marks = self.journal.marks
        return len(marks) > 0 and any(marks.of(m) is not None for m in (n, *folded))

    def _is_compared(self, n: int, folded: list[int]) -> bool:
        """Whether a row has the first of two messages to compare."""
        return self.compared > 0 and self.compared in (n, *folded)

    def read(self, n: int) -> RowFacts:
        """Read what the row of event `n` shows."""
        listed, folded, answer, state = self.list_messages(n), self.folded(n), self.answer(n), self.state(n)
        if self._is_start(n):
            listed = [n, *(m for m in folded if self.journal.index.kind(m) is Kind.RPC)]
            # Whatever became of its first request, the connection is ready at its end.
            state = State.PENDING if self._is_connecting(n) else State.DONE
        timed = n if listed else self._timed(n, answer)
        return RowFacts(n, answer, listed, folded, self.group(n), state, timed, self._times(timed, listed))

    def _is_connecting(self, n: int) -> bool:
        """Whether the connection whose start is the row of `n` was not ready at the moment shown."""
        ends = self.journal.index.connections.last
        return self.upto is not None and n <= self.upto < ends[bisect_left(ends, n)]

    def _timed(self, n: int, answer: int) -> int:
        return n

    def _times(self, n: int, listed: list[int]) -> CallTimes | None:
        index = self.journal.index
        if listed:
            if self._is_start(n) and self._is_connecting(n):
                return None
            last = listed[-1]
            return CallTimes(index.time(last) - index.time(n)) if index.shape(last) is not Shape.REQUEST else None
        if index.shape(n) in (Shape.RESULT, Shape.ERROR):
            return took(index, n)
        return took(index, n, until=self.now) if self.now is not None and self.pending(n) else None

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Segment]:
        """Draw a row: time, sign, id, summary, duration, size, mark, findings."""
        n = self.numbers[index]
        row, columns = self.read(n), LogColumns(width, self.id_cells)
        facts = self.journal.index
        line: list[Segment] = []
        if columns.time:
            line += [*paint.cell([(self._time(index, columns.time), "faint")], columns.time, right=True), Segment(" ")]
        line += paint.segments(self.signs(row))
        line += paint.cell([("" if row.listed else id_text(facts, n), "muted")], columns.id, right=True)
        line.append(Segment(" " * columns.gap))
        words, role = self.duration_text(row) if columns.duration else ("", "muted")
        spare = columns.duration + 1 if columns.duration and not words else 0
        what = self._what(row, columns.what, spare)
        line += what
        if columns.duration and paint.width(what) == columns.what:  # else the text has taken it
            line += [Segment(" "), *paint.cell([(words, role)], columns.duration, right=True)]
        if columns.size:
            octets = sum(facts.size(m) for m in row.listed or (n,))
            line += [
                Segment(" "),
                *paint.cell([(size(octets) if octets else "", "muted")], columns.size, right=True),
            ]
        return [*line, *self.closing(row)]

    def closing(self, row: RowFacts) -> list[Segment]:
        """Draw the end of a row: that it is one of two to compare, or marked; that it has findings."""
        n, folded = row.n, row.folded
        signs: list[Piece] = [(_MARK, "bright")] if self._is_marked(n, folded) else []
        if self._is_compared(n, folded):
            signs = [(_COMPARED, "ask")]
        signs += [(signs_now().finding, "finding")] if self._findings(n, folded) else []
        return paint.cell(signs, 2, right=True)  # A single sign does not touch the size.

    def signs(self, row: RowFacts) -> list[Piece]:
        """Return the sign of a row in two cells; an answered list has those of both directions."""
        signs = signs_now()
        if self._is_start(row.n):
            return [(signs.local, "muted"), " "]
        sign = sign_of(self.journal.index, row.n, signs)
        return [(sign[0], "received"), (signs.received, "received")] if row.listed and row.answer else [sign, " "]

    def summary(self, row: RowFacts) -> list[Piece]:
        """Return the summary of a row, cached for the rows drawn last."""
        key = (row.n, len(row.listed) + len(row.group), row.state)
        pieces = self._summaries.get(key)
        if pieces is None:
            pieces = self._read_summary(row)
            self._summaries.set(key, pieces)
        return pieces

    def _read_summary(self, row: RowFacts) -> list[Piece]:
        if self._is_start(row.n):
            return ["connecting"] if row.state is State.PENDING else start_words(self.journal, row.listed)
        if row.listed:
            return list_words(self.journal, row.n, row.listed)
        return summary(self.journal, row.group[-1] if row.group else row.n)

    def ending(self, row: RowFacts, gap: str) -> list[Piece]:
        """Return what follows the summary of a row: how many rows it replaces, the time of a person, a state."""
        word = standing(row.state)
        replaced = f"{gap}{signs_now().times}{len(row.group):,}"
        return [
            *([(replaced, "muted")] if len(row.group) > 1 else []),
            *([(f"{gap}{yours(duration(row.person))}", "ask")] if row.person else []),
            *([gap, word] if word is not None else []),
        ]

    def _what(self, row: RowFacts, cells: int, spare: int) -> list[Segment]:
        """Draw what a row says in `cells`. A longer text takes `spare` cells more: the empty column beside it."""
        text = self.summary(row)
        end = self.ending(row, " ")
        http, failed = self._http.words(row.folded) if self.folding is not None else ("", False)
        if failed:
            end.append((f"  {http}", "error"))
        if not end and _length(text) > cells:
            cells += spare
        closing = paint.segments(end)
        room = cells - paint.width(closing)
        if room < _MIN_WORDS:
            closing, room = [], cells
        pieces = fitted(text, room)
        role = "normal"
        if row.state is State.PENDING:
            pieces, role = [piece if isinstance(piece, str) else piece[0] for piece in pieces], "muted"
        elif self.journal.index.kind(row.n) in (Kind.STDERR, Kind.NOTE, Kind.SSE, Kind.HTTP):
            role = "muted"
        line = paint.segments(pieces, role, room=room)
        if http and not failed and paint.width(line) + 2 + len(http) <= room:
            line += paint.segments([(f"  {http}", "faint")])
        line = paint.cut(line, room)
        return [*line, Segment(" " * (room - paint.width(line))), *closing]

    def duration_text(self, row: RowFacts) -> tuple[str, str]:
        """Return the duration of an answer, or the waiting time of a request, with its role."""
        index, timing = self.journal.index, row.times
        if timing is None or (timing.person and not timing.server):
            return "", "muted"
        if index.shape(row.timed) is Shape.REQUEST and not row.listed:
            return (duration(timing.server), "normal") if sum(timing) >= 1_000_000 else ("", "muted")
        return duration(timing.server), "error" if index.state(row.timed) is State.ERROR else "muted"

    def _time(self, index: int, cells: int) -> str:
        n = self.numbers[index]
        facts = self.journal.index
        t = facts.time(n)
        if self.times == "start":
            return since(t)
        above = self.numbers[index - 1] or (self.numbers[index - 2] if index > 1 else 0) if index else 0
        before = facts.time(above) if above else None
        if self.times == "previous":
            return since(t) if before is None else f"+{duration(t - before)}"
        if self.from_first and index:
            return f"+{_precise(t - facts.time(self.numbers[0]))}"
        return self._clock(t, None if index == self.top else before, cells)

    def _clock(self, t: int, before: int | None, cells: int) -> str:
        """Return the time of day; within the same second as the previous row, only the part that differs."""
        clock = self.journal.clock(t)
        fraction = f".{clock.microsecond // 1000:03}"
        if before is not None:
            other = self.journal.clock(before)
            if abs(t - before) < 1_000_000 and other.second == clock.second:
                return fraction
        return f"{clock:%H:%M:%S}{fraction}"[:cells]


def since(t: int) -> str:
    """Format microseconds since the start: `0.412`, `1:02.345`, `1:01:02.345`."""
    sign, t = ("-", -t) if t < 0 else ("", t)
    minutes, rest = divmod(t // 1000, 60_000)
    hours, minutes = divmod(minutes, 60)
    seconds = f"{rest // 1000:02}.{rest % 1000:03}"
    if hours:
        return f"{sign}{hours}:{minutes:02}:{seconds}"
    return f"{sign}{minutes}:{seconds}" if minutes else f"{sign}{rest // 1000}.{rest % 1000:03}"


def moment(t: int) -> str:
    """Format microseconds since the start as a moment of a recording: `01:12.345`, `1:01:12.345`."""
    sign, t = ("-", -t) if t < 0 else ("", t)
    minutes, rest = divmod(t // 1000, 60_000)
    hours, minutes = divmod(minutes, 60)
    clock = f"{minutes:02}:{rest // 1000:02}.{rest % 1000:03}"
    return f"{sign}{hours}:{clock}" if hours else sign + clock


def _precise(us: int) -> str:
    return f"{us / 1e6:.2f} s" if 1_000_000 <= us < 100_000_000 else duration(us)


def fitted(pieces: list[Piece], room: int) -> list[Piece]:
    """Shorten pieces that are too long: a method loses its path, a name its middle."""
    if _length(pieces) <= room:
        return pieces
    if pieces and pieces[0] == ("notifications/", "normal"):
        return fitted(pieces[1:], room)
    if len(pieces) == 3 and (pages := pieces[1][0]).endswith((" page", " pages", " poll", " polls")):
        items = pieces[2][0].strip()
        number = f" {signs_now().times}{pages.split()[0]} "
        short: list[Piece] = [(number, "muted"), (items, "bright")]
        # The number of pages is the least important of the three.
        return [pieces[0], *short] if _length([pieces[0], *short]) <= room else [pieces[0], f" {items}"]
    if len(pieces) != 2 or not isinstance(pieces[0], str) or isinstance(pieces[1], str):
        return pieces
    method, (name, role) = pieces[0], pieces[1]
    if not name.startswith(" ") or " " in name[1:]:
        return pieces  # A sentence keeps its beginning.
    if room - len(method) < min(_MIN_NAME, len(name)):
        method = method.rpartition("/")[2]
    return [method, (paint.middle(name, max(room - len(method), _MIN_NAME)), role)]


def _length(pieces: Sequence[Piece]) -> int:
    return sum(cell_len(piece if isinstance(piece, str) else piece[0]) for piece in pieces)

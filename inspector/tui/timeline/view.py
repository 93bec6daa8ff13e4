"""The state of a timeline: a window of time, a cursor, a marked range. It draws nothing."""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import islice
from typing import Literal, NamedTuple

from inspector.client.session_state import SessionState
from inspector.journal.durations import LoginParts
from inspector.journal.filters import Filter, FilteredView
from inspector.journal.format import Dir
from inspector.journal.index import State
from inspector.journal.lanes import EventLane, Lanes, number_at
from inspector.protocol.jsonrpc import Shape

MIN_STEP = 1
"""Microseconds of a cell that cannot be zoomed further."""
ZOOM = 2
NEARLY = 0.9
"""A window that shows so much of the session shows all of it."""
PAN = 4
"""A pan moves the window by a quarter."""
UNITS = (1_000_000, 100_000, 10_000, 1000, 100, 10)
MARKED = 100
"""A range in a filter is rounded to a unit of which it has so many."""
MAX_ITEMS = 200
"""Messages at the cursor that can be selected."""
_FILTERED_AT_ONCE, _READ_AT_ONCE = 4000, 200
"""Events that are filtered at once; the same if their bodies must be read."""
_MAX_IN_CELL = 200
"""Matches in one cell of a lane that are looked at."""


_WITH_TIME = re.compile(r"(?:\((.*)\) )?time:[0-9.]+s-[0-9.]+s")
"""A filter that an earlier range has made, with what was before it."""


class TimeWindow(NamedTuple):
    """A part of a session in cells of equal length. Times are those of the lanes, with gaps folded."""

    begin: int
    step: int
    """Microseconds of one cell."""
    cells: int

    @property
    def end(self) -> int:
        """The first time after it."""
        return self.begin + self.step * self.cells

    @property
    def length(self) -> int:
        return self.step * self.cells

    def cell(self, t: int) -> int:
        """Return the cell of a time, which may be outside."""
        return (t - self.begin) // self.step

    def time(self, cell: int) -> int:
        """Return when a cell begins."""
        return self.begin + cell * self.step

    def zoomed(self, part: float, t: int) -> TimeWindow:
        """Return the window with cells of `part` of the length; time `t` stays in its cell."""
        step = max(round(self.step * part), MIN_STEP)
        if part > 1:
            step = max(step, self.step + 1)
        return TimeWindow(t - (t - self.begin) // self.step * step, step, self.cells)

    def within(self, latest: int) -> TimeWindow:
        """Return the window moved into the session, and not longer than it."""
        largest = whole_step(latest, self.cells)
        step = min(self.step, largest)
        return TimeWindow(max(min(self.begin, latest + 1 - step * self.cells), 0), step, self.cells)


def whole_step(latest: int, cells: int) -> int:
    """Return the length of a cell with which a session fits into so many."""
    return max(-(-(latest + 1) // cells), MIN_STEP)


class TimelineView:
    """The state of a timeline. `fit` says how many cells it has, `advance` reads new events; keys call the rest."""

    def __init__(self, session: SessionState) -> None:
        self.session = session
        self.lanes = Lanes(session.journal)
        self.logins = LoginParts(session.journal)
        self.filtered: FilteredView | None = None
        """What matches the filter of the log; everything else is drawn faint. None without a filter."""
        self.window = TimeWindow(0, 1, 1)
        self.is_whole = True
        """The window is the whole session, and grows with it."""
        self.cursor = 0
        self.mark: int | None = None
        """The time at which a marked range began; it ends at the cursor."""
        self.selected = 0
        """The message at the cursor that was chosen; 0: the first."""
        self._goal: int | Literal["end"] | None = "end"
        """Where the cursor goes: to a time once it is read, or always to the end."""
        self.now: int | None = None
        """The present of a live session with requests in flight."""

    @property
    def latest(self) -> int:
        """The end of the session so far."""
        return max(self.lanes.latest, self.lanes.clock.folded(self.now or 0))

    def real(self, t: int) -> int:
        """Return the microseconds since the start of a time of the lanes."""
        return self.lanes.clock.real(t)

    @property
    def moment(self) -> int | None:
        """In a replay, the moment that is shown; None at the end. Later events are drawn faint."""
        session = self.session
        if session.at_end:
            return None
        return self.lanes.time(session.upto) if session.upto else 0

    def fit(self, cells: int) -> None:
        """Draw into so many cells from now on."""
        cells = max(cells, 1)
        if cells != self.window.cells:
            length = self.window.length
            self.window = TimeWindow(self.window.begin, max(length // cells, MIN_STEP), cells)
            self._settle()

    def advance(self, seconds: float = 0.01) -> bool:
        """Read new events. True: more are left."""
        journal = self.session.journal
        more = self.lanes.advance(journal.index.count, seconds)
        self.logins.advance(self.lanes.seen)
        if self.filtered is not None:
            at_once = _READ_AT_ONCE if self.filtered.filter.reads else _FILTERED_AT_ONCE
            more = self.filtered.extend(at_once) or more
        is_live = self.session.commands is not None and self.session.phase in ("connecting", "ready")
        self.now = journal.now() if is_live and self.is_waiting else None
        if isinstance(self._goal, int):
            self.cursor = self.lanes.clock.folded(self._goal)
            if not more:
                self._goal = None
        self._settle()
        return more

    def narrow(self, filter: Filter | None) -> None:
        """Draw faint what does not match a filter; None: draw everything the same."""
        before = self.filtered.filter.source if self.filtered is not None else ""
        if (filter.source if filter is not None else "") != before:
            self.filtered = FilteredView(self.session.journal, filter) if filter is not None else None

    def start_at(self, t: int) -> None:
        """Put the cursor at a time since the start that may not have been read yet."""
        self._goal = t

    @property
    def is_waiting(self) -> bool:
        """Whether a request is in flight that does not last as long as the session."""
        return self.lanes.sent.in_flight + self.lanes.received.in_flight > 0

    def _settle(self) -> None:
        """Keep the window inside the session, and the cursor inside the window."""
        cells, latest = self.window.cells, self.latest
        if self.is_whole:
            self.window = TimeWindow(0, whole_step(latest, cells), cells)
        elif self._goal == "end" and latest >= self.window.end:
            self.window = self.window._replace(begin=latest + 1 - self.window.length)
        if self._goal == "end":
            self.cursor = latest
        self.window = self.window.within(latest)
        self.cursor = min(max(self.cursor, 0), latest)

    def zoom(self, part: float) -> None:
        """Show `part` of the time around the cursor."""
        self.is_whole = False
        self.window = self.window.zoomed(part, self.cursor).within(self.latest)
        # Halved and doubled, a cell does not always have its old length.
        self.is_whole = part > 1 and self.window.step > whole_step(self.latest, self.window.cells) * NEARLY
        self._settle()
        self._show_cursor()

    def move(self, cells: int) -> None:
        """Move the cursor by cells; the window follows."""
        cell = self.window.cell(self.cursor) + cells
        self.go_to(self.window.time(cell))

    def go_to(self, t: int) -> None:
        """Put the cursor at a time."""
        self.cursor = min(max(t, 0), self.latest)
        self._goal = None
        self.selected = 0
        self._show_cursor()

    def follow(self) -> None:
        """Put the cursor at the end, where it stays."""
        self.go_to(self.latest)
        self._goal = "end"

    def pan(self, by: int) -> None:
        """Move the window by a quarter of it, and the cursor with it where it would leave."""
        if self.is_whole:
            return
        cell = min(max(self.window.cell(self.cursor), 0), self.window.cells - 1)
        part = max(self.window.length // PAN, 1)
        self.window = self.window._replace(begin=self.window.begin + by * part).within(self.latest)
        self._goal = None
        self.selected = 0
        self.cursor = min(max(self.window.time(cell), 0), self.latest)

    def show_whole(self) -> None:
        """Show the whole session."""
        self.is_whole = True
        self._settle()

    def toggle_mark(self) -> None:
        """Begin a range at the cursor, or drop it."""
        self.mark = self.cursor if self.mark is None else None

    def _show_cursor(self) -> None:
        window = self.window
        if self.cursor < window.begin:
            window = window._replace(begin=window.time(window.cell(self.cursor)))
        elif self.cursor >= window.end:
            window = window._replace(begin=window.time(window.cell(self.cursor) - window.cells + 1))
        self.window = window.within(self.latest)

    @property
    def range(self) -> tuple[int, int]:
        """The marked range, both ends included; without one the window."""
        window = self.window
        if self.mark is None:
            return window.begin, min(window.end - 1, self.latest)
        low, high = sorted((self.mark, self.cursor))
        return low, high + window.step - 1

    @property
    def filter(self) -> str:
        """The filter for the messages of the range that match the filter of the log."""
        begin, end = map(self.real, self.range)
        # The range is rounded outwards by an invisible length, so that the filter is short.
        unit = next((unit for unit in UNITS if unit * MARKED <= end - begin), 1)
        period = f"time:{time_text(begin // unit * unit)}-{time_text(-(-end // unit) * unit)}"
        source = self.filtered.filter.source if self.filtered is not None else ""
        earlier = _WITH_TIME.fullmatch(source)
        if earlier is not None:
            source = earlier[1] or ""
        return f"({source}) {period}" if source else period

    def events(self, begin: int, end: int) -> tuple[int, int]:
        """Return the first and last event of a period; the first is greater if there is none."""
        index = self.session.journal.index
        return number_at(index, self.real(begin - 1)) + 1, number_at(index, self.real(end))

    @property
    def at_cursor(self) -> tuple[int, int]:
        """The first and last microsecond of the cursor's cell."""
        cell = self.window.cell(self.cursor)
        return self.window.time(cell), self.window.time(cell + 1) - 1

    def items(self) -> list[int]:
        """Return the messages at the cursor: requests in flight, then events in its cell. Only the first of very
        many."""
        begin, end = self.at_cursor
        lanes = self.lanes
        numbers = [lanes.sent.requests[p] for p in lanes.sent.at(begin, end, MAX_ITEMS)]
        numbers += [lanes.received.requests[p] for p in lanes.received.at(begin, end, MAX_ITEMS)]
        for lane in (lanes.notifications, lanes.login, lanes.process):
            numbers += [n for n, _ in islice(lane.within(begin, end), max(MAX_ITEMS - len(numbers), 0))]
        return numbers[:MAX_ITEMS]

    def chosen(self, items: list[int]) -> int:
        """Return the selected message of those at the cursor; 0 without any."""
        return self.selected if self.selected in items else items[0] if items else 0

    def choose(self, by: int) -> None:
        """Select another message at the cursor."""
        items = self.items()
        if items:
            at = items.index(self.chosen(items)) + by
            self.selected = items[min(max(at, 0), len(items) - 1)]

    def nearest(self) -> int:
        """Return the message to open: the selected one, else the last before the cursor."""
        index = self.session.journal.index
        return self.chosen(self.items()) or min(max(number_at(index, self.real(self.cursor)), 1), index.count)

    def state(self, n: int) -> State:
        """Return the state of a request at the moment that is shown."""
        session = self.session
        index = session.journal.index
        return index.state(n) if session.at_end else index.state_at(n, session.upto)

    def is_faint(self, n: int) -> bool:
        """Whether neither event `n` nor, of a request, its answer matches the filter of the log."""
        filtered = self.filtered
        if filtered is None or n > filtered.seen or filtered.position(n) is not None:
            return False
        pair = self.session.journal.index.pair(n)
        return not pair or filtered.position(pair) is None

    def is_faint_within(self, first: int, last: int, lane: EventLane) -> bool:
        """Whether none of the events `first` to `last` of a lane matches the filter of the log."""
        filtered = self.filtered
        if filtered is None or last > filtered.seen:
            return False
        at = bisect_left(filtered.numbers, first)
        for n in islice(filtered.numbers, at, at + _MAX_IN_CELL):
            if n > last:
                return True
            if n in lane:
                return False
        return at >= len(filtered.numbers)

    def is_ours(self, n: int) -> bool:
        """Whether event `n` is a request of the client."""
        index = self.session.journal.index
        return index.shape(n) is Shape.REQUEST and index.dir(n) is Dir.SEND


def time_text(us: int) -> str:
    """Format a time as a filter takes it: `24.2s`."""
    return f"{us / 1e6:.6f}".rstrip("0").rstrip(".") + "s"

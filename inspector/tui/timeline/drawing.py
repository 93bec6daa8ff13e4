"""Draws the lanes of a timeline, its axis, and the strip of the whole session."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import groupby
from math import log
from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style

from inspector.journal.durations import OPEN, asks_people, questions
from inspector.journal.format import Dir, Kind
from inspector.journal.index import State
from inspector.journal.lanes import EventLane, LaneRows, RequestLane, number_at
from inspector.text import Signs, cell_len, count, duration, safe
from inspector.tui.log.labels import bar_role
from inspector.tui.log.rows import moment
from inspector.tui.themes import ThemeStyles, ascii_only, contrast, signs_now
from inspector.tui.timeline.view import TimelineView
from inspector.tui.widgets.paint import CHARACTERS_PER_CELL


class CellLine:
    """A line of exactly `cells` cells. A part of the line that is outside is not drawn."""

    def __init__(self, cells: int) -> None:
        self.cells = cells
        self._texts = [" "] * cells
        self._roles = [""] * cells
        """By cell: a role; `BAR/ROLE` for a text on a bar."""

    def fill(self, first: int, last: int, sign: str, role: str) -> None:
        """Draw one sign into the cells `first` to `last`."""
        low, high = max(first, 0), min(last + 1, self.cells)
        if high > low:
            self._texts[low:high] = [sign] * (high - low)
            self._roles[low:high] = [role] * (high - low)

    def put(self, at: int, text: str, role: str, room: int | None = None, *, on_bar: bool = False) -> int:
        """Write a text, of at most `room` cells; returns the cell after it. With `on_bar`, the bar below stays."""
        end = self.cells if room is None else min(at + room, self.cells)
        for char in safe(text, max(end - at, 0) * CHARACTERS_PER_CELL, ascii=ascii_only()):
            width = cell_len(char)
            if at + width > end:
                break
            if not width:
                if at > 0:
                    self._texts[at - 1] += char
                continue
            if at >= 0:
                for cell in range(at, at + width):
                    self._texts[cell] = char if cell == at else ""
                    self._roles[cell] = f"{self._roles[cell].partition('/')[0]}/{role}" if on_bar else role
            at += width
        return at

    def rest(self, at: int) -> int:
        """Return how many cells from `at` on are empty."""
        free = 0
        while at + free < self.cells and self._texts[at + free] == " " and not self._roles[at + free]:
            free += 1
        return free

    def recolour(self, first: int, last: int, before: str, after: str) -> None:
        """Give the cells `first` to `last` that have one role another."""
        for cell in range(max(first, 0), min(last + 1, self.cells)):
            if self._roles[cell] == before:
                self._roles[cell] = after

    def fade(self, first: int) -> None:
        """Draw everything from a cell on as of the future."""
        for cell in range(max(first, 0), self.cells):
            role = self._roles[cell]
            if role:
                self._roles[cell] = ("chart-dim" if role.startswith("chart") else "faint") + (
                    "/muted" if "/" in role else ""
                )

    @property
    def text(self) -> str:
        """The line without roles."""
        return "".join(self._texts)

    def roles(self) -> list[tuple[str, str]]:
        """Return texts with their roles, in order."""
        pairs = zip(self._roles, self._texts, strict=True)
        return [("".join(text for _, text in group), role) for role, group in groupby(pairs, key=lambda pair: pair[0])]

    def segments(self, theme: ThemeStyles) -> list[Segment]:
        """Return the line in a theme."""
        return [Segment(text, _style(theme, role)) for text, role in self.roles()]


def _style(theme: ThemeStyles, role: str) -> Style:
    bar, _, text = role.partition("/")
    if not text:
        return theme.style(bar or "normal")
    if not bar:
        return theme.style(text)
    return _on_bar(theme, bar, text)


@lru_cache(256)
def _on_bar(theme: ThemeStyles, bar: str, role: str) -> Style:
    """Return the style of a text on a bar: the bar's colour is the background."""
    ground = theme.style(bar).color
    if ground is None:
        return theme.style(bar) + Style(reverse=True)
    inks = [theme.style(name).color for name in (role, "ground")]
    inks[1] = theme.style("ground").bgcolor
    under = ground.triplet
    if under is None:
        return Style(color="black", bgcolor=ground)
    best = max(
        (ink for ink in inks if ink is not None and ink.triplet is not None),
        default=None,
        key=lambda ink: contrast(ink.triplet or under, under),
    )
    return Style(color=best, bgcolor=ground)


WIDE_NAMES, NAMES = 16, 10
"""Cells of the names of the lanes."""
MIN_LABEL = 4
"""Cells below which a name is not drawn beside a bar."""
LABEL = 16
"""Cells that a request takes at least while there is room for labels."""
FEW = 2000
"""At most so many requests get rows with room for labels, at each zoom."""
MAX_ROWS = 24
_STEPS = (1, 2, 5)
_MINUTES = (60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 43200, 86400)
_TICK = 10
"""Least cells between two ticks of the axis."""

Label = Callable[[int], str]
"""The name of a message beside its bar or sign."""


class LaneLine(NamedTuple):
    """A line of a lane. Only the first line of a lane has its name, in a role."""

    name: str
    role: str
    cells: CellLine


class LaneDrawing:
    """Draws the lanes of a view. `label` reads the name of a message; it is called for visible ones only."""

    def __init__(self, view: TimelineView, label: Label) -> None:
        self.view = view
        self._label = label
        self._people: dict[int, list[tuple[int, int]]] = {}
        self._asks_people = False
        self._drawn: tuple[tuple[object, ...], list[LaneLine]] | None = None
        self._packed: tuple[tuple[int, int], LaneRows] | None = None

    def lines(self, height: int) -> list[LaneLine]:
        """Return at most `height` lines of all lanes. Where all fit, empty lines are between them.

        They are the same while only the cursor moves.
        """
        view = self.view
        index = view.session.journal.index
        filtered = view.filtered
        key = (
            view.window,
            height,
            view.lanes.seen,
            index.count,
            index.errors,
            view.latest,
            view.moment,
            signs_now(),
            None if filtered is None else (filtered.filter.source, filtered.seen, len(filtered)),
        )
        if self._drawn is None or self._drawn[0] != key:
            self._asks_people = asks_people(index)
            self._drawn = key, self._draw(height)
        return self._drawn[1]

    def _draw(self, height: int) -> list[LaneLine]:
        lanes = self.view.lanes
        below: list[list[LaneLine]] = [self._in_flight(2 if height >= 12 else 1)]
        if len(lanes.received):
            rows = lanes.received.rows
            below.append(self._requests("server asks", lanes.received, rows, 2 if height >= 16 else 1))
        for name, lane in (("notifications", lanes.notifications), ("login", lanes.login), ("process", lanes.process)):
            if lane is lanes.login and len(self.view.logins):
                below.append([self._logins()])
            elif len(lane):
                below.append(self._events(name, lane))
        used = sum(len(part) for part in below)
        room = min(max(height - used, 1), MAX_ROWS)
        lines = self._requests("requests", lanes.sent, self._rows(room), room)
        spaced = len(lines) + used + len(below) <= height
        for part in below:
            lines += [*([LaneLine("", "", CellLine(self.view.window.cells))] if spaced else []), *part]
        lines = lines[:height]
        self._draw_gaps(lines)
        self._draw_moment(lines)
        return lines

    def _rows(self, largest: int) -> LaneRows:
        """Return the rows with room for labels if they fit, else those without."""
        lane, window = self.view.lanes.sent, self.view.window
        if len(lane) > FEW:
            return lane.rows
        key = window.step, self.view.lanes.seen
        if self._packed is None or self._packed[0] != key:
            self._packed = key, lane.packed(LABEL * window.step)
        rows = self._packed[1]
        fits = len(rows.occupied(window.begin, window.end - 1, largest + 1)) <= largest
        return rows if fits else lane.rows

    def _requests(self, name: str, lane: RequestLane, rows: LaneRows, largest: int) -> list[LaneLine]:
        window = self.view.window
        begin, end = window.begin, window.end - 1
        occupied = rows.occupied(begin, end, largest + 1)
        cut = len(occupied) > largest
        visible = occupied[: largest - 1] if cut and largest > 1 else occupied[:largest]
        lines: list[LaneLine] = []
        drawn = 0
        for row in visible:
            line, number = self._row(lane, rows, row)
            lines.append(LaneLine(name if not lines else "", "bright", line))
            drawn += number
        if cut:
            line = CellLine(window.cells)
            hidden = lane.overlapping(begin, end) - drawn
            most_flying = lane.flying(begin, end)
            words = f"+{count(max(hidden, 1))} more, at most {count(most_flying)} in flight"
            line.put(0, words, "muted")
            if largest > 1:
                lines.append(LaneLine("", "", line))
        return lines or [LaneLine(name, "bright", CellLine(window.cells))]

    def _row(self, lane: RequestLane, rows: LaneRows, row: int) -> tuple[CellLine, int]:
        """Draw a row. Returns the line and how many requests it stands for."""
        window = self.view.window
        line = CellLine(window.cells)
        bars = []
        for position in rows.within(row, window.begin, window.end - 1, window.step):
            first = window.cell(lane.begins[position])
            end = lane.ends[position]
            last = window.cell(self.view.latest if end == OPEN else end)
            if last >= 0:
                bars.append((lane.requests[position], first, max(last, first), end))
        for at, (n, first, last, end) in enumerate(bars):
            following = bars[at + 1][1] if at + 1 < len(bars) else window.cells
            self._bar(line, n, first, last, end, following)
        return line, len(bars)

    def _bar(self, line: CellLine, n: int, first: int, last: int, end: int, following: int) -> None:
        view, signs = self.view, signs_now()
        cells = line.cells
        sign = signs.bars[-1]
        faint = view.is_faint(n)
        role = "faint" if faint else self.role(n)
        line.fill(first, last, sign, role)
        if not self._asks_people and last < cells and following - first < MIN_LABEL:
            return  # No name fits into the bar or beside it: so it is for nearly all of very many.
        for low, high in self._questions(n, end) if not faint else ():
            line.fill(max(view.window.cell(low), first), min(view.window.cell(high), last), sign, "chart-ask")
        if last >= cells:
            line.put(cells - 1, signs.sent, "faint" if faint else "bright")
        low, high = max(first, 0), min(last, cells - 1)
        inside = high - low - (last >= cells)
        room = min(following, cells) - high - 2
        # A name beside a short bar can be read in full where nothing follows soon.
        if inside >= MIN_LABEL or room >= MIN_LABEL:
            failed = role == "chart-error"
            name = f"{signs.failed} {self._label(n)}" if failed else self._label(n)
            if inside >= min(cell_len(name), max(room, MIN_LABEL)):
                self._write(line, low + 1, name, "muted" if faint else "bright", inside, on_bar=True)
            elif room >= MIN_LABEL:
                self._write(line, high + 2, name, "faint" if faint else "normal", room, on_bar=False)

    def _write(self, line: CellLine, at: int, text: str, role: str, room: int, *, on_bar: bool) -> None:
        cut = cell_len(text) > room
        after = line.put(at, text, role, room - cut, on_bar=on_bar)
        if cut:
            line.put(after, signs_now().cut, role, 1, on_bar=on_bar)

    def role(self, n: int) -> str:
        """Return the role of a request's bar."""
        return bar_role(self.view.session.journal.index, n, self.view.state(n), done=(State.DONE, State.LATE))

    def _questions(self, n: int, end: int) -> list[tuple[int, int]]:
        """Return when a person was asked during a request."""
        index = self.view.session.journal.index
        if not self._asks_people or index.dir(n) is not Dir.SEND:
            return []
        spans = self._people.get(n)
        if spans is None:
            last = index.pair(n) or index.count
            latest, folded = self.view.real(self.view.latest), self.view.lanes.clock.folded
            spans = [(folded(low), folded(high)) for low, high in questions(index, n, last, latest)]
            if end != OPEN:
                if len(self._people) > 1000:
                    self._people.clear()
                self._people[n] = spans
        return spans

    def _in_flight(self, lines: int) -> list[LaneLine]:
        view, window, signs = self.view, self.view.window, signs_now()
        flying = view.lanes.sent.flying
        largest = flying(window.begin, window.end - 1)
        drawn = [CellLine(window.cells) for _ in range(lines)]
        levels = len(signs.bars)
        last = window.cell(view.latest)
        for cell in range(min(window.cells, last + 1)):
            begin = window.time(cell)
            number = flying(begin, begin + window.step - 1)
            height = -(-number * lines * levels // largest) if largest else 0
            for line in range(lines):
                part = min(height - line * levels, levels)
                if part > 0:
                    drawn[lines - 1 - line].fill(cell, cell, signs.bars[part - 1], "chart-dim")
        maximum = f"at most {count(largest)}"
        if lines == 1:
            return [LaneLine(maximum, "muted", drawn[0])]
        return [LaneLine("in flight", "bright", drawn[0]), LaneLine(maximum, "muted", drawn[1])]

    def _events(self, name: str, lane: EventLane) -> list[LaneLine]:
        view, window = self.view, self.view.window
        line = CellLine(window.cells)
        cells = [
            (window.cell(view.lanes.time(n)), n, number)
            for n, number in lane.within(window.begin, window.end - 1, window.step)
        ]
        for at, (cell, n, number) in enumerate(cells):
            sign, role = event_sign(view, n, signs_now())
            faint = view.is_faint_within(n, lane.after(n, number - 1), lane)
            line.put(cell, sign, "faint" if faint else role)
            following = cells[at + 1][0] if at + 1 < len(cells) else window.cells
            room = min(following, window.cells) - cell - 3
            if room >= MIN_LABEL * 2:
                label = self._label(n) if number == 1 else f"{count(number)} {signs_now().times} {self._label(n)}"
                self._write(line, cell + 2, label, "faint" if faint else "muted", room, on_bar=False)
        return [LaneLine(name, "bright", line)]

    def _logins(self) -> LaneLine:
        """Draw the parts of each login; neighbours are told apart by their colour."""
        view, window, sign = self.view, self.view.window, signs_now().bars[-1]
        line = CellLine(window.cells)
        folded = view.lanes.clock.folded
        parts = view.logins.within(view.real(window.begin), view.real(window.end - 1))
        ends = [window.cell(view.latest if part.end == OPEN else folded(part.end)) for part in parts]
        for at, part in enumerate(parts):
            first, last = window.cell(folded(part.begin)), ends[at]
            if at and first <= ends[at - 1] < last:
                first = ends[at - 1] + 1
            faint = view.is_faint_within(part.first, part.last, view.lanes.login)
            role = "chart-error" if part.failed else "chart-ask" if part.is_persons else "chart"
            if role == "chart" and at % 2:
                role = "chart-dim"
            line.fill(first, last, sign, "faint" if faint else role)
            low, high = max(first, 0), min(last, window.cells - 1)
            following = window.cell(folded(parts[at + 1].begin)) if at + 1 < len(parts) else window.cells
            name = f"{signs_now().failed} {part.name}" if part.failed else part.name
            if high - low >= cell_len(name):
                self._write(line, low + 1, name, "muted" if faint else "bright", high - low, on_bar=True)
            elif following - high - 2 >= MIN_LABEL:
                self._write(line, high + 2, name, "faint" if faint else "normal", following - high - 2, on_bar=False)
        return LaneLine("login", "bright", line)

    def _draw_gaps(self, lines: list[LaneLine]) -> None:
        """Draw a line through the empty cells where a gap is folded."""
        window = self.view.window
        for middle, _ in self.view.lanes.clock.between(window.begin, window.end - 1, window.step):
            for _, _, line in lines:
                if line.rest(window.cell(middle)):
                    line.put(window.cell(middle), _gap_sign(), "faint")

    def _draw_moment(self, lines: list[LaneLine]) -> None:
        """In a replay, draw what is later than the moment faint."""
        moment = self.view.moment
        if moment is not None:
            first = self.view.window.cell(moment) + 1
            for _, _, line in lines:
                line.fade(first)


def _gap_sign() -> str:
    return ":" if ascii_only() else "┊"


def event_sign(view: TimelineView, n: int, signs: Signs) -> tuple[str, str]:
    """Return the sign of an event without a duration, and its role."""
    index = view.session.journal.index
    kind = index.kind(n)
    if kind is Kind.AUTH:
        return signs.local, "ask"
    if kind is not Kind.RPC:
        return signs.local, "muted"
    if index.dir(n) is Dir.SEND:
        return signs.sent, "sent"
    if index.method(n) == "notifications/progress":
        return signs.progress, "progress"
    return signs.notification, "notification"


def axis(view: TimelineView) -> CellLine:
    """Return the scale of a window, from its beginning."""
    window = view.window
    line = CellLine(window.cells)
    tick = tick_of(window.step)
    t = 0
    while t < window.length:
        cell = t // window.step
        label = tick_text(view.real(window.begin + t) - view.real(window.begin), tick)
        if cell + cell_len(label) <= window.cells:
            line.put(cell, label, "muted")
        t += tick
    return line


def clock_line(view: TimelineView) -> CellLine:
    """Return the line below the axis: the time at the cursor; in a replay also a mark at the moment."""
    window = view.window
    line = CellLine(window.cells)
    if view.moment is not None:
        cell = window.cell(view.moment)
        line.fill(cell, cell, "v" if ascii_only() else "▼", "chart")
    for middle, length in view.lanes.clock.between(window.begin, window.end - 1, window.step):
        cell = window.cell(middle)
        words = f"{_gap_sign()} {duration(length)} gap"
        line.put(cell, words if line.rest(cell) >= len(words) + 1 else _gap_sign(), "muted")
    clock = moment(view.real(view.cursor))
    at = window.cell(view.cursor) - len(clock) // 2
    line.put(min(max(at, 0), max(window.cells - len(clock), 0)), clock, "accent bold")
    return line


def tick_of(step: int) -> int:
    """Return the microseconds between two ticks of an axis with cells of `step` microseconds."""
    least = step * _TICK
    unit = 1
    while unit < 60_000_000:
        for part in _STEPS:
            if unit * part >= least and unit * part < 60_000_000:
                return unit * part
        unit *= 10
    for seconds in _MINUTES:
        if seconds * 1_000_000 >= least:
            return seconds * 1_000_000
    return -(-least // 86_400_000_000) * 86_400_000_000


def tick_text(t: int, tick: int) -> str:
    """Format a time on an axis: `0`, `0.2 s`, `40 ms`, `1:30`."""
    if not t:
        return "0"
    if tick >= 60_000_000:
        minutes = t // 60_000_000
        return f"{minutes // 60} h {minutes % 60:02} m" if tick >= 3600_000_000 or minutes >= 60 else f"{minutes} m"
    if tick >= 1_000_000:
        seconds = t // 1_000_000
        return f"{seconds // 60}:{seconds % 60:02}" if seconds >= 60 else f"{seconds} s"
    if tick >= 100_000:
        return f"{t / 1e6:.1f} s"
    if tick >= 1000:
        return f"{t // 1000} ms" if t < 1_000_000 else f"{t / 1e6:.3f} s"
    return f"{t / 1e3:.{3 if tick < 10 else 2 if tick < 100 else 1}f} ms"


def strip(view: TimelineView, cells: int) -> CellLine:
    """Return the whole session in one line: how many events, errors in red; those of the window are bright."""
    index, latest = view.session.journal.index, view.latest
    line = CellLine(cells)
    step = max(-(-(latest + 1) // cells), 1)
    before, numbers = 0, []
    for cell in range(cells):
        upto = number_at(index, view.real((cell + 1) * step - 1))
        numbers.append(max(upto - before, 0))
        before = max(upto, before)
    largest = max(numbers, default=0)
    bars = signs_now().bars
    for cell, number in enumerate(numbers):
        if number:
            # Logarithmic, so that a few events are visible beside very many.
            level = round(log(1 + number) / log(1 + largest) * (len(bars) - 1))
            line.fill(cell, cell, bars[level], "chart")
    for n, _ in view.lanes.errors.within(0, latest, step):
        cell = view.lanes.time(n) // step
        if cell < cells:
            line.fill(cell, cell, line.text[cell] if line.text[cell] != " " else bars[0], "error")
    return line


def strip_cells(view: TimelineView, cells: int) -> tuple[int, int]:
    """Return the first and last cell of the window in the strip of the whole session."""
    step = max(-(-(view.latest + 1) // cells), 1)
    begin, end = view.window.begin // step, min(view.window.end - 1, view.latest) // step
    return min(begin, cells - 1), min(max(end, begin), cells - 1)

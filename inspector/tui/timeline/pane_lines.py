"""The lines of each pane of a timeline, and the widget that shows them."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from textual.cache import LRUCache
from textual.strip import Strip

from inspector.client.session_state import SessionState
from inspector.journal.durations import OPEN, PERSON_METHODS, divided
from inspector.journal.statistics import GroupStats, SessionStats
from inspector.protocol.jsonrpc import Shape
from inspector.text import cell_len, count, duration, quantity, size
from inspector.tui.log.labels import id_text, sign_of, subject
from inspector.tui.log.rows import fitted, moment
from inspector.tui.log.summaries import summary
from inspector.tui.themes import palette, signs_now
from inspector.tui.timeline.drawing import (
    NAMES,
    WIDE_NAMES,
    LaneDrawing,
    axis,
    clock_line,
    event_sign,
    strip,
    strip_cells,
)
from inspector.tui.timeline.view import TimelineView
from inspector.tui.widgets import paint
from inspector.tui.widgets.line_widget import LineWidget

_KEPT = 4000
SORTS = ("max", "count", "errors", "method")
"""By what the table is sorted, in the order of the key."""
_COLUMNS = (("count", 8), ("errors", 9), ("p50", 9), ("p95", 9), ("max", 9), ("person", 9), ("bytes", 9))
_DROPPED = ("p95", "bytes", "person", "p50")
"""Columns that a narrow table drops, the first first."""
_MIN_METHOD = 18


class DrawnLines(LineWidget):
    """Shows lines that its owner has drawn, cut to its width."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    DrawnLines { height: 1fr; width: 1fr; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: Sequence[Sequence[Segment]] = ()
        self._grounds: Sequence[str] = ()

    def show(self, lines: Sequence[Sequence[Segment]], grounds: Sequence[str] = ()) -> None:
        """Show these lines; `grounds` are the roles of their backgrounds."""
        if lines != self._lines or grounds != self._grounds:
            self._lines, self._grounds = lines, grounds
            self.refresh()

    @property
    def room(self) -> int:
        """The cells of a line, without one at each side."""
        return max(self.size.width - 2, 1)

    def render_line(self, y: int) -> Strip:
        cells = self.size.width
        if y >= len(self._lines):
            return paint.blank(cells)
        ground = self._grounds[y] if y < len(self._grounds) else "ground"
        return paint.strip([Segment(" "), *self._lines[y]], cells, ground)


class Names:
    """The names of messages beside their bars and signs; each body is read once."""

    def __init__(self, session: SessionState) -> None:
        self._session = session
        self._kept: LRUCache[int, str] = LRUCache(_KEPT)

    def of(self, n: int) -> str:
        """Return the tool or prompt that a request names, else its method; another event in a few words."""
        name = self._kept.get(n)
        if name is None:
            journal = self._session.journal
            if journal.index.shape(n) is Shape.REQUEST:
                pieces = subject(journal, n)
                # The cursor of a page is not its name.
                pieces = pieces[:1] if journal.index.method(n).endswith("/list") else pieces[1:] or pieces
            else:
                pieces = [piece for piece in summary(journal, n) if piece != ("notifications/", "normal")]
            name = "".join(piece if isinstance(piece, str) else piece[0] for piece in pieces).strip()
            self._kept.set(n, name)
        return name


class LaneLines:
    """The lines of the lanes: names at the left, the axis above, the cursor and the marked range through all."""

    def __init__(self, view: TimelineView, names: Names) -> None:
        self.view = view
        self._drawing = LaneDrawing(view, names.of)

    def lines(self, cells: int, height: int, *, strip_above: bool, item_below: bool) -> list[list[Segment]]:
        """Return `height` lines of at most `cells` cells. Fits the view to the room beside the names."""
        view = self.view
        # Only a wide screen has room for long names.
        names = WIDE_NAMES if cells >= 100 else NAMES
        view.fit(cells - names)
        theme, window = palette(), view.window
        above = [*([session_line(view, cells, alone=True)] if strip_above else [])]
        cursor = window.cell(view.cursor)
        above += [[Segment(" " * names), *line.segments(theme)] for line in (axis(view), clock_line(view))]
        room = max(height - len(above) - item_below, 1)
        rows = []
        for name, role, line in self._drawing.lines(room):
            label = paint.cell([(_short(name) if names == NAMES else name, role)], names)
            rows.append([*label, *self._with_cursor(line.segments(theme), cursor)])
        while len(rows) < room:
            blank = [Segment(" " * window.cells)]
            rows.append([Segment(" " * names), *self._with_cursor(blank, cursor)])
        if item_below:
            rows.append(item_line(view, cells))
        return [*above, *rows]

    def _with_cursor(self, line: list[Segment], cursor: int) -> list[Segment]:
        """Mark the range, and draw the cursor where the line is empty."""
        theme, view = palette(), self.view
        cells = Strip(line)
        if view.mark is not None:
            low, high = sorted((view.window.cell(view.mark), cursor))
            low, high = max(low, 0), min(high, view.window.cells - 1)
            if high >= low:
                ground = theme.style("selection-dim")
                marked = [
                    Segment(text, ground + style if style else ground) for text, style, _ in cells.crop(low, high + 1)
                ]
                return [*cells.crop(0, low), *self._cursor(Strip(marked), cursor - low), *cells.crop(high + 1)]
        return self._cursor(cells, cursor)

    def _cursor(self, line: Strip, cursor: int) -> list[Segment]:
        if not 0 <= cursor < line.cell_length:
            return list(line)
        here = line.crop(cursor, cursor + 1)
        if here.text != " ":
            return list(line)
        style = palette().style("accent")
        ground = next(iter(here)).style
        drawn = Segment("|" if signs_now().cut == "~" else "│", ground + style if ground else style)
        return [*line.crop(0, cursor), drawn, *line.crop(cursor + 1)]


def _short(name: str) -> str:
    return {"notifications": "notices", "server asks": "asks"}.get(name, name)


def session_line(view: TimelineView, cells: int, *, alone: bool = False) -> list[Segment]:
    """Return the strip of the whole session, with the window on another background.

    `alone`: there are no lines above and below that have it too, so the bars are bright.
    """
    line = strip(view, cells)
    if alone and not view.is_whole:
        line.recolour(*strip_cells(view, cells), "chart", "bright")
    return _with_window(view, line.segments(palette()), cells)


def _with_window(view: TimelineView, line: list[Segment], cells: int) -> list[Segment]:
    """Draw the window's part of a line about the whole session on another background."""
    if view.is_whole:
        return line
    first, last = strip_cells(view, cells)
    whole, ground = Strip(line).adjust_cell_length(cells), palette().style("selection")
    inside = [Segment(text, ground + style if style else ground) for text, style, _ in whole.crop(first, last + 1)]
    return [*whole.crop(0, first), *inside, *whole.crop(last + 1)]


def session_lines(view: TimelineView, cells: int) -> list[list[Segment]]:
    """Return the strip of the whole session, its times above, and the meaning of its colours below."""
    theme = palette()
    begin, end = "00:00", moment(view.real(view.latest))
    line: list[Segment] = paint.spread(paint.segments([(begin, "muted")]), paint.segments([(end, "muted")]), cells)
    if not view.is_whole:
        _, last = strip_cells(view, cells)
        clock = moment(view.real(view.window.begin))
        at = min(max(last + 2, len(begin) + 2), cells - len(end) - len(clock) - 2)
        if at > len(begin) + 1:
            whole = Strip(line)
            drawn = Segment(clock, theme.style("bright"))
            line = [*whole.crop(0, at), drawn, *whole.crop(at + len(clock))]
    errors = [(f"{signs_now().bars[-1]} ", "error"), ("errors", "muted")] if len(view.lanes.errors) else ""
    below = _with_window(view, paint.segments(errors), cells)
    return [_with_window(view, line, cells), session_line(view, cells), below]


# At the cursor


def item_line(view: TimelineView, cells: int) -> list[Segment]:
    """Return the selected message at the cursor in one line."""
    items = view.items()
    n = view.chosen(items)
    if not n:
        return paint.segments([("Nothing at the cursor", "faint")])
    more = f"{items.index(n) + 1} of {count(len(items))}  " if len(items) > 1 else ""
    return [*paint.segments([(more, "muted")]), *_item(view, n, cells - len(more))]


def item_lines(view: TimelineView, cells: int, height: int) -> tuple[list[list[Segment]], list[str]]:
    """Return the messages at the cursor, one in a line, and the backgrounds: the selected one is visible."""
    items = view.items()
    n = view.chosen(items)
    if not items:
        return [paint.segments([("No request is in flight here.", "muted")])], []
    room = max(height - 3, 1)
    top = min(max(items.index(n) - room // 2, 0), max(len(items) - room, 0))
    head = paint.spread([], paint.segments([(f"{'so far':>9}{'duration':>11}", "muted")]), cells)
    visible = items[top : top + room]
    grounds = ["ground", *("selection-dim" if m == n and len(items) > 1 else "ground" for m in visible)]
    lines = [head, *(_item(view, m, cells) for m in visible)]
    return [*lines, *_part_lines(view, n, cells)][: max(height, 1)], grounds


def _part_lines(view: TimelineView, n: int, cells: int) -> list[list[Segment]]:
    """Return how the time of a request is divided, as far as it is known: nothing for other messages."""
    journal = view.session.journal
    spent = divided(journal, n, view.real(view.latest)) if journal.index.shape(n) is Shape.REQUEST else None
    if spent is None:
        return []
    named = (
        ("queue", spent.queue, "normal"),
        ("login", spent.login, "ask"),
        ("connect", spent.connect, "normal"),
        ("waiting", spent.waiting, "normal"),
        ("streaming", spent.streaming, "normal"),
        ("yours", spent.person, "ask"),
    )
    lines: list[list[paint.Piece]] = [[]]
    room = cells
    for name, us, role in named:
        if not us:
            continue
        part: list[paint.Piece] = [(f"{name} ", "muted"), (duration(us), role)]
        wide = cell_len(name) + 1 + cell_len(duration(us))
        if lines[-1] and wide + 3 > room:
            lines.append([])
            room = cells
        gap: list[paint.Piece] = ["   "] if lines[-1] else []
        lines[-1] += [*gap, *part]
        room -= wide + 3 * bool(gap)
    return [[], *(paint.cut(paint.segments(pieces), cells) for pieces in lines)] if lines[0] else []


def _item(view: TimelineView, n: int, cells: int) -> list[Segment]:
    journal = view.session.journal
    index, signs = journal.index, signs_now()
    if index.shape(n) is not Shape.REQUEST:
        sign = event_sign(view, n, signs)
        return paint.cell([sign, "   ", *fitted(summary(journal, n), max(cells - 4, 1))], cells)
    lane = view.lanes.sent if view.is_ours(n) else view.lanes.received
    begin = view.lanes.time(n)
    answer = lane.end_of(n)
    # The cursor's cell may be longer than the request.
    far = duration(max(min(view.cursor, answer) - begin, 0))
    whole = "open" if answer == OPEN else f"of {duration(max(answer - begin, 0))}"
    right = paint.segments([(f"{far:>9}", "bright"), (f"{whole:>11}", "muted")])
    id = id_text(index, n)
    left = [sign_of(index, n, signs), f" {id}  " if id else "  ", *fitted(subject(journal, n), max(cells - 26, 8))]
    return paint.spread(paint.segments(left), right, cells)


# By method


def method_lines(stats: SessionStats, sort: str, cells: int, height: int) -> list[list[Segment]]:
    """Return a table of the methods of a period: its head, as many rows as fit, and the total."""
    columns = list(_COLUMNS)
    for name in _DROPPED:
        if cells - sum(width for _, width in columns) >= _MIN_METHOD:
            break
        columns = [column for column in columns if column[0] != name]
    if not stats.person:
        columns = [column for column in columns if column[0] != "person"]
    room = max(cells - sum(width for _, width in columns), 1)
    down = signs_now().down
    by_name = sort == "method"
    head = paint.cell([(f"method {down}" if by_name else "method", "bright" if by_name else "muted")], room)
    for name, width in columns:
        mark = name == sort
        head += paint.cell([(f"{name} {down}" if mark else name, "bright" if mark else "muted")], width, right=True)
    groups = sorted(stats.groups, key=lambda group: _order(group, sort))
    rest = max(height - 2, 1)
    cut = len(groups) > rest
    lines = [head, *(_group(group, columns, room) for group in groups[: rest - cut])]
    if cut:
        lines.append(paint.segments([(f"{quantity(len(groups) - rest + 1, 'further method')}", "faint")]))
    total = stats.total
    total.durations = []
    return [*lines, _group(total, columns, room, role="muted")]


def _order(group: GroupStats, sort: str) -> tuple[object, ...]:
    if sort == "method":
        return (group.method,)
    value = {"max": group.percentile(100) or 0, "count": group.count, "errors": group.errors}[sort]
    return -value, -group.count, group.method


def _group(group: GroupStats, columns: Sequence[tuple[str, int]], room: int, role: str = "bright") -> list[Segment]:
    name = group.method
    if cell_len(name) > room - 1 and name.startswith("notifications/"):
        name = name.removeprefix("notifications/")
    asks = group.dir == "recv" and group.method in PERSON_METHODS
    line = paint.cell([(name, role)], room)
    for column, width in columns:
        value, own = "", "normal"
        if column == "count":
            value, own = count(group.count), "bright"
        elif column == "errors":
            value, own = count(group.errors), "error" if group.errors else "faint"
        elif column == "bytes":
            value = size(group.bytes)
        elif column == "person":
            person = sum(group.durations) if asks else group.person
            value, own = duration(person) if person else "", "ask"
        elif asks:
            value = ""  # The answer is the person's, and not the server's.
        else:
            us = group.percentile({"p50": 50, "p95": 95, "max": 100}[column])
            value = "" if us is None else duration(us)
        line += paint.cell([(value, own)], width, right=True)
    return line

"""The scrub pane: the time line of a recording, its position, and clicks to move it.

A low screen shows it in two lines without an edge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log

from rich.segment import Segment
from textual import events
from textual.app import ComposeResult
from textual.containers import Container
from textual.message import Message
from textual.strip import Strip

from inspector.journal.journal import Journal
from inspector.replay import speeds
from inspector.replay.player import UNFOLDED, Player
from inspector.text import count
from inspector.tui.log.rows import moment
from inspector.tui.themes import ThemeStyles, ascii_only, palette, signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.line_widget import LineWidget
from inspector.tui.widgets.pane import Pane

_MARK, _MARK_ASCII = "▼", "v"


class ScrubLine(LineWidget):
    """Draws a time line; with `slim`, only its middle line and `words`.

    `columns` are events and errors in equal parts of the length, `mark` is the part at the position; `begin` and `end`
    are at the ends of the line above, `words` in the line below. A click or a drag posts `Sought`.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    ScrubLine { height: 3; width: 1fr; }
    ScrubLine.-slim { height: 2; }
    """

    class Sought(Message):
        """The user clicked a part of the time line."""

        def __init__(self, cell: int, cells: int) -> None:
            super().__init__()
            self.cell = cell
            self.cells = cells

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, ScrubLine.Sought)

    def __init__(self, *, slim: bool = False, id: str | None = None) -> None:
        super().__init__(id=id)
        self.slim = slim
        self.set_class(slim, "-slim")
        self.columns: Sequence[tuple[int, int]] = ()
        self.mark = 0
        self.begin, self.end = "", ""
        self.words: paint.Pieces = ""
        self._held = False

    @property
    def cells(self) -> int:
        """The number of parts."""
        return max(self.size.width - 2, 1)

    def render_line(self, y: int) -> Strip:
        theme = palette()
        line = (self._bars, self._below)[y] if self.slim else (self._above, self._bars, self._below)[y]
        side = Segment(" ")
        return paint.strip([side, *line(theme), side], self.size.width, theme=theme)

    def _above(self, theme: ThemeStyles) -> list[Segment]:
        begin, end = (paint.segments([(words, "faint")], theme=theme) for words in (self.begin, self.end))
        line = paint.spread(begin, end if self.mark < self.cells - len(self.end) - 1 else [], self.cells)
        mark = Segment(_MARK_ASCII if ascii_only() else _MARK, theme.style("chart"))
        plain = Strip(line).adjust_cell_length(self.cells)
        parts = plain.crop(0, self.mark), Strip([mark]), plain.crop(self.mark + 1, self.cells)
        return [segment for part in parts for segment in part]

    def _bars(self, theme: ThemeStyles) -> list[Segment]:
        bars = signs_now().bars
        limit = max((events for events, _ in self.columns), default=0)
        line = []
        for at, (events_there, errors) in enumerate(self.columns[: self.cells]):
            role = "chart-error" if errors else "chart" if at <= self.mark else "chart-dim"
            # Logarithmic, so that a few events are visible beside very many.
            level = round(log(1 + events_there) / log(1 + limit) * (len(bars) - 1)) if events_there else 0
            bar = bars[level] if events_there else " "
            if self.slim and at == self.mark:
                line.append(Segment(bar, theme.style("chart reverse")))
            else:
                line.append(Segment(bar, theme.style(role)))
        return line

    def _below(self, theme: ThemeStyles) -> list[Segment]:
        return paint.cut(paint.segments(self.words, "muted", room=self.cells, theme=theme), self.cells)

    # The mouse

    def on_mouse_down(self, event: events.MouseDown) -> None:
        event.stop()
        self._held = True
        self.capture_mouse()
        self._seek(event.x)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._held:
            event.stop()
            self._seek(event.x)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        if self._held:
            event.stop()
            self._held = False
            self.release_mouse()

    def _seek(self, x: int) -> None:
        self.post_message(self.Sought(min(max(x - 1, 0), self.cells - 1), self.cells))


class ScrubPane(Container):
    """Shows the position of a player. Call `draw` after any change.

    `sought` is called with the clicked cell of the line, and the number of cells.
    """

    DEFAULT_CSS = """
    ScrubPane { height: auto; width: 1fr; }
    ScrubPane > Pane { height: 5; padding: 1 1 1 1; }
    ScrubPane > .-slim { display: none; }
    ScrubPane.-low { height: 2; }
    ScrubPane.-low > Pane { display: none; }
    ScrubPane.-low > .-slim { display: block; }
    """

    def __init__(self, player: Player, sought: Callable[[int, int], None], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.player = player
        self._sought = sought
        self._line = ScrubLine()
        self._slim = ScrubLine(slim=True)
        self._edge = Pane(self._line)
        self._drawn: tuple[object, ...] = ()

    def compose(self) -> ComposeResult:
        yield self._edge
        yield self._slim

    def on_resize(self) -> None:
        self.draw()

    def on_scrub_line_sought(self, event: ScrubLine.Sought) -> None:
        event.stop()
        self._sought(event.cell, event.cells)

    def draw(self) -> None:
        """Draw the changes."""
        player, profile = self.player, self.player.profile
        line = self._slim if self.has_class("-low") else self._line
        cells = line.cells
        mark = profile.cell(player.place, cells) if player.position else 0
        played = (player.position, player.now, player.playing, player.speed)
        state = (cells, mark, profile.seen, profile.errors, *played, ascii_only())
        if state == self._drawn or not line.size.width:
            return
        self._drawn = state
        line.columns, line.mark = profile.columns(cells), mark
        total = moment(total_time(player.journal, profile.latest))
        time: paint.Pieces = [(moment(player.now), "bright"), (f" of {total}", "muted")]
        events = f"event {count(player.position)} of {count(player.count)}"
        errors: paint.Pieces = [(f"{signs_now().edge} ", "chart-error"), f"errors {count(profile.errors)}"]
        if line is self._slim:
            words = [(f"{playing(player)} ", "progress"), *time, (f"   {events}", "muted")]
            line.words = [*words, "   ", *errors] if profile.errors else words
        else:
            line.begin, line.end = moment(0)[:5], total[:-4]
            line.words = errors if profile.errors else ""
            self._edge.title = time
            fold = profile.fold
            folded = f"gaps over {fold / 1_000_000:g} s folded" if fold < UNFOLDED else "gaps in real time"
            self._edge.facts = (events, folded)
        line.refresh()


def playing(player: Player) -> str:
    """Return whether a recording plays, and how fast: `▶ 4×`."""
    sign = (">" if ascii_only() else "▶") if player.playing else ("=" if ascii_only() else "‖")
    words = speeds.words(player.speed)
    return f"{sign} {words.replace('×', 'x') if ascii_only() else words}"


def total_time(journal: Journal, latest: int) -> int:
    """Return the length of a recording in microseconds, even before all of it was read."""
    index = journal.index
    return max(latest, index.time(index.count) if index.count else 0, 0)

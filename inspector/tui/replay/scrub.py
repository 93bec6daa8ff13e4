"""The scrub pane: the time line of a recording, its position, and clicks to move it.

A low screen shows it in two lines without an edge.
"""

from __future__ import annotations

from collections.abc import Callable

from textual.app import ComposeResult
from textual.containers import Container

from inspector.journal.journal import Journal
from inspector.replay import speeds
from inspector.replay.player import UNFOLDED, Player
from inspector.text import count
from inspector.tui.log.rows import moment
from inspector.tui.replay.timeline import ScrubLine
from inspector.tui.themes import ascii_only, signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.pane import Pane


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
        state = (
            cells,
            mark,
            profile.seen,
            profile.errors,
            player.position,
            player.now,
            player.playing,
            player.speed,
            ascii_only(),
        )
        if state == self._drawn or not line.size.width:
            return
        self._drawn = state
        line.columns, line.mark = profile.columns(cells), mark
        total = moment(total_time(player.journal, profile.latest))
        time: paint.Pieces = [(moment(player.now), "bright"), (f" of {total}", "muted")]
        events = f"event {count(player.position)} of {count(player.count)}"
        errors: paint.Pieces = [(f"{signs_now().edge} ", "chart-error"), f"errors {count(profile.errors)}"]
        if line is self._slim:
            shown = [(f"{playing(player)} ", "progress"), *time, (f"   {events}", "muted")]
            line.words = [*shown, "   ", *errors] if profile.errors else shown
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

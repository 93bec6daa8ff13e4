"""A line of cells to draw into: bars, signs and texts, the later ones over the earlier."""

from __future__ import annotations

from functools import lru_cache
from itertools import groupby

from rich.segment import Segment
from rich.style import Style

from inspector.text import cell_len, safe
from inspector.tui.themes import Palette, ascii_only, contrast
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

    def segments(self, look: Palette) -> list[Segment]:
        """Return the line in a theme."""
        return [Segment(text, _style(look, role)) for text, role in self.roles()]


def _style(look: Palette, role: str) -> Style:
    bar, _, text = role.partition("/")
    if not text:
        return look.style(bar or "normal")
    if not bar:
        return look.style(text)
    return _on_bar(look, bar, text)


@lru_cache(256)
def _on_bar(look: Palette, bar: str, role: str) -> Style:
    """Return the style of a text on a bar: the bar's colour is the background."""
    ground = look.style(bar).color
    if ground is None:
        return look.style(bar) + Style(reverse=True)
    inks = [look.style(name).color for name in (role, "ground")]
    inks[1] = look.style("ground").bgcolor
    under = ground.triplet
    if under is None:
        return Style(color="black", bgcolor=ground)
    best = max(
        (ink for ink in inks if ink is not None and ink.triplet is not None),
        default=None,
        key=lambda ink: contrast(ink.triplet or under, under),
    )
    return Style(color=best, bgcolor=ground)

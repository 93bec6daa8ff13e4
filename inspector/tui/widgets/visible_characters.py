"""Makes every character of an edited line visible, so that a cursor can be on it."""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate

from rich.segment import Segment
from rich.style import Style

from inspector.text import cell_len, safe
from inspector.tui.themes import ascii_only


@lru_cache(maxsize=512)
def _shown(text: str, ascii: bool) -> tuple[list[str], list[int]]:
    if text.isascii() and text.isprintable():
        return list(text), list(range(len(text) + 1))
    cells: list[str] = []
    before = ""
    for char in text:
        # A combining mark is drawn on its base character; other invisible characters are drawn as a symbol or code
        # point.
        drawn, alone = safe(before + char, ascii=ascii), safe(before, ascii=ascii)
        # A blank is drawn by what is beside it.
        cells.append(drawn.removeprefix(alone) if drawn.startswith(alone) else safe(char, ascii=ascii))
        before = char
    return cells, list(accumulate((cell_len(cell) for cell in cells), initial=0))


def shown(text: str) -> tuple[list[str], list[int]]:
    """Return the drawn text of each character of a line, and their cells: each start, and the last end."""
    return _shown(text, ascii_only())


def runs(cells: list[str], styles: list[Style]) -> list[Segment]:
    """Join characters of the same style into segments."""
    line: list[Segment] = []
    start = 0
    for at in range(1, len(cells) + 1):
        if at == len(cells) or styles[at] is not styles[start]:
            line.append(Segment("".join(cells[start:at]), styles[start]))
            start = at
    return line

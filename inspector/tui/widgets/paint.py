"""Drawing one line: pieces of text with roles become segments, cut, padded and laid out to an exact number of cells.

Every text given to this module passes `inspector.text.safe`, so a widget that draws with it cannot forget to.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from inspector.text import safe
from inspector.tui.themes import Palette, ascii_only, palette, signs_now

Piece = str | tuple[str, str]
"""A text, or a text and the role it is drawn in (`("12 ms", "muted")`, `("echo", "bright bold")`)."""

Pieces = str | Sequence[Piece]
"""One text, or several pieces one after another."""

CHARACTERS_PER_CELL = 8
"""How many characters of a text are looked at for each cell that there is room for; marks and joiners take no cell."""


def segments(pieces: Pieces, role: str = "normal", *, room: int = 1000, look: Palette | None = None) -> list[Segment]:
    """Turn pieces into segments; `role` is for pieces that name none, `room` the cells that may be used at most."""
    look = look or palette()
    found = []
    limit = max(room, 1) * CHARACTERS_PER_CELL
    plain = ascii_only()
    for piece in (pieces,) if isinstance(pieces, str) else pieces:
        text, own = (piece, role) if isinstance(piece, str) else piece
        if text:
            found.append(Segment(safe(text, limit, ascii=plain), look.style(own)))
    return found


def width(line: Iterable[Segment]) -> int:
    """Return how many cells segments take."""
    return sum(cell_len(segment.text) for segment in line)


def cut(line: Sequence[Segment], cells: int) -> list[Segment]:
    """Return segments cut to at most `cells` cells; where something was cut they end in `…`."""
    if width(line) <= cells:
        return list(line)
    if cells <= 0:
        return []
    sign = signs_now().cut
    kept: list[Segment] = []
    room = cells - cell_len(sign)
    last: Style | None = line[0].style if line else None
    for segment in line:
        last = segment.style
        taken = cell_len(segment.text)
        if taken > room:
            if room > 0:
                # A wide character that would be halved becomes a space, which is trimmed before the sign.
                kept.append(Segment(set_cell_size(segment.text, room), last))
            break
        kept.append(segment)
        room -= taken
    return [*kept, Segment(sign, last)]


def middle(text: str, cells: int) -> str:
    """Return a text cut to at most `cells` cells in its middle: its beginning and its end are kept."""
    text = safe(text, 1000, ascii=ascii_only())
    if cell_len(text) <= cells:
        return text
    room = max(cells - cell_len(signs_now().cut), 0)
    tail = text
    while cell_len(tail) > room - room // 2:
        tail = tail[1:]
    return set_cell_size(text, room // 2).rstrip() + signs_now().cut + tail


def cell(pieces: Pieces, cells: int, role: str = "normal", *, right: bool = False) -> list[Segment]:
    """Return pieces as a column of exactly `cells` cells, at its left or its right."""
    line = cut(segments(pieces, role, room=cells), cells)
    gap = cells - width(line)
    if gap <= 0:
        return line
    space = Segment(" " * gap)
    return [space, *line] if right else [*line, space]


def spread(left: Sequence[Segment], right: Sequence[Segment], cells: int, gap: int = 2) -> list[Segment]:
    """Return `left` and `right` at the two ends of `cells` cells; the left side is cut where both do not fit."""
    taken = width(right)
    room = cells - taken - (gap if taken else 0)
    if room < 0:
        return cut(right, cells)
    start = cut(left, room)
    space = cells - width(start) - taken
    return [*start, Segment(" " * space), *right] if space > 0 else [*start, *right]


def strip(line: Iterable[Segment], cells: int, ground: str = "ground", *, look: Palette | None = None) -> Strip:
    """Return segments as a strip of exactly `cells` cells on a ground role, with ink that can be read there."""
    look = look or palette()
    base = look.style(ground)
    grounded = [Segment(text, base if style is None else look.on(style, ground)) for text, style, _ in line]
    return Strip(grounded).adjust_cell_length(cells, base)


def blank(cells: int, ground: str = "ground", *, look: Palette | None = None) -> Strip:
    """Return an empty line of a ground."""
    return Strip.blank(cells, (look or palette()).style(ground))

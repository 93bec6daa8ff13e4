"""Draws one line: pieces of text with roles become segments of an exact number of cells.

Every text passes `inspector.text.safe` here, so a widget cannot forget it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from inspector.text import safe
from inspector.tui.themes import ThemeStyles, ascii_only, palette, signs_now

Piece = str | tuple[str, str]
"""A text, or a text and its role (`("12 ms", "muted")`, `("echo", "bright bold")`)."""

Pieces = str | Sequence[Piece]
"""One text, or several pieces in order."""

CHARACTERS_PER_CELL = 8
"""Characters of a text that are read per available cell; marks and joiners take no cell."""


def segments(
    pieces: Pieces, role: str = "normal", *, room: int = 1000, theme: ThemeStyles | None = None
) -> list[Segment]:
    """Turn pieces into segments; `role` is for pieces without one, `room` the most cells."""
    theme = theme or palette()
    parts = []
    limit = max(room, 1) * CHARACTERS_PER_CELL
    plain = ascii_only()
    for piece in (pieces,) if isinstance(pieces, str) else pieces:
        text, own = (piece, role) if isinstance(piece, str) else piece
        if text:
            parts.append(Segment(safe(text, limit, ascii=plain), theme.style(own)))
    return parts


def underlined(text: str, words: Iterable[str], role: str) -> list[Piece]:
    """Return a shown text with each of the words underlined where it occurs first, in any case."""
    low = text.lower()
    if len(low) != len(text):  # a letter that becomes two in lower case
        return [(text, role)]
    pieces: list[Piece] = []
    done = 0
    for start, end in sorted((at, at + len(word)) for word in words if (at := low.find(word.lower())) >= 0):
        if start >= done:
            pieces += [(text[done:start], role), (text[start:end], f"{role} underline")]
            done = end
    return [*pieces, (text[done:], role)]


def width(line: Iterable[Segment]) -> int:
    """Return the number of cells of the segments."""
    return sum(cell_len(segment.text) for segment in line)


def cut(line: Sequence[Segment], cells: int) -> list[Segment]:
    """Return segments cut to at most `cells` cells; a cut ends in `…`."""
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
    """Return a text cut in its middle to at most `cells` cells: beginning and end are kept."""
    text = safe(text, 1000, ascii=ascii_only())
    if cell_len(text) <= cells:
        return text
    room = max(cells - cell_len(signs_now().cut), 0)
    tail = text
    while cell_len(tail) > room - room // 2:
        tail = tail[1:]
    return set_cell_size(text, room // 2).rstrip() + signs_now().cut + tail


def cell(pieces: Pieces, cells: int, role: str = "normal", *, right: bool = False) -> list[Segment]:
    """Return pieces as a column of exactly `cells` cells, aligned left or right."""
    line = cut(segments(pieces, role, room=cells), cells)
    gap = cells - width(line)
    if gap <= 0:
        return line
    space = Segment(" " * gap)
    return [space, *line] if right else [*line, space]


def spread(left: Sequence[Segment], right: Sequence[Segment], cells: int, gap: int = 2) -> list[Segment]:
    """Return `left` and `right` at the two ends of `cells` cells; `left` is cut if both do not fit."""
    taken = width(right)
    room = cells - taken - (gap if taken else 0)
    if room < 0:
        return cut(right, cells)
    start = cut(left, room)
    space = cells - width(start) - taken
    return [*start, Segment(" " * space), *right] if space > 0 else [*start, *right]


def strip(line: Iterable[Segment], cells: int, ground: str = "ground", *, theme: ThemeStyles | None = None) -> Strip:
    """Return segments as a strip of exactly `cells` cells on a background role, with readable text."""
    theme = theme or palette()
    base = theme.style(ground)
    grounded = [Segment(text, base if style is None else theme.on(style, ground)) for text, style, _ in line]
    return Strip(grounded).adjust_cell_length(cells, base)


def blank(cells: int, ground: str = "ground", *, theme: ThemeStyles | None = None) -> Strip:
    """Return an empty line with a background."""
    return Strip.blank(cells, (theme or palette()).style(ground))

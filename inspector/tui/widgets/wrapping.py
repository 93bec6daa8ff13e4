"""Breaks a line into rows of a width."""

from __future__ import annotations

from inspector.text import cell_len


def wrap(text: str, width: int, hang: int = 0) -> list[tuple[int, int]]:
    """Return (start, end) of each row of a line, at least one, broken at spaces if possible.

    Rows after the first are drawn `hang` cells further right and are that much shorter. Linear in the text.
    """
    width = max(width, 1)
    if len(text) <= width and text.isascii():
        return [(0, len(text))]
    rest = max(width - hang, min(width, 8))
    if text.isascii():
        return _wrap_ascii(text, width, rest)
    return _wrap_cells(text, width, rest)


def _wrap_ascii(text: str, width: int, rest: int) -> list[tuple[int, int]]:
    rows: list[tuple[int, int]] = []
    start, room, length = 0, width, len(text)
    while length - start > room:
        space = text.rfind(" ", start, start + room + 1)
        # Do not break at a space in the indentation or at the start of the next row: that saves no room.
        if space > start and (rows or space >= width - rest) and text[start:space].strip(" "):
            rows.append((start, space))
            start = space + 1
        else:
            rows.append((start, start + room))
            start += room
        room = rest
    rows.append((start, length))
    return rows


def _wrap_cells(text: str, width: int, rest: int) -> list[tuple[int, int]]:
    rows: list[tuple[int, int]] = []
    start = used = since_space = 0
    room, space, ink = width, -1, False
    for at, char in enumerate(text):
        cells = 1 if char.isascii() else cell_len(char)
        if used + cells > room and at > start:
            if char == " ":
                rows.append((start, at))
                start, used, space, ink, room = at + 1, 0, -1, False, rest
                continue
            room = rest
            if space > start:
                rows.append((start, space))
                start, used = space + 1, since_space
            # A character of two cells may not fit after the text behind the space either.
            if used + cells > room and at > start:
                rows.append((start, at))
                start, used = at, 0
            space = -1
        used += cells
        since_space += cells
        ink = ink or char != " "
        if char == " " and ink and (rows or used > width - rest):
            space, since_space = at, 0
    rows.append((start, len(text)))
    return rows

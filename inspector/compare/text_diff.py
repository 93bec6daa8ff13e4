"""Compares two texts: the lines that differ, and the different part of long lines."""

from __future__ import annotations

from typing import Literal, NamedTuple

from inspector.compare.alignment import align

MAX_LINES = 2_000
"""Lines of a text that are aligned."""
AROUND = 24
"""Characters shown before and after the different part of a line."""
MAX_LENGTH = 1_000
"""Characters shown of that part."""
_WHOLE = 160
"""Characters up to which a line is shown in full."""


class DiffLine(NamedTuple):
    """One line: only in A, only in B, or lines skipped between two differences."""

    side: Literal["a", "b", "gap"]
    text: str


def changed_lines(a: str, b: str) -> list[DiffLine]:
    """Return the lines of two texts that differ, those of A before those of B in the same position."""
    of_a, of_b = (text.split("\n", MAX_LINES) for text in (a, b))
    found: list[DiffLine] = []
    from_a = from_b = 0
    for i, j in (*align(of_a, of_b), (len(of_a), len(of_b))):
        gone, new = of_a[from_a:i], of_b[from_b:j]
        if gone or new:
            if found or (from_a and from_b):
                found.append(DiffLine("gap", ""))
            if len(gone) == len(new) == 1:
                one, other = parted(gone[0], new[0])
                found += (DiffLine("a", one), DiffLine("b", other))
            else:
                found += (DiffLine("a", text[:MAX_LENGTH]) for text in gone)
                found += (DiffLine("b", text[:MAX_LENGTH]) for text in new)
        from_a, from_b = i + 1, j + 1
    return found


def parted(a: str, b: str) -> tuple[str, str]:
    """Return two lines, or the different parts of long ones with some context; `…` replaces the rest."""
    if max(len(a), len(b)) <= _WHOLE:
        return a, b
    least = min(len(a), len(b))
    first = next((at for at in range(least) if a[at] != b[at]), least)
    last = next((at for at in range(least - first) if a[-1 - at] != b[-1 - at]), least - first)
    return _part(a, first, len(a) - last), _part(b, first, len(b) - last)


def _part(text: str, first: int, end: int) -> str:
    begin, stop = max(first - AROUND, 0), min(end + AROUND, len(text))
    cut = min(stop, begin + MAX_LENGTH)
    return f"{'…' if begin else ''}{text[begin:cut]}{'…' if cut < len(text) else ''}"

"""Aligns two sequences: finds the equal items in order, without quadratic work."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

CELLS = 250_000
"""Pairs of items that are compared one by one in all; larger ones are aligned by their rarest items."""
_ROUNDS = 3

AlignedPair = tuple[int, int]


def align(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[AlignedPair]:
    """Return pairs (i, j) with `a[i] == b[j]`, rising in both: as many as possible for small sequences, else many.

    Takes the time of sorting and linear memory, for any sequences.
    """
    pairs: list[AlignedPair] = []
    room = CELLS
    todo: list[tuple[int, int, int, int, int]] = [(0, len(a), 0, len(b), 0)]
    while todo:
        a0, a1, b0, b1, turn = todo.pop()
        while a0 < a1 and b0 < b1 and a[a0] == b[b0]:
            pairs.append((a0, b0))
            a0, b0 = a0 + 1, b0 + 1
        while a0 < a1 and b0 < b1 and a[a1 - 1] == b[b1 - 1]:
            a1, b1 = a1 - 1, b1 - 1
            pairs.append((a1, b1))
        cells = (a1 - a0) * (b1 - b0)
        if not cells:
            continue
        if cells <= room:
            room -= cells
            pairs += _longest(a, a0, a1, b, b0, b1)
            continue
        landmarks = _landmarks(a, a0, a1, b, b0, b1)
        pairs += landmarks
        if turn < _ROUNDS and landmarks:
            todo += _between(landmarks, a0, a1, b0, b1, turn + 1)
    pairs.sort()
    return pairs


def pair_by_key(
    keys_a: Iterable[tuple[int, Hashable]], keys_b: Iterable[tuple[int, Hashable]]
) -> Iterator[AlignedPair]:
    """Yield pairs of items with the same key, the k-th of A with the k-th of B."""
    waiting: dict[Hashable, deque[int]] = {}
    for j, key in keys_b:
        waiting.setdefault(key, deque()).append(j)
    for i, key in keys_a:
        if waiting.get(key):
            yield i, waiting[key].popleft()


def _between(
    matches: list[AlignedPair], a0: int, a1: int, b0: int, b1: int, turn: int
) -> Iterator[tuple[int, int, int, int, int]]:
    for i, j in (*matches, (a1, b1)):
        if i > a0 and j > b0:
            yield a0, i, b0, j, turn
        a0, b0 = i + 1, j + 1


def _longest(a: Sequence[Hashable], a0: int, a1: int, b: Sequence[Hashable], b0: int, b1: int) -> list[AlignedPair]:
    """Return a longest common subsequence, by the table of lengths."""
    width = b1 - b0
    rows: list[list[int]] = [[0] * (width + 1)]
    for i in range(a1 - 1, a0 - 1, -1):
        below, row, item = rows[-1], [0] * (width + 1), a[i]
        for j in range(width - 1, -1, -1):
            row[j] = below[j + 1] + 1 if item == b[b0 + j] else max(below[j], row[j + 1])
        rows.append(row)
    rows.reverse()
    pairs: list[AlignedPair] = []
    i = j = 0
    while i < a1 - a0 and j < width:
        if a[a0 + i] == b[b0 + j]:
            pairs.append((a0 + i, b0 + j))
            i, j = i + 1, j + 1
        elif rows[i + 1][j] >= rows[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs


def _landmarks(a: Sequence[Hashable], a0: int, a1: int, b: Sequence[Hashable], b0: int, b1: int) -> list[AlignedPair]:
    """Pair the k-th of equal items on both sides, and return a longest rising chain of these pairs."""
    places: dict[Hashable, list[int]] = {}
    for j in range(b1 - 1, b0 - 1, -1):
        places.setdefault(b[j], []).append(j)
    pairs: list[AlignedPair] = []
    for i in range(a0, a1):
        waiting = places.get(a[i])
        if waiting:
            pairs.append((i, waiting.pop()))
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, (_, j) in enumerate(pairs):
        at = bisect_left(ends, j)
        before.append(last[at - 1] if at else -1)
        if at == len(ends):
            ends.append(j)
            last.append(number)
        else:
            ends[at] = j
            last[at] = number
    chain: list[AlignedPair] = []
    number = last[-1] if last else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    chain.reverse()
    return chain


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
    lines: list[DiffLine] = []
    from_a = from_b = 0
    for i, j in (*align(of_a, of_b), (len(of_a), len(of_b))):
        gone, new = of_a[from_a:i], of_b[from_b:j]
        if gone or new:
            if lines or (from_a and from_b):
                lines.append(DiffLine("gap", ""))
            if len(gone) == len(new) == 1:
                one, other = parted(gone[0], new[0])
                lines += (DiffLine("a", one), DiffLine("b", other))
            else:
                lines += (DiffLine("a", text[:MAX_LENGTH]) for text in gone)
                lines += (DiffLine("b", text[:MAX_LENGTH]) for text in new)
        from_a, from_b = i + 1, j + 1
    return lines


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

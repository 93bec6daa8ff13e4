"""Gaps: long times in which nothing happens. What draws or plays a session folds them."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

FOLD = 2.0
"""Seconds above which a gap is folded."""
FOLD_US = round(FOLD * 1_000_000)
SHORT = 200_000
"""Microseconds that a folded gap counts for."""


def gaps(busy: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return the begin and end of each gap between some times in microseconds, which may overlap, in any order."""
    gaps: list[tuple[int, int]] = []
    latest: int | None = None
    for begin, end in sorted(busy):
        if latest is not None and begin - latest > FOLD_US:
            gaps.append((latest, begin))
        latest = end if latest is None else max(latest, end)
    return tuple(gaps)


class FoldedTime:
    """Microseconds since the start in which each gap counts for `SHORT`; gaps are added in their order."""

    def __init__(self) -> None:
        self.begins: array[int] = array("q")
        """By gap: its begin, in folded time."""
        self._real_begins: array[int] = array("q")
        self._real_ends: array[int] = array("q")

    def __len__(self) -> int:
        return len(self._real_begins)

    def add(self, begin: int, end: int) -> None:
        """Fold the gap between two times."""
        self.begins.append(self.folded(begin))
        self._real_begins.append(begin)
        self._real_ends.append(end)

    def folded(self, t: int) -> int:
        """Return the folded time of a time."""
        at = bisect_right(self._real_begins, t) - 1
        if at < 0:
            return t
        begin, end = self._real_begins[at], self._real_ends[at]
        if t >= end:
            return self.begins[at] + SHORT + t - end
        return self.begins[at] + SHORT * (t - begin) // (end - begin)

    def real(self, folded: int) -> int:
        """Return the time of a folded time."""
        at = bisect_right(self.begins, folded) - 1
        if at < 0:
            return folded
        passed, begin, end = folded - self.begins[at], self._real_begins[at], self._real_ends[at]
        return end + passed - SHORT if passed >= SHORT else begin + (end - begin) * passed // SHORT

    def between(self, begin: int, end: int, step: int = 1) -> Iterator[tuple[int, int]]:
        """Yield the middle of each gap of a folded period, and how long it was; one in each `step` microseconds."""
        half = SHORT // 2
        at = bisect_left(self.begins, begin - half)
        while at < len(self) and (middle := self.begins[at] + half) <= end:
            yield middle, self._real_ends[at] - self._real_begins[at]
            at = bisect_left(self.begins, begin + ((middle - begin) // step + 1) * step - half, at + 1)

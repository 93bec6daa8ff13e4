"""Alignment of two sequences: common, rising, long enough, and quick on any input."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from inspector.compare import alignment
from inspector.compare.alignment import align

SHORT = st.lists(st.integers(0, 4), max_size=12)


@given(SHORT, SHORT)
def test_what_is_aligned_is_equal_and_rises(a: list[int], b: list[int]) -> None:
    pairs = align(a, b)
    assert all(a[i] == b[j] for i, j in pairs)
    assert all(x[0] < y[0] and x[1] < y[1] for x, y in pairwise(pairs))


@given(SHORT, SHORT)
def test_a_short_alignment_is_a_longest_one(a: list[int], b: list[int]) -> None:
    best = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            best[i + 1][j + 1] = best[i][j] + 1 if x == y else max(best[i][j + 1], best[i + 1][j])
    assert len(align(a, b)) == best[len(a)][len(b)]


@given(SHORT, SHORT)
def test_without_room_for_a_table_it_is_still_an_alignment(a: list[int], b: list[int]) -> None:
    room, alignment.CELLS = alignment.CELLS, 4
    try:
        pairs = align(a, b)
    finally:
        alignment.CELLS = room
    assert all(a[i] == b[j] for i, j in pairs)
    assert all(x[0] < y[0] and x[1] < y[1] for x, y in pairwise(pairs))
    assert bool(pairs) == bool(set(a) & set(b))


def test_long_sequences_with_few_changes_keep_all_the_rest() -> None:
    a = [n % 1000 for n in range(60_000)]
    b = [*a[:100], "new", *a[100:30_000], *a[30_005:]]
    assert len(align(a, b)) >= len(a) - 1000

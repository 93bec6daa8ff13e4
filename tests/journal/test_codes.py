"""Events found by their codes are those that one would find by looking at each."""

from __future__ import annotations

from array import array
from unittest.mock import patch

from hypothesis import example, given
from hypothesis import strategies as st

from inspector.journal import codes
from inspector.journal.codes import next_code
from inspector.journal.index import Index

# Bytes that repeat, so that two neighbours may look like a code that neither of them is.
few = st.sampled_from((0, 1, 256, 257, 258, 513))


@given(
    st.lists(few, max_size=60), st.lists(few, min_size=1, max_size=3), st.integers(0, 62), st.integers(0, 62),
    st.integers(1, 7),
)  # fmt: skip
@example([1, 256], [0], 0, 3, 7)
@example([1, 256], [0], 3, 0, 7)
def test_the_next_and_the_one_before(present: list[int], wanted: list[int], n: int, other: int, chunk: int) -> None:
    index = Index()
    index.codes = array("H", present)
    index.count = count = len(present)
    n, other = min(n, count + 1), min(other, count + 1)
    fits = [m for m in range(1, count + 1) if present[m - 1] in wanted]
    with patch.object(codes, "_CHUNK", chunk):
        assert next_code(index, wanted, n, 1, other) == next((m for m in fits if n < m < other), 0)
        assert next_code(index, wanted, n, -1, other) == next((m for m in reversed(fits) if other < m < n), 0)

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from inspector.text import cell_len
from inspector.tui.widgets.line_layout import LineRows
from inspector.tui.widgets.wrapping import wrap


def naive(lines: int, folds: dict[int, int], tall: dict[int, int]) -> list[tuple[int, int]]:
    """Every row in turn, the slow way."""
    rows = []
    line = 0
    while line < lines:
        rows += [(line, part) for part in range(tall.get(line, 1))]
        line = folds.get(line, line) + 1
    return rows


@st.composite
def layouts(draw):
    lines = draw(st.integers(1, 30))
    folds = {}
    for first in draw(st.lists(st.integers(0, lines - 1), max_size=6)):
        # Folds nest or stand apart, as the containers of a document do.
        ends = [last for start, last in folds.items() if start < first <= last]
        last = draw(st.integers(first, min(ends, default=lines - 1)))
        if all(not (first < start <= last) or folds[start] <= last for start in folds):
            folds[first] = last
    folds = {first: last for first, last in folds.items() if last > first}
    tall = draw(st.dictionaries(st.integers(0, lines - 1), st.integers(1, 4), max_size=8))
    return lines, folds, tall


@given(layouts())
def test_rows_and_lines_are_found_from_each_other(layout):
    lines, folds, tall = layout
    rows = LineRows(lines)
    for line in sorted(tall):
        rows.set_rows(line, tall[line])
    for first, last in folds.items():
        rows.fold(first, last)
    expected = naive(lines, folds, tall)
    assert rows.count == len(expected)
    assert [rows.locate(row) for row in range(rows.count)] == expected
    for row, (line, part) in enumerate(expected):
        assert rows.row_of(line) == row - part
    hidden = set(range(lines)) - {line for line, _ in expected}
    for line in hidden:
        opener = rows.opener(line)
        assert opener not in hidden
        assert folds[opener] >= line > opener
        rows_again = LineRows(lines)
        for first, last in folds.items():
            rows_again.fold(first, last)
        rows_again.reveal(line)
        assert rows_again.opener(line) == line


def test_unfolding_and_forgetting_bring_all_lines_back():
    rows = LineRows(10)
    rows.set_rows(3, 5)
    rows.fold(0, 4)
    rows.fold(6, 6)
    assert rows.count == 6
    assert rows.folded == {0: 4}
    rows.unfold(0)
    assert rows.count == 14
    rows.forget_rows()
    assert rows.count == 10
    rows.fold(2, 9)
    rows.unfold_all()
    assert rows.count == 10
    assert LineRows().count == 0


def rows_of(text: str, width: int, hang: int = 0) -> list[str]:
    return [text[start:end] for start, end in wrap(text, width, hang)]


def test_lines_are_broken_at_spaces_and_else_where_they_must():
    assert rows_of("the quick brown fox", 10) == ["the quick", "brown fox"]
    assert rows_of("the quick brown fox", 9) == ["the quick", "brown fox"]
    assert rows_of("abcdefghij", 4) == ["abcd", "efgh", "ij"]
    assert rows_of("", 10) == [""]
    assert rows_of('    "key": "a b c d e"', 12, 6) == ['    "key":', '"a b c d', 'e"']
    assert rows_of("      abcdefghijklmnop", 10) == ["      abcd", "efghijklmn", "op"]
    assert rows_of("label abcdefghijklmnop", 16, 6) == ["label abcdefghij", "klmnop"]
    assert rows_of("läbel abcdefghijklmnop", 16, 6) == ["läbel abcdefghij", "klmnop"]
    assert rows_of("- abcd efghijkl", 10, 2) == ["- abcd", "efghijkl"]


def test_wide_characters_take_two_cells():
    assert rows_of("日本語 日本語", 6) == ["日本語", "日本語"]
    assert rows_of("日本語日本語", 5) == ["日本", "語日", "本語"]
    assert rows_of("naïve café au lait", 8) == ["naïve", "café au", "lait"]


@example("\u0301 a日", 2, 0)
@given(st.text("ab 日é\u0301", max_size=60), st.integers(1, 20), st.integers(0, 6))
def test_nothing_is_lost_but_the_spaces_at_breaks_and_every_row_fits(text, width, hang):
    rows = wrap(text, width, hang)
    assert rows[0][0] == 0
    assert rows[-1][1] == len(text)
    for (_, end), (start, _) in pairwise(rows):
        assert start in (end, end + 1)
        assert text[end:start] in ("", " ")
    for start, end in rows:
        assert cell_len(text[start:end]) <= max(width, 2)

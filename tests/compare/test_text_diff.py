"""Two texts side by side: only what differs, and of long lines only the part that does."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from inspector.compare.alignment import MAX_LENGTH, changed_lines, parted


def changed(a: str, b: str) -> list[tuple[str, str]]:
    return [(line.side, line.text) for line in changed_lines(a, b)]


def test_lines_that_are_in_both_are_omitted() -> None:
    assert changed("one\ntwo\nthree", "one\n2\nthree") == [("gap", ""), ("a", "two"), ("b", "2")]
    assert changed("one", "one\ntwo") == [("gap", ""), ("b", "two")]
    assert changed("a\nx\nb\ny", "a\nb") == [("gap", ""), ("a", "x"), ("gap", ""), ("a", "y")]
    assert changed("same", "same") == []


def test_of_a_long_line_the_part_that_differs_is_shown() -> None:
    a, b = "x" * 500 + "old" + "y" * 500, "x" * 500 + "brand new" + "y" * 500
    one, other = parted(a, b)
    assert one == f"…{'x' * 24}old{'y' * 24}…"
    assert other == f"…{'x' * 24}brand new{'y' * 24}…"


def test_what_was_added_far_behind_blanks_is_shown() -> None:
    a, b = "Adds.", "Adds." + " " * 5000 + "Send the keys."
    part = parted(a, b)[1]
    assert part.startswith("Adds. ")
    assert len(part) <= MAX_LENGTH + 2
    assert parted(b, a)[0] == part


@given(st.text(max_size=400), st.text(max_size=400))
def test_whatever_differs_something_is_shown(a: str, b: str) -> None:
    assert bool(changed_lines(a, b)) == (a != b)
    one, other = parted(a, b)
    assert (one != other) or a == b or max(len(a), len(b)) > MAX_LENGTH


def test_very_many_lines_are_bounded() -> None:
    a, b = ("\n".join(str(n * k) for n in range(30_000)) for k in (1, 2))
    assert len(changed_lines(a, b)) < 8_000

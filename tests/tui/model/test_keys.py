"""The keys page: its groups in order, and what a filter leaves of it."""

import pytest

from inspector.tui.model.keys import HERE, KeyEntry, KeyGroup, keys_page

COPY, SORT = KeyEntry(("c",), "copy", "Copy the cell."), KeyEntry(("o",), "sort", "Sort by the column.")
DOWN, QUIT = KeyEntry(("↓", "j"), "down", "Go to the next row."), KeyEntry(("q", "^q"), "quit", "Quit.")
GROUPS = {"Everywhere": [QUIT], "Lists": [DOWN], "Tables": [COPY, SORT], "Forms": [KeyEntry((), "empty", "Drop all.")]}


def page(text: str = "", here: int = 2) -> list[KeyGroup]:
    return keys_page("Result", [COPY, SORT] * (here // 2), GROUPS, ["Tables", "Lists", "Everywhere"], text)


def test_what_one_can_do_here_comes_first_and_what_only_moves_comes_last() -> None:
    assert [group.title for group in page()] == ["Here: Result", "Everywhere", "Forms", "Tables", "Lists"]
    first = page(here=30)[0]
    assert (len(first.lines), first.total) == (HERE, 30)
    assert keys_page("x", [], GROUPS, [])[0].title == "Everywhere"


@pytest.mark.parametrize(("text", "names"), [
    ("next row", ["down"]),
    ("COPY", ["copy", "copy"]),
    # A key, as it is written on the page: not every row with that letter.
    ("o", ["sort", "sort"]),
    ("^q", ["quit"]),
    ("j", ["down"]),
    ("drop", ["empty"]),
    ("nothing", []),
])  # fmt: skip
def test_a_filter_is_a_key_or_words(text: str, names: list[str]) -> None:
    assert [line.name for group in page(text) for line in group.lines] == names

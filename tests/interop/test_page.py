"""The page on the servers says what the corpus says."""

from __future__ import annotations

from tests.interop.corpus import ENTRIES
from tests.interop.table import HEADS, on_the_page


def test_the_page_has_the_entries_of_the_corpus_in_their_order() -> None:
    assert [row[:6] for row in on_the_page()] == [entry.facts() for entry in ENTRIES]


def test_the_page_says_of_each_how_it_was_found_and_how_long_it_took() -> None:
    assert all(len(row) == len(HEADS) and all(row) for row in on_the_page())


def test_no_two_entries_have_one_name() -> None:
    assert len({entry.id for entry in ENTRIES}) == len(ENTRIES) > 40

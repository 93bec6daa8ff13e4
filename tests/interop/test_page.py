"""The page on the servers agrees with the corpus and the tests of authorization."""

from __future__ import annotations

from tests.interop.authorizers import COLUMNS, SITES
from tests.interop.corpus import ENTRIES
from tests.interop.table import AUTHORIZATION, CORPUS


def test_the_page_has_the_entries_of_the_corpus_in_their_order() -> None:
    assert [row[:6] for row in CORPUS.on_the_page()] == [entry.facts() for entry in ENTRIES]


def test_the_page_says_of_each_how_it_was_found_and_how_long_it_took() -> None:
    assert all(len(row) == len(CORPUS.heads) and all(row) for row in CORPUS.on_the_page())


def test_the_page_says_of_each_authorization_server_what_is_to_be_seen() -> None:
    assert AUTHORIZATION.heads[2:] == COLUMNS
    assert AUTHORIZATION.on_the_page() == [
        [site.name, site.made_with, *(site.expected(column) for column in COLUMNS)] for site in SITES
    ]


def test_no_two_entries_have_one_name() -> None:
    assert len({entry.id for entry in ENTRIES}) == len(ENTRIES) > 40
    assert len({site.id for site in SITES}) == len(SITES)

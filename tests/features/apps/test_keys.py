"""The key of a tool with a page."""

from __future__ import annotations

from inspector.tui.model.catalog import CATALOG_VERBS, CatalogFacts
from tests.tui.model.verb_tables import Verbs

CATALOG = Verbs("catalog", CATALOG_VERBS)


def test_the_page_of_a_tool_is_offered_as_the_last_one() -> None:
    assert CATALOG.line(CatalogFacts(tool=True, page=True)) == "list.select  call  filter  page"


def test_no_page_is_read_without_one_or_from_a_recording() -> None:
    assert not CATALOG.works("page", CatalogFacts(tool=True))
    assert not CATALOG.works("page", CatalogFacts(tool=True, page=True, live=False))

"""docs/reference/hosts.md has every fact."""

from tests.hosts.reference_page import PAGE, written


def test_the_table_of_the_facts_is_current() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == written(page)

"""Every requirement on a client has a test or an explanation, and its page agrees."""

from __future__ import annotations

import re

import pytest

from inspector.protocol.revisions import REVISIONS
from tests.requirements import (
    BEGIN,
    END,
    GROUPS,
    PAGE,
    ROOT,
    Requirement,
    cited,
    citing,
    holding,
    named,
    requirements,
    table,
)

ASKED = requirements()
HOW = "Run `python -m tests.requirements` and read what has changed."


def written() -> str:
    """The table as it stands on the page."""
    return PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]


def test_the_list_is_in_order() -> None:
    ids = [item.id for item in ASKED]
    assert len(set(ids)) == len(ids) == 242
    assert {item.group for item in ASKED} == set(GROUPS)
    for item in ASKED:
        assert item.level in ("", "MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY")
        assert item.what
        assert item.page
        assert REVISIONS.index(item.since) <= REVISIONS.index(item.until)


@pytest.mark.slow
def test_every_requirement_is_named_by_a_test_or_explained_and_not_both() -> None:
    held = holding()
    assert [item.id for item in ASKED if item.id not in held and not item.untested] == []
    assert [item.id for item in ASKED if item.id in held and item.untested] == []


AUTHORIZATION = {f"C-AUTH-{number:02}" for number in (*range(1, 37), *range(40, 44))}
"""The ids of authorization; 40 to 43 are the extensions."""


@pytest.mark.slow
def test_every_requirement_of_authorization_is_named_by_a_test() -> None:
    assert AUTHORIZATION - set(holding()) == set()


@pytest.mark.slow
def test_every_named_id_is_a_requirement() -> None:
    """Those of authorization (`C-AUTH-…`) have a list of their own."""
    known = {item.id for item in ASKED}
    for ids in (citing(), holding()):
        assert {id for id in ids if not id.startswith("C-AUTH-")} <= known


def test_the_page_has_a_row_for_each_and_what_it_says_is_so() -> None:
    """New mentions may be missing, so that a new test does not require a change of the page."""
    rows = {row[1]: row[0] for row in re.finditer(r"^\| (C-\S+) \|.*$", written(), re.MULTILINE)}
    assert list(rows) == [item.id for group in GROUPS for item in ASKED if item.group == group], HOW
    code_of, tests_of = citing(), holding()
    for item in ASKED:
        *_, what, code, held, _ = rows[item.id].split("|")
        assert item.what in what, HOW
        assert set(paths(code)) <= set(code_of.get(item.id, [])), HOW
        assert set(paths(held)) <= set(tests_of.get(item.id, [])), HOW
        assert paths(held) or held.strip() == item.untested != "", HOW


def paths(cell: str) -> list[str]:
    """The files that a cell links to, from the root."""
    return re.findall(r"\]\(\.\./\.\./([^)]+)\)", cell)


def test_what_would_be_written_names_files_that_are_there() -> None:
    files = set(paths(table()))
    assert files
    assert [path for path in sorted(files) if not (ROOT / path).is_file()] == []


SAMPLE = '''
"""Q-BASE-01 in the module."""
CONSTANT = "Q-BASE-02"
def helper():
    """Q-BASE-03."""
@given("Q-BASE-04")
async def test_a():
    """Q-BASE-05."""
    x = 1  # Q-BASE-06
class TestIt:
    """Q-BASE-07."""
    y = "Q-BASE-08"
    def test_b(self):
        assert "Q-BASE-09"
class Helper:
    """Q-BASE-10."""
'''
"""Named as examples: with another letter, lest they be counted."""


def test_only_tests_and_their_classes_can_name_a_requirement() -> None:
    assert named(SAMPLE.replace("Q-", "C-")) == {f"C-BASE-{number:02}" for number in (4, 5, 6, 7, 9)}


def test_a_module_may_cite_a_range() -> None:
    source = "(Q-MOD-03 … Q-MOD-05), Q-SSE-02 to Q-SSE-09; Q-PAG-01 … Q-LOG-02".replace("Q-", "C-")
    ids = [f"C-MOD-0{number}" for number in (3, 4, 5)] + [f"C-SSE-0{number}" for number in (2, 3, 4, 9)]
    assert sorted(cited(source)) == sorted([*ids, *(f"C-{rest}" for rest in ("PAG-01", "LOG-02"))])


@pytest.mark.parametrize(
    ("since", "until", "words"),
    [
        (0, 4, "all"),
        (0, 3, "2024-11-05 to 2025-11-25"),
        (1, 1, "2025-03-26"),
        (2, 4, "2025-06-18 on"),
        (4, 4, "2026-07-28"),
    ],
)
def test_revisions_in_words(since: int, until: int, words: str) -> None:
    item = Requirement("", "MUST", REVISIONS[since], REVISIONS[until], "what", "page")
    assert item.revisions == words

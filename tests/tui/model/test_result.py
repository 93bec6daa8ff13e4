"""The verbs of a result, by what it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from inspector.tui.model.result import BOTH_COLUMNS, BOTH_VIEWS, RESULT_VERBS, ResultFacts, Showing, result_verbs
from inspector.tui.verbs import BY_ID

TEXT = ResultFacts()
TABLE = replace(TEXT, showing=Showing.TABLE, view="table", views=("content", "table", "raw"))
ZOOM = ("app.zoom", "zoom")


def line(facts: ResultFacts, zoom: tuple[str, str] | None = ZOOM) -> str:
    names = {BOTH_VIEWS: "views", BOTH_COLUMNS: "columns"}
    return " ".join(names.get(verb, verb.partition(".")[2]) for verb, _ in result_verbs(facts, zoom))


@pytest.mark.parametrize(
    ("facts", "shown"),
    [
        (TEXT, "call copy save zoom json its-messages export expect pin-call leave"),
        (replace(TEXT, live=False), "copy save zoom json its-messages export leave"),
        (replace(TEXT, compact=True), "call leave copy save zoom json its-messages export expect pin-call"),
        (
            replace(TEXT, called_before=True),
            "call copy compare save zoom json its-messages export expect pin-call leave",
        ),
        (
            replace(TEXT, view="structured", views=("content", "structured", "raw"), differs=True),
            "call copy save next-difference views zoom content json its-messages export expect pin-call leave",
        ),
        (
            replace(TABLE, called_before=True),
            "sort columns filter select save views zoom call compare content json its-messages export expect pin-call "
            "leave",
        ),
        (
            replace(TABLE, filtered=True, live=False, links=True),
            "sort columns filter all select save views zoom content json its-messages export leave",
        ),
        (
            replace(TABLE, showing=Showing.ROW),
            "leave copy strings views zoom content json its-messages export expect pin-call",
        ),
        (
            replace(TEXT, answered=False, views=(), links=True),
            "open call zoom its-messages export expect pin-call leave",
        ),
        (replace(TEXT, shown=False), ""),
    ],
)
def test_the_keys_that_are_shown(facts: ResultFacts, shown: str) -> None:
    assert line(facts) == shown


def test_titles_say_what_is_done() -> None:
    assert ("result.call", "read again") in result_verbs(replace(TEXT, method="resources/read"), None)
    assert ("result.pin-call", "not on restart") in result_verbs(replace(TEXT, pinned=True), None)
    assert ("result.leave", "table") in result_verbs(replace(TABLE, showing=Showing.ROW), None)


@pytest.mark.parametrize(
    ("verb", "facts", "works"),
    [
        ("result.call", TEXT, True),
        ("result.call", replace(TEXT, live=False), False),
        ("result.compare", TEXT, False),
        ("result.compare", replace(TEXT, called_before=True), True),
        ("result.expect", replace(TEXT, shown=False), False),
        ("result.pin-call", replace(TEXT, live=False), False),
        ("result.next-difference", TEXT, False),
        ("result.previous-difference", replace(TEXT, differs=True), True),
        ("result.copy", replace(TEXT, live=False), True),
    ],
)
def test_which_verbs_work(verb: str, facts: ResultFacts, works: bool) -> None:
    assert RESULT_VERBS.available(verb, facts) is works


def test_what_is_shown_works_and_is_in_the_table() -> None:
    for facts in (TEXT, TABLE, replace(TABLE, showing=Showing.ROW), replace(TEXT, live=False, differs=True)):
        for verbs, _ in result_verbs(facts, ZOOM):
            for verb in verbs.split("|"):
                assert verb in BY_ID
                assert RESULT_VERBS.available(verb, facts)

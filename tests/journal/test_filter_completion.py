"""The completions of a filter while it is typed."""

from __future__ import annotations

import pytest

from inspector.journal.filters import FilterError, parse
from inspector.journal.filters.completion import Completions, complete
from inspector.journal.filters.syntax import TERMS
from inspector.journal.findings import Finding
from inspector.journal.format import Dir
from tests.tui.recorded_conversation import Talk, example


def offered(text: str, names: tuple[str, ...] = ()) -> Completions:
    talk = example()
    talk.journal.findings.add(Finding(9, "TOOL-1", "must", "odd"))
    cursor = text.find("▏") if "▏" in text else len(text)
    return complete(text.replace("▏", ""), cursor, talk.journal, names)


def texts(text: str, names: tuple[str, ...] = ()) -> list[str]:
    return [item.text for item in offered(text, names).items]


def test_every_term_is_offered_with_what_it_means() -> None:
    assert {item.text for letter in "abcdefghijklmnopqrstuvwxyz" for item in offered(letter).items} == {
        f"{key}:" for key in TERMS
    }
    assert [(item.text, item.about) for item in offered("me").items] == [("method:", TERMS["method"].about)]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("method:to", ["method:tools/*", "method:tools/list", "method:tools/call"]),
        ("method:prog", ["method:notifications/progress"]),
        ("name:pa", ["name:pay", 'name:"go pay"']),
        ("kind:ht", ["kind:http"]),
        ("status:can", ["status:cancelled"]),
        ("dir:r", ["dir:recv"]),
        ("id:", ["id:3", "id:2", "id:1"]),
        ("finding:T", ["finding:TOOL-1"]),
        ("dir:recv -kind:std", ["kind:stderr"]),
        ("(kind:li▏ | id:2)", ["kind:life"]),
        ("ping", []),
        ("", []),
        ('"open', []),
    ],
)
def test_offers_values_that_were_seen(text: str, values: list[str]) -> None:
    assert texts(text, ("echo", "pay", "go pay"))[: len(values) or 1] == values


def test_a_completion_takes_the_place_of_its_term() -> None:
    [item] = offered("dir:recv kind:ht▏ id:7").items
    assert (item.start, item.end) == (9, 16)


@pytest.mark.parametrize(
    ("text", "incomplete"),
    [
        ("method:tools/c", True), ("method:tools", False), ("method:tools/*", False), ("method:tools/call", False),
        ("name:ec", True), ("name:echo", False), ("kind:std", True), ("kind:stderr", False), ("id:9", False),
        ("duration:>5", False), ("hello", False),
        ("dur", True),
    ],
)  # fmt: skip
def test_knows_a_term_that_only_begins_what_it_means(text: str, incomplete: bool) -> None:
    assert bool(offered(text, ("echo",)).incomplete) is incomplete


def test_an_http_status_is_a_status() -> None:
    talk = Talk({"kind": "http", "url": "http://x/"})
    for status in (200, 404, 406):
        talk.journal.record_http("post-1", Dir.RECV, status=status, headers=[])
    assert parse("status:404").numbers(talk.journal) == [2]
    assert parse("kind:http status:4xx").numbers(talk.journal) == [2, 3]
    with pytest.raises(FilterError, match="HTTP status"):
        parse("status:999")

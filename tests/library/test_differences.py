"""The text for a person about two different values."""

from __future__ import annotations

from inspector.compare.rules import DEFAULT
from inspector.library.differences import MAX_COUNT, differences


def test_each_place_has_its_line() -> None:
    expected = {"a": 1, "b": [1, 2], "c": "x", "d": None, "e": {"f": True}}
    actual = {"a": 2, "b": [1, 2, 3], "c": "x", "d": "text", "g": 0}
    assert differences(expected, actual) == [
        "$.a: expected 1, got 2",
        "$.b[2]: unexpected 3",
        '$.d: expected null, got "text" (null → string)',
        '$.e: expected {"f":true}, but it is missing',
        "$.g: unexpected 0",
    ]
    assert differences(expected, dict(expected)) == []


def test_without_rules_nothing_may_differ_and_with_them_some_may() -> None:
    assert differences({"createdAt": "2026-01-01T00:00:00Z"}, {"createdAt": "2026-01-02T00:00:00Z"})
    assert not differences({"createdAt": "2026-01-01T00:00:00Z"}, {"createdAt": "2026-01-02T00:00:00Z"}, DEFAULT)


def test_long_texts_show_where_they_part() -> None:
    (head, expected, got) = differences("a" * 500 + "x" + "b" * 100, "a" * 500 + "y" + "b" * 90)
    assert head == "$: the texts differ"
    assert expected == f"    expected …{'a' * 40}x{'b' * 39}… (601 characters)"
    assert got == f"    got      …{'a' * 40}y{'b' * 39}… (591 characters)"


def test_texts_of_several_lines_are_shown_by_lines() -> None:
    lines = differences({"t": "one\ntwo\nthree\n"}, {"t": "one\n2\nthree\n"})
    assert lines[0] == "$.t: the texts differ"
    assert [line.strip() for line in lines[-4:]] == ["one", "-two", "+2", "three"]


def test_much_is_cut_and_what_a_server_says_is_made_safe() -> None:
    lines = differences(list(range(1000)), [number + 0.5 for number in range(1000)])
    assert len(lines) == MAX_COUNT + 1
    assert lines[-1] == "… and more"
    assert "\x1b" not in "".join(differences({"a\x1b[2J": "\x1b[31m"}, {"a\x1b[2J": "x\x1b\n"}))

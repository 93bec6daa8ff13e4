"""Rows that match typed text have one order: names that begin with it, beginnings of words, names, descriptions."""

from __future__ import annotations

import pytest

from inspector.tui.matching import Typed
from inspector.tui.widgets.paint import underlined


@pytest.mark.parametrize(("text", "rows"), [
    ("ask", ["ask-again", "get ask", "tasks", "about: asks"]),
    ("get sum", ["get sum", "sum-get", "forget-resume", "about: get sum"]),
    ("GET", ["Get it", "budget-get", "forget", "about: gets"]),
    ("", ["anything"]),
])  # fmt: skip
def test_the_best_match_comes_first(text: str, rows: list[str]) -> None:
    def texts(row: str) -> tuple[str, str]:
        return ("", row) if row.startswith("about:") else (row, "")

    assert Typed(text).best_first(reversed(rows), texts) == rows
    assert not text or Typed(text).best_first(["other"], texts) == []


def test_rows_that_match_equally_well_stay_in_their_order() -> None:
    assert Typed("a").best_first(["ab", "aa", "ac"], lambda row: (row, "")) == ["ab", "aa", "ac"]


def test_words_may_be_split_between_name_and_description() -> None:
    assert Typed("send mail").rank("send", "writes a mail") == 3
    assert Typed("send mail").rank("send", "writes a letter") is None


@pytest.mark.parametrize(
    ("text", "words", "marked"),
    [("xABcx", ["ab", "bc", "ab"], ["AB"]), ("abc", ["c", "a"], ["a", "c"]), ("İstanbul", ["stan"], [])],
)
def test_matches_are_underlined_apart_and_in_order(text: str, words: list[str], marked: list[str]) -> None:
    pieces = [piece if isinstance(piece, tuple) else (piece, "") for piece in underlined(text, words, "bright")]
    assert "".join(part for part, _ in pieces) == text
    assert [part for part, role in pieces if role.endswith("underline")] == marked


def test_only_a_longer_text_narrows() -> None:
    assert Typed("get su").narrows(Typed("get s"))
    assert not Typed("get").narrows(Typed("get s"))

"""Text of a server is printed only in safe form (C-BASE-17)."""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector import text
from inspector.text import (
    UNSAFE,
    Signs,
    cell_len,
    count,
    decode_log,
    duration,
    ellipsis,
    escape_json,
    lines,
    safe,
    signs,
    size,
    terminal_counts_parts,
    wants_ascii,
)

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)
TEMPER = st.text(
    st.sampled_from(
        "a1#👍👩❤é中\u0301\u200d\ufe0f\ufe0e\u202e\u1161\U0001f3fd\U0001f1e9\u00a0\u3000\u2800⣿\u3164 \t\n\r\x1b\x9b\ud800\ue000"
    ),
    max_size=30,
)


def test_ordinary_text_returns_as_the_same_object() -> None:
    for ordinary in ("get-annotated-message", "Grüße → 中文 👍", "{'a': [1, 2]}"):
        assert safe(ordinary) is ordinary


@pytest.mark.parametrize(
    ("hostile", "visible", "in_ascii"),
    [
        ("\x1b[2J", "␛[2J", "\\x1b[2J"),
        ("\x00\x07\x7f", "␀␇␡", "\\x00\\x07\\x7f"),
        ("\x9b31m", "‹9B›31m", "\\x9b31m"),
        ("a\tb", "a    b", "a    b"),
        ("a\nb", "a↵b", "a\\nb"),
        ("a\r\nb", "a␍↵b", "a\\r\\nb"),
        ("\u202egpj.exe", "‹202E›gpj.exe", "\\u202egpj.exe"),
        ("\u2066x\u2069", "‹2066›x‹2069›", "\\u2066x\\u2069"),
        ("a\u200bb\ufeffc\u2060d", "a‹200B›b‹FEFF›c‹2060›d", "a\\u200bb\\ufeffc\\u2060d"),
        ("a\u200db\u200c", "a‹200D›b‹200C›", "a\\u200db\\u200c"),
        ("\U000e0041", "‹E0041›", "\\U000e0041"),
        ("\u2028\u2029\x85", "‹2028›‹2029›‹85›", "\\u2028\\u2029\\x85"),
        ("\ud800x", "‹D800›x", "\\ud800x"),
        ("\ue000\ufdd0\uffff", "‹E000›‹FDD0›‹FFFF›", "\\ue000\\ufdd0\\uffff"),
        ("a\ufe0f\u3164", "a‹FE0F›‹3164›", "a\\ufe0f\\u3164"),
        ("\u0301x", "‹301›x", "\\u0301x"),
        ("a \u0301\u1161", "a ‹301›‹1161›", "a \\u0301\\u1161"),
        ("e\u0301", "e\u0301", "e\\u0301"),
        ("e" + "\u0301" * 5, "e" + "\u0301" * 3 + "‹301›‹301›", "e" + "\\u0301" * 5),
        ("\x1b\u0301", "␛‹301›", "\\x1b\\u0301"),
        ("a\u00a0b 5\u202f%", "a\u00a0b 5\u202f%", "a\\xa0b 5\\u202f%"),
        ("\u00a0a\u00a0\u2003", "‹A0›a‹A0›‹2003›", "\\xa0a\\xa0\\u2003"),
        ("a\u00a0\u00a0b", "a‹A0›‹A0›b", "a\\xa0\\xa0b"),
        ("a \u00a0b\u2007 c", "a ‹A0›b‹2007› c", "a \\xa0b\\u2007 c"),
        ("\u200b\u00a0\n", "‹200B›‹A0›↵", "\\u200b\\xa0\\n"),
        ("山田\u3000太郎", "山田\u3000太郎", r"\u5c71\u7530\u3000\u592a\u90ce"),
        ("\u3000\u3000今", "\u3000\u3000今", r"\u3000\u3000\u4eca"),
        ("read\u3000file\u3000", "read‹3000›file‹3000›", r"read\u3000file\u3000"),
        ("\u3000\u3164", "‹3000›‹3164›", r"\u3000\u3164"),
        ("⣿\u2800\u2800⣿", "⣿\u2800\u2800⣿", r"\u28ff\u2800\u2800\u28ff"),
        ("a\u2800", "a‹2800›", "a\\u2800"),
        ("가\ud7c7\ud7ca\ud7fc", "가‹D7C7›‹D7CA›‹D7FC›", r"\uac00\ud7c7\ud7ca\ud7fc"),
        ("ᄀ\ud7b0", "ᄀ\ud7b0", r"\u1100\ud7b0"),
    ],
)
def test_what_is_invisible_or_moves_things_is_shown(hostile: str, visible: str, in_ascii: str) -> None:
    assert safe(hostile) == visible
    assert safe(hostile, ascii=True) == in_ascii


@pytest.mark.parametrize(
    "emoji", ["👩\u200d👩\u200d👧", "❤\ufe0f", "1\ufe0f\u20e3", "👍🏽", "🇩🇪", "👩🏽\u200d💻", "❤\ufe0f\u200d🔥"]
)
def test_emoji_sequences_stay_whole_and_take_two_cells(emoji: str) -> None:
    assert safe(emoji) == emoji
    assert cell_len(emoji) == 2


@pytest.fixture
def tmux() -> Iterator[None]:
    terminal_counts_parts(of_emoji=True)
    yield
    terminal_counts_parts(of_emoji=False)


@pytest.mark.usefixtures("tmux")
@pytest.mark.parametrize(
    ("emoji", "visible", "cells"),
    [
        ("👩\u200d👩\u200d👧", "👩\u200d👩\u200d👧", 2),
        ("❤\ufe0f", "❤", 1),
        ("\U0001f3f3\ufe0f\u200d🌈", "\U0001f3f3\u200d🌈", 1),
        ("👍🏽", "👍‹1F3FD›", 9),
        ("👩🏽\u200d💻", "👩‹1F3FD›‹200D›💻", 17),
    ],
)
def test_an_emoji_takes_the_cells_that_tmux_gives_it(emoji: str, visible: str, cells: int) -> None:
    """Measured in tmux 3.3a, by the column of the cursor after each."""
    assert (safe(emoji), cell_len(safe(emoji))) == (visible, cells)


def test_a_joiner_that_joins_nothing_is_shown() -> None:
    assert safe("👩\u200d") == "👩‹200D›"
    assert safe("👩\u200d\u200d👩") == "👩‹200D›‹200D›👩"
    assert safe("❤\ufe0f\ufe0f") == "❤\ufe0f‹FE0F›"


@pytest.mark.slow
def test_no_character_of_unicode_slips_through_alone_or_after_a_letter() -> None:
    hidden = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    for way in (safe(everything), safe(everything, multiline=True).replace("\n", "")):
        assert not {char for char in set(way) if unicodedata.category(char) in hidden}
    for code in range(sys.maxunicode + 1):
        char = chr(code)
        text = safe(f"a{char}b") + safe(char) + safe(f"{char}\u0301")
        assert char not in text or unicodedata.category(char) not in hidden, f"{code:X}"
    for start in range(0x300, 0x370):
        assert safe(chr(start)) == f"‹{start:X}›"


EMPTY = re.compile(r"\b(SPACE|FILLER|BLANK|QUAD|INVISIBLE|NULL NOTEHEAD)\b")
DRAWN = re.compile(
    r"SYMBOL FOR|BLANK SYMBOL|APL FUNCTIONAL|(GAP|LINE|SPACE) FILLER|HALF FILL|SIGNWRITING|TAKEN BLANK|QUADRANT"
)
"""Names of characters that have a shape although they name a blank."""


@pytest.mark.slow
def test_no_character_that_looks_empty_is_shown_as_it_is_at_an_edge_or_in_a_run() -> None:
    for code in range(0x80, sys.maxunicode + 1):
        char = chr(code)
        name = unicodedata.name(char, "")
        if EMPTY.search(name) and not DRAWN.search(name):
            for text in (char, f"a{char}", f"{char}a", f"a {char}a", f"a{char * 3}a"):
                assert char not in safe(text) + safe(text, multiline=True), name


def test_a_run_of_controls_is_not_looked_at_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    hostile = "a" + "\x1b\x7f\t\x00" * 1000 + "\n"
    monkeypatch.setattr(text, "_is_blank", None)
    assert safe(hostile, multiline=True) == "a" + "␛␡    ␀" * 1000 + "\n"
    assert safe(hostile) == "a" + "␛␡    ␀" * 1000 + "↵"


def test_long_runs_of_blanks_are_looked_at_once() -> None:
    looked = 0

    class Counted(str):
        def __getitem__(self, at: Any) -> str:
            nonlocal looked
            looked += 1
            return super().__getitem__(at)

    size = 5_000
    text._visible(re.fullmatch("\u3000+", Counted("\u3000" * size)))
    assert size <= looked <= 3 * size


@given(ANY_TEXT | TEMPER)
def test_nothing_hidden_is_left_except_joiners_in_emoji(value: str) -> None:
    for char in safe(value).replace("\u200d", ""):
        assert char.isprintable() or unicodedata.category(char) == "Zs"
    assert safe(value, ascii=True).isascii()
    assert safe(value, ascii=True).isprintable()


@given(ANY_TEXT | TEMPER)
def test_safe_text_is_safe_already(value: str) -> None:
    once = safe(value)
    assert safe(once) == once


@given(ANY_TEXT | TEMPER, st.integers(0, 12))
def test_a_limit_holds_and_a_cut_is_marked(value: str, limit: int) -> None:
    short = safe(value, limit)
    assert len(short) <= limit
    if limit and len(value) > limit:
        assert short.endswith("…")
    assert safe(safe(value), 10_000) == safe(value)


def test_a_cut_leaves_no_joiner_that_would_join_what_comes_after() -> None:
    assert safe("x👩\u200d👩y", 4) == "x👩…"


def test_line_ends_stay_where_lines_are_wanted() -> None:
    assert safe("a\r\nb\nc\rd", multiline=True) == "a\nb\nc␍d"
    assert safe("a\n\u0301b", multiline=True) == "a\n‹301›b"
    assert safe("é\nb", multiline=True, ascii=True) == "\\xe9\nb"


def test_values_of_the_wrong_type_are_written_as_json() -> None:
    assert safe(None) == "null"
    assert safe(True) == "true"
    assert safe(12) == "12"
    assert safe({"a": [1, "x\x1b", {}], "b": None}) == '{"a": [1, "x␛", {}], "b": null}'
    assert safe(b"ok\xff") == "ok‹DCFF›"
    assert safe(10**5000) == "an integer of about 5,001 digits"


def test_deep_and_endless_values_are_bounded() -> None:
    deep: object = "x"
    for _ in range(100_000):
        deep = [deep]
    assert len(safe(deep)) <= text.PLAIN_LIMIT + 1
    assert safe(deep, 5) == "[[[[…"
    assert safe(["x" * 10] * 1_000_000, 12) == '["xxxxxxxxx…'


def test_lines_wrap_at_spaces_and_inside_words_that_are_too_wide() -> None:
    assert lines("a\nb\x1b") == ["a", "b␛"]
    assert lines("") == [""]
    assert lines("one two three", 8) == ["one two", "three"]
    assert lines("abcdefghij", 4) == ["abcd", "efgh", "ij"]
    assert lines("中文字 x", 4) == ["中文", "字 x"]
    assert lines("    indented-word", 8) == ["    inde", "nted-wor", "d"]
    assert lines("中", 1) == ["中"]
    assert lines("     x", 2) == ["x"]
    assert lines("一\u3000 0", 2) == ["一", "\u3000", "0"]


@given(ANY_TEXT | TEMPER | st.text("ab 中\n", max_size=60), st.integers(2, 12))
def test_wrapping_fits_and_loses_only_spaces(value: str, width: int) -> None:
    wrapped = lines(value, width)
    assert all(cell_len(line) <= width for line in wrapped)
    assert "".join(wrapped).replace(" ", "") == safe(value, multiline=True).replace("\n", "").replace(" ", "")


def test_cells() -> None:
    samples = {
        "": 0,
        "abc": 3,
        "é": 1,
        "e\u0301": 1,
        "中文": 4,
        "ｱ": 1,
        "Ａ": 2,
        "a\u200b": 1,
        "👍": 2,
        "☎": 1,
        "☎\ufe0f": 2,
    }
    assert {sample: cell_len(sample) for sample in samples} == samples


def test_ellipsis_counts_cells() -> None:
    assert ellipsis("abcdef", 6) == "abcdef"
    assert ellipsis("abcdef", 4) == "abc…"
    assert ellipsis("中文字", 6) == "中文字"
    assert ellipsis("中文字", 5) == "中文…"
    assert ellipsis("中文字", 4) == "中…"
    assert ellipsis("abc", 1) == "…"
    assert ellipsis("abc", 0) == ""
    assert ellipsis("abc", 2, "...") == ""


@given(ANY_TEXT.map(safe), st.integers(0, 20))
def test_an_ellipsis_is_never_wider_than_its_room(value: str, cells: int) -> None:
    short = ellipsis(value, cells)
    assert cell_len(short) <= cells
    assert (short == value) == (cell_len(value) <= cells)


@pytest.mark.parametrize(
    ("us", "written"),
    [
        (0, "0 ms"),
        (12, "<0.1 ms"),
        (840, "0.8 ms"),
        (3_140, "3.1 ms"),
        (9_949, "9.9 ms"),
        (9_950, "10 ms"),
        (12_345, "12 ms"),
        (999_499, "999 ms"),
        (999_500, "1.0 s"),
        (1_234_000, "1.2 s"),
        (59_949_999, "59.9 s"),
        (59_950_000, "1 m 0 s"),
        (252_000_000, "4 m 12 s"),
        (3_599_600_000, "1 h 0 m"),
        (7_500_000_000, "2 h 5 m"),
        (273_600_000_000, "3 d 4 h"),
        (-1_234_000, "-1.2 s"),
        (float("nan"), "?"),
        (10**400, "11,574,074 d 1 h"),
    ],
)
def test_durations(us: float, written: str) -> None:
    assert duration(us) == written


@pytest.mark.parametrize(
    ("octets", "written"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (1_100, "1.1 kB"),
        (12_407, "12.4 kB"),
        (99_949, "99.9 kB"),
        (99_950, "100 kB"),
        (999_500, "1.0 MB"),
        (1_200_000, "1.2 MB"),
        (5 * 10**13, "50.0 TB"),
        (10**400, "1,000,000,000,000 TB"),
    ],
)
def test_sizes(octets: int, written: str) -> None:
    assert size(octets) == written


def test_counts() -> None:
    assert count(12_407) == "12,407"
    assert count(10**5000) == "about 10^5000"


def test_every_sign_is_one_cell_and_has_an_ascii_form() -> None:
    for name in Signs._fields:
        sign, plain = getattr(signs(False), name), getattr(signs(True), name)
        assert len(sign) == len(plain) == cell_len(sign) == cell_len(plain)
        assert plain.isascii()
        assert safe(sign) == sign
    told_apart = signs(True)
    for group in (
        (
            told_apart.sent,
            told_apart.received,
            told_apart.notification,
            told_apart.progress,
            told_apart.asked,
            told_apart.local,
        ),
        (told_apart.done, told_apart.failed, told_apart.finding, told_apart.later, told_apart.live),
    ):
        assert len(set(group)) == len(group)


@pytest.mark.parametrize(
    ("environ", "encoding", "expected"),
    [
        ({"LANG": "en_US.UTF-8"}, "utf-8", False),
        ({}, "utf-8", False),
        ({"LANG": "de_DE.UTF-8"}, "ISO-8859-1", True),
        ({"LANG": "en_US.UTF-8"}, "ANSI_X3.4-1968", True),
        ({"LANG": "C"}, "utf-8", True),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, "utf-8", True),
        ({"LC_CTYPE": "C.UTF-8"}, "utf-8", False),
        ({"LANG": "C", "LC_CTYPE": "en_US.UTF-8"}, "utf-8", False),
        ({"LC_ALL": "POSIX", "LANG": "en_US.UTF-8"}, "utf-8", True),
        ({"LC_ALL": "C.UTF-8", "LANG": "C"}, "utf-8", False),
        ({"LANG": "en_US.UTF-8"}, None, False),
    ],
)
def test_ascii_is_wanted_where_unicode_cannot_be_shown(
    environ: dict[str, str], encoding: str | None, expected: bool
) -> None:
    assert wants_ascii(environ, encoding) is expected


def test_sentences_are_joined_with_one_mark_between_them() -> None:
    assert text.sentences("No file", "Make one: touch f") == "No file. Make one: touch f"
    assert text.sentences("No file.", "") == "No file."
    assert text.sentences("No file", "") == "No file"
    assert text.sentences("", "Try again") == "Try again"
    assert text.sentences("Is it there?", "Look.") == "Is it there? Look."


@given(ANY_TEXT | TEMPER)
def test_escaped_json_has_the_same_value(value: str) -> None:
    written = escape_json(json.dumps({"a": value}, ensure_ascii=False))
    assert json.loads(written) == {"a": value}
    assert not re.search(f"[\x00-\x1f{UNSAFE}]", written)


def test_a_log_that_is_not_utf_8_is_read_in_the_code_page_of_the_system() -> None:
    assert decode_log("café".encode()) == "café"
    assert decode_log("café".encode("cp1252"), "cp1252") == "café"
    assert decode_log("Größe".encode("cp850"), "cp850") == "Größe"
    assert decode_log(b"caf\xe9", "utf-8") == "caf\ufffd"
    assert decode_log(b"\x81\x8d", "cp1252") == "\ufffd\ufffd"

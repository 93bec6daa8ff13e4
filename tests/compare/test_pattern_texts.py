"""Texts for regular expressions: those that are made match, and nothing else is made."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.compare.schema_witness import MAX_LENGTH, texts


@pytest.mark.parametrize(
    "pattern",
    [
        "", "^a", "^[a-z]+$", r"^[A-Z]{2}-\d{3,}$", "(foo|bar)+x?", "^(?:a|b)(?P<n>c)$", "[^a]", r"[^\s]+", r"^\w+@\w+\.com$",
        "[]a]", r"x\u0041", r"^(\([0-9]{3}\))?[0-9]{3}-[0-9]{4}$", "a{2,3}?", "[a-c-]", r"^[\w.]{5}$",
    ],
)  # fmt: skip
def test_a_simple_pattern_has_texts(pattern: str) -> None:
    examples = texts(pattern)
    assert examples
    assert all(re.search(pattern, text) for text in examples)


@pytest.mark.parametrize(
    "pattern", ["(?=x)y", "(?<!x)y", r"\p{L}", r"(a)\1", "[a-", "(", "a)", "a{2", "*", "a{99999}", "(" * 99]
)
def test_for_another_one_none_is_made(pattern: str) -> None:
    assert texts(pattern) == []


@given(st.text("ab(|)[]^$*+?{},1\\d-", max_size=20))
def test_any_pattern_is_read(pattern: str) -> None:
    assert all(len(text) <= 2 * MAX_LENGTH for text in texts(pattern))

"""Values nested too deeply for a parser: parsed to a level, checked below it, bounded."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.protocol.exact_json.depth import LEFT_OUT, MAX_DEPTH, MAX_MARKS, TooDeep, depth_of, shallow

DECODE = json.JSONDecoder().decode


def nested(levels: int, inner: str = "1") -> str:
    return "[" * levels + inner + "]" * levels


def depth(value: Any) -> int:
    levels = 0
    while type(value) is list:
        value, levels = value[0], levels + 1
    return levels


@pytest.mark.parametrize("levels", [1, MAX_DEPTH - 1, MAX_DEPTH])
def test_what_is_not_too_deep_stays_unchanged(levels: int) -> None:
    text = nested(levels, '"\\" [ } {"')
    assert shallow(text, DECODE) == text


@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 2 * MAX_DEPTH, 2 * MAX_DEPTH + 1, 10 * MAX_DEPTH + 7])
def test_what_is_too_deep_is_omitted(levels: int) -> None:
    value = DECODE(shallow(f'{{"before":1,"deep":{nested(levels)},"after":[2]}}', DECODE))
    assert (value["before"], value["after"]) == (1, [2])
    assert depth(value["deep"]) == MAX_DEPTH - 1
    assert LEFT_OUT in json.dumps(value)


def test_several_deep_values_are_omitted_each() -> None:
    value = DECODE(shallow(f"[{nested(1000)},{nested(3)},{nested(700)}]", DECODE))
    assert [depth(item) for item in value] == [MAX_DEPTH - 1, 3, MAX_DEPTH - 1]


@pytest.mark.parametrize(
    "text",
    [
        nested(1000, "\x01"),
        nested(1000, '"\x01"'),
        nested(1000, "nonsense"),
        nested(1000)[:-1],
        nested(1000) + "]",
        nested(1000).replace("]", "}", 1),
        nested(1000, '"unended'),
        "[" * 1000,
        "]" * 1000,
    ],
)
def test_what_is_not_json_below_is_no_json(text: str) -> None:
    with pytest.raises(ValueError):
        DECODE(shallow(text, DECODE))


@pytest.mark.parametrize("text", [nested(MAX_MARKS), "[" * MAX_MARKS, '["",' + '"",' * (MAX_MARKS + 1) + "0]"])
def test_more_than_can_be_looked_at_is_refused(text: str) -> None:
    with pytest.raises(TooDeep):
        shallow(text, DECODE)


@pytest.mark.slow
@settings(max_examples=20)
@given(st.recursive(st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_any_value_deep_inside_is_checked_and_beside_it_is_kept(value: Any) -> None:
    text = json.dumps(value)
    beside = f"[{text},{nested(2 * MAX_DEPTH, text)},{text}]"
    read = DECODE(shallow(beside, DECODE))
    assert read[0] == read[2] == value
    assert depth(read[1]) == MAX_DEPTH - 1


def test_depths_are_counted_where_there_may_be_many() -> None:
    assert depth_of(nested(1000, '"[["')) == 1000
    assert depth_of(nested(MAX_DEPTH)) == 0
    assert depth_of("[" + "[]," * 1000 + "0]") == 2

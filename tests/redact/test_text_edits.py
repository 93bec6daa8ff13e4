"""Edits inside string literals reach the text around them, and nothing else of it changes."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol.exact_json.tokens import unquote
from inspector.redact.scan import Edit, applied, merged, outward

TEXTS = st.text(
    st.one_of(st.sampled_from('ab"\\/\n\té‹😀\x7f\x00'), st.characters(exclude_categories=["Cs"])), max_size=30
)


def spelled(value: str, how: list[int]) -> str:
    """A literal of a value in which each character is spelled in one of the ways that JSON has."""
    short = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\n": "\\n", "\t": "\\t"}
    parts = []
    for char, way in zip(value, how, strict=True):
        plain = json.dumps(char, ensure_ascii=False)[1:-1]
        units = char.encode("utf-16-be")
        long = "".join(f"\\u{units[at]:02x}{units[at + 1]:02X}" for at in range(0, len(units), 2))
        parts.append((plain, long, short.get(char, plain))[way])
    return '"' + "".join(parts) + '"'


@given(st.data())
def test_an_edit_of_the_value_is_one_of_the_literal(data: st.DataObject) -> None:
    value = data.draw(TEXTS)
    literal = spelled(value, [data.draw(st.integers(0, 2)) for _ in value])
    places = sorted(data.draw(st.lists(st.integers(0, len(value)), max_size=6)))
    edits = [Edit(start, end, data.draw(TEXTS), ()) for start, end in zip(places[::2], places[1::2], strict=False)]
    around = f"[1, {literal}, 2.0]"
    assert unquote(literal) == value
    changed = applied(around, outward(literal, value, edits, 4))
    assert json.loads(changed) == [1, applied(value, edits), 2.0]
    for edit in outward(literal, value, edits, 4):
        assert 4 < edit.start <= edit.end < 4 + len(literal)


def test_what_is_beside_an_edit_keeps_its_spelling() -> None:
    literal = r'"\u0061\/\ud83d\ude00 secret \u00e9\""'
    value = unquote(literal)
    at = value.index("secret")
    (edit,) = outward(literal, value, [Edit(at, at + 6, "‹x›", ())], 0)
    assert applied(literal, [edit]) == r'"\u0061\/\ud83d\ude00 ‹x› \u00e9\""'


def test_a_literal_with_a_wrong_escape_is_taken_as_it_stands() -> None:
    literal = r'"\q secret"'
    value = unquote(literal)
    assert value == r"\q secret"
    assert applied(literal, outward(literal, value, [Edit(3, 9, "-", ())], 0)) == r'"\q -"'


def test_of_edits_that_overlap_the_earlier_and_longer_one_stays() -> None:
    edits = [Edit(3, 5, "b", ()), Edit(0, 4, "a", ()), Edit(0, 2, "c", ()), Edit(5, 6, "d", ())]
    assert [edit.text for edit in merged(edits)] == ["a", "d"]

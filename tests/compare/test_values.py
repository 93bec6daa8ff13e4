"""Differences of two JSON values: what is told, what is let pass, and that nothing hostile breaks or slows it."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.compare.json_values import DuplicateKeys, read
from inspector.compare.rules import EXACT, ComparisonRules, Tolerance, parse_tolerance
from inspector.compare.values import compare
from inspector.errors import UsageError
from inspector.protocol.jsonrpc import NotJson

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.sampled_from(["id", "type", "name"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=6),
        st.dictionaries(st.sampled_from(["name", "type", "id", "a", "b", "\ud800", ""]), inner, max_size=5),
    ),
    max_leaves=25,
)


def changed(a: Any, b: Any, rules: ComparisonRules = EXACT, **kwargs: Any) -> list[tuple[str, str]]:
    return [(one.kind, str(one.path)) for one in compare(a, b, rules, **kwargs).differences]


@given(VALUES)
def test_a_value_does_not_differ_from_itself(value: Any) -> None:
    assert compare(value, value, EXACT).same
    assert compare(value, value).same


@pytest.mark.slow
@settings(max_examples=4 * settings.default.max_examples)
@given(VALUES, VALUES)
def test_the_other_way_round_there_is_as_much_of_everything(a: Any, b: Any) -> None:
    there, back = compare(a, b, EXACT).differences, compare(b, a, EXACT).differences
    other = {"added": "removed", "removed": "added"}
    assert Counter(one.kind for one in there) == Counter(other.get(one.kind, one.kind) for one in back)


@given(VALUES, VALUES)
def test_what_is_equal_in_every_part_is_what_has_no_difference(a: Any, b: Any) -> None:
    same = compare(a, b, EXACT).same
    assert same == (canonical(a) == canonical(b))


def canonical(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: canonical(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [canonical(inner) for inner in value]
    if isinstance(value, float):
        return ("float", repr(value + 0.0))
    return (type(value).__name__, value)


@given(VALUES, VALUES)
def test_the_same_differences_come_in_the_same_order(a: Any, b: Any) -> None:
    assert [repr(one) for one in compare(a, b).differences] == [repr(one) for one in compare(a, b).differences]


@given(st.lists(VALUES, max_size=6), st.randoms())
def test_an_order_free_list_may_be_shuffled(items: list[Any], random: Any) -> None:
    shuffled = list(items)
    random.shuffle(shuffled)
    assert compare(items, shuffled, EXACT.plus(unordered=["$"])).same


@given(st.text(max_size=200))
def test_any_text_is_a_glob_or_said_to_be_none(text: str) -> None:
    try:
        rules = EXACT.plus(ignore=[text])
    except UsageError:
        return
    compare({"a": [1, {"b": 2}]}, {"a": [2, {"c": 3}]}, rules)


def test_members_are_reported_by_their_place() -> None:
    a = {"result": {"content": [{"type": "text", "text": "one"}], "x y": 1, "gone": None}}
    b = {"result": {"content": [{"type": "text", "text": "two"}], "x y": 2, "new": []}}
    assert changed(a, b) == [
        ("changed", "$.result.content[0].text"),
        ("changed", '$.result["x y"]'),
        ("removed", "$.result.gone"),
        ("added", "$.result.new"),
    ]
    assert compare(a, b).differences[0].path.pointer() == "/result/content/0/text"


@pytest.mark.parametrize(
    ("a", "b", "note"),
    [
        (1, 1.0, "integer → number"),
        (True, 1, "boolean → integer"),
        (None, False, "null → boolean"),
        ("1", 1, "string → integer"),
        ([], {}, "array → object"),
    ],
)
def test_a_change_of_type_says_so(a: Any, b: Any, note: str) -> None:
    (change,) = compare(a, b).differences
    assert (change.kind, change.note, str(change.path)) == ("changed", note, "$")


def test_large_integers_are_compared_to_their_last_digit() -> None:
    assert changed(10**4000, 10**4000 + 1) == [("changed", "$")]
    assert changed(2**53 + 1, float(2**53)) == [("changed", "$")]
    rules = EXACT.plus(tolerances=[Tolerance(relative=0.01)])
    assert compare(10**4000, 10**4000 + 1, rules).same
    assert changed(10**4000, 1e308, rules) == [("changed", "$")]


def test_nan_is_itself_and_nothing_else() -> None:
    nan, infinite = float("nan"), float("inf")
    rules = EXACT.plus(tolerances=[Tolerance(absolute=1e300)])
    for used in (EXACT, rules):
        assert compare([nan, infinite, -0.0], [nan, infinite, 0.0], used).same
        assert changed([nan], [1.5], used) == [("changed", "$[0]")]
        assert changed([infinite], [-infinite], used) == [("changed", "$[0]")]


def test_a_tolerance_is_absolute_or_relative_and_holds_below_its_place() -> None:
    a, b = {"x": {"y": 100}, "z": 100.0}, {"x": {"y": 101}, "z": 101}
    assert changed(a, b, EXACT.plus(tolerances=[parse_tolerance("1%")])) == []
    assert changed(a, b, EXACT.plus(tolerances=[parse_tolerance("0.5")])) == [("changed", "$.x.y"), ("changed", "$.z")]
    assert changed(a, b, EXACT.plus(tolerances=[parse_tolerance("$.x=1")])) == [("changed", "$.z")]


@pytest.mark.parametrize("text", ["", "x", "-1", "nan", "$.a=", "a=1", "inf"])
def test_what_is_not_a_tolerance_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_tolerance(text)


def test_what_is_put_into_a_list_does_not_make_the_rest_differ() -> None:
    assert changed([1, 2, 3, 4], [1, 9, 2, 3, 4]) == [("added", "$[1]")]
    assert changed([{"name": "a", "v": 1}, {"name": "b", "v": 1}], [{"name": "b", "v": 2}]) == [
        ("removed", "$[0]"),
        ("changed", "$[1].v"),
    ]


def test_an_item_that_stands_elsewhere_has_moved() -> None:
    (move,) = compare(["x", "y", "z"], ["y", "z", "x"], EXACT).differences
    assert (move.kind, str(move.path), str(move.path_b)) == ("moved", "$[0]", "$[2]")


def test_items_of_one_name_are_compared_wherever_they_stand() -> None:
    a = [{"name": "a", "v": 1}, {"name": "b"}, {"name": "c"}]
    b = [{"name": "b"}, {"name": "c"}, {"name": "a", "v": 2}]
    assert changed(a, b) == [("moved", "$[0]"), ("changed", "$[0].v")]


def test_items_of_other_names_are_not_each_other() -> None:
    assert changed([{"name": "a"}], [{"name": "b"}, {"name": "c"}]) == [
        ("removed", "$[0]"),
        ("added", "$[0]"),
        ("added", "$[1]"),
    ]


def test_numbers_of_an_order_free_list_are_paired_by_size_where_they_may_differ() -> None:
    rules = EXACT.plus(unordered=["$"], tolerances=[Tolerance(absolute=0.01)])
    assert compare([1.0, 2.0, 3.0], [3.001, 1.001, 2.001], rules).same
    assert changed([1.0, 2.0], [2.0, 5.0], rules) != []


def test_times_ids_and_durations_do_not_count_where_they_are_on_both_sides() -> None:
    a = {
        "id": 3,
        "result": {
            "nextCursor": "abc",
            "text": "made 2026-01-02T03:04:05Z by 123e4567-e89b-12d3-a456-426614174000 in 12 ms (1.5 s)",
            "at": "Fri, 21 Nov 2026 08:00:00 GMT",
            "clock": "at 08:15:00",
            "token": "‹redacted a1b2c3d4›",
            "said": "task 4701791b4a6fc6138ceaf987ee41a620 runs",
        },
    }
    b = {
        "id": 9,
        "result": {
            "nextCursor": "xyz",
            "text": "made 2027-05-06 07:08:09.123+02:00 by 00000000-0000-0000-0000-000000000000 in 9 ms (2.25 s)",
            "at": "Sat, 22 Nov 2026 09:00:00 GMT",
            "clock": "at 10:11:12",
            "token": "‹redacted 99999999›",
            "said": "task bdbc2079b6cf8d4745c4b30b08af72ce runs",
        },
    }
    result = compare(a, b)
    assert result.differences == []
    assert result.ignored == len(result.ignored_places) == 7
    assert result.ignored_places[0] == "/id (an id or a time, by its name)"
    assert "/result/said (an id or a time in the text)" in result.ignored_places
    assert len(compare(a, b, EXACT).differences) == 6


def test_a_cursor_that_is_gone_is_a_difference() -> None:
    assert changed({"nextCursor": "x"}, {}, ComparisonRules()) == [("removed", "$.nextCursor")]
    assert changed({"nextCursor": "x"}, {"nextCursor": 1}, ComparisonRules()) == [("changed", "$.nextCursor")]


def test_words_around_a_time_do_count() -> None:
    assert changed("done at 10:00:00", "failed at 10:00:00", ComparisonRules()) == [("changed", "$")]


def test_an_ignored_place_may_be_missing() -> None:
    rules = EXACT.plus(ignore=["$.result.content[*].text", "/meta/**/at"])
    a = {"result": {"content": [{"text": "a"}, {"text": "b"}]}, "meta": {"deep": {"at": 1}}}
    b = {"result": {"content": [{"text": "c"}, {}]}, "meta": {"deep": {}, "at": 2}}
    result = compare(a, b, rules)
    assert (result.differences, result.ignored) == ([], 4)
    assert "/meta/at (a path that is not compared)" in result.ignored_places


def test_ignored_items_of_a_list_may_be_fewer() -> None:
    assert compare({"l": [1, 2, 3]}, {"l": [1]}, EXACT.plus(ignore=["$.l[*]"])).same
    assert changed({"l": [1, 2]}, {"l": [3, 4]}, EXACT.plus(ignore=["$.l[1]"])) == [("changed", "$.l[0]")]


@pytest.mark.parametrize(
    ("glob", "hit"),
    [
        ("$.a.*.c", True),
        ("$..c", True),
        ("$.a..c", True),
        ("$['a']['b b']", True),
        ('$.a["b b"].c', True),
        ("$.a.b*.c", True),
        ("$.a.[*].c", True),
        ("/a/b b/c", True),
        ("/**/c", True),
        ("/a/*/c", True),
        ("$.a.c", False),
        ("$.b..c", False),
        ("$[0]", False),
    ],
)
def test_globs_name_places(glob: str, hit: bool) -> None:
    assert compare({"a": {"b b": {"c": 1}}}, {"a": {"b b": {"c": 2}}}, EXACT.plus(ignore=[glob])).same is hit


@pytest.mark.parametrize("glob", ["a.b", "$a", "$.", "$[", "$['a]", "$..", "/a/**", "result"])
def test_what_is_not_a_glob_is_refused(glob: str) -> None:
    with pytest.raises(UsageError):
        EXACT.plus(ignore=[glob])


def test_a_broken_pattern_is_refused() -> None:
    with pytest.raises(UsageError):
        EXACT.plus(patterns=["("])


def test_rules_hold_for_certain_methods_and_names() -> None:
    rules = EXACT.plus(ignore=["tools/call get-*:$.x", "tools/*:$.y", "resources/read:$.z"])
    a, b = {"x": 1, "y": 1, "z": 1}, {"x": 2, "y": 2, "z": 2}
    assert changed(a, b, rules, method="tools/call", name="get-sum") == [("changed", "$.z")]
    assert changed(a, b, rules, method="tools/call", name="echo") == [("changed", "$.x"), ("changed", "$.z")]
    assert changed(a, b, rules, method="ping") == [("changed", "$.x"), ("changed", "$.y"), ("changed", "$.z")]


def test_patterns_of_the_user_count_too() -> None:
    assert compare("port abc", "port xyz", EXACT.plus(patterns=[r"port \w+"])).same


def test_a_key_that_stands_twice_is_reported() -> None:
    once, twice = read('{"a": 1, "b": 2}'), read('{"a": 0, "b": 2, "a": 1}')
    assert isinstance(twice, DuplicateKeys)
    (repeat,) = compare(once, twice, EXACT).differences
    assert (repeat.kind, str(repeat.path), repeat.a, repeat.b) == ("repeated", "$.a", 1, 2)
    assert changed(twice, read('{"a": 5, "b": 2, "a": 1}')) == [("changed", "$.a")]
    assert compare(twice, read('{"b": 2, "a": 0, "a": 1}'), EXACT).same


def test_text_that_is_not_json_is_refused() -> None:
    for text in ("", "{", "[1,]", "9" * 5000, "[" * 100_000, '{"a" 1}'):
        with pytest.raises(NotJson):
            read(text)


def test_bytes_are_read_with_their_mark() -> None:
    assert read(b'\xef\xbb\xbf{"a": "\xff"}') == {"a": "�"}


@pytest.mark.slow
def test_a_very_deep_value_is_compared_to_its_bottom() -> None:
    depth = 10_000
    a, b = (read("[" * depth + '{"a":' * depth + last + "}" * depth + "]" * depth) for last in ("1", "2"))
    assert compare(a, a).same
    (change,) = compare(a, b).differences
    assert (change.a, change.b) == (1, 2)
    assert len(str(change.path)) < 500
    assert changed(a, [a, b], EXACT) != []


def test_deep_and_shallow_reading_agree() -> None:
    inner = '{"k": [1, 2.5, "\\u00e9\\ud800", true, null, NaN, {}], "k": []}'
    deep = read("[" * 20_000 + inner + "]" * 20_000)
    for _ in range(20_000):
        (deep,) = deep
    assert compare(deep, read(inner), EXACT).same
    assert isinstance(deep, DuplicateKeys)


@pytest.mark.slow
def test_long_lists_are_aligned_without_looking_at_all_pairs() -> None:
    a = list(range(100_000))
    b = [*range(5, 50_000), -1, *range(50_000, 99_990), -2]
    kinds = Counter(one.kind for one in compare(a, b, EXACT).differences)
    assert kinds["added"] == 1
    assert sum(kinds.values()) < 40


def test_long_lists_without_anything_in_common_stay_cheap() -> None:
    result = compare(["a" * (at % 7) for at in range(30_000)], list(range(30_000)), EXACT)
    assert result.truncated
    assert len(result.differences) == 10_000


def test_there_is_a_bound_on_what_is_reported() -> None:
    result = compare({str(n): n for n in range(50)}, {}, EXACT, limit=10)
    assert (len(result.differences), result.truncated) == (10, True)


def test_a_difference_is_written_as_json() -> None:
    differences = compare({"a": 1, "b": ["x", "y"]}, {"b": ["y", "x"], "c": 2}, EXACT).differences
    assert [json.loads(json.dumps(one.as_json())) for one in differences] == [
        {"kind": "removed", "json_path": "$.a", "a": 1},
        {"kind": "moved", "json_path": "$.b[0]", "json_path_b": "$.b[1]"},
        {"kind": "added", "json_path": "$.c", "b": 2},
    ]

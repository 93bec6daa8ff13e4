"""Places that a path finds in a value: the same ones as a look at each place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from inspector.compare.json_places import GlobStep, PathStep, parse_glob, places

VALUES = st.recursive(
    st.integers(0, 3),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(["a", "b", "ab", "0"]), inner, max_size=3)
    ),
    max_leaves=20,
)
GLOBS = st.one_of(
    st.lists(
        st.sampled_from([".a", ".b", ".*", "[0]", "[1]", "[*]", ".a*", "..a", "..[0]", "..*", '["ab"]']), max_size=4
    ).map(lambda steps: f"${''.join(steps)}"),
    st.lists(st.sampled_from(["/a", "/0", "/1", "/*", "/**/a", "/**/0"]), max_size=4).map("".join),
)


def everything(value: Any, keys: tuple[PathStep, ...] = ()) -> Iterator[tuple[tuple[PathStep, ...], Any]]:
    yield keys, value
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from everything(child, (*keys, key))


def fits(keys: tuple[PathStep, ...], steps: tuple[GlobStep, ...]) -> bool:
    if not steps:
        return not keys
    if not keys:
        return False
    first = steps[0]
    return (first.matches(keys[0]) and fits(keys[1:], steps[1:])) or (first.any_depth and fits(keys[1:], steps))


@given(VALUES, GLOBS)
def test_the_places_of_a_path_are_all_that_fit_in_order_and_once(value: Any, glob: str) -> None:
    expected = [(keys, part) for keys, part in everything(value) if fits(keys, parse_glob(glob))]
    assert [(tuple(path.steps()), part) for path, part in places(value, glob)] == expected


def test_a_place_in_a_long_list_is_looked_up() -> None:
    class Long(list[int]):
        def __iter__(self) -> Iterator[int]:
            raise AssertionError("each item is looked at")

    assert [part for _, part in places({"a": Long(range(1000))}, "$.a[999]")] == [999]

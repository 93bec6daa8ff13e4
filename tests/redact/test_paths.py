"""JSON paths match the expected values."""

from __future__ import annotations

import pytest

from inspector.errors import UsageError
from inspector.redact.rules import START, RulePath


def reaches(path: RulePath, place: list[str | int]) -> bool:
    """Whether a path matches a place of a document."""
    reached = START
    for key in place:
        reached = path.step(reached, key)
    return path.ends(reached)


@pytest.mark.parametrize(
    ("path", "place", "means"),
    [
        ("$.a", ["a"], True),
        ("$.a", ["b"], False),
        ("$.a", ["a", "b"], False),
        ("$.a.b", ["a", "b"], True),
        ("$['a b'].c", ["a b", "c"], True),
        ('$["it\'s"]', ["it's"], True),
        ("$['it\\'s']", ["it's"], True),
        ("$.a[0]", ["a", 0], True),
        ("$.a[0]", ["a", 1], False),
        ("$.a[0]", ["a", "0"], False),
        ("$.a[*].b", ["a", 7, "b"], True),
        ("$.a.*", ["a", "x"], True),
        ("$.*.b", ["a", "b"], True),
        ("$..b", ["b"], True),
        ("$..b", ["a", 3, "c", "b"], True),
        ("$..b", ["a", "b", "c"], False),
        ("$..a.b", ["a", "a", "b"], True),
        ("$..a..b", ["x", "a", "y", "z", "b"], True),
        ("$..a..b", ["x", "y", "z", "b"], False),
        ("$..*", ["x", 1], True),
        ("$..[1]", ["x", 1], True),
        ("$._meta.x-y", ["_meta", "x-y"], True),
        ("$.*_token", ["access_token"], True),
        ("$.*_token", ["access"], False),
    ],
)
def test_a_path_means_a_place(path: str, place: list[str | int], means: bool) -> None:
    assert reaches(RulePath(path), place) is means


@pytest.mark.parametrize("source", ["a", "$", "$a", "$.", "$.a[", "$.a[x]", "$.a.[0]x", "$['a", "$.a[-1]"])
def test_what_is_not_a_path_is_refused(source: str) -> None:
    with pytest.raises(UsageError):
        RulePath(source)


def test_many_deep_steps_take_no_time() -> None:
    assert not reaches(RulePath("$" + "..a" * 40 + ".b"), ["a"] * 400)

"""The histogram: three digits, bounded size, the values of a sorted list."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from inspector.features.load.histogram import MAX_LENGTH, Histogram

SECONDS = st.floats(0, 3600, allow_nan=False)


def of(values: list[float]) -> Histogram:
    made = Histogram()
    for value in values:
        made.add(value)
    return made


@given(st.lists(SECONDS, min_size=1, max_size=200), st.sampled_from((1, 50, 90, 99, 99.9, 100)))
def test_percentiles_have_three_digits(values: list[float], percent: float) -> None:
    exact = sorted(values)[max(math.ceil(len(values) * percent / 100 - 1e-9), 1) - 1]
    approximate = of(values).percentile(percent)
    assert abs(approximate - exact) <= max(exact / 1000, 1.1e-6)


@given(st.lists(SECONDS, max_size=50), st.lists(SECONDS, max_size=50))
def test_merged_histograms_are_that_of_all_values(first: list[float], second: list[float]) -> None:
    merged, both = of(first), of(first + second)
    merged.merge(of(second))
    assert list(merged.buckets()) == list(both.buckets())
    assert (merged.count, merged.longest) == (both.count, both.longest)


def test_the_size_does_not_grow_with_the_number_of_values() -> None:
    made = Histogram()
    for number in range(200_000):
        made.add((number % 5000) / 1e6, count=10)
    assert made.count == 2_000_000
    assert len(list(made.buckets())) < 4000


def test_values_outside_the_range_count_as_its_ends() -> None:
    made = of([-1.0, 1e9])
    assert made.percentile(50) == 0
    assert made.longest == MAX_LENGTH


def test_names_of_values() -> None:
    made = of([0.001, 0.002, 0.003])
    assert made.value("p50") == 0.002
    assert made.value("max") == 0.003
    assert math.isclose(made.value("mean"), 0.002)
    assert Histogram().value("p99.9") == Histogram().mean == 0


def test_rows_count_each_value_once() -> None:
    assert of([0.001, 0.0021, 0.004, 9.0]).rows([0.001, 0.002, 0.005]) == [1, 0, 3]

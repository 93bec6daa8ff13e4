"""A histogram of times with three significant digits: its size does not depend on the number of values."""

from __future__ import annotations

from collections.abc import Iterator

_DIGITS = 11
"""Bits of a value that are kept: a bucket is at most 1/1024 wide, so three digits are right."""
_EXACT = 1 << _DIGITS
MAX_LENGTH = 24 * 3600.0
"""Seconds; longer times count as this."""
PERCENTILES = ("p50", "p90", "p95", "p99", "p99.9")


class Histogram:
    """Counts of times in buckets of the same relative width (log-linear, as HdrHistogram does it).

    A bucket covers whole microseconds below 2 ms, then at most a thousandth of its value: some 27,000 buckets up to a
    day, of which only those with a value take memory. All times are in seconds.
    """

    __slots__ = ("_buckets", "count", "longest", "total")

    def __init__(self) -> None:
        self._buckets: dict[int, int] = {}
        self.count = 0
        self.total = 0.0
        self.longest = 0.0
        """The longest time, exactly."""

    def add(self, seconds: float, count: int = 1) -> None:
        """Count one time, or `count` equal ones."""
        seconds = min(max(seconds, 0.0), MAX_LENGTH)
        number = _number(round(seconds * 1e6))
        self._buckets[number] = self._buckets.get(number, 0) + count
        self.count += count
        self.total += seconds * count
        self.longest = max(self.longest, seconds)

    def merge(self, other: Histogram) -> None:
        """Count the times of another histogram too."""
        for number, count in other._buckets.items():
            self._buckets[number] = self._buckets.get(number, 0) + count
        self.count += other.count
        self.total += other.total
        self.longest = max(self.longest, other.longest)

    @property
    def mean(self) -> float:
        """The mean; 0 without values."""
        return self.total / self.count if self.count else 0.0

    def percentile(self, percent: float) -> float:
        """Return the smallest time that `percent` of all values do not exceed (nearest rank); 0 without values."""
        rank = self.count * percent / 100
        passed = 0
        for number in sorted(self._buckets):
            passed += self._buckets[number]
            if passed >= rank - 1e-9:
                return min(_upper(number) / 1e6, self.longest)
        return self.longest

    def value(self, name: str) -> float:
        """Return the value of a name: `mean`, `max`, `p50`, `p99.9`."""
        if name == "mean":
            return self.mean
        return self.longest if name == "max" else self.percentile(float(name[1:]))

    def buckets(self) -> Iterator[tuple[float, int]]:
        """Yield the buckets with a value, ascending: the largest time that belongs to it, and its count."""
        for number in sorted(self._buckets):
            yield _upper(number) / 1e6, self._buckets[number]

    def rows(self, limits: list[float]) -> list[int]:
        """Return how many times lie above each limit's predecessor, and do not exceed the limit; ascending limits.

        What exceeds the last limit counts in its row.
        """
        counts = [0] * len(limits)
        at = 0
        for upper, count in self.buckets():
            while at < len(limits) - 1 and upper > limits[at]:
                at += 1
            counts[at] += count
        return counts


def _number(microseconds: int) -> int:
    """Return the number of the bucket; they ascend with the value."""
    shift = max(microseconds.bit_length() - _DIGITS, 0)
    return (shift << _DIGITS) + (microseconds >> shift)


def _upper(number: int) -> int:
    """Return the largest microseconds in a bucket."""
    shift, kept = number >> _DIGITS, number & (_EXACT - 1)
    return ((kept + 1) << shift) - 1

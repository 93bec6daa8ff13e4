"""Parses the values of filter terms: comparisons and ranges of numbers, and patterns for names."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable
from datetime import datetime
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import NamedTuple

from inspector.lazy_pattern import lazy_pattern

HIGHEST = (1 << 63) - 1
LOWEST = -(1 << 63)

_FIGURE = lazy_pattern(r"(\d{1,18})(?:\.(\d{1,9}))?\s?([a-zµ]{0,3})", re.IGNORECASE)
_COUNT = lazy_pattern(r"#?(\d{1,18})")
_CLOCK = lazy_pattern(r"(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,6}))?)?")
_COMPARED = lazy_pattern(r"(>=|<=|>|<|=)\s?(.+)", re.DOTALL)
_RANGE = lazy_pattern(r"(.+?)(?:\.\.|-)(.+)", re.DOTALL)

_MICROSECONDS = {
    "us": 1,
    "µs": 1,
    "": 1000,
    "ms": 1000,
    "s": 10**6,
    "sec": 10**6,
    "m": 60 * 10**6,
    "min": 60 * 10**6,
    "h": 3600 * 10**6,
    "d": 86400 * 10**6,
}
_BYTES = {
    "": 1,
    "b": 1,
    "k": 10**3,
    "kb": 10**3,
    "m": 10**6,
    "mb": 10**6,
    "g": 10**9,
    "gb": 10**9,
    "kib": 1 << 10,
    "mib": 1 << 20,
    "gib": 1 << 30,
}


class BadValue(ValueError):
    """The value of a term is invalid; the text says what would be valid."""


class Figure(NamedTuple):
    """A parsed number: its amount in base units, and the amount of one step of its last digit."""

    value: Decimal
    step: Decimal
    clock: bool = False
    """A time of day: microseconds since midnight; other times count from the start."""


class NumberSpan(NamedTuple):
    """Whole numbers from `low` to `high`, both included."""

    low: int
    high: int
    clock: bool = False

    def since(self, midnight: int) -> NumberSpan:
        """Return the span in microseconds since the start; `midnight` is that of the recording's first day."""
        if not self.clock:
            return self
        return NumberSpan(
            self.low if self.low == LOWEST else self.low + midnight,
            self.high if self.high == HIGHEST else self.high + midnight,
        )


def count(text: str) -> Figure:
    """Return a number of an event: `1204`, `1,204` or `#1204`."""
    match = _COUNT.fullmatch(text.replace(",", ""))
    if match is None:
        raise BadValue("write numbers as 100, >100 or 100-200")
    return Figure(Decimal(match[1]), Decimal(1))


def octets(text: str) -> Figure:
    """Parse a size in bytes: `300`, `1k`, `1.2MB`; units are powers of 1000, `kib` of 1024."""
    return _figure(text, _BYTES, "write sizes as >1k, <300 or 10k-1M")


def microseconds(text: str) -> Figure:
    """Parse a duration in microseconds: `500ms`, `1.5s`, `2m`; without a unit, milliseconds."""
    return _figure(text, _MICROSECONDS, "write times as >500ms, <2s or 10ms-50ms")


def moment(text: str) -> Figure:
    """Parse a time since the start (`2s`), or a time of day (`13:00:09.8`)."""
    match = _CLOCK.fullmatch(text)
    if match is None:
        return _figure(text, _MICROSECONDS, "write times as >2s since the start, or >13:00:09 as time of day")
    hours, minutes, seconds, fraction = match.groups()
    if int(hours) > 24 or int(minutes) > 59 or int(seconds or 0) > 59:
        raise BadValue("not a valid time of day")
    whole = (int(hours) * 3600 + int(minutes) * 60 + int(seconds or 0)) * 10**6
    step = 60 * 10**6 if seconds is None else 10 ** (6 - len(fraction or ""))
    return Figure(Decimal(whole + int((fraction or "").ljust(6, "0"))), Decimal(step), clock=True)


def _figure(text: str, units: dict[str, int], advice: str) -> Figure:
    match = _FIGURE.fullmatch(text)
    unit = units.get(match[3].lower()) if match is not None else None
    if match is None or unit is None:
        raise BadValue(advice)
    digits, fraction = match[1], match[2] or ""
    return Figure(Decimal(f"{digits}.{fraction or 0}") * unit, Decimal(unit) / 10 ** len(fraction))


def span(text: str, read: Callable[[str], Figure]) -> NumberSpan:
    """Parse `>x`, `>=x`, `<x`, `<=x`, `x-y`, `x..y` or `x`; a bare value means all that is displayed as that value.

    So `12ms` is 11.5 to 12.4999 ms, and `n:7` is 7. Raises `BadValue`.
    """
    compared = _COMPARED.fullmatch(text)
    if compared is not None:
        sign, figure = compared[1], read(compared[2].strip())
        if sign == ">":
            return NumberSpan(_floor(figure.value) + 1, HIGHEST, figure.clock)
        if sign == ">=":
            return NumberSpan(_ceiling(figure.value), HIGHEST, figure.clock)
        if sign == "<":
            return NumberSpan(LOWEST, _ceiling(figure.value) - 1, figure.clock)
        if sign == "<=":
            return NumberSpan(LOWEST, _floor(figure.value), figure.clock)
        return _shown_as(figure)
    pair = _RANGE.fullmatch(text)
    if pair is not None:
        low, high = _both(pair[1].strip(), pair[2].strip(), read)
        if low.clock != high.clock:
            raise BadValue("both ends must be times of day, or both times since the start")
        return NumberSpan(_ceiling(low.value), _floor(high.value), low.clock)
    return _shown_as(read(text))


def _both(low: str, high: str, read: Callable[[str], Figure]) -> tuple[Figure, Figure]:
    """Parse the two ends of a range; `10-50ms` means 10 ms."""
    unit = re.search(r"[a-zµ]+$", high, re.IGNORECASE)
    if unit is not None and low[-1:].isdigit() and ":" not in low:
        low += unit[0]
    return read(low), read(high)


def _shown_as(figure: Figure) -> NumberSpan:
    if figure.step == 1:
        return NumberSpan(_ceiling(figure.value), _floor(figure.value), figure.clock)
    half = figure.step / 2
    return NumberSpan(_ceiling(figure.value - half), _ceiling(figure.value + half) - 1, figure.clock)


def _floor(value: Decimal) -> int:
    return int(value.to_integral_value(ROUND_FLOOR))


def _ceiling(value: Decimal) -> int:
    return int(value.to_integral_value(ROUND_CEILING))


def midnight(began: datetime) -> int:
    """Return the microseconds from a recording's start to the midnight before it; never positive."""
    return -(((began.hour * 60 + began.minute) * 60 + began.second) * 10**6 + began.microsecond)


class NamePattern:
    """A pattern for names: `*` matches any text, `?` one character; case is ignored.

    Without either of them a pattern also matches names with it as whole steps of their path: `tools` matches
    `tools/call`, `progress` matches `notifications/progress`.
    """

    def __init__(self, text: str, *, path: bool = True) -> None:
        self.text = text
        self._path = path and not set("*?") & set(text)
        # Square brackets are not wildcards here: names may contain them.
        self._regex = re.compile(fnmatch.translate(text.lower().replace("[", "[[]")))

    def matches(self, name: str) -> bool:
        """Whether a name matches."""
        name = name.lower()
        if self._regex.match(name) is not None:
            return True
        return self._path and f"/{self.text.lower()}/" in f"/{name}/"

    @property
    def literal(self) -> str:
        """The longest part without wildcards: every match contains it."""
        return max(re.split(r"[*?]", self.text), key=len)

"""Positions in a recording as a user types them: a time, an event number, an end."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from inspector.errors import UsageError
from inspector.journal.journal import Journal

Unit = Literal["time", "number", "end"]

_NUMBER = re.compile(r"([+-]?)#?(\d{1,18})")
_CLOCK = re.compile(r"([+-]?)(?:(\d{1,6}):)?(\d{1,6}):(\d{1,2}(?:\.\d{0,9})?)")
_SECONDS = re.compile(r"([+-]?)(\d{1,12}(?:\.\d{0,9})?)\s*(us|µs|ms|s|min|m|h)?")
"""`_NUMBER` matches a whole number without a unit first."""
_OF_DAY = re.compile(r"at\s+(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d{0,6})?))?")
_UNITS = {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True, slots=True)
class TypedPosition:
    """A position that a user typed.

    `value` is microseconds since the start for a time, the event number for a number (if `relative`, from the current
    one), and 0 or 1 for the start and the end.
    """

    unit: Unit
    value: int
    relative: bool = False


def read(text: str, journal: Journal) -> TypedPosition:
    """Parse a position. Raises `UsageError`.

    `01:12.3` and `1:02:03` are times since the start, `90s`, `1.5min` too; with `+` or `-` they are relative. `1204` or
    `#1204` is an event number, `+10` ten further; `at 13:05:01` is a time of day; `start`, `end`.
    """
    normalized = text.strip().lower()
    if normalized in ("start", "end"):
        return TypedPosition("end", int(normalized == "end"))
    if match := _NUMBER.fullmatch(normalized):
        sign, digits = match.groups()
        return TypedPosition("number", -int(digits) if sign == "-" else int(digits), bool(sign))
    if match := _CLOCK.fullmatch(normalized):
        sign, hours, minutes, seconds = match.groups()
        return _time(sign, (int(hours or 0) * 60 + int(minutes)) * 60 + float(seconds))
    if match := _SECONDS.fullmatch(normalized):
        sign, figure, unit = match.groups()
        return _time(sign, float(figure) * _UNITS[unit or "s"])
    if match := _OF_DAY.fullmatch(normalized):
        return TypedPosition("time", _of_day(journal, match))
    raise UsageError(
        f"Invalid position “{text.strip()[:60]}”.",
        hint="Write 01:12.3, +30s, -2min, at 13:05, 1204, start or end.",
    )


def beyond(place: TypedPosition, journal: Journal) -> str:
    """Return a notice for a position after the end, as far as the recording has been read; otherwise empty."""
    index = journal.index
    if place.relative or not index.count:
        return ""
    if place.unit == "number" and place.value > index.count:
        return f"The last event is {index.count:,}: going there."
    if place.unit == "time" and place.value > index.time(index.count):
        return f"The recording lasts {index.time(index.count) / 1_000_000:,.1f} s: going to its end."
    return ""


def _time(sign: str, seconds: float) -> TypedPosition:
    us = round(seconds * 1_000_000)
    return TypedPosition("time", -us if sign == "-" else us, bool(sign))


def _of_day(journal: Journal, match: re.Match[str]) -> int:
    """Return a time of day in microseconds since the start: its first occurrence after the recording started."""
    hours, minutes, seconds = int(match[1]), int(match[2]), float(match[3] or 0)
    if hours > 23 or minutes > 59 or seconds >= 60:
        raise UsageError(f"{match[0]} is not a time of day.", hint="Write at 13:05 or at 13:05:01.5.")
    began = journal.clock(0)
    try:
        meant = began.replace(hour=hours, minute=minutes, second=0, microsecond=0) + timedelta(seconds=seconds)
        if meant < began.replace(microsecond=0):
            meant += timedelta(days=1)
    except OverflowError:
        return 0
    return max((meant - began) // timedelta(microseconds=1), 0)

"""Times that others wrote, and lengths of time."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from inspector.lazy_pattern import lazy_pattern

MAX_LENGTH = 64
"""Characters of a time that is read."""
MAX_SECONDS = 1e9
_FIRST = datetime.min.replace(tzinfo=UTC) + timedelta(days=1)
_LAST = datetime.max.replace(tzinfo=UTC) - timedelta(days=1)
_LENGTH = lazy_pattern(r"([0-9]{1,12}(?:\.[0-9]{0,9})?|\.[0-9]{1,9}) ?(ms|s|min|m|h|d|w)?", re.IGNORECASE)
_UNITS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}


def parse_length(text: str) -> float | None:
    """Return the seconds of a length of time such as `30`, `30s`, `500ms`, `2min`, `1h`, `30d`.

    None for other text, and from thirty years.
    """
    match = _LENGTH.fullmatch(text)
    seconds = MAX_SECONDS if match is None else float(match[1]) * _UNITS[(match[2] or "s").lower()]
    return None if seconds >= MAX_SECONDS else seconds


def parse_time(value: object) -> datetime | None:
    """Return the time that an ISO 8601 text names, with its zone; None for anything else. Without a zone it is UTC.

    Every time exists in every zone, so `astimezone` does not fail: one of the first or last day that Python knows is
    moved by at most two days.
    """
    if type(value) is not str or len(value) > MAX_LENGTH:
        return None
    try:
        parsed = datetime.fromisoformat(value)
    except ValueError:
        return None
    return min(max(parsed if parsed.tzinfo is not None else parsed.replace(tzinfo=UTC), _FIRST), _LAST)

"""Times that others wrote."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

MAX_LENGTH = 64
"""Characters of a time that is read."""
_FIRST = datetime.min.replace(tzinfo=UTC) + timedelta(days=1)
_LAST = datetime.max.replace(tzinfo=UTC) - timedelta(days=1)


def parse_time(value: object) -> datetime | None:
    """Return the time that an ISO 8601 text names, with its zone; None for anything else. Without a zone it is UTC.

    Every time exists in every zone, so `astimezone` does not fail: one of the first or last day that Python knows is
    moved by at most two days.
    """
    if type(value) is not str or len(value) > MAX_LENGTH:
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    return min(max(found if found.tzinfo is not None else found.replace(tzinfo=UTC), _FIRST), _LAST)

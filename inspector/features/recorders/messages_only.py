"""Names what a format that contains messages only omits."""

from __future__ import annotations

from inspector.formats.selection import Selection
from inspector.journal.format import Kind

MESSAGES = (Kind.RPC, Kind.INVALID)


def not_kept(chosen: Selection) -> list[str]:
    """Return the sentence about events that a format of messages only does not contain."""
    amount = sum(1 for _ in chosen.of(Kind.HTTP, Kind.SSE, Kind.LIFE, Kind.AUTH, Kind.NOTE, Kind.STDERR))
    text = f"This format contains messages only: {amount:,} other events (stderr, HTTP heads, life events) are omitted."
    return [text] if amount else []

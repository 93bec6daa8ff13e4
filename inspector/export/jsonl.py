"""JSON Lines: the selected messages only, one per line, unchanged if every parser accepts them.

`exact.portable` corrects messages that some parsers refuse; messages that are not JSON are omitted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO

from inspector.export.json_edits import portable
from inspector.export.selection import Selection, left_out
from inspector.journal.format import Kind
from inspector.journal.journal import Journal


def write(journal: Journal, out: IO[str], numbers: Iterable[int] | None) -> list[str]:
    """Write the messages to `out`, one at a time."""
    missing = 0
    for n in Selection(journal, numbers).of(Kind.RPC, Kind.INVALID):
        event = next(journal.events(n, n))
        line = portable(event.text) if event.kind == Kind.RPC else None
        if line is None:
            missing += 1
        else:
            out.write(f"{line}\n")
    return left_out(missing, "message that is not JSON", "messages that are not JSON")

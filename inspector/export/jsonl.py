"""JSON Lines: the chosen messages and nothing else, one a line, as they were written wherever every reader takes that.

What no JSON reader would take is mended as `exact.portable` does it; what is no JSON is left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO

from inspector.export.chosen import Chosen, left_out
from inspector.export.exact import portable
from inspector.journal.format import Kind
from inspector.journal.journal import Journal


def write(journal: Journal, out: IO[str], numbers: Iterable[int] | None) -> list[str]:
    """Write the messages to `out`, one at a time."""
    missing = 0
    for n in Chosen(journal, numbers).of(Kind.RPC, Kind.INVALID):
        event = next(journal.events(n, n))
        line = portable(event.text) if event.kind == Kind.RPC else None
        if line is None:
            missing += 1
        else:
            out.write(f"{line}\n")
    return left_out(missing, "message that is no JSON", "messages that are no JSON")

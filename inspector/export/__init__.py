"""Recordings in other formats: one module per format, loaded when it is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, NamedTuple

from inspector.errors import UsageError
from inspector.journal.journal import Journal


class Format(NamedTuple):
    """One format. Its module has `write(journal, out, numbers)`; without numbers it writes what it thinks best."""

    summary: str
    module: str
    suffix: str
    """How the name of such a file ends."""


FORMATS = {
    "md": Format("a transcript to read, for a bug report", "markdown", ".md"),
    "json": Format("one JSON document with every event", "json_export", ".json"),
}
"""The formats by name."""


def export(journal: Journal, format: str, out: IO[str], numbers: Iterable[int] | None = None) -> None:
    """Write what `journal` has indexed to `out`, event by event; `numbers` (from 1) chooses events, in their order.

    Works on live, unfinished and torn recordings alike. Without `numbers` a transcript is short about what was asked
    until a connection stood; what is chosen is written in full. Raises `UsageError` for a format that does not exist.
    """
    found = FORMATS.get(format)
    if found is None:
        raise UsageError(f"There is no format “{format[:40]}”.", hint=f"Formats are {', '.join(FORMATS)}.")
    from importlib import import_module

    chosen = None if numbers is None else (n for n in numbers if 0 < n <= len(journal))
    import_module(f"inspector.export.{found.module}").write(journal, out, chosen)

"""Escapes foreign text for a Markdown document: as code that it cannot end, without invisible characters."""

from __future__ import annotations

import re

from inspector.text import safe

SPAN = 200
"""Characters of a name or other short text."""

_TICKS = re.compile("`+")


def fence(text: str, language: str = "") -> str:
    """Return a fenced block (CommonMark section 4.5), with its line feed."""
    shown = safe(text, multiline=True)
    longest = max((len(run) for run in _TICKS.findall(shown)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{shown}\n{ticks}\n"


def span(value: object, limit: int = SPAN) -> str:
    """Return code within a line (CommonMark section 6.1)."""
    shown = safe(value, limit)
    ticks = "`" * (max((len(run) for run in _TICKS.findall(shown)), default=0) + 1)
    padded = f" {shown} " if not shown.strip() or shown[0] in "` " or shown[-1] in "` " else shown
    return f"{ticks}{padded}{ticks}"

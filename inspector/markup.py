"""Escapes foreign text for a Markdown document: as code that it cannot end, without invisible characters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from re import Match

from inspector.text import safe

SPAN = 200
"""Characters of a name or other short text."""

_PART = 1 << 20
"""Characters of a long line that are written at once."""
_NEAR = 1 << 16
"""Characters in which a place to cut it is searched; without one, it is written at once."""

_TICKS = re.compile("`+")


def fence(text: str, language: str = "") -> str:
    """Return a fenced block (CommonMark section 4.5), with its line feed."""
    content = safe(text, multiline=True)
    longest = max((len(run) for run in _TICKS.findall(content)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{content}\n{ticks}\n"


def fenced(text: str, lines: Iterable[str], language: str = "") -> Iterator[str]:
    """Yield a fenced block in parts of about `_PART` characters.

    `lines` are those of `text`, in any layout that has no longer run of backticks.
    """
    longest = max((len(run) for run in map(Match[str].group, _TICKS.finditer(text))), default=0)
    ticks = "`" * max(3, longest + 1)
    yield f"{ticks}{language}\n"
    for line in lines:
        at = 0
        while len(line) - at > _PART:
            end = _cut(line, at + _PART)
            yield safe(line[at:end], multiline=True)
            at = end
        yield safe(line[at:] if at else line, multiline=True) + "\n"
    yield f"{ticks}\n"


def _cut(text: str, at: int) -> int:
    """Return a place near `at` between two letters or digits, of which none is changed because of the other."""
    for place in range(at, min(at + _NEAR, len(text))):
        if text[place - 1 : place + 1].isascii() and text[place - 1 : place + 1].isalnum():
            return place
    return len(text)


def span(value: object, limit: int = SPAN) -> str:
    """Return code within a line (CommonMark section 6.1)."""
    content = safe(value, limit)
    ticks = "`" * (max((len(run) for run in _TICKS.findall(content)), default=0) + 1)
    padded = f" {content} " if not content.strip() or content[0] in "` " or content[-1] in "` " else content
    return f"{ticks}{padded}{ticks}"

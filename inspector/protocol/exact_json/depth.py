"""Parses JSON that is nested more deeply than a parser allows, by removing the deepest values.

One schema of one tool may be nested like this; the other tools of the list are still useful. The removed part is valid
JSON, otherwise the whole is invalid: it is parsed band by band, from the inside out. The work is linear and bounded.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice
from typing import Any

from inspector.lazy_pattern import lazy_pattern

MAX_DEPTH = 256
"""Levels that are kept of a text that is nested too deeply to parse. A text with fewer levels is never changed."""
LEFT_OUT = f"(nested deeper than {MAX_DEPTH} levels: left out)"
"""Replaces a value that is nested too deeply."""

MAX_MARKS = 300_000
"""Brackets and strings of a text above which it is refused, because it would block everything else."""

# A string that is not closed reaches to the end, so that each character is read once.
_MARK = lazy_pattern(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)


MAX_READ = 900
"""Levels that are parsed completely. Python 3.11 parses about a thousand, Python 3.13 ten thousand: this limit is the
same for all, and below that of code which recurses into a value."""


class TooDeep(ValueError):
    """The text cannot be parsed this way either."""


def shallow(text: str, decode: Callable[[str], Any]) -> str:
    """Return the text with `LEFT_OUT` instead of every value below level `MAX_DEPTH`.

    `decode` parses JSON that is nested no deeper than that, and raises ValueError for invalid JSON. Raises that, or
    `TooDeep`.
    """
    if 2 * _containers(text) + text.count('"') // 2 > MAX_MARKS:
        raise TooDeep
    depth = 0
    begins: list[int] = [0]
    pieces: list[list[str]] = [[]]
    done: list[int] = [0]
    for mark in _MARK.finditer(text):
        at = mark.start()
        if text[at] == '"':
            continue
        if text[at] in "[{":
            if depth and depth % MAX_DEPTH == 0:
                begins.append(at)
                pieces.append([])
                done.append(at)
            depth += 1
            continue
        depth -= 1
        if depth > 0 and depth % MAX_DEPTH == 0:
            begin, end = begins.pop(), mark.end()
            decode("".join(pieces.pop()) + text[done.pop() : end])
            pieces[-1] += (text[done[-1] : begin], f'"{LEFT_OUT}"')
            done[-1] = end
        elif depth < 0:
            raise TooDeep
    if len(begins) > 1:
        raise TooDeep
    return "".join(pieces[0]) + text[done[0] :]


def is_too_deep(text: str) -> bool:
    """Whether a JSON text is nested more deeply than values are parsed completely."""
    return _containers(text) > MAX_READ and depth_of(text) > MAX_READ


def depth_of(text: str) -> int:
    """Return the nesting depth of a JSON text, by its first `MAX_MARKS` brackets and strings.

    It is 0 if the text cannot be too deep.
    """
    depth = deepest = 0
    if _containers(text) <= MAX_DEPTH:
        return 0
    for mark in islice(_MARK.finditer(text), MAX_MARKS):
        sign = text[mark.start()]
        if sign in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif sign != '"':
            depth -= 1
    return deepest


def _containers(text: str) -> int:
    return text.count("[") + text.count("{")

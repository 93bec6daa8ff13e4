"""JSON nested more deeply than a parser goes: read all the same, what lies too deep being left out.

One schema of one tool may be nested so; the other tools of the list are worth having. What is left out is JSON too, or
the whole is not: it is read band by band, from the inside out. The work is linear and its amount bounded.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice
from typing import Any

DEEPEST = 256
"""Levels that are kept of a text that is nested too deeply to be parsed. One that is nested less is never changed."""
LEFT_OUT = f"(nested deeper than {DEEPEST} levels: left out)"
"""What stands in place of a value that lies too deep."""

MOST_MARKS = 300_000
"""Brackets and strings of a text above which it is given up, for it would hold up everything else."""

_MARK = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}]', re.DOTALL)


DEEPEST_READ = 900
"""Levels that are read whole. Python 3.11 reads about a thousand, Python 3.13 ten thousand: this is one limit for all,
below that of code which goes into a value level by level."""


class TooDeep(ValueError):
    """The text cannot be read in this way either."""


def shallow(text: str, decode: Callable[[str], Any]) -> str:
    """The text with `LEFT_OUT` in place of every value below level `DEEPEST`.

    `decode` reads JSON that is nested no deeper than that, and raises ValueError where it is none. Raises that, or
    `TooDeep`.
    """
    if 2 * _containers(text) + text.count('"') // 2 > MOST_MARKS:
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
            if depth and depth % DEEPEST == 0:
                begins.append(at)
                pieces.append([])
                done.append(at)
            depth += 1
            continue
        depth -= 1
        if depth > 0 and depth % DEEPEST == 0:
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
    """Whether a JSON text is nested more deeply than values are read whole."""
    return _containers(text) > DEEPEST_READ and depth_of(text) > DEEPEST_READ


def depth_of(text: str) -> int:
    """How deep a JSON text is nested, by its first `MOST_MARKS` brackets and strings; 0 where it cannot be too deep."""
    depth = deepest = 0
    if _containers(text) <= DEEPEST:
        return 0
    for mark in islice(_MARK.finditer(text), MOST_MARKS):
        sign = text[mark.start()]
        if sign in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif sign != '"':
            depth -= 1
    return deepest


def _containers(text: str) -> int:
    return text.count("[") + text.count("{")

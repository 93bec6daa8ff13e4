"""Replacements in a text, and their mapping from a string literal to the text around it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from inspector.protocol.exact_json.tokens import unquote

_ESCAPE = re.compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL)


class FoundSecret(NamedTuple):
    """A secret: its rule, its text, its place."""

    rule: str
    secret: str
    where: str


class Edit(NamedTuple):
    """Replaces characters `start` to `end` of a text by `text`, because of the secrets found there."""

    start: int
    end: int
    text: str
    found: tuple[FoundSecret, ...]


def merged(edits: Iterable[Edit]) -> list[Edit]:
    """Return the edits in order, without overlaps: the earlier one stays, of two with one start the longer."""
    kept: list[Edit] = []
    for edit in sorted(edits, key=lambda edit: (edit.start, -edit.end)):
        if not kept or edit.start >= kept[-1].end:
            kept.append(edit)
    return kept


def applied(text: str, edits: Sequence[Edit]) -> str:
    """Return the text with ordered edits that do not overlap."""
    parts: list[str] = []
    at = 0
    for edit in edits:
        parts += (text[at : edit.start], edit.text)
        at = edit.end
    return "".join(parts) + text[at:] if edits else text


def decoded(literal: str) -> str:
    """Return the value of a string literal; for an invalid escape, the text between its quotes."""
    return unquote(literal)


def outward(literal: str, value: str, edits: Sequence[Edit], offset: int) -> list[Edit]:
    """Map edits of the value of a string literal to the text in which the literal starts at `offset`.

    Everything else keeps its spelling.
    """
    if not edits:
        return []
    if len(value) == len(literal) - 2:  # nothing is escaped, or an escape is invalid and the text is used as it is
        shift = offset + 1
        return [Edit(edit.start + shift, edit.end + shift, _inside(edit.text), edit.found) for edit in edits]
    places = sorted({place for edit in edits for place in (edit.start, edit.end)})
    at: dict[int, int] = {}
    waiting = iter(places)
    wanted = next(waiting)
    raw, plain = 1, 0  # positions in the literal and in its value
    for escape in _ESCAPE.finditer(literal, 1, len(literal) - 1):
        run = escape.start() - raw
        while wanted is not None and wanted <= plain + run:
            at[wanted] = raw + wanted - plain
            wanted = next(waiting, -1)
            if wanted < 0:
                break
        if wanted < 0:
            break
        raw, plain = escape.end(), plain + run + 1
    while wanted >= 0:
        at[wanted] = raw + wanted - plain
        wanted = next(waiting, -1)
    return [Edit(offset + at[edit.start], offset + at[edit.end], _inside(edit.text), edit.found) for edit in edits]


def _inside(text: str) -> str:
    """Return a text escaped for a string literal."""
    return json.dumps(text, ensure_ascii=False)[1:-1]

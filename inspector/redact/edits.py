"""Replacements in a text, and how they are carried out of a string literal into the text around it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from inspector.protocol.jsontokens import unquote

_ESCAPE = re.compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL)


class Found(NamedTuple):
    """A secret: by which rule, its text, where it stands."""

    rule: str
    secret: str
    where: str


class Edit(NamedTuple):
    """Characters `start` to `end` of a text give way to `text`, because of what was found in them."""

    start: int
    end: int
    text: str
    found: tuple[Found, ...]


def merged(edits: Iterable[Edit]) -> list[Edit]:
    """The edits in order, without those that overlap one before them: of two the earlier, then the longer one stays."""
    kept: list[Edit] = []
    for edit in sorted(edits, key=lambda edit: (edit.start, -edit.end)):
        if not kept or edit.start >= kept[-1].end:
            kept.append(edit)
    return kept


def applied(text: str, edits: Sequence[Edit]) -> str:
    """The text with edits that are in order and apart from each other."""
    parts: list[str] = []
    at = 0
    for edit in edits:
        parts += (text[at : edit.start], edit.text)
        at = edit.end
    return "".join(parts) + text[at:] if edits else text


def decoded(literal: str) -> str:
    """The value of a string literal; where an escape in it is wrong, the text between its quotes."""
    return unquote(literal)


def outward(literal: str, value: str, edits: Sequence[Edit], offset: int) -> list[Edit]:
    """Edits of the value of a string literal as edits of the text in which the literal begins at `offset`.

    Everything beside them stays as it was spelled.
    """
    if not edits:
        return []
    if len(value) == len(literal) - 2:  # nothing in it is escaped, or an escape is wrong and it is taken as it stands
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
    """A text as it stands inside a string literal."""
    return json.dumps(text, ensure_ascii=False)[1:-1]

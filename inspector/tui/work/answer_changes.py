"""The differences between two answers of the same call."""

from __future__ import annotations

from inspector.compare.values import Difference, compare
from inspector.errors import ServerError
from inspector.journal.journal import Journal
from inspector.protocol.forms.values import json_of
from inspector.text import quantity
from inspector.tui.themes import signs_now
from inspector.tui.work.outcome import ShownOutcome

DIFFERENCES = 5
"""Differences that are named; the others are counted."""
_VALUE = 40
"""Characters that are shown of a value."""
_BEFORE = 12
"""Characters that are shown before the first difference of two long values."""


def changes_since(before: ShownOutcome, answer: ShownOutcome, journal: Journal) -> list[str]:
    """Return the first differences between two answers, a line each. Reads large answers again."""
    one, other = before.outcome.error, answer.outcome.error
    if one is not None or other is not None:
        texts = [error.message if error is not None else "a result" for error in (one, other)]
        same = isinstance(one, ServerError) and isinstance(other, ServerError) and one.rpc_code == other.rpc_code
        return [] if same or texts[0] == texts[1] else [f"before: {texts[0]}", f"now: {texts[1]}"]
    return difference_texts(before.value(journal), answer.value(journal))


def difference_texts(a: object, b: object) -> list[str]:
    """Return the first differences between two results, a line each."""
    differences = compare(a, b).differences
    texts = [difference_text(difference) for difference in differences[:DIFFERENCES]]
    if len(differences) > DIFFERENCES:
        texts.append(f"and {quantity(len(differences) - DIFFERENCES, 'more difference')}")
    return texts


def difference_text(difference: Difference) -> str:
    """Return one difference in a line: its path and both values, cut to the part in which they differ."""
    before, after = _cut(json_of(difference.a), json_of(difference.b))
    if difference.kind == "added":
        return f"{difference.path} is new: {after}"
    if difference.kind == "removed":
        return f"{difference.path} is gone; it was {before}"
    if difference.kind == "moved":
        return f"{difference.path} moved to {difference.path_b}"
    return f"{difference.path} {before} {signs_now().sent} {after}"


def _cut(before: str, after: str) -> tuple[str, str]:
    """Two texts, each cut to the part in which they differ first."""
    pairs = enumerate(zip(before, after, strict=False))
    same = next((at for at, (one, other) in pairs if one != other), min(len(before), len(after)))
    start = same - _BEFORE if same > _VALUE - _BEFORE else 0
    cut = signs_now().cut

    def part(text: str) -> str:
        head = cut if start else ""
        return f"{head}{text[start : start + _VALUE]}{cut if len(text) > start + _VALUE else ''}"

    return part(before), part(after)

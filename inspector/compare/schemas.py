"""Compares two JSON Schemas, and decides whether what worked with the old one still works with the new one.

A schema is the set of values that match it. A value that the new schema of an input refuses breaks its callers; a value
that the new schema of an output allows, and the old one did not, breaks its readers. A change is harmless only if that
is proven (`schema_inclusion`); a value that proves the opposite is looked for (`schema_witness`). If neither is found,
the result is `unsure`. Source: JSON Schema 2020-12 and the earlier drafts.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from inspector.compare.digests import exact_digest
from inspector.compare.schema_changes import TOO_MUCH, SetEffect, Side, differences
from inspector.compare.schema_documents import Document
from inspector.compare.schema_forms import Effort
from inspector.compare.schema_texts import compare_texts, new_texts, texts_of
from inspector.errors import SchemaTooLarge

ChangeSeverity = Literal["breaking", "unsure", "changed", "added", "cosmetic"]
"""Worst first. `unsure`: the schemas do not show whether it breaks anything."""
Effect = SetEffect | Literal["default", "words", "cosmetic"]
"""The effect of a change: on the set of values; another default; other texts for people and models; nothing."""

_SEVERITY: dict[Effect, tuple[ChangeSeverity, ChangeSeverity]] = {
    "narrower": ("breaking", "changed"),
    "wider": ("changed", "breaking"),
    "both": ("breaking", "breaking"),
    "unsure": ("unsure", "unsure"),
    "added": ("added", "added"),
    "removed": ("breaking", "breaking"),
    "default": ("changed", "cosmetic"),
    "words": ("changed", "changed"),
    "cosmetic": ("cosmetic", "cosmetic"),
}
"""What an effect means for a client of the earlier version: in an input, in an output."""


class SchemaChange(NamedTuple):
    """One change. Names in `place` and `what` are the server's text."""

    place: str
    """The place in the data: `filters[].name`; empty for the whole."""
    effect: Effect
    severity: ChangeSeverity
    what: str
    """The change as a phrase: `allows null too`."""
    a: Any = None
    b: Any = None
    """The values before and after, if they tell more than the phrase."""
    witness: tuple[Any, ...] = ()
    """The value that proves it, as the only item: all arguments, or a whole output. The smallest that was found."""
    new: tuple[Any, ...] = ()
    """Texts that came with it."""


MAX_STEPS = 3_000_000
"""Steps of one comparison of many schemas."""


def compare_schemas(a: Any, b: Any, side: Side, effort: Effort | None = None) -> list[SchemaChange]:
    """Return the changes from schema `a` to schema `b`, texts first. Never raises, for any values.

    Comparisons that share an `effort` take at most its steps together; then the result is `unsure`.
    """
    if exact_digest(a) == exact_digest(b):
        return []
    old, new = Document(a), Document(b)
    try:
        comparable = type(a) in (dict, bool) and type(b) in (dict, bool) and old.size + new.size >= 0
        what = "is not a schema"
    except SchemaTooLarge:
        comparable, what = False, TOO_MUCH
    if not comparable:
        return [SchemaChange("", "unsure", "unsure", what, a, b)]
    before, after = texts_of(old), texts_of(new)
    fresh = [place for place in after if place not in before]
    sets: list[SchemaChange] = []
    for one in differences(old, new, side, effort or Effort(MAX_STEPS)):
        inside = [place for place in fresh if one.came and _is_inside(place, one.place)]
        fresh = [place for place in fresh if place not in inside]
        texts = (*inside, *(list(after[place].values()) for place in inside))
        sets.append(
            SchemaChange(one.place, one.effect, _severity(one.effect, side), one.what, one.a, one.b, one.witness, texts)
        )
    found = [
        SchemaChange(place, effect, _severity(effect, side), what, one, other, new=(other,) if came else ())
        for place, effect, what, one, other, came in (*compare_texts(before, after), *new_texts(before, after, fresh))
    ]
    return list({change[:4]: change for change in reversed((*found, *sets))}.values())[::-1]


def _severity(effect: Effect, side: Side) -> ChangeSeverity:
    return _SEVERITY[effect][side == "output"]


def _is_inside(place: str, around: str) -> bool:
    return place == around or (bool(around) and place.startswith(tuple(around + char for char in ".[| ")))

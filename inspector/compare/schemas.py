"""Compares the rest of two JSON Schemas: texts for people and models, defaults, unknown keywords."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple

from inspector.compare.json_values import exact_digest
from inspector.compare.schema_changes import TOO_MUCH, SetEffect, Side, differences
from inspector.compare.schema_documents import KNOWN, REFERENCES, Document, label_of
from inspector.compare.schema_forms import Effort
from inspector.errors import SchemaTooLarge

WORDS = ("title", "description", "examples", "$comment")
"""Texts for people and models."""
MARKS = ("deprecated", "readOnly", "writeOnly")
MAX_PLACES = 10_000
"""Schemas whose texts are read."""
MAX_DEPTH = 60
"""Levels that are read."""

_MAPS = {"properties": "{}.{}", "patternProperties": "{}./{}/", "dependentSchemas": "{} (with {})"}
_LISTS = {"anyOf": "{}|{}", "oneOf": "{}|{}", "prefixItems": "{}[{}]", "items": "{}[{}]", "allOf": "{}"}
_SINGLE = {
    "additionalProperties": "{}.*",
    "unevaluatedProperties": "{}.*",
    "items": "{}[]",
    "additionalItems": "{}[]",
    "unevaluatedItems": "{}[]",
    **{key: f"{{}} ({key})" for key in ("contains", "propertyNames", "not", "if", "then", "else")},
}
"""The keywords with schemas, and how the places of these are written."""

Texts = dict[str, dict[str, list[Any]]]
"""By place, then by keyword; several where several schemas are for one place."""


class TextChange(NamedTuple):
    """A change of a text; see `SchemaChange`."""

    place: str
    effect: Literal["words", "default", "cosmetic", "unsure"]
    what: str
    a: Any
    b: Any
    is_new: bool


def texts_of(document: Document) -> Texts:
    """Return the texts of a schema by their places in the data; those of unused definitions by their names."""
    texts: Texts = {}
    seen: set[str] = set()
    root = document.raw
    _read(document, texts, seen, root, ("", ""), ())
    for key in ("$defs", "definitions"):
        definitions = root.get(key) if type(root) is dict else None
        for name, raw in definitions.items() if type(definitions) is dict else ():
            if f"/{key}/{name}" not in seen:
                _read(document, texts, seen, raw, (f"/{key}/{name}", f"{key}.{name}"), ())
    return texts


def _read(
    document: Document, by_place: Texts, seen: set[str], raw: Any, at: tuple[str, str], around: tuple[str, ...]
) -> None:
    """Read a schema at `at`, its pointer and its place, inside the schemas with the pointers `around`."""
    pointer, place = at
    if type(raw) is not dict or pointer in around or len(around) > MAX_DEPTH or len(by_place) > MAX_PLACES:
        return
    seen.add(pointer)
    around = (*around, pointer)
    texts = by_place.setdefault(place, {})
    for key, value in raw.items():
        if key not in KNOWN:
            texts.setdefault(key, []).append(value)
    for key in REFERENCES:
        target = document.target(raw[key]) if type(raw.get(key)) is str else None
        if target is not None:
            _read(document, by_place, seen, target[1], (target[0], place), around)
    for step, inner, name in _inside(raw, place):
        _read(document, by_place, seen, inner, (f"{pointer}/{step}", name), around)


def _inside(raw: dict[str, Any], place: str) -> Iterator[tuple[str, Any, str]]:
    """Yield the schemas inside one: the pointer from it, the schema, and its place."""
    for key, value in raw.items():
        if type(value) is dict and key in _MAPS:
            yield from (
                (f"{key}/{name}", one, _MAPS[key].format(place, name).lstrip(".")) for name, one in value.items()
            )
        elif type(value) is list and key in _LISTS:
            labels: dict[str, int] = {}
            for at, one in enumerate(value):
                label = str(at)
                if key in ("anyOf", "oneOf"):
                    label = label_of(
                        {name: part for name, part in one.items() if name != "title"} if type(one) is dict else one
                    )
                    labels[label] = labels.get(label, 0) + 1
                    label += f" {labels[label]}" if labels[label] > 1 else ""
                yield f"{key}/{at}", one, _LISTS[key].format(place, label)
        elif key in _SINGLE:
            yield key, value, _SINGLE[key].format(place).strip().lstrip(".")


def compare_texts(a: Texts, b: Texts) -> Iterator[TextChange]:
    """Yield the changes at the places that both schemas have."""
    for place in a:
        if place in b:
            yield from _compare(place, a[place], b[place])


def new_texts(a: Texts, b: Texts, places: Iterable[str]) -> Iterator[TextChange]:
    """Yield the texts for people and models at places of the later schema, except those that were elsewhere before."""
    known = {exact_digest(value) for texts in a.values() for values in texts.values() for value in values}
    for place in places:
        for key in WORDS:
            new = [value for value in b[place].get(key, ()) if exact_digest(value) not in known]
            if new:
                yield TextChange(place, "words", f"{key} is new", None, _one(new), True)


def _compare(place: str, a: dict[str, list[Any]], b: dict[str, list[Any]]) -> Iterator[TextChange]:
    for key in dict.fromkeys((*WORDS, "default", *MARKS, *a, *b)):
        before, after = ({exact_digest(value): value for value in side.get(key, ())} for side in (a, b))
        if before.keys() == after.keys():
            continue
        if key in MARKS:
            if (True in before.values()) != (True in after.values()):
                yield TextChange(
                    place, "cosmetic", f"is {'now' if True in after.values() else 'no longer'} {key}", None, None, False
                )
            continue
        effect: Literal["words", "default", "unsure"] = (
            "words" if key in WORDS else "default" if key == "default" else "unsure"
        )
        word = "changed" if before and after else "is new" if after else "is gone"
        gone = _one([value for digest, value in before.items() if digest not in after])
        new = _one([value for digest, value in after.items() if digest not in before])
        yield TextChange(place, effect, f"{key[:60]} {word}", gone, new, not before)


def _one(values: list[Any]) -> Any:
    """Return the only value, or several as one."""
    if len(values) > 1 and all(type(value) is str for value in values):
        return "\n".join(values)
    return None if not values else values[0] if len(values) == 1 else values


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
        inside = [place for place in fresh if one.is_new and _is_inside(place, one.place)]
        fresh = [place for place in fresh if place not in inside]
        texts = (*inside, *(list(after[place].values()) for place in inside))
        sets.append(
            SchemaChange(one.place, one.effect, _severity(one.effect, side), one.what, one.a, one.b, one.witness, texts)
        )
    schemas = [
        SchemaChange(place, effect, _severity(effect, side), what, one, other, new=(other,) if is_new else ())
        for place, effect, what, one, other, is_new in (*compare_texts(before, after), *new_texts(before, after, fresh))
    ]
    return list({change[:4]: change for change in reversed((*schemas, *sets))}.values())[::-1]


def _severity(effect: Effect, side: Side) -> ChangeSeverity:
    return _SEVERITY[effect][side == "output"]


def _is_inside(place: str, around: str) -> bool:
    return place == around or (bool(around) and place.startswith(tuple(around + char for char in ".[| ")))

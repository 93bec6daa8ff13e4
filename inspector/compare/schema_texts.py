"""Compares the rest of two JSON Schemas: texts for people and models, defaults, unknown keywords."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple

from inspector.compare.digests import exact_digest
from inspector.compare.schema_documents import KNOWN, REFERENCES, Document, label_of

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
    came: bool


def texts_of(document: Document) -> Texts:
    """Return the texts of a schema by their places in the data; those of unused definitions by their names."""
    found: Texts = {}
    seen: set[str] = set()
    root = document.raw
    _read(document, found, seen, root, ("", ""), ())
    for key in ("$defs", "definitions"):
        definitions = root.get(key) if type(root) is dict else None
        for name, raw in definitions.items() if type(definitions) is dict else ():
            if f"/{key}/{name}" not in seen:
                _read(document, found, seen, raw, (f"/{key}/{name}", f"{key}.{name}"), ())
    return found


def _read(
    document: Document, found: Texts, seen: set[str], raw: Any, at: tuple[str, str], around: tuple[str, ...]
) -> None:
    """Read a schema at `at`, its pointer and its place, inside the schemas with the pointers `around`."""
    pointer, place = at
    if type(raw) is not dict or pointer in around or len(around) > MAX_DEPTH or len(found) > MAX_PLACES:
        return
    seen.add(pointer)
    around = (*around, pointer)
    texts = found.setdefault(place, {})
    for key, value in raw.items():
        if key not in KNOWN:
            texts.setdefault(key, []).append(value)
    for key in REFERENCES:
        target = document.target(raw[key]) if type(raw.get(key)) is str else None
        if target is not None:
            _read(document, found, seen, target[1], (target[0], place), around)
    for step, inner, name in _inside(raw, place):
        _read(document, found, seen, inner, (f"{pointer}/{step}", name), around)


def _inside(raw: dict[str, Any], place: str) -> Iterator[tuple[str, Any, str]]:
    """Return the schemas inside one: the step to it, itself, and its place."""
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
    """Return the changes at the places that both schemas have."""
    for place in a:
        if place in b:
            yield from _compare(place, a[place], b[place])


def new_texts(a: Texts, b: Texts, places: Iterable[str]) -> Iterator[TextChange]:
    """Return the texts for people and models at places of the later schema, except those that were elsewhere before."""
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

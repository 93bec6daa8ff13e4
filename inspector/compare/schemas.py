"""Compares two JSON Schemas, and decides whether values of the old one still match the new one.

A schema is treated as the set of values that match it. A narrower one refuses what a client used to send, which breaks
inputs; a wider one allows what a client did not expect, which breaks outputs. If sets cannot be compared (two patterns,
two conditions) the result is `unsure`. Source: JSON Schema 2020-12, and the other spellings of draft-07.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple

from inspector.compare import schema_keywords as keywords
from inspector.compare.digests import exact_digest
from inspector.compare.schema_refs import ExternalReference, References
from inspector.protocol.jsonrpc import excerpt

Side = Literal["input", "output"]
"""The direction of values: an input from client to server, an output back."""
ChangeSeverity = Literal["breaking", "unsure", "changed", "added", "cosmetic"]
"""Worst first. `unsure`: the schemas do not show whether it breaks anything."""
Effect = Literal["narrower", "wider", "both", "unsure", "added", "removed", "default", "words", "cosmetic"]
"""The effect of a change on the set: fewer, more, other or unknown values; a property added or removed; another
default; other texts for people and models; nothing."""

MAX_PAIRS = 10_000
"""Pairs of schemas that one comparison visits."""
MAX_DEPTH = 60
"""Levels that are compared; a deeper value is compared as a whole."""
SHOWN = 60
"""Characters shown of a value in a sentence."""

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


class SchemaChange(NamedTuple):
    """One change. Names in `place` and `what` are the server's text."""

    place: str
    """The place in the data: `filters[].name`; empty for the whole."""
    effect: Effect
    what: str
    """The change as a phrase: `allows null too`."""
    a: Any = None
    b: Any = None
    """The values before and after, if they tell more than the phrase."""
    came: bool = False
    """Whether it was added: the property, or the values in the phrase."""

    def severity(self, side: Side) -> ChangeSeverity:
        """The severity for a client of the earlier version."""
        return _SEVERITY[self.effect][side == "output"]


def compare_schemas(a: Any, b: Any) -> list[SchemaChange]:
    """Return the changes from schema `a` to schema `b`, in the order of their places. Never raises, for any values."""
    if exact_digest(a) == exact_digest(b):
        return []
    return list(_unique(_Walk(a, b).changes(a, b, "", 0)))


def _unique(changes: Iterable[SchemaChange]) -> Iterator[SchemaChange]:
    """Return each change once: a definition may be reached in several ways."""
    seen: set[tuple[str, str, str]] = set()
    for change in changes:
        key = (change.place, change.effect, change.what)
        if key not in seen:
            seen.add(key)
            yield change


class _Walk:
    def __init__(self, a: Any, b: Any) -> None:
        self._of_a, self._of_b = References(a), References(b)
        self._open: set[tuple[int, int]] = set()
        """Pairs that are being compared, by identity: a schema may refer to itself."""
        self._looked_at = 0

    def changes(self, a: Any, b: Any, place: str, depth: int) -> Iterator[SchemaChange]:
        """Return the changes between two schemas at the same place."""
        a, b = self._of_a.follow(a), self._of_b.follow(b)
        pair = (id(a), id(b))
        if pair in self._open or (a is b and type(a) is bool):
            return
        self._looked_at += 1
        if depth > MAX_DEPTH or self._looked_at > MAX_PAIRS:
            if exact_digest(a) != exact_digest(b):
                yield SchemaChange(place, "unsure", "is too deep or too large to compare", a, b)
            return
        if isinstance(a, ExternalReference) or isinstance(b, ExternalReference):
            if a != b:
                yield SchemaChange(place, "unsure", "refers to a schema elsewhere", _named(a), _named(b))
            return
        self._open.add(pair)
        one, other = _as_object(a), _as_object(b)
        if one is not None and other is not None:
            yield from self._objects(one, other, place, depth)
        elif exact_digest(a) != exact_digest(b):
            yield SchemaChange(place, "unsure", "is not a schema", a, b)
        self._open.discard(pair)

    def _objects(self, a: dict[str, Any], b: dict[str, Any], place: str, depth: int) -> Iterator[SchemaChange]:
        yield from self._words(a, b, place)
        if keywords.is_nothing(a) or keywords.is_nothing(b):
            if not keywords.is_nothing(a):
                yield SchemaChange(place, "narrower", "allows nothing now")
            elif not keywords.is_nothing(b):
                yield SchemaChange(place, "wider", "allows something now")
            return
        if ("anyOf" in a or "oneOf" in a) != ("anyOf" in b or "oneOf" in b):
            yield from self._variants(keywords.variants_of(a), keywords.variants_of(b), place, depth)
            return
        yield from self._plain(a, b, place, depth)

    def _plain(self, a: dict[str, Any], b: dict[str, Any], place: str, depth: int) -> Iterator[SchemaChange]:
        types = keywords.compare_types(a, b)
        if types is not None:
            yield SchemaChange(place, types.effect, types.what)
            if types.disjoint:
                return
        for found in (*keywords.compare_values(a, b), *keywords.compare_bounds(a, b), *keywords.compare_rest(a, b)):
            yield SchemaChange(place, *found)
        yield from self._properties(a, b, place, depth)
        yield from self._items(a, b, place, depth)
        for key in ("propertyNames", "contains", "unevaluatedItems"):
            yield from self._inner(a, b, key, f"{place} ({key})".strip(), depth)
        for key in ("anyOf", "oneOf"):
            if key in a or key in b:
                yield from self._variants(keywords.listed(a, key), keywords.listed(b, key), place, depth)
        if "allOf" in a or "allOf" in b:
            yield from self._variants(
                keywords.listed(a, "allOf"), keywords.listed(b, "allOf"), place, depth, every=True
            )

    def _words(self, a: dict[str, Any], b: dict[str, Any], place: str) -> Iterator[SchemaChange]:
        for key in keywords.WORDS:
            before, after = a.get(key), b.get(key)
            if exact_digest(before) != exact_digest(after):
                yield SchemaChange(
                    place, "words", _came_or_went(key, key in a, key in b), before, after, came=key not in a
                )
        if ("default" in a) != ("default" in b) or exact_digest(a.get("default")) != exact_digest(b.get("default")):
            yield SchemaChange(
                place,
                "default",
                _came_or_went("default", "default" in a, "default" in b),
                a.get("default"),
                b.get("default"),
                came="default" not in a,
            )
        for key in keywords.MARKS:
            if (a.get(key) is True) != (b.get(key) is True):
                yield SchemaChange(place, "cosmetic", f"is {'now' if b.get(key) is True else 'no longer'} {key}")

    # Objects

    def _properties(self, a: dict[str, Any], b: dict[str, Any], place: str, depth: int) -> Iterator[SchemaChange]:
        of_a, of_b = keywords.members(a, "properties"), keywords.members(b, "properties")
        needs_a, needs_b = keywords.names(a, "required"), keywords.names(b, "required")
        for name in (*of_a, *(name for name in of_b if name not in of_a)):
            where = f"{place}.{name}" if place else name
            if name not in of_b:
                yield SchemaChange(where, "removed", "is gone")
            elif name not in of_a:
                yield self._added(a, where, name in needs_b, name in needs_a, of_b[name])
            else:
                yield from self.changes(of_a[name], of_b[name], where, depth + 1)
        for name in (*needs_a, *(name for name in needs_b if name not in needs_a)):
            where = f"{place}.{name}" if place else name
            if name not in needs_b and (name in of_b or name not in of_a):
                yield SchemaChange(where, "wider", "is no longer required")
            elif name not in needs_a and not (name in of_b and name not in of_a):
                yield SchemaChange(where, "narrower", "is required now")
        for key, step in (("additionalProperties", ".*"), ("unevaluatedProperties", ".*")):
            yield from self._open_end(a, b, key, place, step, depth)
        yield from self._patterns(a, b, place, depth)

    def _added(self, a: dict[str, Any], where: str, needed: bool, was_needed: bool, schema: Any) -> SchemaChange:
        if needed and not was_needed:
            return SchemaChange(where, "narrower", "is new, and required", came=True)
        if a.get("additionalProperties") is False or a.get("unevaluatedProperties") is False:
            return SchemaChange(where, "wider", "is new, where more was not allowed", came=True)
        return SchemaChange(where, "added", "is new", came=True)

    def _open_end(
        self, a: dict[str, Any], b: dict[str, Any], key: str, place: str, step: str, depth: int
    ) -> Iterator[SchemaChange]:
        """Compare the rules for unlisted members."""
        before, after = a.get(key, True), b.get(key, True)
        more = "items" if step.startswith("[") else "properties"
        if keywords.is_false(before) != keywords.is_false(after):
            wider = keywords.is_false(before)
            yield SchemaChange(
                place, "wider" if wider else "narrower", f"{'allows' if wider else 'no longer allows'} other {more}"
            )
        elif not keywords.is_false(before):
            yield from self.changes(before, after, f"{place}{step}" if place else step.removeprefix("."), depth + 1)

    def _patterns(self, a: dict[str, Any], b: dict[str, Any], place: str, depth: int) -> Iterator[SchemaChange]:
        of_a, of_b = keywords.members(a, "patternProperties"), keywords.members(b, "patternProperties")
        for pattern in (*of_a, *(pattern for pattern in of_b if pattern not in of_a)):
            where = f"{place}./{pattern}/" if place else f"/{pattern}/"
            if pattern in of_a and pattern in of_b:
                yield from self.changes(of_a[pattern], of_b[pattern], where, depth + 1)
            else:
                what = "is a new pattern of names" if pattern in of_b else "is no longer a pattern of names"
                yield SchemaChange(where, "unsure", what)

    # Arrays

    def _items(self, a: dict[str, Any], b: dict[str, Any], place: str, depth: int) -> Iterator[SchemaChange]:
        (first_a, rest_a), (first_b, rest_b) = keywords.items_of(a), keywords.items_of(b)
        for at in range(max(len(first_a), len(first_b))):
            before = first_a[at] if at < len(first_a) else rest_a
            after = first_b[at] if at < len(first_b) else rest_b
            yield from self.changes(before, after, f"{place}[{at}]", depth + 1)
        yield from self._open_end({"items": rest_a}, {"items": rest_b}, "items", place, "[]", depth)

    # Several schemas at once

    def _inner(self, a: dict[str, Any], b: dict[str, Any], key: str, place: str, depth: int) -> Iterator[SchemaChange]:
        if key in a and key in b:
            yield from self.changes(a[key], b[key], place, depth + 1)
        elif key in a or key in b:
            effect: Effect = "narrower" if key in b else "wider"
            yield SchemaChange(place, effect, _came_or_went(key, key in a, key in b), came=key in b)

    def _variants(
        self, of_a: list[Any], of_b: list[Any], place: str, depth: int, *, every: bool = False
    ) -> Iterator[SchemaChange]:
        """Compare the alternatives of `anyOf` and `oneOf`; with `every`, the parts of `allOf`, which must all match."""
        pairs, only_a, only_b = self._paired(of_a, of_b)
        for i, j in pairs:
            label = self._label(self._of_b, of_b[j])
            where = place if len(of_a) == len(of_b) == 1 else f"{place}|{label}" if place else f"|{label}"
            yield from self.changes(of_a[i], of_b[j], where, depth + 1)
        for at in only_a:
            what = f"no longer allows {self._label(self._of_a, of_a[at])}"
            if every:
                what = f"no longer has to match {self._label(self._of_a, of_a[at])} as well"
            yield SchemaChange(place, "wider" if every else "narrower", what)
        for at in only_b:
            what = f"allows {self._label(self._of_b, of_b[at])} too"
            if every:
                what = f"must match {self._label(self._of_b, of_b[at])} as well"
            yield SchemaChange(place, "narrower" if every else "wider", what)

    def _paired(self, of_a: list[Any], of_b: list[Any]) -> tuple[list[tuple[int, int]], list[int], list[int]]:
        """Pair the alternatives: equal ones, else those with the same label, else the only ones left."""
        to_b: dict[int, int] = {}
        taken: set[int] = set()
        for key in (lambda _, schema: exact_digest(schema), self._label):
            waiting: dict[Any, list[int]] = {}
            for j in range(len(of_b) - 1, -1, -1):
                if j not in taken:
                    waiting.setdefault(key(self._of_b, of_b[j]), []).append(j)
            for i in range(len(of_a)):
                same = waiting.get(key(self._of_a, of_a[i])) if i not in to_b else None
                if same:
                    to_b[i] = same.pop()
                    taken.add(to_b[i])
        left_a = [i for i in range(len(of_a)) if i not in to_b]
        left_b = [j for j in range(len(of_b)) if j not in taken]
        if len(of_a) == len(of_b) == len(left_a) == 1:
            return [(0, 0)], [], []
        return sorted(to_b.items()), left_a, left_b

    def _label(self, references: References, schema: Any) -> str:
        """Return a short label of an alternative."""
        if type(schema) is dict and type(schema.get("$ref")) is str:
            return str(schema["$ref"]).rpartition("/")[2][:SHOWN] or "#"
        schema = references.follow(schema)
        if type(schema) is not dict:
            return excerpt(schema, SHOWN)
        if "const" in schema:
            return excerpt(schema["const"], SHOWN)
        for key in ("title", "type"):
            if type(schema.get(key)) is str:
                return str(schema[key])[:SHOWN]
        return next(iter(schema), "anything")[:SHOWN]


def _as_object(schema: Any) -> dict[str, Any] | None:
    if schema is True:
        return {}
    if schema is False:
        return keywords.NOTHING
    return schema if type(schema) is dict else None


def _named(schema: Any) -> Any:
    return str(schema) if isinstance(schema, ExternalReference) else schema


def _came_or_went(what: str, before: bool, after: bool) -> str:
    if before and after:
        return f"{what} changed"
    return f"{what} is new" if after else f"{what} is gone"

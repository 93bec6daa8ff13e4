"""Maps a JSON Schema to fields of a form: kind, choices, variants and hint.

Schemas may be malicious and invalid: everything unknown becomes a `json` field, and all work is bounded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain, islice, zip_longest
from typing import Any, NamedTuple

from inspector.protocol.forms.values import UNSET, fits, same, text_of
from inspector.protocol.schema_limits import levels, resolve_pointer

CHOICE_LIMIT = 2_000
VARIANT_LIMIT = 50
MERGE_LIMIT = 5_000
"""Merges of two schemas (`$ref` with siblings, `allOf`) in one form."""
ANCHOR_LIMIT = 100_000
"""Values of a schema that are searched for anchors."""
REFERENCE_DEPTH = 60
"""References and `allOf` that are followed inside each other."""


class Choice(NamedTuple):
    """One of the values to choose from."""

    value: Any
    label: str
    """The title in the schema, else the value as text. It is the server's text: show it through `text.safe`."""


class FieldShape(NamedTuple):
    """The kind of field for a schema."""

    kind: str
    """`string`, `integer`, `number`, `boolean`, `null`, `enum`, `const`, `multi`, `array`, `object` or `json`."""
    schema: Mapping[str, Any]
    """The schema with references and `allOf` merged in, and the chosen variant's."""
    nullable: bool = False
    choices: tuple[Choice, ...] = ()
    variants: tuple[str, ...] = ()
    """Labels of the variants (`anyOf`, `oneOf`, several types) to choose from; empty without a choice."""
    variant: int = 0

    @property
    def properties(self) -> dict[str, Any]:
        """The members in an object's schema, with their schemas."""
        named = self.schema.get("properties")
        return named if isinstance(named, dict) else {}

    @property
    def required(self) -> dict[str, None]:
        """The names of an object's required members, in order."""
        names = self.schema.get("required")
        return {name: None for name in names if isinstance(name, str)} if isinstance(names, list) else {}


_Branch = tuple[dict[str, Any], str]
"""A variant, merged with its siblings, and its own label or `""`."""


@dataclass(frozen=True, slots=True)
class _Variants:
    """The result of `anyOf`, `oneOf` or several types: branches, or choices if all are constants."""

    branches: list[dict[str, Any]] = field(default_factory=list)
    labels: tuple[str, ...] = ()
    nullable: bool = False
    """Whether null was one of them; it is not a branch then."""
    choices: tuple[Choice, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict)
    beyond: bool = False
    """Whether a form cannot show so many."""


_EMPTY: Mapping[str, Any] = {}
_ABOUT = ("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly")
_GUESSES = (
    ("object", ("properties", "additionalProperties", "patternProperties", "required", "minProperties")),
    ("array", ("items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains")),
    ("string", ("pattern", "minLength", "maxLength", "format")),
    ("number", ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")),
)
_TYPES = ("string", "integer", "number", "boolean", "null", "array", "object")


class FieldReader:
    """Finds the shapes in one schema document."""

    def __init__(self, root: Any) -> None:
        self.root = root
        # Cached by the identity of the schema; the schema is kept too, so that no identity is reused.
        self._resolved: dict[int, tuple[Any, Any]] = {}
        self._variants: dict[int, tuple[Any, _Variants]] = {}
        self._plains: dict[tuple[int, bool], tuple[Any, FieldShape]] = {}
        self._merges = 0
        self._depth = 0
        self._anchors: dict[str, Any] | None = None

    # References and allOf

    def resolve(self, schema: Any) -> Any:
        """Return a schema with `$ref` and `allOf` merged in; a dangling or circular reference adds nothing."""
        if not isinstance(schema, dict) or ("$ref" not in schema and "allOf" not in schema):
            return schema
        known = self._resolved.get(id(schema))
        if known is not None:
            return known[1]
        if self._depth >= REFERENCE_DEPTH:
            return {}
        self._resolved[id(schema)] = schema, {}  # the result for a circular reference
        self._depth += 1
        merged: Any = {key: value for key, value in schema.items() if key not in ("$ref", "allOf")}
        parts = [self._target(schema["$ref"])] if isinstance(schema.get("$ref"), str) else []
        parts += schema["allOf"][:VARIANT_LIMIT] if isinstance(schema.get("allOf"), list) else []
        for part in parts:
            merged = self._merge(merged, self.resolve(part))
        self._depth -= 1
        self._resolved[id(schema)] = schema, merged
        return merged

    def _target(self, reference: str) -> Any:
        if not reference.startswith("#"):
            return {}
        fragment = reference[1:]
        if fragment and not fragment.startswith("/"):
            if self._anchors is None:
                self._anchors = _anchors(self.root)
            return self._anchors.get(fragment, {})
        pointer = resolve_pointer(self.root, fragment)
        return {} if pointer is None else pointer

    def _merge(self, first: Any, second: Any) -> Any:
        """Return a schema that satisfies both, as far as a form needs to know; annotations of `first` win."""
        if first is False or second is False:
            return False
        if not isinstance(second, dict) or first is second or self._merges >= MERGE_LIMIT:
            return first
        if not isinstance(first, dict):
            return second
        self._merges += 1
        merged = dict(first)
        for key, value in second.items():
            mine = merged.get(key, UNSET)
            if mine is UNSET:
                merged[key] = value
            elif key in ("properties", "patternProperties") and isinstance(mine, dict) and isinstance(value, dict):
                merged[key] = mine | {
                    name: inner if name not in mine or mine[name] is inner else {"allOf": [mine[name], inner]}
                    for name, inner in value.items()
                }
            elif key == "required" and isinstance(mine, list) and isinstance(value, list):
                merged[key] = mine + [name for name in value if name not in mine]
            elif key == "type":
                merged[key] = _common_types(mine, value)
        return merged

    # Shapes

    def shape(self, schema: Any, value: Any = UNSET, chosen: int | None = None) -> FieldShape:
        """Return the shape of a schema for a value; `chosen` is the variant selected by hand."""
        resolved = self.resolve(schema)
        if not isinstance(resolved, dict):
            return FieldShape("json", _EMPTY)
        known = self._variants.get(id(resolved))
        if known is None:
            known = self._variants[id(resolved)] = resolved, self._look_for_variants(resolved)
        variants = known[1]
        if variants.beyond:
            return FieldShape("json", resolved, variants.nullable)
        if variants.choices:
            return FieldShape("enum", variants.about, variants.nullable, variants.choices)
        if not variants.branches:
            return self._plain(resolved, variants.nullable)
        if len(variants.branches) == 1:
            return self._plain(variants.branches[0], variants.nullable)
        index = chosen
        if index is None or not 0 <= index < len(variants.branches):
            index = _best(variants.branches, value)
        plain = self._plain(variants.branches[index], variants.nullable)
        return FieldShape(plain.kind, plain.schema, plain.nullable, plain.choices, variants.labels, index)

    def _look_for_variants(self, schema: dict[str, Any]) -> _Variants:
        branches, nullable = self._branches(schema)
        if branches is None:
            return _Variants(beyond=True, nullable=nullable)
        choices = _choices_of(branches)
        if choices:
            about = {key: schema[key] for key in (*_ABOUT, "type") if key in schema}
            return _Variants(nullable=nullable, choices=choices, about=about)
        labels = _told_apart([label or self._label(branch) for branch, label in branches]) if branches[1:] else ()
        return _Variants([branch for branch, _ in branches], labels, nullable)

    def _branches(self, schema: dict[str, Any]) -> tuple[list[_Branch] | None, bool]:
        """Return the variants of a schema, and whether null is one that was removed.

        It has no variants if the schema has only one form; None instead of a list if a form cannot show them.
        """
        lists = [name for name in ("anyOf", "oneOf") if isinstance(schema.get(name), list) and schema[name]]
        types = schema.get("type")
        names = [name for name in types if isinstance(name, str)] if isinstance(types, list) else []
        if len(lists) == 2:
            return None, False
        if not lists:
            others = [name for name in names if name != "null"] or names[:1]
            nullable = "null" in names and "null" not in others
            return [({**schema, "type": name}, name) for name in others[:VARIANT_LIMIT]], nullable
        base = {key: value for key, value in schema.items() if key != lists[0]}
        branches: list[_Branch] = []
        nullable = "null" in names
        waiting = list(schema[lists[0]])
        flattened = 0
        while waiting:
            reference = waiting.pop(0)
            branch = self.resolve(reference)
            inner = [name for name in ("anyOf", "oneOf") if isinstance(branch, dict) and name in branch]
            if inner and len(inner) == 1 and isinstance(branch[inner[0]], list) and "properties" not in branch:
                flattened += 1
                waiting = branch[inner[0]] + waiting
            elif isinstance(branch, dict) and _is_null(branch):
                nullable = True
            else:
                merged = self._merge(base, branch)
                if inner or not isinstance(branch, dict) or not isinstance(merged, dict):
                    return None, nullable
                branches.append((merged, _own_label(reference, branch)))
            if flattened > 9 or len(branches) + len(waiting) > CHOICE_LIMIT:
                return None, nullable
        if len(branches) > VARIANT_LIMIT and not _choices_of(branches):
            return None, nullable
        return branches, nullable

    def _plain(self, schema: dict[str, Any], nullable: bool) -> FieldShape:
        """Return the shape of a schema without variants."""
        known = self._plains.get((id(schema), nullable))
        if known is None:
            known = self._plains[id(schema), nullable] = schema, self._make_plain(schema, nullable)
        return known[1]

    def _make_plain(self, schema: dict[str, Any], nullable: bool) -> FieldShape:
        if "const" in schema:
            return FieldShape("const", schema, nullable, (Choice(schema["const"], text_of(schema["const"])),))
        if "anyOf" in schema or "oneOf" in schema:
            return FieldShape("json", schema, nullable)
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            choices = _options(schema)
            return FieldShape("enum" if choices else "json", schema, nullable, choices)
        kind = schema.get("type")
        if isinstance(kind, list) and len(kind) == 1:
            kind = kind[0]
        if kind is None:
            kind = next((kind for kind, keys in _GUESSES if any(key in schema for key in keys)), None)
        if not isinstance(kind, str) or kind not in _TYPES:
            return FieldShape("json", schema, nullable)
        if kind == "array" and "prefixItems" not in schema and isinstance(schema.get("items"), dict):
            choices = self._item_choices(schema["items"])
            if choices:
                return FieldShape("multi", schema, nullable, choices)
        return FieldShape(kind, schema, nullable)

    def _item_choices(self, schema: dict[str, Any]) -> tuple[Choice, ...]:
        """Return the choices of an array's items, if these are constants; one level and no deeper."""
        resolved = self.resolve(schema)
        if not isinstance(resolved, dict):
            return ()
        branches, nullable = self._branches(resolved)
        if branches is None or nullable:
            return ()
        return _choices_of(branches) or (_options(resolved) if not branches else ())

    def _label(self, branch: dict[str, Any]) -> str:
        """Return a label for a variant without a name: the constant that identifies it, else its hint."""
        named = branch.get("properties")
        for inner in named.values() if isinstance(named, dict) else ():
            inner = self.resolve(inner)
            options = inner.get("enum", [inner.get("const")]) if isinstance(inner, dict) else None
            if isinstance(options, list) and len(options) == 1 and isinstance(options[0], str):
                return options[0]
        if isinstance(named, dict) and named:
            return ", ".join(list(named)[:3])
        return self._plain(branch, False).kind

    def member(self, shape: FieldShape, key: str) -> Any:
        """Return the schema of a member of an object; True if the schema does not have it."""
        named = shape.schema.get("properties")
        if isinstance(named, dict) and key in named:
            return named[key]
        # Patterns are not matched here: they are the server's, and only the validator matches them within limits.
        keyed = shape.schema.get("patternProperties")
        if isinstance(keyed, dict) and len(keyed) == 1:
            return next(iter(keyed.values()))
        return shape.schema.get("additionalProperties", True)

    def item(self, shape: FieldShape, index: int) -> Any:
        """Return the schema of an item of an array; True if the schema does not have it."""
        items = shape.schema.get("items", True)
        for first, rest in (("prefixItems", items), ("items", shape.schema.get("additionalItems", True))):
            tuple_of = shape.schema.get(first)
            if isinstance(tuple_of, list):
                return tuple_of[index] if index < len(tuple_of) else rest
        return items


def _anchors(root: Any) -> dict[str, Any]:
    anchors: dict[str, Any] = {}
    for item in islice(chain.from_iterable(levels(root)), ANCHOR_LIMIT):
        if isinstance(item, dict):
            for name in ("$anchor", "$dynamicAnchor"):
                if isinstance(item.get(name), str):
                    anchors.setdefault(item[name], item)
    return anchors


def _common_types(first: Any, second: Any) -> Any:
    mine = first if isinstance(first, list) else [first]
    theirs = second if isinstance(second, list) else [second]
    common = [name for name in mine if name in theirs or (name == "integer" and "number" in theirs)]
    if "integer" in theirs and "number" in mine and "integer" not in common:
        common.append("integer")
    return (common[0] if len(common) == 1 else common) if common else first


def _is_null(schema: dict[str, Any]) -> bool:
    return schema.get("type") == "null" or ("const" in schema and schema["const"] is None)


def _own_label(reference: Any, branch: dict[str, Any]) -> str:
    """Return the title of a variant, else the name in its reference, else what only it requires, else `""`."""
    if isinstance(branch.get("title"), str):
        return str(branch["title"])
    target = reference.get("$ref") if isinstance(reference, dict) else None
    if isinstance(target, str):
        return target.rpartition("/")[2]
    required = branch.get("required") if "properties" not in branch else None
    return ", ".join(name for name in required[:3] if isinstance(name, str)) if isinstance(required, list) else ""


def _told_apart(labels: list[str]) -> tuple[str, ...]:
    """Return the labels; the second one of the same name has a number."""
    seen: Counter[str] = Counter()
    unique = []
    for label in labels:
        seen[label] += 1
        unique.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return tuple(unique)


def _choices_of(branches: list[_Branch]) -> tuple[Choice, ...]:
    """Return the choices if every variant is a constant, with or without a title; else none."""
    choices = []
    for branch, label in branches:
        options = branch.get("enum")
        if "const" in branch:
            value = branch["const"]
        elif isinstance(options, list) and len(options) == 1:
            value = options[0]
        else:
            return ()
        choices.append(Choice(value, label or text_of(value)))
    return tuple(choices)


def _options(schema: dict[str, Any]) -> tuple[Choice, ...]:
    """Return the choices of an `enum`, with the titles of the older `enumNames`; none if there are too many."""
    values, names = schema.get("enum"), schema.get("enumNames")
    if not isinstance(values, list) or len(values) > CHOICE_LIMIT:
        return ()
    titles = names if isinstance(names, list) else []
    return tuple(
        Choice(value, title if isinstance(title, str) and title else text_of(value))
        for value, title in zip_longest(values, titles[: len(values)])
    )


def _best(branches: list[dict[str, Any]], value: Any) -> int:
    """Return the variant that a value resembles most; the first if it resembles none."""
    if value is UNSET or value is None:
        return 0
    scores = [_likeness(branch, value) for branch in branches]
    return scores.index(max(scores))


def _is_written(const: Any, value: Any) -> bool:
    """Whether a value is a constant, or is what the text of one is read as without a schema."""
    return same(const, value) or (isinstance(const, str) and text_of(value) == const)


def _likeness(branch: dict[str, Any], value: Any) -> int:
    kind = branch.get("type")
    options = branch.get("enum")
    if "const" in branch:
        return 100 if same(branch["const"], value) else -100
    if isinstance(options, list):
        return 50 if any(same(option, value) for option in options[:CHOICE_LIMIT]) else -100
    if isinstance(kind, str) and kind in _TYPES and not fits(kind, value):
        return -100
    score = 1 if isinstance(kind, str) else 0
    if not isinstance(value, dict):
        return score
    named = branch.get("properties")
    for key, inner in named.items() if isinstance(named, dict) else ():
        if key in value:
            score += 1
            if isinstance(inner, dict) and "const" in inner:
                score += 20 if _is_written(inner["const"], value[key]) else -20
    required = branch.get("required")
    score -= sum(2 for key in required if key not in value) if isinstance(required, list) else 0
    return score

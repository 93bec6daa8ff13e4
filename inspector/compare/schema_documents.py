"""The schemas inside a JSON Schema, the targets of its references, and whether a value matches one of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias
from urllib.parse import unquote

from inspector.compare.json_values import exact_digest
from inspector.errors import SchemaError
from inspector.protocol.exact_json.tokens import escape_step
from inspector.protocol.jsonrpc import excerpt
from inspector.protocol.schema_limits import measure_schema, resolve_pointer
from inspector.protocol.validation import DIALECTS, Validator, dialect_of

MAX_CHAIN = 32
"""References followed from one to the next."""
SHOWN = 60
"""Characters of a label."""
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")

_DRAFTS = dict(zip(DIALECTS.values(), (4, 6, 7, 2019, 2020), strict=True))
_SINCE = {
    **dict.fromkeys(("const", "contains", "propertyNames"), 6),
    **dict.fromkeys(("if", "then", "else"), 7),
    **dict.fromkeys(("dependentRequired", "dependentSchemas", "minContains", "maxContains"), 2019),
    **dict.fromkeys(("unevaluatedProperties", "unevaluatedItems"), 2019),
    **dict.fromkeys(("prefixItems", "$dynamicRef"), 2020),
}
"""The draft that introduced a keyword; earlier ones ignore it."""
_ASSERTIONS = frozenset(
    """
    type enum const multipleOf minimum exclusiveMinimum maximum exclusiveMaximum minLength maxLength pattern format
    minItems maxItems uniqueItems items prefixItems contains minProperties maxProperties required properties
    patternProperties additionalProperties propertyNames dependentRequired dependentSchemas dependencies allOf anyOf
    oneOf not if unevaluatedItems unevaluatedProperties $ref $dynamicRef $recursiveRef
    """.split()
)
"""The keywords that can refuse a value."""
KNOWN = _ASSERTIONS | frozenset(
    """
    additionalItems minContains maxContains then else $defs definitions $id id $anchor $dynamicAnchor $recursiveAnchor
    $schema $vocabulary
    """.split()
)
"""The keywords that say which values match, or belong to those that do."""


@dataclass(frozen=True, eq=False)
class Part:
    """A schema inside a document. There is one object for each place."""

    document: Document
    pointer: str
    raw: Any

    @cached_property
    def keys(self) -> Mapping[str, Any]:
        """The keywords that count in the document's draft, as later drafts write them."""
        draft = self.document.draft
        if draft < 2019 and "$ref" in self.raw:
            return {"$ref": self.raw["$ref"]}  # Until then, what stands beside a reference is ignored.
        keys = {key: value for key, value in self.raw.items() if _SINCE.get(key, 0) <= draft}
        if draft == 4:  # "exclusive" is a mark beside the bound.
            for bound, mark in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
                if keys.pop(mark, False) is True and bound in keys:
                    keys[mark] = keys.pop(bound)
        return keys


Node: TypeAlias = frozenset[Part]
"""A schema: the parts that a value has to match, all of them."""
ANY: Node = frozenset()
"""The schema that every value matches."""


class Document:
    """A whole schema."""

    def __init__(self, root: Any) -> None:
        self.raw = root
        self._parts: dict[str, Part] = {}
        try:
            self.draft = _DRAFTS[dialect_of(root)]
        except SchemaError:
            self.draft = 2020

    @cached_property
    def root(self) -> Node:
        """The whole schema."""
        return self.node("", self.raw)

    @cached_property
    def digest(self) -> bytes:
        """The digest of everything in it."""
        return exact_digest(self.raw)

    @cached_property
    def size(self) -> int:
        """The number of objects in it. Raises `SchemaTooLarge`."""
        return measure_schema(self.raw).subschemas

    @cached_property
    def validator(self) -> Validator | None:
        """Its validator; None if the schema is not valid."""
        try:
            return Validator(self.raw)
        except SchemaError:
            return None

    def node(self, pointer: str, raw: Any) -> Node:
        """Return the schema at a pointer, or the one that it refers to and says nothing else than."""
        for _ in range(MAX_CHAIN):
            reference = raw.get("$ref") if type(raw) is dict else None
            alone = type(reference) is str and (self.draft < 2019 or len(_ASSERTIONS & raw.keys()) == 1)
            target = self.target(str(reference)) if alone else None
            if target is None:
                break
            pointer, raw = target
        if raw is True or (type(raw) is dict and _ASSERTIONS.isdisjoint(raw)):
            return ANY
        return frozenset((self._parts.setdefault(pointer, Part(self, pointer, raw)),))

    def target(self, reference: str) -> tuple[str, Any] | None:
        """Return the pointer and the schema that a reference means.

        None if that is not in this document, or depends on the position of the reference.
        """
        own = self.raw.get("$id") if type(self.raw) is dict else None
        if type(own) is str and own.rstrip("#") and reference.startswith(own.rstrip("#") + "#"):
            reference = reference[len(own.rstrip("#")) :]
        if not reference.startswith("#") or self._anchors is None:
            return None
        fragment = unquote(reference[1:])
        if fragment and not fragment.startswith("/"):
            return self._anchors.get(fragment)
        pointer = resolve_pointer(self.raw, reference[1:])
        names = [step.replace("~1", "/").replace("~0", "~") for step in fragment.split("/")]
        return ("/".join(map(escape_step, names)), pointer) if type(pointer) in (dict, bool) else None

    def context(self, keyword: str, value: Any) -> bytes:
        """Return what a keyword's value depends on: the digest of the document if it refers to a part of it."""
        own = self._anchors is None or type(value) is not str or value.startswith("#")
        return self.digest if refers(value) or (keyword in REFERENCES and own) else b""

    @cached_property
    def _anchors(self) -> dict[str, tuple[str, Any]] | None:
        """The named schemas; None if a part has an `$id`, so that references depend on their position."""
        anchors: dict[str, tuple[str, Any]] = {}
        todo: list[tuple[str, Any]] = [("", self.raw)]
        ids = "id" if self.draft == 4 else "$id"
        while todo:
            pointer, item = todo.pop()
            if type(item) is list:
                todo += ((f"{pointer}/{at}", inner) for at, inner in enumerate(item))
            elif type(item) is dict:
                own = item.get(ids)
                names = [item.get("$anchor"), item.get("$dynamicAnchor")]
                if pointer and type(own) is str:
                    if not own.startswith("#"):
                        return None
                    names.append(own[1:])
                anchors |= {name: (pointer, item) for name in names if type(name) is str}
                todo += ((f"{pointer}/{escape_step(name)}", inner) for name, inner in item.items())
        return anchors


def refers(value: Any) -> bool:
    """Whether a reference stands in a value."""
    todo = [value]
    while todo:
        item = todo.pop()
        if type(item) is dict:
            if any(key in item for key in REFERENCES):
                return True
            todo += item.values()
        elif type(item) is list:
            todo += item
    return False


def value_key(value: Any) -> str:
    """Return a text that is the same for values that are equal in JSON Schema: 1 and 1.0."""
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"))


def _plain(value: Any) -> Any:
    if type(value) is float and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return value


def label_of(raw: Any) -> str:
    """Return a short label of a schema, as it is written."""
    if type(raw) is not dict:
        return excerpt(raw, SHOWN)
    if type(raw.get("$ref")) is str:
        return str(raw["$ref"]).rpartition("/")[2][:SHOWN] or "#"
    if "const" in raw:
        return excerpt(raw["const"], SHOWN)
    for key in ("title", "type"):
        if type(raw.get(key)) is str:
            return str(raw[key])[:SHOWN]
    return next(iter(raw), "anything")[:SHOWN]

"""Resolves references inside one JSON Schema. Nothing is fetched: outside references stay unresolved."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

CHAIN = 32
"""References followed from one to the next."""
_DEFINITIONS = ("$defs", "definitions")
_SILENT = frozenset(("$ref", "$dynamicRef", "$comment"))


class ExternalReference(str):
    """A reference that cannot be followed here."""


class References:
    """Follows the references of one schema document."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._id = root.get("$id") if type(root) is dict else None
        self._anchors: dict[str, Any] | None = None
        self._merged: dict[int, dict[str, Any]] = {}

    def follow(self, schema: Any) -> Any:
        """Return the schema itself, or the target of its `$ref` merged with the siblings of the reference.

        It is an `ExternalReference` if the target is not in this document, or for a circular reference.
        """
        if type(schema) is not dict or not _reference(schema):
            return schema
        kept = self._merged.get(id(schema))
        if kept is not None:
            return kept
        beside: dict[str, Any] = {}
        at: Any = schema
        for _ in range(CHAIN):
            reference = _reference(at) if type(at) is dict else ""
            if not reference:
                break
            beside = {key: value for key, value in at.items() if key not in _SILENT} | beside
            at = self._target(reference)
            if isinstance(at, ExternalReference):
                return at
        else:
            return ExternalReference(_reference(schema))
        if not beside or type(at) is not dict:
            return at
        # Cached, so that the same object is returned next time: a walk detects circles by identity.
        return self._merged.setdefault(id(schema), {**at, **beside})

    def _target(self, reference: str) -> Any:
        fragment = reference
        if type(self._id) is str and self._id and reference.startswith(self._id.rstrip("#") + "#"):
            fragment = reference[len(self._id.rstrip("#")) :]
        if fragment in ("#", ""):
            return self._root
        if fragment.startswith("#/"):
            return self._at(fragment[2:], reference)
        if fragment.startswith("#"):
            return self._named().get(unquote(fragment[1:]), ExternalReference(reference))
        return ExternalReference(reference)

    def _at(self, pointer: str, reference: str) -> Any:
        at = self._root
        for raw in pointer.split("/")[:1000]:
            step = unquote(raw).replace("~1", "/").replace("~0", "~")
            if type(at) is dict and step in at:
                at = at[step]
            elif type(at) is list and step.isascii() and step.isdigit() and len(step) < 9 and int(step) < len(at):
                at = at[int(step)]
            else:
                return ExternalReference(reference)
        return at

    def _named(self) -> dict[str, Any]:
        """Return the definitions with an anchor."""
        if self._anchors is None:
            self._anchors = {}
            for key in _DEFINITIONS:
                definitions = self._root.get(key) if type(self._root) is dict else None
                for schema in definitions.values() if type(definitions) is dict else ():
                    for anchor in ("$anchor", "$dynamicAnchor"):
                        if type(schema) is dict and type(schema.get(anchor)) is str:
                            self._anchors.setdefault(schema[anchor], schema)
        return self._anchors


def _reference(schema: dict[str, Any]) -> str:
    for key in ("$ref", "$dynamicRef"):
        value = schema.get(key)
        if type(value) is str:
            return value
    return ""

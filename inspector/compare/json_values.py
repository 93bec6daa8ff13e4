"""Reads JSON values without loss, and makes digests that are equal if two values are equal under the rules.

Duplicate keys, integers of any size and any depth are kept. Linear, without recursion.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, Literal

from inspector.compare.rules import EXACT, RuleMachine, RuleState, compiled
from inspector.protocol.exact_json.tokens import JsonSyntaxError, JsonToken, tokens, unquote
from inspector.protocol.jsonrpc import NotJson
from inspector.reasons import json_fault

Type = Literal["null", "boolean", "integer", "number", "string", "array", "object"]


class DuplicateKeys(dict[str, Any]):
    """An object with a duplicate key. As a dict it has the last value of each; `pairs` has them all."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs

    def values_of(self, key: str) -> list[Any]:
        """Return every value of a key, in order."""
        return [value for name, value in self.pairs if name == key]


def read(text: str | bytes) -> Any:
    """Parse the JSON value in `text`; objects with a duplicate key are `DuplicateKeys`. Raises `NotJson`.

    Bytes that are not UTF-8 become U+FFFD. Nothing is removed, at any depth.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    text = text.removeprefix("\ufeff")
    try:
        return _decode(text)
    except json.JSONDecodeError as error:
        raise NotJson(json_fault(error)) from None
    except RecursionError:
        return _read_deep(text)
    except ValueError:
        raise NotJson("an integer of more than 4,300 digits") from None


def type_of(value: Any) -> Type:
    """Return a value's type by JSON Schema's name; a number written with a point is a `number`."""
    return _TYPES.get(type(value)) or ("object" if isinstance(value, dict) else "string")


_TYPES: dict[type, Type] = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
    DuplicateKeys: "object",
}


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    return members if len(members) == len(pairs) else DuplicateKeys(pairs)


_decode = json.JSONDecoder(object_pairs_hook=_object).decode


def _read_deep(text: str) -> Any:
    """Do the same without recursion: several times slower, and for any depth."""
    top: list[Any] = []
    open_: list[tuple[list[Any] | None, list[tuple[str, Any]], str]] = []
    items: list[Any] | None = top
    pairs: list[tuple[str, Any]] = []
    key = ""
    try:
        for token, start, end in tokens(text):
            if token is JsonToken.KEY:
                key = unquote(text[start:end])
                continue
            if token is JsonToken.OBJECT or token is JsonToken.ARRAY:
                open_.append((items, pairs, key))
                items, pairs = ([] if token is JsonToken.ARRAY else None), []
                continue
            if token is JsonToken.CLOSE:
                value = items if items is not None else _object(pairs)
                items, pairs, key = open_.pop()
            else:
                value = _scalar(text[start:end])
            if items is not None:
                items.append(value)
            else:
                pairs.append((key, value))
    except JsonSyntaxError as error:
        raise NotJson(str(error)) from None
    except ValueError:
        raise NotJson("an integer of more than 4,300 digits") from None
    return top[0]


def _scalar(literal: str) -> Any:
    return unquote(literal) if literal.startswith('"') else _decode(literal)


_DIGEST_BYTES = 16


class Digests:
    """Digests under one set of rules. Those of containers are cached, so a value and all its parts cost one walk.

    The values must live as long as this object, because they are identified by their identity.
    """

    def __init__(self, machine: RuleMachine) -> None:
        self._machine = machine
        self._kept: dict[tuple[int, RuleState], bytes] = {}

    def of(self, value: Any, state: RuleState | None = None) -> bytes:
        """Return the digest of a value at the place with the rules `state`; by default the root."""
        state = self._machine.root if state is None else state
        plain = self._plain(value, state)
        if plain is not None:
            return plain
        stack = [_Open(value, state)]
        while True:
            top = stack[-1]
            for inner, place in top.rest:
                part = self._plain(inner, place)
                if part is None:
                    stack.append(_Open(inner, place))
                    break
                top.parts.append(part)
            else:
                done = top.digest()
                self._kept[id(top.value), top.state] = done
                stack.pop()
                if not stack:
                    return done
                stack[-1].parts.append(done)

    def _plain(self, value: Any, state: RuleState) -> bytes | None:
        """Return the digest of a value that needs no walk."""
        if state.ignore:
            return b"*"
        kind = type(value)
        if state.volatile:
            return b"~number" if kind in (int, float) else b"~" + kind.__name__.encode()
        if kind is str:
            return _digest(b"s" + self._machine.masked(value).encode("utf-8", "surrogatepass"))
        if kind in (list, dict, DuplicateKeys):
            return self._kept.get((id(value), state))
        if kind in (int, float):
            if state.tolerance is not None:
                return b"#"
            if kind is int:
                return _digest(b"i%x" % value if value >= 0 else b"i-%x" % -value)
            return b"f" + repr(value + 0.0).encode()
        return repr(value).encode()


class _Open:
    """A container in progress: the remaining parts, and the digests of the finished ones."""

    __slots__ = ("names", "parts", "rest", "state", "value")

    def __init__(self, value: Any, state: RuleState) -> None:
        self.value = value
        self.state = state
        self.parts: list[bytes] = []
        self.names: list[str] = []
        self.rest: Iterator[tuple[Any, RuleState]]
        if isinstance(value, list):
            self.rest = ((item, state.step(at)) for at, item in enumerate(value))
        else:
            pairs = value.pairs if isinstance(value, DuplicateKeys) else list(value.items())
            # A member that is not compared may also be missing.
            kept = [(key, item, below) for key, item in pairs if not (below := state.step(key)).ignore]
            kept.sort(key=lambda member: member[0])
            self.names = [key for key, _, _ in kept]
            self.rest = ((item, below) for _, item, below in kept)

    def digest(self) -> bytes:
        if isinstance(self.value, list):
            return _digest(b"[", sorted(self.parts) if self.state.unordered else self.parts)
        named = (name.encode("utf-8", "surrogatepass") for name in self.names)
        return _digest(b"{", [piece for pair in zip(named, self.parts, strict=True) for piece in pair])


def _digest(first: bytes, parts: list[bytes] | None = None) -> bytes:
    if parts is None:
        return first if len(first) <= _DIGEST_BYTES else b"=" + blake2b(first, digest_size=_DIGEST_BYTES).digest()
    made = blake2b(first, digest_size=_DIGEST_BYTES)
    for part in parts:
        made.update(b"%d:" % len(part))
        made.update(part)
    return b"=" + made.digest()


def exact_digest(value: Any) -> bytes:
    """Return the digest of a value in which every part counts; redacted secrets are equal."""
    return Digests(compiled(EXACT)).of(value)

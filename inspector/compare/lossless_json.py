"""Parses JSON text without loss for a comparison: duplicate keys, integers of any size, any depth."""

from __future__ import annotations

import json
from typing import Any, Literal

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
    found = dict(pairs)
    return found if len(found) == len(pairs) else DuplicateKeys(pairs)


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

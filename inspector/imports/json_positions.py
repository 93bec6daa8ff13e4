"""The positions of a JSON document's values in its text; a broken end loses only itself."""

from __future__ import annotations

import json
import re

from inspector.protocol.exact_json.tokens import JsonSyntaxError, JsonToken, tokens
from inspector.reasons import json_reason

_SPACE = re.compile(r"[ \t\n\r]*")
_decode = json.JSONDecoder().raw_decode

ValueSpan = tuple[int, int]
"""The start and the end of a value, in characters."""


def value_end(text: str, at: int) -> int:
    """Return the end of the JSON value that starts at `at`. Raises `JsonSyntaxError`."""
    try:
        return int(_decode(text, at)[1])
    except json.JSONDecodeError as error:
        raise JsonSyntaxError(json_reason(error), error.pos) from None
    except (RecursionError, ValueError):
        return _end_by_tokens(text, at)


def _end_by_tokens(text: str, at: int) -> int:
    """Return the same for values that the standard library refuses: deep nesting, or more than 4,300 digits."""
    depth, end = 0, at
    for token, _, end in tokens(text, at):
        if token is JsonToken.CLOSE:
            depth -= 1
        elif token in (JsonToken.OBJECT, JsonToken.ARRAY):
            depth += 1
        if depth == 0 and token is not JsonToken.KEY:
            return end
    raise JsonSyntaxError("the text ends too early", end)


class JsonArrayDocument:
    """A JSON document with one long array: the positions of its items, and of the members before it.

    `path` names the members that lead to the array; an empty one means that the document is the array. `broken` is the
    position where the document stops being JSON, or None; everything complete before that is available.
    """

    def __init__(self, text: str, path: tuple[str | None, ...]) -> None:
        self.text = text
        self.items: list[ValueSpan] = []
        self.members: dict[str, ValueSpan] = {}
        """Members of the objects on the path, the last one of equal names."""
        self.names: set[str] = set()
        """The names of all members, including those on the path and a broken one."""
        self.broken: JsonSyntaxError | None = None
        try:
            end = _skip(text, self._into(_skip(text, 1 if text.startswith("\ufeff") else 0), path))
            if end < len(text):
                raise JsonSyntaxError("text after the end of the document", end)
        except JsonSyntaxError as broken:
            self.broken = broken

    def member(self, name: str) -> str:
        """Return the text of a member; `null` if it is missing."""
        start, end = self.members.get(name, (0, 0))
        return self.text[start:end] or "null"

    def _into(self, at: int, path: tuple[str | None, ...]) -> int:
        text = self.text
        if not path:
            if text[at : at + 1] != "[":
                return value_end(text, at)
            at = _skip(text, at + 1)
            while text[at : at + 1] != "]":
                end = value_end(text, at)
                self.items.append((at, end))
                at = _next(text, end, "]")
            return at + 1
        if text[at : at + 1] != "{":
            return value_end(text, at)
        at = _skip(text, at + 1)
        while text[at : at + 1] != "}":
            key, start = _key(text, at)
            self.names.add(key)
            if key == path[0]:
                end = self._into(start, path[1:])
            else:
                end = value_end(text, start)
                self.members[key] = start, end
            at = _next(text, end, "}")
        return at + 1


def members(text: str) -> dict[str, ValueSpan]:
    """Return the positions of an object's values, the last one of equal names; empty if it is not an object."""
    return JsonArrayDocument(text, (None,)).members


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _key(text: str, at: int) -> tuple[str, int]:
    """Return a member's name, and the start of its value."""
    if text[at : at + 1] != '"':
        raise JsonSyntaxError("a key was expected", at)
    try:
        key, end = _decode(text, at)
    except json.JSONDecodeError as error:
        raise JsonSyntaxError(json_reason(error), error.pos) from None
    colon = _skip(text, end)
    if text[colon : colon + 1] != ":":
        raise JsonSyntaxError("a colon was expected after a key", at)
    return str(key), _skip(text, colon + 1)


def _next(text: str, at: int, closing: str) -> int:
    """Return the start of the next value, or of the closing bracket."""
    at = _skip(text, at)
    sign = text[at : at + 1]
    if sign == closing:
        return at
    if sign != ",":
        reason = "a comma or the closing bracket was expected" if sign else "the text ends too early"
        raise JsonSyntaxError(reason, at)
    return _skip(text, at + 1)

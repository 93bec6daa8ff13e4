"""Tokenises JSON text without making values of it (RFC 8259)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from enum import IntEnum

from inspector.lazy_pattern import lazy_pattern


class JsonToken(IntEnum):
    """The kinds of `tokens`."""

    OBJECT = 0
    ARRAY = 1
    CLOSE = 2
    KEY = 3
    SCALAR = 4


class JsonSyntaxError(ValueError):
    """The text is not JSON: `reason`, and the offset `at` which that shows."""

    def __init__(self, reason: str, at: int, kind: str = "syntax") -> None:
        super().__init__(f"{reason} at character {at + 1}")
        self.reason = reason
        self.at = at
        self.kind = kind


_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?(?![0-9.eE])"
_SPACE = r"[ \t\n\r]*+"
_TOKEN = lazy_pattern(
    rf"{_SPACE}(?:(?P<string>{_STRING})(?P<colon>{_SPACE}:)?|(?P<comma>,)|(?P<open>[\[{{])|(?P<close>[\]}}])"
    rf"|(?P<scalar>{_NUMBER}|(?:true|false|null|NaN|-?Infinity)(?![\w])))",
    re.DOTALL,
)
STRING_AT = lazy_pattern(_STRING, re.DOTALL)
SCALAR_AT = lazy_pattern(rf"{_STRING}|{_NUMBER}|-?[A-Za-z]+", re.DOTALL)
_BLANK = lazy_pattern(_SPACE)

_WANT_VALUE, _WANT_ITEM, _WANT_FIRST_KEY, _WANT_KEY, _WANT_COMMA, _WANT_NOTHING = range(6)
_WANTED = (
    "a value was expected",
    'a value or "]" was expected',
    'a key or "}" was expected',
    "a key was expected",
    "a comma or the closing bracket was expected",
    "text after the end of the document",
)


def tokens(raw: str, start: int = 0) -> Iterator[tuple[JsonToken, int, int]]:
    """Yield (token, start, end) of the JSON value at `start`, without commas and colons.

    `NaN`, `Infinity`, `-Infinity`, invalid escapes and control characters in strings are accepted, and a byte order
    mark at the start. Raises `JsonSyntaxError` at the first invalid character, after everything before it was yielded;
    text after the value is invalid too, so a caller that needs a value in the middle of a document stops at its
    closing bracket.
    """
    match = _TOKEN.match
    at = 1 if start == 0 and raw.startswith("\ufeff") else start
    want = _WANT_VALUE
    in_object = bytearray()
    while True:
        token = match(raw, at)
        if token is None:
            break
        kind = token.lastgroup
        if kind == "comma":
            if want != _WANT_COMMA:
                break
            want = _WANT_KEY if in_object[-1] else _WANT_VALUE
        elif kind == "colon":
            if want not in (_WANT_KEY, _WANT_FIRST_KEY):
                break
            yield JsonToken.KEY, *token.span("string")
            want = _WANT_VALUE
        elif kind == "close":
            closes_object = raw[token.end() - 1] == "}"
            if not in_object or in_object[-1] != closes_object:
                break
            if want not in (_WANT_COMMA, _WANT_FIRST_KEY if closes_object else _WANT_ITEM):
                break
            yield JsonToken.CLOSE, *token.span("close")
            in_object.pop()
            want = _WANT_COMMA if in_object else _WANT_NOTHING
        elif want > _WANT_ITEM:
            break
        elif kind == "open":
            opens_object = raw[token.end() - 1] == "{"
            yield (JsonToken.OBJECT if opens_object else JsonToken.ARRAY), *token.span("open")
            in_object.append(opens_object)
            want = _WANT_FIRST_KEY if opens_object else _WANT_ITEM
        else:
            yield JsonToken.SCALAR, *token.span(kind or 0)
            want = _WANT_COMMA if in_object else _WANT_NOTHING
        at = token.end()
    blank = _BLANK.match(raw, at)
    at = blank.end() if blank else at
    if want == _WANT_NOTHING:
        if at < len(raw):
            raise JsonSyntaxError(_WANTED[want], at, "trailing")
        return
    if at >= len(raw):
        raise JsonSyntaxError("the text ends too early", at)
    if raw[at] == '"' and STRING_AT.match(raw, at) is None:
        raise JsonSyntaxError("a string without its closing quote", at)
    if raw[at] == '"' and want in (_WANT_KEY, _WANT_FIRST_KEY):
        raise JsonSyntaxError("a key without its colon", at)
    if raw[at] == '"' and want in (_WANT_VALUE, _WANT_ITEM):
        raise JsonSyntaxError("a key where a value was expected", at)
    raise JsonSyntaxError(_WANTED[want], at)


def escape_step(key: str) -> str:
    """Escape one key as a step of a JSON pointer (RFC 6901 section 3)."""
    return key.replace("~", "~0").replace("/", "~1")


def unquote(literal: str) -> str:
    """Return the value of a string literal with quotes; for an invalid escape, the text between the quotes."""
    if "\\" not in literal:
        return literal[1:-1]
    try:
        value = json.loads(literal, strict=False)
    except ValueError:
        return literal[1:-1]
    return value if isinstance(value, str) else literal[1:-1]

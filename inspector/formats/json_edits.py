"""Exact parts of JSON texts: cut out of a document, or changed so that every parser accepts them."""

from __future__ import annotations

import json
import re
from typing import NoReturn

from inspector.protocol.exact_json.depth import is_too_deep
from inspector.protocol.exact_json.tokens import JsonSyntaxError, JsonToken, tokens, unquote


def member(raw: str, name: str) -> str | None:
    """Return the exact text of member `name` in the object `raw`, the last one of equal names; None if missing."""
    member: str | None = None
    depth, begun, is_member = 0, -1, False
    try:
        for token, start, end in tokens(raw):
            if token is JsonToken.KEY:
                is_member = is_member if depth > 1 else unquote(raw[start:end]) == name
            elif token is JsonToken.CLOSE:
                depth -= 1
                if depth == 1 and begun >= 0:
                    member, begun = raw[begun:end], -1
            else:
                if depth == 1 and is_member:
                    if token is JsonToken.SCALAR:
                        member = raw[start:end]
                    else:
                        begun = start
                depth += token is not JsonToken.SCALAR
    except JsonSyntaxError:
        return None
    return member


def strict(text: str) -> tuple[str, bool]:
    """Return JSON that every parser accepts, and whether it was changed: `NaN` becomes null, infinity a number too
    large.

    Servers do send these words, although they are not JSON (RFC 8259 section 6).
    """
    if "NaN" not in text and "Infinity" not in text:
        return text, False
    words = {"NaN": "null", "Infinity": "1e999", "-Infinity": "-1e999"}
    parts: list[str] = []
    at = 0
    try:
        for token, start, end in tokens(text):
            if token is JsonToken.SCALAR and text[start:end] in words:
                parts += (text[at:start], words[text[start:end]])
                at = end
    except JsonSyntaxError:
        return text, False
    return "".join(parts) + text[at:], bool(parts)


_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|.)", re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
_REPLACEMENT = "\ufffd"


def portable(text: str) -> str | None:
    """Return a JSON text on one line that even the strictest parser accepts; None if it is not JSON.

    `NaN` becomes null, infinity a number too large, and an unpaired surrogate U+FFFD, as most parsers read it (RFC 8259
    section 8.2 leaves it open). A byte order mark is removed, and characters that some parsers read as line endings are
    escaped. A text that is nested too deeply for Python counts as not JSON.
    """
    text = strict(text.removeprefix("\ufeff"))[0]
    if not text.isascii():
        text = _SURROGATE.sub(_REPLACEMENT, text)
    if "\\ud" in text or "\\uD" in text:
        text = _without_halves(text)
    if not is_strict(text):
        return None
    text = text.strip(" \t\r\n")
    if text.isascii() and text.isprintable():
        return text
    # Between values a line ending is white space; those that JSON allows within strings are escaped.
    text = text.replace("\r", " ").replace("\n", " ")
    for char in "\x85\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def clean(text: str) -> str:
    """Return the text with unpaired surrogates replaced."""
    return text if text.isascii() else _SURROGATE.sub(_REPLACEMENT, text)


def _without_halves(text: str) -> str:
    """Return JSON whose escapes contain no unpaired surrogate."""
    parts: list[str] = []
    at = 0
    high: re.Match[str] | None = None
    for escape in _ESCAPE.finditer(text):
        code = int(escape[1], 16) if escape[1] else 0
        if high is not None:
            if 0xDC00 <= code < 0xE000 and escape.start() == high.end():
                high = None
                continue
            parts += (text[at : high.start()], _REPLACEMENT)
            at, high = high.end(), None
        if 0xD800 <= code < 0xDC00:
            high = escape
        elif 0xDC00 <= code < 0xE000:
            parts += (text[at : escape.start()], _REPLACEMENT)
            at = escape.end()
    if high is not None:
        parts += (text[at : high.start()], _REPLACEMENT)
        at = high.end()
    return "".join(parts) + text[at:]


def is_strict(text: str) -> bool:
    """Whether every JSON parser accepts this text (RFC 8259): no `NaN`, no byte order mark, valid UTF-8."""
    if is_too_deep(text):
        return False
    try:
        json.loads(text, parse_constant=_refuse, parse_int=str, parse_float=str)
        if not text.isascii():
            text.encode()
    except (ValueError, RecursionError):
        return False
    return True


def _refuse(word: str) -> NoReturn:
    raise ValueError(word)

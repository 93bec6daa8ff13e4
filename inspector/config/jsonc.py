"""Parses JSON with comments and trailing commas, as in config files; everything else follows RFC 8259."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any, NoReturn

from inspector.lazy_pattern import lazy_pattern
from inspector.reasons import json_reason

# An alternative that is not closed matches to the end of the text, so that malicious input costs one pass.
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)'
_STRING_OR_COMMENT = lazy_pattern(rf"{_STRING}|//[^\r\n]*+|/\*(?:.*?\*/|.*\Z)", re.DOTALL)
_STRING_OR_TRAILING_COMMA = lazy_pattern(rf"{_STRING}|,(?=\s*[}}\]])", re.DOTALL)
_TOKEN = lazy_pattern(rf"{_STRING}|[{{}}\[\]]", re.DOTALL)
_COLON = lazy_pattern(r"\s*:\s*")
_SPACE = lazy_pattern(r"\s*")
_NOT_NEWLINE = lazy_pattern(r"[^\r\n]")


class JsoncError(ValueError):
    """The text is not JSON, even with comments and trailing commas. `line` and `column` count from 1."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


def parse(text: str) -> Any:
    """Parse JSON or JSONC `text`. Raises JsoncError with the position of the error."""
    try:
        return _loads(text)
    except JsoncError:
        # Plain JSON is common and fast; comments are removed only if that fails.
        return _loads(plain(text))


def plain(text: str) -> str:
    """Replace comments and trailing commas by spaces: every other character keeps its line and column."""
    return _STRING_OR_TRAILING_COMMA.sub(_blank_comma, _STRING_OR_COMMENT.sub(_blank_comment, text))


def deviations(text: str) -> list[tuple[str, int, int]]:
    """Return what JSON does not have, but `parse` accepts: `comments`, `trailing commas`, with line and column."""
    try:
        _loads(text)
    except JsoncError:
        comment = next((match for match in _STRING_OR_COMMENT.finditer(text) if match[0][0] != '"'), None)
        bare = _STRING_OR_COMMENT.sub(_blank_comment, text)
        comma = next((match for match in _STRING_OR_TRAILING_COMMA.finditer(bare) if match[0] == ","), None)
        deviations = (("comments", comment), ("trailing commas", comma))
        return [(kind, *_place(text, match.start())) for kind, match in deviations if match is not None]
    return []


def with_member(text: str, name: str, value: Any) -> str:
    """Return the text of an object with one member changed or added; all else, comments too, stays as it is."""
    bare, new, depth = plain(text), json.dumps(value), 0
    for token in _TOKEN.finditer(bare):
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(token[0], 0)
        colon = _COLON.match(bare, token.end())
        if depth == 1 and colon is not None and token[0][0] == '"' and json.loads(token[0]) == name:
            _, end = json.JSONDecoder().raw_decode(bare, colon.end())
            return text[: colon.end()] + new + text[end:]
    start = bare.index("{") + 1
    if not bare[start:].rstrip().removesuffix("}").strip():
        return f"{text[:start]}{json.dumps(name)}: {new}{text[start:]}"
    space = _SPACE.match(text, start)
    before = space[0] if space is not None else ""
    return f"{text[:start]}{before}{json.dumps(name)}: {new},{text[start:] if before else ' ' + text[start:]}"


def repeated(text: str) -> list[str]:
    """Return the keys that are twice in one object of JSON or JSONC, of which the last one counts."""
    twice: list[str] = []

    def note(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) < len(pairs):
            twice.extend(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        return members

    json.loads(plain(text), object_pairs_hook=note)
    return twice


def _blank_comment(match: re.Match[str]) -> str:
    piece = match[0]
    if piece[0] == '"':
        return piece
    if piece.startswith("/*") and (len(piece) < 4 or not piece.endswith("*/")):
        line, column = _place(match.string, match.start())
        raise JsoncError("a comment that starts here is not closed", line, column)
    return _NOT_NEWLINE.sub(" ", piece)


def _blank_comma(match: re.Match[str]) -> str:
    return " " if match[0] == "," else match[0]


class _NotANumber(ValueError):
    """A constant that Python accepts and JSON does not have."""


def _loads(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise JsoncError(json_reason(error), error.lineno, error.colno) from None
    except ValueError as error:
        # parse_constant refuses NaN; Python refuses to convert a number of more than 4,300 digits.
        reason = str(error) if isinstance(error, _NotANumber) else "an integer of more than 4,300 digits"
        raise JsoncError(reason, 1, 1) from None
    except RecursionError:
        raise JsoncError("nested too deeply", 1, 1) from None


def _no_constant(name: str) -> NoReturn:
    raise _NotANumber(f"{name} is not a JSON number")


def _place(text: str, offset: int) -> tuple[int, int]:
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)

"""Reads `.env` files: `NAME=value` lines. Nothing in a value is expanded."""

from __future__ import annotations

import re
from collections.abc import Iterator

from inspector.lazy_pattern import lazy_pattern

_NAME = lazy_pattern(r"[^\S\n]*(?:export[^\S\n]+)?([A-Za-z_]\w*)[^\S\n]*=", re.ASCII)
_QUOTED = lazy_pattern(r"""[^\S\n]*(?:"((?:[^"\\]|\\.)*)"|'([^']*)')[^\S\n]*(?:\#[^\n]*)?(?:\n|\Z)""", re.DOTALL)
_REST = lazy_pattern(r"([^\n]*)(?:\n|\Z)")
_COMMENT = lazy_pattern(r"\s#.*")
_ESCAPE = lazy_pattern(r"\\([nrt\"\\$])")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}


def variables(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield each line that is neither empty nor a comment: its number, the variable that it sets, and the value.

    The name is empty if the line sets none. A value in single quotes stays as it is, one in double quotes may have the
    escapes of a shell; both may have several lines. Any other value ends at ` #`.
    """
    text = text.replace("\r\n", "\n")
    at, number = 0, 1
    while at < len(text):
        begin, name = at, _NAME.match(text, at)
        quoted = _QUOTED.match(text, name.end()) if name else None
        if quoted:
            match = quoted
            value = quoted[2] if quoted[1] is None else _ESCAPE.sub(lambda e: _ESCAPED.get(e[1], e[1]), quoted[1])
        else:
            rest = _REST.match(text, name.end() if name else at)
            assert rest is not None  # It matches everywhere.
            match, value = rest, (_COMMENT.sub("", rest[1]) if name else rest[1]).strip()
        if name or (value and not value.startswith("#")):
            yield number, name[1] if name else "", value
        at = match.end()
        number += text.count("\n", begin, at)

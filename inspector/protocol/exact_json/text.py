"""JSON as text, exactly as written instead of parsed.

Everything here works on the raw text of a message, so that the spelling of numbers, duplicate keys, `NaN` and lone
surrogate escapes are preserved. All of it is linear and without recursion: 100,000 nested arrays are handled like any
other document. Source: RFC 8259. The returned lines and values are the server's text: show them through
`inspector.text.safe`.
"""

from __future__ import annotations

import json
import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, NamedTuple

from inspector.lazy_pattern import lazy_pattern
from inspector.protocol.exact_json.tokens import (
    SCALAR_AT,
    STRING_AT,
    JsonSyntaxError,
    JsonToken,
    escape_step,
    tokens,
    unquote,
)

PROBLEM_LIMIT = 100
"""Most problems reported of one document."""

SAFE_INTEGER = 2**53 - 1
"""The largest integer on which all JSON parsers agree (RFC 8259 section 6)."""


class Problem(NamedTuple):
    """Something in a JSON text that parsers may interpret differently, or reject."""

    kind: str
    """`duplicate-key`, `nan`, `big-integer`, `overflow`, `underflow`, `precision`, `negative-zero`, `lone-surrogate`,
    `line-separator`, `control`, `escape`, `bom`, `carriage-return`, `trailing` or `syntax`."""
    where: str
    """The JSON pointer (RFC 6901) of the value, `""` for the document."""
    detail: str
    """A few words about what was found."""
    at: int
    """The offset in the text, in characters."""


_UNUSUAL = lazy_pattern(
    r"[\r\x85\u2028\u2029\ufeff]|\\u[dD][89a-fA-F]|NaN|Infinity|[0-9]{16}|[0-9.]{18}|[eE][+-]?[0-9]{3}"
    r"|-0(?:\.0*+)?(?:[eE\s,\]}]|$)"
)
_ODD_IN_STRING = lazy_pattern(
    r"(?P<control>[\x00-\x1f])|(?P<separator>[\x85\u2028\u2029])"
    r"|\\(?:(?P<lone>u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F][0-9a-fA-F]{2}))"
    r"|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<low>u[dD][c-fC-F][0-9a-fA-F]{2})|u[0-9a-fA-F]{4}|[\"\\/bfnrt]|(?P<escape>.))",
    re.DOTALL,
)


class _Duplicate(ValueError):
    """Raised by the fast check: an object has a duplicate key."""


def _no_duplicates(pairs: list[tuple[str, Any]]) -> None:
    if len(pairs) > 1 and len({key for key, _ in pairs}) < len(pairs):
        raise _Duplicate


_fast_decode = json.JSONDecoder(object_pairs_hook=_no_duplicates).decode


def problems(raw: str, limit: int = PROBLEM_LIMIT) -> list[Problem]:
    """Return what parsers of this JSON text may interpret differently; the first `limit` problems, in order.

    An ordinary document costs little more than a parse: only unusual text is checked token by token.
    """
    if _UNUSUAL.search(raw) is None:
        try:
            _fast_decode(raw)
        except (ValueError, RecursionError):
            pass
        else:
            return []
    return _Search(raw, limit).run()


class _Search:
    """One walk through a document, with the current path."""

    def __init__(self, raw: str, limit: int) -> None:
        self.raw = raw
        self.limit = limit
        self.problems: list[Problem] = []
        self.returns_in_strings = 0
        # For every open container: its keys so far (None for an array), and the current key or index.
        self.keys: list[set[str] | None] = []
        self.steps: list[str | int] = []

    def run(self) -> list[Problem]:
        raw = self.raw
        if raw.startswith("\ufeff"):
            self.add("bom", "the text starts with a byte order mark", 0, where="")
        try:
            for token, start, end in tokens(raw):
                if len(self.problems) >= self.limit:
                    break
                self.check_token(token, start, end)
        except JsonSyntaxError as error:
            if len(self.problems) < self.limit:
                self.add(error.kind, error.reason, error.at)
        outside = raw.count("\r") - self.returns_in_strings
        if outside and len(self.problems) < self.limit:
            self.add("carriage-return", "carriage return between tokens", raw.index("\r"), where="")
        return self.problems

    def check_token(self, token: JsonToken, start: int, end: int) -> None:
        steps, raw = self.steps, self.raw
        if token is JsonToken.CLOSE:
            self.keys.pop()
            steps.pop()
            return
        if token is not JsonToken.KEY and self.keys and self.keys[-1] is None:
            steps[-1] += 1  # type: ignore[operator]  # an array's step is its index
        if token is JsonToken.OBJECT:
            self.keys.append(set())
            steps.append("")
        elif token is JsonToken.ARRAY:
            self.keys.append(None)
            steps.append(-1)
        elif token is JsonToken.KEY:
            key = unquote(raw[start:end])
            keys = self.keys[-1]
            steps[-1] = key
            if keys is not None:
                if key in keys:
                    self.add("duplicate-key", "the object has this key already; most parsers keep the last", start)
                keys.add(key)
            self.look_into(start, end)
        elif raw[start] == '"':
            self.look_into(start, end)
        else:
            self.look_at_number(raw[start:end], start)

    def add(self, kind: str, detail: str, at: int, where: str | None = None) -> None:
        self.problems.append(Problem(kind, _pointer(self.steps) if where is None else where, detail, at))

    def look_into(self, start: int, end: int) -> None:
        """Check one string, its quotes included."""
        for odd in _ODD_IN_STRING.finditer(self.raw, start + 1, end - 1):
            kind, at = odd.lastgroup, odd.start()
            if kind is None:
                continue
            if kind == "control":
                self.returns_in_strings += odd[0] == "\r"
                detail = f"unescaped control character U+{ord(odd[0]):04X} in a string"
            elif kind == "separator":
                kind, detail = (
                    "line-separator",
                    f"U+{ord(odd[0]):04X} in a string, which some parsers treat as a line end",
                )
            elif kind == "escape":
                detail = f"{odd[0]} is not a JSON escape"
            else:
                kind, detail = "lone-surrogate", f"{odd[0][:6]} is half a surrogate pair"
            if len(self.problems) < self.limit:
                self.add(kind, detail, at)

    def look_at_number(self, text: str, at: int) -> None:
        if text in ("true", "false", "null"):
            return
        short = text if len(text) <= 40 else f"{text[:30]}… ({len(text):,} characters)"
        if text[-1] in "Ny":
            self.add("nan", f"{text} is not a JSON number", at)
        elif text == "-0":
            self.add("negative-zero", "-0 becomes 0 in many parsers", at)
        elif text.lstrip("-").isdigit():
            if len(text) > 15 and (len(text) > 20 or abs(int(text)) > SAFE_INTEGER):
                self.add("big-integer", f"{short} is beyond 2^53, so many parsers change it", at)
        else:
            self.look_at_fraction(text, short, at)

    def look_at_fraction(self, text: str, short: str, at: int) -> None:
        value = float(text)
        digits = re.split("[eE]", text)[0].lstrip("-0.").replace(".", "")
        if value in (float("inf"), float("-inf")):
            self.add("overflow", f"{short} is too large for a double", at)
        elif value == 0 and digits:
            self.add("underflow", f"{short} is too small for a double", at)
        elif value == 0 and text.startswith("-"):
            self.add("negative-zero", f"{short} becomes 0 in many parsers", at)
        elif len(digits.rstrip("0")) > 17:
            self.add("precision", f"{short} has more digits than a double", at)


def _pointer(steps: list[str | int]) -> str:
    """Format a path as a JSON pointer; a very long one is cut in the middle."""
    if len(steps) > 200:
        return _pointer(steps[:20]) + "/…" + _pointer(steps[-20:])
    return "".join(f"/{step}" if isinstance(step, int) else "/" + escape_step(step) for step in steps)


LINE_LIMIT = 2_000_000
"""Lines that are laid out of one document; the raw text has the others."""

MAX_INDENT = 128
"""Levels that are indented; deeper ones are not, otherwise a deep document would be nothing but spaces."""

RAW_WIDTH = 1000
"""Characters per line at which the raw text of an invalid document is cut."""

_NONE = 0xFFFFFFFF


class Tree:
    """A JSON text laid out in lines: the value of each line, its depth, and its fold.

    Six numbers per line in arrays, offsets into the raw text; the lines themselves are made on demand. Invalid JSON is
    shown as it is, cut into lines, with the reason in `error`. Line numbers count from 0.
    """

    __slots__ = ("_close", "_depth", "_index", "_key", "_parent", "_value", "error", "error_line", "raw", "truncated")

    def __init__(self, raw: str, *, inline: int = 0, limit: int = LINE_LIMIT) -> None:
        """Lay out `raw`. Objects and arrays of scalars up to `inline` characters stay on one line; 0: none do."""
        self.raw = raw
        self.error: Problem | None = None
        self.error_line: int | None = None
        self.truncated = False
        """Whether there are more than `limit` lines."""
        self._start_over()
        try:
            self._lay_out(inline, limit)
        except JsonSyntaxError as error:
            self.error = Problem(error.kind, "", error.reason, error.at)
            self.truncated = False
            self._start_over()
            self._lay_out_raw(limit)
            self.error_line = max(bisect_right(self._value, error.at) - 1, 0)

    def _start_over(self) -> None:
        self._depth = array("I")
        self._key = array("I")
        self._value = array("I")
        self._close = array("I")
        self._parent = array("I")
        self._index = array("I")

    def _add(self, depth: int, key: int, value: int, parent: int, index: int) -> int:
        line = len(self._depth)
        self._depth.append(depth)
        self._key.append(key)
        self._value.append(value)
        self._close.append(line)
        self._parent.append(parent)
        self._index.append(index)
        return line

    def _lay_out(self, inline: int, limit: int) -> None:
        openers: list[int] = []
        counts: list[int] = []
        flat: list[bool] = []
        key = _NONE
        for token, start, end in tokens(self.raw):
            if token is JsonToken.KEY:
                key = start
                continue
            if token is JsonToken.CLOSE:
                opener, is_flat = openers.pop(), flat.pop()
                count = counts.pop()
                if count == 0:
                    continue
                if flat:
                    flat[-1] = False
                if is_flat and end - self._value[opener] <= inline:
                    self._forget(opener + 1)
                    continue
                self._close[opener] = self._add(len(openers), _NONE, start, self._parent[opener], self._index[opener])
                self._close[-1] = opener
                continue
            if len(self._depth) >= limit:
                self.truncated = True
                break
            if counts:
                counts[-1] += 1
            line = self._add(
                len(openers), key, start, openers[-1] if openers else _NONE, counts[-1] - 1 if counts else 0
            )
            key = _NONE
            if token is not JsonToken.SCALAR:
                openers.append(line)
                counts.append(0)
                flat.append(True)
        for opener in openers:
            self._close[opener] = _NONE

    def _forget(self, line: int) -> None:
        for column in (self._depth, self._key, self._value, self._close, self._parent, self._index):
            del column[line:]

    def _lay_out_raw(self, limit: int) -> None:
        at, raw = 0, self.raw
        while True:
            end = raw.find("\n", at)
            end = len(raw) if end < 0 else end
            for start in range(at, max(end, at + 1), RAW_WIDTH):
                if len(self._depth) >= limit:
                    self.truncated = True
                    return
                self._add(0, _NONE, start, _NONE, 0)
            if end == len(raw):
                return
            at = end + 1

    def __len__(self) -> int:
        return len(self._depth)

    def text(self, line: int, indent: int = 2, limit: int | None = None) -> str:
        """Return one line, indented; of a value at most `limit` characters (the caller marks the cut)."""
        if self.error is not None:
            start = self._value[line]
            end = self._value[line + 1] if line + 1 < len(self) else len(self.raw)
            return self.raw[start:end].rstrip("\n")
        head = " " * (indent * min(self._depth[line], MAX_INDENT))
        key = self._key[line]
        if key != _NONE:
            end = self._string_end(key)
            head += self.raw[key : end if limit is None else min(end, key + limit)] + ": "
        return head + self._shown_value(line, limit) + ("," if self._has_comma(line) else "")

    def _shown_value(self, line: int, limit: int | None) -> str:
        start, close = self._value[line], self._close[line]
        if self.raw[start] in "{[":
            return self.raw[start] if close != line else _compact(self.raw, start)
        if self.raw[start] in "}]":
            return self.raw[start]
        end = self._scalar_end(start)
        return self.raw[start : end if limit is None else min(end, start + limit)]

    def _has_comma(self, line: int) -> bool:
        close = self._close[line]
        if close == _NONE or close > line:
            return False
        return line + 1 < len(self) and self._depth[line + 1] == self._depth[line]

    def _string_end(self, start: int) -> int:
        match = STRING_AT.match(self.raw, start)
        return match.end() if match else start

    def _scalar_end(self, start: int) -> int:
        match = SCALAR_AT.match(self.raw, start)
        return match.end() if match else start

    def depth(self, line: int) -> int:
        """Return the number of containers around the line."""
        return self._depth[line]

    def parent(self, line: int) -> int | None:
        """Return the line that opens the container of this line; None at the top."""
        parent = self._parent[line]
        return None if parent == _NONE else parent

    def fold(self, line: int) -> tuple[int, int] | None:
        """Return the first and the last line of the container that this line opens or closes; None for other lines."""
        if self.error is not None:
            return None
        close = self._close[line]
        if close == line:
            return None
        if close == _NONE:
            return line, len(self) - 1
        return min(line, close), max(line, close)

    def children(self, line: int) -> int:
        """Return the number of members or items of the container that this line opens or closes."""
        fold = self.fold(line)
        if fold is None:
            return 0
        last = fold[1] if self._close[fold[0]] == _NONE else fold[1] - 1
        while last > fold[0] and self._parent[last] != fold[0]:
            last = self._parent[last]
        return self._index[last] + 1 if last > fold[0] else 0

    def key(self, line: int) -> str | None:
        """Return the key on the line, unescaped; None without one."""
        start = self._key[line]
        return None if start == _NONE else unquote(self.raw[start : self._string_end(start)])

    def value(self, line: int) -> str:
        """Return the exact raw text of the value that the line shows, opens or closes."""
        if self.error is not None:
            return self.text(line)
        start, close = self._value[line], self._close[line]
        if close != _NONE and close < line:
            return self.raw[self._value[close] : start + 1]
        if close != _NONE and close > line:
            return self.raw[start : self._value[close] + 1]
        if self.raw[start] in "{[":
            return self.raw[start : _end_of(self.raw, start)]
        return self.raw[start : self._scalar_end(start)]

    def pointer(self, line: int) -> str:
        """Return the JSON pointer (RFC 6901) of the value that the line shows, opens or closes; `""` for the whole."""
        if self.error is not None:
            return ""
        steps: list[str] = []
        at: int | None = min(line, self._close[line])
        while at is not None and (parent := self.parent(at)) is not None:
            key = self.key(at)
            steps.append(str(self._index[at]) if key is None else escape_step(key))
            at = parent
        return "".join(f"/{step}" for step in reversed(steps))

    def line_at(self, offset: int) -> int:
        """Return the line that shows the character at `offset` of the raw text."""
        line = max(bisect_right(self._value, offset) - 1, 0)
        # A key is before its value, so an offset inside a key belongs to the line after the one found.
        if line + 1 < len(self) and self._key[line + 1] <= offset:
            line += 1
        return line

    def offset(self, line: int) -> int:
        """Return where the value of a line begins in the raw text."""
        return self._value[line]

    def line_of(self, pointer: str) -> int | None:
        """Return the line that shows or opens the value of a JSON pointer, or its nearest visible container."""
        if self.error is not None or not len(self):
            return None
        line = 0
        for step in pointer.split("/")[1:]:
            child = self._child(line, step.replace("~1", "/").replace("~0", "~"))
            if child is None:
                return line if self._close[line] == line and self.raw[self._value[line]] in "{[" else None
            line = child
        return line

    def _child(self, line: int, step: str) -> int | None:
        fold = self.fold(line)
        if fold is None:
            return None
        in_object = self.raw[self._value[line]] == "{"
        child, at = None, line + 1
        while at <= fold[1] and self._parent[at] == line:
            if (self.key(at) == step) if in_object else (str(self._index[at]) == step):
                child = at  # of duplicate keys the last counts, as for most parsers
                if not in_object:
                    break
            at = len(self) if self._close[at] == _NONE else self._close[at] + 1
        return child


def _end_of(raw: str, start: int) -> int:
    """Return the end of the container that opens at `start`."""
    depth = 0
    for token, _, end in tokens(raw, start):
        if token is JsonToken.CLOSE:
            depth -= 1
            if depth == 0:
                return end
        elif token in (JsonToken.OBJECT, JsonToken.ARRAY):
            depth += 1
    return len(raw)


def _compact(raw: str, start: int) -> str:
    """Format a container of scalars on one line: `{ "a": 1 }`, `[1, 2]`, `{}`."""
    items: list[str] = []
    key, depth = "", 0
    for token, begin, end in tokens(raw, start):
        if token is JsonToken.KEY:
            key = raw[begin:end] + ": "
        elif token is JsonToken.CLOSE:
            depth -= 1
            if depth == 0:
                break
        elif token is JsonToken.SCALAR:
            items.append(key + raw[begin:end])
            key = ""
        else:
            if depth:  # a container inside a container of scalars is empty
                items.append(key + ("{}" if token is JsonToken.OBJECT else "[]"))
                key = ""
            depth += 1
    if raw[start] == "[":
        return f"[{', '.join(items)}]"
    return f"{{ {', '.join(items)} }}" if items else "{}"


def tree(raw: str, *, inline: int = 0, limit: int = LINE_LIMIT) -> Tree:
    """Lay out a JSON text in lines that can be folded; see `Tree`."""
    return Tree(raw, inline=inline, limit=limit)


def pretty(raw: str, indent: int = 2, limit_lines: int | None = None, *, inline: int = 0) -> list[str]:
    """Return the text indented, at most `limit_lines` lines; invalid JSON is returned as it is, in lines."""
    return list(lines(raw, indent, limit_lines, inline=inline))


def lines(raw: str, indent: int = 2, limit_lines: int | None = None, *, inline: int = 0) -> Iterator[str]:
    """Yield the lines that `pretty` returns."""
    laid_out = Tree(raw, inline=inline, limit=LINE_LIMIT if limit_lines is None else limit_lines)
    for line in range(len(laid_out)):
        yield laid_out.text(line, indent)

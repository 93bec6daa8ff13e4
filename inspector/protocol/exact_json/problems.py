"""Finds what parsers of a JSON text may interpret differently, or reject (RFC 8259 sections 4, 6 and 8)."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from inspector.protocol.exact_json.tokens import JsonSyntaxError, JsonToken, escape_step, tokens, unquote

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


_UNUSUAL = re.compile(
    r"[\r\x85\u2028\u2029\ufeff]|\\u[dD][89a-fA-F]|NaN|Infinity|[0-9]{16}|[0-9.]{18}|[eE][+-]?[0-9]{3}"
    r"|-0(?:\.0*+)?(?:[eE\s,\]}]|$)"
)
_ODD_IN_STRING = re.compile(
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
        self.found: list[Problem] = []
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
                if len(self.found) >= self.limit:
                    break
                self.take(token, start, end)
        except JsonSyntaxError as error:
            if len(self.found) < self.limit:
                self.add(error.kind, error.reason, error.at)
        outside = raw.count("\r") - self.returns_in_strings
        if outside and len(self.found) < self.limit:
            self.add("carriage-return", "carriage return between tokens", raw.index("\r"), where="")
        return self.found

    def take(self, token: JsonToken, start: int, end: int) -> None:
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
        self.found.append(Problem(kind, _pointer(self.steps) if where is None else where, detail, at))

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
            if len(self.found) < self.limit:
                self.add(kind, detail, at)

    def look_at_number(self, text: str, at: int) -> None:
        if text in ("true", "false", "null"):
            return
        shown = text if len(text) <= 40 else f"{text[:30]}… ({len(text):,} characters)"
        if text[-1] in "Ny":
            self.add("nan", f"{text} is not a JSON number", at)
        elif text == "-0":
            self.add("negative-zero", "-0 becomes 0 in many parsers", at)
        elif text.lstrip("-").isdigit():
            if len(text) > 15 and (len(text) > 20 or abs(int(text)) > SAFE_INTEGER):
                self.add("big-integer", f"{shown} is beyond 2^53, so many parsers change it", at)
        else:
            self.look_at_fraction(text, shown, at)

    def look_at_fraction(self, text: str, shown: str, at: int) -> None:
        value = float(text)
        digits = re.split("[eE]", text)[0].lstrip("-0.").replace(".", "")
        if value in (float("inf"), float("-inf")):
            self.add("overflow", f"{shown} is too large for a double", at)
        elif value == 0 and digits:
            self.add("underflow", f"{shown} is too small for a double", at)
        elif value == 0 and text.startswith("-"):
            self.add("negative-zero", f"{shown} becomes 0 in many parsers", at)
        elif len(digits.rstrip("0")) > 17:
            self.add("precision", f"{shown} has more digits than a double", at)


def _pointer(steps: list[str | int]) -> str:
    """Format a path as a JSON pointer; a very long one is cut in the middle."""
    if len(steps) > 200:
        return _pointer(steps[:20]) + "/…" + _pointer(steps[-20:])
    return "".join(f"/{step}" if isinstance(step, int) else "/" + escape_step(step) for step in steps)

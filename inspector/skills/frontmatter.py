"""The front matter of a SKILL.md: the YAML mapping between its fences, as JSON values.

It is read as YAML 1.2 with the core schema: `no` and `2026-01-01` are texts. Tags, anchors and duplicate keys are
errors, so that a file has one meaning. Source: Agent Skills specification; ext-skills, "Frontmatter"; YAML 1.2.2,
section 10.3.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

MAX_LENGTH = 1 << 20
"""Bytes of front matter that are read."""
MAX_DEPTH = 100
MAX_VALUES = 20_000
SHOWN_DIFFERENCES = 50

_BOM = b"\xef\xbb\xbf"
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_JSON = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


class FrontMatterError(Exception):
    """A SKILL.md has no front matter that can be read; the text says why."""


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The front matter of a SKILL.md, and the Markdown after it."""

    values: dict[str, Any]
    body: str
    note: str = ""
    """What is unusual, but allowed: a byte order mark."""


def read_front_matter(data: bytes) -> FrontMatter:
    """Return the front matter of a SKILL.md. Raises `FrontMatterError`."""
    note = ""
    if data.startswith(_BOM):
        data, note = data[len(_BOM) :], "it begins with a byte order mark"
    fence = re.match(rb"---[ \t]*\r?\n", data)
    if fence is None:
        raise FrontMatterError("it does not begin with a line of three hyphens (---)")
    end = re.search(rb"(?:^|\n)---[ \t]*(?:\r?\n|\Z)", data[fence.end() : fence.end() + MAX_LENGTH + 8])
    if end is None:
        longer = len(data) > fence.end() + MAX_LENGTH
        raise FrontMatterError(
            f"its front matter is longer than {MAX_LENGTH:,} bytes" if longer else "its front matter does not end (---)"
        )
    inner = data[fence.end() : fence.end() + end.start() + (1 if end.group().startswith(b"\n") else 0)]
    try:
        text = inner.decode()
    except UnicodeDecodeError:
        raise FrontMatterError("its front matter is not UTF-8") from None
    body = data[fence.end() + end.end() :].decode("utf-8", "replace")
    return FrontMatter(_mapping(text), body, note)


def differences(entry: Any, found: Any) -> list[str]:
    """Return where the front matter of an entry differs from that of the file, as JSON pointers with both values.

    Values are compared as JSON: the order of keys is free, that of lists is not, and no type is converted.
    """
    places: list[str] = []
    _compare(entry, found, "", places)
    return places[:SHOWN_DIFFERENCES]


def _compare(entry: Any, found: Any, place: str, places: list[str]) -> None:
    from inspector.protocol.jsonrpc import excerpt

    if len(places) >= SHOWN_DIFFERENCES:
        return
    if type(entry) is dict and type(found) is dict:
        for key in [*entry, *(key for key in found if key not in entry)]:
            at = f"{place}/{key[:100]}"
            if key not in found:
                places.append(f"{at} is only in the list: {excerpt(entry[key], 60)}")
            elif key not in entry:
                places.append(f"{at} is only in the file: {excerpt(found[key], 60)}")
            else:
                _compare(entry[key], found[key], at, places)
    elif type(entry) is list and type(found) is list and len(entry) == len(found):
        for index, (one, other) in enumerate(zip(entry, found, strict=True)):
            _compare(one, other, f"{place}/{index}", places)
    elif not _same(entry, found):
        places.append(f"{place or '/'} is {excerpt(entry, 60)} in the list and {excerpt(found, 60)} in the file")


def _same(entry: Any, found: Any) -> bool:
    number = (int, float)
    if type(entry) in number and type(found) in number:
        return bool(entry == found)
    return type(entry) is type(found) and bool(entry == found)


def _mapping(text: str) -> dict[str, Any]:
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        value = _ValueBuilder(yaml.parse(text, Loader=loader)).document()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = "" if mark is None else f" in line {mark.line + 2}"
        raise FrontMatterError(f"its front matter is not valid YAML{line}") from None
    except RecursionError:
        raise FrontMatterError("its front matter is nested too deeply") from None
    if type(value) is not dict:
        raise FrontMatterError("its front matter is not a mapping")
    return value


class _ValueBuilder:
    """Builds the values of one document from the parser's events, within limits."""

    def __init__(self, events: Any) -> None:
        self._events = events
        self._values = 0

    def document(self) -> Any:
        import yaml

        event = next(self._events)
        while isinstance(event, yaml.StreamStartEvent | yaml.DocumentStartEvent):
            event = next(self._events)
        if isinstance(event, yaml.StreamEndEvent):
            return None
        value = self._value(event, 0)
        if any(isinstance(event, yaml.DocumentStartEvent) for event in self._events):
            raise FrontMatterError("its front matter has several YAML documents")
        return value

    def _value(self, event: Any, depth: int) -> Any:
        import yaml

        self._values += 1
        if depth > MAX_DEPTH or self._values > MAX_VALUES:
            limit = f"{MAX_DEPTH} levels" if depth > MAX_DEPTH else f"{MAX_VALUES:,} values"
            raise FrontMatterError(f"its front matter has more than {limit}")
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise FrontMatterError("its front matter uses anchors, which are not read")
        if isinstance(event, yaml.ScalarEvent):
            if event.tag not in (None, "!"):
                raise FrontMatterError("its front matter uses tags, which are not read")
            return event.value if event.style or event.tag else _plain(event.value)
        if event.tag is not None:
            raise FrontMatterError("its front matter uses tags, which are not read")
        if isinstance(event, yaml.SequenceStartEvent):
            items = []
            while not isinstance(item := next(self._events), yaml.SequenceEndEvent):
                items.append(self._value(item, depth + 1))
            return items
        found: dict[str, Any] = {}
        while not isinstance(item := next(self._events), yaml.MappingEndEvent):
            key = self._value(item, depth + 1)
            if type(key) in (list, dict):
                raise FrontMatterError("its front matter has a key that is not a text")
            key = item.value
            if key in found:
                raise FrontMatterError(f"its front matter has the key {key[:80]!r} twice")
            found[key] = self._value(next(self._events), depth + 1)
        return found


def _plain(text: str) -> Any:
    """The value of a plain scalar in the core schema of YAML 1.2."""
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > 400:
        return text
    if _INT.fullmatch(text):
        return int(text, 8 if text.startswith("0o") else 16 if text.startswith("0x") else 10)
    if _FLOAT.fullmatch(text):
        value = float(text)
        if abs(value) != float("inf"):
            return value
        raise FrontMatterError(f"its front matter has the number {text[:40]}, which is too large")
    if _NOT_JSON.fullmatch(text):
        raise FrontMatterError(f"its front matter has {text}, which is not a JSON number")
    return text

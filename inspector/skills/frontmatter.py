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
MAX_VALUES = 20_000
SHOWN_DIFFERENCES = 50

_BOM = b"\xef\xbb\xbf"


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
    from inspector.documents import DocumentError, read_yaml

    try:
        value = read_yaml(text, values=MAX_VALUES)
    except DocumentError as error:
        # The first line of the file is the fence.
        line = f" (line {error.line + 1})" if error.line else ""
        raise FrontMatterError(f"its front matter {error.problem}{line}") from None
    if type(value) is not dict:
        raise FrontMatterError("its front matter is not a mapping")
    return value
